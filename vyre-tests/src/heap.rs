//! A global allocator for tests: it counts every byte, and refuses on request.
//!
//! ```
//! use vyre_tests::heap;
//!
//! #[global_allocator]
//! static HEAP: heap::Heap = heap::Heap;
//!
//! let _alone = heap::alone();
//! let (list, most) = heap::peak_of(|| vec![1_u8; 5_000]);
//! assert_eq!(most, 5_000);
//! let refused = heap::refusing(1_000, 0, || Vec::<u8>::new().try_reserve(2_000).is_err());
//! assert_eq!(refused, (true, true));
//! # drop(list);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, counted.
pub struct Heap;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);
/// Only allocations of this number of bytes or more are refused.
static LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// How many of those have been asked for.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// Which of them are refused: from the first number on, up to the second.
static REFUSED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(usize::MAX)];

fn took(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
    TAKEN.fetch_add(bytes, Relaxed);
}

fn is_refused(bytes: usize) -> bool {
    if bytes < LARGE.load(Relaxed) {
        return false;
    }
    let nth = ASKED.fetch_add(1, Relaxed);
    (REFUSED[0].load(Relaxed)..REFUSED[1].load(Relaxed)).contains(&nth)
}

// SAFETY: every call is handed to the system's allocator as it is, or refused; beside that, bytes are counted.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        took(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        took(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract, and `alloc` took it from the system.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            if is_refused(size) {
                return std::ptr::null_mut();
            }
            // Both are there while one is copied to the other.
            took(size);
            LIVE.fetch_sub(layout.size(), Relaxed);
        } else {
            LIVE.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: the caller keeps `realloc`'s contract, and `alloc` took it from the system.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// One test at a time, so that nothing else allocates meanwhile.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that are allocated now.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// Bytes of all allocations so far.
pub fn taken() -> usize {
    TAKEN.load(Relaxed)
}

/// The most bytes that were live at once while `f` ran, beside those before.
pub fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = live();
    PEAK.store(before, Relaxed);
    let value = f();
    (value, PEAK.load(Relaxed) - before)
}

/// How many of those that may be refused were asked for since some are.
pub fn asked() -> usize {
    ASKED.load(Relaxed)
}

/// Runs `f` while every allocation of `bytes` bytes or more is refused.
pub fn starved_from<T>(bytes: usize, f: impl FnOnce() -> T) -> T {
    refuse(bytes, [0, usize::MAX], f)
}

/// Runs `f` while one allocation is refused: of those of `bytes` bytes or more, the one after `nth` others. Also
/// whether there was such a one.
pub fn refusing<T>(bytes: usize, nth: usize, f: impl FnOnce() -> T) -> (T, bool) {
    let value = refuse(bytes, [nth, nth + 1], f);
    (value, ASKED.load(Relaxed) > nth)
}

fn refuse<T>(bytes: usize, [from, to]: [usize; 2], f: impl FnOnce() -> T) -> T {
    REFUSED[0].store(from, Relaxed);
    REFUSED[1].store(to, Relaxed);
    ASKED.store(0, Relaxed);
    LARGE.store(bytes, Relaxed);
    let value = f();
    LARGE.store(usize::MAX, Relaxed);
    value
}
