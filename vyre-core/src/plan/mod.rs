//! Planners: pure functions from values to a plan, the same answer every time, ties broken by id.
//!
//! The macros call them at compile time, the runtime with real sizes. Planners do not call each other: whoever drives
//! them hands what one finds out ([`barrier::Levels`], for instance) to the next. Only [`fit`] and [`budget`]
//! drive others.
//!
//! | planner | question |
//! | --- | --- |
//! | [`barrier`] | which waves can run between two barriers, and with how few barriers? |
//! | [`hazard`] | do unordered waves touch the same thing in ways that clash? which `after` is needless? |
//! | [`memory`] | what does each group need, and into which groups does a level split to fit a budget? |
//! | [`lives`] | between which barriers does each resource hold something? |
//! | [`footprint`] | what does a whole program take, group by group, and does it fit? |
//! | [`arena`] | where does what never lives at once lie in one memory, and when is it filled? |
//! | [`device`], [`cuda`] | what does a device have in memory besides what a pass declares? |
//! | [`fit`] | which allocation, and which further barriers, bring a program under its budget? Drives [`footprint`] and [`memory`] |
//! | [`budget`] | does every graph within a pass's limits meet its budget, target by target? Drives [`fit`], with what a [`device`] has at most |
//! | [`fuse`] | how do two programs run in one launch with the fewest barriers? |
//! | [`route`] | does a sweep over a frontier start with a list or a bitmap, on one thread or all? |
//! | [`passes`] | which passes and optimisations are worth running on a sample? |
//! | [`evidence`] | what do measurements prove? |
//! | [`heat`] | which of a pass's opcodes and kernels have its runs executed most? |
//! | [`launch`] | how many workers, which frontier form, interpreter or compiled code, how much room for results? |
//! | [`pull`] | may a sweep over a frontier's edges pull? |
//! | [`shaders`] | which waves can be shaders, target by target, and why not the others? |
//! | [`compact`] | which results are read back, and how? |
//! | [`session`] | what does keeping the graph resident take and avoid? |
//! | [`side`] | which of several backends gets a session's next run? |
//! | [`gains`] | what may a session do beside running a pass, and what was that measured to gain? |
//! | [`thresholds`] | what do the decisions at run time depend on, and how is it kept in a file? |
//! | [`cache`] | has this been planned before? A value that the caller owns |
//! | [`check`] | is a plan legal? Derived again, independently of the planners |
//!
//! ```
//! use vyre_core::vir0::module::{Access, BufferId, Mode, Resource};
//! use vyre_core::plan::{Edge, NodeId, barrier, hazard};
//!
//! // A diamond: 0 before 1 and 2, both before 3.
//! let edges = [Edge::new(0, 1), Edge::new(0, 2), Edge::new(1, 3), Edge::new(2, 3)];
//! let levels = barrier::levels(4, &edges).unwrap();
//! assert_eq!(levels.barriers(), 2);
//! assert_eq!(levels.group(1), [NodeId(1), NodeId(2)]);
//!
//! // Waves 1 and 2 are not ordered, and both write buffer 0.
//! let write = Access { resource: Resource::Buffer(BufferId(0)), mode: Mode::Write };
//! let conflicts = hazard::check(&[vec![], vec![write], vec![write], vec![]], &levels).unwrap();
//! assert_eq!((conflicts[0].first, conflicts[0].second), (NodeId(1), NodeId(2)));
//! ```

pub mod arena;
pub mod barrier;
pub(crate) mod beside;
pub mod budget;
#[cfg(feature = "exec")]
pub mod cache;
pub mod check;
#[cfg(feature = "exec")]
pub mod compact;
pub mod cuda;
pub mod device;
pub mod evidence;
pub mod fit;
pub mod footprint;
#[cfg(feature = "exec")]
pub mod fuse;
#[cfg(feature = "exec")]
pub mod gains;
pub mod hazard;
#[cfg(feature = "exec")]
pub mod heat;
#[cfg(feature = "exec")]
pub mod launch;
pub mod lives;
pub mod memory;
#[cfg(feature = "exec")]
pub mod passes;
#[cfg(feature = "exec")]
pub mod picture;
pub mod pull;
#[cfg(feature = "exec")]
pub mod route;
pub mod session;
#[cfg(feature = "exec")]
pub mod shaders;
#[cfg(feature = "exec")]
pub mod show;
#[cfg(feature = "exec")]
pub mod side;
#[cfg(feature = "exec")]
pub mod thresholds;

use std::fmt;

/// A node of the graph that is being planned: a wave, or a whole fixpoint. Its meaning is the caller's; planners use it
/// as an index and to break ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `after` must come after `before`: a barrier lies between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Runs first.
    pub before: NodeId,
    /// Runs later.
    pub after: NodeId,
}

impl Edge {
    /// The edge between two node numbers.
    pub const fn new(before: u32, after: u32) -> Edge {
        Edge {
            before: NodeId(before),
            after: NodeId(after),
        }
    }
}
