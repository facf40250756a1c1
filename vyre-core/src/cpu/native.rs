//! The native executor: waves run the user's own functions, in parallel where a sweep is large enough to pay for it.
//!
//! The macros' glue (an implementation of [`Functions`]) asks the [`Sweep`] for one [`Column`] per parameter and sweeps them over
//! the wave's domain with a closure that calls the user's function. A sweep is cut into chunks whose borders depend on the
//! data alone, never on the number of threads, and what chunks push and reduce is merged in chunk order: results do not
//! depend on the machine. A chunk has local state for each column, so that a lane costs no lock and no shared counter.
//!
//! A faulting lane unwinds to its chunk, which notes the fault and goes on with the next lane.

use crate::cpu::store::{
    Backend, Cut, Frontier, List, Pending, Store, lowest, no_memory_for, room_for,
};
use crate::dsl::columns::{self, Element, Slice, SliceMut};
use crate::dsl::csr::Csr;
use crate::dsl::error::RunError;
use crate::dsl::fault::{self, Fault, InLane, Lanes};
use crate::dsl::record::{Record, Rows, Shape};
use crate::dsl::views::{Arrays, Atomic, AtomicElement, Buf, prefetch, prefetch_at};
use crate::dsl::{Append, Bits, Edge, Push, Records, Reduce, Reduction, Room, Seen};
use crate::plan::footprint::{ALONE, Allocation, CHUNK};
use crate::plan::launch::Route;
use crate::plan::session::Counters;
use crate::run::args::{Args, TopologyArgs};
use crate::run::backend::{Executor, Followed, LaunchHint, Limits, Progress};
use crate::run::outcome::Outcome;
use crate::vir0::isa::{Faults, IMM, Op, Slot, Word};
use crate::vir0::module::{
    Access, Buffer, BufferId, Domain, Extent, FixpointId, Kernel, KernelId, ListId, Mode, Program,
    Resource, Role, SiteId, UpdateOp, Wave, WaveId,
};
use crate::vir0::scalar::ScalarType;
use crate::vir0::trap::TrapKind;
use rayon::prelude::*;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::{Deref, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Chunks that a thread has at least before they are merged.
const CHUNKS_EACH: usize = 8;

/// Nodes of a chunk of a sweep that pulls; a multiple of 64.
const PULLERS: usize = 2048;

/// Threads that may be asked for whatever the machine has; above, so many for each of its own.
const ANY_MACHINE: usize = 1024;
const PER_CORE: usize = 16;

/// Threads of the pool that large sweeps use, which this makes where nobody has: as many as the machine has, or as
/// `RAYON_NUM_THREADS` says.
///
/// # Errors
/// That asks for more than 1,024 threads and more than 16 for each of the machine's: making them takes minutes, or ends the
/// process. The pool then has the machine's number, so that nothing else comes to harm.
pub fn threads() -> Result<usize, RunError> {
    static REFUSED: OnceLock<Option<(usize, usize)>> = OnceLock::new();
    let refused = REFUSED.get_or_init(|| {
        let here = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most = ANY_MACHINE.max(PER_CORE * here);
        let asked = std::env::var("RAYON_NUM_THREADS").ok();
        let asked = asked.and_then(|n| n.parse().ok()).filter(|&n| n > most)?;
        // Where the program has made a pool of its own, that one is used, and nothing was asked for in vain.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(here);
        pool.build_global().ok().map(|()| (asked, most))
    });
    match *refused {
        Some((asked, most)) => Err(RunError::Threads { asked, most }),
        None => Ok(rayon::current_num_threads()),
    }
}

/// A pass's own functions. Implemented by the macros' expansion only.
pub trait Functions: 'static {
    /// Sweeps one wave: calls the user's own function for every item of `cx.wave()`.
    fn wave(cx: &Sweep<'_>);
    /// Evaluates the condition of `cx.fixpoint()`; left out where there is no fixpoint.
    fn until(_: &Until<'_>) -> bool {
        unreachable!("the pass has no fixpoint")
    }
}

/// Opens an executor of a pass's functions ([`Pass::NATIVE`](crate::run::pass::Pass::NATIVE)).
pub fn open<F: Functions>(
    program: Arc<Program>,
    topology: &TopologyArgs<'_>,
    allocation: Allocation,
) -> Result<Box<dyn Executor>, RunError> {
    Ok(Box::new(NativeExecutor::<F>::new(
        program, topology, allocation,
    )?))
}

/// One item of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Node, index, node of a frontier or edge index; of another item, its position.
    pub index: u32,
    /// Source of an edge; 0 in other domains.
    pub src: u32,
    /// Destination of an edge; 0 in other domains.
    pub dst: u32,
}

impl Lane {
    /// The item of a sweep over edges.
    #[inline]
    pub fn edge(self) -> Edge {
        Edge {
            src: self.src,
            dst: self.dst,
            index: self.index,
        }
    }
}

/// The name under which profilers show the lanes of a wave. The macros implement it for a type called like the wave's function,
/// because a symbol of a function in an `impl` names the type.
pub trait Named: Copy + Sync {
    /// Runs a chunk of lanes. It is never inlined, and what it calls always is, so that the loop belongs to its symbol.
    fn lanes<R>(self, chunk: impl FnOnce() -> R) -> R;
}

/// No name.
impl Named for () {
    #[inline(never)]
    fn lanes<R>(self, chunk: impl FnOnce() -> R) -> R {
        chunk()
    }
}

/// A parameter that differs from lane to lane, or is gathered chunk by chunk. Tuples of columns are columns.
pub trait Column {
    /// What the kernel gets.
    type Item<'l>;
    /// The shareable side of the column.
    type View<'v>: Copy + Send + Sync
    where
        Self: 'v;
    /// What a chunk of consecutive lanes has, or several such chunks.
    type Part<'v>: Send
    where
        Self: 'v;
    /// State of one chunk.
    type Local: Send;
    /// What a lane has of its own while it runs: a copy of its element. Nothing else refers to it, so it stays in registers.
    type Slot;

