//! A session's state on the CPU, and the driver that follows the schedule over it.
//!
//! Both CPU backends share it: the native executor borrows buffers through `RefCell`s once per sweep (so the macros' glue
//! stays safe Rust), the interpreter owns it while it sweeps. A round of sweeps on one thread allocates nothing.

use crate::csr::Csr;
use crate::exec::{
    Args, Column, Outcome, Report, Rows, RunError, Sizes, TopologyArgs, check_columns,
    resolve_topologies,
};
use crate::fault::Fault;
use crate::isa::{Op, Word};
use crate::module::{
    BufferId, Domain, FixpointId, FrontierId, Kernel, KernelId, ListId, Program, ReductionId,
    Resource, Role, Site, Step, WaveId,
};
use crate::plan::footprint::{Allocation, Life, footprint};
use crate::trap::{Trap, TrapKind, WHOLE_WAVE};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Everything a session owns on the CPU.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) program: Arc<Program>,
    pub(crate) graphs: Vec<Graph>,
    pub(crate) sizes: Sizes,
    pub(crate) buffers: Vec<RefCell<Column>>,
    pub(crate) frontiers: Vec<Frontier>,
    pub(crate) lists: Vec<List>,
    /// By wave: how much of its list it has swept, where it sweeps what is new.
    swept: Vec<Cell<usize>>,
    pub(crate) reductions: Vec<Cell<u64>>,
    /// Scratch of the edge partition.
    pub(crate) cuts: RefCell<Vec<Cut>>,
    /// Where each buffer's contents belong when no swap is pending.
    home: Vec<usize>,
    /// When temporaries come and go; `None`: they stay.
    lives: Option<Lives>,
    /// Most bytes that were held at once in the last run.
    peak_bytes: u64,
    faults: RefCell<Option<Box<Pending>>>,
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
    fn of(program: &Program) -> Result<Lives, RunError> {
        let sizes = Sizes {
            nodes: 0,
            edges: vec![0; program.topologies.len()],
            scalars: vec![0; program.scalars.len()],
        };
        let takes = footprint(program, &sizes).map_err(|e| RunError::Invalid(e.to_string()))?;
        let mut lives = Lives {
            buffers: vec![None; program.buffers.len()],
            frontiers: vec![None; program.frontiers.len()],
            here: vec![false; program.buffers.len()],
        };
        for item in takes.items {
            let life = match item.life {
                Life::Groups { first, last } => Some((first, last)),
                Life::Run => Some((0, u32::MAX)),
                Life::Never => None,
            };
            match item.resource {
                Resource::Buffer(b) => lives.buffers[b.index()] = life,
                Resource::Frontier(f) => lives.frontiers[f.index()] = life,
                Resource::Topology(_) | Resource::Reduction(_) | Resource::List(_) => {}
            }
        }
        Ok(lives)
    }
}

fn lives_in(life: Option<(u32, u32)>, group: u32) -> bool {
    life.is_some_and(|(first, last)| (first..=last).contains(&group))
}

/// A topology and what the partition needs to know about it.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) csr: Csr,
    pub(crate) max_degree: u32,
}

/// A position in the edges out of a list of nodes: `edges` edges into the node at `item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) item: usize,
    pub(crate) edges: u32,
}

/// A frontier: what is swept, what was pushed since the last flip, and the spare vectors of parallel sweeps.
#[derive(Debug)]
pub(crate) struct Frontier {
    pub(crate) items: RefCell<Vec<u32>>,
    pub(crate) next: RefCell<Vec<u32>>,
    /// Items that are not nodes.
    pub(crate) records: Option<Records>,
    /// Pushes that did not fit.
    pub(crate) refused: Cell<u64>,
    pub(crate) capacity: usize,
    /// Of a unique frontier: the stamp of each node when it was pushed last.
    pub(crate) stamps: Option<Arc<[AtomicU32]>>,
    pub(crate) stamp: Cell<u32>,
    pub(crate) spare: Mutex<Vec<Vec<u32>>>,
    owned: bool,
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
    /// What the native sweep that is running appended.
    pub(crate) pending: RefCell<Rows>,
    /// Appends that did not fit.
    pub(crate) refused: Cell<u64>,
    pub(crate) capacity: usize,
}

impl List {
    /// Items appended in this run, whether they fit or not.
    pub(crate) fn len(&self) -> u64 {
        let held = self.items.borrow().len() + self.pending.borrow().len();
        held as u64 + self.refused.get()
    }
}

