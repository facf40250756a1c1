//! A session's state on the CPU, and the driver that follows the schedule over it.
//!
//! Both CPU backends share it: the native executor borrows buffers through `RefCell`s once per sweep (so the macros' glue
//! stays safe Rust), the interpreter owns it while it sweeps. A round of sweeps on one thread allocates nothing.

use crate::dsl::csr::Csr;
use crate::dsl::{Bits, Room};
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::dsl::columns::{Column, Element, Slice, SliceMut};
use crate::dsl::error::RunError;
use crate::dsl::fault::Fault;
use crate::dsl::record::{Record, Rows};
use crate::plan::compact::{self, CompactError, Slot};
use crate::plan::footprint::Allocation;
use crate::plan::lives::{self, Life};
use crate::plan::pull::{self, Claim};
use crate::plan::route::{self, Route};
use crate::plan::session::Counters;
use crate::plan::thresholds::Thresholds;
use crate::run::args::{
    Args, TopologyArgs, check_columns, no_memory_for as no_memory_for_graph, resolve_topologies,
};
use crate::run::backend::{Progress, Sweeps};
use crate::run::outcome::{Activity, Outcome, Readback, Report, WaveTime};
use crate::vir0::group::{ended_at, groups_of};
use crate::vir0::isa::{Imm, Kind, Op, Slot as Operand, Word};
use crate::vir0::module::{
    Buffer, BufferId, Domain, FixpointId, FrontierId, Kernel, KernelId, ListId, Program,
    ReductionId, Resource, Role, Step, Topology, TopologyId, Uniform, Wave, WaveId,
};
use crate::vir0::sizes::Sizes;
use crate::vir0::subject::{Failed, Seen, item_type, subject_of, unfinished};
use crate::vir0::trap::{Site, Trap, TrapKind, WHOLE_WAVE};

/// Everything a session owns on the CPU.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) program: Arc<Program>,
    pub(crate) graphs: Vec<Arc<Graph>>,
    pub(crate) sizes: Sizes,
    pub(crate) buffers: Vec<RefCell<Held>>,
    /// By buffer: a topology's rows of bits, where lanes see them as such. The buffer itself has no elements then.
    pub(crate) rows: Vec<Option<Arc<Bits>>>,
    pub(crate) frontiers: Vec<Frontier>,
    pub(crate) lists: Vec<List>,
    /// By wave: how much of its list it has swept, where it sweeps what is new.
    swept: Vec<Cell<usize>>,
    pub(crate) reductions: Vec<Cell<u64>>,
    /// By wave: what its sweep needs to be turned round, where that is allowed.
    pub(crate) pulls: Vec<Option<RefCell<Pull>>>,
    /// By wave: the buffers where its lanes look at their ends.
    pub(crate) looks: Vec<Looks>,
    /// By wave: the route of its last sweep, or what it starts with.
    routes: Vec<Cell<Route>>,
    /// By wave: no result shows the order in which it takes the items of its frontier.
    may_order: Vec<bool>,
    /// Brings lists into the order of the nodes.
    bitmap: Bitmap,
    /// Scratch of the edge partition.
    pub(crate) cuts: RefCell<Vec<Cut>>,
    /// Where each buffer's contents belong when no swap is pending.
    home: Vec<usize>,
    /// Most elements that each buffer had.
    most: Vec<usize>,
    /// When temporaries come and go; `None`: they stay.
    lives: Option<Lives>,
    /// Most bytes that were held at once in the last run.
    peak_bytes: u64,
    /// Bytes that the caller lends the run.
    lent_bytes: u64,
    faults: RefCell<Option<Box<Pending>>>,
    /// Bytes that there was no memory for in a sweep, beside what is pushed and appended.
    starved_bytes: Cell<u64>,
    /// What this store did. Launches and fences are its executor's to count.
    pub(crate) counts: Counters,
    activity: Activity,
    /// Sweeps of this run that threads shared.
    pub(crate) shared: Cell<u64>,
    pub(crate) progress: Arc<Progress>,
    /// Items of sweeps, rounds and turns of loops in bytecode that a run may take.
    pub(crate) most_work: u64,
    /// What of it is left.
    work_left: u64,
    /// Items from which a sweep uses all threads.
    pub(crate) parallel_from: u64,
    /// How sweeps over frontiers go.
    pub(crate) sweeps: Sweeps,
    /// Results up to this size share a slab.
    pub(crate) pack_up_to_bytes: u64,
    /// Sweeps are timed.
    pub(crate) time_waves: bool,
    /// Those of the run, by wave, where they are.
    wave_times: Vec<WaveTime>,
}

/// A buffer's contents.
#[derive(Debug)]
pub(crate) enum Held {
    /// Of this store alone.
    Own(Column),
    /// A topology's, for all stores of a session.
    Shared(Arc<Column>),
}

impl Deref for Held {
    type Target = Column;

    #[inline]
    fn deref(&self) -> &Column {
        match self {
            Held::Own(column) => column,
            Held::Shared(column) => column,
        }
    }
}

impl DerefMut for Held {
    #[inline]
    fn deref_mut(&mut self) -> &mut Column {
        match self {
            Held::Own(column) => column,
            Held::Shared(_) => unreachable!("verified code does not write a topology's buffer"),
        }
    }
}

/// When scratch buffers and frontiers live, by barrier group (`None`: never).
#[derive(Debug)]
struct Lives {
    buffers: Vec<Option<(u32, u32)>>,
    frontiers: Vec<Option<(u32, u32)>>,
    /// Which buffers have memory.
    here: Vec<bool>,
}

impl Lives {
    fn of(program: &Program) -> Lives {
        let span = |life: &Life| match *life {
            Life::Groups { first, last } => Some((first, last)),
            Life::Run => Some((0, u32::MAX)),
            Life::Never => None,
        };
        let lives = lives::Lives::of(program);
        Lives {
            buffers: lives.buffers.iter().map(span).collect(),
            frontiers: lives.frontiers.iter().map(span).collect(),
            here: vec![false; program.buffers.len()],
        }
    }
}

fn lives_in(life: Option<(u32, u32)>, group: u32) -> bool {
    life.is_some_and(|(first, last)| (first..=last).contains(&group))
}

/// A topology and what sweeps need to know about it.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) csr: Csr,
    pub(crate) max_degree: u32,
    mean_degree: u64,
    /// It does not fit in a cache.
    pub(crate) far: bool,
    /// Most edges lead to nodes of lower numbers.
    pub(crate) leads_down: bool,
    /// It is its own reverse.
    symmetric: OnceLock<bool>,
    /// Edges that were swept while that was not known and would have been good to know.
    missed: AtomicU64,
}

/// A sweep over a frontier's edges that pulls where that looks at fewer edges; see [`crate::plan::pull`].
#[derive(Debug)]
pub(crate) struct Pull {
    claim: Claim,
    /// The topology with the edges in, if the pass has one.
    into: Option<TopologyId>,
    /// The frontier, a bit a node.
    pub(crate) front: Vec<u64>,
    /// Nodes that are known to be claimed.
    pub(crate) done: Vec<u64>,
    /// Edges out of the frontiers of this fixpoint so far.
    explored: u64,
    /// Those of them that lead out of nodes which `done` does not know.
    unknown: u64,
    /// Sweeps of this run that pulled.
    turned: u64,
}

impl Pull {
    /// A search goes on by pushing until its frontier has one in so many of the edges that are left.
    const SHARE: u64 = 14;
    /// And one for so many nodes: each of them has to be asked whether it waits.
    const NODES: u64 = 4;
    /// Fewer items are not worth a thought.
    const FEW: usize = 256;

    fn all(program: &Program) -> Vec<Option<RefCell<Pull>>> {
        let of = |wave| {
            let claim = pull::claim(program, wave)?;
            let Domain::EdgesFrom(topology, _) = wave.domain else {
                return None;
            };
            Some(RefCell::new(Pull {
                claim,
                into: pull::reverse(program, topology),
                front: Vec::new(),
                done: Vec::new(),
                explored: 0,
                unknown: 0,
                turned: 0,
            }))
        };
        program.waves.iter().map(of).collect()
    }

    /// The edges in, if this round should look at them. Then `front` and `done` are up to date.
    pub(crate) fn turn<'g>(
        &mut self,
        graphs: &'g [Arc<Graph>],
        topology: TopologyId,
        items: &[u32],
        round: u32,
    ) -> Option<&'g Csr> {
        let graph = &graphs[topology.index()];
        if round == 0 {
            (self.explored, self.unknown) = (0, 0);
            self.done.clear();
        }
        let most = items.len() as u64 * u64::from(graph.max_degree);
        let few = |pull: &mut Pull| {
            let here = most.min(items.len() as u64 * graph.mean_degree);
            pull.explored += here;
            pull.unknown += here;
            None
        };
        if items.len() < Self::FEW {
            return few(self);
        }
        let (all, nodes) = (graph.csr.edge_count() as u64, graph.csr.node_count() as u64);
        let wanted = (all.saturating_sub(self.explored) / Self::SHARE).max(nodes / Self::NODES);
        if most < wanted {
            return few(self);
        }
        let degree = |&v: &u32| u64::from(graph.csr.degree(v));
        let here: u64 = items.iter().map(degree).sum();
        let dense = here > wanted && here > self.unknown && self.claim.holds_in(round);
        self.explored += here;
        let into = match self.into {
            _ if !dense => None,
            Some(into) => Some(&graphs[into.index()]),
            None => graph.is_symmetric(here).then_some(graph),
        };
        let Some(into) = into else {
            self.unknown += here;
            return None;
        };
        let words = nodes.div_ceil(64) as usize;
        let room = |bits: &mut Vec<u64>| {
            bits.try_reserve_exact(words.saturating_sub(bits.len()))
                .is_ok()
        };
        self.front.clear();
        if !(room(&mut self.done) && room(&mut self.front)) {
            self.unknown += here;
            return None;
        }
        self.done.resize(words, 0);
        self.front.resize(words, 0);
        for &v in items {
            self.front[v as usize / 64] |= 1 << (v % 64);
        }
        // In round 0 the items are somebody else's.
        if round > 0 {
            for (done, front) in self.done.iter_mut().zip(&self.front) {
                *done |= front;
            }
        } else {
            self.unknown += here;
        }
        self.turned += 1;
        Some(&into.csr)
    }
}

