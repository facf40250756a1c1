//! Why a runtime, a session or a run failed.

use std::time::Duration;
use thiserror::Error;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::passes::PassError;
use vyre_core::plan::thresholds::ThresholdsError;
use vyre_core::vir0::container::PartsError;
use vyre_core::vir0::trap::Trap;

/// Why a runtime, a session or a run failed.
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// A checked fault stopped the run; the session stays usable.
    #[error(transparent)]
    Trap(Box<Trap>),
    /// A [`Canceller`](crate::Canceller) ended the run, or refused it. There is no result, and the session stays usable.
    #[error("{}", RunError::Cancelled)]
    Cancelled,
    /// The run took longer than it was given, and was ended. There is no result, and the session stays usable.
    #[error("{}", RunError::Deadline { limit: *limit })]
    Deadline {
        /// What it was given.
        limit: Duration,
    },
    /// The run took more steps than it was given, or an invocation of a shader more turns of loops than it may, and was
    /// ended. There is no result, and the session stays usable.
    #[error("{}", RunError::Work { limit: *limit, of: of.clone() })]
    Work {
        /// What it was given, or what an invocation may take.
        limit: u64,
        /// Of a shader, the wave or the condition.
        of: Option<String>,
    },
    /// The arguments do not fit the pass, or the backend failed.
    #[error(transparent)]
    Run(RunError),
    /// The pass's bytecode is not valid: the expansion and the runtime are of different versions.
    #[error(transparent)]
    Program(#[from] PartsError),
    /// No CUDA device can be used.
    #[cfg(feature = "cuda")]
    #[error("no CUDA device: {0}")]
    NoDevice(#[from] vyre_cuda::DeviceError),
    /// This program has no backend of a name, or that cannot be used here.
    #[error("no backend `{name}`: {why}")]
    NoBackend {
        /// As it was asked for.
        name: String,
        /// What there is instead, or what is missing.
        why: String,
    },
    /// What a pipeline is to select from does not fit together, or does not fit.
    #[error(transparent)]
    Select(#[from] PassError),
    /// A file of thresholds cannot be read.
    #[error(transparent)]
    Thresholds(#[from] ThresholdsError),
}

vyre_core::debug_is_display!(Error);

impl Error {
    /// The trap that stopped the run, if that is what happened.
    pub fn trap(&self) -> Option<&Trap> {
        match self {
            Error::Trap(trap) => Some(trap),
            _ => None,
        }
    }
}

impl From<RunError> for Error {
    fn from(e: RunError) -> Error {
        match e {
            RunError::Trap(trap) => Error::Trap(trap),
            RunError::Cancelled => Error::Cancelled,
            RunError::Deadline { limit } => Error::Deadline { limit },
            RunError::Work { limit, of } => Error::Work { limit, of },
            other => Error::Run(other),
        }
    }
}
