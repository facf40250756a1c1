//! The entry point of a wave: its operator on each item that falls to an invocation; each workgroup leaves a record.
//!
//! A record has two parts. The lowest fault of a workgroup goes behind those of others, wherever there is one at all,
//! and `faulted` counts them. What a workgroup has of reductions stands behind room for the faults of all, at its own
//! number.

use crate::body::{Part, combine, function};
use crate::helpers::Helper;
use crate::ir::{FAULT_WORDS, Fun, Maker, Own, Sharing, Value};
use crate::layout::{Arena, Held, Kind, Layout, Piece, words_of};
use crate::loops::{self, Parts};
use crate::shared::{
    Narrow, Shared, barrier, begin_staging, count_edges, edges_from, flush_staged, tell_edges,
};
use naga::{
    AtomicFunction, BinaryOperator as Bin, BuiltIn, EntryPoint, Function, Handle, Module,
    ShaderStage, Statement,
};
use std::collections::BTreeSet;
use vyre_core::plan::shaders::{
    FAULT_WORDS as FAULTS, SharedLoop, lookers, part_words, record_words, reduced, shared_loop,
};
use vyre_core::vir0::module::{Domain, ListId, Portion, Program, Wave, WaveId};

/// What an invocation knows of itself.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) id: Value,
    pub(crate) lane: Value,
    pub(crate) group: Value,
    pub(crate) groups: Value,
    /// Invocations of a workgroup.
    pub(crate) lanes: u32,
}

/// A module of one entry point, which workgroups of so many invocations run, or one invocation.
pub(crate) fn module<C>(
    layout: &Layout,
    name: &str,
    lanes: u32,
    made: impl FnOnce(&mut Maker<'_>) -> C,
    body: impl FnOnce(&mut Fun<'_, '_>, C, Place),
) -> Module {
    let mut m = Maker::new(layout);
    let called = made(&mut m);
    let (id, word) = (m.ty.id, m.ty.u32);
    let arguments = [("id", id), ("lane", word), ("group", id), ("groups", id)];
    let builtins = [
        BuiltIn::GlobalInvocationId,
        BuiltIn::LocalInvocationIndex,
        BuiltIn::WorkGroupId,
        BuiltIn::NumWorkGroups,
    ];
    let arguments = if lanes > 1 {
        &arguments[..]
    } else {
        &arguments[..1]
    };
    let mut f = Fun::new(&mut m, name, arguments, None);
    for (at, of) in builtins.into_iter().take(arguments.len()).enumerate() {
        f.bind(at, of);
    }
    let id = f.argument(0);
    let id = f.part(id, 0);
    let place = match lanes > 1 {
        true => {
            let lane = f.argument(1);
            let (group, groups) = (f.argument(2), f.argument(3));
            Place {
                id,
                lane,
                group: f.part(group, 0),
                groups: f.part(groups, 0),
                lanes,
            }
        }
        false => Place {
            id,
            lane: id,
            group: id,
            groups: id,
            lanes,
        },
    };
    body(&mut f, called, place);
    let function = f.finish();
    m.module.entry_points.push(EntryPoint {
        name: name.to_owned(),
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: [lanes, 1, 1],
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    });
    m.module
}

/// The numbers from `from` up to `to` that fall to an invocation of a grid.
pub(crate) fn share(
    f: &mut Fun<'_, '_>,
    place: Place,
    (from, to): (Value, Value),
    body: impl FnOnce(&mut Fun<'_, '_>, Value),
) {
    let next = f.local("next", None);
    let first = f.sum(from, place.id);
    f.store(next, first);
    let stride = f.with(Bin::Multiply, place.groups, place.lanes);
    f.forever(|f| {
        let now = f.load(next);
        f.name(now, "at".to_owned());
        let done = f.bin(Bin::GreaterEqual, now, to);
        f.when(done, |f| f.push(Statement::Break));
        body(f, now);
        let after = f.sum(now, stride);
        let wrapped = f.bin(Bin::Less, after, now);
        f.when(wrapped, |f| f.push(Statement::Break));
        f.store(next, after);
    });
}

/// What runs an item.
pub(crate) enum Code {
    Whole(Handle<Function>),
    Shared(SharedLoop, Parts),
}

/// The sweep of a wave that the target gets.
pub(crate) fn sweep(program: &Program, layout: &Layout, id: WaveId) -> Module {
    let name = format!("{}_sweep", layout.wave(id));
    let lanes = layout.lanes(id);
    let shared = Shared::of(program, id, lanes);
    let made = |m: &mut Maker<'_>| {
        m.sharing = staging(program, layout, id, shared);
        code(m, program, id)
    };
    module(layout, &name, lanes, made, |f, code, place| {
        items(f, program, id, (shared, place, &code), None);
        count_edges(f);
        leave_record(f, program, id, (shared, place));
    })
}

