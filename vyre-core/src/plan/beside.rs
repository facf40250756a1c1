//! What an executor holds beside the resources of a program.
//!
//! | on | beside |
//! | --- | --- |
//! | native and vir0 | the items of a list or frontier once more, of a frontier beside its two sides: while its memory grows, and natively what the lanes of a sweep have added before it is in order |
//! | | a struct list of the result once more, put together from its columns |
//! | | structs that are given, or made for the result, once more |
//! | | a stamp a node of a `unique` frontier |
//! | | what the parts of a local fixpoint are copied to |
//! | native | of a sweep that may pull two bits a node, and without a reverse graph a number a node to look for one |
//! | | where each chunk of a sweep begins, and its state: what it pushes and appends is in the room of the first row |
//! | a device | what its backend says ([`super::device`]) |

use super::footprint::{ALONE, BLOCK, CHUNK, INDEX_BYTES, MOST_PARTS_AT_ONCE, PULLERS, Target};
use super::pull;
use crate::vir0::exact;
use crate::vir0::local::{Local, locals};
use crate::vir0::module::{
    Access, Buffer, Domain, Extent, Mode, Program, Queue, QueueId, ReduceOp, Resource, Role, Wave,
    put_together_bytes,
};
use crate::vir0::sizes::{PartSizes, Sizes};

/// What a chunk of a sweep has whatever its wave does: a fault.
const CHUNK_BYTES: u64 = 128;
/// Where a chunk of a frontier's edges begins, while that is found.
const CUT_BYTES: u64 = 168;
/// Its part of a buffer.
const PART_BYTES: u64 = 16;
/// For a frontier or list that it adds to, beside the items.
pub(crate) const ADDS_BYTES: u64 = 288;
/// The same for each field of the items.
const FIELD_BYTES: u64 = 32;
/// Of a block of items that chunks add, at most [`BLOCK`] of them.
const BLOCK_BYTES: u64 = 72;

/// Bytes of all of it, with as little as nothing where a length is not known. It never falls as sizes grow.
pub(super) fn beside_bytes(program: &Program, sizes: &Sizes, target: Target<'_>) -> u64 {
    let takes = Beside { program, sizes };
    match target {
        Target::Native => sum([
            takes.items(),
            takes.structs(),
            takes.states(MOST_PARTS_AT_ONCE as u64),
            takes.pulls(),
            takes.chunks(),
        ]),
        Target::Vir0 => sum([takes.items(), takes.structs(), takes.states(1)]),
        Target::Device(device) => device.beside_bytes(program, sizes),
    }
}

fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

struct Beside<'a> {
    program: &'a Program,
    sizes: &'a Sizes,
}

