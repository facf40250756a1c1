//! Memory on the host, as plain as it can be: a column for each buffer, and for each field of each list.

use crate::random::Random;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use vyre_core::dsl::{Csr, columns::Column, error::RunError};
use vyre_core::run::args::{Args, check_columns, check_run, resolve_topologies};
use vyre_core::run::backend::Opening;
use vyre_core::run::outcome::Outcome;
use vyre_core::run::schedule::{Meter, Pending};
use vyre_core::vir0::meaning::Memory;
use vyre_core::vir0::{exact::Total, module::*, scalar::Scalar, sizes::Sizes};

/// Items of a list or of a side of a frontier, a column a field.
#[derive(Clone, Default)]
pub(crate) struct Items {
    pub(crate) columns: Vec<Column>,
    pub(crate) capacity: usize,
    refused: u64,
}

impl Items {
    fn new(fields: &[Scalar], capacity: usize) -> Items {
        let fields = if fields.is_empty() {
            &[Scalar::U32]
        } else {
            fields
        };
        let columns = fields.iter().map(|&f| Column::filled(f, 0, 0)).collect();
        Items {
            columns,
            capacity,
            refused: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.columns.iter_mut().for_each(|c| c.reset(0, 0));
        self.refused = 0;
    }

    /// Those that did not fit are counted.
    pub(crate) fn len(&self) -> u64 {
        self.columns[0].len() as u64 + self.refused
    }

    /// The position of a new item.
    fn push(&mut self, bits: u64) -> u32 {
        let len = self.columns[0].len();
        if len == self.capacity {
            self.refused += 1;
            return u32::MAX;
        }
        self.columns.iter_mut().for_each(|c| c.push(bits));
        len as u32
    }
}

/// Copies to where a result before was, which has memory of its own.
fn give(to: &mut Column, from: &Column) {
    assert!(to.assign(from.as_slice()), "the types are the same");
}

/// What a session and its run hold.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) program: Arc<Program>,
    pub(crate) graphs: Vec<Arc<Csr>>,
    pub(crate) sizes: Sizes,
    pub(crate) meter: Meter,
    pub(crate) buffers: Vec<Column>,
    pub(crate) now: Vec<Items>,
    pub(crate) next: Vec<Items>,
    pub(crate) pushed: Vec<HashSet<u32>>,
    pub(crate) lists: Vec<Items>,
    pub(crate) swept: Vec<usize>,
    /// How many items a list held when the round of a fixpoint began.
    pub(crate) began: HashMap<(FixpointId, ListId), usize>,
    pub(crate) reductions: Vec<Total>,
    pub(crate) rounds: Vec<u32>,
    pub(crate) fault: Option<Box<Pending>>,
    /// Sweeps begin with the last item.
    pub(crate) backwards: bool,
    /// Turns of loops that can be shared out come in this order.
    pub(crate) shuffle: Option<Random>,
    /// Rounds of a fixpoint that run without the driver between them.
    pub(crate) together: Option<u64>,
}

/// What items may have changed.
pub(crate) struct Kept {
    buffers: Vec<Column>,
    next: Vec<Items>,
    pushed: Vec<HashSet<u32>>,
    lists: Vec<Items>,
    reductions: Vec<Total>,
}

impl State {
    /// Copies of what the session is made of.
    pub(crate) fn new(opening: &Opening<'_>) -> Result<State, RunError> {
        let (program, given) = (Arc::clone(&opening.program), opening.topology);
        let (graphs, sizes) = resolve_topologies(&program, given)?;
        check_columns(&program, &sizes, &given.columns)?;
        let empty = |b: &Buffer| Column::filled(b.scalar, 0, 0);
        let mut buffers: Vec<Column> = program.buffers.iter().map(empty).collect();
        for (id, values) in &given.columns {
            buffers[id.index()] = values.to_column();
        }
        let graphs = graphs
            .into_iter()
            .map(|g| Arc::new(g.into_owned()))
            .collect();
        Ok(State {
            rounds: vec![0; program.fixpoints.len()],
            program,
            graphs,
            sizes,
            buffers,
            ..State::default()
        })
    }
    /// Elements that an extent stands for.
    pub(crate) fn size_of(&self, extent: Extent) -> usize {
        self.sizes.resolve(&self.program, extent).unwrap_or(0) as usize
    }

    /// Where what is added to a queue goes.
    fn added(&mut self, queue: QueueId) -> &mut Items {
        match queue {
            QueueId::Frontier(f) => &mut self.next[f.index()],
            QueueId::List(l) => &mut self.lists[l.index()],
        }
    }

    /// What a uniform is now; `None`: the round, which the driver knows.
    pub(crate) fn value(&self, uniform: Uniform) -> Option<u64> {
        Some(match uniform {
            Uniform::Scalar(s) => self.sizes.scalars[s.index()],
            Uniform::Constant(c) => self.program.constants[c.index()].bits,
            Uniform::Reduction(r) => self.reductions[r.index()].value(),
            Uniform::Len(QueueId::Frontier(f)) => match self.program.frontiers[f.index()].owner {
                Some(_) => self.next[f.index()].len(),
                None => self.now[f.index()].len() + self.next[f.index()].len(),
            },
            Uniform::Len(QueueId::List(l)) => self.lists[l.index()].len(),
            Uniform::Nodes => self.sizes.nodes,
            Uniform::Round | Uniform::Began(_) => return None,
            Uniform::OuterRound(f) => self.rounds[f.index()].into(),
        })
    }