    /// What chunks share.
    fn view(&mut self) -> Self::View<'_>;
    /// State for the next chunk of a sweep on one thread, where chunks run in order.
    fn begin(&self) -> Self::Local;
    /// A sweep of so many chunks begins.
    fn ready(&self, _chunks: usize) {}
    /// Threads begin to share chunks, at most so many of them before those are merged.
    fn share(&self) -> usize {
        usize::MAX
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
    /// Chunks of a parallel sweep have something to do when all of them are done, before they are merged.
    fn settles(&self) -> bool {
        false
    }
    /// That.
    fn settle(_: &mut Self::Local) {}
    /// Merges a chunk; called in chunk order.
    fn close(&self, local: Self::Local);
    /// Lanes see what lanes before them did, so they run one after another.
    fn in_order(&self) -> bool {
        false
    }
}

/// A column whose chunks share everything has the whole view as the part of every chunk.
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

macro_rules! tuples {
    ($($($c:ident $i:tt)*;)*) => {$(
        #[allow(non_snake_case, unused_variables, clippy::unused_unit, reason = "the empty tuple is one of them")]
        impl<$($c: Column),*> Column for ($($c,)*) {
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
            fn share(&self) -> usize { usize::MAX $(.min(self.$i.share()))* }
            #[inline]
            fn end(local: &mut Self::Local) { $($c::end(&mut local.$i);)* }
            fn settles(&self) -> bool { false $(|| self.$i.settles())* }
            #[inline]
            fn settle(local: &mut Self::Local) { $($c::settle(&mut local.$i);)* }
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
enum Values<'s, T> {
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
enum ValuesMut<'s, T> {
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
    values: Values<'s, T>,
}

impl<T: Element> Column for Own<'_, T> {
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

/// `&mut T`: the lane's own element, in place where a chunk's lanes are consecutive, otherwise read and written back when
/// the lane is done.
#[derive(Debug)]
pub struct OwnMut<'s, T: AtomicElement> {
    values: ValuesMut<'s, T>,
}

impl<T: AtomicElement> Column for OwnMut<'_, T> {
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

/// Columns of a struct-of-arrays buffer, borrowed for reading.
#[derive(Debug)]
pub struct Fields<'s, T> {
    columns: Vec<Field<'s>>,
    item: PhantomData<fn() -> T>,
}

/// One of them: a session's, or the caller's.
#[derive(Debug)]
enum Field<'s> {
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
impl<T: Record> Column for Fields<'_, T> {
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
    columns: Vec<RefMut<'s, columns::Column>>,
    item: PhantomData<fn() -> T>,
}

impl<T: Record> Column for FieldsMut<'_, T> {
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

/// `&Push`: the next round's items.
#[derive(Debug)]
pub struct PushColumn<'s> {
    frontier: &'s Frontier,
    nodes: u32,
}

/// The shareable side of [`PushColumn`].
#[derive(Clone, Copy, Debug)]
pub struct PushView<'v> {
    nodes: u32,
    stamps: Option<&'v Arc<Vec<AtomicU32>>>,
    stamp: u32,
    room: &'v Arc<Room>,
}

impl Column for PushColumn<'_> {
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
    fn share(&self) -> usize {
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

impl PushColumn<'_> {
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
    frontier: &'s Frontier,
    item: PhantomData<T>,
}

impl<T: Record> Column for PushItems<'_, T> {
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
    fn share(&self) -> usize {
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
pub struct AppendColumn<'s, T> {
    list: &'s List,
    reads_slots: bool,
    item: PhantomData<T>,
}

/// The shareable side of [`AppendColumn`] and [`PushItems`].
#[derive(Clone, Copy, Debug)]
pub struct RoomView<'v> {
    room: &'v Arc<Room>,
}

impl<T: Record> Column for AppendColumn<'_, T> {
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
pub struct ReduceColumn<'s, O> {
    total: &'s Cell<u64>,
    op: PhantomData<O>,
}

impl<O: Reduction> Column for ReduceColumn<'_, O> {
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
        let before = O::Value::from_bits64(self.total.get());
        self.total
            .set(O::combine(before, local.value()).to_bits64());
    }
}

/// `&Buf<T>`: a borrowed buffer, read by every lane.
#[derive(Debug)]
pub struct Read<'s, T> {
    values: Values<'s, T>,
}

impl<T> Read<'_, T> {
    /// The whole buffer.
    #[inline]
    pub fn view(&self) -> &Buf<T> {
        Buf::new(&self.values)
    }
}

/// `&Buf<Atomic<T>>`: an exclusively borrowed buffer, which lanes share atomically.
#[derive(Debug)]
pub struct Shared<'s, T: AtomicElement> {
    values: Cellular<'s, T>,
}

/// A buffer as atomics: a session's, or the caller's.
#[derive(Debug)]
enum Cellular<'s, T: AtomicElement> {
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

/// One wave about to be swept.
///
/// Ids are those of the pass's program. A wrong id or type is a bug of the expansion and panics.
#[derive(Debug)]
pub struct Sweep<'s> {
    store: &'s Store,
    /// What the caller lends the run to read.
    inputs: &'s [(BufferId, Slice<'s>)],
    /// What the caller lends it to work on; a parameter takes its own.
    in_outs: RefCell<Vec<(BufferId, SliceMut<'s>)>>,
    /// Where lanes will look, if that is worth asking for ahead.
    ahead: Option<&'s Ahead>,
    wave: WaveId,
    round: u32,
}

impl<'s> Sweep<'s> {
    /// Which wave.
    pub fn wave(&self) -> WaveId {
        self.wave
    }

    /// Round of the innermost fixpoint.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Number of nodes.
    pub fn nodes_count(&self) -> u32 {
        self.store.sizes.nodes as u32
    }

