//! The VIR0 backend: the reference interpreter over the state, one item after another.

use crate::cpu::interp::{Interpreter, Item};
use crate::cpu::state::{Bodies, HostState};
use crate::dsl::blocks::room_for;
use crate::dsl::columns::Column;
use crate::dsl::error::RunError;
use crate::dsl::record::Rows;
use crate::plan::footprint::Allocation;
use crate::plan::session::Counters;
use crate::run::args::{Args, Lent, TopologyArgs};
use crate::run::backend::{Executor, Followed, LaunchHint, Limits, Progress, one_by_one};
use crate::run::outcome::Outcome;
use crate::run::schedule::{Fault, Pending};
use crate::run::stop::Stop;
use crate::vir0::meaning::Memory;
use crate::vir0::module::{
    BufferId, Domain, FixpointId, FrontierId, KernelId, MAX_FIELDS, Program, QueueId, ReductionId,
    TopologyId, Uniform, WaveId,
};
use crate::vir0::scalar::Scalar;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Interprets a pass's bytecode on the calling thread.
#[derive(Debug)]
pub struct Vir0Executor {
    state: HostState,
    uniforms: Vec<u64>,
    batches: u64,
}

impl Vir0Executor {
    /// Copies the topologies; `program` is verified.
    pub fn new(
        program: Arc<Program>,
        topology: &TopologyArgs<'_>,
        allocation: Allocation,
    ) -> Result<Vir0Executor, RunError> {
        Ok(Vir0Executor {
            state: HostState::new(program, topology, allocation)?,
            uniforms: Vec::new(),
            batches: 0,
        })
    }
}

impl Vir0Executor {
    /// A run that takes more items, rounds and turns of loops than this ends in [`RunError::Work`]: verified code may
    /// loop for ever.
    #[must_use]
    pub fn with_work_limit(mut self, limit: u64) -> Vir0Executor {
        self.state.meter.most_work = limit;
        self
    }
}

impl Executor for Vir0Executor {
    fn peak_bytes(&self) -> Option<u64> {
        Some(self.state.peak_bytes())
    }

    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let mut bodies = Vir0 {
            uniforms: &mut self.uniforms,
        };
        self.state.run_series(series, &mut bodies, results)
    }

    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        self.batches += u64::from(!queries.is_empty());
        let mut bodies = Vir0 {
            uniforms: &mut self.uniforms,
        };
        one_by_one(queries, |args| {
            let mut results = Outcome::default();
            let run = self.state.run(args, &mut bodies, (&mut results, true));
            run.map(|()| results)
        })
    }

    fn update(&mut self, topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        self.state.update(topology).map(|()| true)
    }

    fn lend_topology(&self) -> Result<Option<Lent<'_>>, RunError> {
        Ok(Some(self.state.lend_topology()))
    }

    fn counters(&self) -> Option<Counters> {
        let mut counts = self.state.counts;
        counts.launches += self.batches;
        counts.fences += self.batches;
        Some(counts)
    }

    fn limits(&self) -> Limits {
        Limits {
            max_workers: 1,
            lanes_per_worker: 1,
            workers_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: true,
            packs_lists: false,
            fuses_waves: true,
            pulls: false,
        }
    }

    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        self.state.pack_up_to_bytes = hint.pack_up_to_bytes;
        self.state.sweeps = hint.sweeps;
        self.state.meter.time_waves = hint.time_waves;
        Followed {
            workers: 1,
            code: "interpreter".into(),
            sweeps: Some(hint.sweeps.start),
            notes: Vec::new(),
        }
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.state.meter.progress))
    }

    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.state.meter.progress = progress;
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.state.meter.stop = Some(Arc::clone(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.state.meter.most_work = steps.unwrap_or(u64::MAX);
        true
    }
}

struct Vir0<'u> {
    uniforms: &'u mut Vec<u64>,
}

impl Vir0<'_> {
    /// Values of a kernel's uniform slots.
    fn bind(&mut self, state: &mut HostState, id: KernelId, round: u32) {
        let program = Arc::clone(&state.program);
        let kernel = &program.kernels[id.index()];
        self.uniforms.clear();
        for &uniform in &kernel.uniforms {
            self.uniforms.push(match uniform {
                Uniform::Scalar(s) => state.sizes.scalars[s.index()],
                Uniform::Constant(c) => state.program.constants[c.index()].bits,
                Uniform::Reduction(r) => state.reductions[r.index()].borrow().value(),
                Uniform::Round => round.into(),
                Uniform::OuterRound(f) => state.rounds[f.index()].into(),
                Uniform::Len(q) => state.queue_len(q),
                Uniform::Began(l) => {
                    let fixpoint = program.fixpoint_of(id);
                    fixpoint.map_or(0, |f| state.began(f, l).get() as u64)
                }
                Uniform::Nodes => state.sizes.nodes,
            });
        }
    }
}

