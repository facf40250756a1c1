//! The native executor: waves run the user's own functions, in parallel where a sweep is large enough to pay for it.
//!
//! The macros' glue (an implementation of [`Functions`]) asks the [`Sweep`] for one [`LaneArg`] per parameter and
//! sweeps them over the wave's domain with a closure that calls the user's function. A sweep is cut into chunks whose
//! borders depend on the data alone, never on the number of threads, and what chunks push and reduce is merged in chunk
//! order: results do not depend on the machine. A chunk has local state for each argument, so that a lane costs no lock
//! and no shared counter.
//!
//! A faulting lane unwinds to its chunk, which notes the fault and goes on with the next lane.

mod collected;
mod faults;
mod lane_args;
mod looks;
mod pull;
mod relations;
mod sweep;
mod walks;

pub use collected::{AppendArg, PushArg, PushItems, PushView, ReduceArg, RoomView};
pub use lane_args::{
    Fields, FieldsMut, LaneArg, Own, OwnMut, OwnRow, OwnRowMut, OwnValues, OwnValuesMut, Read,
    ReadRows, Rowed, Shared,
};
pub use relations::{InsertArg, InsertView};
pub use sweep::{Named, Sweep};
pub use walks::Lane;

use crate::cpu::state::{Bodies, Done, HostState, Job, no_memory_for};
use crate::dsl::columns::{Column as Values, Element, SliceMut};
use crate::dsl::error::RunError;
use crate::dsl::fault::{self, Fault, InLane, Lanes};
use crate::plan::footprint::{Allocation, CHUNK};
use crate::plan::session::Counters;
use crate::plan::side::Floor;
use crate::run::args::{Args, Lent, TopologyArgs};
use crate::run::backend::{Executor, Followed, LaunchHint, Limits, Progress};
use crate::run::outcome::{Activity, Outcome, for_queries};
use crate::run::schedule::Meter;
use crate::run::stop::{Looking, Stop, lock};
use crate::vir0::module::{Buffer, BufferId, FixpointId, ListId, Program, WaveId};
use faults::{can_trap, refine};
use looks::{Ahead, is_lent};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use sweep::Scratch;

/// Threads that may be asked for whatever the machine has; above, [`PER_CORE`] for each of its own.
const ANY_MACHINE: usize = 1024;
const PER_CORE: usize = 16;

/// Threads of the pool that large sweeps use, which this makes where there is none: as many as the machine has, or as
/// `RAYON_NUM_THREADS` says.
///
/// # Errors
/// That asks for more than 1,024 threads and more than 16 for each of the machine's: making them takes minutes, or ends
/// the process. The pool then has the machine's number, so that nothing else comes to harm.
pub fn threads() -> Result<usize, RunError> {
    static REFUSED: OnceLock<Option<(usize, usize)>> = OnceLock::new();
    let refused = REFUSED.get_or_init(|| {
        let here = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most = most_threads();
        let asked = std::env::var("RAYON_NUM_THREADS").ok();
        let asked = asked.and_then(|n| n.parse().ok()).filter(|&n| n > most)?;
        // Where the program has made a pool of its own, that one is used, and nothing was asked for in vain.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(here);
        pool.build_global().ok().map(|()| (asked, most))
    });
    match *refused {
        Some((asked, most)) => Err(RunError::Threads { asked, most }),
        None => Ok(rayon::current_num_threads()),
    }
}

/// Threads that a pool may have.
pub(super) fn most_threads() -> usize {
    let here = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    ANY_MACHINE.max(PER_CORE * here)
}

/// What a runtime on this number of threads says that it runs on.
pub(super) fn device(threads: usize) -> String {
    match threads {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    }
}

/// The least that runs take: a lane of a sweep that the compiler turned into vector code.
pub(super) fn floor(threads: usize) -> Floor {
    Floor {
        run_ns: 500.0,
        round_ns: 20.0,
        item_ns: 0.25 / threads as f64,
    }
}

