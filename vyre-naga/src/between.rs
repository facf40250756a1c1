//! Entry points between waves: what one workgroup or one invocation does.
//!
//! | entry point | runs |
//! | --- | --- |
//! | `begin` | once, before all else: counts are 0, reductions stand at their identity |
//! | `fill_plain`, `fill_cells` | for each buffer, and for the marks of a unique frontier |
//! | *wave*`_close` | behind a sweep: the lowest fault of the records, reductions, what of a list was swept |
//! | `settle` | at the end of a barrier group: what was pushed and appended is there; whether the run has failed |
//! | *fixpoint*`_begin` | at the start of a round: frontiers flip, reductions begin anew |
//! | *fixpoint*`_start` | the same at the start of a fixpoint behind a group that the host did not look at |
//! | *fixpoint*`_until` | at the end of a round: the condition |
//! | *wave*`_narrow` | rounds in one workgroup, while they have little to do |
//! | *wave*`_end` | all of these behind the last sweep of a group, and how many workgroups the next sweeps have |

use crate::body::{Part, function};
use crate::helpers::{Helper, WideOp};
use crate::ir::{FAULT_WORDS, Fun, Maker, Own, Sharing, Value};
use crate::layout::{Arena, Held, Kind, Layout, words_of};
use crate::rounds::{self, Dispatch, Stretch, Word};
use crate::shared::{Narrow, Shared, barrier};
use crate::sweep::{
    Place, code, gather, gather_all, items, keep_own, list_end, module, own_totals, share,
    take_fault, take_faults, take_in, take_totals, totals_of,
};
use naga::{
    Barrier, BinaryOperator as Bin, Function, Handle, MathFunction as Math, Module, Statement,
};
use std::collections::BTreeSet;
use vyre_core::plan::pull::Taken;
use vyre_core::plan::shaders::{
    EXACT_WORDS, FAULT_WORDS as FAULTS, WORKGROUP, record_words, reduced,
};
use vyre_core::vir0::module::{Domain, FixpointId, Program, ReduceOp, WaveId};

/// What comes behind a wave's sweep: a workgroup, whose invocations share out the records.
pub(crate) fn close(program: &Program, layout: &Layout, id: WaveId) -> Module {
    let name = format!("{}_close", layout.wave(id));
    let body = |f: &mut Fun<'_, '_>, (): (), place: Place| {
        let groups = f.param(Layout::GROUPS);
        let reductions = reduced(program, id);
        take_records(f, (program, &reductions), id, (place, groups));
        let first = f.with(Bin::Equal, place.lane, 0);
        f.when(first, |f| {
            take_left_faults(f, id);
            close_with(f, (program, &reductions), id);
        });
    };
    module(layout, &name, layout.gatherers(program, id), |_| (), body)
}

/// The first invocation of a workgroup has what the workgroups of a sweep have of reductions.
fn take_records(
    f: &mut Fun<'_, '_>,
    (program, reductions): (&Program, &BTreeSet<u16>),
    id: WaveId,
    (place, groups): (Place, Value),
) {
    if reductions.is_empty() {
        return;
    }
    let words = record_words(program, id);
    let one = f.u(1);
    let alone = Place {
        id: place.lane,
        group: f.u(0),
        groups: one,
        ..place
    };
    let zero = f.u(0);
    share(f, alone, (zero, groups), |f, group| {
        let record = totals_of(f, words, (group, groups));
        take_totals(f, (program, reductions), |f, at| {
            let from = f.plus(record, at);
            f.record(from)
        });
    });
    let shared = Shared::records_alone(place.lanes * (words - FAULTS));
    f.m.sharing = shared.alone();
    let of = |f: &mut Fun<'_, '_>, lane: Value, at: u32| {
        let theirs = f.with(Bin::Multiply, lane, words - FAULTS);
        shared.at(f, at, theirs)
    };
    keep_own(f, (program, reductions), |f, at| of(f, place.lane, at));
    barrier(f);
    gather(f, (program, reductions), place, of);
}

