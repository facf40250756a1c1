//! A pass bound to a runtime and a topology.

use crate::error::Error;
use crate::runtime::Runtime;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use vyre_core::exec::Executor;
use vyre_core::pass::Pass;

/// A pass with its topology uploaded and its buffers allocated, ready to run any number of times.
///
/// `#[wave_graph] mod bfs` defines `bfs::Session` as an alias of this.
pub struct Session<P> {
    executor: Box<dyn Executor>,
    backend: &'static str,
    pass: PhantomData<fn() -> P>,
}

impl<P: Pass> Session<P> {
    /// Uploads the topology. Fails when its parts do not fit together, or when the backend cannot hold them.
    pub fn new<'a>(
        runtime: &Runtime,
        topology: impl Into<P::Topology<'a>>,
    ) -> Result<Session<P>, Error> {
        let program = Arc::new(P::PARTS.program()?);
        let topology = P::topology(topology.into());
        Ok(Session {
            executor: runtime.executor::<P>(program, &topology)?,
            backend: runtime.backend(),
            pass: PhantomData,
        })
    }

    /// Runs the pass once. After a trap or a refused argument the session is as before and can run again.
    pub fn run(&mut self, run: P::Run<'_>) -> Result<P::Output, Error> {
        Ok(P::output(self.executor.run(&P::args(run))?))
    }
}

impl<P: Pass> fmt::Debug for Session<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
