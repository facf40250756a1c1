//! A pass bound to a runtime and a topology.

use crate::budget::Lease;
use crate::costs::Did;
use crate::decide::{Decider, Decision, Happened, Situation, Tuned, Tuner, quiet};
use crate::device_ptr::{DevicePtr, DevicePtrError};
use crate::error::Error;
use crate::pinned::{Held, Pinned, Pool};
use crate::plans::{Layout, Planned};
use crate::runtime::Runtime;
use crate::sides::Sides;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use vyre_core::dsl::columns::{Column, Slice, SliceMut};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::fit::{FitError, fit_on};
use vyre_core::plan::footprint::{Allocation, Footprint, FootprintError, footprint_on};
use vyre_core::plan::launch::{self, Age, Diffusion, LaunchError, WAITING, diffuse};
use vyre_core::plan::memory::WaveBytes;
use vyre_core::plan::route::{self, Need, Pressure};
use vyre_core::plan::session::{Counters, Profile, Readback};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Executor, Holder, Progress, Resident};
use vyre_core::run::outcome::{Outcome, Report, give};
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::vir0::manifest::Stale;
use vyre_core::vir0::module::{
    Agreement, Buffer, BufferId, Frontier, List, Program, Resource, Role, TopologyId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// A pass with its topology uploaded and its buffers allocated, ready to run any number of times.
///
/// `#[wave_graph] mod bfs` defines `bfs::Session` as an alias of this.
pub struct Session<P: Pass> {
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) program: Arc<Program>,
    pub(crate) memory: Memory,
    pub(crate) decider: Decider,
    /// Counted by executors that are gone.
    pub(crate) counted: Counters,
    pub(crate) sides: Sides,
    waiting: Vec<Query>,
    /// Queries whose priorities draw near each other.
    siblings: Vec<(QueryId, QueryId)>,
    next_query: u64,
    batch_limit: Option<NonZeroUsize>,
    /// Columns that rows of structs were put together from: the next run's are made in their memory.
    pub(crate) kept: Outcome,
    /// Results whose memory came back.
    pub(crate) pool: Arc<Pool<P::Output>>,
    pass: PhantomData<fn() -> P>,
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
    age: Age,
    scalars: Vec<u64>,
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
        let rows = P::rows(&run);
        let args = P::args(&run);
        let inputs = rows.and_then(|rows| {
            let given = args.inputs.iter().copied().chain(slices(&rows));
            let bytes = given.map(|(_, s)| s.bytes()).sum();
            if runtime.the_backend().is_host() && !lease.take(bytes) {
                return Err(RunError::Memory {
                    what: "the inputs of the query do not fit beside the sessions".to_owned(),
                    needed_bytes: bytes,
                    available_bytes: lease.available_bytes().unwrap_or(0),
                });
            }
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

/// What a batch gave.
#[derive(Debug)]
pub struct Batch<T> {
    /// By query.
    pub results: Vec<(QueryId, Result<T, Error>)>,
    /// The order in which queries were handed to the executor.
    pub order: Vec<QueryId>,
    /// Launches that they took, where the backend counts them.
    pub launches: Option<u64>,
    /// Host wall time of the whole batch, in nanoseconds.
    pub wall_ns: u64,
}

impl<P: Pass> Session<P> {
    /// Uploads the topology. Fails when its parts do not fit together, or when the backend cannot hold them.
    pub fn new<'a>(
        runtime: &Runtime,
        topology: impl IntoTopology<P::Topology<'a>>,
    ) -> Result<Session<P>, Error> {
        let (sides, opened) = Sides::open::<P>(runtime, &topology.into_topology())?;
        Ok(Session {
            executor: opened.executor,
            program: opened.program,
            memory: opened.memory,
            decider: opened.decider,
            counted: Counters::default(),
            sides,
            waiting: Vec::new(),
            siblings: Vec::new(),
            next_query: 0,
            batch_limit: None,
            kept: Outcome::default(),
            pool: Arc::default(),
            pass: PhantomData,
        })
    }

    /// The program as this session runs it: with the barriers that its budget takes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The most memory that topologies, buffers and frontiers held at once in the last run, in bytes, where the backend
    /// counts it.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.executor.peak_bytes()
    }

    /// Runs the pass once. After a trap or a refused argument the session is as before and can run again.
    pub fn run(&mut self, run: P::Run<'_>) -> Result<P::Output, Error> {
        let mut out = P::Output::default();
        self.run_into(run, &mut out)?;
        Ok(out)
    }

    /// The same in the memory of an earlier result, or of `Output::default()`, which has none: a run that needs no more than the
    /// result before takes no memory for its own. What `out` held is gone when the run begins; after an error it is empty, and
    /// its memory goes to the next run.
    ///
    /// A list keeps the room that it grew to, where [`Session::run`] gives one that is just full.
    pub fn run_into(&mut self, run: P::Run<'_>, out: &mut P::Output) -> Result<(), Error> {
        self.series(&[run], out)
    }

    /// The same into memory that goes back to the session when the result is dropped, and is used again. On a GPU its pages are
    /// locked, so that the device copies large columns of scalars and rows of bits to where they stay, and nobody copies them
    /// again; lists, whose length is known only after the run, and structs are in ordinary memory. On a CPU all of it is.
    ///
    /// Until it is freed the memory counts in the runtime's budget, lists with their whole capacity. A session keeps up to eight
    /// results that came back, and gives them up where another session needs the memory.
    ///
    /// # Errors
    /// As [`Session::run`]; a result that does not fit in the budget beside the others is refused before anything runs.
    pub fn run_pinned(&mut self, run: P::Run<'_>) -> Result<Pinned<P::Output>, Error> {
        let args = [P::args(&run)];
        let runs = [run];
        let pinned = self.on_a_side((&args[0].scalars, 1), |session| {
            session.with_rows((&runs, &args), |session, series| session.pinned(&series[0]))
        });
        Ok(pinned?)
    }

    /// Runs on the side where the session is.
    fn pinned(&mut self, args: &Args<'_>) -> Result<Pinned<P::Output>, RunError> {
        let lens = self.memory.result_lens(&self.program);
        let held = self.pool.take(&lens);
        let fresh = held.is_none();
        let mut held = match held {
            Some(held) => held,
            None => Held {
                lock: None,
                out: P::Output::default(),
                _lease: self
                    .memory
                    .lease_result(&self.program, self.sides.runtime())?,
                lens,
            },
        };
        let mut results = std::mem::take(&mut self.kept);
        P::exchange(&mut results, &mut held.out);
        if fresh {
            let pool: Weak<Pool<P::Output>> = Arc::downgrade(&self.pool);
            self.sides.runtime().spare().add(pool);
            held.lock = self.executor.lock(&self.memory.sizes, &mut results)?;
        }
        results.locked = held.lock.is_some();
        let launched = self.launch(std::slice::from_ref(args), &mut results);
        let given = give(launched, &mut results, &mut held.out, P::exchange);
        results.locked = false;
        self.kept = results;
        let pinned = Pinned::new(held, &self.pool);
        // After an error its memory goes back.
        given?;
        Ok(pinned)
    }

    /// Runs the pass several times, one after another, and reads back what the last run leaves. The first error ends it.
    /// No runs at all are an error.
    pub fn run_series<'a>(
        &mut self,
        runs: impl IntoIterator<Item = P::Run<'a>>,
    ) -> Result<P::Output, Error> {
        let mut out = P::Output::default();
        self.run_series_into(runs, &mut out)?;
        Ok(out)
    }

    /// The same in the memory of an earlier result, as [`Session::run_into`].
    pub fn run_series_into<'a>(
        &mut self,
        runs: impl IntoIterator<Item = P::Run<'a>>,
        out: &mut P::Output,
    ) -> Result<(), Error> {
        let runs: Vec<P::Run<'a>> = runs.into_iter().collect();
        self.series(&runs, out)
    }

    /// Runs the pass once on in-out buffers that are the caller's ([`Executor::run_in_place`]).
    pub(crate) fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
    ) -> Result<Report, Error> {
        self.on_a_side((&args.scalars, 1), |session| {
            session.memory.check(&session.program, args)?;
            let situation = session.situation(1);
            session.decider.decide(&situation, &mut *session.executor)?;
            let executor = &mut session.executor;
            let started = Instant::now();
            let mut outcome = executor.run_in_place(args, in_outs, may_trap)?;
            session.ended(started, &mut outcome, 1);
            Ok(outcome.report)
        })
        .map_err(Error::from)
    }

    /// What its buffers may have, as the runs so far needed them.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.memory.most_bytes
    }

    fn series(&mut self, runs: &[P::Run<'_>], out: &mut P::Output) -> Result<(), Error> {
        let mut results = std::mem::take(&mut self.kept);
        P::exchange(&mut results, out);
        let plain: Vec<Args<'_>> = runs.iter().map(P::args).collect();
        let scalars = plain.first().map_or(&[][..], |args| &args.scalars);
        let launched = self.on_a_side((scalars, 1), |session| {
            session.with_rows((runs, &plain), |session, series| {
                session.launch(series, &mut results)
            })
        });
        let given = give(launched, &mut results, out, P::exchange);
        self.kept = results;
        Ok(given?)
    }

    /// Goes on with all arguments of runs: `plain` without rows of structs, which are taken apart here, once the budget has room
    /// for what a run needs. Rows of one run are in that; on a CPU those of others count while they are there.
    fn with_rows<T>(
        &mut self,
        (runs, plain): (&[P::Run<'_>], &[Args<'_>]),
        go_on: impl FnOnce(&mut Self, &[Args<'_>]) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut lease = self.sides.runtime().lease();
        let counts = self.sides.runtime().the_backend().is_host();
        let (mut all, mut before_bytes) = (Vec::new(), 0);
        for (run, args) in runs.iter().zip(plain) {
            self.memory.check(&self.program, args)?;
            let bytes = lease.bytes() + before_bytes;
            if counts && !lease.take(bytes) {
                return Err(RunError::Memory {
                    what: "the rows of structs of the series do not fit beside the sessions"
                        .to_owned(),
                    needed_bytes: bytes,
                    available_bytes: lease.available_bytes().unwrap_or(0),
                });
            }
            let rows = P::rows(run)?;
            before_bytes = slices(&rows).map(|(_, s)| s.bytes()).sum();
            if !rows.is_empty() {
                all.push(rows);
            }
        }
        if all.is_empty() {
            return go_on(self, plain);
        }
        let mut series = plain.to_vec();
        for (args, rows) in series.iter_mut().zip(&all) {
            args.inputs.extend(slices(rows));
        }
        go_on(self, &series)
    }

    /// Runs a series on the side where the session is; its lengths were checked.
    fn launch(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError> {
        if series.is_empty() {
            return Err(RunError::Length {
                name: "runs".to_owned(),
                expected: 1,
                actual: 0,
            });
        }
        let situation = Situation {
            second_inputs: series.len() > 1 && self.second_inputs(),
            ..self.situation(series.len() as u64)
        };
        self.decider.decide(&situation, &mut *self.executor)?;
        let started = Instant::now();
        self.executor.run_series(series, results)?;
        self.ended(started, results, series.len() as u64);
        Ok(())
    }

    /// Takes note of a run, or a series of so many.
    fn ended(&mut self, started: Instant, results: &mut Outcome, runs: u64) {
        let did = self.did(&results.report).times(runs);
        self.ran(started.elapsed(), did, runs);
        results.report.backend = self.backend();
        self.decider
            .happened(Happened::of(&self.program, &results.report));
    }

    /// Puts a query in line for the next batch, higher priorities first. Inputs are copied, and on a CPU count as memory until
    /// the query has run; what is wrong with them, or that there is no memory for them, is said when it runs.
    pub fn submit(&mut self, run: P::Run<'_>, priority: i32) -> QueryId {
        let id = QueryId(self.next_query);
        self.next_query += 1;
        let query = Query::new::<P>((id, priority), run, self.sides.runtime());
        self.waiting.push(query);
        id
    }

    /// Makes two waiting queries siblings: in the next batches their priorities draw near each other, so that what belongs together
    /// does not come back far apart. Each batch moves both ends by a fourth of their difference
    /// ([`diffuse`](vyre_core::plan::launch::diffuse)), less where one has many siblings.
    pub fn relate(&mut self, a: QueryId, b: QueryId) {
        self.siblings.push((a, b));
    }

    /// Queries that wait for a batch.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many queries a batch takes at most; `None`, as it begins: all. Those left over grow older, and from an age of
    /// the policy's `lift_age` on they go before any priority.
    pub fn set_batch_limit(&mut self, limit: Option<NonZeroUsize>) {
        self.batch_limit = limit;
    }

    /// Runs the waiting queries, independently of each other: aged ones first, then by priority, then as they were
    /// submitted. Backends share a launch between as many as they can. A query that fails leaves the others alone.
    pub fn run_batch(&mut self) -> Result<Batch<P::Output>, Error> {
        let started = Instant::now();
        // Its states have columns of their own.
        self.kept = Outcome::default();
        let before = self.counters().map(|c| c.launches);
        let policy = self.decider.thresholds.launch;
        self.draw_near()?;
        self.waiting.sort_by(|a, b| by_urgency(&policy, a, b));
        let limit = self.batch_limit.map_or(usize::MAX, NonZeroUsize::get);
        let left = self.waiting.split_off(limit.min(self.waiting.len()));
        let batch = std::mem::replace(&mut self.waiting, left);
        for query in &mut self.waiting {
            query.age = query.age.waited_once().map_err(overflow)?;
        }
        let mut results = Vec::with_capacity(batch.len());
        let mut order = Vec::with_capacity(batch.len());
        if let Some(first) = batch.first() {
            let scalars = first.scalars.clone();
            self.take_side(&scalars, batch.len() as u64);
        }
        let side = self.side();
        let mut failed = self.run_queries(batch, &mut results, &mut order)?;
        // Errors go as those of a run do (`on_a_side`).
        if !failed.is_empty() && self.go_first() {
            let before = results.len();
            let (again, errors): (Vec<Query>, Vec<Error>) = failed.into_iter().unzip();
            failed = self.run_again(again, &mut results, &mut order)?;
            if results[before..].iter().any(|(_, result)| result.is_ok()) {
                self.refuse(side, &errors[0]);
            }
        }
        let short = |(_, e): &(Query, Error)| matches!(e, Error::Run(RunError::Memory { .. }));
        if failed.iter().any(short) && self.close_others() {
            let (again, others): (Vec<_>, Vec<_>) = failed.into_iter().partition(short);
            let again = again.into_iter().map(|(query, _)| query).collect();
            failed = self.run_again(again, &mut results, &mut order)?;
            failed.extend(others);
        }
        results.extend(failed.into_iter().map(|(query, e)| (query.id, Err(e))));
        results.sort_by_key(|&(id, _)| id);
        let after = self.counters().map(|c| c.launches);
        Ok(Batch {
            results,
            order,
            launches: before.zip(after).map(|(before, after)| after - before),
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        })
    }

    /// Runs queries on the side where the session is: their results, and the order in which they were handed to the executor.
    /// Those that failed where they may succeed after all, and their errors.
    fn run_queries(
        &mut self,
        mut batch: Vec<Query>,
        results: &mut Vec<(QueryId, Result<P::Output, Error>)>,
        order: &mut Vec<QueryId>,
    ) -> Result<Vec<(Query, Error)>, Error> {
        let policy = self.decider.thresholds.launch;
        let (backend, last) = (self.backend(), self.is_last_resort());
        let queries = batch.len();
        let mut failed: Vec<(Query, Error)> = Vec::new();
        let (mut took, mut did, mut done) = (Duration::ZERO, Did::default(), 0);
        let checked = batch.drain(..).filter_map(|query| {
            match query.check(&mut self.memory, &self.program) {
                Ok(()) => return Some(query),
                Err(e) if last => results.push((query.id, Err(e.into()))),
                Err(e) => failed.push((query, e.into())),
            }
            None
        });
        let mut batch: Vec<Query> = checked.collect();
        self.memory.keep_results(&self.program, batch.len() as u64);
        while !batch.is_empty() {
            let room = match self.memory.room_for_results() {
                Ok(room) => room,
                Err(e) => {
                    for query in batch.drain(..) {
                        match last {
                            true => results.push((query.id, Err(e.clone().into()))),
                            false => failed.push((query, e.clone().into())),
                        }
                    }
                    break;
                }
            };
            let wanted = self.executor.slots().min(batch.len() as u32);
            let slots = self.memory.slots(wanted);
            if self.executor.limits().overlaps {
                self.memory.results(&self.program, batch.len() as u64);
            }
            let situation = Situation {
                batch_bytes: self.memory.batch_bytes(),
                second_inputs: batch.len() > 1 && self.second_inputs(),
                shared: true,
                // Each query that runs beside others would have one.
                bitmap: self.memory.available_bytes().is_none(),
                requeues: batch.iter().map(|q| q.age.requeues).max().unwrap_or(0),
                max_age: batch.iter().map(|q| q.age.waited).max().unwrap_or(0),
                slots,
                ..self.situation(batch.len() as u64)
            };
            let launched = Instant::now();
            let taken = match self.decider.decide(&situation, &mut *self.executor) {
                Ok(()) => {
                    let args = batch.iter().take(room).map(Query::args);
                    let args: Vec<Args<'_>> = args.collect();
                    let started = Instant::now();
                    let taken = self.executor.run_batch(&args);
                    took += started.elapsed();
                    taken
                }
                Err(e) => vec![Err(e); batch.len()],
            };
            if taken.is_empty() {
                let none = RunError::Backend("the backend took no query of the batch".to_owned());
                self.waiting.append(&mut batch);
                self.waiting
                    .extend(failed.into_iter().map(|(query, _)| query));
                self.memory.give_results();
                return Err(none.into());
            }
            let program = &*self.program;
            let mut sum = Happened {
                wall_ns: u64::try_from(launched.elapsed().as_nanos()).unwrap_or(u64::MAX),
                ..Happened::of(program, &Report::default())
            };
            let rest = batch.split_off(taken.len().min(batch.len()));
            for (query, mut result) in batch.drain(..).zip(taken) {
                if let Ok(outcome) = &mut result {
                    outcome.report.backend = backend;
                    sum.add(program, &outcome.report);
                    self.memory.keep_result(program, outcome);
                    did = did.plus(self.did(&outcome.report));
                    done += 1;
                }
                order.push(query.id);
                match result.and_then(made::<P>).map_err(Error::from) {
                    Err(e) if !last => failed.push((query, e)),
                    result => results.push((query.id, result)),
                }
            }
            self.decider.happened(sum);
            batch = rest;
            for query in &mut batch {
                query.age = query.age.requeued().map_err(overflow)?;
            }
            batch.sort_by(|a, b| by_urgency(&policy, a, b));
        }
        self.memory.give_results();
        if done < queries {
            self.forget_run();
        }
        self.ran(took, did, 1);
        Ok(failed)
    }

    /// Runs queries once more that have failed.
    fn run_again(
        &mut self,
        queries: Vec<Query>,
        results: &mut Vec<(QueryId, Result<P::Output, Error>)>,
        order: &mut Vec<QueryId>,
    ) -> Result<Vec<(Query, Error)>, Error> {
        order.retain(|id| queries.iter().all(|query| query.id != *id));
        self.run_queries(queries, results, order)
    }

    /// Moves the priorities of siblings that wait.
    fn draw_near(&mut self) -> Result<(), Error> {
        if self.siblings.is_empty() {
            return Ok(());
        }
        let waiting = self.waiting.iter().enumerate();
        let at: HashMap<QueryId, usize> = waiting.map(|(i, q)| (q.id, i)).collect();
        self.siblings
            .retain(|(a, b)| at.contains_key(a) && at.contains_key(b));
        let links = self.siblings.iter().map(|(a, b)| (at[a], at[b]));
        let links: Vec<(usize, usize)> = links.collect();
        if !links.is_empty() {
            let priorities: Vec<f64> = self.waiting.iter().map(|q| q.priority).collect();
            let diffusion = Diffusion {
                damping: 0.25,
                rounds: 1,
                restriction: 1.0,
            };
            let moved = diffuse(&priorities, &links, &diffusion).map_err(overflow)?;
            for (query, priority) in self.waiting.iter_mut().zip(moved) {
                query.priority = priority;
            }
        }
        Ok(())
    }

    /// Takes another topology: edges appended (see [`Csr::append`](crate::Csr::append)), weights replaced, another graph.
    /// What is equal to what is there is not uploaded again. After an error the session is as before.
    pub fn update<'a>(
        &mut self,
        topology: impl IntoTopology<P::Topology<'a>>,
    ) -> Result<(), Error> {
        // What the session has is available to what it becomes, and what it has on other sides, which get the topology when
        // they get a run.
        self.close_others();
        let had = self.memory.lease.bytes();
        let given = self.memory.lease.resize(0);
        debug_assert!(given, "smaller is always possible");
        match self.become_of(&topology.into_topology(), had) {
            Ok(memory) => {
                self.memory = memory;
                self.kept = Outcome::default();
                self.decider.forget();
                self.sides.renew(self.memory.sizes());
                Ok(())
            }
            Err(e) => {
                // Nobody else may have taken it meanwhile but another session; then its runs say so.
                let _again = self.memory.lease.resize(had);
                Err(e)
            }
        }
    }

    /// Becomes a session of another topology, and takes what its plan needs. `had`: what it needed before.
    fn become_of(&mut self, given: &P::Topology<'_>, had: u64) -> Result<Memory, Error> {
        let runtime = self.sides.runtime();
        let mut topology = P::topology(given);
        let (planned, memory) = Memory::open::<P>(&topology, runtime, || Ok(P::PARTS.program()?))?;
        let same = memory.allocation == self.memory.allocation
            && planned.program.schedule == self.program.schedule;
        // On a CPU the topology before stays until this one is there, and so does all that the session has where it is made anew.
        let mut both = runtime.lease();
        let more = match same {
            true => memory.resident_bytes + had.saturating_sub(memory.bytes()),
            false => had,
        };
        if memory.holder == Holder::Host && !both.take(more) {
            return Err(RunError::Memory {
                what: "the topology does not fit beside the one before".to_owned(),
                needed_bytes: memory.bytes().saturating_add(more),
                available_bytes: memory.lease.available_bytes().unwrap_or(0),
            }
            .into());
        }
        let rows = P::topology_rows(given)?;
        topology.columns.extend(slices(&rows));
        if !(same && self.executor.update(&topology)?) {
            let program = planned.program;
            let made = runtime.executor::<P>(Arc::clone(&program), &topology, memory.allocation)?;
            let before = std::mem::replace(&mut self.executor, made);
            self.counted = self.counted.plus(&before.counters().unwrap_or_default());
            self.program = program;
        }
        Ok(memory)
    }

    /// Where the device has an output, a topology buffer (`weight`), or a graph (`graph.offsets`, `graph.targets`), for
    /// kernels of your own beside the pass: on `Device::stream` of the runtime's
    /// `cuda_device` they run after the runs before and before the runs after. Of a struct each field
    /// has a buffer (`start.x`).
    ///
    /// - **An output** has what the last run left, as the host got it, until the next run begins, which begins it anew. The
    ///   kernel may write to it. It may be somewhere else after each run.
    /// - **A topology buffer** is read by every run from here on, so what a kernel writes there, they see. The session keeps no
    ///   other copy: [`update`](Session::update) compares with what is there, and a session that goes to a CPU takes that along.
    /// - **A graph** must not be written to: how it is swept was planned from its degrees.
    ///
    /// The address is good until the session is run, updated or dropped; ask again afterwards, which costs next to nothing.
    /// Only a session on one side stays on the device ([`Runtime::cuda`]); with [`Runtime::auto`] a run may take it to the CPU.
    /// On another stream than the device's, order is yours to make, with events.
    pub fn device_ptr(&self, field: &str) -> Result<DevicePtr, DevicePtrError> {
        let (what, scalar) = (resident(&self.program, field))
            .ok_or_else(|| DevicePtrError::NoField(field.to_owned()))?;
        let role = match what {
            Resident::Buffer(id) => self.program.buffers[id.index()].role,
            Resident::Offsets(_) | Resident::Targets(_) => Role::Topology,
        };
        if !matches!(role, Role::Topology | Role::Output | Role::InOut) {
            return Err(DevicePtrError::DoesNotStay(field.to_owned()));
        }
        let runtime = self.sides.runtime();
        if runtime.the_backend().is_host() {
            return Err(DevicePtrError::NoDevice(runtime.backend()));
        }
        let (address, len) = (self.executor.resident(what))
            .ok_or_else(|| DevicePtrError::NoResult(field.to_owned()))?;
        Ok(DevicePtr {
            address,
            len,
            scalar,
        })
    }

    /// What was uploaded, allocated, waited for, read back and launched since the session was made; `None` where the
    /// backend does not count.
    pub fn counters(&self) -> Option<Counters> {
        let counted = self.counted.plus(&self.sides.counters());
        self.executor.counters().map(|c| c.plus(&counted))
    }

    /// What so many runs of a series do, for [`plan::session`](vyre_core::plan::session) to plan: lengths are those of the
    /// last run.
    pub fn profile(&self, runs: u64) -> Profile {
        let (program, sizes) = (&*self.program, &self.memory.sizes);
        let bytes = |b: &Buffer| {
            let len = sizes.resolve(program, b.extent).unwrap_or(0);
            len.saturating_mul(b.scalar.size_bytes())
        };
        let of = |roles: &[Role]| -> u64 {
            let buffers = program.buffers.iter();
            buffers.filter(|b| roles.contains(&b.role)).map(bytes).sum()
        };
        let edges = sizes.edges.iter().map(|e| 4 * (sizes.nodes + 1 + e));
        let frontiers = program.frontiers.iter();
        let frontier = |f: &Frontier| 8 * sizes.resolve(program, f.capacity).unwrap_or(0);
        let lists = program.lists.iter();
        let list = |l: &List| {
            let len = sizes.resolve(program, l.capacity).unwrap_or(0);
            len.saturating_mul(l.item_bytes())
        };
        let outputs = program.reductions.iter().filter(|r| r.output).count() as u64;
        let held = program.buffers.iter();
        let held = held.filter(|b| b.role != Role::Topology && bytes(b) > 0);
        Profile {
            layout_hash: Some(self.layout_hash()),
            graph_bytes: edges.sum::<u64>() + of(&[Role::Topology]),
            runs,
            buffers: held.count() as u64
                + program.frontiers.len() as u64
                + program.lists.len() as u64,
            frontier_bytes: of(&[Role::Input, Role::InOut]) + 8 * program.scalars.len() as u64,
            scratch_bytes: of(&[Role::Scratch])
                + frontiers.map(frontier).sum::<u64>()
                + lists.map(list).sum::<u64>(),
            output_bytes: of(&[Role::Output, Role::InOut]) + 8 * outputs,
            budget_bytes: Some(
                self.sides
                    .runtime()
                    .memory()
                    .map_or(u64::MAX, |(total, _)| total),
            ),
            readback: Readback::FinalOnly,
        }
    }

    fn layout_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.program.manifest.id.hash(&mut hasher);
        self.memory.sizes.nodes.hash(&mut hasher);
        self.memory.sizes.edges.hash(&mut hasher);
        hasher.finish()
    }

    /// What was decided for the last launches, and what came of it.
    pub fn decisions(&self) -> impl ExactSizeIterator<Item = &Decision> {
        self.decider.decisions.iter()
    }

    /// The last decisions, readable; with the time of each wave, where [`set_wave_times`](Session::set_wave_times) asked for it, and
    /// with what runs take on each of several sides ([`sides`](Session::sides)).
    pub fn explain(&self) -> impl fmt::Display + '_ {
        let sides = self.sides.explain(self.decider.is_measuring());
        Explanation(&self.decider.decisions, sides)
    }

    /// What this session decides by, from now on, on all sides.
    pub fn set_thresholds(&mut self, thresholds: Thresholds) {
        self.decider.thresholds = thresholds;
        self.sides.set_thresholds(thresholds);
    }

    /// Asks for so many CTAs a launch, at most as many as the device runs at once; `None`, as it begins: that many. A CPU backend's
    /// sweeps take one thread or all.
    pub fn set_ctas(&mut self, ctas: Option<NonZeroU32>) {
        self.decider.ctas = ctas.map(NonZeroU32::get);
    }

    /// Lets the session try launches on its next runs, which should be alike, and keep the fastest: with several numbers of CTAs
    /// and of items a lane where the backend can vary them, otherwise with several thresholds from which a sweep is dense and takes
    /// all threads. Off as it begins. No choice changes a result: on a GPU, where the order of items depends on both, nothing is
    /// tried for passes whose result is open ([`Agreement::Open`]). The session stays on its side until all was tried.
    pub fn set_autotune(&mut self, on: bool) {
        let open = matches!(self.program.agreement, Agreement::Open(_));
        self.decider.tuner = on.then(|| Tuner::new(self.executor.limits(), open));
    }

    /// Has the next runs time the sweeps of each wave: [`explain`](Session::explain) shows the times, those of a batch's queries
    /// added up, and they are in the runs' [`Report::waves`]. [`WaveTime`](crate::WaveTime) says what is counted where. Off as it
    /// begins, because a look at the clock takes as long as a sweep over a few items. Meanwhile the session stays on its side.
    pub fn set_wave_times(&mut self, on: bool) {
        self.decider.time_waves = on;
    }

    /// What autotuning has chosen, once it has tried everything.
    pub fn autotuned(&self) -> Option<Tuned> {
        self.decider.tuner.as_ref()?.chosen()
    }

    /// Where the progress of a run can be read while it runs, on another thread.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        self.executor.progress()
    }

    fn situation(&mut self, queries: u64) -> Situation {
        let bitmap = self.executor.limits().bitmaps && self.memory.bitmap(&self.program);
        let sizes = &self.memory.sizes;
        let lengths = self.program.buffers.iter();
        let lengths = lengths.filter_map(|b| sizes.resolve(&self.program, b.extent));
        let length = lengths.max().unwrap_or(0);
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        let memory = self.sides.runtime().memory();
        Situation {
            nodes: sizes.nodes,
            edges,
            widest: match sizes.nodes {
                0 => length,
                nodes => nodes,
            },
            longest: length.max(sizes.nodes).max(edges),
            resident_bytes: self.memory.lease.bytes(),
            used_bytes: memory.map_or(0, |(_, used)| used),
            budget_bytes: memory.map(|(total, _)| total),
            queries,
            requeues: 0,
            max_age: 0,
            slots: self.memory.slots,
            batch_bytes: None,
            second_inputs: self.memory.second_inputs_bytes > 0,
            shared: false,
            need: self.memory.need(&self.program),
            bitmap,
        }
    }

    /// Takes room for a second set of inputs, where the backend can use it.
    fn second_inputs(&mut self) -> bool {
        self.executor.limits().overlaps && self.memory.second_inputs(&self.program)
    }
}

