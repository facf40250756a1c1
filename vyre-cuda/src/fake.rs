//! A device that is played on the host, so that the host's side of this backend runs where there is no GPU.
//!
//! [`Fake`] is a driver whose device memory is memory of the process. What it is given is done as late as it may be:
//! when somebody waits. A launch reads the image that was uploaded, as the megakernel does, finds everything by its
//! tables, and interprets the program.
//!
//! It panics where the host does what a driver's contract forbids:
//!
//! - bytes outside an allocation, or of one that was freed; numbers that are not aligned;
//! - two pieces of work that may be in the same bytes at once, because no stream, event or wait orders them;
//! - page-locked memory that is freed while a copy still needs it;
//! - handles that are destroyed twice, kernels launched otherwise than they must be;
//! - anything that is still held when the last user of the device is gone.
//!
//! What it cannot show: that the device's own code computes what it should (the program that the words were made of is
//! interpreted, not the words), what CTAs do to each other, and anything about time. The suite on a GPU shows that.
//!
//! Calls can be made to fail ([`Fake::fail`]), one by one. A [`Transcript`] has what a device was asked for, a played one
//! or a real one, so that the two can be compared.

mod image;
pub mod library;
mod memory;
mod record;

pub use record::Transcript;

use crate::backend::Cuda;
use crate::device::{Device, DeviceError};
use crate::driver::{Context, Driver, Event, Function, Grid, Module, Param, Stream};
use cudarc::driver::sys;
use image::Run;
use memory::{Clock, Memory, Work, join};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vyre_core::run::stop;
use vyre_core::vir0::module::Program;

/// What this crate calls in the driver's library, for tests that put another library in its place.
pub const SYMBOLS: &[&str] = &crate::driver::SYMBOLS;

/// The host did what it must not.
fn violation(what: &str) -> ! {
    panic!("the played device: {what}");
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// As `cuDriverGetVersion` counts.
    pub driver: i32,
    /// Compute capability. Where this crate has machine code for it, that is unpacked when the device is opened.
    pub capability: (i32, i32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory of a CTA.
    pub shared_bytes: u32,
    /// Device memory.
    pub memory_bytes: u64,
}

impl Default for Spec {
    /// The figures of an H200, but for its memory; of a capability without machine code in this crate.
    fn default() -> Spec {
        Spec {
            driver: 13_000,
            capability: (99, 0),
            multiprocessors: 132,
            shared_bytes: 227 << 10,
            memory_bytes: 4 << 30,
        }
    }
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This time only. Of an allocation, for lack of memory.
    Once,
    /// With it, the context is lost: all later calls fail.
    Lost,
}

/// What users of a device have not given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Allocations in device memory.
    pub allocations: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Page-locked memory: allocated, or locked where it is.
    pub host: usize,
    /// Events.
    pub events: usize,
    /// Modules.
    pub modules: usize,
}

/// A played device; clones are the same one.
#[derive(Clone)]
pub struct Fake {
    state: Arc<Mutex<State>>,
    /// Users of the context.
    retained: Arc<AtomicU32>,
    faults: Arc<Mutex<Faults>>,
    lost: Arc<AtomicBool>,
}

/// Which call fails, and what happens in one. A thread that has locked this does not lock [`State`].
#[derive(Default)]
struct Faults {
    calls: u64,
    fault: Option<(u64, Failure)>,
    failed: Option<&'static str>,
    at_compile: Option<Box<dyn FnOnce() + Send>>,
}

/// What a stream is given.
enum Task {
    Set((u64, u64), u8),
    Upload(u64, Source),
    Download(Host, (u64, u64)),
    Launch(Kernel, Grid, Vec<Param>),
    Record(usize, u64),
    Hold(usize, u64),
}

/// A place in page-locked memory.
#[derive(Clone, Copy)]
struct Host {
    data: *mut u8,
    bytes: usize,
}

