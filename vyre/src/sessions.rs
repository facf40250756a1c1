//! [`Sessions`]: a pass bound to many topologies, whose queries share launches.

use crate::error::Error;
use crate::memory::Memory;
use crate::plans::Interpreted;
use crate::query::{Batch, Begun, Line, Query, QueryId, collected, made, slices, wrong};
use crate::runtime::Runtime;
use crate::stop::Stops;
use crate::tier::{Measured, RoutePolicy};
use std::any::TypeId;
use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::launch::{Request, Route, recommend};
use vyre_core::plan::session::Counters;
use vyre_core::run::backend::{Many, Opening};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, for_queries};
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::run::stop::Canceller;
use vyre_core::vir0::module::Program;

/// A pass with many topologies uploaded, whose queries share launches where the backend can. On CUDA a query takes one
/// CTA, so that the device works on as many small graphs at a time as it has multiprocessors. A graph that is worth the
/// whole device should have a [`Session`](crate::Session) of its own.
///
/// `#[wave_graph] mod bfs` defines `bfs::Sessions` as an alias of this.
pub struct Sessions<P> {
    resident: Box<dyn Many>,
    /// Of the pass, by all sessions.
    interpreted: Interpreted,
    runtime: Runtime,
    program: Arc<Program>,
    /// By topology.
    memories: Vec<Memory>,
    line: Line,
    stops: Stops,
    pass: PhantomData<fn() -> P>,
}

impl<P: Pass> Sessions<P> {
    /// Uploads the topologies.
    ///
    /// # Errors
    /// The parts of a topology do not fit together, or all of them do not fit in the budget or on the backend.
    pub fn new<'a, T: IntoTopology<P::Topology<'a>>>(
        runtime: &Runtime,
        topologies: impl IntoIterator<Item = T>,
    ) -> Result<Sessions<P>, Error> {
        let whole = Arc::new(P::PARTS.program()?);
        let runtime = &runtime.able(&whole);
        let typed = collected(topologies.into_iter().map(T::into_topology))?;
        let mut topologies = collected(typed.iter().map(P::topology))?;
        let mut memories = for_queries(topologies.len())?;
        let mut programs = for_queries(topologies.len())?;
        for topology in &topologies {
            let (planned, memory) =
                Memory::open::<P>(topology, runtime, || Ok(Program::clone(&whole)))?;
            memories.push(memory);
            programs.push(match planned.program.schedule == whole.schedule {
                true => Arc::clone(&whole),
                false => planned.program,
            });
        }
        // The plans have room for them.
        let mut rows = for_queries(typed.len())?;
        for topology in &typed {
            rows.push(P::topology_rows(topology)?);
        }
        for (topology, rows) in topologies.iter_mut().zip(&rows) {
            topology.columns.extend(slices(rows));
        }
        let each = programs.into_iter().zip(&topologies).zip(&memories);
        let openings = each.map(|((program, topology), memory)| Opening {
            program,
            topology,
            allocation: memory.allocation,
            native: Some(P::NATIVE),
        });
        let stops = Stops::new(runtime.all(), runtime.time_limit());
        let mut resident = runtime.open_many(collected(openings)?)?;
        resident.set_stop(&stops.stop);
        Ok(Sessions {
            resident,
            interpreted: runtime.plans().interpreted(TypeId::of::<P>()),
            stops,
            runtime: runtime.clone(),
            program: whole,
            memories,
            line: Line::default(),
            pass: PhantomData,
        })
    }

    /// Number of topologies.
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    /// Whether there are no topologies.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// Puts a query on a topology, counted from 0, in line for the next batch. Higher priorities go first. Inputs are
    /// copied. On a CPU the copies count as memory until the query has run, and of each query but one what is told of it
    /// until its batch ends. If the inputs are wrong, or there is no memory for them, the query fails when it runs.
    pub fn submit(&mut self, topology: usize, run: P::Run<'_>, priority: i32) -> QueryId {
        let of = (&self.runtime, &*self.program);
        self.line.submit::<P>((topology, priority), run, of)
    }

    /// Queries that wait for a batch.
    pub fn waiting(&self) -> usize {
        self.line.waiting.len()
    }

    /// Runs the waiting queries, independently of each other: by priority, then as they were submitted. A query that
    /// fails leaves the others alone.
    ///
    /// # Errors
    /// The batch was cancelled before it began, or there is no memory for what is told of it, and its queries go on
    /// waiting. Or the pass cannot be compiled, and the runtime's route is [`RoutePolicy::Compiled`]. What else fails is
    /// a query, whose error is in [`Batch::results`].
    pub fn run_batch(&mut self) -> Result<Batch<P::Output>, Error> {
        let _under_way = self.stops.begin()?;
        let started = Instant::now();
        let before = self.counters().map(|c| c.launches);
        let Begun {
            mut batch,
            mut results,
            mut order,
            mut told,
        } = self.line.begin(usize::MAX, &self.runtime, by_urgency)?;
        let mut tell = |query: Query, result: Result<Outcome, RunError>| {
            let result = result.and_then(made::<P>);
            results.push((query.id, result.map_err(Error::from)));
            query.end(&mut told);
        };
        for query in &mut batch {
            match self.memories.get_mut(query.topology) {
                Some(memory) => query.check(memory, &self.program),
                None => {
                    query.wrong = Some(RunError::NoTopology {
                        topology: query.topology,
                        topologies: self.memories.len(),
                    });
                }
            }
        }
        wrong(&mut batch).for_each(|(query, e)| tell(query, Err(e)));
        if let Err(e) = self.keep_results(&batch) {
            batch
                .drain(..)
                .for_each(|query| tell(query, Err(e.clone())));
        }
        while !batch.is_empty() {
            let rooms = self.memories.iter().map(Memory::room_for_results);
            let outcomes = match collected(rooms) {
                Ok(rooms) => self.run_some(&mut batch, rooms)?,
                Err(e) => vec![Err(e)],
            };
            wrong(&mut batch).for_each(|(query, e)| tell(query, Err(e)));
            let ran = outcomes.len().min(batch.len());
            for (query, mut outcome) in batch.drain(..ran).zip(outcomes) {
                if let Ok(outcome) = &mut outcome {
                    outcome.report.backend = self.runtime.backend();
                    self.memories[query.topology].keep_result(&self.program, outcome);
                }
                order.push(query.id);
                tell(query, outcome);
            }
        }
        self.memories.iter_mut().for_each(Memory::give_results);
        results.sort_unstable_by_key(|&(id, _)| id);
        let after = self.counters().map(|c| c.launches);
        Ok(Batch {
            results,
            order,
            launches: before.zip(after).map(|(before, after)| after - before),
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        })
    }

