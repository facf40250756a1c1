//! Memory of a played device: every access is checked, and what two pieces of work do to the same bytes must be in an
//! order.

use super::violation;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

/// Bits of an address within an allocation; those above number the allocations, from 1 on. No number is used twice, so
/// that memory is known to be gone.
const WITHIN: u32 = 36;

/// How much of each stream's work was done before something, by stream.
pub(super) type Clock = Vec<u64>;

/// Takes in what another clock knows.
pub(super) fn join(clock: &mut Clock, other: &[u64]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// A piece of work of a stream, as others tell it.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) what: &'static str,
    pub(super) stream: usize,
    /// What was done when it began, itself included.
    pub(super) clock: Arc<Clock>,
}

impl Work {
    fn number(&self) -> u64 {
        self.clock[self.stream]
    }

    /// Whether it is over when another one begins.
    fn is_before(&self, other: &Work) -> bool {
        other
            .clock
            .get(self.stream)
            .is_some_and(|&done| done >= self.number())
    }
}

struct Access {
    work: Work,
    written: bool,
    range: Range<u64>,
}

struct Allocation {
    data: Vec<u8>,
    /// From the first byte that the current work read to behind the last one; the same of those that it wrote.
    read: Cell<(u64, u64)>,
    written: Cell<(u64, u64)>,
    past: Vec<Access>,
}

/// All allocations.
#[derive(Default)]
pub(super) struct Memory {
    slots: Vec<Option<Allocation>>,
    /// Those that the current work accesses.
    touched: RefCell<Vec<usize>>,
}

impl Memory {
    pub(super) fn alloc(&mut self, bytes: u64) -> u64 {
        self.slots.push(Some(Allocation {
            data: vec![0x5a; bytes as usize],
            read: Cell::default(),
            written: Cell::default(),
            past: Vec::new(),
        }));
        (self.slots.len() as u64) << WITHIN
    }

    pub(super) fn free(&mut self, address: u64) {
        let slot = slot_of(address);
        match slot.and_then(|slot| self.slots.get_mut(slot)?.take()) {
            Some(_) if within(address) == 0 => {}
            _ => violation(&format!(
                "{} is freed, which is no allocation",
                name(address)
            )),
        }
    }

    /// How many allocations there are, and their bytes.
    pub(super) fn held(&self) -> (usize, u64) {
        let held = self.slots.iter().flatten();
        (
            held.clone().count(),
            held.map(|a| a.data.len() as u64).sum(),
        )
    }

    /// Notes an access; the allocation's number and the bytes in it.
    fn access(&self, at: u64, bytes: u64, written: bool) -> (usize, Range<usize>) {
        let slot = slot_of(at);
        let found = slot.and_then(|slot| self.slots.get(slot)?.as_ref());
        let (Some(slot), Some(allocation)) = (slot, found) else {
            violation(&format!(
                "{bytes} bytes at {} are accessed, which is not there",
                name(at)
            ));
        };
        let (from, len) = (within(at), allocation.data.len() as u64);
        let end = from + bytes;
        if end > len {
            violation(&format!(
                "{bytes} bytes at {} are accessed, which has {len}",
                name(at)
            ));
        }
        if [&allocation.read, &allocation.written]
            .iter()
            .all(|r| r.get() == (0, 0))
        {
            self.touched.borrow_mut().push(slot);
        }
        let so_far = if written {
            &allocation.written
        } else {
            &allocation.read
        };
        so_far.set(match so_far.get() {
            (_, 0) => (from, end),
            (first, last) => (first.min(from), last.max(end)),
        });
        (slot, from as usize..end as usize)
    }

    pub(super) fn read(&self, at: u64, bytes: u64) -> &[u8] {
        let (slot, range) = self.access(at, bytes, false);
        let allocation = self.slots[slot].as_ref();
        &allocation.expect("it was just found").data[range]
    }

    fn room(&mut self, at: u64, bytes: u64) -> &mut [u8] {
        let (slot, range) = self.access(at, bytes, true);
        let allocation = self.slots[slot].as_mut();
        &mut allocation.expect("it was just found").data[range]
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) {
        self.room(at, bytes.len() as u64).copy_from_slice(bytes);
    }

    pub(super) fn fill(&mut self, at: u64, bytes: u64, value: u8) {
        self.room(at, bytes).fill(value);
    }

    /// A number of `bytes` bytes, at an address that is a multiple of that.
    pub(super) fn load(&self, at: u64, bytes: u64) -> u64 {
        self.is_aligned(at, bytes);
        let mut word = [0; 8];
        word[..bytes as usize].copy_from_slice(self.read(at, bytes));
        u64::from_le_bytes(word)
    }

    pub(super) fn store(&mut self, at: u64, bytes: u64, value: u64) {
        self.is_aligned(at, bytes);
        self.write(at, &value.to_le_bytes()[..bytes as usize]);
    }

    fn is_aligned(&self, at: u64, bytes: u64) {
        if !at.is_multiple_of(bytes) {
            violation(&format!(
                "{bytes} bytes at {} are one number, which must be aligned",
                name(at)
            ));
        }
    }

    /// The current work is over: whatever else accessed the same bytes is before it, or after it.
    pub(super) fn end(&mut self, work: &Work) {
        for slot in self.touched.take() {
            let Some(allocation) = &mut self.slots[slot] else {
                continue;
            };
            let read = (allocation.read.take(), false);
            for ((first, end), written) in [read, (allocation.written.take(), true)] {
                if end == 0 {
                    continue;
                }
                let range = first..end;
                for past in &allocation.past {
                    let meets = past.range.start < range.end && range.start < past.range.end;
                    let ordered = past.work.is_before(work) || work.is_before(&past.work);
                    if meets && (written || past.written) && !ordered {
                        let (a, b) = (&past.work, work);
                        violation(&format!(
                            "{} (number {} of stream {}) and {} (number {} of stream {}) may be in the same bytes of \
                             allocation {} at once: {:?}, {range:?}",
                            a.what,
                            a.number(),
                            a.stream,
                            b.what,
                            b.number(),
                            b.stream,
                            slot + 1,
                            past.range,
                        ));
                    }
                }
                let work = work.clone();
                allocation.past.push(Access {
                    work,
                    written,
                    range,
                });
            }
        }
    }

    /// All work that is not done yet knows of what this clock does: nothing before it is asked for again.
    pub(super) fn forget(&mut self, clock: &[u64]) {
        for allocation in self.slots.iter_mut().flatten() {
            let known = |a: &Access| {
                clock
                    .get(a.work.stream)
                    .is_some_and(|&n| n >= a.work.number())
            };
            allocation.past.retain(|access| !known(access));
        }
    }
}

fn slot_of(address: u64) -> Option<usize> {
    (address >> WITHIN).checked_sub(1).map(|slot| slot as usize)
}

fn within(address: u64) -> u64 {
    address & ((1 << WITHIN) - 1)
}

/// An address without what differs from run to run.
pub(super) fn name(address: u64) -> String {
    format!("allocation {} + {}", address >> WITHIN, within(address))
}
