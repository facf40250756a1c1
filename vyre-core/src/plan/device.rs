//! What a device has in memory for a pass besides what the pass declares: its backend says so by a [`DeviceMemory`], and
//! [`super::footprint`] counts by it.
//!
//! What shares memory has a place in one allocation ([`super::arena`]) for a whole launch, because no host hands it out.
//! All else that planners know of a device is what its backend answers here, so a new device is no change of this
//! crate. One exception is a device whose budgets are to be judged when a pass is compiled, and which `PLAN` shows: no
//! backend is there yet then, and the macros must not depend on one. Such a device has a file here that is named for it
//! ([`super::cuda`]), and is in [`super::budget::Backend::ALL`].

use crate::vir0::module::{Extent, FrontierId, Program, TopologyId};
use crate::vir0::sizes::Sizes;
use std::any::Any;
use std::fmt::Debug;

/// What a device has for the sessions of a pass on certain topologies. No answer falls as nodes or edges are added.
///
/// ```
/// use std::any::Any;
/// use vyre_core::plan::device::{DeviceMemory, FrontierBytes};
/// use vyre_core::plan::footprint::{Target, footprint_on};
/// use vyre_core::vir0::module::{Buffer, Extent, FrontierId, Program, Role};
/// use vyre_core::vir0::scalar::Scalar;
/// use vyre_core::vir0::sizes::Sizes;
///
/// /// Has both sides of a frontier, and a counter for each.
/// #[derive(Debug, PartialEq)]
/// struct Plain;
///
/// impl DeviceMemory for Plain {
///     fn align_bytes(&self) -> u64 {
///         64
///     }
///     fn frontier(&self, program: &Program, id: FrontierId, sizes: &Sizes) -> FrontierBytes {
///         let frontier = &program.frontiers[id.index()];
///         let items = sizes.resolve(program, frontier.capacity).unwrap_or(0);
///         FrontierBytes { passing: 2 * frontier.item_bytes() * items, lasting: 8 }
///     }
///     fn is(&self, other: &dyn Any) -> bool {
///         other.downcast_ref() == Some(self)
///     }
/// }
///
/// let scratch = Buffer {
///     name: "seen".into(),
///     scalar: Scalar::U32,
///     extent: Extent::Nodes,
///     role: Role::Scratch,
///     init: None,
///     reset: None,
/// };
/// let program = Program { buffers: vec![scratch], ..Program::default() };
/// let sizes = Sizes { nodes: 10, ..Sizes::default() };
/// let takes = footprint_on(&program, &sizes, Target::Device(&Plain)).unwrap();
/// assert_eq!(takes.separate_bytes, 64);
/// ```
pub trait DeviceMemory: Any + Debug + Send + Sync {
    /// What scratch buffers, and whatever shares memory, are rounded up to: a power of two.
    fn align_bytes(&self) -> u64;

    /// Bytes for a topology beside its offsets and targets.
    fn topology_bytes(&self, _id: TopologyId) -> u64 {
        0
    }

    /// Bytes for a frontier.
    fn frontier(&self, program: &Program, id: FrontierId, sizes: &Sizes) -> FrontierBytes;

    /// Bytes of what belongs to nothing of the program.
    fn beside_bytes(&self, _program: &Program, _sizes: &Sizes) -> u64 {
        0
    }

    /// Whether the other one gives the same answers.
    fn is(&self, other: &dyn Any) -> bool;
}

/// What a device has for a frontier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontierBytes {
    /// Of what a run need not find as the run before left it: it may share memory.
    pub passing: u64,
    /// Of the rest.
    pub lasting: u64,
}

/// A device whose budgets are judged when a pass is compiled.
pub trait Device: Debug + Sync {
    /// The name of its backend.
    fn name(&self) -> &'static str;

    /// Whether it runs the program.
    fn runs(&self, program: &Program) -> bool;

    /// What it has on no graph of these sizes, or of fewer nodes and edges, more of.
    fn at_most(&self, program: &Program, sizes: &Sizes) -> Box<dyn DeviceMemory>;

    /// Bytes for a frontier of this capacity besides its items, as a sum of multiples that `PLAN` shows for any size;
    /// `None` where 64 bits do not count them.
    fn besides(&self, program: &Program, of: (FrontierId, Extent), sizes: &Sizes) -> Option<u64>;
}
