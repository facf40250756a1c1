//! Which backend runs the passes of this process.

use crate::costs::Costs;
use crate::device::{Code, Device};
use crate::error::Error;
use crate::megakernel::{Many, Megakernel, graphs_of};
use crate::plans::{Planning, Plans};
use crate::session::Session;
use rayon::prelude::*;
use std::any::{Any, TypeId};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use vyre_core::cpu::native::{self, NativeExecutor};
use vyre_core::cpu::pass::Pass;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::SliceMut;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::device::Graphs;
use vyre_core::plan::footprint::{Allocation, Target};
use vyre_core::plan::session::Counters;
use vyre_core::plan::side::Floor;
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::Executor;
use vyre_core::run::outcome::{Outcome, Report};
use vyre_core::vir0::module::{BufferId, Program};

/// A backend, and why it was chosen.
///
/// ```
/// let runtime = vyre_cuda::Runtime::native();
/// assert_eq!(runtime.backend(), "native");
/// println!("running on {runtime}");
/// ```
#[derive(Clone)]
pub struct Runtime {
    backend: Backend,
    /// Why this one rather than a better one, or what it has to wait for.
    why: Option<String>,
    /// Memory that the sessions of this runtime and its clones share.
    budget: Option<Arc<Budget>>,
    thresholds: Thresholds,
    plans: Arc<Plans>,
    spare: Arc<Spare>,
    /// Where sessions may go on. None of them has others.
    others: Arc<[Runtime]>,
    /// Of all sides.
    costs: Arc<Costs>,
}

/// Names the file of costs, or is `off`.
const COSTS: &str = "VYRE_COSTS";

#[derive(Clone, Debug)]
enum Backend {
    Cuda(Arc<Device>),
    Native,
    Vir0,
}

impl Runtime {
    /// CUDA if a device answers, otherwise the CPU; [`Display`](fmt::Display) says which and why. Beside a device, the CPU is a second
    /// side ([`among`](Runtime::among)): a session that runs faster there goes on there.
    ///
    /// Where the environment has `VYRE_COSTS`, and it is not `off`, it names the file of [`with_costs`](Runtime::with_costs).
    pub fn auto() -> Result<Runtime, Error> {
        let file = std::env::var_os(COSTS).filter(|path| !path.is_empty() && path != "off");
        let no_device = match Runtime::cuda() {
            Ok(runtime) => {
                let native = (!cfg!(panic = "abort")).then(Runtime::native);
                let runtime = Runtime::among(runtime, native);
                return Ok(match file {
                    Some(path) => runtime.with_costs(path),
                    None => runtime,
                });
            }
            Err(e) => e.to_string(),
        };
        // Native traps unwind out of the user's functions.
        let (backend, why) = if cfg!(panic = "abort") {
            let abort = "the native backend needs panic = \"unwind\"";
            (Backend::Vir0, format!("{no_device}; {abort}"))
        } else {
            (Backend::Native, no_device)
        };
        Ok(Runtime {
            why: Some(why),
            ..Runtime::on(backend, Thresholds::default())
        })
    }

    /// Several sides: sessions begin on the first, time their runs, open others where those could be faster, and follow the best.
    /// Runs that would not agree on every side ([`Agreement::Open`](vyre_core::vir0::module::Agreement::Open)) stay on the first, unless
    /// [`Session::set_side_changes`](crate::Session::set_side_changes) says otherwise. What opens no [`Session`](crate::Session)
    /// runs on the first.
    ///
    /// Each side has the budget and the thresholds that it came with; [`with_memory`](Runtime::with_memory) afterwards is one
    /// budget for all.
    ///
    /// ```
    /// use vyre_cuda::Runtime;
    /// let runtime = Runtime::among(Runtime::native(), [Runtime::vir0()]);
    /// assert_eq!((runtime.backend(), runtime.backends()), ("native", vec!["native", "vir0"]));
    /// ```
    pub fn among(first: Runtime, others: impl IntoIterator<Item = Runtime>) -> Runtime {
        let mut sides = first.sides();
        sides.extend(others.into_iter().flat_map(|other| other.sides()));
        let names = sides.iter().map(Runtime::identity).collect();
        Runtime {
            costs: Arc::new(Costs::new(names, first.costs.file().map(Path::to_owned))),
            others: sides.split_off(1).into(),
            ..first
        }
    }

    /// The first side alone: where sessions begin, they stay. For measurements of a backend.
    pub fn alone(self) -> Runtime {
        Runtime {
            others: Arc::default(),
            ..self
        }
    }

