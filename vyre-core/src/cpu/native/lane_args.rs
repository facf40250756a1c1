//! Arguments of a wave's function, lane by lane or chunk by chunk.

use super::walks::Lane;
use crate::dsl::columns::{self, Element, Slice};
use crate::dsl::record::{Record, Shape};
use crate::dsl::views::{Arrays, Atomic, AtomicElement, Buf, LentRows};
use crate::dsl::{Bits, Records, Row};
use std::cell::{Ref, RefMut};
use std::marker::PhantomData;
use std::ops::Deref;

pub(super) const INSIDE: &str = "a lane's own item is there";

/// An argument that differs from lane to lane, or is collected chunk by chunk. A tuple of them is one too.
pub trait LaneArg {
    /// What the kernel gets.
    type Item<'l>;
    /// What the threads of a sweep see of it.
    type View<'v>: Copy + Send + Sync
    where
        Self: 'v;
    /// What a chunk of consecutive lanes has, or several such chunks.
    type Part<'v>: Send
    where
        Self: 'v;
    /// State of one chunk.
    type Local: Send;
    /// What a lane has of its own while it runs: a copy of its element. Nothing else refers to it, so it stays in
    /// registers.
    type Slot;

    /// What chunks share.
    fn view(&mut self) -> Self::View<'_>;
    /// State for the next chunk of a sweep on one thread, where chunks run in order.
    fn begin(&self) -> Self::Local;
    /// A sweep of `_chunks` begins.
    fn ready(&self, _chunks: usize) {}
    /// How many chunks threads may share before they are merged.
    fn chunks_at_once(&self) -> usize {
        usize::MAX
    }
    /// Threads are about to share the next `_chunks`; false where there is no memory for that.
    fn share(&mut self, _chunks: usize) -> bool {
        true
    }
    /// A chunk may have to wait for those before it, so they begin in order.
    fn waits(&self) -> bool {
        false
    }
    /// State for a chunk of a parallel sweep, the so-many-th.
    fn open(view: Self::View<'_>, chunk: usize) -> Self::Local;
    /// What a lane begins with.
    fn slot() -> Self::Slot;
    /// The lane's item.
    fn get<'l>(
        view: &'l Self::View<'_>,
        own: (&'l mut Self::Local, &'l mut Self::Slot),
        lane: Lane,
    ) -> Self::Item<'l>;
    /// The lane is done with its item.
    fn put(view: &Self::View<'_>, slot: Self::Slot, lane: Lane);
    /// The part of all lanes, from lane 0 on.
    fn whole(&mut self) -> Self::Part<'_>;
    /// The part of its first `lanes` lanes, and the rest.
    fn cut<'v>(part: Self::Part<'v>, lanes: usize) -> (Self::Part<'v>, Self::Part<'v>)
    where
        Self: 'v;
    /// The part of its first `lanes` lanes, borrowed.
    fn first<'p, 'v: 'p>(part: &'p mut Self::Part<'v>, lanes: usize) -> Self::Part<'p>
    where
        Self: 'v;
    /// State for a chunk of a parallel sweep, the so-many-th.
    fn open_part<'v>(part: &Self::Part<'v>, chunk: usize) -> Self::Local
    where
        Self: 'v;
    /// The item of a lane, which is the `at`-th of the part.
    fn get_at<'l, 'v>(
        part: &'l mut Self::Part<'v>,
        own: (&'l mut Self::Local, &'l mut Self::Slot),
        at: (Lane, usize),
    ) -> Self::Item<'l>
    where
        Self: 'v;
    /// The lane is done with its item.
    fn put_at<'v>(part: &mut Self::Part<'v>, slot: Self::Slot, at: (Lane, usize))
    where
        Self: 'v;
    /// A chunk's lanes are done: it gives back what it does not need.
    fn end(_: &mut Self::Local) {}
    /// The chunks that threads shared have ended: what they collected goes to its place.
    fn gather(&mut self) {}
    /// Merges a chunk; called in chunk order.
    fn close(&self, local: Self::Local);
    /// Lanes see what lanes before them did, so they run one after another.
    fn in_order(&self) -> bool {
        false
    }
}

