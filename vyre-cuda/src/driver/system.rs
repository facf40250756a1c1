//! The CUDA driver of this machine, by its library: each function is one call.
//!
//! The invariant of every block here: pointers are to live locals or come from the caller, whose contract says how long
//! what they point to lives; handles come from the driver and are alive ([`super`]).

use super::{Context, Driver, Event, Function, Grid, Module, Param, Stream};
use crate::device::DeviceError;
use cudarc::driver::{DriverError, result, sys};
use libloading::Library;
use std::ffi::{CStr, CString, c_void};
use std::ptr::with_exposed_provenance_mut as pointer;
#[cfg(any(test, feature = "fake"))]
use std::sync::Arc;
use std::sync::OnceLock;
#[cfg(any(test, feature = "fake"))]
use vyre_core::vir0::module::Program;

/// All that this crate calls in the driver's library. The binding would panic where one is missing.
pub(crate) const SYMBOLS: [&str; 40] = [
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernelEx",
    "cuLibraryGetModule",
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuOccupancyMaxActiveClusters",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// The driver of this machine.
#[derive(Debug)]
pub(crate) struct System;

/// Names of the driver's library, in the order in which the binding looks for it.
pub(crate) fn library_names() -> impl Iterator<Item = String> {
    let names = ["cuda", "nvcuda"].into_iter();
    names.flat_map(cudarc::get_lib_name_candidates)
}

impl System {
    /// Finds the library, which stays loaded from here on: `is_culib_present` of the binding would let go of it, for
    /// the driver to be loaded a second time.
    ///
    /// # Errors
    /// There is none, or one without what is called.
    pub(crate) fn find() -> Result<System, DeviceError> {
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let find = || {
            // SAFETY: the driver's library, by its names.
            library_names().find_map(|name| unsafe { Library::new(name) }.ok())
        };
        let library = LIBRARY.get_or_init(find).as_ref();
        let library = library.ok_or(DeviceError::NoDriver)?;
        for symbol in SYMBOLS {
            // SAFETY: nothing is called; it is only asked whether the name is there.
            let found = unsafe { library.get::<*const c_void>(symbol) };
            found.map_err(|_| DeviceError::MissingSymbol { symbol })?;
        }
        Ok(System)
    }

    /// Starts the driver.
    pub(crate) fn init(&self) -> Result<(), DeviceError> {
        result::init().attempt("cuInit")
    }
}

/// Adds what was attempted to a driver error.
trait Attempt<T> {
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
            DeviceError::of_call(call, e.0, reason)
        })
    }
}

impl<T> Attempt<T> for (sys::CUresult, T) {
    fn attempt(self, call: &'static str) -> Result<T, DeviceError> {
        self.0.result().attempt(call).map(|()| self.1)
    }
}

fn stream(stream: Stream) -> sys::CUstream {
    pointer(stream.0)
}

fn event(event: Event) -> sys::CUevent {
    pointer(event.0)
}

fn function(function: Function) -> sys::CUfunction {
    pointer(function.0)
}

