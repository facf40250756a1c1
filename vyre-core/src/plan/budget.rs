//! Whether a pass meets its budget on each target, with every graph within its limits.
//!
//! The macros ask when a pass is compiled, and `PLAN` shows the answer. What a session takes never falls as its graph
//! grows ([`super::footprint`]), so the largest graph decides.
//!
//! ```
//! use vyre_core::plan::budget::{Backend, verdicts};
//! use vyre_core::vir0::manifest::Manifest;
//! use vyre_core::vir0::module::{Buffer, Extent, Program, Role};
//! use vyre_core::vir0::scalar::Scalar;
//! let dist = Buffer {
//!     name: "dist".into(),
//!     scalar: Scalar::U32,
//!     extent: Extent::Nodes,
//!     role: Role::Output,
//!     init: None,
//!     reset: None,
//! };
//! let manifest = Manifest { max_nodes: Some(1_000), ..Manifest::default() };
//! let program = Program { buffers: vec![dist], manifest, ..Program::default() };
//! for verdict in verdicts(&program, 3_999) {
//!     assert_eq!(verdict.fit.unwrap_err().needed_bytes(), Some(4_000), "{}", verdict.backend.name());
//! }
//! assert!(Backend::Native.fit(&program, 4_000).is_ok());
//! assert_eq!(Backend::Native.least(&program), Some(4_000));
//! ```

use super::cuda::Cuda;
use super::device::Device;
use super::fit::{Fit, FitError, fit_on};
use super::footprint::{Footprint, FootprintError, Target, footprint_on};
use crate::vir0::module::{Extent, Program};
use crate::vir0::sizes::{PartSizes, Sizes};

/// Where passes run.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// The native executor.
    Native,
    /// The interpreter.
    Vir0,
    /// A device.
    Device(&'static dyn Device),
}

/// Whether a pass meets its budget on a target.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Which target.
    pub backend: Backend,
    /// How it fits, or why it does not.
    pub fit: Result<Fit, FitError>,
}

/// The verdicts of the targets that run the program, in the order of [`Backend::ALL`].
pub fn verdicts(program: &Program, budget_bytes: u64) -> Vec<Verdict> {
    let runs = Backend::ALL.into_iter().filter(|b| b.runs(program));
    let verdict = |backend: Backend| Verdict {
        backend,
        fit: backend.fit(program, budget_bytes),
    };
    runs.map(verdict).collect()
}

/// The sizes of the largest graph within the program's limits. A limit that is not given counts as nothing, and a graph
/// in parts has one for each node.
pub fn limits(program: &Program) -> Sizes {
    let nodes = program.manifest.max_nodes.unwrap_or(0);
    let edges = program.manifest.max_edges.unwrap_or(0);
    let buffers = program.buffers.iter();
    let bounds = buffers.filter(|b| matches!(b.extent, Extent::Bounds(..)));
    let parts = PartSizes {
        count: nodes,
        most_nodes: nodes,
        most_edges: edges,
    };
    Sizes {
        nodes,
        edges: vec![edges; program.topologies.len()],
        parts: vec![parts; bounds.count()],
        ..Sizes::default()
    }
}

/// How often [`least_on`] asks for more.
const MOST_TRIES: usize = 64;

/// A budget that a session of these sizes meets, and no less that does where barrier groups are few waves; `None` where it
/// was not found.
pub fn least_on(program: &Program, sizes: &Sizes, target: Target<'_>) -> Option<u64> {
    let mut budget_bytes = 0;
    // What is there during the whole run is asked for first, then what comes and goes.
    for _ in 0..MOST_TRIES {
        match fit_on(program, sizes, (budget_bytes, target)) {
            Ok(_) => return Some(budget_bytes),
            Err(e) => budget_bytes = e.needed_bytes()?,
        }
    }
    None
}

impl Backend {
    /// A CUDA device.
    pub const CUDA: Backend = Backend::Device(&Cuda);

    /// Those whose budgets are judged when a pass is compiled.
    pub const ALL: [Backend; 3] = [Backend::Native, Backend::Vir0, Backend::CUDA];

    /// The name of the backend that a runtime has.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Native => "native",
            Backend::Vir0 => "vir0",
            Backend::Device(device) => device.name(),
        }
    }

    /// Whether its memory is the host's, on which every build runs passes.
    pub fn is_host(self) -> bool {
        match self {
            Backend::Native | Backend::Vir0 => true,
            Backend::Device(_) => false,
        }
    }

    /// Whether it runs the program.
    pub fn runs(self, program: &Program) -> bool {
        match self {
            Backend::Native | Backend::Vir0 => true,
            Backend::Device(device) => device.runs(program),
        }
    }

    /// The most that a session with a graph within the limits takes here.
    ///
    /// # Errors
    /// [`FootprintError::Overflow`].
    pub fn takes(self, program: &Program) -> Result<Footprint, FootprintError> {
        let sizes = limits(program);
        self.ask(program, &sizes, |target| {
            footprint_on(program, &sizes, target)
        })
    }

    /// How every session with a graph within the limits stays under a budget.
    ///
    /// # Errors
    /// The session with the largest graph does not.
    pub fn fit(self, program: &Program, budget_bytes: u64) -> Result<Fit, FitError> {
        let sizes = limits(program);
        self.ask(program, &sizes, |target| {
            fit_on(program, &sizes, (budget_bytes, target))
        })
    }

    /// A budget that every session with a graph within the limits meets, and no less that does where barrier groups are
    /// few waves; `None` where 64 bits do not count it.
    pub fn least(self, program: &Program) -> Option<u64> {
        let sizes = limits(program);
        // With the schedule as it is, if nothing less is found.
        self.ask(program, &sizes, |target| least_on(program, &sizes, target))
            .or_else(|| self.takes(program).ok().map(|takes| takes.shared_bytes))
    }

    fn ask<T>(self, program: &Program, sizes: &Sizes, ask: impl FnOnce(Target<'_>) -> T) -> T {
        match self {
            Backend::Native => ask(Target::Native),
            Backend::Vir0 => ask(Target::Vir0),
            Backend::Device(device) => ask(Target::Device(&*device.at_most(program, sizes))),
        }
    }
}

impl PartialEq for Backend {
    /// Names tell them apart.
    fn eq(&self, other: &Backend) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Backend {}
