//! What a CUDA device has for a frontier besides its items, and for a topology besides its arrays.
//!
//! | for | memory |
//! | --- | --- |
//! | a frontier whose items' edges are swept | the edge range of each item, so that a sweep does not look it up again |
//! | the same, where nodes have very many edges | a list of such nodes, whose edges all CTAs take together |
//! | a `unique` frontier | a stamp for each node |
//! | a topology with a lifted neighbour loop | lists of its long edge ranges and of its chunks of nodes |
//!
//! Items of narrow rounds are kept on chip and take no memory; when they leave it, they go to the frontier's own list.
//!
//! The executor allocates by these figures and [`super::footprint`] counts by them, so that the two agree. What a
//! launch has for itself is in neither: its tables and code, which fit a CTA's shared memory, and its control words.

use crate::vir0::module::{Extent, FrontierId, ListId, Program, TopologyId, Wave};
use crate::vir0::scalar::Scalar;
use crate::vir0::sizes::Sizes;

/// What each part of a frontier, and whatever shares memory, is rounded up to.
pub const ALIGN: u64 = 256;
/// Out-degree above which a frontier's item is a hub.
pub const HUB_EDGES: u32 = 512;
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
    /// Where no graph is known: hubs in all of them, no lifted loops.
    pub fn unknown(program: &Program) -> Graphs {
        Graphs {
            hubs: vec![true; program.topologies.len()],
            partition_bytes: vec![0; program.topologies.len()],
        }
    }
}

/// The topology along which a frontier's edges are swept, whose ranges its items carry.
pub fn swept_with(program: &Program, frontier: FrontierId) -> Option<TopologyId> {
    let sweeps = |wave: &&Wave| wave.domain.frontier() == Some(frontier);
    let sweeps = program.waves.iter().filter(sweeps);
    sweeps.filter_map(|wave| wave.domain.topology()).next()
}

/// Sizes of a frontier's memory, or of a list's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Items.
    pub capacity: u64,
    /// Arrays of each kind: two of a frontier, one of a list.
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
    /// A frontier's. A capacity that is not known counts as nothing.
    pub fn of_frontier(
        program: &Program,
        id: FrontierId,
        (sizes, graphs): (&Sizes, &Graphs),
    ) -> Shape {
        let frontier = &program.frontiers[id.index()];
        let capacity = sizes.resolve(program, frontier.capacity).unwrap_or(0);
        let capacity = capacity.min(u64::from(u32::MAX));
        let (mut ranges, mut hubs) = (0, 0);
        if let Some(t) = swept_with(program, id) {
            ranges = capacity.min(sizes.nodes.max(RANGES));
            // What an unowned frontier holds is swept while more is pushed, so its hubs cannot be counted apart.
            let listed = graphs.hubs.get(t.index()).is_some_and(|&hubs| hubs);
            if listed && frontier.owner.is_some() {
                let edges = sizes.resolve(program, Extent::Edges(t)).unwrap_or(0);
                hubs = HUBS.min(edges / u64::from(HUB_EDGES) + 1024);
            }
        }
        Shape {
            capacity,
            sides: 2,
            fields: frontier.fields.clone(),
            ranges,
            hubs,
            stamps: frontier.unique.then_some(sizes.nodes),
        }
    }

    /// A list's.
    pub fn of_list(program: &Program, id: ListId, sizes: &Sizes) -> Shape {
        let list = &program.lists[id.index()];
        let capacity = sizes.resolve(program, list.capacity).unwrap_or(0);
        Shape {
            capacity: capacity.min(u64::from(u32::MAX)),
            sides: 1,
            fields: list.fields.clone(),
            ranges: 0,
            hubs: 0,
            stamps: None,
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
