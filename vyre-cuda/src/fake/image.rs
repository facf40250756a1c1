//! What the megakernel does, on a played device: it reads the image that the host has put there, goes through its steps,
//! and leaves results, control words, traps and counters where the host looks for them. Only the kernels' code is not
//! read: the program that the words were made of is interpreted.

use super::memory::Memory;
use super::violation;
use crate::abi::{self, NONE, Pod, step, value};
use crate::image::{Control, ordered, unordered};
use std::mem::offset_of;
use std::sync::Arc;
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::vir0::exact::{self, Exact};
use vyre_core::vir0::meaning;
use vyre_core::vir0::module::{
    BufferId, Domain, FrontierId, Kernel, Program, QueueId, ReduceOp, ReductionId, TopologyId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::{Fault, TrapKind, WHOLE_WAVE};

/// Turns of loops and items in one launch after which it is taken to be endless.
const TURNS: u64 = 1 << 28;
/// Turns and items between two looks whether a run is to stop.
const ABORT_TURNS: u64 = 512;

/// The values of a table.
fn values_of<T: Pod + Default>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::default(); bytes.len() / size_of::<T>()];
    // SAFETY: the bytes of plain values, of which every bit pattern is one.
    let room = unsafe {
        std::slice::from_raw_parts_mut(
            values.as_mut_ptr().cast::<u8>(),
            size_of_val(values.as_slice()),
        )
    };
    room.copy_from_slice(&bytes[..room.len()]);
    values
}

pub(super) fn read<T: Pod + Default>(memory: &Memory, at: u64) -> T {
    values_of(memory.read(at, size_of::<T>() as u64))[0]
}

/// Whether a graph is its own reverse, and each node's targets ascend; otherwise the word at `verdict` is cleared.
pub(super) fn symmetric(
    memory: &mut Memory,
    [offsets, targets, verdict]: [u64; 3],
    [nodes, edges]: [u32; 2],
) {
    let offsets: Vec<u32> = values_of(memory.read(offsets, 4 * (u64::from(nodes) + 1)));
    let targets: Vec<u32> = values_of(memory.read(targets, 4 * u64::from(edges)));
    let of = |v: u32| &targets[offsets[v as usize] as usize..offsets[v as usize + 1] as usize];
    let count = |v: u32, u: u32| of(v).iter().filter(|&&t| t == u).count();
    let is_good = |v: u32| of(v).is_sorted() && of(v).iter().all(|&u| count(u, v) == count(v, u));
    if !(0..nodes).all(is_good) {
        memory.store(verdict, 4, 0);
    }
}

/// Runs a batch: a CTA for each query, in turn.
pub(super) fn run_batch(
    memory: &mut Memory,
    (image, batch): (u64, u64),
    ctas: u32,
    of: Of<'_>,
    told: &mut dyn FnMut(u64, [u64; 2]),
) {
    let described: abi::Batch = read(memory, batch);
    if described.next != 0 {
        violation("a batch begins behind its first query");
    }
    for query in 0..u64::from(described.queries) {
        let image = match described.images {
            0 => image,
            images => images + query * u64::from(described.image_bytes),
        };
        let mut run = Run::new(memory, image, of);
        if described.images == 0 {
            run.take_query(&described, query, query % u64::from(ctas));
        }
        let words = run
            .memory
            .read(described.control, described.control_bytes.into())
            .to_vec();
        let control = run.head.control;
        run.memory.write(control, &words);
        run.alone = true;
        run.run(told);
    }
    memory.store(batch, 8, u64::from(described.queries + ctas));
}

/// Whose code is at an address, and whether a run is to stop that looks at a word.
pub(super) type Of<'m> = (&'m dyn Fn(u64) -> Arc<Program>, &'m dyn Fn(u64) -> bool);