/// Goes on on a thread of the pool; `None`: on this one.
pub(super) fn on<T: Send>(pool: Option<&Arc<ThreadPool>>, go_on: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(go_on),
        None => go_on(),
    }
}

/// A pass's own functions. Implemented by the macros' expansion only.
pub trait Functions: 'static {
    /// Sweeps one wave: calls the user's own function for every item of `cx.wave()`.
    fn wave(cx: &Sweep<'_>);
    /// Evaluates the condition of `cx.fixpoint()`; left out where there is no fixpoint.
    fn until(_: &Until<'_>) -> bool {
        unreachable!("the pass has no fixpoint")
    }
}

/// Opens an executor of a pass's functions ([`Pass::NATIVE`](crate::run::pass::Pass::NATIVE)).
pub fn open<F: Functions>(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    let executor = NativeExecutor::new::<F>(program, topology, allocation);
    executor.map(|executor| Box::new(executor) as Box<dyn Executor>)
}

/// [`Functions`] as values: the executor is compiled once, and not for each pass.
#[derive(Clone, Copy, Debug)]
struct Calls {
    wave: fn(&Sweep<'_>),
    until: fn(&Until<'_>) -> bool,
}

/// The end of a round: what a fixpoint's condition may look at.
#[derive(Debug)]
pub struct Until<'s> {
    state: &'s HostState,
    fixpoint: FixpointId,
    round: u32,
}

/// A frontier as a condition sees it.
#[derive(Clone, Copy, Debug)]
pub struct FrontierView {
    len: u32,
}

impl FrontierView {
    /// Items pushed since the last flip, or appended since the run began.
    pub fn len(self) -> u32 {
        self.len
    }

    /// There are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// A relation as a condition sees it.
#[derive(Clone, Copy, Debug)]
pub struct RelationView {
    len: u32,
    began: u32,
}

impl RelationView {
    /// Tuples that it has.
    pub fn len(self) -> u32 {
        self.len
    }

    /// It has none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// No tuple was inserted in this round.
    pub fn settled(self) -> bool {
        self.len == self.began
    }
}

impl Until<'_> {
    /// Which fixpoint.
    pub fn fixpoint(&self) -> FixpointId {
        self.fixpoint
    }

    /// The round that has just ended, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The round of a fixpoint around this one.
    pub fn outer_round(&self, fixpoint: u16) -> u32 {
        self.state.rounds[fixpoint as usize]
    }

    /// A frontier.
    pub fn frontier(&self, id: u16) -> FrontierView {
        FrontierView {
            len: self.state.frontiers[id as usize].len() as u32,
        }
    }

    /// A list.
    pub fn list(&self, id: u16) -> FrontierView {
        FrontierView {
            len: self.state.lists[id as usize].items.borrow().len() as u32,
        }
    }

    /// A relation.
    pub fn relation(&self, id: u16) -> RelationView {
        RelationView {
            len: self.list(id).len,
            began: self.state.began(self.fixpoint, ListId(id)).get() as u32,
        }
    }

    /// A reduction's value.
    pub fn reduction<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.state.reductions[id as usize].borrow().value())
    }

    /// A scalar of the run.
    pub fn scalar<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.state.sizes.scalars[id as usize])
    }

    /// Number of nodes.
    pub fn nodes_count(&self) -> u32 {
        self.state.sizes.nodes as u32
    }
}

/// Runs a pass's own functions on the threads of the global rayon pool, or of one of its own; of a batch, one query a
/// thread.
///
/// Needs `panic = "unwind"`: traps unwind out of the user's functions.
#[derive(Debug)]
pub struct NativeExecutor {
    state: HostState,
    scratch: Scratch,
    /// States of further queries of a batch; kept for the next batch.
    slots: Vec<(HostState, Scratch)>,
    /// Queries of a batch that may be in memory at once.
    max_slots: usize,
    batches: u64,
    /// Counted by slots that are no more.
    dropped: Counters,
    pool: Option<Arc<ThreadPool>>,
    calls: Calls,
}

