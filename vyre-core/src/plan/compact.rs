//! Result compaction: what to read back after a run, and how.
//!
//! A result slot has room for more than it holds. Empty slots are not read at all, small ones are copied into one
//! slab on the device and come back in one copy, large ones are read directly.
//!
//! ```
//! use vyre_core::plan::compact::{Slot, plan};
//! let plan = plan(&[Slot::new(1, 12, 128), Slot::new(2, 0, 128), Slot::new(3, 24, 256)], 32).unwrap();
//! assert_eq!(plan.packed.iter().map(|r| (r.slot, r.offset_bytes)).collect::<Vec<_>>(), [(1, 0), (3, 12)]);
//! assert_eq!((plan.full_bytes, plan.selected_bytes, plan.avoided_bps), (512, 36, 9_296));
//! ```

use crate::vir0::module::Program;
use crate::vir0::sizes::Sizes;
use std::num::NonZeroU64;
use thiserror::Error;

/// What a device aligns records of a slab to: it packs whole units of so many bytes.
pub const UNIT_BYTES: NonZeroU64 = NonZeroU64::new(16).expect("16 is not 0");

/// A result on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Its number; no other slot has it.
    pub id: u32,
    /// What the run left in it.
    pub meaningful_bytes: u64,
    /// What it has room for.
    pub capacity_bytes: u64,
    /// Its offset in the slab is a multiple of this: the element size, or 1.
    pub align_bytes: NonZeroU64,
}

impl Slot {
    /// A slot that may be packed at any offset.
    pub const fn new(id: u32, meaningful_bytes: u64, capacity_bytes: u64) -> Slot {
        Slot {
            id,
            meaningful_bytes,
            capacity_bytes,
            align_bytes: NonZeroU64::MIN,
        }
    }
}

/// A slot's place in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Which slot.
    pub slot: u32,
    /// Where it goes.
    pub offset_bytes: u64,
    /// How much of it.
    pub len_bytes: u64,
}

/// A slot that is read with a copy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Direct {
    /// Which slot.
    pub slot: u32,
    /// How much of it.
    pub len_bytes: u64,
}

/// What to read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactPlan {
    /// One copy for all of them; by slot.
    pub packed: Vec<Record>,
    /// One copy each; by slot.
    pub direct: Vec<Direct>,
    /// Capacities of all slots: a readback without a plan.
    pub full_bytes: u64,
    /// The slab, gaps for alignment included.
    pub compact_bytes: u64,
    /// Direct copies.
    pub direct_bytes: u64,
    /// Slab and direct copies.
    pub selected_bytes: u64,
    /// What need not be read; 0 when alignment costs more than packing saves.
    pub avoided_bytes: u64,
    /// Of the full readback, rounded down; 0 when that is 0.
    pub avoided_bps: u32,
}

/// Why there is no plan.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum CompactError {
    /// Two slots with one number.
    #[error("slot {slot} is given twice")]
    Duplicate {
        /// The number.
        slot: u32,
    },
    /// More than there is room for.
    #[error("slot {slot} holds {meaningful_bytes} bytes; its capacity is {capacity_bytes}")]
    OverCapacity {
        /// Which.
        slot: u32,
        /// What it is said to hold.
        meaningful_bytes: u64,
        /// What it has room for.
        capacity_bytes: u64,
    },
    /// A sum does not fit in 64 bits.
    #[error("{field} overflow 64 bits at slot {slot}")]
    Overflow {
        /// The sum.
        field: &'static str,
        /// Where.
        slot: u32,
    },
}

crate::debug_is_display!(CompactError);

/// The room of a slab for what runs find in the lists of the result. Each field of a list's items is a record of its
/// own, of at most `pack_up_to_bytes`.
pub fn lists_bytes(program: &Program, sizes: &Sizes, pack_up_to_bytes: u64) -> u64 {
    let lists = program.lists.iter().filter(|list| list.output);
    let columns = lists.flat_map(|list| {
        let capacity = sizes.resolve(program, list.capacity).unwrap_or(0);
        let bytes = list.fields.iter().map(|field| field.size_bytes());
        bytes.map(move |size| capacity.saturating_mul(size).min(pack_up_to_bytes))
    });
    let units = |bytes: u64| bytes.checked_next_multiple_of(UNIT_BYTES.get());
    columns.fold(0, |sum: u64, bytes| {
        sum.saturating_add(units(bytes).unwrap_or(u64::MAX))
    })
}

/// Packs slots of up to `pack_up_to_bytes` meaningful bytes, and reads larger ones directly.
pub fn plan(slots: &[Slot], pack_up_to_bytes: u64) -> Result<CompactPlan, CompactError> {
    let mut slots = slots.to_vec();
    slots.sort_by_key(|s| s.id);
    if let Some(pair) = slots.windows(2).find(|w| w[0].id == w[1].id) {
        return Err(CompactError::Duplicate { slot: pair[0].id });
    }
    if let Some(s) = slots.iter().find(|s| s.meaningful_bytes > s.capacity_bytes) {
        return Err(CompactError::OverCapacity {
            slot: s.id,
            meaningful_bytes: s.meaningful_bytes,
            capacity_bytes: s.capacity_bytes,
        });
    }
    let mut plan = CompactPlan::default();
    for s in slots {
        let (slot, len_bytes) = (s.id, s.meaningful_bytes);
        let overflow = |field| move || CompactError::Overflow { field, slot };
        let full = plan.full_bytes.checked_add(s.capacity_bytes);
        plan.full_bytes = full.ok_or_else(overflow("full bytes"))?;
        if len_bytes == 0 {
            continue;
        }
        if len_bytes <= pack_up_to_bytes {
            let offset = plan
                .compact_bytes
                .checked_next_multiple_of(s.align_bytes.get());
            let offset_bytes = offset.ok_or_else(overflow("compact bytes"))?;
            let end = offset_bytes.checked_add(len_bytes);
            plan.compact_bytes = end.ok_or_else(overflow("compact bytes"))?;
            plan.packed.push(Record {
                slot,
                offset_bytes,
                len_bytes,
            });
        } else {
            plan.direct_bytes += len_bytes; // at most the capacities, which fit
            plan.direct.push(Direct { slot, len_bytes });
        }
        let selected = plan.compact_bytes.checked_add(plan.direct_bytes);
        plan.selected_bytes = selected.ok_or_else(overflow("selected bytes"))?;
    }
    plan.avoided_bytes = plan.full_bytes.saturating_sub(plan.selected_bytes);
    if plan.full_bytes > 0 {
        let bps = u128::from(plan.avoided_bytes) * 10_000 / u128::from(plan.full_bytes);
        plan.avoided_bps = bps as u32; // at most 10,000
    }
    Ok(plan)
}
