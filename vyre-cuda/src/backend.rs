//! What a runtime asks of this backend.

use crate::device::{Code, Device, DeviceError};
use crate::megakernel::{Many, Megakernel, graphs_of};
use crate::shape::Shape;
use std::sync::{Arc, OnceLock, Weak};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::gains::{Figure, Gain, Gains};
use vyre_core::plan::side::Floor;
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::{self, Backend, Executor, GiveUp, Holder, Opening};
use vyre_core::vir0::module::Program;

/// A CUDA device as a backend.
pub struct Cuda {
    device: Arc<Device>,
    /// All of its memory.
    memory_bytes: OnceLock<u64>,
}

impl Cuda {
    /// The device with this ordinal.
    ///
    /// # Errors
    /// Without a driver, or a device that can be used.
    pub fn open(ordinal: usize) -> Result<Cuda, DeviceError> {
        Ok(Cuda::on(Device::open(ordinal)?))
    }

    /// A device that is open.
    pub(crate) fn on(device: Arc<Device>) -> Cuda {
        Cuda {
            device,
            memory_bytes: OnceLock::new(),
        }
    }

    /// The same with a shape for the modules of compiled passes, in the place of what each pass would have. It is for
    /// measuring: results are the same. A pass whose tables do not fit then keeps the interpreter's shape, and
    /// `explain()` says so.
    pub fn with_shape(self, shape: Shape) -> Cuda {
        self.device.want_shape(shape);
        self
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Why the first process on a machine waits while the driver compiles the megakernel; `None` where this crate has
    /// machine code for the device.
    pub fn waits(&self) -> Option<String> {
        match self.device.code() {
            Code::Cubin { .. } => None,
            waited @ Code::Ptx(_) => Some(waited.to_string()),
        }
    }
}

/// What candidates for a selection gain and cost: `calibrate` on an H100, 2026-11-28. Keeping plans gained 1.04 on an
/// H200 and 0.85 here, which is how far two runs of it lie apart: nothing is known of it.
const GAINS: Gains = Gains {
    lists: Figure::Of(Gain {
        cost_ns: 64_395,
        ..Gain::new(20_157)
    }),
    plan: Figure::Unmeasured,
    pulling: Figure::Of(Gain {
        cost_ns: 94_343,
        min_frontier_items: 8_625,
        ..Gain::new(12_427)
    }),
    jit: Figure::Of(Gain {
        cost_ns: 510_506_495,
        ..Gain::new(25_790)
    }),
    fusion: Figure::Of(Gain {
        cost_ns: 7_895_150,
        ..Gain::new(10_234)
    }),
};

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device(&self) -> String {
        self.device.name().to_owned()
    }

    fn identity(&self) -> String {
        let (version, device) = (env!("CARGO_PKG_VERSION"), self.device.name());
        let driver = self.device.driver_version();
        format!("cuda {version}, {device}, driver {driver}")
    }

    fn ordinal(&self) -> u32 {
        self.device.ordinal() as u32
    }

    /// A launch with its readback, a barrier, and what the memory of the fastest devices feeds.
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 10_000.0,
            round_ns: 1_000.0,
            item_ns: 0.02,
        }
    }

    /// Of the contract's defaults one was measured to be wrong: on an H100, sparse rounds are never faster with fewer
    /// CTAs, and those of a few thousand items are slower (docs/PERFORMANCE.md).
    fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        thresholds.launch.sparse_workers = u32::MAX;
        // A round pulls only where its frontier has more edges than a fourth of the nodes: 64 edges a node at this
        // density. The band is as narrow in proportion.
        thresholds.route.density[..2].fill(1.0 / 256.0);
        thresholds.route.hysteresis = 1.0 / 2048.0;
        thresholds.gains = GAINS;
        thresholds
    }

    fn holder(&self, program: &Program, topology: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        let graphs = graphs_of(&self.device, program, topology)?;
        Ok(Holder::Device(Arc::new(graphs)))
    }

    fn is_host(&self) -> bool {
        false
    }

    fn waiting_room_bytes(&self) -> Result<Option<u64>, RunError> {
        if let Some(&bytes) = self.memory_bytes.get() {
            return Ok(Some(bytes));
        }
        let (_, total_bytes) = self.device.memory_bytes()?;
        Ok(Some(*self.memory_bytes.get_or_init(|| total_bytes)))
    }

    fn register(&self, spare: Weak<dyn GiveUp>) {
        self.device.register(spare);
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        let Opening {
            program,
            topology,
            allocation,
            native: _,
        } = opening;
        let megakernel = Megakernel::new(&self.device, program, topology, allocation)?;
        Ok(Box::new(megakernel))
    }

    fn open_many(&self, openings: Vec<Opening<'_>>) -> Result<Box<dyn backend::Many>, RunError> {
        // One launch has one schedule: a topology that only fits with more barriers keeps all of them apart.
        let together = |first: &Opening<'_>| {
            let mut programs = openings.iter().map(|of| &of.program);
            programs.all(|p| p.schedule == first.program.schedule)
        };
        let Some(first) = openings.first().filter(|first| together(first)) else {
            let each = openings.into_iter();
            return backend::apart(each.map(|opening| self.open(opening)));
        };
        let shares = openings
            .iter()
            .any(|of| of.allocation == Allocation::Shared);
        let allocation = match shares {
            true => Allocation::Shared,
            false => Allocation::Separate,
        };
        let topologies: Vec<TopologyArgs<'_>> =
            openings.iter().map(|of| of.topology.clone()).collect();
        let of = (Arc::clone(&first.program), allocation);
        Ok(Box::new(Many::new(&self.device, of, &topologies)?))
    }
}
