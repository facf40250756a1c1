//! A program as the megakernel reads it: the host's side of `abi`.
//!
//! [`Layout`] is worked out once per session and device: which items a lane each kernel takes, where its registers and
//! uniforms lie, what every barrier has to settle. [`Layout::encode`] writes the tables of one run. Everything here is
//! pure, so it is tested without a GPU.

mod known;
mod rounds;
mod run;
mod schedule;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub(crate) use rounds::General;
pub(crate) use run::{Control, Ranges, Run, Turn, words_of};

use crate::abi::{self, NONE};
use crate::map::{self, MapCode};
use crate::neighbor_loop;
use crate::quick::{self, Quick, QuickWord};
use crate::tile;
use run::value_of;
use thiserror::Error;
use vyre_core::plan::footprint::Allocation;
use vyre_core::vir0::flow::{Rows, effect, live_in, op, rows_of, uses, writes};
use vyre_core::vir0::isa::{Effect, Faults, Imm, Op, Slot, Word};
use vyre_core::vir0::module::{
    Domain, FixpointId, Kernel, Program, ReduceOp, Resource, Role, TopologyId,
};
use vyre_core::vir0::scalar::Scalar;
use words::device_code;

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
/// Words of a map at most that compiled code does not take the place of.
const SHORT_MAP: usize = 12;
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
    pub(crate) head: abi::Image,
    /// Dynamic shared memory of the launch.
    pub(crate) shared_bytes: u32,
    /// The topology that a frontier's items carry edge ranges of.
    pub(crate) swept_with: Vec<Option<u32>>,
    /// By wave, the topology whose long edge ranges its neighbour loop meets.
    pub(crate) ranges_of: Vec<Option<u16>>,
    /// Words of the code that stand for lifted loops whose turns are steps.
    lifted: Vec<usize>,
    /// By kernel, its code as a map.
    maps: Vec<Option<MapCode>>,
    /// By wave, the code of its narrow rounds; and that code, as far as it was taken.
    quick: Vec<Option<Quick>>,
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

/// What barriers between narrow rounds of a kernel have to order: its stores, and its plain loads of what may change.
/// Exchanges happen where all see them, and those whose results are needed have come back. Others a compiler may send off
/// without waiting, so they count as stores. What is pushed the barrier settles itself.
fn barriers_order(program: &Program, kernel: &Kernel) -> u32 {
    let (live, needed) = (live_in(&kernel.code), needed(&kernel.code));
    let of = |(pc, word): (usize, &Word)| match effect(word) {
        Effect::Store | Effect::AtomicStore | Effect::Reserve | Effect::Field | Effect::Reduce => {
            abi::QUICK_WRITES
        }
        Effect::Load => match program.buffers[usize::from(word.resource())].role {
            Role::Topology | Role::Input => 0,
            Role::Output | Role::Scratch | Role::InOut => abi::QUICK_READS,
        },
        Effect::Update | Effect::Exchange => {
            let result = rows_of(op(word).row().d, word.d);
            match result.meets(live[pc + 1]) && result.meets(needed) {
                true => 0,
                false => abi::QUICK_WRITES,
            }
        }
        Effect::Push | Effect::AtomicLoad | Effect::Ask => 0,
        Effect::No | Effect::RowLoad | Effect::RowStore | Effect::RowFill => 0,
        Effect::Open | Effect::Turn | Effect::Close => 0,
        Effect::MayLeave | Effect::Leave | Effect::End => 0,
    };
    kernel
        .code
        .iter()
        .enumerate()
        .map(of)
        .fold(0, |all, of| all | of)
}