impl Bodies for Vir0<'_> {
    fn sweep(&mut self, state: &mut HostState, _: &Args<'_>, (wave, round): (WaveId, u32)) {
        let program = Arc::clone(&state.program);
        let domain = program.waves[wave.index()].domain;
        let id = program.waves[wave.index()].kernel;
        let kernel = &program.kernels[id.index()];
        self.bind(state, id, round);
        let mut lanes = Lanes {
            interpreter: Interpreter::new(kernel, self.uniforms),
            program: &program,
            wave,
        };
        let span = match domain {
            Domain::Once | Domain::Nodes | Domain::Range(_) => {
                let len = domain.count().expect("these are numbers");
                let len = state.len_of("range", len);
                len.expect("ranges were checked when the run began")
            }
            Domain::ListItems(..) => {
                let (list, range) = state.list_items(wave);
                for at in range {
                    let items = state.lists[list.index()].items.get_mut();
                    let (key, fields) = (items.key(at), fields_of(items, at));
                    if !lanes.run_fields(state, at as u32, key, &fields) {
                        return;
                    }
                }
                return;
            }
            Domain::Items(f) if state.frontiers[f.index()].records.is_some() => {
                let records = state.frontiers[f.index()].records.as_ref();
                let items = records.expect("just seen").items.take();
                for at in 0..items.len() {
                    let fields = fields_of(&items, at);
                    if !lanes.run_fields(state, at as u32, items.key(at), &fields) {
                        break;
                    }
                }
                let records = state.frontiers[f.index()].records.as_ref();
                records.expect("just seen").items.replace(items);
                return;
            }
            Domain::Items(f) => {
                let items = state.frontiers[f.index()].items.take();
                for &item in &items {
                    if !lanes.run(state, Item::index(item)) {
                        break;
                    }
                }
                state.frontiers[f.index()].items.replace(items);
                return;
            }
            Domain::Edges(t) => {
                for src in 0..state.sizes.nodes as u32 {
                    if !lanes.edges_of(state, t, src) {
                        break;
                    }
                }
                return;
            }
            Domain::EdgesFrom(t, f) => {
                let items = state.frontiers[f.index()].items.take();
                for &src in &items {
                    if !lanes.edges_of(state, t, src) {
                        break;
                    }
                }
                state.frontiers[f.index()].items.replace(items);
                return;
            }
        };
        for index in 0..span {
            if !lanes.run(state, Item::index(index as u32)) {
                break;
            }
        }
    }

    fn fuses(&self) -> bool {
        true
    }

    fn sweep_together(&mut self, state: &mut HostState, (waves, round): (&[WaveId], u32)) {
        let program = Arc::clone(&state.program);
        let kernel = |wave: WaveId| &program.kernels[program.waves[wave.index()].kernel.index()];
        let uniforms = waves.iter().map(|&wave| {
            self.bind(state, program.waves[wave.index()].kernel, round);
            self.uniforms.clone()
        });
        let uniforms: Vec<Vec<u64>> = uniforms.collect();
        let lanes = waves.iter().zip(&uniforms).map(|(&wave, uniforms)| Lanes {
            interpreter: Interpreter::new(kernel(wave), uniforms),
            program: &program,
            wave,
        });
        let mut lanes: Vec<Lanes<'_>> = lanes.collect();
        let mut run = |state: &mut HostState, item| lanes.iter_mut().all(|l| l.run(state, item));
        let mut edges_of = |state: &mut HostState, t: TopologyId, src| {
            let mut edges = state.graphs[t.index()].csr.edges(src).iter();
            edges.all(|index| {
                let dst = state.graphs[t.index()].csr.targets()[index as usize];
                run(state, Item { index, src, dst })
            }) && state.meter.item()
        };
        let domain = program.waves[waves[0].index()].domain;
        match domain {
            Domain::Nodes | Domain::Range(_) => {
                let len = domain.count().expect("these are numbers");
                let len = state.len_of("range", len);
                let len = len.expect("ranges were checked when the run began") as u32;
                let _cut = (0..len).all(|index| run(state, Item::index(index)));
            }
            Domain::Edges(t) => {
                let nodes = state.sizes.nodes as u32;
                let _cut = (0..nodes).all(|src| edges_of(state, t, src));
            }
            Domain::Items(f) => {
                let items = state.frontiers[f.index()].items.take();
                let _cut = items.iter().all(|&item| run(state, Item::index(item)));
                state.frontiers[f.index()].items.replace(items);
            }
            Domain::EdgesFrom(t, f) => {
                let items = state.frontiers[f.index()].items.take();
                let _cut = items.iter().all(|&src| edges_of(state, t, src));
                state.frontiers[f.index()].items.replace(items);
            }
            Domain::Once | Domain::ListItems(..) => unreachable!("these are not fused"),
        }
    }

    fn until(
        &mut self,
        state: &mut HostState,
        fixpoint: FixpointId,
        round: u32,
    ) -> Result<bool, Fault> {
        let program = Arc::clone(&state.program);
        let id: KernelId = program.fixpoints[fixpoint.index()].until;
        let kernel = &program.kernels[id.index()];
        self.bind(state, id, round);
        let mut interpreter = Interpreter::new(kernel, self.uniforms);
        match interpreter.run(Item::default(), state) {
            Ok(value) => Ok(value != 0),
            Err(fault) => Err(Fault::at(&program, id, fault)),
        }
    }
}

