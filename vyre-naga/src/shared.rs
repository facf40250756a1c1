//! What the invocations of a workgroup do together: they share out the edges of its items.
//!
//! An invocation that swept all edges of its item would be waited for where that item is a hub. So a workgroup takes as
//! many items as it has invocations, sums up how many edges each has, and its invocations take the edges one beside the
//! other, whoever's they are. Where there are fewer items than workgroups, several share out the edges of each item.

use crate::ir::{Fun, Own, Sharing, Value};
use crate::layout::{Held, Kind, Piece};
use crate::sweep::{Place, fixed, item_word};
use naga::{AtomicFunction, Barrier, BinaryOperator as Bin, MathFunction as Math, Statement};
use vyre_core::plan::shaders::{lookers, sweep_words};
use vyre_core::vir0::module::{FrontierId, Program, TopologyId, WaveId};

/// Where a sweep has the words that its workgroup shares: which faults there are, a word that all find alike, and
/// columns: what edges are shared out by, then the records of invocations.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    words: u32,
    lanes: u32,
}

impl Shared {
    pub(crate) const TOLD: u32 = 0;

    pub(crate) fn of(program: &Program, wave: WaveId, lanes: u32) -> Shared {
        let words = sweep_words(program, wave, lanes);
        Shared { words, lanes }
    }

    /// Records alone, of this number of words together.
    pub(crate) fn records_alone(words: u32) -> Shared {
        Shared { words, lanes: 0 }
    }

    /// The same as what a module has that shares nothing else.
    pub(crate) fn alone(self) -> Sharing {
        Sharing {
            words: self.words,
            ..Sharing::default()
        }
    }

    /// The first word of the columns.
    pub(crate) fn columns(self) -> u32 {
        match self.lanes {
            0 => 0,
            lanes => lookers(lanes) + 1,
        }
    }

    /// Pointer to the word at `at` behind the first one of something.
    pub(crate) fn at(self, f: &mut Fun<'_, '_>, first: u32, at: Value) -> Value {
        let base = f.shared_words();
        let at = if first == 0 { at } else { f.plus(at, first) };
        f.at(base, at)
    }

    /// What an invocation has in a column.
    pub(crate) fn of_lane(self, f: &mut Fun<'_, '_>, column: u32, lane: Value) -> Value {
        self.at(f, self.columns() + column * self.lanes, lane)
    }

    /// A word that the first invocation says, for all: they have all come here, and what they wrote before is there.
    pub(crate) fn alike(
        self,
        f: &mut Fun<'_, '_>,
        place: Place,
        say: impl FnOnce(&mut Fun<'_, '_>) -> Value,
    ) -> Value {
        let alike = f.u(lookers(self.lanes));
        let word = self.at(f, 0, alike);
        let leads = f.with(Bin::Equal, place.lane, 0);
        f.when(leads, |f| {
            let said = say(f);
            f.store(word, said);
        });
        f.uniform_load(word)
    }

    /// The sums of what each invocation has, up to its own, in the column 0 when all have come to the next barrier; the
    /// own one. The column 1 is used on the way. Only the first `count` invocations, which is uniform, have something.
    pub(crate) fn sums(
        self,
        f: &mut Fun<'_, '_>,
        (place, count): (Place, Value),
        own: Value,
    ) -> Value {
        let sum = f.local("sum", None);
        f.store(sum, own);
        let mut step = 1;
        while step < self.lanes {
            let more = f.with(Bin::Greater, count, step);
            f.when(more, |f| {
                for (column, step) in [(0, step), (1, 2 * step)] {
                    let so_far = f.load(sum);
                    let to = self.of_lane(f, column, place.lane);
                    f.store(to, so_far);
                    barrier(f);
                    let has = f.with(Bin::GreaterEqual, place.lane, step);
                    f.when(has, |f| {
                        let before = f.with(Bin::Subtract, place.lane, step);
                        let before = self.of_lane(f, column, before);
                        let before = f.load(before);
                        let so_far = f.load(sum);
                        let more = f.sum(so_far, before);
                        f.store(sum, more);
                    });
                }
            });
            step *= 4;
        }
        let sum = f.load(sum);
        let to = self.of_lane(f, 0, place.lane);
        f.store(to, sum);
        sum
    }

    /// The edges that each invocation has, so many from its first one on, get numbers: behind the next barrier, the number
    /// of an edge, and what its owner has in a column, are the edge.
    pub(crate) fn number(
        self,
        f: &mut Fun<'_, '_>,
        of: (Place, Value),
        (own, first): (Value, Value),
    ) {
        let sum = self.sums(f, of, own);
        let before = f.bin(Bin::Subtract, sum, own);
        let shift = f.bin(Bin::Subtract, first, before);
        let to = self.of_lane(f, SHIFTS, of.0.lane);
        f.store(to, shift);
    }

