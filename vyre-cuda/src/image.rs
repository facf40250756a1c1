//! A program as the megakernel reads it: the host's side of `abi`.
//!
//! [`Layout`] is worked out once per session and device: which items a lane each kernel takes, where its registers and
//! uniforms lie, what every barrier has to settle. [`Layout::encode`] writes the tables of one run. Everything here is
//! pure, so it is tested without a GPU.

use crate::abi::{self, NONE, Pod, bytes_of};
use crate::map::{self, MapCode};
use crate::neighbor_loop;
use crate::quick::{self, Quick, QuickWord};
use crate::tile;
use thiserror::Error;
use vyre_core::plan::arena::{Filling, phases};
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::pull::{self, Taken};
use vyre_core::vir0::container::domain_tag;
use vyre_core::vir0::flow::{op, writes};
use vyre_core::vir0::group::ended_at;
use vyre_core::vir0::isa::{
    FRAMES_PER_IF, FRAMES_PER_LOOP, IMM, Imm, Kind, Op, UNIFORM_BASE, Word,
};
use vyre_core::vir0::module::{
    Domain, FixpointId, Kernel, Program, ReduceOp, Role, Step, TopologyId, Uniform,
};
use vyre_core::vir0::scalar::Scalar;

/// Why a pass cannot run in the megakernel.
#[derive(Clone, Error, PartialEq, Eq)]
pub(crate) enum ImageError {
    /// Tables, uniforms, code and one warp's registers must fit a CTA's shared memory.
    #[error("the pass needs {needed} bytes of shared memory; the device has {available}")]
    Shared {
        /// Bytes needed.
        needed: u32,
        /// Bytes there are.
        available: u32,
    },
}

vyre_core::debug_is_display!(ImageError);

/// What a CTA has on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Shared memory, in bytes.
    pub(crate) shared_bytes: u32,
    /// Neighbours in clusters, which hold narrow rounds.
    pub(crate) clusters: bool,
}

/// Shared memory for the rows of quick code at most, where more warps take part in rounds that a cluster holds.
const QUICK_ROWS_BYTES: u32 = 64 * 1024;
/// Shared memory that goes to registers at most, so that some is left for the L1 cache.
const REGISTER_BYTES: u32 = 160 * 1024;
/// Items that a lane takes at a time, at most.
pub(crate) const ITEMS_PER_LANE: u32 = 4;
/// Words of quick code at most, and the bytes of one.
const QUICK_WORDS: usize = 1024;
const QUICK_BYTES: u32 = 16;
/// Words of all maps of a pass at most; the code of others is not kept twice.
const MAP_WORDS: usize = 768;
/// Staged uniforms of all kernels up to this size have places of their own.
const UNIFORMS_BYTES: u32 = 24 * 1024;

/// Bytes of control memory of one frontier: three counters by epoch, three by barrier, three for hubs, a line each.
pub(crate) const FRONTIER_CONTROL_BYTES: u64 = 9 * 128;

/// What does not change between the runs of a session.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Code of all kernels, each followed by a word that is fetched but never run.
    pub(crate) code: Vec<Word>,
    pub(crate) kernels: Vec<abi::Kernel>,
    waves: Vec<abi::Wave>,
    fixpoints: Vec<abi::Fixpoint>,
    steps: Vec<abi::Step>,
    /// By phase, the step that fills what its start is the time for; the barrier behind it is the next step. Where
    /// nothing shares memory, of the first phase only.
    fills: Vec<usize>,
    lists: Vec<u32>,
    looked: (u32, u32),
    /// The image's head without a run's addresses.
    head: abi::Image,
    /// Dynamic shared memory of the launch.
    pub(crate) shared_bytes: u32,
    /// The topology that a frontier's items carry edge ranges of.
    pub(crate) swept_with: Vec<Option<u32>>,
    /// By wave, the topology whose long edge ranges its neighbour loop meets.
    pub(crate) ranges_of: Vec<Option<u16>>,
    /// By kernel, its code as a map.
    maps: Vec<Option<MapCode>>,
    /// By wave, the code of its narrow rounds; and that code, as far as it was taken.
    quick: Vec<Option<Quick>>,
    quick_code: Vec<QuickWord>,
    /// Waves that may be turned round.
    pub(crate) pulls: Vec<Pulling>,
}

/// A wave that may be turned round, as far as it does not depend on a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pulling {
    wave: usize,
    /// The topology that it sweeps, and the pass's own with the edges in.
    pub(crate) topology: TopologyId,
    pub(crate) reverse: Option<TopologyId>,
    entry: abi::Pull,
}

/// How a run's wave is turned round: the first two of three bitmaps (0: only what is missed is counted), the topology
/// with the edges in, and when it is worth it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) bits: [u64; 2],
    pub(crate) into: u32,
    pub(crate) most_degree: u32,
    pub(crate) least: u64,
}

/// Addresses and sizes of one run.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) code: u64,
    /// Where the control words will be.
    pub(crate) control: u64,
    pub(crate) buffers: Vec<abi::Buffer>,
    pub(crate) topologies: Vec<abi::Topology>,
    pub(crate) frontiers: Vec<abi::Frontier>,
    pub(crate) records: Vec<abi::Record>,
    /// When memory is set, and what to.
    pub(crate) fills: Vec<(Filling, abi::Fill)>,
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