/// One kernel over the items of a sweep.
struct Lanes<'a> {
    interpreter: Interpreter<'a>,
    program: &'a Program,
    wave: WaveId,
}

impl Lanes<'_> {
    /// Runs an item; false when the run is to stop, and the sweep ends here.
    #[inline]
    fn run(&mut self, state: &mut HostState, item: Item) -> bool {
        if let Err(fault) = self.interpreter.run(item, state) {
            let pending = Pending::new(self.program, (self.wave, item.index), fault);
            state.fail(Some(Box::new(pending)));
        }
        state.meter.item()
    }

    /// Runs an item that is not a number; a trap names its key.
    fn run_fields(&mut self, state: &mut HostState, at: u32, key: u32, fields: &Fields) -> bool {
        let fields = fields.iter().copied();
        if let Err(fault) = self.interpreter.run_fields(at, fields, state) {
            let pending = Pending::new(self.program, (self.wave, key), fault);
            state.fail(Some(Box::new(pending)));
        }
        state.meter.item()
    }

    #[inline]
    fn edges_of(&mut self, state: &mut HostState, topology: TopologyId, src: u32) -> bool {
        let mut edges = state.graphs[topology.index()].csr.edges(src).iter();
        edges.all(|index| {
            let dst = state.graphs[topology.index()].csr.targets()[index as usize];
            self.run(state, Item { index, src, dst })
        }) && state.meter.item()
    }
}

/// Types and raw bits of an item's fields; what it does not have is no field of the kernel's item either.
type Fields = [(Scalar, u64); MAX_FIELDS];

fn fields_of(items: &Rows, at: usize) -> Fields {
    let mut fields = [(Scalar::U32, 0); MAX_FIELDS];
    for (field, item) in fields.iter_mut().zip(items.item(at)) {
        *field = item;
    }
    fields
}

impl Memory for HostState {
    #[inline]
    fn len(&self, buffer: BufferId) -> u32 {
        self.buffers[buffer.index()].borrow().len() as u32
    }

    #[inline]
    fn nodes(&self) -> u32 {
        self.sizes.nodes as u32
    }

    #[inline]
    fn edges(&self, topology: TopologyId) -> u32 {
        self.graphs[topology.index()].csr.edge_count() as u32
    }

    #[inline]
    fn keep_going(&mut self, counts: bool) -> bool {
        self.meter.turn(counts)
    }

    #[inline]
    fn load8(&mut self, buffer: BufferId, index: u32) -> Option<u8> {
        match &**self.buffers[buffer.index()].get_mut() {
            Column::U8(v) => v.get(index as usize).copied(),
            Column::Bool(v) => v.get(index as usize).map(|&x| x.into()),
            Column::U32(_)
            | Column::I32(_)
            | Column::F32(_)
            | Column::U64(_)
            | Column::I64(_)
            | Column::F64(_) => unreachable!("verified code accesses a buffer by its width"),
        }
    }

