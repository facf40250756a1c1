//! [`Sessions`]: a pass bound to many topologies, whose queries share launches.

use crate::costs::{Did, Subject};
use crate::decide::{AllShared, Explanation, SKIPPED_CODE, may_pull};
use crate::error::Error;
use crate::memory::Memory;
use crate::plans::{Interpreted, KeptPlan, PlanOf, Plans};
use crate::query::{Batch, Begun, Line, Query, QueryId, collected, made, slices, wrong};
use crate::runtime::Runtime;
use crate::select::{Offer, Ran, Selector, unmeasured};
use crate::sides::{Goes, Has, Of, Side, Sides, leave_as_much, lent, longest, open_ns};
use crate::stop::Stops;
use crate::tier::{Measured, RoutePolicy};
use std::any::TypeId;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cache::PlanKind;
use vyre_core::plan::gains::BuiltIn;
use vyre_core::plan::heat::Heat;
use vyre_core::plan::launch::{Request, Route, recommend};
use vyre_core::plan::session::Counters;
use vyre_core::run::args::{Lent, TopologyArgs};
use vyre_core::run::backend::{Many, ManyHint, Opening};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, for_queries};
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::run::stop::Canceller;
use vyre_core::vir0::module::Program;
use vyre_core::vir0::sizes::Sizes;

/// A pass with many topologies uploaded, whose queries share launches where the backend can. On CUDA a query takes one
/// CTA, so that the device works on as many small graphs at a time as it has multiprocessors. A graph that is worth the
/// whole device should have a [`Session`](crate::Session) of its own.
///
/// `#[wave_graph] mod bfs` defines `bfs::Sessions` as an alias of this.
pub struct Sessions<P> {
    here: Resident,
    sides: Sides<Resident>,
    line: Line,
    stops: Stops,
    /// What ran the last queries.
    decided: AllShared,
    pass: PhantomData<fn() -> P>,
}

/// What sessions have on a side.
pub(crate) struct Resident {
    many: Box<dyn Many>,
    /// Of the pass, by all sessions.
    interpreted: Interpreted,
    program: Arc<Program>,
    heat: Heat,
    /// By topology.
    memories: Vec<Memory>,
    /// Where the topologies' plans are kept.
    plans: Arc<Plans>,
    /// What is done beside running the pass as it is written.
    selector: Selector,
    /// Whether some sweep of the pass could pull.
    may_pull: bool,
}

impl Has for Resident {
    fn counters(&self) -> Option<Counters> {
        self.many.counters()
    }
}

/// What sessions are to have on a side.
struct Plan {
    whole: Arc<Program>,
    /// By topology.
    programs: Vec<Arc<Program>>,
    memories: Vec<Memory>,
}