    /// The node that an invocation's edges are of.
    pub(crate) fn set_node(self, f: &mut Fun<'_, '_>, place: Place, node: Value) {
        let to = self.of_lane(f, NODES, place.lane);
        f.store(to, node);
    }

    /// The node of an invocation, and its edges, so many from the first one on, become another one's behind the next
    /// barrier.
    pub(crate) fn hand(
        self,
        f: &mut Fun<'_, '_>,
        to: Value,
        (node, first, edges): (Value, Value, Value),
    ) {
        for (column, value) in [(NODES, node), (SHIFTS, first), (0, edges)] {
            let to = self.of_lane(f, column, to);
            f.store(to, value);
        }
    }

    /// What an invocation was handed, where it is one of so many: the first edge, and how many. Nothing may be handed on
    /// before the next barrier.
    pub(crate) fn handed(
        self,
        f: &mut Fun<'_, '_>,
        (place, count): (Place, Value),
    ) -> (Value, Value) {
        let own = [(SHIFTS, "handed_from"), (0, "handed")].map(|(column, name)| {
            let (own, none) = (f.local(name, None), f.u(0));
            f.store(own, none);
            (column, own)
        });
        let has = f.bin(Bin::Less, place.lane, count);
        f.when(has, |f| {
            for (column, own) in own {
                let of_lane = self.of_lane(f, column, place.lane);
                let value = f.load(of_lane);
                f.store(own, value);
            }
        });
        let [first, edges] = own.map(|(_, own)| f.load(own));
        (first, edges)
    }

    /// What all have together: the sum of the last one that has something.
    pub(crate) fn total(self, f: &mut Fun<'_, '_>, count: Value) -> Value {
        let last = f.with(Bin::Subtract, count, 1);
        self.of_lane(f, 0, last)
    }

    /// The invocation that has the number `this` of those that were summed up.
    pub(crate) fn owner(self, f: &mut Fun<'_, '_>, count: Value, this: Value) -> Value {
        let owner = f.local("owner", None);
        let zero = f.u(0);
        f.store(owner, zero);
        let mut half = self.lanes / 2;
        while half > 0 {
            let some = f.with(Bin::Greater, count, half);
            f.when(some, |f| {
                let low = f.load(owner);
                let probe = match half {
                    1 => low,
                    half => f.plus(low, half - 1),
                };
                let probe = self.of_lane(f, 0, probe);
                let probe = f.load(probe);
                let behind = f.bin(Bin::LessEqual, probe, this);
                let high = f.plus(low, half);
                let taken = f.select(behind, high, low);
                f.store(owner, taken);
            });
            half /= 2;
        }
        f.load(owner)
    }
}

/// A workgroup stages what its invocations push onto frontiers of nodes: a slot that each push took for itself would be
/// an atomic on one word by all that push. What there is no room for is pushed at once.
fn clear_staged(f: &mut Fun<'_, '_>) {
    for frontier in f.m.sharing.frontiers.clone() {
        let (_, len) = f.staged(frontier).expect("it is staged");
        let none = f.u(0);
        f.store(len, none);
    }
}

/// Nothing is staged.
pub(crate) fn begin_staging(f: &mut Fun<'_, '_>, place: Place) {
    if !f.m.sharing.frontiers.is_empty() {
        let leads = f.with(Bin::Equal, place.lane, 0);
        f.when(leads, |f| {
            clear_staged(f);
            for cell in f.pull_cells().into_iter().flatten() {
                let none = f.u(0);
                f.store(cell, none);
            }
        });
        barrier(f);
    }
}

/// What an invocation has counted of edges out of what was pushed becomes its workgroup's.
pub(crate) fn count_edges(f: &mut Fun<'_, '_>) {
    if let Some([edges, _]) = f.pull_cells() {
        let own = f.own(Own::Edges);
        let own = f.load(own);
        let some = f.with(Bin::NotEqual, own, 0);
        f.when(some, |f| {
            f.atomic(edges, AtomicFunction::Add, own);
        });
    }
}