/// What the workgroup of a wave's sweep shares.
pub(crate) fn staging(program: &Program, layout: &Layout, id: WaveId, shared: Shared) -> Sharing {
    Sharing {
        frontiers: layout.staged(program, id),
        nodes: layout.staged_nodes(id),
        pulling: layout.pulling(id),
        ..shared.alone()
    }
}

/// What runs the items of a wave.
pub(crate) fn code(m: &mut Maker<'_>, program: &Program, id: WaveId) -> Code {
    let wave = &program.waves[id.index()];
    let keyed = !wave.domain.fields(program).is_empty();
    match shared_loop(program, id) {
        Some(of) => {
            let parts = Parts::of(m, program, id, (keyed, &of));
            Code::Shared(of, parts)
        }
        None => {
            let name = m.layout.wave(id).to_owned();
            Code::Whole(function(
                m,
                program,
                wave.kernel,
                (&name, keyed),
                Part::Whole,
            ))
        }
    }
}

/// The items that fall to an invocation, each with what its kernel takes.
pub(crate) fn items(
    f: &mut Fun<'_, '_>,
    program: &Program,
    id: WaveId,
    (shared, place, code): (Shared, Place, &Code),
    narrow: Option<Narrow>,
) {
    let wave = &program.waves[id.index()];
    let kernel = &program.kernels[wave.kernel.index()];
    let fields = wave.domain.fields(program);
    let uses = (kernel.item.src.is_some(), kernel.item.dst.is_some());
    let zero = f.u(0);
    begin_staging(f, place);
    if let Domain::EdgesFrom(topology, frontier) = wave.domain {
        let Code::Whole(body) = *code else {
            unreachable!("edges are what is shared out")
        };
        let call = |f: &mut Fun<'_, '_>, edge: Value, node: Value| {
            let mut arguments = vec![edge];
            arguments.extend(uses.0.then_some(node));
            if uses.1 {
                arguments.push(fixed(f, Piece::Targets(topology.0), edge, 0));
            }
            f.call_of(body, &arguments);
        };
        if narrow.is_some() || f.m.layout.spreads(wave.domain) {
            let of = (topology, frontier, narrow);
            return edges_from(f, (shared, place), of, call);
        }
        let len = f.control_now(f.m.layout.control(Held::Len(frontier.0)));
        share(f, place, (zero, len), |f, at| {
            let node = item_word(f, frontier.0, at);
            f.name(node, "node".to_owned());
            let first = fixed(f, Piece::Offsets(topology.0), node, 0);
            let end = fixed(f, Piece::Offsets(topology.0), node, 1);
            f.count("edge", (first, end), |f, edge| call(f, edge, node));
        });
        return flush_staged(f, place);
    }
    let (mut from, layout) = (zero, f.m.layout);
    let len = match wave.domain {
        Domain::Once => f.u(1),
        Domain::Range(_) => f.param(layout.length(Kind::Wave, id.0)),
        Domain::Nodes => f.param(layout.length(Kind::Nodes, 0)),
        Domain::Edges(topology) => f.param(layout.length(Kind::Edges, topology.0)),
        Domain::Items(frontier) | Domain::EdgesFrom(_, frontier) => {
            f.control_now(layout.control(Held::Len(frontier.0)))
        }
        Domain::ListItems(list, portion) => {
            if portion.goes_on() {
                from = f.control_now(layout.control(Held::Swept(id.0)));
            }
            list_end(f, wave, (list, portion))
        }
    };
    let arguments = |f: &mut Fun<'_, '_>, at: Value| match wave.domain {
        Domain::Once | Domain::Range(_) | Domain::Nodes => vec![at],
        Domain::Items(frontier) | Domain::EdgesFrom(_, frontier) if fields.is_empty() => {
            vec![item_word(f, frontier.0, at)]
        }
        Domain::Items(frontier) | Domain::EdgesFrom(_, frontier) => {
            let load = |f: &mut Fun<'_, '_>, field: u16, half: u32, words: u32| {
                let at = f.item_at((frontier.0, field), at, words, false);
                let at = if half == 0 { at } else { f.plus(at, half) };
                let pointer = f.memory(Arena::Plain, at);
                f.load(pointer)
            };
            fields_of(f, (kernel, fields), at, load)
        }
        Domain::ListItems(list, _) => {
            let load = |f: &mut Fun<'_, '_>, field: u16, half: u32, words: u32| {
                let first = f.param(f.m.layout.at(Piece::Field(list.0, field)));
                let offset = match words {
                    1 => at,
                    words => f.with(Bin::Multiply, at, words),
                };
                let at = f.sum(first, offset);
                let at = if half == 0 { at } else { f.plus(at, half) };
                let pointer = f.memory(Arena::Plain, at);
                f.load(pointer)
            };
            fields_of(f, (kernel, fields), at, load)
        }
        Domain::Edges(topology) => {
            let mut arguments = vec![at];
            if uses.0 {
                arguments.push(f.call(Helper::SourceOf(topology.0), &[at]));
            }
            if uses.1 {
                arguments.push(fixed(f, Piece::Targets(topology.0), at, 0));
            }
            arguments
        }
    };
    match code {
        Code::Whole(body) => share(f, place, (from, len), |f, at| {
            let arguments = arguments(f, at);
            f.call_of(*body, &arguments);
        }),
        Code::Shared(of, parts) => {
            loops::sweep(f, (shared, place), (from, len), (of, parts), arguments);
        }
    }
    flush_staged(f, place);
}

