//! [`Sessions`]: a pass bound to many topologies, whose queries share launches.

use crate::error::Error;
use crate::memory::Memory;
use crate::plans::Interpreted;
use crate::query::{Batch, Query, QueryId, made, slices};
use crate::runtime::Runtime;
use crate::stop::Stops;
use crate::tier::{Measured, RoutePolicy};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::launch::{Request, Route, recommend};
use vyre_core::plan::session::Counters;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Many, Opening};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::Outcome;
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
    waiting: Vec<(usize, Query)>,
    next_query: u64,
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
        let typed: Vec<P::Topology<'a>> = topologies.into_iter().map(T::into_topology).collect();
        let mut topologies: Vec<TopologyArgs<'_>> = typed.iter().map(P::topology).collect();
        let mut memories = Vec::with_capacity(topologies.len());
        let mut programs = Vec::with_capacity(topologies.len());
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
        let rows = typed.iter().map(P::topology_rows);
        let rows = rows.collect::<Result<Vec<_>, RunError>>()?;
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
        let mut resident = runtime.implementation().open_many(openings.collect())?;
        resident.set_stop(&stops.stop);
        Ok(Sessions {
            resident,
            interpreted: runtime.plans().interpreted(TypeId::of::<P>()),
            stops,
            runtime: runtime.clone(),
            program: whole,
            memories,
            waiting: Vec::new(),
            next_query: 0,
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
    /// copied; on a CPU the copies count as memory until the query has run. If the inputs are wrong, or there is no
    /// memory for them, the query fails when it runs.
    pub fn submit(&mut self, topology: usize, run: P::Run<'_>, priority: i32) -> QueryId {
        let id = QueryId(self.next_query);
        self.next_query += 1;
        let query = Query::new::<P>((id, priority), run, &self.runtime);
        self.waiting.push((topology, query));
        id
    }

    /// Queries that wait for a batch.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Runs the waiting queries, independently of each other: by priority, then as they were submitted. A query that
    /// fails leaves the others alone.
    ///
    /// # Errors
    /// The batch was cancelled before it began, and its queries go on waiting. Or the pass cannot be compiled, and the
    /// runtime's route is [`RoutePolicy::Compiled`]. What else fails is a query, whose error is in [`Batch::results`].
    pub fn run_batch(&mut self) -> Result<Batch<P::Output>, Error> {
        let _under_way = self.stops.begin()?;
        let started = Instant::now();
        let before = self.counters().map(|c| c.launches);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by(|(_, a), (_, b)| b.priority.total_cmp(&a.priority).then(a.id.cmp(&b.id)));
        let mut results = Vec::with_capacity(waiting.len());
        waiting.retain(|(topology, query)| {
            let checked = match self.memories.get_mut(*topology) {
                Some(memory) => query.check(memory, &self.program),
                None => Err(RunError::NoTopology {
                    topology: *topology,
                    topologies: self.memories.len(),
                }),
            };
            match checked {
                Ok(()) => true,
                Err(e) => {
                    results.push((query.id, Err(e.into())));
                    false
                }
            }
        });
        self.keep_results(&waiting);
        let mut order = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            // Of each topology as many as there is room for.
            let rooms = self.memories.iter().map(Memory::room_for_results);
            let mut rooms: Vec<Result<usize, RunError>> = rooms.collect();
            let (mut now, mut later) = (Vec::new(), Vec::new());
            for (topology, query) in waiting {
                match &mut rooms[topology] {
                    Ok(0) => later.push((topology, query)),
                    Ok(room) => {
                        *room -= 1;
                        now.push((topology, query));
                    }
                    Err(e) => results.push((query.id, Err(e.clone().into()))),
                }
            }
            if now.is_empty() {
                break;
            }
            let queries = now.iter().map(|(t, q)| (*t, q.args()));
            let queries: Vec<(usize, Args<'_>)> = queries.collect();
            let room = self.memories.iter().map(Memory::batch_bytes).sum();
            let nodes = now.iter().map(|(t, _)| self.memories[*t].sizes.nodes);
            self.resident.take_route(self.route(nodes.sum())?);
            if self.runtime.route() == RoutePolicy::Compiled {
                self.resident.compile()?;
            }
            let before = self.runtime.now();
            let outcomes = self.resident.run_batch(&queries, room);
            let interpreted =
                |o: &Result<Outcome, _>| matches!(o, Ok(o) if o.report.route == "interpreted");
            if outcomes.iter().any(interpreted) {
                self.interpreted.add(self.runtime.since(before));
            }
            drop(queries);
            for ((topology, query), mut outcome) in now.into_iter().zip(outcomes) {
                if let Ok(outcome) = &mut outcome {
                    outcome.report.backend = self.runtime.backend();
                    self.memories[topology].keep_result(&self.program, outcome);
                }
                let result = outcome.and_then(made::<P>);
                order.push(query.id);
                results.push((query.id, result.map_err(Error::from)));
            }
            waiting = later;
        }
        self.memories.iter_mut().for_each(Memory::give_results);
        results.sort_by_key(|&(id, _)| id);
        let after = self.counters().map(|c| c.launches);
        Ok(Batch {
            results,
            order,
            launches: before.zip(after).map(|(before, after)| after - before),
            wall_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        })
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
    fn keep_results(&mut self, waiting: &[(usize, Query)]) {
        let mut queries = vec![0; self.memories.len()];
        waiting.iter().for_each(|(t, _)| queries[*t] += 1);
        for (memory, queries) in self.memories.iter_mut().zip(queries) {
            memory.keep_results(&self.program, queries);
        }
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
