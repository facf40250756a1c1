//! A CUDA device: opening it without a panic, loading the megakernel, and device memory.
//!
//! Only the driver is needed. For common architectures the megakernel's machine code is part of this crate ([`Code`]);
//! for others the driver compiles its PTX, and keeps the result in its own cache on disk (keyed by content, GPU and
//! driver), so that only the first process of a user waits. The linker interface, which would hand out the compiled
//! code for a cache of ours, compiles every function by itself: calls then follow the full calling convention, and
//! narrow rounds are a sixth slower.

use crate::abi;
use crate::code::Target;
use crate::image::Room;
use cudarc::driver::{DriverError, result, sys};
use libloading::Library;
use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Instant;
use thiserror::Error;
use vyre_core::run::backend::GiveUp;

pub use crate::code::{Code, NoCubin};

/// Oldest driver that is accepted, as `cuDriverGetVersion` counts.
const OLDEST_DRIVER: i32 = 12_000;

/// Oldest driver that takes the megakernel's instructions of clusters.
pub(crate) const CLUSTERS_DRIVER: i32 = 12_010;

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
    /// A driver call failed.
    #[error("{call} failed: {reason}")]
    Driver {
        /// What was attempted.
        call: &'static str,
        /// The driver's name of the error and its text.
        reason: String,
    },
}

vyre_core::debug_is_display!(DeviceError);

