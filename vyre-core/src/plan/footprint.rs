//! What a whole program takes on a device, group by group, for given sizes.
//!
//! Topologies, inputs, outputs and reductions are there during the whole run. Scratch buffers and frontiers live from
//! the first group that uses them to the last; a use inside a fixpoint keeps them for all its rounds. From these lives
//! comes the exact peak. Whoever hands memory out by group initialises a buffer when its life begins, not when the run
//! does. A length that is a named constant is known only in an assembled program ([`crate::vir0::module::Parts`]), not
//! inside the macro.
//!
//! [`footprint`] is about a CPU, and so is what the macro plans by; [`footprint_on`] also about a CUDA device
//! ([`Target`]).
//!
//! ```
//! use vyre_core::vir0::sizes::Sizes;
//! use vyre_core::vir0::module::{Buffer, Extent, Program, Role};
//! use vyre_core::vir0::scalar::Scalar;
//! use vyre_core::plan::footprint::{Allocation, footprint};
//! let dist = Buffer {
//!     name: "dist".into(),
//!     scalar: Scalar::U32,
//!     extent: Extent::Nodes,
//!     role: Role::Output,
//!     init: None,
//! };
//! let program = Program { buffers: vec![dist], ..Program::default() };
//! let sizes = Sizes { nodes: 1_000, ..Sizes::default() };
//! let takes = footprint(&program, &sizes).unwrap();
//! assert_eq!(takes.resident_bytes, 4_000);
//! let error = takes.fit(3_999, Allocation::Separate).unwrap_err();
//! assert_eq!(error.to_string(), "the run needs 4000 bytes; budget is 3999");
//! ```

use super::arena::{self, Temporary};
use super::device::{self, Shape};
use super::lives::{Life, Lives};
use super::pull;
use crate::vir0::local::{Local, locals};
use crate::vir0::module::Domain;
use crate::vir0::module::{Buffer, put_together_bytes};
use crate::vir0::module::{
    BufferId, Extent, FrontierId, ListId, Program, ReductionId, Resource, Role, TopologyId, WaveId,
};
use crate::vir0::sizes::Sizes;
use std::collections::BTreeMap;
use thiserror::Error;

/// What one resource takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// Which.
    pub resource: Resource,
    /// How much.
    pub bytes: u64,
    /// When.
    pub life: Life,
}

/// The waves between two barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// In schedule order.
    pub waves: Vec<WaveId>,
    /// Everything that lives, resident bytes included.
    pub live_bytes: u64,
}

/// Whose memory is counted.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The host's, where memory is taken and given back while the schedule runs.
    Host,
    /// A device's, with what its graphs decide: frontiers have more than their items, and what shares memory has a
    /// place in one allocation ([`super::arena`]), where gaps may be left.
    Device(&'a device::Graphs),
}

/// What a program takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Topologies, buffers, frontiers, lists, reductions, in this order.
    pub items: Vec<Item>,
    /// What is there during the whole run.
    pub resident_bytes: u64,
    /// In schedule order.
    pub groups: Vec<Group>,
    /// The most that lives at once.
    pub peak_bytes: u64,
    /// Where what never lives at once shares memory: the peak, and on a device the gaps between places.
    pub shared_bytes: u64,
    /// Everything, each with an allocation of its own.
    pub separate_bytes: u64,
}

/// How memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// Each resource has its own.
    Separate,
    /// Resources that never live at once share.
    Shared,
}

