//! A backend of vyre for GPUs that are reached by Vulkan, Metal or Direct3D 12, through [wgpu](https://docs.rs/wgpu). It
//! runs the shaders that `vyre-naga` makes of a pass (docs/PORTABLE.md).
//!
//! A program that links this crate has `vyre::Runtime::named("wgpu")`. [`Wgpu`] is the same with a choice of its own:
//!
//! ```
//! use std::sync::Arc;
//! use vyre::Runtime;
//! use vyre_wgpu::{Adapters, Wgpu};
//!
//! match Wgpu::open(Adapters::Hardware) {
//!     Ok(gpu) => println!("passes run on {}", Runtime::on(Arc::new(gpu))),
//!     Err(why) => println!("passes run on the CPU: {why}"),
//! }
//! ```
//!
//! | question | answer |
//! | --- | --- |
//! | What adapters are there, and what happens when a device is lost? | `device` |
//! | What does the plan of the shaders say? | `plan` |
//! | Which shaders does a program have here? | `pass` |
//! | Where does everything lie on the device? | `memory` |
//! | How is a run led, sweep by sweep? | `session`, as vyre-core's `Sweeper` |
//! | How are many rounds one submission? | `rounds` |

mod clock;
mod device;
mod direction;
mod memory;
mod pass;
mod plan;
mod rounds;
mod session;

pub use device::{Adapter, Adapters, DeviceError, adapters};
pub use pass::REFUSED;

use device::{Opened, lock};
use memory::Layout;
use pass::SOFTWARE_TURNS;
use session::Session;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use vyre::Asked;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::footprint::{Allocation, Target, footprint_on};
use vyre_core::plan::shaders::uniform_words;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::{Backend, Executor, Holder, Opening, runnable};
use vyre_core::vir0::module::{Domain, Program};
use vyre_naga::Options;

vyre::offer_backend!(vyre::OfferedBackend {
    name: "wgpu",
    about: "The first GPU that Vulkan, Metal or Direct3D 12 reaches",
    open: offered,
});

/// By name, a program gets software on the CPU where there is no GPU; as a side of `auto`, that is never worth it.
fn offered(asked: Asked) -> Result<Arc<dyn Backend>, String> {
    let which = match asked {
        Asked::ByName => Adapters::Any,
        Asked::ByAuto => Adapters::Hardware,
    };
    match Wgpu::open(which) {
        Ok(wgpu) => Ok(Arc::new(wgpu)),
        Err(why) => Err(why.to_string()),
    }
}

/// A device of this machine as a backend.
pub struct Wgpu {
    which: Adapters,
    opened: Mutex<Arc<Opened>>,
    options: Options,
    at_once: Option<u64>,
    shares_edges: Option<bool>,
    pull_from: Option<u32>,
}

impl Wgpu {
    /// The device on the first adapter: a discrete GPU before an integrated one, and software last.
    ///
    /// # Errors
    /// There is no adapter of this kind, or its driver opens no device.
    pub fn open(which: Adapters) -> Result<Wgpu, DeviceError> {
        Ok(Wgpu {
            which,
            opened: Mutex::new(Arc::new(Opened::first(which)?)),
            options: Options::default(),
            at_once: None,
            shares_edges: None,
            pull_from: None,
        })
    }

    /// The same, with another limit for the turns of loops that an invocation may take in a dispatch: a shader cannot be
    /// cancelled. They are those of all of its items, and the look that ends a loop counts as one. A run that takes more
    /// ends with the error of a limit of work. By default they are 2^24. On an adapter that is software they are 2^15 at
    /// most: Mesa's ends loops after 65,535 turns of all of them, and says nothing.
    #[must_use]
    pub fn with_turns(self, turns: u32) -> Wgpu {
        Wgpu {
            options: Options {
                turns,
                ..self.options
            },
            ..self
        }
    }

    /// The same, with a fixed number of rounds in each submission of a fixpoint. By default it follows how long those
    /// before took.
    #[must_use]
    pub fn with_rounds_at_once(self, rounds: u64) -> Wgpu {
        Wgpu {
            at_once: Some(rounds.max(1)),
            ..self
        }
    }

    /// The same, where the invocations of a workgroup share out the edges of their items, or do not. By default they do
    /// unless the adapter is software, where that took longer (docs/PORTABLE.md).
    #[must_use]
    pub fn with_shared_edges(self, yes: bool) -> Wgpu {
        Wgpu {
            shares_edges: Some(yes),
            ..self
        }
    }

    /// The same, where searches pull from frontiers of at least so many edges, in graphs that are symmetric or whose
    /// reverse the pass names; 0: they never do. By default they do in wide searches, from the fourth run of a session on
    /// or so.
    #[must_use]
    pub fn with_pull_from(self, edges: u32) -> Wgpu {
        Wgpu {
            pull_from: Some(edges),
            ..self
        }
    }

