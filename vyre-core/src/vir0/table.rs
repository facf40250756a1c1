//! How the table of a relation is laid out, and its indexes.

use crate::vir0::module::BufferId;
use crate::vir0::scalar::Scalar;

/// The table of a relation: which tuples the relation has.
///
/// A tuple is one u64, its *key*: its scalars side by side, the first one in the low bits. The table is a hash set with
/// open addressing and linear probing. A cell is [`Table::EMPTY`], or the key of a tuple; the one key that is `EMPTY`
/// itself has a cell behind the others. The last cell says whether the relation was found full.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its cells.
    pub cells: BufferId,
}

impl Table {
    /// A cell without a tuple: what all cells begin with.
    pub const EMPTY: u64 = u64::MAX;
    /// Cells that are no part of the hash set: that of the key `EMPTY`, and the one that says whether it is full.
    pub const BESIDE: u32 = 2;
    /// Cells more than tuples, whatever the capacity. While lanes of one warp wait for each other, none of those that
    /// found the last free cells says that the relation is full, so there are enough cells for them and some others.
    pub const SPARE: u32 = 254;
    /// Most bits of a tuple.
    pub const KEY_BITS: u64 = 64;
    /// An odd number without a pattern in its bits.
    pub(crate) const MIX: u64 = 0xd6e8_feb8_6659_fd93;
    /// After so many cells, less one, a lane asks whether the relation is full. A power of two.
    pub(crate) const PATIENCE: u32 = 64;

    /// The bits of a tuple of these scalars.
    pub fn key_bits(fields: &[Scalar]) -> u64 {
        fields.iter().map(|f| 8 * f.size_bytes()).sum()
    }

    /// The cell, of `cells` of the hash set, in which the search for a key begins.
    pub fn first_cell(key: u64, cells: u32) -> u32 {
        let mixed = key.wrapping_mul(Table::MIX);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(Table::MIX);
        (((mixed >> 32) * u64::from(cells)) >> 32) as u32
    }
}

/// An index of a relation: its tuples by some of their scalars, the *columns*.
///
/// A buffer of u64, which is divided into [`Index::UNITS`] units of one length:
///
/// | cells | units | are |
/// | --- | --- | --- |
/// | keys | 3 | a hash set, as that of a [`Table`]: the bits of the columns, at their places in a tuple's key |
/// | counts | 3 | of each key the number of its tuples, less one |
/// | first tuples | 6 | of each key, as keys of the table |
/// | blocks | 1 | a hash set: `key's cell << 32 \| number` of each block of further tuples |
/// | tuples | 4 | of each block, as keys of the table |
///
/// Keys and blocks fill two thirds of their cells at most, whatever the tuples are. No key is [`Table::EMPTY`], since
/// an index never has all bits of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its cells.
    pub cells: BufferId,
    /// The bits of the columns in a tuple's key.
    pub mask: u64,
}

impl Index {
    /// Units that the cells are divided into.
    pub const UNITS: u32 = 17;
    /// Units of keys, and of counts.
    pub const KEYS: u32 = 3;
    /// Tuples of a key that lie beside it.
    pub const FIRST: u32 = 2;
    /// Tuples of a block.
    pub const BLOCK: u32 = 4;
    /// Cells of a unit beyond half of the capacity.
    pub const SPARE: u32 = 2;
    /// Most indexes of a relation.
    pub const MOST: usize = 4;

    /// The unit in which blocks begin.
    pub(crate) const BLOCKS: u32 = Index::KEYS * (2 + Index::FIRST);

    /// The bits of these scalars of a tuple, each named by its position, in the tuple's key.
    pub fn mask(fields: &[Scalar], columns: &[usize]) -> u64 {
        let mut mask = 0;
        let mut at = 0u32;
        for (position, field) in fields.iter().enumerate() {
            let bits = 8 * field.size_bytes() as u32;
            if columns.contains(&position) && at < u64::BITS {
                mask |= (u64::MAX >> (u64::BITS - bits)) << at;
            }
            at += bits;
        }
        mask
    }
}