impl Frontier {
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
        if let Some(stamps) = &self.stamps {
            let stamp = self.stamp.get_mut();
            *stamp = stamp.wrapping_add(1);
            if *stamp == 0 {
                stamps.iter().for_each(|s| s.store(0, Relaxed));
                *stamp = 1;
            }
        }
    }

    /// Gives its memory up; it is empty.
    fn release(&mut self) {
        self.clear();
        *self.items.get_mut() = Vec::new();
        *self.next.get_mut() = Vec::new();
        if let Some(records) = &mut self.records {
            records.items.get_mut().release();
            records.next.get_mut().release();
        }
        if let Ok(spare) = self.spare.get_mut() {
            *spare = Vec::new();
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
    /// Sweeps a wave; faults go to [`Store::fail`].
    fn sweep(&mut self, store: &mut Store, wave: WaveId, round: u32);
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
            Allocation::Shared => Some(Lives::of(&program)?),
        };
        let (graphs, sizes) = resolve_topologies(&program, args)?;
        check_columns(&program, &sizes, &args.columns)?;
        let mut buffers = Vec::with_capacity(program.buffers.len());
        for buffer in &program.buffers {
            // What depends on a scalar gets its memory in the first run.
            let len = match sizes.resolve(&program, buffer.extent) {
                Some(len) => index_len(&buffer.name, len)?,
                None => 0,
            };
            let keeps = match buffer.role {
                Role::Output => true,
                Role::Scratch => lives.is_none(),
                Role::Topology | Role::Input | Role::InOut => false,
            };
            let len = if keeps { len } else { 0 };
            buffers.push(RefCell::new(Column::filled(buffer.scalar, len, 0)));
        }
        let mut frontiers = Vec::with_capacity(program.frontiers.len());
        for frontier in &program.frontiers {
            frontiers.push(Frontier {
                items: RefCell::default(),
                next: RefCell::default(),
                records: (!frontier.fields.is_empty()).then(|| Records {
                    items: RefCell::new(Rows::new(&frontier.fields)),
                    next: RefCell::new(Rows::new(&frontier.fields)),
                }),
                refused: Cell::new(0),
                capacity: 0,
                stamps: frontier
                    .unique
                    .then(|| (0..sizes.nodes).map(|_| AtomicU32::new(0)).collect()),
                stamp: Cell::new(0),
                spare: Mutex::default(),
                owned: frontier.owner.is_some(),
            });
        }
        let store = Store {
            graphs: graphs
                .into_iter()
                .map(|g| Graph {
                    max_degree: g
                        .offsets()
                        .windows(2)
                        .map(|w| w[1] - w[0])
                        .max()
                        .unwrap_or(0),
                    csr: g.into_owned(),
                })
                .collect(),
            sizes,
            home: (0..buffers.len()).collect(),
            buffers,
            frontiers,
            lists: program
                .lists
                .iter()
                .map(|list| List {
                    items: RefCell::new(Rows::new(&list.fields)),
                    pending: RefCell::new(Rows::new(&list.fields)),
                    refused: Cell::new(0),
                    capacity: 0,
                })
                .collect(),
            swept: program.waves.iter().map(|_| Cell::new(0)).collect(),
            reductions: program.reductions.iter().map(|_| Cell::new(0)).collect(),
            cuts: RefCell::default(),
            lives,
            peak_bytes: 0,
            faults: RefCell::default(),
            program,
        };
        for (id, values) in &args.columns {
            store.upload(*id, *values)?;
        }
        for (id, buffer) in store.program.buffers.iter().enumerate() {
            if buffer.role == Role::Topology {
                store.given(BufferId(id as u16), &args.columns)?;
            }
        }
        Ok(store)
    }

    fn upload(&self, id: BufferId, values: crate::exec::Slice<'_>) -> Result<(), RunError> {
        if self.buffers[id.index()].borrow_mut().assign(values) {
            Ok(())
        } else {
            let buffer = &self.program.buffers[id.index()];
            Err(RunError::Invalid(format!(
                "`{}` holds {}, not {}",
                buffer.name,
                buffer.scalar.name(),
                values.scalar().name()
            )))
        }
    }

    /// A buffer that the caller fills was filled.
    fn given(
        &self,
        id: BufferId,
        columns: &[(BufferId, crate::exec::Slice<'_>)],
    ) -> Result<(), RunError> {
        let buffer = &self.program.buffers[id.index()];
        let expected = self
            .sizes
            .resolve(&self.program, buffer.extent)
            .unwrap_or(0);
        if expected == 0 || columns.iter().any(|(b, _)| *b == id) {
            return Ok(());
        }
        Err(RunError::Length {
            name: buffer.name.clone(),
            expected,
            actual: 0,
        })
    }

    /// The state at the start of a run.
    fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
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
        for at in 0..self.home.len() {
            while self.home[at] != at {
                self.swap(at, self.home[at]);
            }
        }
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.len_of(&buffer.name, buffer.extent)?;
            match buffer.role {
                Role::Topology => {}
                Role::Input | Role::InOut => self.given(BufferId(i as u16), &args.inputs)?,
                Role::Scratch if self.lives.is_some() => {
                    *self.buffers[i].get_mut() = Column::filled(buffer.scalar, 0, 0);
                }
                Role::Output | Role::Scratch => {
                    let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                    self.buffers[i].get_mut().reset(len, bits);
                }
            }
        }
        for (id, values) in &args.inputs {
            self.upload(*id, *values)?;
        }
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
        for (state, list) in self.lists.iter_mut().zip(&program.lists) {
            let capacity = self
                .sizes
                .resolve(&program, list.capacity)
                .expect("verified extents name scalars of the program");
            // A slot is a u32.
            state.capacity = index_len(&list.name, capacity)?;
            state.items.get_mut().clear();
            state.pending.get_mut().clear();
            state.refused.set(0);
        }
        self.swept.iter_mut().for_each(|s| s.set(0));
        if let Some(lives) = &mut self.lives {
            lives.here.fill(false);
        }
        self.peak_bytes = 0;
        self.enter(0);
        for id in 0..program.reductions.len() {
            self.reset_reduction(id);
        }
        *self.faults.get_mut() = None;
        Ok(())
    }

    /// A barrier group begins. Where memory is shared, temporaries whose life is over give theirs up, and those whose life
    /// begins get theirs, initialised.
    fn enter(&mut self, group: u32) {
        if self.lives.is_none() && group > 0 {
            return;
        }
        let program = Arc::clone(&self.program);
        if let Some(mut lives) = self.lives.take() {
            for (i, buffer) in program.buffers.iter().enumerate() {
                if buffer.role == Role::Scratch
                    && lives.here[i]
                    && !lives_in(lives.buffers[i], group)
                {
                    *self.buffers[i].get_mut() = Column::filled(buffer.scalar, 0, 0);
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
                    let len = self.len_of(&buffer.name, buffer.extent);
                    let len = len.expect("lengths were checked when the run began");
                    self.buffers[i].get_mut().reset(len, bits);
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
            .map(|b| b.get_mut())
            .map(|b| b.len() * b.scalar().size_bytes() as usize);
        let mut held = (graphs.sum::<usize>() + buffers.sum::<usize>()) as u64;
        // A frontier may fill both its sides.
        for (id, frontier) in self.frontiers.iter().enumerate() {
            if self
                .lives
                .as_ref()
                .is_none_or(|l| lives_in(l.frontiers[id], group))
            {
                held += 2 * program.frontiers[id].item_bytes() * frontier.capacity as u64;
            }
        }
        for (list, declared) in self.lists.iter().zip(&program.lists) {
            held += declared.item_bytes() * list.capacity as u64;
        }
        held += 8 * self.reductions.len() as u64;
        self.peak_bytes = self.peak_bytes.max(held);
    }

    /// Most bytes that were held at once in the last run, with room for every frontier's capacity.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// A length of a run, which must fit u32 indices.
    pub(crate) fn len_of(
        &self,
        name: &str,
        extent: crate::module::Extent,
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
            list.items.get_mut().append(list.pending.get_mut());
        }
    }

    pub(crate) fn kernel_of(&self, wave: WaveId) -> &Kernel {
        &self.program.kernels[self.program.waves[wave.index()].kernel.index()]
    }

    /// What was written before is visible after; the group's faults and overflows stop the run. `at` is the barrier's
    /// position in the schedule: the group is the sweeps before it.
    fn barrier(&mut self, at: usize) -> Result<(), RunError> {
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
                frontier.items.get_mut().append(frontier.next.get_mut());
                if let Some(records) = &mut frontier.records {
                    let items = records.items.get_mut();
                    items.append(records.next.get_mut());
                }
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
            None => Ok(()),
            Some(pending) => {
                let (wave, item, _) = pending.key;
                Err(self.trap(
                    self.program.waves[wave.index()].kernel,
                    (item != WHOLE_WAVE).then_some(item),
                    pending.fault,
                ))
            }
        }
    }

    /// The overflow of a frontier or list, blamed on the first push of the lowest wave of the group that pushes onto it.
    #[cold]
    fn overflow(&self, of: Resource, (needed, capacity): (u64, u64), at: usize) -> Pending {
        let group = self.program.schedule[..at]
            .iter()
            .rev()
            .map_while(|step| match step {
                Step::Wave(w) => Some(*w),
                _ => None,
            });
        let (wave, pc) = group
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
            },
        }
    }

    fn trap(&self, kernel: KernelId, item: Option<u32>, fault: Fault) -> RunError {
        RunError::Trap(Box::new(Trap {
            kind: fault.kind,
            kernel: self.program.kernels[kernel.index()].name.clone(),
            site: fault.site,
            item,
            index: fault.index,
            len: fault.len,
            message: fault.message,
            lane: None,
        }))
    }

    /// Runs the pass once.
    pub(crate) fn run(
        &mut self,
        args: &Args<'_>,
        backend: &mut impl Backend,
    ) -> Result<Outcome, RunError> {
        let started = Instant::now();
        self.begin(args)?;
        let rounds = self.follow_schedule(backend)?;
        let mut outcome = self.outcome();
        outcome.report = Report {
            rounds,
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            device_ns: None,
        };
        Ok(outcome)
    }

    fn follow_schedule(&mut self, backend: &mut impl Backend) -> Result<Vec<u64>, RunError> {
        let program = Arc::clone(&self.program);
        let mut total = vec![0u64; program.fixpoints.len()];
        let mut round = total.clone();
        let mut first = vec![0usize; total.len()];
        // Barrier group of each step, as the footprint counts them.
        let ends = |s: &Step| matches!(s, Step::Barrier | Step::Until(_));
        let mut groups = 0;
        let group: Vec<u32> = program
            .schedule
            .iter()
            .map(|s| {
                let this = groups;
                groups += u32::from(ends(s));
                this
            })
            .collect();
        let mut at = 0;
        loop {
            match program.schedule[at] {
                Step::Wave(wave) => {
                    let round = match program.waves[wave.index()].fixpoint {
                        Some(f) => round[f.index()] as u32,
                        None => 0,
                    };
                    backend.sweep(self, wave, round);
                }
                Step::Barrier => {
                    self.barrier(at)?;
                    self.enter(group[at + 1]);
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
                    let done = match backend.until(self, f, *now as u32) {
                        Ok(done) => done,
                        Err(fault) => return Err(self.trap(fixpoint.until, None, fault)),
                    };
                    if !done {
                        *now += 1;
                        if *now >= fixpoint.max_rounds {
                            return Err(self.round_limit(f));
                        }
                        at = first[f.index()];
                        self.begin_round(f);
                    } else {
                        self.enter(group[at + 1]);
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
            index: fixpoint.max_rounds,
            len: fixpoint.max_rounds,
            message: None,
            lane: None,
        }))
    }

    /// Hands the outputs out; the next run makes new ones.
    fn outcome(&mut self) -> Outcome {
        let mut outcome = Outcome {
            rows: self.sizes.rows(&self.program),
            ..Outcome::default()
        };
        for (i, buffer) in self.program.buffers.iter().enumerate() {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                let empty = Column::filled(buffer.scalar, 0, 0);
                let column = self.buffers[i].replace(empty);
                outcome.outputs.push((BufferId(i as u16), column));
            }
        }
        for (i, list) in self.program.lists.iter().enumerate() {
            if list.output {
                let items = self.lists[i].items.replace(Rows::new(&list.fields));
                outcome.lists.push((ListId(i as u16), items.columns));
            }
        }
        for (i, reduction) in self.program.reductions.iter().enumerate() {
            if reduction.output {
                let bits = self.reductions[i].get();
                outcome.reductions.push((ReductionId(i as u16), bits));
            }
        }
        outcome
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
}

fn first_push(kernel: &Kernel, onto: Resource) -> Option<u32> {
    let pushes = |w: &Word| match (onto, Op::from_code(w.op)) {
        (Resource::Frontier(f), Some(Op::Push | Op::PushItem)) => w.resource() == f.0,
        (Resource::List(l), Some(Op::Append)) => w.resource() == l.0,
        _ => false,
    };
    kernel.code.iter().position(pushes).map(|pc| pc as u32)
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
