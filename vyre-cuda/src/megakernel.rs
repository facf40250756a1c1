//! The CUDA backend: one cooperative launch of the persistent megakernel runs a whole pass.
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

mod launch;
mod many;
mod shared;

pub(crate) use many::Many;
pub(crate) use shared::graphs_of;

use crate::abi;
use crate::buffer::{
    Event, Locked, Memory, Pinned, Place, Ring, Timer, extend, room_in, room_of, slice_bytes,
    whole_pages,
};
use crate::device::{Device, DeviceError};
use crate::image::{
    Control, FRONTIER_CONTROL_BYTES, ITEMS_PER_LANE, Layout, Ranges, Run, Turn, list_number,
    records_of, unordered,
};
use crate::neighbor_loop::EdgePartition;
use launch::{
    Laid, Launch, Launched, Launches, PART_BYTES, Query, RECORDS_BYTES, States, ring_for,
    worth_sharing,
};
use shared::{Shared, hubs_of, most_degree};
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vyre_core::dsl::columns::{Column, Slice, SliceMut};
use vyre_core::dsl::csr::{Csr, CsrError};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::arena::Filling;
use vyre_core::plan::compact::{self, Slot};
use vyre_core::plan::device::{ALIGN, Graphs, Shape, aligned};
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::launch::{Route, Topology};
use vyre_core::plan::session::Counters;
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::{Args, TopologyArgs, check_columns, resolve_topologies};
use vyre_core::run::backend::{Executor, Followed, LaunchHint, Limits, Lock, Progress, Resident};
use vyre_core::run::outcome::{Activity, Outcome, Readback, Report, WaveTime};
use vyre_core::vir0::module::{
    BufferId, Domain, Extent, FixpointId, FrontierId, KernelId, ListId, Program, ReductionId, Role,
    TopologyId, Uniform,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::subject::{Failed, Seen, item_type, subject_of, unfinished};
use vyre_core::vir0::trap::{Site, Trap, TrapKind};

/// Outputs together up to this size come back through page-locked memory.
const PINNED_OUTPUT_BYTES: u64 = 64 << 20;
/// Runs of a series that are on their way before the host waits.
const SERIES: usize = 256;
/// Nodes and edges up to which two queries are worth sharing a launch; above, an eighth of the multiprocessors must get
/// one.
const SMALL_GRAPH: u64 = 1 << 18;
/// Bytes of each of the two parts that a large column of inputs or results goes through, which several threads fill or
/// empty: worth telling them.
const COLUMN_PART_BYTES: usize = 4 << 20;
/// Inputs from this size on are uploaded while the run before is on the device.
const AHEAD_BYTES: u64 = 64 << 10;

impl From<DeviceError> for RunError {
    fn from(e: DeviceError) -> RunError {
        RunError::Backend(e.to_string())
    }
}

/// One session on a CUDA device.
#[derive(Debug)]
pub struct Megakernel {
    device: Arc<Device>,
    program: Arc<Program>,
    /// Scratch and frontiers share memory, or have each its own.
    allocation: Allocation,
    layout: Layout,
    sizes: Sizes,
    graphs: Vec<Graph>,
    /// What of them decides about memory.
    found: Graphs,
    /// Of the buffers that are neither in the slab nor in the arena.
    buffers: Vec<Option<Memory>>,
    /// What scratch and frontiers share.
    arena: Option<Memory>,
    /// Frontiers, then lists.
    queues: Vec<Queue>,
    needs: Needs,
    code: Memory,
    /// By wave: how its neighbour loop is shared out.
    partitions: Vec<Option<PartitionMemory>>,
    /// Three bitmaps of the nodes, for waves that are turned round; none before one can be.
    bits: Option<Memory>,
    pull_from: u64,
    /// Tables, then the slab: control words and small results.
    image: Memory,
    /// One; two from the first time that two launches are on their way.
    flights: Vec<Flight>,
    /// For inputs that are uploaded while a launch runs.
    ahead: Option<Ahead>,
    ring: Option<Ring>,
    counts: Counters,
    /// Where the last run left its results.
    left: Option<Left>,
    pack_up_to_bytes: u64,
    slots: u32,
    ctas: u32,
    /// By size of a cluster, CTAs that run together; 0: none, or no wave has narrow rounds.
    clustered: [u32; CLUSTERS.len()],
    /// Which clusters the next run has.
    cluster: Option<usize>,
    items_per_lane: u32,
    /// What batches may take.
    batch_bytes: Option<u64>,
    /// There is memory for a second set of inputs.
    second_inputs: bool,
    /// Sweeps are to be timed.
    time_waves: bool,
    launches: Launches,
    progress: Arc<Progress>,
    /// Rounds and frontier, as the device tells them.
    told: Pinned,
}

/// Where a run left its results.
#[derive(Debug)]
struct Left {
    /// By buffer, which one holds what belongs to it.
    homes: Vec<u32>,
    /// Which set of inputs it used.
    set: usize,
}

/// What a launch, or a series of them, has on the host.
#[derive(Debug)]
struct Flight {
    staging: Pinned,
    controls: Pinned,
    slab: Pinned,
    outputs: Pinned,
    timer: Timer,
    /// Passes when control words and slab are here.
    told: Event,
    /// Of results with copies of their own, in pieces: each passes when its piece is here.
    pieces: Vec<Event>,
    /// Passes when all of it is here.
    done: Event,
}

/// A second set of inputs.
#[derive(Debug)]
struct Ahead {
    /// By buffer.
    second: Vec<Option<Memory>>,
    /// By set: its inputs are there; the last launch that uses it is over.
    ready: [Event; 2],
    used: [Event; 2],
}

/// A launch, or a series, that is on its way.
struct Pending {
    flight: usize,
    set: usize,
    started: Instant,
    runs: usize,
    launched: usize,
    /// The last run's results are wanted.
    read: bool,
    /// Whether the arguments of all runs were right.
    begun: Result<(), RunError>,
    /// Of the last run: what is needed to take its results apart.
    sizes: Sizes,
    packed: Vec<Option<u64>>,
    shapes: Vec<Shape>,
    direct: Vec<Direct>,
    /// Results with copies of their own are on their way, to page-locked memory.
    fetched: bool,
    pinned: bool,
}

enum OnItsWay {
    One(Pending),
    Many(Launched),
}

#[derive(Debug)]
struct PartitionMemory {
    /// Ranges, parts, chunks.
    lists: Memory,
    sums: Memory,
    /// Where things are in `lists`.
    within: Ranges,
    /// Nodes of a chunk, at most.
    tile: u32,
}

#[derive(Debug)]
struct Graph {
    offsets: Memory,
    targets: Memory,
    nodes: u32,
    edges: u32,
    most_degree: u32,
    symmetric: Symmetric,
}

/// Whether a graph is its own reverse, so that searches in it may be turned round. The device finds out once searches
/// have pushed along as many edges as the graph has that they would rather not have looked at.
#[derive(Debug)]
enum Symmetric {
    /// Not worth knowing yet: so many such edges.
    Unknown(u64),
    Asked(Question),
    Known(bool),
}

#[derive(Debug)]
struct Question {
    /// Where the device puts the answer, and where it goes from there.
    verdict: Memory,
    answer: Pinned,
    done: Event,
}

/// Memory of a frontier: pairs of items, edge ranges and hubs, unless that is in the arena; stamps of a unique one. Of
/// a list, and of a frontier whose items are not nodes: an array for each field.
#[derive(Debug)]
struct Queue {
    memory: Option<Memory>,
    stamps: Option<Memory>,
    shape: Shape,
    /// Last stamp that a run used.
    stamp: u32,
}

/// Bytes of buffers, sizes of frontiers and lists, where what comes back in one copy lies behind the control words, and
/// what shares memory.
#[derive(Clone, Debug, Default)]
struct Needs {
    buffers: Vec<u64>,
    /// Buffers, then lists.
    packed: Vec<Option<u64>>,
    slab_bytes: u64,
    /// Frontiers, then lists.
    shapes: Vec<Shape>,
    shared: Option<Shared>,
}

/// How a state's memory is laid out.
#[derive(Clone, Copy)]
struct Manner<'a> {
    allocation: Allocation,
    /// Of a batch: stamps are the state's, which begin anew, and all results are in its record.
    batch: bool,
    /// Results up to this size share a copy, otherwise.
    pack_up_to_bytes: u64,
    /// What an earlier run shared, which stays where this one is of the same sizes.
    before: Option<&'a Shared>,
}

/// Addresses of one state of a run.
struct Places {
    control: u64,
    buffers: Vec<u64>,
    /// By buffer, when it is filled if it has to be; `None`: no wave uses it.
    fillings: Vec<Option<Filling>>,
    queues: Vec<QueuePlace>,
    /// Stamps are what they happen to be: set them first.
    fresh_stamps: bool,
    /// By wave that may be turned round.
    turns: Vec<Option<Turn>>,
    progress: u64,
}

/// What is filled before the first wave.
const AT_ONCE: Filling = Filling {
    phase: 0,
    waits: true,
};

#[derive(Clone)]
struct QueuePlace {
    items: [u64; 2],
    ranges: [u64; 2],
    hubs: [u64; 2],
    stamps: u64,
    /// When stamps are set that are not those of the run before.
    filling: Filling,
    /// By side, then by field.
    fields: Vec<u64>,
}

/// Whether a buffer's contents are a result. Buffers that trade places have one role and one size.
fn is_result(role: Role) -> bool {
    matches!(role, Role::Output | Role::InOut)
}

fn index_len(name: &str, len: Option<u64>) -> Result<u64, RunError> {
    match len {
        Some(len) if len > u64::from(u32::MAX) => Err(RunError::TooLong {
            name: name.to_owned(),
            len,
        }),
        len => Ok(len.unwrap_or(0)),
    }
}

impl Needs {
    fn new(
        program: &Program,
        (sizes, graphs): (&Sizes, &Graphs),
        manner: Manner<'_>,
    ) -> Result<Needs, RunError> {
        let mut needs = Needs {
            shapes: shapes_of(program, sizes, graphs),
            ..Needs::default()
        };
        let align = |n| NonZeroU64::new(n).expect("alignments are not 0");
        let mut slots = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = index_len(buffer.field(), sizes.resolve(program, buffer.extent))?;
            let bytes = len * buffer.scalar.size_bytes();
            needs.buffers.push(bytes);
            if is_result(buffer.role) {
                slots.push(Slot {
                    align_bytes: align(16),
                    ..Slot::new(i as u32, bytes, bytes)
                });
            }
        }
        for wave in &program.waves {
            if let Domain::Range(extent) = wave.domain {
                index_len(&wave.name, sizes.resolve(program, extent))?;
            }
        }
        for (i, list) in program.lists.iter().enumerate() {
            index_len(&list.name, sizes.resolve(program, list.capacity))?;
            if list.output {
                let bytes = needs.shapes[program.frontiers.len() + i].items_bytes();
                slots.push(Slot {
                    align_bytes: align(ALIGN),
                    ..Slot::new((program.buffers.len() + i) as u32, bytes, bytes)
                });
            }
        }
        let pack_up_to_bytes = match manner.batch {
            true => u64::MAX,
            false => manner.pack_up_to_bytes,
        };
        let plan = compact::plan(&slots, pack_up_to_bytes)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let control = Control::new(program).bytes.next_multiple_of(ALIGN);
        needs.packed = vec![None; program.buffers.len() + program.lists.len()];
        needs.slab_bytes = control;
        for record in &plan.packed {
            needs.packed[record.slot as usize] = Some(control + record.offset_bytes);
            // Buffers are filled by whole units.
            let end = control + record.offset_bytes + record.len_bytes.next_multiple_of(16);
            needs.slab_bytes = needs.slab_bytes.max(end);
        }
        if manner.allocation == Allocation::Shared {
            let of = (needs.buffers.as_slice(), needs.shapes.as_slice());
            needs.shared = Some(Shared::new(program, of, manner));
        }
        Ok(needs)
    }

    /// Bytes of a buffer that has memory of its own.
    fn own_bytes(&self, program: &Program, buffer: usize) -> Option<u64> {
        let shares = self.shared.is_some() && program.buffers[buffer].role == Role::Scratch;
        let own = self.packed[buffer].is_none() && !shares;
        own.then(|| self.buffers[buffer])
    }

    /// The same of a frontier or list, without stamps.
    fn own_queue_bytes(&self, program: &Program, queue: usize) -> Option<u64> {
        let own = match queue.checked_sub(program.frontiers.len()) {
            Some(list) => self.packed[program.buffers.len() + list].is_none(),
            None => self.shared.is_none(),
        };
        own.then(|| self.shapes[queue].passing_bytes())
    }

    fn shared_bytes(&self) -> u64 {
        self.shared.as_ref().map_or(0, Shared::bytes)
    }

    /// When each buffer is filled that has to be.
    fn fillings(&self) -> Vec<Option<Filling>> {
        let at = |i: usize| match &self.shared {
            Some(shared) if self.packed[i].is_none() => shared.buffers[i].map(|(_, f)| f),
            _ => Some(AT_ONCE),
        };
        (0..self.buffers.len()).map(at).collect()
    }
}

