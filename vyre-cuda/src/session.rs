//! A pass bound to a runtime and a topology.

use crate::error::Error;
use crate::runtime::Runtime;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use vyre_core::exec::{Args, Executor, RunError, Sizes, TopologyArgs};
use vyre_core::module::Program;
use vyre_core::pass::Pass;
use vyre_core::plan::fit::{FitError, fit};
use vyre_core::plan::footprint::{Allocation, FootprintError, footprint};

/// A pass with its topology uploaded and its buffers allocated, ready to run any number of times.
///
/// `#[wave_graph] mod bfs` defines `bfs::Session` as an alias of this.
pub struct Session<P> {
    executor: Box<dyn Executor>,
    backend: &'static str,
    program: Arc<Program>,
    memory: Memory,
    pass: PhantomData<fn() -> P>,
}

impl<P: Pass> Session<P> {
    /// Uploads the topology. Fails when its parts do not fit together, or when the backend cannot hold them.
    pub fn new<'a>(
        runtime: &Runtime,
        topology: impl Into<P::Topology<'a>>,
    ) -> Result<Session<P>, Error> {
        let mut program = P::PARTS.program()?;
        let topology = P::topology(topology.into());
        let memory = Memory::settle(&mut program, &topology, runtime)?;
        let program = Arc::new(program);
        Ok(Session {
            executor: runtime.executor::<P>(Arc::clone(&program), &topology, memory.allocation)?,
            backend: runtime.backend(),
            program,
            memory,
            pass: PhantomData,
        })
    }

    /// The program as this session runs it: with the barriers that its budget takes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The most memory that topologies, buffers and frontiers held at once in the last run, in bytes, where the backend
    /// counts it.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.executor.peak_bytes()
    }

    /// Runs the pass once. After a trap or a refused argument the session is as before and can run again.
    pub fn run(&mut self, run: P::Run<'_>) -> Result<P::Output, Error> {
        let args = P::args(run);
        self.memory.check(&self.program, &args)?;
        Ok(P::output(self.executor.run(&args)?))
    }
}

/// What a session may take, and how it hands that out.
struct Memory {
    allocation: Allocation,
    available_bytes: Option<u64>,
    sizes: Sizes,
}

impl Memory {
    /// Checks the real sizes against limits and budgets before anything is allocated. A pass that does not fit side by side shares
    /// memory between what never lives at once, with more barriers where that takes them.
    fn settle(
        program: &mut Program,
        topology: &TopologyArgs<'_>,
        runtime: &Runtime,
    ) -> Result<Memory, RunError> {
        let mut sizes = Sizes::of(program, topology);
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        for (what, actual, limit) in [
            ("nodes", sizes.nodes, program.manifest.max_nodes),
            ("edges", edges, program.manifest.max_edges),
        ] {
            if let Some(limit) = limit.filter(|&limit| actual > limit) {
                return Err(RunError::Limit {
                    what,
                    actual,
                    limit,
                });
            }
        }
        let budgets = [program.manifest.budget_bytes, runtime.memory_bytes()];
        let available_bytes = budgets.into_iter().flatten().min();
        let mut memory = Memory {
            allocation: Allocation::Separate,
            available_bytes,
            sizes: Sizes::default(),
        };
        if let Some(available) = available_bytes {
            // What a run's scalars say about lengths is checked when they are known.
            sizes.scalars = vec![0; program.scalars.len()];
            if runtime.shares_memory() {
                let fitted = fit(program, &sizes, available).map_err(refused)?;
                program.schedule = fitted.schedule;
                memory.allocation = fitted.allocation;
            } else {
                footprint(program, &sizes)
                    .and_then(|takes| takes.fit(available, Allocation::Separate))
                    .map_err(|e| refused(e.into()))?;
            }
        }
        memory.sizes = sizes;
        Ok(memory)
    }

    /// Lengths that depend on the run's scalars.
    fn check(&mut self, program: &Program, args: &Args<'_>) -> Result<(), RunError> {
        let Some(available) = self.available_bytes else {
            return Ok(());
        };
        if self.sizes.scalars == args.scalars {
            return Ok(());
        }
        self.sizes.scalars.clone_from(&args.scalars);
        footprint(program, &self.sizes)
            .and_then(|takes| takes.fit(available, self.allocation))
            .map_err(|e| refused(e.into()))
    }
}

fn refused(e: FitError) -> RunError {
    let what = e.to_string();
    let what = what.split(" needs ").next().unwrap_or_default();
    let what = what.split(" need ").next().unwrap_or_default();
    let (needed_bytes, available_bytes) = match &e {
        FitError::Footprint(FootprintError::Group {
            needed_bytes,
            budget_bytes,
            ..
        })
        | FitError::Footprint(FootprintError::Run {
            needed_bytes,
            budget_bytes,
        })
        | FitError::Resident {
            needed_bytes,
            budget_bytes,
        }
        | FitError::Group {
            needed_bytes,
            budget_bytes,
            ..
        } => (*needed_bytes, *budget_bytes),
        FitError::Footprint(FootprintError::Unknown { .. } | FootprintError::Overflow { .. }) => {
            return RunError::Invalid(e.to_string());
        }
    };
    RunError::Memory {
        what: format!("{what} does not fit"),
        needed_bytes,
        available_bytes,
    }
}

impl<P: Pass> fmt::Debug for Session<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