    fn on(backend: Backend, thresholds: Thresholds) -> Runtime {
        Runtime {
            backend,
            why: None,
            budget: None,
            thresholds,
            plans: Arc::default(),
            spare: Arc::default(),
            others: Arc::default(),
            costs: Arc::new(Costs::new(Vec::new(), None)),
        }
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

    /// The first CUDA device. Without a driver or a device that can be used, an error, never a panic. Where this crate has no
    /// machine code for the device, the first process on a machine waits while the driver compiles it;
    /// [`Display`](fmt::Display) then says so, and why, and so does [`Device::code`].
    pub fn cuda() -> Result<Runtime, Error> {
        let device = Device::open(0)?;
        let why = match device.code() {
            Code::Cubin { .. } => None,
            waited @ Code::Ptx(_) => Some(waited.to_string()),
        };
        Ok(Runtime {
            why,
            ..Runtime::on(Backend::Cuda(device), on_cuda())
        })
    }

    /// The CPU, running the passes' own functions on all threads. Where the program is built with `panic = "abort"`, a
    /// trap aborts the process.
    pub fn native() -> Runtime {
        Runtime::on(Backend::Native, Thresholds::default())
    }

    /// The CPU, interpreting the passes' bytecode on one thread: the reference.
    pub fn vir0() -> Runtime {
        Runtime::on(Backend::Vir0, Thresholds::default())
    }

    /// `"cuda"`, `"native"` or `"vir0"`; of several sides, where sessions begin ([`Session::backend`](crate::Session::backend)
    /// says where one is).
    pub fn backend(&self) -> &'static str {
        match self.backend {
            Backend::Cuda(_) => "cuda",
            Backend::Native => "native",
            Backend::Vir0 => "vir0",
        }
    }