/// What a name means on a device, and the type of its elements.
fn resident(program: &Program, field: &str) -> Option<(Resident, Scalar)> {
    let buffer = program.buffers.iter().position(|b| b.name == field);
    if let Some(i) = buffer {
        let what = Resident::Buffer(BufferId(i as u16));
        return Some((what, program.buffers[i].scalar));
    }
    let (graph, part) = field.rsplit_once('.')?;
    let graph = program.topologies.iter().position(|t| t.name == graph)?;
    let id = TopologyId(graph as u16);
    let what = match part {
        "offsets" => Resident::Offsets(id),
        "targets" => Resident::Targets(id),
        _ => return None,
    };
    Some((what, Scalar::U32))
}

/// Aged queries first, then by priority, then as they were submitted.
fn by_urgency(policy: &launch::Policy, a: &Query, b: &Query) -> Ordering {
    let lifted = |q: &Query| !policy.lifts(q.age);
    let order = lifted(a).cmp(&lifted(b));
    let order = order.then(b.priority.total_cmp(&a.priority));
    order.then(a.id.cmp(&b.id))
}

fn overflow(e: LaunchError) -> Error {
    RunError::Backend(e.to_string()).into()
}

struct Explanation<'s>(&'s VecDeque<Decision>, String);

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for decision in self.0 {
            writeln!(f, "{decision}")?;
        }
        if !self.0.is_empty() {
            let waiting = WAITING.map(|(what, until)| format!("{what} (for {until})"));
            writeln!(f, "waiting   {}", waiting.join("; "))?;
        }
        f.write_str(&self.1)
    }
}

