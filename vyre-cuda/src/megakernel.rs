//! The CUDA backend: one cooperative launch of the persistent megakernel runs a whole pass.
//!
//! Topology and buffers are allocated once per session. A run uploads its inputs and one image (tables and zeroed control
//! words) and launches once. Small results lie behind the control words, so that one copy brings all of them back; large
//! ones have copies of their own. The host waits once, unless it must learn first how much there is to read.
//!
//! Queries of a batch share launches: each CTA takes one after another and runs it alone. What a query leaves to be read,
//! control words and results, is one record; the records come back in one copy.

use crate::abi;
use crate::buffer::{ALIGN, Memory, Pinned, Timer, bytes_of, column_from, slice_bytes};
use crate::device::{Attempt, Device, DeviceError};
use crate::image::{
    Control, FRONTIER_CONTROL_BYTES, Layout, Ranges, Run, list_number, records_of, unordered,
};
use crate::lift::Shares;
use cudarc::driver::result;
use std::ffi::c_void;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vyre_core::csr::Csr;
use vyre_core::exec::{
    Activity, Args, Counters, Executor, Followed, LaunchHint, Limits, Outcome, Progress, Readback,
    Report, RunError, Sizes, Slice, TopologyArgs, check_columns, resolve_topologies,
};
use vyre_core::module::{
    BufferId, Domain, Extent, KernelId, ListId, Program, ReductionId, Role, Scalar, Site,
};
use vyre_core::plan::compact::{self, Slot};
use vyre_core::plan::launch::Route;
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::trap::{Trap, TrapKind, WHOLE_WAVE};

/// Outputs together up to this size come back through page-locked memory.
const PINNED_OUTPUT_BYTES: u64 = 64 << 20;
/// Items of a frontier that carry their edge ranges at least, where the capacity allows.
const RANGES: u64 = 1 << 16;
/// Hubs that a frontier lists apart at most.
const HUBS: u64 = 1 << 20;
/// Runs of a series that are on their way before the host waits.
const SERIES: usize = 256;
/// Bytes that the records of one launch's queries take at most.
const RECORDS_BYTES: u64 = 32 << 20;
/// Nodes and edges up to which two queries are worth sharing a launch; above, an eighth of the multiprocessors must get one.
const SMALL_GRAPH: u64 = 1 << 18;
/// Records' bytes from which several threads take them apart; eight at most.
const UNPACK_BYTES: usize = 1 << 20;

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
    layout: Layout,
    sizes: Sizes,
    graphs: Vec<Graph>,
    /// Of the buffers that are not in the slab.
    buffers: Vec<Option<Memory>>,
    /// Frontiers, then lists.
    queues: Vec<Queue>,
    needs: Needs,
    code: Memory,
    /// By wave: how its neighbour loop is shared out.
    shares: Vec<Option<SharesMemory>>,
    /// Tables, then the slab: control words and small results.
    image: Memory,
    staging: Pinned,
    controls: Pinned,
    slab: Pinned,
    outputs: Option<Pinned>,
    timer: Timer,
    counts: Counters,
    pack_up_to_bytes: u64,
    slots: u32,
    ctas: u32,
    batch: Option<Batch>,
    progress: Arc<Progress>,
    /// Rounds and frontier, as the device tells them.
    told: Pinned,
}

#[derive(Debug)]
struct SharesMemory {
    /// Ranges, parts, chunks.
    lists: Memory,
    sums: Memory,
    /// Where things are in `lists`.
    within: Ranges,
}

#[derive(Debug)]
struct Graph {
    offsets: Memory,
    targets: Memory,
    nodes: u32,
    edges: u32,
}

/// Memory of a frontier: pairs of items, edge ranges and hubs; stamps of a unique one. Of a list, and of a frontier whose
/// items are not nodes: an array for each field.
#[derive(Debug)]
struct Queue {
    memory: Memory,
    shape: Shape,
    /// Last stamp that a run used.
    stamp: u32,
}

/// Memory of a batch.
#[derive(Debug)]
struct Batch {
    /// What only the device needs, by CTA.
    slab: Memory,
    /// The batch, tables, control words as they are before a query, scalars, inputs.
    image: Memory,
    staging: Pinned,
    /// Control words and results, by query.
    records: Memory,
    read: Pinned,
}

/// Bytes of buffers, and where what comes back in one copy lies behind the control words.
#[derive(Clone, Debug, Default)]
struct Needs {
    buffers: Vec<u64>,
    /// Buffers, then lists.
    packed: Vec<Option<u64>>,
    slab_bytes: u64,
    capacities: Vec<u64>,
}

/// Addresses of one state of a run.
struct Places {
    control: u64,
    buffers: Vec<u64>,
    queues: Vec<QueuePlace>,
    /// Stamps are what they happen to be: set them first.
    fresh_stamps: bool,
    progress: u64,
}

#[derive(Clone, Default)]
struct QueuePlace {
    items: [u64; 2],
    ranges: [u64; 2],
    hubs: [u64; 2],
    stamps: u64,
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

/// Items that a frontier or list can hold.
fn capacities(program: &Program, sizes: &Sizes) -> Vec<u64> {
    let frontiers = program.frontiers.iter().map(|f| f.capacity);
    let lists = program.lists.iter().map(|l| l.capacity);
    frontiers
        .chain(lists)
        .map(|e| {
            let len = sizes.resolve(program, e).unwrap_or(0);
            len.min(u64::from(u32::MAX))
        })
        .collect()
}

impl Needs {
    fn new(
        program: &Program,
        sizes: &Sizes,
        shapes: &[Shape],
        pack_up_to_bytes: u64,
    ) -> Result<Needs, RunError> {
        let mut needs = Needs {
            capacities: capacities(program, sizes),
            ..Needs::default()
        };
        let align = |n| NonZeroU64::new(n).expect("alignments are not 0");
        let mut slots = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = index_len(&buffer.name, sizes.resolve(program, buffer.extent))?;
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
                let queue = program.frontiers.len() + i;
                let shape = shapes[queue].with_capacity(needs.capacities[queue]);
                let bytes = shape.items_bytes();
                slots.push(Slot {
                    align_bytes: align(ALIGN),
                    ..Slot::new((program.buffers.len() + i) as u32, bytes, bytes)
                });
            }
        }
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
        Ok(needs)
    }

    /// Bytes of a buffer outside the slab.
    fn own_bytes(&self, buffer: usize) -> u64 {
        match self.packed[buffer] {
            Some(_) => 0,
            None => self.buffers[buffer],
        }
    }
}