impl NativeExecutor {
    /// Copies the topologies; `program` is the verified program of `P`.
    pub fn new<P: Functions>(
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<NativeExecutor, RunError> {
        let calls = Calls {
            wave: P::wave,
            until: P::until,
        };
        NativeExecutor::of(calls, program, topology, allocation)
    }

    fn of(
        calls: Calls,
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<NativeExecutor, RunError> {
        fault::install_hook();
        let mut state = HostState::new(program, topology, allocation)?;
        state.share_rows();
        Ok(NativeExecutor {
            scratch: Scratch::new(&state.program),
            state,
            slots: Vec::new(),
            max_slots: usize::MAX,
            batches: 0,
            dropped: Counters::default(),
            pool: None,
            calls,
        })
    }

    /// Threads that share its sweeps.
    fn threads(&self) -> usize {
        match &self.pool {
            Some(pool) => pool.current_num_threads(),
            None => rayon::current_num_threads(),
        }
    }

    /// A run that takes more items, rounds and turns of loops than this ends in [`RunError::Work`].
    #[must_use]
    pub fn with_work_limit(mut self, limit: u64) -> NativeExecutor {
        self.state.meter.most_work = limit;
        self
    }

    /// Its own, and those of further queries.
    fn states(&mut self) -> impl Iterator<Item = &mut HostState> {
        let slots = self.slots.iter_mut().map(|(state, _)| state);
        std::iter::once(&mut self.state).chain(slots)
    }

    fn series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let mut bodies = Native::new(self.calls, &mut self.scratch, &mut []);
        self.state.run_series(series, &mut bodies, results)
    }

    fn in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let program = &self.state.program;
        let may_trap = may_trap || program.waves.iter().any(|w| can_trap(program, w));
        let copies = may_trap.then(|| {
            let copies = in_outs.iter().map(|(id, s)| {
                let copy = s.as_slice().try_to_column();
                copy.ok_or_else(|| {
                    let buffer = &program.buffers[id.index()];
                    no_memory_for(buffer, s.as_slice().len())
                })
            });
            copies.collect::<Result<Vec<Values>, RunError>>()
        });
        let copies = copies.transpose()?;
        let series = std::slice::from_ref(args);
        let mut results = Outcome::default();
        let mut bodies = Native::new(self.calls, &mut self.scratch, in_outs);
        let result = self.state.run_series(series, &mut bodies, &mut results);
        if let (true, Some(copies)) = (result.is_err(), copies) {
            for ((_, to), from) in in_outs.iter_mut().zip(&copies) {
                let restored = to.assign(from.as_slice());
                debug_assert!(restored, "the copy was made of it");
            }
        }
        result.map(|()| results)
    }