/// Inputs and results of queries that launches have on a device at a time, at most.
const RESULTS_BYTES: u64 = 64 << 20;

/// What a session may take, and how it hands that out.
pub(crate) struct Memory {
    pub(crate) allocation: Allocation,
    /// The pass's own budget.
    pass_bytes: Option<u64>,
    lease: Lease,
    /// Of the topologies.
    resident_bytes: u64,
    /// States of a batch that there is room for.
    slots: u32,
    /// Of the plan, with the lengths of the run that was checked last.
    needed_bytes: u64,
    /// Room for a second set of inputs.
    second_inputs_bytes: u64,
    /// Room for a bit a node, which brings a list into the order of the nodes.
    bitmap_bytes: u64,
    /// Room for inputs and results of queries that have no state.
    results_bytes: u64,
    /// Of a batch that is running, on a CPU: its results are there until it ends.
    kept: Kept,
    /// Whose memory it is: a CPU's executor also holds what [`beside_bytes`] says.
    holder: Holder,
    /// Of the scalars, those of the run that was checked last.
    sizes: Sizes,
    /// Most bytes that the buffers of a run had.
    most_bytes: u64,
}

/// Results of a batch: how large one can be, the room that there is for them, and what is there.
#[derive(Default)]
struct Kept {
    /// `None`: no budget says.
    one_bytes: Option<u64>,
    room_bytes: u64,
    held_bytes: u64,
}

