//! The host as a backend, so that whatever compares backends compares shaders: a session exports its program and reads
//! it back, a run is the host's.

use crate::host::{Fault, Given, Pass, Stop};
use crate::machine::Shader;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::{Args, TopologyArgs, check_columns, check_run, resolve_topologies};
use vyre_core::run::backend::{
    Backend, Executor, Followed, Holder, LaunchHint, Opening, Progress, runnable,
};
use vyre_core::run::outcome::Outcome;
use vyre_core::run::schedule::{Failures, Overflow, Pending, failed, faulted, round_limit};
use vyre_core::vir0::container::encode;
use vyre_core::vir0::module::{
    BufferId, FixpointId, ListId, Program, ReductionId, Resource, Role, Uniform, WaveId,
};
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::trap::{Fault as Told, TrapKind};
use vyre_naga::{Options, Target, Text, shaders};

/// What a program was made to, or why not.
type Made = Result<Arc<Pass>, String>;

/// Shaders that were written for a target and read back, evaluated.
pub struct Shaders {
    target: Target,
    options: Options,
    rounds_at_once: u32,
    pull_from: u32,
    /// Invocations of a workgroup, where that is said: one of many takes long here.
    lanes: Option<u32>,
    /// Sessions that a table refused.
    refused: Arc<AtomicU64>,
    /// Runs that shaders made.
    ran: Arc<AtomicU64>,
    /// What programs were made to, by their bytes: sessions of one program share it.
    made: Mutex<HashMap<Vec<u8>, Made>>,
}

impl Shaders {
    /// For a target whose text can be read back: not Metal.
    pub fn new(target: Target) -> Shaders {
        Shaders {
            target,
            options: Options::default(),
            rounds_at_once: 0,
            pull_from: 0,
            lanes: None,
            refused: Arc::default(),
            ran: Arc::default(),
            made: Mutex::default(),
        }
    }

    fn pass(&self, program: &Program) -> Made {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let pass = made.entry(encode(program)).or_insert_with(|| {
            let few = if self.rounds_at_once > 0 { 64 } else { 0 };
            let options = Options {
                lanes: self.lanes.unwrap_or(few),
                ..self.options
            };
            let mut made = exported(program, self.target, options)?;
            made.rounds_at_once = self.rounds_at_once;
            made.pull_from = self.pull_from;
            Ok(Arc::new(made))
        });
        pass.clone()
    }

    /// With other options.
    #[must_use]
    pub fn with(self, options: Options) -> Shaders {
        Shaders { options, ..self }
    }

    /// With workgroups of so many invocations, at most, where these share out work.
    #[must_use]
    pub fn with_lanes(self, lanes: u32) -> Shaders {
        Shaders {
            lanes: Some(lanes),
            ..self
        }
    }

    /// Where rounds follow each other without a look, so many of them.
    #[must_use]
    pub fn with_rounds_at_once(self, rounds: u32) -> Shaders {
        Shaders {
            rounds_at_once: rounds,
            ..self
        }
    }

    /// Where sweeps pull from frontiers of so many edges, in rounds that follow each other.
    #[must_use]
    pub fn with_pull_from(self, edges: u32) -> Shaders {
        Shaders {
            pull_from: edges,
            ..self
        }
    }

    /// Sweeps that pulled.
    pub fn pulled(&self) -> u64 {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let passes = made.values().flatten();
        passes.map(|pass| pass.pulled.load(Relaxed)).sum()
    }

    /// Counts of sessions that were refused by the table, and of runs.
    pub fn counts(&self) -> (Arc<AtomicU64>, Arc<AtomicU64>) {
        (Arc::clone(&self.refused), Arc::clone(&self.ran))
    }
}

/// How the error of a program begins that the table refuses.
pub const REFUSED: &str = "refused: ";

/// Exports a program and reads it back.
///
/// # Errors
/// The table refuses it, naga cannot read what it wrote, or it is another module than was written.
pub fn exported(program: &Program, target: Target, options: Options) -> Result<Pass, String> {
    let made = shaders(program, target, options).map_err(|e| e.to_string())?;
    if let Some(refusal) = made.refusals.first() {
        return Err(format!("{REFUSED}{refusal}"));
    }
    let mut read = Vec::new();
    for shader in &made.shaders {
        let text = shader.text(target).map_err(|e| e.to_string())?;
        let back = match &text {
            Text::Wgsl(text) => Shader::from_wgsl(text).map_err(|e| format!("{e}\n{text}"))?,
            Text::Spirv(words) => Shader::from_spirv(words)?,
            Text::Msl(_) => return Err("nothing reads MSL".to_owned()),
        };
        if back.entry() != shader.entry() {
            let (was, is) = (shader.entry(), back.entry());
            return Err(format!("the entry point {was} is called {is} in the text"));
        }
        read.push(back);
    }
    Pass::new(&made.plan_text(), read).map_err(|e| e.to_string())
}

impl Backend for Shaders {
    fn name(&self) -> &'static str {
        "shaders"
    }
    fn device(&self) -> String {
        format!("an evaluator of {}", self.target)
    }
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 500.0,
            round_ns: 50.0,
            item_ns: 1000.0,
        }
    }
    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let program = Arc::clone(&opening.program);
        runnable(&program, (self.name(), false))?;
        let pass = self.pass(&program).map_err(|why| {
            self.refused
                .fetch_add(u64::from(why.starts_with(REFUSED)), Relaxed);
            RunError::Invalid(why)
        })?;
        let (graphs, sizes) = resolve_topologies(&program, opening.topology)?;
        check_columns(&program, &sizes, &opening.topology.columns)?;
        let mut given = Given::default();
        for (graph, topology) in graphs.iter().zip(&program.topologies) {
            let words = (graph.offsets().to_vec(), graph.targets().to_vec());
            given.graphs.insert(topology.name.clone(), words);
        }
        for (id, values) in &opening.topology.columns {
            given
                .buffers
                .insert(program.buffers[id.index()].name.clone(), raw(*values));
        }
        Ok(Box::new(Session {
            program,
            pass,
            given,
            sizes,
            ran: Arc::clone(&self.ran),
            progress: Arc::default(),
        }))
    }
}

