//! What a backend implements: a [`Backend`] opens an [`Executor`] for each session. Nothing else of a backend is known
//! to the runtime.
//!
//! An executor only runs, counts, and says which hints ([`LaunchHint`]) it followed. Budgets, batches, series and
//! launch decisions are the runtime's, so they are the same for every backend.

use crate::dsl::columns::SliceMut;
use crate::dsl::error::RunError;
use crate::plan::device::DeviceMemory;
use crate::plan::footprint::{Allocation, Target};
use crate::plan::session::Counters;
use crate::plan::side::Floor;
use crate::plan::thresholds::Thresholds;
use crate::plan::{launch, route};
use crate::run::args::{Args, Lent, TopologyArgs};
use crate::run::outcome::{Outcome, for_queries};
use crate::run::stop::Stop;
use crate::vir0::local::locals;
use crate::vir0::module::{BufferId, Program, TopologyId};
use crate::vir0::sizes::Sizes;
use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What runs passes: a device, or the CPU.
///
/// `vyre::Runtime::on` takes any backend. These six functions are all that it has to write:
///
/// | function | says |
/// | --- | --- |
/// | [`name`](Backend::name), [`device`](Backend::device) | what reports, errors and figures call it |
/// | [`floor`](Backend::floor) | what a run takes at least, so that a session is not moved here in vain |
/// | [`holder`](Backend::holder), [`is_host`](Backend::is_host) | whose memory budgets count, and in which layout |
/// | [`open`](Backend::open) | the executor of a session |
///
/// The others have defaults that are right for a backend without several devices, memory of its own for later, or
/// launches that sessions can share. An executor has to write [`run_series`](Executor::run_series) alone; what it can
/// vary between launches it states in [`limits`](Executor::limits), and what it makes of a [`LaunchHint`] in
/// [`follow`](Executor::follow). Where the host leads, [`schedule::follow`](super::schedule::follow) walks the program,
/// and the executor is a [`Sweeper`](super::schedule::Sweeper), as `vyre-tests/src/sequential.rs` shows.
///
/// Results, traps and rounds are the program's, whatever runs it: every backend passes the suite in `vyre/tests/suite`.
///
/// ```
/// use vyre_core::cpu::Vir0;
/// use vyre_core::dsl::error::RunError;
/// use vyre_core::plan::side::Floor;
/// use vyre_core::run::args::TopologyArgs;
/// use vyre_core::run::backend::{Backend, Executor, Holder, Opening};
/// use vyre_core::vir0::module::Program;
///
/// /// The interpreter, under a name of its own.
/// struct Reference;
///
/// impl Backend for Reference {
///     fn name(&self) -> &'static str {
///         "reference"
///     }
///     fn device(&self) -> String {
///         "1 thread".to_owned()
///     }
///     fn floor(&self) -> Floor {
///         Floor { run_ns: 500.0, round_ns: 20.0, item_ns: 2.0 }
///     }
///     fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
///         Ok(Holder::Vir0)
///     }
///     fn is_host(&self) -> bool {
///         true
///     }
///     fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
///         Vir0.open(opening)
///     }
/// }
///
/// assert!(Reference.runs_bytecode());
/// assert_eq!(Reference.ordinal(), 0);
/// ```
pub trait Backend: Any + Send + Sync {
    /// What reports, figures and other texts call it. Vyre's own are `"cuda"`, `"native"` and `"vir0"`.
    fn name(&self) -> &'static str;

    /// What it runs on: a device's name, or how many threads.
    fn device(&self) -> String;

    /// A text that tells its costs from those of other machines and builds.
    fn identity(&self) -> String {
        let (name, version, device) = (self.name(), env!("CARGO_PKG_VERSION"), self.device());
        let arch = std::env::consts::ARCH;
        let build = match cfg!(debug_assertions) {
            true => "debug",
            false => "release",
        };
        format!("{name} {version}, {arch}, {device}, {build}")
    }

    /// The number of its device, where there are several.
    fn ordinal(&self) -> u32 {
        0
    }

    /// The least time that a run can take here.
    fn floor(&self) -> Floor;

    /// The thresholds that sessions decide by until something was measured.
    fn thresholds(&self) -> Thresholds {
        Thresholds::default()
    }

    /// Whether it runs bytecode as it is, without the functions of a pass.
    fn runs_bytecode(&self) -> bool {
        true
    }

