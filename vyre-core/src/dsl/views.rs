//! The views through which lanes see buffers, and the only `unsafe` of this crate.
//!
//! Zeroed memory is asked for where none may be left, which std's vectors cannot. Five reinterpretations are needed and
//! std has no stable safe form of them: a slice as a [`Buf`] or a [`Row`] (slices that are indexed by `u32`), an
//! exclusively borrowed slice as atomics, an owned vector as one of atomics and back, an owned vector as one of arrays,
//! and a vector that a single thread grows through a shared reference. Rows lie in a session, and kernels take them by
//! reference as if they were the host's own. [`Arrays`] have one length for all their slices, so that an index is
//! checked once. Besides, there is a hint to the cache.

use crate::dsl::columns::{Column, Element, Slice};
use crate::dsl::fault;
use crate::dsl::rows::Rows;
use crate::vir0::scalar::{Scalar, ScalarType};
use crate::vir0::subject::Dimension;
use std::alloc::{Layout, alloc_zeroed};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, Index, IndexMut, Range};
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed,
};

/// A whole buffer, indexed by `u32`; every index is checked.
///
/// Out of bounds, a lane traps with the index, the length and its own source position; elsewhere indexing panics.
///
/// ```
/// use vyre_core::dsl::Buf;
/// let xs = Buf::new(&[2.0, 3.0]);
/// assert_eq!((xs[1], xs.len()), (3.0, 2));
/// ```
#[repr(transparent)]
pub struct Buf<T>([T]);

impl<T> Buf<T> {
    /// A slice as a buffer.
    pub fn new(values: &[T]) -> &Buf<T> {
        // SAFETY: `Buf<T>` is a transparent wrapper of `[T]`: same layout, same metadata, same validity; the result
        // borrows `values` for as long.
        unsafe { &*(std::ptr::from_ref(values) as *const Buf<T>) }
    }

    /// Number of elements.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "buffers of a pass have at most u32::MAX elements"
    )]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: AtomicElement> Buf<Atomic<T>> {
    /// An exclusively borrowed slice as a buffer of atomics.
    ///
    /// ```
    /// use vyre_core::dsl::{Atomic, Buf};
    /// let mut dist = [7, 9];
    /// let view: &Buf<Atomic<u32>> = Buf::atomic(&mut dist);
    /// assert_eq!(view[1].fetch_min(4), 9);
    /// assert_eq!(dist, [7, 4]);
    /// ```
    pub fn atomic(values: &mut [T]) -> &mut Buf<Atomic<T>> {
        const {
            assert!(size_of::<T>() == size_of::<T::Cell>());
            assert!(align_of::<T>() == align_of::<T::Cell>());
        }
        // SAFETY: `Buf<Atomic<T>>` wraps `[T::Cell]` transparently, and `T::Cell` is the std atomic with the size and
        // (checked above) the alignment of `T`, every value of which is valid as `T` and the other way round. The
        // mutable borrow makes this the only way to the values while the view lives, so no access through it meets a
        // non-atomic one.
        unsafe { &mut *(std::ptr::from_mut(values) as *mut Buf<Atomic<T>>) }
    }
}

