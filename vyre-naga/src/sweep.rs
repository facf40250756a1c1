//! Entry points: the operator of each wave, and the passes between waves, which one invocation or one grid runs.
//!
//! | entry point | runs |
//! | --- | --- |
//! | `begin` | once, before all else: counts are 0, reductions stand at their identity |
//! | `fill_plain`, `fill_cells` | for each buffer, and for the marks of a unique frontier |
//! | *wave*`_sweep` | the wave; each workgroup leaves a record |
//! | *wave*`_close` | behind it: the lowest fault of the records, reductions, what of a list was swept |
//! | `settle` | at the end of a barrier group: what was pushed and appended is there; whether the run has failed |
//! | *fixpoint*`_begin` | at the start of a round: frontiers flip, reductions begin anew |
//! | *fixpoint*`_until` | at the end of a round: the condition |

use crate::body::{combine, function};
use crate::helpers::{Helper, WideOp};
use crate::ir::{FAULT_WORDS, Fun, Global, Maker, Own, Value};
use crate::layout::{Arena, Held, Kind, Layout, Piece, words_of};
use naga::{Barrier, BinaryOperator as Bin, BuiltIn, EntryPoint, Module, ShaderStage, Statement};
use std::collections::BTreeSet;
use vyre_core::plan::shaders::{EXACT_WORDS, WORKGROUP, part_words, record_words, reduced};
use vyre_core::vir0::module::{
    Domain, FixpointId, ListId, Portion, Program, ReduceOp, TopologyId, Wave, WaveId,
};

/// What an invocation knows of itself.
#[derive(Clone, Copy)]
struct Place {
    id: Value,
    lane: Value,
    group: Value,
    groups: Value,
}