    /// Whether it runs fixpoints of which each part of a graph is run by itself. Where it does not, sessions of such a
    /// pass are refused ([`runnable`]).
    fn runs_parts(&self) -> bool {
        false
    }

    /// Whether floats are rounded as the bytecode says. Where they need not be, sessions of a pass that rounds any
    /// ([`rounds_floats`](crate::vir0::results::rounds_floats)) neither come from other backends nor go to them, unless
    /// they are told to.
    fn exact_floats(&self) -> bool {
        true
    }

    /// Whose memory a session of the pass takes.
    fn holder(&self, program: &Program, topology: &TopologyArgs<'_>) -> Result<Holder, RunError>;

    /// Whether inputs that wait for a batch are in the backend's memory, and count there.
    fn is_host(&self) -> bool;

    /// All of its memory, in bytes, if sessions of kernels may wait in a part of it for their next call; `None` if they
    /// are made anew for each call.
    fn waiting_room_bytes(&self) -> Result<Option<u64>, RunError> {
        Ok(None)
    }

    /// Tells the backend who has memory for later that can be freed before something is refused.
    fn register(&self, _spare: Weak<dyn GiveUp>) {}

    /// Uploads the topology and allocates once for all runs.
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError>;

    /// Opens one pass on many topologies. A backend implements it where queries on several topologies can share
    /// launches; by default each topology has an executor.
    fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        let executors = openings.into_iter().map(|opening| self.open(opening));
        apart(executors)
    }
}