impl Control {
    pub(crate) fn new(program: &Program) -> Control {
        let count = |n: usize| n as u64;
        let results = size_of::<abi::Control>() as u64;
        let homes = results + 8 * count(program.fixpoints.len());
        let epochs = homes + 4 * count(program.buffers.len());
        let stamps = epochs + 4 * count(program.reductions.len());
        let queues = program.frontiers.len() + program.lists.len();
        let times = (stamps + 4 * count(queues)).next_multiple_of(8);
        let reductions = (times + 16 * count(program.waves.len())).next_multiple_of(128);
        let frontiers = (reductions + 24 * count(program.reductions.len())).next_multiple_of(128);
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

/// What barriers between narrow rounds of a kernel have to order: its stores, and its plain loads of what may change.
/// Exchanges happen where all see them, and their results are waited for.
fn barriers_order(program: &Program, kernel: &Kernel) -> u32 {
    let of = |word: &Word| match Op::from_code(word.op) {
        Some(Op::St8 | Op::St32 | Op::AtomSt32 | Op::St64 | Op::AtomSt64) => abi::QUICK_WRITES,
        Some(Op::Ld8 | Op::Ld32 | Op::Ld64) => {
            match program.buffers[usize::from(word.resource())].role {
                Role::Topology | Role::Input => 0,
                Role::Output | Role::Scratch | Role::InOut => abi::QUICK_READS,
            }
        }
        _ => 0,
    };
    kernel.code.iter().map(of).fold(0, |all, of| all | of)
}

impl Layout {
    /// Lays a verified program out for a device. `degree`: average out-degree of each
    /// topology; `items_per_lane`: of a tile, at most.
    pub(crate) fn new(
        (program, allocation): (&Program, Allocation),
        room: Room,
        degree: &[f64],
        items_per_lane: u32,
    ) -> Result<Layout, ImageError> {
        let mut layout = Layout {
            code: Vec::new(),
            kernels: Vec::new(),
            waves: Vec::new(),
            fixpoints: Vec::new(),
            steps: Vec::new(),
            fills: Vec::new(),
            lists: Vec::new(),
            looked: (0, 0),
            head: abi::Image::default(),
            shared_bytes: 0,
            swept_with: vec![None; program.frontiers.len()],
            ranges_of: Vec::new(),
            maps: Vec::new(),
            quick: Vec::new(),
            quick_code: Vec::new(),
            pulls: Vec::new(),
        };
        for wave in &program.waves {
            if let (Some(t), Some(f)) = (wave.domain.topology(), wave.domain.frontier()) {
                layout.swept_with[f.index()].get_or_insert(t.0.into());
            }
        }
        for kernel in &program.kernels {
            layout.kernel(program, kernel);
        }
        for wave in &program.waves {
            let topology = wave.domain.topology().map_or(NONE, |t| t.0.into());
            let frontier = wave.domain.frontier().map(|f| f.0.into());
            let list = wave.domain.list();
            let swept = frontier.or(list.map(|(l, _)| list_number(program, l.0)));
            let average = degree.get(topology as usize).copied().unwrap_or(1.0);
            layout.waves.push(abi::Wave {
                len: 0,
                kernel: wave.kernel.0.into(),
                domain: domain_tag(wave.domain).into(),
                topology,
                frontier: swept.unwrap_or(NONE),
                narrow: (32.0 / average.max(1.0)).round().clamp(1.0, 32.0) as u32,
                fresh: list.is_some_and(|(_, new)| new).into(),
                pull: NONE,
                ..Default::default()
            });
        }
        layout.schedule(program, allocation);
        layout.place(program, room, items_per_lane)?;
        Ok(layout)
    }

    /// Words and row use of one kernel; registers and uniforms are placed later.
    fn kernel(&mut self, program: &Program, kernel: &Kernel) {
        let is_wave = self.kernels.len() < program.waves.len();
        let mut reductions = Vec::new();
        for word in &kernel.code {
            if matches!(op(word), Op::Reduce32 | Op::Reduce64)
                && !reductions.contains(&u32::from(word.resource()))
            {
                reductions.push(word.resource().into());
            }
        }
        let faults = kernel
            .code
            .iter()
            .any(|w| op(w).row().faults != vyre_core::vir0::isa::Faults::No);
        let (mut rows, mut item_row) = (u32::from(kernel.rows).max(1), NONE);
        if is_wave && faults {
            // An item with fields is named by the first of them, which the kernel may not use.
            let domain = program.waves[self.kernels.len()].domain;
            let records = !domain.fields(program).is_empty();
            item_row = match kernel.item.index {
                Some(row) if !records && !kernel.code.iter().any(|w| writes(w).has(row)) => {
                    row.into()
                }
                _ => {
                    rows += 1;
                    rows - 1
                }
            };
        }
        let narrow = match program.waves.get(self.kernels.len()).map(|w| w.domain) {
            Some(Domain::EdgesFrom(_, f)) => {
                quick::of_kernel(kernel, rows, item_row, f.0, |other| {
                    let owner = |f: usize| program.frontiers[f].owner;
                    let other = usize::from(other);
                    owner(other) != owner(f.index()) && program.frontiers[other].unique
                })
            }
            _ => None,
        };
        if is_wave {
            self.quick.push(narrow);
        }
        let lift = neighbor_loop::of_wave(program, self.kernels.len(), rows);
        rows += lift.as_ref().map_or(0, |l| l.rows);
        let mut code = device_code(program, kernel, &reductions);
        let tile = (is_wave && lift.is_none())
            .then(|| tile::of_kernel(kernel, &code, rows, most_rows(rows)))
            .flatten()
            .unwrap_or_default();
        rows = rows.max(tile.rows);
        let ahead = if is_wave {
            own_loads(kernel)
        } else {
            Vec::new()
        };
        let map = if is_wave { map::find(kernel) } else { None };
        let map_buffers = map.as_ref().map_or(&[][..], |s| &s.buffers);
        let row = |r: Option<u8>| r.map_or(NONE, u32::from);
        let dynamic: Vec<u32> = (0u32..)
            .zip(&kernel.uniforms)
            .filter(|(_, u)| value_of(program, u, &[], 0).kind != abi::value::BITS)
            .map(|(slot, _)| slot)
            .collect();
        let described = abi::Kernel {
            code: self.code.len() as u32,
            words: kernel.code.len() as u32,
            rows,
            index_row: row(kernel.item.index),
            src_row: row(kernel.item.src),
            dst_row: row(kernel.item.dst),
            item_row,
            value_count: kernel.uniforms.len() as u32,
            reduction_count: reductions.len() as u32,
            reductions: self.list(&reductions),
            dynamic_count: dynamic.len() as u32,
            dynamic: self.list(&dynamic),
            fields: self.list(&kernel.item.fields.map(row)),
            neighbors: lift.as_ref().map_or(0, |_| kernel.code.len() as u32 + 1),
            ahead_count: ahead.len() as u32 / 2,
            ahead: self.list(&ahead),
            stream_buffer_count: map_buffers.len() as u32,
            stream_buffers: self.list(map_buffers),
            // After the word that follows the kernel's own.
            tile: if tile.code.is_empty() {
                0
            } else {
                kernel.code.len() as u32 + 1
            },
            origins: self.list(&tile.origins),
            ..Default::default()
        };
        self.kernels.push(described);
        self.maps.push(map);
        code.push(Word {
            op: Op::Ret as u8,
            ..Word::default()
        });
        let at = code.len() as u32;
        code.extend(tile.code.iter().map(|word| {
            let moves = Op::from_code(word.op).is_some_and(|op| op.row().imm == Imm::Target);
            let imm = word.imm + if moves { at } else { 0 };
            Word { imm, ..*word }
        }));
        if let Some(lift) = &lift {
            let body = code.len() + neighbor_loop::BODY;
            code[lift.at] = Word {
                imm: lift.word.imm | body as u32,
                ..lift.word
            };
            code.extend(&lift.code);
            // Its own first word, where parts of ranges start, counts from the kernel's start, too.
            let first = &mut code[body - neighbor_loop::BODY].imm;
            *first = *first & !0xffff | body as u32;
        }
        if is_wave {
            self.ranges_of.push(lift.and_then(|l| l.topology));
        }
        self.code.extend(code);
        if self.code.len() % 2 == 1 {
            self.code.push(Word::default());
        }
    }

    /// Appends a list and returns the index of its first element.
    fn list(&mut self, values: &[u32]) -> u32 {
        let at = self.lists.len() as u32;
        self.lists.extend(values);
        at
    }

    fn schedule(&mut self, program: &Program, allocation: Allocation) {
        for (f, fixpoint) in program.fixpoints.iter().enumerate() {
            let owner = Some(FixpointId(f as u16));
            let owned = |owners: Vec<Option<FixpointId>>| -> Vec<u32> {
                (0u32..)
                    .zip(owners)
                    .filter(|&(_, o)| o == owner)
                    .map(|(i, _)| i)
                    .collect()
            };
            let frontiers = owned(program.frontiers.iter().map(|x| x.owner).collect());
            let reductions = owned(program.reductions.iter().map(|x| x.owner).collect());
            let swaps: Vec<u32> = fixpoint
                .swaps
                .iter()
                .flat_map(|(a, b)| [a.0.into(), b.0.into()])
                .collect();
            let described = abi::Fixpoint {
                max_rounds: fixpoint.max_rounds,
                until_kernel: fixpoint.until.0.into(),
                until_frontier: empty_frontier(&program.kernels[fixpoint.until.index()]),
                frontier_count: frontiers.len() as u32,
                frontiers: self.list(&frontiers),
                reduction_count: reductions.len() as u32,
                reductions: self.list(&reductions),
                swap_count: fixpoint.swaps.len() as u32,
                swaps: self.list(&swaps),
                ..Default::default()
            };
            self.fixpoints.push(described);
        }
        let mut looked: Vec<u32> = Vec::new();
        self.fills_here();
        let phases = phases(&program.schedule);
        let mut phases = phases.iter().skip(1).map(|p| p.step).peekable();
        for (at, step) in program.schedule.iter().enumerate() {
            if phases.next_if_eq(&at).is_some() && allocation == Allocation::Shared {
                self.fills_here();
            }
            let id = match *step {
                Step::Wave(w) => w.0,
                Step::Loop(f) | Step::Until(f) => f.0,
                Step::Barrier | Step::End => 0,
            };
            let plain = |kind| abi::Step {
                kind,
                id: id.into(),
                carried: NONE,
                ..Default::default()
            };
            match *step {
                Step::Wave(w) => {
                    if self.ranges_of[w.index()].is_some() {
                        self.steps.push(plain(abi::step::HUBS));
                    }
                    self.steps.push(plain(abi::step::WAVE));
                }
                Step::Loop(f) => {
                    self.steps.push(plain(abi::step::LOOP));
                    self.fixpoints[f.index()].body = self.steps.len() as u32;
                    self.steps.push(plain(abi::step::ROUND));
                }
                Step::Barrier => {
                    let step = self.barrier(program, at, plain(abi::step::BARRIER), &mut looked);
                    self.steps.push(step);
                }
                Step::Until(f) => {
                    let mut step = self.barrier(program, at, plain(abi::step::UNTIL), &mut looked);
                    step.settle = unsettled(program, f).into();
                    step.plain = self.is_plain(program, at, f, &step).into();
                    if step.plain != 0 && step.pushed_count == 1 {
                        self.pulls.extend(pulling(program, at - 1));
                    }
                    self.steps.push(step);
                }
                Step::End => {
                    let step = self.barrier(program, at, plain(abi::step::BARRIER), &mut looked);
                    if step.pushed_count != 0 {
                        self.steps.push(step);
                    }
                    self.steps.push(plain(abi::step::END));
                }
            }
        }
        looked.sort_unstable();
        looked.dedup();
        self.looked = (self.list(&looked), looked.len() as u32);
    }

    /// The steps of a phase's fills. Before a run says what they fill, there is nothing to fill and to wait for.
    fn fills_here(&mut self) {
        self.fills.push(self.steps.len());
        self.steps.extend([NOTHING; 2]);
    }

    /// Whether the fixpoint that ends at `at` is the common kind that the device has a short way for.
    fn is_plain(&self, program: &Program, at: usize, f: FixpointId, until: &abi::Step) -> bool {
        let [.., Step::Loop(start), Step::Wave(wave)] = program.schedule[..at] else {
            return false;
        };
        let wave = &program.waves[wave.index()];
        let Domain::EdgesFrom(topology, frontier) = wave.domain else {
            return false;
        };
        let described = &self.fixpoints[f.index()];
        let kernel = &self.kernels[wave.kernel.index()];
        let uniforms = &program.kernels[wave.kernel.index()].uniforms;
        start == f
            && described.until_frontier == u32::from(frontier.0)
            && until.carried == u32::from(frontier.0)
            && (until.pushed_count == 1 || self.quick[wave.kernel.index()].is_some())
            && self.swept_with[frontier.index()] == Some(topology.0.into())
            && (described.frontier_count, described.reduction_count) == (1, 0)
            && described.swap_count == 0
            && kernel.reduction_count == 0
            && kernel.dynamic_count <= 32
            && uniforms.iter().all(|u| match u {
                // What a loop around this one has found stays.
                Uniform::Reduction(r) => program.reductions[r.index()].owner != Some(f),
                Uniform::FrontierLen(_) | Uniform::ListLen(_) => false,
                Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Nodes | Uniform::Round => true,
            })
    }

    /// Which frontiers the group that the step at `at` ends pushes to, and whom to blame for an overflow. The first one
    /// that the barrier's fixpoint owns travels in the barrier word.
    fn barrier(
        &mut self,
        program: &Program,
        at: usize,
        mut step: abi::Step,
        looked: &mut Vec<u32>,
    ) -> abi::Step {
        let mut pushed: Vec<[u32; 3]> = Vec::new();
        for wave in ended_at(&program.schedule, at) {
            let kernel = program.waves[wave.index()].kernel;
            let code = &program.kernels[kernel.index()].code;
            for (pc, word) in (0u32..).zip(code) {
                let id = if op(word) == Op::Append {
                    list_number(program, word.resource())
                } else if matches!(op(word), Op::Push | Op::PushItem) {
                    word.resource().into()
                } else {
                    continue;
                };
                let entry = [id, kernel.0.into(), pc];
                match pushed.iter_mut().find(|e| e[0] == entry[0]) {
                    Some(e) => *e = (*e).min(entry),
                    None => pushed.push(entry),
                }
            }
        }
        pushed.sort_unstable();
        let fixpoint = (step.kind == abi::step::UNTIL).then_some(FixpointId(step.id as u16));
        if let Some(first) = pushed
            .iter()
            .position(|e| {
                let frontier = program.frontiers.get(e[0] as usize);
                fixpoint.is_some() && frontier.is_some_and(|f| f.owner == fixpoint)
            })
            .or((!pushed.is_empty()).then_some(0))
        {
            pushed[..=first].rotate_right(1);
            step.carried = pushed[0][0];
            looked.extend(pushed[1..].iter().map(|e| e[0]));
        }
        step.pushed_count = pushed.len() as u32;
        step.pushed = self.list(pushed.as_flattened());
        step
    }

    /// Takes the quick code of plain fixpoints' waves, as far as there is room for it. What is plain only with quick
    /// code, or without frontiers that others sum up, is no longer so elsewhere. `own`: staged uniforms have places of
    /// their own.
    fn choose_quick(&mut self, program: &Program, own: bool) {
        for i in 0..self.steps.len() {
            if self.steps[i].plain == 0 {
                continue;
            }
            // The wave is the step before.
            let wave = self.steps[i - 1].id as usize;
            let kernel = self.waves[wave].kernel as usize;
            let room = QUICK_WORDS.saturating_sub(self.quick_code.len());
            let quick = self.quick[kernel].as_ref();
            let quick = quick.filter(|q| own && q.code.len() <= room).cloned();
            let Some(quick) = quick else {
                self.steps[i].plain =
                    (own && self.looked.1 == 0 && self.steps[i].pushed_count == 1).into();
                continue;
            };
            let fills = self.list(&quick.fills);
            let described = &mut self.kernels[kernel];
            described.quick = self.quick_code.len() as u32 * QUICK_BYTES;
            described.quick_begins = quick.begins;
            described.quick_plain = quick.plain;
            described.quick_slots = quick.slots | (quick.code.len() as u32) << 8;
            described.quick_slots |= barriers_order(program, &program.kernels[kernel]);
            described.quick_fills = fills;
            described.quick_fill_count = quick.fills.len() as u32 / 2;
            described.quick_dynamic = quick.dynamic;
            described.quick_round = quick.round;
            (described.quick_next, described.quick_addend) = quick.next;
            [
                described.quick_index,
                described.quick_src,
                described.quick_dst,
                described.quick_item,
            ] = quick.item;
            self.quick_code.extend(quick.code);
        }
    }

    /// Gives everything its place in shared memory and in the image.
    fn place(
        &mut self,
        program: &Program,
        room: Room,
        items_per_lane: u32,
    ) -> Result<(), ImageError> {
        let available = room.shared_bytes;
        let bytes = |k: &abi::Kernel| k.value_count * abi::UNIFORM_BYTES;
        let all: u32 = self.kernels.iter().map(bytes).sum();
        let own = all <= UNIFORMS_BYTES;
        self.choose_quick(program, own);
        let head = &mut self.head;
        let mut at = size_of::<abi::Image>() as u32;
        let mut table = |bytes: usize| {
            let start = at;
            at += (bytes as u32).next_multiple_of(16);
            start
        };
        head.steps = table(size_of_val(self.steps.as_slice()));
        head.waves = table(size_of_val(self.waves.as_slice()));
        head.kernels = table(size_of_val(self.kernels.as_slice()));
        let values: usize = program.kernels.iter().map(|k| k.uniforms.len()).sum();
        head.values = table(values * size_of::<abi::Value>());
        head.buffers = table(program.buffers.len() * size_of::<abi::Buffer>());
        head.topologies = table(program.topologies.len() * size_of::<abi::Topology>());
        let queues = program.frontiers.len() + program.lists.len();
        head.frontiers = table(queues * size_of::<abi::Frontier>());
        head.records = table(records_of(program).count() * size_of::<abi::Record>());
        head.reductions = table(program.reductions.len() * size_of::<abi::Reduction>());
        head.fixpoints = table(size_of_val(self.fixpoints.as_slice()));
        head.lists = table(size_of_val(self.lists.as_slice()));
        head.pulls = table(self.pulls.len() * size_of::<abi::Pull>());
        // At most one fill a buffer, one for a frontier's stamps, and one for a bitmap.
        head.fills = table((program.buffers.len() + queues + 1) * size_of::<abi::Fill>());
        head.tables_bytes = at;
        head.kernel_count = self.kernels.len() as u32;
        head.buffer_count = program.buffers.len() as u32;
        head.fixpoint_count = self.fixpoints.len() as u32;
        head.frontier_count = queues as u32;
        head.reduction_count = program.reductions.len() as u32;
        head.record_count = records_of(program).count() as u32;
        (head.looked, head.looked_count) = self.looked;

        // Uniforms, and after them as much as the widest operand byte can reach, which is read but never used.
        let uniforms = at;
        at += if own {
            all
        } else {
            self.kernels.iter().map(bytes).max().unwrap_or(0)
        };
        at += 64 * abi::UNIFORM_BYTES;
        let (mut place, mut value) = (uniforms, 0);
        for kernel in &mut self.kernels {
            kernel.uniforms_shared = place;
            kernel.staged = own.into();
            kernel.values = value;
            value += kernel.value_count;
            if own {
                place += kernel.value_count * abi::UNIFORM_BYTES;
            }
        }
        let mut rows = 0;
        for (kernel, quick) in self.kernels.iter_mut().zip(&self.quick) {
            if kernel.quick_fill_count != 0
                && let Some(quick) = quick
            {
                kernel.quick_rows = quick.rows;
                rows += quick.rows;
            }
        }
        let fits = |&warps: &u32| room.clusters && rows * 128 * warps <= QUICK_ROWS_BYTES;
        let warps = [abi::CLUSTER_WARPS, abi::CLUSTER_WARPS / 2]
            .into_iter()
            .find(fits);
        let warps = warps.unwrap_or(abi::QUICK_WARPS);
        self.head.quick_warps = if rows == 0 { 0 } else { warps };
        for kernel in self.kernels.iter_mut().filter(|k| k.quick_rows != 0) {
            kernel.quick_shared = at;
            at += kernel.quick_rows * 128 * warps;
        }
        quick::place(&mut self.quick_code, self.head.buffers);
        let head = &mut self.head;
        let partials = self.kernels.iter().map(|k| k.reduction_count).max();
        head.partials_shared = at;
        at += partials.unwrap_or(0) * abi::WARPS * 8;
        head.stash_shared = at;
        let pushes = |k: &Kernel| k.code.iter().any(|w| op(w) == Op::Push);
        let many = self
            .waves
            .iter()
            .any(|w| w.domain == 5 && w.narrow >= abi::MORE_ITEMS);
        head.stash_bytes = abi::STASH_BYTES * if many { 3 } else { 1 };
        if program.kernels.iter().any(pushes) {
            head.stash_bytes += abi::STAGING_BYTES;
        }
        at += abi::WARPS * head.stash_bytes;
        at = at.next_multiple_of(128);
        let quick = self.quick_code.len() as u32 * QUICK_BYTES;
        let mut words = self.code.len();
        let most = words + MAP_WORDS;
        for (kernel, map) in self.kernels.iter_mut().zip(&mut self.maps) {
            kernel.stream = words as u32;
            map.take_if(|s| words + s.code.len() > most);
            words += map.as_ref().map_or(0, |s| s.code.len());
        }
        // Maps fetch a word more, too.
        words += 1;
        let code_bytes = words * abi::WORD_BYTES as usize;
        if code_bytes > available as usize {
            let needed = at.saturating_add(u32::try_from(code_bytes).unwrap_or(u32::MAX));
            return Err(ImageError::Shared { needed, available });
        }
        let code_bytes = code_bytes as u32;
        head.code_bytes = (code_bytes + quick).next_multiple_of(16);
        head.code_shared = at;
        for kernel in self.kernels.iter_mut().filter(|k| k.quick_fill_count != 0) {
            kernel.quick += at + code_bytes;
        }
        at += head.code_bytes;
        at = at.next_multiple_of(128);
        head.registers_shared = at;

        // Registers: as many items a lane as fit with every warp working, otherwise fewer warps.
        let most = available.saturating_sub(at).min(REGISTER_BYTES);
        let mut used = 0;
        for (i, kernel) in self.kernels.iter_mut().enumerate() {
            let accumulators = kernel.reduction_count * 256;
            let bytes = |k: u32| kernel.rows * k * 128 + accumulators;
            let frames = program.kernels[i].frames;
            let fits = |k: u32| {
                k <= items_per_lane && u32::from(frames) * k <= 64 && bytes(k) * abi::WARPS <= most
            };
            let k = [ITEMS_PER_LANE, 2]
                .into_iter()
                .find(|&k| fits(k))
                .unwrap_or(1);
            let k = if i < program.waves.len() { k } else { 1 };
            let warps = (most / bytes(k)).min(abi::WARPS);
            if warps == 0 {
                return Err(ImageError::Shared {
                    needed: at + bytes(k),
                    available,
                });
            }
            kernel.k = k;
            kernel.warps = warps;
            // What is left of a map, less than a tile of it, runs in the same place.
            let map = self.maps[i].as_ref().filter(|_| warps == abi::WARPS);
            let as_map = |s: &MapCode, k: u32| bytes(1).max(s.rows * k * 128);
            kernel.stream_k = (map::ITEMS.into_iter())
                .find(|&k| map.is_some_and(|s| as_map(s, k) * abi::WARPS <= most))
                .unwrap_or(0);
            kernel.warp_bytes = match map {
                Some(s) => bytes(k).max(as_map(s, kernel.stream_k)),
                None => bytes(k),
            };
            kernel.accumulators = kernel.rows * k * 128;
            let warps = if i < program.waves.len() { warps } else { 1 };
            used = used.max(kernel.warp_bytes * warps);
        }
        self.shared_bytes = at + used;
        Ok(())
    }

    /// Warps of a CTA that take part in narrow rounds at most; 0: no wave has such.
    pub(crate) fn quick_warps(&self) -> u32 {
        self.head.quick_warps
    }

    /// The code as the device has it: each word, where its operands are in a full tile, its immediate four times; then
    /// the quick code.
    pub(crate) fn device_words(&self) -> Vec<u8> {
        let starts = self.kernels.iter().map(|k| k.code as usize);
        let ends = starts.clone().skip(1).chain([self.code.len()]);
        let mut words: Vec<[u32; 8]> = Vec::with_capacity(self.code.len());
        for ((start, end), kernel) in starts.zip(ends).zip(&self.kernels) {
            let code = self.head.code_shared + start as u32 * abi::WORD_BYTES;
            // The sum has its top bit set: shared memory is far smaller than the margin in `FIXED`.
            for (at, word) in (0u32..).zip(&self.code[start..end]) {
                let here = code + at * abi::WORD_BYTES;
                let fixed = |place: u32| place.wrapping_sub(here).wrapping_sub(abi::FIXED);
                let operand = |byte: u8| match byte {
                    IMM => fixed(here + 16),
                    row if row < UNIFORM_BASE => u32::from(row) * kernel.k * 128,
                    slot => {
                        let slot = u32::from(slot - UNIFORM_BASE);
                        fixed(kernel.uniforms_shared + slot * abi::UNIFORM_BYTES)
                    }
                };
                let bytes = word.to_bytes();
                let first = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                let imm = word.imm;
                let (a, b) = (operand(word.a), operand(word.b));
                words.push([first, imm, a, b, imm, imm, imm, imm]);
            }
        }
        let maps = self.kernels.iter().zip(&self.maps);
        for (kernel, map) in maps.filter_map(|(k, s)| Some((k, s.as_ref()?))) {
            let code = map.code.iter().zip(&map.flags);
            words.extend((kernel.stream..).zip(code).map(|(at, (word, flags))| {
                let mut words = self.map_word(kernel, at, word);
                words[0] |= flags;
                words
            }));
        }
        words.push([0; 8]);
        let mut bytes = bytes_of(words.as_flattened()).to_vec();
        for word in &self.quick_code {
            bytes.extend(word.words.iter().flat_map(|w| w.to_le_bytes()));
        }
        bytes.resize(self.head.code_bytes as usize, 0);
        bytes
    }

    /// Word `at` of a map, less its flags: its opcode, where its result and its operands lie, and its immediate four
    /// times, of which the first is the place of a third operand. Places are those in rows of the map, or with the top
    /// bit set in shared memory.
    fn map_word(&self, kernel: &abi::Kernel, at: u32, word: &Word) -> [u32; 8] {
        let fixed = |place: u32| 1 << 31 | place;
        let uniform = |slot: u32| fixed(kernel.uniforms_shared + slot * abi::UNIFORM_BYTES);
        let imm_at = fixed(self.head.code_shared + at * abi::WORD_BYTES + 16);
        let place = |byte: u8| match byte {
            IMM => imm_at,
            row if row < UNIFORM_BASE => u32::from(row) * kernel.stream_k * 128,
            slot => uniform(u32::from(slot - UNIFORM_BASE)),
        };
        let buffer = || {
            let entry = u32::from(word.resource()) * size_of::<abi::Buffer>() as u32;
            fixed(self.head.buffers + entry)
        };
        let (code, d, b, imm) = (word.op.into(), place(word.d), place(word.b), word.imm);
        let (code, a, imm) = match Op::from_code(word.op) {
            Some(Op::Ld32 | Op::St32) => (code, buffer(), imm),
            Some(Op::LdU32) => (Op::Mov32 as u32, uniform(imm), imm),
            Some(Op::Sel32 | Op::FmaF32) => (code, place(word.a), place(word.third())),
            _ => (code, place(word.a), imm),
        };
        [code, d, a, b, imm, imm, imm, imm]
    }

    /// Items of a wave that one warp takes at once.
    pub(crate) fn tile(&self, wave: usize) -> u32 {
        32 * self.kernels[self.waves[wave].kernel as usize].k
    }

    /// Size of [`Layout::device_words`].
    pub(crate) fn code_bytes(&self) -> u64 {
        self.head.code_bytes.into()
    }

    /// Size of the tables.
    pub(crate) fn tables_bytes(&self) -> u64 {
        self.head.tables_bytes.into()
    }

    /// The tables of one run, ready to be copied to the device.
    pub(crate) fn encode(&self, run: &Run<'_>) -> Vec<u8> {
        let program = run.program;
        let control = Control::new(program);
        let mut head = self.head;
        head.code = run.code;
        head.control = run.control;
        head.results = run.control + control.results;
        head.fill_count = run.fills.len() as u32;
        head.progress = run.progress;
        if run.time_waves {
            head.times = (control.times - control.results) as u32;
        }
        let mut out = vec![0; head.tables_bytes as usize];
        put(&mut out, 0, &[head]);
        let mut steps = self.steps.clone();
        for step in &mut steps {
            // Plain rounds do not look whether other frontiers overflow: they must not be able to.
            let others = (1..step.pushed_count).map(|i| self.lists[(step.pushed + 3 * i) as usize]);
            let mut capacities = others.filter_map(|f| run.frontiers.get(f as usize));
            if capacities.any(|f| u64::from(f.capacity) < run.nodes) {
                step.plain = 0;
            }
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
        debug_assert_eq!(fills.len(), run.fills.len(), "fills have steps");
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
        put(&mut out, head.kernels, &self.kernels);
        let values: Vec<abi::Value> = program
            .kernels
            .iter()
            .enumerate()
            .flat_map(|(k, kernel)| kernel.uniforms.iter().map(move |u| (k, u)))
            .map(|(k, u)| {
                let mut value = value_of(program, u, run.scalars, run.nodes);
                if value.kind == abi::value::ROUND {
                    match innermost(program, k) {
                        Some(f) => value.id = f.0.into(),
                        None => value.kind = abi::value::BITS,
                    }
                }
                value
            })
            .collect();
        put(&mut out, head.values, &values);
        put(&mut out, head.buffers, &run.buffers);
        put(&mut out, head.topologies, &run.topologies);
        put(&mut out, head.frontiers, &run.frontiers);
        put(&mut out, head.records, &run.records);
        let reductions: Vec<abi::Reduction> = (0u64..)
            .zip(&program.reductions)
            .map(|(i, r)| abi::Reduction {
                slots: run.control + control.reductions + 24 * i,
                identity: r.op.identity(r.scalar),
                kind: reduction_kind(r.op, r.scalar),
                ..Default::default()
            })
            .collect();
        put(&mut out, head.reductions, &reductions);
        put(&mut out, head.fixpoints, &self.fixpoints);
        put(&mut out, head.lists, &self.lists);
        put(&mut out, head.fills, &fills);
        out
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
        for (i, r) in program.reductions.iter().enumerate() {
            let identity = ordered(r.op, r.scalar, r.op.identity(r.scalar));
            put(
                &mut out,
                (control.reductions + 24 * i as u64) as u32,
                &[identity; 3],
            );
        }
        out
    }
}

/// A step that fills nothing, as all are before a run says otherwise.
const NOTHING: abi::Step = abi::Step {
    kind: abi::step::FILL,
    id: 0,
    carried: NONE,
    pushed: 0,
    pushed_count: 0,
    settle: 0,
    plain: 0,
    unused: 0,
};

fn put<T: Pod>(out: &mut [u8], at: u32, values: &[T]) {
    let bytes = bytes_of(values);
    out[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
}

/// Rows that a kernel may have without its tiles getting smaller on a large GPU.
fn most_rows(rows: u32) -> u32 {
    let of = |items: u32| REGISTER_BYTES / (abi::WARPS * 128 * items);
    let most = [ITEMS_PER_LANE, 2, 1].into_iter().map(of);
    most.filter(|&most| rows <= most).min().unwrap_or(rows)
}

/// The buffers that a kernel loads the element of its item's number from, each with the size of one.
fn own_loads(kernel: &Kernel) -> Vec<u32> {
    let Some(index) = kernel.item.index else {
        return Vec::new();
    };
    if kernel.code.iter().any(|w| writes(w).has(index)) {
        return Vec::new();
    }
    let mut loads: Vec<u32> = Vec::new();
    for word in kernel.code.iter().filter(|w| w.a == index) {
        let sizes = [(Op::Ld8, 1), (Op::Ld32, 4), (Op::Ld64, 8)];
        let Some(&(_, size)) = sizes.iter().find(|(load, _)| *load == op(word)) else {
            continue;
        };
        let buffer = u32::from(word.resource());
        if !loads.chunks(2).any(|l| l[0] == buffer) {
            loads.extend([buffer, size]);
        }
    }
    loads
}

/// The wave at this step of the schedule, the only one of a plain fixpoint, if it may be turned round without running
/// its kernel.
fn pulling(program: &Program, at: usize) -> Option<Pulling> {
    let Step::Wave(id) = program.schedule[at] else {
        return None;
    };
    let wave = &program.waves[id.index()];
    let Domain::EdgesFrom(topology, _) = wave.domain else {
        return None;
    };
    let claim = pull::claim(program, wave).filter(|c| c.pushes)?;
    let (taken, by_round) = match claim.taken {
        Taken::Constant(taken) => (taken, 0),
        Taken::Round(more) => (more, 1),
    };
    Some(Pulling {
        wave: id.index(),
        topology,
        reverse: pull::reverse(program, topology),
        entry: abi::Pull {
            buffer: claim.buffer.0.into(),
            free: claim.free,
            taken,
            by_round,
            ..Default::default()
        },
    })
}

/// The innermost fixpoint around a kernel, whose round it sees.
fn innermost(program: &Program, kernel: usize) -> Option<FixpointId> {
    match program.waves.get(kernel) {
        Some(wave) => wave.fixpoint,
        None => Some(FixpointId((kernel - program.waves.len()) as u16)),
    }
}

fn value_of(program: &Program, uniform: &Uniform, scalars: &[u64], nodes: u64) -> abi::Value {
    use abi::value;
    let (kind, id, bits) = match *uniform {
        Uniform::Scalar(s) => {
            let bits = scalars.get(s.index()).copied().unwrap_or(0);
            (value::BITS, s.0 + 1, bits)
        }
        Uniform::Constant(c) => (value::BITS, 0, program.constants[c.index()].bits),
        Uniform::Nodes => (value::BITS, 0, nodes),
        Uniform::Round => (value::ROUND, 0, 0),
        Uniform::Reduction(r) => (value::REDUCTION, r.0, 0),
        Uniform::FrontierLen(f) => (value::FRONTIER, f.0, 0),
        Uniform::ListLen(l) => (value::FRONTIER, list_number(program, l.0) as u16, 0),
    };
    abi::Value {
        bits,
        kind,
        id: id.into(),
    }
}

/// The frontier whose emptiness a condition tests, when that is all it does.
fn empty_frontier(until: &Kernel) -> u32 {
    let [test, ret] = until.code.as_slice() else {
        return NONE;
    };
    let operands = match (test.a, test.b) {
        (a, IMM) => Some(a),
        (IMM, b) => Some(b),
        _ => None,
    };
    let slot = operands.and_then(|o| o.checked_sub(UNIFORM_BASE));
    let uniform = slot.and_then(|s| until.uniforms.get(usize::from(s)));
    match uniform {
        Some(Uniform::FrontierLen(f))
            if op(test) == Op::Eq32 && test.imm == 0 && op(ret) == Op::RetV && ret.a == test.d =>
        {
            f.0.into()
        }
        _ => NONE,
    }
}

/// Whether a fixpoint's condition reads something that the waves after it may change while slower CTAs still evaluate
/// it: a reduction that the next round does not reset.
fn unsettled(program: &Program, f: FixpointId) -> bool {
    let until = &program.kernels[program.fixpoints[f.index()].until.index()];
    until.uniforms.iter().any(|u| match u {
        Uniform::Reduction(r) => program.reductions[r.index()].owner != Some(f),
        _ => false,
    })
}

/// The device's number of a list: after the frontiers.
pub(crate) fn list_number(program: &Program, list: u16) -> u32 {
    program.frontiers.len() as u32 + u32::from(list)
}

/// Fields of the items that are not nodes: of frontiers, then of lists; with the device's number.
pub(crate) fn records_of(program: &Program) -> impl Iterator<Item = (u32, &[Scalar])> {
    let frontiers = program.frontiers.iter().map(|f| f.fields.as_slice());
    let lists = program.lists.iter().map(|l| l.fields.as_slice());
    (0u32..)
        .zip(frontiers.chain(lists))
        .filter(|(_, fields)| !fields.is_empty())
}

/// Whether an instruction names a list.
fn is_of_list(op: Op) -> bool {
    matches!(
        op.row().imm,
        Imm::Resource(Kind::List) | Imm::Field(Kind::List, _)
    )
}

/// A kernel's code with the rewritten words: break and continue name their loop's round frame, reduce names its
/// accumulator, lists have the device's numbers.
fn device_code(program: &Program, kernel: &Kernel, reductions: &[u32]) -> Vec<Word> {
    let mut frames = 0u32;
    // Round frames of the open loops.
    let mut loops: Vec<u32> = Vec::new();
    let mut code = kernel.code.clone();
    for word in &mut code {
        let op = op(word);
        if op == Op::If {
            frames += u32::from(FRAMES_PER_IF);
        } else if op == Op::EndIf {
            frames -= u32::from(FRAMES_PER_IF);
        } else if op == Op::Loop {
            loops.push(frames + 1);
            frames += u32::from(FRAMES_PER_LOOP);
        } else if op == Op::EndLoop {
            loops.pop();
            frames -= u32::from(FRAMES_PER_LOOP);
        } else if op.row().imm == Imm::Depth {
            word.imm = loops[loops.len() - 1 - word.imm as usize];
        } else if matches!(op, Op::Reduce32 | Op::Reduce64) {
            let id = u32::from(word.resource());
            let slot = reductions.iter().position(|&r| r == id);
            word.imm |= slot.expect("the list has every reduction of the kernel") as u32;
        } else if is_of_list(op) {
            word.imm = list_number(program, word.resource()) << 16 | word.imm & 0xffff;
        }
    }
    code
}

/// `op * 8 + scalar`, as the device switches on it.
fn reduction_kind(op: ReduceOp, scalar: Scalar) -> u32 {
    op as u32 * 8 + scalar as u32
}

/// A reduction's value as its slot keeps it: float minima and maxima as integers of the same order.
pub(crate) fn ordered(op: ReduceOp, scalar: Scalar, bits: u64) -> u64 {
    match (op, scalar) {
        (ReduceOp::Min | ReduceOp::Max, Scalar::F32) => {
            let x = bits as u32;
            u64::from(if x >> 31 == 1 { !x } else { x | 1 << 31 })
        }
        (ReduceOp::Min | ReduceOp::Max, Scalar::F64) => {
            if bits >> 63 == 1 {
                !bits
            } else {
                bits | 1 << 63
            }
        }
        _ => bits,
    }
}

/// Inverse of [`ordered`], with the raw bits that [`vyre_core::vir0::module::Constant`] describes.
pub(crate) fn unordered(op: ReduceOp, scalar: Scalar, bits: u64) -> u64 {
    match (op, scalar) {
        (ReduceOp::Min | ReduceOp::Max, Scalar::F32) => {
            let x = bits as u32;
            u64::from(if x >> 31 == 1 { x & !(1 << 31) } else { !x })
        }
        (ReduceOp::Min | ReduceOp::Max, Scalar::F64) => {
            if bits >> 63 == 1 {
                bits & !(1 << 63)
            } else {
                !bits
            }
        }
        (_, Scalar::I32) => bits as u32 as i32 as i64 as u64,
        (_, Scalar::U64 | Scalar::I64 | Scalar::F64) => bits,
        (_, Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::F32) => u64::from(bits as u32),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::neighbor_loop::words::word;
    use vyre_core::vir0::module::{
        Buffer, Constant, ConstantId, Extent, Fixpoint, Frontier, FrontierId, ItemRows, KernelId,
        SiteId, Topology, Wave, WaveId,
    };

    /// One wave over the nodes of a topology.
    pub(crate) fn program(code: Vec<Word>, rows: u8) -> Program {
        let buffer = |name: &str, role| Buffer {
            name: name.into(),
            scalar: Scalar::U32,
            extent: Extent::Nodes,
            role,
            init: None,
        };
        Program {
            topologies: vec![Topology {
                name: "graph".into(),
                reverse_of: None,
            }],
            buffers: vec![buffer("x", Role::Input), buffer("out", Role::Output)],
            kernels: vec![Kernel {
                name: "k".into(),
                code,
                rows,
                frames: 2,
                item: ItemRows {
                    index: Some(0),
                    ..ItemRows::default()
                },
                uniforms: vec![],
                sites: vec![],
            }],
            waves: vec![Wave {
                name: "k".into(),
                kernel: KernelId(0),
                domain: Domain::Nodes,
                accesses: vec![],
                fixpoint: None,
                after: vec![],
            }],
            schedule: vec![Step::Wave(WaveId(0)), Step::End],
            ..Program::default()
        }
    }

    fn room(kib: u32) -> Room {
        Room {
            shared_bytes: kib * 1024,
            clusters: false,
        }
    }

    #[test]
    fn immediates_of_lifted_bodies_count_from_the_kernels_start() {
        // `for u in graph.neighbors(v) { r1 += x[u] ^ 5 }`
        let code = vec![
            word(Op::Mov32, 1, IMM, 0, 0),
            word(Op::CsrBegin, 2, 0, 0, 0),
            word(Op::CsrEnd, 3, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 12),
            word(Op::LeU32, 4, 3, 2, 0),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::CsrTarget, 4, 2, 0, 0),
            word(Op::Ld32, 4, 4, 0, 0),
            word(Op::Xor32, 4, 4, IMM, 5),
            word(Op::Add32, 1, 1, 4, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 3),
            word(Op::St32, 0, 0, 1, 1 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let layout = Layout::new(
            (&program(code, 5), Allocation::Separate),
            room(200),
            &[4.0],
            4,
        )
        .unwrap();
        let words = layout.device_words();
        let at = |word: u32, part: u32| {
            let at = (word * abi::WORD_BYTES + part * 4) as usize;
            u32::from_le_bytes(words[at..at + 4].try_into().unwrap())
        };
        let kernel = layout.kernels[0];
        // The loop for parts of long ranges, two words before its body.
        assert_eq!(kernel.neighbors, 15);
        assert_eq!(at(15, 1) & 0xffff, 17);
        // Loads the target, its element, then the exclusive or.
        assert_eq!(at(19, 0) & 255, Op::Xor32 as u32);
        let start = layout.head.code_shared + kernel.code * abi::WORD_BYTES;
        let here = start + 19 * abi::WORD_BYTES;
        let place = at(19, 3).wrapping_add(here).wrapping_add(abi::FIXED);
        assert_eq!(place, layout.head.code_shared + 19 * abi::WORD_BYTES + 16);
        assert_eq!([4, 5, 6, 7].map(|part| at(19, part)), [5; 4]);
    }

    /// A search: `if dist[e.dst].compare_exchange(99, round + 1) { front.push(e.dst) }`, until its frontier is empty.
    fn search() -> Program {
        let round = UNIFORM_BASE;
        let code = vec![
            word(Op::Add32, 1, round, IMM, 1),
            word(Op::AtomCas32, 2, 0, round + 1, 1 << 16 | 1),
            word(Op::If, 0, 2, 0, 4),
            word(Op::Push, 0, 0, 0, 0),
            word(Op::EndIf, 0, 0, 0, 0),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let mut program = program(code, 3);
        let (fixpoint, frontier) = (FixpointId(0), FrontierId(0));
        program.kernels[0].item = ItemRows {
            dst: Some(0),
            ..ItemRows::default()
        };
        program.kernels[0].uniforms = vec![Uniform::Round, Uniform::Constant(ConstantId(0))];
        program.kernels.push(Kernel {
            name: "until".into(),
            code: vec![
                word(Op::Eq32, 0, UNIFORM_BASE, IMM, 0),
                word(Op::RetV, 0, 0, 0, 0),
            ],
            rows: 1,
            frames: 0,
            item: ItemRows::default(),
            uniforms: vec![Uniform::FrontierLen(frontier)],
            sites: vec![],
        });
        program.constants = vec![Constant {
            scalar: Scalar::U32,
            bits: 99,
        }];
        program.frontiers = vec![Frontier {
            name: "front".into(),
            fields: vec![],
            capacity: Extent::Nodes,
            unique: false,
            owner: Some(fixpoint),
        }];
        program.fixpoints = vec![Fixpoint {
            name: "levels".into(),
            parent: None,
            until: KernelId(1),
            condition: String::new(),
            max_rounds: 9,
            swaps: vec![],
            after: vec![],
            site: SiteId(0),
        }];
        program.waves[0].domain = Domain::EdgesFrom(TopologyId(0), frontier);
        program.waves[0].fixpoint = Some(fixpoint);
        program.schedule = vec![
            Step::Loop(fixpoint),
            Step::Wave(WaveId(0)),
            Step::Until(fixpoint),
            Step::End,
        ];
        program
    }

    fn run_of<'a>(program: &'a Program, turns: Vec<Option<Turn>>) -> Run<'a> {
        Run {
            program,
            code: 0,
            control: 0,
            buffers: vec![abi::Buffer::default(); program.buffers.len()],
            topologies: vec![abi::Topology::default(); program.topologies.len()],
            frontiers: vec![abi::Frontier::default(); program.frontiers.len()],
            records: vec![],
            fills: vec![],
            lens: vec![0; program.waves.len()],
            ranges: vec![Ranges::default(); program.waves.len()],
            turns,
            scalars: &[],
            nodes: 1_000,
            progress: 0,
            time_waves: false,
        }
    }

    /// A wave's entry in an image, and its place among those that are turned round.
    fn pull_in(layout: &Layout, image: &[u8]) -> (u32, [u32; 16]) {
        let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        let wave = layout.head.waves as usize + std::mem::offset_of!(abi::Wave, pull);
        let entry = std::array::from_fn(|i| word(layout.head.pulls as usize + 4 * i));
        (word(wave), entry)
    }

    #[test]
    fn searches_are_turned_round_where_the_run_says_how() {
        let mut program = search();
        let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
        assert_eq!(layout.pulls.len(), 1);
        assert_eq!(layout.pulls[0].topology, TopologyId(0));
        assert_eq!(layout.pulls[0].reverse, None);
        let image = layout.encode(&run_of(&program, vec![]));
        assert_eq!(pull_in(&layout, &image).0, NONE);
        let image = layout.encode(&run_of(&program, vec![None]));
        assert_eq!(pull_in(&layout, &image).0, NONE);
        let turn = Turn {
            bits: [512, 1_024],
            into: 0,
            most_degree: 77,
            least: 5,
        };
        let image = layout.encode(&run_of(&program, vec![Some(turn)]));
        let (at, entry) = pull_in(&layout, &image);
        assert_eq!(at, 0);
        // Bitmaps, the least edges; then the buffer, what is free and taken, by round; the topology and its degree.
        assert_eq!(entry[..6], [512, 0, 1_024, 0, 5, 0]);
        assert_eq!(entry[10..], [1, 99, 1, 1, 0, 77]);

        // The pass's own reverse is what is looked along.
        program.topologies.push(Topology {
            name: "back".into(),
            reverse_of: Some(TopologyId(0)),
        });
        let layout =
            Layout::new((&program, Allocation::Separate), room(200), &[4.0; 2], 4).unwrap();
        assert_eq!(layout.pulls[0].reverse, Some(TopologyId(1)));
    }

    #[test]
    fn rounds_with_more_than_a_search_in_them_are_not_turned_round() {
        // Another wave in the same rounds.
        let mut program = search();
        let mut other = program.waves[0].clone();
        other.domain = Domain::Nodes;
        other.kernel = KernelId(2);
        program.kernels.push(Kernel {
            code: vec![word(Op::Ret, 0, 0, 0, 0)],
            ..program.kernels[1].clone()
        });
        program.kernels.swap(1, 2);
        program.fixpoints[0].until = KernelId(2);
        other.kernel = KernelId(1);
        program.waves.push(other);
        program.schedule.insert(1, Step::Wave(WaveId(1)));
        program.schedule.insert(2, Step::Barrier);
        let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
        assert_eq!(layout.pulls.len(), 0);
        // A condition that wants to know how many items there are.
        let mut program = search();
        program.kernels[1].code[0].imm = 3;
        let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
        assert_eq!(layout.pulls.len(), 0);
        // A push that depends on more than the claim.
        let mut program = search();
        let push = program.kernels[0].code[3];
        program.kernels[0].code.insert(3, push);
        program.kernels[0].code[2].imm = 5;
        let layout = Layout::new((&program, Allocation::Separate), room(200), &[4.0], 4).unwrap();
        assert_eq!(layout.pulls.len(), 0);
    }

    /// An update of a session's topology has to upload the words again: sparse graphs have waves take more items at
    /// once, which are stashed before the code in shared memory, and words find uniforms relative to themselves.
    #[test]
    fn words_of_the_same_length_depend_on_the_degree_of_a_topology() {
        let program = search();
        let laid = |degree: f64| {
            let of = (&program, Allocation::Separate);
            Layout::new(of, room(200), &[degree], 4).unwrap()
        };
        let (sparse, denser) = (laid(1.0), laid(3.0));
        let between = |layout: &Layout| {
            let uniforms = layout.kernels[0].uniforms_shared;
            layout.head.code_shared - uniforms
        };
        assert_eq!(
            between(&sparse) - between(&denser),
            2 * abi::STASH_BYTES * abi::WARPS
        );
        let (before, after) = (sparse.device_words(), denser.device_words());
        assert_eq!(before.len(), after.len());
        // The first operand of the first word is a uniform; its immediate lies within the word.
        let operand = |words: &[u8], part: usize| {
            u32::from_le_bytes(words[4 * part..4 * part + 4].try_into().unwrap())
        };
        assert_eq!(
            operand(&after, 2).wrapping_sub(operand(&before, 2)),
            2 * abi::STASH_BYTES * abi::WARPS
        );
        assert_eq!(operand(&after, 3), operand(&before, 3));
        assert_eq!(before, laid(1.5).device_words());
    }

    #[test]
    fn code_that_does_not_fit_shared_memory_is_refused() {
        let mut code = vec![word(Op::Add32, 1, 0, IMM, 1); 8_000];
        code.push(word(Op::Ret, 0, 0, 0, 0));
        let refused = Layout::new(
            (&program(code, 2), Allocation::Separate),
            room(200),
            &[4.0],
            4,
        )
        .err();
        assert!(
            matches!(refused, Some(ImageError::Shared { needed, .. }) if needed > 8_000 * 32),
            "{refused:?}"
        );
    }
}