/// Where the items end that a wave sweeps of a list.
pub(crate) fn list_end(
    f: &mut Fun<'_, '_>,
    wave: &Wave,
    (list, portion): (ListId, Portion),
) -> Value {
    let held = match (portion, wave.fixpoint) {
        (Portion::Last, Some(fixpoint)) => Held::Began(fixpoint.0, list.0),
        _ => Held::ListLen(list.0),
    };
    f.control_now(f.m.layout.control(held))
}

/// A node of a frontier.
pub(crate) fn item_word(f: &mut Fun<'_, '_>, frontier: u16, at: Value) -> Value {
    let at = f.item_at((frontier, 0), at, 1, false);
    let pointer = f.memory(Arena::Plain, at);
    f.load(pointer)
}

pub(crate) fn fixed(f: &mut Fun<'_, '_>, piece: Piece, at: Value, beyond: u32) -> Value {
    let first = f.param(f.m.layout.at(piece));
    let at = f.sum(first, at);
    let at = if beyond == 0 { at } else { f.plus(at, beyond) };
    let pointer = f.memory(Arena::Fixed, at);
    f.load(pointer)
}

/// Arguments of a kernel whose items have fields: what traps name, the position, the fields.
fn fields_of(
    f: &mut Fun<'_, '_>,
    (kernel, fields): (
        &vyre_core::vir0::module::Kernel,
        &[vyre_core::vir0::scalar::Scalar],
    ),
    at: Value,
    load: impl Fn(&mut Fun<'_, '_>, u16, u32, u32) -> Value,
) -> Vec<Value> {
    let key = load(f, 0, 0, words_of(fields[0]));
    let mut arguments = vec![key];
    arguments.extend(kernel.item.index.is_some().then_some(at));
    for (field, (row, scalar)) in (0..).zip(kernel.item.fields.iter().zip(fields)) {
        if row.is_some() {
            let words = words_of(*scalar);
            for half in 0..words {
                let value = load(f, field, half, words);
                arguments.push(value);
            }
        }
    }
    arguments
}

