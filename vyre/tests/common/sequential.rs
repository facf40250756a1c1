//! A backend that the host leads and that can do one thing: interpret a kernel for one item. What a session and a run need
//! besides is the driver's ([`follow`]), and memory.

use std::collections::HashSet;
use std::mem::{swap, take};
use std::sync::Arc;
use vyre_core::cpu::interp::{Interpreter, Item, Memory};
use vyre_core::dsl::{Csr, columns::Column, error::RunError};
use vyre_core::plan::side::Floor;
use vyre_core::run::args::{Args, TopologyArgs, check_columns, check_run, resolve_topologies};
use vyre_core::run::backend::{Backend, Executor, Holder, Opening, Progress};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::schedule::*;
use vyre_core::vir0::{module::*, scalar::Scalar, sizes::Sizes};

pub struct Sequential;

impl Backend for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }
    fn device(&self) -> String {
        "one item at a time".to_owned()
    }
    fn floor(&self) -> Floor {
        let (run_ns, round_ns, item_ns) = (500.0, 50.0, 10.0);
        Floor { run_ns, round_ns, item_ns }
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Host)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let (program, given) = (opening.program, opening.topology);
        let (graphs, sizes) = resolve_topologies(&program, given)?;
        check_columns(&program, &sizes, &given.columns)?;
        let empty = |b: &Buffer| Column::filled(b.scalar, 0, 0);
        let mut buffers: Vec<Column> = program.buffers.iter().map(empty).collect();
        for (id, values) in &given.columns {
            buffers[id.index()] = values.to_column();
        }
        let graphs = graphs.into_iter().map(|g| Arc::new(g.into_owned())).collect();
        Ok(Box::new(State { program, graphs, sizes, buffers, ..State::default() }))
    }
}

/// Items of a list or of a side of a frontier, a column a field.
#[derive(Default)]
struct Items {
    columns: Vec<Column>,
    capacity: usize,
    refused: u64,
}

impl Items {
    fn new(fields: &[Scalar], capacity: u64) -> Items {
        let fields = if fields.is_empty() { &[Scalar::U32] } else { fields };
        let columns = fields.iter().map(|&f| Column::filled(f, 0, 0)).collect();
        Items { columns, capacity: capacity as usize, refused: 0 }
    }
    fn len(&self) -> u64 {
        self.columns[0].len() as u64 + self.refused
    }
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

/// A session, and its run.
#[derive(Default)]
struct State {
    program: Arc<Program>,
    graphs: Vec<Arc<Csr>>,
    sizes: Sizes,
    meter: Meter,
    buffers: Vec<Column>,
    now: Vec<Items>,
    next: Vec<Items>,
    pushed: Vec<HashSet<u32>>,
    lists: Vec<Items>,
    swept: Vec<usize>,
    reductions: Vec<u64>,
    fault: Option<Box<Pending>>,
}

impl State {
    fn begin(&mut self, args: &Args<'_>) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        self.sizes.scalars.clone_from(&args.scalars);
        check_run(&program, &self.sizes, args)?;
        let size = |extent| self.sizes.resolve(&program, extent).unwrap_or(0);
        for (buffer, column) in program.buffers.iter().zip(&mut self.buffers) {
            if buffer.role != Role::Topology {
                let init = buffer.init.map_or(0, |c| program.constants[c.index()].bits);
                *column = Column::filled(buffer.scalar, size(buffer.extent) as usize, init);
            }
        }
        for (id, values) in &args.inputs {
            self.buffers[id.index()] = values.to_column();
        }
        let sides = program.frontiers.iter();
        let side = |f: &Frontier| Items::new(&f.fields, size(f.capacity));
        (self.now, self.next) = sides.map(|f| (side(f), side(f))).unzip();
        let lists = program.lists.iter();
        self.lists = lists.map(|l| Items::new(&l.fields, size(l.capacity))).collect();
        self.pushed = vec![HashSet::new(); program.frontiers.len()];
        self.swept = vec![0; program.waves.len()];
        let reductions = program.reductions.iter();
        self.reductions = reductions.map(|r| r.op.identity(r.scalar)).collect();
        self.fault = None;
        Ok(())
    }
    fn uniforms(&self, kernel: &Kernel, round: u32) -> Vec<u64> {
        let value = |&of: &Uniform| self.uniform(of).unwrap_or(round.into());
        kernel.uniforms.iter().map(value).collect()
    }
}

impl Sweeper for State {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }
    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
    fn sweep(&mut self, wave: WaveId, round: u32) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        let Wave { domain, kernel, .. } = program.waves[wave.index()];
        let kernel = &program.kernels[kernel.index()];
        let uniforms = self.uniforms(kernel, round);
        let mut interpreter = Interpreter::new(kernel, &uniforms);
        let (mut from, mut len) = (0, self.sizes.nodes as usize);
        let (mut swept, mut graph, mut keyed) = (Vec::new(), None, false);
        match domain {
            Domain::Once => len = 1,
            Domain::Nodes => {}
            Domain::Range(extent) => len = self.sizes.resolve(&program, extent).unwrap_or(0) as usize,
            Domain::Edges(t) => graph = Some(Arc::clone(&self.graphs[t.index()])),
            Domain::Items(f) | Domain::EdgesFrom(_, f) => {
                swept.clone_from(&self.now[f.index()].columns);
                (len, keyed) = (swept[0].len(), !program.frontiers[f.index()].fields.is_empty());
                if let Domain::EdgesFrom(t, _) = domain {
                    graph = Some(Arc::clone(&self.graphs[t.index()]));
                }
            }
            Domain::ListItems(l, new) => {
                swept.clone_from(&self.lists[l.index()].columns);
                (len, keyed) = (swept[0].len(), true);
                let before = std::mem::replace(&mut self.swept[wave.index()], len);
                from = if new { before } else { 0 };
            }
        }
        for at in from..len {
            let fields = swept.iter().map(|c| (c.scalar(), c.get(at).unwrap_or(0)));
            let first = fields.clone().next().map_or(at as u32, |(_, bits)| bits as u32);
            let mut found = |key, ran: Result<u32, _>| {
                let new = ran.err().map(|fault| Box::new(Pending::new(&program, (wave, key), fault)));
                new.is_some().then(|| new)
            };
            if let Some(graph) = &graph {
                for index in graph.edges(first) {
                    let (src, dst) = (first, graph.targets()[index as usize]);
                    let ran = interpreter.run(Item { index, src, dst }, self);
                    self.fault = lowest(self.fault.take(), found(index, ran).flatten());
                }
            } else {
                let index = if keyed { at as u32 } else { first };
                let ran = interpreter.run_fields(index, fields, self);
                self.fault = lowest(self.fault.take(), found(first, ran).flatten());
            }
        }
        Ok(())
    }
}
