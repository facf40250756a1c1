//! The CUDA backend: one launch of the persistent megakernel runs a whole pass. It is cooperative where its CTAs wait for
//! each other.
//!
//! Topology and buffers are allocated once per session. A run uploads its inputs and one image (tables and zeroed
//! control words) and launches once. Small results lie behind the control words, so that one copy brings all of them
//! back; large ones have copies of their own. The host waits once, unless it must learn first how much there is to
//! read.
//!
//! Queries of a batch share launches: each CTA takes one after another and runs it alone. What a query leaves to be
//! read, control words and results, is one record.
//!
//! Two launches are on their way at a time where there is something to gain: while one runs, the inputs of the next go
//! up and the results of the one before come back, on a stream of copies. For that, inputs and what belongs to a launch
//! exist twice; everything else is used in the launches' order.
//!
//! | module | idea |
//! | --- | --- |
//! | `pass`, `launch` | what is launched, and the one way to the device, for all of these |
//! | `series`, `per_cta` | the two kinds of launches: all CTAs a query, or one |
//! | `batch`, `many` | which queries share a launch: of a session, of many graphs |
//! | `memory`, `arena` | how much a state takes, what a session has, what of it never lives at once |
//! | `settings` | what launches follow, and what the last run showed |
//! | `graph`, `direction`, `update` | graphs on the device, their edges in, other graphs |
//! | `upload`, `tables`, `record`, `readback` | inputs, images, control words, results |

mod arena;
mod batch;
mod direction;
mod graph;
mod launch;
mod many;
mod memory;
mod pass;
mod per_cta;
mod readback;
mod record;
mod series;
mod settings;
mod tables;
mod update;
mod upload;

pub(crate) use graph::graphs_of;
pub(crate) use many::Many;

use crate::abi;
use crate::buffer::{Locked, Memory, room_in, slice_bytes};
use crate::device::{Device, DeviceError};
use crate::image::{ITEMS_PER_LANE, Layout};
use arena::Manner;
use graph::{
    Graph, PartitionMemory, average_degrees, csr_bytes, found_in, partitions_bytes, partitions_of,
    up,
};
use launch::{Batch, Launcher};
use memory::{Needs, SessionMemory, room_for};
use readback::{locked, stays};
use record::is_result;
use settings::{LastRun, Settings, clustered, interpreted};
use std::borrow::Cow;
use std::sync::Arc;
use upload::check_topology;
use vyre_core::dsl::columns::{Column, SliceMut};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::{ALIGN, Shape};
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::launch::Topology;
use vyre_core::plan::session::Counters;
use vyre_core::run::args::{Args, Lent, TopologyArgs, resolve_topologies};
use vyre_core::run::backend::{
    CodeRoom, Executor, Followed, LaunchHint, Limits, ListSlab, Lock, Progress, Resident, runnable,
};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::stop::Stop;
use vyre_core::vir0::module::{BufferId, Program, Role, TopologyId};
use vyre_core::vir0::sizes::Sizes;

/// Runs of a series that are on their way before the host waits.
const SERIES: usize = 256;

impl From<DeviceError> for RunError {
    fn from(e: DeviceError) -> RunError {
        RunError::Backend(e.to_string())
    }
}

/// One session on a CUDA device.
#[derive(Debug)]
pub struct Megakernel {
    launcher: Launcher,
    memory: SessionMemory,
    settings: Settings,
    last: LastRun,
}