/// What a workgroup has counted becomes known to the end of its group. Its first invocation does that, behind a barrier.
pub(crate) fn tell_edges(f: &mut Fun<'_, '_>) {
    if let Some(([edges, _], of)) = f.pull_cells().zip(f.m.sharing.pulling) {
        let counted = f.load(edges);
        let some = f.with(Bin::NotEqual, counted, 0);
        f.when(some, |f| {
            let all = f.control(f.m.layout.control(Held::Edges(of.frontier.0)));
            f.atomic(all, AtomicFunction::Add, counted);
        });
    }
}

/// What all have pushed gets its slots. Nothing may be pushed before the next barrier.
pub(crate) fn flush_staged(f: &mut Fun<'_, '_>, place: Place) {
    let Sharing {
        frontiers, nodes, ..
    } = f.m.sharing.clone();
    if frontiers.is_empty() {
        return;
    }
    barrier(f);
    let leads = f.with(Bin::Equal, place.lane, 0);
    f.when(leads, |f| {
        for &frontier in &frontiers {
            let (staged, len) = f.staged(frontier).expect("it is staged");
            let (len, most) = (f.load(len), f.u(nodes));
            let len = f.math(Math::Min, &[len, most]);
            let to = f.part(staged, nodes);
            f.store(to, len);
            let some = f.with(Bin::NotEqual, len, 0);
            f.when(some, |f| {
                let first = f.reserve(frontier, len);
                let to = f.part(staged, nodes + 1);
                f.store(to, first);
            });
        }
        clear_staged(f);
    });
    barrier(f);
    for &frontier in &frontiers {
        let (staged, _) = f.staged(frontier).expect("it is staged");
        let len = f.part(staged, nodes);
        let (len, next) = (f.load(len), f.local("placed", None));
        f.store(next, place.lane);
        f.forever(|f| {
            let at = f.load(next);
            let done = f.bin(Bin::GreaterEqual, at, len);
            f.when(done, |f| f.push(Statement::Break));
            let first = f.part(staged, nodes + 1);
            let first = f.load(first);
            let slot = f.sum(first, at);
            let node = f.at(staged, at);
            let node = f.load(node);
            f.place(frontier, slot, node);
            let after = f.plus(at, place.lanes);
            f.store(next, after);
        });
    }
}

pub(crate) fn barrier(f: &mut Fun<'_, '_>) {
    f.push(Statement::ControlBarrier(Barrier::WORK_GROUP));
}

/// How the items of a sweep fall to workgroups: in rows of one run of items for each block. A block's invocations have
/// one run of each row, and which one that is changes from row to row: in many graphs the hubs are neighbours, or their
/// numbers have a common factor. Where items are many, a run is as many words as a GPU loads at least.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// The first item.
    from: Value,
    len: Value,
    /// Runs of a row.
    apart: Value,
    /// The logarithm of the items of a run.
    run: Value,
    /// Items that a block has at most.
    all: Value,
    /// Those that a workgroup takes at a time.
    most: Value,
    /// The block that the workgroup has.
    block: Value,
    /// Which of those that share a block it is, of how many.
    part: Value,
    split: Value,
}

impl Blocks {
    /// `turns`: what an item has at most.
    fn of(f: &mut Fun<'_, '_>, place: Place, len: Value, turns: Value) -> Blocks {
        let (zero, one) = (f.u(0), f.u(1));
        let some = f.math(Math::Max, &[len, one]);
        let split = f.bin(Bin::Divide, place.groups, some);
        let split = f.math(Math::Max, &[split, one]);
        let apart = f.bin(Bin::Divide, place.groups, split);
        // Numbers of all that a block has are words.
        let (all, most) = (f.u(u32::MAX), f.u(place.lanes));
        let turns = f.math(Math::Max, &[turns, one]);
        let fit = f.bin(Bin::Divide, all, turns);
        // Items of a frontier lie in no order.
        let (run, all) = runs(f, (len, apart), 0);
        Blocks {
            from: zero,
            len,
            apart,
            run,
            all,
            most: f.math(Math::Min, &[most, fit]),
            block: f.bin(Bin::Divide, place.group, split),
            part: f.bin(Bin::Modulo, place.group, split),
            split,
        }
    }

    /// Each invocation has so many items of its own at a time, of those from one number up to another.
    pub(crate) fn whole(
        f: &mut Fun<'_, '_>,
        place: Place,
        (from, to): (Value, Value),
        each: u32,
    ) -> Blocks {
        let (zero, one) = (f.u(0), f.u(1));
        let some = f.math(Math::Max, &[from, to]);
        let len = f.bin(Bin::Subtract, some, from);
        let (run, all) = runs(f, (len, place.groups), RUN);
        Blocks {
            from,
            len,
            apart: place.groups,
            run,
            all,
            most: f.u(each * place.lanes),
            block: place.group,
            part: zero,
            split: one,
        }
    }

