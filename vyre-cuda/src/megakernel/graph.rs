//! Graphs on a device, and what their shape decides: whether hubs are listed, how neighbour loops are shared out, and
//! whether a graph is its own reverse.

use crate::abi;
use crate::buffer::{Event, Memory, Pinned, slice_bytes};
use crate::device::{Device, DeviceError};
use crate::image::{ITEMS_PER_LANE, Layout, Ranges};
use crate::neighbor_loop::EdgePartition;
use std::borrow::Cow;
use std::sync::Arc;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::{Csr, CsrError};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::{ALIGN, Graphs, HUB_EDGES, swept_with};
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Lent, TopologyArgs};
use vyre_core::vir0::module::{BufferId, FrontierId, Program, Role, TopologyId};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// How a wave's neighbour loop is shared out, on the device.
#[derive(Debug)]
pub(super) struct PartitionMemory {
    /// Ranges, parts, chunks.
    lists: Memory,
    sums: Memory,
    /// Where things are in `lists`.
    within: Ranges,
    /// Nodes of a chunk, at most.
    tile: u32,
}

/// A graph on the device.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) offsets: Memory,
    pub(super) targets: Memory,
    pub(super) nodes: u32,
    pub(super) edges: u32,
    pub(super) most_degree: u32,
    pub(super) symmetric: Symmetric,
}

/// Whether a graph is its own reverse, so that searches in it may pull. The device finds out once searches have pushed
/// along as many edges that a pull would have spared as the graph has edges.
#[derive(Debug)]
pub(super) enum Symmetric {
    /// Not worth knowing yet: the number of such edges so far.
    Unknown(u64),
    Asked(Question),
    Known(bool),
}

/// What the device was asked.
#[derive(Debug)]
pub(super) struct Question {
    /// Where the device puts the answer, and where it goes from there.
    pub(super) verdict: Memory,
    pub(super) answer: Pinned,
    pub(super) done: Event,
}

pub(super) fn up(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(ALIGN)
}

pub(super) fn average_degrees<'a>(graphs: impl Iterator<Item = &'a Csr>) -> Vec<f64> {
    graphs
        .map(|g| g.edge_count() as f64 / (g.node_count() as f64).max(1.0))
        .collect()
}

/// How each wave's neighbour loop is shared out.
pub(super) fn partitions_of(layout: &Layout, csrs: &[&Csr]) -> Vec<Option<EdgePartition>> {
    let of = |wave| {
        let t = layout.ranges_of(wave)?;
        Some(EdgePartition::new(
            csrs[usize::from(t)].offsets(),
            layout.tile(wave),
        ))
    };
    (0..layout.wave_count()).map(of).collect()
}

pub(super) fn partitions_bytes(partitions: &[Option<EdgePartition>]) -> u64 {
    partitions.iter().flatten().map(partition_bytes).sum()
}

/// Lists, and sums of parts.
fn partition_bytes(partition: &EdgePartition) -> u64 {
    let bytes = |n: usize, each: u64| n as u64 * each;
    let parts = bytes(partition.parts.len(), 8);
    up(bytes(partition.ranges.len(), 16) + parts + bytes(partition.chunks.len(), 4)) + up(parts)
}

/// What decides about memory, of a session's own graphs.
pub(super) fn found_in(program: &Program, csrs: &[&Csr]) -> Graphs {
    let has_hubs = |t: TopologyId| most_degree(csrs[t.index()].offsets()) > abi::HUB_EDGES;
    Graphs {
        hubs: hubs_of(program, has_hubs),
        ..Graphs::default()
    }
}

impl PartitionMemory {
    pub(super) fn upload(
        device: &Arc<Device>,
        partitions: &[Option<EdgePartition>],
    ) -> Result<Vec<Option<Self>>, DeviceError> {
        let one = |partition: &EdgePartition| {
            let words = [
                partition.ranges.as_flattened(),
                partition.parts.as_flattened(),
                &partition.chunks,
            ]
            .concat();
            let lists = Memory::new(device, 4 * words.len() as u64)?;
            lists.upload(0, slice_bytes(&Slice::U32(&words)))?;
            let parts = 16 * partition.ranges.len() as u64;
            let within = Ranges {
                parts,
                chunks: parts + 8 * partition.parts.len() as u64,
                count: partition.ranges.len() as u32,
                part_count: partition.parts.len() as u32,
                chunk_count: partition.chunks.len() as u32 - 1,
                ..Ranges::default()
            };
            Ok(PartitionMemory {
                lists,
                sums: Memory::new(device, 8 * partition.parts.len() as u64)?,
                within,
                tile: partition.tile,
            })
        };
        partitions
            .iter()
            .map(|partition| partition.as_ref().map(one).transpose())
            .collect()
    }