    /// What it runs on.
    pub fn adapter(&self) -> Adapter {
        lock(&self.opened).adapter.clone()
    }

    /// How often the host has waited for the device and looked at what it did, since the device was opened.
    pub fn looks(&self) -> u64 {
        lock(&self.opened).looks.load(Relaxed)
    }

    /// Sweeps that pulled, since the device was opened.
    pub fn pulled(&self) -> u64 {
        lock(&self.opened).pulled.load(Relaxed)
    }

    /// Bytes of the largest buffer that shaders can have here. What lies beside each other in an arena is one buffer.
    pub fn most_buffer_bytes(&self) -> u64 {
        lock(&self.opened).most_bytes()
    }

    /// Takes the device away, as a driver does that resets it. Sessions end with an error, and new ones open it again.
    pub fn lose(&self) {
        let opened = lock(&self.opened);
        opened.device.destroy();
        opened.notice();
    }

    /// The device, opened again where it was lost.
    fn opened(&self) -> Result<Arc<Opened>, RunError> {
        let mut opened = lock(&self.opened);
        if opened.is_lost() {
            let again = Opened::first(self.which).map_err(|e| RunError::Backend(e.to_string()))?;
            *opened = Arc::new(again);
        }
        Ok(Arc::clone(&opened))
    }
}

/// Whether an invocation that sweeps the edges of its item takes fewer turns than software ends a loop after.
fn sweeps_end(opening: &Opening<'_>) -> Result<(), RunError> {
    for wave in &opening.program.waves {
        let Domain::EdgesFrom(topology, _) = wave.domain else {
            continue;
        };
        let Some(graph) = opening.topology.graphs.get(topology.index()) else {
            continue;
        };
        let nodes = 0..graph.node_count() as u32;
        if let Some(hub) = nodes
            .into_iter()
            .find(|&v| graph.degree(v) > SOFTWARE_TURNS)
        {
            return Err(RunError::Invalid(format!(
                "node {hub} of `{}` has {} edges; this adapter is software, where a sweep takes at most {SOFTWARE_TURNS} \
                 of a node",
                opening.program.topologies[topology.index()].name,
                graph.degree(hub),
            )));
        }
    }
    Ok(())
}

fn layout(opened: &Opened, program: &Program) -> Layout {
    let align = u64::from(opened.limits.min_uniform_buffer_offset_alignment.max(16));
    Layout {
        groups: opened.most_groups(),
        block_bytes: (4 * u64::from(uniform_words(program))).next_multiple_of(align),
    }
}

impl Backend for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn device(&self) -> String {
        self.adapter().to_string()
    }

    fn identity(&self) -> String {
        let adapter = self.adapter();
        let version = env!("CARGO_PKG_VERSION");
        format!("wgpu {version}, {adapter}, {}", adapter.driver)
    }

    /// A submission that the host waits for, a round in one, and what the memory of a fast device feeds.
    fn floor(&self) -> Floor {
        Floor {
            run_ns: 50_000.0,
            round_ns: 5_000.0,
            item_ns: 0.05,
        }
    }

    fn holder(&self, program: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Device(Arc::new(layout(&*self.opened()?, program))))
    }

    fn is_host(&self) -> bool {
        false
    }

    /// docs/PORTABLE.md has the table.
    fn exact_floats(&self) -> bool {
        false
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        runnable(&opening.program, (self.name(), false))?;
        let opened = self.opened()?;
        if opening.allocation == Allocation::Shared {
            let (layout, sizes) = (
                layout(&opened, &opening.program),
                opening.topology.sizes(&opening.program),
            );
            let takes = footprint_on(&opening.program, &sizes, Target::Device(&layout));
            let takes = takes.map_err(|e| RunError::Invalid(e.to_string()))?;
            if takes.separate_bytes > takes.shared_bytes {
                return Err(RunError::Memory {
                    what: "scratch and frontiers do not share memory in shaders".to_owned(),
                    needed_bytes: takes.separate_bytes,
                    available_bytes: takes.shared_bytes,
                });
            }
        }
        if opened.adapter.is_software {
            sweeps_end(&opening)?;
        }
        let options = Options {
            shares_edges: self.shares_edges.unwrap_or(!opened.adapter.is_software),
            ..self.options
        };
        let pass = opened.pass(&opening.program, options)?;
        let mut session = Session::open(&opened, pass, &opening)?;
        session.at_once = self.at_once;
        session.direction.from = self.pull_from;
        Ok(Box::new(session))
    }
}