    /// The backends of all sides, the one where sessions begin first.
    pub fn backends(&self) -> Vec<&'static str> {
        let others = self.others.iter().map(Runtime::backend);
        std::iter::once(self.backend()).chain(others).collect()
    }

    /// Threads that native sessions and loaders share, which are made here where nobody has made them.
    ///
    /// # Errors
    /// `RAYON_NUM_THREADS` asks for more than can be meant. Sessions say the same when they are opened.
    pub fn threads() -> Result<usize, Error> {
        Ok(native::threads()?)
    }

    /// The same, with a budget: sessions of this runtime and its clones share so much memory. What needs more than the
    /// others leave is refused before anything is allocated. Several sides share it: another side is opened only where it leaves
    /// as much as it takes.
    pub fn with_memory(self, bytes: u64) -> Runtime {
        let budget = Some(Arc::new(Budget {
            total_bytes: bytes,
            used_bytes: AtomicU64::new(0),
        }));
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

    /// The same, remembering in a file what runs took on each side, beyond the process: the next session of the same code on
    /// graphs of about the same size begins where it was fastest. The file and its folders are made when there is something to
    /// write. A file of anything else is left alone, and one that cannot be read or written is no error. Without this, and
    /// without `VYRE_COSTS` for [`auto`](Runtime::auto), nothing is written; a runtime and its clones remember for themselves.
    pub fn with_costs(self, file: impl Into<PathBuf>) -> Runtime {
        let names = self.sides().iter().map(Runtime::identity).collect();
        Runtime {
            costs: Arc::new(Costs::new(names, Some(file.into()))),
            ..self
        }
    }

    pub(crate) fn costs(&self) -> &Arc<Costs> {
        &self.costs
    }

    /// What tells this side's costs from those of other machines and builds.
    fn identity(&self) -> String {
        let build = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        let version = env!("CARGO_PKG_VERSION");
        let (backend, device) = (self.backend(), self.device());
        match &self.backend {
            Backend::Cuda(cuda) => {
                let driver = cuda.driver_version();
                format!("{backend} {version}, {device}, driver {driver}")
            }
            Backend::Native | Backend::Vir0 => {
                let arch = std::env::consts::ARCH;
                format!("{backend} {version}, {arch}, {device}, {build}")
            }
        }
    }

    /// The least that a run can take here.
    pub(crate) fn floor(&self) -> Floor {
        let (run_ns, round_ns, item_ns) = match self.backend {
            // A launch with its readback, a barrier, and what the memory of the fastest devices feeds.
            Backend::Cuda(_) => (10_000.0, 1_000.0, 0.02),
            // A lane of a sweep that the compiler turned into vector code.
            Backend::Native => (500.0, 20.0, 0.25 / native::threads().unwrap_or(1) as f64),
            Backend::Vir0 => (500.0, 20.0, 2.0),
        };
        Floor {
            run_ns,
            round_ns,
            item_ns,
        }
    }

    /// The same, with thresholds that were measured: sessions load them. Of several sides, the first has them.
    pub fn with_thresholds(self, thresholds: Thresholds) -> Runtime {
        Runtime { thresholds, ..self }
    }

    /// What sessions decide by.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// What the plans that this runtime and its clones keep were asked for so far. A session that is opened again for the same
    /// pass, sizes and memory takes its plan from there, and so does its first launch.
    pub fn planning(&self) -> Planning {
        let others = self.others.iter().map(|other| other.plans.stats());
        others.fold(self.plans.stats(), Planning::plus)
    }

    pub(crate) fn plans(&self) -> &Arc<Plans> {
        &self.plans
    }

    /// Which of several devices; 0 on the CPU.
    pub(crate) fn ordinal(&self) -> u32 {
        match &self.backend {
            Backend::Cuda(device) => device.ordinal() as u32,
            Backend::Native | Backend::Vir0 => 0,
        }
    }

    /// The CUDA device, where this is one.
    pub fn cuda_device(&self) -> Option<&Device> {
        match &self.backend {
            Backend::Cuda(device) => Some(device),
            Backend::Native | Backend::Vir0 => None,
        }
    }

    /// Memory that sessions share, and how much of it they took; `None` where nothing was set.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let budget = self.budget.as_ref()?;
        Some((budget.total_bytes, budget.used_bytes.load(Relaxed)))
    }

    /// No memory yet, to grow within what sessions share.
    pub(crate) fn lease(&self) -> Lease {
        Lease {
            budget: self.budget.clone(),
            spare: Arc::downgrade(&self.spare),
            bytes: 0,
        }
    }

    /// What this runtime keeps for later, and gives up where a session needs the memory.
    pub(crate) fn spare(&self) -> &Arc<Spare> {
        &self.spare
    }

    /// Runs a `#[kernel]`'s pass. On a GPU its session stays for the next call.
    pub(crate) fn run_kernel<P>(
        &self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
    ) -> Result<Report, Error>
    where
        P: for<'a> Pass<Topology<'a> = ()>,
    {
        let Backend::Cuda(device) = &self.backend else {
            return Session::<P>::new(self, ())?.run_in_place(args, in_outs, may_trap);
        };
        let mut run = || {
            let mut session = match self.spare.take::<P>() {
                Some(session) => session,
                None => {
                    // What is kept does not keep the runtime that keeps it.
                    let spare = Arc::default();
                    Session::<P>::new(
                        &Runtime {
                            spare,
                            ..self.clone()
                        },
                        (),
                    )?
                }
            };
            session.set_thresholds(self.thresholds);
            let report = session.run_in_place(args, in_outs, may_trap);
            // A device that failed may have left it in any state.
            if !matches!(report, Err(Error::Run(RunError::Backend(_)))) {
                self.spare.keep(session, device)?;
            }
            report
        };
        match run() {
            // Memory of other kernels, and of larger calls before.
            Err(Error::Run(RunError::Memory { .. })) if self.spare.give_up() => run(),
            report => report,
        }
    }

    /// Whose memory sessions take: a CPU's, or a device's with what the topologies decide about it.
    pub(crate) fn holder(
        &self,
        program: &Program,
        topology: &TopologyArgs<'_>,
    ) -> Result<Holder, RunError> {
        Ok(match &self.backend {
            Backend::Cuda(device) => {
                Holder::Device(Arc::new(graphs_of(device, program, topology)?))
            }
            Backend::Native | Backend::Vir0 => Holder::Cpu,
        })
    }

    /// What the backend runs on.
    pub fn device(&self) -> String {
        match &self.backend {
            Backend::Cuda(device) => device.name().to_owned(),
            Backend::Native => match native::threads() {
                Ok(1) => "1 thread".to_owned(),
                Ok(n) => format!("{n} threads"),
                Err(e) => e.to_string(),
            },
            Backend::Vir0 => "1 thread".to_owned(),
        }
    }

    /// An executor of a program that no pass's functions belong to; `None` on the native backend, which runs those.
    /// Whether a program runs as it is, without the functions of a pass.
    pub(crate) fn runs_programs(&self) -> bool {
        !matches!(self.backend, Backend::Native)
    }

    pub(crate) fn program_executor(
        &self,
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<Box<dyn Executor>, RunError> {
        native::threads()?;
        Ok(match &self.backend {
            Backend::Cuda(device) => {
                Box::new(Megakernel::new(device, program, topology, allocation)?)
            }
            Backend::Native | Backend::Vir0 => {
                Box::new(Vir0Executor::new(program, topology, allocation)?)
            }
        })
    }

    /// Executors of a pass, by topology: its program as each runs it, topology, and allocation.
    pub(crate) fn resident<P: Pass>(
        &self,
        whole: &Arc<Program>,
        programs: &[Arc<Program>],
        topologies: &[TopologyArgs<'_>],
        allocations: &[Allocation],
    ) -> Result<Resident, RunError> {
        native::threads()?;
        // One launch has one schedule: a topology that only fits with more barriers keeps all of them apart.
        let one = programs.iter().all(|p| p.schedule == whole.schedule);
        if let (Backend::Cuda(device), true) = (&self.backend, one) {
            let shares = allocations.contains(&Allocation::Shared);
            let allocation = match shares {
                true => Allocation::Shared,
                false => Allocation::Separate,
            };
            let of = (Arc::clone(whole), allocation);
            let many = Many::new(device, of, topologies)?;
            return Ok(Resident::Together(Box::new(many)));
        }
        let each = programs.iter().zip(topologies).zip(allocations);
        let each = each.map(|((program, topology), &allocation)| {
            self.executor::<P>(Arc::clone(program), topology, allocation)
        });
        Ok(Resident::Apart(each.collect::<Result<_, _>>()?))
    }

    pub(crate) fn executor<P: Pass>(
        &self,
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<Box<dyn Executor>, RunError> {
        native::threads()?;
        Ok(match &self.backend {
            Backend::Cuda(device) => {
                Box::new(Megakernel::new(device, program, topology, allocation)?)
            }
            Backend::Native => Box::new(NativeExecutor::<P>::new(program, topology, allocation)?),
            Backend::Vir0 => Box::new(Vir0Executor::new(program, topology, allocation)?),
        })
    }
}

/// Whose memory a session takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Cpu,
    Device(Arc<Graphs>),
}

impl Holder {
    pub(crate) fn target(&self) -> Target<'_> {
        match self {
            Holder::Cpu => Target::Cpu,
            Holder::Device(graphs) => Target::Cuda(graphs),
        }
    }

    pub(crate) fn is_cpu(&self) -> bool {
        matches!(self, Holder::Cpu)
    }
}

