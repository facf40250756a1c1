//! The control: one workgroup that leads a run through its schedule, so that the host need not look.
//!
//! It is dispatched behind each barrier group that the host has encoded. Where that is the group that was next, the
//! control ends it: it combines the values of the workgroups, takes the lowest fault, compares lengths with capacities,
//! and goes on through the schedule to the next group. A wide group is left to the dispatches of its waves, whose
//! workgroups the control writes into `args`. All other arguments are 0, so that what the host has encoded beside the
//! path does nothing. A narrow group the control sweeps by itself, and goes on, for up to
//! [`BUDGET`](slots::BUDGET) groups: so rounds of a few items take no dispatch. Items may have many edges: where nodes
//! of the graph have more than a few, the edges are counted first.
//!
//! A group that has met hubs stays the one that is next, until its dispatches have come by once more and swept them.

use crate::layout::Part;
use crate::program::{CUT_LANES, CUT_TURNS, Emitter, Of, line, value};
use crate::slots::{self, Group, Status};
use crate::sweep;
use std::fmt::Write;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{
    Domain, FixpointId, FrontierId, KernelId, ListId, ReduceOp, ReductionId, Step, TopologyId,
    WaveId,
};
use vyre_core::vir0::scalar::Scalar;

/// Nodes of which a workgroup takes the edges together at least, where there are many workgroups.
const LEAST_CHUNK: u32 = 16;

/// Where no node has more edges, narrow groups are not weighed.
const FEW_EDGES: u32 = 64;

/// Edges of hubs that each lane takes at least, where that leaves workgroups for them.
const HUB_TURNS: u32 = 4;

/// Edges of an item that are counted, at most.
const MOST_WEIGHT: u32 = u32::MAX / crate::MOST_NARROW_ITEMS;

/// Writes the entry point `control`, and what it calls.
pub(crate) fn write(emitter: &Emitter<'_>, out: &mut String) {
    sizes(emitter, out);
    for f in (0..).map(FixpointId).take(emitter.program.fixpoints.len()) {
        begin_round(emitter, f, out);
    }
    let groups = emitter.groups();
    for (n, group) in groups.iter().enumerate() {
        settle(emitter, n, group, out);
        widen(emitter, n, group, out);
        weigh(emitter, n, group, out);
    }
    advance(emitter, &groups, out);
    entry(emitter, &groups, out);
}

/// How many workgroups a sweep has, and of how many nodes each takes the edges together.
fn sizes(emitter: &Emitter<'_>, out: &mut String) {
    let (lanes, workgroups) = (emitter.target.lanes, emitter.target.workgroups);
    let spread = (workgroups / 2).max(1);
    let least = LEAST_CHUNK.min(lanes);
    line!(
        out,
        "fn lead_divide(a: u32, b: u32) -> u32 {{
    return a / b + select(0u, 1u, a % b != 0u);
}}
fn lead_chunk(items: u32, wgs: u32, most: u32) -> u32 {{
    if wgs == 1u {{ return min({lanes}u, most); }}
    return min(clamp(lead_divide(items, {spread}u), {least}u, {lanes}u), most);
}}
fn lead_workgroups(items: u32, chunk: u32) -> u32 {{
    return min(lead_divide(items, chunk), {workgroups}u);
}}
fn lead_hub(edges: u32, most: u32) -> u32 {{
    if most > {}u {{ return 0xffffffffu; }}
    return max({}u, edges / {}u);
}}",
        u32::MAX / slots::HUB_EDGES,
        slots::HUB_EDGES,
        slots::HUB_SLOTS,
    );
}