impl Memory {
    /// The plan of a pass on a topology, which is the runtime's where the same was opened before, and the memory that it takes.
    /// `program`: the pass's own.
    pub(crate) fn open<P: Pass>(
        topology: &TopologyArgs<'_>,
        runtime: &Runtime,
        program: impl Fn() -> Result<Program, Error>,
    ) -> Result<(Planned, Memory), Error> {
        let lease = runtime.lease();
        // What is kept for later is nobody's, so that it changes no plan.
        lease.give_up();
        let pressure = Memory::pressure(topology, runtime)?;
        let available = lease.available_bytes();
        let layout = Layout::of::<P>(topology, available);
        let made = Cell::new(false);
        let make = || {
            made.set(true);
            let plan = Memory::plan(program()?, topology, (available, pressure), runtime);
            Ok(plan?)
        };
        let of = (runtime.ordinal(), pressure);
        let mut planned = runtime.plans().session(layout, of, make)?;
        // Plans are kept by sizes. On a device a graph's shape decides, too, where a budget asks.
        if !made.get()
            && planned.holder != Holder::Host
            && runtime.holder(&planned.program, topology)? != planned.holder
        {
            planned = make()?;
        }
        let memory = Memory::hold(&planned, lease)?;
        Ok((planned, memory))
    }