    #[inline]
    fn load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        match &**self.buffers[buffer.index()].get_mut() {
            Column::U32(v) => v.get(index as usize).copied(),
            Column::I32(v) => v.get(index as usize).map(|&x| x as u32),
            Column::F32(v) => v.get(index as usize).map(|x| x.to_bits()),
            Column::U8(_) | Column::Bool(_) | Column::U64(_) | Column::I64(_) | Column::F64(_) => {
                unreachable!("verified code accesses a buffer by its width")
            }
        }
    }

    #[inline]
    fn load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        match &**self.buffers[buffer.index()].get_mut() {
            Column::U64(v) => v.get(index as usize).copied(),
            Column::I64(v) => v.get(index as usize).map(|&x| x as u64),
            Column::F64(v) => v.get(index as usize).map(|x| x.to_bits()),
            Column::U8(_) | Column::Bool(_) | Column::U32(_) | Column::I32(_) | Column::F32(_) => {
                unreachable!("verified code accesses a buffer by its width")
            }
        }
    }

    #[inline]
    fn store8(&mut self, buffer: BufferId, index: u32, value: u8) -> Option<()> {
        self.put(buffer, index, value.into())
    }

    #[inline]
    fn store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        self.put(buffer, index, value.into())
    }

    #[inline]
    fn store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        self.put(buffer, index, value)
    }

    #[inline]
    fn csr_begin(&self, topology: TopologyId, node: u32) -> Option<u32> {
        // The last offset is no node's first edge.
        let (_, begins) = self.graphs[topology.index()].csr.offsets().split_last()?;
        begins.get(node as usize).copied()
    }

    #[inline]
    fn csr_end(&self, topology: TopologyId, node: u32) -> Option<u32> {
        let offsets = self.graphs[topology.index()].csr.offsets();
        offsets.get(node as usize + 1).copied()
    }

    #[inline]
    fn csr_target(&self, topology: TopologyId, edge: u32) -> Option<u32> {
        let targets = self.graphs[topology.index()].csr.targets();
        targets.get(edge as usize).copied()
    }

    #[inline]
    fn push(&mut self, frontier: FrontierId, node: u32, _: u32) {
        let f = &mut self.frontiers[frontier.index()];
        if let Some(stamps) = &f.stamps {
            let stamp = f.stamp.get();
            if stamps[node as usize].swap(stamp, Relaxed) == stamp {
                return;
            }
        }
        let next = f.next.get_mut();
        let fits = next.len() < f.capacity;
        if fits && room_for(next, 1, f.capacity) {
            next.push(node);
        } else {
            *f.starved.get_mut() |= fits;
            *f.refused.get_mut() += 1;
        }
    }

    fn reserve(&mut self, queue: QueueId, _: u32) -> u32 {
        let (items, capacity, refused, starved) = match queue {
            QueueId::Frontier(f) => {
                let f = &mut self.frontiers[f.index()];
                let records = f.records.as_mut().expect("verified code pushes items here");
                (
                    &mut records.next,
                    f.capacity,
                    &mut f.refused,
                    &mut f.starved,
                )
            }
            QueueId::List(l) => {
                let l = &mut self.lists[l.index()];
                (&mut l.items, l.capacity, &mut l.refused, &mut l.starved)
            }
        };
        let items = items.get_mut();
        let len = items.len();
        if len < capacity && items.push_zero(capacity) {
            return len as u32;
        }
        *starved.get_mut() |= len < capacity;
        *refused.get_mut() += 1;
        u32::MAX
    }

    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        let items = match queue {
            QueueId::Frontier(f) => {
                let records = self.frontiers[f.index()].records.as_mut();
                &mut records.expect("verified code pushes items here").next
            }
            QueueId::List(l) => &mut self.lists[l.index()].items,
        };
        let _beyond_the_capacity = items.get_mut().columns[field as usize].set(slot as usize, bits);
    }

    fn reduce(&mut self, reduction: ReductionId, bits: u64) {
        self.reductions[reduction.index()].get_mut().take_in(bits);
    }
}

impl HostState {
    #[inline]
    fn put(&mut self, buffer: BufferId, index: u32, bits: u64) -> Option<()> {
        self.buffers[buffer.index()]
            .get_mut()
            .set(index as usize, bits)
            .then_some(())
    }
}
