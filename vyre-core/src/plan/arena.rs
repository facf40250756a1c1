//! One allocation for many buffers: those whose lifetimes do not meet share memory.
//!
//! Time is counted in steps, whose meaning is the caller's: barrier groups of a schedule, or waves where they run one
//! after the other. A buffer lives from its first step to its last, both included; buffers that live in a common step get
//! disjoint ranges.
//!
//! The smallest arena is hard to find in general ("dynamic storage allocation", Garey and Johnson, SR2). Two orders are
//! tried, by falling size and by first step, each buffer at the lowest offset that is free during its life; for up to
//! [`EXACT_BUFFERS`] buffers that miss the lower bound, every order is (an order with this rule gives the optimum: that of the
//! optimum's offsets). The lower bound, the most bytes that live at once, is reported beside the result.
//!
//! ```
//! use vyre_core::plan::arena::{place, Buffer};
//! let arena = place(&[Buffer::new(60, 0, 0), Buffer::new(40, 0, 1), Buffer::new(50, 1, 2)]).unwrap();
//! assert_eq!(arena.bytes, 100);
//! assert_eq!(arena.offsets_bytes, [0, 60, 0]);
//! ```

use std::cmp::Reverse;
use std::num::NonZeroU64;
use thiserror::Error;

/// A buffer that needs memory for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// How much.
    pub bytes: u64,
    /// Its offset is a multiple of this.
    pub align_bytes: NonZeroU64,
    /// First step that uses it.
    pub first_step: u32,
    /// Last step that uses it.
    pub last_step: u32,
}

impl Buffer {
    /// A buffer that may start at any byte.
    pub const fn new(bytes: u64, first_step: u32, last_step: u32) -> Buffer {
        Buffer {
            bytes,
            align_bytes: NonZeroU64::MIN,
            first_step,
            last_step,
        }
    }

    fn meets(&self, other: &Buffer) -> bool {
        self.first_step <= other.last_step && other.first_step <= self.last_step
    }
}

/// Places in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// Start of each buffer, in input order.
    pub offsets_bytes: Vec<u64>,
    /// Size of the allocation.
    pub bytes: u64,
    /// No allocation is smaller: the most that lives at once.
    pub lower_bound_bytes: u64,
    /// The size is proved the smallest, by the bound or by trying all orders.
    pub smallest: bool,
}

/// Why there is no arena.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ArenaError {
    /// A buffer that ends before it begins.
    #[error("buffer {buffer} lives from step {first_step} to step {last_step}")]
    Lifetime {
        /// Position in the input.
        buffer: usize,
        /// Its first step.
        first_step: u32,
        /// Its last.
        last_step: u32,
    },
    /// Offsets do not fit in 64 bits.
    #[error("the end of buffer {buffer} overflows 64 bits")]
    Overflow {
        /// Position in the input.
        buffer: usize,
    },
}

/// Up to this many buffers, every order is tried where the quick ones miss the lower bound.
pub const EXACT_BUFFERS: usize = 7;

/// Places the buffers. Takes time quadratic in the number of buffers that live at once.
pub fn place(buffers: &[Buffer]) -> Result<Arena, ArenaError> {
    if let Some(buffer) = buffers.iter().position(|b| b.first_step > b.last_step) {
        let Buffer {
            first_step,
            last_step,
            ..
        } = buffers[buffer];
        return Err(ArenaError::Lifetime {
            buffer,
            first_step,
            last_step,
        });
    }
    let lower_bound_bytes = most_at_once(buffers)?;
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&i| (Reverse(buffers[i].bytes), buffers[i].first_step, i));
    let mut best = in_order(buffers, &order)?;
    if best.1 > lower_bound_bytes {
        order.sort_by_key(|&i| (buffers[i].first_step, Reverse(buffers[i].bytes), i));
        keep_smaller(&mut best, in_order(buffers, &order)?);
    }
    let mut smallest = best.1 == lower_bound_bytes;
    if !smallest && buffers.len() <= EXACT_BUFFERS {
        order.sort_unstable();
        every_order(buffers, &mut order, 0, &mut best, lower_bound_bytes)?;
        smallest = true;
    }
    Ok(Arena {
        offsets_bytes: best.0,
        bytes: best.1,
        lower_bound_bytes,
        smallest,
    })
}

/// Offsets and size.
type Placement = (Vec<u64>, u64);

fn keep_smaller(best: &mut Placement, other: Placement) {
    if other.1 < best.1 {
        *best = other;
    }
}

/// The largest sum of bytes over the steps.
fn most_at_once(buffers: &[Buffer]) -> Result<u64, ArenaError> {
    let mut begins: Vec<usize> = (0..buffers.len()).collect();
    let mut ends = begins.clone();
    begins.sort_by_key(|&i| buffers[i].first_step);
    ends.sort_by_key(|&i| buffers[i].last_step);
    let mut ended = ends.into_iter().peekable();
    let (mut live, mut most) = (0u64, 0);
    for i in begins {
        while let Some(gone) = ended.next_if(|&e| buffers[e].last_step < buffers[i].first_step) {
            live -= buffers[gone].bytes;
        }
        let sum = live.checked_add(buffers[i].bytes);
        live = sum.ok_or(ArenaError::Overflow { buffer: i })?;
        most = most.max(live);
    }
    Ok(most)
}

/// Each buffer at the lowest offset that is free during its life.
fn in_order(buffers: &[Buffer], order: &[usize]) -> Result<Placement, ArenaError> {
    let mut offsets = vec![0u64; buffers.len()];
    // Placed buffers by offset.
    let mut placed: Vec<usize> = Vec::with_capacity(buffers.len());
    let mut size = 0;
    for &i in order {
        let buffer = &buffers[i];
        let overflow = || ArenaError::Overflow { buffer: i };
        let align = buffer.align_bytes.get();
        let mut offset = 0u64;
        for &other in placed.iter().filter(|&&o| buffers[o].meets(buffer)) {
            let free = offsets[other].saturating_sub(offset);
            if offset <= offsets[other] && free >= buffer.bytes {
                break;
            }
            let end = offsets[other] + buffers[other].bytes;
            let next = offset.max(end).checked_next_multiple_of(align);
            offset = next.ok_or_else(overflow)?;
        }
        let end = offset.checked_add(buffer.bytes).ok_or_else(overflow)?;
        size = size.max(end);
        offsets[i] = offset;
        let at = placed.partition_point(|&o| (offsets[o], o) < (offset, i));
        placed.insert(at, i);
    }
    Ok((offsets, size))
}

fn every_order(
    buffers: &[Buffer],
    order: &mut [usize],
    fixed: usize,
    best: &mut Placement,
    lower_bound_bytes: u64,
) -> Result<(), ArenaError> {
    if best.1 == lower_bound_bytes {
        return Ok(());
    }
    if fixed == order.len() {
        keep_smaller(best, in_order(buffers, order)?);
        return Ok(());
    }
    if in_order(buffers, &order[..fixed])?.1 >= best.1 {
        return Ok(()); // What is placed already takes as much.
    }
    for i in fixed..order.len() {
        order.swap(fixed, i);
        every_order(buffers, order, fixed + 1, best, lower_bound_bytes)?;
        order.swap(fixed, i);
    }
    Ok(())
}