// SAFETY: an address; who follows it has a contract with the caller of the driver.
unsafe impl Send for Host {}

enum Source {
    /// Taken when the copy was asked for.
    Taken(Vec<u8>),
    /// Read when the copy is made.
    Locked(Host),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Megakernel,
    Symmetric,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<(Task, Work)>,
    clock: Clock,
    destroyed: bool,
}

#[derive(Default)]
struct Point {
    timed: bool,
    /// How often it was recorded, and how many of those have passed.
    recorded: u64,
    passed: u64,
    stream: usize,
    /// What was done before it, when it was recorded last.
    clock: Clock,
    at_ms: f32,
}

struct State {
    spec: Spec,
    memory: Memory,
    /// Page-locked memory by address: its bytes, and whether it was locked where it is.
    host: BTreeMap<usize, (usize, bool)>,
    streams: Vec<Queue>,
    events: Vec<Option<Point>>,
    modules: usize,
    kernels: Vec<Kernel>,
    /// By kernel, how many of its CTAs a multiprocessor has registers for, and that of the module that was loaded last.
    ctas: Vec<u32>,
    last_ctas: u32,
    programs: HashMap<u64, Arc<Program>>,
    lost: Arc<AtomicBool>,
    /// What the host has waited for.
    known: Clock,
    now_ms: f32,
    /// What the compiler says of all that it is given, if it takes nothing.
    refused: Option<String>,
    /// Done when a launch begins.
    at_launch: Option<Box<dyn FnOnce() + Send>>,
}

impl Default for Fake {
    fn default() -> Fake {
        Fake::new(Spec::default())
    }
}

impl Fake {
    /// One of which nothing is used yet.
    pub fn new(spec: Spec) -> Fake {
        let lost = Arc::<AtomicBool>::default();
        let state = State {
            spec,
            memory: Memory::default(),
            host: BTreeMap::new(),
            streams: Vec::new(),
            events: Vec::new(),
            modules: 0,
            kernels: Vec::new(),
            ctas: Vec::new(),
            last_ctas: 1,
            programs: HashMap::new(),
            lost: Arc::clone(&lost),
            known: Clock::new(),
            now_ms: 0.0,
            refused: None,
            at_launch: None,
        };
        Fake {
            state: Arc::new(Mutex::new(state)),
            retained: Arc::default(),
            faults: Arc::default(),
            lost,
        }
    }

    /// Opens it as a backend.
    ///
    /// # Errors
    /// As those of [`Device::open`].
    pub fn open(&self) -> Result<Cuda, DeviceError> {
        let device = Device::open_on(Box::new(self.clone()), 0)?;
        Ok(Cuda::on(Arc::new(device)))
    }

    /// Has the call fail that comes after `after_calls` others. Counted are calls that allocate, copy, launch, load,
    /// lock or wait, or make or record an event; not those that give something back or ask for a figure.
    pub fn fail(&self, after_calls: u64, failure: Failure) {
        let mut faults = self.faults();
        faults.fault = Some((faults.calls + after_calls, failure));
        faults.failed = None;
    }

