//! What this backend asks of the CUDA driver: one function for each call, and nothing else.
//!
//! [`System`] is the driver of this machine. All of this crate's calls to it go through that module, so `unsafe` code
//! that talks to a driver is there only. Tests have drivers of their own: one that plays a device, one that fails on
//! purpose, one that writes down what it is asked.
//!
//! Handles are opaque numbers that only the driver makes which takes them. A handle stays good until an `unsafe`
//! function ends it, so functions that take handles alone are safe.

#[cfg(any(test, feature = "fake"))]
#[doc(hidden)]
pub mod played;
mod system;

pub(crate) use system::System;
#[cfg(any(test, feature = "fake"))]
pub(crate) use system::{SYMBOLS, library_names};

use crate::device::DeviceError;
use cudarc::driver::sys;
use std::fmt::Debug;
use std::sync::Arc;
use vyre_core::vir0::module::Program;

/// Makes handles: what the driver calls a pointer is an address here, which any thread may hold.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) usize);
    )*};
}

handles! {
    /// A device's primary context.
    Context
    /// A queue of work, which is done in order.
    Stream
    /// A point in a stream.
    Event
    /// Code that the driver has loaded.
    Module
    /// A kernel in a module.
    Function
}

/// A launch of a kernel: of which, and how many CTAs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) function: Function,
    pub(crate) ctas: u32,
    /// Of a CTA.
    pub(crate) threads: u32,
    /// Of a CTA, beyond what the kernel declares.
    pub(crate) shared_bytes: u32,
    /// All CTAs run together.
    pub(crate) cooperative: bool,
    /// CTAs of a cluster; 1: there are none.
    pub(crate) cluster: u32,
}

/// A kernel's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Param {
    Address(u64),
    Word(u32),
}

