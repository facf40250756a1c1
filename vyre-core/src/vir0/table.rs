//! How the table of a relation is laid out.

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