/// A vector as a vector of atomics, in the same memory.
pub(crate) fn into_atomic<T: AtomicElement>(values: Vec<T>) -> Vec<Atomic<T>> {
    const {
        assert!(size_of::<T>() == size_of::<T::Cell>());
        assert!(align_of::<T>() == align_of::<T::Cell>());
    }
    let mut values = ManuallyDrop::new(values);
    let (first, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
    // SAFETY: the vector gives its allocation up. `Atomic<T>` wraps `T::Cell` transparently, the std atomic with the
    // size and alignment of `T` (checked above), so the allocation's layout and the validity of its elements are the
    // same.
    unsafe { Vec::from_raw_parts(first.cast::<Atomic<T>>(), len, capacity) }
}

/// Inverse of [`into_atomic`].
pub(crate) fn from_atomic<T: AtomicElement>(values: Vec<Atomic<T>>) -> Vec<T> {
    const {
        assert!(size_of::<T>() == size_of::<T::Cell>());
        assert!(align_of::<T>() == align_of::<T::Cell>());
    }
    let mut values = ManuallyDrop::new(values);
    let (first, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
    // SAFETY: the vector gives its allocation up, and as it is owned, nothing else accesses its elements. `Atomic<T>`
    // and `T` have one size, one alignment (checked above) and the same valid bytes.
    unsafe { Vec::from_raw_parts(first.cast::<T>(), len, capacity) }
}

/// A vector as one of arrays, in the same memory; as it was where it has no whole number of them, or room for none.
pub(crate) fn into_arrays<T: AtomicElement, const N: usize>(
    values: Vec<T>,
) -> Result<Vec<[T; N]>, Vec<T>> {
    const { assert!(N > 0) }
    let whole = |n: usize| n.is_multiple_of(N);
    if !whole(values.len()) || !whole(values.capacity()) {
        return Err(values);
    }
    let mut values = ManuallyDrop::new(values);
    let (first, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
    // SAFETY: the vector gives its allocation up. `[T; N]` is `N` elements that follow each other, with the alignment of
    // `T`, so the allocation of `capacity` elements is one of `capacity / N` arrays, of which the first `len / N` are
    // initialized: both are whole numbers.
    Ok(unsafe { Vec::from_raw_parts(first.cast::<[T; N]>(), len / N, capacity / N) })
}

impl<T> Index<u32> for Buf<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: u32) -> &T {
        match self.0.get(index as usize) {
            Some(value) => value,
            None => fault::out_of_bounds(index, self.0.len()),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Buf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A row of values, which a lane has as `&Row<T>`, or as `&mut Row<T>` where it is the item's own; every place is checked.
///
/// ```
/// use vyre_core::dsl::Rows;
/// let rows = Rows::from_rows([[3, 1, 4].as_slice(), &[]]).unwrap();
/// let row = rows.row(0);
/// assert_eq!((row.len(), row.at(2)), (3, 4));
/// assert!(row.part(1..3).into_iter().eq([1, 4]));
/// assert!(row.rev().enumerate().eq([(0, 4), (1, 1), (2, 3)]));
/// ```
#[repr(transparent)]
#[derive(PartialEq, Eq)]
pub struct Row<T>([T]);

impl<T> Row<T> {
    /// A slice as a row.
    #[inline]
    pub fn new(values: &[T]) -> &Row<T> {
        // SAFETY: `Row<T>` is a transparent wrapper of `[T]`: same layout, same metadata, same validity; the result
        // borrows `values` for as long.
        unsafe { &*(std::ptr::from_ref(values) as *const Row<T>) }
    }

    /// The same of one that is the lane's own.
    #[inline]
    pub fn new_mut(values: &mut [T]) -> &mut Row<T> {
        // SAFETY: as in `new`; the result borrows `values` exclusively for as long.
        unsafe { &mut *(std::ptr::from_mut(values) as *mut Row<T>) }
    }

    /// How many values it has.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "all rows together have less than u32::MAX values"
    )]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// It has no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As they lie in memory.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Those from one place to before another. Traps in a lane, and panics elsewhere, when that is no part of the row.
    #[inline]
    #[track_caller]
    pub fn part(&self, places: Range<u32>) -> &Row<T> {
        let Range { start, end } = places;
        if end > self.len() {
            fault::outside(Dimension::Place, end - 1, self.0.len())
        }
        if start > end {
            fault::outside(Dimension::Place, start, end as usize)
        }
        Row::new(&self.0[start as usize..end as usize])
    }
}

impl<T: Copy> Row<T> {
    /// The value at a place, from 0 on. Traps in a lane, and panics elsewhere, when there is no such place.
    #[inline]
    #[track_caller]
    pub fn at(&self, place: u32) -> T {
        match self.0.get(place as usize) {
            Some(&value) => value,
            None => fault::outside(Dimension::Place, place, self.0.len()),
        }
    }

    /// Exchanges the values at two places, which are places of the row.
    #[inline]
    #[track_caller]
    pub fn swap(&mut self, a: u32, b: u32) {
        let (x, y) = (self[a], self[b]);
        self[a] = y;
        self[b] = x;
    }

    /// Makes all values this one.
    #[inline]
    pub fn fill(&mut self, value: T) {
        self.0.fill(value);
    }

    /// All of them, as by `into_iter`.
    #[inline]
    pub fn iter(&self) -> std::iter::Copied<std::slice::Iter<'_, T>> {
        self.0.iter().copied()
    }

    /// From the last one on.
    #[inline]
    pub fn rev(&self) -> std::iter::Rev<std::iter::Copied<std::slice::Iter<'_, T>>> {
        self.iter().rev()
    }

    /// Each with its place.
    #[inline]
    pub fn enumerate(&self) -> std::iter::Enumerate<std::iter::Copied<std::slice::Iter<'_, T>>> {
        self.iter().enumerate()
    }

    /// Each with what stands at the same place elsewhere.
    #[inline]
    pub fn zip<I: IntoIterator>(
        &self,
        other: I,
    ) -> std::iter::Zip<std::iter::Copied<std::slice::Iter<'_, T>>, I::IntoIter> {
        self.iter().zip(other)
    }
}