/// Whether a backend of this name, which [runs parts](Backend::runs_parts) or does not, can run a program.
///
/// # Errors
/// [`RunError::NoParts`]: it has a local fixpoint.
pub fn runnable(
    program: &Program,
    (backend, runs_parts): (&'static str, bool),
) -> Result<(), RunError> {
    match locals(program).next() {
        Some(local) if !runs_parts => Err(RunError::NoParts {
            backend,
            fixpoint: program.fixpoints[local.fixpoint.index()].name.clone(),
            parts: program.buffers[local.bounds.index()].field().to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Opens an executor of a pass's own functions: what a backend is asked, without the functions.
pub type OpenNative =
    fn(Arc<Program>, &TopologyArgs<'_>, Allocation) -> Result<Box<dyn Executor>, RunError>;

/// What an executor is opened for.
pub struct Opening<'a> {
    /// The program as this session runs it.
    pub program: Arc<Program>,
    /// The session's topology.
    pub topology: &'a TopologyArgs<'a>,
    /// Whether temporaries that never live at once share memory.
    pub allocation: Allocation,
    /// Opens an executor of the pass's own functions; `None` where the program is no pass's.
    pub native: Option<OpenNative>,
}

/// Whose memory a session takes.
#[derive(Clone, Debug)]
pub enum Holder {
    /// The host's, on which a pass's own functions run.
    Native,
    /// The host's, on which bytecode is interpreted.
    Vir0,
    /// A device's, with what it has besides on this topology.
    Device(Arc<dyn DeviceMemory>),
}

impl Holder {
    /// This memory as planners see it.
    pub fn target(&self) -> Target<'_> {
        match self {
            Holder::Native => Target::Native,
            Holder::Vir0 => Target::Vir0,
            Holder::Device(memory) => Target::Device(&**memory),
        }
    }

    /// Whether it is the host's, taken and given back while the schedule runs.
    pub fn is_host(&self) -> bool {
        match self {
            Holder::Native | Holder::Vir0 => true,
            Holder::Device(_) => false,
        }
    }
}

impl PartialEq for Holder {
    fn eq(&self, other: &Holder) -> bool {
        match (self, other) {
            (Holder::Native, Holder::Native) | (Holder::Vir0, Holder::Vir0) => true,
            (Holder::Device(a), Holder::Device(b)) => a.is(&**b),
            (Holder::Native | Holder::Vir0 | Holder::Device(_), _) => false,
        }
    }
}

impl Eq for Holder {}

/// Someone who keeps memory for later.
pub trait GiveUp: Send + Sync {
    /// Frees that memory, and returns whether there was some.
    fn give_up(&self) -> bool;
}

/// A budget, as what is counted in it beside the memory of sessions sees it: compiled code.
pub trait CodeRoom: Debug + Send + Sync {
    /// Takes so many bytes until what it gives is dropped. Where there are not as many, what was
    /// [offered](CodeRoom::offer) goes, piece by piece. `None`: that is not enough.
    fn take(self: Arc<Self>, bytes: u64) -> Option<Taken>;

    /// Whether so many bytes are free without anything going.
    fn has(&self, bytes: u64) -> bool;

    /// Tells of someone who has pieces in this budget that can go. [`GiveUp::give_up`] gives up one of them: that which
    /// was not used for the longest time.
    fn offer(&self, pieces: Weak<dyn GiveUp>);
}

/// Bytes of a [`CodeRoom`]; given back when it is dropped.
pub type Taken = Box<dyn Any + Send + Sync>;

/// One pass on many topologies.
pub trait Many: Send {
    /// Runs queries on the topologies that they name, in order, or only the first few, at least one: the caller comes
    /// back with the rest. `room`: bytes that the budget has for their states, inputs and results.
    fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>>;

    /// What it did since it was made, where the backend counts.
    fn counters(&self) -> Option<Counters>;

    /// As [`Executor::lend_topology`], of each topology.
    ///
    /// # Errors
    /// As there.
    fn lend_topologies(&self) -> Result<Option<Vec<Lent<'_>>>, RunError> {
        Ok(None)
    }

    /// What of a hint it can follow.
    fn limits(&self) -> ManyLimits {
        ManyLimits::default()
    }

    /// How the next queries are to run, and what will run them.
    fn follow(&mut self, _hint: &ManyHint) -> Followed {
        Followed::unknown(1)
    }

    /// As [`Executor::compile`].
    ///
    /// # Errors
    /// As there.
    fn compile(&mut self) -> Result<bool, RunError> {
        Ok(false)
    }

    /// As [`Executor::count_code`].
    fn count_code(&mut self, _room: &Arc<dyn CodeRoom>) {}

    /// As [`Executor::set_stop`].
    fn set_stop(&mut self, _stop: &Arc<Stop>) {}

    /// As [`Executor::set_step_limit`].
    fn set_step_limit(&mut self, _steps: Option<u64>) -> bool {
        false
    }
}

/// How the next queries on several topologies are to run. Results never depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManyHint {
    /// Interpreter or compiled code, which is taken once it is there.
    pub route: launch::Route,
    /// As of [`DeviceHint::heat_words`].
    pub heat_words: u64,
    /// As of [`Sweeps::pulls`].
    pub pulls: bool,
}

/// What of a [`ManyHint`] can be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManyLimits {
    /// As of [`Limits::jit`].
    pub jit: bool,
    /// As of [`Limits::pulls`].
    pub pulls: bool,
}

/// An executor for each topology, one query after another.
///
/// # Errors
/// The first of theirs.
pub fn apart(
    executors: impl Iterator<Item = Result<Box<dyn Executor>, RunError>>,
) -> Result<Box<dyn Many>, RunError> {
    Ok(Box::new(Apart(executors.collect::<Result<_, _>>()?)))
}

/// [`apart`].
struct Apart(Vec<Box<dyn Executor>>);

impl Many for Apart {
    fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        _room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        one_by_one(queries, |(topology, args)| self.0[*topology].run(args))
    }

    fn counters(&self) -> Option<Counters> {
        counters_of(&self.0)
    }

    fn lend_topologies(&self) -> Result<Option<Vec<Lent<'_>>>, RunError> {
        lent_by(&self.0)
    }

    fn count_code(&mut self, room: &Arc<dyn CodeRoom>) {
        self.0.iter_mut().for_each(|e| e.count_code(room));
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.0.iter_mut().for_each(|e| e.set_stop(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        all_limited(&mut self.0, steps)
    }
}

/// Runs queries one after another. Where there is no memory for their results, it is the first one's error.
pub(crate) fn one_by_one<Q>(
    queries: &[Q],
    run: impl FnMut(&Q) -> Result<Outcome, RunError>,
) -> Vec<Result<Outcome, RunError>> {
    match for_queries(queries.len()) {
        Ok(mut all) => {
            all.extend(queries.iter().map(run));
            all
        }
        Err(e) => vec![Err(e)],
    }
}

/// Gives executors a limit of steps, and says whether all of them keep to it.
pub fn all_limited(executors: &mut [Box<dyn Executor>], steps: Option<u64>) -> bool {
    let mut all = true;
    for executor in executors {
        all &= executor.set_step_limit(steps);
    }
    all
}

/// What several executors did, where all of them count.
pub fn counters_of(executors: &[Box<dyn Executor>]) -> Option<Counters> {
    let counts = executors.iter().map(|e| e.counters());
    counts.reduce(|a, b| a.zip(b).map(|(a, b)| a.plus(&b)))?
}

/// What several executors lend, where all of them do.
pub fn lent_by(executors: &[Box<dyn Executor>]) -> Result<Option<Vec<Lent<'_>>>, RunError> {
    let mut all = for_queries(executors.len())?;
    for executor in executors {
        match executor.lend_topology()? {
            Some(lent) => all.push(lent),
            None => return Ok(None),
        }
    }
    Ok(Some(all))
}