fn average_degrees<'a>(graphs: impl Iterator<Item = &'a Csr>) -> Vec<f64> {
    graphs
        .map(|g| g.edge_count() as f64 / (g.node_count() as f64).max(1.0))
        .collect()
}

/// Shapes of frontiers and lists; empty where a size is not known before the first run.
fn shapes_of(program: &Program, sizes: &Sizes, graphs: &Graphs) -> Vec<Shape> {
    let mut sizes = Cow::Borrowed(sizes);
    if sizes.scalars.len() < program.scalars.len() {
        sizes.to_mut().scalars.resize(program.scalars.len(), 0);
    }
    let known = "verified extents name scalars of the program";
    let frontiers = (0u16..)
        .zip(&program.frontiers)
        .map(|(f, _)| Shape::of_frontier(program, FrontierId(f), (&sizes, graphs)).expect(known));
    let lists = (0u16..).zip(&program.lists);
    let lists = lists.map(|(l, _)| Shape::of_list(program, ListId(l), &sizes).expect(known));
    frontiers.chain(lists).collect()
}

/// Refuses what does not fit before anything is allocated.
fn room_for(device: &Device, what: &str, bytes: u64) -> Result<(), RunError> {
    let (mut free, _) = device.memory_bytes()?;
    if bytes > free && device.give_up() {
        (free, _) = device.memory_bytes()?;
    }
    if bytes > free {
        return Err(RunError::Memory {
            what: format!("{what} does not fit on {}", device.name()),
            needed_bytes: bytes,
            available_bytes: free,
        });
    }
    Ok(())
}

