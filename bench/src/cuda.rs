//! What the megakernel is measured against: the benchmark's problems in CUDA C, run in six ways that differ in who
//! starts the next step.
//!
//! A [`Problem`]'s kernels are the same in all ways (kernels/rivals.cuh): one that sets its data up, one that does a
//! step, and a persistent one that does all of them. They run in the context and the stream that vyre's own launches
//! have, which [`Device`] hands out; all else is theirs.

mod barriers;
mod dependent;
mod graph;
mod memory;

pub use barriers::{Barrier, barrier_ns};

use crate::workloads::Values;
use graph::{Graph, Node};
use memory::{Event, Memory, Pinned, Ring, Timer, bytes_of};
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;
use vyre::Csr;
use vyre::cuda::cudarc::driver::{DriverError, result, sys};
use vyre::cuda::{Device, DeviceError};

/// The rivals' kernels.
const PTX: &str = include_str!("../kernels/rivals.ptx");

/// Threads of a CTA.
const THREADS: u32 = 256;
/// Steps after which a run is given up.
const MAX_STEPS: u32 = 50_000_000;
/// Edges of a row of PageRank that one warp sums up.
const HUB: u32 = 4096;
/// About what a warp of PageRank takes at once.
const UNIT: u32 = 2048;

/// What is to be computed, and from what.
#[derive(Clone, Copy, Debug)]
pub enum Problem<'a> {
    /// Levels from node 0 as u32, `u32::MAX` where nothing leads.
    Bfs {
        /// The graph.
        graph: &'a Csr,
        /// Every edge has its reverse: wide frontiers are pulled.
        symmetric: bool,
    },
    /// Distances from node 0 as u32, `u32::MAX` where nothing leads.
    Sssp {
        /// The graph.
        graph: &'a Csr,
        /// One an edge.
        weights: &'a [u32],
        /// Distances that are relaxed together.
        width: u32,
    },
    /// Ranks by power iteration as f32.
    PageRank {
        /// The graph; every edge has its reverse.
        graph: &'a Csr,
        /// The part of a rank that is passed on.
        damping: f32,
        /// It stops when ranks move by less in sum.
        tolerance: f32,
    },
    /// The smallest node of each node's component as u32.
    Components {
        /// The graph; every edge has its reverse.
        graph: &'a Csr,
    },
    /// Registers that are live where each block begins as u64.
    Liveness {
        /// Edges of the control-flow graph, reversed.
        predecessors: &'a Csr,
        /// Read before they are written, by block.
        uses: &'a [u64],
        /// Written, by block.
        defs: &'a [u64],
    },
    /// `factor * x + y` as f32. A run uploads both.
    Saxpy {
        /// The factor.
        factor: f32,
        /// As long as `y`.
        x: &'a [f32],
        /// As long as `x`.
        y: &'a [f32],
    },
    /// 32 steps of arithmetic on each index, as u32.
    Hash {
        /// How many.
        len: u32,
        /// What indices are mixed with.
        seed: u32,
    },
}

/// Who starts the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The host, after it read back what the last one left.
    HostLoop,
    /// The host, ahead: batches of launches, each with a readback, of which one is always still to run.
    Queued,
    /// The host, ahead, with programmatic dependent launch: the CTAs of a step are there, and wait, while the step
    /// before runs, and the device tells the host how far it is without a copy between two steps. From compute
    /// capability 9.0 on.
    Dependent,
    /// The same steps in CUDA graphs of several.
    DependentGraph,
    /// A CUDA graph with a WHILE node.
    WhileGraph,
    /// One persistent kernel.
    Compiled,
}

/// Why a rival does not run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RivalError {
    /// The driver's reason.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A call of the driver failed.
    #[error("{}: {}", name(.0), text(.0))]
    Driver(#[from] DriverError),
    /// The driver has no conditional nodes.
    #[error("the CUDA driver has no conditional graph nodes; 12.4 or later has them")]
    NoConditionalNodes,
    /// The device has no programmatic dependent launch, or the driver does not take its instructions.
    #[error(
        "there is no programmatic dependent launch; compute capability 9.0 and a driver of CUDA 12.1 or later have it"
    )]
    NoDependentLaunch,
    /// It did not end.
    #[error("no end after {0} steps")]
    NoEnd(u32),
    /// CTAs of the persistent kernel waited too long for each other.
    #[error("the barrier was given up")]
    Aborted,
}