    /// The invocation's item of as many of the block's as there are invocations, from `now` on, and whether there is one.
    pub(crate) fn item(self, f: &mut Fun<'_, '_>, place: Place, now: Value) -> (Value, Value) {
        let of_block = f.sum(now, place.lane);
        let row = f.bin(Bin::ShiftRight, of_block, self.run);
        let before = f.bin(Bin::ShiftLeft, row, self.run);
        let in_run = f.bin(Bin::Subtract, of_block, before);
        let turned = f.with(Bin::Multiply, row, 0x9e37_79b1);
        let turned = f.with(Bin::ShiftRight, turned, 16);
        let turned = f.sum(turned, self.block);
        let column = f.bin(Bin::Modulo, turned, self.apart);
        let before = f.bin(Bin::Multiply, row, self.apart);
        let run = f.sum(before, column);
        let first = f.bin(Bin::ShiftLeft, run, self.run);
        // The last row may be shorter, and so may the last run.
        let runs = f.bin(Bin::ShiftRight, self.len, self.run);
        let is_run = f.bin(Bin::LessEqual, run, runs);
        let left = f.bin(Bin::Subtract, self.len, first);
        let of_run = f.bin(Bin::Less, in_run, left);
        let mut here = f.bin(Bin::LogicalAnd, is_run, of_run);
        for (at, most) in [(of_block, self.all), (place.lane, self.most)] {
            let fits = f.bin(Bin::Less, at, most);
            here = f.bin(Bin::LogicalAnd, here, fits);
        }
        let at = f.sum(first, in_run);
        (f.sum(self.from, at), here)
    }

    /// What a workgroup takes at a time: where that begins in its block, and how many items it may be, which is
    /// uniform.
    pub(crate) fn each(
        self,
        f: &mut Fun<'_, '_>,
        (shared, place): (Shared, Place),
        body: impl FnOnce(&mut Fun<'_, '_>, Value, Value),
    ) {
        let next = f.local("of_block", None);
        // What is left over of workgroups that share blocks has none.
        let (zero, none) = (f.u(0), f.u(u32::MAX));
        let beyond = f.bin(Bin::GreaterEqual, self.block, self.apart);
        let first = f.select(beyond, none, zero);
        f.store(next, first);
        f.forever(|f| {
            let now = f.load(next);
            // All find the same number, behind all that was read of those before.
            let count = shared.alike(f, place, |f| {
                let (zero, all) = (f.u(0), self.all);
                let here = f.bin(Bin::Less, now, all);
                let left = f.bin(Bin::Subtract, all, now);
                let left = f.math(Math::Min, &[left, self.most]);
                f.select(here, left, zero)
            });
            let done = f.with(Bin::Equal, count, 0);
            f.when(done, |f| f.push(Statement::Break));
            body(f, now, count);
            let after = f.sum(now, self.most);
            let wrapped = f.bin(Bin::Less, after, now);
            let none = f.u(u32::MAX);
            let after = f.select(wrapped, none, after);
            f.store(next, after);
        });
    }
}

/// The logarithm of the items of a run.
const RUN: u32 = 3;

/// The logarithm of the items of a run, at most this, and how many items each of so many blocks has at most.
fn runs(f: &mut Fun<'_, '_>, (len, blocks): (Value, Value), most: u32) -> (Value, Value) {
    let each = f.bin(Bin::Divide, len, blocks);
    // Fewer rows would leave blocks without an item.
    let many = f.with(Bin::GreaterEqual, each, 8 << most);
    let (long, short) = (f.u(most), f.u(0));
    let run = f.select(many, long, short);
    let row = f.bin(Bin::ShiftLeft, blocks, run);
    let rows = f.div_ceil(len, row);
    (run, f.bin(Bin::ShiftLeft, rows, run))
}

/// A sweep of one workgroup that ends before it has done anything, where a block has more edges than this.
#[derive(Clone, Copy)]
pub(crate) struct Narrow {
    pub(crate) most: u32,
    /// The variable that is 1 then, and 0 before.
    pub(crate) wide: Value,
}

/// Columns by which edges are shared out, behind two for sums.
const SHIFTS: u32 = 2;
const NODES: u32 = 3;

