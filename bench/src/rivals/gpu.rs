//! What one would write in CUDA C, without vyre: [`crate::cuda`] has the kernels, here they get their names and inputs.
//!
//! Inputs of a run and its result go through the same page-locked parts, and are copied by the same threads, as those
//! of vyre's sessions: wall times differ by who starts the steps, not by how the bytes travel.

use super::{Measured, Place, Prepared, Results, Rival, Skip, bucket_width};
use crate::cuda::{self, Kernels, Way};
use crate::workloads::{DAMPING, FACTOR, Problem, SEED, TOLERANCE, Values, Workload};
use std::sync::{Arc, Mutex, PoisonError};
use vyre::cuda::Device;

pub(super) fn all() -> Vec<Box<dyn Rival>> {
    let rival = |name, about, way| {
        Box::new(Gpu {
            name,
            about,
            way,
            results: Results::New,
        }) as Box<dyn Rival>
    };
    vec![
        rival(
            "host-loop",
            "CUDA C, one launch a step, what it leaves read back after each",
            Way::HostLoop,
        ),
        rival(
            "queued",
            "CUDA C, steps launched ahead, a look at what they left every 32",
            Way::Queued,
        ),
        rival(
            "queued-pdl",
            "CUDA C, steps launched ahead with programmatic dependent launch (compute capability 9.0)",
            Way::Dependent,
        ),
        rival(
            "graph-pdl",
            "the same steps in CUDA graphs of 8 or 32",
            Way::DependentGraph,
        ),
        rival(
            "while-graph",
            "CUDA C, a CUDA graph with a WHILE node around four steps",
            Way::WhileGraph,
        ),
        rival(
            "compiled",
            "CUDA C, one compiled persistent kernel",
            Way::Compiled,
        ),
        Box::new(Gpu {
            name: "compiled-into",
            about: "the same, with results in the memory of the ones before",
            way: Way::Compiled,
            results: Results::Earlier,
        }),
    ]
}

/// The kernels of this process's first device, loaded when first asked for.
pub(crate) fn kernels() -> Result<Arc<Kernels>, Skip> {
    static LOADED: Mutex<Option<Arc<Kernels>>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kernels) = &*loaded {
        return Ok(Arc::clone(kernels));
    }
    let device = Device::open(0).map_err(|e| Skip::Unavailable(e.to_string()))?;
    let kernels = Kernels::load(&device).map_err(|e| Skip::Unavailable(e.to_string()))?;
    Ok(Arc::clone(loaded.insert(kernels)))
}

struct Gpu {
    name: &'static str,
    about: &'static str,
    way: Way,
    results: Results,
}

impl Rival for Gpu {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn place(&self) -> Place {
        Place::Gpu
    }

    fn prepare<'w>(&self, workload: &'w Workload) -> Result<Box<dyn Prepared + 'w>, Skip> {
        // Its result takes the place of an input anyway.
        if self.results == Results::Earlier && matches!(workload.problem, Problem::Saxpy { .. }) {
            return Err(Skip::NoAlgorithm);
        }
        let kernels = kernels()?;
        let problem = match &workload.problem {
            Problem::Bfs { graph, symmetric } => cuda::Problem::Bfs {
                graph,
                symmetric: *symmetric,
            },
            Problem::Sssp { graph, weights } => cuda::Problem::Sssp {
                graph,
                weights,
                width: bucket_width(graph, weights, Place::Gpu),
            },
            Problem::PageRank { graph } => cuda::Problem::PageRank {
                graph,
                damping: DAMPING,
                tolerance: TOLERANCE,
            },
            Problem::Components { graph } => cuda::Problem::Components { graph },
            Problem::Liveness { cfg, predecessors } => cuda::Problem::Liveness {
                predecessors,
                uses: &cfg.uses,
                defs: &cfg.defs,
            },
            Problem::Reaching { .. } | Problem::Relation { .. } => return Err(Skip::NoAlgorithm),
            Problem::Saxpy { x, y } => cuda::Problem::Saxpy {
                factor: FACTOR,
                x,
                y,
            },
            Problem::Hash { len } => cuda::Problem::Hash {
                len: *len,
                seed: SEED,
            },
        };
        let unavailable = |e: cuda::RivalError| Skip::Unavailable(e.to_string());
        let mut rival = cuda::Rival::new(&kernels, problem, self.way).map_err(unavailable)?;
        rival.tune().map_err(unavailable)?;
        let has_rounds = !matches!(
            workload.problem,
            Problem::Saxpy { .. } | Problem::Hash { .. }
        );
        Ok(Box::new(Run {
            rival,
            has_rounds,
            before: match &workload.problem {
                Problem::Saxpy { y, .. } => Some(y),
                _ => None,
            },
            results: self.results,
            into: None,
        }))
    }
}

struct Run<'w> {
    rival: cuda::Rival<'w>,
    has_rounds: bool,
    /// What the result takes the place of, where the caller has that: its memory is there before the run.
    before: Option<&'w Vec<f32>>,
    results: Results,
    into: Option<Values>,
}

impl Prepared for Run<'_> {
    fn reset(&mut self) {
        if let Some(y) = self.before {
            self.into = Some(Values::F32(y.clone()));
        }
    }

    fn give_back(&mut self, values: Values) {
        self.into = (self.results == Results::Earlier).then_some(values);
    }

    fn run(&mut self) -> Result<Measured, String> {
        let timed = self.rival.run().map_err(|e| e.to_string())?;
        let result = self.rival.results_in(self.into.take());
        Ok(Measured {
            values: result.map_err(|e| e.to_string())?,
            rounds: self.has_rounds.then_some(u64::from(timed.steps)),
            device_ns: Some(timed.device_ns),
        })
    }
}