    /// For a kernel that takes `tile` nodes at a time.
    pub(super) fn place(&self, tile: u32) -> Ranges {
        let list = self.lists.address();
        Ranges {
            // Chunks that are larger than a tile are of no use.
            chunk_count: match tile < self.tile {
                true => 0,
                false => self.within.chunk_count,
            },
            list,
            parts: list + self.within.parts,
            sums: self.sums.address(),
            chunks: list + self.within.chunks,
            ..self.within
        }
    }
}

impl Graph {
    pub(super) fn average_degree(&self) -> f64 {
        f64::from(self.edges) / f64::from(self.nodes).max(1.0)
    }

    pub(super) fn new(device: &Arc<Device>, csr: &Csr) -> Result<Graph, DeviceError> {
        let offsets = Memory::new(device, 4 * csr.offsets().len() as u64)?;
        let targets = Memory::new(device, 4 * csr.targets().len() as u64)?;
        offsets.upload(0, slice_bytes(&Slice::U32(csr.offsets())))?;
        targets.upload(0, slice_bytes(&Slice::U32(csr.targets())))?;
        Ok(Graph {
            offsets,
            targets,
            nodes: csr.node_count() as u32,
            edges: csr.edge_count() as u32,
            most_degree: most_degree(csr.offsets()),
            symmetric: Symmetric::Unknown(0),
        })
    }

    /// Numbers of edges and nodes leave room for what lies beside the last ones, and all nodes are somewhere.
    pub(super) fn can_be_pulled(&self) -> bool {
        self.nodes <= 1 << 31 && self.edges > 0 && self.edges <= u32::MAX - 4096
    }

    pub(super) fn table(&self) -> abi::Topology {
        abi::Topology {
            offsets: self.offsets.address(),
            targets: self.targets.address(),
            nodes: self.nodes,
            edges: self.edges,
            ..Default::default()
        }
    }

    /// Back from the device.
    pub(super) fn read(&self) -> Result<Csr, RunError> {
        let words = |memory: &Memory, len| memory.read(Scalar::U32, len);
        let offsets = words(&self.offsets, u64::from(self.nodes) + 1)?;
        let targets = words(&self.targets, self.edges.into())?;
        csr_of(offsets, targets)
    }

    /// Whether it is another graph.
    pub(super) fn differs(&self, csr: &Csr) -> Result<bool, DeviceError> {
        let sizes = (csr.node_count() as u32, csr.edge_count() as u32);
        Ok((self.nodes, self.edges) != sizes
            || !self
                .offsets
                .holds(slice_bytes(&Slice::U32(csr.offsets())))?
            || !self
                .targets
                .holds(slice_bytes(&Slice::U32(csr.targets())))?)
    }
}

/// A graph of what was read back.
pub(super) fn csr_of(offsets: Column, targets: Column) -> Result<Csr, RunError> {
    let (Column::U32(offsets), Column::U32(targets)) = (offsets, targets) else {
        unreachable!("offsets and targets are u32");
    };
    Csr::new(offsets, targets).map_err(|e: CsrError| RunError::Backend(e.to_string()))
}