fn up(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(ALIGN)
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
        let (csrs, sizes) = resolve_topologies(&program, topology)?;
        let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
        check_topology(&program, &sizes, topology)?;
        let degrees = average_degrees(csrs.iter().copied());
        let of = (&*program, allocation);
        let layout = Layout::new(of, device.room(), &degrees, ITEMS_PER_LANE)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let partitions = partitions_of(&layout, &csrs);
        let found = found_in(&program, &csrs);
        let pack_up_to_bytes = Thresholds::default().pack_up_to_bytes;
        let manner = Manner {
            allocation,
            batch: false,
            pack_up_to_bytes,
            before: None,
        };
        let needs = Needs::new(&program, (&sizes, &found), manner)?;
        let tables = layout.tables_bytes().next_multiple_of(ALIGN);
        let image_bytes = tables + needs.slab_bytes;
        let words = layout.device_words();
        let code_bytes = words.len() as u64;

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
                up(code_bytes),
                partitions_bytes(&partitions),
            ])
            .chain([needs.shared_bytes()])
            .fold(0, u64::saturating_add);
        room_for(device, "the session", needed)?;

        let mut counts = Counters {
            graph_uploads: u64::from(!csrs.is_empty()),
            ..Counters::default()
        };
        let mut uploaded = Vec::new();
        for csr in csrs {
            counts.graph_upload_bytes += csr_bytes(csr);
            uploaded.push(Graph::new(device, csr)?);
        }
        let code = Memory::new(device, code_bytes)?;
        code.upload(0, &words)?;
        let partitions = PartitionMemory::upload(device, &partitions)?;
        let mut this = Megakernel {
            device: Arc::clone(device),
            allocation,
            sizes,
            graphs: uploaded,
            found,
            buffers: program.buffers.iter().map(|_| None).collect(),
            arena: None,
            queues: Vec::new(),
            code,
            partitions,
            bits: None,
            pull_from: Thresholds::default().pull_from,
            image: Memory::new(device, image_bytes)?,
            flights: vec![Flight::new(device)?],
            ahead: None,
            ring: None,
            counts,
            left: None,
            pack_up_to_bytes,
            slots: 1,
            ctas: device.multiprocessors().min(abi::MAX_CTAS),
            clustered: clustered(device, &layout)?,
            cluster: Some(CLUSTERS.len() - 1),
            items_per_lane: ITEMS_PER_LANE,
            batch_bytes: None,
            second_inputs: false,
            time_waves: false,
            launches: Launches::default(),
            progress: Arc::default(),
            told: Pinned::new(device, 16)?,
            layout,
            needs: Needs::default(),
            program,
        };
        this.needs.buffers = vec![0; this.program.buffers.len()];
        this.take(needs)?;
        for (id, column) in &topology.columns {
            this.counts.graph_upload_bytes += column.bytes();
            this.memory_of(id.index()).upload(0, slice_bytes(column))?;
        }
        this.device.synchronize()?;
        Ok(this)
    }

    /// A buffer's own memory.
    fn memory_of(&self, buffer: usize) -> &Memory {
        self.buffers[buffer]
            .as_ref()
            .expect("buffers outside the slab have memory")
    }

    fn len(&self, extent: Extent) -> u64 {
        self.sizes.resolve(&self.program, extent).unwrap_or(0)
    }

    /// Gives memory to what a run needs; refused before anything is allocated.
    fn take(&mut self, needs: Needs) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        let held = |m: &Option<Memory>| m.as_ref().map_or(0, Memory::bytes);
        let mut more = 0u64;
        for (i, memory) in self.buffers.iter().enumerate() {
            if let Some(bytes) = needs.own_bytes(&program, i)
                && (memory.is_none() || bytes > held(memory))
            {
                more = more.saturating_add(up(bytes));
            }
        }
        if tables + needs.slab_bytes > self.image.bytes() {
            more = more.saturating_add(up(tables + needs.slab_bytes));
        }
        let grows = |queue: Option<&Queue>, i: usize| {
            let own = needs.own_queue_bytes(&program, i);
            queue.is_none_or(|q| {
                needs.shapes[i].capacity > q.shape.capacity || own.is_some() && q.memory.is_none()
            })
        };
        for (i, shape) in needs.shapes.iter().enumerate() {
            if grows(self.queues.get(i), i) {
                let own = needs.own_queue_bytes(&program, i).map_or(0, up);
                more = more.saturating_add(own + shape.stamps_bytes());
            }
        }
        if needs.shared_bytes() > held(&self.arena) {
            more = more.saturating_add(needs.shared_bytes());
        }
        if more > 0 {
            room_for(&self.device, "the run", more)?;
            // What is on its way may use what is given up.
            self.device.synchronize()?;
        }
        for i in 0..self.buffers.len() {
            let Some(bytes) = needs.own_bytes(&program, i) else {
                continue;
            };
            if self.buffers[i].is_none() || bytes > held(&self.buffers[i]) {
                self.buffers[i] = Some(Memory::new(&self.device, bytes)?);
            }
        }
        for (i, buffer) in program.buffers.iter().enumerate() {
            let shares = needs.shared.is_some() && buffer.role == Role::Scratch;
            let is_run = buffer.role != Role::Topology && !shares;
            let grown = needs.buffers[i] > self.needs.buffers[i];
            self.counts.allocations += u64::from(is_run && grown);
        }
        if tables + needs.slab_bytes > self.image.bytes() {
            self.image = Memory::new(&self.device, tables + needs.slab_bytes)?;
        }
        for (i, shape) in needs.shapes.iter().enumerate() {
            if !grows(self.queues.get(i), i) {
                continue;
            }
            let own = needs.own_queue_bytes(&program, i);
            let queue = Queue::new(&self.device, shape.clone(), own)?;
            match self.queues.get_mut(i) {
                Some(held) => *held = queue,
                None => self.queues.push(queue),
            }
            self.counts.allocations += u64::from(own.is_some() || i >= program.frontiers.len());
        }
        for queue in &mut self.queues {
            queue.fresh_stamps()?;
        }
        if needs.shared_bytes() > held(&self.arena) {
            self.arena = Some(Memory::new(&self.device, needs.shared_bytes())?);
            self.counts.allocations += 1;
        }
        // Memory does not shrink.
        let most = |(new, old): (&u64, &u64)| *new.max(old);
        let buffers = needs.buffers.iter().zip(&self.needs.buffers);
        self.needs = Needs {
            buffers: buffers.map(most).collect(),
            ..needs
        };
        Ok(())
    }

    /// What a run of these sizes needs; as a query of a batch, or alone.
    fn needs(&self, sizes: &Sizes, batch: bool) -> Result<Needs, RunError> {
        let manner = Manner {
            allocation: self.allocation,
            batch,
            pack_up_to_bytes: self.pack_up_to_bytes,
            before: self.needs.shared.as_ref().filter(|_| !batch),
        };
        Needs::new(&self.program, (sizes, &self.found), manner)
    }

    /// Checks a run's arguments.
    fn check(&self, args: &Args<'_>) -> Result<Sizes, RunError> {
        check_args(&self.program, &self.sizes, args)
    }

    /// Checks the arguments, gives memory to what depends on them, uploads the inputs: beside the launch before, when a
    /// set of inputs is named that it does not use.
    fn begin(&mut self, args: &Args<'_>, set: Option<usize>) -> Result<(), RunError> {
        self.sizes = self.check(args)?;
        let needs = self.needs(&self.sizes, false)?;
        self.take(needs)?;
        self.poison()?;
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        if let (Some(set), Some(ahead)) = (set, &self.ahead) {
            ahead.used[set].hold(self.device.copies())?;
        }
        for (id, column) in &args.inputs {
            let (i, bytes) = (id.index(), slice_bytes(column));
            match (self.needs.packed[i], set) {
                (Some(at), _) => self.image.upload(tables + at, bytes)?,
                (None, None) if bytes.len() < PART_BYTES => self.memory_of(i).upload(0, bytes)?,
                (None, set) => {
                    let part_bytes = COLUMN_PART_BYTES.min(bytes.len());
                    let mut ring = ring_for(self.ring.take(), &self.device, part_bytes)?;
                    let mut upload = match set {
                        None => ring.upload_by(self.device.stream(), self.memory_of(i), 0),
                        Some(set) => ring.upload(self.input_of(i, set), 0),
                    };
                    upload.write(bytes)?;
                    let ahead = self.ahead.as_ref().filter(|_| set.is_some());
                    upload.end(ahead.zip(set).map(|(ahead, set)| &ahead.ready[set]))?;
                    self.ring = Some(ring);
                    if set.is_some() {
                        self.counts.ahead_bytes += column.bytes();
                    }
                }
            }
            self.counts.refresh_bytes += column.bytes();
        }
        if let (Some(set), Some(ahead)) = (set, &self.ahead) {
            ahead.ready[set].hold(self.device.stream())?;
        }
        self.counts.refresh_bytes += 8 * args.scalars.len() as u64;
        Ok(())
    }

    /// Debug builds do not let a run find in shared memory what the one before left there.
    fn poison(&self) -> Result<(), DeviceError> {
        match &self.arena {
            Some(arena) if cfg!(debug_assertions) => arena.set_bytes(0xa5),
            _ => Ok(()),
        }
    }

    /// An input's memory in one of the two sets.
    fn input_of(&self, buffer: usize, set: usize) -> &Memory {
        let second = self.ahead.as_ref().filter(|_| set == 1);
        match second.and_then(|a| a.second[buffer].as_ref()) {
            Some(memory) => memory,
            None => self.memory_of(buffer),
        }
    }

    /// Makes a second set of the inputs, if these are worth it and there is room.
    fn make_ahead(&mut self, args: &Args<'_>) -> Result<bool, RunError> {
        let inputs = args.inputs.iter().map(|(_, column)| column.bytes());
        if !self.second_inputs || inputs.sum::<u64>() < AHEAD_BYTES {
            return Ok(false);
        }
        let Ok(sizes) = self.check(args) else {
            return Ok(false);
        };
        let held = self.ahead.take();
        let mut ahead = match held {
            Some(ahead) => ahead,
            None => {
                let event = || Event::new(&self.device);
                Ahead {
                    second: self.buffers.iter().map(|_| None).collect(),
                    ready: [event()?, event()?],
                    used: [event()?, event()?],
                }
            }
        };
        let mut more = Vec::new();
        for (i, buffer) in self.program.buffers.iter().enumerate() {
            if matches!(buffer.role, Role::Input | Role::InOut) {
                let len = sizes.resolve(&self.program, buffer.extent).unwrap_or(0);
                let bytes = up(len * buffer.scalar.size_bytes());
                let bytes = bytes.max(self.buffers[i].as_ref().map_or(0, Memory::bytes));
                if ahead.second[i].as_ref().is_none_or(|m| m.bytes() < bytes) {
                    more.push((i, bytes));
                }
            }
        }
        let more_bytes = more.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let fits = more.is_empty() || more_bytes <= self.device.memory_bytes()?.0;
        if fits {
            for (i, bytes) in more {
                ahead.second[i] = Some(Memory::new(&self.device, bytes)?);
            }
        }
        self.ahead = Some(ahead);
        Ok(fits)
    }

    /// Frontiers and lists as a run has them; those with memory of their own never get smaller.
    fn shapes(&self) -> Vec<Shape> {
        let queues = self.queues.iter().enumerate();
        queues
            .map(
                |(i, q)| match self.packed_list(i).is_some() || q.memory.is_none() {
                    true => self.needs.shapes[i].clone(),
                    false => q.shape.clone(),
                },
            )
            .collect()
    }

    /// Where a list is in the slab.
    fn packed_list(&self, queue: usize) -> Option<u64> {
        let list = queue.checked_sub(self.program.frontiers.len())?;
        self.needs.packed[self.buffers.len() + list]
    }

    /// Where everything of a single run is, with the inputs of one set.
    fn places(&self, shapes: &[Shape], set: usize, fresh_stamps: bool) -> Places {
        let slab = self.image.address() + self.layout.tables_bytes().next_multiple_of(ALIGN);
        let shared = self.needs.shared.as_ref();
        let arena = self.arena.as_ref().map_or(0, Memory::address);
        let buffers = (0..self.buffers.len())
            .map(|i| match (self.needs.packed[i], shared) {
                (Some(at), _) => slab + at,
                (None, Some(shared)) if self.program.buffers[i].role == Role::Scratch => {
                    shared.buffers[i].map_or(0, |(at, _)| arena + at)
                }
                (None, _) => self.input_of(i, set).address(),
            })
            .collect();
        let queues = self.queues.iter().zip(shapes).enumerate();
        let queues = queues.map(|(i, (queue, shape))| {
            let stamps = queue.stamps.as_ref().map_or(0, Memory::address);
            let at = match &queue.memory {
                Some(memory) => memory.address(),
                None => {
                    let place = shared.and_then(|s| *s.frontiers.get(i)?);
                    place.map_or(0, |(at, _)| arena + at)
                }
            };
            let packed = self.packed_list(i).map(|at| slab + at);
            place(shape, (at, packed), (stamps, AT_ONCE))
        });
        let watched = Arc::strong_count(&self.progress) > 1;
        Places {
            control: slab,
            buffers,
            fillings: self.needs.fillings(),
            queues: queues.collect(),
            fresh_stamps,
            turns: self.turns(),
            progress: if watched { self.told.address() } else { 0 },
        }
    }

    /// How each wave that may be turned round is, in the next run.
    fn turns(&self) -> Vec<Option<Turn>> {
        let pulls = self.layout.pulls.iter();
        pulls
            .map(|pull| {
                let graph = &self.graphs[pull.topology.index()];
                let into = match (pull.reverse, &graph.symmetric) {
                    (Some(reverse), _) => Some(reverse),
                    (None, Symmetric::Known(true)) => Some(pull.topology),
                    // What is missed is counted.
                    (None, Symmetric::Unknown(_)) => None,
                    (None, Symmetric::Asked(_) | Symmetric::Known(false)) => return None,
                };
                let bits = match (into, &self.bits) {
                    (None, _) => [0; 2],
                    (Some(_), None) => return None,
                    (Some(_), Some(bits)) => [
                        bits.address(),
                        bits.address() + aligned(bitmap_bytes(self.sizes.nodes)),
                    ],
                };
                let into = into.unwrap_or(pull.topology);
                let fits = |g: &Graph| g.can_be_pulled() && u64::from(g.nodes) == self.sizes.nodes;
                (fits(graph) && fits(&self.graphs[into.index()])).then_some(Turn {
                    bits,
                    into: into.0.into(),
                    most_degree: graph.most_degree,
                    least: self.pull_from,
                })
            })
            .collect()
    }

    /// Takes answers that have come, and memory for the bitmaps once they are of use. Where there is none, waves push.
    fn prepare_turns(&mut self) -> Result<(), RunError> {
        for graph in &mut self.graphs {
            if let Symmetric::Asked(question) = &graph.symmetric
                && question.done.has_passed()?
            {
                graph.symmetric = Symmetric::Known(question.answer.as_slice()[0] != 0);
            }
        }
        let graphs = &self.graphs;
        let useful = self.layout.pulls.iter().any(|p| {
            let graph = &graphs[p.topology.index()];
            p.reverse.is_some() || matches!(graph.symmetric, Symmetric::Known(true))
        });
        let bytes = 3 * aligned(bitmap_bytes(self.sizes.nodes));
        if useful && self.bits.as_ref().is_none_or(|m| m.bytes() < bytes) {
            self.bits = match self.device.memory_bytes()?.0 < bytes {
                true => None,
                false => Some(Memory::new(&self.device, bytes)?),
            };
        }
        Ok(())
    }

    /// Asks whether graphs are symmetric, where that was missed often enough. Nobody waits for the answer, but what is
    /// given to the device next.
    fn missed(&mut self, edges: u64) -> Result<(), RunError> {
        if edges == 0 {
            return Ok(());
        }
        for pull in self.layout.pulls.iter().filter(|p| p.reverse.is_none()) {
            let graph = &mut self.graphs[pull.topology.index()];
            let Symmetric::Unknown(missed) = &mut graph.symmetric else {
                continue;
            };
            *missed = missed.saturating_add(edges);
            if *missed < u64::from(graph.edges) {
                continue;
            }
            let verdict = Memory::new(&self.device, 4)?;
            verdict.upload(0, &[1, 0, 0, 0])?;
            let mut question = Question {
                answer: Pinned::new(&self.device, 4)?,
                done: Event::new(&self.device)?,
                verdict,
            };
            // SAFETY: the graph and the question are this session's, which waits before it frees or replaces them.
            unsafe {
                self.device.start_symmetric(
                    [graph.offsets.address(), graph.targets.address()],
                    [graph.nodes, graph.edges],
                    question.verdict.address(),
                )?;
                let answer = &mut question.answer.as_mut_slice()[..4];
                question.verdict.download(0, answer)?;
            }
            question.done.record(self.device.stream())?;
            graph.symmetric = Symmetric::Asked(question);
        }
        Ok(())
    }

    /// Has lanes take so many items at a time, at most.
    fn take_items(&mut self, items_per_lane: u32) -> Result<(), RunError> {
        let items_per_lane = items_per_lane.clamp(1, ITEMS_PER_LANE);
        if items_per_lane != self.items_per_lane {
            let degrees = self.graphs.iter().map(Graph::average_degree);
            let degrees: Vec<f64> = degrees.collect();
            let room = self.device.room();
            let of = (&*self.program, self.allocation);
            let layout = Layout::new(of, room, &degrees, items_per_lane)
                .map_err(|e| RunError::Backend(e.to_string()))?;
            self.lay(layout)?;
            self.items_per_lane = items_per_lane;
        }
        Ok(())
    }

    /// Runs the same program with another layout from now on. Its words are as long, but say where in shared memory
    /// their operands lie, so they are uploaded where anything in them differs.
    fn lay(&mut self, layout: Layout) -> Result<(), DeviceError> {
        let words = layout.device_words();
        if words != self.layout.device_words() {
            self.code.upload(0, &words)?;
        }
        self.clustered = clustered(&self.device, &layout)?;
        self.layout = layout;
        Ok(())
    }

    /// The tables of a run, or of a batch's query 0 on CTA 0.
    fn encode(&self, places: &Places, shapes: &[Shape]) -> Vec<u8> {
        let stamps: Vec<u32> = self.queues.iter().map(|q| q.stamp).collect();
        Tables {
            program: &self.program,
            layout: &self.layout,
            code: self.code.address(),
            sizes: &self.sizes,
            topologies: self.graphs.iter().map(Graph::table).collect(),
            shapes,
            stamps: &stamps,
            ranges: (self.partitions.iter())
                .enumerate()
                .map(|(wave, partition)| match partition {
                    Some(partition) => partition.place(self.layout.tile(wave)),
                    None => Ranges::default(),
                })
                .collect(),
            time_waves: self.time_waves,
        }
        .encode(places)
    }

    /// How many CTAs the next run has, and how many a cluster.
    fn grid(&self) -> (u32, u32) {
        match self.cluster {
            Some(i) if self.clustered[i] > 0 && self.ctas == self.slots() => {
                (self.clustered[i], CLUSTERS[i].0)
            }
            _ => (self.ctas, 1),
        }
    }

    /// Waits, and keeps those who watch informed.
    fn wait(&mut self, done: impl Fn(&Megakernel) -> &Event) -> Result<(), RunError> {
        self.counts.fences += 1;
        if Arc::strong_count(&self.progress) > 1 {
            let started = Instant::now();
            while !done(self).has_passed()? {
                let told = self.told.as_slice();
                let word = |at: usize| {
                    u64::from_le_bytes(told[at..at + 8].try_into().expect("the slice has 8 bytes"))
                };
                self.progress.set(word(0), word(8));
                if started.elapsed() > Duration::from_millis(5) {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        }
        Ok(done(self).wait()?)
    }

    fn reader<'a>(&'a self, sizes: &'a Sizes) -> Reader<'a> {
        Reader {
            program: &self.program,
            sizes,
            control: Control::new(&self.program),
            time_waves: self.time_waves,
        }
    }

    /// Starts some runs, whose last one's results are read if asked to. `beside`: another launch is on its way, and its
    /// host memory and inputs are not this flight's. `locked`: columns whose pages are locked, where results go without
    /// a stop; they stay as they are until the device was waited for.
    fn start(
        &mut self,
        series: &[Args<'_>],
        (flight, beside): (usize, bool),
        read: bool,
        locked: &mut [(BufferId, Column)],
    ) -> Result<Pending, RunError> {
        let started = Instant::now();
        self.left = None;
        self.prepare_turns()?;
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN) as usize;
        let control = Control::new(&self.program);
        let (control_bytes, image_bytes) =
            (control.bytes as usize, tables + control.bytes as usize);
        let device = &self.device;
        if self.flights.len() == flight {
            self.flights.push(Flight::new(device)?);
        }
        let host = &mut self.flights[flight];
        host.staging.grow(series.len() * image_bytes)?;
        host.controls.grow(series.len() * control_bytes)?;
        let follows = beside || series.len() > 1;
        if !beside {
            self.progress.begin();
            self.told.as_mut_slice().fill(0);
        }
        let mut begun = Ok(());
        let (mut launched, mut set) = (0, 0);
        // Of the last run.
        let (mut shapes, mut direct, mut pinned) = (Vec::new(), Vec::new(), true);
        for (i, args) in series.iter().enumerate() {
            let doubled = (beside || i > 0) && self.make_ahead(args)?;
            set = if doubled { (i + flight) % 2 } else { 0 };
            begun = self.begin(args, doubled.then_some(set));
            if begun.is_err() {
                break;
            }
            let last = i + 1 == series.len();
            shapes = self.shapes();
            let encoded = self.encode(&self.places(&shapes, set, follows), &shapes);
            let words = self.layout.control(&self.program);
            let host = &mut self.flights[flight];
            let staged = &mut host.staging.as_mut_slice()[i * image_bytes..][..image_bytes];
            staged[..encoded.len()].copy_from_slice(&encoded);
            staged[tables..].copy_from_slice(&words);
            self.image.upload(0, staged)?;
            if last && read {
                // Locking pages waits for what is on the device, so it comes before the launch.
                host.slab.grow(self.needs.slab_bytes as usize)?;
                direct = self.direct(locked);
                let total: usize = direct.iter().map(Direct::staged_bytes).sum();
                pinned = total as u64 <= PINNED_OUTPUT_BYTES;
                if pinned {
                    self.flights[flight].outputs.grow(total)?;
                }
            }
            let host = &mut self.flights[flight];
            if i == 0 {
                host.timer.start()?;
            }
            let (ctas, cluster) = self.grid();
            let of = [self.image.address(), 0];
            let bytes = self.layout.shared_bytes;
            // SAFETY: what the image names belongs to the session, which waits for the launch; so many CTAs are
            // resident together, one a multiprocessor.
            unsafe { self.device.launch(bytes, of, ctas, cluster) }?;
            self.counts.launches += 1;
            launched += 1;
            let host = &mut self.flights[flight];
            if last {
                host.timer.end()?;
            }
            let target = if last && read {
                &mut host.slab.as_mut_slice()[..self.needs.slab_bytes as usize]
            } else {
                &mut host.controls.as_mut_slice()[i * control_bytes..][..control_bytes]
            };
            // SAFETY: the page-locked target belongs to the flight, which is waited for before it is read or freed.
            unsafe { self.image.download(tables as u64, target) }?;
            if let Some(ahead) = &self.ahead {
                ahead.used[set].record(self.device.stream())?;
            }
        }
        // What is known to lie where it is declared is on its way before the wait.
        let swaps = self.program.fixpoints.iter().any(|f| !f.swaps.is_empty());
        let fetched = read && begun.is_ok() && pinned && !swaps;
        self.flights[flight].told.record(self.device.stream())?;
        if fetched {
            self.fetch(&direct, (flight, set), (None, locked))?;
            if let Some(ahead) = &self.ahead {
                ahead.used[set].record(self.device.stream())?;
            }
        }
        self.flights[flight].done.record(self.device.stream())?;
        Ok(Pending {
            flight,
            set,
            started,
            runs: series.len(),
            launched,
            read,
            begun,
            sizes: self.sizes.clone(),
            packed: self.needs.packed.clone(),
            shapes,
            direct,
            fetched,
            pinned,
        })
    }

    /// Whether a launch can be started before this one's results were taken: nothing of them is left on the device.
    fn can_be_followed(&self, pending: &Pending) -> bool {
        let lists = self.program.lists.iter().enumerate();
        let large = |(l, list): (usize, &vyre_core::vir0::module::List)| {
            list.output && pending.packed[self.buffers.len() + l].is_none()
        };
        (pending.fetched || pending.direct.is_empty()) && !lists.into_iter().any(large)
    }

    /// Waits for what was started, and gives the last run's results if they were asked for: those of `in_outs` that
    /// have copies of their own there, the others in the memory of earlier results.
    fn finish(
        &mut self,
        pending: Pending,
        results: &mut Outcome,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
    ) -> Result<(), RunError> {
        let flight = pending.flight;
        if pending.launched > 0 {
            self.wait(|this| &this.flights[flight].told)?;
        }
        let control_bytes = Control::new(&self.program).bytes as usize;
        let mut last_words = None;
        let mut missed = 0;
        for i in 0..pending.launched {
            let reader = self.reader(&pending.sizes);
            let host = &self.flights[flight];
            let words = if pending.read && i + 1 == pending.runs {
                reader.words(host.slab.as_slice())
            } else {
                reader.words(&host.controls.as_slice()[i * control_bytes..])
            }?;
            // The sizes are those of the last run of a series.
            let trap = reader.trap(&words, pending.runs == 1);
            missed += words.missed;
            if i + 1 == pending.launched {
                for (queue, &stamp) in self.queues.iter_mut().zip(&words.stamps) {
                    queue.stamp = stamp;
                }
            }
            last_words = Some(words);
            if let Some(trap) = trap {
                // Nobody takes the results, which are still on their way.
                self.flights[flight].done.wait()?;
                return Err(RunError::Trap(Box::new(trap)));
            }
        }
        pending.begun.clone()?;
        let (Some(words), true) = (last_words, pending.read) else {
            return Ok(());
        };
        self.progress.set(words.rounds.iter().sum(), words.waiting);
        let device_ns = self.flights[flight].timer.elapsed_ns()?;
        let each_ns = device_ns / pending.launched as u64;
        self.cluster = worth_a_cluster(words.fitting, each_ns, self.slots(), self.clustered);
        self.read(&words, &pending, (results, in_outs))?;
        self.left = Some(Left {
            homes: words.homes,
            set: pending.set,
        });
        let wall_ns = u64::try_from(pending.started.elapsed().as_nanos());
        results.report.wall_ns = wall_ns.unwrap_or(u64::MAX);
        results.report.device_ns = Some(device_ns);
        self.missed(missed)
    }

    /// Result buffers with copies of their own.
    fn direct(&self, locked: &mut [(BufferId, Column)]) -> Vec<Direct> {
        let buffers = self.program.buffers.iter().enumerate();
        let (mut at, mut first) = (0, 0);
        buffers
            .filter(|(i, b)| {
                is_result(b.role) && self.needs.packed[*i].is_none() && self.len(b.extent) > 0
            })
            .map(|(i, b)| {
                let bytes = self.len(b.extent) * b.scalar.size_bytes();
                let lands = |(id, c): &&mut (BufferId, Column)| {
                    id.index() == i && c.scalar() == b.scalar && stays(b)
                };
                let column = locked
                    .iter_mut()
                    .find(lands)
                    .map(|(_, column)| room_of(column));
                let room = column.filter(|room| room.len() as u64 >= bytes);
                let whole = room.map_or(0..0, |room| {
                    whole_pages(room.as_ptr().addr(), bytes as usize)
                });
                let direct = Direct {
                    buffer: i,
                    bytes,
                    at,
                    first,
                    whole,
                };
                at += direct.staged_bytes();
                first += direct.pieces().count();
                direct
            })
            .collect()
    }

    /// Starts copying results into page-locked memory, piece by piece; `homes[b]`: the buffer that holds what belongs
    /// to `b`. Whole pages of locked columns are copied to where they belong.
    fn fetch(
        &mut self,
        direct: &[Direct],
        (flight, set): (usize, usize),
        (homes, locked): (Option<&[u32]>, &mut [(BufferId, Column)]),
    ) -> Result<(), RunError> {
        for d in direct {
            let home = homes.map_or(d.buffer, |h| h[d.buffer] as usize);
            let memory = match self.ahead.as_ref().filter(|_| set == 1) {
                Some(Ahead { second, .. }) => second[home].as_ref(),
                None => None,
            };
            let memory = memory.or(self.buffers[home].as_ref());
            let memory = memory.expect("buffers outside the slab have memory");
            let host = &mut self.flights[flight];
            if !d.whole.is_empty() {
                let column = locked.iter_mut().find(|(id, _)| id.index() == d.buffer);
                let (_, column) = column.expect("it is there while the run is");
                let into = &mut room_of(column)[d.whole.clone()];
                // SAFETY: the caller leaves the column alone until the device was waited for.
                unsafe { memory.download(d.whole.start as u64, into) }?;
            }
            for (count, piece) in (d.first..).zip(d.pieces()) {
                let into = &mut host.outputs.as_mut_slice()[d.staged(&piece)];
                // SAFETY: the page-locked target belongs to the flight, which is waited for before it is read or freed.
                unsafe { memory.download(piece.start as u64, into) }?;
                if host.pieces.len() == count {
                    host.pieces.push(Event::new(&self.device)?);
                }
                host.pieces[count].record(self.device.stream())?;
            }
        }
        Ok(())
    }

    /// The results of the run that was waited for, as [`Megakernel::finish`] says. After an error, too, all columns are
    /// still in `results`: copies to those whose pages are locked may be on their way.
    fn read(
        &mut self,
        words: &Words,
        pending: &Pending,
        (results, in_outs): (&mut Outcome, &mut [(BufferId, SliceMut<'_>)]),
    ) -> Result<(), RunError> {
        let (flight, direct) = (pending.flight, &pending.direct);
        if !pending.fetched && pending.pinned && !direct.is_empty() {
            let to = (Some(words.homes.as_slice()), locked(results));
            self.fetch(direct, (flight, pending.set), to)?;
        }
        let record = Record {
            bytes: self.flights[flight].slab.as_slice(),
            packed: &pending.packed,
            shapes: &pending.shapes,
        };
        self.reader(&pending.sizes)
            .outcome(words, &record, results)?;
        for d in direct {
            let id = BufferId(d.buffer as u16);
            let scalar = self.program.buffers[d.buffer].scalar;
            let mut place = match in_outs.iter_mut().find(|(in_out, _)| *in_out == id) {
                Some((_, slice)) => Place::Slice(slice.reborrow()),
                None => Place::Column(results.output_mut(id, scalar)),
            };
            place.make_room((d.bytes / scalar.size_bytes()) as usize)?;
            self.read_to(&mut place, d, (words, pending))?;
            let read = &mut results.report.readback;
            read.direct += u32::from(d.bytes > 0);
            read.direct_bytes += d.bytes;
            read.full_bytes += d.bytes;
        }
        results.outputs.sort_by_key(|(id, _)| *id);
        let listed = self.read_lists(words, pending, results)?;
        results.lists.sort_by_key(|(id, _)| *id);
        // The host waited once more, for what the first answer said.
        let waits = listed || !pending.fetched && !direct.is_empty();
        self.counts.fences += u64::from(waits);
        self.counts.readback_bytes += read_bytes(results);
        Ok(())
    }

    /// A result with copies of its own, to where there is room for it.
    fn read_to(
        &mut self,
        place: &mut Place<'_>,
        d: &Direct,
        (words, pending): (&Words, &Pending),
    ) -> Result<(), RunError> {
        if pending.pinned {
            return self.take_pieces(place, d, pending.flight);
        }
        let (home, set) = (words.homes[d.buffer] as usize, pending.set);
        self.bring(place, (pending.flight, d.bytes), |this| {
            (this.input_of(home, set), 0)
        })
    }

    /// The same where its pieces come to page-locked memory: several threads take one while the rest is still on its
    /// way.
    fn take_pieces(
        &self,
        place: &mut Place<'_>,
        d: &Direct,
        flight: usize,
    ) -> Result<(), RunError> {
        let host = &self.flights[flight];
        for (piece, here) in d.pieces().zip(&host.pieces[d.first..]) {
            here.wait()?;
            if !d.whole.is_empty() && piece.start == d.whole.end {
                // SAFETY: the device wrote the whole pages of this column before the piece, and all before them is
                // there.
                unsafe { place.skip(d.whole.len()) };
            }
            place.take(&host.outputs.as_slice()[d.staged(&piece)]);
        }
        Ok(())
    }

    /// Large lists: only what they hold, now that it is known. Whether there is something.
    fn read_lists(
        &mut self,
        words: &Words,
        pending: &Pending,
        results: &mut Outcome,
    ) -> Result<bool, RunError> {
        let program = Arc::clone(&self.program);
        let mut any = false;
        for (l, list) in program.lists.iter().enumerate() {
            if !list.output || pending.packed[program.buffers.len() + l].is_some() {
                continue;
            }
            let (len, queue) = (words.lists[l], program.frontiers.len() + l);
            any |= len > 0;
            let columns = results.list_mut(ListId(l as u16), &list.fields);
            for (f, column) in columns.iter_mut().enumerate() {
                let bytes = len * column.scalar().size_bytes();
                let mut place = Place::Column(column);
                place.make_room(len as usize)?;
                self.bring(&mut place, (pending.flight, bytes), |this| {
                    let queue = &this.queues[queue];
                    let memory = queue.memory.as_ref().expect("lists have their own");
                    (memory, fields_of(&queue.shape, 0)[f])
                })?;
            }
            let read = &mut results.report.readback;
            read.direct += u32::from(len > 0);
            read.direct_bytes += len * list.item_bytes();
            read.full_bytes += self.queues[queue].shape.capacity * list.item_bytes();
        }
        Ok(any)
    }

    /// So many bytes of a flight that is over, from a place on the device.
    fn bring(
        &mut self,
        to: &mut Place<'_>,
        (flight, bytes): (usize, u64),
        from: impl Fn(&Megakernel) -> (&Memory, u64),
    ) -> Result<(), RunError> {
        let bytes = bytes as usize;
        if bytes > 0 {
            let part_bytes = COLUMN_PART_BYTES.min(bytes);
            let mut ring = ring_for(self.ring.take(), &self.device, part_bytes)?;
            let cuts: Vec<usize> = pieces(bytes).map(|piece| piece.end).collect();
            let (memory, at) = from(self);
            let from = (memory, at, &self.flights[flight].done);
            let brought = ring.download(from, &cuts, |bytes| to.take(bytes));
            self.ring = Some(ring);
            brought?;
        }
        Ok(())
    }

    /// Starts the first few queries in one launch; none when they are better run one by one. `beside` is as of
    /// [`Megakernel::start`].
    fn start_sharing(
        &mut self,
        queries: &[Args<'_>],
        (flight, beside): (usize, bool),
    ) -> Result<Option<Launched>, RunError> {
        let started = Instant::now();
        let program = Arc::clone(&self.program);
        let lens = |sizes: &Sizes| -> Vec<Option<u64>> {
            let buffers = program.buffers.iter().map(|b| b.extent);
            let queues = program.frontiers.iter().map(|f| f.capacity);
            let queues = queues.chain(program.lists.iter().map(|l| l.capacity));
            let waves = program.waves.iter().filter_map(|w| match w.domain {
                Domain::Range(extent) => Some(extent),
                _ => None,
            });
            let extents = buffers.chain(queues).chain(waves);
            extents.map(|e| sizes.resolve(&program, e)).collect()
        };
        // Queries of other sizes, or that are refused, end the launch.
        let mut sizes: Vec<Sizes> = Vec::new();
        let mut first: Option<(Vec<Option<u64>>, Laid)> = None;
        let mut most = usize::MAX;
        let multiprocessors = self.device.multiprocessors().min(abi::MAX_CTAS);
        let mut ctas = u64::from(self.ctas.min(self.slots).max(1));
        for query in queries {
            let Ok(checked) = self.check(query) else {
                break;
            };
            let these = lens(&checked);
            match &first {
                None => {
                    let laid = Laid::new(&program, &self.needs(&checked, true)?);
                    // More than the next launches take are not looked at.
                    most = (4 * worth_sharing(laid.record_bytes, ctas)) as usize;
                    first = Some((these, laid));
                }
                Some((lens, _)) if these != *lens || sizes.len() == most => break,
                Some(_) => {}
            }
            sizes.push(checked);
        }
        let Some((_, laid)) = first else {
            return Ok(None);
        };
        let edges: u64 = self.graphs.iter().map(|g| u64::from(g.edges)).sum();
        let worth = if self.sizes.nodes + edges <= SMALL_GRAPH {
            2
        } else {
            u64::from(multiprocessors / 8).max(2)
        };

        let record_bytes = laid.record_bytes;
        let queued = sizes.len() as u64;
        if (RECORDS_BYTES / record_bytes.max(1)).min(queued) < worth {
            return Ok(None);
        }
        // Launches of about one size, the last of which is not left with a few.
        let launches =
            (queued + worth_sharing(record_bytes, ctas) / 2) / worth_sharing(record_bytes, ctas);
        let count = queued.div_ceil(launches.max(1));
        let mut count = count.min(RECORDS_BYTES / record_bytes.max(1)).max(1);
        if let Some(batch_bytes) = self.batch_bytes {
            // Two launches may be on their way, unless one takes all. Control words are nobody's.
            let control = up(Control::new(&program).bytes);
            let each = laid.input_bytes + record_bytes;
            let each = each.saturating_sub(control).max(1);
            let room = batch_bytes.saturating_sub(laid.slab_bytes * ctas.min(count)) / each;
            if count < queued || count > room {
                count = count.min(room / 2);
            }
            if count < worth {
                return Ok(None);
            }
        }
        ctas = ctas.min(count);
        sizes.truncate(count as usize);
        let laid = Arc::new(laid);
        let taken = sizes.into_iter().zip(queries).map(|(sizes, args)| Query {
            args,
            sizes,
            laid: Arc::clone(&laid),
        });
        let mut launch = Launch {
            started,
            queries: taken.collect(),
            ctas: ctas as u32,
            flight,
            beside,
            states: States::Cta,
        };

        // As many states as there is room for.
        let of = (&*program, &self.layout);
        let mut more = self.launches.more(of, &launch);
        if more > 0 {
            let (free, _) = self.device.memory_bytes()?;
            while launch.ctas > 1 && more > free {
                launch.ctas /= 2;
                more = self.launches.more(of, &launch);
            }
            if more > free {
                return Ok(None);
            }
        }
        if u64::from(launch.ctas) < worth {
            return Ok(None);
        }
        self.sizes = launch.queries[0].sizes.clone();
        let mut launches = std::mem::take(&mut self.launches);
        let (mut ring, mut counts) = (self.ring.take(), self.counts);
        let of = (&self.device, of);
        let launched = launches.start(of, launch, (&mut ring, &mut counts), |images, _, bases| {
            // Of query 0 on CTA 0, moved on for the others.
            let places = laid.places(bases[0], |i| self.memory_of(i).address());
            let encoded = self.encode(&places, &laid.shapes);
            images[..encoded.len()].copy_from_slice(&encoded);
        });
        (self.launches, self.ring, self.counts) = (launches, ring, counts);
        Ok(Some(launched?))
    }

    /// Waits for what is on its way, if anything is, and takes its results.
    fn land(&mut self, it: Option<OnItsWay>, results: &mut Vec<Result<Outcome, RunError>>) {
        match it {
            None => {}
            Some(OnItsWay::One(pending)) => {
                let mut outcome = Outcome::default();
                let finished = self.finish(pending, &mut outcome, &mut []);
                results.push(finished.map(|()| outcome));
            }
            Some(OnItsWay::Many(sharing)) => {
                let count = sharing.count();
                match self.finish_sharing(sharing) {
                    Ok(mut all) => results.append(&mut all),
                    Err(e) => results.extend(std::iter::repeat_n(Err(e), count)),
                }
            }
        }
    }

    /// Waits for a launch of queries, and takes its records apart.
    fn finish_sharing(
        &mut self,
        launched: Launched,
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        let flight = launched.flight;
        self.wait(|this| this.launches.done(flight))?;
        let of = (&self.device, &*self.program, self.time_waves);
        let to = (&mut self.ring, &mut self.counts);
        self.launches.finish(launched, of, to)
    }
}

impl Flight {
    fn new(device: &Arc<Device>) -> Result<Flight, DeviceError> {
        Ok(Flight {
            staging: Pinned::new(device, 0)?,
            controls: Pinned::new(device, 0)?,
            slab: Pinned::new(device, 0)?,
            outputs: Pinned::new(device, 0)?,
            timer: Timer::new(device)?,
            told: Event::new(device)?,
            pieces: Vec::new(),
            done: Event::new(device)?,
        })
    }
}

/// Clusters that a launch may have: CTAs of one, and what a round gains when one holds it, in nanoseconds. The larger
/// ones leave out more multiprocessors, and not all devices have them.
const CLUSTERS: [(u32, u64); 2] = [(16, 580), (abi::CLUSTER, 500)];
/// What such a round takes.
const CLUSTER_ROUND_NS: u64 = 2_700;

/// By size of a cluster, how many CTAs run together, for a pass that has narrow rounds.
fn clustered(device: &Device, layout: &Layout) -> Result<[u32; CLUSTERS.len()], DeviceError> {
    let mut ctas = [0; CLUSTERS.len()];
    if layout.quick_warps() > 0 {
        for (ctas, (cluster, _)) in ctas.iter_mut().zip(CLUSTERS) {
            *ctas = device.clustered_ctas(layout.shared_bytes, cluster)?;
        }
    }
    Ok(ctas)
}

/// The clusters that are worth the multiprocessors that they leave out, where so many rounds of the last run fitted
/// into one.
fn worth_a_cluster(
    fitting: u64,
    device_ns: u64,
    ctas: u32,
    clustered: [u32; CLUSTERS.len()],
) -> Option<usize> {
    let others = device_ns.saturating_sub(fitting * CLUSTER_ROUND_NS);
    let gain = |i: usize| {
        let left_out = u64::from(ctas.saturating_sub(clustered[i]));
        // Half of it waits for memory or for others, however many CTAs there are.
        let lost = others * left_out / u64::from(ctas.max(1)) / 2;
        (clustered[i] > 0).then(|| (fitting * CLUSTERS[i].1).saturating_sub(lost))
    };
    let gains = (0..CLUSTERS.len()).filter_map(|i| Some((gain(i)?, i)));
    gains.max().filter(|&(gain, _)| gain > 0).map(|(_, i)| i)
}

/// What the tables of a run are made from, but for where its state is.
struct Tables<'a> {
    program: &'a Program,
    layout: &'a Layout,
    code: u64,
    sizes: &'a Sizes,
    topologies: Vec<abi::Topology>,
    /// Of frontiers, then lists.
    shapes: &'a [Shape],
    /// The last that was used, likewise, where stamps are not fresh.
    stamps: &'a [u32],
    ranges: Vec<Ranges>,
    time_waves: bool,
}

impl Tables<'_> {
    /// The tables of a run on these places.
    fn encode(&self, places: &Places) -> Vec<u8> {
        let program = self.program;
        let len = |extent| self.sizes.resolve(program, extent).unwrap_or(0);
        let control = Control::new(program);
        let mut fills = Vec::new();
        let mut buffers = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = len(buffer.extent);
            let data = places.buffers[i];
            buffers.push(abi::Buffer {
                data,
                len: len as u32,
                home: i as u32,
            });
            if let Some(at) = places.fillings[i]
                && len != 0
                && matches!(buffer.role, Role::Output | Role::Scratch)
            {
                let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                let size = buffer.scalar.size_bytes();
                let fill = abi::Fill {
                    address: data,
                    units: (len * size).div_ceil(16),
                    pattern: repeat(size, bits),
                    unused: 0,
                };
                fills.push((at, fill));
            }
        }
        let lists = program.lists.iter().map(|l| l.capacity);
        let capacities = program.frontiers.iter().map(|f| f.capacity).chain(lists);
        let capacities: Vec<u64> = capacities.map(len).collect();
        let mut frontiers = Vec::new();
        for (i, (shape, place)) in self.shapes.iter().zip(&places.queues).enumerate() {
            let declared = program.frontiers.get(i);
            let topology = self.layout.swept_with.get(i).copied().flatten();
            let record = records_of(program).position(|(id, _)| id == i as u32);
            let counters = places.control + control.frontiers + FRONTIER_CONTROL_BYTES * i as u64;
            if places.fresh_stamps && place.stamps != 0 {
                let fill = abi::Fill {
                    address: place.stamps,
                    units: (4 * shape.stamps.unwrap_or(0)).div_ceil(16),
                    ..Default::default()
                };
                fills.push((place.filling, fill));
            }
            frontiers.push(abi::Frontier {
                items: place.items,
                ranges: place.ranges,
                hubs: place.hubs,
                counters,
                hub_counters: counters + 6 * 128,
                stamps: place.stamps,
                offsets: topology.map_or(0, |t| self.topologies[t as usize].offsets),
                nodes: self.sizes.nodes as u32,
                capacity: capacities[i].min(u64::from(u32::MAX)) as u32,
                ranges_len: shape.ranges as u32,
                hubs_len: shape.hubs as u32,
                topology: topology.unwrap_or(abi::NONE),
                owned: declared.is_some_and(|d| d.owner.is_some()).into(),
                record: record.map_or(abi::NONE, |r| r as u32),
                trap: match declared {
                    Some(_) => TrapKind::FrontierOverflow as u32,
                    None => TrapKind::ListOverflow as u32,
                },
                stamp: match places.fresh_stamps {
                    true => 1,
                    false => self.stamps[i] + 1,
                },
                ..Default::default()
            });
        }
        // Bitmaps are full of the last run that was cut short, or of what memory held.
        let mut bits = places.turns.iter().flatten().map(|t| t.bits[0]);
        if let Some(address) = bits.find(|&address| address != 0) {
            let fill = abi::Fill {
                address,
                units: bitmap_bytes(self.sizes.nodes) / 16,
                ..Default::default()
            };
            fills.push((AT_ONCE, fill));
        }
        let records = records_of(program)
            .map(|(id, fields)| {
                let sides = self.shapes[id as usize].sides as usize;
                let mut record = abi::Record {
                    count: fields.len() as u32,
                    ..Default::default()
                };
                for (i, field) in fields.iter().enumerate() {
                    let size = match field.size_bytes() {
                        1 => 0,
                        4 => 1,
                        _ => 2,
                    };
                    record.sizes |= size << (2 * i);
                    for side in 0..2 {
                        let at = (side % sides) * fields.len() + i;
                        record.fields[side * 8 + i] = places.queues[id as usize].fields[at];
                    }
                }
                record
            })
            .collect();
        let lens = program
            .waves
            .iter()
            .map(|w| match w.domain {
                Domain::Once => 1,
                Domain::Range(extent) => len(extent),
                Domain::Nodes => self.sizes.nodes,
                Domain::Items(_)
                | Domain::ListItems(..)
                | Domain::Edges(_)
                | Domain::EdgesFrom(..) => 0,
            })
            .collect();
        self.layout.encode(&Run {
            program,
            code: self.code,
            control: places.control,
            buffers,
            topologies: self.topologies.clone(),
            frontiers,
            records,
            fills,
            lens,
            ranges: self.ranges.clone(),
            turns: places.turns.clone(),
            scalars: &self.sizes.scalars,
            nodes: self.sizes.nodes,
            progress: places.progress,
            time_waves: self.time_waves,
        })
    }
}

/// A result buffer with a copy of its own: where it goes.
struct Direct {
    buffer: usize,
    bytes: u64,
    /// In the flight's page-locked memory.
    at: usize,
    /// Of its pieces, counted through all results.
    first: usize,
    /// What goes to a locked column instead.
    whole: Range<usize>,
}

impl Direct {
    /// What goes to the flight's memory: all, or what is around the whole pages, then at least one piece.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (after, end) = (self.whole.end, self.bytes as usize);
        let behind = pieces(end - after).map(move |p| after + p.start..after + p.end);
        let none = (!self.whole.is_empty() && after == end).then_some(end..end);
        pieces(self.whole.start).chain(behind).chain(none)
    }

    /// Where such a piece is there.
    fn staged(&self, piece: &Range<usize>) -> Range<usize> {
        let gap = match piece.start < self.whole.end {
            true => 0,
            false => self.whole.len(),
        };
        self.at + piece.start - gap..self.at + piece.end - gap
    }

    fn staged_bytes(&self) -> usize {
        (self.bytes as usize - self.whole.len()).next_multiple_of(64)
    }
}

/// Whether a result is the column that a device fills: `bool`s are looked at first, and structs are put together from
/// the columns of their fields, whose memory the result does not keep.
fn stays(buffer: &vyre_core::vir0::module::Buffer) -> bool {
    buffer.scalar != Scalar::Bool && buffer.of_structs().is_none()
}

/// Columns whose pages are locked.
fn locked(results: &mut Outcome) -> &mut [(BufferId, Column)] {
    if results.locked {
        &mut results.outputs
    } else {
        &mut []
    }
}

/// Consecutive pieces of so many bytes that are worth telling several threads of.
fn pieces(bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..bytes).step_by(COLUMN_PART_BYTES);
    starts.map(move |at| at..bytes.min(at + COLUMN_PART_BYTES))
}

