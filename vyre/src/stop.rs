//! What ends calls of a session early: its canceller, the runtime's, and limits of time and steps.

use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::run::clock::Instant;
use vyre_core::run::stop::{All, Canceller, Stop, UnderWay};

/// What ends a session's calls.
#[derive(Debug)]
pub(crate) struct Stops {
    pub(crate) stop: Arc<Stop>,
    /// What a call may take.
    pub(crate) time: Option<Duration>,
    /// What a run may take.
    pub(crate) steps: Option<u64>,
}

impl Stops {
    /// Those of a session among others that one canceller ends together; `time`: what a call may take.
    pub(crate) fn new(all: &Arc<All>, time: Option<Duration>) -> Stops {
        Stops {
            stop: Stop::new(all),
            time,
            steps: None,
        }
    }

    pub(crate) fn canceller(&self) -> Canceller {
        Canceller::of(&self.stop)
    }

    /// A call begins; it is over when what this returns is dropped.
    pub(crate) fn begin(&self) -> Result<UnderWay, RunError> {
        self.stop
            .begin(self.time.map(|time| (Instant::now(), time)))
    }

    /// The same of a call that has opened the session, and began at this moment.
    pub(crate) fn begin_since(&self, started: Instant) -> Result<UnderWay, RunError> {
        self.stop.begin(self.time.map(|time| (started, time)))
    }
}