    /// The call that was made to fail, if it came so far; nothing fails from here on.
    pub fn failed(&self) -> Option<&'static str> {
        let mut faults = self.faults();
        faults.fault = None;
        faults.failed.take()
    }

    /// Such calls so far.
    pub fn calls(&self) -> u64 {
        self.faults().calls
    }

    /// Has the compiler refuse all PTX from now on, and say this of it.
    pub fn refuse_ptx(&self, log: &str) {
        self.state().refused = Some(log.to_owned());
    }

    /// Does something when the next launch of the megakernel begins, while it is on its way. It must ask this device for
    /// nothing.
    pub fn at_launch(&self, act: impl FnOnce() + Send + 'static) {
        self.state().at_launch = Some(Box::new(act));
    }

    /// Does something while the compiler is at work the next time, for as long as it takes.
    pub fn at_compile(&self, act: impl FnOnce() + Send + 'static) {
        self.faults().at_compile = Some(Box::new(act));
    }

    /// Bytes of device memory, once all is done that streams were given.
    pub fn read(&self, address: u64, bytes: u64) -> Vec<u8> {
        let mut state = self.state();
        state.drain_all();
        state.memory.read(address, bytes).to_vec()
    }

    /// What is held now.
    pub fn held(&self) -> Held {
        self.state().held()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that may fail.
    fn call(&self, call: &'static str) -> Result<MutexGuard<'_, State>, DeviceError> {
        self.count(call)?;
        self.sure(call)
    }

    /// Whether a call fails that may.
    fn count(&self, call: &'static str) -> Result<(), DeviceError> {
        let mut faults = self.faults();
        if self.lost.load(Ordering::SeqCst) {
            return Err(lost(call));
        }
        let nth = faults.calls;
        faults.calls += 1;
        let Some((_, failure)) = faults.fault.filter(|(at, _)| *at == nth) else {
            return Ok(());
        };
        faults.failed = Some(call);
        if failure == Failure::Lost {
            self.lost.store(true, Ordering::SeqCst);
            return Err(lost(call));
        }
        let (status, reason) = match call {
            "cuMemAlloc" | "cuMemHostAlloc" => (
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY,
                "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
            ),
            _ => (
                sys::CUresult::CUDA_ERROR_UNKNOWN,
                "CUDA_ERROR_UNKNOWN: unknown error",
            ),
        };
        Err(DeviceError::of_call(call, status, reason.to_owned()))
    }

    /// A call that fails where the context is lost only. Nothing is done any more then that was given to a stream.
    fn sure(&self, call: &'static str) -> Result<MutexGuard<'_, State>, DeviceError> {
        match self.lost.load(Ordering::SeqCst) {
            true => Err(lost(call)),
            false => Ok(self.state()),
        }
    }
}

fn lost(call: &'static str) -> DeviceError {
    let reason = "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered";
    DeviceError::of_call(
        call,
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        reason.to_owned(),
    )
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fake").field(&self.state().spec).finish()
    }
}

/// CTAs of a multiprocessor that the compiler is told to leave registers for.
fn registers_for(ptx: &str) -> u32 {
    let told = ptx
        .lines()
        .find_map(|line| line.strip_prefix(".minnctapersm "));
    told.and_then(|ctas| ctas.trim().parse().ok()).unwrap_or(1)
}

impl State {
    /// CTAs of a megakernel that a multiprocessor runs at once.
    fn active_ctas(&self, grid: Grid) -> u32 {
        // With what it declares, and what the system takes of each.
        let each = grid.shared_bytes + (8 << 10) + (1 << 10);
        let registers = self.ctas[grid.function.0 - 1];
        registers.min((self.spec.shared_bytes + (1 << 10)) / each)
    }

    fn held(&self) -> Held {
        let (allocations, bytes) = self.memory.held();
        Held {
            allocations,
            bytes,
            host: self.host.len(),
            events: self.events.iter().flatten().count(),
            modules: self.modules,
        }
    }

    fn queue(&mut self, stream: Stream) -> &mut Queue {
        let queue = stream
            .0
            .checked_sub(1)
            .and_then(|i| self.streams.get_mut(i));
        match queue.filter(|queue| !queue.destroyed) {
            Some(queue) => queue,
            None => violation("a stream is used that is not there"),
        }
    }

    fn point(&mut self, event: Event) -> &mut Point {
        let point = event
            .0
            .checked_sub(1)
            .and_then(|i| self.events.get_mut(i)?.as_mut());
        match point {
            Some(point) => point,
            None => violation("an event is used that is not there"),
        }
    }

    /// Gives a stream something to do.
    fn give(&mut self, stream: Stream, what: &'static str, task: Task) {
        let known = self.known.clone();
        let queue = self.queue(stream);
        let at = stream.0 - 1;
        join(&mut queue.clock, &known);
        if queue.clock.len() <= at {
            queue.clock.resize(at + 1, 0);
        }
        queue.clock[at] += 1;
        let work = Work {
            what,
            stream: at,
            clock: Arc::new(queue.clock.clone()),
        };
        queue.tasks.push_back((task, work));
    }

    /// Does the next thing that a stream was given, and what that waits for; whether there was one.
    fn step(&mut self, stream: usize) -> bool {
        let Some((task, work)) = self.streams[stream].tasks.pop_front() else {
            return false;
        };
        self.now_ms += 0.01;
        match task {
            Task::Set((at, bytes), value) => self.memory.fill(at, bytes, value),
            Task::Upload(to, Source::Taken(bytes)) => self.memory.write(to, &bytes),
            Task::Upload(to, Source::Locked(host)) => {
                // SAFETY: who asked for the copy keeps page-locked memory as it is until the stream was waited for.
                let bytes = unsafe { std::slice::from_raw_parts(host.data, host.bytes) };
                self.memory.write(to, bytes);
            }
            Task::Download(host, (from, bytes)) => {
                let bytes = self.memory.read(from, bytes);
                // SAFETY: as above; nothing else has it until then.
                unsafe {
                    host.data
                        .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
                };
            }
            Task::Launch(kernel, grid, params) => self.run(kernel, grid, &params),
            Task::Record(event, nth) => {
                if let Some(point) = &mut self.events[event] {
                    (point.passed, point.at_ms) = (nth, self.now_ms);
                }
            }
            Task::Hold(event, nth) => self.pass(event, nth),
        }
        self.memory.end(&work);
        if self.streams.iter().all(|stream| stream.tasks.is_empty()) {
            self.memory.forget(&self.known);
        }
        true
    }

    /// Does all that comes before an event's n-th record.
    fn pass(&mut self, event: usize, nth: u64) {
        while let Some(point) = &self.events[event]
            && point.passed < nth
        {
            let stream = point.stream;
            if !self.step(stream) {
                violation("an event is waited for that no stream will pass");
            }
        }
    }

    /// Does all that a stream was given.
    fn drain(&mut self, stream: usize) {
        while self.step(stream) {}
        let clock = self.streams[stream].clock.clone();
        join(&mut self.known, &clock);
    }

    fn drain_all(&mut self) {
        for stream in 0..self.streams.len() {
            self.drain(stream);
        }
    }

    fn run(&mut self, kernel: Kernel, grid: Grid, params: &[Param]) {
        match (kernel, params) {
            (Kernel::Megakernel, &[Param::Address(image), Param::Address(batch)]) => {
                let programs = &self.programs;
                let program_at = |code: u64| -> Arc<Program> {
                    match programs.get(&code) {
                        Some(program) => Arc::clone(program),
                        None => violation("an image names code that is none"),
                    }
                };
                let host = &self.host;
                let mut told = |at: u64, words: [u64; 2]| tell(host, at, words);
                if let Some(act) = self.at_launch.take() {
                    act();
                }
                let lost = &self.lost;
                let is_aborted = |word: u64| {
                    stop::played_look();
                    lost.load(Ordering::SeqCst) || asked(host, word)
                };
                let memory = &mut self.memory;
                let of: image::Of<'_> = (&program_at, &is_aborted);
                match batch {
                    0 => {
                        let mut run = Run::new(memory, image, of);
                        run.together = grid.cooperative;
                        run.run(&mut told);
                    }
                    batch => {
                        image::run_batch(memory, (image, batch), grid.ctas, of, &mut told);
                    }
                }
            }
            (
                Kernel::Symmetric,
                &[
                    Param::Address(offsets),
                    Param::Address(targets),
                    Param::Word(nodes),
                    Param::Word(edges),
                    Param::Address(verdict),
                ],
            ) => image::symmetric(
                &mut self.memory,
                [offsets, targets, verdict],
                [nodes, edges],
            ),
            _ => violation("a kernel has other arguments"),
        }
    }

    /// Whether the bytes are page-locked, all of them.
    fn is_locked(&self, data: *const u8, bytes: usize) -> bool {
        let before = self.host.range(..=data.addr()).next_back();
        before.is_some_and(|(at, (len, _))| data.addr() + bytes <= at + len)
    }

    /// Page-locked memory goes; no copy may need it any more.
    fn unlock(&mut self, data: *const u8, registered: bool) -> usize {
        let Some((bytes, was_registered)) = self.host.remove(&data.addr()) else {
            violation("page-locked memory is given back that is not there");
        };
        if registered != was_registered {
            violation("page-locked memory is given back the wrong way");
        }
        let range = data.addr()..data.addr() + bytes;
        let needs = |(task, _): &(Task, Work)| match task {
            Task::Upload(_, Source::Locked(host)) | Task::Download(host, _) => {
                range.contains(&host.data.addr())
            }
            _ => false,
        };
        if self
            .streams
            .iter()
            .any(|stream| stream.tasks.iter().any(needs))
        {
            violation("page-locked memory is given back that a copy still needs");
        }
        bytes
    }
}

/// Tells the host how far a run is, in page-locked memory.
fn tell(host: &BTreeMap<usize, (usize, bool)>, at: u64, words: [u64; 2]) {
    let before = host.range(..=at as usize).next_back();
    if before.is_none_or(|(from, (len, _))| at as usize + 16 > from + len) {
        violation("progress is told where the host does not look");
    }
    let to = std::ptr::with_exposed_provenance_mut::<u64>(at as usize);
    for (i, word) in words.into_iter().enumerate() {
        // SAFETY: two words of page-locked memory, which is aligned to pages; the host reads them while they change.
        unsafe { to.add(i).write_volatile(word) };
    }
}

/// Whether a word of page-locked memory says that a run is to stop.
fn asked(host: &BTreeMap<usize, (usize, bool)>, at: u64) -> bool {
    let before = host.range(..=at as usize).next_back();
    if before.is_none_or(|(from, (len, _))| at as usize + 4 > from + len) {
        violation("a run looks for its stop where the host says nothing");
    }
    let word = std::ptr::with_exposed_provenance_mut::<u32>(at as usize);
    // SAFETY: a word of page-locked memory, aligned as its host has it, who writes it whole.
    unsafe { word.read_volatile() != 0 }
}

fn layout(bytes: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(bytes, 4096).expect("sizes of page-locked memory are small")
}

impl Driver for Fake {
    fn version(&self) -> Result<i32, DeviceError> {
        Ok(self.sure("cuDriverGetVersion")?.spec.driver)
    }

    fn device_count(&self) -> Result<usize, DeviceError> {
        Ok(1)
    }

    fn device(&self, ordinal: usize) -> Result<sys::CUdevice, DeviceError> {
        Ok(ordinal as i32)
    }

    fn name(&self, _: sys::CUdevice) -> Result<String, DeviceError> {
        Ok("a played device".to_owned())
    }

    fn attribute(
        &self,
        _: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, DeviceError> {
        use sys::CUdevice_attribute_enum::*;
        let spec = &self.state().spec;
        Ok(match attribute {
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => spec.capability.0,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => spec.capability.1,
            CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH => 1,
            CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH => (spec.capability >= (9, 0)).into(),
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => spec.multiprocessors as i32,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => spec.shared_bytes as i32,
            other => violation(&format!("nobody asked for {other:?} before")),
        })
    }

    fn retain(&self, _: sys::CUdevice) -> Result<Context, DeviceError> {
        let _state = self.call("cuDevicePrimaryCtxRetain")?;
        self.retained.fetch_add(1, Ordering::SeqCst);
        Ok(Context(1))
    }

    unsafe fn release(&self, _: sys::CUdevice) -> Result<(), DeviceError> {
        let state = self.sure("cuDevicePrimaryCtxRelease")?;
        let last = self.retained.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && state.held() != Held::default() && !std::thread::panicking() {
            violation(&format!(
                "its last user is gone, and still holds {:?}",
                state.held()
            ));
        }
        Ok(())
    }

    fn enter(&self, context: Context) -> Result<(), DeviceError> {
        if context != Context(1) || self.retained.load(Ordering::SeqCst) == 0 {
            violation("a context is entered that is not there");
        }
        Ok(())
    }

    fn load(&self, elf: &[u8]) -> Result<Module, DeviceError> {
        let mut state = self.call("cuLibraryLoadData")?;
        if !elf.starts_with(b"\x7fELF") {
            violation("machine code is loaded that is no ELF file");
        }
        state.modules += 1;
        state.last_ctas = 1;
        Ok(Module(1))
    }

    fn compile(&self, ptx: &str) -> Result<Module, DeviceError> {
        let act = self.faults().at_compile.take();
        if let Some(act) = act {
            act();
        }
        let mut state = self.call("cuLibraryLoadData")?;
        if !ptx.contains(".version") {
            violation("PTX is compiled that is none");
        }
        if let Some(log) = state.refused.clone() {
            return Err(DeviceError::Compile { log });
        }
        state.modules += 1;
        state.last_ctas = registers_for(ptx);
        Ok(Module(1))
    }

    unsafe fn unload(&self, _: Module) -> Result<(), DeviceError> {
        let mut state = self.sure("cuLibraryUnload")?;
        state.drain_all();
        match state.modules {
            0 => violation("a module is unloaded twice"),
            _ => state.modules -= 1,
        }
        Ok(())
    }

    fn function(&self, _: Module, name: &str) -> Result<Function, DeviceError> {
        let mut state = self.call("cuModuleGetFunction")?;
        let ctas = state.last_ctas;
        state.ctas.push(ctas);
        state.kernels.push(match name {
            "vyre_megakernel" => Kernel::Megakernel,
            "vyre_symmetric" => Kernel::Symmetric,
            other => violation(&format!("there is no kernel {other}")),
        });
        Ok(Function(state.kernels.len()))
    }

    fn function_attribute(
        &self,
        _: Function,
        attribute: sys::CUfunction_attribute,
    ) -> Result<i32, DeviceError> {
        use sys::CUfunction_attribute_enum::*;
        let _state = self.sure("cuFuncGetAttribute")?;
        Ok(match attribute {
            CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => 8 << 10,
            CU_FUNC_ATTRIBUTE_NUM_REGS => 64,
            CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => 24,
            other => violation(&format!("nobody asked for {other:?} before")),
        })
    }

    fn set_function_attribute(
        &self,
        _: Function,
        _: sys::CUfunction_attribute,
        _: i32,
    ) -> Result<(), DeviceError> {
        self.call("cuFuncSetAttribute").map(|_| ())
    }

    fn active_ctas(&self, grid: Grid) -> Result<u32, DeviceError> {
        let state = self.sure("cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(state.active_ctas(grid))
    }

    fn active_clusters(&self, grid: Grid) -> Result<u32, DeviceError> {
        let state = self.sure("cuOccupancyMaxActiveClusters")?;
        // As many multiprocessors as a real one leaves out where they do not come in clusters.
        let all = state.spec.multiprocessors;
        Ok((all - all / 9) * state.active_ctas(grid) / grid.cluster)
    }

    fn note_code(&self, address: u64, program: &Arc<Program>) {
        self.state().programs.insert(address, Arc::clone(program));
    }

    fn memory_bytes(&self) -> Result<(u64, u64), DeviceError> {
        let state = self.sure("cuMemGetInfo")?;
        let (_, held) = state.memory.held();
        let total = state.spec.memory_bytes;
        Ok((total - held, total))
    }

    fn alloc(&self, bytes: u64) -> Result<u64, DeviceError> {
        let mut state = self.call("cuMemAlloc")?;
        let (_, held) = state.memory.held();
        if bytes > state.spec.memory_bytes - held {
            let status = sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
            let reason = "CUDA_ERROR_OUT_OF_MEMORY: out of memory";
            return Err(DeviceError::of_call(
                "cuMemAlloc",
                status,
                reason.to_owned(),
            ));
        }
        Ok(state.memory.alloc(bytes))
    }

    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        let mut state = self.sure("cuMemFree")?;
        state.drain_all();
        state.programs.remove(&address);
        state.memory.free(address);
        Ok(())
    }

    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, DeviceError> {
        let mut state = self.call("cuMemHostAlloc")?;
        // SAFETY: not of no bytes; they are written before anybody reads them.
        let data = unsafe {
            let data = std::alloc::alloc(layout(bytes));
            if data.is_null() {
                std::alloc::handle_alloc_error(layout(bytes));
            }
            data.write_bytes(0x5a, bytes);
            data
        };
        state.host.insert(data.expose_provenance(), (bytes, false));
        Ok(data)
    }

    unsafe fn free_host(&self, data: *mut u8) -> Result<(), DeviceError> {
        let bytes = self.sure("cuMemFreeHost")?.unlock(data, false);
        // SAFETY: of `alloc_host`, with this layout, by contract once.
        unsafe { std::alloc::dealloc(data, layout(bytes)) };
        Ok(())
    }

    unsafe fn register(&self, data: *mut u8, bytes: usize) -> Result<(), DeviceError> {
        let mut state = self.call("cuMemHostRegister")?;
        state.host.insert(data.expose_provenance(), (bytes, true));
        Ok(())
    }

    unsafe fn unregister(&self, data: *mut u8) -> Result<(), DeviceError> {
        self.sure("cuMemHostUnregister")?.unlock(data, true);
        Ok(())
    }

    fn create_stream(&self) -> Result<Stream, DeviceError> {
        let mut state = self.call("cuStreamCreate")?;
        state.streams.push(Queue::default());
        let stream = state.streams.len();
        Ok(Stream(stream))
    }

    unsafe fn destroy_stream(&self, stream: Stream) -> Result<(), DeviceError> {
        let mut state = self.sure("cuStreamDestroy")?;
        state.drain(stream.0 - 1);
        state.queue(stream).destroyed = true;
        Ok(())
    }

    fn synchronize(&self, stream: Stream) -> Result<(), DeviceError> {
        let mut state = self.call("cuStreamSynchronize")?;
        state.queue(stream);
        state.drain(stream.0 - 1);
        Ok(())
    }

    unsafe fn set_bytes(
        &self,
        at: (u64, u64),
        value: u8,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let mut state = self.call("cuMemsetD8Async")?;
        state.give(stream, "a fill", Task::Set(at, value));
        Ok(())
    }

    unsafe fn upload(&self, to: u64, from: &[u8], stream: Stream) -> Result<(), DeviceError> {
        let mut state = self.call("cuMemcpyHtoDAsync")?;
        let source = match state.is_locked(from.as_ptr(), from.len()) {
            true => Source::Locked(Host {
                data: from.as_ptr().cast_mut(),
                bytes: from.len(),
            }),
            false => Source::Taken(from.to_vec()),
        };
        state.give(stream, "a copy to the device", Task::Upload(to, source));
        Ok(())
    }

    unsafe fn download(
        &self,
        to: *mut u8,
        (from, bytes): (u64, u64),
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let mut state = self.call("cuMemcpyDtoHAsync")?;
        let locked = state.is_locked(to, bytes as usize);
        let host = Host {
            data: to,
            bytes: bytes as usize,
        };
        let task = Task::Download(host, (from, bytes));
        state.give(stream, "a copy to the host", task);
        if !locked {
            // The call returns when the copy is there.
            state.drain(stream.0 - 1);
        }
        Ok(())
    }

    unsafe fn launch(
        &self,
        grid: Grid,
        params: &[Param],
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let mut state = self.call("cuLaunchKernelEx")?;
        let number = grid.function.0.checked_sub(1);
        let Some(&kernel) = number.and_then(|i| state.kernels.get(i)) else {
            violation("a kernel is launched that is not there");
        };
        if kernel == Kernel::Megakernel {
            let most = state.spec.multiprocessors * state.active_ctas(grid);
            let fits = grid.ctas <= most && grid.ctas.is_multiple_of(grid.cluster);
            if !fits {
                violation(&format!("the megakernel is launched as {grid:?}"));
            }
        }
        let task = Task::Launch(kernel, grid, params.to_vec());
        state.give(stream, "a launch", task);
        Ok(())
    }

    fn create_event(&self, timed: bool) -> Result<Event, DeviceError> {
        let mut state = self.call("cuEventCreate")?;
        state.events.push(Some(Point {
            timed,
            ..Point::default()
        }));
        Ok(Event(state.events.len()))
    }

    unsafe fn destroy_event(&self, event: Event) -> Result<(), DeviceError> {
        let mut state = self.sure("cuEventDestroy")?;
        let Point { recorded, .. } = *state.point(event);
        // The driver keeps it until it has passed.
        state.pass(event.0 - 1, recorded);
        state.events[event.0 - 1] = None;
        Ok(())
    }

    fn record(&self, event: Event, stream: Stream) -> Result<(), DeviceError> {
        let mut state = self.call("cuEventRecord")?;
        let Point { recorded, .. } = *state.point(event);
        state.give(stream, "an event", Task::Record(event.0 - 1, recorded + 1));
        let clock = state.queue(stream).clock.clone();
        let point = state.point(event);
        point.recorded += 1;
        (point.stream, point.clock) = (stream.0 - 1, clock);
        Ok(())
    }

    fn hold(&self, stream: Stream, event: Event) -> Result<(), DeviceError> {
        let mut state = self.call("cuStreamWaitEvent")?;
        let (recorded, clock) = {
            let point = state.point(event);
            (point.recorded, point.clock.clone())
        };
        join(&mut state.queue(stream).clock, &clock);
        state.give(stream, "a wait", Task::Hold(event.0 - 1, recorded));
        Ok(())
    }

    fn has_passed(&self, event: Event) -> Result<bool, DeviceError> {
        let mut state = self.call("cuEventQuery")?;
        let (recorded, stream) = {
            let point = state.point(event);
            (point.recorded, point.stream)
        };
        // Somebody looks, and meanwhile the device goes on.
        if state.point(event).passed < recorded {
            state.step(stream);
        }
        let passed = state.point(event).passed == recorded;
        if passed {
            let clock = state.point(event).clock.clone();
            join(&mut state.known, &clock);
        }
        Ok(passed)
    }

    fn wait(&self, event: Event) -> Result<(), DeviceError> {
        let mut state = self.call("cuEventSynchronize")?;
        let Point { recorded, .. } = *state.point(event);
        state.pass(event.0 - 1, recorded);
        let clock = state.point(event).clock.clone();
        join(&mut state.known, &clock);
        Ok(())
    }

    fn elapsed_ms(&self, start: Event, end: Event) -> Result<f32, DeviceError> {
        let mut state = self.call("cuEventElapsedTime")?;
        let mut at = |event| {
            let point = state.point(event);
            if !point.timed || point.passed == 0 || point.passed < point.recorded {
                violation("a time is asked for that is not known");
            }
            point.at_ms
        };
        Ok(at(end) - at(start))
    }
}