/// The lowest fault of a workgroup, and what it has of reductions, go to its record.
fn leave_record(
    f: &mut Fun<'_, '_>,
    program: &Program,
    id: WaveId,
    (shared, place): (Shared, Place),
) {
    let (reductions, words) = (reduced(program, id), record_words(program, id));
    gather_all(f, (program, id, &reductions), (shared, place));
    let first = f.with(Bin::Equal, place.lane, 0);
    f.when(first, |f| {
        tell_edges(f);
        take_faults(f, (shared, place), words, |f| {
            let count = f.control(f.m.layout.control(Held::Faulted));
            let one = f.u(1);
            let slot = f.atomic(count, AtomicFunction::Add, one);
            let record = f.with(Bin::Multiply, slot, FAULTS);
            for at in 0..FAULTS {
                let value = own_fault(f, at);
                let to = f.plus(record, at);
                let to = f.record(to);
                f.store(to, value);
            }
        });
        let record = totals_of(f, words, (place.group, place.groups));
        keep_own(f, (program, &reductions), |f, at| {
            let to = f.plus(record, at);
            f.record(to)
        });
    });
}

fn own_fault(f: &mut Fun<'_, '_>, at: u32) -> Value {
    let own = f.own(Own::Fault(at));
    f.load(own)
}

/// Behind a sweep: what all invocations of a workgroup have is where its first one finds it, and that has what all have
/// of reductions.
pub(crate) fn gather_all(
    f: &mut Fun<'_, '_>,
    (program, id, reductions): (&Program, WaveId, &BTreeSet<u16>),
    (shared, place): (Shared, Place),
) {
    let (words, records) = (record_words(program, id), shared.columns());
    let mine = f.with(Bin::Multiply, place.lane, words);
    let kind = own_fault(f, 0);
    let to = shared.at(f, records, mine);
    f.store(to, kind);
    let faulted = f.with(Bin::NotEqual, kind, 0);
    f.when(faulted, |f| {
        for at in 1..FAULTS {
            let value = own_fault(f, at);
            let to = shared.at(f, records + at, mine);
            f.store(to, value);
        }
    });
    let totals = records + FAULTS;
    keep_own(f, (program, reductions), |f, at| {
        shared.at(f, totals + at, mine)
    });
    barrier(f);
    // Some look at the faults of as many each as they are.
    let lookers = lookers(place.lanes);
    let looks = f.with(Bin::Less, place.lane, lookers);
    f.when(looks, |f| {
        let kinds = (0..place.lanes / lookers).map(|at| {
            let other = f.plus(place.lane, at * lookers);
            let theirs = f.with(Bin::Multiply, other, words);
            let kind = shared.at(f, records, theirs);
            f.load(kind)
        });
        let kinds: Vec<Value> = kinds.collect();
        let any = any_of(f, &kinds);
        let to = shared.at(f, Shared::TOLD, place.lane);
        f.store(to, any);
    });
    let of = |f: &mut Fun<'_, '_>, lane: Value, at: u32| {
        let theirs = f.with(Bin::Multiply, lane, words);
        shared.at(f, totals + at, theirs)
    };
    gather(f, (program, reductions), place, of);
}

/// The first invocation of a workgroup has the lowest fault of all, and does something if there is one.
pub(crate) fn take_faults(
    f: &mut Fun<'_, '_>,
    (shared, place): (Shared, Place),
    words: u32,
    then: impl FnOnce(&mut Fun<'_, '_>),
) {
    let told = (0..lookers(place.lanes)).map(|at| {
        let at = f.u(at);
        let told = shared.at(f, Shared::TOLD, at);
        f.load(told)
    });
    let told: Vec<Value> = told.collect();
    let any = any_of(f, &told);
    let any = f.with(Bin::NotEqual, any, 0);
    f.when(any, |f| {
        let (from, lanes) = (f.u(1), f.u(place.lanes));
        f.count("other", (from, lanes), |f, other| {
            let theirs = f.with(Bin::Multiply, other, words);
            take_fault(f, |f, at| shared.at(f, shared.columns() + at, theirs));
        });
        then(f);
    });
}

fn any_of(f: &mut Fun<'_, '_>, words: &[Value]) -> Value {
    let all = words.iter().copied();
    let any = all.reduce(|a, b| f.bin(Bin::InclusiveOr, a, b));
    any.expect("there is one")
}

