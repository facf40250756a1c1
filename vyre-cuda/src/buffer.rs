//! Device memory and page-locked host memory.

use crate::abi::{Pod, bytes_of};
use crate::device::{Device, DeviceError};
use crate::driver::{self, Stream};
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vyre_core::dsl::columns::{Column, Slice, SliceMut};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::ALIGN;
use vyre_core::vir0::scalar::Scalar;

/// Bytes that are copied along rather than left out of a copy.
const GAP: u64 = 4096;

/// Bytes that are worth a thread of their own when the host copies them.
const THREAD_BYTES: usize = 256 << 10;

/// An allocation on a device; freed when dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    device: Arc<Device>,
    address: u64,
    bytes: u64,
}

impl Memory {
    /// Takes `bytes`, rounded up to [`ALIGN`], to which addresses are aligned; never none. Debug builds fill it with a
    /// pattern that shows up in results.
    pub(crate) fn new(device: &Arc<Device>, bytes: u64) -> Result<Memory, DeviceError> {
        let bytes = bytes.max(1).next_multiple_of(ALIGN);
        let address = device.driver()?.alloc(bytes)?;
        device.allocated.fetch_add(bytes, Relaxed);
        let memory = Memory {
            device: Arc::clone(device),
            address,
            bytes,
        };
        if cfg!(debug_assertions) {
            memory.set_bytes(0xa5)?;
            // The other stream may be the first to use it.
            device.synchronize()?;
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
        let (driver, stream) = (self.device.driver()?, self.device.launches());
        // SAFETY: the whole allocation, which lives until the stream was waited for.
        unsafe { driver.set_bytes((self.address, self.bytes), value, stream) }
    }

    /// Copies from the host to `at` bytes in, in stream order. The bytes may be reused when the call returns, unless
    /// they are page-locked: then after the stream was waited for.
    pub(crate) fn upload(&self, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.upload_by(self.device.launches(), at, bytes)
    }

    fn upload_by(&self, stream: Stream, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        assert!(
            at.checked_add(bytes.len() as u64)
                .is_some_and(|end| end <= self.bytes),
            "uploads stay inside the allocation"
        );
        if bytes.is_empty() {
            return Ok(());
        }
        let driver = self.device.driver()?;
        // SAFETY: in bounds, by the assertion; the source outlives the call, and the stream where it is page-locked.
        unsafe { driver.upload(self.address + at, bytes, stream) }
    }

    /// Copies to the host from `at` bytes in, in stream order; complete when the stream was waited for.
    ///
    /// # Safety
    /// `into` must stay alive and untouched until then.
    pub(crate) unsafe fn download<B: Byte>(
        &self,
        at: u64,
        into: &mut [B],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller keeps the target alive and untouched until the stream was waited for.
        unsafe { self.download_by(self.device.launches(), at, into) }
    }

    /// # Safety
    /// As of [`Memory::download`].
    unsafe fn download_by<B: Byte>(
        &self,
        stream: Stream,
        at: u64,
        into: &mut [B],
    ) -> Result<(), DeviceError> {
        assert!(
            at.checked_add(into.len() as u64)
                .is_some_and(|end| end <= self.bytes),
            "downloads stay inside the allocation"
        );
        if into.is_empty() {
            return Ok(());
        }
        let (driver, from) = (self.device.driver()?, self.address + at);
        // SAFETY: in bounds, by the assertion; the caller keeps the target alive.
        unsafe { driver.download(into.as_mut_ptr().cast(), (from, into.len() as u64), stream) }
    }

    /// `len` elements from its beginning, once everything given to the stream before is done.
    pub(crate) fn read(&self, scalar: Scalar, len: u64) -> Result<Column, RunError> {
        // Not every byte is a bool, so those are looked at one by one.
        let stored = match scalar {
            Scalar::Bool => Scalar::U8,
            other => other,
        };
        let mut column = Column::filled(stored, 0, 0);
        room_in(&mut column, len as usize)?;
        let into = &mut room_of(&mut column)[..(len * stored.size_bytes()) as usize];
        // SAFETY: the target outlives the wait, which comes even where the copy fails to begin.
        let began = unsafe { self.download(0, into) };
        self.device.synchronize()?;
        began?;
        // SAFETY: the device wrote them, and they are not bools.
        unsafe { set_len(&mut column, len as usize) };
        Ok(match column {
            Column::U8(bytes) if scalar == Scalar::Bool => {
                Column::Bool(bytes.into_iter().map(|b| b & 1 != 0).collect())
            }
            column => column,
        })
    }

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

/// A byte of the host that a device may write.
pub(crate) trait Byte {}

impl Byte for u8 {}
impl Byte for MaybeUninit<u8> {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.driver() {
            // SAFETY: allocated by `new`, freed once; this waits for work that uses it. An error has no taker here.
            let _ = unsafe { driver.free(self.address) };
        }
        self.device.allocated.fetch_sub(self.bytes, Relaxed);
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
        let bytes = bytes.max(16);
        let data = device.driver()?.alloc_host(bytes)?;
        // The driver gives whole pages of the operating system, whose bytes are what they are. Writing them first would
        // cost a batch as much as its launch.
        Ok(Pinned {
            device: Arc::clone(device),
            data,
            bytes,
        })
    }

    /// None of it, until it grows.
    pub(crate) fn none(device: &Arc<Device>) -> Pinned {
        Pinned {
            device: Arc::clone(device),
            data: std::ptr::NonNull::dangling().as_ptr(),
            bytes: 0,
        }
    }

    /// Makes it so large at least; what it held is lost.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), DeviceError> {
        if self.bytes < bytes {
            *self = Pinned::new(&self.device, bytes)?;
        }
        Ok(())
    }

