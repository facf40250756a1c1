//! A CUDA device that is open: its context, its streams, what is allocated on it, and the module that interprets passes
//! (`Interpreter`). It is opened without a panic.
//!
//! Only the driver is needed. For common architectures the megakernel's machine code is part of this crate ([`Code`]);
//! for others the driver compiles its PTX, and keeps the result in its own cache on disk (keyed by content, GPU and
//! driver), so that only the first process of a user waits. The linker interface, which would hand out the compiled
//! code for a cache of ours, compiles every function by itself: calls then follow the full calling convention, and
//! narrow rounds are a sixth slower.

use crate::abi;
use crate::compiled::Passes;
use crate::driver::{self, Driver, Grid, Param, Stream, System};
use crate::image::Room;
use crate::module::{Interpreter, Module};
use crate::probe::Probe;
use crate::shape::Shape;
use cudarc::driver::sys;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Instant;
use thiserror::Error;
use vyre_core::run::backend::GiveUp;

pub use crate::code::{Code, NoCubin};

/// Why a device cannot be used.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceError {
    /// The driver library is not there.
    #[error("the CUDA driver library (libcuda) was not found")]
    NoDriver,
    /// The driver is too old.
    #[error(
        "the CUDA driver supports CUDA {}.{}; update the NVIDIA driver to 525 or later (CUDA 12.0)",
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
    /// The driver did not take the megakernel, or the module of a pass.
    #[error("the driver's compiler failed, and a newer driver's may not: {log}")]
    Compile {
        /// The driver's log.
        log: String,
    },
    /// The driver's library is there, but not all of it.
    #[error(
        "the CUDA driver library (libcuda) has no {symbol}; update the NVIDIA driver to 525 or later (CUDA 12.0)"
    )]
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
    /// There was no memory for a driver call: of the device, or page-locked memory of the host.
    #[error(
        "{call} failed: {reason}; drop sessions, or end other programs (`nvidia-smi` lists those that hold a device's \
        memory)"
    )]
    NoMemory {
        /// What was attempted.
        call: &'static str,
        /// The driver's name of the error and its text.
        reason: String,
    },
    /// A driver call failed, and so will all others of this process: a kernel broke the context that all of its CUDA
    /// libraries share.
    #[error(
        "{call} failed, and the CUDA context of this process is lost, as after a fault in a kernel or of the device; \
        start the program again to use the device: {reason}"
    )]
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
            CUDA_ERROR_OUT_OF_MEMORY => DeviceError::NoMemory { call, reason },
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
    // Dropped in this order: the context comes last.
    interpreter: Interpreter,
    launches: OwnedStream,
    copies: OwnedStream,
    context: Arc<Context>,
    probe: Probe,
    opening: Opening,
    /// What has memory of it for later.
    spares: Mutex<Vec<Weak<dyn GiveUp>>>,
    /// Bytes that are allocated now.
    pub(crate) allocated: AtomicU64,
    /// Modules of passes, which hold the device.
    passes: Passes,
    shape: OnceLock<Shape>,
}

/// A device's primary context. Whatever is made in it holds it.
#[derive(Debug)]
pub(crate) struct Context {
    driver: Box<dyn Driver>,
    device: sys::CUdevice,
    handle: driver::Context,
}

impl Context {
    /// Makes it current on this thread, and gives the driver, whose calls need that.
    pub(crate) fn enter(&self) -> Result<&dyn Driver, DeviceError> {
        self.driver.enter(self.handle)?;
        Ok(&*self.driver)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and nothing made in it is left. An error at this point has no taker.
        let _ = unsafe { self.driver.release(self.device) };
    }
}

/// A stream, destroyed when dropped.
#[derive(Debug)]
struct OwnedStream {
    context: Arc<Context>,
    stream: Stream,
}