/// Where in the records a workgroup has its part of reductions.
pub(crate) fn totals_of(f: &mut Fun<'_, '_>, words: u32, (group, groups): (Value, Value)) -> Value {
    let behind = f.with(Bin::Multiply, groups, FAULTS);
    let at = f.with(Bin::Multiply, group, words - FAULTS);
    f.sum(behind, at)
}

/// Stores what an invocation has of reductions.
pub(crate) fn keep_own(
    f: &mut Fun<'_, '_>,
    (program, reductions): (&Program, &BTreeSet<u16>),
    to: impl Fn(&mut Fun<'_, '_>, u32) -> Value,
) {
    for (at, own) in (0..).zip(own_totals(program, reductions)) {
        let own = f.own(own);
        let value = f.load(own);
        let to = to(f, at);
        f.store(to, value);
    }
}

/// The first invocation of a workgroup has what all have of reductions, and the others have come this far. Each has
/// stored its own where `of` says that an invocation has it, and comes from a barrier. Without reductions, a barrier.
pub(crate) fn gather(
    f: &mut Fun<'_, '_>,
    (program, reductions): (&Program, &BTreeSet<u16>),
    place: Place,
    of: impl Fn(&mut Fun<'_, '_>, Value, u32) -> Value,
) {
    if reductions.is_empty() {
        return barrier(f);
    }
    let (lane, mut step) = (place.lane, place.lanes / 2);
    while step > 0 {
        let takes = f.with(Bin::Less, lane, step);
        f.when(takes, |f| {
            let other = f.plus(lane, step);
            take_totals(f, (program, reductions), |f, at| of(f, other, at));
            keep_own(f, (program, reductions), |f, at| of(f, lane, at));
        });
        barrier(f);
        step /= 2;
    }
}

/// An invocation takes in a fault, if there is one.
pub(crate) fn take_fault(f: &mut Fun<'_, '_>, from: impl Fn(&mut Fun<'_, '_>, u32) -> Value) {
    let kind = from(f, 0);
    let kind = f.load(kind);
    let any = f.with(Bin::NotEqual, kind, 0);
    f.when(any, |f| {
        let mut fault = vec![kind];
        for at in 1..FAULT_WORDS.len() as u32 {
            let word = from(f, at);
            fault.push(f.load(word));
        }
        f.act(Helper::Fault, &fault);
    });
}

/// An invocation takes in what another one, or a workgroup, has of reductions.
pub(crate) fn take_totals(
    f: &mut Fun<'_, '_>,
    (program, reductions): (&Program, &BTreeSet<u16>),
    from: impl Fn(&mut Fun<'_, '_>, u32) -> Value,
) {
    let owns = own_totals(program, reductions);
    let values = (0..owns.len() as u32).map(|at| {
        let from = from(f, at);
        f.load(from)
    });
    let values: Vec<Value> = values.collect();
    take_in(f, program, reductions, &values, |f, at| f.own(owns[at]));
}

/// An invocation's words of reductions, as a record has them.
pub(crate) fn own_totals(program: &Program, reductions: &BTreeSet<u16>) -> Vec<Own> {
    let totals = reductions.iter().flat_map(|&r| {
        let reduction = &program.reductions[usize::from(r)];
        let bits = reduction.op.identity(reduction.scalar);
        let half = move |at| (bits.checked_shr(32 * at).unwrap_or(0)) as u32;
        (0..part_words(reduction)).map(move |at| Own::Total(r, at, half(at)))
    });
    totals.collect()
}

/// Takes values of reductions into totals, whose words are at pointers.
pub(crate) fn take_in(
    f: &mut Fun<'_, '_>,
    program: &Program,
    reductions: &BTreeSet<u16>,
    values: &[Value],
    mut pointer: impl FnMut(&mut Fun<'_, '_>, usize) -> Value,
) {
    let mut at = 0;
    for &r in reductions {
        let reduction = &program.reductions[usize::from(r)];
        let words = part_words(reduction) as usize;
        let pointers: Vec<Value> = (at..at + words).map(|at| pointer(f, at)).collect();
        let totals: Vec<Value> = pointers.iter().map(|&p| f.load(p)).collect();
        let of = (reduction.op, reduction.scalar);
        let combined = combine(f, of, &totals, &values[at..at + words]);
        for (&pointer, value) in pointers.iter().zip(combined) {
            f.store(pointer, value);
        }
        at += words;
    }
}
