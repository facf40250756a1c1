//! Arguments that are collected chunk by chunk, and merged in chunk order: pushes, appends and reductions.

use super::lane_args::{LaneArg, shared_parts};
use super::walks::Lane;
use crate::cpu::state::{Frontier, List, room_for};
use crate::dsl::record::Record;
use crate::dsl::{Append, Push, Reduce, Reduction, Room, Seen};
use crate::plan::footprint::CHUNK;
use crate::vir0::exact::Total;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Chunks that a thread has at least before they are merged.
const CHUNKS_EACH: usize = 8;

/// `&Push`: the next round's items.
#[derive(Debug)]
pub struct PushArg<'s> {
    pub(super) frontier: &'s Frontier,
    pub(super) nodes: u32,
}

/// What the threads of a sweep see of a [`PushArg`].
#[derive(Clone, Copy, Debug)]
pub struct PushView<'v> {
    pub(super) nodes: u32,
    pub(super) stamps: Option<&'v Arc<Vec<AtomicU32>>>,
    pub(super) stamp: u32,
    pub(super) room: &'v Arc<Room>,
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
            room: &self.frontier.room,
        }
    }
    #[inline]
    fn begin(&self) -> Push {
        let f = self.frontier;
        let seen = f.stamps.as_ref().map(|stamps| Seen {
            stamps: Arc::clone(stamps),
            stamp: f.stamp.get() + f.taken.get(),
            alone: true,
        });
        Push::over(f.next.take(), self.nodes.into(), f.capacity, seen)
    }
    fn ready(&self, chunks: usize) {
        self.frontier.keep_stamps(chunks);
    }
    fn chunks_at_once(&self) -> usize {
        let f = self.frontier;
        match f.stamps {
            None => {
                f.make_room();
                usize::MAX
            }
            // What other chunks have pushed as well goes when all are done: it does not count as overflow.
            Some(_) => {
                let threads = rayon::current_num_threads();
                f.room.reset(usize::MAX, threads);
                (self.nodes as usize / CHUNK).max(CHUNKS_EACH * threads)
            }
        }
    }
    fn open(view: PushView<'_>, chunk: usize) -> Push {
        let seen = view.stamps.map(|stamps| Seen {
            stamps: Arc::clone(stamps),
            stamp: view.stamp + chunk as u32,
            alone: false,
        });
        Push::into_room(view.nodes.into(), Arc::clone(view.room), seen)
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
    fn settles(&self) -> bool {
        self.frontier.stamps.is_some()
    }
    fn settle(local: &mut Push) {
        local.settle();
    }
    fn close(&self, local: Push) {
        if local.is_shared() {
            return self.close_shared(local);
        }
        let f = self.frontier;
        f.starved.set(f.starved.get() || local.is_starved());
        let (items, refused) = local.into_vec();
        f.refuse(refused);
        f.next.replace(items);
    }
}

impl PushArg<'_> {
    /// Merges a chunk of a parallel sweep.
    #[inline(never)]
    fn close_shared(&self, push: Push) {
        let f = self.frontier;
        f.starved.set(f.starved.get() || push.is_starved());
        if f.stamps.is_some() {
            f.taken.set(f.taken.get() + 1);
        }
        let (blocks, refused) = push.into_parts();
        f.refuse(refused);
        let mut next = f.next.borrow_mut();
        for block in blocks {
            let fits = block.len().min(f.capacity.saturating_sub(next.len()));
            f.refuse((block.len() - fits) as u64);
            if room_for(&mut next, fits, f.capacity) {
                next.extend_from_slice(&block[..fits]);
            } else {
                f.starved.set(true);
            }
        }
    }
}

/// `&Push<T>` of a frontier whose items are not nodes.
#[derive(Debug)]
pub struct PushItems<'s, T> {
    pub(super) frontier: &'s Frontier,
    pub(super) item: PhantomData<T>,
}

impl<T: Record> LaneArg for PushItems<'_, T> {
    type Item<'l> = &'l Push<T>;
    type View<'v>
        = RoomView<'v>
    where
        Self: 'v;
    type Local = Push<T>;
    type Slot = ();

    shared_parts!();

    fn view(&mut self) -> RoomView<'_> {
        let room = &self.frontier.room;
        RoomView { room }
    }
    fn begin(&self) -> Push<T> {
        self.frontier.make_room();
        let room = &self.frontier.room;
        Self::open(RoomView { room }, 0)
    }
    fn chunks_at_once(&self) -> usize {
        self.frontier.make_room();
        usize::MAX
    }
    fn open(view: RoomView<'_>, _: usize) -> Push<T> {
        Push::into_room(u64::MAX, Arc::clone(view.room), None)
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        _: &'l RoomView<'_>,
        (local, ()): (&'l mut Push<T>, &'l mut ()),
        _: Lane,
    ) -> &'l Push<T> {
        local
    }
    #[inline]
    fn put(_: &RoomView<'_>, (): (), _: Lane) {}
    #[inline]
    fn end(local: &mut Push<T>) {
        local.end();
    }
    fn close(&self, local: Push<T>) {
        let f = self.frontier;
        f.starved.set(f.starved.get() || local.is_starved());
        let (blocks, refused) = local.into_parts();
        f.refuse(refused);
        let records = f.records.as_ref();
        let records = records.expect("the glue pushes what the frontier holds");
        let mut next = records.next.borrow_mut();
        for block in blocks {
            let fits = block.len().min(f.capacity.saturating_sub(next.len()));
            f.refuse((block.len() - fits) as u64);
            if next.make_room(fits, f.capacity) {
                next.extend(&block[..fits]);
            } else {
                f.starved.set(true);
            }
        }
    }
}

/// `&Append<T>`: a chunk's items. Where the wave looks at slots, its lanes run in order.
#[derive(Debug)]
pub struct AppendArg<'s, T> {
    pub(super) list: &'s List,
    pub(super) reads_slots: bool,
    pub(super) item: PhantomData<T>,
}

/// What the threads of a sweep see of a [`AppendArg`] and [`PushItems`].
#[derive(Clone, Copy, Debug)]
pub struct RoomView<'v> {
    pub(super) room: &'v Arc<Room>,
}

impl<T: Record> LaneArg for AppendArg<'_, T> {
    type Item<'l> = &'l Append<T>;
    type View<'v>
        = RoomView<'v>
    where
        Self: 'v;
    type Local = Append<T>;
    type Slot = ();

    shared_parts!();

    fn view(&mut self) -> RoomView<'_> {
        let room = &self.list.room;
        RoomView { room }
    }
    fn begin(&self) -> Append<T> {
        Append::into_room(self.list.len() as u32, Arc::clone(&self.list.room))
    }
    fn open(view: RoomView<'_>, _: usize) -> Append<T> {
        Append::into_room(0, Arc::clone(view.room))
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        _: &'l RoomView<'_>,
        (local, ()): (&'l mut Append<T>, &'l mut ()),
        _: Lane,
    ) -> &'l Append<T> {
        local
    }
    #[inline]
    fn put(_: &RoomView<'_>, (): (), _: Lane) {}
    fn end(local: &mut Append<T>) {
        local.end();
    }
    fn close(&self, local: Append<T>) {
        let (blocks, refused) = local.into_parts();
        self.list.refuse(refused);
        if self.list.room.is_starved() {
            self.list.starved.set(true);
        }
        for block in blocks {
            self.list.take(&block);
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