    /// Runs of each topology as many queries as it has room for, which are the first of the batch then. Those whose
    /// topology has none are wrong.
    fn run_some(
        &mut self,
        batch: &mut [Query],
        mut rooms: Vec<Result<usize, RunError>>,
    ) -> Result<Vec<Result<Outcome, RunError>>, Error> {
        for query in &mut *batch {
            match &mut rooms[query.topology] {
                Ok(room) => {
                    query.stays = *room == 0;
                    *room = room.saturating_sub(1);
                }
                Err(e) => {
                    query.stays = true;
                    query.wrong = Some(e.clone());
                }
            }
        }
        batch.sort_unstable_by(|a, b| a.stays.cmp(&b.stays).then(by_urgency(a, b)));
        let now = batch.partition_point(|query| !query.stays);
        if now == 0 {
            return Ok(Vec::new());
        }
        let mut queries = match for_queries(now) {
            Ok(queries) => queries,
            Err(e) => return Ok(vec![Err(e)]),
        };
        queries.extend(batch[..now].iter().map(|q| (q.topology, q.args())));
        let room = self.memories.iter().map(Memory::batch_bytes).sum();
        let nodes = batch[..now].iter();
        let nodes = nodes.map(|q| self.memories[q.topology].sizes.nodes);
        self.resident.take_route(self.route(nodes.sum())?);
        if self.runtime.route() == RoutePolicy::Compiled {
            self.resident.compile()?;
        }
        let before = self.runtime.now();
        let mut outcomes = self.resident.run_batch(&queries, room);
        if outcomes.is_empty() {
            let none = "the backend took no query of the batch";
            outcomes.push(Err(RunError::Backend(none.to_owned())));
        }
        let interpreted =
            |o: &Result<Outcome, _>| matches!(o, Ok(o) if o.report.route == "interpreted");
        if outcomes.iter().any(interpreted) {
            self.interpreted.add(self.runtime.since(before));
        }
        Ok(outcomes)
    }

    /// The route of a batch whose topologies have `nodes` in all, each counted as often as it is queried.
    fn route(&self, nodes: u64) -> Result<Route, Error> {
        let policy = &self.runtime.thresholds().launch;
        let request = Request {
            queue_len: nodes,
            ..Request::on(1, 1, u64::MAX)
        };
        let planned = recommend(policy, &request, None);
        let planned = planned.map_err(|e| RunError::Backend(e.to_string()))?;
        let unmeasured = Measured::default();
        let so_far = (self.interpreted.ns(), self.runtime.thresholds());
        let route = self.runtime.route();
        Ok(route.choose(planned.route, so_far, &unmeasured).0)
    }

    /// What stops a batch that is under way, as [`Session::canceller`](crate::Session::canceller) does: it keeps the
    /// queries that were done.
    pub fn canceller(&self) -> Canceller {
        self.stops.canceller()
    }

    /// The most time that a batch may take from here on, as of
    /// [`Session::set_time_limit`](crate::Session::set_time_limit).
    pub fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.stops.time = limit;
    }

    /// The most steps that a query may take from here on, as of
    /// [`Session::set_step_limit`](crate::Session::set_step_limit).
    pub fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.resident.set_step_limit(steps)
    }

    /// Takes room for the results of a batch, on a CPU, by topology.
    fn keep_results(&mut self, batch: &[Query]) -> Result<(), RunError> {
        let mut queries = collected(self.memories.iter().map(|_| 0))?;
        batch.iter().for_each(|query| queries[query.topology] += 1);
        for (memory, queries) in self.memories.iter_mut().zip(queries) {
            memory.keep_results(&self.program, queries);
        }
        Ok(())
    }

    /// What was uploaded, allocated, waited for, read back and launched since these sessions were made; `None` where
    /// the backend does not count.
    pub fn counters(&self) -> Option<Counters> {
        self.resident.counters()
    }
}

impl<P: Pass> fmt::Debug for Sessions<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("topologies", &self.memories.len())
            .finish_non_exhaustive()
    }
}

/// By priority, then as they were submitted.
fn by_urgency(a: &Query, b: &Query) -> Ordering {
    let order = b.priority.total_cmp(&a.priority);
    order.then(a.id.cmp(&b.id))
}