    /// A scalar of the run.
    pub fn scalar<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.store.sizes.scalars[id as usize])
    }

    /// A finished reduction.
    pub fn reduction<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.store.reductions[id as usize].get())
    }

    /// A topology.
    pub fn csr(&self, id: u16) -> &'s Csr {
        &self.store.graphs[id as usize].csr
    }

    /// An input that the caller lends the run.
    fn lent(&self, id: u16) -> Option<Slice<'s>> {
        if !is_lent(&self.store.program.buffers[id as usize]) {
            return None;
        }
        let input = self.inputs.iter().find(|(b, _)| b.0 == id);
        input.map(|&(_, values)| values)
    }

    fn values<T: Element>(&self, id: u16) -> Values<'s, T> {
        if let Some(values) = self.lent(id) {
            return Values::Lent(T::in_slice(values).expect(TYPED));
        }
        let buffer = self.store.buffers[id as usize].borrow();
        Values::Kept(Ref::map(buffer, |c| {
            T::in_column(c).expect(TYPED).as_slice()
        }))
    }

    fn values_mut<T: Element>(&self, id: u16) -> ValuesMut<'s, T> {
        let mut in_outs = self.in_outs.borrow_mut();
        if let Some(at) = in_outs.iter().position(|(b, _)| b.0 == id) {
            let (_, values) = in_outs.swap_remove(at);
            return ValuesMut::Lent(T::in_slice_mut(values).expect(TYPED));
        }
        let buffer = self.store.buffers[id as usize].borrow_mut();
        ValuesMut::Kept(RefMut::map(buffer, |c| {
            T::in_column_mut(c).expect(TYPED).as_mut_slice()
        }))
    }

    /// A whole buffer, read-only.
    pub fn read<T: Element>(&self, id: u16) -> Read<'s, T> {
        Read {
            values: self.values(id),
        }
    }

    /// A whole buffer of atomics.
    pub fn atomic<T: AtomicElement>(&self, id: u16) -> Shared<'s, T> {
        Shared {
            values: match self.values_mut(id) {
                ValuesMut::Kept(values) => Cellular::Kept(RefMut::map(values, Buf::atomic)),
                ValuesMut::Lent(values) => Cellular::Lent(Buf::atomic(values)),
            },
        }
    }

    /// A whole buffer of bit rows.
    pub fn bits(&self, id: u16) -> Rowed<'s> {
        if let Some(rows) = &self.store.rows[id as usize] {
            return Rowed::Shared(rows);
        }
        let sizes = &self.store.sizes;
        let program = &self.store.program;
        let Extent::NodeBits(width) = program.buffers[id as usize].extent else {
            unreachable!("the glue takes rows of a buffer of rows");
        };
        let width = sizes.width(program, width).expect("a run has its scalars");
        let nodes = sizes.nodes as u32;
        let buffer = self.store.buffers[id as usize].borrow_mut();
        let mut values = RefMut::map(buffer, |c| {
            u32::in_column_mut(c).expect("rows of bits are words")
        });
        let words = std::mem::take(&mut *values);
        Rowed::Kept(values, Bits::clean(words, nodes, width))
    }

    /// Each lane's own element, read-only.
    pub fn own<T: Element>(&self, id: u16) -> Own<'s, T> {
        Own {
            values: self.values(id),
        }
    }

    /// Each lane's own element.
    pub fn own_mut<T: AtomicElement>(&self, id: u16) -> OwnMut<'s, T> {
        OwnMut {
            values: self.values_mut(id),
        }
    }

    /// A struct-of-arrays buffer, read-only: a column of the lanes' own elements, or with [`Fields::view`] the whole
    /// buffer. `ids` are the buffers of the fields, in order.
    pub fn fields<T: Record>(&self, ids: &[u16]) -> Fields<'s, T> {
        let column = |&id: &u16| match self.lent(id) {
            Some(values) => Field::Lent(values),
            None => {
                let buffer = self.store.buffers[id as usize].borrow();
                Field::Kept(Ref::map(buffer, |h| &**h))
            }
        };
        Fields {
            columns: ids.iter().map(column).collect(),
            item: PhantomData,
        }
    }

    /// Each lane's own element of a struct-of-arrays buffer.
    pub fn fields_mut<T: Record>(&self, ids: &[u16]) -> FieldsMut<'s, T> {
        FieldsMut {
            columns: ids
                .iter()
                .map(|&id| RefMut::map(self.store.buffers[id as usize].borrow_mut(), |h| &mut **h))
                .collect(),
            item: PhantomData,
        }
    }

    /// The push side of a frontier.
    pub fn push(&self, id: u16) -> PushColumn<'s> {
        PushColumn {
            frontier: &self.store.frontiers[id as usize],
            nodes: self.nodes_count(),
        }
    }

    /// The push side of a frontier whose items are not nodes.
    pub fn push_items<T: Record>(&self, id: u16) -> PushItems<'s, T> {
        PushItems {
            frontier: &self.store.frontiers[id as usize],
            item: PhantomData,
        }
    }

    /// The append side of a list.
    pub fn append<T: Record>(&self, id: u16) -> AppendColumn<'s, T> {
        let accesses = &self.store.program.waves[self.wave.index()].accesses;
        let list = Resource::List(ListId(id));
        let only_appends = |a: &Access| a.mode == Mode::Update(UpdateOp::Append);
        let appended = &self.store.lists[id as usize];
        appended.make_room();
        AppendColumn {
            list: appended,
            reads_slots: !accesses
                .iter()
                .any(|a| a.resource == list && only_appends(a)),
            item: PhantomData,
        }
    }

    /// The update side of a reduction.
    pub fn reduce<O: Reduction>(&self, id: u16) -> ReduceColumn<'s, O> {
        ReduceColumn {
            total: &self.store.reductions[id as usize],
            op: PhantomData,
        }
    }

    fn domain(&self) -> Domain {
        self.store.program.waves[self.wave.index()].domain
    }

    /// Sweeps one lane.
    pub fn once<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        self.span(1, &mut columns, (name, kernel));
    }

    /// Sweeps the indices of the wave's range.
    pub fn range<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Range(extent) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let len = self
            .store
            .len_of("range", extent)
            .expect("ranges were checked when the run began");
        self.span(len, &mut columns, (name, kernel));
    }

    /// Sweeps every node.
    pub fn nodes<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let nodes = self.store.sizes.nodes as usize;
        self.span(nodes, &mut columns, (name, kernel));
    }

    /// Sweeps the items of the wave's frontier.
    pub fn items<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Items(frontier) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let items = self.store.frontiers[frontier.index()].items.borrow();
        let items: &[u32] = &items;
        self.sweep(&mut columns, (name, kernel), chunks(items.len()), |chunk| {
            let (next, end) = borders(items.len(), chunk);
            Items {
                items: &items[..end],
                next,
            }
        });
    }

    /// Sweeps the items of the wave's list, or of its frontier of items that are not nodes.
    pub fn records<N, T, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        T: Record,
        C: Column,
        F: for<'l> Fn(Lane, T, C::Item<'l>) + Sync + Copy,
    {
        let (items, range) = match self.domain() {
            Domain::Items(f) => {
                let records = self.store.frontiers[f.index()].records.as_ref();
                let items = records.expect("the glue sweeps what the frontier holds");
                let items = items.items.borrow();
                let len = items.len();
                (items, 0..len)
            }
            Domain::ListItems(..) => {
                let (list, range) = self.store.list_items(self.wave);
                (self.store.lists[list.index()].items.borrow(), range)
            }
            _ => unreachable!("the glue sweeps the wave's own domain"),
        };
        let (items, len): (&Rows, usize) = (&items, range.len());
        let arrays = items.arrays::<T>();
        let kernel = move |lane: Lane, columns: C::Item<'_>| {
            let item = arrays.get(lane.index as usize).expect(INSIDE);
            kernel(lane, T::from_shape(item), columns);
        };
        self.sweep(&mut columns, (name, kernel), chunks(len), |chunk| {
            let (next, end) = borders(len, chunk);
            ItemWalk {
                items,
                span: Span {
                    next: (range.start + next) as u32,
                    end: (range.start + end) as u32,
                },
            }
        });
    }

    /// Sweeps every edge of the wave's topology.
    pub fn edges<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::Edges(topology) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let graph = self.csr(topology.0);
        let edges = graph.edge_count();
        self.sweep(&mut columns, (name, kernel), chunks(edges), |chunk| {
            let (next, end) = borders(edges, chunk);
            let after = graph.offsets().partition_point(|&o| o as usize <= next);
            AllEdges {
                graph,
                src: after.saturating_sub(1) as u32,
                next: next as u32,
                end: end as u32,
            }
        });
    }

    /// Sweeps every edge out of the items of the wave's frontier, an equal number of edges a chunk.
    pub fn edges_from<N, C, F>(&self, name: N, mut columns: C, kernel: F)
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let Domain::EdgesFrom(topology, frontier) = self.domain() else {
            unreachable!("the glue sweeps the wave's own domain");
        };
        let graph = &self.store.graphs[topology.index()];
        let front = &self.store.frontiers[frontier.index()].items;
        if graph.leads_down {
            // What lanes hand on goes further in one round where they follow the edges.
            let mut items = front.borrow_mut();
            if items.first() < items.last() {
                items.reverse();
            }
        }
        let items: &[u32] = &front.borrow();
        if let Some(pull) = &self.store.pulls[self.wave.index()] {
            let mut pull = pull.borrow_mut();
            let graphs = &self.store.graphs;
            if let Some(into) = pull.turn(graphs, topology, items, self.round) {
                let (pull, nodes) = (&*pull, into.node_count());
                return self.sweep(
                    &mut columns,
                    (name, kernel),
                    nodes.div_ceil(PULLERS),
                    |chunk| Pulled {
                        into,
                        front: &pull.front,
                        done: &pull.done,
                        next: chunk * PULLERS,
                        end: nodes.min((chunk + 1) * PULLERS),
                    },
                );
            }
        }
        let mut cuts = self.store.cuts.borrow_mut();
        if !cut_edges(&mut cuts, graph.csr.offsets(), items, graph.max_degree) {
            let chunks = graph.csr.edge_count().div_ceil(CHUNK);
            return self.store.starve::<Cut>(chunks);
        }
        let cuts: &[Cut] = &cuts;
        let walk = |chunk| EdgesFrom::new(&graph.csr, items, cuts[chunk], cuts[chunk + 1]);
        match self.ahead {
            None => self.sweep(&mut columns, (name, kernel), cuts.len() - 1, walk),
            Some(looks) => self.sweep(&mut columns, (name, kernel), cuts.len() - 1, |chunk| {
                Batches {
                    walk: walk(chunk),
                    looks,
                    lanes: [Lane::default(); Batches::LANES],
                    at: 0,
                    len: 0,
                }
            }),
        }
    }

    /// Sweeps lanes that are consecutive from 0 on. Each chunk has its own part of the columns, so that a kernel without
    /// faults is a plain loop over slices.
    fn span<N, C, F>(&self, len: usize, columns: &mut C, (name, kernel): (N, F))
    where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
    {
        let chunks = chunks(len);
        let code = self.code();
        columns.ready(chunks);
        if !self.shares(chunks, columns) {
            for chunk in 0..chunks {
                let _in_lane = InLane::enter(Lanes::Alone);
                let (first, end) = borders(len, chunk);
                let local = columns.begin();
                let (_, part) = C::cut(columns.whole(), first);
                let span = (first, end - first);
                let run = || run_span::<C, F>(&code, (part, local), span, kernel);
                let done = name.lanes(run);
                self.close(columns, done);
            }
            return;
        }
        self.run_shared(chunks, columns, |columns, group, done| {
            let span_of = |chunk| borders(len, chunk);
            let Some(parts) = parts_of(columns, group.clone(), span_of) else {
                self.store.starve::<(Done<C>, C::Part<'_>)>(group.len());
                return false;
            };
            let parts = group.clone().into_par_iter().zip(parts);
            parts
                .map(|(chunk, part)| {
                    let _in_lane = InLane::enter(Lanes::Shared);
                    let (first, end) = span_of(chunk);
                    let local = C::open_part(&part, chunk - group.start);
                    let span = (first, end - first);
                    name.lanes(|| run_span::<C, F>(&code, (part, local), span, kernel))
                })
                .collect_into_vec(done);
            true
        });
    }

    /// Merges a chunk.
    #[inline]
    fn close<C: Column>(&self, columns: &C, (local, found): Done<C>) {
        columns.close(local);
        self.store.fail(found);
    }

    /// Runs the chunks of a sweep that threads share, so many at a time as the columns say, and merges them in order. `run`
    /// gives what a group leaves; false where it has no memory, which it has said.
    fn run_shared<C: Column>(
        &self,
        chunks: usize,
        columns: &mut C,
        run: impl Fn(&mut C, Range<usize>, &mut Vec<Done<C>>) -> bool,
    ) {
        let mut merged = 0;
        while merged < chunks {
            let group = columns.share().min(chunks - merged);
            let Some(mut done) = room::<Done<C>>(group) else {
                return self.store.starve::<Done<C>>(group);
            };
            if !run(columns, merged..merged + group, &mut done) {
                return;
            }
            if columns.settles() {
                let chunks = done.par_iter_mut();
                chunks.for_each(|(local, _)| C::settle(local));
            }
            for chunk in done {
                self.close(columns, chunk);
            }
            merged += group;
        }
    }

    fn code(&self) -> Code<'s> {
        Code {
            program: &self.store.program,
            wave: self.wave,
        }
    }

    /// Whether threads share the chunks of a sweep. The chunks are the same either way, so results do not depend on it.
    fn shares(&self, chunks: usize, columns: &impl Column) -> bool {
        let shares = chunks > 1
            && (chunks * CHUNK) as u64 >= self.store.shared_from(self.wave)
            && rayon::current_num_threads() > 1
            && !columns.in_order();
        if shares {
            let count = &self.store.shared;
            count.set(count.get() + 1);
        }
        shares
    }

    fn sweep<N, C, F, W>(
        &self,
        columns: &mut C,
        (name, kernel): (N, F),
        chunks: usize,
        walk: impl Fn(usize) -> W + Sync,
    ) where
        N: Named,
        C: Column,
        F: for<'l> Fn(Lane, C::Item<'l>) + Sync + Copy,
        W: Walk,
    {
        let code = self.code();
        columns.ready(chunks);
        if !self.shares(chunks, columns) {
            for chunk in 0..chunks {
                let _in_lane = InLane::enter(Lanes::Alone);
                let local = columns.begin();
                let walk = || walk(chunk);
                let view = columns.view();
                let run = || run_chunk::<C, F, W>(&code, (view, local), walk, kernel);
                let done = name.lanes(run);
                self.close(columns, done);
            }
            return;
        }
        let lanes = match W::APART {
            true => Lanes::Alone,
            false => Lanes::Shared,
        };
        self.run_shared(chunks, columns, |columns, group, done| {
            let view = columns.view();
            let chunks = group.clone().into_par_iter();
            chunks
                .map(|chunk| {
                    let _in_lane = InLane::enter(lanes);
                    let walk = || walk(chunk);
                    let local = C::open(view, chunk - group.start);
                    name.lanes(|| run_chunk::<C, F, W>(&code, (view, local), walk, kernel))
                })
                .collect_into_vec(done);
            true
        });
    }
}

