//! Why a session could not be made, or why a run gave no result. A message has the user's names, and the actual and the
//! allowed number.

use crate::vir0::trap::Trap;
use std::fmt;
use thiserror::Error;

/// Why a session could not be made or a run gave no outcome.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum RunError {
    /// A checked fault stopped the run.
    #[error(transparent)]
    Trap(#[from] Box<Trap>),
    /// The graphs of a session have different node counts.
    #[error("topology `{name}` has {actual} nodes; `{first}` has {expected}")]
    NodeCount {
        /// Second topology.
        name: String,
        /// First topology.
        first: String,
        /// Its nodes.
        expected: u64,
        /// Nodes of the second.
        actual: u64,
    },
    /// An argument has the wrong number of elements.
    #[error("`{name}` has {actual} elements; the pass needs {expected}")]
    Length {
        /// Field name.
        name: String,
        /// Needed.
        expected: u64,
        /// Given.
        actual: u64,
    },
    /// A row of bits is given with a bit beyond its width.
    #[error("bit {bit} of row {row} of `{name}` is set; its rows have {width} bits")]
    RowBit {
        /// Field name.
        name: String,
        /// The first node whose row has one.
        row: u64,
        /// The first such bit of it.
        bit: u32,
        /// Bits of a row.
        width: u32,
    },
    /// A symbolic size does not fit u32 indices.
    #[error("`{name}` would have {len} elements; at most {max} are supported", max = u32::MAX)]
    TooLong {
        /// Field name.
        name: String,
        /// Resolved length.
        len: u64,
    },
    /// Declared sizes add up to more than 64 bits count.
    #[error("the pass takes 2^64 bytes or more with `{name}`; no memory has so many")]
    TooLarge {
        /// Field at which the sum becomes too large.
        name: String,
    },
    /// The program does not verify. Programs from the macros do.
    #[error("invalid VIR0 program: {0}")]
    Invalid(String),
    /// The graph is larger than the pass was planned for.
    #[error("the graph has {actual} {what}; the pass's limits allow {limit}")]
    Limit {
        /// `nodes` or `edges`.
        what: &'static str,
        /// Of the graph.
        actual: u64,
        /// Largest allowed.
        limit: u64,
    },
    /// There is not enough memory: what was planned does not fit, and nothing was allocated; or the system had none
    /// left, which ended the run. The session works on.
    #[error("{what}; {needed_bytes} bytes are needed, {available_bytes} are available")]
    Memory {
        /// What takes so much.
        what: String,
        /// What the session or run takes.
        needed_bytes: u64,
        /// Allowed.
        available_bytes: u64,
    },
    /// More threads are asked for than can be meant.
    #[error("RAYON_NUM_THREADS asks for {asked} threads; at most {most} are made here")]
    Threads {
        /// By the environment.
        asked: usize,
        /// Allowed.
        most: usize,
    },
    /// A result holds more than it was declared to.
    #[error("`{name}` holds {actual_bytes} bytes; its declared capacity is {capacity_bytes}")]
    Capacity {
        /// Field name.
        name: String,
        /// What the run left in it.
        actual_bytes: u64,
        /// What it was declared to hold.
        capacity_bytes: u64,
    },
    /// The run took more work than its executor was allowed, and stopped.
    #[error("the run takes more than {limit} items, rounds and turns of loops")]
    Work {
        /// The most that it may take.
        limit: u64,
    },
    /// The backend failed (driver error, cancelled).
    #[error("{0}")]
    Backend(String),
}

crate::debug_is_display!(RunError);

impl RunError {
    /// The system has no memory left for something of so many bytes.
    #[cold]
    pub fn no_memory(what: impl fmt::Display, needed_bytes: u64) -> RunError {
        RunError::Memory {
            what: format!("no memory is left for {what}"),
            needed_bytes,
            available_bytes: 0,
        }
    }
}
