//! The backends of the CPU: [`native`] runs the passes' own functions on all threads, [`vir0`] their bytecode on one.

pub mod interp;
pub mod native;
mod state;
pub mod vir0;

use crate::dsl::error::RunError;
use crate::plan::session::Counters;
use crate::plan::side::Floor;
use crate::run::args::{Args, Lent, TopologyArgs};
use crate::run::backend::{
    Backend, Executor, Followed, Holder, Many, ManyHint, ManyLimits, Opening, all_limited,
    counters_of, lent_by,
};
use crate::run::outcome::{Outcome, for_queries};
use crate::run::stop::Stop;
use crate::vir0::module::Program;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::Arc;

/// The passes' own functions, on all threads.
pub struct Native;

/// The passes' own functions, on threads of its own.
pub struct NativeThreads(Arc<ThreadPool>);

impl NativeThreads {
    /// As many threads as `asked`, which end with this and its executors.
    ///
    /// # Errors
    /// None are asked for, or more than [`native::threads`] makes; the system does not give them.
    pub fn new(asked: usize) -> Result<NativeThreads, RunError> {
        let most = native::most_threads();
        if asked == 0 || asked > most {
            return Err(RunError::ThreadCount { asked, most });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(asked).build();
        let pool = pool.map_err(|e| RunError::Backend(format!("{asked} threads: {e}")))?;
        Ok(NativeThreads(Arc::new(pool)))
    }

    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }
}

impl Backend for NativeThreads {
    fn name(&self) -> &'static str {
        Native.name()
    }

    fn device(&self) -> String {
        native::device(self.threads())
    }

    fn floor(&self) -> Floor {
        native::floor(self.threads())
    }

    fn runs_bytecode(&self) -> bool {
        Native.runs_bytecode()
    }

    fn runs_parts(&self) -> bool {
        Native.runs_parts()
    }

    fn holder(&self, program: &Program, args: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Native.holder(program, args)
    }

    fn is_host(&self) -> bool {
        Native.is_host()
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let mut executor = match opening.native {
            Some(open) => open(opening.program, opening.topology, opening.allocation)?,
            None => Vir0.open(opening)?,
        };
        executor.set_pool(&self.0);
        Ok(executor)
    }

    fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn Many>, RunError> {
        Apart::open((self, "native"), openings, Some(&self.0))
    }
}

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn device(&self) -> String {
        match native::threads() {
            Ok(threads) => native::device(threads),
            Err(e) => e.to_string(),
        }
    }

    fn floor(&self) -> Floor {
        native::floor(native::threads().unwrap_or(1))
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
        Apart::open((self, "native"), openings, None)
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
        Apart::open((self, "interpreter"), openings, None)
    }
}

/// An executor for each topology, on several threads.
struct Apart {
    executors: Vec<Box<dyn Executor>>,
    /// As theirs is called.
    code: &'static str,
    /// Whose threads; `None`: those of the process.
    pool: Option<Arc<ThreadPool>>,
}

impl Apart {
    /// Opens them on a backend whose code is called so.
    fn open(
        (on, code): (&dyn Backend, &'static str),
        openings: Vec<Opening<'_>>,
        pool: Option<&Arc<ThreadPool>>,
    ) -> Result<Box<dyn Many>, RunError> {
        let mut executors = for_queries(openings.len())?;
        for opening in openings {
            executors.push(on.open(opening)?);
        }
        Ok(Box::new(Apart {
            executors,
            code,
            pool: pool.cloned(),
        }))
    }
}

impl Apart {
    /// Executors run beside each other, each its own queries in order.
    ///
    /// # Errors
    /// There is no memory for what is told of all the queries.
    fn run_each(
        &mut self,
        queries: &[(usize, Args<'_>)],
    ) -> Result<Vec<Result<Outcome, RunError>>, RunError> {
        let of = |q: usize| queries[q].0;
        let mut order: Vec<usize> = for_queries(queries.len())?;
        order.extend(0..queries.len());
        order.sort_unstable_by_key(|&q| (of(q), q));
        let mut done = for_queries(queries.len())?;
        done.extend(queries.iter().map(|_| Err(RunError::NoRuns)));
        let mut busy = for_queries(self.executors.len().min(queries.len()))?;
        let (mut rest, mut executors) = (&mut done[..], self.executors.iter_mut().enumerate());
        for mine in order.chunk_by(|&a, &b| of(a) == of(b)) {
            let (results, others) = std::mem::take(&mut rest).split_at_mut(mine.len());
            rest = others;
            let asked = of(mine[0]);
            if let Some((_, executor)) = executors.find(|(at, _)| *at == asked) {
                busy.push((executor, mine, results));
            }
        }
        native::on(self.pool.as_ref(), || {
            busy.par_iter_mut().for_each(|(executor, mine, results)| {
                for (&q, result) in mine.iter().zip(results.iter_mut()) {
                    *result = executor.run(&queries[q].1);
                }
            });
        });
        drop(busy);
        // To their places.
        for at in 0..order.len() {
            while order[at] != at {
                let to = order[at];
                done.swap(at, to);
                order.swap(at, to);
            }
        }
        Ok(done)
    }
}

impl Many for Apart {
    fn run_batch(
        &mut self,
        queries: &[(usize, Args<'_>)],
        _room: Option<u64>,
    ) -> Vec<Result<Outcome, RunError>> {
        self.run_each(queries).unwrap_or_else(|e| vec![Err(e)])
    }

    fn counters(&self) -> Option<Counters> {
        counters_of(&self.executors)
    }

    fn lend_topologies(&self) -> Result<Option<Vec<Lent<'_>>>, RunError> {
        lent_by(&self.executors)
    }

    fn limits(&self) -> ManyLimits {
        ManyLimits {
            jit: false,
            pulls: self.executors.iter().any(|e| e.limits().pulls),
        }
    }

    fn follow(&mut self, hint: &ManyHint) -> Followed {
        let executors = self.executors.iter_mut();
        executors.for_each(|e| e.set_pulls(hint.pulls));
        Followed {
            workers: (self.executors.iter().map(|e| e.limits().max_workers).max()).unwrap_or(1),
            code: self.code.into(),
            sweeps: None,
            notes: Vec::new(),
        }
    }

    fn set_stop(&mut self, stop: &Arc<Stop>) {
        self.executors.iter_mut().for_each(|e| e.set_stop(stop));
    }

    fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        all_limited(&mut self.executors, steps)
    }
}