fn average_degrees<'a>(graphs: impl Iterator<Item = &'a Csr>) -> Vec<f64> {
    graphs
        .map(|g| g.edge_count() as f64 / (g.node_count() as f64).max(1.0))
        .collect()
}

/// Shapes of frontiers and lists, at the sizes before the first run.
fn shapes_of(program: &Program, sizes: &Sizes, layout: &Layout, csrs: &[&Csr]) -> Vec<Shape> {
    let capacities = capacities(program, sizes);
    let mut shapes = Vec::new();
    for (i, f) in program.frontiers.iter().enumerate() {
        let swept_with = layout.swept_with[i].map(|t| csrs[t as usize]);
        let mut shape = Shape::new(
            capacities[i],
            swept_with,
            f.owner.is_some(),
            f.unique.then_some(sizes.nodes),
        );
        shape.fields.clone_from(&f.fields);
        shapes.push(shape);
    }
    for (list, &capacity) in program.lists.iter().zip(&capacities[shapes.len()..]) {
        let mut shape = Shape::new(capacity, None, false, None);
        shape.fields.clone_from(&list.fields);
        shape.sides = 1;
        shapes.push(shape);
    }
    shapes
}

/// Refuses what does not fit before anything is allocated.
fn room_for(device: &Device, what: &str, bytes: u64) -> Result<(), RunError> {
    let (free, _) = device.memory_bytes()?;
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
    ) -> Result<Megakernel, RunError> {
        let (csrs, sizes) = resolve_topologies(&program, topology)?;
        let csrs: Vec<&Csr> = csrs.iter().map(|g| &**g).collect();
        check_topology(&program, &sizes, topology)?;
        let degrees = average_degrees(csrs.iter().copied());
        let layout = Layout::new(&program, device.shared_bytes(), &degrees)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let shapes = shapes_of(&program, &sizes, &layout, &csrs);
        let pack_up_to_bytes = Thresholds::default().pack_up_to_bytes;
        let needs = Needs::new(&program, &sizes, &shapes, pack_up_to_bytes)?;
        let control_bytes = Control::new(&program).bytes;
        let tables = layout.tables_bytes().next_multiple_of(ALIGN);
        let image_bytes = tables + needs.slab_bytes;
        let words = layout.device_words();
        let code_bytes = words.len() as u64;
        let shares = shares_of(&layout, &csrs);

        let graphs = csrs.iter().map(|g| {
            up(4 * (g.node_count() as u64 + 1)).saturating_add(up(4 * g.edge_count() as u64))
        });
        let buffers = (0..program.buffers.len()).map(|i| up(needs.own_bytes(i)));
        let queues = shapes.iter().map(Shape::bytes);
        let needed = graphs
            .chain(buffers)
            .chain(queues)
            .chain([up(image_bytes), up(code_bytes), shares_bytes(&shares)])
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
        let shares = SharesMemory::upload(device, &shares)?;
        let mut this = Megakernel {
            device: Arc::clone(device),
            sizes,
            graphs: uploaded,
            buffers: program.buffers.iter().map(|_| None).collect(),
            queues: Vec::new(),
            code,
            shares,
            image: Memory::new(device, image_bytes)?,
            staging: Pinned::new(device, (tables + control_bytes) as usize)?,
            controls: Pinned::new(device, control_bytes as usize)?,
            slab: Pinned::new(device, needs.slab_bytes as usize)?,
            outputs: None,
            timer: Timer::new(device)?,
            counts,
            pack_up_to_bytes,
            slots: 1,
            ctas: device.multiprocessors().min(abi::MAX_CTAS),
            batch: None,
            progress: Arc::default(),
            told: Pinned::new(device, 16)?,
            layout,
            needs: Needs::default(),
            program,
        };
        this.needs.buffers = vec![0; this.program.buffers.len()];
        for shape in shapes {
            this.counts.allocations += 1;
            this.queues.push(Queue::new(device, shape)?);
        }
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
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        let held = |m: &Option<Memory>| m.as_ref().map_or(0, Memory::bytes);
        let mut more = 0u64;
        for (i, memory) in self.buffers.iter().enumerate() {
            let bytes = needs.own_bytes(i);
            if memory.is_none() || bytes > held(memory) {
                more = more.saturating_add(up(bytes));
            }
        }
        if tables + needs.slab_bytes > self.image.bytes() {
            more = more.saturating_add(up(tables + needs.slab_bytes));
        }
        for (queue, &capacity) in self.queues.iter().zip(&needs.capacities) {
            if capacity > queue.shape.capacity {
                more = more.saturating_add(queue.shape.with_capacity(capacity).bytes());
            }
        }
        if more > 0 {
            room_for(&self.device, "the run", more)?;
            // What is on its way may use what is given up.
            self.device.synchronize()?;
        }
        for i in 0..self.buffers.len() {
            let bytes = needs.own_bytes(i);
            if self.buffers[i].is_none() && needs.packed[i].is_none()
                || bytes > held(&self.buffers[i])
            {
                self.buffers[i] = Some(Memory::new(&self.device, bytes)?);
            }
            let is_run = self.program.buffers[i].role != Role::Topology;
            let grown = needs.buffers[i] > self.needs.buffers[i];
            self.counts.allocations += u64::from(is_run && grown);
        }
        if tables + needs.slab_bytes > self.image.bytes() {
            self.image = Memory::new(&self.device, tables + needs.slab_bytes)?;
        }
        if needs.slab_bytes > self.slab.as_slice().len() as u64 {
            self.slab = Pinned::new(&self.device, needs.slab_bytes as usize)?;
        }
        for (queue, &capacity) in self.queues.iter_mut().zip(&needs.capacities) {
            if capacity > queue.shape.capacity {
                *queue = Queue::new(&self.device, queue.shape.with_capacity(capacity))?;
                self.counts.allocations += 1;
            }
            queue.fresh_stamps()?;
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

    /// Checks a run's arguments.
    fn check(&self, args: &Args<'_>) -> Result<Sizes, RunError> {
        let program = &*self.program;
        if args.scalars.len() != program.scalars.len() {
            return Err(RunError::Length {
                name: "scalars".to_owned(),
                expected: program.scalars.len() as u64,
                actual: args.scalars.len() as u64,
            });
        }
        let sizes = Sizes {
            scalars: args.scalars.clone(),
            ..self.sizes.clone()
        };
        check_columns(program, &sizes, &args.inputs)?;
        for (i, buffer) in program.buffers.iter().enumerate() {
            if matches!(buffer.role, Role::Input | Role::InOut) {
                given(program, &sizes, BufferId(i as u16), &args.inputs)?;
            }
        }
        Ok(sizes)
    }

    /// Checks the arguments, gives memory to what depends on them, uploads the inputs.
    fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        self.sizes = self.check(args)?;
        let shapes: Vec<Shape> = self.queues.iter().map(|q| q.shape.clone()).collect();
        let needs = Needs::new(&self.program, &self.sizes, &shapes, self.pack_up_to_bytes)?;
        self.take(needs)?;
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        for (id, column) in &args.inputs {
            match self.needs.packed[id.index()] {
                Some(at) => self.image.upload(tables + at, slice_bytes(column))?,
                None => self.memory_of(id.index()).upload(0, slice_bytes(column))?,
            }
            self.counts.refresh_bytes += column.bytes();
        }
        self.counts.refresh_bytes += 8 * args.scalars.len() as u64;
        Ok(())
    }

    /// Frontiers and lists as a run has them; those with memory of their own never get smaller.
    fn shapes(&self) -> Vec<Shape> {
        let frontiers = self.program.frontiers.len();
        let queues = self.queues.iter().enumerate();
        queues
            .map(|(i, q)| {
                let list = i.checked_sub(frontiers);
                match list.and_then(|l| self.needs.packed[self.buffers.len() + l]) {
                    Some(_) => q.shape.with_capacity(self.needs.capacities[i]),
                    None => q.shape.clone(),
                }
            })
            .collect()
    }

    /// Where everything of a single run is.
    fn places(&self, fresh_stamps: bool) -> Places {
        let slab = self.image.address() + self.layout.tables_bytes().next_multiple_of(ALIGN);
        let buffers = (0..self.buffers.len())
            .map(|i| match self.needs.packed[i] {
                Some(at) => slab + at,
                None => self.memory_of(i).address(),
            })
            .collect();
        let (frontiers, buffer_count) = (self.program.frontiers.len(), self.buffers.len());
        let shapes = self.shapes();
        let queues = self.queues.iter().zip(&shapes).enumerate();
        let queues = queues.map(|(i, (q, shape))| {
            let list = i.checked_sub(frontiers).map(|l| buffer_count + l);
            let packed = list.and_then(|l| self.needs.packed[l]);
            shape.place(q.memory.address(), packed.map(|at| slab + at))
        });
        let watched = Arc::strong_count(&self.progress) > 1;
        Places {
            control: slab,
            buffers,
            queues: queues.collect(),
            fresh_stamps,
            progress: if watched { self.told.address() } else { 0 },
        }
    }

    /// The tables of a run, or of a batch's query 0 on CTA 0.
    fn encode(&self, places: &Places) -> Vec<u8> {
        let program = &*self.program;
        let control = Control::new(program);
        let mut fills = Vec::new();
        let mut buffers = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.len(buffer.extent);
            let data = places.buffers[i];
            buffers.push(abi::Buffer {
                data,
                len: len as u32,
                home: i as u32,
            });
            if len != 0 && matches!(buffer.role, Role::Output | Role::Scratch) {
                let bits = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                let size = buffer.scalar.size_bytes();
                fills.push(abi::Fill {
                    address: data,
                    units: (len * size).div_ceil(16),
                    pattern: repeat(size, bits),
                    unused: 0,
                });
            }
        }
        let topologies = self
            .graphs
            .iter()
            .map(|g| abi::Topology {
                offsets: g.offsets.address(),
                targets: g.targets.address(),
                nodes: g.nodes,
                edges: g.edges,
                ..Default::default()
            })
            .collect();
        let capacities = capacities(program, &self.sizes);
        let mut frontiers = Vec::new();
        for (i, (queue, place)) in self.queues.iter().zip(&places.queues).enumerate() {
            let declared = program.frontiers.get(i);
            let topology = self.layout.swept_with.get(i).copied().flatten();
            let record = records_of(program).position(|(id, _)| id == i as u32);
            let counters = places.control + control.frontiers + FRONTIER_CONTROL_BYTES * i as u64;
            if places.fresh_stamps && place.stamps != 0 {
                fills.push(abi::Fill {
                    address: place.stamps,
                    units: (4 * queue.shape.stamps.unwrap_or(0)).div_ceil(16),
                    ..Default::default()
                });
            }
            frontiers.push(abi::Frontier {
                items: place.items,
                ranges: place.ranges,
                hubs: place.hubs,
                counters,
                hub_counters: counters + 6 * 128,
                stamps: place.stamps,
                offsets: topology.map_or(0, |t| self.graphs[t as usize].offsets.address()),
                nodes: self.sizes.nodes as u32,
                capacity: capacities[i] as u32,
                ranges_len: queue.shape.ranges as u32,
                hubs_len: queue.shape.hubs as u32,
                topology: topology.unwrap_or(abi::NONE),
                owned: declared.is_some_and(|d| d.owner.is_some()).into(),
                record: record.map_or(abi::NONE, |r| r as u32),
                trap: match declared {
                    Some(_) => TrapKind::FrontierOverflow as u32,
                    None => TrapKind::ListOverflow as u32,
                },
                stamp: if places.fresh_stamps { 0 } else { queue.stamp } + 1,
                ..Default::default()
            });
        }
        let records = records_of(program)
            .map(|(id, fields)| {
                let sides = self.queues[id as usize].shape.sides as usize;
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
                Domain::Range(extent) => self.len(extent),
                Domain::Nodes => self.sizes.nodes,
                Domain::Items(_)
                | Domain::ListItems(..)
                | Domain::Edges(_)
                | Domain::EdgesFrom(..) => 0,
            })
            .collect();
        self.layout.encode(&Run {
            program,
            code: self.code.address(),
            control: places.control,
            buffers,
            topologies,
            frontiers,
            records,
            fills,
            lens,
            ranges: (self.shares.iter())
                .map(|shares| {
                    shares
                        .as_ref()
                        .map_or_else(Ranges::default, SharesMemory::place)
                })
                .collect(),
            scalars: &self.sizes.scalars,
            nodes: self.sizes.nodes,
            progress: places.progress,
        })
    }

    fn launch(&self, image: u64, batch: u64, ctas: u32) -> Result<(), DeviceError> {
        self.device.enter()?;
        let (mut image, mut batch) = (image, batch);
        let mut params: [*mut c_void; 2] = [(&raw mut image).cast(), (&raw mut batch).cast()];
        // SAFETY: the function takes two pointers; the image, the batch and all that they point to belong to this session
        // and stay allocated until the stream was waited for, which every caller does; one CTA a multiprocessor is
        // resident, because the kernel is compiled for it and its shared memory was checked against the device's.
        unsafe {
            result::launch_cooperative_kernel(
                self.device.megakernel,
                (ctas, 1, 1),
                (abi::THREADS, 1, 1),
                self.layout.shared_bytes,
                self.device.stream(),
                &mut params,
            )
        }
        .attempt("cuLaunchCooperativeKernel")
    }

    /// Waits for the device, and keeps those who watch informed.
    fn wait(&mut self) -> Result<(), RunError> {
        self.counts.fences += 1;
        if Arc::strong_count(&self.progress) > 1 {
            let started = Instant::now();
            while !self.device.is_idle()? {
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
        Ok(self.device.synchronize()?)
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            program: &self.program,
            sizes: &self.sizes,
            control: Control::new(&self.program),
        }
    }

    /// Starts some runs, waits for them, and reads the last one's results if asked to.
    fn start_and_wait(
        &mut self,
        series: &[Args<'_>],
        read: bool,
    ) -> Result<Option<Outcome>, RunError> {
        let started = Instant::now();
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN) as usize;
        let control = Control::new(&self.program);
        let (control_bytes, image_bytes) =
            (control.bytes as usize, tables + control.bytes as usize);
        if self.staging.as_slice().len() < series.len() * image_bytes {
            self.staging = Pinned::new(&self.device, series.len() * image_bytes)?;
            self.controls = Pinned::new(&self.device, series.len() * control_bytes)?;
        }
        self.progress.begin();
        self.told.as_mut_slice().fill(0);
        let mut begun = Ok(());
        let mut launched = 0;
        for (i, args) in series.iter().enumerate() {
            begun = self.begin(args);
            if begun.is_err() {
                break;
            }
            let last = i + 1 == series.len();
            let encoded = self.encode(&self.places(series.len() > 1));
            let words = self.layout.control(&self.program);
            let staged = &mut self.staging.as_mut_slice()[i * image_bytes..][..image_bytes];
            staged[..encoded.len()].copy_from_slice(&encoded);
            staged[tables..].copy_from_slice(&words);
            let staged = &self.staging.as_slice()[i * image_bytes..][..image_bytes];
            self.image.upload(0, staged)?;
            if i == 0 {
                self.timer.start()?;
            }
            self.launch(self.image.address(), 0, self.ctas)?;
            self.counts.launches += 1;
            launched += 1;
            if last {
                self.timer.end()?;
            }
            let target = if last && read {
                &mut self.slab.as_mut_slice()[..self.needs.slab_bytes as usize]
            } else {
                &mut self.controls.as_mut_slice()[i * control_bytes..][..control_bytes]
            };
            // SAFETY: the page-locked target belongs to `self`, and the stream is waited for before it is read.
            unsafe { self.image.download(tables as u64, target) }?;
        }
        // What is known to lie where it is declared is on its way before the wait.
        let swaps = self.program.fixpoints.iter().any(|f| !f.swaps.is_empty());
        let direct = self.direct();
        let total: u64 = direct.iter().map(|d| d.bytes.next_multiple_of(64)).sum();
        let pinned = total <= PINNED_OUTPUT_BYTES;
        let ahead = read && begun.is_ok() && pinned && !swaps;
        if ahead {
            self.fetch(&direct, None)?;
        }
        if launched > 0 {
            self.wait()?;
        }
        let mut last_words = None;
        for i in 0..launched {
            let reader = self.reader();
            let words = if read && i + 1 == series.len() {
                reader.words(self.slab.as_slice())
            } else {
                reader.words(&self.controls.as_slice()[i * control_bytes..])
            }?;
            if i + 1 == launched {
                for (queue, &stamp) in self.queues.iter_mut().zip(&words.stamps) {
                    queue.stamp = stamp;
                }
            }
            last_words = Some(words);
            let words = last_words.as_ref().expect("it was just set");
            if let Some(trap) = self.reader().trap(words) {
                return Err(RunError::Trap(Box::new(trap)));
            }
        }
        begun?;
        let (Some(words), true) = (last_words, read) else {
            return Ok(None);
        };
        self.progress.set(words.rounds.iter().sum(), words.waiting);
        let mut outcome = self.read(&words, (&direct, ahead, pinned))?;
        outcome.report.wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        outcome.report.device_ns = Some(self.timer.elapsed_ns()?);
        Ok(Some(outcome))
    }

    /// Result buffers with copies of their own.
    fn direct(&self) -> Vec<Direct> {
        let buffers = self.program.buffers.iter().enumerate();
        let mut at = 0;
        buffers
            .filter(|(i, b)| {
                is_result(b.role) && self.needs.packed[*i].is_none() && self.len(b.extent) > 0
            })
            .map(|(i, b)| {
                let bytes = self.len(b.extent) * b.scalar.size_bytes();
                let place = at;
                at += bytes.next_multiple_of(64);
                Direct {
                    buffer: i,
                    bytes,
                    at: place as usize,
                }
            })
            .collect()
    }

    /// Starts copying results into page-locked memory; `homes[b]`: the buffer that holds what belongs to `b`.
    fn fetch(&mut self, direct: &[Direct], homes: Option<&[u32]>) -> Result<(), RunError> {
        let total = direct.last().map_or(0, |d| d.at + d.bytes as usize);
        if self
            .outputs
            .as_ref()
            .is_none_or(|p| p.as_slice().len() < total)
        {
            self.outputs = Some(Pinned::new(&self.device, total)?);
        }
        for d in direct {
            let home = homes.map_or(d.buffer, |h| h[d.buffer] as usize);
            let memory = self.buffers[home]
                .as_ref()
                .expect("buffers that are swapped are of one size");
            let target = self.outputs.as_mut().expect("it was just made");
            let target = &mut target.as_mut_slice()[d.at..d.at + d.bytes as usize];
            // SAFETY: the page-locked target belongs to `self`; every caller waits for the stream before it is read.
            unsafe { memory.download(0, target) }?;
        }
        Ok(())
    }

    /// The results of the run that was waited for; `ahead`: those with copies of their own have come too.
    fn read(
        &mut self,
        words: &Words,
        (direct, ahead, pinned): (&[Direct], bool, bool),
    ) -> Result<Outcome, RunError> {
        let mut waits = false;
        if !ahead && pinned && !direct.is_empty() {
            self.fetch(direct, Some(&words.homes))?;
            waits = true;
        }
        // Large lists: only what they hold, now that it is known.
        let frontiers = self.program.frontiers.len();
        let mut held = Vec::new();
        for (l, list) in self.program.lists.iter().enumerate() {
            if !list.output || self.needs.packed[self.buffers.len() + l].is_some() {
                continue;
            }
            let queue = &self.queues[frontiers + l];
            let place = queue.shape.place(0, None);
            let mut columns = Vec::new();
            for (&at, field) in place.fields.iter().zip(&list.fields) {
                let mut bytes = vec![0; (words.lists[l] * field.size_bytes()) as usize];
                // SAFETY: the stream is waited for before the target is read or freed: below, or when the session ends.
                unsafe { queue.memory.download(at, &mut bytes) }?;
                waits |= !bytes.is_empty();
                columns.push(bytes);
            }
            held.push((l, columns));
        }
        if waits {
            self.wait()?;
        }
        let mut outcome = self.reader().outcome(
            words,
            &Record {
                bytes: self.slab.as_slice(),
                packed: &self.needs.packed,
                shapes: &self.shapes(),
            },
        );
        for d in direct {
            let buffer = &self.program.buffers[d.buffer];
            let len = self.len(buffer.extent) as usize;
            let column = if pinned {
                let bytes = self.outputs.as_ref().expect("`fetch` made it").as_slice();
                column_from(buffer.scalar, len, &bytes[d.at..])
            } else {
                let mut bytes = vec![0; d.bytes as usize];
                let home = words.homes[d.buffer] as usize;
                // SAFETY: the stream is waited for before the target is read.
                unsafe { self.memory_of(home).download(0, &mut bytes) }?;
                self.wait()?;
                column_from(self.program.buffers[d.buffer].scalar, len, &bytes)
            };
            outcome.outputs.push((BufferId(d.buffer as u16), column));
            let read = &mut outcome.report.readback;
            read.direct += u32::from(d.bytes > 0);
            read.direct_bytes += d.bytes;
            read.full_bytes += d.bytes;
        }
        outcome.outputs.sort_by_key(|(id, _)| *id);
        for (l, columns) in held {
            let list = &self.program.lists[l];
            let len = words.lists[l];
            let columns = columns.iter().zip(&list.fields);
            let columns = columns.map(|(bytes, field)| column_from(*field, len as usize, bytes));
            outcome.lists.push((ListId(l as u16), columns.collect()));
            let read = &mut outcome.report.readback;
            read.direct += u32::from(len > 0);
            read.direct_bytes += len * list.item_bytes();
            read.full_bytes += self.queues[frontiers + l].shape.capacity * list.item_bytes();
        }
        outcome.lists.sort_by_key(|(id, _)| *id);
        self.counts.readback_bytes += read_bytes(&outcome);
        Ok(outcome)
    }

    /// Runs the first few queries in one launch; how many, or none when they are better run one by one.
    fn share(
        &mut self,
        queries: &[Args<'_>],
        results: &mut Vec<Result<Outcome, RunError>>,
    ) -> Result<bool, RunError> {
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
        let mut first_lens = Vec::new();
        for query in queries {
            let Ok(checked) = self.check(query) else {
                break;
            };
            let these = lens(&checked);
            if sizes.is_empty() {
                first_lens = these;
            } else if these != first_lens {
                break;
            }
            sizes.push(checked);
        }
        let Some(first) = sizes.first() else {
            return Ok(false);
        };
        let multiprocessors = self.device.multiprocessors().min(abi::MAX_CTAS);
        let edges: u64 = self.graphs.iter().map(|g| u64::from(g.edges)).sum();
        let worth = if first.nodes + edges <= SMALL_GRAPH {
            2
        } else {
            u64::from(multiprocessors / 8).max(2)
        };

        // Where everything is in a CTA's slab, a query's inputs and a query's record.
        let shapes: Vec<Shape> = self.queues.iter().map(|q| q.shape.clone()).collect();
        let needs = Needs::new(&program, first, &shapes, u64::MAX)?;
        let (mut slab_bytes, mut input_bytes) = (0u64, 0u64);
        let mut record_bytes = needs.slab_bytes;
        enum At {
            Own,
            Slab(u64),
            Input(u64),
            Record(u64),
        }
        let mut buffers = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let bytes = up(needs.buffers[i]);
            buffers.push(match buffer.role {
                Role::Topology => At::Own,
                Role::Input => {
                    input_bytes += bytes;
                    At::Input(input_bytes - bytes)
                }
                _ => match needs.packed[i] {
                    Some(at) => At::Record(at),
                    // Of a result without elements, too.
                    None => {
                        slab_bytes += bytes;
                        At::Slab(slab_bytes - bytes)
                    }
                },
            });
        }
        let shapes: Vec<Shape> = shapes
            .iter()
            .zip(&needs.capacities)
            .map(|(s, &c)| s.with_capacity(c))
            .collect();
        let queue_at: Vec<u64> = shapes
            .iter()
            .map(|s| {
                slab_bytes += s.bytes();
                slab_bytes - s.bytes()
            })
            .collect();
        record_bytes = record_bytes.next_multiple_of(ALIGN);
        let count = (RECORDS_BYTES / record_bytes.max(1)).min(sizes.len() as u64);
        if count < worth {
            return Ok(false);
        }
        sizes.truncate(count as usize);
        let queries = &queries[..sizes.len()];

        // As many states as there is room for.
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        let control_bytes = Control::new(&program).bytes;
        let scalar_count = program.scalars.len() as u64;
        let tables_at = up(size_of::<abi::Batch>() as u64);
        let control_at = tables_at + tables;
        let scalars_at = up(control_at + control_bytes);
        let inputs_at = up(scalars_at + 8 * scalar_count * count);
        let image_bytes = inputs_at + input_bytes * count;
        let mut ctas = u64::from(multiprocessors).min(count);
        ctas = ctas.min(u64::from(self.slots.max(1)));
        let held = self.batch.as_ref();
        let grown = |memory: Option<&Memory>, bytes: u64| match memory {
            Some(memory) if memory.bytes() >= bytes => 0,
            _ => up(bytes),
        };
        let fixed = grown(held.map(|b| &b.image), image_bytes)
            + grown(held.map(|b| &b.records), record_bytes * count);
        let more = |ctas: u64| fixed + grown(held.map(|b| &b.slab), slab_bytes * ctas);
        if more(ctas) > 0 {
            let (free, _) = self.device.memory_bytes()?;
            while ctas > 1 && more(ctas) > free {
                ctas /= 2;
            }
            if more(ctas) > free {
                return Ok(false);
            }
        }
        if ctas < worth {
            return Ok(false);
        }
        self.make_batch([slab_bytes * ctas, image_bytes, record_bytes * count])?;

        // The image of query 0 on CTA 0, and what the others need.
        self.sizes = sizes[0].clone();
        let batch = self.batch.as_ref().expect("it was just made");
        let (slab, records) = (batch.slab.address(), batch.records.address());
        let image = batch.image.address();
        let frontiers = program.frontiers.len();
        let places = Places {
            control: records,
            buffers: (0..)
                .zip(&buffers)
                .map(|(i, at)| match *at {
                    At::Own => self.memory_of(i).address(),
                    At::Slab(at) => slab + at,
                    At::Input(at) => image + inputs_at + at,
                    At::Record(at) => records + at,
                })
                .collect(),
            queues: (0..)
                .zip(shapes.iter().zip(&queue_at))
                .map(|(i, (shape, &at))| {
                    let list = usize::checked_sub(i, frontiers).map(|l| program.buffers.len() + l);
                    let packed = list.and_then(|l| needs.packed[l]);
                    shape.place(slab + at, packed.map(|at| records + at))
                })
                .collect(),
            fresh_stamps: true,
            progress: 0,
        };
        let encoded = self.encode(&places);
        let words = self.layout.control(&program);
        let described = abi::Batch {
            slab,
            slab_bytes,
            inputs: image + inputs_at,
            inputs_bytes: input_bytes,
            results: records,
            results_bytes: record_bytes,
            control: image + control_at,
            scalars: image + scalars_at,
            control_bytes: control_bytes as u32,
            queries: count as u32,
            scalar_count: scalar_count as u32,
            ..Default::default()
        };
        let batch = self.batch.as_mut().expect("it was just made");
        let staged = batch.staging.as_mut_slice();
        let mut put = |at: u64, bytes: &[u8]| {
            staged[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        };
        put(0, bytes_of(&[described]));
        put(tables_at, &encoded);
        put(control_at, &words);
        let mut refreshed = 0;
        for (q, query) in (0u64..).zip(queries) {
            put(scalars_at + 8 * scalar_count * q, bytes_of(&query.scalars));
            refreshed += 8 * scalar_count;
            for (id, column) in &query.inputs {
                refreshed += column.bytes();
                match buffers[id.index()] {
                    At::Input(at) => put(inputs_at + input_bytes * q + at, slice_bytes(column)),
                    At::Record(at) => batch
                        .records
                        .upload(record_bytes * q + at, slice_bytes(column))?,
                    At::Own | At::Slab(_) => {}
                }
            }
        }
        let staged = &batch.staging.as_slice()[..image_bytes as usize];
        batch.image.upload(0, staged)?;
        self.counts.refresh_bytes += refreshed;
        self.timer.start()?;
        self.launch(image + tables_at, image, ctas as u32)?;
        self.timer.end()?;
        self.counts.launches += 1;
        let batch = self.batch.as_mut().expect("it was just made");
        let read = &mut batch.read.as_mut_slice()[..(record_bytes * count) as usize];
        // SAFETY: the page-locked target belongs to `self`, and the stream is waited for before it is read.
        unsafe { batch.records.download(0, read) }?;
        self.wait()?;

        let device_ns = Some(self.timer.elapsed_ns()?);
        let read = self
            .batch
            .as_ref()
            .expect("it was just made")
            .read
            .as_slice();
        let read = &read[..(record_bytes * count) as usize];
        let (packed, shapes) = (&needs.packed, &shapes);
        let one = |(sizes, bytes): (&Sizes, &[u8])| {
            let reader = Reader {
                program: &program,
                sizes,
                control: Control::new(&program),
            };
            let words = reader.words(bytes)?;
            if let Some(trap) = reader.trap(&words) {
                return Err(RunError::Trap(Box::new(trap)));
            }
            Ok(reader.outcome(
                &words,
                &Record {
                    bytes,
                    packed,
                    shapes,
                },
            ))
        };
        let pairs: Vec<(&Sizes, &[u8])> = sizes
            .iter()
            .zip(read.chunks(record_bytes as usize))
            .collect();
        let threads = match std::thread::available_parallelism() {
            Ok(n) if read.len() >= UNPACK_BYTES => n.get().min(8).min(pairs.len()),
            _ => 1,
        };
        let mut unpacked: Vec<Result<Outcome, RunError>> = if threads == 1 {
            pairs.into_iter().map(one).collect()
        } else {
            let parts = pairs.chunks(pairs.len().div_ceil(threads));
            let unpack =
                |part: &[(&Sizes, &[u8])]| -> Vec<_> { part.iter().copied().map(one).collect() };
            std::thread::scope(|scope| {
                let workers: Vec<_> = parts.map(|p| scope.spawn(move || unpack(p))).collect();
                let done = workers.into_iter();
                done.flat_map(|w| w.join().expect("taking a record apart does not panic"))
                    .collect()
            })
        };
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for outcome in unpacked.iter_mut().flatten() {
            self.counts.readback_bytes += read_bytes(outcome);
            outcome.report.wall_ns = wall_ns;
            outcome.report.device_ns = device_ns;
        }
        results.append(&mut unpacked);
        Ok(true)
    }

    /// Memory for a batch: slab, image, records.
    fn make_batch(&mut self, bytes: [u64; 3]) -> Result<(), RunError> {
        let [slab, image, records] = bytes;
        let device = &self.device;
        let fits = |m: &Memory, bytes: u64| m.bytes() >= bytes;
        let held = self.batch.take();
        let (mut slab_held, mut image_held, mut records_held) = (None, None, None);
        if let Some(b) = held {
            slab_held = Some(b.slab).filter(|m| fits(m, slab));
            image_held = Some((b.image, b.staging)).filter(|(m, _)| fits(m, image));
            records_held = Some((b.records, b.read)).filter(|(m, _)| fits(m, records));
        }
        self.counts.allocations += u64::from(slab_held.is_none())
            + u64::from(image_held.is_none())
            + u64::from(records_held.is_none());
        let slab = match slab_held {
            Some(slab) => slab,
            None => Memory::new(device, slab)?,
        };
        let (image, staging) = match image_held {
            Some(held) => held,
            None => (
                Memory::new(device, image)?,
                Pinned::new(device, image as usize)?,
            ),
        };
        let (records, read) = match records_held {
            Some(held) => held,
            None => (
                Memory::new(device, records)?,
                Pinned::new(device, records as usize)?,
            ),
        };
        self.batch = Some(Batch {
            slab,
            image,
            staging,
            records,
            read,
        });
        Ok(())
    }
}

/// A result buffer with a copy of its own: where it goes.
struct Direct {
    buffer: usize,
    bytes: u64,
    at: usize,
}

/// Bytes of results.
fn read_bytes(outcome: &Outcome) -> u64 {
    let outputs = outcome.outputs.iter().map(|(_, c)| c.as_slice().bytes());
    let lists = outcome.lists.iter().flat_map(|(_, columns)| columns);
    let lists = lists.map(|c| c.as_slice().bytes());
    outputs.sum::<u64>() + lists.sum::<u64>() + 8 * outcome.reductions.len() as u64
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
    /// Items that the next round would find.
    waiting: u64,
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
            },
            waiting: word(field(std::mem::offset_of!(abi::Control, waiting))),
            rounds: count(program.fixpoints.len())
                .map(|i| word(layout.results + 8 * i))
                .collect(),
            homes: count(program.buffers.len())
                .map(|i| half(layout.homes + 4 * i))
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

    /// Everything but what has copies of its own.
    fn outcome(&self, words: &Words, record: &Record<'_>) -> Outcome {
        let program = self.program;
        let mut outcome = Outcome {
            rows: self.sizes.rows(program),
            ..Outcome::default()
        };
        let mut read = Readback::default();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.sizes.resolve(program, buffer.extent).unwrap_or(0);
            if !is_result(buffer.role) || record.packed[i].is_none() && len > 0 {
                continue;
            }
            let home = words.homes[i] as usize;
            let at = record.packed[home].unwrap_or(0);
            let bytes = len * buffer.scalar.size_bytes();
            let column = column_from(buffer.scalar, len as usize, &record.bytes[at as usize..]);
            outcome.outputs.push((BufferId(i as u16), column));
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
            let place = shape.place(0, Some(at));
            let columns = place.fields.iter().zip(&list.fields);
            let columns = columns.map(|(&at, field)| {
                column_from(*field, len as usize, &record.bytes[at as usize..])
            });
            outcome.lists.push((ListId(l as u16), columns.collect()));
            read.packed += u32::from(len > 0);
            read.packed_bytes += len * list.item_bytes();
            read.full_bytes += shape.capacity * list.item_bytes();
        }
        for (i, r) in program.reductions.iter().enumerate() {
            if r.output {
                let bits = unordered(r.op, r.scalar, words.reductions[i]);
                outcome.reductions.push((ReductionId(i as u16), bits));
            }
        }
        outcome.report = Report {
            rounds: words.rounds.clone(),
            activity: Some(words.activity),
            readback: read,
            ..Report::default()
        };
        outcome
    }

    /// The run's trap, if it has one.
    fn trap(&self, words: &Words) -> Option<Trap> {
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
            index: words.trap_index,
            len: words.trap_len,
            message: None,
            lane: None,
        };
        if kernel == abi::ROUND_LIMIT_KERNEL {
            let fixpoint = &self.program.fixpoints[item as usize];
            let site = self.program.sites.get(fixpoint.site.index());
            return Some(trap(
                fixpoint.name.clone(),
                site.cloned().unwrap_or_default(),
                None,
            ));
        }
        let id = KernelId(kernel as u16);
        let named = &self.program.kernels[id.index()];
        let at = named.sites.binary_search_by_key(&pc, |&(at, _)| at);
        let at = at.ok().map(|i| named.sites[i].1);
        let site = at.and_then(|at| self.program.sites.get(at.index()).cloned());
        let message = at.and_then(|at| self.program.message(at));
        let whole = item == WHOLE_WAVE || id.index() >= self.program.waves.len();
        Some(Trap {
            message: message.map(str::to_owned),
            ..trap(
                named.name.clone(),
                site.unwrap_or_default(),
                (!whole).then_some(item),
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
            buffer.name,
            buffer.scalar.name(),
            column.scalar().name()
        ))),
        None if expected != 0 => Err(RunError::Length {
            name: buffer.name.clone(),
            expected,
            actual: 0,
        }),
        Some(_) | None => Ok(()),
    }
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
    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        self.run_series(std::slice::from_ref(args))
    }

    fn run_series(&mut self, series: &[Args<'_>]) -> Result<Outcome, RunError> {
        let mut chunks = series.chunks(SERIES).peekable();
        while let Some(chunk) = chunks.next() {
            let read = chunks.peek().is_none();
            if let Some(outcome) = self.start_and_wait(chunk, read)? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::default())
    }

    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        let mut results = Vec::with_capacity(queries.len());
        while results.len() < queries.len() {
            let rest = &queries[results.len()..];
            match self.share(rest, &mut results) {
                Ok(true) => {}
                Ok(false) => results.push(self.run(&rest[0])),
                Err(e) => results.push(Err(e)),
            }
        }
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
        let layout = Layout::new(&program, self.device.shared_bytes(), &degrees)
            .map_err(|e| RunError::Backend(e.to_string()))?;
        let shapes = shapes_of(&program, &sizes, &layout, &csrs);
        let needs = Needs::new(&program, &sizes, &shapes, self.pack_up_to_bytes)?;
        let differs: Vec<bool> = csrs
            .iter()
            .zip(&self.graphs)
            .map(|(csr, graph)| graph.differs(csr))
            .collect::<Result<_, _>>()?;
        let graphs = csrs.iter().zip(&differs).filter(|(_, d)| **d);
        let graphs = graphs.map(|(g, _)| csr_bytes(g) + 2 * ALIGN);
        let queues = shapes.iter().zip(&self.queues);
        let queues = queues.filter(|(s, q)| **s != q.shape);
        let shares = shares_of(&layout, &csrs);
        let more = graphs.sum::<u64>()
            + queues.map(|(s, _)| s.bytes()).sum::<u64>()
            + shares_bytes(&shares);
        room_for(&self.device, "the update", more)?;

        let mut uploaded = 0;
        for ((graph, csr), differs) in self.graphs.iter_mut().zip(&csrs).zip(differs) {
            if differs {
                uploaded += csr_bytes(csr);
                *graph = Graph::new(&self.device, csr)?;
            }
        }
        for (queue, shape) in self.queues.iter_mut().zip(shapes) {
            if queue.shape != shape {
                *queue = Queue::new(&self.device, shape)?;
                self.counts.allocations += 1;
            }
        }
        self.shares = SharesMemory::upload(&self.device, &shares)?;
        // Degrees change how work is handed out, not where things lie.
        debug_assert_eq!(self.layout.device_words(), layout.device_words());
        self.layout = layout;
        self.sizes = sizes;
        self.batch = None;
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

    fn counters(&self) -> Option<Counters> {
        Some(self.counts)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_ctas: self.slots(),
            lanes_per_cta: abi::THREADS,
            jit: false,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        let all = self.slots();
        let mut notes = Vec::new();
        if hint.route == Route::Jit {
            notes.push("jit wanted, not available: the megakernel interprets");
        }
        if hint.ctas < all {
            notes.push("fewer CTAs wanted: all run, since the widest round counts");
        }
        self.ctas = all;
        self.pack_up_to_bytes = hint.pack_up_to_bytes;
        self.slots = hint.slots.max(1);
        Followed {
            ctas: all,
            code: "interpreted",
            notes,
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.progress))
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
fn shares_of(layout: &Layout, csrs: &[&Csr]) -> Vec<Option<Shares>> {
    let of = |(wave, t): (usize, &Option<u16>)| {
        t.map(|t| Shares::new(csrs[usize::from(t)].offsets(), layout.tile(wave)))
    };
    layout.ranges_of.iter().enumerate().map(of).collect()
}

fn shares_bytes(shares: &[Option<Shares>]) -> u64 {
    let bytes = |n: usize, each: u64| up(n as u64 * each);
    let of = |s: &Shares| {
        bytes(s.ranges.len(), 16) + bytes(s.parts.len(), 16) + bytes(s.chunks.len(), 4)
    };
    shares.iter().flatten().map(of).sum()
}

impl SharesMemory {
    fn upload(
        device: &Arc<Device>,
        shares: &[Option<Shares>],
    ) -> Result<Vec<Option<Self>>, DeviceError> {
        let one = |shares: &Shares| {
            let words = [
                shares.ranges.as_flattened(),
                shares.parts.as_flattened(),
                &shares.chunks,
            ]
            .concat();
            let lists = Memory::new(device, 4 * words.len() as u64)?;
            lists.upload(0, slice_bytes(&Slice::U32(&words)))?;
            let parts = 16 * shares.ranges.len() as u64;
            let within = Ranges {
                parts,
                chunks: parts + 8 * shares.parts.len() as u64,
                count: shares.ranges.len() as u32,
                part_count: shares.parts.len() as u32,
                chunk_count: shares.chunks.len() as u32 - 1,
                ..Ranges::default()
            };
            Ok(SharesMemory {
                lists,
                sums: Memory::new(device, 8 * shares.parts.len() as u64)?,
                within,
            })
        };
        shares
            .iter()
            .map(|shares| shares.as_ref().map(one).transpose())
            .collect()
    }

    fn place(&self) -> Ranges {
        let list = self.lists.address();
        Ranges {
            list,
            parts: list + self.within.parts,
            sums: self.sums.address(),
            chunks: list + self.within.chunks,
            ..self.within
        }
    }
}

impl Graph {
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
        })
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

