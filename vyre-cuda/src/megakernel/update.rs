//! Another topology for a session, of which only what differs is uploaded, and the topology as others take it.

use super::Megakernel;
use super::arena::{Manner, Packing};
use super::graph::{
    Graph, PartitionMemory, average_degrees, csr_bytes, found_in, partitions_bytes, partitions_of,
    read_back, up,
};
use super::memory::{Needs, Queue, room_for};
use super::settings::{clustered, interpreted};
use super::upload::check_topology;
use crate::buffer::slice_bytes;
use crate::device::DeviceError;
use crate::image::{ITEMS_PER_LANE, Layout};
use std::sync::Arc;
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::ALIGN;
use vyre_core::run::args::{Lent, TopologyArgs, resolve_topologies};

impl Megakernel {
    /// Takes another topology. After an error nothing has changed.
    pub(super) fn take_topology(&mut self, topology: &TopologyArgs<'_>) -> Result<(), RunError> {
        let device = Arc::clone(&self.launcher.pass.device);
        let program = Arc::clone(&self.launcher.pass.program);
        let allocation = self.launcher.pass.allocation;
        let (csrs, sizes) = resolve_topologies(&program, topology)?;
        let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
        check_topology(&program, &sizes, topology)?;
        let degrees = average_degrees(csrs.iter().copied());
        let of = (&*program, allocation);
        let layout = Layout::new(
            of,
            device.interpreter().room(),
            &degrees,
            self.settings.items_per_lane,
        )
        .map_err(|e| RunError::Backend(e.to_string()))?;
        let found = found_in(&program, &csrs);
        let manner = Manner {
            allocation,
            packing: Packing::UpTo {
                bytes: self.settings.pack_up_to_bytes,
                // The next run takes it, if there is room.
                lists: false,
            },
            before: None,
        };
        let needs = Needs::new(&program, (&sizes, &found), manner)?;
        let differs: Vec<bool> = csrs
            .iter()
            .zip(&self.memory.graphs)
            .map(|(csr, graph)| graph.differs(csr))
            .collect::<Result<_, _>>()?;
        let graphs = csrs.iter().zip(&differs).filter(|(_, d)| **d);
        let graphs = graphs.map(|(g, _)| csr_bytes(g) + 2 * ALIGN);
        // Those of another shape are made anew.
        let differ: Vec<bool> = (needs.shapes.iter().zip(&self.memory.queues))
            .map(|(shape, queue)| *shape != queue.shape)
            .collect();
        let queues = (0..differ.len()).filter(|&i| differ[i]);
        let queues = queues.map(|i| {
            let own = needs.own_queue_bytes(&program, i).map_or(0, up);
            own + needs.shapes[i].stamps_bytes()
        });
        let partitions = partitions_of(&layout, &csrs);
        let more = graphs.sum::<u64>() + queues.sum::<u64>() + partitions_bytes(&partitions);
        room_for(&device, "the update", more)?;
        // What finds out about a graph still reads it.
        device.synchronize()?;
        self.last.left = None;

        let mut uploaded = 0;
        for ((graph, csr), differs) in self.memory.graphs.iter_mut().zip(&csrs).zip(differs) {
            if differs {
                uploaded += csr_bytes(csr);
                *graph = Graph::new(&device, csr)?;
            }
        }
        for i in (0..differ.len()).filter(|&i| differ[i]) {
            let own = needs.own_queue_bytes(&program, i);
            self.memory.queues[i] = Queue::new(&device, needs.shapes[i].clone(), own)?;
            self.launcher.counts.allocations += u64::from(own.is_some());
        }
        self.memory.partitions = PartitionMemory::upload(&device, &partitions)?;
        self.lay(layout)?;
        self.memory.found = found;
        self.memory.sizes = sizes;
        self.launcher.drop_records();
        let (pass, counts) = (&self.launcher.pass, &mut self.launcher.counts);
        self.memory.take(pass, counts, needs)?;
        for (id, column) in &topology.columns {
            let memory = self.memory.memory_of(id.index());
            let bytes = slice_bytes(column);
            if !memory.holds(bytes)? {
                uploaded += bytes.len() as u64;
                memory.upload(0, bytes)?;
            }
        }
        device.synchronize()?;
        self.launcher.counts.graph_uploads += u64::from(uploaded > 0);
        self.launcher.counts.graph_upload_bytes += uploaded;
        Ok(())
    }

    /// The topology, read back.
    pub(super) fn lend(&self) -> Result<Lent<'static>, RunError> {
        let memory = &self.memory;
        let of = (&*self.launcher.pass.program, &memory.sizes);
        let graph = |i: usize| memory.graphs[i].read();
        let column = |i: usize, (scalar, len)| memory.memory_of(i).read(scalar, len);
        read_back(of, graph, column)
    }

    /// Has lanes take `items_per_lane` items at a time, at most.
    pub(super) fn take_items(&mut self, items_per_lane: u32) -> Result<(), RunError> {
        let items_per_lane = items_per_lane.clamp(1, ITEMS_PER_LANE);
        if items_per_lane != self.settings.items_per_lane {
            let degrees = self.memory.graphs.iter().map(Graph::average_degree);
            let degrees: Vec<f64> = degrees.collect();
            let pass = &self.launcher.pass;
            let of = (&*pass.program, pass.allocation);
            let layout = Layout::new(
                of,
                pass.device.interpreter().room(),
                &degrees,
                items_per_lane,
            )
            .map_err(|e| RunError::Backend(e.to_string()))?;
            self.lay(layout)?;
            self.settings.items_per_lane = items_per_lane;
        }
        Ok(())
    }

    /// Runs the same program with another layout from now on. Its words are as long, but say where in shared memory
    /// their operands lie, so they are uploaded where anything in them differs.
    fn lay(&mut self, layout: Layout) -> Result<(), DeviceError> {
        let pass = &mut self.launcher.pass;
        pass.upload_words(&layout)?;
        self.settings.clustered = clustered(interpreted(&pass.device), &layout)?;
        // A run that failed halfway may have left a launch of the module that goes.
        pass.device.synchronize()?;
        pass.take_layout(layout);
        Ok(())
    }
}