/// An argument that is the same for all chunks: the part of each is the whole view.
macro_rules! shared_parts {
    () => {
        type Part<'v>
            = Self::View<'v>
        where
            Self: 'v;

        #[inline]
        fn whole(&mut self) -> Self::View<'_> {
            self.view()
        }
        #[inline]
        fn cut<'v>(view: Self::View<'v>, _: usize) -> (Self::View<'v>, Self::View<'v>)
        where
            Self: 'v,
        {
            (view, view)
        }
        #[inline]
        fn first<'p, 'v: 'p>(view: &'p mut Self::View<'v>, _: usize) -> Self::View<'p>
        where
            Self: 'v,
        {
            *view
        }
        #[inline]
        fn open_part<'v>(view: &Self::View<'v>, chunk: usize) -> Self::Local
        where
            Self: 'v,
        {
            Self::open(*view, chunk)
        }
        #[inline]
        fn get_at<'l, 'v>(
            view: &'l mut Self::View<'v>,
            own: (&'l mut Self::Local, &'l mut Self::Slot),
            (lane, _): (Lane, usize),
        ) -> Self::Item<'l>
        where
            Self: 'v,
        {
            Self::get(view, own, lane)
        }
        #[inline]
        fn put_at<'v>(view: &mut Self::View<'v>, slot: Self::Slot, (lane, _): (Lane, usize))
        where
            Self: 'v,
        {
            Self::put(view, slot, lane);
        }
    };
}
pub(super) use shared_parts;

macro_rules! tuples {
    ($($($c:ident $i:tt)*;)*) => {$(
        #[allow(non_snake_case, unused_variables, clippy::unused_unit, reason = "the empty tuple is one of them")]
        impl<$($c: LaneArg),*> LaneArg for ($($c,)*) {
            type Item<'l> = ($($c::Item<'l>,)*);
            type View<'v> = ($($c::View<'v>,)*) where Self: 'v;
            type Part<'v> = ($($c::Part<'v>,)*) where Self: 'v;
            type Local = ($($c::Local,)*);
            type Slot = ($($c::Slot,)*);
            #[inline]
            fn slot() -> Self::Slot { ($($c::slot(),)*) }
            #[inline]
            fn whole(&mut self) -> Self::Part<'_> { ($(self.$i.whole(),)*) }
            #[inline]
            fn cut<'v>(part: Self::Part<'v>, lanes: usize) -> (Self::Part<'v>, Self::Part<'v>) where Self: 'v {
                $(let $c = $c::cut(part.$i, lanes);)*
                (($($c.0,)*), ($($c.1,)*))
            }
            #[inline]
            fn first<'p, 'v: 'p>(part: &'p mut Self::Part<'v>, lanes: usize) -> Self::Part<'p> where Self: 'v {
                ($($c::first(&mut part.$i, lanes),)*)
            }
            #[inline]
            fn open_part<'v>(part: &Self::Part<'v>, chunk: usize) -> Self::Local where Self: 'v { ($($c::open_part(&part.$i, chunk),)*) }
            #[inline]
            fn ready(&self, chunks: usize) { $(self.$i.ready(chunks);)* }
            fn chunks_at_once(&self) -> usize { usize::MAX $(.min(self.$i.chunks_at_once()))* }
            #[inline]
            fn end(local: &mut Self::Local) { $($c::end(&mut local.$i);)* }
            fn waits(&self) -> bool { false $(|| self.$i.waits())* }
            fn share(&mut self, chunks: usize) -> bool { true $(& self.$i.share(chunks))* }
            fn gather(&mut self) { $(self.$i.gather();)* }
            #[inline]
            fn get_at<'l, 'v>(
                part: &'l mut Self::Part<'v>,
                (local, slot): (&'l mut Self::Local, &'l mut Self::Slot),
                at: (Lane, usize),
            ) -> Self::Item<'l> where Self: 'v {
                ($($c::get_at(&mut part.$i, (&mut local.$i, &mut slot.$i), at),)*)
            }
            #[inline]
            fn put_at<'v>(part: &mut Self::Part<'v>, slot: Self::Slot, at: (Lane, usize)) where Self: 'v {
                $($c::put_at(&mut part.$i, slot.$i, at);)*
            }
            #[inline]
            fn view(&mut self) -> Self::View<'_> { ($(self.$i.view(),)*) }
            #[inline]
            fn begin(&self) -> Self::Local { ($(self.$i.begin(),)*) }
            #[inline]
            fn open(view: Self::View<'_>, chunk: usize) -> Self::Local { ($($c::open(view.$i, chunk),)*) }
            #[inline]
            fn get<'l>(
                view: &'l Self::View<'_>,
                (local, slot): (&'l mut Self::Local, &'l mut Self::Slot),
                lane: Lane,
            ) -> Self::Item<'l> {
                ($($c::get(&view.$i, (&mut local.$i, &mut slot.$i), lane),)*)
            }
            #[inline]
            fn put(view: &Self::View<'_>, slot: Self::Slot, lane: Lane) {
                $($c::put(&view.$i, slot.$i, lane);)*
            }
            #[inline]
            fn close(&self, local: Self::Local) { $(self.$i.close(local.$i);)* }
            fn in_order(&self) -> bool { false $(|| self.$i.in_order())* }
        }
    )*};
}
tuples! {
    ;
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}

