//! The operators: how the workgroups of a dispatch share the items of a wave.
//!
//! | domain | a lane takes |
//! | --- | --- |
//! | `once`, `range`, `nodes`, items | every n-th item, where n is the number of lanes in the grid |
//! | edges | edges of the nodes that its workgroup takes at a time: the degrees are summed, and each lane finds its edges' nodes in the sums |
//!
//! So any number of workgroups will do, and within a workgroup all lanes have as many edges, however they are spread
//! over the nodes. A node of very many edges, a hub, would still hold one workgroup up: it is left, and once all others
//! are done the wave is dispatched again for its hubs, whose edges all workgroups share. A sweep ends with what its
//! workgroup says together: one value for each reduction, and its lowest fault.

use crate::layout::Part;
use crate::program::{Emitter, Of, line, value, value_type};
use crate::slots;
use std::fmt::Write;
use vyre_core::vir0::exact;
use vyre_core::vir0::module::{Domain, FrontierId, ReductionId, TopologyId, WaveId};
use vyre_core::vir0::scalar::Scalar;

/// Writes `sweep_N(wg, wgs, lane)`, which one workgroup of so many calls with all its lanes, and the entry point
/// `wave_N`.
pub(crate) fn write(emitter: &Emitter<'_>, wave: WaveId, out: &mut String) {
    let n = wave.0;
    line!(out, "fn sweep_{n}(wg: u32, wgs: u32, lane: u32) {{");
    emitter.load(
        emitter.program.waves[wave.index()].kernel,
        Of::Wave(wave),
        out,
    );
    begin(emitter, wave, out);
    match emitter.domain(wave) {
        Domain::Edges(t) => edges(emitter, wave, (t, None), out),
        Domain::EdgesFrom(t, f) => edges(emitter, wave, (t, Some(f)), out),
        Domain::Once
        | Domain::Range(_)
        | Domain::Nodes
        | Domain::Items(_)
        | Domain::ListItems(..) => items(emitter, wave, out),
    }
    end(emitter, wave, out);
    line!(out, "}}");
    let lanes = emitter.target.lanes;
    line!(
        out,
        "@compute @workgroup_size({lanes}) fn wave_{n}(@builtin(workgroup_id) wg: vec3<u32>, \
         @builtin(num_workgroups) wgs: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
{}
    sweep_{n}(wg.x, wgs.x, lane);
}}",
        emitter.start()
    );
}

/// Sums begin where nothing was taken in.
fn begin(emitter: &Emitter<'_>, wave: WaveId, out: &mut String) {
    let (plain, exact) = emitter.reduced(wave);
    for r in plain {
        let reduction = &emitter.program.reductions[r.index()];
        let identity = reduction.op.identity(reduction.scalar);
        line!(
            out,
            "    my_r{} = {};",
            r.0,
            value(reduction.scalar, identity)
        );
    }
    for &r in &exact {
        let words = exact_words(emitter, r);
        line!(
            out,
            "    for (var i = lane; i < {words}u; i += {}u) {{ // ↻",
            emitter.target.lanes
        );
        line!(out, "        atomicStore(&exact_r{}[i], 0u);", r.0);
        line!(out, "    }}");
    }
    if !exact.is_empty() {
        line!(out, "    workgroupBarrier();");
    }
}

/// Halves of words of an exact sum.
pub(crate) fn exact_words(emitter: &Emitter<'_>, r: ReductionId) -> usize {
    let scalar = emitter.program.reductions[r.index()].scalar;
    2 * exact::words(scalar).unwrap_or(0)
}

/// A call of the body, whose item is known by `my_item` to traps.
fn call(
    wave: WaveId,
    emitter: &Emitter<'_>,
    (index, src, dst): (&str, &str, &str),
    fields: usize,
) -> String {
    let kernel = emitter.program.waves[wave.index()].kernel.0;
    let fields: String = (0..fields).map(|k| format!(", field{k}")).collect();
    format!("kernel_{kernel}({index}, {src}, {dst}{fields});")
}