impl Beside<'_> {
    fn len(&self, extent: Extent) -> u64 {
        self.sizes.resolve(self.program, extent).unwrap_or(0)
    }

    fn node_bytes(&self) -> u64 {
        self.sizes.nodes.saturating_mul(INDEX_BYTES)
    }

    /// Items of queues once more, structs that are read back twice, and stamps.
    fn items(&self) -> u64 {
        let held = |(_, q): (QueueId, &Queue)| {
            let together = q.output && q.fields.len() > 1;
            let copies = if together { 2 } else { 1 };
            let items = self.len(q.capacity).saturating_mul(copies * q.row_bytes());
            let stamps = if q.unique { self.node_bytes() } else { 0 };
            items.saturating_add(stamps)
        };
        sum(self.program.queues().map(held))
    }

    /// Structs that are given, or made for the result.
    fn structs(&self) -> u64 {
        let buffers = self.program.buffers.iter();
        let scalars: Vec<&Buffer> = buffers.filter(|b| b.of_structs().is_some()).collect();
        let structs = scalars.chunk_by(|a, b| a.of_structs() == b.of_structs());
        sum(structs.map(|fields| match fields[0].role {
            Role::Topology | Role::Input | Role::Output | Role::InOut => {
                let scalars: Vec<_> = fields.iter().map(|b| b.scalar).collect();
                let len = self.len(fields[0].extent);
                len.saturating_mul(put_together_bytes(&scalars))
            }
            Role::Scratch => 0,
        }))
    }

    /// Bits of sweeps that may pull, and what tells whether a graph is its own reverse.
    fn pulls(&self) -> u64 {
        let words = self.sizes.nodes.div_ceil(64);
        sum(self.program.waves.iter().map(|wave| match wave.domain {
            Domain::EdgesFrom(t, _) if pull::claim(self.program, wave).is_some() => {
                let looks = pull::reverse(self.program, t).is_none();
                let looks = if looks { self.node_bytes() } else { 0 };
                (16 * words).saturating_add(looks)
            }
            _ => 0,
        }))
    }

    /// The chunks of the sweep that has most of them, and their states.
    fn chunks(&self) -> u64 {
        let waves = self.program.waves.iter();
        waves.map(|wave| self.chunks_of(wave)).max().unwrap_or(0)
    }

    fn chunks_of(&self, wave: &Wave) -> u64 {
        let lanes = wave.domain.most_items(self.program, |e| self.len(e));
        if lanes <= ALONE as u64 {
            return 0;
        }
        let mut chunks = lanes.div_ceil(CHUNK as u64);
        if pull::claim(self.program, wave).is_some() {
            chunks = chunks.max(self.sizes.nodes.div_ceil(PULLERS as u64));
        }
        let (mut each, mut blocks) = (CHUNK_BYTES, 0u64);
        if let Domain::EdgesFrom(..) = wave.domain {
            each += CUT_BYTES;
        }
        for access in &wave.accesses {
            let (bytes, capacity) = self.chunk_bytes(access);
            each += bytes;
            blocks = blocks.saturating_add(capacity / BLOCK as u64);
        }
        let blocks = blocks.saturating_mul(BLOCK_BYTES);
        chunks.saturating_mul(each).saturating_add(blocks)
    }

    /// What an access takes of each chunk, and how many items chunks may add by it.
    fn chunk_bytes(&self, access: &Access) -> (u64, u64) {
        let adds = matches!(access.mode, Mode::Update(_) | Mode::Write);
        match access.resource {
            Resource::Topology(_) => (0, 0),
            Resource::Buffer(_) => (PART_BYTES, 0),
            Resource::Queue(q) => match self.program.queue(q).filter(|_| adds) {
                Some(queue) => {
                    let fields = FIELD_BYTES * queue.fields.len() as u64;
                    (ADDS_BYTES + fields, self.len(queue.capacity))
                }
                None => (0, 0),
            },
            Resource::Reduction(r) => {
                let reduction = &self.program.reductions[r.index()];
                let words = match reduction.op {
                    ReduceOp::ExactSum => exact::words(reduction.scalar).unwrap_or(0) as u64,
                    ReduceOp::Sum
                    | ReduceOp::Min
                    | ReduceOp::Max
                    | ReduceOp::Or
                    | ReduceOp::And => 2,
                };
                let bytes = 8 * words;
                (bytes, 0)
            }
        }
    }

    /// What the states take on which parts of local fixpoints are run, `at_once` of them at a time.
    fn states(&self, at_once: u64) -> u64 {
        sum(locals(self.program).map(|local| self.states_of(&local, at_once)))
    }

    /// Of each part what the largest takes, but no more than everything twice.
    fn states_of(&self, local: &Local, at_once: u64) -> u64 {
        let (program, sizes) = (self.program, self.sizes);
        let Some(&Extent::Bounds(id, ..)) =
            program.buffers.get(local.bounds.index()).map(|b| &b.extent)
        else {
            return 0;
        };
        // Where no session says, one part may be all.
        let all = PartSizes {
            count: 1,
            most_nodes: sizes.nodes,
            most_edges: sizes.edges.iter().copied().max().unwrap_or(0),
        };
        let parts = sizes.parts.get(id.index()).unwrap_or(&all);
        let at_once = parts.count.min(at_once);
        let most = |each: u64, all: u64| each.saturating_mul(at_once).min(all);
        let edges = sizes.edges.iter();
        let part = Sizes {
            nodes: most(parts.most_nodes, sizes.nodes),
            edges: edges.map(|&e| most(parts.most_edges, e)).collect(),
            scalars: sizes.scalars.clone(),
            parts: Vec::new(),
            of_session: sizes.of_session.clone(),
        };
        let of_part = Beside {
            program,
            sizes: &part,
        };
        let buffers = program.buffers.iter();
        let buffers = buffers.filter(|b| local.cuts(program, b.extent));
        let buffers = buffers.map(|b| of_part.len(b.extent).saturating_mul(b.scalar.size_bytes()));
        let frontiers = local.frontiers(program).map(|f| {
            let capacity = of_part.len(program.frontiers[f.index()].capacity);
            capacity.saturating_mul(3 * INDEX_BYTES)
        });
        let edges = part.edges.iter().copied().max().unwrap_or(0);
        let csr = part.nodes.saturating_add(edges);
        let csr = csr.saturating_mul(program.topologies.len() as u64 * INDEX_BYTES);
        sum(buffers.chain(frontiers).chain([csr]))
    }
}