/// What a chunk leaves.
type Done<C> = (<C as Column>::Local, Option<Box<Pending>>);

/// A vector with memory for so many; `None` where there is none.
fn room<T>(len: usize) -> Option<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).ok()?;
    Some(room)
}

/// The parts of chunks of a sweep that follow each other; `borders` are theirs. `None` where there is no memory for a list of
/// them.
fn parts_of<C: Column>(
    columns: &mut C,
    chunks: Range<usize>,
    borders: impl Fn(usize) -> (usize, usize),
) -> Option<Vec<C::Part<'_>>> {
    let mut parts = room(chunks.len())?;
    let (_, mut rest) = C::cut(columns.whole(), borders(chunks.start).0);
    for (first, end) in chunks.map(borders) {
        let (part, after) = C::cut(rest, end - first);
        parts.push(part);
        rest = after;
    }
    Some(parts)
}

/// Runs the lanes of a chunk of consecutive ones as [`run_chunk`] does: `len` from `first` on.
#[inline(always)]
fn run_span<C, F>(
    code: &Code<'_>,
    (mut part, mut local): (C::Part<'_>, C::Local),
    (first, len): (usize, usize),
    kernel: F,
) -> (C::Local, Option<Box<Pending>>)
where
    C: Column,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
{
    let mut next = 0;
    let mut found = None;
    loop {
        let lanes = AssertUnwindSafe(|| {
            let mut at = Count {
                now: next,
                to: &mut next,
            };
            let mut part = C::first(&mut part, len);
            while at.now < len {
                let offset = at.now;
                at.now += 1;
                let lane = Lane {
                    index: (first + offset) as u32,
                    src: 0,
                    dst: 0,
                };
                let mut slot = C::slot();
                let own = (&mut local, &mut slot);
                kernel(lane, C::get_at(&mut part, own, (lane, offset)));
                C::put_at(&mut part, slot, (lane, offset));
            }
        });
        match catch_unwind(lanes) {
            Ok(()) => {
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) => {
                let item = (first + next - 1) as u32;
                let pending = code.locate(item, fault::classify(payload));
                found = lowest(found, Some(Box::new(pending)));
            }
        }
    }
}

/// How far a loop is: in a register while it goes on, and written back when it ends or a lane unwinds.
struct Count<'c> {
    now: usize,
    to: &'c mut usize,
}