/// Bytes of results.
fn read_bytes(outcome: &Outcome) -> u64 {
    let read = &outcome.report.readback;
    read.packed_bytes + read.direct_bytes + 8 * outcome.reductions.len() as u64
}

/// What the control words say after a launch.
#[derive(Debug)]
struct Words {
    trap_key: u64,
    trap_index: u64,
    trap_len: u64,
    trap_kind: u32,
    rounds: Vec<u64>,
    homes: Vec<u32>,
    /// Items appended to each list.
    lists: Vec<u64>,
    reductions: Vec<u64>,
    stamps: Vec<u32>,
    activity: Activity,
    /// Edges of frontiers that would have been pulled, had the edges in been known.
    missed: u64,
    /// By wave; zero where nobody asked.
    times: Vec<WaveTime>,
    /// Items that the next round would find.
    waiting: u64,
    /// Rounds that a cluster held, or would have.
    fitting: u64,
}

/// Control words and small results of a run, as they came back.
struct Record<'a> {
    bytes: &'a [u8],
    /// Where buffers, then lists are in it.
    packed: &'a [Option<u64>],
    shapes: &'a [Shape],
}

/// Takes apart what came back.
struct Reader<'a> {
    program: &'a Program,
    sizes: &'a Sizes,
    control: Control,
    /// Sweeps were timed.
    time_waves: bool,
}

