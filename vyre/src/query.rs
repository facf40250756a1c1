//! Runs without their types: arguments and results by id, and queries that wait for a batch.

use crate::budget::Lease;
use crate::error::Error;
use crate::memory::Memory;
use crate::runtime::Runtime;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::launch::Age;
use vyre_core::run::args::Args;
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, WaveTime, for_queries, give};
use vyre_core::run::pass::Pass;
use vyre_core::vir0::module::{BufferId, ListId, Program, ReductionId, Role, ScalarId};

/// The scalars that a session was given, `#[topology] k: u32`. A run does not say them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfSession(pub(crate) Vec<(ScalarId, u64)>);

impl OfSession {
    /// Puts them among the scalars of a run.
    pub(crate) fn fill(&self, args: &mut Args<'_>) {
        self.fill_scalars(&mut args.scalars);
    }

    pub(crate) fn fill_scalars(&self, scalars: &mut [u64]) {
        for &(id, bits) in &self.0 {
            scalars[id.index()] = bits;
        }
    }

    /// Untyped arguments of a run, without rows of structs.
    pub(crate) fn args<'a, P: Pass>(&self, run: &P::Run<'a>) -> Args<'a> {
        let mut args = P::args(run);
        self.fill(&mut args);
        args
    }
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

/// Queries that wait for a batch.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) waiting: Vec<Query>,
    next: u64,
    /// From the first query for which there was no memory since the last batch to the last one. Others between them wait.
    lost: Range<u64>,
}

/// A batch that has begun, with room for what is told of it.
pub(crate) struct Begun<T> {
    /// Those that are to run.
    pub(crate) batch: Vec<Query>,
    /// Of those that have one: as it begins, those that there was no memory for.
    pub(crate) results: Vec<(QueryId, Result<T, Error>)>,
    /// In which queries were handed to the executor.
    pub(crate) order: Vec<QueryId>,
    /// Memory of what is told, until the batch ends.
    pub(crate) told: Lease,
}

impl Line {
    /// A query to a topology, with a priority.
    pub(crate) fn submit<P: Pass>(
        &mut self,
        to: (usize, i32),
        run: P::Run<'_>,
        (runtime, program): (&Runtime, &Program),
    ) -> QueryId {
        let id = QueryId(self.next);
        self.next += 1;
        // What is told of one has room in the session.
        let told_bytes = match self.waiting.is_empty() {
            true => 0,
            false => told_bytes::<P>(program),
        };
        if self.waiting.try_reserve(1).is_ok() {
            let query = Query::new::<P>(id, to, run, (runtime, told_bytes));
            self.waiting.push(query);
        } else {
            if self.lost.is_empty() {
                self.lost.start = id.0;
            }
            self.lost.end = self.next;
        }
        id
    }

    /// Takes those in front out of the line, at most `limit`.
    ///
    /// # Errors
    /// There is no memory for what is told of them; they go on waiting.
    pub(crate) fn begin<T>(
        &mut self,
        limit: usize,
        runtime: &Runtime,
        by_urgency: impl FnMut(&Query, &Query) -> Ordering,
    ) -> Result<Begun<T>, RunError> {
        let (taken, lost) = (limit.min(self.waiting.len()), self.lost.clone());
        let mut results = for_queries(taken + (lost.end - lost.start) as usize)?;
        let order = for_queries(taken)?;
        let all = taken == self.waiting.len();
        let mut batch = for_queries(if all { 0 } else { taken })?;
        // Those in line that were submitted between the lost ones are the last, and in the order of their numbers.
        let among = |query: &&Query| lost.contains(&query.id.0);
        let mut waiting = self.waiting.iter().filter(among).peekable();
        for id in lost.clone().map(QueryId) {
            if waiting.next_if(|query| query.id == id).is_none() {
                let bytes = size_of::<Query>() as u64;
                let why = RunError::no_memory("a query that waits", bytes);
                results.push((id, Err(why.into())));
            }
        }
        self.lost = 0..0;
        self.waiting.sort_unstable_by(by_urgency);
        match all {
            true => batch = std::mem::take(&mut self.waiting),
            false => batch.extend(self.waiting.drain(..taken)),
        }
        Ok(Begun {
            batch,
            results,
            order,
            told: runtime.lease(),
        })
    }
}

impl<T> Begun<T> {
    pub(crate) fn fails(&mut self, query: Query, why: RunError) {
        self.result(query, Err(why));
    }

    pub(crate) fn result(&mut self, query: Query, result: Result<T, RunError>) {
        self.results.push((query.id, result.map_err(Error::from)));
        query.end(&mut self.told);
    }

    /// These are to be handed to an executor once more.
    pub(crate) fn run_again(&mut self, queries: &[Query]) {
        self.order
            .retain(|id| queries.iter().all(|query| query.id != *id));
    }