/// A buffer, read: a session's, or the caller's.
#[derive(Debug)]
pub(super) enum Values<'s, T> {
    Kept(Ref<'s, [T]>),
    Lent(&'s [T]),
}

impl<T> Deref for Values<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Values::Kept(values) => values,
            Values::Lent(values) => values,
        }
    }
}

/// A buffer, written: a session's, or the caller's.
#[derive(Debug)]
pub(super) enum ValuesMut<'s, T> {
    Kept(RefMut<'s, [T]>),
    Lent(&'s mut [T]),
}

impl<T> ValuesMut<'_, T> {
    #[inline]
    fn get(&mut self) -> &mut [T] {
        match self {
            ValuesMut::Kept(values) => values,
            ValuesMut::Lent(values) => values,
        }
    }
}

/// `&T`: the lane's own element, read.
#[derive(Debug)]
pub struct Own<'s, T> {
    pub(super) values: Values<'s, T>,
}

impl<T: Element> LaneArg for Own<'_, T> {
    type Item<'l> = &'l T;
    type View<'v>
        = &'v [T]
    where
        Self: 'v;
    type Part<'v>
        = &'v [T]
    where
        Self: 'v;
    type Local = ();
    type Slot = ();

    #[inline]
    fn view(&mut self) -> &[T] {
        &self.values
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: &[T], _: usize) {}
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(view: &'l &[T], _: (&'l mut (), &'l mut ()), lane: Lane) -> &'l T {
        &view[lane.index as usize]
    }
    #[inline]
    fn put(_: &&[T], (): (), _: Lane) {}
    #[inline]
    fn whole(&mut self) -> &[T] {
        &self.values
    }
    #[inline]
    fn cut<'v>(part: &'v [T], lanes: usize) -> (&'v [T], &'v [T])
    where
        Self: 'v,
    {
        part.split_at(lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut &'v [T], lanes: usize) -> &'p [T]
    where
        Self: 'v,
    {
        &part[..lanes]
    }
    #[inline]
    fn open_part<'v>(_: &&'v [T], _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut &'v [T],
        _: (&'l mut (), &'l mut ()),
        (_, at): (Lane, usize),
    ) -> &'l T
    where
        Self: 'v,
    {
        &part[at]
    }
    #[inline]
    fn put_at<'v>(_: &mut &'v [T], (): (), _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// `&mut T`: the lane's own element, in place where a chunk's lanes are consecutive, otherwise read and written back
/// when the lane is done.
#[derive(Debug)]
pub struct OwnMut<'s, T: AtomicElement> {
    pub(super) values: ValuesMut<'s, T>,
}