impl Plan {
    fn new<P: Pass>(runtime: &Runtime, topologies: &[TopologyArgs<'_>]) -> Result<Plan, Error> {
        let whole = Arc::new(P::PARTS.program()?);
        let of = PlanOf::pass(TypeId::of::<P>(), PlanKind::Batch);
        let mut memories = for_queries(topologies.len())?;
        let mut programs = for_queries(topologies.len())?;
        for topology in topologies {
            let (planned, memory) =
                Memory::open(&of, (topology, runtime), &|| Ok(Program::clone(&whole)))?;
            memories.push(memory);
            programs.push(match planned.program.schedule == whole.schedule {
                true => Arc::clone(&whole),
                false => planned.program,
            });
        }
        Ok(Plan {
            whole,
            programs,
            memories,
        })
    }

    fn sizes(&self) -> impl Iterator<Item = &Sizes> {
        self.memories.iter().map(|memory| &memory.sizes)
    }

    fn open<P: Pass>(
        self,
        runtime: &Runtime,
        topologies: &[TopologyArgs<'_>],
    ) -> Result<Resident, Error> {
        let each = self.programs.into_iter().zip(topologies);
        let openings = each
            .zip(&self.memories)
            .map(|((program, topology), memory)| Opening {
                program,
                topology,
                allocation: memory.allocation,
                native: Some(P::NATIVE),
            });
        Ok(Resident {
            many: runtime.open_many(collected(openings)?)?,
            interpreted: runtime.plans().interpreted(TypeId::of::<P>()),
            plans: Arc::clone(runtime.plans()),
            selector: Selector::default(),
            may_pull: may_pull(&self.whole),
            program: self.whole,
            heat: Heat::default(),
            memories: self.memories,
        })
    }
}

impl Resident {
    /// Opens a pass with the topologies that others lend, where the budget has as much left afterwards.
    fn lent<P: Pass>(runtime: &Runtime, from: &dyn Many) -> Result<Resident, Error> {
        let lent = lent(from.lend_topologies()?)?;
        let topologies = collected(lent.iter().map(Lent::args))?;
        let plan = Plan::new::<P>(runtime, &topologies)?;
        leave_as_much(&plan.memories)?;
        plan.open::<P>(runtime, &topologies)
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

    /// Decides what is done beside running the pass as it is written, before queries run together.
    fn select(&mut self, runtime: &Runtime) -> Result<(), RunError> {
        let limits = self.many.limits();
        let mut offers = Vec::new();
        // All plans are kept, or none: where it pays to keep the one that was wanted least, it does for the others.
        let plans = || self.memories.iter().filter_map(|m| m.plan.as_ref());
        if let Some(least) = plans().min_by_key(|plan| plan.uses()) {
            offers.push(Offer {
                used: Some((least.uses(), least.made_ns)),
                ..Offer::new(BuiltIn::Plan)
            });
        }
        if limits.pulls && self.may_pull {
            offers.push(Offer::new(BuiltIn::Pulling));
        }
        if limits.jit && runtime.route() == RoutePolicy::Auto {
            offers.push(Offer::new(BuiltIn::Jit));
        }
        let items = self.memories.iter().map(|m| &m.sizes);
        let items = items.map(|sizes| longest(&self.program, sizes).max(sizes.nodes));
        let left_bytes = self.memories.first().and_then(Memory::left_bytes);
        let takes = (items.max().unwrap_or(0), left_bytes.unwrap_or(u64::MAX));
        let gains = &runtime.thresholds().gains;
        self.selector.weigh(gains, &offers, takes)?;
        if !self.selector.does(BuiltIn::Plan) {
            plans().for_each(|plan: &KeptPlan| self.plans.forget(plan));
        }
        Ok(())
    }

    /// The route of a batch whose topologies have `nodes` in all, each counted as often as it is queried; and why it is
    /// not the one that was planned.
    fn route(
        &self,
        runtime: &Runtime,
        nodes: u64,
    ) -> Result<(Route, Option<Cow<'static, str>>), Error> {
        let may_compile = self.many.limits().jit && runtime.route() == RoutePolicy::Auto;
        if may_compile && !self.selector.does(BuiltIn::Jit) {
            return Ok((Route::Interpreter, Some(SKIPPED_CODE.into())));
        }
        let policy = &runtime.thresholds().launch;
        let request = Request {
            queue_len: nodes,
            ..Request::on(1, 1, u64::MAX)
        };
        let planned = recommend(policy, &request, None);
        let planned = planned.map_err(|e| RunError::Backend(e.to_string()))?;
        let unmeasured = Measured::default();
        let so_far = (self.interpreted.ns(), runtime.thresholds());
        Ok(runtime.route().choose(planned.route, so_far, &unmeasured))
    }

    /// Runs of each topology as many queries as it has room for, which are the first of the batch then, and says how
    /// long that took. Those whose topology has none are wrong.
    fn run_some(
        &mut self,
        (runtime, decided): (&Runtime, &mut AllShared),
        batch: &mut [Query],
        mut rooms: Vec<Result<usize, RunError>>,
    ) -> Result<(Vec<Result<Outcome, RunError>>, Duration), Error> {
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
            return Ok((Vec::new(), Duration::ZERO));
        }
        let mut queries = match for_queries(now) {
            Ok(queries) => queries,
            Err(e) => return Ok((vec![Err(e)], Duration::ZERO)),
        };
        queries.extend(batch[..now].iter().map(|q| (q.topology, q.args())));
        let room = self.memories.iter().map(Memory::batch_bytes).sum();
        let nodes = batch[..now].iter();
        let nodes = nodes.map(|q| self.memories[q.topology].sizes.nodes);
        let nodes: u64 = nodes.sum();
        self.select(runtime)?;
        let (route, why) = self.route(runtime, nodes)?;
        let hint = ManyHint {
            route,
            heat_words: self.heat.words(&self.program),
            pulls: self.selector.does(BuiltIn::Pulling),
        };
        let mut followed = self.many.follow(&hint);
        if runtime.route() == RoutePolicy::Compiled && self.many.compile()? {
            followed = self.many.follow(&hint);
        }
        followed.notes.extend(why);
        let route = self.many.limits().jit.then_some(route);
        decided.begin(now, (route, self.selector.considered()), followed);
        let before = runtime.now();
        let mut outcomes = self.many.run_batch(&queries, room);
        let took = runtime.since(before);
        let reports = || outcomes.iter().flatten().map(|outcome| &outcome.report);
        decided.ended(&self.program, reports(), took);
        let ran = Ran::of(reports(), took);
        if ran.runs > 0 {
            self.selector.ran(ran);
        }
        if outcomes.is_empty() {
            let none = "the backend took no query of the batch";
            outcomes.push(Err(RunError::Backend(none.to_owned())));
        }
        let interpreted =
            |o: &Result<Outcome, _>| matches!(o, Ok(o) if o.report.route == "interpreted");
        if outcomes.iter().any(interpreted) {
            self.interpreted.add(took);
        }
        Ok((outcomes, took))
    }
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
        let typed = collected(topologies.into_iter().map(T::into_topology))?;
        let topologies = || collected(typed.iter().map(P::topology));
        let plan = |runtime: &Runtime| Plan::new::<P>(runtime, &topologies()?);
        let of = |plan: &Plan| {
            let subject = || Subject::many(&plan.whole, plan.sizes());
            let nodes = plan.sizes().map(|sizes| sizes.nodes).max();
            Of::new(runtime, (&*plan.whole, nodes.unwrap_or(0)), subject)
        };
        let open = |runtime: &Runtime, plan: Plan| {
            // The plans have room for them.
            let mut rows = for_queries(typed.len())?;
            for topology in &typed {
                rows.push(P::topology_rows(topology)?);
            }
            let mut topologies = topologies()?;
            for (topology, rows) in topologies.iter_mut().zip(&rows) {
                topology.columns.extend(slices(rows));
            }
            plan.open::<P>(runtime, &topologies)
        };
        let (sides, here) = Sides::open(runtime, &plan, &of, &open)?;
        let mut sessions = Sessions {
            here,
            sides,
            stops: Stops::new(runtime.all(), runtime.time_limit()),
            line: Line::default(),
            decided: AllShared::default(),
            pass: PhantomData,
        };
        sessions.here.many.set_stop(&sessions.stops.stop);
        Ok(sessions)
    }

    /// Number of topologies.
    pub fn len(&self) -> usize {
        self.here.memories.len()
    }

    /// Whether there are no topologies.
    pub fn is_empty(&self) -> bool {
        self.here.memories.is_empty()
    }

    /// Puts a query on a topology, counted from 0, in line for the next batch. Higher priorities go first. Inputs are
    /// copied. On a CPU the copies count as memory until the query has run, and of each query but one what is told of
    /// it until its batch ends. If the inputs are wrong, or there is no memory for them, the query fails when it runs.
    pub fn submit(&mut self, topology: usize, run: P::Run<'_>, priority: i32) -> QueryId {
        let of = (self.sides.runtime(), &*self.here.program);
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
    /// waiting. Or the pass cannot be compiled, and the runtime's route is [`RoutePolicy::Compiled`]. What else fails
    /// is a query, whose error is in [`Batch::results`].
    pub fn run_batch(&mut self) -> Result<Batch<P::Output>, Error> {
        let _under_way = self.stops.begin()?;
        let started = Instant::now();
        let before = self.counters().map(|c| c.launches);
        let mut tells = (self.line).begin(usize::MAX, self.sides.runtime(), by_urgency)?;
        let topologies = self.len();
        for query in &mut tells.batch {
            let topology = query.topology;
            query.wrong = (topology >= topologies).then_some(RunError::NoTopology {
                topology,
                topologies,
            });
        }
        let mut batch = std::mem::take(&mut tells.batch);
        wrong(&mut batch).for_each(|(query, e)| tells.fails(query, e));
        self.take_side(&batch);
        tells.batch = batch;
        self.batch_on_a_side(&mut tells, Sessions::run_queries)?;
        let after = self.counters().map(|c| c.launches);
        Ok(tells.end(started, [before, after]))
    }

    /// Goes to the side that is to have the batch.
    fn take_side(&mut self, batch: &[Query]) {
        self.sides.forget_run();
        if batch.is_empty() || !self.sides.may_change() {
            return;
        }
        let Resident {
            program, memories, ..
        } = &self.here;
        // Topologies run beside each other, and each side has to have all of them.
        let longest = batch.iter().map(|query| {
            let memory = &memories[query.topology];
            longest(program, &memory.sizes_with(program, &query.scalars))
        });
        let longest = longest.fold(0, u64::saturating_add);
        let open_ns = memories.iter().map(|m| open_ns(program, &m.sizes));
        let open_ns = open_ns.fold(0, u64::saturating_add);
        let queries = batch.len() as u64;
        self.go_on((queries, queries), (longest, open_ns));
    }

    /// Runs queries on the side where the sessions are. Those that failed where they may succeed after all, and their
    /// errors.
    fn run_queries(
        &mut self,
        mut batch: Vec<Query>,
        tells: &mut Begun<P::Output>,
    ) -> Result<Vec<(Query, Error)>, Error> {
        let (last, queries) = (self.sides.is_last_resort(), batch.len());
        let (here, runtime) = (&mut self.here, self.sides.runtime());
        let (mut took, mut did, mut done) = (Duration::ZERO, Did::default(), 0);
        let mut seen = None;
        let mut failed: Vec<(Query, Error)> = Vec::new();
        let mut fails =
            |query: Query, e: RunError, tells: &mut Begun<P::Output>| match last || e.is_stop() {
                true => tells.fails(query, e),
                false => failed.push((query, e.into())),
            };
        for query in &mut batch {
            query.check(&mut here.memories[query.topology], &here.program);
        }
        wrong(&mut batch).for_each(|(query, e)| fails(query, e, tells));
        if let Err(e) = here.keep_results(&batch) {
            (batch.drain(..)).for_each(|query| fails(query, e.clone(), tells));
        }
        while !batch.is_empty() {
            let rooms = here.memories.iter().map(Memory::room_for_results);
            let outcomes = match collected(rooms) {
                Ok(rooms) => {
                    let decided = &mut self.decided;
                    let (outcomes, this_took) =
                        here.run_some((runtime, decided), &mut batch, rooms)?;
                    took += this_took;
                    outcomes
                }
                Err(e) => vec![Err(e)],
            };
            wrong(&mut batch).for_each(|(query, e)| fails(query, e, tells));
            let ran = outcomes.len().min(batch.len());
            for (query, mut outcome) in batch.drain(..ran).zip(outcomes) {
                if let Ok(outcome) = &mut outcome {
                    outcome.report.backend = runtime.backend();
                    let memory = &mut here.memories[query.topology];
                    memory.keep_result(&here.program, outcome);
                    let (rounds, items) = (&outcome.report.rounds, outcome.report.activity);
                    let items = items.map_or(0, |a| a.items);
                    here.heat.add(&here.program, &memory.sizes, rounds, items);
                    did = did.plus(Did::of(&here.program, &memory.sizes, &outcome.report));
                    seen = Some(outcome.report.clone());
                    done += 1;
                }
                tells.order.push(query.id);
                match outcome.and_then(made::<P>) {
                    Ok(output) => tells.result(query, Ok(output)),
                    Err(e) => fails(query, e, tells),
                }
            }
        }
        here.memories.iter_mut().for_each(Memory::give_results);
        if done < queries {
            self.sides.forget_run();
        }
        if queries > 0 || !tells.results.is_empty() {
            self.sides.ran(took, did, 1);
        }
        if let Some(report) = seen {
            self.sides.saw(&report, done as u64);
        }
        Ok(failed)
    }

    /// Where the sessions are: the backend's name, as of [`Session::backend`](crate::Session::backend).
    pub fn backend(&self) -> &'static str {
        self.sides.runtime().backend()
    }

    /// The sides of the sessions' runtime: what batches take there, and what the sessions have there.
    pub fn sides(&self) -> Vec<Side> {
        self.sides.list()
    }

    /// Lets batches go to the side of the runtime where they are fastest, or keeps them where they are, as of
    /// [`Session::set_side_changes`](crate::Session::set_side_changes).
    pub fn set_side_changes(&mut self, on: bool) {
        self.sides.set_changes(on);
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
        self.stops.steps = steps;
        self.here.many.set_step_limit(steps)
    }

    /// What ran the last batches: for queries that ran together, how many they were, the code that ran them, with what
    /// the compiler said of it or why it was not compiled, what was selected of all that can be done beside running the
    /// pass, and what came of them. Behind that is what [`Session::explain`](crate::Session::explain) ends with.
    pub fn explain(&self) -> impl fmt::Display + '_ {
        let (program, code) = (&*self.here.program, self.decided.code());
        let gains = &self.sides.runtime().thresholds().gains;
        let unmeasured = match code {
            Some(_) => unmeasured(self.here.selector.offered(), gains),
            None => String::new(),
        };
        let bottom = self.sides.bottom(program, code, false, &unmeasured);
        Explanation(self.decided.iter().collect(), bottom)
    }

