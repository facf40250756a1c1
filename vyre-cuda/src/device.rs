//! A CUDA device: opening it without a panic, loading the megakernel, and device memory.
//!
//! Only the driver is needed. For common architectures the megakernel's machine code is part of this crate ([`Code`]);
//! for others the driver compiles its PTX, and keeps the result in its own cache on disk (keyed by content, GPU and
//! driver), so that only the first process of a user waits. The linker interface, which would hand out the compiled
//! code for a cache of ours, compiles every function by itself: calls then follow the full calling convention, and
//! narrow rounds are a sixth slower.

use crate::abi;
use crate::code::Target;
use crate::compiled::Passes;
use crate::driver::{Context, Driver, Function, Grid, Module, Param, Stream, System};
use crate::image::Room;
use cudarc::driver::sys;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Instant;
use thiserror::Error;
use vyre_core::run::backend::GiveUp;

pub use crate::code::{Code, NoCubin};

/// Oldest driver that is accepted, as `cuDriverGetVersion` counts.
const OLDEST_DRIVER: i32 = 12_000;

/// Oldest driver that takes the megakernel's instructions of clusters.
pub(crate) const CLUSTERS_DRIVER: i32 = 12_010;

/// The entry of every module that runs passes.
const MEGAKERNEL: &str = "vyre_megakernel";

/// What the compiler made of a megakernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Registers of a lane.
    pub registers: u32,
    /// Local memory of a lane: what does not fit in registers, and the stack.
    pub local_bytes: u32,
    /// Shared memory of a CTA, beside what a launch asks for.
    pub shared_bytes: u32,
}

/// Why a device cannot be used.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceError {
    /// The driver library is not there.
    #[error("the CUDA driver library (libcuda) was not found")]
    NoDriver,
    /// The driver is too old.
    #[error(
        "the CUDA driver supports version {}.{}; 12.0 or later is needed",
        version / 1000,
        version % 1000 / 10
    )]
    OldDriver {
        /// As `cuDriverGetVersion` gives it.
        version: i32,
    },
    /// There is no such device.
    #[error("there is no CUDA device {ordinal}; the driver reports {count}")]
    NoDevice {
        /// Asked for.
        ordinal: usize,
        /// Devices that the driver reports.
        count: usize,
    },
    /// The device lacks something.
    #[error("{name} has compute capability {major}.{minor}; 8.0 or later is needed")]
    TooOld {
        /// Device name.
        name: String,
        /// Compute capability.
        major: i32,
        /// Compute capability.
        minor: i32,
    },
    /// The device cannot run all its CTAs together.
    #[error("{name} does not support cooperative launches")]
    NotCooperative {
        /// Device name.
        name: String,
    },
    /// The driver did not take the megakernel.
    #[error("the driver could not compile the megakernel: {log}")]
    Compile {
        /// The driver's log.
        log: String,
    },
    /// The driver's library is there, but not all of it.
    #[error("the CUDA driver library (libcuda) has no {symbol}; 12.0 or later is needed")]
    MissingSymbol {
        /// What it lacks.
        symbol: &'static str,
    },
    /// A driver call failed.
    #[error("{call} failed: {reason}")]
    Driver {
        /// What was attempted.
        call: &'static str,
        /// The driver's name of the error and its text.
        reason: String,
    },
    /// A driver call failed, and so will all others of this process: a kernel broke the context that all of its CUDA
    /// libraries share.
    #[error("{call} failed, and the CUDA context of this process is lost: {reason}")]
    Lost {
        /// What was attempted when it was noticed.
        call: &'static str,
        /// The driver's name of the error and its text.
        reason: String,
    },
}

vyre_core::debug_is_display!(DeviceError);

impl DeviceError {
    /// Of a call that gave this status.
    pub(crate) fn of_call(
        call: &'static str,
        status: sys::CUresult,
        reason: String,
    ) -> DeviceError {
        use sys::cudaError_enum::*;
        match status {
            CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED => DeviceError::Lost { call, reason },
            _ => DeviceError::Driver { call, reason },
        }
    }
}

/// Host time that opening a device took, step by step, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opening {
    /// Finding the driver's library.
    pub library_ns: u64,
    /// The driver's own start, and what it says of the device.
    pub driver_ns: u64,
    /// Making the device's context, which the process may have already. The cubin is unpacked meanwhile.
    pub context_ns: u64,
    /// Loading the megakernel; with PTX, having it compiled.
    pub code_ns: u64,
}