/// The driver's name of an error.
fn name(e: &DriverError) -> String {
    e.error_name().map_or_else(
        |_| "unknown error".to_owned(),
        |s| s.to_string_lossy().into_owned(),
    )
}

/// Its text.
fn text(e: &DriverError) -> String {
    e.error_string().map_or_else(
        |_| "unknown error".to_owned(),
        |s| s.to_string_lossy().into_owned(),
    )
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Steps run.
    pub steps: u32,
    /// Host time from the first launch until the last step's end was seen, in nanoseconds.
    pub wall_ns: u64,
    /// Device time of the same span, in nanoseconds.
    pub device_ns: u64,
}

/// The kernels, loaded.
#[derive(Debug)]
pub struct Kernels {
    device: Arc<Device>,
    module: sys::CUmodule,
}

// SAFETY: a module handle may be used from any thread, and is never changed after `load`.
unsafe impl Send for Kernels {}
// SAFETY: as above.
unsafe impl Sync for Kernels {}

impl Kernels {
    /// Has the driver compile them, or find them compiled in its cache.
    pub fn load(device: &Arc<Device>) -> Result<Arc<Kernels>, RivalError> {
        device.enter()?;
        let module = match dependent::available(device) {
            true => load(&dependent::text())?,
            false => load(PTX)?,
        };
        let device = Arc::clone(device);
        Ok(Arc::new(Kernels { device, module }))
    }

    fn function(&self, name: &str) -> Result<sys::CUfunction, RivalError> {
        let name = CString::new(name).expect("the name has no zero byte");
        // SAFETY: the module stays loaded as long as `self`.
        Ok(unsafe { result::module::get_function(self.module, name) }?)
    }
}

/// Has the driver compile PTX for the current context, or find it compiled in its cache.
fn load(ptx: &str) -> Result<sys::CUmodule, RivalError> {
    let text = CString::new(ptx).expect("the PTX has no zero byte");
    // SAFETY: the text ends in a zero byte and outlives the call.
    Ok(unsafe { result::module::load_data(text.as_ptr().cast()) }?)
}

impl Drop for Kernels {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            let _ = self.device.synchronize();
            // SAFETY: loaded by `load`, not used again. An error has no taker here.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// `Params` of rivals.cuh; what a problem does not need is zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Params {
    offsets: u64,
    targets: u64,
    weights: u64,
    uses: u64,
    defs: u64,
    out: u64,
    marks: [u64; 2],
    front: [u64; 4],
    share: [u64; 2],
    units: u64,
    parts: u64,
    sums: u64,
    arrived: u64,
    told: u64,
    nodes: u32,
    source: u32,
    width: u32,
    unit_count: u32,
    part_count: u32,
    max_steps: u32,
    factor: f32,
    tolerance: f32,
}
const _: () = assert!(size_of::<Params>() == 184);

/// `Control` of rivals.cuh, in bytes: four slots, and what the host reads of the rest.
mod control {
    pub(super) const BYTES: u64 = 512;
    /// The slots, the lengths of the far pile, and whether the barrier was given up.
    pub(super) const READ: usize = 280;
    const SLOT: usize = 64;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice has 4 bytes"))
    }

    /// Whether CTAs have waited too long for each other.
    pub(super) fn aborted(bytes: &[u8]) -> bool {
        word(bytes, 276) != 0
    }

    /// A slot as the host reads it.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Slot {
        pub(super) step: u32,
        pub(super) done: u32,
        pub(super) items: u32,
        pub(super) edges: u32,
        pub(super) moved: f64,
        /// Items of the far pile.
        pub(super) far: u32,
    }

    impl Slot {
        /// The slot that the step of this turn reads.
        pub(super) fn read(bytes: &[u8], turn: u32) -> Slot {
            let at = turn as usize % 4 * SLOT;
            let state = word(bytes, at + 8) as usize;
            let moved = bytes[at + 32..at + 40].try_into();
            Slot {
                step: word(bytes, at),
                done: word(bytes, at + 4),
                items: word(bytes, at + 16),
                edges: word(bytes, at + 20),
                moved: f64::from_le_bytes(moved.expect("the slice has 8 bytes")),
                far: word(bytes, 4 * SLOT + state % 4 * 4),
            }
        }
    }
}
use control::Slot;

