//! The CUDA backend: one cooperative launch of the persistent megakernel runs a whole pass.
//!
//! Topology and buffers are allocated once per session. A run uploads its inputs and one image (tables and zeroed control
//! words), launches once, and reads the control words and the outputs back.

use crate::abi;
use crate::buffer::{ALIGN, Memory, Pinned, Timer, column_from, slice_bytes};
use crate::device::{Attempt, Device, DeviceError};
use crate::image::{
    Control, FRONTIER_CONTROL_BYTES, Layout, Run, list_number, records_of, unordered,
};
use cudarc::driver::result;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::csr::Csr;
use vyre_core::exec::{
    Args, Column, Executor, Outcome, Report, RunError, Sizes, Slice, TopologyArgs, check_columns,
    resolve_topologies,
};
use vyre_core::module::{
    BufferId, Domain, Extent, KernelId, ListId, Program, ReductionId, Role, Scalar, Site,
};
use vyre_core::trap::{Trap, TrapKind, WHOLE_WAVE};

/// Outputs together up to this size come back through page-locked memory.
const PINNED_OUTPUT_BYTES: u64 = 64 << 20;
/// Items of a frontier that carry their edge ranges at least, where the capacity allows.
const RANGES: u64 = 1 << 16;
/// Hubs that a frontier lists apart at most.
const HUBS: u64 = 1 << 20;

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
    buffers: Vec<Memory>,
    /// Frontiers, then lists.
    frontiers: Vec<Frontier>,
    code: Memory,
    /// Tables, then control words.
    image: Memory,
    staging: Pinned,
    control: Pinned,
    outputs: Option<Pinned>,
    timer: Timer,
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
struct Frontier {
    items: Memory,
    /// By side, then by field, within `items`.
    fields: Vec<u64>,
    ranges: Memory,
    hubs: Memory,
    stamps: Option<Memory>,
    shape: Shape,
    /// Last stamp that a run used.
    stamp: u32,
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
        check_columns(&program, &sizes, &topology.columns)?;
        let degree: Vec<f64> = csrs
            .iter()
            .map(|g| g.edge_count() as f64 / (g.node_count() as f64).max(1.0))
            .collect();
        let layout = Layout::new(&program, device.shared_bytes(), &degree)
            .map_err(|e| RunError::Backend(e.to_string()))?;

        let mut needed: u64 = 0;
        let mut take = |bytes: u64| {
            needed = needed.saturating_add(bytes.max(1).next_multiple_of(ALIGN));
            bytes
        };
        for g in &csrs {
            take(4 * (g.node_count() as u64 + 1));
            take(4 * g.edge_count() as u64);
        }
        let buffer_bytes: Vec<u64> = program
            .buffers
            .iter()
            .map(|b| {
                let len = sizes.resolve(&program, b.extent).unwrap_or(0);
                if len > u64::from(u32::MAX) {
                    return Err(RunError::TooLong {
                        name: b.name.clone(),
                        len,
                    });
                }
                Ok(take(len * b.scalar.size_bytes()))
            })
            .collect::<Result<_, _>>()?;
        let mut shapes = Vec::new();
        for (i, f) in program.frontiers.iter().enumerate() {
            let capacity = sizes.resolve(&program, f.capacity).unwrap_or(0);
            let swept_with = layout.swept_with[i].map(|t| &*csrs[t as usize]);
            let mut shape = Shape::new(
                capacity,
                swept_with,
                f.owner.is_some(),
                f.unique.then_some(sizes.nodes),
            );
            shape.fields.clone_from(&f.fields);
            shapes.push(shape);
        }
        for list in &program.lists {
            let capacity = sizes.resolve(&program, list.capacity).unwrap_or(0);
            let mut shape = Shape::new(capacity, None, false, None);
            shape.fields.clone_from(&list.fields);
            shape.sides = 1;
            shapes.push(shape);
        }
        for shape in &shapes {
            shape.parts().into_iter().for_each(|b| {
                take(b);
            });
        }
        let tables = layout.tables_bytes().next_multiple_of(ALIGN);
        let control = Control::new(&program);
        let image_bytes = take(tables + control.bytes);
        let code_bytes = take(8 * layout.code.len() as u64);
        let (free, _) = device.memory_bytes()?;
        if needed > free {
            return Err(RunError::Backend(format!(
                "the session needs {needed} bytes of device memory; {free} are free on {}",
                device.name()
            )));
        }