    /// The plan of a program that is no pass's own, and the memory that it takes.
    pub(crate) fn settle(
        program: Program,
        topology: &TopologyArgs<'_>,
        runtime: &Runtime,
    ) -> Result<(Planned, Memory), RunError> {
        let lease = runtime.lease();
        let pressure = Memory::pressure(topology, runtime)?;
        let known = (lease.available_bytes(), pressure);
        let planned = Memory::plan(program, topology, known, runtime)?;
        let memory = Memory::hold(&planned, lease)?;
        Ok((planned, memory))
    }

    /// What is known before the first run: as long as no frontier was seen, all nodes may be in one.
    fn pressure(topology: &TopologyArgs<'_>, runtime: &Runtime) -> Result<Pressure, RunError> {
        let memory_bps = runtime.memory().map_or(0, |(total, used)| {
            let bps = u128::from(used) * 10_000 / u128::from(total.max(1));
            bps.min(10_000) as u32
        });
        let graph = topology.graphs.first();
        let degree = graph.map_or(0.0, |g| {
            g.edge_count() as f64 / g.node_count().max(1) as f64
        });
        let sample = quiet(memory_bps, 1.0, degree);
        let pressure = runtime.thresholds().route.pressure(&sample, None);
        pressure.map_err(|e| RunError::Backend(e.to_string()))
    }

