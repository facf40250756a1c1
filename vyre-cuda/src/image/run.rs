//! The tables of one run, and its control words: what a [`Layout`] leaves open, filled in.

use super::{FRONTIER_CONTROL_BYTES, Layout, ordered, reduction_kind};
use crate::abi::{self, Pod, bytes_of};
use std::mem::offset_of;
use vyre_core::plan::arena::Filling;
use vyre_core::vir0::exact;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{
    FixpointId, Kernel, KernelId, ListId, Program, ReduceOp, Reduction, Uniform,
};

/// How a run's wave pulls: the first two of three bitmaps (0: only what is missed is counted), the topology
/// with the edges in, and when it is worth it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) bits: [u64; 2],
    pub(crate) into: u32,
    pub(crate) most_degree: u32,
    pub(crate) least: u64,
}

/// Where a run packs what the lists of its result hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slab {
    pub(crate) address: u64,
    /// A field's values are packed up to this size.
    pub(crate) pack_up_to_bytes: u64,
}

/// Addresses and sizes of one run.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) code: u64,
    /// Where a word is that is not 0 when the run is to stop.
    pub(crate) abort: u64,
    /// Steps that it may take; they are counted where this says something.
    pub(crate) most_steps: Option<u64>,
    /// Where the control words will be.
    pub(crate) control: u64,
    pub(crate) buffers: Vec<abi::Buffer>,
    pub(crate) topologies: Vec<abi::Topology>,
    pub(crate) frontiers: Vec<abi::Frontier>,
    pub(crate) records: Vec<abi::Record>,
    /// When memory is set, and what to.
    pub(crate) fills: Vec<(Filling, abi::Fill)>,
    /// What is set when a round of this fixpoint begins.
    pub(crate) refills: Vec<(FixpointId, abi::Fill)>,
    /// Where lists are packed; `None`: they stay where they are.
    pub(crate) slab: Option<Slab>,
    /// Items of each wave's domain, where they are known before the launch.
    pub(crate) lens: Vec<u64>,
    /// Long ranges of the waves that have some in [`Layout::ranges_of`].
    pub(crate) ranges: Vec<Ranges>,
    /// By wave of [`Layout::pulls`]; those that are missing push.
    pub(crate) turns: Vec<Option<Turn>>,
    /// Raw bits of the scalars.
    pub(crate) scalars: &'a [u64],
    pub(crate) nodes: u64,
    /// Where the host looks for progress, or 0.
    pub(crate) progress: u64,
    /// The sweeps of each wave are to be timed.
    pub(crate) time_waves: bool,
    /// It is a run of the pass's own module.
    pub(crate) compiled: bool,
}

/// The long edge ranges of a wave, and its nodes in chunks: addresses of the lists and of the parts' sums, how many
/// there are of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) list: u64,
    pub(crate) parts: u64,
    pub(crate) sums: u64,
    pub(crate) chunks: u64,
    pub(crate) count: u32,
    pub(crate) part_count: u32,
    pub(crate) chunk_count: u32,
}

/// Where things are in the control words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) results: u64,
    pub(crate) homes: u64,
    pub(crate) epochs: u64,
    pub(crate) stamps: u64,
    /// Of each wave, its sweeps and their time in nanoseconds.
    pub(crate) times: u64,
    pub(crate) reductions: u64,
    pub(crate) frontiers: u64,
    pub(crate) bytes: u64,
}

/// The words of a reduction's slot: an exact sum has many.
pub(crate) fn words_of(r: &Reduction) -> u64 {
    match (r.op, exact::words(r.scalar)) {
        (ReduceOp::ExactSum, Some(words)) => words as u64,
        _ => 1,
    }
}

impl Control {
    /// Where the three slots of each reduction are, and the end of the last.
    pub(crate) fn slots(&self, program: &Program) -> Vec<u64> {
        let mut at = vec![self.reductions];
        for r in &program.reductions {
            at.push(at[at.len() - 1] + 24 * words_of(r));
        }
        at
    }

    pub(crate) fn new(program: &Program) -> Control {
        let count = |n: usize| n as u64;
        let results = size_of::<abi::Control>() as u64;
        let homes = results + 8 * count(program.fixpoints.len());
        let epochs = homes + 4 * count(program.buffers.len());
        let stamps = epochs + 4 * count(program.reductions.len());
        let queues = program.queues().count();
        let times = (stamps + 4 * count(queues)).next_multiple_of(8);
        let reductions = (times + 16 * count(program.waves.len())).next_multiple_of(128);
        let words: u64 = program.reductions.iter().map(words_of).sum();
        let frontiers = (reductions + 24 * words).next_multiple_of(128);
        Control {
            results,
            homes,
            epochs,
            stamps,
            times,
            reductions,
            frontiers,
            bytes: frontiers + FRONTIER_CONTROL_BYTES * count(queues),
        }
    }
}

