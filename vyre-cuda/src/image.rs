//! A program as the megakernel reads it: the host's side of `abi`.
//!
//! [`Layout`] is worked out once per session and device: which items a lane each kernel takes, where its registers and
//! uniforms lie, what every barrier has to settle. [`Layout::encode`] writes the tables of one run. Everything here is
//! pure, so it is tested without a GPU.

mod form;
mod known;
mod rounds;
mod run;
mod schedule;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub(crate) use form::{Form, ITEMS_PER_LANE, item_rows_of};
pub(crate) use rounds::General;
pub(crate) use run::{Control, Ranges, Run, Slab, Turn, words_of};

use crate::abi::{self, NONE};
use crate::quick::{self, QuickWord};
use crate::shape::Shape;
use form::{Rows, barriers_order};
use run::{mark_of, value_of};
use thiserror::Error;
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::flow::effect;
use vyre_core::vir0::isa::Effect;
use vyre_core::vir0::module::{
    Domain, FixpointId, Kernel, Portion, Program, ReduceOp, Resource, TopologyId,
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
    /// Threads, and others of its kind on its multiprocessor.
    pub(crate) shape: Shape,
}

/// Shared memory for the rows of quick code at most, where more warps take part in rounds that a cluster holds.
const QUICK_ROWS_BYTES: u32 = 64 * 1024;
/// Shared memory that goes to registers at most, so that some is left for the L1 cache.
const REGISTER_BYTES: u32 = 160 * 1024;
/// Words of quick code at most, and the bytes of one.
const QUICK_WORDS: usize = 1024;
const QUICK_BYTES: u32 = 16;
/// Words of all maps of a pass at most; the code of others is not kept twice.
const MAP_WORDS: usize = 768;
/// Words of a map at most that compiled code does not take the place of.
const SHORT_MAP: usize = 12;
/// Staged uniforms of all kernels up to this size have places of their own.
const UNIFORMS_BYTES: u32 = 24 * 1024;

/// Bytes of control memory of one frontier: three counters by epoch, three by barrier, three for hubs, a line each.
pub(crate) const FRONTIER_CONTROL_BYTES: u64 = 9 * 128;

/// What does not change between the runs of a session.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// What it was made from, beside the program.
    degree: Vec<f64>,
    items_per_lane: u32,
    pub(crate) shape: Shape,
    /// By kernel, where items have no rows but those that bodies use.
    rows: Vec<Rows>,
    /// By kernel, what it is on the device, and what the device reads of that.
    pub(crate) forms: Vec<Form>,
    pub(crate) kernels: Vec<abi::Kernel>,
    waves: Vec<abi::Wave>,
    /// The program's, then those whose rounds are second flips of lists.
    fixpoints: Vec<abi::Fixpoint>,
    /// Those of all fixpoints, in their order.
    marks: Vec<abi::Mark>,
    steps: Vec<abi::Step>,
    /// By phase, the step that fills what its start is the time for; the barrier behind it is the next step. Where
    /// nothing shares memory, of the first phase only.
    fills: Vec<usize>,
    /// The steps that fill what begins anew with the rounds of a fixpoint, of those that have such; a barrier is the
    /// next step.
    refills: Vec<(FixpointId, usize)>,
    /// The step that packs what the lists of the result hold.
    packs: Option<usize>,
    lists: Vec<u32>,
    looked: (u32, u32),
    /// The image's head without a run's addresses.
    pub(crate) head: abi::Image,
    /// Dynamic shared memory of the launch.
    pub(crate) shared_bytes: u32,
    /// The topology that a frontier's items carry edge ranges of.
    pub(crate) swept_with: Vec<Option<u32>>,
    /// The code of the narrow rounds that are taken.
    quick_code: Vec<QuickWord>,
    /// Waves that may pull.
    pub(crate) pulls: Vec<Pulling>,
    /// Steps that end a fixpoint whose narrow rounds compiled passes keep on chip, with the items of a frontier that a
    /// CTA keeps; and why others go the general way.
    pub(crate) rounds: Vec<(usize, u32)>,
    pub(crate) general: Vec<(FixpointId, General)>,
}