impl Reader<'_> {
    fn words(&self, bytes: &[u8]) -> Result<Words, RunError> {
        let (program, layout) = (self.program, &self.control);
        let word = |at: u64| {
            let at = at as usize;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice has 8 bytes"))
        };
        let half = |at: u64| {
            let at = at as usize;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice has 4 bytes"))
        };
        let field = |at: usize| at as u64;
        let count = |n: usize| 0..n as u64;
        if half(field(std::mem::offset_of!(abi::Control, finished))) == 0 {
            return Err(RunError::Backend(
                "the launch ended before the pass".to_owned(),
            ));
        }
        Ok(Words {
            trap_key: word(field(std::mem::offset_of!(abi::Control, trap_key))),
            trap_index: word(field(std::mem::offset_of!(abi::Control, trap_index))),
            trap_len: word(field(std::mem::offset_of!(abi::Control, trap_len))),
            trap_kind: half(field(std::mem::offset_of!(abi::Control, trap_kind))),
            activity: Activity {
                sweeps: word(field(std::mem::offset_of!(abi::Control, sweeps))),
                items: word(field(std::mem::offset_of!(abi::Control, items))),
                widest: word(field(std::mem::offset_of!(abi::Control, widest))),
                pulled: word(field(std::mem::offset_of!(abi::Control, pulled))),
                cluster_rounds: word(field(std::mem::offset_of!(abi::Control, gathered))),
                ordered: 0,
                shared: 0,
            },
            missed: word(field(std::mem::offset_of!(abi::Control, missed))),
            waiting: word(field(std::mem::offset_of!(abi::Control, waiting))),
            fitting: word(field(std::mem::offset_of!(abi::Control, fitting))),
            rounds: count(program.fixpoints.len())
                .map(|i| word(layout.results + 8 * i))
                .collect(),
            homes: count(program.buffers.len())
                .map(|i| half(layout.homes + 4 * i))
                .collect(),
            times: count(program.waves.len())
                .map(|i| layout.times + 16 * i)
                .map(|at| WaveTime {
                    sweeps: word(at),
                    ns: word(at + 8),
                })
                .collect(),
            lists: (0u16..)
                .zip(&program.lists)
                .map(|(l, _)| {
                    let number = u64::from(list_number(program, l));
                    word(layout.frontiers + FRONTIER_CONTROL_BYTES * number)
                })
                .collect(),
            reductions: count(program.reductions.len())
                .map(|i| {
                    let epoch = half(layout.epochs + 4 * i);
                    word(layout.reductions + 24 * i + 8 * u64::from(epoch % 3))
                })
                .collect(),
            stamps: count(program.frontiers.len() + program.lists.len())
                .map(|i| half(layout.stamps + 4 * i))
                .collect(),
        })
    }

    /// Everything but what has copies of its own, in the memory of earlier results; columns of those stay as they are.
    fn outcome(
        &self,
        words: &Words,
        record: &Record<'_>,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        let program = self.program;
        // So many elements of a column, from there on.
        let fill = |column: &mut Column, len: u64, at: u64| -> Result<(), RunError> {
            room_in(column, len as usize)?;
            let bytes = (len * column.scalar().size_bytes()) as usize;
            extend(column, &record.bytes[at as usize..][..bytes]);
            Ok(())
        };
        let mut read = Readback::default();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.sizes.resolve(program, buffer.extent).unwrap_or(0);
            if !is_result(buffer.role) || record.packed[i].is_none() && len > 0 {
                continue;
            }
            let home = words.homes[i] as usize;
            let column = results.output_mut(BufferId(i as u16), buffer.scalar);
            fill(column, len, record.packed[home].unwrap_or(0))?;
            let bytes = len * buffer.scalar.size_bytes();
            read.packed += u32::from(bytes > 0);
            read.packed_bytes += bytes;
            read.full_bytes += bytes;
        }
        for (l, list) in program.lists.iter().enumerate() {
            let Some(at) = record.packed[program.buffers.len() + l].filter(|_| list.output) else {
                continue;
            };
            let len = words.lists[l];
            let shape = &record.shapes[program.frontiers.len() + l];
            let columns = results.list_mut(ListId(l as u16), &list.fields);
            for (column, at) in columns.iter_mut().zip(fields_of(shape, at)) {
                fill(column, len, at)?;
            }
            read.packed += u32::from(len > 0);
            read.packed_bytes += len * list.item_bytes();
            read.full_bytes += shape.capacity * list.item_bytes();
        }
        results.rows = self.sizes.rows(program);
        results.reductions.clear();
        for (i, r) in program.reductions.iter().enumerate() {
            if r.output {
                let bits = unordered(r.op, r.scalar, words.reductions[i]);
                results.reductions.push((ReductionId(i as u16), bits));
            }
        }
        results.report = Report {
            rounds: words.rounds.clone(),
            activity: Some(words.activity),
            readback: read,
            waves: self.time_waves.then(|| words.times.clone()),
            ..Report::default()
        };
        Ok(())
    }

    /// What a fixpoint's condition looks at, as far as the control words tell: of one frontier how much it holds, of
    /// several only the sum is known. `scalars`: the reader's are those of this run.
    fn seen(&self, words: &Words, uniform: Uniform, scalars: bool) -> Option<u64> {
        let owned = self.program.frontiers.iter().filter(|f| f.owner.is_some());
        match uniform {
            Uniform::Scalar(s) if scalars => self.sizes.scalars.get(s.index()).copied(),
            Uniform::Reduction(r) => {
                let reduction = &self.program.reductions[r.index()];
                let bits = words.reductions[r.index()];
                Some(unordered(reduction.op, reduction.scalar, bits))
            }
            Uniform::FrontierLen(f) => (owned.count() == 1
                && self.program.frontiers[f.index()].owner.is_some())
            .then_some(words.waiting),
            Uniform::ListLen(l) => Some(words.lists[l.index()]),
            Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Round | Uniform::Nodes => None,
        }
    }

    /// The run's trap, if it has one.
    fn trap(&self, words: &Words, scalars: bool) -> Option<Trap> {
        if words.trap_key == u64::MAX {
            return None;
        }
        let kind = TrapKind::from_code(words.trap_kind).expect("the device raises known traps");
        let (kernel, item, pc) = (
            (words.trap_key >> 48) as u32,
            (words.trap_key >> 16) as u32,
            (words.trap_key & 0xffff) as u32,
        );
        let trap = |kernel: String, site: Site, item| Trap {
            kind,
            kernel,
            site,
            item,
            item_type: None,
            index: words.trap_index,
            len: words.trap_len,
            subject: None,
            message: None,
            lane: None,
        };
        if kernel == abi::ROUND_LIMIT_KERNEL && kind == TrapKind::UnknownWord {
            return Some(trap("schedule".to_owned(), Site::default(), None));
        }
        if kernel == abi::ROUND_LIMIT_KERNEL {
            let fixpoint = &self.program.fixpoints[item as usize];
            let site = self.program.sites.get(fixpoint.site.index());
            let of = FixpointId(item as u16);
            let seen = |uniform| self.seen(words, uniform, scalars);
            return Some(Trap {
                message: unfinished(self.program, of, seen),
                ..trap(
                    fixpoint.name.clone(),
                    site.cloned().unwrap_or_default(),
                    None,
                )
            });
        }
        let id = KernelId(kernel as u16);
        let named = &self.program.kernels[id.index()];
        let at = named.sites.binary_search_by_key(&pc, |&(at, _)| at);
        let at = at.ok().map(|i| named.sites[i].1);
        let site = at.and_then(|at| self.program.sites.get(at.index()).cloned());
        let message = at.and_then(|at| self.program.message(at));
        let own = kind.is_of_an_item() && id.index() < self.program.waves.len();
        let failed = Failed {
            kind,
            len: words.trap_len,
            seen: Seen::Word,
        };
        Some(Trap {
            message: message.map(str::to_owned),
            item_type: item_type(self.program, id),
            subject: subject_of(self.program, self.sizes, (id, pc), failed),
            ..trap(
                named.name.clone(),
                site.unwrap_or_default(),
                own.then_some(item),
            )
        })
    }
}