    /// What is told of a batch that began at this moment. `launches`: counted before it and now.
    pub(crate) fn end(mut self, started: Instant, launches: [Option<u64>; 2]) -> Batch<T> {
        self.results.sort_unstable_by_key(|&(id, _)| id);
        let [before, after] = launches;
        Batch {
            results: self.results,
            order: self.order,
            launches: before.zip(after).map(|(before, after)| after - before),
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Takes those out of a batch that are wrong.
pub(crate) fn wrong(batch: &mut Vec<Query>) -> impl Iterator<Item = (Query, RunError)> {
    let wrong = batch.extract_if(.., |query| query.wrong.is_some());
    wrong.filter_map(|mut query| query.wrong.take().map(|e| (query, e)))
}

/// All of them, if there is memory for it.
pub(crate) fn collected<T>(all: impl IntoIterator<Item = T>) -> Result<Vec<T>, RunError> {
    let mut list: Vec<T> = Vec::new();
    for one in all {
        if list.try_reserve(1).is_err() {
            let bytes = (list.len() + 1) * size_of::<T>();
            return Err(RunError::no_memory("a list of the session", bytes as u64));
        }
        list.push(one);
    }
    Ok(list)
}

/// What is held of a query beside its inputs and the columns of its result: its place in the line, its arguments, and
/// what is told of it.
fn told_bytes<P: Pass>(program: &Program) -> u64 {
    type Told<T> = (QueryId, Result<T, Error>);
    /// Of a list that grows one by one.
    fn grown<T>(len: usize) -> usize {
        match len {
            0 => 0,
            len => size_of::<T>() * len.next_power_of_two().max(4),
        }
    }
    let of = |is: fn(Role) -> bool| program.buffers.iter().filter(|b| is(b.role)).count();
    let inputs = of(|role| matches!(role, Role::Input | Role::InOut));
    let outputs = of(|role| matches!(role, Role::Output | Role::InOut));
    let lists = program.lists.iter().map(|l| l.fields.len());
    let parts = [
        // A line that grows has room for twice as many.
        2 * size_of::<Query>(),
        size_of::<QueryId>(),
        2 * size_of::<u64>() * program.scalars.len(),
        size_of::<Args<'_>>(),
        grown::<(BufferId, Column)>(inputs),
        grown::<(BufferId, Slice<'_>)>(inputs),
        size_of::<Result<Outcome, RunError>>(),
        grown::<(BufferId, Column)>(outputs),
        grown::<(BufferId, u32, u32)>(outputs),
        grown::<(ListId, Vec<Column>)>(program.lists.len()),
        lists.map(grown::<Column>).sum(),
        grown::<(ReductionId, u64)>(program.reductions.len()),
        size_of::<u64>() * program.fixpoints.len(),
        size_of::<WaveTime>() * program.waves.len(),
        size_of::<Told<P::Output>>(),
    ];
    parts.iter().sum::<usize>() as u64
}

/// A query that waits for a batch.
pub(crate) struct Query {
    pub(crate) id: QueryId,
    pub(crate) topology: usize,
    pub(crate) priority: f64,
    pub(crate) age: Age,
    /// It does not run with the others now: its topology has no room for another result.
    pub(crate) stays: bool,
    /// Why it is not run.
    pub(crate) wrong: Option<RunError>,
    pub(crate) scalars: Vec<u64>,
    /// Or why there are none.
    inputs: Result<Vec<(BufferId, Column)>, RunError>,
    /// On a CPU, memory of the inputs and of what is told.
    lease: Lease,
    told_bytes: u64,
}

impl Query {
    /// With copies of the inputs.
    fn new<P: Pass>(
        id: QueryId,
        (topology, priority): (usize, i32),
        run: P::Run<'_>,
        (runtime, told_bytes): (&Runtime, u64),
    ) -> Query {
        let mut lease = runtime.lease();
        let args = P::args(&run);
        let given: u64 = args.inputs.iter().map(|(_, s)| s.bytes()).sum();
        let bytes = given.saturating_add(P::rows_bytes(&run));
        let bytes = bytes.saturating_add(told_bytes);
        let room = match runtime.implementation().is_host() && !lease.take(bytes) {
            true => Err(RunError::Memory {
                what: "the query does not fit beside the sessions".to_owned(),
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
            topology,
            priority: priority.into(),
            age: Age::default(),
            stays: false,
            wrong: None,
            scalars: args.scalars,
            inputs,
            lease,
            told_bytes,
        }
    }

    /// Finds out whether what it is given is wrong.
    pub(crate) fn check(&mut self, memory: &mut Memory, program: &Program) {
        memory.scalars().fill_scalars(&mut self.scalars);
        let checked = match &self.inputs {
            Ok(_) => memory.check(program, &self.args()),
            Err(e) => Err(e.clone()),
        };
        self.wrong = checked.err();
    }

    pub(crate) fn args(&self) -> Args<'_> {
        let inputs = self.inputs.iter().flatten();
        Args {
            scalars: self.scalars.clone(),
            inputs: inputs.map(|(id, c)| (*id, c.as_slice())).collect(),
        }
    }

    /// It has run: its inputs go, and what is told of it stays until the batch ends.
    pub(crate) fn end(self, told: &mut Lease) {
        let mut lease = self.lease;
        let smaller = lease.resize(lease.bytes().min(self.told_bytes));
        debug_assert!(smaller, "smaller is always possible");
        told.absorb(lease);
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