impl<T> Index<u32> for Row<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, place: u32) -> &T {
        match self.0.get(place as usize) {
            Some(value) => value,
            None => fault::outside(Dimension::Place, place, self.0.len()),
        }
    }
}

impl<T> IndexMut<u32> for Row<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, place: u32) -> &mut T {
        let len = self.0.len();
        match self.0.get_mut(place as usize) {
            Some(value) => value,
            None => fault::outside(Dimension::Place, place, len),
        }
    }
}

impl<'r, T: Copy> IntoIterator for &'r Row<T> {
    type Item = T;
    type IntoIter = std::iter::Copied<std::slice::Iter<'r, T>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Values that are owned, or lent as long as a [`LentRows`] is there.
pub(crate) struct Held<T> {
    values: NonNull<[T]>,
    is_owned: bool,
}

// SAFETY: it is a `Box<[T]>` or a `&[T]`; it gives nothing but `&[T]`.
unsafe impl<T: Send + Sync> Send for Held<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Held<T> {}

impl<T> Held<T> {
    pub(crate) fn own(values: Vec<T>) -> Held<T> {
        Held {
            values: NonNull::from(Box::leak(values.into_boxed_slice())),
            is_owned: true,
        }
    }

    /// It is in a [`LentRows`] that borrows the values, and never leaves it.
    fn lent(values: &[T]) -> Held<T> {
        Held {
            values: NonNull::from(values),
            is_owned: false,
        }
    }
}

impl<T> Deref for Held<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: it owns the values, which nothing else can reach, or they are borrowed for as long as it is there.
        unsafe { self.values.as_ref() }
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        if self.is_owned {
            // SAFETY: the values were leaked from a box when they were taken, and are given back once.
            drop(unsafe { Box::from_raw(self.values.as_ptr()) });
        }
    }
}

/// Rows that lie elsewhere, as kernels take them.
pub struct LentRows<'a, T> {
    rows: Rows<T>,
    lends: PhantomData<(&'a [u32], &'a [T])>,
}

impl<'a, T> LentRows<'a, T> {
    /// Offsets of rows and their values, as [`Rows::new`] has checked them.
    pub(crate) fn new(offsets: &'a [u32], values: &'a [T]) -> LentRows<'a, T> {
        LentRows {
            rows: Rows {
                offsets: Held::lent(offsets),
                values: Held::lent(values),
            },
            lends: PhantomData,
        }
    }
}

impl<T> Deref for LentRows<'_, T> {
    type Target = Rows<T>;

    #[inline]
    fn deref(&self) -> &Rows<T> {
        &self.rows
    }
}