/// All CTAs together, in clusters of `grid.cluster`.
fn attributes(grid: Grid) -> Vec<sys::CUlaunchAttribute> {
    let attribute = |id, value| sys::CUlaunchAttribute {
        id,
        pad: [0; 4],
        value,
    };
    use sys::CUlaunchAttributeID_enum as of;
    let none = sys::CUlaunchAttributeValue { pad: [0; 64] };
    let mut attributes = Vec::new();
    if grid.cooperative {
        let mut value = none;
        value.cooperative = 1;
        attributes.push(attribute(of::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
    }
    if grid.cluster > 1 {
        let mut value = none;
        value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 {
            x: grid.cluster,
            y: 1,
            z: 1,
        };
        attributes.push(attribute(of::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value));
    }
    attributes
}

fn config(
    grid: Grid,
    stream: sys::CUstream,
    attributes: &mut [sys::CUlaunchAttribute],
) -> sys::CUlaunchConfig {
    sys::CUlaunchConfig {
        gridDimX: grid.ctas,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: grid.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: grid.shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

/// Loads code as a library: while the driver makes code of PTX for it, launches of other threads go on, as they would
/// not beside `cuModuleLoadData`.
///
/// # Safety
/// The code is an ELF file, or text that ends in a zero byte. It, and what the values of options point to, are there as
/// long as the call.
unsafe fn load(
    code: *const u8,
    options: &mut [sys::CUjit_option],
    values: &mut [*mut c_void],
) -> Result<Module, DeviceError> {
    let (mut library, none) = (std::ptr::null_mut(), std::ptr::null_mut());
    let many = options.len() as u32;
    let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
    // SAFETY: by contract; options and values are as many, and there are none of a library's own.
    let status = unsafe {
        sys::cuLibraryLoadData(
            &mut library,
            code.cast(),
            options,
            values,
            many,
            none,
            none.cast(),
            0,
        )
    };
    (status, ()).attempt("cuLibraryLoadData")?;
    // The driver may put off until here what it makes of the code, and what it says of it.
    if let Err(e) = in_context(library) {
        // SAFETY: nothing else has it. An error would come after the one that is told.
        let _ = unsafe { sys::cuLibraryUnload(library) };
        return Err(e);
    }
    Ok(Module(library.expose_provenance()))
}

/// A library's module in the context that is current.
fn in_context(library: sys::CUlibrary) -> Result<sys::CUmodule, DeviceError> {
    let mut module = std::ptr::null_mut();
    // SAFETY: writes a handle to a live local; the library is alive.
    let status = unsafe { sys::cuLibraryGetModule(&mut module, library) };
    (status, module).attempt("cuLibraryGetModule")
}

impl Driver for System {
    fn version(&self) -> Result<i32, DeviceError> {
        let mut version = 0;
        // SAFETY: writes one int to a live local.
        let status = unsafe { sys::cuDriverGetVersion(&mut version) };
        (status, version).attempt("cuDriverGetVersion")
    }

    fn device_count(&self) -> Result<usize, DeviceError> {
        let count = result::device::get_count().attempt("cuDeviceGetCount")?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn device(&self, ordinal: usize) -> Result<sys::CUdevice, DeviceError> {
        result::device::get(ordinal as i32).attempt("cuDeviceGet")
    }

    fn name(&self, device: sys::CUdevice) -> Result<String, DeviceError> {
        result::device::get_name(device).attempt("cuDeviceGetName")
    }

    fn attribute(
        &self,
        device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, DeviceError> {
        // SAFETY: the driver checks the number of a device.
        unsafe { result::device::get_attribute(device, attribute) }.attempt("cuDeviceGetAttribute")
    }

    fn retain(&self, device: sys::CUdevice) -> Result<Context, DeviceError> {
        // SAFETY: as above.
        let context = unsafe { result::primary_ctx::retain(device) };
        let context = context.attempt("cuDevicePrimaryCtxRetain")?;
        Ok(Context(context.expose_provenance()))
    }

    unsafe fn release(&self, device: sys::CUdevice) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::primary_ctx::release(device) }.attempt("cuDevicePrimaryCtxRelease")
    }

    fn enter(&self, context: Context) -> Result<(), DeviceError> {
        // SAFETY: the handle is alive.
        unsafe { result::ctx::set_current(pointer(context.0)) }.attempt("cuCtxSetCurrent")
    }

    fn load(&self, elf: &[u8]) -> Result<Module, DeviceError> {
        // SAFETY: a whole ELF file, which says how long it is, and outlives the call.
        unsafe { load(elf.as_ptr(), &mut [], &mut []) }
    }

    fn compile(&self, ptx: &str) -> Result<Module, DeviceError> {
        let text = CString::new(ptx).expect("the PTX has no zero byte");
        let mut log = vec![0u8; 8192];
        use sys::CUjit_option_enum as option;
        let mut options = [
            option::CU_JIT_ERROR_LOG_BUFFER,
            option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
        // SAFETY: the text ends in a zero byte; options and values are of each other; they, the text and the log outlive
        // the call.
        let loaded = unsafe { load(text.as_ptr().cast(), &mut options, &mut values) };
        loaded.map_err(|e| {
            let end = log.iter().position(|&b| b == 0).unwrap_or(0);
            let log = String::from_utf8_lossy(&log[..end]).trim().to_owned();
            // What is no error of the text has none.
            if log.is_empty() {
                e
            } else {
                DeviceError::Compile { log }
            }
        })
    }

    unsafe fn unload(&self, module: Module) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let status = unsafe { sys::cuLibraryUnload(pointer(module.0)) };
        (status, ()).attempt("cuLibraryUnload")
    }

    fn function(&self, module: Module, name: &str) -> Result<Function, DeviceError> {
        let name = CString::new(name).expect("the name has no zero byte");
        let module = in_context(pointer(module.0))?;
        // SAFETY: the handle is alive.
        let found = unsafe { result::module::get_function(module, name) };
        Ok(Function(
            found.attempt("cuModuleGetFunction")?.expose_provenance(),
        ))
    }

    fn function_attribute(
        &self,
        of: Function,
        attribute: sys::CUfunction_attribute,
    ) -> Result<i32, DeviceError> {
        // SAFETY: the handle is alive.
        unsafe { result::function::get_function_attribute(function(of), attribute) }
            .attempt("cuFuncGetAttribute")
    }

    fn set_function_attribute(
        &self,
        of: Function,
        attribute: sys::CUfunction_attribute,
        value: i32,
    ) -> Result<(), DeviceError> {
        // SAFETY: the handle is alive.
        unsafe { result::function::set_function_attribute(function(of), attribute, value) }
            .attempt("cuFuncSetAttribute")
    }

    fn active_ctas(&self, grid: Grid) -> Result<u32, DeviceError> {
        let mut ctas = 0;
        // SAFETY: the count is a live local, and the handle is alive.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut ctas,
                function(grid.function),
                grid.threads as i32,
                grid.shared_bytes as usize,
            )
        };
        let ctas = u32::try_from(ctas).unwrap_or(0);
        (status, ctas).attempt("cuOccupancyMaxActiveBlocksPerMultiprocessor")
    }

    fn active_clusters(&self, grid: Grid) -> Result<u32, DeviceError> {
        let mut attributes = attributes(grid);
        let config = config(grid, std::ptr::null_mut(), &mut attributes);
        let mut clusters = 0;
        // SAFETY: the count is a live local, the handle is alive, and the attributes outlive the call.
        let status = unsafe {
            sys::cuOccupancyMaxActiveClusters(&mut clusters, function(grid.function), &config)
        };
        let clusters = u32::try_from(clusters).unwrap_or(0);
        (status, clusters).attempt("cuOccupancyMaxActiveClusters")
    }

    #[cfg(any(test, feature = "fake"))]
    fn note_code(&self, address: u64, program: &Arc<Program>) {
        crate::fake::library::note_code(address, program);
    }

    fn memory_bytes(&self) -> Result<(u64, u64), DeviceError> {
        let (free, total) = result::mem_get_info().attempt("cuMemGetInfo")?;
        Ok((free as u64, total as u64))
    }

    fn alloc(&self, bytes: u64) -> Result<u64, DeviceError> {
        // SAFETY: memory that nothing has yet.
        unsafe { result::malloc_sync(bytes as usize) }.attempt("cuMemAlloc")
    }

    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::free_sync(address) }.attempt("cuMemFree")
    }

    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, DeviceError> {
        // SAFETY: memory that nothing has yet.
        let data = unsafe { result::malloc_host(bytes, 0) }.attempt("cuMemHostAlloc")?;
        Ok(data.cast())
    }

    unsafe fn free_host(&self, data: *mut u8) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::free_host(data.cast()) }.attempt("cuMemFreeHost")
    }

    unsafe fn register(&self, data: *mut u8, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: by contract; registering memory changes none of it.
        let status = unsafe { sys::cuMemHostRegister_v2(data.cast(), bytes, 0) };
        (status, ()).attempt("cuMemHostRegister")
    }

    unsafe fn unregister(&self, data: *mut u8) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let status = unsafe { sys::cuMemHostUnregister(data.cast()) };
        (status, ()).attempt("cuMemHostUnregister")
    }

    fn create_stream(&self) -> Result<Stream, DeviceError> {
        let kind = result::stream::StreamKind::NonBlocking;
        let stream = result::stream::create(kind).attempt("cuStreamCreate")?;
        Ok(Stream(stream.expose_provenance()))
    }

    unsafe fn destroy_stream(&self, of: Stream) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::stream::destroy(stream(of)) }.attempt("cuStreamDestroy")
    }

    fn synchronize(&self, of: Stream) -> Result<(), DeviceError> {
        // SAFETY: the handle is alive.
        unsafe { result::stream::synchronize(stream(of)) }.attempt("cuStreamSynchronize")
    }

    unsafe fn set_bytes(
        &self,
        (at, bytes): (u64, u64),
        value: u8,
        on: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::memset_d8_async(at, value, bytes as usize, stream(on)) }
            .attempt("cuMemsetD8Async")
    }

    unsafe fn upload(&self, to: u64, from: &[u8], on: Stream) -> Result<(), DeviceError> {
        // SAFETY: by contract; the driver has taken a pageable source when the call returns.
        unsafe { result::memcpy_htod_async(to, from, stream(on)) }.attempt("cuMemcpyHtoDAsync")
    }

    unsafe fn download(
        &self,
        to: *mut u8,
        (from, bytes): (u64, u64),
        on: Stream,
    ) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        let status =
            unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes as usize, stream(on)) };
        (status, ()).attempt("cuMemcpyDtoHAsync")
    }

    unsafe fn launch(&self, grid: Grid, params: &[Param], on: Stream) -> Result<(), DeviceError> {
        let mut params = params.to_vec();
        let pointers = params.iter_mut().map(|param| match param {
            Param::Address(address) => (&raw mut *address).cast(),
            Param::Word(word) => (&raw mut *word).cast(),
        });
        let mut pointers: Vec<*mut c_void> = pointers.collect();
        let mut attributes = attributes(grid);
        let config = config(grid, stream(on), &mut attributes);
        // SAFETY: by contract; arguments and attributes outlive the call, which copies them.
        let status = unsafe {
            let none = std::ptr::null_mut();
            sys::cuLaunchKernelEx(
                &config,
                function(grid.function),
                pointers.as_mut_ptr(),
                none,
            )
        };
        (status, ()).attempt("cuLaunchKernelEx")
    }

    fn create_event(&self, timed: bool) -> Result<Event, DeviceError> {
        use sys::CUevent_flags_enum as flags;
        let event = result::event::create(match timed {
            true => flags::CU_EVENT_DEFAULT,
            false => flags::CU_EVENT_DISABLE_TIMING,
        });
        Ok(Event(event.attempt("cuEventCreate")?.expose_provenance()))
    }

    unsafe fn destroy_event(&self, of: Event) -> Result<(), DeviceError> {
        // SAFETY: by contract.
        unsafe { result::event::destroy(event(of)) }.attempt("cuEventDestroy")
    }

    fn record(&self, of: Event, on: Stream) -> Result<(), DeviceError> {
        // SAFETY: both handles are alive.
        unsafe { result::event::record(event(of), stream(on)) }.attempt("cuEventRecord")
    }

    fn hold(&self, on: Stream, of: Event) -> Result<(), DeviceError> {
        let flags = sys::CUevent_wait_flags_enum::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both handles are alive.
        unsafe { result::stream::wait_event(stream(on), event(of), flags) }
            .attempt("cuStreamWaitEvent")
    }

    fn has_passed(&self, of: Event) -> Result<bool, DeviceError> {
        // SAFETY: the handle is alive.
        match unsafe { sys::cuEventQuery(event(of)) } {
            sys::cudaError_enum::CUDA_ERROR_NOT_READY => Ok(false),
            status => (status, true).attempt("cuEventQuery"),
        }
    }

    fn wait(&self, of: Event) -> Result<(), DeviceError> {
        // SAFETY: the handle is alive.
        unsafe { result::event::synchronize(event(of)) }.attempt("cuEventSynchronize")
    }

    fn elapsed_ms(&self, start: Event, end: Event) -> Result<f32, DeviceError> {
        // SAFETY: both handles are alive.
        unsafe { result::event::elapsed(event(start), event(end)) }.attempt("cuEventElapsedTime")
    }
}