    /// First byte, as the device sees it: addresses are the same on both sides.
    pub(crate) fn address(&self) -> u64 {
        self.data as u64
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: none, or allocated by `new`, and made of the system's pages, which have contents.
        unsafe { std::slice::from_raw_parts(self.data, self.bytes) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: no bytes at all, or pages that `new` allocated; the mutable borrow makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.bytes) }
    }

    /// To be written only.
    fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: no bytes at all, or pages that `new` allocated, borrowed mutably; nothing is asked of what they hold.
        unsafe { std::slice::from_raw_parts_mut(self.data.cast(), self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.bytes > 0
            && let Ok(driver) = self.device.driver()
        {
            // SAFETY: allocated by `new`, freed once; users wait for the stream before they drop it.
            let _ = unsafe { driver.free_host(self.data) };
        }
    }
}

/// Words of the host that launches read and write while they run.
#[derive(Debug)]
pub(crate) struct HostWords(Pinned);

// SAFETY: shared, it is words that are only accessed as atomic ones.
unsafe impl Sync for HostWords {}

impl HostWords {
    /// `count` words, all 0.
    pub(crate) fn new(device: &Arc<Device>, count: usize) -> Result<HostWords, DeviceError> {
        let mut words = Pinned::new(device, count * 8)?;
        words.as_mut_slice().fill(0);
        Ok(HostWords(words))
    }

    /// Where one of them is, for both sides.
    pub(crate) fn address(&self, at: usize) -> u64 {
        self.0.address() + 8 * at as u64
    }

    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        assert!(8 * at < self.0.bytes);
        // SAFETY: one of the words, aligned as pages are, and alive as long as this; the other side is a device.
        unsafe { AtomicU64::from_ptr(self.0.data.cast::<u64>().add(at)) }
    }
}

/// What pages are aligned to, on whatever system.
const PAGE: usize = 64 << 10;

/// The whole pages in `bytes` bytes of memory at `address`, counted from its first byte; none: an empty range at 0. The
/// page with the first byte is left out even if it is whole, so that as many bytes are left out wherever memory of whole
/// pages begins.
pub(crate) fn whole_pages(address: usize, bytes: usize) -> Range<usize> {
    let first = (address + 1).next_multiple_of(PAGE) - address;
    let last = ((address + bytes) / PAGE * PAGE).saturating_sub(address);
    if first < last { first..last } else { 0..0 }
}

