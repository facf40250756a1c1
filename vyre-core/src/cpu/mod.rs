//! The backends of the CPU: [`native`] runs the passes' own functions on all threads, [`vir0`] their bytecode on one.

pub mod interp;
pub mod native;
mod state;
pub mod vir0;

use crate::dsl::error::RunError;
use crate::plan::session::Counters;
use crate::plan::side::Floor;
use crate::run::args::{Args, TopologyArgs};
use crate::run::backend::{Backend, Executor, Holder, Many, Opening, all_limited, counters_of};
use crate::run::outcome::Outcome;
use crate::run::stop::Stop;
use crate::vir0::module::Program;
use rayon::prelude::*;
use std::sync::Arc;

/// The passes' own functions, on all threads.
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn device(&self) -> String {
        match native::threads() {
            Ok(1) => "1 thread".to_owned(),
            Ok(n) => format!("{n} threads"),
            Err(e) => e.to_string(),
        }
    }

    /// A lane of a sweep that the compiler turned into vector code.
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 500.0,
            round_ns: 20.0,
            item_ns: 0.25 / native::threads().unwrap_or(1) as f64,
        }
    }

    fn runs_bytecode(&self) -> bool {
        false
    }

    fn runs_parts(&self) -> bool {
        true
    }

    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Native)
    }

    fn is_host(&self) -> bool {
        true
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        native::threads()?;
        match opening.native {
            Some(open) => open(opening.program, opening.topology, opening.allocation),
            // What has no functions is interpreted.
            None => Vir0.open(opening),
        }
    }

    fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        Apart::open(self, openings)
    }
}

/// The passes' bytecode, interpreted on one thread.
pub struct Vir0;

impl Backend for Vir0 {
    fn name(&self) -> &'static str {
        "vir0"
    }

    fn device(&self) -> String {
        "1 thread".to_owned()
    }

    fn floor(&self) -> Floor {
        Floor {
            run_ns: 500.0,
            round_ns: 20.0,
            item_ns: 2.0,
        }
    }

    fn runs_parts(&self) -> bool {
        true
    }

    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Vir0)
    }

    fn is_host(&self) -> bool {
        true
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        native::threads()?;
        let executor =
            vir0::Vir0Executor::new(opening.program, opening.topology, opening.allocation);
        Ok(Box::new(executor?))
    }

    fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        Apart::open(self, openings)
    }
}

/// An executor for each topology, on several threads.
struct Apart(Vec<Box<dyn Executor>>);

impl Apart {
    fn open(on: &dyn Backend, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        let executors = openings.into_iter().map(|opening| on.open(opening));
        Ok(Box::new(Apart(executors.collect::<Result<_, _>>()?)))
    }
}

impl Many for Apart {
    fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        _room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        let mut by_executor: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for (q, (topology, _)) in queries.iter().enumerate() {
            by_executor[*topology].push(q);
        }
        let busy = self.0.par_iter_mut().zip(&by_executor);
        let done = busy.flat_map_iter(|(executor, mine)| {
            mine.iter().map(|&q| (q, executor.run(&queries[q].1)))
        });
        let mut done: Vec<_> = done.collect();
        done.sort_unstable_by_key(|&(q, _)| q);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn counters(&self) -> Option<Counters> {
        counters_of(&self.0)
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.0.iter_mut().for_each(|e| e.set_stop(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        all_limited(&mut self.0, steps)
    }
}