impl Drop for Count<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.to = self.now;
    }
}

/// Runs the lanes of one chunk on this thread, which has entered them; the chunk's state, and the lowest of the faults.
///
/// What the loop needs is made or copied here, where the compiler sees all of its uses and keeps it in registers.
#[inline(always)]
fn run_chunk<C, F, W>(
    code: &Code<'_>,
    (view, mut local): (C::View<'_>, C::Local),
    walk: impl FnOnce() -> W,
    kernel: F,
) -> (C::Local, Option<Box<Pending>>)
where
    C: Column,
    F: for<'l> Fn(Lane, C::Item<'l>) + Copy,
    W: Walk,
{
    let mut walk = walk();
    let mut found = None;
    loop {
        let lanes = AssertUnwindSafe(|| {
            walk.walk(|lane| {
                let mut slot = C::slot();
                kernel(lane, C::get(&view, (&mut local, &mut slot), lane));
                C::put(&view, slot, lane);
            });
        });
        match catch_unwind(lanes) {
            Ok(()) => {
                C::end(&mut local);
                return (local, found);
            }
            Err(payload) => {
                let pending = code.locate(walk.current(), fault::classify(payload));
                found = lowest(found, Some(Box::new(pending)));
            }
        }
    }
}

/// What a fault needs to find its place in the bytecode.
struct Code<'p> {
    program: &'p Program,
    wave: WaveId,
}

impl Code<'_> {
    #[cold]
    fn locate(&self, item: u32, mut fault: Fault) -> Pending {
        let kernel = self.program.waves[self.wave.index()].kernel;
        let pc = refine(self.program, kernel, &mut fault);
        Pending {
            key: (self.wave, item, pc),
            fault,
        }
    }
}

/// The pc of the word at the fault's position. What kind of trap a panic is, that word says, and its site what the user says.
///
/// A few methods of std panic without their caller's position (`wrapping_div` and `wrapping_rem` of signed integers, `clamp`
/// of floats): the fault is then at the one word that can raise it, if there is only one. Code that a `macro_rules!` wrote has one
/// position, that of the macro's call: the fault is then at the first word that can raise it.
fn refine(program: &Program, kernel: KernelId, fault: &mut Fault) -> u32 {
    let kernel = &program.kernels[kernel.index()];
    let here = |&&(_, site): &&(u32, SiteId)| program.sites.get(site.index()) == Some(&fault.site);
    let mut at = kernel.sites.iter().find(here);
    let shared = at.is_some_and(|first| kernel.sites.iter().filter(here).any(|s| s.1 != first.1));
    if shared {
        let raises = |s: &&(u32, SiteId)| raises(program, kernel, **s, fault);
        at = kernel.sites.iter().filter(here).find(raises).or(at);
    }
    let Some(&(pc, site)) = at.or_else(|| within_std(program, kernel, fault)) else {
        return u32::MAX;
    };
    if let Some(site) = program.sites.get(site.index()) {
        fault.site.clone_from(site);
    }
    // What a panic says is free text: it can look like any other of rustc's. What others say is formatted, on one backend.
    let message = program.message(site);
    let panicked = matches!(fault.kind, TrapKind::Panic | TrapKind::Assert);
    if let Some(word) = kernel.code.get(pc as usize)
        && (panicked || message.is_some() && !shared)
        && let Some(Op::Assert | Op::Trap) = Op::from_code(word.op)
        && let Some(kind) = TrapKind::from_code(word.imm)
    {
        (fault.kind, fault.index, fault.len) = (kind, 0, 0);
        fault.message = message.map(str::to_owned);
    }
    pc
}

/// Whether this word can raise the fault, by what the fault is and says.
fn raises(program: &Program, kernel: &Kernel, (pc, site): (u32, SiteId), fault: &Fault) -> bool {
    let panicked = matches!(fault.kind, TrapKind::Panic | TrapKind::Assert);
    let Some(word) = kernel.code.get(pc as usize) else {
        return false;
    };
    match Op::from_code(word.op) {
        Some(Op::Assert | Op::Trap) if panicked => {
            let said = fault.message.as_deref().unwrap_or_default();
            // `assert_eq!` shows its operands below what the user says, and that after a colon.
            let first = said.lines().next().unwrap_or_default();
            match program.message(site) {
                Some(m) => said == m || first.ends_with(&format!("` failed: {m}")),
                None => {
                    let assert = first.starts_with("assertion ") && !first.contains("` failed: ");
                    assert || TrapKind::from_code(word.imm) == Some(TrapKind::Panic)
                }
            }
        }
        Some(Op::Assert | Op::Trap) => false,
        Some(_) => !panicked,
        None => false,
    }
}

/// The word of a fault whose position is std's own, if only one site of the kernel can raise such a fault.
fn within_std<'a>(
    program: &Program,
    kernel: &'a Kernel,
    fault: &Fault,
) -> Option<&'a (u32, SiteId)> {
    if program.sites.iter().any(|s| s.file == fault.site.file) {
        return None;
    }
    let raises = |pc: u32| {
        let word = kernel.code.get(pc as usize)?;
        let divides = || fault.kind == TrapKind::DivideByZero && (word.b != IMM || word.imm == 0);
        Some(match Op::from_code(word.op)? {
            Op::DivI32 | Op::DivI64 => divides() && !fault.remainder,
            Op::RemI32 | Op::RemI64 => divides() && fault.remainder,
            Op::Assert | Op::Trap => {
                fault.kind == TrapKind::Assert
                    && TrapKind::from_code(word.imm) == Some(TrapKind::Assert)
            }
            _ => false,
        })
    };
    let mut able = kernel
        .sites
        .iter()
        .filter(|(pc, _)| raises(*pc) == Some(true));
    let first = able.next()?;
    able.all(|(_, site)| *site == first.1).then_some(first)
}

const INSIDE: &str = "a lane's own item is there";

const TYPED: &str = "the buffer has its declared type";

/// Whether a run reads this buffer where the caller has it. Rows of bits are taken from the store.
fn is_lent(buffer: &Buffer) -> bool {
    buffer.role == Role::Input && !matches!(buffer.extent, Extent::NodeBits(_))
}

/// Whether a lane of this wave can raise a fault that the bytecode knows of. Its own element is always there.
fn can_trap(program: &Program, wave: &Wave) -> bool {
    let kernel = &program.kernels[wave.kernel.index()];
    let own = match (wave.domain, kernel.item.index) {
        (Domain::Range(extent), Some(row)) => Some((extent, row)),
        _ => None,
    };
    let faultless = |word: &Word| {
        let Some(op) = Op::from_code(word.op) else {
            return false;
        };
        // Where the index's row becomes something else, it is no index any more.
        let keeps = |row: u8| {
            let last = match op.row().d {
                Slot::N => return true,
                Slot::W | Slot::OptW => word.d,
                Slot::D | Slot::OptD => word.d.saturating_add(1),
            };
            !(word.d..=last).contains(&row)
        };
        match (op, own) {
            (Op::RowFill32 | Op::RowFill64, _) => false,
            (Op::Ld8 | Op::Ld32 | Op::Ld64 | Op::St8 | Op::St32 | Op::St64, Some((len, row))) => {
                let buffer = &program.buffers[usize::from(word.resource())];
                word.a == row && buffer.extent == len && keeps(row)
            }
            _ => op.row().faults == Faults::No && own.is_none_or(|(_, row)| keeps(row)),
        }
    };
    !kernel.code.iter().all(faultless)
}