    /// What was uploaded, allocated, waited for, read back and launched since these sessions were made; `None` where
    /// the backend does not count.
    pub fn counters(&self) -> Option<Counters> {
        let counted = self.here.counters();
        counted.map(|c| c.plus(&self.sides.counters()))
    }
}

impl<P: Pass> Goes for Sessions<P> {
    type Has = Resident;

    fn sides_mut(&mut self) -> &mut Sides<Resident> {
        &mut self.sides
    }

    fn go(&mut self, to: usize) -> bool {
        if to == self.sides.at() {
            return true;
        }
        let here = &*self.here.many;
        let Some(mut there) = self
            .sides
            .take(to, &|there| Resident::lent::<P>(there, here))
        else {
            return false;
        };
        there.many.set_stop(&self.stops.stop);
        // One that was parked may have a limit that is no longer there.
        there.many.set_step_limit(self.stops.steps);
        let before = std::mem::replace(&mut self.here, there);
        self.sides.leave(before, to);
        true
    }
}

impl<P: Pass> fmt::Debug for Sessions<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("topologies", &self.here.memories.len())
            .finish_non_exhaustive()
    }
}

/// By priority, then as they were submitted.
fn by_urgency(a: &Query, b: &Query) -> Ordering {
    let order = b.priority.total_cmp(&a.priority);
    order.then(a.id.cmp(&b.id))
}