        let graphs = csrs
            .iter()
            .map(|g| Graph::new(device, g))
            .collect::<Result<_, _>>()?;
        let buffers: Vec<Memory> = buffer_bytes
            .iter()
            .map(|&b| Memory::new(device, b))
            .collect::<Result<_, _>>()?;
        let frontiers = shapes
            .iter()
            .map(|s| Frontier::new(device, s))
            .collect::<Result<_, _>>()?;
        let code = Memory::new(device, code_bytes)?;
        let words: Vec<u8> = layout.code.iter().flat_map(|w| w.to_bytes()).collect();
        code.upload(0, &words)?;
        let this = Megakernel {
            device: Arc::clone(device),
            layout,
            sizes,
            graphs,
            buffers,
            frontiers,
            code,
            image: Memory::new(device, image_bytes)?,
            staging: Pinned::new(device, image_bytes as usize)?,
            control: Pinned::new(device, control.bytes as usize)?,
            outputs: None,
            timer: Timer::new(device)?,
            program,
        };
        for (i, buffer) in this.program.buffers.iter().enumerate() {
            if buffer.role == Role::Topology {
                this.fill(BufferId(i as u16), &topology.columns)?;
            }
        }
        this.device.synchronize()?;
        Ok(this)
    }

    /// Uploads a buffer that the caller fills.
    fn fill(&self, id: BufferId, columns: &[(BufferId, Slice<'_>)]) -> Result<(), RunError> {
        let buffer = &self.program.buffers[id.index()];
        let expected = self.len(buffer.extent);
        match columns.iter().find(|(b, _)| *b == id) {
            Some((_, column)) if column.scalar() != buffer.scalar => {
                Err(RunError::Invalid(format!(
                    "`{}` holds {}, not {}",
                    buffer.name,
                    buffer.scalar.name(),
                    column.scalar().name()
                )))
            }
            Some((_, column)) => Ok(self.buffers[id.index()].upload(0, slice_bytes(column))?),
            None if expected == 0 => Ok(()),
            None => Err(RunError::Length {
                name: buffer.name.clone(),
                expected,
                actual: 0,
            }),
        }
    }

    fn len(&self, extent: Extent) -> u64 {
        self.sizes.resolve(&self.program, extent).unwrap_or(0)
    }

    /// A length of this run, which must fit u32 indices.
    fn index_len(&self, name: &str, extent: Extent) -> Result<u64, RunError> {
        let len = self.len(extent);
        if len > u64::from(u32::MAX) {
            return Err(RunError::TooLong {
                name: name.to_owned(),
                len,
            });
        }
        Ok(len)
    }

    /// Checks the arguments, gives memory to what depends on them, uploads the inputs.
    fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        if args.scalars.len() != program.scalars.len() {
            return Err(RunError::Length {
                name: "scalars".to_owned(),
                expected: program.scalars.len() as u64,
                actual: args.scalars.len() as u64,
            });
        }
        self.sizes.scalars.clone_from(&args.scalars);
        check_columns(&program, &self.sizes, &args.inputs)?;
        for (i, buffer) in program.buffers.iter().enumerate() {
            let bytes = self.index_len(&buffer.name, buffer.extent)? * buffer.scalar.size_bytes();
            if bytes > self.buffers[i].bytes() {
                self.room_for(bytes)?;
                self.buffers[i] = Memory::new(&self.device, bytes)?;
            }
            if matches!(buffer.role, Role::Input | Role::InOut) {
                self.fill(BufferId(i as u16), &args.inputs)?;
            }
        }
        for wave in &program.waves {
            if let Domain::Range(extent) = wave.domain {
                self.index_len(&wave.name, extent)?;
            }
        }
        for list in &program.lists {
            self.index_len(&list.name, list.capacity)?;
        }
        for i in 0..self.frontiers.len() {
            let capacity = self.capacity(i);
            if capacity > self.frontiers[i].shape.capacity {
                let mut shape = self.frontiers[i].shape.clone();
                shape.capacity = capacity;
                self.room_for(shape.parts().iter().sum())?;
                self.frontiers[i] = Frontier::new(&self.device, &shape)?;
            }
            self.frontiers[i].fresh_stamps()?;
        }
        Ok(())
    }

    /// Items that a frontier or list can hold in this run.
    fn capacity(&self, i: usize) -> u64 {
        let extent = match self.program.frontiers.get(i) {
            Some(frontier) => frontier.capacity,
            None => self.program.lists[i - self.program.frontiers.len()].capacity,
        };
        self.len(extent).min(u64::from(u32::MAX))
    }

    fn room_for(&self, bytes: u64) -> Result<(), RunError> {
        let (free, _) = self.device.memory_bytes()?;
        if bytes > free {
            return Err(RunError::Backend(format!(
                "the run needs {bytes} more bytes of device memory; {free} are free on {}",
                self.device.name()
            )));
        }
        Ok(())
    }

    /// Uploads the image of this run.
    fn upload_image(&mut self) -> Result<(), RunError> {
        let program = &*self.program;
        let control = Control::new(program);
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        let control_at = self.image.address() + tables;
        let mut fills = Vec::new();
        let mut buffers = Vec::new();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.len(buffer.extent);
            let data = self.buffers[i].address();
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
        let frontiers = self
            .frontiers
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let declared = program.frontiers.get(i);
                let topology = self.layout.swept_with.get(i).copied().flatten();
                let record = records_of(program).position(|(id, _)| id == i as u32);
                let counters = control_at + control.frontiers + FRONTIER_CONTROL_BYTES * i as u64;
                abi::Frontier {
                    items: pair(&f.items),
                    ranges: pair(&f.ranges),
                    hubs: pair(&f.hubs),
                    counters,
                    hub_counters: counters + 6 * 128,
                    stamps: f.stamps.as_ref().map_or(0, Memory::address),
                    offsets: topology.map_or(0, |t| self.graphs[t as usize].offsets.address()),
                    nodes: self.sizes.nodes as u32,
                    capacity: self.capacity(i) as u32,
                    ranges_len: f.shape.ranges as u32,
                    hubs_len: f.shape.hubs as u32,
                    topology: topology.unwrap_or(abi::NONE),
                    owned: declared.is_some_and(|d| d.owner.is_some()).into(),
                    record: record.map_or(abi::NONE, |r| r as u32),
                    trap: match declared {
                        Some(_) => TrapKind::FrontierOverflow as u32,
                        None => TrapKind::ListOverflow as u32,
                    },
                    stamp: f.stamp + 1,
                    ..Default::default()
                }
            })
            .collect();
        let records = records_of(program)
            .map(|(id, fields)| {
                let f = &self.frontiers[id as usize];
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
                        let at = (side % f.shape.sides as usize) * fields.len() + i;
                        record.fields[side * 8 + i] = f.items.address() + f.fields[at];
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
        let run = Run {
            program,
            code: self.code.address(),
            control: control_at,
            buffers,
            topologies,
            frontiers,
            records,
            fills,
            lens,
            scalars: &self.sizes.scalars,
            nodes: self.sizes.nodes,
        };
        let encoded = self.layout.encode(&run);
        let words = self.layout.control(program);
        let staged = self.staging.as_mut_slice();
        staged[..encoded.len()].copy_from_slice(&encoded);
        let at = tables as usize;
        staged[at..at + words.len()].copy_from_slice(&words);
        Ok(self
            .image
            .upload(0, &self.staging.as_slice()[..at + words.len()])?)
    }

    fn launch(&self) -> Result<(), DeviceError> {
        self.device.enter()?;
        let mut image = self.image.address();
        let mut params: [*mut c_void; 1] = [(&raw mut image).cast()];
        self.timer.start()?;
        // SAFETY: the function takes one pointer; the image and all that it points to belong to this session and stay
        // allocated until the stream was waited for, which `run` does; one CTA a multiprocessor is resident, because the
        // kernel is compiled for it and its shared memory was checked against the device's.
        unsafe {
            result::launch_cooperative_kernel(
                self.device.megakernel,
                (self.device.multiprocessors().min(abi::MAX_CTAS), 1, 1),
                (abi::THREADS, 1, 1),
                self.layout.shared_bytes,
                self.device.stream(),
                &mut params,
            )
        }
        .attempt("cuLaunchCooperativeKernel")?;
        self.timer.end()
    }

    /// Waits, and takes the control words apart.
    fn wait(&mut self) -> Result<Words, RunError> {
        let tables = self.layout.tables_bytes().next_multiple_of(ALIGN);
        // SAFETY: the page-locked target belongs to `self`, and the stream is waited for before it is read.
        unsafe { self.image.download(tables, self.control.as_mut_slice()) }?;
        self.device.synchronize()?;
        let layout = Control::new(&self.program);
        let bytes = self.control.as_slice();
        let word = |at: u64| {
            let at = at as usize;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice has 8 bytes"))
        };
        let half = |at: u64| {
            let at = at as usize;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice has 4 bytes"))
        };
        let trap = (3 * 128u64..).step_by(8).take(3).map(word);
        let trap: Vec<u64> = trap.collect();
        let count = |n: usize| 0..n as u64;
        let words = Words {
            trap_key: trap[0],
            trap_index: trap[1],
            trap_len: trap[2],
            trap_kind: half(3 * 128 + 24),
            finished: half(3 * 128 + 24 + 20) != 0,
            rounds: count(self.program.fixpoints.len())
                .map(|i| word(layout.results + 8 * i))
                .collect(),
            homes: count(self.program.buffers.len())
                .map(|i| half(layout.homes + 4 * i))
                .collect(),
            lists: (0u16..)
                .zip(&self.program.lists)
                .map(|(l, _)| {
                    let number = u64::from(list_number(&self.program, l));
                    word(layout.frontiers + FRONTIER_CONTROL_BYTES * number)
                })
                .collect(),
            reductions: count(self.program.reductions.len())
                .map(|i| {
                    let epoch = half(layout.epochs + 4 * i);
                    word(layout.reductions + 24 * i + 8 * u64::from(epoch % 3))
                })
                .collect(),
        };
        for (i, f) in (0u64..).zip(&mut self.frontiers) {
            f.stamp = half(layout.stamps + 4 * i);
        }
        if !words.finished {
            return Err(RunError::Backend(
                "the launch ended before the pass".to_owned(),
            ));
        }
        Ok(words)
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
        let site = match named.sites.binary_search_by_key(&pc, |&(at, _)| at) {
            Ok(i) => self.program.sites.get(named.sites[i].1.index()).cloned(),
            Err(_) => None,
        };
        let whole = item == WHOLE_WAVE || id.index() >= self.program.waves.len();
        Some(trap(
            named.name.clone(),
            site.unwrap_or_default(),
            (!whole).then_some(item),
        ))
    }

    /// Output buffers: where their contents are now, and their lengths.
    fn outputs(&self) -> Vec<(BufferId, Scalar, u64)> {
        (0u16..)
            .zip(&self.program.buffers)
            .filter(|(_, b)| matches!(b.role, Role::Output | Role::InOut))
            .map(|(i, b)| (BufferId(i), b.scalar, self.len(b.extent)))
            .collect()
    }

    /// Fields of what a list holds.
    fn list_columns(&self, list: usize, len: u64) -> Result<Vec<Column>, RunError> {
        let memory = &self.frontiers[self.program.frontiers.len() + list];
        let mut columns = Vec::new();
        for (&at, field) in memory.fields.iter().zip(&self.program.lists[list].fields) {
            let mut bytes = vec![0; (len * field.size_bytes()) as usize];
            // SAFETY: the stream is waited for before the target is read.
            unsafe { memory.items.download(at, &mut bytes) }?;
            self.device.synchronize()?;
            columns.push(column_from(*field, len as usize, &bytes));
        }
        Ok(columns)
    }

    /// Starts copying the outputs into page-locked memory; `homes[b]`: the buffer that holds what belongs to `b`.
    fn fetch(
        &mut self,
        outputs: &[(BufferId, Scalar, u64)],
        homes: Option<&[u32]>,
    ) -> Result<Vec<usize>, RunError> {
        let mut at = 0usize;
        let mut places = Vec::new();
        for &(_, scalar, len) in outputs {
            places.push(at);
            at += ((len * scalar.size_bytes()) as usize).next_multiple_of(64);
        }
        if self
            .outputs
            .as_ref()
            .is_none_or(|p| p.as_slice().len() < at)
        {
            self.outputs = Some(Pinned::new(&self.device, at)?);
        }
        let target = self
            .outputs
            .as_mut()
            .expect("it was just made")
            .as_mut_slice();
        for (&(id, scalar, len), &place) in outputs.iter().zip(&places) {
            let home = homes.map_or(id.index(), |h| h[id.index()] as usize);
            let bytes = (len * scalar.size_bytes()) as usize;
            // SAFETY: the page-locked target belongs to `self`; every caller waits for the stream before it is read.
            unsafe { self.buffers[home].download(0, &mut target[place..place + bytes]) }?;
        }
        Ok(places)
    }
}

