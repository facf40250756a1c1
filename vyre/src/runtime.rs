//! The [`Runtime`]: which backend runs the passes of this process, with what budget and which thresholds.

use crate::budget::{Budget, Lease, Spare};
use crate::costs::Costs;
use crate::error::Error;
use crate::named::{Asked, offered};
use crate::plans::{Planning, Plans};
use crate::session::Session;
use crate::tier::RoutePolicy;
#[cfg(feature = "cuda")]
use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use vyre_core::cpu::{Native, NativeThreads, Vir0, native};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::backend::{Backend, CodeRoom, Executor, Many, Opening};
use vyre_core::run::clock::Clock;
use vyre_core::run::pass::Pass;
use vyre_core::run::stop::{All, Canceller};
#[cfg(feature = "cuda")]
use vyre_cuda::Cuda;

/// Names the file of costs, or is `off`.
const COSTS: &str = "VYRE_COSTS";

/// A backend, and why it was chosen.
///
/// ```
/// let runtime = vyre::Runtime::native();
/// assert_eq!(runtime.backend(), "native");
/// println!("running on {runtime}");
/// ```
#[derive(Clone)]
pub struct Runtime {
    backend: Arc<dyn Backend>,
    /// Why this one rather than a better one, or what it has to wait for.
    why: Option<String>,
    /// Memory that the sessions of this runtime and its clones share.
    budget: Option<Arc<Budget>>,
    thresholds: Thresholds,
    route: RoutePolicy,
    plans: Arc<Plans>,
    spare: Arc<Spare>,
    /// Where sessions may go on. None of them has others.
    others: Arc<[Runtime]>,
    /// Of all sides.
    costs: Arc<Costs>,
    clock: Clock,
    /// What ends calls of all sessions.
    all: Arc<All>,
    /// What each call may take.
    time_limit: Option<Duration>,
}

impl Runtime {
    /// CUDA if a device answers, otherwise the CPU; [`Display`](fmt::Display) says which and why. Beside a device, the
    /// CPU is a second side ([`among`](Runtime::among)): a session that runs faster there goes on there. A pass whose
    /// manifest has thresholds that are not met, and whose evidence holds, begins there. Where no CUDA device answers, the
    /// GPUs of backends that other crates [offer](crate::offer_backend) are further sides of the CPU: sessions begin there,
    /// and go on where they were measured to be faster.
    ///
    /// Where the environment has `VYRE_COSTS`, and it is not `off`, it names the file of
    /// [`with_costs`](Runtime::with_costs).
    ///
    /// # Errors
    /// None yet: where no GPU answers, there is always a CPU.
    pub fn auto() -> Result<Runtime, Error> {
        // Native traps unwind out of the user's functions.
        let native = (!cfg!(panic = "abort")).then(Runtime::native);
        let (first, others, why) = match Runtime::gpu() {
            Ok(gpu) => (gpu, Vec::from_iter(native), None),
            Err(no_gpu) => {
                let (others, missing) = Runtime::offered_to_auto();
                let mut why = [no_gpu].into_iter().chain(missing).collect::<Vec<_>>();
                let cpu = native.unwrap_or_else(|| {
                    why.push("the native backend needs panic = \"unwind\"".to_owned());
                    Runtime::vir0()
                });
                (cpu, others, Some(why.join("; ")))
            }
        };
        let is_alone = others.is_empty();
        let runtime = match (is_alone, why) {
            (true, Some(why)) => return Ok(first.because(why)),
            (_, None) => Runtime::among(first, others),
            (false, Some(why)) => Runtime::among(first, others).because(why),
        };
        let file = std::env::var_os(COSTS).filter(|path| !path.is_empty() && path != "off");
        Ok(match file {
            Some(path) => runtime.with_costs(path),
            None => runtime,
        })
    }