/// The lowest of the faults that workgroups left is kept.
fn take_left_faults(f: &mut Fun<'_, '_>, id: WaveId) {
    let faulted = f.control(f.m.layout.control(Held::Faulted));
    let count = f.load(faulted);
    let any = f.with(Bin::NotEqual, count, 0);
    f.when(any, |f| {
        let zero = f.u(0);
        f.count("record", (zero, count), |f, record| {
            let record = f.with(Bin::Multiply, record, FAULTS);
            take_fault(f, |f, at| {
                let from = f.plus(record, at);
                f.record(from)
            });
        });
        f.store(faulted, zero);
        keep_trap(f, id.0);
    });
}

/// What the invocation has of reductions goes into the totals, and what was swept of a list is known.
fn close_with(f: &mut Fun<'_, '_>, (program, reductions): (&Program, &BTreeSet<u16>), id: WaveId) {
    let owns = own_totals(program, reductions);
    let totals: Vec<u32> = owns
        .iter()
        .filter_map(|own| match *own {
            Own::Total(r, at, _) if is_exact(program, r) => {
                Some(f.m.layout.control(Held::Exact(r, at)))
            }
            Own::Total(r, half, _) => Some(f.m.layout.control(Held::Total(r, half))),
            _ => None,
        })
        .collect();
    let values = owns.iter().map(|own| {
        let pointer = f.own(*own);
        f.load(pointer)
    });
    let values: Vec<Value> = values.collect();
    take_in(f, program, reductions, &values, |f, at| {
        f.control(totals[at])
    });
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
    let wave = &program.waves[id.index()];
    if let Some(listed) = wave.domain.list().filter(|(_, p)| p.goes_on()) {
        let len = list_end(f, wave, listed);
        let swept = f.control(f.m.layout.control(Held::Swept(id.0)));
        f.store(swept, len);
    }
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
    let one = |f: &mut Fun<'_, '_>, (): (), _: Place| {
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
                | Held::Began(..)
                | Held::Edges(_)
                | Held::Explored(_)
                | Held::Lopsided(_)
                | Held::Faulted => 0,
            };
            let pointer = f.control(at);
            let value = f.u(value);
            f.store(pointer, value);
        }
    };
    module(layout, "begin", 1, |_| (), one)
}

/// Fills a place.
pub(crate) fn fill(layout: &Layout, arena: Arena) -> Module {
    let name = format!("fill_{}", arena.name());
    module(
        layout,
        &name,
        WORKGROUP,
        |_| (),
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
    let one = |f: &mut Fun<'_, '_>, (): (), _: Place| {
        settled(f, program);
    };
    module(layout, "settle", 1, |_| (), one)
}

/// What was pushed and appended is there; whether the run has failed.
fn settled(f: &mut Fun<'_, '_>, program: &Program) -> Value {
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
            let len = f.math(Math::Min, &[tail, capacity]);
            let pointer = f.control(f.m.layout.control(shown));
            f.store(pointer, len);
        }
    }
    let status = f.control(f.m.layout.control(Held::Status));
    let word = f.word_of(failed);
    f.store(status, word);
    failed
}

/// At the start of a round.
pub(crate) fn begin_round(program: &Program, layout: &Layout, id: FixpointId) -> Module {
    let name = format!("{}_begin", layout.fixpoint(id));
    let one = |f: &mut Fun<'_, '_>, (): (), _: Place| {
        begun(f, program, id);
        explore_anew(f, program, id);
    };
    module(layout, &name, 1, |_| (), one)
}

/// The first round that follows sweeps: nobody knows what it has of edges.
fn explore_anew(f: &mut Fun<'_, '_>, program: &Program, id: FixpointId) {
    for (at, frontier) in (0..).zip(&program.frontiers) {
        for held in [Held::Edges(at), Held::Explored(at)] {
            let word = f.m.layout.maybe(held);
            if let Some(word) = word.filter(|_| frontier.owner == Some(id)) {
                let (pointer, none) = (f.control(word), f.u(0));
                f.store(pointer, none);
            }
        }
    }
}