/// The buffers whose elements a wave over edges takes at the edge's source, destination and number, as its code says. It is
/// a hint: they are asked for before lanes need them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    pub(crate) src: Vec<BufferId>,
    pub(crate) dst: Vec<BufferId>,
    pub(crate) index: Vec<BufferId>,
}

impl Looks {
    fn all(program: &Program) -> Vec<Looks> {
        let of = |wave: &Wave| {
            let mut looks = Looks::default();
            let kernel = &program.kernels[wave.kernel.index()];
            if !matches!(wave.domain, Domain::EdgesFrom(..)) {
                return looks;
            }
            for word in &kernel.code {
                let row = Op::from_code(word.op).map(Op::row);
                let Some((Imm::Resource(of) | Imm::ResourceThird(of), Operand::W)) =
                    row.map(|row| (row.imm, row.a))
                else {
                    continue;
                };
                let buffers = [Kind::Buffer8, Kind::Buffer32, Kind::Buffer64];
                if !buffers.contains(&of) && !matches!(of, Kind::BufferOf(_)) {
                    continue;
                }
                let (item, buffer) = (&kernel.item, BufferId(word.resource()));
                for (row, list) in [
                    (item.src, &mut looks.src),
                    (item.dst, &mut looks.dst),
                    (item.index, &mut looks.index),
                ] {
                    if row == Some(word.a) && !list.contains(&buffer) {
                        list.push(buffer);
                    }
                }
            }
            looks
        };
        program.waves.iter().map(of).collect()
    }
}

/// What each wave starts with before somebody plans.
fn routes(program: &Program) -> Vec<Cell<Route>> {
    let start = Sweeps::default().start;
    program.waves.iter().map(|_| Cell::new(start)).collect()
}

/// A bit for each node.
#[derive(Debug, Default)]
struct Bitmap {
    words: Vec<AtomicU64>,
}

impl Bitmap {
    /// Words that a thread turns into items at a time.
    const BLOCK: usize = 1024;

    /// Brings a list into the order of the nodes. False, and no change, where it is in that order, or holds a node twice.
    /// The same where there is no memory.
    fn order(&mut self, items: &mut Vec<u32>, nodes: usize, shared: bool) -> bool {
        if items.is_sorted() {
            return false;
        }
        self.words.clear();
        let words = nodes.div_ceil(64);
        if self.words.try_reserve_exact(words).is_err() {
            return false;
        }
        self.words.resize_with(words, AtomicU64::default);
        if shared {
            let words = &self.words;
            items.par_iter().for_each(|&v| {
                words[v as usize / 64].fetch_or(1 << (v % 64), Relaxed);
            });
            let blocks = words.par_chunks(Self::BLOCK);
            let (mut counts, mut parts) = (Vec::new(), Vec::new());
            let starved = counts.try_reserve_exact(blocks.len()).is_err()
                || parts.try_reserve_exact(blocks.len()).is_err();
            if starved {
                return false;
            }
            blocks.clone().map(ones).collect_into_vec(&mut counts);
            if counts.iter().sum::<usize>() < items.len() {
                return false;
            }
            let mut rest = &mut items[..];
            for count in counts {
                let (part, after) = rest.split_at_mut(count);
                parts.push(part);
                rest = after;
            }
            let parts = parts.into_par_iter().zip(blocks.enumerate());
            parts.for_each(|(part, block)| {
                for (item, v) in part.iter_mut().zip(nodes_of(block)) {
                    *item = v;
                }
            });
        } else {
            for &v in &*items {
                *self.words[v as usize / 64].get_mut() |= 1 << (v % 64);
            }
            if ones(&self.words) < items.len() {
                return false;
            }
            items.clear();
            let blocks = self.words.chunks(Self::BLOCK).enumerate();
            items.extend(blocks.flat_map(nodes_of));
        }
        true
    }
}

/// How many bits are set.
fn ones(words: &[AtomicU64]) -> usize {
    let ones = words.iter().map(|w| w.load(Relaxed).count_ones() as usize);
    ones.sum()
}

/// The nodes of a block of words.
fn nodes_of((block, words): (usize, &[AtomicU64])) -> impl Iterator<Item = u32> + '_ {
    let words = (block * Bitmap::BLOCK..).zip(words);
    words.flat_map(|(at, word)| Ones {
        word: word.load(Relaxed),
        first: at as u32 * 64,
    })
}

/// The numbers of the bits that are set.
struct Ones {
    word: u64,
    first: u32,
}

impl Iterator for Ones {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.word == 0 {
            return None;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.first + bit)
    }
}

/// A position in the edges out of a list of nodes: `edges` edges into the node at `item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) item: usize,
    pub(crate) edges: u32,
}

/// A frontier: what is swept, and what was pushed since the last flip.
#[derive(Debug)]
pub(crate) struct Frontier {
    pub(crate) items: RefCell<Vec<u32>>,
    pub(crate) next: RefCell<Vec<u32>>,
    /// Items that are not nodes.
    pub(crate) records: Option<Records>,
    /// Pushes that did not fit.
    pub(crate) refused: Cell<u64>,
    /// There was no memory for some of them.
    pub(crate) starved: Cell<bool>,
    pub(crate) capacity: usize,
    /// Of a unique frontier: the stamp of each node when it was pushed last ([`crate::dsl::Seen`]).
    pub(crate) stamps: Option<Arc<Vec<AtomicU32>>>,
    /// The round's first stamp.
    pub(crate) stamp: Cell<u32>,
    /// Stamps of the round that are taken.
    pub(crate) taken: Cell<u32>,
    /// For what the chunks of a sweep push each on their own.
    pub(crate) room: Arc<Room>,
    owned: bool,
    /// Items that both lists have memory for.
    allocated: usize,
}

/// The items of a frontier that are not nodes.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) items: RefCell<Rows>,
    pub(crate) next: RefCell<Rows>,
}

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    /// What sweeps see.
    pub(crate) items: RefCell<Rows>,
    /// What the native sweep that is running appended while it has the items, in blocks: what is moved from here to the items
    /// is not there twice.
    pending: RefCell<Vec<Rows>>,
    /// Appends that did not fit.
    pub(crate) refused: Cell<u64>,
    /// There was no memory for some of them.
    pub(crate) starved: Cell<bool>,
    pub(crate) capacity: usize,
    /// For what the chunks of a sweep append each on their own.
    pub(crate) room: Arc<Room>,
    /// Items that it has memory for.
    allocated: usize,
    /// Its memory came with the run: whoever gave it knows how much that is.
    lent: bool,
}

impl List {
    fn new(declared: &crate::vir0::module::List) -> List {
        List {
            items: RefCell::new(Rows::new(&declared.fields)),
            pending: RefCell::default(),
            refused: Cell::new(0),
            starved: Cell::new(false),
            capacity: 0,
            room: Arc::default(),
            allocated: 0,
            lent: false,
        }
    }

    /// Whether it came to need more memory than before.
    fn settle(&mut self) -> bool {
        let has = self.items.get_mut().capacity();
        let grew = has > self.allocated;
        self.allocated = has.max(self.allocated);
        grew
    }

    /// So many items did not fit.
    pub(crate) fn refuse(&self, items: u64) {
        self.refused.set(self.refused.get() + items);
    }

    /// The chunks of a sweep that begins may append what there is room for.
    pub(crate) fn make_room(&self) {
        let room = (self.capacity as u64).saturating_sub(self.len());
        (self.room).reset(room as usize, rayon::current_num_threads());
    }

    /// Takes what a chunk of a native sweep appended, as far as there is room.
    pub(crate) fn take<T: Record>(&self, block: &[T]) {
        let room = (self.capacity as u64).saturating_sub(self.len() - self.refused.get());
        let fits = block.len().min(room as usize);
        self.refuse((block.len() - fits) as u64);
        if fits == 0 {
            return;
        }
        let (taken, block) = match self.items.try_borrow_mut() {
            Ok(mut items) => {
                let taken = items.make_room(fits, self.capacity);
                if taken {
                    items.extend(&block[..fits]);
                }
                (taken, None)
            }
            // The sweep has the items.
            Err(_) => {
                let mut rows = self.items.borrow().like();
                let taken =
                    rows.make_room(fits, fits) && self.pending.borrow_mut().try_reserve(1).is_ok();
                if taken {
                    rows.extend(&block[..fits]);
                }
                (taken, taken.then_some(rows))
            }
        };
        self.pending.borrow_mut().extend(block);
        if !taken {
            self.starved.set(true);
            self.refuse(fits as u64);
        }
    }