    /// What other crates offer that could be faster than the CPU, and why the rest cannot be used.
    fn offered_to_auto() -> (Vec<Runtime>, Vec<String>) {
        let (mut opened, mut missing) = (Vec::new(), Vec::new());
        for offered in offered() {
            match (offered.open)(Asked::ByAuto) {
                Ok(backend) => opened.push(Runtime::on(backend)),
                Err(why) => missing.push(format!("no {}: {why}", offered.name)),
            }
        }
        (opened, missing)
    }

    /// The GPU that [`auto`](Runtime::auto) takes, or why there is none.
    fn gpu() -> Result<Runtime, String> {
        #[cfg(feature = "cuda")]
        let no_gpu = match Runtime::cuda() {
            Ok(runtime) => return Ok(runtime),
            Err(e) => e.to_string(),
        };
        #[cfg(not(feature = "cuda"))]
        let no_gpu = "built without the feature `cuda`".to_owned();
        Err(no_gpu)
    }

    /// The first CUDA device. Where this crate has no machine code for it, the first process on a machine waits while
    /// the driver compiles it; [`Display`](fmt::Display) then says so, and why, and so does
    /// [`Device::code`](vyre_cuda::Device::code).
    ///
    /// # Errors
    /// [`Error::NoDevice`] without a driver or a device that can be used; never a panic.
    #[cfg(feature = "cuda")]
    pub fn cuda() -> Result<Runtime, Error> {
        let cuda = Cuda::open(0)?;
        let waits = cuda.waits();
        let runtime = Runtime::on(Arc::new(cuda));
        Ok(match waits {
            Some(why) => runtime.because(why),
            None => runtime,
        })
    }

    /// The CUDA device, where this is one.
    #[cfg(feature = "cuda")]
    pub fn cuda_device(&self) -> Option<&vyre_cuda::Device> {
        let backend: &dyn Any = &*self.backend;
        Some(backend.downcast_ref::<Cuda>()?.device())
    }

    /// The CPU, running the passes' own functions on all threads. Where the program is built with `panic = "abort"`, as
    /// it is for wasm32, a trap aborts the process.
    pub fn native() -> Runtime {
        Runtime::on(Arc::new(Native))
    }

    /// The CPU, as [`native`](Runtime::native), on as many threads of its own: runs, series and batches of the sessions
    /// of this runtime and its clones share them. They end with the last of these. Results are the same on any number
    /// of threads.
    ///
    /// ```
    /// use vyre::Runtime;
    /// let runtime = Runtime::native_threads(3)?;
    /// assert_eq!(runtime.to_string(), "native (3 threads)");
    /// let none = Runtime::native_threads(0).expect_err("no thread runs nothing");
    /// assert!(none.to_string().starts_with("0 threads are asked for; at least 1 and at most "));
    /// # Ok::<(), vyre::Error>(())
    /// ```
    ///
    /// # Errors
    /// `threads` is 0, or more than can be meant; the system does not give them.
    pub fn native_threads(threads: usize) -> Result<Runtime, Error> {
        Ok(Runtime::on(Arc::new(NativeThreads::new(threads)?)))
    }

    /// The CPU, interpreting the passes' bytecode on one thread: the reference.
    pub fn vir0() -> Runtime {
        Runtime::on(Arc::new(Vir0))
    }

    /// Threads that native sessions and loaders share, which are made here where they are not there yet.
    ///
    /// # Errors
    /// `RAYON_NUM_THREADS` asks for more than can be meant. Sessions say the same when they are opened.
    pub fn threads() -> Result<usize, Error> {
        Ok(native::threads()?)
    }