/// Whole pages of memory that is somebody's, locked where they are. A page that is not whole may be another's too, and
/// stays as it is. Locking is slow and waits for the device.
#[derive(Debug)]
pub(crate) struct Locked {
    device: Arc<Device>,
    addresses: Vec<usize>,
}

impl Locked {
    pub(crate) fn new(device: &Arc<Device>) -> Locked {
        Locked {
            device: Arc::clone(device),
            addresses: Vec::new(),
        }
    }

    /// Locks the whole pages in a column's memory for this number of bytes.
    ///
    /// # Safety
    /// That memory is not freed, nor does it grow, before this is dropped.
    pub(crate) unsafe fn lock(
        &mut self,
        column: &mut Column,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        let room = &mut room_of(column)[..bytes];
        let pages = whole_pages(room.as_ptr().addr(), bytes);
        if pages.is_empty() {
            return Ok(());
        }
        let pages = &mut room[pages];
        // SAFETY: memory of this process, which the caller does not free before this is dropped.
        unsafe {
            let driver = self.device.driver()?;
            driver.register(pages.as_mut_ptr().cast(), pages.len())?;
        }
        self.addresses.push(pages.as_ptr().expose_provenance());
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.driver() {
            for &address in &self.addresses {
                let data = std::ptr::with_exposed_provenance_mut(address);
                // SAFETY: registered by `lock`, unregistered once. An error has no taker here.
                let _ = unsafe { driver.unregister(data) };
            }
        }
    }
}

/// The memory of a column behind its elements, as bytes to be written.
pub(crate) fn room_of(column: &mut Column) -> &mut [MaybeUninit<u8>] {
    fn room<T>(values: &mut Vec<T>) -> &mut [MaybeUninit<u8>] {
        let room = values.spare_capacity_mut();
        let bytes = size_of_val(room);
        // SAFETY: memory of the vector that holds nothing yet.
        unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), bytes) }
    }
    match column {
        Column::Bool(v) => room(v),
        Column::U8(v) => room(v),
        Column::U32(v) => room(v),
        Column::I32(v) => room(v),
        Column::F32(v) => room(v),
        Column::U64(v) => room(v),
        Column::I64(v) => room(v),
        Column::F64(v) => room(v),
    }
}

/// Says that a column has this number of elements.
///
/// # Safety
/// It has memory for them, and they were written; it is not one of bools, of which not every byte is one.
pub(crate) unsafe fn set_len(column: &mut Column, len: usize) {
    // SAFETY: the caller promises memory for them, and that they were written; every bit pattern of a number is a value.
    unsafe {
        match column {
            Column::Bool(_) => unreachable!("bools are looked at one by one"),
            Column::U8(v) => v.set_len(len),
            Column::U32(v) => v.set_len(len),
            Column::I32(v) => v.set_len(len),
            Column::F32(v) => v.set_len(len),
            Column::U64(v) => v.set_len(len),
            Column::I64(v) => v.set_len(len),
            Column::F64(v) => v.set_len(len),
        }
    }
}

/// A point in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    device: Arc<Device>,
    event: driver::Event,
}

impl Event {
    /// One that has passed already.
    pub(crate) fn new(device: &Arc<Device>) -> Result<Event, DeviceError> {
        Event::made(device, false)
    }

    fn made(device: &Arc<Device>, timed: bool) -> Result<Event, DeviceError> {
        let event = device.driver()?.create_event(timed)?;
        Ok(Event {
            device: Arc::clone(device),
            event,
        })
    }

    /// Makes it pass when all that was given to the stream so far is done.
    pub(crate) fn record(&self, stream: Stream) -> Result<(), DeviceError> {
        self.device.driver()?.record(self.event, stream)
    }

    /// Keeps what is given to the stream from now on until it has passed.
    pub(crate) fn hold(&self, stream: Stream) -> Result<(), DeviceError> {
        self.device.driver()?.hold(stream, self.event)
    }