/// Frontiers flip, and reductions stand at their identity.
fn begin_round(emitter: &Emitter<'_>, fixpoint: FixpointId, out: &mut String) {
    let (p, slots) = (emitter.program, emitter.slots);
    line!(out, "fn lead_round_{}() {{", fixpoint.0);
    line!(out, "    var swapped = 0u;");
    for (f, frontier) in (0..).map(FrontierId).zip(&p.frontiers) {
        if frontier.owner != Some(fixpoint) {
            continue;
        }
        let (at, pushed) = (slots.frontier(f), slots.pushed(f));
        for k in 0..u32::from(emitter.fields(f)) {
            swap(at + 4 + 2 * k, at + 5 + 2 * k, out);
        }
        line!(
            out,
            "    state[{}] = atomicLoad(&counts[{pushed}]);",
            at + 3
        );
        line!(out, "    atomicStore(&counts[{pushed}], 0u);");
        line!(out, "    state[{}] += 1u;", at + 2);
    }
    for (r, reduction) in (0..).map(ReductionId).zip(&p.reductions) {
        if reduction.owner != Some(fixpoint) {
            continue;
        }
        let at = slots.reduction(r);
        let identity = reduction.op.identity(reduction.scalar);
        line!(out, "    state[{at}] = {}u;", identity as u32);
        line!(out, "    state[{}] = {}u;", at + 1, identity >> 32);
        if reduction.op == ReduceOp::ExactSum {
            let (at, words) = (slots.exact(r), sweep::exact_words(emitter, r));
            line!(
                out,
                "    for (var i = {at}u; i < {}u; i += 1u) {{ // ↻",
                at as usize + words
            );
            line!(out, "        atomicStore(&counts[i], 0u);");
            line!(out, "    }}");
        }
    }
    line!(out, "}}");
}

fn swap(a: u32, b: u32, out: &mut String) {
    line!(out, "    swapped = state[{a}];");
    line!(out, "    state[{a}] = state[{b}];");
    line!(out, "    state[{b}] = swapped;");
}

/// A group ends. All lanes call it; `alone`: the control has swept it by itself.
fn settle(emitter: &Emitter<'_>, n: usize, group: &Group, out: &mut String) {
    let (p, slots) = (emitter.program, emitter.slots);
    line!(out, "fn lead_settle_{n}(lane: u32, alone: bool) {{");
    for &wave in &group.waves {
        for &(r, at) in slots.partials(wave) {
            take(emitter, (wave, r), at, out);
        }
    }
    line!(out, "    if lane != 0u {{ return; }}");
    again_for_hubs(emitter, group, out);
    for &wave in &group.waves {
        line!(out, "    args[{}] = 0u;", 3 * wave.0);
        for r in emitter.reduced(wave).1 {
            round(emitter, r, out);
        }
    }
    failures(emitter, group, out);
    for (f, _) in (0..).map(FrontierId).zip(&p.frontiers) {
        if !emitter.flips(f) && pushes(emitter, group, Onto::Frontier(f)) {
            let (at, pushed) = (slots.frontier(f), slots.pushed(f));
            line!(
                out,
                "    state[{}] = atomicLoad(&counts[{pushed}]);",
                at + 3
            );
        }
    }
    for (l, _) in (0..).map(ListId).zip(&p.lists) {
        if pushes(emitter, group, Onto::List(l)) {
            let (at, appended) = (slots.list(l), slots.appended(l));
            line!(
                out,
                "    state[{}] = atomicLoad(&counts[{appended}]);",
                at + 1
            );
        }
    }
    line!(out, "}}");
}

/// The group is next again where it has met hubs: only waves that have some are dispatched.
fn again_for_hubs(emitter: &Emitter<'_>, group: &Group, out: &mut String) {
    let slots = emitter.slots;
    let sweeps_edges = |w: &WaveId| emitter.domain(*w).topology().is_some();
    if !group.waves.iter().any(sweeps_edges) {
        return;
    }
    let (mode, spent) = (slots::MODE, slots::SPENT);
    line!(out, "    if state[{mode}] == {}u {{", slots::WIDE);
    line!(out, "        var met = 0u;");
    for &wave in &group.waves {
        let (n, wgs) = (wave.0, slots.wave(wave) + 2);
        match sweeps_edges(&wave) {
            true => line!(
                out,
                "        let met_{n} = atomicLoad(&counts[{}]);
        met |= met_{n};
        let wgs_{n} = min(lead_divide(atomicLoad(&counts[{}]), {HUB_TURNS}u), {}u);",
                slots.met(wave),
                slots.met(wave) + 1,
                emitter.target.workgroups
            ),
            false => line!(out, "        let wgs_{n} = 0u;"),
        }
        line!(out, "        state[{wgs}] = wgs_{n};");
        line!(out, "        args[{}] = wgs_{n};", 3 * n);
    }
    line!(
        out,
        "        if met != 0u && atomicLoad(&counts[{spent}]) == 0u {{
            state[{mode}] = {}u;
            return;
        }}
    }}
    state[{mode}] = {}u;",
        slots::HUBS,
        slots::ADVANCE
    );
    for wave in group.waves.iter().filter(|w| sweeps_edges(w)) {
        let met = slots.met(*wave);
        line!(out, "    atomicStore(&counts[{met}], 0u);");
        line!(out, "    atomicStore(&counts[{}], 0u);", met + 1);
    }
}