    /// What the sweep appended is there for the next one.
    fn settle_pending(&mut self) {
        let (items, pending) = (self.items.get_mut(), self.pending.get_mut());
        let more = pending.iter().map(Rows::len).sum();
        if items.make_room(more, self.capacity) {
            for mut rows in pending.drain(..) {
                items.append(&mut rows);
            }
        } else {
            self.starved.set(true);
            self.refuse(more as u64);
        }
        *self.pending.get_mut() = Vec::new();
    }

    fn clear(&mut self) {
        self.items.get_mut().clear();
        *self.pending.get_mut() = Vec::new();
        self.refused.set(0);
        self.starved.set(false);
    }

    /// Items appended in this run, whether they fit or not.
    pub(crate) fn len(&self) -> u64 {
        let pending = self.pending.borrow();
        let held = self.items.borrow().len() + pending.iter().map(Rows::len).sum::<usize>();
        held as u64 + self.refused.get()
    }
}

impl Frontier {
    fn new(declared: &crate::vir0::module::Frontier, nodes: u64) -> Result<Frontier, RunError> {
        Ok(Frontier {
            items: RefCell::default(),
            next: RefCell::default(),
            records: (!declared.fields.is_empty()).then(|| Records {
                items: RefCell::new(Rows::new(&declared.fields)),
                next: RefCell::new(Rows::new(&declared.fields)),
            }),
            refused: Cell::new(0),
            starved: Cell::new(false),
            capacity: 0,
            stamps: match declared.unique {
                true => Some(Arc::new(stamps(&declared.name, nodes)?)),
                false => None,
            },
            stamp: Cell::new(LAST_STAMP),
            taken: Cell::new(0),
            room: Arc::default(),
            owned: declared.owner.is_some(),
            allocated: 0,
        })
    }

    /// The chunks of a sweep that begins may push what there is room for.
    pub(crate) fn make_room(&self) {
        let held = self.len() - self.refused.get();
        let room = (self.capacity as u64).saturating_sub(held);
        (self.room).reset(room as usize, rayon::current_num_threads());
    }

    /// So many items did not fit.
    pub(crate) fn refuse(&self, items: u64) {
        self.refused.set(self.refused.get() + items);
    }

    /// Gives both lists the memory that the larger one came to need, so that the next such run allocates nothing; whether
    /// that is more than before.
    fn settle(&mut self) -> bool {
        let (items, next) = (self.items.get_mut(), self.next.get_mut());
        if let Some(records) = &mut self.records {
            let (items, next) = (records.items.get_mut(), records.next.get_mut());
            let has = items.capacity() + next.capacity();
            let grew = has > self.allocated;
            self.allocated = has.max(self.allocated);
            return grew;
        }
        let needed = items.capacity().max(next.capacity());
        let grew = needed > self.allocated;
        if grew {
            for list in [items, next] {
                // Without memory it grows when it has to.
                let _reserved = list.try_reserve_exact(needed - list.len());
            }
            self.allocated = needed;
        }
        grew
    }

    /// Items pushed since the last flip.
    pub(crate) fn len(&self) -> u64 {
        let (items, next) = match &self.records {
            Some(records) => (records.items.borrow().len(), records.next.borrow().len()),
            None => (self.items.borrow().len(), self.next.borrow().len()),
        };
        let waiting = next as u64 + self.refused.get();
        if self.owned {
            waiting
        } else {
            waiting + items as u64
        }
    }

    fn flip(&mut self) {
        let (items, next) = (self.items.get_mut(), self.next.get_mut());
        std::mem::swap(items, next);
        next.clear();
        if let Some(records) = &mut self.records {
            std::mem::swap(records.items.get_mut(), records.next.get_mut());
            records.next.get_mut().clear();
        }
        self.refused.set(0);
        self.starved.set(false);
        self.restamp();
    }

    /// What is stamped counts as older than all that comes.
    fn restamp(&self) {
        if let Some(stamps) = &self.stamps {
            let next = self.stamp.get().checked_sub(STAMPS).unwrap_or_else(|| {
                stamps.iter().for_each(|s| s.store(u32::MAX, Relaxed));
                LAST_STAMP
            });
            self.stamp.set(next);
            self.taken.set(0);
        }
    }

    /// There are stamps for so many more chunks of this round.
    pub(crate) fn keep_stamps(&self, chunks: usize) {
        if self.taken.get() as usize + chunks > STAMPS as usize {
            self.restamp();
            if let Some(stamps) = &self.stamps {
                let stamp = self.stamp.get();
                let (items, next) = (self.items.borrow(), self.next.borrow());
                // Without an owner, items are never made anew.
                let items = if self.owned { &[] } else { &items[..] };
                for &v in items.iter().chain(&*next) {
                    stamps[v as usize].store(stamp, Relaxed);
                }
                self.taken.set(1);
            }
        }
    }

    /// Gives its memory up; it is empty.
    fn release(&mut self) {
        self.clear();
        self.allocated = 0;
        *self.items.get_mut() = Vec::new();
        *self.next.get_mut() = Vec::new();
        if let Some(records) = &mut self.records {
            records.items.get_mut().release();
            records.next.get_mut().release();
        }
    }

    fn clear(&mut self) {
        self.next.get_mut().clear();
        if let Some(records) = &mut self.records {
            records.next.get_mut().clear();
        }
        self.flip();
    }
}

/// Stamps of a round: more than a sweep has chunks.
const STAMPS: u32 = 1 << 21;
/// First stamp of the first round; nobody has the stamp `u32::MAX`.
const LAST_STAMP: u32 = (u32::MAX / STAMPS - 1) * STAMPS;

fn stamps(frontier: &str, nodes: u64) -> Result<Vec<AtomicU32>, RunError> {
    let (mut stamps, len) = (Vec::new(), nodes as usize);
    let reserved = stamps.try_reserve_exact(len);
    let missing = |_| RunError::no_memory(format_args!("frontier `{frontier}`"), 4 * nodes);
    reserved.map_err(missing)?;
    stamps.resize_with(len, || AtomicU32::new(u32::MAX));
    Ok(stamps)
}

/// Takes memory for so many more items where there is too little, as [`Rows::make_room`] does.
#[must_use]
pub(crate) fn room_for(items: &mut Vec<u32>, more: usize, most: usize) -> bool {
    let needed = items.len().saturating_add(more);
    if needed <= items.capacity() {
        return true;
    }
    let room = items.capacity().saturating_mul(2).min(most).max(needed);
    items.try_reserve_exact(room - items.len()).is_ok()
}

/// Graphs, topology buffers and stamps that an update brings.
type Differing = (
    Vec<(usize, Arc<Graph>)>,
    Vec<(BufferId, Held)>,
    Vec<(usize, Vec<AtomicU32>)>,
);

/// A fault that waits for the end of its barrier group; the lowest key wins.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) key: (WaveId, u32, u32),
    pub(crate) fault: Fault,
}