/// A wave that may pull, as far as it does not depend on a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pulling {
    wave: usize,
    /// The topology that it sweeps, and the pass's own with the edges in.
    pub(crate) topology: TopologyId,
    pub(crate) reverse: Option<TopologyId>,
    entry: abi::Pull,
}

impl Layout {
    /// Lays a verified program out for a device. `degree`: average out-degree of each
    /// topology; `items_per_lane`: of a tile, at most.
    pub(crate) fn new(
        of: (&Program, Allocation),
        room: Room,
        degree: &[f64],
        items_per_lane: u32,
    ) -> Result<Layout, ImageError> {
        Layout::of(of, room, (degree, items_per_lane), None)
    }

    /// The same for the pass's own module, whose CTAs have another shape. Tables and code are as long and lie where they
    /// did; there are no rows but those that bodies use. Where lanes put values of several items together, a lane has as
    /// many items as here.
    pub(crate) fn shaped(
        &self,
        of: (&Program, Allocation),
        room: Room,
    ) -> Result<Layout, ImageError> {
        let made_from = (&*self.degree, self.items_per_lane);
        Layout::of(of, room, made_from, Some(self))
    }

    /// `like`: that of the interpreter, if it is for a module of another shape.
    fn of(
        (program, allocation): (&Program, Allocation),
        room: Room,
        (degree, items_per_lane): (&[f64], u32),
        like: Option<&Layout>,
    ) -> Result<Layout, ImageError> {
        let mut layout = Layout {
            degree: degree.to_vec(),
            items_per_lane,
            shape: room.shape,
            rows: Vec::new(),
            forms: Vec::new(),
            kernels: Vec::new(),
            waves: Vec::new(),
            fixpoints: Vec::new(),
            marks: Vec::new(),
            steps: Vec::new(),
            fills: Vec::new(),
            refills: Vec::new(),
            packs: None,
            lists: Vec::new(),
            looked: (0, 0),
            head: abi::Image::default(),
            shared_bytes: 0,
            swept_with: vec![None; program.frontiers.len()],
            quick_code: Vec::new(),
            pulls: Vec::new(),
            rounds: Vec::new(),
            general: Vec::new(),
        };
        for wave in &program.waves {
            if let (Some(t), Some(f)) = (wave.domain.topology(), wave.domain.frontier()) {
                layout.swept_with[f.index()].get_or_insert(t.0.into());
            }
        }
        for id in 0..program.kernels.len() {
            layout.kernel(program, id);
        }
        for wave in &program.waves {
            let topology = wave.domain.topology().map_or(NONE, |t| t.0.into());
            let swept = wave.domain.queue().map(|q| program.place_of(q) as u32);
            let narrow = match wave.domain {
                Domain::EdgesFrom(t, _) => {
                    let average = degree.get(t.index()).copied().unwrap_or(1.0);
                    (32.0 / average.max(1.0)).round().clamp(1.0, 32.0) as u32
                }
                _ => 1,
            };
            layout.waves.push(abi::Wave {
                len: 0,
                kernel: wave.kernel.0.into(),
                domain: wave.domain.tag().into(),
                topology,
                frontier: swept.unwrap_or(NONE),
                narrow,
                fresh: match (wave.domain.list(), wave.fixpoint) {
                    (Some((list, Portion::Last)), Some(f)) => 2 + mark_of(program, f, list),
                    (Some((_, portion)), _) => portion.goes_on().into(),
                    (None, _) => 0,
                },
                pull: NONE,
                ..Default::default()
            });
        }
        layout.schedule(program, allocation);
        layout.place(program, room, like)?;
        layout.find_rounds(program);
        Ok(layout)
    }