    /// A copy of what items may change.
    pub(crate) fn keep(&self) -> Kept {
        Kept {
            buffers: self.buffers.clone(),
            next: self.next.clone(),
            pushed: self.pushed.clone(),
            lists: self.lists.clone(),
            reductions: self.reductions.clone(),
        }
    }

    /// Elements that items may change, all together.
    pub(crate) fn elements(&self) -> usize {
        let items = self
            .next
            .iter()
            .chain(&self.lists)
            .flat_map(|items| &items.columns);
        self.buffers.iter().chain(items).map(Column::len).sum()
    }

    /// As if nothing had happened since.
    pub(crate) fn take_back(&mut self, kept: Kept) {
        self.buffers = kept.buffers;
        self.next = kept.next;
        self.pushed = kept.pushed;
        self.lists = kept.lists;
        self.reductions = kept.reductions;
    }

    /// The state at the start of a run.
    pub(crate) fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        self.sizes.scalars.clone_from(&args.scalars);
        check_run(&program, &self.sizes, args)?;
        for (at, buffer) in program.buffers.iter().enumerate() {
            if buffer.role != Role::Topology {
                let init = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                let len = self.size_of(buffer.extent);
                self.buffers[at] = Column::filled(buffer.scalar, len, init);
            }
        }
        for (id, values) in &args.inputs {
            self.buffers[id.index()] = values.to_column();
        }
        let sides = program.frontiers.iter();
        let side = |f: &Queue| Items::new(&f.fields, self.size_of(f.capacity));
        (self.now, self.next) = sides.map(|f| (side(f), side(f))).unzip();
        let lists = program.lists.iter();
        self.lists = lists
            .map(|l| Items::new(&l.fields, self.size_of(l.capacity)))
            .collect();
        self.pushed = vec![HashSet::new(); program.frontiers.len()];
        self.swept = vec![0; program.waves.len()];
        let reductions = program.reductions.iter();
        self.reductions = reductions.map(Total::new).collect();
        self.fault = None;
        Ok(())
    }

    /// The results, after a run.
    pub(crate) fn give(&self, results: &mut Outcome) {
        let program = &self.program;
        results.rows = self.sizes.rows(program);
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                give(
                    results.output_mut(id, buffer.scalar),
                    &self.buffers[id.index()],
                );
            }
        }
        let lists = (0..).map(ListId).zip(&program.lists);
        for (id, list) in lists.filter(|(_, list)| list.output) {
            let fields = results.list_mut(id, &list.fields).iter_mut();
            (fields.zip(&self.lists[id.index()].columns)).for_each(|(to, from)| give(to, from));
        }
        let reductions = (0..).map(ReductionId).zip(&program.reductions);
        let reductions = reductions.filter(|(_, reduction)| reduction.output);
        let values = reductions.map(|(id, _)| (id, self.reductions[id.index()].value()));
        results.reductions.extend(values);
    }
}

impl Memory for State {
    fn len(&self, buffer: BufferId) -> u32 {
        self.buffers[buffer.index()].len() as u32
    }
    fn nodes(&self) -> u32 {
        self.sizes.nodes as u32
    }
    fn edges(&self, topology: TopologyId) -> u32 {
        self.sizes.edges[topology.index()] as u32
    }
    fn load8(&mut self, buffer: BufferId, index: u32) -> Option<u8> {
        self.load64(buffer, index).map(|bits| bits as u8)
    }
    fn load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        self.load64(buffer, index).map(|bits| bits as u32)
    }
    fn load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        self.buffers[buffer.index()].get(index as usize)
    }
    fn store8(&mut self, buffer: BufferId, index: u32, value: u8) -> Option<()> {
        self.store64(buffer, index, value.into())
    }
    fn store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        self.store64(buffer, index, value.into())
    }
    fn store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        self.buffers[buffer.index()]
            .set(index as usize, value)
            .then_some(())
    }
    fn csr_begin(&self, topology: TopologyId, node: u32) -> Option<u32> {
        let offsets = self.graphs[topology.index()].offsets();
        offsets[..offsets.len() - 1].get(node as usize).copied()
    }
    fn csr_end(&self, topology: TopologyId, node: u32) -> Option<u32> {
        self.graphs[topology.index()]
            .offsets()
            .get(node as usize + 1)
            .copied()
    }
    fn csr_target(&self, topology: TopologyId, edge: u32) -> Option<u32> {
        self.graphs[topology.index()]
            .targets()
            .get(edge as usize)
            .copied()
    }
    fn push(&mut self, f: FrontierId, node: u32, _: u32) {
        let again =
            self.program.frontiers[f.index()].unique && !self.pushed[f.index()].insert(node);
        if !again {
            self.next[f.index()].push(node.into());
        }
    }
    fn reserve(&mut self, queue: QueueId, _: u32) -> u32 {
        self.added(queue).push(0)
    }
    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        let _refused = self.added(queue).columns[field as usize].set(slot as usize, bits);
    }
    fn reduce(&mut self, id: ReductionId, bits: u64) {
        self.reductions[id.index()].take_in(bits);
    }
    fn keep_going(&mut self, counts: bool) -> bool {
        self.meter.turn(counts)
    }
}
