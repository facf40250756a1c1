//! Values of several scalars in arrays of their own: items of lists and frontiers, elements of struct-of-arrays
//! buffers.
//!
//! A backend keeps one array for each scalar. What is done for each element (load it, store it) is compiled for the
//! value's type, so that a loop over structs costs what the same loop over separate arrays costs; which array has which
//! type is looked at once a sweep.

use crate::dsl::columns::{Column, Element, SliceMut};
use crate::dsl::error::RunError;
use crate::dsl::views::{Arrays, Atomic, AtomicElement, Buf, Scalars, into_arrays};
use crate::vir0::module::BufferId;
use crate::vir0::scalar::Scalar;
use crate::vir0::scalar::ScalarType;
use std::cmp::Ordering;
use std::slice::IterMut;

/// What stands in lists, frontiers and struct-of-arrays buffers: a scalar, or a plain struct or tuple of records, with
/// at most [`MAX_FIELDS`](crate::vir0::module::MAX_FIELDS) scalars in all. [`record!`](crate::dsl::record) implements
/// it for a struct. Of a buffer, an array of scalars is an element too, but no part of one.
///
/// A backend keeps one array for each scalar, in declaration order, and arrays side by side; lanes see whole values.
pub trait Record: Copy + Send + Sync + 'static {
    /// The same value as nested tuples of scalars.
    type Shape: Shape;
    /// Takes it apart.
    fn into_shape(self) -> Self::Shape;
    /// Puts it together.
    fn from_shape(shape: Self::Shape) -> Self;
    /// What a trap calls the item: the low 32 bits of the first field.
    #[inline]
    fn key(self) -> u32 {
        self.into_shape().first()
    }
    /// Puts the values together whose scalars lie in these arrays; false, and none, where there is no memory for them.
    /// Where the array is the values, they are swapped.
    #[doc(hidden)]
    fn exchange(columns: &mut Vec<Column>, values: &mut Vec<Self>) -> bool {
        values.clear();
        let len = columns.first().map_or(0, Column::len);
        if values.try_reserve_exact(len).is_err() {
            return false;
        }
        if len > 0 {
            let arrays = Arrays::<Self::Shape>::new(columns.iter().map(Column::as_slice));
            values.extend(arrays.iter().map(Self::from_shape));
        }
        true
    }
}

/// Implements [`Record`](crate::dsl::record::Record) for a struct, given all its fields with their shapes: a scalar's
/// type, or for a struct or tuple the shapes of its fields as a tuple.
///
/// ```
/// use vyre_core::dsl::record::Record;
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Arc { to: u32, cost: f64 }
/// vyre_core::record!(Arc { to: u32, cost: f64 });
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Step { arc: Arc, last: bool }
/// vyre_core::record!(Step { arc: (u32, f64), last: bool });
/// let step = Step { arc: Arc { to: 7, cost: 0.5 }, last: true };
/// assert_eq!(step.into_shape(), ((7, 0.5), true));
/// assert_eq!(Step::from_shape(((7, 0.5), true)), step);
/// assert_eq!(step.key(), 7);
/// ```
#[macro_export]
macro_rules! record {
    ($name:ident { $($field:ident: $shape:ty),+ $(,)? }) => {
        impl $crate::dsl::record::Record for $name {
            type Shape = ($($shape,)+);
            #[inline]
            fn into_shape(self) -> Self::Shape {
                ($($crate::dsl::record::Record::into_shape(self.$field),)+)
            }
            #[inline]
            fn from_shape(($($field,)+): Self::Shape) -> Self {
                $name { $($field: $crate::dsl::record::Record::from_shape($field)),+ }
            }
        }
    };
}