    /// Checks the real sizes against limits and budgets before anything is allocated. A pass that does not fit side by side shares
    /// memory between what never lives at once, with more barriers where that takes them.
    fn plan(
        mut program: Program,
        topology: &TopologyArgs<'_>,
        (available_bytes, pressure): (Option<u64>, Pressure),
        runtime: &Runtime,
    ) -> Result<Planned, RunError> {
        let mut sizes = topology.sizes(&program);
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        for (what, actual, limit) in [
            ("nodes", sizes.nodes, program.manifest.max_nodes),
            ("edges", edges, program.manifest.max_edges),
        ] {
            if let Some(limit) = limit.filter(|&limit| actual > limit) {
                return Err(RunError::Limit {
                    what,
                    actual,
                    limit,
                });
            }
        }
        // What a run's scalars say about lengths is checked when they are known.
        sizes.scalars = vec![0; program.scalars.len()];
        let mut allocation = Allocation::Separate;
        let mut holder = Holder::Host;
        let budgets = [program.manifest.budget_bytes, available_bytes];
        let mut need = None;
        if let Some(available) = budgets.into_iter().flatten().min() {
            holder = runtime.holder(&program, topology)?;
            let beside = holder.beside_bytes(&program, &sizes);
            let room = available.saturating_sub(beside);
            let fitted = fit_on(&program, &sizes, (room, holder.target()));
            let fitted = fitted.map_err(|e| with(refused(e), beside, available))?;
            if program.schedule != fitted.schedule && program.manifest.proof.is_some() {
                program.manifest.disprove(Stale::Program);
            }
            program.schedule = fitted.schedule;
            if !fitted.splits.is_empty() {
                legal(&program)?;
            }
            allocation = fitted.allocation;
            let needed = fits(&fitted.footprint, allocation, (beside, available))?;
            need = Some(routes_need(&program, sizes.nodes, needed, available));
        }
        let start = route::choose(pressure, need.as_ref());
        Ok(Planned {
            start: start.map_err(|e| RunError::Backend(e.to_string()))?,
            program: Arc::new(program),
            sizes,
            allocation,
            holder,
        })
    }

    /// Takes what a plan needs.
    fn hold(planned: &Planned, lease: Lease) -> Result<Memory, RunError> {
        let mut memory = Memory {
            allocation: planned.allocation,
            pass_bytes: planned.program.manifest.budget_bytes,
            lease,
            resident_bytes: 0,
            needed_bytes: 0,
            slots: 1,
            second_inputs_bytes: 0,
            results_bytes: 0,
            kept: Kept::default(),
            holder: planned.holder.clone(),
            bitmap_bytes: 0,
            sizes: planned.sizes.clone(),
            most_bytes: 0,
        };
        memory.take(&planned.program)?;
        Ok(memory)
    }

    /// With the lengths of the run that was checked last.
    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// What it has of the budget.
    pub(crate) fn bytes(&self) -> u64 {
        self.lease.bytes()
    }