/// How far the current run is; read by anyone while it runs.
#[derive(Default)]
pub struct Progress {
    rounds: AtomicU64,
    frontier: AtomicU64,
    source: Mutex<Option<Source>>,
}

/// Reads rounds and frontier where a device writes them.
type Source = Box<dyn Fn() -> [u64; 2] + Send>;

impl Progress {
    /// Rounds of all fixpoints since the run began.
    pub fn rounds(&self) -> u64 {
        self.told()[0]
    }

    /// Items waiting for the next round when the last one ended.
    pub fn frontier(&self) -> u64 {
        self.told()[1]
    }

    fn told(&self) -> [u64; 2] {
        match &*self.source() {
            Some(source) => source(),
            None => [&self.rounds, &self.frontier].map(|told| told.load(Relaxed)),
        }
    }

    /// A run begins.
    pub fn begin(&self) {
        self.set(0, 0);
    }

    /// A round ended.
    pub fn set(&self, rounds: u64, frontier: u64) {
        self.rounds.store(rounds, Relaxed);
        self.frontier.store(frontier, Relaxed);
    }

    /// While `wait` runs, whoever asks is told what `source` reads, on the thread that asks. What it read last stays.
    pub fn while_told_by<R>(
        &self,
        source: impl Fn() -> [u64; 2] + Send + 'static,
        wait: impl FnOnce() -> R,
    ) -> R {
        *self.source() = Some(Box::new(source));
        let waited = wait();
        let source = self.source().take();
        if let Some(source) = source {
            let [rounds, frontier] = source();
            self.set(rounds, frontier);
        }
        waited
    }

    fn source(&self) -> MutexGuard<'_, Option<Source>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rounds, frontier] = self.told();
        f.debug_struct("Progress")
            .field("rounds", &rounds)
            .field("frontier", &frontier)
            .finish()
    }
}

/// What a backend can vary from launch to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Workers that it runs at once: CTAs of a GPU, threads of a CPU.
    pub max_workers: u32,
    /// Items that a worker takes at a time.
    pub lanes_per_worker: u32,
    /// A launch can have fewer workers.
    pub workers_vary: bool,
    /// It can compile the bytecode.
    pub jit: bool,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// It can upload the inputs of a run while another is on the device.
    pub overlaps: bool,
    /// It can bring a frontier's list into the order of the nodes ([`Sweeps::bitmap`]).
    pub bitmaps: bool,
    /// It can pack what the lists of a result hold into one slab ([`DeviceHint::lists`]).
    pub packs_lists: bool,
    /// It can take waves of one barrier group over the same items in one sweep ([`route::Route::FusedWave`]).
    pub fuses_waves: bool,
    /// Its sweeps over the edges of a frontier can pull ([`Sweeps::pulls`]).
    pub pulls: bool,
}

/// How the next launches should be. Results never depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchHint {
    /// Number of workers.
    pub workers: u32,
    /// The caller asked for this number, and did not leave it to the policy.
    pub asked: bool,
    /// Independent queries: each worker that takes one has memory of its own.
    pub shared: bool,
    /// Shape of the frontier.
    pub topology: launch::Topology,
    /// Interpreter or compiled code.
    pub route: launch::Route,
    /// Results up to this size share a copy.
    pub pack_up_to_bytes: u64,
    /// Queries of a batch that may be in memory at once.
    pub slots: u32,
    /// What the queries of a batch may take together: states, inputs and results on the device. `None`: no budget says.
    pub batch_bytes: Option<u64>,
    /// How sweeps over frontiers go.
    pub sweeps: Sweeps,
    /// For backends that run on the host's threads.
    pub host: HostHint,
    /// For devices.
    pub device: DeviceHint,
    /// Say how long the sweeps of each wave take ([`Report::waves`](crate::run::outcome::Report::waves)). It costs a
    /// look at the clock before and after each sweep, on a CPU as long as a sweep over a few items takes.
    pub time_waves: bool,
}

