//! Memory of the device and page-locked memory of the host, points in the stream, and the way of inputs and results.

use super::RivalError;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;
use vyre::cuda::Device;
use vyre::cuda::cudarc::driver::{result, sys};

/// Bytes of each of the two parts that inputs and results go through.
const PART_BYTES: usize = 4 << 20;
/// Bytes that are worth a thread of their own when the host copies them.
const THREAD_BYTES: usize = 256 << 10;

/// Numbers whose bytes may be copied.
///
/// # Safety
/// Every bit pattern is a value, and there is no padding.
pub(super) unsafe trait Number: Copy {}
// SAFETY: a primitive number.
unsafe impl Number for u32 {}
// SAFETY: as above.
unsafe impl Number for u64 {}
// SAFETY: as above.
unsafe impl Number for f32 {}

/// The bytes of numbers.
pub(super) fn bytes_of<T: Number>(values: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// An allocation on a device; freed when dropped.
#[derive(Debug)]
pub(super) struct Memory {
    device: Arc<Device>,
    address: u64,
    bytes: usize,
}

impl Memory {
    /// Takes this number of bytes, one at least.
    pub(super) fn new(device: &Arc<Device>, bytes: u64) -> Result<Memory, RivalError> {
        device.enter()?;
        let bytes = bytes.max(1) as usize;
        // SAFETY: the context is current.
        let address = unsafe { result::malloc_sync(bytes) }?;
        let device = Arc::clone(device);
        Ok(Memory {
            device,
            address,
            bytes,
        })
    }

    /// First byte, as the device sees it.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Clears every byte, in stream order.
    pub(super) fn clear(&self) -> Result<(), RivalError> {
        self.device.enter()?;
        // SAFETY: the whole allocation, which lives until the stream was waited for.
        unsafe { result::memset_d8_async(self.address, 0, self.bytes, self.device.stream()) }?;
        Ok(())
    }

    /// Copies from the host to `at` bytes in, in stream order. The bytes may be reused when the call returns, unless
    /// they are page-locked: then after the stream was waited for.
    pub(super) fn upload(&self, at: usize, bytes: &[u8]) -> Result<(), RivalError> {
        assert!(
            at + bytes.len() <= self.bytes,
            "uploads stay inside the allocation"
        );
        if bytes.is_empty() {
            return Ok(());
        }
        self.device.enter()?;
        let to = self.address + at as u64;
        // SAFETY: in bounds, by the assertion; the source outlives the call, and the stream where it is page-locked.
        unsafe { result::memcpy_htod_async(to, bytes, self.device.stream()) }?;
        Ok(())
    }

    /// Copies to the host from `at` bytes in, in stream order; complete when the stream was waited for.
    ///
    /// # Safety
    /// `into` must stay alive and untouched until then.
    pub(super) unsafe fn download(&self, at: usize, into: &mut [u8]) -> Result<(), RivalError> {
        assert!(
            at + into.len() <= self.bytes,
            "downloads stay inside the allocation"
        );
        self.device.enter()?;
        let from = self.address + at as u64;
        // SAFETY: in bounds, by the assertion; the caller keeps the target alive.
        unsafe { result::memcpy_dtoh_async(into, from, self.device.stream()) }?;
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: allocated by `new`, freed once; cuMemFree waits for work that uses it. An error has no taker
            // here.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Page-locked host memory.
#[derive(Debug)]
pub(super) struct Pinned {
    device: Arc<Device>,
    data: *mut u8,
    bytes: usize,
}

impl Pinned {
    pub(super) fn new(device: &Arc<Device>, bytes: usize) -> Result<Pinned, RivalError> {
        device.enter()?;
        // SAFETY: the context is current. The driver gives whole pages of the system, which have contents.
        let data = unsafe { result::malloc_host(bytes, 0) }?.cast();
        let device = Arc::clone(device);
        Ok(Pinned {
            device,
            data,
            bytes,
        })
    }

    /// First byte, as the device sees it: addresses are the same on both sides.
    pub(super) fn address(&self) -> u64 {
        self.data as u64
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        // SAFETY: allocated by `new`, with contents.
        unsafe { std::slice::from_raw_parts(self.data, self.bytes) }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.bytes) }
    }

    /// The first bytes, to be written.
    fn room(&mut self, bytes: usize) -> &mut [MaybeUninit<u8>] {
        let all = self.as_mut_slice();
        // SAFETY: bytes that hold something may be taken for such that need not.
        let all: &mut [MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts_mut(all.as_mut_ptr().cast(), all.len()) };
        &mut all[..bytes]
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

/// A point in the device's stream.
#[derive(Debug)]
pub(super) struct Event {
    device: Arc<Device>,
    event: sys::CUevent,
}

impl Event {
    /// One that has passed already.
    pub(super) fn new(device: &Arc<Device>, timed: bool) -> Result<Event, RivalError> {
        device.enter()?;
        let flags = match timed {
            true => sys::CUevent_flags_enum::CU_EVENT_DEFAULT,
            false => sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING,
        };
        let event = result::event::create(flags)?;
        let device = Arc::clone(device);
        Ok(Event { device, event })
    }

    /// Makes it pass when all that was given to the stream so far is done.
    pub(super) fn record(&self) -> Result<(), RivalError> {
        self.device.enter()?;
        // SAFETY: both handles are alive.
        unsafe { result::event::record(self.event, self.device.stream()) }?;
        Ok(())
    }

    /// Waits until it has passed.
    pub(super) fn wait(&self) -> Result<(), RivalError> {
        self.device.enter()?;
        // SAFETY: the handle is alive.
        unsafe { result::event::synchronize(self.event) }?;
        Ok(())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: created by `new`, destroyed once. An error has no taker here.
            let _ = unsafe { result::event::destroy(self.event) };
        }
    }
}

/// Events before and after what is timed.
#[derive(Debug)]
pub(super) struct Timer {
    start: Event,
    end: Event,
}

impl Timer {
    pub(super) fn new(device: &Arc<Device>) -> Result<Timer, RivalError> {
        Ok(Timer {
            start: Event::new(device, true)?,
            end: Event::new(device, true)?,
        })
    }

    pub(super) fn start(&self) -> Result<(), RivalError> {
        self.start.record()
    }

    pub(super) fn end(&self) -> Result<(), RivalError> {
        self.end.record()
    }

    /// Nanoseconds between the two, after the stream was waited for.
    pub(super) fn elapsed_ns(&self) -> Result<u64, RivalError> {
        // SAFETY: both handles are alive.
        let ms = unsafe { result::event::elapsed(self.start.event, self.end.event) }?;
        Ok((f64::from(ms) * 1e6) as u64)
    }
}

/// Two parts of page-locked memory that inputs and results go through in turn: the host fills or empties one while the
/// device copies the other, as in vyre's own sessions.
#[derive(Debug)]
pub(super) struct Ring {
    /// Each passes when the device has copied it.
    parts: [(Pinned, Event); 2],
}

impl Ring {
    pub(super) fn new(device: &Arc<Device>) -> Result<Ring, RivalError> {
        let part = || -> Result<(Pinned, Event), RivalError> {
            Ok((Pinned::new(device, PART_BYTES)?, Event::new(device, false)?))
        };
        Ok(Ring {
            parts: [part()?, part()?],
        })
    }

    /// Copies to the beginning of the device's memory, in stream order. The bytes may be reused when the call returns.
    pub(super) fn upload(&mut self, to: &Memory, bytes: &[u8]) -> Result<(), RivalError> {
        for (i, piece) in bytes.chunks(PART_BYTES).enumerate() {
            let (part, passed) = &mut self.parts[i % 2];
            passed.wait()?;
            copy(piece, part.room(piece.len()));
            to.upload(i * PART_BYTES, &part.as_slice()[..piece.len()])?;
            passed.record()?;
        }
        Ok(())
    }

    /// Numbers from the beginning of the device's memory, once all that was given to the stream before is done, in the
    /// memory of earlier ones.
    pub(super) fn download<T: Number>(
        &mut self,
        from: &Memory,
        len: usize,
        mut earlier: Vec<T>,
    ) -> Result<Vec<T>, RivalError> {
        earlier.clear();
        earlier.reserve(len);
        let room = &mut earlier.spare_capacity_mut()[..len];
        // SAFETY: memory of the vector that holds nothing yet.
        let room: &mut [MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), size_of_val(room)) };
        let begin =
            |(part, passed): &mut (Pinned, Event), i: usize, bytes| -> Result<(), RivalError> {
                // SAFETY: page-locked memory of the ring, which waits for the event before the part is read, reused or
                // freed.
                unsafe { from.download(i * PART_BYTES, &mut part.as_mut_slice()[..bytes]) }?;
                passed.record()
            };
        let mut pieces = room.chunks_mut(PART_BYTES).enumerate().peekable();
        if let Some((i, first)) = pieces.peek() {
            begin(&mut self.parts[0], *i, first.len())?;
        }
        while let Some((i, piece)) = pieces.next() {
            if let Some((next, after)) = pieces.peek() {
                begin(&mut self.parts[next % 2], *next, after.len())?;
            }
            let (part, passed) = &self.parts[i % 2];
            passed.wait()?;
            copy(&part.as_slice()[..piece.len()], piece);
        }
        // SAFETY: all of them were written.
        unsafe { earlier.set_len(len) };
        Ok(earlier)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for (_, passed) in &self.parts {
            // An error has no taker here.
            let _ = passed.wait();
        }
    }
}

/// Copies bytes to memory of the same length, whatever that holds. Large copies take several threads: the operating
/// system makes the pages that are written first, and one thread gets no more than one or two gigabytes of them in a
/// second.
fn copy(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    let from = from.par_chunks(THREAD_BYTES);
    from.zip(to.par_chunks_mut(THREAD_BYTES))
        .for_each(|(from, to)| {
            to.write_copy_of_slice(from);
        });
}