/// Chunks of a sweep over `len` items.
fn chunks(len: usize) -> usize {
    if len <= ALONE { 1 } else { len.div_ceil(CHUNK) }
}

fn borders(len: usize, chunk: usize) -> (usize, usize) {
    if len <= ALONE {
        (0, len)
    } else {
        (chunk * CHUNK, len.min((chunk + 1) * CHUNK))
    }
}

/// Cuts the edges out of `items` into chunks: `cuts` gets one border more than there are chunks. False where there is no
/// memory for them.
///
/// A chunk never spans two blocks of items, so that blocks can be cut in parallel. A node with many edges is cut as well.
fn cut_edges(cuts: &mut Vec<Cut>, offsets: &[u32], items: &[u32], max_degree: u32) -> bool {
    cuts.clear();
    let put = |cuts: &mut Vec<Cut>, item: usize, edges: u32| {
        let fits = cuts.try_reserve(1).is_ok();
        if fits {
            cuts.push(Cut { item, edges });
        }
        fits
    };
    let cut = |(block, items): (usize, &[u32]), cuts: &mut Vec<Cut>| {
        let first = block * CHUNK;
        if !put(cuts, first, 0) {
            return false;
        }
        let mut room = CHUNK;
        for (item, &v) in (first..).zip(items) {
            let degree = (offsets[v as usize + 1] - offsets[v as usize]) as usize;
            let mut edges = 0;
            while degree - edges > room {
                edges += room;
                room = CHUNK;
                if !put(cuts, item, edges as u32) {
                    return false;
                }
            }
            room -= degree - edges;
        }
        true
    };
    let cut = if items.len() as u64 * u64::from(max_degree) <= ALONE as u64 {
        put(cuts, 0, 0)
    } else if items.len() <= 4 * CHUNK {
        let mut blocks = items.chunks(CHUNK).enumerate();
        blocks.all(|block| cut(block, cuts))
    } else {
        let len = items.len().div_ceil(CHUNK);
        let Some(mut blocks) = room::<Vec<Cut>>(len) else {
            return false;
        };
        blocks.resize_with(len, Vec::new);
        let each = items.par_chunks(CHUNK).enumerate().zip(&mut blocks);
        let all = each.all(|(block, cuts)| cut(block, cuts));
        let borders = blocks.iter().map(Vec::len).sum::<usize>() + 1;
        let fits = all && cuts.try_reserve_exact(borders).is_ok();
        if fits {
            blocks.iter().for_each(|block| cuts.extend(block));
        }
        fits
    };
    cut && put(cuts, items.len(), 0)
}

/// The lanes of a chunk, in order. It moves on before it calls the body, so that it can go on after a lane that unwound.
trait Walk {
    /// No two lanes of the sweep touch the same element, so that it does not matter who runs beside.
    const APART: bool = false;

    fn walk(&mut self, body: impl FnMut(Lane));
    /// Index of the lane that was called last.
    fn current(&self) -> u32;
}

struct Span {
    next: u32,
    end: u32,
}

impl Walk for Span {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        while self.next < self.end {
            let index = self.next;
            self.next += 1;
            body(Lane {
                index,
                src: 0,
                dst: 0,
            });
        }
    }

    fn current(&self) -> u32 {
        self.next - 1
    }
}

/// Items by position; a trap names an item by its key.
struct ItemWalk<'a> {
    items: &'a Rows,
    span: Span,
}

impl Walk for ItemWalk<'_> {
    #[inline]
    fn walk(&mut self, body: impl FnMut(Lane)) {
        self.span.walk(body);
    }

    fn current(&self) -> u32 {
        self.items.key(self.span.current() as usize)
    }
}

struct Items<'a> {
    items: &'a [u32],
    next: usize,
}

impl Walk for Items<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        while let Some(&index) = self.items.get(self.next) {
            self.next += 1;
            body(Lane {
                index,
                src: 0,
                dst: 0,
            });
        }
    }

    fn current(&self) -> u32 {
        self.items[self.next - 1]
    }
}

struct AllEdges<'a> {
    graph: &'a Csr,
    src: u32,
    next: u32,
    end: u32,
}

impl Walk for AllEdges<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let (offsets, targets) = (self.graph.offsets(), self.graph.targets());
        while self.next < self.end {
            while self.next >= offsets[self.src as usize + 1] {
                self.src += 1;
            }
            let (src, stop) = (self.src, offsets[self.src as usize + 1].min(self.end));
            while self.next < stop {
                let index = self.next;
                self.next += 1;
                body(Lane {
                    index,
                    src,
                    dst: targets[index as usize],
                });
            }
        }
    }

    fn current(&self) -> u32 {
        self.next - 1
    }
}

#[derive(Clone)]
struct EdgesFrom<'a> {
    offsets: &'a [u32],
    targets: &'a [u32],
    /// Nodes all of whose edges are the chunk's, and one more of which only some are.
    whole: slice::Iter<'a, u32>,
    part: Option<(u32, u32)>,
    /// The current node, the targets of its edges that were not visited, and the index after its last edge.
    src: u32,
    rest: slice::Iter<'a, u32>,
    end: u32,
}

impl<'a> EdgesFrom<'a> {
    #[inline(always)]
    fn new(graph: &'a Csr, items: &'a [u32], from: Cut, to: Cut) -> Self {
        let mut walk = EdgesFrom {
            offsets: graph.offsets(),
            targets: graph.targets(),
            whole: items[from.item..to.item].iter(),
            part: (to.edges > 0).then(|| (items[to.item], to.edges)),
            src: 0,
            rest: [].iter(),
            end: 0,
        };
        if from.edges > 0 {
            walk.enter();
            walk.rest = walk.rest.as_slice()[from.edges as usize..].iter();
        }
        walk
    }

    /// Starts the next node; false at the end of the chunk.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        if let Some(&src) = self.whole.next() {
            let end = self.offsets[src as usize + 1];
            self.start(src, end);
            return true;
        }
        self.enter_part()
    }

    #[inline(always)]
    fn enter_part(&mut self) -> bool {
        let Some((src, count)) = self.part.take() else {
            return false;
        };
        let end = self.offsets[src as usize] + count;
        self.start(src, end);
        true
    }

    #[inline(always)]
    fn start(&mut self, src: u32, end: u32) {
        let first = self.offsets[src as usize];
        self.src = src;
        self.end = end;
        self.rest = self.targets[first as usize..end as usize].iter();
    }
}

/// Where a walk is: in registers while it goes on, and written back when it ends or a lane unwinds.
struct At<'w, 'a> {
    walk: &'w mut EdgesFrom<'a>,
    now: EdgesFrom<'a>,
}

impl Drop for At<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.walk.clone_from(&self.now);
    }
}

impl Walk for EdgesFrom<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let now = self.clone();
        let mut at = At { walk: self, now };
        loop {
            while let Some(&dst) = at.now.rest.next() {
                let index = at.now.end - at.now.rest.len() as u32 - 1;
                let src = at.now.src;
                body(Lane { index, src, dst });
            }
            if !at.now.enter() {
                return;
            }
        }
    }

    #[inline]
    fn current(&self) -> u32 {
        self.end - self.rest.len() as u32 - 1
    }
}

