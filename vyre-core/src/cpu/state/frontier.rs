//! Frontiers and lists in host memory.

use crate::dsl::Seen;
use crate::dsl::blocks::{Items, Place};
use crate::dsl::error::RunError;
use crate::dsl::record::{Record, Rows};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A frontier: what is swept, and what was pushed since the last flip.
#[derive(Debug)]
pub(crate) struct Frontier {
    pub(crate) items: RefCell<Vec<u32>>,
    pub(crate) next: RefCell<Vec<u32>>,
    /// Items that are not nodes.
    pub(crate) records: Option<Records>,
    /// Pushes that did not fit.
    pub(crate) refused: Cell<u64>,
    /// There was no memory for some of them.
    pub(crate) starved: Cell<bool>,
    pub(crate) capacity: usize,
    /// Of a unique frontier: the stamp of each node when it was pushed last ([`crate::dsl::Seen`]).
    pub(crate) stamps: Option<Arc<Vec<AtomicU32>>>,
    /// The round's first stamp.
    pub(crate) stamp: Cell<u32>,
    /// Stamps of the round that are taken.
    pub(crate) taken: Cell<u32>,
    pub(super) owned: bool,
    /// Items that both lists have memory for.
    pub(super) allocated: usize,
}

/// The items of a frontier that are not nodes.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) items: RefCell<Rows>,
    pub(crate) next: RefCell<Rows>,
}

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    /// What sweeps see.
    pub(crate) items: RefCell<Rows>,
    /// What the native sweep that is running appended while it has the items, in blocks: what is moved from here to the
    /// items is not there twice.
    pub(super) pending: RefCell<Vec<Rows>>,
    /// Appends that did not fit.
    pub(crate) refused: Cell<u64>,
    /// There was no memory for some of them.
    pub(crate) starved: Cell<bool>,
    pub(crate) capacity: usize,
    /// Items that it has memory for.
    pub(super) allocated: usize,
    /// Its memory came with the run: whoever gave it knows how much that is.
    pub(super) lent: bool,
}

impl List {
    pub(super) fn new(declared: &crate::vir0::module::Queue) -> List {
        List {
            items: RefCell::new(Rows::new(&declared.fields)),
            pending: RefCell::default(),
            refused: Cell::new(0),
            starved: Cell::new(false),
            capacity: 0,
            allocated: 0,
            lent: false,
        }
    }

    /// Whether it came to need more memory than before.
    pub(super) fn settle(&mut self) -> bool {
        let has = self.items.get_mut().capacity();
        let grew = has > self.allocated;
        self.allocated = has.max(self.allocated);
        grew
    }

    /// `items` did not fit.
    pub(crate) fn refuse(&self, items: u64) {
        self.refused.set(self.refused.get() + items);
    }

    /// How many more items there is room for.
    pub(crate) fn room(&self) -> usize {
        let held = self.len() - self.refused.get();
        (self.capacity as u64).saturating_sub(held) as usize
    }

    /// Takes what a chunk appended where no other ran, as far as there is room.
    pub(crate) fn take<T: Record>(&self, blocks: Vec<Vec<T>>) {
        let mut place = self.place();
        let fed = place.take(blocks);
        self.put(place, fed);
    }

    /// Takes out where the items of chunks belong.
    pub(crate) fn place(&self) -> Place {
        let room = self.room();
        let (items, most) = match self.items.try_borrow_mut() {
            Ok(mut items) => {
                let none = items.like();
                let most = room + items.len();
                (Items::Rows(std::mem::replace(&mut *items, none)), most)
            }
            // The sweep has them.
            Err(_) => {
                let (pending, none) = (self.pending.take(), self.items.borrow().like());
                let most = room + pending.iter().map(Rows::len).sum::<usize>();
                (Items::After(pending, none), most)
            }
        };
        Place {
            items,
            most,
            seen: None,
            refused: 0,
        }
    }