    /// The form of one kernel; registers and uniforms are placed later.
    fn kernel(&mut self, program: &Program, id: usize) {
        let (kernel, form) = (&program.kernels[id], Form::new(program, id));
        let map_buffers = form.map.as_ref().map_or(&[][..], |s| &s.buffers);
        let row = |r: Option<u8>| r.map_or(NONE, u32::from);
        let dynamic: Vec<u32> = (0u32..)
            .zip(&kernel.uniforms)
            .filter(|(_, u)| value_of(program, u, &[], 0).kind != abi::value::BITS)
            .map(|(slot, _)| slot)
            .collect();
        let described = abi::Kernel {
            code: self.words() as u32,
            words: kernel.code.len() as u32,
            rows: form.rows,
            index_row: row(kernel.item.index),
            src_row: row(kernel.item.src),
            dst_row: row(kernel.item.dst),
            item_row: form.item_row,
            value_count: kernel.uniforms.len() as u32,
            reduction_count: form.reductions.len() as u32,
            reductions: self.list(&form.reductions),
            dynamic_count: dynamic.len() as u32,
            dynamic: self.list(&dynamic),
            fields: self.list(&kernel.item.fields.map(row)),
            neighbors: form.neighbors,
            ahead_count: form.ahead.len() as u32 / 2,
            ahead: self.list(&form.ahead),
            stream_buffer_count: map_buffers.len() as u32,
            stream_buffers: self.list(map_buffers),
            tile: form.tile,
            origins: self.list(&form.origins),
            ..Default::default()
        };
        self.kernels.push(described);
        self.forms.push(form);
    }

    /// Words of all kernels.
    fn words(&self) -> usize {
        self.forms.iter().map(|form| form.words.len()).sum()
    }

    /// By accumulator of a kernel, its reduction: one for each 32 words of it.
    pub(crate) fn reductions_of(&self, kernel: &abi::Kernel) -> &[u32] {
        &self.lists[kernel.reductions as usize..][..kernel.reduction_count as usize]
    }