/// Where arrays begin, and the bytes of an element.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    len: usize,
    places: [(usize, usize); 4],
}

impl Places {
    fn add(&mut self, values: Slice<'_>) {
        if let Some(place) = self.places.get_mut(self.len) {
            *place = (values.address(), values.scalar().size_bytes() as usize);
            self.len += 1;
        }
    }

    #[inline(always)]
    fn prefetch(&self, index: u32) {
        for &(base, size) in &self.places[..self.len] {
            prefetch_at(base.wrapping_add(index as usize * size));
        }
    }
}

/// Where the lanes of a sweep over edges look.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    src: Places,
    dst: Places,
    index: Places,
}

impl Ahead {
    /// Fewer items are not worth it: often their neighbours' are still in a cache from the round before.
    const ITEMS: usize = ALONE;

    /// Of a sweep that finds little in a cache.
    fn of(store: &mut Store, args: &Args<'_>, wave: WaveId) -> Option<Ahead> {
        let Domain::EdgesFrom(topology, frontier) = store.program.waves[wave.index()].domain else {
            return None;
        };
        let items = store.frontiers[frontier.index()].items.get_mut();
        if !store.graphs[topology.index()].far || items.len() < Self::ITEMS {
            return None;
        }
        let mut ahead = Ahead::default();
        let looks = &store.looks[wave.index()];
        for (ids, places) in [
            (&looks.src, &mut ahead.src),
            (&looks.dst, &mut ahead.dst),
            (&looks.index, &mut ahead.index),
        ] {
            for id in ids {
                let lent = args.inputs.iter().find(|(b, _)| b == id);
                match lent.filter(|_| is_lent(&store.program.buffers[id.index()])) {
                    Some((_, values)) => places.add(*values),
                    None => places.add(store.buffers[id.index()].get_mut().as_slice()),
                }
            }
        }
        Some(ahead)
    }
}

/// The same edges, some at a time: what their lanes will look at is asked for before the first of them runs.
struct Batches<'a> {
    walk: EdgesFrom<'a>,
    looks: &'a Ahead,
    lanes: [Lane; Batches::LANES],
    at: usize,
    len: usize,
}

impl Batches<'_> {
    const LANES: usize = 64;
    /// So many items ahead, a row is asked for, and twice as many ahead, where it begins.
    const ROWS: usize = 8;

    fn fill(&mut self) {
        let walk = &mut self.walk;
        (self.at, self.len) = (0, 0);
        while self.len < Self::LANES {
            if let Some(&dst) = walk.rest.next() {
                let index = walk.end - walk.rest.len() as u32 - 1;
                let src = walk.src;
                self.lanes[self.len] = Lane { index, src, dst };
                self.len += 1;
                self.looks.dst.prefetch(dst);
                continue;
            }
            let coming = walk.whole.as_slice();
            if let Some(&v) = coming.get(2 * Self::ROWS) {
                prefetch(walk.offsets, v as usize);
            }
            if let Some(&v) = coming.get(Self::ROWS) {
                let first = walk.offsets[v as usize];
                prefetch(walk.targets, first as usize);
                self.looks.index.prefetch(first);
                self.looks.src.prefetch(v);
            }
            if !walk.enter() {
                return;
            }
        }
    }
}

impl Walk for Batches<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        loop {
            while self.at < self.len {
                let lane = self.lanes[self.at];
                self.at += 1;
                body(lane);
            }
            self.fill();
            if self.len == 0 {
                return;
            }
        }
    }

    #[inline]
    fn current(&self) -> u32 {
        self.lanes[self.at - 1].index
    }
}

/// Of the edges from a frontier, one into each node that may not have been claimed; see [`crate::plan::pull`]. The kernel
/// looks at the destination only.
struct Pulled<'a> {
    into: &'a Csr,
    front: &'a [u64],
    done: &'a [u64],
    next: usize,
    end: usize,
}

impl Pulled<'_> {
    /// So many nodes ahead, a row is asked for.
    const AHEAD: usize = 16;
}

impl Walk for Pulled<'_> {
    // A lane claims its own destination.
    const APART: bool = true;

    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let (offsets, targets) = (self.into.offsets(), self.into.targets());
        while self.next < self.end {
            let waiting = !self.done[self.next / 64] >> (self.next % 64);
            if waiting == 0 {
                self.next = (self.next / 64 + 1) * 64;
                continue;
            }
            let v = self.next + waiting.trailing_zeros() as usize;
            self.next = v + 1;
            if v >= self.end {
                return;
            }
            // Only the start of a row is looked at, as a rule: nobody else foresees where the next ones lie.
            if let Some(&ahead) = offsets.get(v + Self::AHEAD) {
                prefetch(targets, ahead as usize);
            }
            let from = &targets[offsets[v] as usize..offsets[v + 1] as usize];
            let in_front = |&&u: &&u32| self.front[u as usize / 64] >> (u % 64) & 1 != 0;
            if let Some(&src) = from.iter().find(in_front) {
                body(Lane {
                    index: 0,
                    src,
                    dst: v as u32,
                });
            }
        }
    }

    fn current(&self) -> u32 {
        (self.next - 1) as u32
    }
}

/// The end of a round: what a fixpoint's condition may look at.
#[derive(Debug)]
pub struct Until<'s> {
    store: &'s Store,
    fixpoint: FixpointId,
    round: u32,
}

/// A frontier as a condition sees it.
#[derive(Clone, Copy, Debug)]
pub struct FrontierView {
    len: u32,
}

impl FrontierView {
    /// Items pushed since the last flip, or appended since the run began.
    pub fn len(self) -> u32 {
        self.len
    }

    /// There are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl Until<'_> {
    /// Which fixpoint.
    pub fn fixpoint(&self) -> FixpointId {
        self.fixpoint
    }

    /// The round that has just ended, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// A frontier.
    pub fn frontier(&self, id: u16) -> FrontierView {
        FrontierView {
            len: self.store.frontiers[id as usize].len() as u32,
        }
    }

    /// A list.
    pub fn list(&self, id: u16) -> FrontierView {
        FrontierView {
            len: self.store.lists[id as usize].items.borrow().len() as u32,
        }
    }

    /// A reduction's value.
    pub fn reduction<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.store.reductions[id as usize].get())
    }

    /// A scalar of the run.
    pub fn scalar<T: Element>(&self, id: u16) -> T {
        T::from_bits64(self.store.sizes.scalars[id as usize])
    }

    /// Number of nodes.
    pub fn nodes_count(&self) -> u32 {
        self.store.sizes.nodes as u32
    }
}

/// Runs a pass's own functions on the threads of the global rayon pool; of a batch, one query a thread.
///
/// Needs `panic = "unwind"`: traps unwind out of the user's functions.
#[derive(Debug)]
pub struct NativeExecutor<P> {
    store: Store,
    /// States of further queries of a batch; kept for the next batch.
    slots: Vec<Store>,
    /// Queries of a batch that may be in memory at once.
    max_slots: usize,
    batches: u64,
    /// Counted by slots that are no more.
    dropped: Counters,
    pass: PhantomData<fn() -> P>,
}