    /// Puts it back; `fed`: there was memory for all that it took.
    pub(crate) fn put(&self, place: Place, fed: bool) {
        self.refuse(place.refused);
        self.starved.set(self.starved.get() || !fed);
        match place.items {
            Items::Rows(rows) => *self.items.borrow_mut() = rows,
            Items::After(pending, _) => *self.pending.borrow_mut() = pending,
            Items::Nodes(_) => unreachable!("it is the list's place"),
        }
    }

    /// Takes what parts appended, as far as there is room. `refused` items found no room in the part.
    pub(super) fn take_rows(&mut self, mut rows: Rows, refused: u64) {
        self.refuse(refused);
        let items = self.items.get_mut();
        let fits = items.len() + rows.len() <= self.capacity;
        if fits && items.make_room(rows.len(), self.capacity) {
            items.append(&mut rows);
        } else {
            self.starved.set(self.starved.get() || fits);
            self.refuse(rows.len() as u64);
        }
    }

    /// What the sweep appended is there for the next one.
    pub(super) fn settle_pending(&mut self) {
        let (items, pending) = (self.items.get_mut(), self.pending.get_mut());
        let more = pending.iter().map(Rows::len).sum();
        if items.make_room(more, self.capacity) {
            for mut rows in pending.drain(..) {
                items.append(&mut rows);
            }
        } else {
            self.starved.set(true);
            self.refuse(more as u64);
        }
        *self.pending.get_mut() = Vec::new();
    }

    pub(super) fn clear(&mut self) {
        self.items.get_mut().clear();
        *self.pending.get_mut() = Vec::new();
        self.refused.set(0);
        self.starved.set(false);
    }

    /// Items appended in this run, whether they fit or not.
    pub(crate) fn len(&self) -> u64 {
        let pending = self.pending.borrow();
        let held = self.items.borrow().len() + pending.iter().map(Rows::len).sum::<usize>();
        held as u64 + self.refused.get()
    }
}

impl Frontier {
    pub(super) fn new(
        declared: &crate::vir0::module::Queue,
        nodes: u64,
    ) -> Result<Frontier, RunError> {
        Ok(Frontier {
            items: RefCell::default(),
            next: RefCell::default(),
            records: (!declared.fields.is_empty()).then(|| Records {
                items: RefCell::new(Rows::new(&declared.fields)),
                next: RefCell::new(Rows::new(&declared.fields)),
            }),
            refused: Cell::new(0),
            starved: Cell::new(false),
            capacity: 0,
            stamps: match declared.unique {
                true => Some(Arc::new(stamps(&declared.name, nodes)?)),
                false => None,
            },
            stamp: Cell::new(LAST_STAMP),
            taken: Cell::new(0),
            owned: declared.owner.is_some(),
            allocated: 0,
        })
    }

    /// How many more items there is room for.
    pub(crate) fn room(&self) -> usize {
        let held = self.len() - self.refused.get();
        (self.capacity as u64).saturating_sub(held) as usize
    }

    /// Takes out where the items belong that chunks push at once: nodes, or others. For a unique frontier, it has memory
    /// for all nodes then. Also how many items the chunks may hold beside it.
    pub(crate) fn place(&self, nodes: usize) -> (Place, usize) {
        let room = self.room();
        let Some(records) = &self.records else {
            let mut next = self.next.take();
            let most = room + next.len();
            let seen = self.seen(false);
            let beside = match &seen {
                None => room,
                Some(_) => {
                    let distinct = most.min(nodes);
                    // Without memory it grows when it has to.
                    let _reserved = next.try_reserve_exact(distinct.saturating_sub(next.len()));
                    distinct
                }
            };
            let place = Place {
                items: Items::Nodes(next),
                most,
                seen,
                refused: 0,
            };
            return (place, beside);
        };
        let mut next = records.next.borrow_mut();
        let (none, most) = (next.like(), room + next.len());
        let place = Place {
            items: Items::Rows(std::mem::replace(&mut *next, none)),
            most,
            seen: None,
            refused: 0,
        };
        (place, room)
    }