/// A buffer element that every lane may access at once; all operations are relaxed and return the old value, except
/// `compare_exchange`, which says whether it stored.
#[repr(transparent)]
pub struct Atomic<T: AtomicElement>(T::Cell);

impl<T: AtomicElement + fmt::Debug> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: AtomicElement> Atomic<T> {
    /// Reads a lane's own element.
    #[inline]
    pub(crate) fn get(&self) -> T {
        T::get(&self.0)
    }

    /// Writes a lane's own element.
    #[inline]
    pub(crate) fn put(&self, value: T) {
        T::put(&self.0, value);
    }
}

/// An element type with an atomic of the same layout: all of them.
///
/// The safety of [`Buf::atomic`] rests on `Cell` being that atomic, so the trait is sealed.
pub trait AtomicElement: Element + sealed::Sealed {
    /// The std atomic.
    #[doc(hidden)]
    type Cell: Send + Sync;
    #[doc(hidden)]
    fn get(cell: &Self::Cell) -> Self;
    #[doc(hidden)]
    fn put(cell: &Self::Cell, value: Self);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! cells {
    ($($ty:ty, $cell:ty, $from:expr, $to:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl AtomicElement for $ty {
            type Cell = $cell;
            #[inline]
            fn get(cell: &$cell) -> $ty { ($from)(cell.load(Relaxed)) }
            #[inline]
            fn put(cell: &$cell, value: $ty) { cell.store(($to)(value), Relaxed) }
        }
    )*};
}

use std::convert::identity as same;
cells! {
    bool, AtomicBool, same, same;
    u8, AtomicU8, same, same;
    u32, AtomicU32, same, same;
    i32, AtomicI32, same, same;
    u64, AtomicU64, same, same;
    i64, AtomicI64, same, same;
    f32, AtomicU32, f32::from_bits, f32::to_bits;
    f64, AtomicU64, f64::from_bits, f64::to_bits;
}

macro_rules! common {
    ($ty:ty, $from:expr, $to:expr) => {
        /// The value.
        #[inline]
        pub fn load(&self) -> $ty {
            self.get()
        }

        /// Overwrites the value.
        #[inline]
        pub fn store(&self, value: $ty) {
            self.put(value);
        }

        /// Overwrites the value; the old one.
        #[inline]
        pub fn swap(&self, value: $ty) -> $ty {
            if fault::alone() {
                let old = self.get();
                self.put(value);
                return old;
            }
            ($from)(self.0.swap(($to)(value), Relaxed))
        }

        /// Stores `new` if the value has the bits of `expected`; whether it did.
        #[inline]
        pub fn compare_exchange(&self, expected: $ty, new: $ty) -> bool {
            // Most attempts of a traversal fail: a load costs a fraction of a locked instruction.
            let expected = ($to)(expected);
            if self.0.load(Relaxed) != expected {
                return false;
            }
            if fault::alone() {
                self.put(new);
                return true;
            }
            self.0
                .compare_exchange(expected, ($to)(new), Relaxed, Relaxed)
                .is_ok()
        }

        /// Stores `new` if the value has the bits of `expected`; the old value in any case.
        #[inline]
        pub fn compare_and_swap(&self, expected: $ty, new: $ty) -> $ty {
            let expected = ($to)(expected);
            let old = self.0.load(Relaxed);
            if old != expected {
                return ($from)(old);
            }
            if fault::alone() {
                self.put(new);
                return ($from)(old);
            }
            let result = self
                .0
                .compare_exchange(expected, ($to)(new), Relaxed, Relaxed);
            ($from)(result.unwrap_or_else(same))
        }
    };
}

// An update that would not change the value is a load: in the order of the cell's modifications it stands right after
// the write that it read.
macro_rules! updates {
    ($ty:ty, $($(#[$doc:meta])* $name:ident |$old:ident, $value:ident| $new:expr, $atomic:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name(&self, $value: $ty) -> $ty {
            let $old = self.get();
            let new: $ty = $new;
            if new.to_bits64() == $old.to_bits64() {
                return $old;
            }
            if fault::alone() {
                self.put(new);
                return $old;
            }
            let atomic: fn(&Self, $ty) -> $ty = $atomic;
            atomic(self, $value)
        }
    )*};
}

macro_rules! integer_atomics {
    ($($ty:ty;)*) => {$(
        impl Atomic<$ty> {
            common!($ty, same, same);
            updates! { $ty,
                /// Adds, wrapping; the old value.
                fetch_add |old, value| old.wrapping_add(value), |a, x| a.0.fetch_add(x, Relaxed);
                /// Subtracts, wrapping; the old value.
                fetch_sub |old, value| old.wrapping_sub(value), |a, x| a.0.fetch_sub(x, Relaxed);
                /// Keeps the smaller; the old value.
                fetch_min |old, value| old.min(value), |a, x| a.0.fetch_min(x, Relaxed);
                /// Keeps the larger; the old value.
                fetch_max |old, value| old.max(value), |a, x| a.0.fetch_max(x, Relaxed);
                /// Bitwise and; the old value.
                fetch_and |old, value| old & value, |a, x| a.0.fetch_and(x, Relaxed);
                /// Bitwise or; the old value.
                fetch_or |old, value| old | value, |a, x| a.0.fetch_or(x, Relaxed);
                /// Bitwise exclusive or; the old value.
                fetch_xor |old, value| old ^ value, |a, x| a.0.fetch_xor(x, Relaxed);
            }
        }
    )*};
}
integer_atomics! { u32; i32; u64; i64; }

macro_rules! float_atomics {
    ($($ty:ident;)*) => {$(
        impl Atomic<$ty> {
            common!($ty, $ty::from_bits, $ty::to_bits);

            fn update(&self, f: impl Fn($ty) -> $ty) -> $ty {
                let mut old = self.0.load(Relaxed);
                loop {
                    let new = f($ty::from_bits(old)).to_bits();
                    match self.0.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                        Ok(_) => return $ty::from_bits(old),
                        Err(now) => old = now,
                    }
                }
            }

            updates! { $ty,
                /// Adds; the old value.
                fetch_add |old, value| old + value, |a, x| a.update(|old| old + x);
                /// Subtracts; the old value.
                fetch_sub |old, value| old - value, |a, x| a.update(|old| old - x);
                /// Keeps the smaller, a number rather than a NaN; the old value.
                fetch_min |old, value| old.min(value), |a, x| a.update(|old| old.min(x));
                /// Keeps the larger, a number rather than a NaN; the old value.
                fetch_max |old, value| old.max(value), |a, x| a.update(|old| old.max(x));
            }
        }
    )*};
}
float_atomics! { f32; f64; }