    fn batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        let threads = match &self.pool {
            Some(pool) => Ok(pool.current_num_threads()),
            None => threads(),
        };
        let threads = match threads {
            Ok(threads) => threads,
            Err(e) => return vec![Err(e)],
        };
        let workers = threads.min(queries.len()).min(self.max_slots).max(1);
        while self.slots.len() + 1 < workers {
            match self.state.sibling() {
                Ok(slot) => {
                    let scratch = Scratch::new(&slot.program);
                    self.slots.push((slot, scratch));
                }
                Err(e) => return vec![Err(e)],
            }
        }
        self.batches += u64::from(!queries.is_empty());
        let (calls, parallel_from) = (self.calls, self.state.parallel_from);
        // With a query for each thread, sweeps need no further threads.
        let each = if workers == threads && workers > 1 {
            u64::MAX
        } else {
            parallel_from
        };
        let mut done = match for_queries(queries.len()) {
            Ok(done) => done,
            Err(e) => return vec![Err(e)],
        };
        done.extend(queries.iter().map(|_| Err(RunError::NoRuns)));
        let (next, done) = (AtomicUsize::new(0), Mutex::new(done));
        let work = |(state, scratch): (&mut HostState, &mut Scratch)| {
            state.parallel_from = each;
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(args) = queries.get(at) else { break };
                let mut results = Outcome::default();
                let mut bodies = Native::new(calls, scratch, &mut []);
                let run = state.run(args, &mut bodies, (&mut results, true));
                let mut done = lock(&done);
                done[at] = run.map(|()| results);
            }
        };
        let slots = self
            .slots
            .iter_mut()
            .map(|(state, scratch)| (state, scratch));
        let states = std::iter::once((&mut self.state, &mut self.scratch)).chain(slots);
        if workers == 1 {
            states.take(1).for_each(work);
        } else {
            rayon::scope(|scope| {
                for state in states.take(workers) {
                    scope.spawn(|_| work(state));
                }
            });
        }
        self.state.parallel_from = parallel_from;
        HostState::level(&mut self.states().collect::<Vec<_>>());
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for NativeExecutor {
    fn peak_bytes(&self) -> Option<u64> {
        Some(self.state.peak_bytes())
    }

    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let pool = self.pool.clone();
        on(pool.as_ref(), || self.series(series, results))
    }

    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let pool = self.pool.clone();
        on(pool.as_ref(), || self.in_place(args, in_outs, may_trap))
    }

    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        let pool = self.pool.clone();
        on(pool.as_ref(), || self.batch(queries))
    }

    fn slots(&self) -> u32 {
        self.threads() as u32
    }

    fn update(&mut self, topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        self.state.update(topology)?;
        self.state.share_rows();
        for (slot, _) in self.slots.drain(..) {
            self.dropped = self.dropped.plus(&slot.counts);
        }
        Ok(true)
    }

    fn lend_topology(&self) -> Result<Option<Lent<'_>>, RunError> {
        Ok(Some(self.state.lend_topology()))
    }

    fn counters(&self) -> Option<Counters> {
        let mut sum = self.state.counts.plus(&self.dropped);
        for (slot, _) in &self.slots {
            sum = sum.plus(&slot.counts);
        }
        sum.launches += self.batches;
        sum.fences += self.batches;
        Some(sum)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_workers: self.threads() as u32,
            lanes_per_worker: CHUNK as u32,
            workers_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: true,
            packs_lists: false,
            fuses_waves: false,
            pulls: true,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let limits = self.limits();
        let mut notes = Vec::new();
        if hint.workers > 1 && hint.workers < limits.max_workers {
            notes.push("fewer threads wanted, not available: a sweep takes one or all".into());
        }
        self.state.parallel_from = match hint.workers {
            1 => u64::MAX,
            _ => hint.host.parallel_from,
        };
        for state in self.states() {
            state.pack_up_to_bytes = hint.pack_up_to_bytes;
            state.sweeps = hint.sweeps;
            state.meter.time_waves = hint.time_waves;
        }
        self.set_pulls(hint.sweeps.pulls);
        self.max_slots = hint.slots.max(1) as usize;
        if self.slots.len() >= self.max_slots {
            for (slot, _) in self.slots.drain(self.max_slots - 1..) {
                self.dropped = self.dropped.plus(&slot.counts);
            }
        }
        Followed {
            workers: if hint.workers == 1 {
                1
            } else {
                limits.max_workers
            },
            code: "native".into(),
            sweeps: Some(hint.sweeps.start),
            notes,
        }
    }

    fn set_pulls(&mut self, pulls: bool) {
        for state in self.states() {
            state.sweeps.pulls = pulls;
        }
        if pulls {
            return;
        }
        let slots = self.slots.iter_mut().map(|(_, scratch)| scratch);
        for scratch in slots.chain([&mut self.scratch]) {
            let pulls = scratch.pulls.iter_mut().flatten();
            pulls.for_each(|pull| pull.get_mut().forget_bitmaps());
        }
    }

    fn set_pool(&mut self, pool: &Arc<ThreadPool>) {
        self.pool = Some(Arc::clone(pool));
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.state.meter.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.state.meter.progress = progress;
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        for state in self.states() {
            state.meter.stop = Some(Arc::clone(stop));
        }
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        for state in self.states() {
            state.meter.most_work = steps.unwrap_or(u64::MAX);
        }
        true
    }
}

