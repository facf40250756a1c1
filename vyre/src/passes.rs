//! The passes that a binary has, through `inventory`.

use std::fmt;
use vyre_core::plan::show::Plan;
use vyre_core::vir0::manifest::Manifest;
use vyre_core::vir0::module::Parts;

/// A pass that the macros compiled into this binary.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredPass {
    parts: &'static Parts,
    module: &'static str,
}

impl RegisteredPass {
    /// Called by the macros' expansion.
    #[doc(hidden)]
    pub const fn new(parts: &'static Parts, module: &'static str) -> RegisteredPass {
        RegisteredPass { parts, module }
    }

    /// The module that it is.
    pub fn module(&self) -> &'static str {
        self.module
    }

    /// Its plan: waves, groups, buffers.
    pub fn plan(&self) -> Plan {
        Plan::new(*self.parts)
    }

    /// What it claims, and what its evidence proved.
    pub fn manifest(&self) -> Manifest {
        self.plan().program().manifest
    }
}

/// One line: the id, where it is, what is proved.
impl fmt::Display for RegisteredPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.manifest();
        write!(f, "{} ({})", m.id, self.module)?;
        match (m.proof, m.stale) {
            (None, None) => write!(f, ": unproven"),
            (None, Some(why)) => write!(f, ": unproven: {}: {why}", m.evidence),
            (Some(p), _) => write!(
                f,
                ": {}.{:04}x or more against {} in {} samples of {} launches, claims {}.{:04}x",
                p.min_speedup_bps / 10_000,
                p.min_speedup_bps % 10_000,
                p.rival,
                p.samples,
                p.measured.name(),
                m.speedup_bps / 10_000,
                m.speedup_bps % 10_000
            ),
        }
    }
}

inventory::collect!(RegisteredPass);

/// Every pass of this binary, in the order of their ids, then of their modules.
///
/// ```standalone_crate
/// # #[allow(unused)] use vyre::prelude::*;
/// /// Doubles.
/// #[kernel]
/// #[pass(id = "example.double", unproven)]
/// fn double(x: &mut f32) {
///     *x *= 2.0;
/// }
///
/// # fn main() {
/// let passes = vyre::passes();
/// let double = passes.iter().find(|p| p.manifest().id == "example.double").unwrap();
/// assert_eq!(double.manifest().title, "Doubles.");
/// # }
/// ```
pub fn passes() -> Vec<RegisteredPass> {
    let mut all: Vec<RegisteredPass> = inventory::iter::<RegisteredPass>().copied().collect();
    all.sort_by_cached_key(|p| (p.manifest().id, p.module));
    all
}