impl<T: AtomicElement> LaneArg for OwnMut<'_, T> {
    type Item<'l> = &'l mut T;
    type View<'v>
        = &'v Buf<Atomic<T>>
    where
        Self: 'v;
    type Part<'v>
        = &'v mut [T]
    where
        Self: 'v;
    type Local = ();
    type Slot = T;

    #[inline]
    fn view(&mut self) -> &Buf<Atomic<T>> {
        Buf::atomic(self.values.get())
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: &Buf<Atomic<T>>, _: usize) {}
    #[inline]
    fn slot() -> T {
        T::from_bits64(0)
    }
    #[inline]
    fn get<'l>(
        view: &'l &Buf<Atomic<T>>,
        (_, slot): (&'l mut (), &'l mut T),
        lane: Lane,
    ) -> &'l mut T {
        *slot = view[lane.index].get();
        slot
    }
    #[inline]
    fn put(view: &&Buf<Atomic<T>>, slot: T, lane: Lane) {
        view[lane.index].put(slot);
    }
    #[inline]
    fn whole(&mut self) -> &mut [T] {
        self.values.get()
    }
    #[inline]
    fn cut<'v>(part: &'v mut [T], lanes: usize) -> (&'v mut [T], &'v mut [T])
    where
        Self: 'v,
    {
        part.split_at_mut(lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut &'v mut [T], lanes: usize) -> &'p mut [T]
    where
        Self: 'v,
    {
        &mut part[..lanes]
    }
    #[inline]
    fn open_part<'v>(_: &&'v mut [T], _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut &'v mut [T],
        _: (&'l mut (), &'l mut T),
        (_, at): (Lane, usize),
    ) -> &'l mut T
    where
        Self: 'v,
    {
        &mut part[at]
    }
    #[inline]
    fn put_at<'v>(_: &mut &'v mut [T], _: T, _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// `&[T; K]`: the lane's own row, read.
#[derive(Debug)]
pub struct OwnRow<'s, T, const K: usize> {
    pub(super) values: Values<'s, T>,
}

impl<T: Element, const K: usize> LaneArg for OwnRow<'_, T, K> {
    type Item<'l> = &'l [T; K];
    type View<'v>
        = &'v [[T; K]]
    where
        Self: 'v;
    type Part<'v>
        = &'v [[T; K]]
    where
        Self: 'v;
    type Local = ();
    type Slot = ();

    #[inline]
    fn view(&mut self) -> &[[T; K]] {
        self.values.as_chunks().0
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: &[[T; K]], _: usize) {}
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(view: &'l &[[T; K]], _: (&'l mut (), &'l mut ()), lane: Lane) -> &'l [T; K] {
        &view[lane.index as usize]
    }
    #[inline]
    fn put(_: &&[[T; K]], (): (), _: Lane) {}
    #[inline]
    fn whole(&mut self) -> &[[T; K]] {
        self.values.as_chunks().0
    }
    #[inline]
    fn cut<'v>(part: &'v [[T; K]], lanes: usize) -> (&'v [[T; K]], &'v [[T; K]])
    where
        Self: 'v,
    {
        part.split_at(lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut &'v [[T; K]], lanes: usize) -> &'p [[T; K]]
    where
        Self: 'v,
    {
        &part[..lanes]
    }
    #[inline]
    fn open_part<'v>(_: &&'v [[T; K]], _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut &'v [[T; K]],
        _: (&'l mut (), &'l mut ()),
        (_, at): (Lane, usize),
    ) -> &'l [T; K]
    where
        Self: 'v,
    {
        &part[at]
    }
    #[inline]
    fn put_at<'v>(_: &mut &'v [[T; K]], (): (), _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// `&mut [T; K]`: the lane's own row, in place where a chunk's lanes are consecutive, otherwise read and written back
/// when the lane is done.
#[derive(Debug)]
pub struct OwnRowMut<'s, T: AtomicElement, const K: usize> {
    pub(super) values: ValuesMut<'s, T>,
}

/// The elements of a lane's row.
#[inline]
fn row_of<T: AtomicElement, const K: usize>(
    view: &Buf<Atomic<T>>,
    lane: Lane,
) -> impl Iterator<Item = &Atomic<T>> {
    let first = lane.index as usize * K;
    (first..first + K).map(|at| &view[at as u32])
}