/// What the control words say after a launch.
#[derive(Debug)]
struct Words {
    trap_key: u64,
    trap_index: u64,
    trap_len: u64,
    trap_kind: u32,
    finished: bool,
    rounds: Vec<u64>,
    homes: Vec<u32>,
    /// Items appended to each list.
    lists: Vec<u64>,
    reductions: Vec<u64>,
}

impl Executor for Megakernel {
    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        let started = Instant::now();
        self.begin(args)?;
        self.upload_image()?;
        self.launch()?;
        let outputs = self.outputs();
        let total: u64 = outputs
            .iter()
            .map(|(_, s, len)| (len * s.size_bytes()).next_multiple_of(64))
            .sum();
        let pinned = total <= PINNED_OUTPUT_BYTES;
        let swaps = self.program.fixpoints.iter().any(|f| !f.swaps.is_empty());
        let mut places = None;
        if pinned && !swaps {
            places = Some(self.fetch(&outputs, None)?);
        }
        let words = self.wait()?;
        if let Some(trap) = self.trap(&words) {
            return Err(RunError::Trap(Box::new(trap)));
        }
        let mut outcome = Outcome {
            rows: self.sizes.rows(&self.program),
            ..Outcome::default()
        };
        if pinned {
            let places = match places {
                Some(places) => places,
                None => {
                    let places = self.fetch(&outputs, Some(&words.homes))?;
                    self.device.synchronize()?;
                    places
                }
            };
            let bytes = self.outputs.as_ref().expect("`fetch` made it").as_slice();
            for (&(id, scalar, len), place) in outputs.iter().zip(places) {
                outcome
                    .outputs
                    .push((id, column_from(scalar, len as usize, &bytes[place..])));
            }
        } else {
            let mut bytes = Vec::new();
            for &(id, scalar, len) in &outputs {
                let home = words.homes[id.index()] as usize;
                bytes.resize((len * scalar.size_bytes()) as usize, 0);
                // SAFETY: the stream is waited for before the target is read.
                unsafe { self.buffers[home].download(0, &mut bytes) }?;
                self.device.synchronize()?;
                outcome
                    .outputs
                    .push((id, column_from(scalar, len as usize, &bytes)));
            }
        }
        for (l, list) in self.program.lists.iter().enumerate() {
            if list.output {
                let columns = self.list_columns(l, words.lists[l])?;
                outcome.lists.push((ListId(l as u16), columns));
            }
        }
        for (i, r) in self.program.reductions.iter().enumerate() {
            if r.output {
                let bits = unordered(r.op, r.scalar, words.reductions[i]);
                outcome.reductions.push((ReductionId(i as u16), bits));
            }
        }
        outcome.report = Report {
            rounds: words.rounds,
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            device_ns: Some(self.timer.elapsed_ns()?),
            ..Report::default()
        };
        Ok(outcome)
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
}