/// One run of an image.
pub(super) struct Run<'m> {
    memory: &'m mut Memory,
    is_aborted: &'m dyn Fn(u64) -> bool,
    program: Arc<Program>,
    head: abi::Image,
    steps: Vec<abi::Step>,
    waves: Vec<abi::Wave>,
    kernels: Vec<abi::Kernel>,
    values: Vec<abi::Value>,
    buffers: Vec<abi::Buffer>,
    topologies: Vec<abi::Topology>,
    frontiers: Vec<abi::Frontier>,
    records: Vec<abi::Record>,
    reductions: Vec<abi::Reduction>,
    fixpoints: Vec<abi::Fixpoint>,
    marks: Vec<abi::Mark>,
    lists: Vec<u32>,
    pulls: Vec<abi::Pull>,
    fills: Vec<abi::Fill>,
    control: Control,
    /// A CTA for itself, of a batch.
    alone: bool,
    /// All CTAs are resident, so that they can wait for each other.
    pub(super) together: bool,
    /// Nothing more of it is done, because it is to stop.
    aborted: bool,
    trapped: bool,
    turns: u64,
    /// Steps that it took.
    taken: u64,
    sweeps: u64,
    items: u64,
    widest: u64,
    missed: u64,
}

impl<'m> Run<'m> {
    /// Reads an image, as each CTA does.
    pub(super) fn new(
        memory: &'m mut Memory,
        image: u64,
        (program_at, is_aborted): Of<'m>,
    ) -> Run<'m> {
        let head: abi::Image = read(memory, image);
        let tables = memory.read(image, head.tables_bytes.into()).to_vec();
        let between = |from: u32, to: u32| &tables[from as usize..to as usize];
        fn counted<T: Pod + Default>(tables: &[u8], from: u32, count: u32) -> Vec<T> {
            values_of(&tables[from as usize..from as usize + count as usize * size_of::<T>()])
        }
        memory.read(head.code, head.code_bytes.into());
        let program = program_at(head.code);
        let control = Control::new(&program);
        let expected = (
            program.kernels.len(),
            program.buffers.len(),
            program.fixpoints.len(),
        );
        let there = (
            head.kernel_count as usize,
            head.buffer_count as usize,
            head.fixpoint_count as usize,
        );
        if expected != there || head.results != head.control + control.results {
            violation("an image is not of the program whose code it names");
        }
        Run {
            steps: values_of(between(head.steps, head.waves)),
            waves: values_of(between(head.waves, head.kernels)),
            kernels: counted(&tables, head.kernels, head.kernel_count),
            values: values_of(between(head.values, head.buffers)),
            buffers: counted(&tables, head.buffers, head.buffer_count),
            topologies: values_of(between(head.topologies, head.frontiers)),
            frontiers: counted(&tables, head.frontiers, head.frontier_count),
            records: counted(&tables, head.records, head.record_count),
            reductions: counted(&tables, head.reductions, head.reduction_count),
            fixpoints: values_of(between(head.fixpoints, head.marks)),
            marks: values_of(between(head.marks, head.lists)),
            lists: values_of(between(head.lists, head.pulls)),
            pulls: values_of(between(head.pulls, head.fills)),
            fills: counted(&tables, head.fills, head.fill_count),
            memory,
            is_aborted,
            program,
            head,
            control,
            alone: false,
            together: true,
            aborted: false,
            trapped: false,
            turns: 0,
            taken: 0,
            sweeps: 0,
            items: 0,
            widest: 0,
            missed: 0,
        }
    }

    /// Makes the image that of a batch's query on a CTA.
    fn take_query(&mut self, batch: &abi::Batch, query: u64, cta: u64) {
        let moved = |address: &mut u64| {
            let of = |base: u64, bytes: u64| address.wrapping_sub(base) < bytes;
            *address += if of(batch.slab, batch.slab_bytes) {
                cta * batch.slab_bytes
            } else if of(batch.inputs, batch.inputs_bytes) {
                query * batch.inputs_bytes
            } else if of(batch.results, batch.results_bytes) {
                query * batch.results_bytes
            } else {
                0
            };
        };
        moved(&mut self.head.control);
        moved(&mut self.head.results);
        self.buffers.iter_mut().for_each(|b| moved(&mut b.data));
        for f in &mut self.frontiers {
            let pairs = [&mut f.items, &mut f.ranges, &mut f.hubs];
            pairs.into_iter().flatten().for_each(moved);
            let single = [&mut f.counters, &mut f.hub_counters, &mut f.stamps];
            single.into_iter().for_each(moved);
        }
        self.records
            .iter_mut()
            .flat_map(|r| &mut r.fields)
            .for_each(moved);
        self.reductions.iter_mut().for_each(|r| moved(&mut r.slots));
        self.fills.iter_mut().for_each(|f| moved(&mut f.address));
        let scalars = batch.scalars + query * u64::from(batch.scalar_count) * 8;
        for value in &mut self.values {
            if value.kind == value::BITS && value.id != 0 {
                value.bits = self.memory.load(scalars + u64::from(value.id - 1) * 8, 8);
            }
        }
    }

    /// Goes through the schedule.
    pub(super) fn run(&mut self, told: &mut dyn FnMut(u64, [u64; 2])) {
        self.look();
        self.fill(0);
        let mut pc = 1;
        loop {
            let step = self.steps[pc];
            let waits = matches!(step.kind, step::UNTIL | step::BARRIER | step::HUBS);
            if waits && !self.together && !self.alone {
                violation("a launch waits for CTAs that need not be resident");
            }
            if matches!(step.kind, step::UNTIL | step::BARRIER) {
                self.look();
                if self.settle(&step) {
                    break;
                }
            }
            pc += 1;
            match step.kind {
                step::WAVE => self.sweep(step.id),
                step::HUBS | step::BARRIER => {}
                step::FILL => self.fill(pc - 1),
                step::PACK => self.pack(&step),
                step::LOOP => self.fixpoints[step.id as usize].round = 0,
                step::ROUND => self.start_round(step.id),
                step::UNTIL => match self.until(&step, told) {
                    Some(true) => {}
                    Some(false) => pc = self.fixpoints[step.id as usize].body as usize,
                    None => break,
                },
                step::END => break,
                kind => violation(&format!("the schedule has a step of kind {kind}")),
            }
        }
        self.leave();
    }

    /// Whether the run is to stop. What it does then is nothing, up to its next barrier.
    fn look(&mut self) -> bool {
        let spent = self.head.limited != 0 && self.taken > self.head.most_steps;
        if !self.aborted && (spent || (self.is_aborted)(self.head.abort)) {
            self.aborted = true;
            let at = self.word(offset_of!(abi::Control, aborted));
            self.memory.store(at, 4, 1);
        }
        self.aborted
    }

    fn fill(&mut self, at: usize) {
        if self.aborted {
            return;
        }
        let step = self.steps[at];
        for i in step.pushed..step.pushed + step.pushed_count {
            let fill = self.fills[i as usize];
            for unit in 0..2 * fill.units {
                self.memory.store(fill.address + 8 * unit, 8, fill.pattern);
            }
        }
    }

    /// Packs what lists hold, column by column.
    fn pack(&mut self, step: &abi::Step) {
        if self.aborted || step.pushed_count == 0 {
            return;
        }
        let slab = self.fills[step.pushed as usize];
        let mut to = slab.address;
        let lists = &self.lists[step.id as usize..];
        for &id in &lists[1..=lists[0] as usize] {
            let list = self.frontiers[id as usize];
            let record = self.records[list.record as usize];
            for field in 0..record.count {
                let size = [1, 4, 8][(record.sizes >> (2 * field) & 3) as usize];
                let bytes = list.pushed * size;
                if bytes == 0 || bytes > slab.units {
                    continue;
                }
                let bytes = bytes.next_multiple_of(16);
                let from = record.fields[field as usize];
                let units = self.memory.read(from, bytes).to_vec();
                self.memory.write(to, &units);
                to += bytes;
            }
        }
    }

    /// A barrier: what was pushed counts from here on. Whether the run stops.
    fn settle(&mut self, step: &abi::Step) -> bool {
        let mut stops = self.trapped || self.aborted;
        for i in 0..step.pushed_count {
            let at = (step.pushed + 3 * i) as usize;
            let [id, kernel, pc] = self.lists[at..at + 3].try_into().expect("three of them");
            let f = &mut self.frontiers[id as usize];
            f.pushed += u64::from(f.local);
            f.local = 0;
            if f.owned == 0 {
                f.swept = f.pushed;
            }
            let (pushed, capacity, kind) = (f.pushed, u64::from(f.capacity), f.trap);
            if pushed > capacity {
                stops = true;
                self.raise((kernel, WHOLE_WAVE, pc), kind, [pushed, capacity]);
            }
        }
        stops
    }

    fn start_round(&mut self, fixpoint: u32) {
        let fixpoint = self.fixpoints[fixpoint as usize];
        let owned = |from: u32, count: u32| from as usize..(from + count) as usize;
        for i in owned(fixpoint.frontiers, fixpoint.frontier_count) {
            let f = &mut self.frontiers[self.lists[i] as usize];
            f.swept = std::mem::take(&mut f.pushed);
            f.side ^= 1;
            f.third = (f.third + 1) % 3;
            f.stamp += 1;
            let counter = f.counters + u64::from(f.third) * 128;
            self.memory.store(counter, 8, 0);
        }
        for i in owned(fixpoint.reductions, fixpoint.reduction_count) {
            let id = self.lists[i] as usize;
            let r = &mut self.reductions[id];
            r.epoch += 1;
            let declared = &self.program.reductions[id];
            let identity = ordered(declared.op, declared.scalar, r.identity);
            let slot = r.slots + u64::from((r.epoch + 1) % 3) * 8 * u64::from(r.words);
            for k in 0..u64::from(r.words) {
                self.memory.store(slot + 8 * k, 8, identity);
            }
        }
        let marks = fixpoint.marks as usize;
        for mark in &mut self.marks[marks & 0xffff..][..marks >> 16] {
            mark.items = self.frontiers[mark.list as usize].swept;
        }
    }

    /// Whether a fixpoint is done; `None` where the run stops.
    fn until(&mut self, step: &abi::Step, told: &mut dyn FnMut(u64, [u64; 2])) -> Option<bool> {
        let id = step.id as usize;
        self.fixpoints[id].rounds += 1;
        self.taken += 1;
        let fixpoint = self.fixpoints[id];
        let waiting = self
            .frontiers
            .get(step.carried as usize)
            .map_or(0, |f| f.pushed);
        if self.head.progress != 0 {
            let rounds = self.fixpoints.iter().map(|f| f.rounds).sum();
            told(self.head.progress, [rounds, waiting]);
        }
        self.note_missed(step);
        for i in 0..fixpoint.swap_count {
            let at = (fixpoint.swaps + 2 * i) as usize;
            self.buffers
                .swap(self.lists[at] as usize, self.lists[at + 1] as usize);
        }
        let done = match self.frontiers.get(fixpoint.until_frontier as usize) {
            Some(frontier) => frontier.pushed == 0,
            None => self.condition(fixpoint.until_kernel)?,
        };
        let round = fixpoint.round + 1;
        if !done && round >= fixpoint.max_rounds {
            let key = (abi::ROUND_LIMIT_KERNEL, step.id, 0);
            self.raise(key, TrapKind::RoundLimit as u32, [fixpoint.max_rounds; 2]);
            return None;
        }
        self.fixpoints[id].round = if done { fixpoint.round } else { round };
        Some(done)
    }

    fn condition(&mut self, kernel: u32) -> Option<bool> {
        let (program, uniforms) = (Arc::clone(&self.program), self.uniforms(kernel));
        let code = &program.kernels[kernel as usize];
        let ran = Interpreter::new(code, &uniforms).run(Item::default(), self);
        if let Err(fault) = ran {
            self.fault(kernel, 0, fault);
        }
        ran.ok().filter(|_| !self.aborted).map(|value| value != 0)
    }

    /// What waves miss that could pull, had the edges in been known. The device looks more closely at what is worth
    /// it; this one never pulls.
    fn note_missed(&mut self, step: &abi::Step) {
        let Some(wave) = self
            .waves
            .iter()
            .find(|w| step.plain == abi::PLAIN && w.frontier == step.carried)
        else {
            return;
        };
        let Some(&pull) = self.pulls.get(wave.pull as usize).filter(|_| !self.alone) else {
            return;
        };
        let f = self.frontiers[step.carried as usize];
        let topology = TopologyId(wave.topology as u16);
        let mut edges = 0;
        for i in 0..f.pushed {
            let node = self.memory.load(f.items[f.side as usize] + 4 * i, 4) as u32;
            edges += u64::from(
                self.edge_range(topology, node)
                    .map_or(0, |[from, to]| to - from),
            );
        }
        if pull.bits[0] == 0 && edges > pull.least {
            self.missed += edges;
        }
    }

    fn uniforms(&self, kernel: u32) -> Vec<u64> {
        let kernel = &self.kernels[kernel as usize];
        let values = &self.values[kernel.values as usize..][..kernel.value_count as usize];
        values.iter().map(|v| self.uniform(v)).collect()
    }

    fn uniform(&self, v: &abi::Value) -> u64 {
        match v.kind {
            value::ROUND => self.fixpoints[v.id as usize].round,
            value::REDUCTION => self.reduction(v.id as usize),
            value::FRONTIER => self.frontiers[v.id as usize].pushed.min(u32::MAX.into()),
            value::MARK => self.marks[v.id as usize].items,
            _ => v.bits,
        }
    }

    fn slot(&self, reduction: usize) -> u64 {
        let r = self.reductions[reduction];
        r.slots + u64::from(r.epoch % 3) * 8 * u64::from(r.words)
    }

    fn reduction(&self, id: usize) -> u64 {
        let declared = &self.program.reductions[id];
        if declared.op == ReduceOp::ExactSum {
            let (at, words) = (self.slot(id), u64::from(self.reductions[id].words));
            let words = (0..words).map(|k| self.memory.load(at + 8 * k, 8) as i64);
            return exact::value(declared.scalar, &words.collect::<Vec<i64>>());
        }
        let bits = self.memory.load(self.slot(id), 8);
        unordered(declared.op, declared.scalar, bits)
    }

    fn sweep(&mut self, id: u32) {
        let program = Arc::clone(&self.program);
        let wave = self.waves[id as usize];
        let domain = program.waves[id as usize].domain;
        if wave.domain != u32::from(domain.tag()) {
            violation("a wave is over another domain than its program's");
        }
        let kernel = (wave.kernel, &program.kernels[wave.kernel as usize]);
        let uniforms = self.uniforms(wave.kernel);
        let mut interpreter = Interpreter::new(kernel.1, &uniforms);
        if self.head.times != 0 {
            // As if each sweep took a microsecond.
            let at = self.head.results + u64::from(self.head.times) + 16 * u64::from(id);
            for (at, more) in [(at, 1), (at + 8, 1_000)] {
                let sum = self.memory.load(at, 8) + more;
                self.memory.store(at, 8, sum);
            }
        }
        match domain {
            Domain::Once | Domain::Nodes | Domain::Range(_) => {
                self.taken += wave.len;
                for index in 0..wave.len as u32 {
                    self.item(&mut interpreter, kernel, (index, Item::index(index)));
                }
            }
            Domain::Edges(t) => {
                self.taken += u64::from(self.topologies[t.index()].edges);
                for src in 0..self.topologies[t.index()].nodes {
                    self.edges(&mut interpreter, kernel, (t, src));
                }
            }
            Domain::EdgesFrom(t, _) => {
                for src in self.swept_nodes(wave.frontier) {
                    let [from, to] = self.edge_range(t, src).unwrap_or_default();
                    self.taken += 1 + u64::from(to - from);
                    self.edges(&mut interpreter, kernel, (t, src));
                }
            }
            Domain::Items(_) if self.frontiers[wave.frontier as usize].record == NONE => {
                for index in self.swept_nodes(wave.frontier) {
                    self.taken += 1;
                    self.item(&mut interpreter, kernel, (index, Item::index(index)));
                }
            }
            Domain::Items(_) => {
                let len = self.count_sweep(wave.frontier);
                self.fields(&mut interpreter, kernel, (wave.frontier, domain, 0..len));
            }
            Domain::ListItems(..) => {
                let mut len = self.frontiers[wave.frontier as usize].swept;
                let mut from = 0;
                if wave.fresh > 1 {
                    len = self.marks[wave.fresh as usize - 2].items;
                }
                if wave.fresh != 0 {
                    from = wave.swept_to;
                    self.waves[id as usize].swept_to = len;
                }
                self.fields(&mut interpreter, kernel, (wave.frontier, domain, from..len));
            }
        }
    }

    /// Counts a sweep of a frontier; its items.
    fn count_sweep(&mut self, frontier: u32) -> u64 {
        let len = self.frontiers[frontier as usize].swept;
        self.sweeps += 1;
        self.items += len;
        self.widest = self.widest.max(len);
        len
    }

    fn swept_nodes(&mut self, frontier: u32) -> Vec<u32> {
        let len = self.count_sweep(frontier);
        let f = self.frontiers[frontier as usize];
        match len {
            0 => Vec::new(),
            len => values_of(
                self.memory
                    .read(f.items[(f.side ^ f.owned) as usize], 4 * len),
            ),
        }
    }

    fn item(
        &mut self,
        interpreter: &mut Interpreter<'_>,
        (kernel, _): (u32, &Kernel),
        (key, item): (u32, Item),
    ) {
        if !meaning::Memory::keep_going(self, false) {
            return;
        }
        if let Err(fault) = interpreter.run(item, self) {
            self.fault(kernel, key, fault);
        }
    }

    fn edges(
        &mut self,
        interpreter: &mut Interpreter<'_>,
        kernel: (u32, &Kernel),
        (topology, src): (TopologyId, u32),
    ) {
        let [from, to] = self.edge_range(topology, src).unwrap_or_default();
        for index in from..to {
            let targets = self.topologies[topology.index()].targets;
            let dst = self.memory.load(targets + 4 * u64::from(index), 4) as u32;
            self.item(interpreter, kernel, (index, Item { index, src, dst }));
        }
    }

    fn edge_range(&self, topology: TopologyId, node: u32) -> Option<[u32; 2]> {
        let of = self.topologies[topology.index()];
        let at = of.offsets + 4 * u64::from(node);
        (node < of.nodes).then(|| [at, at + 4].map(|at| self.memory.load(at, 4) as u32))
    }

    /// Items with fields; each is named by the first of them.
    fn fields(
        &mut self,
        interpreter: &mut Interpreter<'_>,
        (kernel, _): (u32, &Kernel),
        (frontier, domain, range): (u32, Domain, std::ops::Range<u64>),
    ) {
        let program = Arc::clone(&self.program);
        let f = self.frontiers[frontier as usize];
        let record = self.records[f.record as usize];
        let side = ((f.side ^ f.owned) * 8) as usize;
        self.taken += range.end - range.start;
        for at in range {
            if !meaning::Memory::keep_going(self, false) {
                return;
            }
            let mut fields: Vec<(Scalar, u64)> = Vec::new();
            for (&scalar, from) in domain.fields(&program).iter().zip(&record.fields[side..]) {
                let size = scalar.size_bytes();
                fields.push((scalar, self.memory.load(from + size * at, size)));
            }
            let key = fields.first().map_or(at as u32, |&(_, bits)| bits as u32);
            if let Err(fault) = interpreter.run_fields(at as u32, fields, self) {
                self.fault(kernel, key, fault);
            }
        }
    }

    fn fault(&mut self, kernel: u32, item: u32, fault: Fault) {
        let key = (kernel, item, fault.pc);
        self.raise(key, fault.kind as u32, [fault.index, fault.len]);
    }

    /// The lowest trap stays.
    fn raise(&mut self, (kernel, item, pc): (u32, u32, u32), kind: u32, [index, len]: [u64; 2]) {
        self.trapped = true;
        let key = u64::from(kernel) << 48 | u64::from(item) << 16 | u64::from(pc);
        if key
            < self
                .memory
                .load(self.word(offset_of!(abi::Control, trap_key)), 8)
        {
            self.put(offset_of!(abi::Control, trap_key), key);
            self.put(offset_of!(abi::Control, trap_index), index);
            self.put(offset_of!(abi::Control, trap_len), len);
            let at = self.word(offset_of!(abi::Control, trap_kind));
            self.memory.store(at, 4, kind.into());
        }
    }

    fn word(&self, offset: usize) -> u64 {
        self.head.control + offset as u64
    }

    fn put(&mut self, offset: usize, value: u64) {
        let at = self.word(offset);
        self.memory.store(at, 8, value);
    }

    /// What the host wants to know.
    fn leave(&mut self) {
        let control = self.head.control;
        let of = self.control;
        // Behind those of the program stand second flips of lists.
        let fixpoints = self.fixpoints.iter().take(self.program.fixpoints.len());
        for (at, f) in (of.results..).step_by(8).zip(fixpoints) {
            self.memory.store(control + at, 8, f.rounds);
        }
        for (at, b) in (of.homes..).step_by(4).zip(&self.buffers) {
            self.memory.store(control + at, 4, b.home.into());
        }
        for (at, r) in (of.epochs..).step_by(4).zip(&self.reductions) {
            self.memory.store(control + at, 4, r.epoch.into());
        }
        for (at, f) in (of.stamps..).step_by(4).zip(&self.frontiers) {
            self.memory.store(control + at, 4, f.stamp.into());
        }
        let owned = self.frontiers.iter().filter(|f| f.owned != 0);
        let waiting = owned.map(|f| f.pushed).sum();
        self.put(offset_of!(abi::Control, sweeps), self.sweeps);
        self.put(offset_of!(abi::Control, items), self.items);
        self.put(offset_of!(abi::Control, widest), self.widest);
        self.put(offset_of!(abi::Control, missed), self.missed);
        self.put(offset_of!(abi::Control, waiting), waiting);
        if self.head.limited != 0 {
            self.put(offset_of!(abi::Control, steps), self.taken);
        }
        let finished = self.word(offset_of!(abi::Control, finished));
        self.memory.store(finished, 4, 1);
    }

    /// Takes a slot of a frontier or list; the largest number where there is none.
    fn reserve_in(&mut self, place: usize) -> u32 {
        let f = &mut self.frontiers[place];
        f.local += 1;
        let counter = f.counters + u64::from(f.third) * 128;
        let slot = self.memory.load(counter, 8);
        self.memory.store(counter, 8, slot + 1);
        match slot < f.capacity.into() {
            true => slot as u32,
            false => u32::MAX,
        }
    }

    fn element(&self, buffer: BufferId, index: u32, bytes: u64) -> Option<u64> {
        let of = self.buffers[buffer.index()];
        (index < of.len).then(|| of.data + u64::from(index) * bytes)
    }
}

