//! Columns: arrays of one scalar type, whose type is known at run time. [`Column`] is owned, [`Slice`] and [`SliceMut`]
//! are borrowed.

use crate::vir0::scalar::{Scalar, ScalarType};
use rayon::prelude::*;

macro_rules! columns {
    ($($variant:ident $ty:ty;)*) => {
        /// An owned array of one scalar type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Column { $(#[doc = stringify!($ty)] $variant(Vec<$ty>),)* }

        /// A borrowed array of one scalar type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Slice<'a> { $(#[doc = stringify!($ty)] $variant(&'a [$ty]),)* }

        /// An exclusively borrowed array of one scalar type.
        #[derive(Debug, PartialEq)]
        pub enum SliceMut<'a> { $(#[doc = stringify!($ty)] $variant(&'a mut [$ty]),)* }

        impl<'a> SliceMut<'a> {
            /// The first elements, and the rest.
            pub(crate) fn split_at(self, at: usize) -> (SliceMut<'a>, SliceMut<'a>) {
                match self { $(SliceMut::$variant(v) => {
                    let (first, rest) = v.split_at_mut(at);
                    (SliceMut::$variant(first), SliceMut::$variant(rest))
                })* }
            }
        }

        impl<'a> Slice<'a> {
            /// Some of the elements.
            pub(crate) fn range(self, at: std::ops::Range<usize>) -> Slice<'a> {
                match self { $(Slice::$variant(v) => Slice::$variant(&v[at]),)* }
            }
        }

        impl SliceMut<'_> {
            /// Borrows it for reading.
            pub fn as_slice(&self) -> Slice<'_> { match self { $(SliceMut::$variant(v) => Slice::$variant(v),)* } }
            /// Some of the elements.
            pub(crate) fn range(&mut self, at: std::ops::Range<usize>) -> SliceMut<'_> {
                match self { $(SliceMut::$variant(v) => SliceMut::$variant(&mut v[at]),)* }
            }
            /// Borrows it for a while.
            pub fn reborrow(&mut self) -> SliceMut<'_> { match self { $(SliceMut::$variant(v) => SliceMut::$variant(v),)* } }
            /// Copies a slice of the same type and length into it; false, and no change, for another one.
            #[must_use]
            pub fn assign(&mut self, values: Slice<'_>) -> bool {
                match (self, values) {
                    $((SliceMut::$variant(v), Slice::$variant(s)) if v.len() == s.len() => { v.copy_from_slice(s); true })*
                    _ => false,
                }
            }
        }

        impl Column {
            /// `len` elements, each with these raw bits (see [`crate::vir0::module::Constant`]).
            pub fn filled(scalar: Scalar, len: usize, bits: u64) -> Column {
                match scalar { $(Scalar::$variant => Column::$variant(vec![<$ty>::from_bits64(bits); len]),)* }
            }
            /// Element type.
            pub fn scalar(&self) -> Scalar { match self { $(Column::$variant(_) => Scalar::$variant,)* } }
            /// Number of elements.
            pub fn len(&self) -> usize { match self { $(Column::$variant(v) => v.len(),)* } }
            /// Has no elements.
            pub fn is_empty(&self) -> bool { self.len() == 0 }
            /// Elements that it has memory for.
            pub fn capacity(&self) -> usize { match self { $(Column::$variant(v) => v.capacity(),)* } }
            /// Takes memory for `len` elements in all; false where there is none.
            #[must_use]
            pub fn reserve(&mut self, len: usize) -> bool {
                match self { $(Column::$variant(v) => v.try_reserve_exact(len.saturating_sub(v.len())).is_ok(),)* }
            }
            /// Gives memory back that its elements do not need.
            pub fn shrink_to_fit(&mut self) { match self { $(Column::$variant(v) => v.shrink_to_fit(),)* } }
            /// Borrows it.
            pub fn as_slice(&self) -> Slice<'_> { match self { $(Column::$variant(v) => Slice::$variant(v),)* } }
            /// Borrows it to write.
            pub fn as_slice_mut(&mut self) -> SliceMut<'_> { match self { $(Column::$variant(v) => SliceMut::$variant(v),)* } }
            /// Makes it `len` elements with these raw bits, in the memory it has where that suffices.
            pub fn reset(&mut self, len: usize, bits: u64) {
                match self { $(Column::$variant(v) => {
                    let value = <$ty>::from_bits64(bits);
                    v.truncate(len);
                    fill(v, value);
                    v.resize(len, value);
                })* }
            }
            /// Gives memory back beyond `len` elements.
            pub(crate) fn shrink_to(&mut self, len: usize) {
                match self { $(Column::$variant(v) => { v.truncate(len); v.shrink_to(len); })* }
            }
            /// Copies a slice of the same type into it; false, and no change, for another type.
            #[must_use]
            pub fn assign(&mut self, values: Slice<'_>) -> bool {
                match (self, values) {
                    $((Column::$variant(v), Slice::$variant(s)) => { v.clear(); v.extend_from_slice(s); true })*
                    _ => false,
                }
            }
            /// Raw bits of an element.
            pub fn get(&self, i: usize) -> Option<u64> { match self { $(Column::$variant(v) => v.get(i).map(|x| x.to_bits64()),)* } }
            /// Appends an element from raw bits.
            pub fn push(&mut self, bits: u64) {
                match self { $(Column::$variant(v) => v.push(<$ty>::from_bits64(bits)),)* }
            }
            /// Moves all elements of a column of the same type to the end of this one; false, and no change, for
            /// another type.
            #[must_use]
            pub fn append(&mut self, other: &mut Column) -> bool {
                match (self, other) {
                    $((Column::$variant(v), Column::$variant(o)) => { v.append(o); true })*
                    _ => false,
                }
            }
            /// Sets an element from raw bits; false when out of bounds.
            #[must_use]
            pub fn set(&mut self, i: usize, bits: u64) -> bool {
                match self { $(Column::$variant(v) => match v.get_mut(i) {
                    Some(x) => { *x = <$ty>::from_bits64(bits); true }
                    None => false,
                },)* }
            }
        }

        impl Slice<'_> {
            /// Element type.
            pub fn scalar(&self) -> Scalar { match self { $(Slice::$variant(_) => Scalar::$variant,)* } }
            /// Number of elements.
            pub fn len(&self) -> usize { match self { $(Slice::$variant(v) => v.len(),)* } }
            /// Has no elements.
            pub fn is_empty(&self) -> bool { self.len() == 0 }
            /// Bytes of it.
            pub fn bytes(&self) -> u64 { self.len() as u64 * self.scalar().size_bytes() }
            /// Raw bits of an element.
            #[inline]
            pub fn get(&self, i: usize) -> Option<u64> { match self { $(Slice::$variant(v) => v.get(i).map(|x| x.to_bits64()),)* } }
            /// Where it begins.
            pub(crate) fn address(&self) -> usize { match self { $(Slice::$variant(v) => v.as_ptr().addr(),)* } }
            /// Copies it.
            pub fn to_column(&self) -> Column { match self { $(Slice::$variant(v) => Column::$variant(v.to_vec()),)* } }
            /// A copy, or `None` where there is no memory.
            pub fn try_to_column(&self) -> Option<Column> {
                match self { $(Slice::$variant(v) => {
                    let mut values = Vec::new();
                    values.try_reserve_exact(v.len()).ok()?;
                    values.extend_from_slice(v);
                    Some(Column::$variant(values))
                })* }
            }
        }

        $(impl Element for $ty {
            fn slice(values: &[$ty]) -> Slice<'_> { Slice::$variant(values) }
            fn slice_mut(values: &mut [$ty]) -> SliceMut<'_> { SliceMut::$variant(values) }
            fn in_slice(slice: Slice<'_>) -> Option<&[$ty]> { match slice { Slice::$variant(v) => Some(v), _ => None } }
            fn in_slice_mut(slice: SliceMut<'_>) -> Option<&mut [$ty]> { match slice { SliceMut::$variant(v) => Some(v), _ => None } }
            fn column(values: Vec<$ty>) -> Column { Column::$variant(values) }
            fn in_column(column: &Column) -> Option<&Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
            fn in_column_mut(column: &mut Column) -> Option<&mut Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
            fn from_column(column: Column) -> Option<Vec<$ty>> { match column { Column::$variant(v) => Some(v), _ => None } }
        })*
    };
}

