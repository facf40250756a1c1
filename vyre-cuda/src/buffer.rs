//! Device memory and page-locked host memory.

use crate::abi::Pod;
use crate::device::{Attempt, Device, DeviceError};
use cudarc::driver::{result, sys};
use std::sync::Arc;
use vyre_core::exec::{Column, Slice};

/// Alignment that allocations are rounded up to; device addresses are aligned at least so.
pub(crate) const ALIGN: u64 = 256;

/// An allocation on a device; freed when dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    device: Arc<Device>,
    address: u64,
    bytes: u64,
}

impl Memory {
    /// Takes `bytes` (rounded up, never none). Debug builds fill it with a pattern that shows up in results.
    pub(crate) fn new(device: &Arc<Device>, bytes: u64) -> Result<Memory, DeviceError> {
        device.enter()?;
        let bytes = bytes.max(1).next_multiple_of(ALIGN);
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(bytes as usize) }.attempt("cuMemAlloc")?;
        let memory = Memory {
            device: Arc::clone(device),
            address,
            bytes,
        };
        if cfg!(debug_assertions) {
            memory.set_bytes(0xa5)?;
        }
        Ok(memory)
    }

    /// First byte, as the device sees it.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets every byte, in stream order.
    pub(crate) fn set_bytes(&self, value: u8) -> Result<(), DeviceError> {
        self.device.enter()?;
        let stream = self.device.stream();
        // SAFETY: the whole allocation, on the stream that everything goes through.
        unsafe { result::memset_d8_async(self.address, value, self.bytes as usize, stream) }
            .attempt("cuMemsetD8Async")
    }

    /// Copies from the host to `at` bytes in, in stream order. The bytes may be reused when the call returns, unless they
    /// are page-locked: then after the stream was waited for.
    pub(crate) fn upload(&self, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(
            at.checked_add(bytes.len() as u64)
                .is_some_and(|end| end <= self.bytes),
            "uploads stay inside the allocation"
        );
        if bytes.is_empty() {
            return Ok(());
        }
        self.device.enter()?;
        // SAFETY: in bounds, by the assertion; the source outlives the call, and the stream where it is page-locked.
        unsafe { result::memcpy_htod_async(self.address + at, bytes, self.device.stream()) }
            .attempt("cuMemcpyHtoDAsync")
    }

    /// Copies to the host from `at` bytes in, in stream order; complete when the stream was waited for.
    ///
    /// # Safety
    /// `into` must stay alive and untouched until then.
    pub(crate) unsafe fn download(&self, at: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        assert!(
            at.checked_add(into.len() as u64)
                .is_some_and(|end| end <= self.bytes),
            "downloads stay inside the allocation"
        );
        if into.is_empty() {
            return Ok(());
        }
        self.device.enter()?;
        // SAFETY: in bounds, by the assertion; the caller keeps the target alive.
        unsafe { result::memcpy_dtoh_async(into, self.address + at, self.device.stream()) }
            .attempt("cuMemcpyDtoHAsync")
    }
}