impl Megakernel {
    /// Uploads the topologies and allocates what has a size before the first run. Fails without allocating when the
    /// device's free memory is too small.
    pub fn new(
        device: &Arc<Device>,
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<Megakernel, RunError> {
        runnable(&program, ("cuda", false))?;
        let (csrs, sizes) = resolve_topologies(&program, topology)?;
        let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
        check_topology(&program, &sizes, topology)?;
        let degrees = average_degrees(csrs.iter().copied());
        let of = (&*program, allocation);
        let layout = Layout::new(of, device.interpreter().room(), &degrees, ITEMS_PER_LANE)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let partitions = partitions_of(&layout, &csrs);
        let found = found_in(&program, &csrs);
        let mut settings = Settings::new(device);
        let manner = Manner {
            allocation,
            packing: settings.packing(),
            before: None,
        };
        let needs = Needs::new(&program, (&sizes, &found), manner)?;
        let image_bytes = layout.tables_bytes().next_multiple_of(ALIGN) + needs.slab_bytes;

        let graphs = csrs.iter().map(|g| {
            up(4 * (g.node_count() as u64 + 1)).saturating_add(up(4 * g.edge_count() as u64))
        });
        let buffers = (0..program.buffers.len()).filter_map(|i| needs.own_bytes(&program, i));
        let queues = (0..needs.shapes.len()).filter_map(|i| needs.own_queue_bytes(&program, i));
        let stamps = needs.shapes.iter().map(Shape::stamps_bytes);
        let needed = graphs
            .chain(buffers.map(up))
            .chain(queues.map(up))
            .chain(stamps)
            .chain([
                up(image_bytes),
                up(layout.code_bytes()),
                partitions_bytes(&partitions),
                needs.arena_bytes(),
            ])
            .fold(0, u64::saturating_add);
        room_for(device, "the session", needed)?;

        let mut counts = Counters {
            graph_uploads: u64::from(!csrs.is_empty()),
            ..Counters::default()
        };
        let mut graphs = Vec::new();
        for csr in csrs {
            counts.graph_upload_bytes += csr_bytes(csr);
            graphs.push(Graph::new(device, csr)?);
        }
        settings.clustered = clustered(interpreted(device), &layout)?;
        let of = (Arc::clone(&program), allocation);
        let mut launcher = Launcher::new(device, of, layout, counts)?;
        launcher.pass.nodes = sizes.nodes;
        let mut memory = SessionMemory {
            sizes,
            graphs,
            found,
            partitions: PartitionMemory::upload(device, &partitions)?,
            buffers: program.buffers.iter().map(|_| None).collect(),
            arena: None,
            queues: Vec::new(),
            needs: Needs {
                buffers: vec![0; program.buffers.len()],
                ..Needs::default()
            },
            image: Memory::new(device, image_bytes)?,
            no_room_for_lists: false,
            ahead: None,
            bits: None,
        };
        launcher.make_flight(0)?;
        memory.take(&launcher.pass, &mut launcher.counts, needs)?;
        for (id, column) in &topology.columns {
            launcher.counts.graph_upload_bytes += column.bytes();
            memory
                .memory_of(id.index())
                .upload(0, slice_bytes(column))?;
        }
        device.synchronize()?;
        Ok(Megakernel {
            launcher,
            memory,
            settings,
            last: LastRun::default(),
        })
    }
}

impl Executor for Megakernel {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let _armed = self.launcher.arm()?;
        let first = (0..).step_by(SERIES);
        let mut earlier_bytes = 0;
        for (first, chunk) in first.zip(series.chunks(SERIES)) {
            let read = first + chunk.len() == series.len();
            for (_, column) in locked(results) {
                column.reset(0, 0);
            }
            let into: &mut [_] = if read { locked(results) } else { &mut [] };
            let ran = self.start_series(chunk, (0, false), read, into);
            let ran = ran.and_then(|pending| {
                earlier_bytes += if read { 0 } else { pending.copied_bytes };
                self.finish_series(pending, results, &mut [])
            });
            ran.map_err(|e| match e {
                RunError::Trap(trap) => {
                    let run = first + trap.run.unwrap_or(0) as usize;
                    RunError::Trap(trap).of_run(run, series.len())
                }
                e => e,
            })?;
        }
        results.report.readback.copied_bytes += earlier_bytes;
        Ok(())
    }