/// A scalar type of buffers.
pub trait Element: ScalarType + Send + Sync {
    /// Wraps a slice.
    fn slice(values: &[Self]) -> Slice<'_>;
    /// Wraps a slice.
    fn slice_mut(values: &mut [Self]) -> SliceMut<'_>;
    /// The values, if the slice has this type.
    fn in_slice(slice: Slice<'_>) -> Option<&[Self]>;
    /// The values, if the slice has this type.
    fn in_slice_mut(slice: SliceMut<'_>) -> Option<&mut [Self]>;
    /// Wraps a vector.
    fn column(values: Vec<Self>) -> Column;
    /// The values, if the column has this type.
    fn in_column(column: &Column) -> Option<&Vec<Self>>;
    /// The values, if the column has this type.
    fn in_column_mut(column: &mut Column) -> Option<&mut Vec<Self>>;
    /// The values, if the column has this type.
    fn from_column(column: Column) -> Option<Vec<Self>>;
}

/// Bytes that are worth a thread of their own when they are filled.
const FILL_BYTES: usize = 1 << 20;

/// Fills a slice; a large one with all threads.
fn fill<T: Element>(values: &mut [T], value: T) {
    if size_of_val(values) >= 2 * FILL_BYTES {
        let chunks = values.par_chunks_mut(FILL_BYTES / size_of::<T>());
        return chunks.for_each(|chunk| chunk.fill(value));
    }
    values.fill(value);
}

columns! { Bool bool; U8 u8; U32 u32; I32 i32; F32 f32; U64 u64; I64 i64; F64 f64; }