/// `lead_widen_N()`, of one lane: a group waits for the dispatches of its waves.
fn widen(emitter: &Emitter<'_>, n: usize, group: &Group, out: &mut String) {
    let slots = emitter.slots;
    line!(out, "fn lead_widen_{n}() {{");
    line!(out, "    state[{}] = {}u;", slots::MODE, slots::WIDE);
    for &wave in &group.waves {
        let at = slots.wave(wave);
        let items = format!("(state[{}] - state[{at}])", at + 1);
        let chunk = match emitter.domain(wave).topology() {
            Some(t) => format!("lead_chunk({items}, 2u, state[{}])", slots.topology(t) + 3),
            None => format!("{}u", emitter.target.lanes),
        };
        line!(
            out,
            "    state[{}] = lead_workgroups({items}, {chunk});
    args[{}] = state[{}];",
            at + 2,
            3 * wave.0,
            at + 2
        );
    }
    line!(out, "}}");
}

/// The graphs and frontiers that waves of a group sweep edges from.
fn swept_from<'a>(
    emitter: &'a Emitter<'_>,
    group: &'a Group,
) -> impl Iterator<Item = (WaveId, TopologyId, FrontierId)> + 'a {
    let domains = group.waves.iter().map(|&w| (w, emitter.domain(w)));
    domains.filter_map(|(w, domain)| match domain {
        Domain::EdgesFrom(t, f) => Some((w, t, f)),
        _ => None,
    })
}

/// `lead_weigh_N(lane)`, of all lanes: a narrow group becomes a wide one where its few items have many edges.
fn weigh(emitter: &Emitter<'_>, n: usize, group: &Group, out: &mut String) {
    if swept_from(emitter, group).next().is_none() {
        return;
    }
    let (slots, lanes) = (emitter.slots, emitter.target.lanes);
    line!(
        out,
        "fn lead_weigh_{n}(lane: u32) {{
    if lane == 0u {{ atomicStore(&wg_weight, 0u); }}
    workgroupBarrier();
    var weight = 0u;"
    );
    for (wave, t, f) in swept_from(emitter, group) {
        let side = format!("state[{}]", slots.frontier(f) + 4);
        let offsets = format!("state[{}]", slots.topology(t));
        let at = slots.wave(wave);
        line!(
            out,
            "    for (var i = state[{at}] + lane; i < state[{}]; i += {lanes}u) {{
        {}
        let node = {};
        // No more than this, so that {} items can be summed.
        weight += min({} - {}, {MOST_WEIGHT}u);
    }}",
            at + 1,
            emitter.counted(),
            emitter.element(Part::Items(f, 0), &side, "i"),
            crate::MOST_NARROW_ITEMS,
            emitter.element(Part::Offsets(t), &offsets, "node + 1u"),
            emitter.element(Part::Offsets(t), &offsets, "node"),
        );
    }
    line!(
        out,
        "    if weight != 0u {{ atomicAdd(&wg_weight, weight); }}
    workgroupBarrier();
    if lane == 0u {{
        wg_go = vec2<u32>({SWEEP}u, {n}u);
        if atomicLoad(&wg_weight) > {}u {{
            lead_widen_{n}();
            wg_go.x = {STOP}u;
        }}
    }}
}}",
        slots::HUB_EDGES
    );
}