/// What of a hint is about threads of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostHint {
    /// Items from which a sweep is worth all threads.
    pub parallel_from: u64,
}

/// What of a hint is about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceHint {
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// Edges of a frontier from which a sweep may pull, where that costs barriers.
    pub pull_from: u64,
    /// There may be a second set of inputs, so that those of the next run go up while one is on the device.
    pub second_inputs: bool,
    /// Of the slab for what the lists of a result hold.
    pub lists: ListSlab,
    /// Words that runs of the pass have executed ([`Heat::words`](crate::plan::heat::Heat::words)): of passes that wait
    /// for the compiler, the hottest comes first.
    pub heat_words: u64,
}

/// Whether there may be a slab for what the lists of a result hold
/// ([`compact::lists_bytes`](crate::plan::compact::lists_bytes)), so that one copy brings them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListSlab {
    /// There is memory for it.
    Room,
    /// It is wanted, and there is no memory for it.
    #[default]
    NoRoom,
    /// It does not pay.
    NotWanted,
}

/// How sweeps over frontiers go. On a CPU each wave starts with the planned route, and goes over to another one where a
/// frontier leaves the band that holds it ([`route::Policy::pressure`]). On a GPU a whole launch has the planned route:
/// lists alone, or bitmaps beside them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweeps {
    /// What each wave starts with.
    pub start: route::Route,
    /// What changes it.
    pub policy: route::Policy,
    /// Memory in use when the launch was decided, of the budget.
    pub memory_bps: u32,
    /// There is memory for a bit a node, which brings a list into the order of the nodes.
    pub bitmap: bool,
    /// Rounds may pull, and what that takes is kept: bitmaps of the nodes, and whether a graph is its own reverse.
    pub pulls: bool,
}

impl Default for Sweeps {
    /// Sweeps that start with lists, for a session that was not planned.
    fn default() -> Sweeps {
        Sweeps {
            start: route::Route::Sparse,
            policy: route::Policy::default(),
            memory_bps: 0,
            bitmap: false,
            pulls: true,
        }
    }
}

/// What an executor made of a [`LaunchHint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Workers.
    pub workers: u32,
    /// The code that runs: the passes' functions, interpreted bytecode, or what a compiler made of it, with its
    /// figures.
    pub code: Cow<'static, str>,
    /// What sweeps over frontiers start with, where routes choose that.
    pub sweeps: Option<route::Route>,
    /// Parts of the hint that it did not follow, and why.
    pub notes: Vec<Cow<'static, str>>,
}

impl Followed {
    /// Of an executor that does not tell.
    fn unknown(workers: u32) -> Followed {
        Followed {
            workers,
            code: "unknown".into(),
            sweeps: None,
            notes: vec!["the backend decides for itself".into()],
        }
    }
}

/// Keeps pages locked until it is dropped.
pub type Lock = Box<dyn Send + Sync>;

/// What may stay on a device between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resident {
    /// A buffer's elements.
    Buffer(BufferId),
    /// Where each node's edges begin in a graph, and where the last one's end.
    Offsets(TopologyId),
    /// Where each edge leads.
    Targets(TopologyId),
}

/// One session's executor: topology resident, buffers allocated once.
pub trait Executor: Send {
    /// The most memory that topologies, buffers and frontiers held at once in the last run, in bytes, where the backend
    /// counts it.
    fn peak_bytes(&self) -> Option<u64> {
        None
    }

