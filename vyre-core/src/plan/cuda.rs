//! What a CUDA device has for a frontier besides its items, and for a topology besides its arrays.
//!
//! It is here and not in the backend, because the macros judge budgets by it and `PLAN` shows it where there is none
//! ([`super::device`]).
//!
//! | for | memory |
//! | --- | --- |
//! | a frontier whose items' edges are swept | the edge range of each item, so that a sweep does not look it up again |
//! | the same, where nodes have very many edges | a list of such nodes, whose edges all CTAs take together |
//! | a `unique` frontier | a stamp for each node |
//! | a topology with a lifted neighbour loop | lists of its long edge ranges and of its chunks of nodes |
//! | sweeps that may pull | three bits for each node |
//!
//! Items of narrow rounds are kept on chip and take no memory; when they leave it, they go to the frontier's own list.
//!
//! The executor allocates by these figures and [`super::footprint`] counts by them ([`DeviceMemory`]), so that the two agree. What a
//! launch has for itself is in neither: its tables and code, which fit a CTA's shared memory, and its control words.

use super::device::{Device, DeviceMemory, FrontierBytes};
use super::pull;
use crate::vir0::isa::Op;
use crate::vir0::local::locals;
use crate::vir0::module::{Extent, FrontierId, Kernel, Program, QueueId, TopologyId, Wave};
use crate::vir0::scalar::Scalar;
use crate::vir0::sizes::Sizes;
use std::any::Any;

/// What each part of a frontier, and whatever shares memory, is rounded up to.
pub const ALIGN: u64 = 256;
/// Out-degree above which a frontier's item is a hub.
pub const HUB_EDGES: u32 = 512;
/// Out-degree above which a neighbour loop's edge range is taken in parts.
pub const RANGE_EDGES: u32 = 256;
/// Edges of such a part.
pub const RANGE_PART: u32 = 1024;
/// Items that carry their edge range at least, where the capacity allows.
const RANGES: u64 = 1 << 16;
/// Hubs that a frontier lists apart at most.
const HUBS: u64 = 1 << 20;

/// What the shape of the topologies decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graphs {
    /// By topology: a node has more than [`HUB_EDGES`] edges out.
    pub hubs: Vec<bool>,
    /// By topology: bytes of its partition into ranges of edges, where a neighbour loop over it is lifted.
    pub partition_bytes: Vec<u64>,
}

impl Graphs {
    /// What decides of no graph of these sizes, or of fewer nodes and edges, that it takes more: hubs in all of them, and
    /// the longest lists for every loop that may be lifted.
    pub fn at_most(program: &Program, sizes: &Sizes) -> Graphs {
        let edges = |t| sizes.resolve(program, Extent::Edges(t)).unwrap_or(0);
        let waves = |t: TopologyId| {
            let kernels = program.waves.iter();
            let kernels = kernels.filter_map(|w| program.kernels.get(w.kernel.index()));
            kernels.filter(|k| may_be_lifted(k, t)).count() as u64
        };
        let topologies = (0..program.topologies.len()).map(|t| TopologyId(t as u16));
        let bytes =
            topologies.map(|t| waves(t).saturating_mul(most_partition(sizes.nodes, edges(t))));
        Graphs {
            hubs: vec![true; program.topologies.len()],
            partition_bytes: bytes.collect(),
        }
    }
}

impl DeviceMemory for Graphs {
    fn align_bytes(&self) -> u64 {
        ALIGN
    }

    fn topology_bytes(&self, id: TopologyId) -> u64 {
        self.partition_bytes.get(id.index()).copied().unwrap_or(0)
    }

    /// Stamps outlive the run: as long as they count up, none need be set.
    fn frontier(&self, program: &Program, id: FrontierId, sizes: &Sizes) -> FrontierBytes {
        let shape = Shape::of(program, id.into(), (sizes, self));
        FrontierBytes {
            passing: shape.passing_bytes(),
            lasting: shape.stamps_bytes(),
        }
    }

    /// The bitmaps of sweeps that may pull.
    fn beside_bytes(&self, program: &Program, sizes: &Sizes) -> u64 {
        let pulls = |wave| pull::claim(program, wave).is_some();
        match program.waves.iter().any(pulls) {
            true => pull_bytes(sizes.nodes),
            false => 0,
        }
    }

    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// A CUDA device, before there is one.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

impl Device for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    /// No local fixpoints yet.
    fn runs(&self, program: &Program) -> bool {
        locals(program).next().is_none()
    }

    fn at_most(&self, program: &Program, sizes: &Sizes) -> Box<dyn DeviceMemory> {
        Box::new(Graphs::at_most(program, sizes))
    }

    /// As for graphs of 65,536 nodes and more, none of them a hub.
    fn besides(
        &self,
        program: &Program,
        (id, capacity): (FrontierId, Extent),
        sizes: &Sizes,
    ) -> Option<u64> {
        let frontier = &program.frontiers[id.index()];
        let carried = match (swept_with(program, id.into()), capacity) {
            (None, _) => 0,
            (Some(_), Extent::NodesPlusEdges | Extent::NodesTimes(_) | Extent::Edges(_)) => {
                sizes.nodes
            }
            (Some(_), capacity) => sizes.resolve(program, capacity)?,
        };
        let stamps = if frontier.unique { sizes.nodes } else { 0 };
        carried.checked_mul(16)?.checked_add(stamps.checked_mul(4)?)
    }
}