/// The edges out of a frontier's items that fall to an invocation, each with its node.
pub(crate) fn edges_from(
    f: &mut Fun<'_, '_>,
    (shared, place): (Shared, Place),
    (topology, frontier, narrow): (TopologyId, FrontierId, Option<Narrow>),
    body: impl FnOnce(&mut Fun<'_, '_>, Value, Value),
) {
    let len = f.control_now(f.m.layout.control(Held::Len(frontier.0)));
    // In one workgroup there is one block.
    let all = match narrow {
        Some(Narrow { most, .. }) => f.u(most + 1),
        None => f.param(f.m.layout.length(Kind::Degree, topology.0)),
    };
    let blocks = Blocks::of(f, place, len, all);
    let (degree, begin) = (f.local("degree", None), f.local("begin", None));
    blocks.each(f, (shared, place), |f, now, count| {
        let zero = f.u(0);
        f.store(degree, zero);
        f.store(begin, zero);
        let (item, here) = blocks.item(f, place, now);
        f.when(here, |f| {
            let node = item_word(f, frontier.0, item);
            let first = fixed(f, Piece::Offsets(topology.0), node, 0);
            let end = fixed(f, Piece::Offsets(topology.0), node, 1);
            let mut edges = f.bin(Bin::Subtract, end, first);
            if narrow.is_some() {
                edges = f.math(Math::Min, &[edges, all]);
            }
            f.store(begin, first);
            f.store(degree, edges);
            shared.set_node(f, place, node);
        });
        let (own, first) = (f.load(degree), f.load(begin));
        shared.number(f, (place, count), (own, first));
        let is_staged = !f.m.sharing.frontiers.is_empty();
        if !is_staged {
            barrier(f);
        }
        let all = shared.total(f, count);
        if !is_staged {
            let all = f.load(all);
            f.name(all, "all_edges".to_owned());
            let most = f.local("most", None);
            f.store(most, all);
            if let Some(Narrow { most: edges, wide }) = narrow {
                let many = f.with(Bin::Greater, all, edges);
                f.when(many, |f| {
                    let (yes, none) = (f.u(1), f.u(0));
                    f.store(wide, yes);
                    f.store(most, none);
                });
            }
            let (first, stride) = (
                f.with(Bin::Multiply, blocks.part, place.lanes),
                f.with(Bin::Multiply, blocks.split, place.lanes),
            );
            let most = f.load(most);
            return share_edges(f, (shared, place, count), (first, most, stride), body);
        }
        // As many edges at a time as there is room for what each pushes.
        let all = f.uniform_load(all);
        f.name(all, "all_edges".to_owned());
        let room = f.m.sharing.nodes;
        let tile = f.local("tile", None);
        let first = f.with(Bin::Multiply, blocks.part, room);
        f.store(tile, first);
        let stride = f.with(Bin::Multiply, blocks.split, room);
        f.forever(|f| {
            let first = shared.alike(f, place, |f| f.load(tile));
            let done = f.bin(Bin::GreaterEqual, first, all);
            f.when(done, |f| f.push(Statement::Break));
            let left = f.bin(Bin::Subtract, all, first);
            let room = f.u(room);
            let these = f.math(Math::Min, &[left, room]);
            let most = f.sum(first, these);
            let by = f.u(place.lanes);
            share_edges(f, (shared, place, count), (first, most, by), body);
            flush_staged(f, place);
            let after = f.sum(first, stride);
            let wrapped = f.bin(Bin::Less, after, first);
            let none = f.u(u32::MAX);
            let after = f.select(wrapped, none, after);
            f.store(tile, after);
        });
    });
}

/// The edges of a block from one number up to another that fall to an invocation.
pub(crate) fn share_edges(
    f: &mut Fun<'_, '_>,
    (shared, place, count): (Shared, Place, Value),
    (from, to, stride): (Value, Value, Value),
    body: impl FnOnce(&mut Fun<'_, '_>, Value, Value),
) {
    let next = f.local("next", None);
    let first = f.sum(from, place.lane);
    f.store(next, first);
    f.forever(|f| {
        let this = f.load(next);
        let done = f.bin(Bin::GreaterEqual, this, to);
        f.when(done, |f| f.push(Statement::Break));
        let owner = shared.owner(f, count, this);
        let shift = shared.of_lane(f, SHIFTS, owner);
        let shift = f.load(shift);
        let node = shared.of_lane(f, NODES, owner);
        let node = f.load(node);
        let edge = f.sum(this, shift);
        f.name(edge, "this_edge".to_owned());
        f.name(node, "this_node".to_owned());
        body(f, edge, node);
        let after = f.sum(this, stride);
        let wrapped = f.bin(Bin::Less, after, this);
        f.when(wrapped, |f| f.push(Statement::Break));
        f.store(next, after);
    });
}