/// The lower of two faults.
pub(crate) fn lowest(a: Option<Box<Pending>>, b: Option<Box<Pending>>) -> Option<Box<Pending>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.key < a.key { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// How a backend executes what the schedule names.
pub(crate) trait Backend {
    /// It reads this input where the caller has it; otherwise the store has a copy.
    fn borrows(&self, _input: &Buffer) -> bool {
        false
    }
    /// In-out buffers that it works on where the caller has them.
    fn in_outs(&self) -> &[(BufferId, SliceMut<'_>)] {
        &[]
    }
    /// Sweeps a wave; faults go to [`Store::fail`].
    fn sweep(&mut self, store: &mut Store, args: &Args<'_>, at: (WaveId, u32));
    /// Evaluates a condition.
    fn until(&mut self, store: &mut Store, fixpoint: FixpointId, round: u32)
    -> Result<bool, Fault>;
}

impl Store {
    pub(crate) fn new(
        program: Arc<Program>,
        args: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<Store, RunError> {
        let lives = match allocation {
            Allocation::Separate => None,
            Allocation::Shared => Some(Lives::of(&program)),
        };
        let (graphs, sizes) = resolve_topologies(&program, args)?;
        check_columns(&program, &sizes, &args.columns)?;
        let defaults = Thresholds::default();
        let mut store = Store {
            graphs: Vec::new(),
            sizes,
            home: (0..program.buffers.len()).collect(),
            most: vec![0; program.buffers.len()],
            rows: vec![None; program.buffers.len()],
            buffers: Vec::with_capacity(program.buffers.len()),
            frontiers: Vec::new(),
            lists: Vec::new(),
            swept: program.waves.iter().map(|_| Cell::new(0)).collect(),
            reductions: program.reductions.iter().map(|_| Cell::new(0)).collect(),
            pulls: Pull::all(&program),
            looks: Looks::all(&program),
            routes: routes(&program),
            may_order: (program.waves.iter())
                .map(|wave| route::may_order(&program, wave))
                .collect(),
            bitmap: Bitmap::default(),
            cuts: RefCell::default(),
            lives,
            peak_bytes: 0,
            lent_bytes: 0,
            faults: RefCell::default(),
            starved_bytes: Cell::new(0),
            counts: Counters::default(),
            activity: Activity::default(),
            shared: Cell::new(0),
            progress: Arc::default(),
            most_work: u64::MAX,
            work_left: u64::MAX,
            parallel_from: defaults.parallel_from,
            sweeps: Sweeps::default(),
            pack_up_to_bytes: defaults.pack_up_to_bytes,
            time_waves: false,
            wave_times: Vec::new(),
            program,
        };
        store.allocate()?;
        store.check_topology_columns(args)?;
        store.counts.graph_uploads = u64::from(!store.program.topologies.is_empty());
        let program = Arc::clone(&store.program);
        for (graph, topology) in graphs.into_iter().zip(&program.topologies) {
            store.counts.graph_upload_bytes += csr_bytes(&graph);
            store.graphs.push(Graph::new(graph, topology)?);
        }
        for (id, values) in &args.columns {
            store.counts.graph_upload_bytes += values.bytes();
            *store.buffers[id.index()].get_mut() = store.shared_copy(*id, *values)?;
        }
        Ok(store)
    }

    /// A copy of a topology's buffer.
    fn shared_copy(&self, id: BufferId, values: Slice<'_>) -> Result<Held, RunError> {
        let copy = values.try_to_column();
        let buffer = &self.program.buffers[id.index()];
        let copy = copy.ok_or_else(|| no_memory_for(buffer, values.len()))?;
        Ok(Held::Shared(Arc::new(copy)))
    }

    /// Makes rows of bits of a topology's words, for all stores of a session, in the memory where they are.
    pub(crate) fn share_rows(&mut self) {
        let given = (self.sizes.rows(&self.program)).into_iter();
        for (id, nodes, width) in given {
            let held = self.buffers[id.index()].get_mut();
            let Held::Shared(column) = held else {
                continue;
            };
            let column = Arc::get_mut(column).expect("no other store has it yet");
            let words = std::mem::take(u32::in_column_mut(column).expect("rows of bits are words"));
            self.rows[id.index()] = Some(Arc::new(Bits::clean(words, nodes, width)));
            *held = Held::Own(Column::U32(Vec::new()));
        }
    }

    /// A store of the same session for another query: topologies are shared, the rest is its own.
    pub(crate) fn sibling(&self) -> Result<Store, RunError> {
        let mut store = Store {
            program: Arc::clone(&self.program),
            graphs: self.graphs.clone(),
            sizes: self.sizes.clone(),
            home: (0..self.home.len()).collect(),
            most: vec![0; self.home.len()],
            rows: self.rows.clone(),
            buffers: Vec::with_capacity(self.buffers.len()),
            frontiers: Vec::new(),
            lists: Vec::new(),
            swept: self.swept.clone(),
            reductions: self.reductions.clone(),
            pulls: Pull::all(&self.program),
            looks: self.looks.clone(),
            routes: self.routes.clone(),
            may_order: self.may_order.clone(),
            bitmap: Bitmap::default(),
            cuts: RefCell::default(),
            faults: RefCell::default(),
            starved_bytes: Cell::new(0),
            lives: self.lives.is_some().then(|| Lives::of(&self.program)),
            peak_bytes: 0,
            lent_bytes: 0,
            counts: Counters::default(),
            activity: Activity::default(),
            shared: Cell::new(0),
            progress: Arc::default(),
            most_work: self.most_work,
            work_left: self.most_work,
            parallel_from: self.parallel_from,
            sweeps: self.sweeps,
            pack_up_to_bytes: self.pack_up_to_bytes,
            time_waves: self.time_waves,
            wave_times: Vec::new(),
        };
        store.sizes.scalars.clear();
        store.allocate()?;
        for (to, from) in store.buffers.iter_mut().zip(&self.buffers) {
            if let Held::Shared(column) = &*from.borrow() {
                *to.get_mut() = Held::Shared(Arc::clone(column));
            }
        }
        Ok(store)
    }

    /// Makes buffers and frontiers. What depends on a scalar gets its memory in the first run.
    fn allocate(&mut self) -> Result<(), RunError> {
        for (buffer, most) in self.program.buffers.iter().zip(&mut self.most) {
            let len = match self.sizes.resolve(&self.program, buffer.extent) {
                Some(len) => index_len(buffer.field(), len)?,
                None => 0,
            };
            let keeps = match buffer.role {
                Role::Output => true,
                Role::Scratch => self.lives.is_none(),
                Role::Topology | Role::Input | Role::InOut => false,
            };
            let len = if keeps { len } else { 0 };
            *most = len;
            self.counts.allocations += u64::from(len > 0);
            let column = Column::allocate(buffer.scalar, len, 0);
            let column = column.ok_or_else(|| no_memory_for(buffer, len))?;
            self.buffers.push(RefCell::new(Held::Own(column)));
        }
        let frontiers = self.program.frontiers.iter();
        let frontiers = frontiers.map(|f| Frontier::new(f, self.sizes.nodes));
        self.frontiers = frontiers.collect::<Result<_, _>>()?;
        self.lists = self.program.lists.iter().map(List::new).collect();
        Ok(())
    }

    /// Each of the topology's buffers is given, with its type.
    fn check_topology_columns(&self, args: &TopologyArgs<'_>) -> Result<(), RunError> {
        for (id, values) in &args.columns {
            self.check_type(*id, values)?;
        }
        for (id, buffer) in self.program.buffers.iter().enumerate() {
            if buffer.role == Role::Topology {
                self.given(BufferId(id as u16), &args.columns)?;
            }
        }
        Ok(())
    }

    /// Lends its topology, as it was given: without the graphs that were built here.
    pub(crate) fn lend_topology(
        &self,
        borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        let buffers = (0u16..).zip(self.buffers.iter().zip(&self.rows));
        let shared = buffers.filter_map(|(id, (held, rows))| {
            let column = match (&*held.borrow(), rows) {
                (_, Some(rows)) => Arc::new(Column::U32(rows.to_words())),
                (Held::Shared(column), None) => Arc::clone(column),
                (Held::Own(_), None) => return None,
            };
            Some((BufferId(id), column))
        });
        let shared: Vec<(BufferId, Arc<Column>)> = shared.collect();
        let graphs = self.graphs.iter().zip(&self.program.topologies);
        let given = graphs.filter(|(_, declared)| declared.reverse_of.is_none());
        borrow(&TopologyArgs {
            graphs: given.map(|(graph, _)| &graph.csr).collect(),
            columns: shared.iter().map(|(id, c)| (*id, c.as_slice())).collect(),
        })?;
        Ok(true)
    }

    /// Takes another topology; what is equal stays.
    pub(crate) fn update(&mut self, args: &TopologyArgs<'_>) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        let (graphs, sizes) = resolve_topologies(&program, args)?;
        check_columns(&program, &sizes, &args.columns)?;
        for buffer in &program.buffers {
            if let Some(len) = sizes.resolve(&program, buffer.extent) {
                index_len(buffer.field(), len)?;
            }
        }
        let before = std::mem::replace(&mut self.sizes, sizes);
        if let Err(e) = self.check_topology_columns(args) {
            self.sizes = before;
            return Err(e);
        }
        let (mut bytes, renumbered) = (0, before.nodes != self.sizes.nodes);
        let made = self.differing(args, (graphs, renumbered));
        let (graphs, columns, restamped) = made.inspect_err(|_| self.sizes = before)?;
        for (id, graph) in graphs {
            bytes += csr_bytes(&graph.csr);
            self.graphs[id] = graph;
        }
        for (id, held) in columns {
            bytes += held.as_slice().bytes();
            *self.buffers[id.index()].get_mut() = held;
        }
        for (id, stamps) in restamped {
            self.frontiers[id].stamps = Some(Arc::new(stamps));
        }
        self.counts.graph_uploads += u64::from(bytes > 0);
        self.counts.graph_upload_bytes += bytes;
        Ok(())
    }

    /// What of another topology is not equal to what is there, and stamps where it has another number of nodes.
    fn differing(
        &mut self,
        args: &TopologyArgs<'_>,
        (graphs, renumbered): (Vec<Cow<'_, Csr>>, bool),
    ) -> Result<Differing, RunError> {
        let program = Arc::clone(&self.program);
        let mut made = Differing::default();
        let declared = graphs.into_iter().zip(&program.topologies);
        for (id, (csr, topology)) in declared.enumerate() {
            if self.graphs[id].csr != *csr {
                made.0.push((id, Graph::new(csr, topology)?));
            }
        }
        for (id, values) in &args.columns {
            let equal = match &self.rows[id.index()] {
                Some(rows) => rows.has(*values),
                None => self.buffers[id.index()].get_mut().as_slice() == *values,
            };
            if !equal {
                made.1.push((*id, self.shared_copy(*id, *values)?));
            }
        }
        for (id, declared) in program.frontiers.iter().enumerate() {
            if renumbered && declared.unique {
                made.2.push((id, stamps(&declared.name, self.sizes.nodes)?));
            }
        }
        Ok(made)
    }

    /// Gives each of these states of a session the memory that the largest came to need, so that it does not matter which
    /// of them runs what next.
    pub(crate) fn level(stores: &mut [&mut Store]) {
        let Some(first) = stores.first() else { return };
        let (program, frontiers) = (Arc::clone(&first.program), first.frontiers.len());
        for (id, buffer) in program.buffers.iter().enumerate() {
            // Those of results leave with them.
            if matches!(buffer.role, Role::Output | Role::InOut) {
                continue;
            }
            let has = stores
                .iter_mut()
                .map(|s| s.buffers[id].get_mut().capacity());
            let most = has.max().unwrap_or(0);
            for store in &mut *stores {
                if let Held::Own(column) = store.buffers[id].get_mut()
                    && column.capacity() < most
                {
                    store.counts.allocations += u64::from(column.reserve(most));
                }
            }
        }
        for id in 0..frontiers {
            let most = stores.iter().map(|s| s.frontiers[id].allocated).max();
            let most = most.unwrap_or(0);
            for store in &mut *stores {
                let frontier = &mut store.frontiers[id];
                if frontier.records.is_none() && frontier.allocated < most {
                    for list in [frontier.items.get_mut(), frontier.next.get_mut()] {
                        let _reserved = list.try_reserve_exact(most.saturating_sub(list.len()));
                    }
                    frontier.allocated = most;
                    store.counts.allocations += 1;
                }
            }
        }
    }

    fn check_type(&self, id: BufferId, values: &Slice<'_>) -> Result<(), RunError> {
        let buffer = &self.program.buffers[id.index()];
        if buffer.scalar == values.scalar() {
            return Ok(());
        }
        Err(RunError::Invalid(format!(
            "`{}` holds {}, not {}",
            buffer.field(),
            buffer.scalar.name(),
            values.scalar().name()
        )))
    }

    /// Copies a run's input.
    fn upload(&mut self, id: BufferId, values: Slice<'_>) -> Result<(), RunError> {
        self.check_type(id, &values)?;
        let buffer = &self.program.buffers[id.index()];
        if !self.buffers[id.index()].get_mut().reserve(values.len()) {
            return Err(no_memory_for(buffer, values.len()));
        }
        let done = self.buffers[id.index()].get_mut().assign(values);
        debug_assert!(done, "the type was checked");
        self.needs(id.index(), values.len());
        self.counts.refresh_bytes += values.bytes();
        Ok(())
    }

    /// A buffer has so many elements in this run.
    fn needs(&mut self, buffer: usize, len: usize) {
        let most = &mut self.most[buffer];
        self.counts.allocations += u64::from(len > *most);
        *most = len.max(*most);
    }

    /// A buffer that the caller fills was filled.
    fn given(&self, id: BufferId, columns: &[(BufferId, Slice<'_>)]) -> Result<(), RunError> {
        let buffer = &self.program.buffers[id.index()];
        let expected = self
            .sizes
            .resolve(&self.program, buffer.extent)
            .unwrap_or(0);
        if expected == 0 || columns.iter().any(|(b, _)| *b == id) {
            return Ok(());
        }
        Err(RunError::Length {
            name: buffer.field().to_owned(),
            expected,
            actual: 0,
        })
    }

    /// Takes memory of earlier results, where its own is smaller, but no more than this run can need.
    fn take_memory(&mut self, results: &mut Outcome) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        for (i, buffer) in program.buffers.iter().enumerate() {
            if !matches!(buffer.role, Role::Output | Role::InOut) {
                continue;
            }
            let needed = self.len_of(buffer.field(), buffer.extent)?;
            let column = results.memory_of(BufferId(i as u16), buffer.scalar);
            let own = &mut **self.buffers[i].get_mut();
            if let Some(mut column) = column.filter(|c| c.capacity() > own.capacity()) {
                if column.capacity() > needed {
                    column.shrink_to(needed);
                }
                *own = column;
            }
        }
        for (i, list) in program.lists.iter().enumerate() {
            let state = &mut self.lists[i];
            state.lent = false;
            let columns = results.memory_of_list(ListId(i as u16), &list.fields);
            let own = state.items.get_mut();
            let larger = |columns: &Vec<Column>| {
                columns.iter().map(Column::capacity).min() > Some(own.capacity())
            };
            if let Some(mut columns) = columns.filter(larger) {
                for column in columns.iter_mut().filter(|c| c.capacity() > state.capacity) {
                    column.shrink_to(state.capacity);
                }
                own.columns = columns;
                own.clear();
                state.lent = true;
            }
        }
        results.outputs.clear();
        results.lists.clear();
        Ok(())
    }

    /// The state at the start of a run.
    fn begin(
        &mut self,
        args: &Args<'_>,
        backend: &impl Backend,
        results: Option<&mut Outcome>,
    ) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        if args.scalars.len() != program.scalars.len() {
            return Err(RunError::Length {
                name: "scalars".to_owned(),
                expected: program.scalars.len() as u64,
                actual: args.scalars.len() as u64,
            });
        }
        self.sizes.scalars.clone_from(&args.scalars);
        check_columns(&program, &self.sizes, &args.inputs)?;
        let in_outs = backend.in_outs().iter();
        let in_outs: Vec<_> = in_outs.map(|(id, s)| (*id, s.as_slice())).collect();
        check_columns(&program, &self.sizes, &in_outs)?;
        for at in 0..self.home.len() {
            while self.home[at] != at {
                self.swap(at, self.home[at]);
            }
        }
        for (state, list) in self.lists.iter_mut().zip(&program.lists) {
            let capacity = self
                .sizes
                .resolve(&program, list.capacity)
                .expect("verified extents name scalars of the program");
            // A slot is a u32.
            state.capacity = index_len(&list.name, capacity)?;
            state.clear();
        }
        if let Some(results) = results {
            self.take_memory(results)?;
        }
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.len_of(buffer.field(), buffer.extent)?;
            match buffer.role {
                Role::Topology => {}
                Role::Input => self.given(BufferId(i as u16), &args.inputs)?,
                Role::InOut if in_outs.is_empty() => {
                    self.given(BufferId(i as u16), &args.inputs)?;
                }
                Role::InOut => self.given(BufferId(i as u16), &in_outs)?,
                Role::Scratch if self.lives.is_some() => {
                    *self.buffers[i].get_mut() = Held::Own(Column::filled(buffer.scalar, 0, 0));
                }
                Role::Output | Role::Scratch => {
                    let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    let column = &mut **self.buffers[i].get_mut();
                    if column.capacity() < len {
                        *column = Column::filled(buffer.scalar, 0, 0);
                        let filled = Column::allocate(buffer.scalar, len, bits);
                        *column = filled.ok_or_else(|| no_memory_for(buffer, len))?;
                    } else {
                        column.reset(len, bits);
                    }
                    self.needs(i, len);
                }
            }
        }
        let mut lent = in_outs;
        for (id, values) in &args.inputs {
            if backend.borrows(&program.buffers[id.index()]) {
                lent.push((*id, *values));
            } else {
                self.upload(*id, *values)?;
            }
        }
        for (id, values) in &lent {
            self.check_type(*id, values)?;
            // It counts as if it were taken: plans are those of all backends.
            self.needs(id.index(), values.len());
        }
        self.lent_bytes = lent.iter().map(|(_, values)| values.bytes()).sum();
        self.counts.refresh_bytes += self.lent_bytes;
        for wave in &program.waves {
            if let Domain::Range(extent) = wave.domain {
                self.len_of(&wave.name, extent)?;
            }
        }
        for (state, frontier) in self.frontiers.iter_mut().zip(&program.frontiers) {
            let capacity = self
                .sizes
                .resolve(&program, frontier.capacity)
                .expect("verified extents name scalars of the program");
            state.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
            state.clear();
        }
        self.swept.iter_mut().for_each(|s| s.set(0));
        if let Some(lives) = &mut self.lives {
            lives.here.fill(false);
        }
        self.peak_bytes = 0;
        self.enter(0)?;
        for id in 0..program.reductions.len() {
            self.reset_reduction(id);
        }
        *self.faults.get_mut() = None;
        self.starved_bytes.set(0);
        self.work_left = self.most_work;
        self.counts.refresh_bytes += 8 * args.scalars.len() as u64;
        self.activity = Activity::default();
        self.shared.set(0);
        for route in &self.routes {
            route.set(self.sweeps.start);
        }
        self.wave_times.clear();
        if self.time_waves {
            let none = WaveTime::default();
            self.wave_times.resize(program.waves.len(), none);
        }
        for pull in self.pulls.iter_mut().flatten() {
            pull.get_mut().turned = 0;
        }
        self.progress.begin();
        Ok(())
    }

    /// A barrier group begins. Where memory is shared, temporaries whose life is over give theirs up, and those whose life
    /// begins get theirs, initialised.
    fn enter(&mut self, group: u32) -> Result<(), RunError> {
        if self.lives.is_none() && group > 0 {
            return Ok(());
        }
        let program = Arc::clone(&self.program);
        if let Some(mut lives) = self.lives.take() {
            for (i, buffer) in program.buffers.iter().enumerate() {
                if buffer.role == Role::Scratch
                    && lives.here[i]
                    && !lives_in(lives.buffers[i], group)
                {
                    *self.buffers[i].get_mut() = Held::Own(Column::filled(buffer.scalar, 0, 0));
                    lives.here[i] = false;
                }
            }
            for (state, &life) in self.frontiers.iter_mut().zip(&lives.frontiers) {
                if !lives_in(life, group) {
                    state.release();
                }
            }
            for (i, buffer) in program.buffers.iter().enumerate() {
                if buffer.role == Role::Scratch
                    && !lives.here[i]
                    && lives_in(lives.buffers[i], group)
                {
                    let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    let len = self.len_of(buffer.field(), buffer.extent);
                    let len = len.expect("lengths were checked when the run began");
                    let column = Column::allocate(buffer.scalar, len, bits);
                    let Some(column) = column else {
                        self.lives = Some(lives);
                        return Err(no_memory_for(buffer, len));
                    };
                    *self.buffers[i].get_mut() = Held::Own(column);
                    self.counts.allocations += u64::from(len > 0);
                    lives.here[i] = true;
                }
            }
            self.lives = Some(lives);
        }
        let graphs = self
            .graphs
            .iter()
            .map(|g| 4 * (g.csr.offsets().len() + g.csr.targets().len()));
        let buffers = self
            .buffers
            .iter_mut()
            .map(|b| &**b.get_mut())
            .map(|b| b.len() * b.scalar().size_bytes() as usize);
        let rows = self.rows.iter().flatten().map(|rows| rows.bytes());
        let mut held = graphs.chain(buffers).chain(rows).sum::<usize>() as u64;
        held += self.lent_bytes + 8 * self.bitmap.words.len() as u64;
        // A frontier may fill both its sides.
        for (id, frontier) in self.frontiers.iter().enumerate() {
            if self
                .lives
                .as_ref()
                .is_none_or(|l| lives_in(l.frontiers[id], group))
            {
                let both_sides = 2 * program.frontiers[id].item_bytes();
                held = held.saturating_add(both_sides.saturating_mul(frontier.capacity as u64));
            }
        }
        for (list, declared) in self.lists.iter().zip(&program.lists) {
            let item_bytes = declared.item_bytes() + declared.row_bytes();
            held = held.saturating_add(item_bytes.saturating_mul(list.capacity as u64));
        }
        held = held.saturating_add(8 * self.reductions.len() as u64);
        self.peak_bytes = self.peak_bytes.max(held);
        Ok(())
    }

    /// Most bytes that were held at once in the last run, with room for every frontier's capacity.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// A length of a run, which must fit u32 indices.
    pub(crate) fn len_of(
        &self,
        name: &str,
        extent: crate::vir0::module::Extent,
    ) -> Result<usize, RunError> {
        let len = self
            .sizes
            .resolve(&self.program, extent)
            .expect("verified extents name scalars of the program");
        index_len(name, len)
    }

    fn reset_reduction(&self, id: usize) {
        let reduction = &self.program.reductions[id];
        self.reductions[id].set(reduction.op.identity(reduction.scalar));
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.buffers.swap(a, b);
        self.home.swap(a, b);
    }

    /// Keeps a fault if it is the lowest of its group.
    pub(crate) fn fail(&self, pending: Option<Box<Pending>>) {
        if pending.is_some() {
            let mut faults = self.faults.borrow_mut();
            let before = faults.take();
            *faults = lowest(before, pending);
        }
    }

    /// A sweep has no memory for so many of these, one for each of its chunks: the run ends with its group.
    #[cold]
    pub(crate) fn starve<T>(&self, chunks: usize) {
        let bytes = (chunks as u64).saturating_mul(size_of::<T>() as u64);
        self.starved_bytes.set(bytes.max(1));
    }

    /// Positions of the list items that a wave sweeps now; it has swept them then.
    pub(crate) fn list_items(&self, wave: WaveId) -> (ListId, std::ops::Range<usize>) {
        let Domain::ListItems(list, new) = self.program.waves[wave.index()].domain else {
            unreachable!("the wave sweeps a list");
        };
        let end = self.lists[list.index()].items.borrow().len();
        let swept = self.swept[wave.index()].replace(end);
        (list, if new { swept..end } else { 0..end })
    }

    /// What a native sweep appended is there for the next one.
    pub(crate) fn settle_lists(&mut self) {
        for list in &mut self.lists {
            if !list.pending.get_mut().is_empty() {
                list.settle_pending();
            }
        }
    }

    pub(crate) fn kernel_of(&self, wave: WaveId) -> &Kernel {
        &self.program.kernels[self.program.waves[wave.index()].kernel.index()]
    }

    /// What was written before is visible after; the group's faults and overflows stop the run. `at` is the step that ends
    /// the group.
    fn barrier(&mut self, at: usize) -> Result<(), RunError> {
        // Without memory, what is counted as refused is no overflow.
        self.fed()?;
        let mut found = self.faults.get_mut().take();
        for id in 0..self.frontiers.len() {
            let frontier = &mut self.frontiers[id];
            let needed = frontier.len();
            let capacity = frontier.capacity as u64;
            if needed > capacity {
                let frontier = Resource::Frontier(FrontierId(id as u16));
                let overflow = self.overflow(frontier, (needed, capacity), at);
                found = lowest(found, Some(Box::new(overflow)));
            } else if !frontier.owned {
                let (items, next) = (frontier.items.get_mut(), frontier.next.get_mut());
                let mut fits = room_for(items, next.len(), frontier.capacity);
                if fits {
                    items.append(next);
                }
                if let Some(records) = &mut frontier.records {
                    let (items, next) = (records.items.get_mut(), records.next.get_mut());
                    fits = items.make_room(next.len(), frontier.capacity);
                    if fits {
                        items.append(next);
                    }
                }
                frontier.starved.set(!fits);
            }
        }
        for (id, list) in self.lists.iter().enumerate() {
            let (needed, capacity) = (list.len(), list.capacity as u64);
            if needed > capacity {
                let list = Resource::List(ListId(id as u16));
                let overflow = self.overflow(list, (needed, capacity), at);
                found = lowest(found, Some(Box::new(overflow)));
            }
        }
        match found {
            None => self.fed(),
            Some(pending) => {
                let (wave, item, pc) = pending.key;
                Err(self.trap(
                    (self.program.waves[wave.index()].kernel, pc),
                    pending.fault.kind.is_of_an_item().then_some(item),
                    pending.fault,
                ))
            }
        }
    }

    /// There was memory for sweeps, and for what was pushed and appended.
    fn fed(&self) -> Result<(), RunError> {
        let starved = self.starved_bytes.get() > 0
            || self.frontiers.iter().any(|f| f.starved.get())
            || self.lists.iter().any(|l| l.starved.get());
        if starved { Err(self.starved()) } else { Ok(()) }
    }

    #[cold]
    fn starved(&self) -> RunError {
        let bytes = self.starved_bytes.get();
        if bytes > 0 {
            return RunError::no_memory("the chunks of a sweep", bytes);
        }
        let frontiers = self.frontiers.iter().zip(&self.program.frontiers);
        let frontiers = frontiers
            .filter(|(f, _)| f.starved.get())
            .map(|(f, of)| (format!("frontier `{}`", of.name), f.len(), of.item_bytes()));
        let lists = self.lists.iter().zip(&self.program.lists);
        let lists = lists
            .filter(|(l, _)| l.starved.get())
            .map(|(l, of)| (format!("list `{}`", of.name), l.len(), of.item_bytes()));
        let first = frontiers.chain(lists).next();
        let (name, items, item_bytes) = first.expect("one of them is starved");
        RunError::no_memory(name, items.saturating_mul(item_bytes))
    }

    /// The overflow of a frontier or list, blamed on the first push of the lowest wave of the group that pushes onto it.
    #[cold]
    fn overflow(&self, of: Resource, (needed, capacity): (u64, u64), at: usize) -> Pending {
        let (wave, pc) = ended_at(&self.program.schedule, at)
            .filter_map(|w| Some((w, first_push(self.kernel_of(w), of)?)))
            .min()
            .expect("only a wave that pushes fills a frontier, or a list");
        Pending {
            key: (wave, WHOLE_WAVE, pc),
            fault: Fault {
                kind: match of {
                    Resource::List(_) => TrapKind::ListOverflow,
                    _ => TrapKind::FrontierOverflow,
                },
                index: needed,
                len: capacity,
                site: self.program.site_of(self.kernel_of(wave), pc),
                message: None,
                remainder: false,
                seen: Seen::Word,
            },
        }
    }

    fn trap(&self, (kernel, pc): (KernelId, u32), item: Option<u32>, fault: Fault) -> RunError {
        let failed = Failed {
            kind: fault.kind,
            len: fault.len,
            seen: fault.seen,
        };
        RunError::Trap(Box::new(Trap {
            subject: subject_of(&self.program, &self.sizes, (kernel, pc), failed),
            kind: fault.kind,
            kernel: self.program.kernels[kernel.index()].name.clone(),
            site: fault.site,
            item,
            item_type: item_type(&self.program, kernel),
            index: fault.index,
            len: fault.len,
            message: fault.message,
            lane: None,
        }))
    }

    /// Runs the pass once, and gives its results where they are asked for, in memory of earlier results. [`was_launched`] says
    /// whether a failed run had begun.
    pub(crate) fn run(
        &mut self,
        args: &Args<'_>,
        backend: &mut impl Backend,
        mut results: Option<&mut Outcome>,
    ) -> Result<(), RunError> {
        let started = Instant::now();
        self.begin(args, backend, results.as_deref_mut())?;
        let rounds = self.follow_schedule(args, backend);
        for frontier in &mut self.frontiers {
            self.counts.allocations += u64::from(frontier.settle());
        }
        for list in &mut self.lists {
            self.counts.allocations += u64::from(list.settle());
        }
        if matches!(rounds, Err(RunError::Memory { .. })) {
            self.give_back();
        }
        let rounds = rounds?;
        let Some(outcome) = results else {
            return Ok(());
        };
        self.give_results(outcome, backend.in_outs().is_empty())?;
        outcome.report.rounds = rounds;
        outcome.report.wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.activity.shared = self.shared.get();
        let pulls = self.pulls.iter_mut().flatten();
        self.activity.pulled = pulls.map(|p| p.get_mut().turned).sum();
        outcome.report.activity = Some(self.activity);
        outcome.report.waves = self.time_waves.then(|| self.wave_times.clone());
        Ok(())
    }

    /// Gives back what frontiers and lists took: the next run may need less.
    fn give_back(&mut self) {
        self.frontiers.iter_mut().for_each(Frontier::release);
        for list in &mut self.lists {
            list.clear();
            list.items.get_mut().release();
            list.allocated = 0;
        }
    }

    /// Runs the pass several times and gives the last run's results.
    pub(crate) fn run_series(
        &mut self,
        series: &[Args<'_>],
        backend: &mut impl Backend,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        for (i, args) in series.iter().enumerate() {
            let read = i + 1 == series.len();
            let result = self.run(args, backend, read.then_some(&mut *results));
            self.counts.launches += u64::from(was_launched(&result));
            self.counts.fences += u64::from(was_launched(&result) && (read || result.is_err()));
            result?;
        }
        Ok(())
    }

    fn follow_schedule(
        &mut self,
        args: &Args<'_>,
        backend: &mut impl Backend,
    ) -> Result<Vec<u64>, RunError> {
        let program = Arc::clone(&self.program);
        let mut total = vec![0u64; program.fixpoints.len()];
        let mut round = total.clone();
        let mut first = vec![0usize; total.len()];
        let group = groups_of(&program.schedule);
        let mut at = 0;
        loop {
            match program.schedule[at] {
                Step::Wave(wave) => {
                    let round = match program.waves[wave.index()].fixpoint {
                        Some(f) => round[f.index()] as u32,
                        None => 0,
                    };
                    self.note_sweep(wave);
                    if self.is_limited() {
                        self.spend(self.items_of(wave))?;
                    }
                    let started = self.time_waves.then(Instant::now);
                    backend.sweep(self, args, (wave, round));
                    if let Some(started) = started {
                        self.note_time(wave, started);
                    }
                    self.unspent()?;
                }
                Step::Barrier => {
                    self.barrier(at)?;
                    self.enter(group[at + 1])?;
                }
                Step::Loop(f) => {
                    round[f.index()] = 0;
                    first[f.index()] = at;
                    self.begin_round(f);
                }
                Step::Until(f) => {
                    self.barrier(at)?;
                    let fixpoint = &program.fixpoints[f.index()];
                    for (a, b) in &fixpoint.swaps {
                        self.swap(a.index(), b.index());
                    }
                    let now = &mut round[f.index()];
                    total[f.index()] += 1;
                    if self.is_limited() {
                        self.spend(1)?;
                    }
                    let waiting = self.frontiers.first().map_or(0, Frontier::len);
                    self.progress.set(total.iter().sum(), waiting);
                    let done = match backend.until(self, f, *now as u32) {
                        Ok(done) => done,
                        // A condition accesses no elements, so that its word tells nothing.
                        Err(fault) => {
                            return Err(self.trap((fixpoint.until, u32::MAX), None, fault));
                        }
                    };
                    self.unspent()?;
                    if !done {
                        *now += 1;
                        if *now >= fixpoint.max_rounds {
                            return Err(self.round_limit(f));
                        }
                        at = first[f.index()];
                        self.begin_round(f);
                    } else {
                        self.enter(group[at + 1])?;
                    }
                }
                Step::End => {
                    self.barrier(at)?;
                    return Ok(total);
                }
            }
            at += 1;
        }
    }

    fn is_limited(&self) -> bool {
        self.most_work < u64::MAX
    }

    /// Items of a sweep that is about to begin.
    fn items_of(&self, wave: WaveId) -> u64 {
        let from = |f: FrontierId| {
            let frontier = &self.frontiers[f.index()];
            match &frontier.records {
                Some(records) => records.items.borrow().len(),
                None => frontier.items.borrow().len(),
            }
        };
        match self.program.waves[wave.index()].domain {
            Domain::Once => 1,
            Domain::Nodes => self.sizes.nodes,
            Domain::Range(extent) => self.sizes.resolve(&self.program, extent).unwrap_or(0),
            Domain::Items(f) => from(f) as u64,
            Domain::ListItems(l, _) => self.lists[l.index()].items.borrow().len() as u64,
            Domain::Edges(t) => self.graphs[t.index()].csr.edge_count() as u64,
            Domain::EdgesFrom(t, f) => {
                let csr = &self.graphs[t.index()].csr;
                let items = self.frontiers[f.index()].items.borrow();
                items.iter().map(|&v| u64::from(csr.degree(v)) + 1).sum()
            }
        }
    }

    fn spend(&mut self, work: u64) -> Result<(), RunError> {
        self.work_left = self.work_left.saturating_sub(work);
        self.unspent()
    }

    /// There is work left; otherwise the run ends here, and a sweep may have been cut short.
    fn unspent(&self) -> Result<(), RunError> {
        match self.work_left {
            0 => Err(RunError::Work {
                limit: self.most_work,
            }),
            _ => Ok(()),
        }
    }

    /// One turn of a loop; false when there is no work left.
    #[inline]
    pub(crate) fn turn(&mut self) -> bool {
        self.work_left = self.work_left.saturating_sub(1);
        self.work_left > 0
    }

    /// Counts what a sweep over a frontier finds.
    fn note_sweep(&mut self, wave: WaveId) {
        let (Domain::Items(f) | Domain::EdgesFrom(_, f)) = self.program.waves[wave.index()].domain
        else {
            return;
        };
        let frontier = &mut self.frontiers[f.index()];
        let items = match &mut frontier.records {
            Some(records) => records.items.get_mut().len(),
            None => frontier.items.get_mut().len(),
        } as u64;
        self.activity.sweeps += 1;
        self.activity.items += items;
        self.activity.widest = self.activity.widest.max(items);
        if items < Pull::FEW as u64 {
            // A short list is not worth a thought.
            self.routes[wave.index()].set(Route::WarpSparse);
        } else {
            self.take_route(wave, f, items);
        }
    }

    /// Decides how a sweep over a frontier of some size goes.
    #[inline(never)]
    fn take_route(&mut self, wave: WaveId, f: FrontierId, items: u64) {
        let now = &self.routes[wave.index()];
        let nodes = self.sizes.nodes.max(1) as f64;
        let edges = match self.program.waves[wave.index()].domain {
            Domain::EdgesFrom(t, _) => self.sizes.edges.get(t.index()),
            // Its kernel may look at the neighbours.
            _ => self.sizes.edges.iter().max(),
        };
        let sample = route::Sample {
            memory_bps: self.sweeps.memory_bps,
            // Rounds of one launch: nothing is launched or read back between them.
            fusion: 0.0,
            dispatch_ns: 1,
            overhead_ns: 0,
            readback_bytes: 0,
            // A list can hold a node several times.
            density: (items as f64 / nodes).min(1.0),
            mean_degree: *edges.unwrap_or(&0) as f64 / nodes,
        };
        let pressure = self.sweeps.policy.pressure(&sample, Some(now.get()));
        let choice = pressure.and_then(|pressure| route::choose(pressure, None));
        let chosen = choice.map_or(Route::Sparse, |choice| choice.route);
        now.set(chosen);
        if chosen.is_dense() && self.sweeps.bitmap && self.may_order[wave.index()] {
            let shared = items >= self.parallel_from && rayon::current_num_threads() > 1;
            let items = self.frontiers[f.index()].items.get_mut();
            let held = self.bitmap.words.len();
            let ordered = self.bitmap.order(items, self.sizes.nodes as usize, shared);
            self.activity.ordered += u64::from(ordered);
            let more = self.bitmap.words.len().saturating_sub(held);
            self.counts.allocations += u64::from(more > 0);
            self.peak_bytes += 8 * more as u64;
        }
    }

    /// Items or edges from which threads share a sweep.
    pub(crate) fn shared_from(&self, wave: WaveId) -> u64 {
        let (from, margin) = (self.parallel_from, self.parallel_from / 4);
        match self.program.waves[wave.index()].domain {
            Domain::Items(_) | Domain::EdgesFrom(..) => match self.routes[wave.index()].get() {
                Route::WarpSparse => from.saturating_add(margin),
                Route::Sparse
                | Route::Hybrid
                | Route::Dense
                | Route::BlockDense
                | Route::FusedWave => from - margin,
            },
            Domain::Once
            | Domain::Nodes
            | Domain::Range(_)
            | Domain::Edges(_)
            | Domain::ListItems(..) => from,
        }
    }

    fn note_time(&mut self, wave: WaveId, started: Instant) {
        let ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let time = &mut self.wave_times[wave.index()];
        time.sweeps += 1;
        time.ns = time.ns.saturating_add(ns);
    }

    fn begin_round(&mut self, f: FixpointId) {
        for (state, frontier) in self.frontiers.iter_mut().zip(&self.program.frontiers) {
            if frontier.owner == Some(f) {
                state.flip();
            }
        }
        for (id, reduction) in self.program.reductions.iter().enumerate() {
            if reduction.owner == Some(f) {
                self.reset_reduction(id);
            }
        }
    }

    #[cold]
    fn round_limit(&self, f: FixpointId) -> RunError {
        let fixpoint = &self.program.fixpoints[f.index()];
        RunError::Trap(Box::new(Trap {
            kind: TrapKind::RoundLimit,
            kernel: fixpoint.name.clone(),
            site: self
                .program
                .sites
                .get(fixpoint.site.index())
                .cloned()
                .unwrap_or_default(),
            item: None,
            item_type: None,
            index: fixpoint.max_rounds,
            len: fixpoint.max_rounds,
            subject: None,
            message: unfinished(&self.program, f, |uniform| self.uniform(uniform)),
            lane: None,
        }))
    }

    /// What a condition looks at, raw bits; its round and what never changes are left out.
    fn uniform(&self, uniform: Uniform) -> Option<u64> {
        match uniform {
            Uniform::Scalar(s) => Some(self.sizes.scalars[s.index()]),
            Uniform::Reduction(r) => Some(self.reductions[r.index()].get()),
            Uniform::FrontierLen(f) => Some(self.frontiers[f.index()].len()),
            Uniform::ListLen(l) => Some(self.lists[l.index()].len()),
            Uniform::Constant(_) | Uniform::Round | Uniform::Nodes => None,
        }
    }

    /// Gives the results away, those of buffers in the memory where they are. `in_outs`: in-out buffers are among them.
    fn give_results(&mut self, outcome: &mut Outcome, in_outs: bool) -> Result<(), RunError> {
        outcome.clear();
        outcome.rows = self.sizes.rows(&self.program);
        let mut slots = Vec::new();
        let buffers = self.program.buffers.len();
        for (i, buffer) in self.program.buffers.iter().enumerate() {
            if buffer.role == Role::Output || buffer.role == Role::InOut && in_outs {
                let size = buffer.scalar.size_bytes();
                let len = self.len_of(buffer.field(), buffer.extent)? as u64;
                slots.push(Slot {
                    align_bytes: NonZeroU64::new(size).unwrap_or(NonZeroU64::MIN),
                    ..Slot::new(
                        i as u32,
                        self.buffers[i].borrow().as_slice().bytes(),
                        len * size,
                    )
                });
            }
        }
        for (i, list) in self.program.lists.iter().enumerate() {
            if list.output {
                let len = self.lists[i].items.borrow().len() as u64;
                let size = list.item_bytes();
                let capacity = self.lists[i].capacity as u64;
                slots.push(Slot::new(
                    (buffers + i) as u32,
                    len * size,
                    capacity.saturating_mul(size),
                ));
            }
        }
        let plan = compact::plan(&slots, self.pack_up_to_bytes).map_err(|e| match e {
            CompactError::OverCapacity {
                slot,
                meaningful_bytes,
                capacity_bytes,
            } => RunError::Capacity {
                name: match self.program.buffers.get(slot as usize) {
                    Some(buffer) => buffer.field().to_owned(),
                    None => self.program.lists[slot as usize - buffers].name.clone(),
                },
                actual_bytes: meaningful_bytes,
                capacity_bytes,
            },
            CompactError::Duplicate { .. } | CompactError::Overflow { .. } => {
                RunError::Backend(e.to_string())
            }
        })?;
        for slot in &slots {
            match (slot.id as usize).checked_sub(buffers) {
                None => {
                    let column = &mut **self.buffers[slot.id as usize].get_mut();
                    let none = Column::filled(column.scalar(), 0, 0);
                    let result = std::mem::replace(column, none);
                    outcome.outputs.push((BufferId(slot.id as u16), result));
                }
                Some(list) => {
                    let items = self.lists[list].items.get_mut();
                    let empty = Rows::new(&self.program.lists[list].fields);
                    let mut result = std::mem::replace(items, empty);
                    if !self.lists[list].lent {
                        result.columns.iter_mut().for_each(Column::shrink_to_fit);
                    }
                    outcome.lists.push((ListId(list as u16), result.columns));
                }
            }
        }
        for (i, reduction) in self.program.reductions.iter().enumerate() {
            if reduction.output {
                let bits = self.reductions[i].get();
                outcome.reductions.push((ReductionId(i as u16), bits));
            }
        }
        let packed: u64 = plan.packed.iter().map(|r| r.len_bytes).sum();
        let reductions = 8 * outcome.reductions.len() as u64;
        self.counts.readback_bytes += packed + plan.direct_bytes + reductions;
        outcome.report = Report {
            readback: Readback {
                packed: plan.packed.len() as u32,
                packed_bytes: plan.compact_bytes,
                direct: plan.direct.len() as u32,
                direct_bytes: plan.direct_bytes,
                full_bytes: plan.full_bytes,
            },
            ..Report::default()
        };
        Ok(())
    }
}

/// A run that ended with this was begun; otherwise its arguments were refused.
pub(crate) fn was_launched<T>(result: &Result<T, RunError>) -> bool {
    matches!(
        result,
        Ok(_) | Err(RunError::Trap(_) | RunError::Work { .. })
    )
}

/// Offsets and targets from which a topology does not fit in a cache.
const FAR: usize = 8 << 20;

/// Whether three of four edges lead to nodes of lower numbers, as far as some thousand nodes show.
fn leads_down(csr: &Csr) -> bool {
    const SAMPLES: usize = 16_384;
    let nodes = csr.node_count();
    let (mut down, mut all) = (0, 0);
    for v in (0..nodes as u32).step_by(nodes.div_ceil(SAMPLES).max(1)) {
        // Of a hub, its first edges.
        for u in csr.neighbors(v).take(16) {
            down += usize::from(u < v);
            all += 1;
        }
    }
    4 * down > 3 * all
}

fn csr_bytes(csr: &Csr) -> u64 {
    4 * (csr.offsets().len() as u64 + csr.targets().len() as u64)
}

impl Graph {
    fn new(csr: Cow<'_, Csr>, topology: &Topology) -> Result<Arc<Graph>, RunError> {
        let degrees = csr.offsets().windows(2).map(|w| w[1] - w[0]);
        Ok(Arc::new(Graph {
            max_degree: degrees.max().unwrap_or(0),
            mean_degree: (csr.edge_count() as u64).div_ceil(csr.node_count().max(1) as u64),
            far: csr.offsets().len() + csr.targets().len() >= FAR,
            leads_down: leads_down(&csr),
            csr: match csr {
                Cow::Owned(csr) => csr,
                Cow::Borrowed(csr) => {
                    let copy = csr.try_clone();
                    copy.ok_or_else(|| no_memory_for_graph(topology, csr))?
                }
            },
            symmetric: OnceLock::new(),
            missed: AtomicU64::new(0),
        }))
    }

    /// Whether it is its own reverse, as far as is known. Finding out takes as long as a sweep or two over all edges: it
    /// is done once as many were swept that need not have been, of which `here` are about to be.
    fn is_symmetric(&self, here: u64) -> bool {
        if let Some(&known) = self.symmetric.get() {
            return known;
        }
        let missed = self.missed.fetch_add(here, Relaxed) + here;
        missed > self.csr.edge_count() as u64
            && *self.symmetric.get_or_init(|| self.csr.is_symmetric())
    }
}

impl Program {
    /// Source position of a word that can trap.
    pub(crate) fn site_of(&self, kernel: &Kernel, pc: u32) -> Site {
        match kernel.sites.binary_search_by_key(&pc, |&(at, _)| at) {
            Ok(i) => self
                .sites
                .get(kernel.sites[i].1.index())
                .cloned()
                .unwrap_or_default(),
            Err(_) => Site::default(),
        }
    }

    /// What the user says at a word that can trap.
    pub(crate) fn message_of(&self, kernel: &Kernel, pc: u32) -> Option<String> {
        let at = kernel.sites.binary_search_by_key(&pc, |&(at, _)| at).ok()?;
        self.message(kernel.sites[at].1).map(str::to_owned)
    }
}

fn first_push(kernel: &Kernel, onto: Resource) -> Option<u32> {
    let pushes = |w: &Word| match (onto, Op::from_code(w.op)) {
        (Resource::Frontier(f), Some(Op::Push | Op::PushItem)) => w.resource() == f.0,
        (Resource::List(l), Some(Op::Append)) => w.resource() == l.0,
        _ => false,
    };
    kernel.code.iter().position(pushes).map(|pc| pc as u32)
}

#[cold]
pub(crate) fn no_memory_for(buffer: &Buffer, len: usize) -> RunError {
    let bytes = len as u64 * buffer.scalar.size_bytes();
    RunError::no_memory(format_args!("`{}`", buffer.field()), bytes)
}

fn index_len(name: &str, len: u64) -> Result<usize, RunError> {
    if len > u64::from(u32::MAX) {
        return Err(RunError::TooLong {
            name: name.to_owned(),
            len,
        });
    }
    Ok(len as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vir0::module::Extent;

    #[test]
    fn a_round_never_runs_out_of_stamps() {
        let declared = crate::vir0::module::Frontier {
            name: "front".to_owned(),
            fields: Vec::new(),
            capacity: Extent::Nodes,
            unique: true,
            owner: Some(FixpointId(0)),
        };
        let mut front = Frontier::new(&declared, 3).expect("there is memory");
        front.flip();
        let (first, stamps) = (
            front.stamp.get(),
            front.stamps.clone().expect("it is unique"),
        );
        let stamp = |v: usize| stamps[v].load(Relaxed);
        front.next.get_mut().push(1);
        stamps[1].store(first + 7, Relaxed);
        stamps[2].store(first + STAMPS, Relaxed);
        front.taken.set(STAMPS - 5);
        front.keep_stamps(5);
        assert_eq!((front.stamp.get(), stamp(1)), (first, first + 7));
        // What the round holds has the lowest stamp of all that is to come; what it does not hold, a higher one.
        front.keep_stamps(6);
        assert_eq!((front.stamp.get(), front.taken.get()), (first - STAMPS, 1));
        assert_eq!((stamp(0), stamp(1)), (u32::MAX, first - STAMPS));
        assert!(stamp(2) > first - STAMPS + STAMPS - 1);
        // After the last round's stamps come the first ones, and nobody has any.
        while front.stamp.get() > 0 {
            front.flip();
        }
        stamps[0].store(3, Relaxed);
        front.flip();
        assert_eq!(
            (front.stamp.get(), stamp(0), stamp(1)),
            (LAST_STAMP, u32::MAX, u32::MAX)
        );
    }
}