fn begun(f: &mut Fun<'_, '_>, program: &Program, id: FixpointId) {
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
}

/// At the start of a fixpoint behind barrier groups that the host did not look at: if they have failed, it has no
/// rounds.
pub(crate) fn start(program: &Program, layout: &Layout, round: &Stretch) -> Option<Module> {
    let fixpoint = round.fixpoint?;
    let name = format!("{}_start", layout.fixpoint(fixpoint));
    let dispatches = round.dispatches(layout);
    let one = |f: &mut Fun<'_, '_>, (): (), _: Place| {
        let status = f.control_now(f.m.layout.control(Held::Status));
        let holds = f.with(Bin::Equal, status, 0);
        // Otherwise the host finds what was pushed, and by that what there was no room for.
        f.when(holds, |f| {
            begun(f, program, fixpoint);
            explore_anew(f, program, fixpoint);
        });
        let word = f.word_of(holds);
        let goes_on = f.local("goes_on", None);
        f.store(goes_on, word);
        let going = f.dispatches(Word::Going as u32);
        f.store(going, word);
        aim_at(f, program, &dispatches, (0, goes_on));
    };
    Some(module(layout, &name, 1, |_| (), one))
}

/// The condition of a fixpoint as a function.
fn condition(m: &mut Maker<'_>, program: &Program, id: FixpointId) -> Handle<Function> {
    let name = format!("{}_condition", m.layout.fixpoint(id));
    let kernel = program.fixpoints[id.index()].until;
    function(m, program, kernel, (&name, false), Part::Whole)
}

/// At the end of a round.
pub(crate) fn until(program: &Program, layout: &Layout, id: FixpointId) -> Module {
    let name = format!("{}_until", layout.fixpoint(id));
    let made = |m: &mut Maker<'_>| condition(m, program, id);
    let one = |f: &mut Fun<'_, '_>, condition: Handle<Function>, _: Place| {
        said(f, condition);
    };
    module(layout, &name, 1, made, one)
}

/// What a condition says becomes the verdict.
fn said(f: &mut Fun<'_, '_>, condition: Handle<Function>) -> Value {
    let done = f.call_of(condition, &[]).expect("conditions give a word");
    let done = f.truth(done);
    let done = f.word_of(done);
    let kind = f.own(Own::Fault(0));
    let kind = f.load(kind);
    let faulted = f.with(Bin::NotEqual, kind, 0);
    f.when(faulted, |f| {
        for at in 0..FAULT_WORDS.len() as u32 {
            let own = f.own(Own::Fault(at));
            let value = f.load(own);
            let pointer = f.control(f.m.layout.control(Held::Trap(at)));
            f.store(pointer, value);
        }
    });
    let two = f.u(2);
    let said = f.select(faulted, two, done);
    let verdict = f.control(f.m.layout.control(Held::Verdict));
    f.store(verdict, said);
    said
}

