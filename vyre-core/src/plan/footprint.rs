//! What a whole program takes on a device, group by group, for given sizes.
//!
//! Topologies, inputs, outputs and reductions are there during the whole run. Scratch buffers and frontiers live from
//! the first group that uses them to the last; a use inside a fixpoint keeps them for all its rounds. From these lives
//! comes the exact peak. Whoever hands memory out by group initialises a buffer when its life begins, not when the run
//! does. A length that is a named constant is known only in an assembled program ([`crate::vir0::module::Parts`]), not
//! inside the macro.
//!
//! [`footprint_on`] says what a session takes on a [`Target`]: the resources of the program, and what the executor there
//! holds beside them. The macros judge budgets by it, `PLAN` shows it, sessions lease it, and no executor holds more. It
//! never falls as nodes or edges are added, so what it says of the largest graph bounds it for all graphs. [`footprint`]
//! is about the native executor.
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
//!     reset: None,
//! };
//! let program = Program { buffers: vec![dist], ..Program::default() };
//! let sizes = Sizes { nodes: 1_000, ..Sizes::default() };
//! let takes = footprint(&program, &sizes).unwrap();
//! assert_eq!(takes.resident_bytes, 4_000);
//! let error = takes.fit(3_999, Allocation::Separate).unwrap_err();
//! assert_eq!(error.to_string(), "the run needs 4000 bytes; budget is 3999");
//! ```

use super::arena::{self, Temporary};
use super::beside::beside_bytes;
use super::device::DeviceMemory;
use super::lives::{Life, Lives};
use crate::vir0::module::{
    BufferId, Extent, Program, QueueId, ReductionId, Resource, Role, TopologyId, WaveId,
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

/// Who runs the program, and so whose memory is counted.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The pass's own functions, on the host's threads. Memory is taken and given back while the schedule runs.
    Native,
    /// An interpreter on the host, as above.
    Vir0,
    /// A device, with what it has besides: what shares memory has a place in one allocation ([`super::arena`]), where
    /// gaps may be left.
    Device(&'a dyn DeviceMemory),
}

/// What a program takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Topologies, buffers, frontiers, lists, reductions, in this order.
    pub items: Vec<Item>,
    /// What the executor holds beside them, during the whole run.
    pub beside_bytes: u64,
    /// What is there during the whole run: some of the items, and what is beside all of them.
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
pub(super) const INDEX_BYTES: u64 = 4;
/// Bytes of a reduction.
const REDUCTION_BYTES: u64 = 8;

/// What a session takes on the native executor with these sizes, as [`footprint_on`].
pub fn footprint(program: &Program, sizes: &Sizes) -> Result<Footprint, FootprintError> {
    footprint_on(program, sizes, Target::Native)
}

/// What a session takes with these sizes. A length that they do not know counts as nothing. The program must verify.
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
    takes.beside_bytes = beside_bytes(program, sizes, target);
    let with_beside = |bytes: u64| bytes.saturating_add(takes.beside_bytes);
    takes.separate_bytes = with_beside(takes.separate_bytes);
    takes.resident_bytes = with_beside(wide.resident_bytes as u64);
    takes.peak_bytes = takes.resident_bytes;
    let groups = wide.groups.into_iter().zip(wide.live_bytes);
    for (waves, live_bytes) in groups {
        let live_bytes = with_beside(live_bytes as u64);
        takes.peak_bytes = takes.peak_bytes.max(live_bytes);
        takes.groups.push(Group { waves, live_bytes });
    }
    takes.shared_bytes = match target {
        Target::Native | Target::Vir0 => takes.peak_bytes,
        Target::Device(device) => {
            let arena = packed_bytes(program, &takes.items, device.align_bytes());
            takes.resident_bytes.saturating_add(arena)
        }
    };
    Ok(takes)
}

/// The one allocation in which scratch and frontiers have their places.
fn packed_bytes(program: &Program, items: &[Item], align_bytes: u64) -> u64 {
    let passing = items.iter().filter(|i| i.life != Life::Run);
    let bytes: BTreeMap<Resource, u64> = passing.map(|i| (i.resource, i.bytes)).collect();
    let temporaries = arena::temporaries(program).into_iter();
    let temporaries = temporaries.map(|(resource, first, last)| Temporary {
        bytes: bytes.get(&resource).copied().unwrap_or(0),
        first,
        last,
    });
    arena::pack(&temporaries.collect::<Vec<_>>(), align_bytes).bytes
}

/// What the resources take, without what is beside them, of sizes that no memory has: for whoever shows them.
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
        Target::Native | Target::Vir0 => Lives::of(program),
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
        if let Target::Device(device) = target {
            let bytes = device.topology_bytes(id);
            let each = u64::from(bytes > 0);
            push(Resource::Topology(id), bytes, each, Life::Run);
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
            Target::Device(device) if b.role == Role::Scratch => {
                let bytes = len.saturating_mul(b.scalar.size_bytes());
                let aligned = bytes.checked_next_multiple_of(device.align_bytes());
                push(id, aligned.unwrap_or(u64::MAX), 1, life);
            }
            Target::Device(_) | Target::Native | Target::Vir0 => {
                push(id, len, b.scalar.size_bytes(), life);
            }
        }
    }
    for (queue, declared) in program.queues() {
        let (id, life) = (Resource::Queue(queue), lives.of_queue(queue));
        match (target, queue) {
            (Target::Device(device), QueueId::Frontier(frontier)) => {
                let bytes = device.frontier(program, frontier, sizes);
                push(id, bytes.passing, 1, life);
                push(id, bytes.lasting, 1, Life::Run);
            }
            _ => {
                let len = known(declared.capacity);
                push(id, len, queue.sides() * declared.item_bytes(), life);
            }
        }
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

    /// What a session takes whose memory is taken like this.
    pub fn bytes(&self, allocation: Allocation) -> u64 {
        match allocation {
            Allocation::Separate => self.separate_bytes,
            Allocation::Shared => self.shared_bytes,
        }
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

/// Most parts that are run at once on a CPU: more threads have none.
pub(crate) const MOST_PARTS_AT_ONCE: usize = 256;

/// Largest sweep of the native executor, in items or edges, that stays on the calling thread.
pub(crate) const ALONE: usize = 8192;
/// Items or edges of a chunk of a larger sweep.
pub(crate) const CHUNK: usize = 4096;
/// Nodes of a chunk of a sweep that pulls; a multiple of 64.
pub(crate) const PULLERS: usize = 2048;
/// Items of a block of what chunks add, at most.
pub(crate) const BLOCK: usize = 4096;