/// Arrays of one length, one for each scalar of a [`Scalars`]: an index is checked once for all of them.
pub struct Arrays<'a, S: Scalars> {
    /// Each is where an array of `len` elements begins, which is borrowed for `'a`.
    first: S::Pointers,
    len: usize,
    borrowed: PhantomData<&'a ()>,
}

impl<S: Scalars> Clone for Arrays<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Scalars> Copy for Arrays<'_, S> {}

// SAFETY: it is what shared slices of scalars are, which other threads may have.
unsafe impl<S: Scalars> Send for Arrays<'_, S> {}
// SAFETY: shared, it only reads, as a shared slice of scalars does.
unsafe impl<S: Scalars> Sync for Arrays<'_, S> {}

impl<'a, S: Scalars> Arrays<'a, S> {
    /// One for each scalar, of its type, all of one length; panics otherwise.
    pub(crate) fn new(from: impl Iterator<Item = Slice<'a>>) -> Self {
        let mut from = from.peekable();
        let len = from.peek().map_or(0, Slice::len) / S::EACH;
        Arrays {
            first: S::pointers(&mut from, len),
            len,
            borrowed: PhantomData,
        }
    }

    /// Elements of each.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The scalars at an index.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<S> {
        // SAFETY: each array has `len` elements, and nothing writes to them while they are borrowed.
        (at < self.len).then(|| unsafe { S::read(&self.first, at) })
    }

    /// The scalars at each index.
    #[inline]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = S> {
        // SAFETY: `at` is below `len`, and nothing writes to the arrays while they are borrowed.
        (0..self.len).map(|at| unsafe { S::read(&self.first, at) })
    }

    /// The first elements, and the rest; panics where there are fewer.
    #[inline]
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        assert!(at <= self.len, "there are so many elements");
        let part = |first, len| Arrays {
            first,
            len,
            borrowed: PhantomData,
        };
        // Each array has `at` elements before the rest.
        let rest = S::after(&self.first, at);
        (part(self.first, at), part(rest, self.len - at))
    }
}