/// A problem on the device, to be run in one of the ways.
#[derive(Debug)]
pub struct Rival<'a> {
    kernels: Arc<Kernels>,
    problem: Problem<'a>,
    way: Way,
    params: Params,
    step: sys::CUfunction,
    /// The kernel that sets up and the persistent one, where one step is not all.
    begin: Option<sys::CUfunction>,
    persistent: Option<sys::CUfunction>,
    /// Everything that `params` names, but for the results.
    held: Vec<Memory>,
    out: Memory,
    control: Memory,
    /// Two copies of the control, for readbacks.
    seen: Pinned,
    /// What the device tells while it works: steps begun, and whether it is done.
    told: Pinned,
    /// What inputs and results go through, as those of vyre's sessions do.
    ring: Ring,
    idle: Event,
    checks: [Event; 2],
    timer: Timer,
    /// CTAs of a launch whose work is not known.
    ctas: u32,
    /// Steps of a graph of some.
    batch: u32,
    graph: Option<Graph>,
}

/// Makes device memory and keeps it.
struct Uploads<'d> {
    device: &'d Arc<Device>,
    held: Vec<Memory>,
}

impl Uploads<'_> {
    fn room(&mut self, bytes: u64) -> Result<u64, RivalError> {
        let memory = Memory::new(self.device, bytes)?;
        let address = memory.address();
        self.held.push(memory);
        Ok(address)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<u64, RivalError> {
        let address = self.room(bytes.len() as u64)?;
        self.held[self.held.len() - 1].upload(0, bytes)?;
        Ok(address)
    }

    fn graph(&mut self, graph: &Csr, params: &mut Params) -> Result<(), RivalError> {
        params.nodes = graph.node_count() as u32;
        params.offsets = self.put(bytes_of(graph.offsets()))?;
        params.targets = self.put(bytes_of(graph.targets()))?;
        Ok(())
    }
}