    /// Appends a list and returns the index of its first element.
    fn list(&mut self, values: &[u32]) -> u32 {
        let at = self.lists.len() as u32;
        self.lists.extend(values);
        at
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
            let quick = self.forms[kernel].quick.as_ref();
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
        like: Option<&Layout>,
    ) -> Result<(), ImageError> {
        let (available, all_warps) = (room.shared_bytes, room.shape.warps());
        let bytes = |k: &abi::Kernel| k.value_count * abi::UNIFORM_BYTES;
        let all: u32 = self.kernels.iter().map(bytes).sum();
        let own = all <= UNIFORMS_BYTES;
        self.choose_quick(program, own);
        if like.is_some() {
            // Bodies have no rows of quick code.
            for kernel in &mut self.kernels {
                (kernel.quick_fill_count, kernel.quick_dynamic) = (0, 0);
            }
        }
        let head = &mut self.head;
        head.per_multiprocessor = room.shape.ctas();
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
        let queues = program.queues().count();
        head.frontiers = table(queues * size_of::<abi::Frontier>());
        head.records = table(records_of(program).count() * size_of::<abi::Record>());
        head.reductions = table(program.reductions.len() * size_of::<abi::Reduction>());
        head.fixpoints = table(size_of_val(self.fixpoints.as_slice()));
        head.marks = table(self.marks.len() * size_of::<abi::Mark>());
        head.lists = table(size_of_val(self.lists.as_slice()));
        head.pulls = table(self.pulls.len() * size_of::<abi::Pull>());
        // At most one fill a buffer, one for a frontier's stamps, and one for a bitmap; and where lists are packed.
        let fills = program.buffers.len() + queues + 1 + usize::from(self.packs.is_some());
        head.fills = table(fills * size_of::<abi::Fill>());
        head.tables_bytes = at;
        head.kernel_count = self.kernels.len() as u32;
        head.buffer_count = program.buffers.len() as u32;
        head.fixpoint_count = program.fixpoints.len() as u32;
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
        let (mut rows, mut is_quick) = (0, false);
        for (kernel, form) in self.kernels.iter_mut().zip(&self.forms) {
            let taken = form.quick.as_ref().filter(|_| kernel.quick_slots != 0);
            let taken = taken.map_or(0, |quick| quick.rows);
            is_quick |= taken != 0;
            kernel.quick_rows = if like.is_some() { 0 } else { taken };
            rows += kernel.quick_rows;
        }
        let fits = |&warps: &u32| {
            room.clusters && warps <= all_warps && rows * 128 * warps <= QUICK_ROWS_BYTES
        };
        let warps = [abi::CLUSTER_WARPS, abi::CLUSTER_WARPS / 2]
            .into_iter()
            .find(fits);
        let warps = warps.unwrap_or(abi::QUICK_WARPS);
        self.head.quick_warps = if is_quick { warps } else { 0 };
        for kernel in self.kernels.iter_mut().filter(|k| k.quick_rows != 0) {
            kernel.quick_shared = at;
            at += kernel.quick_rows * 128 * warps;
        }
        quick::place(&mut self.quick_code, self.head.buffers);
        let mut words = self.words();
        let head = &mut self.head;
        let partials = self.kernels.iter().map(|k| k.reduction_count).max();
        head.partials_shared = at;
        at += partials.unwrap_or(0) * abi::WARPS * 8;
        head.stash_shared = at;
        let pushes = |k: &Kernel| k.code.iter().any(|w| effect(w) == Effect::Push);
        let mut waves = program.waves.iter().zip(&self.waves);
        let many = waves.any(|(wave, described)| {
            matches!(wave.domain, Domain::EdgesFrom(..)) && described.narrow >= abi::MORE_ITEMS
        });
        head.stash_bytes = abi::STASH_BYTES * if many { 3 } else { 1 };
        if program.kernels.iter().any(pushes) {
            head.stash_bytes += abi::STAGING_BYTES;
        }
        at += all_warps * head.stash_bytes;
        at = at.next_multiple_of(128);
        let quick = self.quick_code.len() as u32 * QUICK_BYTES;
        let most = words + MAP_WORDS;
        for (kernel, form) in self.kernels.iter_mut().zip(&mut self.forms) {
            kernel.stream = words as u32;
            form.map.take_if(|s| words + s.code.len() > most);
            words += form.map.as_ref().map_or(0, |s| s.code.len());
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
        for kernel in self.kernels.iter_mut().filter(|k| k.quick_slots != 0) {
            kernel.quick += at + code_bytes;
        }
        at += head.code_bytes;
        at = at.next_multiple_of(128);
        head.registers_shared = at;

        // Registers.
        let most = available.saturating_sub(at).min(REGISTER_BYTES);
        let waves = program.waves.len();
        let mut used = 0;
        for (i, (kernel, form)) in self.kernels.iter_mut().zip(&mut self.forms).enumerate() {
            let refused = |bytes| ImageError::Shared {
                needed: at + bytes,
                available,
            };
            let shares = match like.map(|like| &like.kernels[i]) {
                None => {
                    let items = if i < waves { self.items_per_lane } else { 1 };
                    form.shares(program.kernels[i].frames, items, most)
                }
                Some(other) => {
                    let rows = Rows::of_bodies(program, i, form, other.k);
                    kernel.item_row = rows.item_row;
                    if let Some(lift) = &rows.lift {
                        form.move_lift(lift);
                    }
                    let warps = if i < waves { all_warps } else { 1 };
                    let all = (other.k, other.stream_k);
                    let shares = form.shares_of(rows.rows, all, (warps, most));
                    self.rows.push(rows);
                    shares
                }
            };
            let shares = shares.map_err(refused)?;
            kernel.k = shares.items;
            kernel.stream_k = shares.map_items;
            kernel.warps = shares.warps;
            kernel.warp_bytes = shares.warp_bytes;
            kernel.accumulators = shares.accumulators;
            let warps = if i < waves { shares.warps } else { 1 };
            used = used.max(shares.warp_bytes * warps);
        }
        if like.is_some_and(|like| !like.rounds.is_empty()) {
            // What these keep lies there.
            used = used.max(rounds::ROOM_BYTES.min(most));
        }
        self.shared_bytes = at + used;
        Ok(())
    }

    /// The row in which a fault of a kernel finds the index that an item has in this one.
    pub(crate) fn fault_row(&self, kernel: usize, row: u8) -> u32 {
        let own = self.rows.get(kernel).and_then(|rows| rows.fault_row);
        own.unwrap_or(row.into())
    }

    /// Where a neighbour loop that is shared out keeps one of its rows.
    pub(crate) fn lift_row(&self, kernel: usize, row: u8) -> u8 {
        let moved = self.rows.get(kernel).and_then(|rows| rows.lift.as_ref());
        let mut moved = moved.into_iter().flatten();
        moved.find(|(of, _)| *of == row).map_or(row, |&(_, at)| at)
    }

    /// Warps of a CTA that take part in narrow rounds at most; 0: no wave has such.
    pub(crate) fn quick_warps(&self) -> u32 {
        self.head.quick_warps
    }

    /// Whether it has narrow rounds, of one wave or of several.
    pub(crate) fn is_narrow(&self) -> bool {
        self.quick_warps() > 0 || !self.rounds.is_empty()
    }

    /// Whether sweeps of a kernel go by its map in the pass's own module, too. What has few words waits for memory, and
    /// a map has more items on their way.
    pub(crate) fn stays_map(&self, kernel: usize) -> bool {
        let map = self.forms[kernel].map.as_ref();
        self.kernels[kernel].stream_k != 0 && map.is_some_and(|m| m.code.len() <= SHORT_MAP)
    }

    /// Buffers of which a kernel's items load their own elements, with the elements' sizes in bytes.
    pub(crate) fn ahead(&self, kernel: usize) -> impl Iterator<Item = (u16, u32)> + use<'_> {
        let kernel = &self.kernels[kernel];
        let lists = &self.lists[kernel.ahead as usize..];
        let pairs = lists.chunks(2).take(kernel.ahead_count as usize);
        pairs.map(|pair| (pair[0] as u16, pair[1]))
    }