impl Memory {
    /// Whether it begins with these bytes. Waits for the stream.
    pub(crate) fn holds(&self, bytes: &[u8]) -> Result<bool, DeviceError> {
        if bytes.len() as u64 > self.bytes {
            return Ok(false);
        }
        let mut held = vec![0; bytes.len()];
        // SAFETY: the target outlives the wait.
        unsafe { self.download(0, &mut held) }?;
        self.device.synchronize()?;
        Ok(held == bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: allocated by `new`, freed once; cuMemFree waits for work that uses it. An error has no taker here.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Page-locked host memory.
#[derive(Debug)]
pub(crate) struct Pinned {
    device: Arc<Device>,
    data: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned.
unsafe impl Send for Pinned {}

impl Pinned {
    pub(crate) fn new(device: &Arc<Device>, bytes: usize) -> Result<Pinned, DeviceError> {
        device.enter()?;
        let bytes = bytes.max(16);
        // SAFETY: the context is current.
        let data = unsafe { result::malloc_host(bytes, 0) }.attempt("cuMemHostAlloc")?;
        // The driver gives whole pages of the operating system, whose bytes are what they are. Writing them first would
        // cost a batch as much as its launch.
        Ok(Pinned {
            device: Arc::clone(device),
            data: data.cast(),
            bytes,
        })
    }

    /// First byte, as the device sees it: addresses are the same on both sides.
    pub(crate) fn address(&self) -> u64 {
        self.data as u64
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: allocated by `new`, and made of the system's pages, which have contents.
        unsafe { std::slice::from_raw_parts(self.data, self.bytes) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: allocated by `new`, freed once; users wait for the stream before they drop it.
            let _ = unsafe { result::free_host(self.data.cast()) };
        }
    }
}

/// A pair of events around the launch.
#[derive(Debug)]
pub(crate) struct Timer {
    device: Arc<Device>,
    start: sys::CUevent,
    end: sys::CUevent,
}

// SAFETY: event handles may be used from any thread.
unsafe impl Send for Timer {}

impl Timer {
    pub(crate) fn new(device: &Arc<Device>) -> Result<Timer, DeviceError> {
        device.enter()?;
        let event = || {
            result::event::create(sys::CUevent_flags_enum::CU_EVENT_DEFAULT)
                .attempt("cuEventCreate")
        };
        Ok(Timer {
            device: Arc::clone(device),
            start: event()?,
            end: event()?,
        })
    }

    pub(crate) fn start(&self) -> Result<(), DeviceError> {
        // SAFETY: both handles live until `drop`.
        unsafe { result::event::record(self.start, self.device.stream()) }.attempt("cuEventRecord")
    }

    pub(crate) fn end(&self) -> Result<(), DeviceError> {
        // SAFETY: as above.
        unsafe { result::event::record(self.end, self.device.stream()) }.attempt("cuEventRecord")
    }

    /// Nanoseconds between the two, after the stream was waited for.
    pub(crate) fn elapsed_ns(&self) -> Result<u64, DeviceError> {
        // SAFETY: as above.
        let ms = unsafe { result::event::elapsed(self.start, self.end) }
            .attempt("cuEventElapsedTime")?;
        Ok((f64::from(ms) * 1e6) as u64)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: created by `new`, destroyed once.
            unsafe {
                let _ = result::event::destroy(self.start);
                let _ = result::event::destroy(self.end);
            }
        }
    }
}

/// The bytes of plain values.
pub(crate) fn bytes_of<T: Pod>(values: &[T]) -> &[u8] {
    // SAFETY: `Pod` types have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

macro_rules! scalars {
    ($($ty:ty),*) => { $(
        // SAFETY: a primitive number.
        unsafe impl Pod for $ty {}
    )* };
}
scalars!(u8, u32, i32, f32, u64, i64, f64);

/// The bytes of a borrowed column, as the device stores it.
pub(crate) fn slice_bytes<'a>(slice: &Slice<'a>) -> &'a [u8] {
    match *slice {
        // SAFETY: a bool is one byte, 0 or 1.
        Slice::Bool(v) => unsafe { std::slice::from_raw_parts(v.as_ptr().cast(), v.len()) },
        Slice::U8(v) => v,
        Slice::U32(v) => bytes_of(v),
        Slice::I32(v) => bytes_of(v),
        Slice::F32(v) => bytes_of(v),
        Slice::U64(v) => bytes_of(v),
        Slice::I64(v) => bytes_of(v),
        Slice::F64(v) => bytes_of(v),
    }
}

/// A column of `len` elements from the device's bytes, which are at least as many.
pub(crate) fn column_from(scalar: vyre_core::module::Scalar, len: usize, bytes: &[u8]) -> Column {
    use vyre_core::module::Scalar;
    fn values<T: Pod + Default>(len: usize, bytes: &[u8]) -> Vec<T> {
        assert!(
            bytes.len() >= len * size_of::<T>(),
            "the bytes hold the column"
        );
        let mut values = Vec::<T>::with_capacity(len);
        // SAFETY: the vector has room for `len` values, the source has their bytes, and every bit pattern is a value.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                values.as_mut_ptr().cast::<u8>(),
                len * size_of::<T>(),
            );
            values.set_len(len);
        }
        values
    }
    match scalar {
        Scalar::Bool => Column::Bool(bytes[..len].iter().map(|&b| b & 1 != 0).collect()),
        Scalar::U8 => Column::U8(values(len, bytes)),
        Scalar::U32 => Column::U32(values(len, bytes)),
        Scalar::I32 => Column::I32(values(len, bytes)),
        Scalar::F32 => Column::F32(values(len, bytes)),
        Scalar::U64 => Column::U64(values(len, bytes)),
        Scalar::I64 => Column::I64(values(len, bytes)),
        Scalar::F64 => Column::F64(values(len, bytes)),
    }
}