/// Whether the kernel may have a loop over a node's edges that the device shares out among lanes.
fn may_be_lifted(kernel: &Kernel, topology: TopologyId) -> bool {
    let has = |op: Op| kernel.code.iter().filter(move |w| w.op == op as u8);
    let mut begins = has(Op::CsrBegin);
    has(Op::Loop).next().is_some() && begins.any(|w| w.resource() == topology.0)
}

/// Bytes of the partition of any graph with at most `nodes` and `edges`: a range has more than [`RANGE_EDGES`] edges,
/// a part of a range up to [`RANGE_PART`], and two chunks of nodes that follow each other have 32 nodes or 256 edges.
fn most_partition(nodes: u64, edges: u64) -> u64 {
    let ranges = edges / (u64::from(RANGE_EDGES) + 1);
    let parts = ranges.saturating_add(edges / u64::from(RANGE_PART));
    // Larger graphs have larger chunks, up to 2,048 edges.
    let by_edges = (edges / 128).min(16_448.max(edges / 1_024));
    let chunks = (nodes / 32).saturating_add(by_edges).saturating_add(3);
    let lists = [(ranges, 16), (parts, 8), (chunks, 4)];
    let lists = lists.map(|(n, each)| n.saturating_mul(each));
    let lists = lists.into_iter().fold(0, u64::saturating_add);
    aligned(lists).saturating_add(aligned(parts.saturating_mul(8).max(1)))
}

/// Bytes of the bitmaps of sweeps that may pull: three, in whole tiles of such a sweep.
pub fn pull_bytes(nodes: u64) -> u64 {
    3 * aligned(bitmap_bytes(nodes))
}

/// Bytes of one of these bitmaps.
pub fn bitmap_bytes(nodes: u64) -> u64 {
    nodes.div_ceil(1024).max(1) * 128
}

/// The topology along which a queue's edges are swept, whose ranges its items carry.
pub fn swept_with(program: &Program, queue: QueueId) -> Option<TopologyId> {
    let sweeps = |wave: &&Wave| wave.domain.queue() == Some(queue);
    let sweeps = program.waves.iter().filter(sweeps);
    sweeps.filter_map(|wave| wave.domain.topology()).next()
}

/// Sizes of a queue's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Items.
    pub capacity: u64,
    /// Arrays of each field ([`QueueId::sides`]).
    pub sides: u64,
    /// Of an item, in arrays of their own; none: it is a node.
    pub fields: Vec<Scalar>,
    /// Items that carry their edge range.
    pub ranges: u64,
    /// Hubs that are listed apart.
    pub hubs: u64,
    /// Stamps of a unique frontier.
    pub stamps: Option<u64>,
}

impl Shape {
    /// A queue's. A capacity that is not known counts as nothing.
    ///
    /// # Panics
    /// The queue does not exist.
    pub fn of(program: &Program, id: QueueId, (sizes, graphs): (&Sizes, &Graphs)) -> Shape {
        let queue = program.queue(id).expect("it exists");
        let capacity = sizes.resolve(program, queue.capacity).unwrap_or(0);
        let capacity = capacity.min(u64::from(u32::MAX));
        let (mut ranges, mut hubs) = (0, 0);
        if let Some(t) = swept_with(program, id) {
            ranges = capacity.min(sizes.nodes.max(RANGES));
            // What an unowned frontier holds is swept while more is pushed, so its hubs cannot be counted apart.
            let listed = graphs.hubs.get(t.index()).is_some_and(|&hubs| hubs);
            if listed && queue.owner.is_some() {
                let edges = sizes.resolve(program, Extent::Edges(t)).unwrap_or(0);
                hubs = HUBS.min(edges / u64::from(HUB_EDGES) + 1024);
            }
        }
        Shape {
            capacity,
            sides: id.sides(),
            fields: queue.fields.clone(),
            ranges,
            hubs,
            stamps: queue.unique.then_some(sizes.nodes),
        }
    }

    /// Bytes of an item's part on one side.
    pub fn part_bytes(&self, field: Scalar) -> u64 {
        aligned(field.size_bytes() * self.capacity)
    }

    /// Bytes of the items.
    pub fn items_bytes(&self) -> u64 {
        let items = match self.fields.as_slice() {
            [] => self.part_bytes(Scalar::U32),
            fields => fields.iter().map(|f| self.part_bytes(*f)).sum(),
        };
        self.sides * items
    }

    /// Bytes of the edge ranges on one side.
    pub fn ranges_bytes(&self) -> u64 {
        aligned(8 * self.ranges)
    }

    /// Bytes of the hubs on one side.
    pub fn hubs_bytes(&self) -> u64 {
        aligned(16 * self.hubs)
    }

    /// Bytes of what a run need not find as the run before left it: all but the stamps.
    pub fn passing_bytes(&self) -> u64 {
        self.items_bytes() + 2 * self.ranges_bytes() + 2 * self.hubs_bytes()
    }

    /// Bytes of the stamps.
    pub fn stamps_bytes(&self) -> u64 {
        self.stamps.map_or(0, |n| aligned(n.saturating_mul(4)))
    }
}

/// Bytes of a part.
pub fn aligned(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX)
}
