//! What one would write in CUDA C, without vyre. The kernels are vyre-cuda's; here they get their names and their inputs.

use super::{Measured, Place, Prepared, Rival, Skip, bucket_width};
use crate::bench::workloads::{DAMPING, FACTOR, Problem, SEED, TOLERANCE, Values, Workload};
use std::sync::{Arc, Mutex, PoisonError};
use vyre_cuda::Device;
use vyre_cuda::rivals::{self, Column, Kernels, Way};

pub(super) fn all() -> Vec<Box<dyn Rival>> {
    let rival = |name, about, way| Box::new(Gpu { name, about, way }) as Box<dyn Rival>;
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
            "while-graph",
            "CUDA C, a CUDA graph with a WHILE node around four steps",
            Way::WhileGraph,
        ),
        rival(
            "compiled",
            "CUDA C, one compiled persistent kernel",
            Way::Compiled,
        ),
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
        let kernels = kernels()?;
        let problem = match &workload.problem {
            Problem::Bfs { graph, symmetric } => rivals::Problem::Bfs {
                graph,
                symmetric: *symmetric,
            },
            Problem::Sssp { graph, weights } => rivals::Problem::Sssp {
                graph,
                weights,
                width: bucket_width(graph, weights, Place::Gpu),
            },
            Problem::PageRank { graph } => rivals::Problem::PageRank {
                graph,
                damping: DAMPING,
                tolerance: TOLERANCE,
            },
            Problem::Components { graph } => rivals::Problem::Components { graph },
            Problem::Liveness { cfg, predecessors } => rivals::Problem::Liveness {
                predecessors,
                uses: &cfg.uses,
                defs: &cfg.defs,
            },
            Problem::Saxpy { x, y } => rivals::Problem::Saxpy {
                factor: FACTOR,
                x,
                y,
            },
            Problem::Hash { len } => rivals::Problem::Hash {
                len: *len,
                seed: SEED,
            },
        };
        let unavailable = |e: rivals::RivalError| Skip::Unavailable(e.to_string());
        let mut rival = rivals::Rival::new(&kernels, problem, self.way).map_err(unavailable)?;
        rival.tune().map_err(unavailable)?;
        let has_rounds = !matches!(
            workload.problem,
            Problem::Saxpy { .. } | Problem::Hash { .. }
        );
        Ok(Box::new(move || {
            let timed = rival.run().map_err(|e| e.to_string())?;
            let values = match rival.results().map_err(|e| e.to_string())? {
                Column::U32(values) => Values::U32(values),
                Column::U64(values) => Values::U64(values),
                Column::F32(values) => Values::F32(values),
                other => return Err(format!("a result of another type: {other:?}")),
            };
            Ok(Measured {
                values,
                rounds: has_rounds.then_some(u64::from(timed.steps)),
                device_ns: Some(timed.device_ns),
            })
        }))
    }
}
