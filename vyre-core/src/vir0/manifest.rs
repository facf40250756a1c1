//! What a pass says of itself: its name, what it asks of a planner, and what measurements prove about it. The macro
//! makes it from `#[pass(..)]`, and the container carries it.

use crate::vir0::module::Resource;
use thiserror::Error;

/// What the pass promises and asks of the planner; shown by `PLAN` and listed at run time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// `#[pass(id = "...")]`; the module path otherwise.
    pub id: String,
    /// First line of the module's documentation.
    pub title: String,
    /// No evidence that holds: never selected as an optimisation.
    pub unproven: bool,
    /// Smallest frontier worth the pass.
    pub min_frontier_items: u64,
    /// Smallest reuse count worth the pass.
    pub min_reuse: u64,
    /// Smallest avoided readback worth the pass.
    pub min_readback_bytes: u64,
    /// Claimed speedup in basis points.
    pub speedup_bps: u64,
    /// Selected whenever profitable.
    pub mandatory: bool,
    /// Evidence file as written.
    pub evidence: String,
    /// What measurements of the pass are bound to ([`crate::vir0::container::program_hash`]); `None` for a program that
    /// no macro made.
    pub program_hash: Option<u64>,
    /// What the evidence proves, if it is of this program.
    pub proof: Option<Proof>,
    /// Why the evidence proves nothing any more. The pass is unproven then.
    pub stale: Option<Stale>,
    /// Largest graph that it was planned for, in nodes.
    pub max_nodes: Option<u64>,
    /// Largest graph that it was planned for, in edges of each topology.
    pub max_edges: Option<u64>,
    /// Memory that a run may take.
    pub budget_bytes: Option<u64>,
    /// Results that are not proven to be the same in every run, and of which the author says so.
    pub claims: Vec<Claim>,
}

/// Every run gives this result alike, says the author: `#[pass(same_result(dist = ".."))]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// An output, a list that is given back, or a reduction. Elements that are structs have a claim for each of their
    /// buffers.
    pub result: Resource,
    /// Why, as written.
    pub reason: String,
}

impl Manifest {
    /// Drops what was proved: the evidence is of something else.
    pub fn disprove(&mut self, why: Stale) {
        self.unproven = true;
        self.proof = None;
        self.stale = Some(why);
    }
}

/// What measurements prove about a pass: the verdict on its evidence file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proof {
    /// Measurements that count.
    pub samples: u32,
    /// The smallest speedup, in basis points.
    pub min_speedup_bps: u64,
    /// The largest.
    pub max_speedup_bps: u64,
    /// The values of named constants that it was measured with
    /// ([`Parts::constants_hash`](super::module::Parts::constants_hash)).
    pub constants_hash: u64,
    /// Whether runs shared launches.
    pub measured: Measured,
    /// What it is faster than.
    pub rival: String,
}

/// How runs shared launches while they were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Measured {
    /// A launch a run.
    Single = 0,
    /// Runs of one batch, several to a launch.
    Shared = 1,
}

impl Measured {
    /// As the column holds it.
    pub const fn name(self) -> &'static str {
        match self {
            Measured::Single => "single",
            Measured::Shared => "shared",
        }
    }
}

/// Why evidence says nothing about a pass as it is now.
#[derive(Clone, Copy, Error, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Stale {
    /// Samples without a fingerprint.
    #[error("its samples do not say what was measured")]
    Unbound = 0,
    /// Another `program_hash`.
    #[error("code, buffers, schedule or named constants have changed since it was measured")]
    Program = 1,
    /// Another `constants_hash`.
    #[error("named constants have other values than when it was measured")]
    Constants = 2,
}

crate::debug_is_display!(Stale);