/// Sizes of a frontier's memory.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    capacity: u64,
    sides: u64,
    /// Empty: the items are nodes.
    fields: Vec<Scalar>,
    ranges: u64,
    hubs: u64,
    stamps: Option<u64>,
}

impl Shape {
    fn new(capacity: u64, swept_with: Option<&Csr>, owned: bool, stamps: Option<u64>) -> Shape {
        let capacity = capacity.min(u64::from(u32::MAX));
        let (mut ranges, mut hubs) = (0, 0);
        if let Some(csr) = swept_with {
            ranges = capacity.min(RANGES.max(csr.node_count() as u64));
            let hub = csr
                .offsets()
                .windows(2)
                .any(|w| w[1] - w[0] > abi::HUB_EDGES);
            // What an unowned frontier holds is swept while more is pushed, so its hubs cannot be counted apart.
            if hub && owned {
                hubs = HUBS.min(csr.edge_count() as u64 / u64::from(abi::HUB_EDGES) + 1024);
            }
        }
        Shape {
            capacity,
            sides: 2,
            fields: Vec::new(),
            ranges,
            hubs,
            stamps,
        }
    }

    fn with_capacity(&self, capacity: u64) -> Shape {
        Shape {
            capacity,
            ..self.clone()
        }
    }

    /// Bytes of the items.
    fn items_bytes(&self) -> u64 {
        let items = match self.fields.as_slice() {
            [] => half(4 * self.capacity),
            fields => fields
                .iter()
                .map(|f| half(f.size_bytes() * self.capacity))
                .sum(),
        };
        self.sides * items
    }