/// A module of one entry point, which a grid of workgroups runs, or one invocation.
fn module(
    layout: &Layout,
    name: &str,
    grid: bool,
    made: impl FnOnce(&mut Maker<'_>) -> Option<naga::Handle<naga::Function>>,
    body: impl FnOnce(&mut Fun<'_, '_>, Option<naga::Handle<naga::Function>>, Place),
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
    let arguments = if grid {
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
    let place = match grid {
        true => {
            let lane = f.argument(1);
            let (group, groups) = (f.argument(2), f.argument(3));
            Place {
                id,
                lane,
                group: f.part(group, 0),
                groups: f.part(groups, 0),
            }
        }
        false => Place {
            id,
            lane: id,
            group: id,
            groups: id,
        },
    };
    body(&mut f, called, place);
    let function = f.finish();
    m.module.entry_points.push(EntryPoint {
        name: name.to_owned(),
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: [if grid { WORKGROUP } else { 1 }, 1, 1],
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    });
    m.module
}

/// The numbers from `from` up to `to` that fall to an invocation of a grid.
fn share(
    f: &mut Fun<'_, '_>,
    place: Place,
    (from, to): (Value, Value),
    body: impl FnOnce(&mut Fun<'_, '_>, Value),
) {
    let next = f.local("next", None);
    let first = f.sum(from, place.id);
    f.store(next, first);
    let stride = f.with(Bin::Multiply, place.groups, WORKGROUP);
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

/// The sweep of a wave that the target gets.
pub(crate) fn sweep(program: &Program, layout: &Layout, id: WaveId) -> Module {
    let wave = &program.waves[id.index()];
    let keyed = !wave.domain.fields(program).is_empty();
    let name = format!("{}_sweep", layout.wave(id));
    let kernel = &program.kernels[wave.kernel.index()];
    module(
        layout,
        &name,
        true,
        |m| Some(function(m, program, wave.kernel, (layout.wave(id), keyed))),
        |f, body, place| {
            let body = body.expect("it was just made");
            let zero = f.u(0);
            let call = |f: &mut Fun<'_, '_>, item: Value, more: [(bool, Option<Value>); 2]| {
                let mut arguments = vec![item];
                for (used, value) in more {
                    if used {
                        arguments.push(value.expect("items of edges have ends"));
                    }
                }
                f.call_of(body, &arguments);
            };
            let uses = (kernel.item.src.is_some(), kernel.item.dst.is_some());
            match wave.domain {
                Domain::Once => {
                    let one = f.u(1);
                    share(f, place, (zero, one), |f, at| {
                        call(f, at, [(false, None); 2])
                    });
                }
                Domain::Range(_) => {
                    let len = f.param(f.m.layout.length(Kind::Wave, id.0));
                    share(f, place, (zero, len), |f, at| {
                        call(f, at, [(false, None); 2])
                    });
                }
                Domain::Nodes => {
                    let len = f.param(f.m.layout.length(Kind::Nodes, 0));
                    share(f, place, (zero, len), |f, at| {
                        call(f, at, [(false, None); 2])
                    });
                }
                Domain::Items(frontier) => {
                    let len = f.control_now(f.m.layout.control(Held::Len(frontier.0)));
                    let fields = wave.domain.fields(program);
                    share(f, place, (zero, len), |f, at| {
                        if !keyed {
                            let item = item_word(f, frontier.0, at);
                            return call(f, item, [(false, None); 2]);
                        }
                        let load = |f: &mut Fun<'_, '_>, field: u16, half: u32, words: u32| {
                            let at = f.item_at((frontier.0, field), at, words, false);
                            let at = if half == 0 { at } else { f.plus(at, half) };
                            let pointer = f.memory(Arena::Plain, at);
                            f.load(pointer)
                        };
                        let arguments = fields_of(f, (kernel, fields), at, load);
                        f.call_of(body, &arguments);
                    });
                }
                Domain::ListItems(list, portion) => {
                    let len = list_end(f, wave, (list, portion));
                    let from = match portion.goes_on() {
                        true => f.control_now(f.m.layout.control(Held::Swept(id.0))),
                        false => zero,
                    };
                    let fields = wave.domain.fields(program);
                    share(f, place, (from, len), |f, at| {
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
                        let arguments = fields_of(f, (kernel, fields), at, load);
                        f.call_of(body, &arguments);
                    });
                }
                Domain::Edges(topology) => {
                    let len = f.param(f.m.layout.length(Kind::Edges, topology.0));
                    share(f, place, (zero, len), |f, at| {
                        let src = uses.0.then(|| f.call(Helper::SourceOf(topology.0), &[at]));
                        let dst = uses.1.then(|| fixed(f, Piece::Targets(topology.0), at, 0));
                        call(f, at, [(uses.0, src), (uses.1, dst)]);
                    });
                }
                Domain::EdgesFrom(topology, frontier) => {
                    let len = f.control_now(f.m.layout.control(Held::Len(frontier.0)));
                    share(f, place, (zero, len), |f, at| {
                        let node = item_word(f, frontier.0, at);
                        f.name(node, "node".to_owned());
                        edges(f, topology, node, |f, edge| {
                            let dst = uses
                                .1
                                .then(|| fixed(f, Piece::Targets(topology.0), edge, 0));
                            call(f, edge, [(uses.0, Some(node)), (uses.1, dst)]);
                        });
                    });
                }
            }
            leave_record(f, program, id, place);
        },
    )
}

/// A node of a frontier.
fn item_word(f: &mut Fun<'_, '_>, frontier: u16, at: Value) -> Value {
    let at = f.item_at((frontier, 0), at, 1, false);
    let pointer = f.memory(Arena::Plain, at);
    f.load(pointer)
}

fn fixed(f: &mut Fun<'_, '_>, piece: Piece, at: Value, beyond: u32) -> Value {
    let first = f.param(f.m.layout.at(piece));
    let at = f.sum(first, at);
    let at = if beyond == 0 { at } else { f.plus(at, beyond) };
    let pointer = f.memory(Arena::Fixed, at);
    f.load(pointer)
}

/// Each edge out of a node.
fn edges(
    f: &mut Fun<'_, '_>,
    topology: TopologyId,
    node: Value,
    body: impl FnOnce(&mut Fun<'_, '_>, Value),
) {
    let first = fixed(f, Piece::Offsets(topology.0), node, 0);
    let end = fixed(f, Piece::Offsets(topology.0), node, 1);
    f.count("edge", (first, end), body);
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
fn leave_record(f: &mut Fun<'_, '_>, program: &Program, id: WaveId, place: Place) {
    let lanes = f.u(WORKGROUP);
    gather(f, program, (id, place), lanes, |f, owns| {
        let record = f.with(Bin::Multiply, place.group, owns.len() as u32);
        for (at, own) in (0..).zip(owns) {
            let pointer = f.own(*own);
            let value = f.load(pointer);
            let to = if at == 0 { record } else { f.plus(record, at) };
            let to = f.record(to);
            f.store(to, value);
        }
    });
}

/// The first invocation of a workgroup takes in what the others have, up to this number of all, and goes on by itself.
fn gather(
    f: &mut Fun<'_, '_>,
    program: &Program,
    (id, place): (WaveId, Place),
    lanes: Value,
    then: impl FnOnce(&mut Fun<'_, '_>, &[Own]),
) {
    let (reductions, words) = (reduced(program, id), record_words(program, id));
    let owns = own_words(program, &reductions);
    let shared = f.global(Global::Shared(words));
    let mine = f.with(Bin::Multiply, place.lane, words);
    for (at, own) in (0..).zip(&owns) {
        let pointer = f.own(*own);
        let value = f.load(pointer);
        let to = if at == 0 { mine } else { f.plus(mine, at) };
        let to = f.at(shared, to);
        f.store(to, value);
    }
    f.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
    let first = f.with(Bin::Equal, place.lane, 0);
    f.when(first, |f| {
        let from = f.u(1);
        f.count("other", (from, lanes), |f, other| {
            let theirs = f.with(Bin::Multiply, other, words);
            let from = |f: &mut Fun<'_, '_>, at| f.at(shared, at);
            take_record(f, program, (&reductions, &owns), theirs, from);
        });
        then(f, &owns);
    });
}

/// An invocation takes in a record, whose words are at pointers from this number on.
fn take_record(
    f: &mut Fun<'_, '_>,
    program: &Program,
    (reductions, owns): (&BTreeSet<u16>, &[Own]),
    record: Value,
    pointer: impl Fn(&mut Fun<'_, '_>, Value) -> Value,
) {
    let values: Vec<Value> = (0..owns.len() as u32)
        .map(|at| {
            let from = if at == 0 { record } else { f.plus(record, at) };
            let from = pointer(f, from);
            f.load(from)
        })
        .collect();
    let faults = FAULT_WORDS.len();
    let any = f.with(Bin::NotEqual, values[0], 0);
    f.when(any, |f| f.act(Helper::Fault, &values[..faults]));
    take_in(f, program, reductions, &values[faults..], |f, at| {
        let own = owns[faults + at];
        f.own(own)
    });
}

/// An invocation's words, as a record has them.
fn own_words(program: &Program, reductions: &BTreeSet<u16>) -> Vec<Own> {
    let faults = (0..FAULT_WORDS.len() as u32).map(Own::Fault);
    let totals = reductions.iter().flat_map(|&r| {
        let reduction = &program.reductions[usize::from(r)];
        let bits = reduction.op.identity(reduction.scalar);
        let half = move |at| (bits.checked_shr(32 * at).unwrap_or(0)) as u32;
        (0..part_words(reduction)).map(move |at| Own::Total(r, at, half(at)))
    });
    faults.chain(totals).collect()
}

/// Takes values of reductions into totals, whose words are at pointers.
fn take_in(
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

/// What comes behind a wave's sweep: a workgroup, whose invocations share out the records.
pub(crate) fn close(program: &Program, layout: &Layout, id: WaveId) -> Module {
    let wave = &program.waves[id.index()];
    let name = format!("{}_close", layout.wave(id));
    let (reductions, words) = (reduced(program, id), record_words(program, id));
    let owns = own_words(program, &reductions);
    let totals: Vec<u32> = owns
        .iter()
        .filter_map(|own| match *own {
            Own::Total(r, at, _) if is_exact(program, r) => {
                Some(layout.control(Held::Exact(r, at)))
            }
            Own::Total(r, half, _) => Some(layout.control(Held::Total(r, half))),
            Own::Fault(_) | Own::Turns => None,
        })
        .collect();
    module(
        layout,
        &name,
        true,
        |_| None,
        |f, _, place| {
            let (zero, groups) = (f.u(0), f.param(Layout::GROUPS));
            share(f, place, (zero, groups), |f, group| {
                let record = f.with(Bin::Multiply, group, words);
                let from = |f: &mut Fun<'_, '_>, at| f.record(at);
                take_record(f, program, (&reductions, &owns), record, from);
            });
            let all = f.u(WORKGROUP);
            let lanes = f.math(naga::MathFunction::Min, &[groups, all]);
            gather(f, program, (id, place), lanes, |f, owns| {
                let values = owns[FAULT_WORDS.len()..].iter().map(|own| {
                    let pointer = f.own(*own);
                    f.load(pointer)
                });
                let values: Vec<Value> = values.collect();
                take_in(f, program, &reductions, &values, |f, at| {
                    f.control(totals[at])
                });
                keep_trap(f, id.0);
                for &r in reductions.iter().filter(|&&r| is_exact(program, r)) {
                    let words = (0..EXACT_WORDS).map(|at| {
                        let pointer = f.control(f.m.layout.control(Held::Exact(r, at)));
                        f.load(pointer)
                    });
                    let words: Vec<Value> = words.collect();
                    let value = f.call(Helper::ExactValue, &words);
                    let pointer = f.control(f.m.layout.control(Held::Total(r, 0)));
                    f.store(pointer, value);
                }
                if let Some(listed) = wave.domain.list().filter(|(_, p)| p.goes_on()) {
                    let len = list_end(f, wave, listed);
                    let swept = f.control(f.m.layout.control(Held::Swept(id.0)));
                    f.store(swept, len);
                }
            });
        },
    )
}

/// Where the items end that a wave sweeps of a list.
fn list_end(f: &mut Fun<'_, '_>, wave: &Wave, (list, portion): (ListId, Portion)) -> Value {
    let held = match (portion, wave.fixpoint) {
        (Portion::Last, Some(fixpoint)) => Held::Began(fixpoint.0, list.0),
        _ => Held::ListLen(list.0),
    };
    f.control_now(f.m.layout.control(held))
}

/// The invocation's fault becomes the run's, if it is the lowest.
fn keep_trap(f: &mut Fun<'_, '_>, wave: u16) {
    let own: Vec<Value> = (0..FAULT_WORDS.len() as u32)
        .map(|at| {
            let pointer = f.own(Own::Fault(at));
            f.load(pointer)
        })
        .collect();
    let any = f.with(Bin::NotEqual, own[0], 0);
    f.when(any, |f| {
        let trap: Vec<Value> = (0..3)
            .map(|at| f.control_now(f.m.layout.control(Held::Trap(at))))
            .collect();
        let its_wave = f.control(f.m.layout.control(Held::TrapWave));
        let other = f.load(its_wave);
        let none = f.with(Bin::Equal, trap[0], 0);
        let earlier = f.with(Bin::Greater, other, wave.into());
        let same = f.with(Bin::Equal, other, wave.into());
        let lower = f.lower((own[1], own[2]), (trap[1], trap[2]));
        let lower = f.bin(Bin::LogicalAnd, same, lower);
        let keep = f.bin(Bin::LogicalOr, none, earlier);
        let keep = f.bin(Bin::LogicalOr, keep, lower);
        f.when(keep, |f| {
            let wave = f.u(wave.into());
            f.store(its_wave, wave);
            for (at, &value) in (0..).zip(&own) {
                let pointer = f.control(f.m.layout.control(Held::Trap(at)));
                f.store(pointer, value);
            }
        });
    });
}

fn is_exact(program: &Program, r: u16) -> bool {
    program.reductions[usize::from(r)].op == ReduceOp::ExactSum
}

fn set_total(f: &mut Fun<'_, '_>, program: &Program, r: u16) {
    let reduction = &program.reductions[usize::from(r)];
    let bits = reduction.op.identity(reduction.scalar);
    for half in 0..words_of(reduction.scalar) {
        let pointer = f.control(f.m.layout.control(Held::Total(r, half)));
        let value = f.u((bits >> (32 * half)) as u32);
        f.store(pointer, value);
    }
    if is_exact(program, r) {
        for at in 0..EXACT_WORDS {
            let pointer = f.control(f.m.layout.control(Held::Exact(r, at)));
            let zero = f.u(0);
            f.store(pointer, zero);
        }
    }
}

/// Before all else.
pub(crate) fn begin(program: &Program, layout: &Layout) -> Module {
    let one = |f: &mut Fun<'_, '_>, _: Option<_>, _: Place| {
        for (at, word) in (0..).zip(&layout.control) {
            let value = match word.of {
                Held::Epoch(_) => 1,
                Held::Total(r, half) => {
                    let reduction = &program.reductions[usize::from(r)];
                    let bits = reduction.op.identity(reduction.scalar);
                    (bits >> (32 * half)) as u32
                }
                Held::Status
                | Held::Verdict
                | Held::TrapWave
                | Held::Trap(_)
                | Held::Exact(..)
                | Held::Len(_)
                | Held::Tail(_)
                | Held::Side(_)
                | Held::ListLen(_)
                | Held::ListTail(_)
                | Held::Swept(_)
                | Held::Began(..) => 0,
            };
            let pointer = f.control(at);
            let value = f.u(value);
            f.store(pointer, value);
        }
    };
    module(layout, "begin", false, |_| None, one)
}

/// Fills a place.
pub(crate) fn fill(layout: &Layout, arena: Arena) -> Module {
    let name = format!("fill_{}", arena.name());
    module(
        layout,
        &name,
        true,
        |_| None,
        |f, _, place| {
            let fill: Vec<Value> = (0..5).map(|at| f.param(Layout::FILL + at)).collect();
            let zero = f.u(0);
            share(f, place, (zero, fill[1]), |f, element| {
                if arena == Arena::Wide {
                    let first = f.with(Bin::ShiftRight, fill[0], 1);
                    let at = f.sum(first, element);
                    let value = f.pair(fill[3], fill[4]);
                    f.act(Helper::Wide(WideOp::Store), &[at, value]);
                    return;
                }
                let at = f.bin(Bin::Multiply, element, fill[2]);
                let at = f.sum(fill[0], at);
                let pointer = f.memory(arena, at);
                f.store(pointer, fill[3]);
                let wide = f.with(Bin::Equal, fill[2], 2);
                f.when(wide, |f| {
                    let at = f.plus(at, 1);
                    let pointer = f.memory(arena, at);
                    f.store(pointer, fill[4]);
                });
            });
        },
    )
}

/// At the end of a barrier group.
pub(crate) fn settle(program: &Program, layout: &Layout) -> Module {
    let one = |f: &mut Fun<'_, '_>, _: Option<_>, _: Place| {
        let kind = f.control_now(f.m.layout.control(Held::Trap(0)));
        let mut failed = f.with(Bin::NotEqual, kind, 0);
        let frontiers = (0..).zip(&program.frontiers).map(|(at, frontier)| {
            let shown = frontier.owner.is_none().then_some(Held::Len(at));
            (Kind::Frontier, at, Held::Tail(at), shown)
        });
        let lists = (0..program.lists.len() as u16)
            .map(|at| (Kind::List, at, Held::ListTail(at), Some(Held::ListLen(at))));
        for (kind, at, tail, shown) in frontiers.chain(lists) {
            let tail = f.control_now(f.m.layout.control(tail));
            let capacity = f.param(f.m.layout.length(kind, at));
            let over = f.bin(Bin::Greater, tail, capacity);
            failed = f.bin(Bin::LogicalOr, failed, over);
            if let Some(shown) = shown {
                let len = f.math(naga::MathFunction::Min, &[tail, capacity]);
                let pointer = f.control(f.m.layout.control(shown));
                f.store(pointer, len);
            }
        }
        let status = f.control(f.m.layout.control(Held::Status));
        let failed = f.word_of(failed);
        f.store(status, failed);
    };
    module(layout, "settle", false, |_| None, one)
}

/// At the start of a round.
pub(crate) fn begin_round(program: &Program, layout: &Layout, id: FixpointId) -> Module {
    let name = format!("{}_begin", layout.fixpoint(id));
    let one = |f: &mut Fun<'_, '_>, _: Option<_>, _: Place| {
        let owned = |owner: Option<FixpointId>| owner == Some(id);
        for (at, frontier) in (0..).zip(&program.frontiers) {
            if !owned(frontier.owner) {
                continue;
            }
            let side = f.control(f.m.layout.control(Held::Side(at)));
            let before = f.load(side);
            let one = f.u(1);
            let after = f.bin(Bin::Subtract, one, before);
            f.store(side, after);
            let tail = f.control(f.m.layout.control(Held::Tail(at)));
            let pushed = f.load(tail);
            let len = f.control(f.m.layout.control(Held::Len(at)));
            f.store(len, pushed);
            let none = f.u(0);
            f.store(tail, none);
            if let Some(epoch) = f.m.layout.maybe(Held::Epoch(at)) {
                let epoch = f.control(epoch);
                let before = f.load(epoch);
                let after = f.plus(before, 1);
                f.store(epoch, after);
            }
        }
        for (at, reduction) in (0..).zip(&program.reductions) {
            if owned(reduction.owner) {
                set_total(f, program, at);
            }
        }
        for (_, list) in program.marks().into_iter().filter(|(of, _)| *of == id) {
            let len = f.control_now(f.m.layout.control(Held::ListLen(list.0)));
            let began = f.control(f.m.layout.control(Held::Began(id.0, list.0)));
            f.store(began, len);
        }
    };
    module(layout, &name, false, |_| None, one)
}

/// At the end of a round.
pub(crate) fn until(program: &Program, layout: &Layout, id: FixpointId) -> Module {
    let fixpoint = &program.fixpoints[id.index()];
    let name = format!("{}_until", layout.fixpoint(id));
    let condition = format!("{}_condition", layout.fixpoint(id));
    module(
        layout,
        &name,
        false,
        |m| Some(function(m, program, fixpoint.until, (&condition, false))),
        |f, condition, _| {
            let condition = condition.expect("it was just made");
            let done = f.call_of(condition, &[]).expect("conditions give a word");
            let done = f.truth(done);
            let done = f.word_of(done);
            let verdict = f.control(f.m.layout.control(Held::Verdict));
            f.store(verdict, done);
            let kind = f.own(Own::Fault(0));
            let kind = f.load(kind);
            let faulted = f.with(Bin::NotEqual, kind, 0);
            f.when(faulted, |f| {
                let two = f.u(2);
                f.store(verdict, two);
                for at in 0..FAULT_WORDS.len() as u32 {
                    let own = f.own(Own::Fault(at));
                    let value = f.load(own);
                    let pointer = f.control(f.m.layout.control(Held::Trap(at)));
                    f.store(pointer, value);
                }
            });
        },
    )
}