/// Behind the last sweep of a barrier group, where these follow each other without the host.
pub(crate) fn end(program: &Program, layout: &Layout, round: &Stretch, group: usize) -> Module {
    let this = &round.groups[group];
    let id = this.last();
    let is_last = group + 1 == round.groups.len();
    let reductions = reduced(program, id);
    let name = format!("{}_end", layout.wave(id));
    let made = |m: &mut Maker<'_>| {
        m.counts_rounds = true;
        let fixpoint = round.fixpoint.filter(|_| is_last);
        fixpoint.map(|id| condition(m, program, id))
    };
    let dispatches = round.dispatches(layout);
    let body = |f: &mut Fun<'_, '_>, condition: Option<_>, place: Place| {
        let swept = dispatches.iter().find(|d| d.what == Dispatch::Sweep(id));
        let swept = swept.expect("a group sweeps its waves").word;
        let rest = |f: &mut Fun<'_, '_>| {
            let going = f.dispatches(Word::Going as u32);
            let now = f.load(going);
            let goes_on = f.local("goes_on", None);
            f.store(goes_on, now);
            let goes = f.with(Bin::NotEqual, now, 0);
            f.when(goes, |f| {
                take_left_faults(f, id);
                close_with(f, (program, &reductions), id);
                ended(f, program, (round, group, true), (condition, goes_on));
            });
            if round.fixpoint.is_some() || !is_last {
                let next = (group + 1) % round.groups.len();
                aim_at(f, program, &dispatches, (next, goes_on));
            }
        };
        if reductions.is_empty() {
            return rest(f);
        }
        let groups = f.dispatches(swept);
        let groups = f.load(groups);
        take_records(f, (program, &reductions), id, (place, groups));
        let first = f.with(Bin::Equal, place.lane, 0);
        f.when(first, rest);
    };
    let lanes = match reductions.is_empty() {
        true => 1,
        false => layout.gatherers(program, id),
    };
    module(layout, &name, lanes, made, body)
}

/// A barrier group has ended, and rounds went on until then: whether they go on now. Its round was dispatched, or is one
/// of many in a dispatch.
fn ended(
    f: &mut Fun<'_, '_>,
    program: &Program,
    (round, group, is_dispatched): (&Stretch, usize, bool),
    (condition, goes_on): (Option<Handle<Function>>, Value),
) {
    let failed = settled(f, program);
    let fails = |f: &mut Fun<'_, '_>| {
        let (no, step) = (f.u(0), f.u(round.groups[group].step as u32 + 1));
        f.store(goes_on, no);
        let at = f.dispatches(Word::Failed as u32);
        f.store(at, step);
    };
    let holds = |f: &mut Fun<'_, '_>| {
        if let Some(condition) = condition {
            turn(f, program, (round, is_dispatched), (condition, goes_on));
        }
    };
    f.branch(failed, fails, holds);
    let (after, going) = (f.load(goes_on), f.dispatches(Word::Going as u32));
    f.store(going, after);
}

/// How many workgroups the dispatches of a group have.
fn aim_at(
    f: &mut Fun<'_, '_>,
    program: &Program,
    dispatches: &[rounds::Part],
    (group, goes_on): (usize, Value),
) {
    let goes = f.load(goes_on);
    let goes = f.with(Bin::NotEqual, goes, 0);
    // A wave's sweep that pulls comes before the one that pushes.
    let mut pushes = None;
    for dispatch in dispatches.iter().filter(|d| d.group == group) {
        let goes = match dispatch.what {
            Dispatch::Pull(id) => {
                let (pull, push) = choose(f, id, goes);
                pushes = Some(push);
                pull
            }
            Dispatch::Sweep(_) => pushes.take().unwrap_or(goes),
            Dispatch::Close(_) | Dispatch::End(_) => goes,
        };
        aim(f, program, dispatch, goes);
    }
}

/// A search goes on by pushing until its frontier has one in so many of the edges that are left.
const SHARE: u32 = 14;

/// To push from an item takes as long as from so many edges.
const ITEM: u32 = 4;

/// A frontier of fewer than one in so many nodes is not wide.
const WIDE: u32 = 16;

