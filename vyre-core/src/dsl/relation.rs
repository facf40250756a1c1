//! What kernels do with relations.

use super::params::Append;
use super::record::{Record, Shape};
use super::views::{Atomic, Buf};
use crate::vir0::table::{Index, Table};
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
    indexes: &'t Indexes<'t>,
}

/// The tuples that a relation had when the barrier group began.
pub struct Lookup<'t, T> {
    cells: &'t Buf<u64>,
    indexes: &'t Indexes<'t>,
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
        Insert {
            rows,
            cells,
            indexes: Indexes::NONE,
        }
    }

    /// With the indexes of the relation.
    #[doc(hidden)]
    #[inline]
    pub fn walking<'a>(self, indexes: &'a Indexes<'a>) -> Insert<'a, T>
    where
        't: 'a,
    {
        Insert { indexes, ..self }
    }

    /// The tuples whose columns have these bits, which were there when the round began.
    #[doc(hidden)]
    #[inline]
    pub fn with(&self, mask: u64, key: u64) -> With<'t, T> {
        self.indexes.with(mask, key)
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
            indexes: Indexes::NONE,
            of: PhantomData,
        }
    }

    /// With the indexes of the relation.
    #[doc(hidden)]
    #[inline]
    pub fn walking<'a>(self, indexes: &'a Indexes<'a>) -> Lookup<'a, T>
    where
        't: 'a,
    {
        Lookup { indexes, ..self }
    }

    /// The tuples whose columns have these bits, which were there when the round began.
    #[doc(hidden)]
    #[inline]
    pub fn with(&self, mask: u64, key: u64) -> With<'t, T> {
        self.indexes.with(mask, key)
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

/// The cells of an index, divided into its parts.
#[derive(Clone, Copy)]
struct Cells {
    unit: u32,
}

impl Cells {
    #[inline]
    fn of(len: u32) -> Cells {
        Cells {
            unit: len / Index::UNITS,
        }
    }

    fn keys(self) -> u32 {
        Index::KEYS * self.unit
    }

    /// Goes through a hash set of so many cells, from the one on in which the search for a key begins.
    #[inline]
    fn probe(key: u64, cells: u32) -> impl Iterator<Item = u32> {
        let first = Table::first_cell(key, cells);
        (first..cells).chain(0..first)
    }

    /// The cell of a key's tuple with this number. `find` gives the cell of a block's key in the hash set of so many
    /// cells from a cell on.
    #[inline]
    fn place(self, (slot, number): (u32, u32), find: impl FnOnce(u64, u32, u32) -> u32) -> u32 {
        match number.checked_sub(Index::FIRST) {
            None => 2 * self.keys() + slot * Index::FIRST + number,
            Some(behind) => {
                let key = u64::from(slot) << 32 | u64::from(behind / Index::BLOCK);
                let blocks = Index::BLOCKS * self.unit;
                let at = find(key, blocks, self.unit);
                blocks + self.unit + at * Index::BLOCK + behind % Index::BLOCK
            }
        }
    }
}

/// The side of an index that its own wave adds the tuples of a relation to.
#[doc(hidden)]
pub struct Filing<'t, T> {
    cells: &'t Buf<Atomic<u64>>,
    mask: u64,
    of: PhantomData<T>,
}

impl<T> fmt::Debug for Filing<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filing").finish_non_exhaustive()
    }
}

impl<T> Clone for Filing<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Filing<'_, T> {}

impl<'t, T: Record> Filing<'t, T> {
    /// Into these cells, by the columns with these bits.
    #[inline]
    pub fn over(cells: &'t Buf<Atomic<u64>>, mask: u64) -> Filing<'t, T> {
        Filing {
            cells,
            mask,
            of: PhantomData,
        }
    }

    /// Adds a tuple.
    #[inline]
    pub fn file(&self, tuple: T) {
        let (mut bits, mut width) = (0, 0);
        tuple.into_shape().pack(&mut bits, &mut width);
        let parts = Cells::of(self.cells.len());
        let slot = self.claim(bits & self.mask, 0, parts.keys());
        let before = self.cells[parts.keys() + slot].fetch_add(1);
        let number = (before as u32).wrapping_add(1);
        let place = parts.place((slot, number), |key, base, cells| {
            self.claim(key, base, cells)
        });
        self.cells[place].store(bits);
    }

    /// The cell of a key, which is taken for it where it has none.
    #[inline]
    fn claim(&self, key: u64, base: u32, cells: u32) -> u32 {
        let mut all = Cells::probe(key, cells);
        // There are more cells than keys.
        let found = all.find(|at| {
            let cell = &self.cells[base + at];
            loop {
                match cell.load() {
                    now if now == key => return true,
                    Table::EMPTY if cell.compare_exchange(Table::EMPTY, key) => return true,
                    // Another lane took it: this very cell may have the key now.
                    Table::EMPTY => {}
                    _ => return false,
                }
            }
        });
        found.unwrap_or(0)
    }
}

/// The indexes of a relation, each with the bits of its columns.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Indexes<'t> {
    all: [Option<(u64, &'t Buf<u64>)>; Index::MOST],
}

impl fmt::Debug for Indexes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes").finish_non_exhaustive()
    }
}

impl<'t> Indexes<'t> {
    const NONE: &'static Indexes<'static> = &Indexes {
        all: [None; Index::MOST],
    };

    /// Over the cells of each.
    #[inline]
    pub fn over<const N: usize>(given: [(u64, &'t Buf<u64>); N]) -> Indexes<'t> {
        let mut all = Indexes::NONE.all;
        for (index, given) in all.iter_mut().zip(given) {
            *index = Some(given);
        }
        Indexes { all }
    }

    /// The tuples whose columns have these bits.
    #[inline]
    fn with<T: Record>(&self, mask: u64, key: u64) -> With<'t, T> {
        let mut all = self.all.iter().flatten();
        let (_, cells) = *all
            .find(|(columns, _)| *columns == mask)
            .expect("the relation has this index");
        let keys = Cells::of(cells.len()).keys();
        let mut slots = Cells::probe(key, keys);
        let slot = slots.find(|at| matches!(cells[*at], now if now == key || now == Table::EMPTY));
        let slot = slot.filter(|at| cells[*at] == key);
        let count = slot.map_or(0, |at| (cells[keys + at] as u32).wrapping_add(1));
        With {
            cells,
            slot: slot.unwrap_or(0),
            numbers: 0..count,
            of: PhantomData,
        }
    }
}

/// The tuples of a relation with the same columns: what `path.with_from(x)` goes over.
pub struct With<'t, T> {
    cells: &'t Buf<u64>,
    slot: u32,
    numbers: std::ops::Range<u32>,
    of: PhantomData<T>,
}

impl<T> fmt::Debug for With<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.numbers.len();
        f.debug_struct("With")
            .field("left", &left)
            .finish_non_exhaustive()
    }
}

impl<T: Record> Iterator for With<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let number = self.numbers.next()?;
        let parts = Cells::of(self.cells.len());
        let place = parts.place((self.slot, number), |key, base, cells| {
            let mut all = Cells::probe(key, cells);
            all.find(|at| self.cells[base + at] == key).unwrap_or(0)
        });
        let mut at = 0;
        let shape = T::Shape::unpack(self.cells[place], &mut at);
        Some(T::from_shape(shape))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

/// The bits of a column, from so many bits of a tuple on.
#[doc(hidden)]
#[inline]
pub fn column_bits<T: Record>(value: T, mut at: u32) -> u64 {
    let mut key = 0;
    value.into_shape().pack(&mut key, &mut at);
    key
}
