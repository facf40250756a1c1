//! A backend that the host leads and that can do one thing: interpret a kernel for one item. What a session and a run
//! need besides is the driver's ([`follow`]), and memory.

use crate::memory::{Items, State};
use crate::random::Random;
use crate::shuffled::Shuffler;
use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;
use vyre_core::cpu::interp::{Interpreter, Item};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::*;
use vyre_core::run::outcome::Outcome;
use vyre_core::run::schedule::*;
use vyre_core::run::stop::Stop;
use vyre_core::vir0::{module::*, scalar::Scalar, sizes::Sizes};

/// One item at a time.
pub struct Sequential;

/// The same from the last item of each sweep to the first.
pub struct Backwards;

/// One item at a time, and the turns of loops that can be shared out in a random order.
pub struct Shuffled;

impl Backend for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }
    fn device(&self) -> String {
        "one item at a time".to_owned()
    }
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 500.0,
            round_ns: 50.0,
            item_ns: 10.0,
        }
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        Ok(Box::new(State::new(&opening)?))
    }
}

impl Backend for Backwards {
    fn name(&self) -> &'static str {
        "backwards"
    }
    fn device(&self) -> String {
        Sequential.device()
    }
    fn floor(&self) -> Floor {
        Sequential.floor()
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let state = State::new(&opening)?;
        Ok(Box::new(State {
            backwards: true,
            ..state
        }))
    }
}

impl Backend for Shuffled {
    fn name(&self) -> &'static str {
        "shuffled"
    }
    fn device(&self) -> String {
        Sequential.device()
    }
    fn floor(&self) -> Floor {
        Sequential.floor()
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let state = State::new(&opening)?;
        Ok(Box::new(State {
            shuffle: Some(Random(0)),
            ..state
        }))
    }
}

/// One item at a time, and so many rounds of a fixpoint without the driver between them.
pub struct Together(pub u64);

impl Backend for Together {
    fn name(&self) -> &'static str {
        "together"
    }
    fn device(&self) -> String {
        format!("{} rounds at a time", self.0)
    }
    fn floor(&self) -> Floor {
        Sequential.floor()
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let state = State::new(&opening)?;
        Ok(Box::new(State {
            together: Some(self.0),
            ..state
        }))
    }
}

/// What runs the items of a sweep.
enum Runner<'a> {
    InOrder(Box<Interpreter<'a>>),
    Shuffled(Box<Shuffler<'a>>),
}

impl State {
    fn runner<'a>(
        &self,
        program: &'a Program,
        kernel: &'a Kernel,
        uniforms: &'a [u64],
    ) -> Runner<'a> {
        match self.shuffle {
            None => Runner::InOrder(Box::new(Interpreter::new(kernel, uniforms))),
            Some(_) => Runner::Shuffled(Box::new(Shuffler::new(program, kernel, uniforms))),
        }
    }

    fn uniforms(&self, kernel: &Kernel, round: u32, fixpoint: Option<FixpointId>) -> Vec<u64> {
        let value = |&of: &Uniform| match (of, fixpoint) {
            (Uniform::Began(l), Some(f)) => self.began[&(f, l)] as u64,
            (of, _) => self.uniform(of).unwrap_or(round.into()),
        };
        kernel.uniforms.iter().map(value).collect()
    }
}

impl State {
    /// Positions of the list items that a wave would sweep now.
    fn portion(&self, wave: WaveId) -> Range<usize> {
        let declared = &self.program.waves[wave.index()];
        let (l, portion) = declared.domain.list().expect("it sweeps a list");
        let end = match (portion, declared.fixpoint) {
            (Portion::Last, Some(f)) => self.began[&(f, l)],
            _ => self.lists[l.index()].columns[0].len(),
        };
        match portion.goes_on() {
            true => self.swept[wave.index()]..end,
            false => 0..end,
        }
    }
}