    /// Whether it has passed.
    pub(crate) fn has_passed(&self) -> Result<bool, DeviceError> {
        self.device.driver()?.has_passed(self.event)
    }

    /// Waits until it has passed.
    pub(crate) fn wait(&self) -> Result<(), DeviceError> {
        self.device.driver()?.wait(self.event)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.driver() {
            // SAFETY: created by `made`, destroyed once.
            let _ = unsafe { driver.destroy_event(self.event) };
        }
    }
}

/// Two parts of page-locked memory that large copies go through in turn, beside launches: the host fills or empties one
/// while the device copies the other. Locking as much memory as there is to copy would cost more than the copies.
#[derive(Debug)]
pub(crate) struct Ring {
    device: Arc<Device>,
    parts: [(Pinned, Event); 2],
    next: usize,
}

impl Ring {
    /// One of two parts of `part_bytes` bytes each.
    pub(crate) fn new(device: &Arc<Device>, part_bytes: usize) -> Result<Ring, DeviceError> {
        let part = || -> Result<(Pinned, Event), DeviceError> {
            Ok((Pinned::new(device, part_bytes)?, Event::new(device)?))
        };
        Ok(Ring {
            device: Arc::clone(device),
            parts: [part()?, part()?],
            next: 0,
        })
    }

    pub(crate) fn part_bytes(&self) -> usize {
        self.parts[0].0.as_slice().len()
    }

    /// Begins a copy to consecutive bytes of the device, from `at` bytes in, beside the launches.
    pub(crate) fn upload<'r>(&'r mut self, to: &'r Memory, at: u64) -> Upload<'r> {
        let stream = self.device.copies();
        self.upload_by(stream, to, at)
    }

    /// The same, after what was given to a stream before.
    pub(crate) fn upload_by<'r>(
        &'r mut self,
        stream: Stream,
        to: &'r Memory,
        at: u64,
    ) -> Upload<'r> {
        Upload {
            ring: self,
            stream,
            to,
            at,
            filled: 0,
        }
    }

    /// Copies what follows `at` in `from` in pieces that end at `cuts`, counted from there, and hands each to `take`
    /// while the next is on its way. Comes after `ready` only. No piece is larger than a part.
    pub(crate) fn download(
        &mut self,
        (from, at, ready): (&Memory, u64, &Event),
        cuts: &[usize],
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), DeviceError> {
        let copies = self.device.copies();
        ready.hold(copies)?;
        let piece = |i: usize| i.checked_sub(1).map_or(0, |before| cuts[before])..cuts[i];
        let begin = |ring: &mut Ring, i: usize| -> Result<usize, DeviceError> {
            let which = ring.next;
            let (part, passed) = &mut ring.parts[which];
            passed.wait()?;
            let into = &mut part.as_mut_slice()[..piece(i).len()];
            // SAFETY: the event says when it is done, and everyone waits for it before the part is used or freed.
            unsafe { from.download_by(copies, at + piece(i).start as u64, into) }?;
            passed.record(copies)?;
            ring.next ^= 1;
            Ok(which)
        };
        let mut coming = None;
        for i in 0..cuts.len() {
            let part = match coming {
                Some(part) => part,
                None => begin(self, i)?,
            };
            coming = match i + 1 < cuts.len() {
                true => Some(begin(self, i + 1)?),
                false => None,
            };
            let (part, passed) = &self.parts[part];
            passed.wait()?;
            take(&part.as_slice()[..piece(i).len()]);
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Copies need the parts; that of an upload that failed halfway has no event. An error has no taker here.
        let _ = self.device.synchronize();
    }
}

/// A copy to the device that goes through a [`Ring`]. What was written must be followed by [`Upload::end`].
pub(crate) struct Upload<'r> {
    ring: &'r mut Ring,
    stream: Stream,
    to: &'r Memory,
    at: u64,
    /// Of the current part.
    filled: usize,
}