impl meaning::Memory for Run<'_> {
    fn len(&self, buffer: BufferId) -> u32 {
        self.buffers[buffer.index()].len
    }
    fn nodes(&self) -> u32 {
        let frontiers = self.frontiers.iter().map(|f| f.nodes);
        frontiers
            .chain(self.topologies.iter().map(|t| t.nodes))
            .next()
            .unwrap_or(0)
    }
    fn edges(&self, topology: TopologyId) -> u32 {
        self.topologies[topology.index()].edges
    }
    fn load8(&mut self, buffer: BufferId, index: u32) -> Option<u8> {
        let at = self.element(buffer, index, 1)?;
        Some(self.memory.load(at, 1) as u8)
    }
    fn load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        let at = self.element(buffer, index, 4)?;
        Some(self.memory.load(at, 4) as u32)
    }
    fn load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        let at = self.element(buffer, index, 8)?;
        Some(self.memory.load(at, 8))
    }
    fn store8(&mut self, buffer: BufferId, index: u32, value: u8) -> Option<()> {
        let at = self.element(buffer, index, 1)?;
        self.memory.store(at, 1, value.into());
        Some(())
    }
    fn store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        let at = self.element(buffer, index, 4)?;
        self.memory.store(at, 4, value.into());
        Some(())
    }
    fn store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        let at = self.element(buffer, index, 8)?;
        self.memory.store(at, 8, value);
        Some(())
    }
    fn csr_begin(&self, topology: TopologyId, node: u32) -> Option<u32> {
        self.edge_range(topology, node).map(|[begin, _]| begin)
    }
    fn csr_end(&self, topology: TopologyId, node: u32) -> Option<u32> {
        self.edge_range(topology, node).map(|[_, end]| end)
    }
    fn csr_target(&self, topology: TopologyId, edge: u32) -> Option<u32> {
        let of = self.topologies[topology.index()];
        let at = of.targets + 4 * u64::from(edge);
        (edge < of.edges).then(|| self.memory.load(at, 4) as u32)
    }
    fn push(&mut self, frontier: FrontierId, node: u32, _: u32) {
        let f = self.frontiers[frontier.index()];
        if f.stamps != 0 {
            let at = f.stamps + 4 * u64::from(node);
            let seen = self.memory.load(at, 4);
            self.memory.store(at, 4, f.stamp.into());
            if seen == u64::from(f.stamp) {
                return;
            }
        }
        let slot = self.reserve_in(frontier.index());
        if slot < f.capacity {
            let at = f.items[f.side as usize] + 4 * u64::from(slot);
            self.memory.store(at, 4, node.into());
        }
    }
    fn reserve(&mut self, queue: QueueId, _: u32) -> u32 {
        self.reserve_in(self.program.place_of(queue))
    }
    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        let declared = self.program.queue(queue).expect("verified code names it");
        let scalar = declared.fields[usize::from(field)];
        let f = self.frontiers[self.program.place_of(queue)];
        if slot < f.capacity {
            let fields = self.records[f.record as usize].fields;
            let at = fields[(f.side * 8) as usize + usize::from(field)];
            let size = scalar.size_bytes();
            self.memory.store(at + u64::from(slot) * size, size, bits);
        }
    }
    fn reduce(&mut self, id: ReductionId, bits: u64) {
        let declared = &self.program.reductions[id.index()];
        let (op, scalar) = (declared.op, declared.scalar);
        if op == ReduceOp::ExactSum {
            let mut own = Exact::new(scalar);
            own.add(bits);
            let words = own.words();
            for (k, &word) in (0..).zip(words).filter(|(_, word)| **word != 0) {
                let at = self.slot(id.index()) + 8 * k;
                let held = self.memory.load(at, 8) as i64;
                let is_last = k as usize == words.len() - 1;
                let sum = if is_last { held | word } else { held + word };
                self.memory.store(at, 8, sum as u64);
            }
            return;
        }
        let total = op.combine(scalar, self.reduction(id.index()), bits);
        let size = if scalar.size_bytes() == 8 { 8 } else { 4 };
        let at = self.slot(id.index());
        self.memory.store(at, size, ordered(op, scalar, total));
    }
    fn keep_going(&mut self, counts: bool) -> bool {
        self.taken += u64::from(counts);
        self.turns += 1;
        if self.turns > TURNS {
            violation("a kernel's loop has no end");
        }
        if self.turns.is_multiple_of(ABORT_TURNS) {
            self.look();
        }
        !self.aborted
    }
}