impl Sweeper for State {
    fn sizes(&self) -> &Sizes {
        &self.sizes
    }
    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
    fn items(&self, wave: WaveId) -> u64 {
        let items = |f: FrontierId| &self.now[f.index()].columns[0];
        match self.program.waves[wave.index()].domain {
            Domain::Once => 1,
            Domain::Nodes => self.sizes.nodes,
            Domain::Range(extent) => self.size_of(extent) as u64,
            Domain::Edges(t) => self.graphs[t.index()].edge_count() as u64,
            Domain::Items(f) => items(f).len() as u64,
            Domain::EdgesFrom(t, f) => {
                let nodes = (0..items(f).len()).filter_map(|at| items(f).get(at));
                let graph = &self.graphs[t.index()];
                let steps = nodes.map(|v| 1 + u64::from(graph.degree(v as u32)));
                steps.sum()
            }
            Domain::ListItems(..) => self.portion(wave).len() as u64,
        }
    }
    fn sweep(&mut self, wave: WaveId, round: u32) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        let Wave {
            domain,
            kernel,
            fixpoint,
            ..
        } = program.waves[wave.index()];
        let kernel = &program.kernels[kernel.index()];
        let uniforms = self.uniforms(kernel, round, fixpoint);
        let mut runner = self.runner(&program, kernel, &uniforms);
        let (mut from, mut len) = (0, self.sizes.nodes as usize);
        let (mut swept, mut graph, mut keyed) = (Vec::new(), None, false);
        match domain {
            Domain::Once => len = 1,
            Domain::Nodes => {}
            Domain::Range(extent) => len = self.size_of(extent),
            Domain::Edges(t) => graph = Some(Arc::clone(&self.graphs[t.index()])),
            Domain::Items(f) | Domain::EdgesFrom(_, f) => {
                swept.clone_from(&self.now[f.index()].columns);
                let fields = &program.frontiers[f.index()].fields;
                (len, keyed) = (swept[0].len(), !fields.is_empty());
                if let Domain::EdgesFrom(t, _) = domain {
                    graph = Some(Arc::clone(&self.graphs[t.index()]));
                }
            }
            Domain::ListItems(..) => {
                let range = self.portion(wave);
                (from, len, keyed) = (range.start, range.end, true);
                self.swept[wave.index()] = len;
            }
        }
        for at in from..len {
            if !self.meter.item() {
                break;
            }
            let at = match self.backwards {
                true => from + len - 1 - at,
                false => at,
            };
            // An item of a list is as stores have left it; those of a frontier are of the round before.
            let columns = match domain.list() {
                Some((l, _)) => &self.lists[l.index()].columns,
                None => &swept,
            };
            let fields = columns.iter().map(|c| (c.scalar(), c.get(at).unwrap_or(0)));
            let fields: Vec<(Scalar, u64)> = fields.collect();
            let first = fields.first().copied();
            let first = first.map_or(at as u32, |(_, bits)| bits as u32);
            let pending = |key, fault| Box::new(Pending::new(&program, (wave, key), fault));
            if let Some(graph) = &graph {
                let edges = graph.edges(first);
                for nth in 0..edges.len() {
                    let index = match self.backwards {
                        true => edges.end - 1 - nth,
                        false => edges.start + nth,
                    };
                    let (src, dst) = (first, graph.targets()[index as usize]);
                    let item = Item { index, src, dst };
                    let ran = match &mut runner {
                        Runner::InOrder(interpreter) => interpreter.run(item, self),
                        Runner::Shuffled(shuffler) => shuffler.run(item, self),
                    };
                    let fault = ran.err().map(|fault| pending(index, fault));
                    self.fault = lowest(self.fault.take(), fault);
                }
            } else {
                let index = if keyed { at as u32 } else { first };
                let ran = match &mut runner {
                    Runner::InOrder(interpreter) => interpreter.run_fields(index, fields, self),
                    Runner::Shuffled(shuffler) => shuffler.run_fields(index, fields, self),
                };
                let fault = ran.err().map(|fault| pending(first, fault));
                self.fault = lowest(self.fault.take(), fault);
            }
        }
        Ok(())
    }
    fn settle(&mut self) -> Result<Option<Box<Failures>>, RunError> {
        let mut overflows = Vec::new();
        let mut check = |of: QueueId, needed, items: &Items| {
            let capacity = items.capacity as u64;
            let overflow = Overflow {
                of,
                needed,
                capacity,
            };
            overflows.extend((needed > capacity).then_some(overflow));
        };
        for (f, declared) in (0..).map(FrontierId).zip(&self.program.frontiers) {
            let needed = self.uniform(Uniform::Len(f.into())).unwrap_or(0);
            check(f.into(), needed, &self.now[f.index()]);
            if declared.owner.is_none() {
                let (now, next) = (&mut self.now[f.index()], &mut self.next[f.index()]);
                for (now, next) in now.columns.iter_mut().zip(&mut next.columns) {
                    assert!(now.append(next), "there is memory");
                }
            }
        }
        for (l, list) in (0..).map(ListId).zip(&self.lists) {
            check(l.into(), list.len(), list);
        }
        let fault = self.fault.take();
        let failed = fault.is_some() || !overflows.is_empty();
        Ok(failed.then(|| Box::new(Failures { fault, overflows })))
    }
    fn exchange(&mut self, a: BufferId, b: BufferId) {
        self.buffers.swap(a.index(), b.index());
    }
    fn begin_round(&mut self, fixpoint: FixpointId, round: u32) {
        self.rounds[fixpoint.index()] = round;
        for (f, declared) in self.program.frontiers.iter().enumerate() {
            if declared.reset == Some(fixpoint) {
                self.now[f].clear();
                self.next[f].clear();
                self.pushed[f].clear();
            } else if declared.owner == Some(fixpoint) {
                swap(&mut self.now[f], &mut self.next[f]);
                self.next[f].clear();
                self.pushed[f].clear();
            }
        }
        let program = Arc::clone(&self.program);
        for (list, declared) in self.lists.iter_mut().zip(&program.lists) {
            if declared.reset == Some(fixpoint) {
                list.clear();
            }
        }
        for (l, list) in (0..).map(ListId).zip(&self.lists) {
            self.began.insert((fixpoint, l), list.columns[0].len());
        }
        for (column, declared) in self.buffers.iter_mut().zip(&program.buffers) {
            if declared.reset == Some(fixpoint) {
                let bits = declared
                    .init
                    .map_or(0, |c| program.constants[c.index()].bits);
                column.reset(column.len(), bits);
            }
        }
        for (value, declared) in self.reductions.iter_mut().zip(&self.program.reductions) {
            if declared.owner == Some(fixpoint) {
                value.reset();
            }
        }
    }
    fn rounds(
        &mut self,
        fixpoint: FixpointId,
        from: usize,
        (round, most): (u32, u64),
    ) -> Result<Option<Ran>, RunError> {
        let Some(together) = self.together else {
            return Ok(None);
        };
        let program = Arc::clone(&self.program);
        let last = most.min(together) as u32 - 1;
        for nth in 0..=last {
            if nth > 0 {
                self.begin_round(fixpoint, round + nth);
            }
            for (at, step) in (from + 1..).zip(&program.schedule[from + 1..]) {
                if let Step::Wave(wave) = *step {
                    self.sweep(wave, round + nth)?;
                    continue;
                }
                if let Some(failures) = self.settle()? {
                    return Ok(Some(Ran {
                        rounds: nth.into(),
                        end: End::Failed { at, failures },
                    }));
                }
                if *step != Step::Barrier {
                    break;
                }
            }
            for &(a, b) in &program.fixpoints[fixpoint.index()].swaps {
                self.exchange(a, b);
            }
            let said = self.until(fixpoint, round + nth)?;
            if nth == last || !matches!(said, Verdict::Again) {
                return Ok(Some(Ran {
                    rounds: u64::from(nth) + 1,
                    end: End::Said(said),
                }));
            }
        }
        unreachable!("the last round has returned")
    }
    fn until(&mut self, fixpoint: FixpointId, round: u32) -> Result<Verdict, RunError> {
        let program = Arc::clone(&self.program);
        let id = program.fixpoints[fixpoint.index()].until;
        let kernel = &program.kernels[id.index()];
        let uniforms = self.uniforms(kernel, round, Some(fixpoint));
        let mut interpreter = Interpreter::new(kernel, &uniforms);
        Ok(match interpreter.run(Item::default(), self) {
            Ok(0) => Verdict::Again,
            Ok(_) => Verdict::Done,
            Err(fault) => Verdict::Faulted(Fault::at(&program, id, fault)),
        })
    }
    fn uniform(&self, uniform: Uniform) -> Option<u64> {
        self.value(uniform)
    }
}

impl Executor for State {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        for (i, args) in series.iter().enumerate() {
            self.begin(args)?;
            let ran = follow(&program, self);
            let rounds = ran.map_err(|e| e.of_run(i, series.len()))?;
            results.clear();
            results.report.rounds = rounds;
            results.report.waves = self.meter.wave_times();
        }
        self.give(results);
        Ok(())
    }
    fn follow(&mut self, hint: &LaunchHint) -> Followed {
        self.meter.time_waves = hint.time_waves;
        Followed {
            workers: 1,
            code: "interpreter".into(),
            sweeps: None,
            notes: Vec::new(),
        }
    }
    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.meter.progress))
    }
    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.meter.progress = progress;
    }
    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.meter.stop = Some(Arc::clone(stop));
    }
    /// One that shuffles tries turns, which would count.
    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        let counts = self.shuffle.is_none();
        if counts {
            self.meter.most_work = steps.unwrap_or(u64::MAX);
        }
        counts
    }
}