/// Whether a wave's sweep pulls, and whether it pushes, where rounds go on.
fn choose(f: &mut Fun<'_, '_>, id: WaveId, goes: Value) -> (Value, Value) {
    let layout = f.m.layout;
    let of = layout.pulling(id).expect("its sweep may pull");
    let frontier = of.frontier.0;
    let counted = f.control(layout.control(Held::Edges(frontier)));
    let edges = f.load(counted);
    let none = f.u(0);
    f.store(counted, none);
    let explored = f.control(layout.control(Held::Explored(frontier)));
    let before = f.load(explored);
    let all = f.param(layout.length(Kind::Edges, of.topology.0));
    let known = f.math(Math::Min, &[before, all]);
    let left = f.bin(Bin::Subtract, all, known);
    let after = f.sum(known, edges);
    f.store(explored, after);
    let least = f.dispatches(Word::Pulls as u32);
    let least = f.load(least);
    let share = f.with(Bin::Divide, left, SHARE);
    let dense = f.bin(Bin::Greater, edges, share);
    let items = f.control_now(layout.control(Held::Len(frontier)));
    let takes = f.with(Bin::Multiply, items, ITEM);
    let takes = f.sum(takes, edges);
    let many = f.bin(Bin::GreaterEqual, takes, least);
    let may = f.with(Bin::NotEqual, least, 0);
    let mut pull = f.bin(Bin::LogicalAnd, goes, may);
    let holds = match of.claim.taken {
        Taken::Constant(_) => None,
        // Who was claimed so far has one of these, which none is that waits.
        Taken::Round(more) => {
            let round = f.dispatches(Word::Round as u32);
            let round = f.load(round);
            let last = f.plus(round, more);
            let wraps = f.with(Bin::Less, last, more);
            let free = f.u(of.claim.free.wrapping_sub(more));
            let taken = f.bin(Bin::LessEqual, free, round);
            let fails = f.bin(Bin::LogicalOr, wraps, taken);
            Some(f.not(fails))
        }
    };
    for condition in [dense, many].into_iter().chain(holds) {
        pull = f.bin(Bin::LogicalAnd, pull, condition);
    }
    let add = |f: &mut Fun<'_, '_>, word: Word, more: Value| {
        let pointer = f.dispatches(word as u32);
        let before = f.load(pointer);
        let after = f.sum(before, more);
        f.store(pointer, after);
    };
    f.when(pull, |f| {
        let one = f.u(1);
        add(f, Word::Pulled, one);
    });
    let may_not = f.not(may);
    let misses = f.bin(Bin::LogicalAnd, goes, may_not);
    f.when(misses, |f| {
        let nodes = f.param(layout.length(Kind::Nodes, 0));
        let some = f.with(Bin::Divide, nodes, WIDE);
        let wide = f.bin(Bin::Greater, items, some);
        f.when(wide, |f| add(f, Word::Missed, items));
    });
    let no = f.not(pull);
    (pull, f.bin(Bin::LogicalAnd, goes, no))
}

/// The edges of a sweep of one workgroup, at most, for each of its invocations.
const NARROW_EDGES: u32 = 8;

/// Rounds that one workgroup takes, at most: a shader is not ended by anything else.
const NARROW_ROUNDS: u32 = 1024;

