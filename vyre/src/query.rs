//! Runs without their types: arguments and results by id, and queries that wait for a batch.

use crate::budget::Lease;
use crate::error::Error;
use crate::memory::Memory;
use crate::runtime::Runtime;
use std::fmt;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::launch::Age;
use vyre_core::run::args::Args;
use vyre_core::run::outcome::{Outcome, give};
use vyre_core::run::pass::Pass;
use vyre_core::vir0::module::{BufferId, Program};

/// Untyped arguments of a run, rows of structs among them.
pub(crate) fn args<'r, 'a: 'r, P: Pass>(
    run: &P::Run<'a>,
    rows: &'r [(BufferId, Column)],
) -> Args<'r> {
    let mut args: Args<'r> = P::args(run);
    args.inputs.extend(slices(rows));
    args
}

/// The typed result of a run.
pub(crate) fn made<P: Pass>(mut outcome: Outcome) -> Result<P::Output, RunError> {
    let mut out = P::Output::default();
    give(Ok(()), &mut outcome, &mut out, P::exchange)?;
    Ok(out)
}

/// Columns, borrowed.
pub(crate) fn slices(
    columns: &[(BufferId, Column)],
) -> impl Iterator<Item = (BufferId, Slice<'_>)> {
    columns.iter().map(|(id, c)| (*id, c.as_slice()))
}

/// A submitted query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryId(pub(crate) u64);

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A query that waits for a batch.
pub(crate) struct Query {
    pub(crate) id: QueryId,
    pub(crate) priority: f64,
    pub(crate) age: Age,
    pub(crate) scalars: Vec<u64>,
    /// Or why there are none.
    inputs: Result<Vec<(BufferId, Column)>, RunError>,
    /// Memory of the inputs on a CPU.
    _lease: Lease,
}

impl Query {
    /// With copies of the inputs.
    pub(crate) fn new<P: Pass>(
        (id, priority): (QueryId, i32),
        run: P::Run<'_>,
        runtime: &Runtime,
    ) -> Query {
        let mut lease = runtime.lease();
        let args = P::args(&run);
        let given: u64 = args.inputs.iter().map(|(_, s)| s.bytes()).sum();
        let bytes = given.saturating_add(P::rows_bytes(&run));
        let room = match runtime.implementation().is_host() && !lease.take(bytes) {
            true => Err(RunError::Memory {
                what: "the inputs of the query do not fit beside the sessions".to_owned(),
                needed_bytes: bytes,
                available_bytes: lease.available_bytes().unwrap_or(0),
            }),
            false => Ok(()),
        };
        let inputs = room.and_then(|()| P::rows(&run)).and_then(|rows| {
            let copies = args.inputs.iter().map(|(id, s)| {
                let what = "the inputs of the query";
                let copy = s.try_to_column();
                let copy = copy.ok_or_else(|| RunError::no_memory(what, s.bytes()));
                Ok((*id, copy?))
            });
            copies.chain(rows.into_iter().map(Ok)).collect()
        });
        if inputs.is_err() {
            lease = runtime.lease();
        }
        Query {
            id,
            priority: priority.into(),
            age: Age::default(),
            scalars: args.scalars,
            inputs,
            _lease: lease,
        }
    }

    /// Checks what it is given.
    pub(crate) fn check(&self, memory: &mut Memory, program: &Program) -> Result<(), RunError> {
        match &self.inputs {
            Ok(_) => memory.check(program, &self.args()),
            Err(e) => Err(e.clone()),
        }
    }

    pub(crate) fn args(&self) -> Args<'_> {
        let inputs = self.inputs.iter().flatten();
        Args {
            scalars: self.scalars.clone(),
            inputs: inputs.map(|(id, c)| (*id, c.as_slice())).collect(),
        }
    }
}

/// The results of a batch.
#[derive(Debug)]
pub struct Batch<T> {
    /// Each query's result, in the order of submission.
    pub results: Vec<(QueryId, Result<T, Error>)>,
    /// The order in which queries were handed to the executor.
    pub order: Vec<QueryId>,
    /// Launches that they took, where the backend counts them.
    pub launches: Option<u64>,
    /// Host wall time of the whole batch, in nanoseconds.
    pub wall_ns: u64,
}