    /// What the budget has beside it.
    pub(crate) fn left_bytes(&self) -> Option<u64> {
        let available = self.lease.available_bytes()?;
        Some(available.saturating_sub(self.lease.bytes()))
    }

    /// What routes take, where a budget says how much there is.
    fn need(&self, program: &Program) -> Option<Need> {
        let available = self.available_bytes()?;
        let nodes = self.sizes.nodes;
        Some(routes_need(program, nodes, self.needed_bytes, available))
    }

    /// Takes room for a bit a node, where a sweep can use it; whether there is.
    fn bitmap(&mut self, program: &Program) -> bool {
        let Some(available) = self.available_bytes() else {
            return true;
        };
        let bytes = bitmap_bytes(program, self.sizes.nodes);
        let more = bytes.saturating_sub(self.bitmap_bytes);
        let then = self.lease.bytes().saturating_add(more);
        let taken = more == 0 || then <= available && self.lease.resize(then);
        if taken {
            self.bitmap_bytes += more;
        }
        taken
    }

    fn available_bytes(&self) -> Option<u64> {
        let budgets = [self.pass_bytes, self.lease.available_bytes()];
        budgets.into_iter().flatten().min()
    }

    /// Takes what the sizes need. Before it is refused, what is kept for later goes.
    fn take(&mut self, program: &Program) -> Result<(), RunError> {
        let taken = match self.take_available(program) {
            Err(RunError::Memory { .. }) if self.lease.give_up() => self.take_available(program),
            taken => taken,
        };
        if taken.is_ok() {
            self.most_bytes = self.most_bytes.max(self.bytes_of(program, |_| true));
        }
        taken
    }

    fn take_available(&mut self, program: &Program) -> Result<(), RunError> {
        let Some(available) = self.available_bytes() else {
            return Ok(());
        };
        let takes = footprint_on(program, &self.sizes, self.holder.target());
        let takes = takes.map_err(|e| refused(e.into()))?;
        let beside = self.holder.beside_bytes(program, &self.sizes);
        let needed = fits(&takes, self.allocation, (beside, available))?;
        self.needed_bytes = needed;
        self.resident_bytes = takes
            .items
            .iter()
            .filter(|i| match i.resource {
                Resource::Topology(_) => true,
                Resource::Buffer(b) => program.buffers[b.index()].role == Role::Topology,
                Resource::Frontier(_) | Resource::Reduction(_) | Resource::List(_) => false,
            })
            .map(|i| i.bytes)
            .sum();
        // A run that needs less than one before it leaves the memory as it is: buffers do not shrink.
        let extra = self.second_inputs_bytes + self.results_bytes + self.bitmap_bytes;
        let held = self.lease.bytes() - extra.min(self.lease.bytes());
        if needed > held && !self.lease.resize(needed + extra) {
            // Before a run is refused, the second set of inputs goes, what batches have for results, and the bitmap.
            (self.second_inputs_bytes, self.results_bytes) = (0, 0);
            self.bitmap_bytes = 0;
        }
        if needed > self.lease.bytes() && !self.lease.resize(needed) {
            return Err(RunError::Memory {
                what: "the session does not fit beside the others".to_owned(),
                needed_bytes: needed,
                available_bytes: self.lease.available_bytes().unwrap_or(0),
            });
        }
        Ok(())
    }

    /// Lengths that depend on the run's scalars.
    pub(crate) fn check(&mut self, program: &Program, args: &Args<'_>) -> Result<(), RunError> {
        // A wrong number of scalars is the executor's to refuse.
        if self.sizes.scalars == args.scalars || args.scalars.len() != program.scalars.len() {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.sizes.scalars, args.scalars.clone());
        let taken = self.take(program);
        if taken.is_err() {
            self.sizes.scalars = before;
        }
        taken
    }

    /// Takes room for a second set of inputs.
    fn second_inputs(&mut self, program: &Program) -> bool {
        let bytes = self.bytes_of(program, |role| matches!(role, Role::Input | Role::InOut));
        let more = bytes.saturating_sub(self.second_inputs_bytes);
        let taken = more == 0 || self.lease.resize(self.lease.bytes() + more);
        if taken {
            self.second_inputs_bytes += more;
        }
        taken
    }

    /// Bytes of a run's buffers of some roles.
    fn bytes_of(&self, program: &Program, is: fn(Role) -> bool) -> u64 {
        let buffers = program.buffers.iter().filter(|b| is(b.role));
        let bytes = |b: &Buffer| {
            let len = self.sizes.resolve(program, b.extent).unwrap_or(0);
            len.saturating_mul(b.scalar.size_bytes())
        };
        buffers.map(bytes).fold(0, u64::saturating_add)
    }

    /// Takes room for inputs and results of so many queries beside the states, or for half of them, and so on.
    fn results(&mut self, program: &Program, queries: u64) {
        let io = |role| matches!(role, Role::Input | Role::InOut | Role::Output);
        let mut wanted = self
            .bytes_of(program, io)
            .saturating_mul(queries)
            .min(RESULTS_BYTES);
        while wanted > self.results_bytes {
            let more = wanted - self.results_bytes;
            if self.lease.resize(self.lease.bytes().saturating_add(more)) {
                self.results_bytes = wanted;
            }
            wanted /= 2;
        }
    }

    /// Elements of the buffers that a run gives.
    fn result_lens(&self, program: &Program) -> Vec<u64> {
        let of = |b: &Buffer| self.sizes.resolve(program, b.extent).unwrap_or(0);
        let results = program.buffers.iter();
        let results = results.filter(|b| matches!(b.role, Role::Output | Role::InOut));
        let lists = program.lists.iter().filter(|l| l.output);
        let lists = lists.map(|l| self.sizes.resolve(program, l.capacity).unwrap_or(0));
        results.map(of).chain(lists).collect()
    }

    /// Bytes of a result, with lists that are full.
    fn result_bytes(&self, program: &Program) -> u64 {
        let lists = program.lists.iter().filter(|l| l.output);
        let lists = lists.map(|l| {
            let len = self.sizes.resolve(program, l.capacity).unwrap_or(0);
            len.saturating_mul(l.row_bytes())
        });
        let buffers = self.bytes_of(program, |role| matches!(role, Role::Output | Role::InOut));
        lists.fold(buffers, u64::saturating_add)
    }

    /// Room for a result that counts until it is freed.
    fn lease_result(&self, program: &Program, runtime: &Runtime) -> Result<Lease, RunError> {
        let needed_bytes = self.result_bytes(program);
        let mut lease = runtime.lease();
        if lease.take(needed_bytes) {
            return Ok(lease);
        }
        Err(RunError::Memory {
            what: "the result does not fit beside the others".to_owned(),
            needed_bytes,
            available_bytes: lease.available_bytes().unwrap_or(0),
        })
    }