    /// Several sides: sessions begin on the first, time their runs, open others where those could be faster, and follow
    /// the best. Runs that would not agree on every side
    /// ([`Agreement::Open`](vyre_core::vir0::module::Agreement::Open), without a claim that they would) stay on the
    /// first, unless [`Session::set_side_changes`](crate::Session::set_side_changes) says otherwise. Batches of
    /// [`Sessions`](crate::Sessions) and runs of a [`FusedSession`](crate::FusedSession) go as runs of a
    /// [`Session`](crate::Session) do.
    ///
    /// Each side has the budget and the thresholds that it came with; [`with_memory`](Runtime::with_memory) afterwards
    /// is one budget for all.
    ///
    /// ```
    /// use vyre::Runtime;
    /// let runtime = Runtime::among(Runtime::native(), [Runtime::vir0()]);
    /// assert_eq!((runtime.backend(), runtime.backends()), ("native", vec!["native", "vir0"]));
    /// ```
    pub fn among(first: Runtime, others: impl IntoIterator<Item = Runtime>) -> Runtime {
        let mut sides = first.sides();
        sides.extend(others.into_iter().flat_map(|other| other.sides()));
        let names = sides.iter().map(|side| side.backend.identity()).collect();
        Runtime {
            costs: Arc::new(Costs::new(names, first.costs.file().map(Path::to_owned))),
            others: sides.split_off(1).into(),
            ..first
        }
    }

    /// This runtime with its first side only, so that sessions stay where they begin. Use it to measure a backend.
    pub fn alone(self) -> Runtime {
        Runtime {
            others: Arc::default(),
            ..self
        }
    }

    /// Whether it has one side only.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Whether it has several sides, and floats may be rounded otherwise on one than on another.
    pub(crate) fn may_round(&self) -> bool {
        let others = self.others.iter().map(|other| &other.backend);
        let mut all = std::iter::once(&self.backend).chain(others);
        !self.is_alone() && all.any(|backend| !backend.exact_floats())
    }

    /// A backend with nothing beside it: no budget, and no other side.
    pub fn on(backend: Arc<dyn Backend>) -> Runtime {
        Runtime {
            thresholds: backend.thresholds(),
            backend,
            why: None,
            budget: None,
            route: RoutePolicy::default(),
            plans: Arc::default(),
            spare: Arc::default(),
            others: Arc::default(),
            costs: Arc::new(Costs::new(Vec::new(), None)),
            clock: Clock::default(),
            all: Arc::default(),
            time_limit: None,
        }
    }

    /// This runtime with a reason for [`Display`](fmt::Display): why it has this backend rather than a better one, or
    /// what it has to wait for.
    pub fn because(self, why: impl Into<String>) -> Runtime {
        Runtime {
            why: Some(why.into()),
            ..self
        }
    }

    /// What [`because`](Runtime::because) was told.
    pub(crate) fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Each side as a runtime of its own, which shares budget and plans, and what this one keeps for later.
    pub(crate) fn sides(&self) -> Vec<Runtime> {
        let others = self.others.iter().map(|other| Runtime {
            spare: Arc::clone(&self.spare),
            ..other.clone()
        });
        std::iter::once(self.clone().alone())
            .chain(others)
            .collect()
    }