/// Sizes of a frontier's memory.
#[derive(Clone, Debug)]
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

    /// Bytes of each allocation.
    fn parts(&self) -> [u64; 4] {
        let items = match self.fields.as_slice() {
            [] => half(4 * self.capacity),
            fields => fields
                .iter()
                .map(|f| half(f.size_bytes() * self.capacity))
                .sum(),
        };
        [
            self.sides * items,
            2 * half(8 * self.ranges),
            2 * half(16 * self.hubs),
            self.stamps.map_or(0, |n| 4 * n),
        ]
    }

    /// Where each field's array starts, by side.
    fn field_offsets(&self) -> Vec<u64> {
        let mut at = 0;
        let mut offsets = Vec::new();
        for _ in 0..self.sides {
            for field in &self.fields {
                offsets.push(at);
                at += half(field.size_bytes() * self.capacity);
            }
        }
        offsets
    }
}

/// Bytes of one of two equal parts, aligned.
fn half(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(ALIGN)
}

fn pair(memory: &Memory) -> [u64; 2] {
    let first = memory.address();
    [first, first + memory.bytes() / 2]
}

impl Frontier {
    fn new(device: &Arc<Device>, shape: &Shape) -> Result<Frontier, DeviceError> {
        let [items, ranges, hubs, stamps] = shape.parts();
        let stamps = match shape.stamps {
            Some(_) => {
                let memory = Memory::new(device, stamps)?;
                memory.set_bytes(0)?;
                Some(memory)
            }
            None => None,
        };
        Ok(Frontier {
            items: Memory::new(device, items)?,
            fields: shape.field_offsets(),
            ranges: Memory::new(device, ranges)?,
            hubs: Memory::new(device, hubs)?,
            stamps,
            shape: shape.clone(),
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