fn raw(values: Slice<'_>) -> Vec<u64> {
    let column: Column = values.to_column();
    (0..column.len())
        .map(|i| column.get(i).unwrap_or(0))
        .collect()
}

struct Session {
    program: Arc<Program>,
    pass: Arc<Pass>,
    given: Given,
    sizes: Sizes,
    ran: Arc<AtomicU64>,
    progress: Arc<Progress>,
}

impl Session {
    fn run(&mut self, args: &Args<'_>, results: &mut Outcome) -> Result<(), RunError> {
        let program = Arc::clone(&self.program);
        self.sizes.scalars.clone_from(&args.scalars);
        check_run(&program, &self.sizes, args)?;
        let mut given = self.given.clone();
        for (scalar, bits) in program.scalars.iter().zip(&args.scalars) {
            given.scalars.insert(scalar.name.clone(), *bits);
        }
        for (id, values) in &args.inputs {
            given
                .buffers
                .insert(program.buffers[id.index()].name.clone(), raw(*values));
        }
        let seed = self.ran.fetch_add(1, Relaxed);
        let ran = self
            .pass
            .run(&given, seed)
            .map_err(|stop| self.error(stop))?;
        results.clear();
        results.rows = self.sizes.rows(&program);
        for (id, buffer) in (0..).map(BufferId).zip(&program.buffers) {
            if matches!(buffer.role, Role::Output | Role::InOut) {
                fill(
                    results.output_mut(id, buffer.scalar),
                    &ran.buffers[&buffer.name],
                );
            }
        }
        for (id, list) in (0..).map(ListId).zip(&program.lists) {
            if list.output {
                let columns = results.list_mut(id, &list.fields).iter_mut();
                for (column, values) in columns.zip(&ran.lists[&list.name]) {
                    fill(column, values);
                }
            }
        }
        for (id, reduction) in (0..).map(ReductionId).zip(&program.reductions) {
            if reduction.output {
                results
                    .reductions
                    .push((id, ran.reductions[&reduction.name]));
            }
        }
        let rounds = program.fixpoints.iter();
        let rounds = rounds.map(|f| ran.rounds.get(&f.name).copied().unwrap_or(0));
        results.report.rounds = rounds.collect();
        Ok(())
    }

    fn error(&self, stop: Stop) -> RunError {
        let (program, sizes) = (&*self.program, &self.sizes);
        let told = |fault: &Fault| Told {
            pc: fault.pc,
            kind: TrapKind::from_code(fault.kind).expect("kinds are VIR0's"),
            index: fault.index.into(),
            len: fault.len.into(),
        };
        match stop {
            Stop::Failed {
                at,
                fault,
                overflows,
            } => {
                let fault = fault.map(|fault| {
                    let wave = WaveId(fault.of as u16);
                    Box::new(Pending::new(program, (wave, fault.item), told(&fault)))
                });
                let of = |name: &str| {
                    let queue = program.queues().find(|(_, q)| q.name == name);
                    queue.expect("the plan names what the pass declares").0
                };
                let overflows = overflows
                    .into_iter()
                    .map(|(name, needed, capacity)| Overflow {
                        of: of(&name),
                        needed,
                        capacity,
                    });
                let overflows = overflows.collect();
                failed(program, sizes, at, Failures { fault, overflows })
            }
            Stop::Condition(fault) => {
                let id = FixpointId(fault.of as u16);
                let until = program.fixpoints[id.index()].until;
                let fault = vyre_core::run::schedule::Fault::at(program, until, told(&fault));
                faulted(program, sizes, id, fault)
            }
            Stop::RoundLimit { fixpoint, now } => {
                let value = |uniform: Uniform| {
                    let name = match uniform {
                        Uniform::Reduction(r) => program.name_of(Resource::Reduction(r)),
                        Uniform::Len(q) => program.name_of(q.into()),
                        _ => return None,
                    };
                    now.get(name).copied()
                };
                round_limit(program, sizes, FixpointId(fixpoint as u16), value)
            }
            Stop::Turns(limit) => RunError::Work { limit, of: None },
            other @ (Stop::Wrong { .. } | Stop::Plan(_) | Stop::Length(_)) => {
                RunError::Invalid(other.to_string())
            }
        }
    }
}

fn fill(column: &mut Column, values: &[u64]) {
    column.reset(0, 0);
    values.iter().for_each(|&bits| column.push(bits));
}

impl Executor for Session {
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        for (i, args) in series.iter().enumerate() {
            self.run(args, results)
                .map_err(|e| e.of_run(i, series.len()))?;
        }
        Ok(())
    }
    fn follow(&mut self, _: &LaunchHint) -> Followed {
        Followed {
            workers: 1,
            code: "shaders".into(),
            sweeps: None,
            notes: Vec::new(),
        }
    }
    fn progress(&self) -> Option<Arc<Progress>> {
        Some(Arc::clone(&self.progress))
    }
    fn set_progress(&mut self, progress: Arc<Progress>) {
        self.progress = progress;
    }
}
