//! Arguments that are collected chunk by chunk, and merged in chunk order: pushes, appends and reductions.

use super::lane_args::{LaneArg, shared_parts};
use super::walks::Lane;
use crate::cpu::state::{Frontier, List};
use crate::dsl::blocks::{Place, Room};
use crate::dsl::record::Record;
use crate::dsl::{Append, Node, Push, Reduce, Reduction, Seen};
use crate::plan::beside::ADDS_BYTES;
use crate::plan::footprint::CHUNK;
use crate::vir0::exact::Total;
use rayon::prelude::*;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

// Plans count what a chunk has for a frontier or list: itself, what it sees, and what it leaves, some of it in blocks.
const _: () = {
    let chunk = size_of::<Push>() + size_of::<PushView<'_>>();
    assert!(chunk + Room::<Node>::LEFT_BYTES <= ADDS_BYTES as usize);
};

/// Chunks that a thread has at least before they are merged.
const CHUNKS_EACH: usize = 8;

/// `&Push`: the next round's items.
#[derive(Debug)]
pub struct PushArg<'s> {
    pub(super) frontier: &'s Frontier,
    pub(super) nodes: u32,
    /// For chunks that threads share.
    pub(super) room: Option<Arc<Room<Node>>>,
}

/// What the threads of a sweep see of a [`PushArg`].
#[derive(Clone, Copy, Debug)]
pub struct PushView<'v> {
    pub(super) nodes: u32,
    pub(super) stamps: Option<&'v Arc<Vec<AtomicU32>>>,
    pub(super) stamp: u32,
    pub(super) room: Option<&'v Arc<Room<Node>>>,
}

impl LaneArg for PushArg<'_> {
    type Item<'l> = &'l Push;
    type View<'v>
        = PushView<'v>
    where
        Self: 'v;
    type Local = Push;
    type Slot = ();

    shared_parts!();

    #[inline]
    fn view(&mut self) -> PushView<'_> {
        PushView {
            nodes: self.nodes,
            stamps: self.frontier.stamps.as_ref(),
            stamp: self.frontier.stamp.get() + self.frontier.taken.get(),
            room: self.room.as_ref(),
        }
    }
    #[inline]
    fn begin(&self) -> Push {
        let f = self.frontier;
        Push::over(f.next.take(), self.nodes.into(), f.capacity, f.seen(true))
    }
    fn ready(&self, chunks: usize) {
        self.frontier.keep_stamps(chunks);
    }
    fn chunks_at_once(&self) -> usize {
        match self.frontier.stamps {
            None => usize::MAX,
            // What other chunks have pushed as well goes when all are done.
            Some(_) => {
                let threads = rayon::current_num_threads();
                (self.nodes as usize / CHUNK).max(CHUNKS_EACH * threads)
            }
        }
    }
    fn waits(&self) -> bool {
        true
    }
    fn share(&mut self, chunks: usize) -> bool {
        let (place, beside) = self.frontier.place(self.nodes as usize);
        share(self.room.get_or_insert_default(), chunks, (place, beside))
    }
    fn gather(&mut self) {
        let room = self.room.get_or_insert_default();
        let (place, fed) = gather(room);
        self.frontier.put(place, fed);
    }
    fn open(view: PushView<'_>, chunk: usize) -> Push {
        let seen = view.stamps.map(|stamps| Seen {
            stamps: Arc::clone(stamps),
            stamp: view.stamp + chunk as u32,
            alone: false,
        });
        let room = view.room.expect("threads share the sweep");
        Push::shared(view.nodes.into(), (Arc::clone(room), chunk), seen)
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(_: &'l PushView<'_>, (local, ()): (&'l mut Push, &'l mut ()), _: Lane) -> &'l Push {
        local
    }
    #[inline]
    fn put(_: &PushView<'_>, (): (), _: Lane) {}
    #[inline]
    fn end(local: &mut Push) {
        local.end();
    }
    fn close(&self, local: Push) {
        let f = self.frontier;
        if local.is_shared() {
            let taken = u32::from(f.stamps.is_some());
            f.taken.set(f.taken.get() + taken);
            return f.refuse(local.into_parts().1);
        }
        f.starved.set(f.starved.get() || local.is_starved());
        let (items, refused) = local.into_vec();
        f.refuse(refused);
        f.next.replace(items);
    }
}

/// Chunks are about to run at once, and to leave their items in a room with memory for `beside` of them; false where
/// there is no memory for the chunks.
fn share<T: Record>(
    room: &mut Arc<Room<T>>,
    chunks: usize,
    (place, beside): (Place, usize),
) -> bool {
    let room = Arc::get_mut(room).expect("no chunk runs");
    room.lead_to(place);
    room.share(chunks, beside)
}

/// All chunks have ended: where their items belong, with all of them, and whether there was memory.
fn gather<T: Record>(room: &mut Arc<Room<T>>) -> (Place, bool) {
    let room = Arc::get_mut(room).expect("a chunk that has ended has let go of its room");
    let place = room.gather(|left, seen, first| {
        let left = left.par_iter_mut().enumerate();
        left.for_each(|(at, blocks)| {
            let blocks = blocks.iter_mut().flatten();
            blocks.for_each(|block| seen.keep_first(first + at, block));
        });
    });
    (place, !room.is_starved())
}