/// Rounds in one workgroup, as long as the frontier has no more items than that has invocations, and few edges. The
/// round that it leaves has begun.
pub(crate) fn narrow(program: &Program, layout: &Layout, round: &Stretch, lanes: u32) -> Module {
    let fixpoint = round.fixpoint.expect("narrow rounds are a fixpoint's");
    let id = round.groups[0].last();
    let name = format!("{}_narrow", layout.wave(id));
    let frontier = match program.waves[id.index()].domain {
        Domain::EdgesFrom(_, frontier) | Domain::Items(frontier) => frontier,
        _ => unreachable!("narrow rounds sweep a frontier"),
    };
    let reductions = reduced(program, id);
    let shared = Shared::of(program, id, lanes);
    let swaps = &program.fixpoints[fixpoint.index()].swaps;
    let made = |m: &mut Maker<'_>| {
        m.counts_rounds = true;
        m.sharing = Sharing {
            pulling: layout.pulling(id),
            ..shared.alone()
        };
        let traded = swaps.iter().flat_map(|&(a, b)| [a, b]);
        m.traded = traded.map(|id| layout.at_buffer(id)).collect();
        (code(m, program, id), condition(m, program, fixpoint))
    };
    let dispatches = round.dispatches(layout);
    module(layout, &name, lanes, made, |f, (code, condition), place| {
        let (zero, one) = (f.u(0), f.u(1));
        let alone = Place {
            id: place.lane,
            group: zero,
            groups: one,
            ..place
        };
        let (wide, taken) = (f.zeroed("wide"), f.zeroed("rounds_taken"));
        let first = f.with(Bin::Equal, place.lane, 0);
        f.forever(|f| {
            let goes = shared.alike(f, alone, |f| {
                let going = f.dispatches(Word::Going as u32);
                let going = f.load(going);
                let going = f.with(Bin::NotEqual, going, 0);
                let len = f.control_now(f.m.layout.control(Held::Len(frontier.0)));
                let fits = f.with(Bin::LessEqual, len, lanes);
                let goes = f.bin(Bin::LogicalAnd, going, fits);
                let (wide, taken) = (f.load(wide), f.load(taken));
                let is_narrow = f.with(Bin::Equal, wide, 0);
                let goes = f.bin(Bin::LogicalAnd, goes, is_narrow);
                let more = f.with(Bin::Less, taken, NARROW_ROUNDS);
                let goes = f.bin(Bin::LogicalAnd, goes, more);
                f.word_of(goes)
            });
            let done = f.with(Bin::Equal, goes, 0);
            f.when(done, |f| f.push(Statement::Break));
            for own in own_totals(program, &reductions) {
                let Own::Total(_, _, bits) = own else {
                    unreachable!("these are totals")
                };
                let (own, bits) = (f.own(own), f.u(bits));
                f.store(own, bits);
            }
            let most = NARROW_EDGES * lanes;
            let limit = Narrow { most, wide };
            items(f, program, id, (shared, alone, &code), Some(limit));
            gather_all(f, (program, id, &reductions), (shared, alone));
            // The first invocation sees what the others pushed, then all see what it made of that.
            let both = Barrier::WORK_GROUP | Barrier::STORAGE;
            f.push(Statement::ControlBarrier(both));
            let is_wide = f.load(wide);
            let swept = f.with(Bin::Equal, is_wide, 0);
            let ends = f.bin(Bin::LogicalAnd, first, swept);
            f.when(ends, |f| {
                let words = record_words(program, id);
                take_faults(f, (shared, alone), words, |f| keep_trap(f, id.0));
                close_with(f, (program, &reductions), id);
                let goes_on = f.local("goes_on", None);
                f.store(goes_on, one);
                ended(f, program, (round, 0, false), (Some(condition), goes_on));
                let narrow = f.dispatches(Word::Narrow as u32);
                for count in [narrow, taken] {
                    let before = f.load(count);
                    let after = f.plus(before, 1);
                    f.store(count, after);
                }
            });
            f.push(Statement::ControlBarrier(
                Barrier::WORK_GROUP | Barrier::STORAGE,
            ));
        });
        // Otherwise it is as it was.
        let some = f.load(taken);
        let some = f.with(Bin::NotEqual, some, 0);
        let aims = f.bin(Bin::LogicalAnd, first, some);
        f.when(aims, |f| {
            explore_anew(f, program, fixpoint);
            let going = f.dispatches(Word::Going as u32);
            let now = f.load(going);
            let goes_on = f.local("goes_at_last", None);
            f.store(goes_on, now);
            aim_at(f, program, &dispatches, (0, goes_on));
        });
    })
}

