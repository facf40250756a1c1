//! What the module of a pass may rely on: words of the tables that are the same in every run with a layout.

use super::{Layout, records_of, reduction_kind, words_of};
use crate::abi::{self, NONE, Pod, bytes_of};
use crate::splice::{Known, Table};
use std::mem::offset_of;
use std::ops::Range;
use vyre_core::vir0::module::{Program, QueueId};

/// The bytes of these fields of a table's entries.
macro_rules! fields {
    ($ty:ident: $($field:ident),*) => {
        &[$({
            let at = offset_of!(abi::$ty, $field);
            at..at + size(|entry: &abi::$ty| &entry.$field)
        }),*]
    };
}

fn size<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Items of a frontier that a warp takes at least, as far as device code tells them apart: by whether they are fewer
/// than what many items a warp begin with, and then by how many.
const NARROW: [Range<u32>; 3] = [1..abi::MORE_ITEMS, abi::MORE_ITEMS..24, 24..33];

impl Known {
    /// Words of a table's entries: those in the bytes that `which` names, or all others.
    fn table<T: Pod>(&mut self, at: u32, entries: &[T], which: &[Range<usize>], named: bool) {
        let entry = size_of::<T>();
        let words = bytes_of(entries).chunks_exact(4);
        for (at, (word, place)) in (at..)
            .step_by(4)
            .zip(words.zip((0..entry).step_by(4).cycle()))
        {
            if which.iter().any(|field| field.contains(&place)) == named {
                let word = u32::from_le_bytes(word.try_into().expect("it has four bytes"));
                self.words.insert(at, vec![word]);
            }
        }
        self.tables.push(Table {
            at,
            entry: entry as u32,
            count: entries.len() as u32,
        });
    }

    /// Only these are known of a table's entries.
    fn only<T: Pod>(&mut self, at: u32, entries: &[T], fields: &[Range<usize>]) {
        self.table(at, entries, fields, true);
    }

    /// All but these are.
    fn all_but<T: Pod>(&mut self, at: u32, entries: &[T], fields: &[Range<usize>]) {
        self.table(at, entries, fields, false);
    }

    /// A word may be any of these, too.
    fn may_be(&mut self, at: u32, more: impl IntoIterator<Item = u32>) {
        let values = self.words.get_mut(&at).expect("it is one that is known");
        values.extend(more);
        values.sort_unstable();
        values.dedup();
    }
}