/// A reduction takes in what the workgroups of a wave say, in their order.
fn take(emitter: &Emitter<'_>, (wave, r): (WaveId, ReductionId), at: u32, out: &mut String) {
    let (lanes, reduction) = (emitter.target.lanes, &emitter.program.reductions[r.index()]);
    let (to, n) = (emitter.slots.reduction(r), r.0);
    let wide = reduction.scalar.rows() == 2;
    let load = |at: &str| match wide {
        true => format!("vec2<u32>(state[{at}], state[{at} + 1u])"),
        false => format!("state[{at}]"),
    };
    let store = |value: &str, out: &mut String| match wide {
        true => {
            line!(out, "        let taken = {value};");
            line!(out, "        state[{to}] = taken.x;");
            line!(out, "        state[{}] = taken.y;", to + 1);
        }
        false => line!(out, "        state[{to}] = {value};"),
    };
    let before = load(&format!("{to}u"));
    let wgs = emitter.slots.wave(wave) + 2;
    line!(out, "    if alone {{");
    line!(out, "        if lane == 0u && state[{wgs}] != 0u {{");
    store(
        &format!("combine_{n}({before}, {})", load(&format!("{at}u"))),
        out,
    );
    line!(out, "        }}");
    line!(out, "    }} else {{");
    let identity = value(reduction.scalar, reduction.op.identity(reduction.scalar));
    line!(
        out,
        "    my_r{n} = {identity};
    let each = lead_divide(state[{wgs}], {lanes}u);
    let last = min(state[{wgs}], (lane + 1u) * each);
    for (var i = lane * each; i < last; i += 1u) {{ // ↻
        my_r{n} = combine_{n}(my_r{n}, {});
    }}",
        load(&format!("{at}u + 2u * i"))
    );
    sweep::combine(r, reduction.scalar, lanes, out);
    let sum = match wide {
        true => "wg_pairs[0]",
        false => "wg_pairs[0].x",
    };
    line!(out, "    if lane == 0u {{");
    store(&format!("combine_{n}({before}, {sum})"), out);
    line!(out, "    }}");
    line!(out, "    workgroupBarrier();");
    line!(out, "    }}");
}

/// An exact sum is rounded.
fn round(emitter: &Emitter<'_>, r: ReductionId, out: &mut String) {
    let scalar = emitter.program.reductions[r.index()].scalar;
    let (to, at, words) = (
        emitter.slots.reduction(r),
        emitter.slots.exact(r),
        sweep::exact_words(emitter, r) / 2,
    );
    let (precision, infinity, sign_bit) = match scalar {
        Scalar::F64 => (53, "0u, 0x7ff00000u", "0u, 0x80000000u"),
        _ => (24, "0x7f800000u, 0u", "0x80000000u, 0u"),
    };
    line!(
        out,
        "    {{
        let sum = exact_value({at}u, {words}u, {precision}u, vec2<u32>({infinity}), vec2<u32>({sign_bit}));
        state[{to}] = sum.x;
        state[{}] = sum.y;
    }}",
        to + 1,
    );
}

/// What a wave can push onto.
#[derive(Clone, Copy)]
enum Onto {
    Frontier(FrontierId),
    List(ListId),
}

fn pushes(emitter: &Emitter<'_>, group: &Group, onto: Onto) -> bool {
    let p = emitter.program;
    let kernels = group.waves.iter().map(|w| p.waves[w.index()].kernel);
    let mut words = kernels.flat_map(|k| &p.kernels[k.index()].code);
    words.any(|word| match (Op::from_code(word.op), onto) {
        (Some(Op::Push | Op::PushItem), Onto::Frontier(f)) => word.resource() == f.0,
        (Some(Op::Append), Onto::List(l)) => word.resource() == l.0,
        _ => false,
    })
}