/// A scalar, or a tuple of such: what stands in [`Arrays`]. No other crate can name it, so it is implemented here only.
pub trait Scalars: Copy {
    /// How many elements of the first array are one value: an array's own elements lie side by side.
    const EACH: usize = 1;
    /// Where the array of each scalar begins.
    type Pointers: Copy;
    /// Takes an array of this length for each scalar; panics for another.
    fn pointers<'a>(from: &mut impl Iterator<Item = Slice<'a>>, len: usize) -> Self::Pointers;
    /// `at` elements further on.
    fn after(first: &Self::Pointers, at: usize) -> Self::Pointers;
    /// The scalars at an index.
    ///
    /// # Safety
    /// Each array is borrowed and has more elements than that.
    unsafe fn read(first: &Self::Pointers, at: usize) -> Self;
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Scalars for $ty {
            type Pointers = *const $ty;
            fn pointers<'a>(from: &mut impl Iterator<Item = Slice<'a>>, len: usize) -> *const $ty {
                let array = from.next().and_then(<$ty>::in_slice);
                let array = array.expect("there is an array for each scalar, of its type");
                assert!(array.len() == len, "fields of one length");
                array.as_ptr()
            }
            #[inline]
            fn after(first: &*const $ty, at: usize) -> *const $ty { first.wrapping_add(at) }
            #[inline]
            unsafe fn read(first: &*const $ty, at: usize) -> $ty {
                // SAFETY: the caller promises a borrowed array with more elements than `at`.
                unsafe { *first.add(at) }
            }
        }
    )*};
}
scalars! { bool u8 u32 i32 f32 u64 i64 f64 }

impl<T: AtomicElement, const N: usize> Scalars for [T; N] {
    const EACH: usize = N;
    type Pointers = *const [T; N];
    fn pointers<'a>(from: &mut impl Iterator<Item = Slice<'a>>, len: usize) -> *const [T; N] {
        let array = from.next().and_then(T::in_slice);
        let array = array.expect("there is an array for each scalar, of its type");
        let (values, rest) = array.as_chunks();
        assert!(
            values.len() == len && rest.is_empty(),
            "fields of one length"
        );
        values.as_ptr()
    }
    #[inline]
    fn after(first: &*const [T; N], at: usize) -> *const [T; N] {
        first.wrapping_add(at)
    }
    #[inline]
    unsafe fn read(first: &*const [T; N], at: usize) -> [T; N] {
        // SAFETY: the caller promises a borrowed array with more elements than `at`.
        unsafe { *first.add(at) }
    }
}

macro_rules! tuples {
    ($($($ty:ident $i:tt)+;)*) => {$(
        impl<$($ty: Scalars),+> Scalars for ($($ty,)+) {
            type Pointers = ($($ty::Pointers,)+);
            fn pointers<'a>(from: &mut impl Iterator<Item = Slice<'a>>, len: usize) -> Self::Pointers {
                ($($ty::pointers(from, len),)+)
            }
            #[inline]
            fn after(first: &Self::Pointers, at: usize) -> Self::Pointers { ($($ty::after(&first.$i, at),)+) }
            #[inline]
            unsafe fn read(first: &Self::Pointers, at: usize) -> Self {
                // SAFETY: the caller promises of each that it is a borrowed array with more elements than `at`.
                unsafe { ($($ty::read(&first.$i, at),)+) }
            }
        }
    )*};
}
tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}