    fn lock(&mut self, sizes: &Sizes, results: &mut Outcome) -> Result<Option<Lock>, RunError> {
        let pass = &self.launcher.pass;
        let needs = self.memory.needs(pass, sizes, self.settings.packing())?;
        let mut locked = Locked::new(&pass.device);
        for (id, column) in &mut results.outputs {
            let buffer = &pass.program.buffers[id.index()];
            let bytes = needs.own_bytes(&pass.program, id.index()).unwrap_or(0);
            if bytes == 0 || !stays(buffer) {
                continue;
            }
            *column = Column::filled(buffer.scalar, 0, 0);
            let len = (bytes / buffer.scalar.size_bytes()) as usize;
            room_in(column, len)?;
            // The result has this memory as it is only where it has room for whole arrays.
            if column.capacity() != len {
                continue;
            }
            // SAFETY: whoever has the outcome has the lock, and lets go of the lock before the columns grow or are freed
            // (`Executor::lock`).
            let begun = unsafe { locked.lock(column, bytes as usize) };
            if begun.is_err() {
                // The system may allow no more. Then results come as those of other runs do.
                return Ok(None);
            }
        }
        Ok((!locked.is_empty()).then(|| Box::new(locked) as Lock))
    }

    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        _may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let _armed = self.launcher.arm()?;
        let pending = {
            let mut all = args.clone();
            let given = in_outs.iter().map(|(id, s)| (*id, s.as_slice()));
            all.inputs.extend(given);
            self.start_series(std::slice::from_ref(&all), (0, false), true, &mut [])?
        };
        let mut results = Outcome::default();
        self.finish_series(pending, &mut results, in_outs)?;
        // Small ones came with the control words.
        for (id, to) in in_outs {
            let scalar = self.launcher.pass.program.buffers[id.index()].scalar;
            if let Some(column) = results.memory_of(*id, scalar)
                && !to.assign(column.as_slice())
            {
                let other = "an in-out buffer has another type or length";
                return Err(RunError::Invalid(other.to_owned()));
            }
        }
        Ok(results)
    }

    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        let _armed = match self.launcher.arm() {
            Ok(armed) => armed,
            Err(e) => return vec![Err(e.into()); queries.len()],
        };
        self.last.overtaken = false;
        let results = self.run_all(queries);
        // Only some of them were in the session's own buffers.
        self.last.left = None;
        results
    }

    fn slots(&self) -> u32 {
        self.launcher.pass.slots()
    }

    fn update(&mut self, topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        self.take_topology(topology)?;
        Ok(true)
    }

    fn lend_topology(&self) -> Result<Option<Lent<'_>>, RunError> {
        self.lend().map(Some)
    }

    fn resident(&self, what: Resident) -> Option<(u64, u64)> {
        let (pass, memory) = (&self.launcher.pass, &self.memory);
        let graph = |id: TopologyId| &memory.graphs[id.index()];
        match what {
            Resident::Offsets(id) => {
                let graph = graph(id);
                Some((graph.offsets.address(), u64::from(graph.nodes) + 1))
            }
            Resident::Targets(id) => {
                let graph = graph(id);
                Some((graph.targets.address(), u64::from(graph.edges)))
            }
            Resident::Buffer(id) => {
                let i = id.index();
                let buffer = &pass.program.buffers[i];
                let len = memory
                    .sizes
                    .resolve(&pass.program, buffer.extent)
                    .unwrap_or(0);
                if buffer.role == Role::Topology {
                    return Some((memory.memory_of(i).address(), len));
                }
                let left = self.last.left.as_ref().filter(|_| is_result(buffer.role))?;
                let home = left.homes[i] as usize;
                Some((memory.buffer_places(pass, left.set)[home], len))
            }
        }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.launcher.counts)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_workers: self.slots(),
            lanes_per_worker: abi::THREADS,
            workers_vary: true,
            jit: true,
            items_per_lane: ITEMS_PER_LANE,
            overlaps: true,
            bitmaps: false,
            packs_lists: true,
            fuses_waves: false,
            pulls: true,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let mut notes: Vec<Cow<'static, str>> = Vec::new();
        let short = hint.topology == Topology::MemoryConstrained;
        self.settings.ctas = if short && !hint.shared && !hint.asked && hint.workers < self.slots()
        {
            notes.push(
                "fewer CTAs wanted: all run, since only those of a batch have memory of their own"
                    .into(),
            );
            self.slots()
        } else {
            hint.workers.clamp(1, self.slots())
        };
        if self.take_items(hint.device.items_per_lane).is_err() {
            notes.push("another number of items a lane wanted, which cannot be had".into());
        }
        (self.launcher.pass).take_route(hint.route, hint.device.heat_words);
        let (code, why) = self.launcher.pass.explain(hint.route);
        notes.extend(why);
        self.launcher.pass.time_waves = hint.time_waves;
        self.settings.pack_up_to_bytes = hint.pack_up_to_bytes;
        let lists = hint.device.lists;
        self.settings.packs_lists = lists == ListSlab::Room;
        if self.launcher.pass.layout.packs_lists() {
            let short = match (lists, self.memory.no_room_for_lists) {
                (ListSlab::NoRoom, _) => Some("budget"),
                (ListSlab::Room, true) => Some("device"),
                (ListSlab::Room, false) | (ListSlab::NotWanted, _) => None,
            };
            notes.extend(short.map(|who| {
                format!("lists packed into one copy wanted, for which the {who} has no memory")
                    .into()
            }));
        }
        self.settings.pull_from = hint.device.pull_from;
        self.settings.lists_alone = hint.sweeps.start.is_sparse() || !hint.sweeps.pulls;
        if !hint.sweeps.pulls {
            self.memory.bits = None;
        }
        self.settings.slots = hint.slots.max(1);
        self.settings.batch_bytes = hint.batch_bytes;
        self.settings.second_inputs = hint.device.second_inputs;
        if !self.settings.second_inputs {
            self.memory.ahead = None;
        }
        Followed {
            workers: self.settings.ctas,
            code,
            sweeps: Some(hint.sweeps.start),
            notes,
        }
    }

    fn compile(&mut self) -> Result<bool, RunError> {
        self.launcher.pass.compile()
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.launcher.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.launcher.progress = progress;
    }

    fn count_code(&mut self, room: &Arc<dyn CodeRoom>) {
        self.launcher.pass.count_code(room);
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.launcher.stop = Some(Arc::clone(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.launcher.pass.count_steps(steps)
    }
}

impl Drop for Megakernel {
    fn drop(&mut self) {
        // A run that failed halfway may have left copies on the stream whose targets are about to be freed.
        let device = &self.launcher.pass.device;
        if device.enter().is_ok() {
            let _ = device.synchronize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbor_loop::words::word;
    use vyre_core::dsl::columns::Slice;
    use vyre_core::vir0::isa::{IMM, Op};
    use vyre_core::vir0::trap::TrapKind;

    /// Runs `out[v] = x[v] op 3`, as a map or not, with another opcode for it in the device's code.
    fn run_changed(op: Op, in_map: bool, opcode: u8) -> Result<Outcome, RunError> {
        let code = vec![
            word(Op::Ld32, 1, 0, 0, 0),
            word(op, 1, 1, IMM, 3),
            word(Op::St32, 0, 0, 1, 1 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        let program = Arc::new(crate::image::tests::program(code, 2));
        let graph = Csr::from_edges(200, &[]).expect("a graph without edges");
        let topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        let device = Device::open(0).expect("a CUDA device");
        let mut megakernel =
            Megakernel::new(&device, program, &topology, Allocation::Separate).expect("it fits");
        assert_eq!(
            megakernel.launcher.pass.layout.kernels[0].stream_k != 0,
            in_map
        );
        let mut words = megakernel.launcher.pass.layout.device_words(false);
        for word in words.chunks_exact_mut(abi::WORD_BYTES as usize) {
            if word[0] == op as u8 {
                word[0] = opcode;
            }
        }
        let uploaded = megakernel.launcher.pass.code.upload(0, &words);
        uploaded.expect("there is room for the code");
        let x: Vec<u32> = (0..200).collect();
        let run = megakernel.run(&Args {
            scalars: vec![],
            inputs: vec![(BufferId(0), Slice::U32(&x))],
        });
        // Another session, on the same device, is none the worse.
        let mut other = Megakernel::new(
            &device,
            Arc::clone(&megakernel.launcher.pass.program),
            &topology,
            Allocation::Separate,
        )
        .expect("it fits");
        let args = Args {
            scalars: vec![],
            inputs: vec![(BufferId(0), Slice::U32(&x))],
        };
        assert!(other.run(&args).is_ok());
        run
    }

    #[test]
    #[ignore = "needs a CUDA device"]
    fn a_word_that_the_device_does_not_know_is_a_trap_of_its_own_kind() {
        for (op, in_map) in [(Op::DivU32, false), (Op::Add32, true)] {
            assert!(run_changed(op, in_map, op as u8).is_ok(), "unchanged");
            for opcode in [0x00, 0x07, 0x2f, 0xee, 0xf3] {
                let trap = match run_changed(op, in_map, opcode) {
                    Err(RunError::Trap(trap)) => trap,
                    other => panic!("{opcode:#x}: {other:?}"),
                };
                let found = (trap.kind, trap.index, trap.item, trap.kernel.as_str());
                assert_eq!(found, (TrapKind::UnknownWord, opcode.into(), None, "k"));
                assert!(
                    trap.to_string().starts_with("the device met opcode 0x"),
                    "{trap}"
                );
            }
        }
    }
}