impl<T: AtomicElement, const K: usize> LaneArg for OwnRowMut<'_, T, K> {
    type Item<'l> = &'l mut [T; K];
    type View<'v>
        = &'v Buf<Atomic<T>>
    where
        Self: 'v;
    type Part<'v>
        = &'v mut [[T; K]]
    where
        Self: 'v;
    type Local = ();
    type Slot = [T; K];

    #[inline]
    fn view(&mut self) -> &Buf<Atomic<T>> {
        Buf::atomic(self.values.get())
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: &Buf<Atomic<T>>, _: usize) {}
    #[inline]
    fn slot() -> [T; K] {
        [T::from_bits64(0); K]
    }
    #[inline]
    fn get<'l>(
        view: &'l &Buf<Atomic<T>>,
        (_, slot): (&'l mut (), &'l mut [T; K]),
        lane: Lane,
    ) -> &'l mut [T; K] {
        for (own, shared) in slot.iter_mut().zip(row_of::<T, K>(view, lane)) {
            *own = shared.get();
        }
        slot
    }
    #[inline]
    fn put(view: &&Buf<Atomic<T>>, slot: [T; K], lane: Lane) {
        for (own, shared) in slot.into_iter().zip(row_of::<T, K>(view, lane)) {
            shared.put(own);
        }
    }
    #[inline]
    fn whole(&mut self) -> &mut [[T; K]] {
        self.values.get().as_chunks_mut().0
    }
    #[inline]
    fn cut<'v>(part: &'v mut [[T; K]], lanes: usize) -> (&'v mut [[T; K]], &'v mut [[T; K]])
    where
        Self: 'v,
    {
        part.split_at_mut(lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut &'v mut [[T; K]], lanes: usize) -> &'p mut [[T; K]]
    where
        Self: 'v,
    {
        &mut part[..lanes]
    }
    #[inline]
    fn open_part<'v>(_: &&'v mut [[T; K]], _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut &'v mut [[T; K]],
        _: (&'l mut (), &'l mut [T; K]),
        (_, at): (Lane, usize),
    ) -> &'l mut [T; K]
    where
        Self: 'v,
    {
        &mut part[at]
    }
    #[inline]
    fn put_at<'v>(_: &mut &'v mut [[T; K]], _: [T; K], _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// `&Row<T>`: the lane's own row of values, read.
#[derive(Debug)]
pub struct OwnValues<'s, T> {
    pub(super) offsets: Values<'s, u32>,
    pub(super) values: Values<'s, T>,
}

/// Rows that follow each other, with all values: the first row begins at the first offset.
type RowsOf<'v, T> = (&'v [u32], &'v [T]);

/// The values of a row, by its place among the offsets.
#[inline]
fn between(offsets: &[u32], at: usize) -> std::ops::Range<usize> {
    offsets[at] as usize..offsets[at + 1] as usize
}

impl<T: Element> LaneArg for OwnValues<'_, T> {
    type Item<'l> = &'l Row<T>;
    type View<'v>
        = RowsOf<'v, T>
    where
        Self: 'v;
    type Part<'v>
        = RowsOf<'v, T>
    where
        Self: 'v;
    type Local = ();
    type Slot = ();

    #[inline]
    fn view(&mut self) -> RowsOf<'_, T> {
        (&self.offsets, &self.values)
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: RowsOf<'_, T>, _: usize) {}
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        (offsets, values): &'l RowsOf<'_, T>,
        _: (&'l mut (), &'l mut ()),
        lane: Lane,
    ) -> &'l Row<T> {
        Row::new(&values[between(offsets, lane.index as usize)])
    }
    #[inline]
    fn put(_: &RowsOf<'_, T>, (): (), _: Lane) {}
    #[inline]
    fn whole(&mut self) -> RowsOf<'_, T> {
        self.view()
    }
    #[inline]
    fn cut<'v>((offsets, values): RowsOf<'v, T>, lanes: usize) -> (RowsOf<'v, T>, RowsOf<'v, T>)
    where
        Self: 'v,
    {
        ((&offsets[..=lanes], values), (&offsets[lanes..], values))
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut RowsOf<'v, T>, _: usize) -> RowsOf<'p, T>
    where
        Self: 'v,
    {
        *part
    }
    #[inline]
    fn open_part<'v>(_: &RowsOf<'v, T>, _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        (offsets, values): &'l mut RowsOf<'v, T>,
        _: (&'l mut (), &'l mut ()),
        (_, at): (Lane, usize),
    ) -> &'l Row<T>
    where
        Self: 'v,
    {
        Row::new(&values[between(offsets, at)])
    }
    #[inline]
    fn put_at<'v>(_: &mut RowsOf<'v, T>, (): (), _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// `&mut Row<T>`: the lane's own row of values, in place where a chunk's lanes are consecutive, otherwise read and
