//! Rows of values, of differing lengths: where each row begins, and all values, row by row.

use crate::dsl::fault;
use crate::dsl::views::{Held, Row};
use std::fmt;
use thiserror::Error;

/// Why arrays are no rows.
#[derive(Clone, Copy, Error, PartialEq, Eq)]
pub enum RowsError {
    /// Not even where the last row ends.
    #[error("offsets is empty; n rows have n + 1 offsets")]
    NoOffsets,
    /// Values before it have no row.
    #[error("offsets start at {0}, not 0")]
    First(u32),
    /// A row ends before it begins.
    #[error("row {row} begins at value {begin} and ends at value {end}")]
    Decreasing {
        /// The row.
        row: usize,
        /// Where it begins.
        begin: u32,
        /// Where it ends.
        end: u32,
    },
    /// The last row does not end with the values.
    #[error("the last row ends at value {last}, but there are {values} values")]
    Last {
        /// The last offset.
        last: u32,
        /// How many values there are.
        values: usize,
    },
    /// Indices are u32.
    #[error("{what} number {count}; at most {max} are supported", max = u32::MAX - 1)]
    TooLarge {
        /// "rows" or "values".
        what: &'static str,
        /// How many.
        count: u64,
    },
}

crate::debug_is_display!(RowsError);

/// Rows of values, of differing lengths: the values of row `v` are those from `offsets[v]` up to `offsets[v + 1]`.
///
/// In `Data`, `#[topology(per = node)] text: Rows<u8>` declares a row for each node, which the session gives; kernels
/// take `&Rows<u8>`.
///
/// ```
/// use vyre_core::dsl::Rows;
/// let names = Rows::from_rows(["ada", "", "grace"]).unwrap();
/// assert_eq!((names.len(), names.values()), (3, b"adagrace".as_slice()));
/// assert_eq!((names.row(2).len(), names.row(2).at(1)), (5, b'r'));
/// assert_eq!(names, Rows::new(vec![0, 3, 3, 8], b"adagrace".to_vec()).unwrap());
/// ```
pub struct Rows<T> {
    pub(crate) offsets: Held<u32>,
    pub(crate) values: Held<T>,
}

impl<T> Rows<T> {
    /// Checks and takes the two arrays.
    ///
    /// # Errors
    /// There are no offsets, the first is not 0, they decrease, or the last is not the number of values.
    pub fn new(offsets: Vec<u32>, values: Vec<T>) -> Result<Rows<T>, RowsError> {
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Err(RowsError::NoOffsets);
        };
        too_large("rows", offsets.len() - 1)?;
        too_large("values", values.len())?;
        if first != 0 {
            return Err(RowsError::First(first));
        }
        if let Some(row) = offsets.windows(2).position(|w| w[1] < w[0]) {
            return Err(RowsError::Decreasing {
                row,
                begin: offsets[row],
                end: offsets[row + 1],
            });
        }
        if last as usize != values.len() {
            return Err(RowsError::Last {
                last,
                values: values.len(),
            });
        }
        Ok(Rows {
            offsets: Held::own(offsets),
            values: Held::own(values),
        })
    }

    /// Rows that are given one by one.
    ///
    /// # Errors
    /// There are too many rows or values.
    pub fn from_rows<R: AsRef<[T]>>(rows: impl IntoIterator<Item = R>) -> Result<Rows<T>, RowsError>
    where
        T: Clone,
    {
        let (mut offsets, mut values) = (vec![0], Vec::new());
        for row in rows {
            values.extend_from_slice(row.as_ref());
            too_large("values", values.len())?;
            offsets.push(values.len() as u32);
        }
        Rows::new(offsets, values)
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// There are no rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row. Traps in a lane, and panics elsewhere, when there is no such row.
    #[inline]
    #[track_caller]
    pub fn row(&self, v: u32) -> &Row<T> {
        let (offsets, at) = (&*self.offsets, v as usize);
        match (offsets.get(at), offsets.get(at + 1)) {
            (Some(&begin), Some(&end)) => Row::new(&self.values[begin as usize..end as usize]),
            _ => fault::out_of_bounds(v, offsets.len() - 1),
        }
    }

    /// Where each row begins, and the last one ends.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All values, row by row.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T: Clone> Clone for Rows<T> {
    fn clone(&self) -> Rows<T> {
        Rows {
            offsets: Held::own(self.offsets.to_vec()),
            values: Held::own(self.values.to_vec()),
        }
    }
}

impl<T: PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Rows<T>) -> bool {
        *self.offsets == *other.offsets && *self.values == *other.values
    }
}

impl<T: fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries((0..self.len()).map(|v| self.row(v)))
            .finish()
    }
}

fn too_large(what: &'static str, count: usize) -> Result<(), RowsError> {
    let count = count as u64;
    match count < u64::from(u32::MAX) {
        true => Ok(()),
        false => Err(RowsError::TooLarge { what, count }),
    }
}
