//! Which backend runs the passes of this process.

use crate::device::{Code, Device};
use crate::error::Error;
use crate::megakernel::{Many, Megakernel, graphs_of};
use crate::plans::{Planning, Plans};
use crate::session::Session;
use rayon::prelude::*;
use std::any::{Any, TypeId};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use vyre_core::exec::{
    Args, Counters, Executor, Outcome, Report, RunError, SliceMut, TopologyArgs,
};
use vyre_core::module::{BufferId, Program};
use vyre_core::native::{self, NativeExecutor};
use vyre_core::pass::Pass;
use vyre_core::plan::device::Graphs;
use vyre_core::plan::footprint::{Allocation, Target};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::vir0::Vir0Executor;

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
}

#[derive(Clone, Debug)]
enum Backend {
    Cuda(Arc<Device>),
    Native,
    Vir0,
}

impl Runtime {
    /// CUDA if a device answers, otherwise the CPU; [`Display`](fmt::Display) says which and why.
    pub fn auto() -> Result<Runtime, Error> {
        let no_device = match Runtime::cuda() {
            Ok(runtime) => return Ok(runtime),
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
            backend,
            why: Some(why),
            budget: None,
            thresholds: Thresholds::default(),
            plans: Arc::default(),
            spare: Arc::default(),
        })
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
            backend: Backend::Cuda(device),
            why,
            budget: None,
            thresholds: on_cuda(),
            plans: Arc::default(),
            spare: Arc::default(),
        })
    }

    /// The CPU, running the passes' own functions on all threads. Where the program is built with `panic = "abort"`, a
    /// trap aborts the process.
    pub fn native() -> Runtime {
        Runtime {
            backend: Backend::Native,
            why: None,
            budget: None,
            thresholds: Thresholds::default(),
            plans: Arc::default(),
            spare: Arc::default(),
        }
    }

    /// The CPU, interpreting the passes' bytecode on one thread: the reference.
    pub fn vir0() -> Runtime {
        Runtime {
            backend: Backend::Vir0,
            why: None,
            budget: None,
            thresholds: Thresholds::default(),
            plans: Arc::default(),
            spare: Arc::default(),
        }
    }

    /// `"cuda"`, `"native"` or `"vir0"`.
    pub fn backend(&self) -> &'static str {
        match self.backend {
            Backend::Cuda(_) => "cuda",
            Backend::Native => "native",
            Backend::Vir0 => "vir0",
        }
    }

    /// Threads that native sessions and loaders share, which are made here where nobody has made them.
    ///
    /// # Errors
    /// `RAYON_NUM_THREADS` asks for more than can be meant. Sessions say the same when they are opened.
    pub fn threads() -> Result<usize, Error> {
        Ok(native::threads()?)
    }

    /// The same, with a budget: sessions of this runtime and its clones share so much memory. What needs more than the
    /// others leave is refused before anything is allocated.
    pub fn with_memory(self, bytes: u64) -> Runtime {
        let spare = Arc::<Spare>::default();
        Runtime {
            budget: Some(Arc::new(Budget {
                total_bytes: bytes,
                used_bytes: AtomicU64::new(0),
                spare: Arc::downgrade(&spare),
            })),
            spare,
            ..self
        }
    }

    /// The same, with thresholds that were measured: sessions load them.
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
        self.plans.stats()
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
    /// What was taken for later.
    spare: Weak<Spare>,
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
    bytes: u64,
}

impl Lease {
    /// What this lease can have at most now: its own part and what nobody has. `None` without a budget.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        let budget = self.budget.as_ref()?;
        let used = budget.used_bytes.load(Relaxed);
        Some(budget.total_bytes.saturating_sub(used) + self.bytes)
    }

    /// Has what a runtime keeps for later given back, where there is a budget to be kept to.
    pub(crate) fn give_up_for(&self, spare: &Spare) {
        if self.budget.is_some() {
            spare.give_up();
        }
    }

    /// Has what was taken for later given back; whether there was some.
    pub(crate) fn give_up(&self) -> bool {
        let spare = self.budget.as_ref().and_then(|b| b.spare.upgrade());
        spare.is_some_and(|spare| spare.give_up())
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
        if let Some(why) = &self.why {
            write!(f, "; {why}")?;
        }
        Ok(())
    }
}