/// written back when the lane is done.
#[derive(Debug)]
pub struct OwnValuesMut<'s, T: AtomicElement> {
    pub(super) offsets: Values<'s, u32>,
    pub(super) values: ValuesMut<'s, T>,
}

impl<T: AtomicElement> LaneArg for OwnValuesMut<'_, T> {
    type Item<'l> = &'l mut Row<T>;
    type View<'v>
        = (&'v [u32], &'v Buf<Atomic<T>>)
    where
        Self: 'v;
    /// The values are those from the first offset on.
    type Part<'v>
        = (&'v [u32], &'v mut [T])
    where
        Self: 'v;
    type Local = ();
    type Slot = Vec<T>;

    #[inline]
    fn view(&mut self) -> (&[u32], &Buf<Atomic<T>>) {
        (&self.offsets, Buf::atomic(self.values.get()))
    }
    #[inline]
    fn begin(&self) {}
    #[inline]
    fn open(_: (&[u32], &Buf<Atomic<T>>), _: usize) {}
    #[inline]
    fn slot() -> Vec<T> {
        Vec::new()
    }
    #[inline]
    fn get<'l>(
        (offsets, values): &'l (&[u32], &Buf<Atomic<T>>),
        (_, slot): (&'l mut (), &'l mut Vec<T>),
        lane: Lane,
    ) -> &'l mut Row<T> {
        let row = between(offsets, lane.index as usize);
        slot.extend(row.map(|at| values[at as u32].get()));
        Row::new_mut(slot)
    }
    #[inline]
    fn put((offsets, values): &(&[u32], &Buf<Atomic<T>>), slot: Vec<T>, lane: Lane) {
        let row = between(offsets, lane.index as usize);
        for (at, value) in row.zip(slot) {
            values[at as u32].put(value);
        }
    }
    #[inline]
    fn whole(&mut self) -> (&[u32], &mut [T]) {
        (&self.offsets, self.values.get())
    }
    #[inline]
    fn cut<'v>(
        (offsets, values): (&'v [u32], &'v mut [T]),
        lanes: usize,
    ) -> ((&'v [u32], &'v mut [T]), (&'v [u32], &'v mut [T]))
    where
        Self: 'v,
    {
        let (first, rest) = values.split_at_mut((offsets[lanes] - offsets[0]) as usize);
        ((&offsets[..=lanes], first), (&offsets[lanes..], rest))
    }
    #[inline]
    fn first<'p, 'v: 'p>(
        (offsets, values): &'p mut (&'v [u32], &'v mut [T]),
        lanes: usize,
    ) -> (&'p [u32], &'p mut [T])
    where
        Self: 'v,
    {
        let len = (offsets[lanes] - offsets[0]) as usize;
        (&offsets[..=lanes], &mut values[..len])
    }
    #[inline]
    fn open_part<'v>(_: &(&'v [u32], &'v mut [T]), _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        (offsets, values): &'l mut (&'v [u32], &'v mut [T]),
        _: (&'l mut (), &'l mut Vec<T>),
        (_, at): (Lane, usize),
    ) -> &'l mut Row<T>
    where
        Self: 'v,
    {
        let (first, row) = (offsets[0] as usize, between(offsets, at));
        Row::new_mut(&mut values[row.start - first..row.end - first])
    }
    #[inline]
    fn put_at<'v>(_: &mut (&'v [u32], &'v mut [T]), _: Vec<T>, _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    #[inline]
    fn close(&self, (): ()) {}
}