/// Asks for the cache line of an element that is about to be read. Where there is no such hint, nothing happens.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    prefetch_at(values.as_ptr().wrapping_add(index).addr());
}

/// The same by address.
#[inline(always)]
pub(crate) fn prefetch_at(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing, whatever the address; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// A vector of zeros, whose memory the system clears when it is first touched; `None` where there is no memory.
pub(crate) fn zeros<T: AtomicElement>(len: usize) -> Option<Vec<T>> {
    let layout = Layout::array::<T>(len).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout has a size.
    let first = unsafe { alloc_zeroed(layout) };
    if first.is_null() {
        return None;
    }
    // SAFETY: the allocation is new, has the layout of `len` elements, and zeroed bytes are a value of every `T`: the
    // trait is sealed, and its types are bools, integers and floats.
    Some(unsafe { Vec::from_raw_parts(first.cast::<T>(), len, len) })
}

impl Column {
    /// `len` elements, each with these raw bits ([`Column::filled`]); `None` where there is no memory.
    pub(crate) fn allocate(scalar: Scalar, len: usize, bits: u64) -> Option<Column> {
        fn values<T: AtomicElement>(len: usize, bits: u64) -> Option<Column> {
            let mut values = zeros::<T>(len)?;
            if bits != 0 {
                values.fill(T::from_bits64(bits));
            }
            Some(T::column(values))
        }
        match scalar {
            Scalar::Bool => values::<bool>(len, bits),
            Scalar::U8 => values::<u8>(len, bits),
            Scalar::U32 => values::<u32>(len, bits),
            Scalar::I32 => values::<i32>(len, bits),
            Scalar::F32 => values::<f32>(len, bits),
            Scalar::U64 => values::<u64>(len, bits),
            Scalar::I64 => values::<i64>(len, bits),
            Scalar::F64 => values::<f64>(len, bits),
        }
    }
}

/// A vector that its thread grows through a shared reference.
#[derive(Debug, Default)]
pub(crate) struct Sink<T>(UnsafeCell<Vec<T>>);

impl<T> Sink<T> {
    pub(crate) fn new(items: Vec<T>) -> Sink<T> {
        Sink(UnsafeCell::new(items))
    }

    pub(crate) fn into_inner(self) -> Vec<T> {
        self.0.into_inner()
    }

    /// Number of items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // SAFETY: the sink is `!Sync`, so only this thread is here; the reference does not leave this call.
        unsafe { &*self.0.get() }.len()
    }

    /// Appends where there is memory for the item; whether there was.
    #[inline]
    pub(crate) fn put(&self, item: T) -> bool {
        // SAFETY: `UnsafeCell` makes the sink `!Sync`, so only this thread is here; the reference does not leave this
        // call, and nothing called below can reach the sink again.
        let items = unsafe { &mut *self.0.get() };
        let fits = items.len() < items.capacity();
        if fits {
            items.push(item);
        }
        fits
    }

    /// Takes another vector for its own.
    pub(crate) fn replace(&self, items: Vec<T>) -> Vec<T> {
        // SAFETY: the sink is `!Sync`, so only this thread is here; the reference does not leave this call.
        std::mem::replace(unsafe { &mut *self.0.get() }, items)
    }

    /// Takes memory for as many more items as there are, but no more than `limit` in all; false where it takes none.
    pub(crate) fn grow(&self, limit: usize) -> bool {
        // SAFETY: the sink is `!Sync`, so only this thread is here; the reference does not leave this call.
        let items = unsafe { &mut *self.0.get() };
        let more = items.len().max(4).min(limit.saturating_sub(items.len()));
        more > 0 && items.try_reserve_exact(more).is_ok()
    }

    /// The items.
    pub(crate) fn get_mut(&mut self) -> &mut Vec<T> {
        self.0.get_mut()
    }
}