impl<P: Functions> NativeExecutor<P> {
    /// Copies the topologies; `program` is the verified program of `P`.
    pub fn new(
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<NativeExecutor<P>, RunError> {
        fault::install_hook();
        let mut store = Store::new(program, topology, allocation)?;
        store.share_rows();
        Ok(NativeExecutor {
            store,
            slots: Vec::new(),
            max_slots: usize::MAX,
            batches: 0,
            dropped: Counters::default(),
            pass: PhantomData,
        })
    }
}

impl<P> NativeExecutor<P> {
    /// A run that takes more items and rounds than this ends in [`RunError::Work`]. Loops in the user's functions are not
    /// counted.
    #[must_use]
    pub fn with_work_limit(mut self, limit: u64) -> NativeExecutor<P> {
        self.store.most_work = limit;
        self
    }
}

impl<P: Functions> Executor for NativeExecutor<P> {
    fn peak_bytes(&self) -> Option<u64> {
        Some(self.store.peak_bytes())
    }

    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let mut backend = Native::<P>::new(&mut []);
        self.store.run_series(series, &mut backend, results)
    }

    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let program = &self.store.program;
        let may_trap = may_trap || program.waves.iter().any(|w| can_trap(program, w));
        let copies = may_trap.then(|| {
            let copies = in_outs.iter().map(|(id, s)| {
                let copy = s.as_slice().try_to_column();
                copy.ok_or_else(|| {
                    let buffer = &program.buffers[id.index()];
                    no_memory_for(buffer, s.as_slice().len())
                })
            });
            copies.collect::<Result<Vec<columns::Column>, RunError>>()
        });
        let copies = copies.transpose()?;
        let series = std::slice::from_ref(args);
        let mut results = Outcome::default();
        let mut backend = Native::<P>::new(in_outs);
        let result = self.store.run_series(series, &mut backend, &mut results);
        if let (true, Some(copies)) = (result.is_err(), copies) {
            for ((_, to), from) in in_outs.iter_mut().zip(&copies) {
                let restored = to.assign(from.as_slice());
                debug_assert!(restored, "the copy was made of it");
            }
        }
        result.map(|()| results)
    }

    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        let threads = match threads() {
            Ok(threads) => threads,
            Err(e) => return vec![Err(e)],
        };
        let workers = threads.min(queries.len()).min(self.max_slots).max(1);
        while self.slots.len() + 1 < workers {
            match self.store.sibling() {
                Ok(slot) => self.slots.push(slot),
                Err(e) => return vec![Err(e)],
            }
        }
        self.batches += u64::from(!queries.is_empty());
        let parallel_from = self.store.parallel_from;
        // With a query for each thread, sweeps need no further threads.
        let each = if workers == threads && workers > 1 {
            u64::MAX
        } else {
            parallel_from
        };
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = |store: &mut Store| {
            store.parallel_from = each;
            let mut mine = Vec::new();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(args) = queries.get(at) else { break };
                let mut results = Outcome::default();
                let run = store.run(args, &mut Native::<P>::new(&mut []), Some(&mut results));
                mine.push((at, run.map(|()| results)));
            }
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.append(&mut mine);
        };
        let stores = std::iter::once(&mut self.store).chain(&mut self.slots);
        if workers == 1 {
            stores.take(1).for_each(work);
        } else {
            rayon::scope(|scope| {
                for store in stores.take(workers) {
                    scope.spawn(|_| work(store));
                }
            });
        }
        self.store.parallel_from = parallel_from;
        let stores = std::iter::once(&mut self.store).chain(&mut self.slots);
        Store::level(&mut stores.collect::<Vec<_>>());
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(at, _)| at);
        done.into_iter().map(|(_, result)| result).collect()
    }

    fn slots(&self) -> u32 {
        rayon::current_num_threads() as u32
    }

    fn update(&mut self, topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        self.store.update(topology)?;
        self.store.share_rows();
        for slot in self.slots.drain(..) {
            self.dropped = self.dropped.plus(&slot.counts);
        }
        Ok(true)
    }

    fn lend_topology(
        &self,
        borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        self.store.lend_topology(borrow)
    }

    fn counters(&self) -> Option<Counters> {
        let mut sum = self.store.counts.plus(&self.dropped);
        for slot in &self.slots {
            sum = sum.plus(&slot.counts);
        }
        sum.launches += self.batches;
        sum.fences += self.batches;
        Some(sum)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ctas: rayon::current_num_threads() as u32,
            lanes_per_cta: CHUNK as u32,
            ctas_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: true,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let limits = self.limits();
        let mut notes = Vec::new();
        if hint.route == Route::Jit {
            notes.push("jit wanted, not available: the functions are compiled already");
        }
        if hint.ctas > 1 && hint.ctas < limits.max_ctas {
            notes.push("fewer threads wanted, not available: a sweep takes one or all");
        }
        self.store.parallel_from = match hint.ctas {
            1 => u64::MAX,
            _ => hint.parallel_from,
        };
        for store in std::iter::once(&mut self.store).chain(&mut self.slots) {
            store.pack_up_to_bytes = hint.pack_up_to_bytes;
            store.sweeps = hint.sweeps;
            store.time_waves = hint.time_waves;
        }
        self.max_slots = hint.slots.max(1) as usize;
        if self.slots.len() >= self.max_slots {
            for slot in self.slots.drain(self.max_slots - 1..) {
                self.dropped = self.dropped.plus(&slot.counts);
            }
        }
        Followed {
            ctas: if hint.ctas == 1 { 1 } else { limits.max_ctas },
            code: "native",
            sweeps: Some(hint.sweeps.start),
            notes,
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.store.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.store.progress = progress;
    }
}

struct Native<'b, 'a, P> {
    in_outs: &'b mut [(BufferId, SliceMut<'a>)],
    pass: PhantomData<P>,
}

impl<'b, 'a, P> Native<'b, 'a, P> {
    fn new(in_outs: &'b mut [(BufferId, SliceMut<'a>)]) -> Self {
        Native {
            in_outs,
            pass: PhantomData,
        }
    }
}

impl<P: Functions> Backend for Native<'_, '_, P> {
    fn borrows(&self, input: &Buffer) -> bool {
        is_lent(input)
    }

    fn in_outs(&self) -> &[(BufferId, SliceMut<'_>)] {
        self.in_outs
    }

    fn sweep(&mut self, store: &mut Store, args: &Args<'_>, (wave, round): (WaveId, u32)) {
        let in_outs = self.in_outs.iter_mut();
        let in_outs = in_outs.map(|(id, s)| (*id, s.reborrow())).collect();
        let ahead = Ahead::of(store, args, wave);
        P::wave(&Sweep {
            store,
            ahead: ahead.as_ref(),
            inputs: &args.inputs,
            in_outs: RefCell::new(in_outs),
            wave,
            round,
        });
        store.settle_lists();
    }

    fn until(
        &mut self,
        store: &mut Store,
        fixpoint: FixpointId,
        round: u32,
    ) -> Result<bool, Fault> {
        let store = &*store;
        let cx = Until {
            store,
            fixpoint,
            round,
        };
        let _in_lane = InLane::enter(Lanes::Alone);
        catch_unwind(AssertUnwindSafe(|| P::until(&cx))).map_err(|payload| {
            let mut fault = fault::classify(payload);
            let kernel = store.program.fixpoints[fixpoint.index()].until;
            refine(&store.program, kernel, &mut fault);
            fault
        })
    }
}