/// `&Push<T>` of a frontier whose items are not nodes.
#[derive(Debug)]
pub struct PushItems<'s, T> {
    pub(super) frontier: &'s Frontier,
    pub(super) room: Arc<Room<T>>,
}

impl<T: Record> LaneArg for PushItems<'_, T> {
    type Item<'l> = &'l Push<T>;
    type View<'v>
        = RoomView<'v, T>
    where
        Self: 'v;
    type Local = Push<T>;
    type Slot = ();

    shared_parts!();

    fn view(&mut self) -> RoomView<'_, T> {
        RoomView(&self.room)
    }
    fn begin(&self) -> Push<T> {
        self.room.make(self.frontier.room());
        Push::alone(Arc::clone(&self.room))
    }
    fn waits(&self) -> bool {
        true
    }
    fn share(&mut self, chunks: usize) -> bool {
        let place = self.frontier.place(0);
        share(&mut self.room, chunks, place)
    }
    fn gather(&mut self) {
        let (place, fed) = gather(&mut self.room);
        self.frontier.put(place, fed);
    }
    fn open(RoomView(room): RoomView<'_, T>, chunk: usize) -> Push<T> {
        Push::shared(u64::MAX, (Arc::clone(room), chunk), None)
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        _: &'l RoomView<'_, T>,
        (local, ()): (&'l mut Push<T>, &'l mut ()),
        _: Lane,
    ) -> &'l Push<T> {
        local
    }
    #[inline]
    fn put(_: &RoomView<'_, T>, (): (), _: Lane) {}
    #[inline]
    fn end(local: &mut Push<T>) {
        local.end();
    }
    fn close(&self, local: Push<T>) {
        let f = self.frontier;
        f.starved.set(f.starved.get() || local.is_starved());
        let (blocks, refused) = local.into_parts();
        f.refuse(refused);
        if !blocks.is_empty() {
            f.take(blocks);
        }
    }
}

/// `&Append<T>`: a chunk's items. Where the wave looks at slots, its lanes run in order.
#[derive(Debug)]
pub struct AppendArg<'s, T> {
    pub(super) list: &'s List,
    pub(super) reads_slots: bool,
    pub(super) room: Arc<Room<T>>,
}

/// What the threads of a sweep see of an [`AppendArg`] and of [`PushItems`].
#[derive(Debug)]
pub struct RoomView<'v, T>(&'v Arc<Room<T>>);

impl<T> Clone for RoomView<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RoomView<'_, T> {}

impl<T: Record> LaneArg for AppendArg<'_, T> {
    type Item<'l> = &'l Append<T>;
    type View<'v>
        = RoomView<'v, T>
    where
        Self: 'v;
    type Local = Append<T>;
    type Slot = ();

    shared_parts!();

    fn view(&mut self) -> RoomView<'_, T> {
        RoomView(&self.room)
    }
    fn begin(&self) -> Append<T> {
        self.room.make(self.list.room());
        Append::alone(self.list.len() as u32, Arc::clone(&self.room))
    }
    fn waits(&self) -> bool {
        true
    }
    fn share(&mut self, chunks: usize) -> bool {
        let beside = self.list.room();
        share(&mut self.room, chunks, (self.list.place(), beside))
    }
    fn gather(&mut self) {
        let (place, fed) = gather(&mut self.room);
        self.list.put(place, fed);
    }
    fn open(RoomView(room): RoomView<'_, T>, chunk: usize) -> Append<T> {
        Append::shared(Arc::clone(room), chunk)
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        _: &'l RoomView<'_, T>,
        (local, ()): (&'l mut Append<T>, &'l mut ()),
        _: Lane,
    ) -> &'l Append<T> {
        local
    }
    #[inline]
    fn put(_: &RoomView<'_, T>, (): (), _: Lane) {}
    fn end(local: &mut Append<T>) {
        local.end();
    }
    fn close(&self, local: Append<T>) {
        let (blocks, refused) = local.into_parts();
        self.list.refuse(refused);
        if self.room.is_starved() {
            self.list.starved.set(true);
        }
        if !blocks.is_empty() {
            self.list.take(blocks);
        }
    }
    fn in_order(&self) -> bool {
        self.reads_slots
    }
}

/// `&Reduce<O>`: a chunk's partial result.
#[derive(Debug)]
pub struct ReduceArg<'s, O> {
    pub(super) total: &'s RefCell<Total>,
    pub(super) op: PhantomData<O>,
}

impl<O: Reduction> LaneArg for ReduceArg<'_, O> {
    type Item<'l> = &'l Reduce<O>;
    type View<'v>
        = ()
    where
        Self: 'v;
    type Local = Reduce<O>;
    type Slot = ();

    shared_parts!();

    #[inline]
    fn view(&mut self) {}
    #[inline]
    fn begin(&self) -> Reduce<O> {
        Reduce::new()
    }
    #[inline]
    fn open((): (), _: usize) -> Reduce<O> {
        Reduce::new()
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>((): &'l (), (local, ()): (&'l mut Reduce<O>, &'l mut ()), _: Lane) -> &'l Reduce<O> {
        local
    }
    #[inline]
    fn put((): &(), (): (), _: Lane) {}
    #[inline]
    fn close(&self, local: Reduce<O>) {
        local.merge(&mut self.total.borrow_mut());
    }
}
