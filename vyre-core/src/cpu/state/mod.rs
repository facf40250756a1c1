//! A session's state in host memory, which the driver of [`crate::run::schedule`] leads through a run.
//!
//! The CPU backends share it: what runs the items of a sweep is their [`Bodies`]. The native executor borrows buffers
//! through `RefCell`s once per sweep (so the macros' glue stays safe Rust), the interpreter owns it while it sweeps. A
//! round of sweeps on one thread allocates nothing.

mod frontier;
mod graph;
mod parts;
mod routes;
mod run;

pub(crate) use frontier::{Frontier, List};
pub(crate) use graph::Graph;
pub(crate) use parts::{Done, Job};
pub(crate) use run::no_memory_for;

use crate::dsl::Bits;
use crate::dsl::columns::{Column, Element, Slice, SliceMut};
use crate::dsl::csr::Csr;
use crate::dsl::error::RunError;
use crate::dsl::fault::Fault;
use crate::plan::footprint::Allocation;
use crate::plan::lives::{self, Life};
use crate::plan::route::{self, Route};
use crate::plan::session::Counters;
use crate::plan::thresholds::Thresholds;
use crate::run::args::{
    Args, Lent, TopologyArgs, check_columns, check_type, given, index_len, resolve_topologies,
};
use crate::run::backend::Sweeps;
use crate::run::outcome::Activity;
use crate::run::schedule::{Meter, Pending};
use crate::vir0::exact::Total;
use crate::vir0::module::{Buffer, BufferId, FixpointId, Program, Role, WaveId};
use crate::vir0::sizes::Sizes;
use frontier::stamps;
use graph::csr_bytes;
use routes::{Bitmap, routes};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Everything a session owns on the CPU.
#[derive(Debug)]
pub(crate) struct HostState {
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
    /// By fixpoint and list: how many items it held when the fixpoint's round began.
    began: Vec<Cell<usize>>,
    pub(crate) reductions: Vec<RefCell<Total>>,
    /// By fixpoint: the round that it is in, or was in last.
    pub(crate) rounds: Vec<u32>,
    /// By wave: the route of its last sweep, or what it starts with.
    routes: Vec<Cell<Route>>,
    /// By wave: no result shows the order in which it takes the items of its frontier.
    may_order: Vec<bool>,
    /// Brings lists into the order of the nodes.
    bitmap: Bitmap,
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
    /// What this state did. Launches and fences are its executor's to count.
    pub(crate) counts: Counters,
    pub(crate) activity: Activity,
    /// What a run is limited and measured by.
    pub(crate) meter: Meter,
    /// Items from which a sweep uses all threads.
    pub(crate) parallel_from: u64,
    /// How sweeps over frontiers go.
    pub(crate) sweeps: Sweeps,
    /// Results up to this size share a slab.
    pub(crate) pack_up_to_bytes: u64,
}