    /// Bytes of everything.
    fn bytes(&self) -> u64 {
        let stamps = self.stamps.map_or(0, |n| half(4 * n));
        self.items_bytes() + 2 * half(8 * self.ranges) + 2 * half(16 * self.hubs) + stamps
    }

    /// Where everything is from `base` on; `items`: the items are elsewhere.
    fn place(&self, base: u64, items: Option<u64>) -> QueuePlace {
        let items_at = items.unwrap_or(base);
        let ranges = base + self.items_bytes();
        let hubs = ranges + 2 * half(8 * self.ranges);
        let stamps = hubs + 2 * half(16 * self.hubs);
        let mut fields = Vec::new();
        let mut at = items_at;
        for _ in 0..self.sides {
            for field in &self.fields {
                fields.push(at);
                at += half(field.size_bytes() * self.capacity);
            }
        }
        QueuePlace {
            items: [items_at, items_at + self.items_bytes() / 2],
            ranges: [ranges, ranges + half(8 * self.ranges)],
            hubs: [hubs, hubs + half(16 * self.hubs)],
            stamps: self.stamps.map_or(0, |_| stamps),
            fields,
        }
    }
}

/// Bytes of one of two equal parts, aligned.
fn half(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(ALIGN)
}

impl Queue {
    fn new(device: &Arc<Device>, shape: Shape) -> Result<Queue, DeviceError> {
        let queue = Queue {
            memory: Memory::new(device, shape.bytes())?,
            shape,
            stamp: 0,
        };
        if queue.shape.stamps.is_some() {
            queue.memory.set_bytes(0)?;
        }
        Ok(queue)
    }

    /// Starts the stamps over long before they wrap.
    fn fresh_stamps(&mut self) -> Result<(), DeviceError> {
        if self.stamp < 1 << 31 {
            return Ok(());
        }
        self.stamp = 0;
        match self.shape.stamps {
            Some(_) => self.memory.set_bytes(0),
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