/// An open device with the megakernel loaded.
#[derive(Debug)]
pub struct Device {
    held: Held,
    ordinal: usize,
    stream: Stream,
    copies: Stream,
    pub(crate) megakernel: Function,
    symmetric: Function,
    name: String,
    capability: (i32, i32),
    version: i32,
    multiprocessors: u32,
    shared_bytes: u32,
    clusters: bool,
    code: Code,
    opening: Opening,
    /// What has memory of it for later.
    spares: Mutex<Vec<Weak<dyn GiveUp>>>,
    /// Bytes that are allocated now.
    pub(crate) allocated: AtomicU64,
    /// Modules of passes, which hold the device.
    passes: Passes,
}

/// What was taken from the driver, and is given back.
#[derive(Debug)]
struct Held {
    driver: Box<dyn Driver>,
    device: sys::CUdevice,
    context: Context,
    streams: Vec<Stream>,
    modules: Vec<Module>,
}

impl Held {
    fn new_stream(&mut self) -> Result<Stream, DeviceError> {
        let stream = self.driver.create_stream()?;
        self.streams.push(stream);
        Ok(stream)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Errors at this point have no taker.
        let _ = self.driver.enter(self.context);
        // SAFETY: the handles were made by this driver and are not used again; work on the streams was waited for by
        // its users.
        unsafe {
            for &module in &self.modules {
                let _ = self.driver.unload(module);
            }
            for &stream in &self.streams {
                let _ = self.driver.destroy_stream(stream);
            }
            let _ = self.driver.release(self.device);
        }
    }
}

impl Device {
    /// Opens device number `ordinal` and loads the megakernel. Never panics, with or without a driver.
    pub fn open(ordinal: usize) -> Result<Arc<Device>, DeviceError> {
        let before = Instant::now();
        let system = System::find()?;
        let library_ns = ns_since(before);
        system.init()?;
        let mut device = Device::open_on(Box::new(system), ordinal)?;
        device.opening.library_ns = library_ns;
        Ok(Arc::new(device))
    }