    /// Puts it back; `fed`: there was memory for all that it took.
    pub(crate) fn put(&self, place: Place, fed: bool) {
        self.refuse(place.refused);
        self.starved.set(self.starved.get() || !fed);
        match (place.items, &self.records) {
            (Items::Nodes(nodes), _) => *self.next.borrow_mut() = nodes,
            (Items::Rows(rows), Some(records)) => *records.next.borrow_mut() = rows,
            (Items::Rows(_) | Items::After(..), _) => unreachable!("it is the frontier's place"),
        }
    }

    /// Takes what a chunk pushed where no other ran, as far as there is room.
    pub(crate) fn take<T: Record>(&self, blocks: Vec<Vec<T>>) {
        let (mut place, _) = self.place(0);
        let fed = place.take(blocks);
        self.put(place, fed);
    }

    /// What the next chunk of a unique frontier knows of those before it; `alone`: no other runs.
    #[inline]
    pub(crate) fn seen(&self, alone: bool) -> Option<Seen> {
        Some(Seen {
            stamps: Arc::clone(self.stamps.as_ref()?),
            stamp: self.stamp.get() + self.taken.get(),
            alone,
        })
    }

    /// `items` did not fit.
    pub(crate) fn refuse(&self, items: u64) {
        self.refused.set(self.refused.get() + items);
    }

    /// Gives both lists the memory that the larger one came to need, so that the next such run allocates nothing;
    /// whether that is more than before.
    pub(super) fn settle(&mut self) -> bool {
        let (items, next) = (self.items.get_mut(), self.next.get_mut());
        if let Some(records) = &mut self.records {
            let (items, next) = (records.items.get_mut(), records.next.get_mut());
            let has = items.capacity() + next.capacity();
            let grew = has > self.allocated;
            self.allocated = has.max(self.allocated);
            return grew;
        }
        let needed = items.capacity().max(next.capacity());
        let grew = needed > self.allocated;
        if grew {
            for list in [items, next] {
                // Without memory it grows when it has to.
                let _reserved = list.try_reserve_exact(needed - list.len());
            }
            self.allocated = needed;
        }
        grew
    }

    /// Items pushed since the last flip.
    pub(crate) fn len(&self) -> u64 {
        let (items, next) = match &self.records {
            Some(records) => (records.items.borrow().len(), records.next.borrow().len()),
            None => (self.items.borrow().len(), self.next.borrow().len()),
        };
        let waiting = next as u64 + self.refused.get();
        if self.owned {
            waiting
        } else {
            waiting + items as u64
        }
    }

    /// Takes out what waits: nodes.
    pub(super) fn take_waiting(&mut self) -> Vec<u32> {
        self.refused.set(0);
        std::mem::take(self.next.get_mut())
    }

    /// These nodes wait, and nothing else does.
    pub(super) fn put_waiting(&mut self, nodes: Vec<u32>) {
        self.flip();
        self.items.get_mut().clear();
        if let Some(stamps) = &self.stamps {
            let stamp = self.stamp.get();
            nodes
                .iter()
                .for_each(|&v| stamps[v as usize].store(stamp, Relaxed));
            self.taken.set(1);
        }
        *self.next.get_mut() = nodes;
    }

    pub(super) fn flip(&mut self) {
        let (items, next) = (self.items.get_mut(), self.next.get_mut());
        std::mem::swap(items, next);
        next.clear();
        if let Some(records) = &mut self.records {
            std::mem::swap(records.items.get_mut(), records.next.get_mut());
            records.next.get_mut().clear();
        }
        self.refused.set(0);
        self.starved.set(false);
        self.restamp();
    }