/// Adds what was attempted to a driver error.
pub(crate) trait Attempt<T> {
    fn attempt(self, call: &'static str) -> Result<T, DeviceError>;
}

impl<T> Attempt<T> for Result<T, DriverError> {
    fn attempt(self, call: &'static str) -> Result<T, DeviceError> {
        self.map_err(|e| {
            let text = |s: Result<&CStr, DriverError>| {
                s.map_or_else(
                    |_| "unknown error".to_owned(),
                    |s| s.to_string_lossy().into_owned(),
                )
            };
            let reason = format!("{}: {}", text(e.error_name()), text(e.error_string()));
            DeviceError::Driver { call, reason }
        })
    }
}

/// Whether the driver's library is there. It stays loaded from here on: `is_culib_present` of the binding would let go
/// of it, for the driver to be loaded a second time.
fn driver_is_there() -> bool {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let find = || {
        let names = ["cuda", "nvcuda"].into_iter();
        let mut names = names.flat_map(cudarc::get_lib_name_candidates);
        // SAFETY: the driver's library, by the names and in the order in which the binding looks for it.
        names.find_map(|name| unsafe { Library::new(name) }.ok())
    };
    LIBRARY.get_or_init(find).is_some()
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
    ordinal: usize,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    copies: sys::CUstream,
    module: sys::CUmodule,
    pub(crate) megakernel: sys::CUfunction,
    symmetric: sys::CUfunction,
    name: String,
    capability: (i32, i32),
    driver: i32,
    multiprocessors: u32,
    shared_bytes: u32,
    clusters: bool,
    code: Code,
    opening: Opening,
    /// What has memory of it for later.
    spares: Mutex<Vec<Weak<dyn GiveUp>>>,
    /// Bytes that are allocated now.
    pub(crate) allocated: AtomicU64,
}

// SAFETY: the driver API may be called from any thread; every method makes the context current on its thread first, and
// the handles are never changed after `open`.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Opens device number `ordinal` and loads the megakernel. Never panics, with or without a driver.
    pub fn open(ordinal: usize) -> Result<Arc<Device>, DeviceError> {
        let mut before = Instant::now();
        let mut lap_ns = || {
            let now = Instant::now();
            let took = now - std::mem::replace(&mut before, now);
            u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
        };
        let mut opening = Opening::default();
        if !driver_is_there() {
            return Err(DeviceError::NoDriver);
        }
        opening.library_ns = lap_ns();
        result::init().attempt("cuInit")?;
        let mut driver = 0;
        // SAFETY: writes one int to a live local.
        unsafe { sys::cuDriverGetVersion(&mut driver) }
            .result()
            .attempt("cuDriverGetVersion")?;
        if driver < OLDEST_DRIVER {
            return Err(DeviceError::OldDriver { version: driver });
        }
        let count = result::device::get_count().attempt("cuDeviceGetCount")?;
        let count = usize::try_from(count).unwrap_or(0);
        if ordinal >= count {
            return Err(DeviceError::NoDevice { ordinal, count });
        }
        let device = result::device::get(ordinal as i32).attempt("cuDeviceGet")?;
        let name = result::device::get_name(device).attempt("cuDeviceGetName")?;
        use sys::CUdevice_attribute_enum as attribute;
        let get = |a| {
            // SAFETY: `device` was returned by cuDeviceGet.
            unsafe { result::device::get_attribute(device, a) }.attempt("cuDeviceGetAttribute")
        };
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
            && driver >= CLUSTERS_DRIVER
            && std::env::var("VYRE_CLUSTERS").as_deref() != Ok("0")
            && get(attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0;
        let shared_bytes =
            get(attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32;
        let target = Target {
            capability,
            driver,
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
            // SAFETY: `device` was returned by cuDeviceGet; the release is in `drop`.
            let context = unsafe { result::primary_ctx::retain(device) };
            let image = unpacking.map(|(cubin, unpacking)| {
                let image = unpacking.ok().and_then(|thread| thread.join().ok());
                // There may be no thread to be had.
                image.unwrap_or_else(|| cubin.unpack())
            });
            (context, image)
        });
        let context = context.attempt("cuDevicePrimaryCtxRetain")?;
        opening.context_ns = lap_ns();
        let mut this = Device {
            ordinal,
            device,
            context,
            stream: std::ptr::null_mut(),
            copies: std::ptr::null_mut(),
            module: std::ptr::null_mut(),
            megakernel: std::ptr::null_mut(),
            symmetric: std::ptr::null_mut(),
            name,
            capability,
            driver,
            multiprocessors,
            shared_bytes,
            clusters,
            code: Code::Ptx(NoCubin::Asked),
            opening,
            spares: Mutex::default(),
            allocated: AtomicU64::new(0),
        };
        this.enter()?;
        for stream in [&mut this.stream, &mut this.copies] {
            *stream = result::stream::create(result::stream::StreamKind::NonBlocking)
                .attempt("cuStreamCreate")?;
        }
        let loaded = cubin.and_then(|cubin| {
            let module = this.load_cubin(&image.unwrap_or_default());
            let module = module.map_err(|e| cubin.refused(e.to_string()))?;
            Ok((module, cubin.code()))
        });
        (this.module, this.code) = match loaded {
            Ok(loaded) => loaded,
            Err(why) => (this.load(&target.text())?, Code::Ptx(why)),
        };
        let functions = [
            ("vyre_megakernel", &mut this.megakernel),
            ("vyre_symmetric", &mut this.symmetric),
        ];
        for (name, function) in functions {
            let entry = CString::new(name).expect("the name has no zero byte");
            // SAFETY: the module was just loaded.
            *function = unsafe { result::module::get_function(this.module, entry) }
                .attempt("cuModuleGetFunction")?;
        }
        let statics = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to the loaded module.
        let statics = unsafe { result::function::get_function_attribute(this.megakernel, statics) }
            .attempt("cuFuncGetAttribute")? as u32;
        this.shared_bytes -= statics;
        // SAFETY: as above.
        unsafe {
            result::function::set_function_attribute(
                this.megakernel,
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                this.shared_bytes as i32,
            )
        }
        .attempt("cuFuncSetAttribute")?;
        if clusters {
            // SAFETY: as above.
            unsafe {
                result::function::set_function_attribute(
                    this.megakernel,
                    sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    1,
                )
            }
            .attempt("cuFuncSetAttribute")?;
        }
        this.opening.code_ns = lap_ns();
        Ok(Arc::new(this))
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
        self.driver
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

    /// How many CTAs of the megakernel are resident in whole clusters of so many, with this much shared memory each; 0
    /// without clusters.
    pub(crate) fn clustered_ctas(
        &self,
        shared_bytes: u32,
        cluster: u32,
    ) -> Result<u32, DeviceError> {
        if !self.clusters {
            return Ok(0);
        }
        self.enter()?;
        let most = self.multiprocessors.min(abi::MAX_CTAS) / cluster * cluster;
        let mut attributes = launch_attributes(cluster);
        let config = launch_config(most, shared_bytes, self.stream, &mut attributes);
        let mut clusters = 0;
        // Not every device has clusters of more than eight: that is no error.
        // SAFETY: the count is a live local, the function belongs to the loaded module, and the attributes outlive the
        // call.
        let asked =
            unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, self.megakernel, &config) };
        if cluster > 8 && asked.result().is_err() {
            return Ok(0);
        }
        asked.result().attempt("cuOccupancyMaxActiveClusters")?;
        Ok(most.min(u32::try_from(clusters).unwrap_or(0) * cluster))
    }