/// The pass's functions over a state.
struct Native<'b, 'a> {
    calls: Calls,
    scratch: &'b mut Scratch,
    in_outs: &'b mut [(BufferId, SliceMut<'a>)],
    /// Where turns are counted.
    looking: Option<Looking>,
}

impl<'b, 'a> Native<'b, 'a> {
    fn new(
        calls: Calls,
        scratch: &'b mut Scratch,
        in_outs: &'b mut [(BufferId, SliceMut<'a>)],
    ) -> Self {
        Native {
            calls,
            scratch,
            in_outs,
            looking: None,
        }
    }

    /// Loops count from here on, if the run has a limit.
    fn count(&mut self, meter: &Meter) {
        if meter.is_limited() && self.looking.is_none() {
            self.looking = Some(Looking::begin());
        }
    }
}

impl Bodies for Native<'_, '_> {
    fn borrows(&self, input: &Buffer) -> bool {
        is_lent(input)
    }

    fn in_outs(&self) -> &[(BufferId, SliceMut<'_>)] {
        self.in_outs
    }

    fn begin(&mut self) {
        self.scratch.shared.set(0);
        for pull in self.scratch.pulls.iter_mut().flatten() {
            pull.get_mut().turned = 0;
        }
    }

    fn sweep(&mut self, state: &mut HostState, args: &Args<'_>, (wave, round): (WaveId, u32)) {
        self.count(&state.meter);
        let in_outs = self.in_outs.iter_mut();
        let in_outs = in_outs.map(|(id, s)| (*id, s.reborrow())).collect();
        let ahead = Ahead::of(state, &self.scratch.looks, args, wave);
        (self.calls.wave)(&Sweep {
            state,
            scratch: self.scratch,
            ahead: ahead.as_ref(),
            inputs: &args.inputs,
            in_outs: RefCell::new(in_outs),
            wave,
            round,
        });
        state.settle_lists();
    }

    fn until(
        &mut self,
        state: &mut HostState,
        fixpoint: FixpointId,
        round: u32,
    ) -> Result<bool, Fault> {
        self.count(&state.meter);
        let state = &*state;
        let cx = Until {
            state,
            fixpoint,
            round,
        };
        let watch = state.meter.watch();
        let _in_lane = InLane::enter(Lanes::Alone, &watch);
        catch_unwind(AssertUnwindSafe(|| (self.calls.until)(&cx))).or_else(|payload| {
            if fault::is_stop(&*payload) {
                watch.cut.store(true, Relaxed);
                return Ok(true);
            }
            let mut fault = fault::classify(payload);
            let kernel = state.program.fixpoints[fixpoint.index()].until;
            refine(&state.program, kernel, &mut fault);
            Err(fault)
        })
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn parts(&mut self, job: &Job<'_>, states: &mut [HostState]) -> Vec<Done> {
        let calls = self.calls;
        let work = |state: &mut HostState| {
            let scratch = &mut Scratch::new(&state.program);
            let mut bodies = Native::new(calls, scratch, &mut []);
            let groups = std::iter::from_fn(|| job.next());
            let done: Vec<Done> = groups
                .map(|group| job.run(group, state, &mut bodies))
                .collect();
            bodies.note(&mut state.activity);
            done
        };
        match states {
            [state] => work(state),
            states => states.par_iter_mut().flat_map_iter(work).collect(),
        }
    }

    fn note(&mut self, activity: &mut Activity) {
        activity.shared += self.scratch.shared.get();
        let pulls = self.scratch.pulls.iter_mut().flatten();
        activity.pulled += pulls.map(|p| p.get_mut().turned).sum::<u64>();
    }
}