impl Upload<'_> {
    /// The next bytes. They may be reused when the call returns.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), DeviceError> {
        while !bytes.is_empty() {
            let (part, passed) = &mut self.ring.parts[self.ring.next];
            if self.filled == 0 {
                passed.wait()?;
            }
            let free = &mut part.room()[self.filled..];
            let full = bytes.len() >= free.len();
            let (now, later) = bytes.split_at(bytes.len().min(free.len()));
            copy(now, &mut free[..now.len()]);
            self.filled += now.len();
            bytes = later;
            if full {
                self.send()?;
            }
        }
        Ok(())
    }

    /// Goes on at byte `at` of the memory; what lies between is left as it is, or overwritten.
    pub(crate) fn skip_to(&mut self, at: u64) -> Result<(), DeviceError> {
        let gap = at - (self.at + self.filled as u64);
        if self.filled > 0 && gap < GAP && self.filled + (gap as usize) < self.ring.part_bytes() {
            self.filled += gap as usize;
        } else if gap > 0 {
            self.send()?;
            self.at = at;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), DeviceError> {
        if self.filled > 0 {
            let (part, passed) = &self.ring.parts[self.ring.next];
            self.to
                .upload_by(self.stream, self.at, &part.as_slice()[..self.filled])?;
            passed.record(self.stream)?;
            self.ring.next ^= 1;
            self.at += self.filled as u64;
            self.filled = 0;
        }
        Ok(())
    }

    /// All is on its way; `ready` passes when it is there. Who uses it in the same stream needs none.
    pub(crate) fn end(mut self, ready: Option<&Event>) -> Result<(), DeviceError> {
        self.send()?;
        ready.map_or(Ok(()), |ready| ready.record(self.stream))
    }
}

/// A pair of events around the launch.
#[derive(Debug)]
pub(crate) struct Timer {
    start: Event,
    end: Event,
}

impl Timer {
    pub(crate) fn new(device: &Arc<Device>) -> Result<Timer, DeviceError> {
        Ok(Timer {
            start: Event::made(device, true)?,
            end: Event::made(device, true)?,
        })
    }

    pub(crate) fn start(&self) -> Result<(), DeviceError> {
        self.start.record(self.start.device.launches())
    }

    pub(crate) fn end(&self) -> Result<(), DeviceError> {
        self.end.record(self.end.device.launches())
    }

    /// Nanoseconds between the two, after the stream was waited for.
    pub(crate) fn elapsed_ns(&self) -> Result<u64, DeviceError> {
        let driver = self.end.device.driver()?;
        let ms = driver.elapsed_ms(self.start.event, self.end.event)?;
        Ok((f64::from(ms) * 1e6) as u64)
    }
}

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

/// Empties a column and takes memory on the host for `len` elements of a result, where it has less.
pub(crate) fn room_in(column: &mut Column, len: usize) -> Result<(), RunError> {
    column.reset(0, 0);
    if column.reserve(len) {
        return Ok(());
    }
    let bytes = len as u64 * column.scalar().size_bytes();
    Err(RunError::no_memory("the result", bytes))
}

/// The elements whose bytes these are.
pub(crate) fn column_of(scalar: Scalar, bytes: &[u8]) -> Result<Column, RunError> {
    let mut column = Column::filled(scalar, 0, 0);
    room_in(&mut column, bytes.len() / scalar.size_bytes() as usize)?;
    extend(&mut column, bytes);
    Ok(column)
}

/// Appends the elements whose bytes these are.
pub(crate) fn extend(column: &mut Column, bytes: &[u8]) {
    fn fill<T: Pod>(values: &mut Vec<T>, bytes: &[u8]) {
        let len = bytes.len() / size_of::<T>();
        values.reserve(len);
        let room = values.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: the vector has room for `len` values, whose bytes are only written.
        copy(bytes, unsafe {
            std::slice::from_raw_parts_mut(room, len * size_of::<T>())
        });
        // SAFETY: `len` values were written, and every bit pattern is a value.
        unsafe { values.set_len(values.len() + len) };
    }
    match column {
        Column::Bool(v) => v.extend(bytes.iter().map(|&b| b & 1 != 0)),
        Column::U8(v) => fill(v, bytes),
        Column::U32(v) => fill(v, bytes),
        Column::I32(v) => fill(v, bytes),
        Column::F32(v) => fill(v, bytes),
        Column::U64(v) => fill(v, bytes),
        Column::I64(v) => fill(v, bytes),
        Column::F64(v) => fill(v, bytes),
    }
}