impl OwnedStream {
    fn new(context: &Arc<Context>) -> Result<OwnedStream, DeviceError> {
        Ok(OwnedStream {
            stream: context.enter()?.create_stream()?,
            context: Arc::clone(context),
        })
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if let Ok(driver) = self.context.enter() {
            // SAFETY: the device is going, and work on the stream was waited for by its users. An error at this point has
            // no taker.
            let _ = unsafe { driver.destroy_stream(self.stream) };
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
        let probe = Probe::new(&*driver, ordinal)?;
        let cubin = probe.target().cubin();
        opening.driver_ns = lap_ns();
        // The context takes longer than the cubin.
        let (handle, cubin) = thread::scope(|scope| {
            let unpacking = cubin.map(|cubin| {
                let unpacking = thread::Builder::new().spawn_scoped(scope, || cubin.unpack());
                (cubin, unpacking)
            });
            let handle = driver.retain(probe.device);
            let unpacked = unpacking.map(|(cubin, unpacking)| {
                let elf = unpacking.ok().and_then(|thread| thread.join().ok());
                // There may be no thread to be had.
                (cubin, elf.unwrap_or_else(|| cubin.unpack()))
            });
            (handle, unpacked)
        });
        let context = Arc::new(Context {
            handle: handle?,
            device: probe.device,
            driver,
        });
        opening.context_ns = lap_ns();
        let launches = OwnedStream::new(&context)?;
        let copies = OwnedStream::new(&context)?;
        let interpreter = Interpreter::load(&context, &probe, cubin)?;
        opening.code_ns = lap_ns();
        Ok(Device {
            interpreter,
            launches,
            copies,
            context,
            probe,
            opening,
            spares: Mutex::default(),
            allocated: AtomicU64::new(0),
            passes: Passes::default(),
            shape: OnceLock::new(),
        })
    }

    /// Where its megakernel comes from: a cubin of this crate, or the driver's compiler, and why.
    pub fn code(&self) -> &Code {
        self.interpreter.code()
    }

    /// How long opening it took.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// Which device of the driver's list.
    pub fn ordinal(&self) -> usize {
        self.probe.ordinal
    }

    /// Its name, as the driver gives it.
    pub fn name(&self) -> &str {
        &self.probe.name
    }

    /// Compute capability: major, minor.
    pub fn capability(&self) -> (i32, i32) {
        self.probe.capability
    }

    /// CUDA version of the driver, major * 1000 + minor * 10.
    pub fn driver_version(&self) -> i32 {
        self.probe.driver_version
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.probe.multiprocessors
    }

    /// CTAs of the interpreter that it runs at once: one a multiprocessor.
    pub(crate) fn slots(&self) -> u32 {
        self.probe.multiprocessors.min(abi::MAX_CTAS)
    }

    /// What interprets passes, and for which layouts are made.
    pub(crate) fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// Has the driver compile the module of a pass, which can be launched in the interpreter's place, with CTAs of this
    /// shape. If it is another one than the interpreter's, they have so much shared memory.
    pub(crate) fn compile(
        &self,
        ptx: &str,
        shape: Shape,
        shared_bytes: u32,
    ) -> Result<Module, DeviceError> {
        let room = match shape {
            Shape::INTERPRETER => self.interpreter.room(),
            shape => Room {
                shared_bytes,
                shape,
                ..self.interpreter.room()
            },
        };
        Module::compile(&self.context, ptx, room)
    }

    /// The shape of the modules of all passes, where somebody wants to measure one.
    pub(crate) fn wanted_shape(&self) -> Option<Shape> {
        self.shape.get().copied()
    }

    /// From here on the modules of all passes have this shape, as far as they can.
    pub(crate) fn want_shape(&self, shape: Shape) {
        // The first one counts.
        let _ = self.shape.set(shape);
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// The grid is of the interpreter, or of a module that is kept until the launch was waited for. The arguments are the
    /// kernel's, and what they point to stays allocated until then. The CTAs of a cooperative grid can be resident
    /// together.
    pub(crate) unsafe fn launch(&self, grid: Grid, params: &[Param]) -> Result<(), DeviceError> {
        let driver = self.driver()?;
        // SAFETY: by contract.
        unsafe { driver.launch(grid, params, self.launches()) }
    }

    /// The stream that launches of all sessions go through, and every copy that takes its turn among them, for kernels
    /// of your own: what is given to it comes after the runs before and before the runs after. It does not wait for the
    /// default stream, nor that for it. It lives as long as the device, and must not be destroyed.
    pub fn stream(&self) -> sys::CUstream {
        with_exposed_provenance_mut(self.launches().0)
    }

    /// The same, for this crate's own calls.
    pub(crate) fn launches(&self) -> Stream {
        self.launches.stream
    }

    /// The device's primary context, which other libraries of the process share. It lives as long as the device, at
    /// least.
    pub fn context(&self) -> sys::CUcontext {
        with_exposed_provenance_mut(self.context.handle.0)
    }

    /// The stream of copies that do not wait for launches; events order the two.
    pub(crate) fn copies(&self) -> Stream {
        self.copies.stream
    }

    /// Makes the context current on this thread, as calls of the driver need it. It stays so until another one is made
    /// current; sessions do this for themselves.
    pub fn enter(&self) -> Result<(), DeviceError> {
        self.driver().map(|_| ())
    }

    /// The driver, with the context current on this thread.
    pub(crate) fn driver(&self) -> Result<&dyn Driver, DeviceError> {
        self.context.enter()
    }

    /// Waits until everything is done that was given to [`stream`](Device::stream), or to the stream of copies beside
    /// it. An error of a kernel of your own may be said here, or by the next run.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let driver = self.driver()?;
        driver.synchronize(self.copies())?;
        driver.synchronize(self.launches())
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

    /// Modules of passes, by what their text is made from.
    pub(crate) fn passes(&self) -> &Passes {
        &self.passes
    }
}

fn ns_since(before: Instant) -> u64 {
    u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX)
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
    #[ignore = "needs a CUDA device"]
    fn machine_code_for_another_architecture_is_refused_and_made_from_text() {
        let system = System::find().expect("a driver");
        system.init().expect("it starts");
        let probe = Probe::new(&system, 0).expect("a CUDA device");
        let context = Arc::new(Context {
            handle: system.retain(probe.device).expect("it has a context"),
            device: probe.device,
            driver: Box::new(system),
        });
        let other = crate::code::of_another_architecture(probe.capability);
        let cubin = Ok((other, other.unpack()));
        let interpreter = Interpreter::load(&context, &probe, cubin).expect("the text compiles");
        let Code::Ptx(NoCubin::Refused { reason, .. }) = interpreter.code() else {
            panic!("{}", interpreter.code());
        };
        assert!(reason.contains("failed: "), "{reason}");
        assert!(interpreter.module().figures().registers > 0);
        drop((interpreter, context));
        // What was refused is nothing to a device that is opened afterwards.
        let device = Device::open(0).expect("a CUDA device");
        device.synchronize().expect("it works");
    }

    #[test]
    fn an_old_driver_is_named_by_its_version() {
        let error = DeviceError::OldDriver { version: 11_080 };
        assert_eq!(
            error.to_string(),
            "the CUDA driver supports CUDA 11.8; update the NVIDIA driver to 525 or later (CUDA 12.0)"
        );
    }
}