/// A scalar, or a tuple of shapes: how the scalars of a [`Record`] lie in arrays. Implemented here only.
pub trait Shape: Scalars + Send + Sync + PartialEq + 'static {
    /// All zero.
    #[doc(hidden)]
    const ZERO: Self;
    /// Tells the type of each scalar, in the order of the arrays.
    #[doc(hidden)]
    fn each_scalar(tell: &mut impl FnMut(Scalar));
    /// Parts of arrays that have no other owner.
    #[doc(hidden)]
    type Parts<'a>: Send;
    /// Whole arrays whose elements lanes read and write, each its own.
    #[doc(hidden)]
    type Cells<'a>: Copy + Send + Sync;
    /// Takes an array for each scalar.
    #[doc(hidden)]
    fn parts<'a>(from: &mut impl Iterator<Item = SliceMut<'a>>) -> Self::Parts<'a>;
    /// The first elements, and the rest.
    #[doc(hidden)]
    fn cut(parts: Self::Parts<'_>, at: usize) -> (Self::Parts<'_>, Self::Parts<'_>);
    /// The first elements, borrowed.
    #[doc(hidden)]
    fn first_of<'p>(parts: &'p mut Self::Parts<'_>, len: usize) -> Self::Parts<'p>;
    /// An element.
    #[doc(hidden)]
    fn load(parts: &Self::Parts<'_>, at: usize) -> Self;
    /// Overwrites an element.
    #[doc(hidden)]
    fn store(self, parts: &mut Self::Parts<'_>, at: usize);
    /// Lets lanes have an element each.
    #[doc(hidden)]
    fn cells(parts: Self::Parts<'_>) -> Self::Cells<'_>;
    /// A lane's element.
    #[doc(hidden)]
    fn get(cells: &Self::Cells<'_>, at: u32) -> Self;
    /// Overwrites a lane's element.
    #[doc(hidden)]
    fn put(self, cells: &Self::Cells<'_>, at: u32);
    /// Appends to each array its part of the values, array by array.
    #[doc(hidden)]
    fn spread<T>(values: &[T], part: impl Fn(&T) -> Self + Copy, to: &mut IterMut<'_, Column>);
    /// The low 32 bits of the first scalar.
    #[doc(hidden)]
    fn first(self) -> u32;
    /// Which comes first where values are sorted by their scalars, the first one first; floats as by `total_cmp`.
    #[doc(hidden)]
    fn order(&self, other: &Self) -> Ordering;
    /// Adds the bits of each scalar to a key of `bits` bits, the first scalar lowest. What is beyond 64 bits is lost.
    #[doc(hidden)]
    fn pack(self, key: &mut u64, bits: &mut u32);
    /// What was packed into a key, from so many bits on.
    #[doc(hidden)]
    fn unpack(key: u64, bits: &mut u32) -> Self;
}

const TYPED: &str = "there is an array for each scalar, of its type";

macro_rules! scalars {
    ($($ty:ty = $zero:literal, $order:ident;)*) => {$(
        impl Record for $ty {
            type Shape = $ty;
            #[inline]
            fn into_shape(self) -> $ty { self }
            #[inline]
            fn from_shape(shape: $ty) -> $ty { shape }
            fn exchange(columns: &mut Vec<Column>, values: &mut Vec<$ty>) -> bool {
                if columns.is_empty() {
                    columns.push(<$ty>::column(Vec::new()));
                }
                std::mem::swap(columns.first_mut().and_then(<$ty>::in_column_mut).expect(TYPED), values);
                true
            }
        }

        impl Shape for $ty {
            const ZERO: $ty = $zero;
            fn each_scalar(tell: &mut impl FnMut(Scalar)) { tell(<$ty as ScalarType>::SCALAR); }
            type Parts<'a> = &'a mut [$ty];
            type Cells<'a> = &'a Buf<Atomic<$ty>>;
            fn parts<'a>(from: &mut impl Iterator<Item = SliceMut<'a>>) -> &'a mut [$ty] {
                from.next().and_then(<$ty>::in_slice_mut).expect(TYPED)
            }
            #[inline]
            fn cut(parts: Self::Parts<'_>, at: usize) -> (Self::Parts<'_>, Self::Parts<'_>) { parts.split_at_mut(at) }
            #[inline]
            fn first_of<'p>(parts: &'p mut &mut [$ty], len: usize) -> &'p mut [$ty] { &mut parts[..len] }
            #[inline]
            fn load(parts: &&mut [$ty], at: usize) -> $ty { parts[at] }
            #[inline]
            fn store(self, parts: &mut &mut [$ty], at: usize) { parts[at] = self; }
            #[inline]
            fn cells(parts: Self::Parts<'_>) -> Self::Cells<'_> { Buf::atomic(parts) }
            #[inline]
            fn get(cells: &&Buf<Atomic<$ty>>, at: u32) -> $ty { cells[at].get() }
            #[inline]
            fn put(self, cells: &&Buf<Atomic<$ty>>, at: u32) { cells[at].put(self); }
            fn spread<T>(values: &[T], part: impl Fn(&T) -> $ty + Copy, to: &mut IterMut<'_, Column>) {
                let column = to.next().and_then(<$ty>::in_column_mut).expect(TYPED);
                column.extend(values.iter().map(part));
            }
            #[inline]
            fn first(self) -> u32 { self.to_bits64() as u32 }
            #[inline]
            fn order(&self, other: &$ty) -> Ordering { self.$order(other) }
            #[inline]
            fn pack(self, key: &mut u64, bits: &mut u32) {
                // A type of fewer bits may be sign-extended.
                let unused = 64 - 8 * size_of::<$ty>() as u32;
                *key |= (self.to_bits64() << unused >> unused).checked_shl(*bits).unwrap_or(0);
                *bits += 8 * size_of::<$ty>() as u32;
            }
            #[inline]
            fn unpack(key: u64, bits: &mut u32) -> $ty {
                let unused = 64 - 8 * size_of::<$ty>() as u32;
                let value = key.checked_shr(*bits).unwrap_or(0) << unused >> unused;
                *bits += 8 * size_of::<$ty>() as u32;
                <$ty>::from_bits64(value)
            }
        }
    )*};
}
scalars! {
    bool = false, cmp;
    u8 = 0, cmp;
    u32 = 0, cmp;
    i32 = 0, cmp;
    f32 = 0.0, total_cmp;
    u64 = 0, cmp;
    i64 = 0, cmp;
    f64 = 0.0, total_cmp;
}

/// The element of a buffer of arrays. It lies in one array, side by side: an index into it is computed.
impl<T: AtomicElement + Shape, const N: usize> Record for [T; N] {
    type Shape = [T; N];
    #[inline]
    fn into_shape(self) -> [T; N] {
        self
    }
    #[inline]
    fn from_shape(shape: [T; N]) -> [T; N] {
        shape
    }
    fn exchange(columns: &mut Vec<Column>, values: &mut Vec<[T; N]>) -> bool {
        if columns.is_empty() {
            columns.push(T::column(Vec::new()));
        }
        let column = columns.first_mut().and_then(T::in_column_mut).expect(TYPED);
        let given = std::mem::take(values).into_flattened();
        match into_arrays(std::mem::replace(column, given)) {
            Ok(arrays) => *values = arrays,
            Err(taken) => {
                // Its memory is not made of whole arrays: the values are copied, and each keeps its own.
                let given = std::mem::replace(column, taken);
                *values = into_arrays(given).unwrap_or_default();
                values.clear();
                let arrays = column.as_chunks().0;
                if values.try_reserve_exact(arrays.len()).is_err() {
                    return false;
                }
                values.extend_from_slice(arrays);
            }
        }
        true
    }
}

impl<T: AtomicElement + Shape, const N: usize> Shape for [T; N] {
    const ZERO: [T; N] = [T::ZERO; N];
    fn each_scalar(tell: &mut impl FnMut(Scalar)) {
        tell(T::SCALAR);
    }
    type Parts<'a> = &'a mut [[T; N]];
    type Cells<'a> = &'a Buf<Atomic<T>>;
    fn parts<'a>(from: &mut impl Iterator<Item = SliceMut<'a>>) -> &'a mut [[T; N]] {
        let values = from.next().and_then(T::in_slice_mut).expect(TYPED);
        values.as_chunks_mut().0
    }
    #[inline]
    fn cut(parts: Self::Parts<'_>, at: usize) -> (Self::Parts<'_>, Self::Parts<'_>) {
        parts.split_at_mut(at)
    }
    #[inline]
    fn first_of<'p>(parts: &'p mut &mut [[T; N]], len: usize) -> &'p mut [[T; N]] {
        &mut parts[..len]
    }
    #[inline]
    fn load(parts: &&mut [[T; N]], at: usize) -> [T; N] {
        parts[at]
    }
    #[inline]
    fn store(self, parts: &mut &mut [[T; N]], at: usize) {
        parts[at] = self;
    }
    #[inline]
    fn cells(parts: Self::Parts<'_>) -> Self::Cells<'_> {
        Buf::atomic(parts.as_flattened_mut())
    }
    #[inline]
    fn get(cells: &&Buf<Atomic<T>>, at: u32) -> [T; N] {
        std::array::from_fn(|k| cells[at * N as u32 + k as u32].get())
    }
    #[inline]
    fn put(self, cells: &&Buf<Atomic<T>>, at: u32) {
        for (k, value) in (0..).zip(self) {
            cells[at * N as u32 + k].put(value);
        }
    }
    fn spread<V>(values: &[V], part: impl Fn(&V) -> [T; N] + Copy, to: &mut IterMut<'_, Column>) {
        let column = to.next().and_then(T::in_column_mut).expect(TYPED);
        column.extend(values.iter().flat_map(part));
    }
    #[inline]
    fn first(self) -> u32 {
        self.as_slice().first().map_or(0, |x| x.to_bits64() as u32)
    }
    fn order(&self, other: &[T; N]) -> Ordering {
        let each = self.iter().zip(other).map(|(a, b)| a.order(b));
        each.fold(Ordering::Equal, Ordering::then)
    }
    #[inline]
    fn pack(self, key: &mut u64, bits: &mut u32) {
        self.into_iter().for_each(|value| value.pack(key, bits));
    }
    #[inline]
    fn unpack(key: u64, bits: &mut u32) -> [T; N] {
        std::array::from_fn(|_| T::unpack(key, bits))
    }
}

macro_rules! tuples {
    ($($($ty:ident $i:tt)+;)*) => {$(
        impl<$($ty: Record),+> Record for ($($ty,)+) {
            type Shape = ($($ty::Shape,)+);
            #[inline]
            fn into_shape(self) -> Self::Shape { ($(self.$i.into_shape(),)+) }
            #[inline]
            fn from_shape(shape: Self::Shape) -> Self { ($($ty::from_shape(shape.$i),)+) }
        }

        #[allow(non_snake_case, reason = "named after the types")]
        impl<$($ty: Shape),+> Shape for ($($ty,)+) {
            const ZERO: Self = ($($ty::ZERO,)+);
            fn each_scalar(tell: &mut impl FnMut(Scalar)) { $($ty::each_scalar(tell);)+ }
            type Parts<'a> = ($($ty::Parts<'a>,)+);
            type Cells<'a> = ($($ty::Cells<'a>,)+);
            fn parts<'a>(from: &mut impl Iterator<Item = SliceMut<'a>>) -> Self::Parts<'a> { ($($ty::parts(from),)+) }
            #[inline]
            fn cut(parts: Self::Parts<'_>, at: usize) -> (Self::Parts<'_>, Self::Parts<'_>) {
                $(let $ty = $ty::cut(parts.$i, at);)+
                (($($ty.0,)+), ($($ty.1,)+))
            }
            #[inline]
            fn first_of<'p>(parts: &'p mut Self::Parts<'_>, len: usize) -> Self::Parts<'p> {
                ($($ty::first_of(&mut parts.$i, len),)+)
            }
            #[inline]
            fn load(parts: &Self::Parts<'_>, at: usize) -> Self { ($($ty::load(&parts.$i, at),)+) }
            #[inline]
            fn store(self, parts: &mut Self::Parts<'_>, at: usize) { $(self.$i.store(&mut parts.$i, at);)+ }
            #[inline]
            fn cells(parts: Self::Parts<'_>) -> Self::Cells<'_> { ($($ty::cells(parts.$i),)+) }
            #[inline]
            fn get(cells: &Self::Cells<'_>, at: u32) -> Self { ($($ty::get(&cells.$i, at),)+) }
            #[inline]
            fn put(self, cells: &Self::Cells<'_>, at: u32) { $(self.$i.put(&cells.$i, at);)+ }
            fn spread<T>(values: &[T], part: impl Fn(&T) -> Self + Copy, to: &mut IterMut<'_, Column>) {
                $($ty::spread(values, move |v| part(v).$i, to);)+
            }
            #[inline]
            fn first(self) -> u32 { self.0.first() }
            #[inline]
            fn order(&self, other: &Self) -> Ordering {
                Ordering::Equal$(.then_with(|| self.$i.order(&other.$i)))+
            }
            #[inline]
            fn pack(self, key: &mut u64, bits: &mut u32) { $(self.$i.pack(key, bits);)+ }
            #[inline]
            fn unpack(key: u64, bits: &mut u32) -> Self { ($($ty::unpack(key, bits),)+) }
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

/// Items as one column for each scalar, all of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<Column>,
}

impl Rows {
    pub(crate) fn new(fields: &[Scalar]) -> Rows {
        let empty = |&scalar| Column::filled(scalar, 0, 0);
        Rows {
            columns: fields.iter().map(empty).collect(),
        }
    }

    /// None yet, of the same fields.
    pub(crate) fn like(&self) -> Rows {
        let empty = |column: &Column| Column::filled(column.scalar(), 0, 0);
        Rows {
            columns: self.columns.iter().map(empty).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Items that it has memory for, in all columns.
    pub(crate) fn capacity(&self) -> usize {
        self.columns.iter().map(Column::capacity).min().unwrap_or(0)
    }

    /// Takes memory for `more` items where there is too little: twice of what it had, but no more than `most`.
    /// False where there is none.
    #[must_use]
    pub(crate) fn make_room(&mut self, more: usize, most: usize) -> bool {
        let needed = self.len().saturating_add(more);
        let room = self.capacity().saturating_mul(2).min(most).max(needed);
        let mut columns = self.columns.iter_mut();
        columns.all(|c| c.capacity() >= needed || c.reserve(room))
    }

    /// Appends items.
    pub(crate) fn extend<T: Record>(&mut self, items: &[T]) {
        T::Shape::spread(items, |x| x.into_shape(), &mut self.columns.iter_mut());
    }

    /// Appends an item of zeros, where it has memory for it or finds some, as [`Rows::make_room`].
    #[inline]
    #[must_use]
    pub(crate) fn push_zero(&mut self, most: usize) -> bool {
        let fits = self.len() < self.capacity() || self.make_room(1, most);
        if fits {
            for column in &mut self.columns {
                column.push(0);
            }
        }
        fits
    }

    /// Moves all items of another one with the same fields to the end.
    pub(crate) fn append(&mut self, other: &mut Rows) {
        for (column, other) in self.columns.iter_mut().zip(&mut other.columns) {
            assert!(column.append(other), "both have the declared fields");
        }
    }

    pub(crate) fn clear(&mut self) {
        for column in &mut self.columns {
            column.reset(0, 0);
        }
    }

    /// Gives its memory up.
    pub(crate) fn release(&mut self) {
        for column in &mut self.columns {
            *column = Column::filled(column.scalar(), 0, 0);
        }
    }

    /// Types and raw bits of an item's fields.
    pub(crate) fn item(&self, at: usize) -> impl Iterator<Item = (Scalar, u64)> + '_ {
        let bits = move |c: &Column| (c.scalar(), c.get(at).unwrap_or(0));
        self.columns.iter().map(bits)
    }

    /// What a trap calls the item: the low 32 bits of its first field.
    pub(crate) fn key(&self, at: usize) -> u32 {
        self.item(at).next().map_or(0, |(_, bits)| bits as u32)
    }

    /// The arrays of items of this type.
    pub(crate) fn arrays<T: Record>(&self) -> Arrays<'_, T::Shape> {
        Arrays::new(self.columns.iter().map(Column::as_slice))
    }
}

/// Bytes of rows of structs that were taken apart.
pub fn columns_bytes<T: Record>(rows: &[T]) -> u64 {
    let mut bytes = 0;
    T::Shape::each_scalar(&mut |scalar| bytes += scalar.size_bytes());
    rows.len() as u64 * bytes
}

/// Takes rows of structs apart: a column for each scalar, in consecutive buffers. An error where there is no memory for
/// them.
pub fn columns_of<T: Record>(
    rows: &[T],
    first: BufferId,
) -> Result<Vec<(BufferId, Column)>, RunError> {
    let mut scalars = Vec::new();
    T::Shape::each_scalar(&mut |scalar| scalars.push(scalar));
    let mut taken = Rows::new(&scalars);
    if !taken.make_room(rows.len(), rows.len()) {
        let bytes = columns_bytes(rows);
        return Err(RunError::no_memory("rows of structs", bytes));
    }
    taken.extend(rows);
    let ids = (first.0..=u16::MAX).map(BufferId);
    Ok(ids.zip(taken.columns).collect())
}