fn items(emitter: &Emitter<'_>, wave: WaveId, out: &mut String) {
    let (lanes, at) = (emitter.target.lanes, emitter.slots.wave(wave));
    line!(
        out,
        "    let first = state[{at}];
    let items = state[{}] - first;
    let step = wgs * {lanes}u;
    var nth = wg * {lanes}u + lane;
    while nth < items {{
        {}
        let i = first + nth;
        my_turns = 0u;",
        at + 1,
        emitter.counted()
    );
    let (domain, p) = (emitter.domain(wave), emitter.program);
    match (domain.frontier(), domain.list()) {
        (Some(f), _) if p.frontiers[f.index()].fields.is_empty() => {
            let side = format!("state[{}]", emitter.slots.frontier(f) + 4);
            let node = emitter.element(Part::Items(f, 0), &side, "i");
            line!(out, "        let index = {node};");
            line!(out, "        my_item = index;");
            line!(
                out,
                "        {}",
                call(wave, emitter, ("index", "0u", "0u"), 0)
            );
        }
        (None, None) => {
            line!(out, "        my_item = i;");
            line!(out, "        {}", call(wave, emitter, ("i", "0u", "0u"), 0));
        }
        (frontier, list) => {
            let fields = domain.fields(p);
            for (k, scalar) in (0..).zip(fields) {
                let (part, at) = match (frontier, list) {
                    (Some(f), _) => (
                        Part::Items(f, k),
                        emitter.slots.frontier(f) + 4 + 2 * u32::from(k),
                    ),
                    (_, Some((l, _))) => {
                        (Part::List(l, k), emitter.slots.list(l) + 2 + u32::from(k))
                    }
                    (None, None) => unreachable!("items with fields are a frontier's or a list's"),
                };
                let element = emitter.element(part, &format!("state[{at}]"), "i");
                line!(
                    out,
                    "        let field{k}: {} = {element};",
                    value_type(*scalar)
                );
            }
            let low = match fields.first().map(|f| f.rows()) {
                Some(2) => "field0.x",
                _ => "field0",
            };
            line!(out, "        my_item = {low};");
            line!(
                out,
                "        {}",
                call(wave, emitter, ("i", "0u", "0u"), fields.len())
            );
        }
    }
    line!(
        out,
        "        if my_spent != 0u || items - nth <= step {{ break; }}
        nth += step;
    }}"
    );
}