/// A session's topology as it was given: without the graphs that were built here. `graph` and `column` read one of them
/// back, of this index, a column of this type and length.
pub(super) fn read_back(
    (program, sizes): (&Program, &Sizes),
    graph: impl Fn(usize) -> Result<Csr, RunError>,
    column: impl Fn(usize, (Scalar, u64)) -> Result<Column, RunError>,
) -> Result<Lent<'static>, RunError> {
    let topologies = program.topologies.iter().enumerate();
    let given = topologies.filter(|(_, declared)| declared.reverse_of.is_none());
    let graphs = given.map(|(i, _)| graph(i).map(Cow::Owned));
    let buffers = program.buffers.iter().enumerate();
    let columns = buffers.filter(|(_, buffer)| buffer.role == Role::Topology);
    let columns = columns.map(|(i, buffer)| {
        let len = sizes.resolve(program, buffer.extent).unwrap_or(0);
        let column = column(i, (buffer.scalar, len))?;
        Ok((BufferId(i as u16), Arc::new(column)))
    });
    Ok(Lent {
        graphs: graphs.collect::<Result<_, RunError>>()?,
        columns: columns.collect::<Result<_, RunError>>()?,
        scalars: sizes.of_session.clone(),
    })
}

pub(super) fn csr_bytes(csr: &Csr) -> u64 {
    4 * (csr.offsets().len() as u64 + csr.targets().len() as u64)
}

/// What the shape of a session's topologies decides about its memory on a device.
pub(crate) fn graphs_of(
    device: &Device,
    program: &Program,
    topology: &TopologyArgs<'_>,
) -> Result<Graphs, RunError> {
    let mut graphs = topology.graphs.iter();
    let given: Vec<_> = (program.topologies.iter())
        .map(|t| t.reverse_of.is_none().then(|| graphs.next()).flatten())
        .collect();
    let degrees: Vec<f64> = (program.topologies.iter().zip(&given))
        .map(|(t, graph)| {
            let of = t.reverse_of.map_or(*graph, |of| given[of.index()]);
            of.map_or(0.0, |g| {
                g.edge_count() as f64 / (g.node_count() as f64).max(1.0)
            })
        })
        .collect();
    let of = (program, Allocation::Separate);
    let layout = Layout::new(of, device.interpreter().room(), &degrees, ITEMS_PER_LANE)
        .map_err(|e| RunError::Backend(e.to_string()))?;
    let offsets = |t: TopologyId| -> Cow<'_, [u32]> {
        match (program.topologies[t.index()].reverse_of, given[t.index()]) {
            (None, Some(graph)) => Cow::Borrowed(graph.offsets()),
            (Some(of), _) => {
                let targets = given[of.index()].map_or(&[][..], |g| g.targets());
                Cow::Owned(offsets_in(
                    targets,
                    given[of.index()].map_or(0, |g| g.node_count()),
                ))
            }
            (None, None) => Cow::Borrowed(&[]),
        }
    };
    let mut found = Graphs {
        hubs: hubs_of(program, |t| most_degree(&offsets(t)) > HUB_EDGES),
        partition_bytes: vec![0; program.topologies.len()],
    };
    for (wave, t) in (0..layout.wave_count()).map(|w| (w, layout.ranges_of(w))) {
        if let Some(t) = t.map(TopologyId) {
            let partitions = EdgePartition::new(&offsets(t), layout.tile(wave));
            found.partition_bytes[t.index()] += partition_bytes(&partitions);
        }
    }
    Ok(found)
}

/// By topology, whether hubs are listed; asked only where a frontier would list them.
fn hubs_of(program: &Program, has_hubs: impl Fn(TopologyId) -> bool) -> Vec<bool> {
    let mut swept = vec![false; program.topologies.len()];
    for (f, frontier) in (0u16..).zip(&program.frontiers) {
        if let (Some(t), true) = (
            swept_with(program, FrontierId(f).into()),
            frontier.owner.is_some(),
        ) {
            swept[t.index()] = true;
        }
    }
    let swept = (0u16..).zip(swept);
    swept
        .map(|(t, swept)| swept && has_hubs(TopologyId(t)))
        .collect()
}

fn most_degree(offsets: &[u32]) -> u32 {
    let degrees = offsets.windows(2).map(|w| w[1] - w[0]);
    degrees.max().unwrap_or(0)
}

/// Offsets of the edges in.
fn offsets_in(targets: &[u32], nodes: usize) -> Vec<u32> {
    let mut offsets = vec![0u32; nodes + 1];
    for &t in targets {
        offsets[t as usize + 1] += 1;
    }
    for i in 0..nodes {
        offsets[i + 1] += offsets[i];
    }
    offsets
}
