//! Why a session could not be made, or why a run gave no result. A message has the user's names, and the actual and the
//! allowed number.

use crate::vir0::subject::counted;
use crate::vir0::trap::Trap;
use std::fmt;
use std::time::Duration;
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
    /// A series without runs.
    #[error("a series has at least one run, and this one has none")]
    NoRuns,
    /// An argument has the wrong number of elements.
    #[error("`{name}` has {}; the pass needs {expected}{}", counted(*actual, "element"), bracketed(size))]
    Length {
        /// Field name.
        name: String,
        /// Needed.
        expected: u64,
        /// How that length is declared, with its value: `per = n, n = 3`. Empty where it is a number.
        size: String,
        /// Given.
        actual: u64,
    },
    /// Rows that the session is given are of another number.
    #[error("`{name}` has {}; the pass needs {expected}{}", counted(*actual, "row"), bracketed(size))]
    RowCount {
        /// Field name.
        name: String,
        /// Needed.
        expected: u64,
        /// How that number is declared: `per = node`. Empty where it is a number.
        size: String,
        /// Given.
        actual: u64,
    },
    /// A query asks for a topology that sessions do not have.
    #[error("there is no topology {topology}; {} counted from 0", there_are(*topologies))]
    NoTopology {
        /// Asked for.
        topology: usize,
        /// Topologies that there are.
        topologies: usize,
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
    /// A length that is computed has no value.
    #[error("`{name}` would have `{length}` elements, and {why}")]
    NoLength {
        /// Name of the field, or of the wave that sweeps a range.
        name: String,
        /// How the length is declared: `n - 4`.
        length: String,
        /// Its value, or the step that has none: `-1 is not between 0 and 4294967295`.
        why: String,
    },
    /// Declared sizes add up to more than 64 bits count.
    #[error("the pass takes 2^64 bytes or more with `{name}`; no memory has so many")]
    TooLarge {
        /// Field at which the sum becomes too large.
        name: String,
    },
    /// What was given does not fit together, or not with the program; or the program does not verify, or the backend
    /// has no way to run it. Programs from the macros verify.
    #[error("{0}")]
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
    /// Parts do not fit their graph.
    #[error("the parts `{name}` {why}")]
    Parts {
        /// Field name.
        name: String,
        /// Which part, node or edge.
        why: String,
    },
    /// The backend does not run local fixpoints.
    #[error(
        "each of `{parts}` runs `{fixpoint}` by itself, which the backend `{backend}` does not do yet; \
        `Runtime::auto()` and `Runtime::native()` run it on the CPU"
    )]
    NoParts {
        /// [`Backend::name`](crate::run::backend::Backend::name).
        backend: &'static str,
        /// The local fixpoint.
        fixpoint: String,
        /// The parts that run it.
        parts: String,
    },
    /// More threads are asked for than can be meant.
    #[error("RAYON_NUM_THREADS asks for {asked} threads; at most {most} are made here")]
    Threads {
        /// By the environment.
        asked: usize,
        /// Allowed.
        most: usize,
    },
    /// No threads are asked for, or more than can be meant.
    #[error("{asked} threads are asked for; at least 1 and at most {most} can be had")]
    ThreadCount {
        /// By the program.
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
    /// The run was ended, or refused: a [`Canceller`](crate::run::stop::Canceller) said so.
    #[error("the run was cancelled")]
    Cancelled,
    /// The run was ended because it took longer than it was given.
    #[error("the run was stopped after {limit:?}, the time that it was given")]
    Deadline {
        /// What it was given.
        limit: Duration,
    },
    /// The run was ended because it took more steps than it was given, or an invocation of a shader more turns of loops
    /// than it may.
    #[error("{}", too_much(*limit, of.as_deref()))]
    Work {
        /// What it was given, or what an invocation may take.
        limit: u64,
        /// Of a shader, the wave or the condition.
        of: Option<String>,
    },
    /// The backend failed.
    #[error("{0}")]
    Backend(String),
}

crate::debug_is_display!(RunError);

fn bracketed(size: &str) -> String {
    match size {
        "" => String::new(),
        size => format!(" ({size})"),
    }
}

fn too_much(limit: u64, of: Option<&str>) -> String {
    match of {
        None => format!(
            "the run was stopped after {}, the limit that it was given",
            steps(limit)
        ),
        Some(of) => format!(
            "an invocation of `{of}` took {limit} turns of loops, over all of its items: no shader can be stopped, so that \
             is the most"
        ),
    }
}

fn steps(limit: u64) -> String {
    match limit {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    }
}

fn there_are(topologies: usize) -> String {
    match topologies {
        1 => "there is 1,".to_owned(),
        n => format!("there are {n},"),
    }
}

impl RunError {
    /// The same, as that of run `run`, counted from 0, of a series of `runs`. One run is no series.
    pub fn of_run(mut self, run: usize, runs: usize) -> RunError {
        if let RunError::Trap(trap) = &mut self {
            trap.run = (runs > 1).then_some(run as u64);
        }
        self
    }

    /// It happened in a part.
    pub(crate) fn of_part(mut self, part: impl FnOnce(&mut Trap)) -> RunError {
        if let RunError::Trap(trap) = &mut self {
            part(trap);
        }
        self
    }

    /// The run was ended from outside or by a limit: it is not to be tried again elsewhere.
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            RunError::Cancelled | RunError::Deadline { .. } | RunError::Work { .. }
        )
    }

    /// What was asked for was refused, and nothing was launched.
    pub fn is_refusal(&self) -> bool {
        use RunError::{Backend, Memory, Trap};
        !self.is_stop() && !matches!(self, Trap(_) | Memory { .. } | Backend(_))
    }

    /// The system has no memory left for `what`, which needs `needed_bytes`.
    #[cold]
    pub fn no_memory(what: impl fmt::Display, needed_bytes: u64) -> RunError {
        RunError::Memory {
            what: format!("no memory is left for {what}"),
            needed_bytes,
            available_bytes: 0,
        }
    }
}