impl<'a> Rival<'a> {
    /// Uploads what does not change. There is at least one node or element.
    pub fn new(
        kernels: &Arc<Kernels>,
        problem: Problem<'a>,
        way: Way,
    ) -> Result<Rival<'a>, RivalError> {
        let device = &kernels.device;
        device.enter()?;
        let dependent = matches!(way, Way::Dependent | Way::DependentGraph);
        if dependent && !dependent::available(device) {
            return Err(RivalError::NoDependentLaunch);
        }
        let mut up = Uploads {
            device,
            held: Vec::new(),
        };
        let mut params = Params {
            max_steps: MAX_STEPS,
            ..Params::default()
        };
        let (name, out_bytes) = describe(&problem, &mut up, &mut params)?;
        assert!(params.nodes > 0, "there is something to compute");
        let out = Memory::new(device, out_bytes)?;
        params.out = out.address();
        let told = Pinned::new(device, size_of::<u64>())?;
        if dependent {
            params.told = told.address();
        }
        let event = || Event::new(device, false);
        let kernel = |what| kernels.function(&format!("{name}_{what}"));
        let step = kernel("step")?;
        let (begin, persistent) = match problem {
            Problem::Saxpy { .. } | Problem::Hash { .. } => (None, None),
            _ => (Some(kernel("begin")?), Some(kernel("persistent")?)),
        };
        let resident = persistent.filter(|_| way == Way::Compiled);
        let ctas = full(device, resident.unwrap_or(step))?;
        let rival = Rival {
            problem,
            way,
            params,
            begin,
            step,
            persistent,
            held: up.held,
            out,
            control: Memory::new(device, control::BYTES)?,
            seen: Pinned::new(device, 2 * control::BYTES as usize)?,
            told,
            ring: Ring::new(device)?,
            idle: event()?,
            checks: [event()?, event()?],
            timer: Timer::new(device)?,
            ctas,
            batch: dependent::BATCHES[0],
            graph: None,
            kernels: Arc::clone(kernels),
        };
        rival.control.clear()?;
        device.synchronize()?;
        Ok(rival)
    }

    /// Chooses the number of CTAs, and of steps in a graph of some, by trying them. A host loop that reads back how
    /// much there is to do needs none of this.
    pub fn tune(&mut self) -> Result<(), RivalError> {
        if self.way == Way::HostLoop {
            return Ok(());
        }
        let (most, each) = (self.ctas, self.kernels.device.multiprocessors());
        let mut tried = vec![each, 2 * each, 3 * each, 4 * each];
        tried.retain(|&ctas| ctas < most);
        tried.push(most);
        let batches = match self.way {
            Way::DependentGraph if self.fixed_steps().is_none() => &dependent::BATCHES[..],
            _ => &dependent::BATCHES[..1],
        };
        let mut best = (u64::MAX, most, batches[0]);
        for (&batch, &ctas) in batches
            .iter()
            .flat_map(|b| tried.iter().map(move |c| (b, c)))
        {
            (self.ctas, self.batch, self.graph) = (ctas, batch, None);
            let times = [self.run()?, self.run()?, self.run()?].map(|t| t.device_ns);
            let least = times.into_iter().min().unwrap_or(u64::MAX);
            best = best.min((least, ctas, batch));
        }
        (self.ctas, self.batch, self.graph) = (best.1, best.2, None);
        Ok(())
    }

    /// CTAs of a launch whose work is not known.
    pub fn ctas(&self) -> u32 {
        self.ctas
    }

    /// Searches begin at this node; others have no source.
    pub fn set_source(&mut self, source: u32) {
        assert!(
            matches!(self.problem, Problem::Bfs { .. } | Problem::Sssp { .. }),
            "only searches have a source"
        );
        assert!(source < self.params.nodes, "the source is a node");
        self.params.source = source;
        self.graph = None;
    }

    /// One run. What it takes from the host goes up first, through page-locked memory, and is no part of its times.
    pub fn run(&mut self) -> Result<Timed, RivalError> {
        let device = Arc::clone(&self.kernels.device);
        device.enter()?;
        if let Problem::Saxpy { x, y, .. } = self.problem {
            for (memory, bytes) in [(&self.held[0], bytes_of(x)), (&self.out, bytes_of(y))] {
                self.ring.upload(memory, bytes)?;
            }
            device.synchronize()?;
        }
        if self.graph.is_none() {
            self.graph = match self.way {
                Way::WhileGraph => Some(self.while_graph()?),
                Way::DependentGraph => self.dependent_graph()?,
                Way::HostLoop | Way::Queued | Way::Dependent | Way::Compiled => None,
            };
        }
        let started = Instant::now();
        self.timer.start()?;
        let fixed = self.fixed_steps();
        if fixed != Some(1) {
            self.control.clear()?;
        }
        let last = match (self.way, fixed) {
            (Way::WhileGraph, _) => {
                let graph = self.graph.as_ref().expect("it was just made");
                graph.launch(device.stream())?;
                None
            }
            (Way::Compiled, _) if self.persistent.is_some() => {
                self.launch_persistent()?;
                None
            }
            (Way::Dependent | Way::DependentGraph, steps) if steps != Some(1) => {
                self.dependent(steps)?;
                None
            }
            (_, Some(steps)) => {
                self.launch_begin()?;
                (0..steps).try_for_each(|turn| self.launch_step(turn, self.ctas))?;
                None
            }
            (Way::HostLoop, None) => Some(self.host_loop()?),
            (_, None) => Some(self.queued()?),
        };
        self.timer.end()?;
        let seen = match last {
            Some(slot) => {
                device.synchronize()?;
                slot
            }
            None => {
                self.look(0)?;
                device.synchronize()?;
                if control::aborted(self.seen.as_slice()) {
                    return Err(RivalError::Aborted);
                }
                // The last step that anybody opened.
                let slots = (0..4).map(|turn| self.slot(0, turn));
                slots
                    .max_by_key(|slot| slot.step)
                    .expect("there are four slots")
            }
        };
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // A step that found nothing to do was opened, and did nothing.
        let steps = fixed.unwrap_or(seen.step - u32::from(seen.done == 1));
        if seen.done == 2 {
            return Err(RivalError::NoEnd(steps));
        }
        Ok(Timed {
            steps,
            wall_ns,
            device_ns: self.timer.elapsed_ns()?,
        })
    }

    /// What the last run computed, in memory that is new.
    pub fn results(&mut self) -> Result<Values, RivalError> {
        self.results_in(None)
    }

    /// The same, in the memory of an earlier result. Either comes through two page-locked parts, which several threads
    /// empty while the rest is on its way.
    pub fn results_in(&mut self, earlier: Option<Values>) -> Result<Values, RivalError> {
        let len = self.params.nodes as usize;
        macro_rules! of {
            ($scalar:ident) => {{
                let earlier = match earlier {
                    Some(Values::$scalar(values)) => values,
                    _ => Vec::new(),
                };
                Values::$scalar(self.ring.download(&self.out, len, earlier)?)
            }};
        }
        Ok(match self.problem {
            Problem::PageRank { .. } | Problem::Saxpy { .. } => of!(F32),
            Problem::Liveness { .. } => of!(U64),
            Problem::Bfs { .. }
            | Problem::Sssp { .. }
            | Problem::Components { .. }
            | Problem::Hash { .. } => of!(U32),
        })
    }

    /// Steps of a problem whose number of them is known. Where it is one, there is nothing to begin or to control.
    fn fixed_steps(&self) -> Option<u32> {
        match self.problem {
            Problem::Saxpy { .. } | Problem::Hash { .. } => Some(1),
            Problem::Components { .. } => Some(5),
            Problem::Bfs { .. }
            | Problem::Sssp { .. }
            | Problem::PageRank { .. }
            | Problem::Liveness { .. } => None,
        }
    }

    /// CTAs for the step that reads this slot; none when nothing is left to do.
    fn pending(&self, slot: &Slot) -> Option<u32> {
        let work = match self.problem {
            _ if slot.done != 0 => return None,
            Problem::PageRank { tolerance, .. } => {
                return (slot.moved >= f64::from(tolerance)).then_some(self.ctas);
            }
            Problem::Sssp { .. } if slot.items == 0 => slot.far,
            _ => slot.edges,
        };
        (work != 0).then(|| work.div_ceil(THREADS).min(self.ctas))
    }

    fn host_loop(&mut self) -> Result<Slot, RivalError> {
        self.launch_begin()?;
        let mut turn = 0;
        let mut ctas = match self.problem {
            Problem::Bfs { graph, .. } | Problem::Sssp { graph, .. } => {
                let degree = graph.degree(self.params.source);
                degree.div_ceil(THREADS).clamp(1, self.ctas)
            }
            _ => self.ctas,
        };
        loop {
            self.launch_step(turn, ctas)?;
            turn += 1;
            self.look(0)?;
            self.kernels.device.synchronize()?;
            let slot = self.slot(0, turn);
            match self.pending(&slot) {
                Some(next) => ctas = next,
                None => return Ok(slot),
            }
        }
    }

    fn queued(&mut self) -> Result<Slot, RivalError> {
        const FIRST: u32 = 4;
        const MOST: u32 = 32;
        self.launch_begin()?;
        let (mut turn, mut batch) = (0, FIRST);
        let mut before = None;
        for round in 0.. {
            for _ in 0..batch {
                self.launch_step(turn, self.ctas)?;
                turn += 1;
            }
            let copy = round % 2;
            self.look(copy)?;
            self.checks[copy].record()?;
            if let Some((copy, turn)) = before.replace((copy, turn)) {
                self.checks[copy].wait()?;
                let slot = self.slot(copy, turn);
                if self.pending(&slot).is_none() {
                    return Ok(slot);
                }
            }
            batch = (batch * 2).min(MOST);
        }
        unreachable!("the loop ends by its return")
    }

    fn while_graph(&self) -> Result<Graph, RivalError> {
        let (params, control) = (&self.params, self.control.address());
        let node = |function, turn: u32| Node {
            function,
            ctas: self.ctas,
            threads: THREADS,
            params,
            control,
            turn,
        };
        let begin = self.begin.map(|begin| node(begin, 0));
        match self.fixed_steps() {
            Some(steps) => {
                let steps = (0..steps).map(|turn| node(self.step, turn));
                let nodes: Vec<Node<'_, Params>> = begin.into_iter().chain(steps).collect();
                Graph::chain(&nodes)
            }
            None => {
                // As many steps as slots, so that every turn of the loop is the same.
                let body: Vec<Node<'_, Params>> =
                    (0..4).map(|turn| node(self.step, turn)).collect();
                Graph::repeat(&self.kernels.device, begin.as_slice(), &body)
            }
        }
    }

    fn launch_begin(&self) -> Result<(), RivalError> {
        let Some(begin) = self.begin else {
            return Ok(());
        };
        let (mut params, mut control) = (self.params, self.control.address());
        let params = &mut [at(&mut params), at(&mut control)];
        self.launch(begin, self.ctas, params)
    }

    fn launch_step(&self, mut turn: u32, ctas: u32) -> Result<(), RivalError> {
        let (mut params, mut control, mut no_loop) = (self.params, self.control.address(), 0u64);
        let params = &mut [
            at(&mut params),
            at(&mut control),
            at(&mut turn),
            at(&mut no_loop),
        ];
        self.launch(self.step, ctas, params)
    }

    fn launch(
        &self,
        function: sys::CUfunction,
        ctas: u32,
        params: &mut [*mut c_void],
    ) -> Result<(), RivalError> {
        let stream = self.kernels.device.stream();
        // SAFETY: the parameters are those of the kernel, in its order, and point to live values; the memory they name
        // belongs to `self`, and every run ends with a wait for the stream.
        unsafe { result::launch_kernel(function, (ctas, 1, 1), (THREADS, 1, 1), 0, stream, params) }
            .map_err(RivalError::from)
    }

    fn launch_persistent(&self) -> Result<(), RivalError> {
        let Some(persistent) = self.persistent else {
            return Ok(());
        };
        let (mut params, mut control) = (self.params, self.control.address());
        let params = &mut [at(&mut params), at(&mut control)];
        let (grid, block) = ((self.ctas, 1, 1), (THREADS, 1, 1));
        let stream = self.kernels.device.stream();
        // SAFETY: as in `launch`; the driver refuses more CTAs than can be resident.
        unsafe { result::launch_cooperative_kernel(persistent, grid, block, 0, stream, params) }
            .map_err(RivalError::from)
    }

    /// Copies the control to the host, in stream order.
    fn look(&mut self, copy: usize) -> Result<(), RivalError> {
        let from = copy * control::BYTES as usize;
        let into = &mut self.seen.as_mut_slice()[from..from + control::READ];
        // SAFETY: the page-locked target belongs to `self`, and is read after a wait only.
        unsafe { self.control.download(0, into) }
    }

    fn slot(&self, copy: usize, turn: u32) -> Slot {
        let from = copy * control::BYTES as usize;
        Slot::read(&self.seen.as_slice()[from..from + control::READ], turn)
    }
}