/// Where the elements of a result go, one after another.
pub(crate) enum Place<'a> {
    /// To the end.
    Column(&'a mut Column),
    /// Over what was there; this is left.
    Slice(SliceMut<'a>),
}

impl Place<'_> {
    /// Makes it ready for all elements of a result, `len` of them.
    pub(crate) fn make_room(&mut self, len: usize) -> Result<(), RunError> {
        match self {
            Place::Column(column) => room_in(column, len),
            // The caller's has its length.
            Place::Slice(_) => Ok(()),
        }
    }

    /// Goes on behind this number of bytes, of elements that are there already.
    ///
    /// # Safety
    /// It is a column with memory for them, not one of bools, and they were written.
    pub(crate) unsafe fn skip(&mut self, bytes: usize) {
        match self {
            Place::Column(column) => {
                let elements = bytes / column.scalar().size_bytes() as usize;
                let len = column.len() + elements;
                // SAFETY: the caller promises memory for them, that they were written, and that they are no bools.
                unsafe { set_len(column, len) }
            }
            Place::Slice(_) => unreachable!("what is the caller's has no locked pages"),
        }
    }

    /// The next elements, as the device stores them.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        fn put<'a, T: Pod>(values: &'a mut [T], bytes: &[u8]) -> &'a mut [T] {
            let (now, later) = values.split_at_mut(bytes.len() / size_of::<T>());
            let first = now.as_mut_ptr().cast();
            // SAFETY: the bytes of plain values, which are borrowed; every bit pattern is a value.
            copy(bytes, unsafe {
                std::slice::from_raw_parts_mut(first, size_of_val(now))
            });
            later
        }
        match self {
            Place::Column(column) => extend(column, bytes),
            Place::Slice(slice) => {
                let all = std::mem::replace(slice, SliceMut::U8(&mut []));
                *slice = match all {
                    SliceMut::Bool(v) => {
                        let (now, later) = v.split_at_mut(bytes.len());
                        now.iter_mut()
                            .zip(bytes)
                            .for_each(|(to, &b)| *to = b & 1 != 0);
                        SliceMut::Bool(later)
                    }
                    SliceMut::U8(v) => SliceMut::U8(put(v, bytes)),
                    SliceMut::U32(v) => SliceMut::U32(put(v, bytes)),
                    SliceMut::I32(v) => SliceMut::I32(put(v, bytes)),
                    SliceMut::F32(v) => SliceMut::F32(put(v, bytes)),
                    SliceMut::U64(v) => SliceMut::U64(put(v, bytes)),
                    SliceMut::I64(v) => SliceMut::I64(put(v, bytes)),
                    SliceMut::F64(v) => SliceMut::F64(put(v, bytes)),
                };
            }
        }
    }
}

/// Copies bytes to memory of the same length, whatever that holds. Large copies take several threads: the operating
/// system makes the pages that are written first, and one thread gets no more than one or two gigabytes of them in a
/// second.
fn copy(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    if from.len() < 2 * THREAD_BYTES {
        to.write_copy_of_slice(from);
    } else {
        let from = from.par_chunks(THREAD_BYTES);
        from.zip(to.par_chunks_mut(THREAD_BYTES))
            .for_each(|(from, to)| {
                to.write_copy_of_slice(from);
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_left_out_wherever_whole_pages_of_memory_begin() {
        for address in [0, 8, 4_096, PAGE - 8, PAGE, 3 * PAGE + 16] {
            assert!(whole_pages(address, PAGE).is_empty());
            let whole = whole_pages(address, 3 * PAGE);
            assert_eq!(whole.len(), 2 * PAGE, "at {address}");
            assert_eq!((address + whole.start) % PAGE, 0, "at {address}");
        }
    }
}