/// The thresholds of a device. Of the contract's defaults one was measured to be wrong: on an H100, sparse rounds are never
/// faster with fewer CTAs, and those of a few thousand items are slower (docs/PERFORMANCE.md).
fn on_cuda() -> Thresholds {
    let mut thresholds = Thresholds::default();
    thresholds.launch.sparse_ctas = u32::MAX;
    thresholds
}

/// One pass on many topologies.
pub(crate) enum Resident {
    /// All on a device, where queries share launches.
    Together(Box<Many>),
    /// An executor each.
    Apart(Vec<Box<dyn Executor>>),
}

impl Resident {
    /// Runs queries on the topologies that they name, in order; those of different topologies on several threads. `room`:
    /// bytes that the budget has for their states, inputs and results.
    pub(crate) fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        let executors = match self {
            Resident::Together(many) => return many.run_batch(queries, room),
            Resident::Apart(executors) => executors,
        };
        let mut by_executor: Vec<Vec<usize>> = vec![Vec::new(); executors.len()];
        for (q, (topology, _)) in queries.iter().enumerate() {
            by_executor[*topology].push(q);
        }
        let busy = executors.par_iter_mut().zip(&by_executor);
        let done = busy.flat_map_iter(|(executor, mine)| {
            mine.iter().map(|&q| (q, executor.run(&queries[q].1)))
        });
        let mut done: Vec<_> = done.collect();
        done.sort_unstable_by_key(|&(q, _)| q);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    pub(crate) fn counters(&self) -> Option<Counters> {
        match self {
            Resident::Together(many) => Some(many.counters()),
            Resident::Apart(executors) => {
                let counts = executors.iter().map(|e| e.counters());
                counts.reduce(|a, b| a.zip(b).map(|(a, b)| a.plus(&b)))?
            }
        }
    }
}

/// Memory that sessions share.
#[derive(Debug)]
struct Budget {
    total_bytes: u64,
    used_bytes: AtomicU64,
}

/// Sessions of kernels that wait for their next call, at most.
const KEPT_KERNELS: usize = 16;
/// They have one part in so many of the device's memory together, at most.
const KEPT_SHARE: u64 = 4;