/// Whether turns of its loops are steps.
fn counts_turns(kernel: &Kernel) -> bool {
    let loops = kernel.code.iter().filter(|w| op(w) == Op::Loop);
    loops.into_iter().any(|word| word.counts())
}

impl Layout {
    /// The tables of one run, ready to be copied to the device.
    pub(crate) fn encode(&self, run: &Run<'_>) -> Vec<u8> {
        let program = run.program;
        let control = Control::new(program);
        let mut head = self.head;
        head.code = run.code;
        head.abort = run.abort;
        head.look_ticks = abi::LOOK_TICKS;
        head.control = run.control;
        head.results = run.control + control.results;
        head.fill_count = (run.fills.len() + run.refills.len() + run.slab.iter().len()) as u32;
        head.progress = run.progress;
        if let Some(most) = run.most_steps {
            (head.limited, head.most_steps) = (1, most);
        }
        if run.time_waves {
            head.times = (control.times - control.results) as u32;
        }
        let mut out = vec![0; head.tables_bytes as usize];
        put(&mut out, 0, &[head]);
        let mut steps = self.steps(run.compiled);
        for step in steps.iter_mut().filter(|s| s.plain == abi::PLAIN) {
            // Plain rounds do not look whether other frontiers overflow: they must not be able to.
            let others = (1..step.pushed_count).map(|i| self.lists[(step.pushed + 3 * i) as usize]);
            let mut capacities = others.filter_map(|f| run.frontiers.get(f as usize));
            if capacities.any(|f| u64::from(f.capacity) < run.nodes) {
                step.plain = 0;
            }
        }
        // Only the general way counts steps.
        for step in steps.iter_mut().filter(|_| run.most_steps.is_some()) {
            step.plain = 0;
        }
        let mut fills: Vec<abi::Fill> = Vec::new();
        for (phase, &at) in (0u32..).zip(&self.fills) {
            let here = || run.fills.iter().filter(move |(at, _)| at.phase == phase);
            steps[at].pushed = fills.len() as u32;
            fills.extend(here().map(|(_, fill)| fill));
            steps[at].pushed_count = fills.len() as u32 - steps[at].pushed;
            if here().any(|(at, _)| at.waits) {
                steps[at + 1].kind = abi::step::BARRIER;
            }
        }
        for &(fixpoint, at) in &self.refills {
            let here = run.refills.iter().filter(|(of, _)| *of == fixpoint);
            steps[at].pushed = fills.len() as u32;
            fills.extend(here.map(|(_, fill)| fill));
            steps[at].pushed_count = fills.len() as u32 - steps[at].pushed;
        }
        if let (Some(at), Some(slab)) = (self.packs, run.slab) {
            steps[at].pushed = fills.len() as u32;
            steps[at].pushed_count = 1;
            fills.push(abi::Fill {
                address: slab.address,
                units: slab.pack_up_to_bytes,
                ..Default::default()
            });
        }
        debug_assert_eq!(fills.len(), head.fill_count as usize, "fills have steps");
        put(&mut out, head.steps, &steps);
        let mut waves = self.waves.clone();
        for (wave, &len) in waves.iter_mut().zip(&run.lens) {
            wave.len = len;
        }
        for (wave, ranges) in waves.iter_mut().zip(&run.ranges) {
            wave.ranges = ranges.list;
            wave.sums = ranges.sums;
            wave.range_count = ranges.count;
            wave.parts = ranges.parts;
            wave.part_count = ranges.part_count;
            wave.chunks = ranges.chunks;
            wave.chunk_count = ranges.chunk_count;
        }
        let mut pulls = Vec::new();
        for (i, pull) in self.pulls.iter().enumerate() {
            let turn = run.turns.get(i).copied().flatten();
            if turn.is_some() {
                waves[pull.wave].pull = i as u32;
            }
            let turn = turn.unwrap_or_default();
            pulls.push(abi::Pull {
                bits: turn.bits,
                into: turn.into,
                most_degree: turn.most_degree,
                least: turn.least,
                ..pull.entry
            });
        }
        put(&mut out, head.pulls, &pulls);
        put(&mut out, head.waves, &waves);
        let mut kernels = self.kernels(run.compiled);
        for (kernel, of) in kernels.iter_mut().zip(&program.kernels) {
            if run.most_steps.is_some() && counts_turns(of) {
                kernel.stream_k = 0;
            }
        }
        put(&mut out, head.kernels, &kernels);
        let values = self.values(program, run.scalars, run.nodes);
        put(&mut out, head.values, &values);
        put(&mut out, head.buffers, &run.buffers);
        put(&mut out, head.topologies, &run.topologies);
        put(&mut out, head.frontiers, &run.frontiers);
        put(&mut out, head.records, &run.records);
        let slots = control.slots(program).into_iter();
        let reductions: Vec<abi::Reduction> = slots
            .zip(&program.reductions)
            .map(|(at, r)| abi::Reduction {
                slots: run.control + at,
                words: words_of(r) as u32,
                identity: r.op.identity(r.scalar),
                kind: reduction_kind(r.op, r.scalar),
                ..Default::default()
            })
            .collect();
        put(&mut out, head.reductions, &reductions);
        put(&mut out, head.fixpoints, &self.fixpoints);
        put(&mut out, head.marks, &self.marks);
        put(&mut out, head.lists, &self.lists);
        put(&mut out, head.fills, &fills);
        debug_assert!(
            !run.compiled || self.known(program).allows(&out),
            "modules rely on it"
        );
        out
    }