/// Rows of which some word needs a value: one that does more than write rows, or whose own result is needed.
fn needed(code: &[Word]) -> Rows {
    let does_more = |word: &Word| {
        let row = op(word).row();
        word.names().is_some() || row.d == Slot::N || row.faults != Faults::No
    };
    let mut all = Rows::NONE;
    loop {
        let needs = |w: &&Word| does_more(w) || writes(w).meets(all);
        let more = code
            .iter()
            .filter(needs)
            .fold(all, |rows, w| rows.or(uses(w)));
        if more == all {
            return all;
        }
        all = more;
    }
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
            lifted: Vec::new(),
            maps: Vec::new(),
            quick: Vec::new(),
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
        for kernel in &program.kernels {
            layout.kernel(program, kernel);
        }
        for wave in &program.waves {
            let topology = wave.domain.topology().map_or(NONE, |t| t.0.into());
            let frontier = wave.domain.frontier().map(|f| f.0.into());
            let list = wave.domain.list();
            let swept = frontier.or(list.map(|(l, _)| list_number(program, l.0)));
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
                fresh: list.is_some_and(|(_, new)| new).into(),
                pull: NONE,
                ..Default::default()
            });
        }
        layout.schedule(program, allocation);
        layout.place(program, room, items_per_lane)?;
        layout.find_rounds(program);
        Ok(layout)
    }

    /// Words and row use of one kernel; registers and uniforms are placed later.
    fn kernel(&mut self, program: &Program, kernel: &Kernel) {
        let is_wave = self.kernels.len() < program.waves.len();
        // Each has as many consecutive accumulators as hold its words.
        let mut reductions = Vec::new();
        for word in &kernel.code {
            let id = u32::from(word.resource());
            if effect(word) == Effect::Reduce && !reductions.contains(&id) {
                let words = words_of(&program.reductions[id as usize]);
                reductions.extend((0..words.div_ceil(32)).map(|_| id));
            }
        }
        let faults = kernel.code.iter().any(|w| op(w).row().faults != Faults::No);
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
            own_loads(program, kernel)
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
            if kernel.code[lift.at].counts() {
                self.lifted.push(self.code.len() + lift.at);
            }
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
        let pushes = |k: &Kernel| k.code.iter().any(|w| effect(w) == Effect::Push);
        let mut waves = program.waves.iter().zip(&self.waves);
        let many = waves.any(|(wave, described)| {
            matches!(wave.domain, Domain::EdgesFrom(..)) && described.narrow >= abi::MORE_ITEMS
        });
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

    /// Whether sweeps of a kernel go by its map in the pass's own module, too. What has few words waits for memory, and
    /// a map has more items on their way.
    pub(crate) fn stays_map(&self, kernel: usize) -> bool {
        let map = self.maps[kernel].as_ref();
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

    /// Size of [`Layout::device_words`].
    pub(crate) fn code_bytes(&self) -> u64 {
        self.head.code_bytes.into()
    }

    /// Size of the tables.
    pub(crate) fn tables_bytes(&self) -> u64 {
        self.head.tables_bytes.into()
    }
}

/// Rows that a kernel may have without its tiles getting smaller on a large GPU.
fn most_rows(rows: u32) -> u32 {
    let of = |items: u32| REGISTER_BYTES / (abi::WARPS * 128 * items);
    let most = [ITEMS_PER_LANE, 2, 1].into_iter().map(of);
    most.filter(|&most| rows <= most).min().unwrap_or(rows)
}

/// The buffers that a kernel loads the element of its item's number from, each with the size of one.
fn own_loads(program: &Program, kernel: &Kernel) -> Vec<u32> {
    let Some(index) = kernel.item.index else {
        return Vec::new();
    };
    if kernel.code.iter().any(|w| writes(w).has(index)) {
        return Vec::new();
    }
    let mut loads: Vec<u32> = Vec::new();
    let by_number = |w: &&Word| effect(w) == Effect::Load && w.a == index;
    for word in kernel.code.iter().filter(by_number) {
        let buffer = word.resource();
        if !loads.chunks(2).any(|l| l[0] == u32::from(buffer)) {
            let size = program.buffers[usize::from(buffer)].scalar.size_bytes();
            loads.extend([buffer.into(), size as u32]);
        }
    }
    loads
}

/// The device's number of a list: after the frontiers.
pub(crate) fn list_number(program: &Program, list: u16) -> u32 {
    program.frontiers.len() as u32 + u32::from(list)
}

/// The device's number of the frontier or list that this is, if it is one.
pub(crate) fn queue_number(program: &Program, resource: Resource) -> Option<u32> {
    match resource {
        Resource::Frontier(f) => Some(f.0.into()),
        Resource::List(l) => Some(list_number(program, l.0)),
        Resource::Topology(_) | Resource::Buffer(_) | Resource::Reduction(_) => None,
    }
}

/// Fields of the items that are not nodes: of frontiers, then of lists; with the device's number.
pub(crate) fn records_of(program: &Program) -> impl Iterator<Item = (u32, &[Scalar])> {
    let frontiers = program.frontiers.iter().map(|f| f.fields.as_slice());
    let lists = program.lists.iter().map(|l| l.fields.as_slice());
    (0u32..)
        .zip(frontiers.chain(lists))
        .filter(|(_, fields)| !fields.is_empty())
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