    /// The same with a driver that has been started.
    pub(crate) fn open_on(driver: Box<dyn Driver>, ordinal: usize) -> Result<Device, DeviceError> {
        let mut before = Instant::now();
        let mut lap_ns = || ns_since(std::mem::replace(&mut before, Instant::now()));
        let mut opening = Opening::default();
        let version = driver.version()?;
        if version < OLDEST_DRIVER {
            return Err(DeviceError::OldDriver { version });
        }
        let count = driver.device_count()?;
        if ordinal >= count {
            return Err(DeviceError::NoDevice { ordinal, count });
        }
        let device = driver.device(ordinal)?;
        let name = driver.name(device)?;
        use sys::CUdevice_attribute_enum as attribute;
        let get = |a| driver.attribute(device, a);
        let capability = (
            get(attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            get(attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if capability < (8, 0) {
            let (major, minor) = capability;
            return Err(DeviceError::TooOld { name, major, minor });
        }
        if get(attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return Err(DeviceError::NotCooperative { name });
        }
        let multiprocessors = get(attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
        // Tools that look for races do not follow clusters.
        let clusters = capability >= (9, 0)
            && version >= CLUSTERS_DRIVER
            && std::env::var("VYRE_CLUSTERS").as_deref() != Ok("0")
            && get(attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0;
        let shared_bytes =
            get(attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32;
        let target = Target {
            capability,
            driver: version,
            clusters,
            ptx: std::env::var("VYRE_PTX").as_deref() == Ok("1"),
        };
        let cubin = target.cubin();
        opening.driver_ns = lap_ns();
        // The context takes longer than the cubin.
        let (context, image) = thread::scope(|scope| {
            let unpacking = cubin.as_ref().ok().map(|&cubin| {
                let unpacking = thread::Builder::new().spawn_scoped(scope, || cubin.unpack());
                (cubin, unpacking)
            });
            let context = driver.retain(device);
            let image = unpacking.map(|(cubin, unpacking)| {
                let image = unpacking.ok().and_then(|thread| thread.join().ok());
                // There may be no thread to be had.
                image.unwrap_or_else(|| cubin.unpack())
            });
            (context, image)
        });
        let context = context?;
        opening.context_ns = lap_ns();
        let mut held = Held {
            driver,
            device,
            context,
            streams: Vec::new(),
            modules: Vec::new(),
        };
        held.driver.enter(context)?;
        let (stream, copies) = (held.new_stream()?, held.new_stream()?);
        let loaded = cubin.and_then(|cubin| {
            let module = held.driver.load(&image.unwrap_or_default());
            let module = module.map_err(|e| cubin.refused(e.to_string()))?;
            Ok((module, cubin.code()))
        });
        let (module, code) = match loaded {
            Ok(loaded) => loaded,
            Err(why) => (held.driver.compile(&target.text())?, Code::Ptx(why)),
        };
        held.modules.push(module);
        let megakernel = held.driver.function(module, MEGAKERNEL)?;
        let symmetric = held.driver.function(module, "vyre_symmetric")?;
        let mut this = Device {
            held,
            ordinal,
            stream,
            copies,
            megakernel,
            symmetric,
            name,
            capability,
            version,
            multiprocessors,
            shared_bytes,
            clusters,
            code,
            opening,
            spares: Mutex::default(),
            allocated: AtomicU64::new(0),
            passes: Passes::default(),
        };
        this.shared_bytes -= this.figures(megakernel)?.shared_bytes;
        this.allow(megakernel)?;
        this.opening.code_ns = lap_ns();
        Ok(this)
    }

    /// Where its megakernel comes from: a cubin of this crate, or the driver's compiler, and why.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// How long opening it took.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// Which device of the driver's list.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Its name, as the driver gives it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compute capability: major, minor.
    pub fn capability(&self) -> (i32, i32) {
        self.capability
    }

    /// CUDA version of the driver, major * 1000 + minor * 10.
    pub fn driver_version(&self) -> i32 {
        self.version
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// What a CTA of the megakernel can have.
    pub(crate) fn room(&self) -> Room {
        Room {
            shared_bytes: self.shared_bytes,
            clusters: self.clusters,
        }
    }

    /// How many CTAs of the megakernel are resident in whole clusters of `cluster`, with this much shared memory each;
    /// 0 without clusters.
    pub(crate) fn clustered_ctas(
        &self,
        shared_bytes: u32,
        cluster: u32,
    ) -> Result<u32, DeviceError> {
        if !self.clusters {
            return Ok(0);
        }
        let most = self.multiprocessors.min(abi::MAX_CTAS) / cluster * cluster;
        let grid = grid(most, shared_bytes, cluster);
        let asked = self.driver()?.active_clusters(self.megakernel, grid);
        // Not every device has clusters of more than eight: that is no error.
        match asked {
            Err(DeviceError::Driver { .. }) if cluster > 8 => Ok(0),
            asked => Ok(most.min(asked? * cluster)),
        }
    }

    /// Launches a megakernel on an image, or on a batch, in clusters of `cluster` CTAs if that is more than one.
    ///
    /// # Safety
    /// The megakernel is this device's own, or one of [`load_pass`](Device::load_pass) that stays loaded until the launch
    /// was waited for, and can run the image. The image, the batch and all that they point to stay allocated until then,
    /// and all CTAs can be resident together.
    pub(crate) unsafe fn launch(
        &self,
        (megakernel, shared_bytes): (Function, u32),
        [image, batch]: [u64; 2],
        ctas: u32,
        cluster: u32,
    ) -> Result<(), DeviceError> {
        let grid = grid(ctas, shared_bytes, cluster);
        let params = [Param::Address(image), Param::Address(batch)];
        let driver = self.driver()?;
        // SAFETY: the function takes two pointers, whose targets live long enough by contract.
        unsafe { driver.launch(megakernel, grid, &params, self.stream) }
    }

    /// The stream that launches of all sessions go through, and every copy that takes its turn among them, for kernels
    /// of your own: what is given to it comes after the runs before and before the runs after. It does not wait for the
    /// default stream, nor that for it. It lives as long as the device, and must not be destroyed.
    pub fn stream(&self) -> sys::CUstream {
        with_exposed_provenance_mut(self.stream.0)
    }

    /// The same, for this crate's own calls.
    pub(crate) fn launches(&self) -> Stream {
        self.stream
    }

    /// The device's primary context, which other libraries of the process share. It lives as long as the device, at
    /// least.
    pub fn context(&self) -> sys::CUcontext {
        with_exposed_provenance_mut(self.held.context.0)
    }

    /// The stream of copies that do not wait for launches; events order the two.
    pub(crate) fn copies(&self) -> Stream {
        self.copies
    }

    /// Makes the context current on this thread, as calls of the driver need it. It stays so until another one is made
    /// current; sessions do this for themselves.
    pub fn enter(&self) -> Result<(), DeviceError> {
        self.held.driver.enter(self.held.context)
    }

    /// The driver, with the context current on this thread.
    pub(crate) fn driver(&self) -> Result<&dyn Driver, DeviceError> {
        self.enter()?;
        Ok(&*self.held.driver)
    }

    /// Waits until everything is done that was given to [`stream`](Device::stream), or to the stream of copies beside
    /// it. An error of a kernel of your own may be said here, or by the next run.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let driver = self.driver()?;
        driver.synchronize(self.copies)?;
        driver.synchronize(self.stream)
    }

    /// Starts finding out whether a graph on the device is its own reverse: clears the word at `verdict` if it is not,
    /// or if the targets of a node do not ascend.
    ///
    /// # Safety
    /// `graph` are the addresses of offsets and targets of a CSR graph of `nodes` and `edges`, `verdict` that
    /// of a word; they stay allocated until the stream was waited for.
    pub(crate) unsafe fn start_symmetric(
        &self,
        graph: [u64; 2],
        [nodes, edges]: [u32; 2],
        verdict: u64,
    ) -> Result<(), DeviceError> {
        let params = [
            Param::Address(graph[0]),
            Param::Address(graph[1]),
            Param::Word(nodes),
            Param::Word(edges),
            Param::Address(verdict),
        ];
        let grid = Grid {
            ctas: edges.div_ceil(8 * 1024).clamp(1, self.multiprocessors * 8),
            threads: 256,
            shared_bytes: 0,
            cooperative: false,
            cluster: 1,
        };
        let driver = self.driver()?;
        // SAFETY: the function takes two addresses, two numbers and an address, which are good by this function's
        // contract.
        unsafe { driver.launch(self.symmetric, grid, &params, self.stream) }
    }

    /// Something keeps memory of the device for later.
    pub(crate) fn register(&self, spare: Weak<dyn GiveUp>) {
        let mut spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
        spares.retain(|kept| kept.strong_count() > 0);
        spares.push(spare);
    }

    /// Has such memory given back; whether there was some.
    pub(crate) fn give_up(&self) -> bool {
        let spares: Vec<_> = {
            let spares = self.spares.lock().unwrap_or_else(PoisonError::into_inner);
            spares.iter().filter_map(Weak::upgrade).collect()
        };
        // All of them, though one may be enough.
        spares.iter().filter(|spare| spare.give_up()).count() > 0
    }

    /// Bytes that sessions of this device hold on it now, each allocation rounded up.
    pub fn allocated_bytes(&self) -> u64 {
        self.allocated.load(Relaxed)
    }

    /// Free and total device memory in bytes.
    pub fn memory_bytes(&self) -> Result<(u64, u64), DeviceError> {
        self.driver()?.memory_bytes()
    }

    /// Has the driver compile the megakernel of a pass, or find it in its cache, and makes it ready to be launched in the
    /// place of this device's own. Runs of others go on meanwhile.
    pub(crate) fn load_pass(&self, ptx: &str) -> Result<(Module, Function), DeviceError> {
        let driver = self.driver()?;
        let module = driver.compile(ptx)?;
        let function = driver.function(module, MEGAKERNEL);
        let ready = function.and_then(|function| self.allow(function).map(|()| (module, function)));
        if ready.is_err() {
            // SAFETY: nothing else knows of it.
            let _ = unsafe { driver.unload(module) };
        }
        ready
    }

    /// Gives a module of [`load_pass`](Device::load_pass) back.
    ///
    /// # Safety
    /// Nothing of it runs, or is launched again.
    pub(crate) unsafe fn unload(&self, module: Module) {
        if let Ok(driver) = self.driver() {
            // SAFETY: by contract. An error at this point has no taker.
            let _ = unsafe { driver.unload(module) };
        }
    }

    /// Lets a megakernel have as much shared memory, and as large clusters, as the device has.
    fn allow(&self, megakernel: Function) -> Result<(), DeviceError> {
        use sys::CUfunction_attribute_enum as attribute;
        let shared = attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let clusters = attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        let driver = self.driver()?;
        driver.set_function_attribute(megakernel, shared, self.shared_bytes as i32)?;
        match self.clusters {
            true => driver.set_function_attribute(megakernel, clusters, 1),
            false => Ok(()),
        }
    }

    /// What the compiler made of a megakernel.
    pub(crate) fn figures(&self, megakernel: Function) -> Result<Figures, DeviceError> {
        let driver = self.driver()?;
        let get = |what| {
            let got = driver.function_attribute(megakernel, what);
            got.map(|value| value as u32)
        };
        use sys::CUfunction_attribute_enum as attribute;
        Ok(Figures {
            registers: get(attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: get(attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: get(attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        })
    }

    /// Modules of passes, by what their text is made from.
    pub(crate) fn passes(&self) -> &Passes {
        &self.passes
    }

    /// Whether megakernels have the instructions of clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        self.clusters
    }
}

fn ns_since(before: Instant) -> u64 {
    u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Of the megakernel: all CTAs together, in clusters of `cluster`.
fn grid(ctas: u32, shared_bytes: u32, cluster: u32) -> Grid {
    Grid {
        ctas,
        threads: abi::THREADS,
        shared_bytes,
        cooperative: true,
        cluster,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_device_that_is_not_there_is_an_error_with_a_reason() {
        let error = Device::open(9_999).unwrap_err();
        assert!(!error.to_string().is_empty());
        assert!(!matches!(error, DeviceError::Compile { .. }), "{error}");
    }

    #[test]
    fn an_old_driver_is_named_by_its_version() {
        let error = DeviceError::OldDriver { version: 11_080 };
        assert_eq!(
            error.to_string(),
            "the CUDA driver supports version 11.8; 12.0 or later is needed"
        );
    }
}