impl Layout {
    /// Words of the image in shared memory that all compiled runs with this layout have in common, and that the device
    /// does not change; [`Layout::encode`] is held to them. Addresses, sizes and whatever else differs between runs are
    /// not among them. Of how many edges nodes have on average only matters which of three classes it is of, so that
    /// graphs share modules.
    pub(crate) fn known(&self, program: &Program) -> Known {
        let head = &self.head;
        let mut known = Known::default();
        let own = fields!(Image: code, control, results, fill_count, times, aborted, progress, abort, look_ticks);
        known.all_but(0, &[*head], own);
        // It is no table: no index finds another one.
        known.tables.clear();
        if head.quick_warps == 0 {
            // A barrier of `quick_warps` is made and never met; the compiler of CUDA 13.0's driver crashes on one of 0.
            known.may_be(offset_of!(abi::Image, quick_warps) as u32, [1]);
        }

        let step =
            |at: usize, field: usize| head.steps + (at * size_of::<abi::Step>() + field) as u32;
        let steps = self.steps(true);
        known.all_but(head.steps, &steps, &[]);
        for (at, _) in steps.iter().enumerate().filter(|(_, s)| s.plain != 0) {
            known.may_be(step(at, offset_of!(abi::Step, plain)), [0]);
        }
        let refills = self.refills.iter().map(|&(_, at)| at);
        for at in self.fills.iter().copied().chain(refills).chain(self.packs) {
            known.words.remove(&step(at, offset_of!(abi::Step, pushed)));
            known
                .words
                .remove(&step(at, offset_of!(abi::Step, pushed_count)));
        }
        for &at in &self.fills {
            known.may_be(
                step(at + 1, offset_of!(abi::Step, kind)),
                [abi::step::BARRIER],
            );
        }

        let changed = fields!(Wave: len, from, swept_to, ranges, sums, range_count, part_count, parts, chunks, chunk_count);
        known.all_but(head.waves, &self.waves, changed);
        let word =
            |wave: usize, field: usize| head.waves + (wave * size_of::<abi::Wave>() + field) as u32;
        for (i, wave) in self.waves.iter().enumerate() {
            let classes = NARROW
                .into_iter()
                .filter(|class| class.contains(&wave.narrow));
            known.may_be(word(i, offset_of!(abi::Wave, narrow)), classes.flatten());
            if self.ranges_of(i).is_none() {
                for count in [
                    offset_of!(abi::Wave, range_count),
                    offset_of!(abi::Wave, chunk_count),
                ] {
                    known.words.insert(word(i, count), vec![0]);
                }
            }
        }
        for (i, pull) in (0..).zip(&self.pulls) {
            known.may_be(word(pull.wave, offset_of!(abi::Wave, pull)), [i]);
        }

        known.all_but(head.kernels, &self.kernels(true), fields!(Kernel: code_at));
        known.only(
            head.values,
            &self.values(program, &[], 0),
            fields!(Value: kind, id),
        );
        known.only(
            head.buffers,
            &vec![abi::Buffer::default(); program.buffers.len()],
            &[],
        );
        known.only(
            head.topologies,
            &vec![abi::Topology::default(); program.topologies.len()],
            &[],
        );
        let queues = program.queues().map(|(id, _)| id);
        let frontiers: Vec<abi::Frontier> = queues.map(|id| self.queue(program, id)).collect();
        known.only(
            head.frontiers,
            &frontiers,
            fields!(Frontier: topology, owned, record, trap),
        );
        let records = vec![abi::Record::default(); records_of(program).count()];
        known.only(head.records, &records, &[]);
        let reduction = |r: &vyre_core::vir0::module::Reduction| abi::Reduction {
            identity: r.op.identity(r.scalar),
            kind: reduction_kind(r.op, r.scalar),
            words: words_of(r) as u32,
            ..Default::default()
        };
        let reductions: Vec<abi::Reduction> = program.reductions.iter().map(reduction).collect();
        known.only(
            head.reductions,
            &reductions,
            fields!(Reduction: identity, kind, words),
        );
        known.all_but(
            head.fixpoints,
            &self.fixpoints,
            fields!(Fixpoint: round, rounds),
        );
        known.only(head.marks, &self.marks, fields!(Mark: list));
        known.all_but(head.lists, &self.lists, &[]);
        let pulls: Vec<abi::Pull> = self.pulls.iter().map(|pull| pull.entry).collect();
        known.only(
            head.pulls,
            &pulls,
            fields!(Pull: buffer, free, taken, by_round),
        );
        known
    }

    /// Functions that no run with this layout reaches, which words that are known do not show: how many items a warp takes
    /// at once is a number, and so is that there are none because long ranges are summed up.
    pub(crate) fn unreached(&self) -> Vec<&'static str> {
        let ranges = (0..self.waves.len()).any(|wave| self.ranges_of(wave).is_some());
        // Of lanes with four items, on graphs of few edges a node (`steps.cuh`).
        let many = self.waves.iter().any(|wave| {
            let kernel = &self.kernels[wave.kernel as usize];
            kernel.k == 4 && wave.narrow >= abi::MORE_ITEMS
        });
        let unreached = [
            (!ranges, "_Z10sum_rangesj"),
            (!many, "_Z11sweep_itemsILi3EE"),
        ];
        unreached
            .into_iter()
            .filter(|(left_out, _)| *left_out)
            .map(|(_, name)| name)
            .collect()
    }

    /// What is the same in all runs of a queue.
    pub(crate) fn queue(&self, program: &Program, id: QueueId) -> abi::Frontier {
        let i = program.place_of(id);
        let declared = program.queue(id);
        let record = records_of(program).position(|(id, _)| id == i as u32);
        abi::Frontier {
            topology: self.swept_with.get(i).copied().flatten().unwrap_or(NONE),
            owned: declared.is_some_and(|d| d.owner.is_some()).into(),
            record: record.map_or(NONE, |r| r as u32),
            trap: program.overflow_of(id) as u32,
            ..Default::default()
        }
    }
}