fn edges(
    emitter: &Emitter<'_>,
    wave: WaveId,
    (t, f): (TopologyId, Option<FrontierId>),
    out: &mut String,
) {
    let (lanes, at) = (emitter.target.lanes, emitter.slots.wave(wave));
    let most = emitter.slots.topology(t) + 3;
    // Loops of a fixed number of turns are written out: some drivers count turns.
    let scan = steps(lanes).map(|by| {
        format!(
            "        workgroupBarrier();
        var below_{by} = 0u;
        if lane >= {by}u {{ below_{by} = wg_sums[lane - {by}u]; }}
        workgroupBarrier();
        wg_sums[lane] += below_{by};"
        )
    });
    let scan = scan.collect::<Vec<_>>().join("\n");
    // The nodes whose sums are not above the edge are those before its node.
    let find = steps(lanes).rev().map(|by| {
        format!(
            "            if low + {by}u <= {lanes}u && wg_sums[low + {}u] <= e {{ low += {by}u; }}",
            by - 1
        )
    });
    let find = find.collect::<Vec<_>>().join("\n");
    let counted = emitter.counted();
    let (offset, target) = (
        |node: &str| emitter.element(Part::Offsets(t), &format!("at_o{}", t.0), node),
        |edge: &str| emitter.element(Part::Targets(t), &format!("at_t{}", t.0), edge),
    );
    let node = match f {
        Some(f) => {
            let side = format!("state[{}]", emitter.slots.frontier(f) + 4);
            emitter.element(Part::Items(f, 0), &side, "i")
        }
        None => "i".to_owned(),
    };
    line!(
        out,
        "    if lane == 0u {{
        let first = state[{at}];
        let items = state[{}] - first;
        let chunk = lead_chunk(items, wgs, state[{most}]);
        wg_range = vec4<u32>(first, items, chunk, wgs * chunk);
        wg_hub = 0xffffffffu;
        if state[{mode}] == {wide}u {{ wg_hub = lead_hub(state[{edges}], state[{most}]); }}
        if state[{mode}] == {hubs_mode}u {{
            wg_hub = 0u;
            let chunk = min({lanes}u, state[{most}]);
            wg_range = vec4<u32>({hubs}u, min(atomicLoad(&counts[{met}]), {hub_slots}u), chunk, chunk);
        }}
    }}
    let range = workgroupUniformLoad(&wg_range);
    let hub = workgroupUniformLoad(&wg_hub);
    // All workgroups take all hubs, and of their edges each another part.
    let shared_out = hub == 0u;
    let items = range.y;
    let chunk = range.z;
    let step = range.w;
    var base = select(wg * chunk, 0u, shared_out);
    while base < items {{
        let nth = base + lane;
        var begin = 0u;
        var degree = 0u;
        var source = 0u;
        if lane < chunk && nth >= base && nth < items {{
            let i = range.x + nth;
            if shared_out {{ source = state[i]; }} else {{ source = {node}; }}
            begin = {};
            degree = {} - begin;
            if degree >= hub && !shared_out {{
                let at = atomicAdd(&counts[{met}], 1u);
                if at < {hub_slots}u {{
                    state[{hubs}u + at] = source;
                    atomicAdd(&counts[{weight}], degree / {lanes}u);
                    degree = 0u;
                }}
            }}
        }}
        wg_source[lane] = source;
        wg_sums[lane] = degree;
{scan}
        wg_first[lane] = begin - (wg_sums[lane] - degree);
        let total = workgroupUniformLoad(&wg_sums[{}]);
        var part_begin = 0u;
        var part = total;
        if shared_out {{
            part_begin = wg * (total / wgs) + min(wg, total % wgs);
            part = total / wgs + select(0u, 1u, wg < total % wgs);
        }}
        var nth_edge = lane;
        while nth_edge < part && my_spent == 0u {{
            {counted}
            let e = part_begin + nth_edge;
            var low = 0u;
{find}
            let edge = wg_first[low] + e;
            let src = wg_source[low];
            let dst = {};
            my_item = edge;
            my_turns = 0u;
            {}
            if part - nth_edge <= {lanes}u {{ break; }}
            nth_edge += {lanes}u;
        }}
        workgroupBarrier();
        if items - base <= step {{ break; }}
        base += step;
    }}",
        at + 1,
        offset("source"),
        offset("source + 1u"),
        lanes - 1,
        target("edge"),
        call(wave, emitter, ("edge", "src", "dst"), 0),
        mode = slots::MODE,
        wide = slots::WIDE,
        hubs_mode = slots::HUBS,
        edges = emitter.slots.topology(t) + 2,
        hubs = emitter.slots.hubs(wave),
        met = emitter.slots.met(wave),
        weight = emitter.slots.met(wave) + 1,
        hub_slots = slots::HUB_SLOTS,
    );
}