/// A driver. All but the first group of functions need the context to be current on the calling thread
/// ([`enter`](Driver::enter)). Errors are [`DeviceError::Driver`], [`DeviceError::NoMemory`], or [`DeviceError::Lost`] where
/// no later call can succeed, unless a function says otherwise.
pub(crate) trait Driver: Debug + Send + Sync {
    /// As `cuDriverGetVersion` counts.
    fn version(&self) -> Result<i32, DeviceError>;
    fn device_count(&self) -> Result<usize, DeviceError>;
    fn device(&self, ordinal: usize) -> Result<sys::CUdevice, DeviceError>;
    fn name(&self, device: sys::CUdevice) -> Result<String, DeviceError>;
    fn attribute(
        &self,
        device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, DeviceError>;
    /// Makes the primary context, which others of the process may have made already.
    fn retain(&self, device: sys::CUdevice) -> Result<Context, DeviceError>;
    /// # Safety
    /// As many times as it was retained. Nothing made in it is used afterwards.
    unsafe fn release(&self, device: sys::CUdevice) -> Result<(), DeviceError>;
    /// Makes the context current on this thread.
    fn enter(&self, context: Context) -> Result<(), DeviceError>;

    /// Loads machine code: a whole ELF file.
    fn load(&self, elf: &[u8]) -> Result<Module, DeviceError>;
    /// Has PTX compiled, or finds it compiled in the driver's cache.
    ///
    /// # Errors
    /// [`DeviceError::Compile`] with what the compiler says.
    fn compile(&self, ptx: &str) -> Result<Module, DeviceError>;
    /// # Safety
    /// Neither it nor its functions are used afterwards.
    unsafe fn unload(&self, module: Module) -> Result<(), DeviceError>;
    fn function(&self, module: Module, name: &str) -> Result<Function, DeviceError>;
    fn function_attribute(
        &self,
        function: Function,
        attribute: sys::CUfunction_attribute,
    ) -> Result<i32, DeviceError>;
    fn set_function_attribute(
        &self,
        function: Function,
        attribute: sys::CUfunction_attribute,
        value: i32,
    ) -> Result<(), DeviceError>;
    /// CTAs of the grid's kind that a multiprocessor runs at once.
    fn active_ctas(&self, grid: Grid) -> Result<u32, DeviceError>;
    /// Clusters of the grid that are resident together.
    fn active_clusters(&self, grid: Grid) -> Result<u32, DeviceError>;
    /// The words at this address are a program's. A device needs no telling; one that is played interprets it.
    fn note_code(&self, _address: u64, _program: &Arc<Program>) {}

    /// Free and total device memory in bytes.
    fn memory_bytes(&self) -> Result<(u64, u64), DeviceError>;
    fn alloc(&self, bytes: u64) -> Result<u64, DeviceError>;
    /// Waits for the device.
    ///
    /// # Safety
    /// Made by [`alloc`](Driver::alloc), and not used afterwards.
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError>;
    /// Page-locked memory of the host, whole pages of the operating system, at the same address on the device.
    fn alloc_host(&self, bytes: usize) -> Result<*mut u8, DeviceError>;
    /// # Safety
    /// Made by [`alloc_host`](Driver::alloc_host), and not used afterwards.
    unsafe fn free_host(&self, data: *mut u8) -> Result<(), DeviceError>;
    /// Locks pages of the host where they are.
    ///
    /// # Safety
    /// Memory of this process, which is not freed before [`unregister`](Driver::unregister).
    unsafe fn register(&self, data: *mut u8, bytes: usize) -> Result<(), DeviceError>;
    /// # Safety
    /// Registered at this address.
    unsafe fn unregister(&self, data: *mut u8) -> Result<(), DeviceError>;

    fn create_stream(&self) -> Result<Stream, DeviceError>;
    /// # Safety
    /// Not used afterwards.
    unsafe fn destroy_stream(&self, stream: Stream) -> Result<(), DeviceError>;
    /// Waits until all that was given to the stream is done.
    fn synchronize(&self, stream: Stream) -> Result<(), DeviceError>;

    /// Sets bytes of device memory, named by the first one's address and their number.
    ///
    /// # Safety
    /// They are allocated until the stream was waited for.
    unsafe fn set_bytes(
        &self,
        at: (u64, u64),
        value: u8,
        stream: Stream,
    ) -> Result<(), DeviceError>;
    /// Copies to the device. The source may be reused when the call returns, unless it is page-locked: then after the
    /// stream was waited for.
    ///
    /// # Safety
    /// The target is allocated until the stream was waited for.
    unsafe fn upload(&self, to: u64, from: &[u8], stream: Stream) -> Result<(), DeviceError>;
    /// Copies bytes to the host, named by the first one's address and their number.
    ///
    /// # Safety
    /// Until the stream was waited for, the source is allocated, and the target is alive and not used by anything else.
    unsafe fn download(
        &self,
        to: *mut u8,
        from: (u64, u64),
        stream: Stream,
    ) -> Result<(), DeviceError>;
    /// Launches a kernel.
    ///
    /// # Safety
    /// The arguments are the function's, and what they point to is allocated until the stream was waited for. The CTAs
    /// of a cooperative grid can be resident together.
    unsafe fn launch(
        &self,
        grid: Grid,
        params: &[Param],
        stream: Stream,
    ) -> Result<(), DeviceError>;

    /// An event that has passed already; timed ones can be asked what lies between them.
    fn create_event(&self, timed: bool) -> Result<Event, DeviceError>;
    /// # Safety
    /// Not used afterwards.
    unsafe fn destroy_event(&self, event: Event) -> Result<(), DeviceError>;
    /// The event passes when all that was given to the stream so far is done.
    fn record(&self, event: Event, stream: Stream) -> Result<(), DeviceError>;
    /// What is given to the stream from now on waits for the event.
    fn hold(&self, stream: Stream, event: Event) -> Result<(), DeviceError>;
    /// Whether it has passed.
    fn has_passed(&self, event: Event) -> Result<bool, DeviceError>;
    /// Waits until it has passed.
    fn wait(&self, event: Event) -> Result<(), DeviceError>;
    /// Between two timed events that have passed.
    fn elapsed_ms(&self, start: Event, end: Event) -> Result<f32, DeviceError>;
}
