//! What kernels do with relations.

use super::params::Append;
use super::record::{Record, Shape};
use super::views::{Atomic, Buf};
use crate::vir0::table::Table;
use std::fmt;
use std::marker::PhantomData;

/// Declares a relation in `Data`: a set of tuples, which grows until the run ends. Kernels see it as [`Insert`] and
/// [`Lookup`].
#[derive(Clone, Copy, Debug)]
pub struct Relation<T> {
    _declared_only: PhantomData<T>,
}

/// The side of a relation that lanes insert tuples into; waves ordered after this one see them.
///
/// A relation that is full traps when the barrier group is done, with a number of tuples that it would need at least.
pub struct Insert<'t, T> {
    rows: &'t Append<T>,
    cells: &'t Buf<Atomic<u64>>,
}

/// The tuples that a relation had when the barrier group began.
pub struct Lookup<'t, T> {
    cells: &'t Buf<u64>,
    of: PhantomData<T>,
}

impl<T> Clone for Lookup<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Lookup<'_, T> {}

impl<T> fmt::Debug for Insert<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insert").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Lookup<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").finish_non_exhaustive()
    }
}

/// The tuples of a relation that is given back: a set, in no order that means something.
///
/// ```
/// use vyre_core::dsl::Tuples;
/// let mut found = Tuples::default();
/// *found.rows_mut() = vec![(2, 0), (1, 7)];
/// assert_eq!((found.len(), found.sorted()), (2, vec![(1, 7), (2, 0)]));
/// ```
#[derive(Clone)]
pub struct Tuples<T> {
    rows: Vec<T>,
}

impl<T> Tuples<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Each once, in an order that may be another one in the next run.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// The tuples, in the order of [`Tuples::iter`].
    pub fn into_vec(self) -> Vec<T> {
        self.rows
    }

    /// Where they lie.
    #[doc(hidden)]
    pub fn rows_mut(&mut self) -> &mut Vec<T> {
        &mut self.rows
    }
}

impl<T: Record> Tuples<T> {
    /// A copy of the tuples, sorted by their scalars: by the first one, of those with the same first one by the second,
    /// and so on; floats as by [`f64::total_cmp`].
    pub fn sorted(&self) -> Vec<T> {
        let mut rows = self.rows.clone();
        rows.sort_unstable_by(|a, b| a.into_shape().order(&b.into_shape()));
        rows
    }
}

impl<T> Default for Tuples<T> {
    fn default() -> Self {
        Tuples { rows: Vec::new() }
    }
}

impl<T: Record + fmt::Debug> fmt::Debug for Tuples<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.sorted()).finish()
    }
}

/// As sets: the order does not count.
impl<T: Record> PartialEq for Tuples<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (T, T)| a.into_shape().order(&b.into_shape()).is_eq();
        self.len() == other.len() && self.sorted().into_iter().zip(other.sorted()).all(same)
    }
}

impl<'t, T> IntoIterator for &'t Tuples<T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> IntoIterator for Tuples<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

/// Where a tuple is looked for.
#[derive(Clone, Copy)]
struct Search {
    /// What its cell holds.
    held: u64,
    at: u32,
    /// Cells of the hash set.
    cells: u32,
    /// Cells that were looked at.
    gone: u32,
}

impl Search {
    #[inline]
    fn of<T: Record>(tuple: T, len: u32) -> Search {
        let (mut key, mut bits) = (0, 0);
        tuple.into_shape().pack(&mut key, &mut bits);
        let cells = len.saturating_sub(Table::BESIDE);
        match key {
            Table::EMPTY => Search {
                held: 0,
                at: cells,
                cells,
                gone: 0,
            },
            key => Search {
                held: key,
                at: Table::first_cell(key, cells),
                cells,
                gone: 0,
            },
        }
    }

    /// Goes on to the next cell; false where all were looked at.
    #[inline]
    fn go_on(&mut self) -> bool {
        self.at = match self.at + 1 {
            at if at >= self.cells => 0,
            at => at,
        };
        self.gone += 1;
        self.gone < self.cells
    }
}

impl<'t, T: Record> Insert<'t, T> {
    #[inline]
    pub(crate) fn over(rows: &'t Append<T>, cells: &'t Buf<Atomic<u64>>) -> Insert<'t, T> {
        Insert { rows, cells }
    }

    /// Inserts a tuple; whether the relation did not have it. Of several lanes that insert the same tuple, one is told
    /// that it is new, and which one is open. False where the relation has no room for it: the run ends in a trap then.
    #[inline]
    pub fn insert(&self, tuple: T) -> bool {
        let mut search = Search::of(tuple, self.cells.len());
        let full = search.cells + 1;
        loop {
            let cell = &self.cells[search.at];
            match cell.load() {
                now if now == search.held => return false,
                Table::EMPTY => {
                    if cell.compare_exchange(Table::EMPTY, search.held) {
                        break;
                    }
                    // Another lane took it: this very cell may have the tuple now.
                    continue;
                }
                _ => {}
            }
            if !search.go_on() {
                return false;
            }
            let asks = search.gone.is_multiple_of(Table::PATIENCE);
            if asks && self.cells[full].load() != Table::EMPTY {
                return false;
            }
        }
        if self.rows.append(tuple) == u32::MAX {
            self.cells[full].store(0);
        }
        true
    }
}

impl<'t, T: Record> Lookup<'t, T> {
    /// Over the table of a relation.
    #[doc(hidden)]
    #[inline]
    pub fn over(cells: &'t Buf<u64>) -> Lookup<'t, T> {
        Lookup {
            cells,
            of: PhantomData,
        }
    }

    /// Whether the relation has a tuple.
    #[inline]
    pub fn contains(&self, tuple: T) -> bool {
        let mut search = Search::of(tuple, self.cells.len());
        loop {
            match self.cells[search.at] {
                now if now == search.held => return true,
                Table::EMPTY => return false,
                _ if search.go_on() => {}
                _ => return false,
            }
        }
    }
}
