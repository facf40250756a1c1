//! What one would write in CUDA C, without vyre. The kernels are vyre-cuda's; here they get their names and their inputs.

use super::{Measured, Place, Prepared, Rival, Skip};
use crate::bench::workloads::{Problem, Values, Workload};
use vyre_cuda::rivals::HostLoopBfs;
use vyre_cuda::{Device, DeviceError};

pub(super) fn all() -> Vec<Box<dyn Rival>> {
    let awaited = AWAITED.map(|(name, about)| Box::new(Awaited { name, about }) as Box<dyn Rival>);
    std::iter::once(Box::new(HostLoop) as Box<dyn Rival>)
        .chain(awaited)
        .collect()
}

fn unavailable(e: DeviceError) -> Skip {
    Skip::Unavailable(e.to_string())
}

struct HostLoop;

impl Rival for HostLoop {
    fn name(&self) -> &'static str {
        "host-loop"
    }

    fn about(&self) -> &'static str {
        "CUDA C, one launch a level, the frontier's length read back after each"
    }

    fn place(&self) -> Place {
        Place::Gpu
    }

    fn prepare<'w>(&self, workload: &'w Workload) -> Result<Box<dyn Prepared + 'w>, Skip> {
        let Problem::Bfs { graph, .. } = &workload.problem else {
            return Err(Skip::NoAlgorithm);
        };
        let device = Device::open(0).map_err(unavailable)?;
        let mut search = HostLoopBfs::new(&device, graph).map_err(unavailable)?;
        Ok(Box::new(move || {
            let timed = search.run(0).map_err(|e| e.to_string())?;
            let dist = search.distances().map_err(|e| e.to_string())?;
            Ok(Measured {
                values: Values::U32(dist),
                rounds: Some(u64::from(timed.levels)),
                device_ns: Some(timed.device_ns),
            })
        }))
    }
}

/// Not written yet.
const AWAITED: [(&str, &str); 3] = [
    (
        "queued",
        "CUDA C, launches queued ahead, a check every k rounds",
    ),
    ("while-graph", "CUDA C, a CUDA graph with a WHILE node"),
    ("compiled", "CUDA C, one compiled persistent kernel"),
];

struct Awaited {
    name: &'static str,
    about: &'static str,
}

impl Rival for Awaited {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn place(&self) -> Place {
        Place::Gpu
    }

    fn prepare<'w>(&self, _: &'w Workload) -> Result<Box<dyn Prepared + 'w>, Skip> {
        let device = Device::open(0);
        Err(device.map_or_else(unavailable, |_| Skip::Unavailable("not written yet".into())))
    }
}