/// A buffer's contents.
#[derive(Debug)]
pub(crate) enum Held {
    /// Of this state alone.
    Own(Column),
    /// A topology's, for all states of a session.
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

/// Graphs, topology buffers and stamps that an update brings.
type Differing = (
    Vec<(usize, Arc<Graph>)>,
    Vec<(BufferId, Held)>,
    Vec<(usize, Vec<AtomicU32>)>,
);

/// What runs the items of a program's kernels over a state.
pub(crate) trait Bodies {
    /// It reads this input where the caller has it; otherwise the state has a copy.
    fn borrows(&self, _input: &Buffer) -> bool {
        false
    }
    /// In-out buffers that it works on where the caller has them.
    fn in_outs(&self) -> &[(BufferId, SliceMut<'_>)] {
        &[]
    }
    /// A run begins.
    fn begin(&mut self) {}
    /// Sweeps a wave in a round; faults go to [`HostState::fail`].
    fn sweep(&mut self, state: &mut HostState, args: &Args<'_>, at: (WaveId, u32));
    /// Whether it can sweep waves together.
    fn fuses(&self) -> bool {
        false
    }
    /// Sweeps waves over the same items, which [`HostState::fuses`] allows.
    fn sweep_together(&mut self, _: &mut HostState, _: (&[WaveId], u32)) {
        unreachable!("only what fuses is asked for it")
    }
    /// Evaluates a condition.
    fn until(
        &mut self,
        state: &mut HostState,
        fixpoint: FixpointId,
        round: u32,
    ) -> Result<bool, Fault>;
    /// Threads that may run parts of a local fixpoint.
    fn threads(&self) -> usize {
        1
    }
    /// Runs all groups of parts, on these states.
    fn parts(&mut self, job: &Job<'_>, states: &mut [HostState]) -> Vec<Done>
    where
        Self: Sized,
    {
        let state = &mut states[0];
        std::iter::from_fn(|| job.next())
            .map(|group| job.run(group, state, self))
            .collect()
    }
    /// Adds what it counted since the run began.
    fn note(&mut self, _activity: &mut Activity) {}
}

impl HostState {
    pub(crate) fn new(
        program: Arc<Program>,
        args: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<HostState, RunError> {
        let lives = match allocation {
            Allocation::Separate => None,
            Allocation::Shared => Some(Lives::of(&program)),
        };
        let (graphs, sizes) = resolve_topologies(&program, args)?;
        check_columns(&program, &sizes, &args.columns)?;
        let defaults = Thresholds::default();
        let mut state = HostState {
            graphs: Vec::new(),
            sizes,
            home: (0..program.buffers.len()).collect(),
            most: vec![0; program.buffers.len()],
            rows: vec![None; program.buffers.len()],
            buffers: Vec::with_capacity(program.buffers.len()),
            frontiers: Vec::new(),
            lists: Vec::new(),
            swept: program.waves.iter().map(|_| Cell::new(0)).collect(),
            began: vec![Cell::new(0); program.fixpoints.len() * program.lists.len()],
            reductions: (program.reductions.iter())
                .map(|r| RefCell::new(Total::new(r)))
                .collect(),
            rounds: vec![0; program.fixpoints.len()],
            routes: routes(&program),
            may_order: (program.waves.iter())
                .map(|wave| route::may_order(&program, wave))
                .collect(),
            bitmap: Bitmap::default(),
            lives,
            peak_bytes: 0,
            lent_bytes: 0,
            faults: RefCell::default(),
            starved_bytes: Cell::new(0),
            counts: Counters::default(),
            activity: Activity::default(),
            meter: Meter::default(),
            parallel_from: defaults.parallel_from,
            sweeps: Sweeps::default(),
            pack_up_to_bytes: defaults.pack_up_to_bytes,
            program,
        };
        state.allocate()?;
        state.check_topology_columns(args)?;
        state.counts.graph_uploads = u64::from(!state.program.topologies.is_empty());
        let program = Arc::clone(&state.program);
        for (graph, topology) in graphs.into_iter().zip(&program.topologies) {
            state.counts.graph_upload_bytes += csr_bytes(&graph);
            state.graphs.push(Graph::new(graph, topology)?);
        }
        for (id, values) in &args.columns {
            state.counts.graph_upload_bytes += values.bytes();
            *state.buffers[id.index()].get_mut() = state.shared_copy(*id, *values)?;
        }
        Ok(state)
    }

    /// A copy of a topology's buffer.
    fn shared_copy(&self, id: BufferId, values: Slice<'_>) -> Result<Held, RunError> {
        let copy = values.try_to_column();
        let buffer = &self.program.buffers[id.index()];
        let copy = copy.ok_or_else(|| no_memory_for(buffer, values.len()))?;
        Ok(Held::Shared(Arc::new(copy)))
    }

    /// Makes rows of bits of a topology's words, for all states of a session, in the memory where they are.
    pub(crate) fn share_rows(&mut self) {
        let given = (self.sizes.rows(&self.program)).into_iter();
        for (id, nodes, width) in given {
            let held = self.buffers[id.index()].get_mut();
            let Held::Shared(column) = held else {
                continue;
            };
            let column = Arc::get_mut(column).expect("no other state has it yet");
            let words = std::mem::take(u32::in_column_mut(column).expect("rows of bits are words"));
            self.rows[id.index()] = Some(Arc::new(Bits::clean(words, nodes, width)));
            *held = Held::Own(Column::U32(Vec::new()));
        }
    }

    /// A state of the same session for another query: topologies are shared, the rest is its own.
    pub(crate) fn sibling(&self) -> Result<HostState, RunError> {
        let mut state = HostState {
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
            began: self.began.clone(),
            reductions: self.reductions.clone(),
            rounds: self.rounds.clone(),
            routes: self.routes.clone(),
            may_order: self.may_order.clone(),
            bitmap: Bitmap::default(),
            faults: RefCell::default(),
            starved_bytes: Cell::new(0),
            lives: self.lives.is_some().then(|| Lives::of(&self.program)),
            peak_bytes: 0,
            lent_bytes: 0,
            counts: Counters::default(),
            activity: Activity::default(),
            meter: self.meter.sibling(),
            parallel_from: self.parallel_from,
            sweeps: self.sweeps,
            pack_up_to_bytes: self.pack_up_to_bytes,
        };
        state.sizes.scalars.clear();
        state.allocate()?;
        for (to, from) in state.buffers.iter_mut().zip(&self.buffers) {
            if let Held::Shared(column) = &*from.borrow() {
                *to.get_mut() = Held::Shared(Arc::clone(column));
            }
        }
        Ok(state)
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
            check_type(&self.program, *id, values)?;
        }
        for (id, buffer) in self.program.buffers.iter().enumerate() {
            if buffer.role == Role::Topology {
                given(
                    &self.program,
                    &self.sizes,
                    (BufferId(id as u16), &args.columns),
                )?;
            }
        }
        Ok(())
    }

    /// Lends its topology, as it was given: without the graphs that were built here.
    pub(crate) fn lend_topology(&self) -> Lent<'_> {
        let buffers = (0u16..).zip(self.buffers.iter().zip(&self.rows));
        let columns = buffers.filter_map(|(id, (held, rows))| {
            let column = match (&*held.borrow(), rows) {
                (_, Some(rows)) => Arc::new(Column::U32(rows.to_words())),
                (Held::Shared(column), None) => Arc::clone(column),
                (Held::Own(_), None) => return None,
            };
            Some((BufferId(id), column))
        });
        let graphs = self.graphs.iter().zip(&self.program.topologies);
        let given = graphs.filter(|(_, declared)| declared.reverse_of.is_none());
        Lent {
            graphs: given.map(|(graph, _)| Cow::Borrowed(&graph.csr)).collect(),
            columns: columns.collect(),
            scalars: self.sizes.of_session.clone(),
        }
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

    /// Gives each of these states of a session the memory that the largest came to need, so that it does not matter
    /// which of them runs what next.
    pub(crate) fn level(states: &mut [&mut HostState]) {
        let Some(first) = states.first() else { return };
        let (program, frontiers) = (Arc::clone(&first.program), first.frontiers.len());
        for (id, buffer) in program.buffers.iter().enumerate() {
            // Those of results leave with them.
            if matches!(buffer.role, Role::Output | Role::InOut) {
                continue;
            }
            let has = states
                .iter_mut()
                .map(|s| s.buffers[id].get_mut().capacity());
            let most = has.max().unwrap_or(0);
            for state in &mut *states {
                if let Held::Own(column) = state.buffers[id].get_mut()
                    && column.capacity() < most
                {
                    state.counts.allocations += u64::from(column.reserve(most));
                }
            }
        }
        for id in 0..frontiers {
            let most = states.iter().map(|s| s.frontiers[id].allocated).max();
            let most = most.unwrap_or(0);
            for state in &mut *states {
                let frontier = &mut state.frontiers[id];
                if frontier.records.is_none() && frontier.allocated < most {
                    for list in [frontier.items.get_mut(), frontier.next.get_mut()] {
                        let _reserved = list.try_reserve_exact(most.saturating_sub(list.len()));
                    }
                    frontier.allocated = most;
                    state.counts.allocations += 1;
                }
            }
        }
    }
}