/// The run ends where an item of the group has faulted, or something is too short.
fn failures(emitter: &Emitter<'_>, group: &Group, out: &mut String) {
    let (p, slots) = (emitter.program, emitter.slots);
    let failed = Status::Failed as u32;
    if group.waves.iter().any(|&w| emitter.can_fault(w)) {
        let (fault, words) = (slots::FAULT, slots::RECORD_WORDS);
        line!(
            out,
            "    let faults = atomicLoad(&counts[{}]);
    for (var i = 0u; i < faults; i += 1u) {{ // ↻
        let at = {}u + {words}u * i;
        var lower = i == 0u;
        if state[at] != state[{fault}] {{ lower = lower || state[at] < state[{fault}]; }}
        else if state[at + 1u] != state[{}] {{ lower = lower || state[at + 1u] < state[{}]; }}
        else {{ lower = lower || state[at + 2u] < state[{}]; }}
        if lower {{
            for (var k = 0u; k < {words}u; k += 1u) {{ // ↻
                state[{fault}u + k] = state[at + k];
            }}
        }}
    }}
    if faults != 0u {{ state[{}] = {failed}u; }}",
            slots::FAULTS,
            slots.records(),
            fault + 1,
            fault + 1,
            fault + 2,
            slots::STATUS,
        );
    }
    let frontiers = (0..p.frontiers.len() as u16).map(FrontierId);
    let frontiers = frontiers.filter(|&f| pushes(emitter, group, Onto::Frontier(f)));
    let frontiers = frontiers.map(|f| (slots.pushed(f), slots.frontier(f)));
    let lists = (0..p.lists.len() as u16).map(ListId);
    let lists = lists.filter(|&l| pushes(emitter, group, Onto::List(l)));
    let lists = lists.map(|l| (slots.appended(l), slots.list(l)));
    for (count, capacity) in frontiers.chain(lists) {
        let status = slots::STATUS;
        line!(
            out,
            "    if atomicLoad(&counts[{count}]) > state[{capacity}] {{ state[{status}] = {failed}u; }}"
        );
    }
    line!(
        out,
        "    if atomicLoad(&counts[{}]) != 0u {{ state[{}] = {}u; }}",
        slots::SPENT,
        slots::STATUS,
        Status::Spent as u32
    );
}