    /// Runs the pass once.
    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        let mut results = Outcome::default();
        self.run_series(std::slice::from_ref(args), &mut results)?;
        Ok(results)
    }

    /// Runs the pass several times and reads back after the last run only. The first error ends the series. `results`
    /// has the memory of earlier results, in which those of the last run are made where it suffices. Afterwards it has
    /// these results; after an error its contents are unspecified. A trap says which run it is of
    /// ([`RunError::of_run`]).
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError>;

    /// Gives the output buffers in `results` memory whose pages are locked, for buffers that are copied from a device.
    /// The pages stay locked as long as the returned value lives, which must be dropped before the memory. `None` where
    /// there is nothing to lock, or where pages cannot be locked.
    fn lock(&mut self, _sizes: &Sizes, _results: &mut Outcome) -> Result<Option<Lock>, RunError> {
        Ok(None)
    }

    /// Runs the pass once on in-out buffers that are the caller's; `args` has the inputs only. Afterwards the in-out
    /// buffers have what the run leaves, and the outcome does not. After an error they are as before, except for what
    /// `may_trap` says.
    ///
    /// `may_trap`: the pass's functions were built with checks that the bytecode does not have (overflow).
    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        _may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let mut all = args.clone();
        let given = in_outs.iter().map(|(id, s)| (*id, s.as_slice()));
        all.inputs.extend(given);
        let mut outcome = self.run(&all)?;
        for (id, to) in in_outs {
            let at = outcome.outputs.iter().position(|(b, _)| b == id);
            let at = at.ok_or_else(|| RunError::Invalid("an in-out buffer is no result".into()))?;
            let (_, from) = outcome.outputs.swap_remove(at);
            debug_assert_eq!(from.len(), to.as_slice().len());
            if !to.assign(from.as_slice()) {
                return Err(RunError::Invalid(
                    "an in-out buffer has another type".into(),
                ));
            }
        }
        Ok(outcome)
    }

    /// Runs independent queries in this order. It may take only the first few, at least one: the caller comes back with
    /// the rest.
    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        one_by_one(queries, |args| self.run(args))
    }

    /// Queries of a batch that are in memory at once, at most: the session's own state and copies of it.
    fn slots(&self) -> u32 {
        1
    }

    /// Takes another topology, uploads only what differs, and keeps everything else. Returns false where the backend
    /// cannot; the caller then makes a new executor. After an error nothing has changed.
    fn update(&mut self, _topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Lends the topology that it holds, so that another executor can be made of it. `None` where the backend cannot.
    fn lend_topology(&self) -> Result<Option<Lent<'_>>, RunError> {
        Ok(None)
    }

    /// Where something is on the backend's device until the next run: the address of its first element, and the number
    /// of elements. `None` for what does not stay there, and for results if the last call did not leave any.
    fn resident(&self, _what: Resident) -> Option<(u64, u64)> {
        None
    }

    /// What it did since it was made; `None` for a backend that does not count.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// What it can vary from launch to launch.
    fn limits(&self) -> Limits {
        Limits {
            max_workers: 1,
            lanes_per_worker: 1,
            workers_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: false,
            packs_lists: false,
            fuses_waves: false,
            pulls: false,
        }
    }

    /// Sets how the next launches should be, and says what it will do.
    fn follow(&mut self, _hint: &LaunchHint) -> Followed {
        Followed::unknown(self.limits().max_workers)
    }

    /// Whether rounds may pull from here on, as of [`Sweeps::pulls`]; of executors that are given no other part of a
    /// hint.
    fn set_pulls(&mut self, _pulls: bool) {}

    /// Waits until compiled code for the pass is there, and runs it from now on, as long as hints want it. False where
    /// nothing changes by that: it runs already, or the backend does not compile bytecode ([`Limits::jit`]).
    ///
    /// # Errors
    /// It could not be compiled. Runs go on as before.
    fn compile(&mut self) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Where the current run's progress can be read, if the backend tells.
    fn progress(&self) -> Option<Arc<Progress>> {
        None
    }

    /// On a CPU, runs go on the threads of this pool from here on.
    fn set_pool(&mut self, _pool: &Arc<rayon::ThreadPool>) {}

    /// Tells the progress of runs to come there, if the backend tells.
    fn set_progress(&mut self, _progress: Arc<Progress>) {}

    /// The budget in which compiled code counts. Code for which there is no room is not made, and code that no run uses
    /// may go when something else needs the room; then runs are interpreted. By default nothing is compiled.
    fn count_code(&mut self, _room: &Arc<dyn CodeRoom>) {}

    /// What says from here on whether the call under way is to end. A backend that looks at it ends such a call within
    /// 100 ms with [`Stop::why`], and works afterwards; a batch gives what was done, and that error for the rest. The
    /// trap of a group that was finished goes first, and a run that has come to its end gives its results. By default a
    /// call goes on to its end.
    fn set_stop(&mut self, _stop: &Arc<Stop>) {}

    /// The most steps that a run may take from here on; `None`: any number. A step is an item of a sweep, a node of a
    /// frontier whose edges are swept, a round, or a turn that comes to its end of a loop that counts
    /// ([`Word::counts`](crate::vir0::isa::Word::counts)). A run that takes more ends with [`RunError::Work`], and that
    /// goes before a trap of the group in which it took them. False where the backend does not count.
    fn set_step_limit(&mut self, _steps: Option<u64>) -> bool {
        false
    }
}