impl Drop for Rival<'_> {
    fn drop(&mut self) {
        if self.kernels.device.enter().is_ok() {
            let _ = self.kernels.device.synchronize();
        }
    }
}

fn at<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

/// CTAs of a kernel that are resident together.
fn full(device: &Device, function: sys::CUfunction) -> Result<u32, RivalError> {
    // SAFETY: the function belongs to a loaded module.
    let each = unsafe {
        result::occupancy::max_active_block_per_multiprocessor(function, THREADS as i32, 0)
    }?;
    Ok(each as u32 * device.multiprocessors())
}

/// The kernels' name, what they work on, and the bytes of the result.
fn describe(
    problem: &Problem<'_>,
    up: &mut Uploads<'_>,
    params: &mut Params,
) -> Result<(&'static str, u64), RivalError> {
    const ITEM: u64 = 16;
    Ok(match *problem {
        Problem::Bfs { graph, symmetric } => {
            up.graph(graph, params)?;
            let n = u64::from(params.nodes);
            params.marks = [up.room(n.div_ceil(32) * 4)?, up.room(n.div_ceil(32) * 4)?];
            params.width = if symmetric {
                graph.edge_count() as u32
            } else {
                0
            };
            for side in 0..2 {
                params.front[side] = up.room(n * ITEM)?;
            }
            ("bfs", 4 * n)
        }
        Problem::Sssp {
            graph,
            weights,
            width,
        } => {
            up.graph(graph, params)?;
            let n = u64::from(params.nodes);
            params.weights = up.put(bytes_of(weights))?;
            params.width = width;
            params.marks = [up.room(4 * n)?, up.room(4 * n)?];
            for side in 0..4 {
                params.front[side] = up.room(n * ITEM)?;
            }
            ("sssp", 4 * n)
        }
        Problem::PageRank {
            graph,
            damping,
            tolerance,
        } => {
            up.graph(graph, params)?;
            let n = u64::from(params.nodes);
            let (units, parts) = shares(graph);
            params.units = up.put(bytes_of(&units))?;
            params.unit_count = units.len() as u32 - 1;
            params.parts = up.put(bytes_of(parts.as_flattened()))?;
            params.part_count = parts.len() as u32;
            params.sums = up.room(4 * parts.len() as u64)?;
            params.arrived = up.room(4 * parts.len() as u64)?;
            params.share = [up.room(4 * n)?, up.room(4 * n)?];
            params.factor = damping;
            params.tolerance = tolerance;
            ("pagerank", 4 * n)
        }
        Problem::Components { graph } => {
            up.graph(graph, params)?;
            params.source = (0..params.nodes)
                .max_by_key(|&v| graph.degree(v))
                .unwrap_or(0);
            ("components", 4 * u64::from(params.nodes))
        }
        Problem::Liveness {
            predecessors,
            uses,
            defs,
        } => {
            up.graph(predecessors, params)?;
            let n = u64::from(params.nodes);
            params.uses = up.put(bytes_of(uses))?;
            params.defs = up.put(bytes_of(defs))?;
            params.marks[0] = up.room(4 * n)?;
            for side in 0..2 {
                params.front[side] = up.room(n * ITEM)?;
            }
            ("liveness", 8 * n)
        }
        Problem::Saxpy { factor, x, y } => {
            assert_eq!(x.len(), y.len(), "x and y are equally long");
            params.nodes = x.len() as u32;
            params.factor = factor;
            // The first of what is held: a run uploads it.
            params.share[0] = up.room(size_of_val(x) as u64)?;
            ("saxpy", size_of_val(y) as u64)
        }
        Problem::Hash { len, seed } => {
            params.nodes = len;
            params.source = seed;
            ("hash", 4 * u64::from(len))
        }
    })
}