    /// Takes room for the results of a batch on a CPU, or for as many of them as there is room for.
    pub(crate) fn keep_results(&mut self, program: &Program, queries: u64) {
        let Some(available) = self
            .available_bytes()
            .filter(|_| self.holder == Holder::Host)
        else {
            return;
        };
        let one = self.result_bytes(program);
        self.kept.one_bytes = Some(one);
        // The state has room for the last one.
        let wanted = one.saturating_mul(queries.saturating_sub(1));
        let more = wanted.min(available.saturating_sub(self.lease.bytes()));
        if self.lease.resize(self.lease.bytes() + more) {
            self.kept.room_bytes = more;
        }
    }

    /// A result of the batch is there.
    pub(crate) fn keep_result(&mut self, program: &Program, result: &Outcome) {
        let outputs = result.outputs.iter().map(|(_, c)| c.as_slice().bytes());
        let lists = result.lists.iter().map(|(id, columns)| {
            let len = columns.first().map_or(0, Column::len) as u64;
            len * program.lists[id.index()].row_bytes()
        });
        self.kept.held_bytes += outputs.chain(lists).sum::<u64>();
    }

    /// How many queries there is room for beside the results that are there, at least one. Results that are larger than they could
    /// have been leave none.
    pub(crate) fn room_for_results(&self) -> Result<usize, RunError> {
        let Kept {
            one_bytes: Some(one),
            room_bytes,
            held_bytes,
        } = self.kept
        else {
            return Ok(usize::MAX);
        };
        let Some(left) = room_bytes.checked_sub(held_bytes) else {
            return Err(RunError::Memory {
                what: "the results of the batch do not fit".to_owned(),
                needed_bytes: self.lease.bytes() + (held_bytes - room_bytes),
                available_bytes: self.lease.bytes(),
            });
        };
        let more = left.checked_div(one).unwrap_or(u64::MAX);
        Ok(usize::try_from(more)
            .unwrap_or(usize::MAX)
            .saturating_add(1))
    }

    /// The batch has ended: its results are the caller's.
    pub(crate) fn give_results(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let smaller = self.lease.resize(self.lease.bytes() - kept.room_bytes);
        debug_assert!(smaller, "smaller is always possible");
    }

    /// What the queries of a batch may take together.
    pub(crate) fn batch_bytes(&self) -> Option<u64> {
        self.available_bytes()?;
        let extra = self.second_inputs_bytes + self.bitmap_bytes;
        let resident = self.resident_bytes.saturating_add(extra);
        Some(self.lease.bytes().saturating_sub(resident))
    }

    /// Takes room for so many states of a batch, or as many as there is room for.
    fn slots(&mut self, wanted: u32) -> u32 {
        let extra = self.resident_bytes + self.second_inputs_bytes;
        let extra = extra + self.results_bytes + self.bitmap_bytes + self.kept.room_bytes;
        let one = self.lease.bytes() - extra.min(self.lease.bytes());
        let one = one / u64::from(self.slots.max(1));
        while self.slots < wanted && self.lease.resize(self.lease.bytes() + one) {
            self.slots += 1;
        }
        self.slots
    }
}

/// What the planners made of a program, by their judge.
pub(crate) fn legal(program: &Program) -> Result<(), RunError> {
    match check::program(program).first() {
        None => Ok(()),
        Some(wrong) => Err(RunError::Invalid(wrong.to_string())),
    }
}

/// What a footprint takes with what is beside it.
fn fits(
    takes: &Footprint,
    allocation: Allocation,
    (beside_bytes, available_bytes): (u64, u64),
) -> Result<u64, RunError> {
    let room = available_bytes.saturating_sub(beside_bytes);
    let fits = takes.fit(room, allocation);
    fits.map_err(|e| with(refused(e.into()), beside_bytes, available_bytes))?;
    let planned = match allocation {
        Allocation::Separate => takes.separate_bytes,
        Allocation::Shared => takes.shared_bytes,
    };
    Ok(planned.saturating_add(beside_bytes))
}

/// An error of a plan, with what is beside it.
fn with(e: RunError, beside_bytes: u64, available_bytes: u64) -> RunError {
    match e {
        RunError::Memory {
            what, needed_bytes, ..
        } => RunError::Memory {
            what,
            needed_bytes: needed_bytes.saturating_add(beside_bytes),
            available_bytes,
        },
        other => other,
    }
}

/// What routes take on a CPU: a list is in the plan, and a bitmap comes to it.
fn routes_need(program: &Program, nodes: u64, needed_bytes: u64, budget_bytes: u64) -> Need {
    let scratch_bytes = bitmap_bytes(program, nodes);
    Need {
        bytes: WaveBytes {
            frontier_bytes: 0,
            scratch_bytes,
            output_bytes: 0,
        },
        graph_bytes: needed_bytes.saturating_sub(scratch_bytes),
        budget_bytes,
    }
}

/// A bit a node, where a sweep of the program can use it.
fn bitmap_bytes(program: &Program, nodes: u64) -> u64 {
    let orders = |wave| route::may_order(program, wave);
    let used = program.waves.iter().any(orders);
    if used { 8 * nodes.div_ceil(64) } else { 0 }
}

fn refused(e: FitError) -> RunError {
    let what = e.to_string();
    let what = what.split(" needs ").next().unwrap_or_default();
    let what = what.split(" need ").next().unwrap_or_default();
    let (needed_bytes, available_bytes) = match &e {
        FitError::Footprint(FootprintError::Group {
            needed_bytes,
            budget_bytes,
            ..
        })
        | FitError::Footprint(FootprintError::Run {
            needed_bytes,
            budget_bytes,
        })
        | FitError::Resident {
            needed_bytes,
            budget_bytes,
        }
        | FitError::Group {
            needed_bytes,
            budget_bytes,
            ..
        } => (*needed_bytes, *budget_bytes),
        FitError::Footprint(FootprintError::Overflow { name }) => {
            return RunError::TooLarge { name: name.clone() };
        }
        FitError::Footprint(FootprintError::Unknown { .. }) => {
            return RunError::Invalid(e.to_string());
        }
    };
    RunError::Memory {
        what: match e {
            FitError::Resident { .. } => format!("{what} do not fit"),
            FitError::Footprint(_) | FitError::Group { .. } => format!("{what} does not fit"),
        },
        needed_bytes,
        available_bytes,
    }
}

impl<P: Pass> fmt::Debug for Session<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("backend", &self.backend())
            .finish_non_exhaustive()
    }
}