/// Why a footprint is too large.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum FootprintError {
    /// A size, or the sum up to it, does not fit in 64 bits.
    #[error("bytes of `{name}` overflow 64 bits")]
    Overflow {
        /// Field at which it happened.
        name: String,
    },
    /// The fullest group takes too much.
    #[error("barrier group {group} needs {needed_bytes} bytes; budget is {budget_bytes}")]
    Group {
        /// Which.
        group: usize,
        /// Its waves.
        waves: Vec<WaveId>,
        /// What lives then.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
    /// All allocations together take too much.
    #[error("the run needs {needed_bytes} bytes; budget is {budget_bytes}")]
    Run {
        /// What they take.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
}

crate::debug_is_display!(FootprintError);

/// Bytes of an item number, an offset or an edge target.
const INDEX_BYTES: u64 = 4;
/// Bytes of a reduction.
const REDUCTION_BYTES: u64 = 8;

/// What the program takes on a CPU with these sizes. A length that they do not know counts as nothing. The program must
/// verify.
pub fn footprint(program: &Program, sizes: &Sizes) -> Result<Footprint, FootprintError> {
    footprint_on(program, sizes, Target::Host)
}

/// What the program takes with these sizes. The program must verify.
pub fn footprint_on(
    program: &Program,
    sizes: &Sizes,
    target: Target<'_>,
) -> Result<Footprint, FootprintError> {
    let wide = wide(program, sizes, target)?;
    let mut takes = Footprint::default();
    for (resource, bytes, life) in wide.items {
        let sum = u128::from(takes.separate_bytes) + bytes;
        let overflow = |_| FootprintError::Overflow {
            name: program.field_of(resource).to_owned(),
        };
        takes.separate_bytes = u64::try_from(sum).map_err(overflow)?;
        // No overflow from here on: whatever is added up is part of the sum of all.
        let bytes = bytes as u64;
        takes.items.push(Item {
            resource,
            bytes,
            life,
        });
    }
    takes.resident_bytes = wide.resident_bytes as u64;
    takes.peak_bytes = takes.resident_bytes;
    let groups = wide.groups.into_iter().zip(wide.live_bytes);
    for (waves, live_bytes) in groups {
        let live_bytes = live_bytes as u64;
        takes.peak_bytes = takes.peak_bytes.max(live_bytes);
        takes.groups.push(Group { waves, live_bytes });
    }
    takes.shared_bytes = match target {
        Target::Host => takes.peak_bytes,
        Target::Device(_) => {
            let arena = packed_bytes(program, &takes.items);
            takes.resident_bytes.saturating_add(arena)
        }
    };
    Ok(takes)
}

/// The one allocation in which scratch and frontiers have their places.
fn packed_bytes(program: &Program, items: &[Item]) -> u64 {
    let passing = items.iter().filter(|i| i.life != Life::Run);
    let bytes: BTreeMap<Resource, u64> = passing.map(|i| (i.resource, i.bytes)).collect();
    let temporaries = arena::temporaries(program).into_iter();
    let temporaries = temporaries.map(|(resource, first, last)| Temporary {
        bytes: bytes.get(&resource).copied().unwrap_or(0),
        first,
        last,
    });
    arena::pack(&temporaries.collect::<Vec<_>>(), device::ALIGN).bytes
}

/// A footprint of sizes that no memory has: for whoever shows them.
#[derive(Debug, Default)]
pub(super) struct Wide {
    /// In the order of [`Footprint::items`].
    pub(super) items: Vec<(Resource, u128, Life)>,
    /// Waves of each group.
    pub(super) groups: Vec<Vec<WaveId>>,
    /// What lives in each group, resident bytes included.
    pub(super) live_bytes: Vec<u128>,
    pub(super) resident_bytes: u128,
}

/// The footprint in 128 bits: no sum over tables of 65,536 entries of at most 2^64 elements each overflows those.
pub(super) fn wide(
    program: &Program,
    sizes: &Sizes,
    target: Target<'_>,
) -> Result<Wide, FootprintError> {
    let lives = match target {
        Target::Host => Lives::of(program),
        Target::Device(_) => Lives::in_place(program),
    };
    let known = |extent| sizes.resolve(program, extent).unwrap_or(0);
    let mut takes = Wide::default();
    let mut push = |resource, len: u64, bytes_each: u64, life| {
        let bytes = u128::from(len) * u128::from(bytes_each);
        takes.items.push((resource, bytes, life));
    };
    for i in 0..program.topologies.len() {
        let id = TopologyId(i as u16);
        let edges = known(Extent::Edges(id));
        let offsets = sizes.nodes.saturating_add(1);
        let entries = offsets.saturating_add(edges);
        push(Resource::Topology(id), entries, INDEX_BYTES, Life::Run);
        if let Target::Device(graphs) = target {
            let partition = graphs.partition_bytes.get(i).copied().unwrap_or(0);
            push(
                Resource::Topology(id),
                partition,
                u64::from(partition > 0),
                Life::Run,
            );
        }
    }
    for (i, b) in program.buffers.iter().enumerate() {
        let len = known(b.extent);
        let life = match b.role {
            Role::Scratch => lives.buffers[i],
            Role::Topology | Role::Input | Role::Output | Role::InOut => Life::Run,
        };
        let id = Resource::Buffer(BufferId(i as u16));
        match target {
            Target::Device(_) if b.role == Role::Scratch => {
                let bytes = len.saturating_mul(b.scalar.size_bytes());
                push(id, device::aligned(bytes), 1, life);
            }
            Target::Device(_) | Target::Host => push(id, len, b.scalar.size_bytes(), life),
        }
    }
    for (i, x) in program.frontiers.iter().enumerate() {
        let len = known(x.capacity);
        let frontier = FrontierId(i as u16);
        let id = Resource::Frontier(frontier);
        match target {
            Target::Host => push(id, len, 2 * x.item_bytes(), lives.frontiers[i]),
            Target::Device(graphs) => {
                let shape = Shape::of_frontier(program, frontier, (sizes, graphs));
                push(id, shape.passing_bytes(), 1, lives.frontiers[i]);
                // They outlive the run: as long as stamps count up, none need be set.
                push(id, shape.stamps_bytes(), 1, Life::Run);
            }
        }
    }
    for (i, l) in program.lists.iter().enumerate() {
        let len = known(l.capacity);
        let id = Resource::List(ListId(i as u16));
        push(id, len, l.item_bytes(), Life::Run);
    }
    for i in 0..program.reductions.len() {
        let id = Resource::Reduction(ReductionId(i as u16));
        push(id, 1, REDUCTION_BYTES, Life::Run);
    }
    // What comes and goes with each group.
    let mut comes = vec![0u128; lives.groups.len()];
    let mut goes = comes.clone();
    for &(_, bytes, life) in &takes.items {
        match life {
            Life::Run => takes.resident_bytes += bytes,
            Life::Groups { first, last } => {
                comes[first as usize] += bytes;
                goes[last as usize] += bytes;
            }
            Life::Never => {}
        }
    }
    let mut live = takes.resident_bytes;
    for (comes, goes) in comes.into_iter().zip(goes) {
        live += comes;
        takes.live_bytes.push(live);
        live -= goes;
    }
    takes.groups = lives.groups;
    Ok(takes)
}

impl Footprint {
    /// The first of the fullest groups; `None` when resident resources alone are the peak.
    pub fn peak_group(&self) -> Option<usize> {
        let fullest = |g: &Group| g.live_bytes == self.peak_bytes;
        self.groups.iter().position(fullest)
    }

    /// Whether it fits; otherwise what is too large.
    pub fn fit(&self, budget_bytes: u64, allocation: Allocation) -> Result<(), FootprintError> {
        match allocation {
            Allocation::Separate if self.separate_bytes > budget_bytes => {
                Err(FootprintError::Run {
                    needed_bytes: self.separate_bytes,
                    budget_bytes,
                })
            }
            Allocation::Shared if self.shared_bytes > budget_bytes => match self.peak_group() {
                Some(group) => Err(FootprintError::Group {
                    group,
                    waves: self.groups[group].waves.clone(),
                    needed_bytes: self.shared_bytes,
                    budget_bytes,
                }),
                None => Err(FootprintError::Run {
                    needed_bytes: self.shared_bytes,
                    budget_bytes,
                }),
            },
            Allocation::Separate | Allocation::Shared => Ok(()),
        }
    }
}

/// What a CPU executor may hold beside the plan of [`footprint`].
///
/// * The items of a list or frontier are there a second time, of a frontier beside its two sides, while its memory
///   grows, while what threads added each on their own is put in order, and while items of several fields are put
///   together for the result. So are structs that are given, or made for the result.
/// * A `unique` frontier has a stamp a node.
/// * A sweep that may pull has two bits a node, and without a reverse graph looks for one with a number a node.
/// * A sweep is cut into chunks, each of which has a state.
pub fn beside_bytes(program: &Program, sizes: &Sizes) -> u64 {
    let len = |extent| sizes.resolve(program, extent).unwrap_or(0);
    let node_bytes = sizes.nodes.saturating_mul(4);
    let lists = program.lists.iter();
    let lists = lists.map(|l| len(l.capacity).saturating_mul(l.row_bytes()));
    let frontiers = program.frontiers.iter().map(|f| {
        let stamp_bytes = if f.unique { node_bytes } else { 0 };
        let pushed = len(f.capacity).saturating_mul(f.row_bytes());
        pushed.saturating_add(stamp_bytes)
    });
    let words = sizes.nodes.div_ceil(64);
    let pulls = program.waves.iter().map(|wave| match wave.domain {
        Domain::EdgesFrom(t, _) if pull::claim(program, wave).is_some() => {
            let looks = pull::reverse(program, t).is_none();
            (16 * words).saturating_add(if looks { node_bytes } else { 0 })
        }
        _ => 0,
    });
    let waves = program.waves.iter();
    let swept = waves.map(|wave| wave.domain.most_items(program, len));
    let shared = swept.filter(|&lanes| lanes > ALONE as u64).max();
    let chunks = shared.unwrap_or(0).div_ceil(CHUNK as u64);
    let buffers = program.buffers.iter();
    let scalars: Vec<&Buffer> = buffers.filter(|b| b.of_structs().is_some()).collect();
    let structs = scalars.chunk_by(|a, b| a.of_structs() == b.of_structs());
    let structs = structs.map(|fields| match fields[0].role {
        Role::Topology | Role::Input | Role::Output | Role::InOut => {
            let scalars: Vec<_> = fields.iter().map(|b| b.scalar).collect();
            len(fields[0].extent).saturating_mul(put_together_bytes(&scalars))
        }
        Role::Scratch => 0,
    });
    let states = locals(program).map(|local| state_bytes(program, sizes, &local));
    let parts = lists
        .chain(frontiers)
        .chain(pulls)
        .chain(structs)
        .chain(states);
    let parts = parts.fold(0, u64::saturating_add);
    parts.saturating_add(chunks.saturating_mul(CHUNK_BYTES))
}

/// What the states take on which threads run the parts of a local fixpoint: of each, what its largest part takes, but
/// no more than everything twice.
fn state_bytes(program: &Program, sizes: &Sizes, local: &Local) -> u64 {
    let Some(&Extent::Bounds(id, ..)) =
        program.buffers.get(local.bounds.index()).map(|b| &b.extent)
    else {
        return 0;
    };
    let Some(parts) = sizes.parts.get(id.index()) else {
        return 0;
    };
    let at_once = parts.count.min(MOST_PARTS_AT_ONCE as u64);
    let graphs = program.topologies.len() as u64;
    let part = Sizes {
        nodes: parts.most_nodes.saturating_mul(at_once).min(sizes.nodes),
        edges: sizes
            .edges
            .iter()
            .map(|&e| parts.most_edges.saturating_mul(at_once).min(e))
            .collect(),
        scalars: sizes.scalars.clone(),
        parts: Vec::new(),
    };
    let len = |extent| part.resolve(program, extent).unwrap_or(0);
    let buffers = program
        .buffers
        .iter()
        .filter(|b| local.cuts(program, b.extent));
    let buffers = buffers.map(|b| len(b.extent).saturating_mul(b.scalar.size_bytes()));
    let frontiers = local.frontiers(program).map(|f| {
        let capacity = len(program.frontiers[f.index()].capacity);
        capacity.saturating_mul(3 * INDEX_BYTES)
    });
    let csr = (part.nodes).saturating_add(part.edges.iter().copied().max().unwrap_or(0));
    let csr = csr.saturating_mul(graphs * INDEX_BYTES);
    buffers
        .chain(frontiers)
        .chain([csr])
        .fold(0, u64::saturating_add)
}

/// Most parts that are run at once on a CPU: more threads have none.
pub(crate) const MOST_PARTS_AT_ONCE: usize = 256;

/// Largest sweep, in items or edges, that stays on the calling thread.
pub(crate) const ALONE: usize = 8192;
/// Items or edges of a chunk of a larger sweep.
pub(crate) const CHUNK: usize = 4096;
/// What a chunk has beside what it pushes and appends, at most.
const CHUNK_BYTES: u64 = 512;