/// PageRank's work: where units of at most 32 rows and about [`UNIT`] edges begin, and the parts of rows above [`HUB`]
/// edges (row, edges from, to, the row's first part).
fn shares(graph: &Csr) -> (Vec<u32>, Vec<[u32; 4]>) {
    let (mut units, mut parts) = (vec![0], Vec::new());
    let (mut rows, mut cost) = (0, 0);
    for (row, ends) in (0u32..).zip(graph.offsets().windows(2)) {
        let degree = ends[1] - ends[0];
        if degree > HUB {
            let first = parts.len() as u32;
            let begins = (ends[0]..ends[1]).step_by(HUB as usize);
            parts.extend(begins.map(|from| [row, from, ends[1].min(from + HUB), first]));
        }
        let edges = if degree > HUB { 0 } else { degree };
        if rows == 32 || rows > 0 && cost + edges > UNIT {
            units.push(row);
            (rows, cost) = (0, 0);
        }
        rows += 1;
        cost += edges;
    }
    units.push(graph.node_count() as u32);
    (units, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_out_once() {
        let hub = (0..5000u32).map(|t| (40, t));
        let rest = (0..2000u32).map(|v| (v, v / 2));
        let edges: Vec<(u32, u32)> = hub.chain(rest).collect();
        let graph = Csr::from_edges(5000, &edges).unwrap();
        let (units, parts) = shares(&graph);
        let from = graph.offsets()[40];
        let middle = from + HUB;
        assert_eq!(parts, [[40, from, middle, 0], [40, middle, from + 5001, 0]]);
        assert_eq!((units[0], units[units.len() - 1]), (0, 5000));
        assert!(units.windows(2).all(|u| u[0] < u[1] && u[1] - u[0] <= 32));
    }
}