/// What the workgroup says together.
fn end(emitter: &Emitter<'_>, wave: WaveId, out: &mut String) {
    let lanes = emitter.target.lanes;
    for &(r, at) in emitter.slots.partials(wave) {
        let scalar = emitter.program.reductions[r.index()].scalar;
        combine(r, scalar, lanes, out);
        line!(out, "    if lane == 0u {{");
        line!(out, "        state[{at}u + 2u * wg] = wg_pairs[0].x;");
        line!(out, "        state[{}u + 2u * wg] = wg_pairs[0].y;", at + 1);
        line!(out, "    }}");
    }
    let (_, exact) = emitter.reduced(wave);
    if !exact.is_empty() {
        line!(out, "    workgroupBarrier();");
    }
    for r in exact {
        let (words, at) = (exact_words(emitter, r), emitter.slots.exact(r));
        let r = r.0;
        line!(
            out,
            "    for (var i = 2u * lane; i < {}u; i += {}u) {{ // ↻
        let low = atomicLoad(&exact_r{r}[i]);
        var high = atomicLoad(&exact_r{r}[i + 1u]);
        if low != 0u {{ high += exact_carry(atomicAdd(&counts[{at}u + i], low), low); }}
        if high != 0u {{ atomicAdd(&counts[{}u + i], high); }}
    }}
    if lane == 0u {{ atomicOr(&counts[{}u], atomicLoad(&exact_r{r}[{}])); }}",
            words - 2,
            2 * lanes,
            at + 1,
            at as usize + words - 2,
            words - 2,
        );
    }
    if emitter.can_fault(wave) {
        report(emitter, wave, out);
    }
}

/// 1, 2, 4 and so on below the number of lanes.
fn steps(lanes: u32) -> impl DoubleEndedIterator<Item = u32> {
    let most = lanes.next_power_of_two().trailing_zeros();
    (0..most).map(|n| 1 << n)
}

/// Statements that bring the private values of all lanes together in `wg_pairs[0]`, in the order of lanes.
pub(crate) fn combine(r: ReductionId, scalar: Scalar, lanes: u32, out: &mut String) {
    let (r, wide) = (r.0, scalar.rows() == 2);
    let (kept, part) = match wide {
        true => (format!("my_r{r}"), ""),
        false => (format!("vec2<u32>(my_r{r}, 0u)"), ".x"),
    };
    let tree = steps(lanes).map(|by| {
        format!(
            "    workgroupBarrier();
    if lane % {}u == 0u && lane + {by}u < {lanes}u {{
        wg_pairs[lane]{part} = combine_{r}(wg_pairs[lane]{part}, wg_pairs[lane + {by}u]{part});
    }}",
            2 * by
        )
    });
    let tree = tree.collect::<Vec<_>>().join("\n");
    line!(
        out,
        "    workgroupBarrier();
    wg_pairs[lane] = {kept};
{tree}
    workgroupBarrier();"
    );
}

/// The lowest fault of the workgroup's items becomes a record.
fn report(emitter: &Emitter<'_>, wave: WaveId, out: &mut String) {
    let (count, records, words) = (slots::FAULTS, emitter.slots.records(), slots::RECORD_WORDS);
    line!(
        out,
        "    workgroupBarrier();
    if lane < 3u {{ atomicStore(&wg_fault[lane], 0xffffffffu); }}
    workgroupBarrier();
    if my_faulted != 0u {{ atomicMin(&wg_fault[0], my_fault_item); }}
    workgroupBarrier();
    let lowest = my_faulted != 0u && my_fault_item == atomicLoad(&wg_fault[0]);
    if lowest {{ atomicMin(&wg_fault[1], my_fault_pc); }}
    workgroupBarrier();
    let is_first = lowest && my_fault_pc == atomicLoad(&wg_fault[1]);
    if is_first {{ atomicMin(&wg_fault[2], lane); }}
    workgroupBarrier();
    if is_first && lane == atomicLoad(&wg_fault[2]) {{
        let at = {records}u + {words}u * atomicAdd(&counts[{count}], 1u);
        state[at] = {}u;
        state[at + 1u] = my_fault_item;
        state[at + 2u] = my_fault_pc;
        state[at + 3u] = my_fault_kind;
        state[at + 4u] = my_fault_index.x;
        state[at + 5u] = my_fault_index.y;
        state[at + 6u] = my_fault_len;
    }}",
        wave.0
    );
}