/// The columns of a struct-of-arrays buffer, borrowed for reading.
#[derive(Debug)]
pub struct Fields<'s, T> {
    pub(super) columns: Vec<Field<'s>>,
    pub(super) item: PhantomData<fn() -> T>,
}

/// One of them: a session's, or the caller's.
#[derive(Debug)]
pub(super) enum Field<'s> {
    Kept(Ref<'s, columns::Column>),
    Lent(Slice<'s>),
}

impl Field<'_> {
    fn as_slice(&self) -> Slice<'_> {
        match self {
            Field::Kept(column) => column.as_slice(),
            Field::Lent(slice) => *slice,
        }
    }
}

impl<T: Record> Fields<'_, T> {
    /// The whole buffer.
    pub fn view(&self) -> Records<'_, T> {
        let fields: Vec<Slice<'_>> = self.columns.iter().map(Field::as_slice).collect();
        Records::new(&fields)
    }
}

/// `&T` of a struct: the lane's own element, read.
impl<T: Record> LaneArg for Fields<'_, T> {
    type Item<'l> = &'l T;
    type View<'v>
        = Records<'v, T>
    where
        Self: 'v;
    type Part<'v>
        = Arrays<'v, T::Shape>
    where
        Self: 'v;
    type Local = ();
    type Slot = T;

    fn view(&mut self) -> Records<'_, T> {
        Fields::view(self)
    }
    fn begin(&self) {}
    fn open(_: Records<'_, T>, _: usize) {}
    #[inline]
    fn slot() -> T {
        T::from_shape(T::Shape::ZERO)
    }
    #[inline]
    fn get<'l>(view: &'l Records<'_, T>, (_, slot): (&'l mut (), &'l mut T), lane: Lane) -> &'l T {
        *slot = view.get(lane.index);
        slot
    }
    #[inline]
    fn put(_: &Records<'_, T>, _: T, _: Lane) {}
    fn whole(&mut self) -> Self::Part<'_> {
        Fields::view(self).fields
    }
    #[inline]
    fn cut<'v>(part: Self::Part<'v>, lanes: usize) -> (Self::Part<'v>, Self::Part<'v>)
    where
        Self: 'v,
    {
        part.split_at(lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut Self::Part<'v>, lanes: usize) -> Self::Part<'p>
    where
        Self: 'v,
    {
        part.split_at(lanes).0
    }
    fn open_part<'v>(_: &Self::Part<'v>, _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut Self::Part<'v>,
        (_, slot): (&'l mut (), &'l mut T),
        (_, at): (Lane, usize),
    ) -> &'l T
    where
        Self: 'v,
    {
        *slot = T::from_shape(part.get(at).expect(INSIDE));
        slot
    }
    #[inline]
    fn put_at<'v>(_: &mut Self::Part<'v>, _: T, _: (Lane, usize))
    where
        Self: 'v,
    {
    }
    fn close(&self, (): ()) {}
}

/// `&mut T` of a struct: the lane's own element, read and written back when the lane is done.
#[derive(Debug)]
pub struct FieldsMut<'s, T> {
    pub(super) columns: Vec<RefMut<'s, columns::Column>>,
    pub(super) item: PhantomData<fn() -> T>,
}