    /// Whether CTAs of a launch on these tables wait for each other: then all of them have to be resident.
    pub(crate) fn waits(&self, tables: &[u8]) -> bool {
        let waits = [abi::step::BARRIER, abi::step::UNTIL, abi::step::HUBS].map(u32::to_ne_bytes);
        (0..self.steps.len()).any(|step| {
            let kind = step * size_of::<abi::Step>() + offset_of!(abi::Step, kind);
            let kind = &tables[self.head.steps as usize + kind..][..size_of::<u32>()];
            waits.iter().any(|waits| waits == kind)
        })
    }

    /// The steps as runs have them, of the pass's own module or not.
    pub(super) fn steps(&self, compiled: bool) -> Vec<abi::Step> {
        let mut steps = self.steps.clone();
        for &(until, kept) in self.rounds.iter().filter(|_| compiled) {
            steps[until].plain = abi::PLAIN_ROUNDS;
            steps[until].kept = kept;
        }
        steps
    }

    /// The kernels as runs have them, of the pass's own module or not.
    pub(super) fn kernels(&self, compiled: bool) -> Vec<abi::Kernel> {
        let kernels = self.kernels.iter().enumerate();
        kernels
            .map(|(i, &kernel)| abi::Kernel {
                stream_k: match compiled && !self.stays_map(i) {
                    true => 0,
                    false => kernel.stream_k,
                },
                ..kernel
            })
            .collect()
    }

    /// Where the uniforms of all kernels get their values.
    pub(super) fn values(&self, program: &Program, scalars: &[u64], nodes: u64) -> Vec<abi::Value> {
        let kernels = program.kernels.iter().enumerate();
        kernels
            .flat_map(|(k, kernel)| kernel.uniforms.iter().map(move |u| (k, u)))
            .map(|(k, u)| {
                let mut value = value_of(program, u, scalars, nodes);
                // Those of the kernel's own fixpoint.
                let own = program.fixpoint_of(KernelId(k as u16));
                match (*u, own) {
                    (Uniform::Round, Some(f)) => value.id = f.0.into(),
                    (Uniform::Began(list), Some(f)) => value.id = mark_of(program, f, list),
                    (Uniform::Round | Uniform::Began(_), None) => value.kind = abi::value::BITS,
                    _ => {}
                }
                value
            })
            .collect()
    }

    /// The control words of one run, as they are before the launch.
    pub(crate) fn control(&self, program: &Program) -> Vec<u8> {
        let control = Control::new(program);
        let mut out = vec![0; control.bytes as usize];
        let words = abi::Control {
            trap_key: u64::MAX,
            ..Default::default()
        };
        put(&mut out, 0, &[words]);
        for (at, r) in control.slots(program).into_iter().zip(&program.reductions) {
            let identity = ordered(r.op, r.scalar, r.op.identity(r.scalar));
            put(
                &mut out,
                at as u32,
                &vec![identity; 3 * words_of(r) as usize],
            );
        }
        out
    }
}

fn put<T: Pod>(out: &mut [u8], at: u32, values: &[T]) {
    let bytes = bytes_of(values);
    out[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
}

/// The number of the mark that says what a list held when the round of a fixpoint began.
pub(super) fn mark_of(program: &Program, fixpoint: FixpointId, list: ListId) -> u32 {
    let marks = program.marks();
    marks.binary_search(&(fixpoint, list)).unwrap_or(0) as u32
}

pub(super) fn value_of(
    program: &Program,
    uniform: &Uniform,
    scalars: &[u64],
    nodes: u64,
) -> abi::Value {
    use abi::value;
    let (kind, id, bits) = match *uniform {
        Uniform::Scalar(s) => {
            let bits = scalars.get(s.index()).copied().unwrap_or(0);
            (value::BITS, s.0 + 1, bits)
        }
        Uniform::Constant(c) => (value::BITS, 0, program.constants[c.index()].bits),
        Uniform::Nodes => (value::BITS, 0, nodes),
        Uniform::Round => (value::ROUND, 0, 0),
        Uniform::OuterRound(f) => (value::ROUND, f.0, 0),
        Uniform::Reduction(r) => (value::REDUCTION, r.0, 0),
        Uniform::Len(q) => (value::FRONTIER, program.place_of(q) as u16, 0),
        Uniform::Began(_) => (value::MARK, 0, 0),
    };
    abi::Value {
        bits,
        kind,
        id: id.into(),
    }
}