/// Memory that nobody uses, kept because the next call may: sessions of kernels, and results that came back. All of it goes
/// before a session is refused.
#[derive(Default)]
pub(crate) struct Spare {
    /// The one that waits longest comes first.
    kernels: Mutex<Vec<Kept>>,
    /// What those may have together, once a device was asked.
    most_bytes: OnceLock<u64>,
    pools: Mutex<Vec<Weak<dyn GiveUp>>>,
}

struct Kept {
    kernel: TypeId,
    session: Box<dyn Any + Send>,
    bytes: u64,
}

/// Has memory for later.
pub(crate) trait GiveUp: Send + Sync {
    /// Frees it; whether there was some.
    fn give_up(&self) -> bool;
}

impl Spare {
    fn kernels(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session of the kernel that nobody uses.
    fn take<P: Pass>(&self) -> Option<Session<P>> {
        let mut kernels = self.kernels();
        let of = |kept: &Kept| kept.kernel == TypeId::of::<P>();
        let kept = kernels.iter().rposition(of).map(|at| kernels.remove(at))?;
        kept.session.downcast().ok().map(|session| *session)
    }

    /// Keeps a session of a kernel, and gives up those that wait longest where there are too many, or with too much memory.
    fn keep<P: Pass>(self: &Arc<Self>, session: Session<P>, device: &Device) -> Result<(), Error> {
        let mut kernels = self.kernels();
        kernels.push(Kept {
            kernel: TypeId::of::<P>(),
            bytes: session.held_bytes(),
            session: Box::new(session),
        });
        let most_bytes = match self.most_bytes.get() {
            Some(&most_bytes) => most_bytes,
            None => {
                device.register(self);
                let (_, total_bytes) = device.memory_bytes()?;
                *self.most_bytes.get_or_init(|| total_bytes / KEPT_SHARE)
            }
        };
        let mut bytes: u64 = kernels.iter().map(|kept| kept.bytes).sum();
        let mut over = kernels.len().saturating_sub(KEPT_KERNELS);
        for (at, kept) in kernels.iter().enumerate() {
            if bytes > most_bytes {
                bytes -= kept.bytes;
                over = over.max(at + 1);
            }
        }
        let gone: Vec<Kept> = kernels.drain(..over).collect();
        drop(kernels);
        drop(gone);
        Ok(())
    }

    /// Results that come back to a session.
    pub(crate) fn add(&self, pool: Weak<dyn GiveUp>) {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|kept| kept.strong_count() > 0 && !kept.ptr_eq(&pool));
        pools.push(pool);
    }
}

impl GiveUp for Spare {
    fn give_up(&self) -> bool {
        let kernels = std::mem::take(&mut *self.kernels());
        let pools: Vec<_> = {
            let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            pools.iter().filter_map(Weak::upgrade).collect()
        };
        // All of them, though one may be enough.
        let some = pools.iter().filter(|pool| pool.give_up()).count();
        some > 0 || !kernels.is_empty()
    }
}

impl fmt::Debug for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

/// A session's part of the memory; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    budget: Option<Arc<Budget>>,
    /// What the session's runtime keeps for later.
    spare: Weak<Spare>,
    bytes: u64,
}

impl Lease {
    /// What this lease can have at most now: its own part and what nobody has. `None` without a budget.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        let budget = self.budget.as_ref()?;
        let used = budget.used_bytes.load(Relaxed);
        Some(budget.total_bytes.saturating_sub(used) + self.bytes)
    }

    /// Has what the runtime keeps for later given back, where there is a budget to be kept to; whether there was some.
    pub(crate) fn give_up(&self) -> bool {
        let spare = self.budget.as_ref().and_then(|_| self.spare.upgrade());
        spare.is_some_and(|spare| spare.give_up())
    }

    /// Makes it so large, if what the runtime keeps for later has to go for that; false, and no change of this, where that is
    /// not enough.
    #[must_use]
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        self.resize(bytes) || self.give_up() && self.resize(bytes)
    }

    /// Makes it so large; false, and no change, where that is more than is available.
    #[must_use]
    pub(crate) fn resize(&mut self, bytes: u64) -> bool {
        if let Some(budget) = &self.budget {
            let change = budget.used_bytes.fetch_update(Relaxed, Relaxed, |used| {
                let others = used.saturating_sub(self.bytes);
                let now = others.checked_add(bytes)?;
                (now <= budget.total_bytes || bytes <= self.bytes).then_some(now)
            });
            if change.is_err() {
                return false;
            }
        }
        self.bytes = bytes;
        true
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _smaller = self.resize(0);
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