    /// The backend's name, such as `"native"`; of several sides, where sessions begin
    /// ([`Session::backend`](crate::Session::backend) says where one is).
    pub fn backend(&self) -> &'static str {
        self.backend.name()
    }

    /// The backends of all sides, the one where sessions begin first.
    pub fn backends(&self) -> Vec<&'static str> {
        let others = self.others.iter().map(Runtime::backend);
        std::iter::once(self.backend()).chain(others).collect()
    }

    /// This runtime with a budget of `bytes`, which its sessions and those of its clones share. A session or run
    /// that needs more than the others leave is refused before anything is allocated. Compiled passes count, and go where
    /// the memory is needed for something else. Several sides share the budget:
    /// another side is opened only where it leaves as much as it takes.
    pub fn with_memory(self, bytes: u64) -> Runtime {
        let budget = Some(Arc::new(Budget::new(bytes)));
        let others = self.others.iter().map(|other| Runtime {
            budget: budget.clone(),
            ..other.clone()
        });
        Runtime {
            others: others.collect(),
            budget,
            spare: Arc::default(),
            ..self
        }
    }

    /// This runtime with a file that remembers, beyond the process, what runs took on each side. The next session of
    /// the same code on graphs of about the same size begins where it was fastest.
    ///
    /// The file and its folders are made when there is something to write. A file of anything else is left alone, and
    /// one that cannot be read or written is no error. Without this, and without `VYRE_COSTS` for
    /// [`auto`](Runtime::auto), nothing is written, and only a runtime and its clones remember.
    pub fn with_costs(self, file: impl Into<PathBuf>) -> Runtime {
        let names = self
            .sides()
            .iter()
            .map(|side| side.backend.identity())
            .collect();
        Runtime {
            costs: Arc::new(Costs::new(names, Some(file.into()))),
            ..self
        }
    }

    /// This runtime with another clock than the wall clock, by which its sessions choose sides and
    /// [tune](crate::Session::set_autotune), on all sides. Times in reports stay those of the wall clock. It is for tests
    /// and for replaying costs that were measured elsewhere.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use std::time::Duration;
    /// use vyre::Runtime;
    ///
    /// let turned = AtomicU64::new(0);
    /// let each_run_takes_a_microsecond = move |_: &str| Duration::from_micros(turned.fetch_add(1, Relaxed));
    /// let runtime = Runtime::native().with_clock(each_run_takes_a_microsecond);
    /// ```
    pub fn with_clock(self, now: impl Fn(&str) -> Duration + Send + Sync + 'static) -> Runtime {
        let clock = Clock::new(now);
        let others = self.others.iter().map(|other| Runtime {
            clock: clock.clone(),
            ..other.clone()
        });
        Runtime {
            others: others.collect(),
            clock,
            ..self
        }
    }

    /// What its clock shows.
    pub(crate) fn now(&self) -> Duration {
        self.clock.now(self.backend())
    }

    /// How long ago its clock showed `started`.
    pub(crate) fn since(&self, started: Duration) -> Duration {
        self.clock.since(started, self.backend())
    }

    pub(crate) fn costs(&self) -> &Arc<Costs> {
        &self.costs
    }

    /// This runtime with other thresholds, for example measured ones, which its sessions decide by. Of several sides,
    /// the first gets them.
    pub fn with_thresholds(self, thresholds: Thresholds) -> Runtime {
        Runtime { thresholds, ..self }
    }

    /// This runtime with another route for its sessions, on all sides.
    pub fn with_route(self, route: RoutePolicy) -> Runtime {
        let others = self.others.iter().map(|other| Runtime {
            route,
            ..other.clone()
        });
        Runtime {
            others: others.collect(),
            route,
            ..self
        }
    }

    /// This runtime with a limit of time for each call of its kernels, and of its sessions as they begin
    /// ([`Session::set_time_limit`](crate::Session::set_time_limit)), on all sides. For a kernel, opening its session
    /// counts. `None`, the default: any time.
    ///
    /// Kernels that run on slices of the caller's then work on copies of them, because a call that was ended leaves them
    /// as they were.
    ///
    /// ```
    /// use std::time::Duration;
    /// use vyre::{Error, Runtime, prelude::*};
    ///
    /// #[kernel]
    /// fn wait(out: &mut u32) {
    ///     *out = 7;
    ///     loop {}
    /// }
    ///
    /// let runtime = Runtime::native().with_time_limit(Some(Duration::from_millis(5)));
    /// let mut out = [0, 0];
    /// assert!(matches!(wait::run(&runtime, &mut out), Err(Error::Deadline { .. })));
    /// assert_eq!(out, [0, 0]);
    /// ```
    pub fn with_time_limit(self, time_limit: Option<Duration>) -> Runtime {
        let others = self.others.iter().map(|other| Runtime {
            time_limit,
            ..other.clone()
        });
        Runtime {
            others: others.collect(),
            time_limit,
            ..self
        }
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Which route sessions take, as they begin.
    pub fn route(&self) -> RoutePolicy {
        self.route
    }

    /// What sessions decide by.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// How often plans were found among those that this runtime and its clones keep, and how often they were made. A
    /// session that is opened again for the same pass, sizes and memory takes its plan from there, and so does its
    /// first launch.
    pub fn planning(&self) -> Planning {
        let others = self.others.iter().map(|other| other.plans.stats());
        others.fold(self.plans.stats(), Planning::plus)
    }

    pub(crate) fn plans(&self) -> &Arc<Plans> {
        &self.plans
    }

    /// What opens sessions: of several sides, the one where they begin.
    pub(crate) fn implementation(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Opens an executor, whose compiled code counts in the budget.
    pub(crate) fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let mut executor = self.backend.open(opening)?;
        if let Some(room) = self.room() {
            executor.count_code(&room);
        }
        Ok(executor)
    }

    /// The same for several topologies.
    pub(crate) fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        let mut many = self.backend.open_many(openings)?;
        if let Some(room) = self.room() {
            many.count_code(&room);
        }
        Ok(many)
    }

    fn room(&self) -> Option<Arc<dyn CodeRoom>> {
        let budget = Arc::clone(self.budget.as_ref()?);
        Some(budget)
    }

    /// The budget, and how much of it sessions and compiled passes have taken, in bytes; `None` where no budget was set.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let budget = self.budget.as_ref()?;
        Some(budget.bytes())
    }

    /// What was decided for the last calls of a `#[kernel]` on this runtime and its clones, as of
    /// [`Session::explain`](crate::Session::explain): `runtime.explain_kernel::<hash::Pass>()`. It is known of the session
    /// that the last call left for the next one; `None` where there is none, as on a CPU.
    pub fn explain_kernel<P: Pass>(&self) -> Option<String> {
        let told = |session: &Session<P>| session.explain().to_string();
        self.spare.told(told)
    }

    /// No memory yet, to grow within what sessions share.
    pub(crate) fn lease(&self) -> Lease {
        Lease::new(self.budget.clone(), &self.spare)
    }

    /// The same runtime, which keeps nothing of what this one keeps for later.
    pub(crate) fn keeping_nothing(&self) -> Runtime {
        Runtime {
            spare: Arc::default(),
            ..self.clone()
        }
    }

    /// What this runtime keeps for later, and gives up where a session needs the memory.
    pub(crate) fn spare(&self) -> &Arc<Spare> {
        &self.spare
    }

    /// What ends the calls of every session of this runtime and its clones, and of every kernel on them: what is under
    /// way ends with [`Error::Cancelled`], and so does what comes later, until [`Canceller::rearm`]. It is for a program
    /// that ends, by Ctrl-C for instance; [`Session::canceller`](crate::Session::canceller) is one session's.
    ///
    /// Kernels that run on slices of the caller's work on copies of them from the first call of this on, because a
    /// call that was ended leaves them as they were.
    ///
    /// ```
    /// use vyre::{Error, Runtime, prelude::*};
    ///
    /// #[kernel]
    /// fn wait(out: &mut u32) {
    ///     while *out < 1 {}
    /// }
    ///
    /// let runtime = Runtime::native();
    /// let canceller = runtime.canceller();
    /// let waiting = std::thread::spawn(move || wait::run(&runtime, &mut [0, 0]));
    /// canceller.cancel();
    /// let stopped = waiting.join().expect("no panic");
    /// assert!(matches!(stopped, Err(Error::Cancelled)));
    /// # Ok::<(), vyre::Error>(())
    /// ```
    pub fn canceller(&self) -> Canceller {
        self.all.canceller()
    }

    /// What ends calls of all sessions.
    pub(crate) fn all(&self) -> &Arc<All> {
        &self.all
    }

    /// What the backend runs on.
    pub fn device(&self) -> String {
        self.backend.device()
    }
}

/// The backend and its device: what it shares with its clones is of no use to a reader.
impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("backend", &self.backend())
            .field("device", &self.device())
            .finish()
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.backend(), self.device())?;
        for other in self.others.iter() {
            write!(f, " or {} ({})", other.backend(), other.device())?;
        }
        if let Some(why) = &self.why {
            write!(f, "; {why}")?;
        }
        Ok(())
    }
}