    /// Items of a wave that one warp takes at once.
    pub(crate) fn tile(&self, wave: usize) -> u32 {
        32 * self.kernels[self.waves[wave].kernel as usize].k
    }

    /// Waves of the pass.
    pub(crate) fn wave_count(&self) -> usize {
        self.waves.len()
    }

    /// The topology whose long edge ranges a wave's neighbour loop meets.
    pub(crate) fn ranges_of(&self, wave: usize) -> Option<u16> {
        self.forms[wave].ranges
    }

    /// Size of [`Layout::device_words`].
    pub(crate) fn code_bytes(&self) -> u64 {
        self.head.code_bytes.into()
    }

    /// Whether the pass gives lists, whose items a run may pack.
    pub(crate) fn packs_lists(&self) -> bool {
        self.packs.is_some()
    }

    /// Size of the tables.
    pub(crate) fn tables_bytes(&self) -> u64 {
        self.head.tables_bytes.into()
    }
}

/// The device's number of the queue that this is, if it is one.
pub(crate) fn queue_number(program: &Program, resource: Resource) -> Option<u32> {
    match resource {
        Resource::Queue(q) => Some(program.place_of(q) as u32),
        Resource::Topology(_) | Resource::Buffer(_) | Resource::Reduction(_) => None,
    }
}

/// Fields of the items of queues that are not nodes, with the device's number.
pub(crate) fn records_of(program: &Program) -> impl Iterator<Item = (u32, &[Scalar])> {
    let queues = (0u32..).zip(program.queues());
    let fields = queues.map(|(number, (_, q))| (number, q.fields.as_slice()));
    fields.filter(|(_, fields)| !fields.is_empty())
}

/// `op * 8 + scalar`, as the device switches on it.
fn reduction_kind(op: ReduceOp, scalar: Scalar) -> u32 {
    u32::from(op.tag()) * 8 + u32::from(scalar.tag())
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