    /// Launches the megakernel on an image, or on a batch, in clusters of so many CTAs if that is more than one.
    ///
    /// # Safety
    /// The image, the batch and all that they point to stay allocated until the launch was waited for, and all CTAs can
    /// be resident together.
    pub(crate) unsafe fn launch(
        &self,
        shared_bytes: u32,
        [mut image, mut batch]: [u64; 2],
        ctas: u32,
        cluster: u32,
    ) -> Result<(), DeviceError> {
        self.enter()?;
        let mut params: [*mut c_void; 2] = [(&raw mut image).cast(), (&raw mut batch).cast()];
        let mut attributes = launch_attributes(cluster);
        let config = launch_config(ctas, shared_bytes, self.stream, &mut attributes);
        // SAFETY: the function takes two pointers, whose targets live long enough by contract; the attributes outlive
        // the call.
        unsafe {
            sys::cuLaunchKernelEx(
                &config,
                self.megakernel,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .attempt("cuLaunchKernelEx")
    }

    /// The stream that launches of all sessions go through, and every copy that takes its turn among them, for kernels
    /// of your own: what is given to it comes after the runs before and before the runs after. It does not wait for the
    /// default stream, nor that for it. It lives as long as the device, and must not be destroyed.
    pub fn stream(&self) -> sys::CUstream {
        self.stream
    }

    /// The device's primary context, which other libraries of the process share. It lives as long as the device, at
    /// least.
    pub fn context(&self) -> sys::CUcontext {
        self.context
    }

    /// The stream of copies that do not wait for launches; events order the two.
    pub(crate) fn copies(&self) -> sys::CUstream {
        self.copies
    }

    /// Makes the context current on this thread, as calls of the driver need it. It stays so until another one is made
    /// current; sessions do this for themselves.
    pub fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the primary context stays retained until `drop`.
        unsafe { result::ctx::set_current(self.context) }.attempt("cuCtxSetCurrent")
    }

    /// Waits until everything is done that was given to [`stream`](Device::stream), or to the stream of copies beside
    /// it. An error of a kernel of your own may be said here, or by the next run.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        for stream in [self.copies, self.stream] {
            // SAFETY: the streams live until `drop`.
            unsafe { result::stream::synchronize(stream) }.attempt("cuStreamSynchronize")?;
        }
        Ok(())
    }

    /// Starts finding out whether a graph on the device is its own reverse: clears the word at `verdict` if it is not,
    /// or if the targets of a node do not ascend.
    ///
    /// # Safety
    /// `graph` are the addresses of offsets and targets of a CSR graph of so many nodes and edges, `verdict` that of a
    /// word; they stay allocated until the stream was waited for.
    pub(crate) unsafe fn start_symmetric(
        &self,
        graph: [u64; 2],
        [nodes, edges]: [u32; 2],
        verdict: u64,
    ) -> Result<(), DeviceError> {
        self.enter()?;
        let ([mut offsets, mut targets], mut verdict) = (graph, verdict);
        let (mut nodes, mut edges) = (nodes, edges);
        let mut params: [*mut c_void; 5] = [
            (&raw mut offsets).cast(),
            (&raw mut targets).cast(),
            (&raw mut nodes).cast(),
            (&raw mut edges).cast(),
            (&raw mut verdict).cast(),
        ];
        let ctas = edges.div_ceil(8 * 1024).clamp(1, self.multiprocessors * 8);
        // SAFETY: the function takes two addresses, two numbers and an address, which are good by this function's
        // contract.
        unsafe {
            result::launch_kernel(
                self.symmetric,
                (ctas, 1, 1),
                (256, 1, 1),
                0,
                self.stream,
                &mut params,
            )
        }
        .attempt("cuLaunchKernel")
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
        self.enter()?;
        let (free, total) = result::mem_get_info().attempt("cuMemGetInfo")?;
        Ok((free as u64, total as u64))
    }

    /// Loads machine code, where the driver takes it.
    fn load_cubin(&self, elf: &[u8]) -> Result<sys::CUmodule, DeviceError> {
        // SAFETY: a whole ELF file, which says how long it is, and outlives the call.
        unsafe { result::module::load_data(elf.as_ptr().cast()) }.attempt("cuModuleLoadData")
    }

    /// Has the driver compile PTX, or find it compiled in its cache.
    pub(crate) fn load(&self, ptx: &str) -> Result<sys::CUmodule, DeviceError> {
        let text = CString::new(ptx).expect("the PTX has no zero byte");
        let mut log = vec![0u8; 8192];
        use sys::CUjit_option_enum as option;
        let mut options = [
            option::CU_JIT_ERROR_LOG_BUFFER,
            option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends in a zero byte; options and values are two parallel arrays; they, the text and the log
        // outlive the call.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.result().map(|()| module).map_err(|e| {
            let end = log.iter().position(|&b| b == 0).unwrap_or(0);
            let log = String::from_utf8_lossy(&log[..end]).trim().to_owned();
            let log = if log.is_empty() { e.to_string() } else { log };
            DeviceError::Compile { log }
        })
    }
}