/// A round has ended: the condition, and if it asks for another one, its start.
fn turn(
    f: &mut Fun<'_, '_>,
    program: &Program,
    (round, is_dispatched): (&Stretch, bool),
    (condition, goes_on): (Handle<Function>, Value),
) {
    let fixpoint = round.fixpoint.expect("a fixpoint has the condition");
    let verdict = said(f, condition);
    let again = f.with(Bin::Equal, verdict, 0);
    let ended = f.dispatches(Word::Ended as u32);
    let before = f.load(ended);
    let after = f.plus(before, 1);
    f.store(ended, after);
    let most = f.dispatches(Word::Most as u32);
    let most = f.load(most);
    let more = f.bin(Bin::Less, after, most);
    let mut again = f.bin(Bin::LogicalAnd, again, more);
    if is_dispatched {
        let left = f.dispatches(Word::Left as u32);
        let before = f.load(left);
        let after = f.with(Bin::Subtract, before, 1);
        f.store(left, after);
        let some = f.with(Bin::NotEqual, after, 0);
        again = f.bin(Bin::LogicalAnd, again, some);
    }
    let word = f.word_of(again);
    f.store(goes_on, word);
    f.when(again, |f| {
        begun(f, program, fixpoint);
        let number = f.dispatches(Word::Round as u32);
        let before = f.load(number);
        let after = f.plus(before, 1);
        f.store(number, after);
        let layout = f.m.layout;
        let swaps = &program.fixpoints[fixpoint.index()].swaps;
        let swaps = swaps
            .iter()
            .map(|(a, b)| [a, b].map(|id| layout.at_buffer(*id)));
        let swaps: Vec<[u32; 2]> = swaps.collect();
        for block in 0..round.waves().count() as u32 {
            let number = f.block(block, Layout::ROUND);
            f.store(number, after);
            for &[a, b] in &swaps {
                let (a, b) = (f.block(block, a), f.block(block, b));
                let (before, other) = (f.load(a), f.load(b));
                f.store(a, other);
                f.store(b, before);
            }
        }
    });
}

/// How many workgroups a dispatch has: none where rounds do not go on.
fn aim(f: &mut Fun<'_, '_>, program: &Program, dispatch: &rounds::Part, goes: Value) {
    let layout = f.m.layout;
    let (id, domain) = match dispatch.what {
        Dispatch::Pull(id) => (id, Domain::Nodes),
        Dispatch::Sweep(id) | Dispatch::Close(id) => (id, program.waves[id.index()].domain),
        Dispatch::End(_) => return,
    };
    let items = match domain {
        Domain::Once => f.u(1),
        Domain::Range(_) => f.param(layout.length(Kind::Wave, id.0)),
        Domain::Nodes => f.param(layout.length(Kind::Nodes, 0)),
        Domain::Edges(t) => f.param(layout.length(Kind::Edges, t.0)),
        Domain::Items(frontier) | Domain::EdgesFrom(_, frontier) => {
            f.control_now(layout.control(Held::Len(frontier.0)))
        }
        Domain::ListItems(list, _) => f.control_now(layout.control(Held::ListLen(list.0))),
    };
    let lanes = layout.lanes(id);
    let each = f.u(lanes);
    let mut groups = f.div_ceil(items, each);
    let most = f.dispatches(Word::Groups as u32);
    let mut most = f.load(most);
    if lanes > WORKGROUP {
        // As many invocations at most, in larger workgroups.
        let fewer = f.with(Bin::Divide, most, lanes / WORKGROUP);
        let one = f.u(1);
        most = f.math(Math::Max, &[fewer, one]);
    }
    if layout.spreads(domain) {
        // The edges of few items are shared out among more workgroups.
        let few = f.math(Math::Min, &[items, most]);
        let by = f.dispatches(Word::Spread as u32);
        let by = f.load(by);
        let spread = f.bin(Bin::Multiply, few, by);
        groups = f.math(Math::Max, &[groups, spread]);
    }
    groups = f.math(Math::Min, &[groups, most]);
    let none = f.u(0);
    groups = f.select(goes, groups, none);
    if let Dispatch::Close(_) = dispatch.what {
        let told = f.block(dispatch.block, Layout::GROUPS);
        f.store(told, groups);
        let one = f.u(1);
        groups = f.math(Math::Min, &[groups, one]);
    }
    let to = f.dispatches(dispatch.word);
    f.store(to, groups);
}
