//! GPU dataflow passes as annotated Rust: the runtime, its sessions, and the macros.
//!
//! This is the one crate to depend on: `use vyre_cuda::prelude::*;` brings the attribute macros, the parameter types and
//! [`Runtime`].

pub mod error;
pub mod prelude;
mod runtime;
mod session;

pub use error::Error;
pub use runtime::Runtime;
pub use session::Session;
pub use vyre_core::csr::{Csr, CsrError};
pub use vyre_core::exec::{Report, RunError};
pub use vyre_core::plan::show::Plan;
pub use vyre_core::trap::{Trap, TrapKind};
pub use vyre_core::{dsl, module, plan};
pub use vyre_macros::*;

/// What expanded code names. Not for anyone else.
#[doc(hidden)]
pub mod __private {
    pub use vyre_core::dsl::*;
    pub use vyre_core::exec::{Args, Element, Outcome, Report, RunError, Slice, TopologyArgs};
    pub use vyre_core::module::{
        BufferId, FixpointId, FrontierId, Parts, ReductionId, ScalarId, TopologyId, WaveId, here,
    };
    pub use vyre_core::native::{Column, Lane, Sweep, Until};
    pub use vyre_core::pass::Pass;
}