/// All CTAs together, in clusters of so many.
fn launch_attributes(cluster: u32) -> Vec<sys::CUlaunchAttribute> {
    let attribute = |id, set: fn(&mut sys::CUlaunchAttributeValue, u32), x| {
        let mut value = sys::CUlaunchAttributeValue { pad: [0; 64] };
        set(&mut value, x);
        sys::CUlaunchAttribute {
            id,
            pad: [0; 4],
            value,
        }
    };
    use sys::CUlaunchAttributeID_enum as of;
    let mut attributes = vec![attribute(
        of::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        |value, x| value.cooperative = x as i32,
        1,
    )];
    if cluster > 1 {
        attributes.push(attribute(
            of::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            |value, x| {
                value.clusterDim =
                    sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y: 1, z: 1 };
            },
            cluster,
        ));
    }
    attributes
}

fn launch_config(
    ctas: u32,
    shared_bytes: u32,
    stream: sys::CUstream,
    attributes: &mut [sys::CUlaunchAttribute],
) -> sys::CUlaunchConfig {
    sys::CUlaunchConfig {
        gridDimX: ctas,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: abi::THREADS,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        // SAFETY: the handles were made by `open` and are not used again; work on the stream was waited for by its
        // users. Errors at this point have no taker.
        unsafe {
            if !self.module.is_null() {
                let _ = result::module::unload(self.module);
            }
            for stream in [self.stream, self.copies] {
                if !stream.is_null() {
                    let _ = result::stream::destroy(stream);
                }
            }
            let _ = result::primary_ctx::release(self.device);
        }
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