impl<T: Record> LaneArg for FieldsMut<'_, T> {
    type Item<'l> = &'l mut T;
    type View<'v>
        = <T::Shape as Shape>::Cells<'v>
    where
        Self: 'v;
    type Part<'v>
        = <T::Shape as Shape>::Parts<'v>
    where
        Self: 'v;
    type Local = ();
    type Slot = T;

    fn view(&mut self) -> Self::View<'_> {
        T::Shape::cells(self.whole())
    }
    fn begin(&self) {}
    fn open(_: <T::Shape as Shape>::Cells<'_>, _: usize) {}
    #[inline]
    fn slot() -> T {
        T::from_shape(T::Shape::ZERO)
    }
    #[inline]
    fn get<'l>(
        view: &'l <T::Shape as Shape>::Cells<'_>,
        (_, slot): (&'l mut (), &'l mut T),
        lane: Lane,
    ) -> &'l mut T {
        *slot = T::from_shape(T::Shape::get(view, lane.index));
        slot
    }
    #[inline]
    fn put(view: &<T::Shape as Shape>::Cells<'_>, slot: T, lane: Lane) {
        slot.into_shape().put(view, lane.index);
    }
    fn whole(&mut self) -> Self::Part<'_> {
        T::Shape::parts(&mut self.columns.iter_mut().map(|c| c.as_slice_mut()))
    }
    #[inline]
    fn cut<'v>(part: Self::Part<'v>, lanes: usize) -> (Self::Part<'v>, Self::Part<'v>)
    where
        Self: 'v,
    {
        T::Shape::cut(part, lanes)
    }
    #[inline]
    fn first<'p, 'v: 'p>(part: &'p mut Self::Part<'v>, lanes: usize) -> Self::Part<'p>
    where
        Self: 'v,
    {
        T::Shape::first_of(part, lanes)
    }
    fn open_part<'v>(_: &Self::Part<'v>, _: usize)
    where
        Self: 'v,
    {
    }
    #[inline]
    fn get_at<'l, 'v>(
        part: &'l mut Self::Part<'v>,
        (_, slot): (&'l mut (), &'l mut T),
        (_, at): (Lane, usize),
    ) -> &'l mut T
    where
        Self: 'v,
    {
        *slot = T::from_shape(T::Shape::load(part, at));
        slot
    }
    #[inline]
    fn put_at<'v>(part: &mut Self::Part<'v>, slot: T, (_, at): (Lane, usize))
    where
        Self: 'v,
    {
        slot.into_shape().store(part, at);
    }
    fn close(&self, (): ()) {}
}

/// `&Buf<T>`: a borrowed buffer, read by every lane.
#[derive(Debug)]
pub struct Read<'s, T> {
    pub(super) values: Values<'s, T>,
}

impl<T> Read<'_, T> {
    /// The whole buffer.
    #[inline]
    pub fn view(&self) -> &Buf<T> {
        Buf::new(&self.values)
    }
}

/// `&Rows<T>`: rows of a topology, read by every lane.
#[derive(Debug)]
pub struct ReadRows<'s, T> {
    pub(super) offsets: Values<'s, u32>,
    pub(super) values: Values<'s, T>,
}

impl<T> ReadRows<'_, T> {
    /// The rows.
    #[inline]
    pub fn view(&self) -> LentRows<'_, T> {
        LentRows::new(&self.offsets, &self.values)
    }
}

/// `&Buf<Atomic<T>>`: an exclusively borrowed buffer, which lanes share atomically.
#[derive(Debug)]
pub struct Shared<'s, T: AtomicElement> {
    pub(super) values: Cellular<'s, T>,
}

/// A buffer as atomics: a session's, or the caller's.
#[derive(Debug)]
pub(super) enum Cellular<'s, T: AtomicElement> {
    Kept(RefMut<'s, Buf<Atomic<T>>>),
    Lent(&'s Buf<Atomic<T>>),
}

impl<T: AtomicElement> Shared<'_, T> {
    /// The whole buffer.
    #[inline]
    pub fn view(&self) -> &Buf<Atomic<T>> {
        match &self.values {
            Cellular::Kept(values) => values,
            Cellular::Lent(values) => values,
        }
    }
}

/// `&Bits`: a buffer of bit rows.
#[derive(Debug)]
pub enum Rowed<'s> {
    /// A session's. The rows are here until this is dropped.
    Kept(RefMut<'s, Vec<u32>>, Bits),
    /// A topology's.
    Shared(&'s Bits),
}

impl Rowed<'_> {
    /// The rows.
    #[inline]
    pub fn view(&self) -> &Bits {
        match self {
            Rowed::Kept(_, bits) => bits,
            Rowed::Shared(bits) => bits,
        }
    }
}

impl Drop for Rowed<'_> {
    fn drop(&mut self) {
        if let Rowed::Kept(values, bits) = self {
            **values = std::mem::take(bits).into_words();
        }
    }
}