    /// What is stamped counts as older than all that comes.
    fn restamp(&self) {
        if let Some(stamps) = &self.stamps {
            let next = self.stamp.get().checked_sub(STAMPS).unwrap_or_else(|| {
                stamps.iter().for_each(|s| s.store(u32::MAX, Relaxed));
                LAST_STAMP
            });
            self.stamp.set(next);
            self.taken.set(0);
        }
    }

    /// There are stamps for `chunks` more of this round.
    pub(crate) fn keep_stamps(&self, chunks: usize) {
        if self.taken.get() as usize + chunks > STAMPS as usize {
            self.restamp();
            if let Some(stamps) = &self.stamps {
                let stamp = self.stamp.get();
                let (items, next) = (self.items.borrow(), self.next.borrow());
                // Without an owner, items are never made anew.
                let items = if self.owned { &[] } else { &items[..] };
                for &v in items.iter().chain(&*next) {
                    stamps[v as usize].store(stamp, Relaxed);
                }
                self.taken.set(1);
            }
        }
    }

    /// Gives its memory up; it is empty.
    pub(super) fn release(&mut self) {
        self.clear();
        self.allocated = 0;
        *self.items.get_mut() = Vec::new();
        *self.next.get_mut() = Vec::new();
        if let Some(records) = &mut self.records {
            records.items.get_mut().release();
            records.next.get_mut().release();
        }
    }

    pub(super) fn clear(&mut self) {
        self.next.get_mut().clear();
        if let Some(records) = &mut self.records {
            records.next.get_mut().clear();
        }
        self.flip();
    }
}

/// Stamps of a round: more than a sweep has chunks.
const STAMPS: u32 = 1 << 21;
/// First stamp of the first round; no chunk has the stamp `u32::MAX`.
const LAST_STAMP: u32 = (u32::MAX / STAMPS - 1) * STAMPS;

pub(super) fn stamps(frontier: &str, nodes: u64) -> Result<Vec<AtomicU32>, RunError> {
    let (mut stamps, len) = (Vec::new(), nodes as usize);
    let reserved = stamps.try_reserve_exact(len);
    let missing = |_| RunError::no_memory(format_args!("frontier `{frontier}`"), 4 * nodes);
    reserved.map_err(missing)?;
    stamps.resize_with(len, || AtomicU32::new(u32::MAX));
    Ok(stamps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vir0::module::{Extent, FixpointId};

    #[test]
    fn a_round_never_runs_out_of_stamps() {
        let declared = crate::vir0::module::Queue {
            name: "front".to_owned(),
            fields: Vec::new(),
            capacity: Extent::Nodes,
            unique: true,
            stays: false,
            owner: Some(FixpointId(0)),
            output: false,
            reset: None,
        };
        let mut front = Frontier::new(&declared, 3).expect("there is memory");
        front.flip();
        let (first, stamps) = (
            front.stamp.get(),
            front.stamps.clone().expect("it is unique"),
        );
        let stamp = |v: usize| stamps[v].load(Relaxed);
        front.next.get_mut().push(1);
        stamps[1].store(first + 7, Relaxed);
        stamps[2].store(first + STAMPS, Relaxed);
        front.taken.set(STAMPS - 5);
        front.keep_stamps(5);
        assert_eq!((front.stamp.get(), stamp(1)), (first, first + 7));
        // What the round holds has the lowest stamp of all that is to come; what it does not hold, a higher one.
        front.keep_stamps(6);
        assert_eq!((front.stamp.get(), front.taken.get()), (first - STAMPS, 1));
        assert_eq!((stamp(0), stamp(1)), (u32::MAX, first - STAMPS));
        assert!(stamp(2) > first - STAMPS + STAMPS - 1);
        // After the last round's stamps come the first ones, and no node has any.
        while front.stamp.get() > 0 {
            front.flip();
        }
        stamps[0].store(3, Relaxed);
        front.flip();
        assert_eq!(
            (front.stamp.get(), stamp(0), stamp(1)),
            (LAST_STAMP, u32::MAX, u32::MAX)
        );
    }
}