/// A column that the caller must give, of the buffer's type.
fn given(
    program: &Program,
    sizes: &Sizes,
    id: BufferId,
    columns: &[(BufferId, Slice<'_>)],
) -> Result<(), RunError> {
    let buffer = &program.buffers[id.index()];
    let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
    match columns.iter().find(|(b, _)| *b == id) {
        Some((_, column)) if column.scalar() != buffer.scalar => Err(RunError::Invalid(format!(
            "`{}` holds {}, not {}",
            buffer.field(),
            buffer.scalar.name(),
            column.scalar().name()
        ))),
        None if expected != 0 => Err(RunError::Length {
            name: buffer.field().to_owned(),
            expected,
            actual: 0,
        }),
        Some(_) | None => Ok(()),
    }
}

/// Checks a run's arguments, and gives the sizes with its scalars.
fn check_args(program: &Program, sizes: &Sizes, args: &Args<'_>) -> Result<Sizes, RunError> {
    if args.scalars.len() != program.scalars.len() {
        return Err(RunError::Length {
            name: "scalars".to_owned(),
            expected: program.scalars.len() as u64,
            actual: args.scalars.len() as u64,
        });
    }
    let sizes = Sizes {
        scalars: args.scalars.clone(),
        ..sizes.clone()
    };
    check_columns(program, &sizes, &args.inputs)?;
    for (i, buffer) in program.buffers.iter().enumerate() {
        if matches!(buffer.role, Role::Input | Role::InOut) {
            given(program, &sizes, BufferId(i as u16), &args.inputs)?;
        }
    }
    Ok(sizes)
}

fn check_topology(
    program: &Program,
    sizes: &Sizes,
    topology: &TopologyArgs<'_>,
) -> Result<(), RunError> {
    check_columns(program, sizes, &topology.columns)?;
    for (i, buffer) in program.buffers.iter().enumerate() {
        if buffer.role == Role::Topology {
            given(program, sizes, BufferId(i as u16), &topology.columns)?;
        }
    }
    Ok(())
}

fn csr_bytes(csr: &Csr) -> u64 {
    4 * (csr.offsets().len() as u64 + csr.targets().len() as u64)
}

impl Executor for Megakernel {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let mut chunks = series.chunks(SERIES).peekable();
        while let Some(chunk) = chunks.next() {
            let read = chunks.peek().is_none();
            let lands = results.locked;
            for (_, column) in locked(results) {
                column.reset(0, 0);
            }
            let into: &mut [_] = if read { locked(results) } else { &mut [] };
            let ran = self.start(chunk, (0, false), read, into);
            let ran = ran.and_then(|pending| self.finish(pending, results, &mut []));
            if ran.is_err() && lands {
                // What is on its way to the caller's memory.
                self.device.synchronize()?;
            }
            ran?;
        }
        Ok(())
    }

    fn lock(&mut self, sizes: &Sizes, results: &mut Outcome) -> Result<Option<Lock>, RunError> {
        let needs = self.needs(sizes, false)?;
        let mut locked = Locked::new(&self.device);
        for (id, column) in &mut results.outputs {
            let buffer = &self.program.buffers[id.index()];
            let bytes = needs.own_bytes(&self.program, id.index()).unwrap_or(0);
            if bytes == 0 || !stays(buffer) {
                continue;
            }
            *column = Column::filled(buffer.scalar, 0, 0);
            room_in(column, (bytes / buffer.scalar.size_bytes()) as usize)?;
            if locked.lock(column, bytes as usize).is_err() {
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
        let pending = {
            let mut all = args.clone();
            let given = in_outs.iter().map(|(id, s)| (*id, s.as_slice()));
            all.inputs.extend(given);
            self.start(std::slice::from_ref(&all), (0, false), true, &mut [])?
        };
        let mut results = Outcome::default();
        self.finish(pending, &mut results, in_outs)?;
        // Small ones came with the control words.
        for (id, to) in in_outs {
            let scalar = self.program.buffers[id.index()].scalar;
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
        let mut results = Vec::with_capacity(queries.len());
        let mut on_its_way: Option<OnItsWay> = None;
        let (mut started, mut flight) = (0, 0);
        while started < queries.len() {
            if let Some(OnItsWay::One(pending)) = &on_its_way
                && !self.can_be_followed(pending)
            {
                self.land(on_its_way.take(), &mut results);
            }
            let rest = &queries[started..];
            let beside = on_its_way.is_some();
            let next =
                self.start_sharing(rest, (flight, beside))
                    .and_then(|sharing| match sharing {
                        Some(sharing) => Ok((sharing.count(), OnItsWay::Many(sharing))),
                        None => {
                            let one = self.start(&rest[..1], (flight, beside), true, &mut [])?;
                            Ok((1, OnItsWay::One(one)))
                        }
                    });
            self.land(on_its_way.take(), &mut results);
            match next {
                Ok((count, next)) => {
                    started += count;
                    on_its_way = Some(next);
                    flight ^= 1;
                }
                Err(e) => {
                    started += 1;
                    results.push(Err(e));
                }
            }
        }
        self.land(on_its_way, &mut results);
        // Only some of them were in the session's own buffers.
        self.left = None;
        results
    }

    fn slots(&self) -> u32 {
        self.device.multiprocessors().min(abi::MAX_CTAS)
    }

    fn update(&mut self, topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        let program = Arc::clone(&self.program);
        let (csrs, sizes) = resolve_topologies(&program, topology)?;
        let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
        check_topology(&program, &sizes, topology)?;
        let degrees = average_degrees(csrs.iter().copied());
        let of = (&*program, self.allocation);
        let layout = Layout::new(of, self.device.room(), &degrees, self.items_per_lane)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let found = found_in(&program, &csrs);
        let manner = Manner {
            allocation: self.allocation,
            batch: false,
            pack_up_to_bytes: self.pack_up_to_bytes,
            before: None,
        };
        let needs = Needs::new(&program, (&sizes, &found), manner)?;
        let differs: Vec<bool> = csrs
            .iter()
            .zip(&self.graphs)
            .map(|(csr, graph)| graph.differs(csr))
            .collect::<Result<_, _>>()?;
        let graphs = csrs.iter().zip(&differs).filter(|(_, d)| **d);
        let graphs = graphs.map(|(g, _)| csr_bytes(g) + 2 * ALIGN);
        // Those of another shape are made anew.
        let differ: Vec<bool> = (needs.shapes.iter().zip(&self.queues))
            .map(|(shape, queue)| *shape != queue.shape)
            .collect();
        let queues = (0..differ.len()).filter(|&i| differ[i]);
        let queues = queues.map(|i| {
            let own = needs.own_queue_bytes(&program, i).map_or(0, up);
            own + needs.shapes[i].stamps_bytes()
        });
        let partitions = partitions_of(&layout, &csrs);
        let more = graphs.sum::<u64>() + queues.sum::<u64>() + partitions_bytes(&partitions);
        room_for(&self.device, "the update", more)?;
        // What finds out about a graph still reads it.
        self.device.synchronize()?;
        self.left = None;

        let mut uploaded = 0;
        for ((graph, csr), differs) in self.graphs.iter_mut().zip(&csrs).zip(differs) {
            if differs {
                uploaded += csr_bytes(csr);
                *graph = Graph::new(&self.device, csr)?;
            }
        }
        for i in (0..differ.len()).filter(|&i| differ[i]) {
            let own = needs.own_queue_bytes(&program, i);
            self.queues[i] = Queue::new(&self.device, needs.shapes[i].clone(), own)?;
            self.counts.allocations += u64::from(own.is_some());
        }
        self.partitions = PartitionMemory::upload(&self.device, &partitions)?;
        self.lay(layout)?;
        self.found = found;
        self.sizes = sizes;
        self.launches = Launches::default();
        self.take(needs)?;
        for (id, column) in &topology.columns {
            let memory = self.memory_of(id.index());
            let bytes = slice_bytes(column);
            if !memory.holds(bytes)? {
                uploaded += bytes.len() as u64;
                memory.upload(0, bytes)?;
            }
        }
        self.device.synchronize()?;
        self.counts.graph_uploads += u64::from(uploaded > 0);
        self.counts.graph_upload_bytes += uploaded;
        Ok(true)
    }

    fn lend_topology(
        &self,
        borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        let graphs = self.graphs.iter().zip(&self.program.topologies);
        let given = graphs.filter(|(_, declared)| declared.reverse_of.is_none());
        let graphs: Vec<Csr> = given
            .map(|(graph, _)| graph.read())
            .collect::<Result<_, _>>()?;
        let buffers = self.program.buffers.iter().enumerate();
        let columns = buffers.filter(|(_, buffer)| buffer.role == Role::Topology);
        let columns: Vec<(BufferId, Column)> = columns
            .map(|(i, buffer)| {
                let column = self
                    .memory_of(i)
                    .read(buffer.scalar, self.len(buffer.extent))?;
                Ok((BufferId(i as u16), column))
            })
            .collect::<Result<_, RunError>>()?;
        borrow(&TopologyArgs {
            graphs: graphs.iter().collect(),
            columns: columns.iter().map(|(id, c)| (*id, c.as_slice())).collect(),
        })?;
        Ok(true)
    }

    fn resident(&self, what: Resident) -> Option<(u64, u64)> {
        let graph = |id: TopologyId| &self.graphs[id.index()];
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
                let buffer = &self.program.buffers[i];
                let len = self.len(buffer.extent);
                if buffer.role == Role::Topology {
                    return Some((self.memory_of(i).address(), len));
                }
                let left = self.left.as_ref().filter(|_| is_result(buffer.role))?;
                let home = left.homes[i] as usize;
                let places = self.places(&self.shapes(), left.set, false);
                Some((places.buffers[home], len))
            }
        }
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counts)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_workers: self.slots(),
            lanes_per_worker: abi::THREADS,
            workers_vary: true,
            jit: false,
            items_per_lane: ITEMS_PER_LANE,
            overlaps: true,
            bitmaps: false,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let mut notes = Vec::new();
        if hint.route == Route::Jit {
            notes.push("jit wanted, not available: the megakernel interprets");
        }
        let short = hint.topology == Topology::MemoryConstrained;
        self.ctas = if short && !hint.shared && !hint.asked && hint.workers < self.slots() {
            notes.push(
                "fewer CTAs wanted: all run, since only those of a batch have memory of their own",
            );
            self.slots()
        } else {
            hint.workers.clamp(1, self.slots())
        };
        if self.take_items(hint.items_per_lane).is_err() {
            notes.push("another number of items a lane wanted, which cannot be had");
        }
        self.time_waves = hint.time_waves;
        self.pack_up_to_bytes = hint.pack_up_to_bytes;
        self.pull_from = hint.pull_from;
        self.slots = hint.slots.max(1);
        self.batch_bytes = hint.batch_bytes;
        self.second_inputs = hint.second_inputs;
        if !self.second_inputs {
            self.ahead = None;
        }
        Followed {
            workers: self.ctas,
            code: "interpreted",
            sweeps: None,
            notes,
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.progress = progress;
    }
}

impl Drop for Megakernel {
    fn drop(&mut self) {
        // A run that failed halfway may have left copies on the stream whose targets are about to be freed.
        if self.device.enter().is_ok() {
            let _ = self.device.synchronize();
        }
    }
}

/// How each wave's neighbour loop is shared out.
fn partitions_of(layout: &Layout, csrs: &[&Csr]) -> Vec<Option<EdgePartition>> {
    let of = |(wave, t): (usize, &Option<u16>)| {
        t.map(|t| EdgePartition::new(csrs[usize::from(t)].offsets(), layout.tile(wave)))
    };
    layout.ranges_of.iter().enumerate().map(of).collect()
}

fn partitions_bytes(partitions: &[Option<EdgePartition>]) -> u64 {
    partitions.iter().flatten().map(partition_bytes).sum()
}

/// Lists, and sums of parts.
fn partition_bytes(partition: &EdgePartition) -> u64 {
    let bytes = |n: usize, each: u64| n as u64 * each;
    let parts = bytes(partition.parts.len(), 8);
    up(bytes(partition.ranges.len(), 16) + parts + bytes(partition.chunks.len(), 4)) + up(parts)
}

/// What decides about memory, of a session's own graphs.
fn found_in(program: &Program, csrs: &[&Csr]) -> Graphs {
    let has_hubs = |t: TopologyId| most_degree(csrs[t.index()].offsets()) > abi::HUB_EDGES;
    Graphs {
        hubs: hubs_of(program, has_hubs),
        ..Graphs::default()
    }
}

impl PartitionMemory {
    fn upload(
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

    /// For a kernel that takes so many nodes at a time.
    fn place(&self, tile: u32) -> Ranges {
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
    fn average_degree(&self) -> f64 {
        f64::from(self.edges) / f64::from(self.nodes).max(1.0)
    }

    fn new(device: &Arc<Device>, csr: &Csr) -> Result<Graph, DeviceError> {
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
    fn can_be_pulled(&self) -> bool {
        self.nodes <= 1 << 31 && self.edges > 0 && self.edges <= u32::MAX - 4096
    }

    fn table(&self) -> abi::Topology {
        abi::Topology {
            offsets: self.offsets.address(),
            targets: self.targets.address(),
            nodes: self.nodes,
            edges: self.edges,
            ..Default::default()
        }
    }

    /// Back from the device.
    fn read(&self) -> Result<Csr, RunError> {
        let words = |memory: &Memory, len| match memory.read(Scalar::U32, len) {
            Ok(Column::U32(words)) => Ok(words),
            Err(e) => Err(e),
            Ok(_) => unreachable!("offsets and targets are u32"),
        };
        let offsets = words(&self.offsets, u64::from(self.nodes) + 1)?;
        let targets = words(&self.targets, self.edges.into())?;
        Csr::new(offsets, targets).map_err(|e: CsrError| RunError::Backend(e.to_string()))
    }

    /// Whether it is another graph.
    fn differs(&self, csr: &Csr) -> Result<bool, DeviceError> {
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

/// A bit for each node, in whole tiles of a sweep that pulls.
fn bitmap_bytes(nodes: u64) -> u64 {
    nodes.div_ceil(1024).max(1) * 128
}

/// Where everything of a frontier or list is from `base` on; `items`: the items are elsewhere. `stamps`: where they are
/// if it has any, and when they are set.
fn place(
    shape: &Shape,
    (base, items): (u64, Option<u64>),
    (stamps, filling): (u64, Filling),
) -> QueuePlace {
    let items_at = items.unwrap_or(base);
    let ranges = base + shape.items_bytes();
    let hubs = ranges + 2 * shape.ranges_bytes();
    QueuePlace {
        items: [items_at, items_at + shape.items_bytes() / 2],
        ranges: [ranges, ranges + shape.ranges_bytes()],
        hubs: [hubs, hubs + shape.hubs_bytes()],
        stamps: shape.stamps.map_or(0, |_| stamps),
        filling,
        fields: fields_of(shape, items_at),
    }
}

/// Where the fields of its items are, by side, then by field.
fn fields_of(shape: &Shape, items: u64) -> Vec<u64> {
    let mut at = items;
    let sides = (0..shape.sides).flat_map(|_| &shape.fields);
    sides
        .map(|field| {
            at += shape.part_bytes(*field);
            at - shape.part_bytes(*field)
        })
        .collect()
}

impl Queue {
    /// `own`: bytes of its own memory, stamps left out; `None`: that is in the arena.
    fn new(device: &Arc<Device>, shape: Shape, own: Option<u64>) -> Result<Queue, DeviceError> {
        let memory = own.map(|bytes| Memory::new(device, bytes)).transpose()?;
        let stamps = match shape.stamps {
            Some(_) => Some(Memory::new(device, shape.stamps_bytes())?),
            None => None,
        };
        if let Some(stamps) = &stamps {
            stamps.set_bytes(0)?;
        }
        Ok(Queue {
            memory,
            stamps,
            shape,
            stamp: 0,
        })
    }

    /// Starts the stamps over long before they wrap.
    fn fresh_stamps(&mut self) -> Result<(), DeviceError> {
        if self.stamp < 1 << 31 {
            return Ok(());
        }
        self.stamp = 0;
        match &self.stamps {
            Some(stamps) => stamps.set_bytes(0),
            None => Ok(()),
        }
    }
}

/// An element's raw bits, as often as they fit eight bytes.
fn repeat(size_bytes: u64, bits: u64) -> u64 {
    match size_bytes {
        1 => (bits & 0xff) * 0x0101_0101_0101_0101,
        4 => bits & 0xffff_ffff | bits << 32,
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbor_loop::words::word;
    use vyre_core::vir0::isa::{IMM, Op};

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
        };
        let device = Device::open(0).expect("a CUDA device");
        let mut megakernel =
            Megakernel::new(&device, program, &topology, Allocation::Separate).expect("it fits");
        assert_eq!(megakernel.layout.kernels[0].stream_k != 0, in_map);
        let mut words = megakernel.layout.device_words();
        for word in words.chunks_exact_mut(abi::WORD_BYTES as usize) {
            if word[0] == op as u8 {
                word[0] = opcode;
            }
        }
        let uploaded = megakernel.code.upload(0, &words);
        uploaded.expect("there is room for the code");
        let x: Vec<u32> = (0..200).collect();
        let run = megakernel.run(&Args {
            scalars: vec![],
            inputs: vec![(BufferId(0), Slice::U32(&x))],
        });
        // Another session, on the same device, is none the worse.
        let mut other = Megakernel::new(
            &device,
            Arc::clone(&megakernel.program),
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

    #[test]
    fn clusters_are_as_large_as_is_worth_the_ctas_that_they_leave_out() {
        let worth = |fitting, ns| worth_a_cluster(fitting, ns, 132, [112, 120]);
        // Nothing but narrow rounds; half of the time; a little of it; rounds that no cluster holds.
        assert_eq!(worth(1_998, 5_500_000), Some(0));
        assert_eq!(worth(1_874, 10_900_000), Some(1));
        assert_eq!(worth(1_998, 40_000_000), None);
        assert_eq!(worth(0, 2_000_000), None);
        // A device without the larger ones, and one without any.
        assert_eq!(worth_a_cluster(1_998, 5_500_000, 132, [0, 120]), Some(1));
        assert_eq!(worth_a_cluster(1_998, 5_500_000, 132, [0, 0]), None);
    }
}