/// `lead_on()`, of one lane: goes on from the next step to the next group, or the end.
fn advance(emitter: &Emitter<'_>, groups: &[Group], out: &mut String) {
    let p = emitter.program;
    let (step, status) = (slots::STEP, slots::STATUS);
    line!(
        out,
        "fn lead_on() {{
    var swapped = 0u;
    loop {{
    switch state[{step}] {{"
    );
    let mut firsts = vec![0; p.fixpoints.len()];
    for (at, &s) in p.schedule.iter().enumerate() {
        match s {
            Step::Wave(_) => {
                if let Some(n) = groups.iter().position(|group| group.first == at) {
                    line!(out, "    case {at}u: {{");
                    next_group(emitter, n, &groups[n], out);
                    line!(out, "        return;\n    }}");
                }
            }
            Step::Barrier => line!(out, "    case {at}u: {{ state[{step}] = {}u; }}", at + 1),
            // Programs with local fixpoints are refused before.
            Step::Loop(f) | Step::Each(f, _) => {
                firsts[f.index()] = at + 1;
                line!(
                    out,
                    "    case {at}u: {{
        state[{}] = 0u;
        lead_round_{}();
        state[{step}] = {}u;
    }}",
                    emitter.slots.fixpoint(f),
                    f.0,
                    at + 1
                );
            }
            Step::Until(f) => {
                line!(out, "    case {at}u: {{");
                until(emitter, f, (firsts[f.index()], at + 1), out);
                line!(out, "    }}");
            }
            Step::End => {
                let done = Status::Done as u32;
                line!(
                    out,
                    "    case {at}u: {{ state[{status}] = {done}u; return; }}"
                );
            }
        }
    }
    line!(out, "    default: {{ return; }}\n    }}\n    }}\n}}");
}

/// The end of a round: back to its first step, or on.
fn until(emitter: &Emitter<'_>, f: FixpointId, (first, next): (usize, usize), out: &mut String) {
    let (p, slots) = (emitter.program, emitter.slots);
    let (step, status) = (slots::STEP, slots::STATUS);
    let fixpoint = &p.fixpoints[f.index()];
    for &(a, b) in &fixpoint.swaps {
        swap(slots.buffer(a), slots.buffer(b), out);
    }
    let at = slots.fixpoint(f);
    line!(out, "    state[{}] += 1u;", at + 1);
    emitter.load(fixpoint.until, Of::Condition(f), out);
    let KernelId(kernel) = fixpoint.until;
    let (fault, condition) = (slots::FAULT, Status::Condition as u32);
    line!(
        out,
        "    let done_{n} = kernel_{kernel}();
    if my_spent != 0u {{ state[{status}] = {}u; return; }}
    if my_faulted != 0u {{
        state[{}] = my_fault_pc;
        state[{}] = my_fault_kind;
        state[{}] = my_fault_index.x;
        state[{}] = my_fault_index.y;
        state[{}] = my_fault_len;
        state[{status}] = {condition}u;
        return;
    }}
    if done_{n} != 0u {{
        state[{}] = state[{at}] + 1u;
        state[{step}] = {next}u;
    }} else if state[{at}] == {}u {{
        state[{status}] = {}u;
        return;
    }} else {{
        state[{at}] += 1u;
        lead_round_{n}();
        state[{step}] = {first}u;
    }}",
        Status::Spent as u32,
        fault + 2,
        fault + 3,
        fault + 4,
        fault + 5,
        fault + 6,
        at + 2,
        (fixpoint.max_rounds - 1) as u32,
        Status::RoundLimit as u32,
        n = f.0,
    );
}

/// A group is next: how many items its waves have, and who sweeps them.
fn next_group(emitter: &Emitter<'_>, n: usize, group: &Group, out: &mut String) {
    let slots = emitter.slots;
    line!(out, "        state[{}] = {n}u;", slots::GROUP);
    line!(out, "        state[{}] = {}u;", slots::STEP, group.end());
    line!(out, "        var most = 0u;");
    for &wave in &group.waves {
        let at = slots.wave(wave);
        match emitter.domain(wave) {
            // The host has written them.
            Domain::Once | Domain::Range(_) | Domain::Nodes => {}
            Domain::Edges(t) => {
                line!(
                    out,
                    "        most = max(most, state[{}]);",
                    slots.topology(t) + 2
                );
            }
            Domain::Items(f) | Domain::EdgesFrom(_, f) => {
                line!(
                    out,
                    "        state[{}] = state[{}];",
                    at + 1,
                    slots.frontier(f) + 3
                );
            }
            Domain::ListItems(l, new) => {
                let len = slots.list(l) + 1;
                line!(out, "        state[{}] = state[{len}];", at + 1);
                if new {
                    line!(out, "        state[{at}] = state[{}];", at + 3);
                    line!(out, "        state[{}] = state[{len}];", at + 3);
                }
            }
        }
        line!(
            out,
            "        most = max(most, state[{}] - state[{at}]);",
            at + 1
        );
        line!(out, "        state[{}] += 1u;", at + 4);
    }
    line!(
        out,
        "        if most > state[{}] {{
            lead_widen_{n}();
        }} else {{
            state[{}] = {}u;",
        slots::NARROW_ITEMS,
        slots::MODE,
        slots::NARROW
    );
    for &wave in &group.waves {
        let at = slots.wave(wave);
        line!(
            out,
            "            state[{}] = min(state[{}] - state[{at}], 1u);",
            at + 2,
            at + 1
        );
    }
    line!(out, "        }}");
}

// What the control does next: nothing, sweep and end a group, end it, go on from a step, or count the edges of a group.
const STOP: u32 = 0;
const SWEEP: u32 = 1;
const SETTLE: u32 = 2;
const GO_ON: u32 = 3;
const WEIGH: u32 = 4;

/// `lead_narrow()`: what comes first in a narrow group.
fn narrow(emitter: &Emitter<'_>, groups: &[Group], out: &mut String) {
    line!(out, "fn lead_narrow() -> u32 {{");
    line!(out, "    switch state[{}] {{", slots::GROUP);
    for (n, group) in groups.iter().enumerate() {
        let graphs = swept_from(emitter, group).map(|(_, t, _)| t);
        let graphs = graphs.map(|t| {
            let most = emitter.slots.topology(t) + 3;
            format!("state[{most}] < {}u", u32::MAX / FEW_EDGES)
        });
        let graphs: Vec<String> = graphs.collect();
        if !graphs.is_empty() {
            let heavy = graphs.join(" || ");
            line!(
                out,
                "    case {n}u: {{ return select({SWEEP}u, {WEIGH}u, {heavy}); }}"
            );
        }
    }
    line!(out, "    default: {{ return {SWEEP}u; }}\n    }}\n}}");
}

/// `control` itself.
fn entry(emitter: &Emitter<'_>, groups: &[Group], out: &mut String) {
    let lanes = emitter.target.lanes;
    narrow(emitter, groups, out);
    let (status, mode, group, budget) = (slots::STATUS, slots::MODE, slots::GROUP, slots::BUDGET);
    // The next dispatch counts from 0.
    let turns_left: String = match emitter.target.cuts_loops {
        true => (0..lanes.div_ceil(CUT_LANES))
            .map(|of| format!(" && wg_turns[{of}] < {}u", CUT_TURNS / 2))
            .collect(),
        false => String::new(),
    };
    line!(
        out,
        "fn lead_next() -> u32 {{
    if state[{status}] != 0u {{ return {STOP}u; }}
    if state[{mode}] == {}u {{ return lead_narrow(); }}
    if state[{mode}] == {}u {{ return {GO_ON}u; }}
    return select({STOP}u, {SETTLE}u, state[{group}] == here.x);
}}
@compute @workgroup_size({lanes}) fn control(@builtin(local_invocation_index) lane: u32) {{
{start}
    var led = 0u;
    if lane == 0u {{ wg_go = vec2<u32>(lead_next(), state[{group}]); }}
    loop {{
    let go = workgroupUniformLoad(&wg_go);
    if go.x == {STOP}u {{ break; }}
    if go.x == {WEIGH}u {{
        switch go.y {{",
        slots::NARROW,
        slots::ADVANCE,
        start = emitter.start(),
    );
    for (n, of) in groups.iter().enumerate() {
        if swept_from(emitter, of).next().is_some() {
            line!(out, "        case {n}u: {{ lead_weigh_{n}(lane); }}");
        }
    }
    line!(
        out,
        "        default: {{}}
        }}
        continue;
    }}
    if go.x == {SWEEP}u {{
        switch go.y {{"
    );
    for (n, of) in groups.iter().enumerate() {
        line!(out, "        case {n}u: {{");
        for wave in &of.waves {
            line!(out, "            sweep_{}(0u, 1u, lane);", wave.0);
            line!(out, "            workgroupBarrier();");
        }
        line!(out, "        }}");
    }
    line!(
        out,
        "        default: {{}}
        }}
    }}
    storageBarrier();
    workgroupBarrier();
    if go.x != {GO_ON}u {{
        switch go.y {{"
    );
    for n in 0..groups.len() {
        line!(
            out,
            "        case {n}u: {{ lead_settle_{n}(lane, go.x == {SWEEP}u); }}"
        );
    }
    line!(
        out,
        "        default: {{}}
        }}
    }}
    led += 1u;
    if lane == 0u {{
        if state[{status}] == 0u && state[{mode}] != {}u {{ lead_on(); }}
        var next = vec2<u32>({STOP}u, state[{group}]);
        if state[{status}] == 0u && state[{mode}] == {}u && led < state[{budget}]{turns_left} {{ next.x = lead_narrow(); }}
        wg_go = next;
    }}
    storageBarrier();
    workgroupBarrier();
    }}
}}",
        slots::HUBS,
        slots::NARROW
    );
}
