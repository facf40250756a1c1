//! Queries of a session, and the batches that run them.

use super::Session;
use crate::costs::Did;
use crate::decide::{Happened, Situation};
use crate::error::Error;
use crate::memory::Rooms;
use crate::query::{Batch, Begun, Query, QueryId, collected, made, wrong};
use crate::sides::Goes;
use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::launch::{self, Diffusion, LaunchError, diffuse};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, Report, for_queries};
use vyre_core::run::pass::Pass;

impl<P: Pass> Session<P> {
    /// Puts a query in line for the next batch. Higher priorities go first. Inputs are copied. On a CPU the copies count
    /// as memory until the query has run, and of each query but one what is told of it until its batch ends. If the
    /// inputs are wrong, or there is no memory for them, the query fails when it runs.
    pub fn submit(&mut self, run: P::Run<'_>, priority: i32) -> QueryId {
        let of = (self.sides.runtime(), &*self.program);
        self.line.submit::<P>((0, priority), run, of)
    }

    /// Makes two waiting queries siblings: in the next batches their priorities draw near each other, so that their
    /// results do not come back far apart. Each batch moves both ends by a fourth of their difference
    /// ([`diffuse`](vyre_core::plan::launch::diffuse)), less where one has many siblings.
    pub fn relate(&mut self, a: QueryId, b: QueryId) {
        self.siblings.push((a, b));
    }

    /// Queries that wait for a batch.
    pub fn waiting(&self) -> usize {
        self.line.waiting.len()
    }

    /// How many queries a batch takes at most; `None`, the default, means all. The others stay in line and grow older.
    /// From an age of the policy's `promote_age` on they go before any priority.
    pub fn set_batch_limit(&mut self, limit: Option<NonZeroUsize>) {
        self.batch_limit = limit;
    }

    /// Runs the waiting queries, independently of each other: aged ones first, then by priority, then in the order in
    /// which they were submitted. A backend runs as many as it can in one launch. A query that fails leaves the others
    /// alone.
    ///
    /// # Errors
    /// What concerns no single query: the backend takes none of them, there is no memory for what is told of them, or the
    /// batch was cancelled before it began; they then go on waiting. Errors of queries are in [`Batch::results`].
    pub fn run_batch(&mut self) -> Result<Batch<P::Output>, Error> {
        let _under_way = self.stops.begin()?;
        let started = Instant::now();
        // Its states have columns of their own.
        self.kept = Outcome::default();
        let before = self.counters().map(|c| c.launches);
        let policy = self.decider.thresholds.launch;
        self.draw_near()?;
        let limit = self.batch_limit.map_or(usize::MAX, NonZeroUsize::get);
        let urgency = |a: &Query, b: &Query| by_urgency(&policy, a, b);
        let mut tells = (self.line).begin(limit, self.sides.runtime(), urgency)?;
        for query in &mut self.line.waiting {
            query.age = query.age.waited_once().map_err(overflow)?;
        }
        if let Some(first) = tells.batch.first() {
            let queries = tells.batch.len() as u64;
            self.take_side(&first.scalars, queries, queries);
        }
        self.batch_on_a_side(&mut tells, Session::run_queries)?;
        let after = self.counters().map(|c| c.launches);
        Ok(tells.end(started, [before, after]))
    }

    /// Runs queries on the side where the session is: their results, and the order in which they were handed to the
    /// executor. Those that failed where they may succeed after all, and their errors.
    fn run_queries(
        &mut self,
        mut batch: Vec<Query>,
        tells: &mut Begun<P::Output>,
    ) -> Result<Vec<(Query, Error)>, Error> {
        let policy = self.decider.thresholds.launch;
        let (backend, last) = (self.backend(), self.sides.is_last_resort());
        let queries = batch.len();
        let mut failed: Vec<(Query, Error)> = Vec::new();
        let (mut took, mut did, mut done) = (Duration::ZERO, Did::default(), 0);
        for query in &mut batch {
            query.check(&mut self.memory, &self.program);
        }
        for (query, e) in wrong(&mut batch) {
            match last {
                true => tells.fails(query, e),
                false => failed.push((query, e.into())),
            }
        }
        self.memory.keep_results(&self.program, batch.len() as u64);
        while !batch.is_empty() {
            let room = match self.memory.room_for_results() {
                Ok(room) => room,
                Err(e) => {
                    for query in batch.drain(..) {
                        match last {
                            true => tells.fails(query, e.clone()),
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
            let second_inputs = batch.len() > 1 && self.second_inputs();
            let situation = self.situation(batch.len() as u64);
            let situation = situation.map(|situation| Situation {
                batch_bytes: self.memory.batch_bytes(),
                second_inputs,
                shared: true,
                rooms: Rooms {
                    // Each query that runs beside others would have one.
                    bitmap: self.memory.available_bytes().is_none(),
                    ..situation.rooms
                },
                requeues: batch.iter().map(|q| q.age.requeues).max().unwrap_or(0),
                max_age: batch.iter().map(|q| q.age.waited).max().unwrap_or(0),
                slots,
                ..situation
            });
            let launched = Instant::now();
            let mut this_took = Duration::ZERO;
            let (decider, executor) = (&mut self.decider, &mut *self.executor);
            let decided = situation.and_then(|of| decider.decide(&of, &self.program, executor));
            let room = room.min(batch.len());
            let taken = match decided.and_then(|()| for_queries(room)) {
                Ok(mut args) => {
                    args.extend(batch.iter().take(room).map(Query::args));
                    let started = self.sides.runtime().now();
                    let taken = self.executor.run_batch(&args);
                    this_took = self.sides.runtime().since(started);
                    took += this_took;
                    taken
                }
                Err(e) => vec![Err(e)],
            };
            if taken.is_empty() {
                let none = RunError::Backend("the backend took no query of the batch".to_owned());
                let waiting = &mut self.line.waiting;
                waiting.append(&mut batch);
                waiting.extend(failed.into_iter().map(|(query, _)| query));
                self.memory.give_results();
                return Err(none.into());
            }
            let program = &*self.program;
            let mut sum = Happened {
                wall_ns: u64::try_from(launched.elapsed().as_nanos()).unwrap_or(u64::MAX),
                ..Happened::of(program, &Report::default())
            };
            let is_refusal = |r: &Result<_, RunError>| r.as_ref().is_err_and(RunError::is_refusal);
            let nothing_ran = taken.iter().all(is_refusal);
            let ran = taken.len().min(batch.len());
            for (query, mut result) in batch.drain(..ran).zip(taken) {
                if let Ok(outcome) = &mut result {
                    outcome.report.backend = backend;
                    sum.add(program, &outcome.report);
                    let sizes = &self.memory.sizes;
                    self.decider.ran(program, sizes, &outcome.report, 1);
                    self.memory.keep_result(program, outcome);
                    did = did.plus(self.did(&outcome.report));
                    self.sides.saw(&outcome.report, 1);
                    done += 1;
                }
                tells.order.push(query.id);
                match result.and_then(made::<P>) {
                    Err(e) if !last && !e.is_stop() => failed.push((query, e.into())),
                    result => tells.result(query, result),
                }
            }
            match nothing_ran {
                true => self.decider.refused(),
                false => self.decider.happened(sum, this_took),
            }
            for query in &mut batch {
                query.age = query.age.requeued().map_err(overflow)?;
            }
            batch.sort_unstable_by(|a, b| by_urgency(&policy, a, b));
        }
        self.memory.give_results();
        if done < queries {
            self.sides.forget_run();
        }
        if queries > 0 || !tells.results.is_empty() {
            self.sides.ran(took, did, 1);
        }
        Ok(failed)
    }

    /// Moves the priorities of siblings that wait.
    fn draw_near(&mut self) -> Result<(), Error> {
        if self.siblings.is_empty() {
            return Ok(());
        }
        let waiting = self.line.waiting.iter().enumerate();
        let mut at = collected(waiting.map(|(i, q)| (q.id, i)))?;
        at.sort_unstable();
        let place = |id: QueryId| {
            let found = at.binary_search_by_key(&id, |&(id, _)| id);
            found.ok().map(|found| at[found].1)
        };
        self.siblings
            .retain(|&(a, b)| place(a).is_some() && place(b).is_some());
        let links = self.siblings.iter();
        let links = collected(links.filter_map(|&(a, b)| place(a).zip(place(b))))?;
        if !links.is_empty() {
            let priorities = collected(self.line.waiting.iter().map(|q| q.priority))?;
            let diffusion = Diffusion {
                damping: 0.25,
                rounds: 1,
                restriction: 1.0,
            };
            let moved = diffuse(&priorities, &links, &diffusion).map_err(overflow)?;
            for (query, priority) in self.line.waiting.iter_mut().zip(moved) {
                query.priority = priority;
            }
        }
        Ok(())
    }
}

/// Aged queries first, then by priority, then as they were submitted.
fn by_urgency(policy: &launch::Policy, a: &Query, b: &Query) -> Ordering {
    let waits = |q: &Query| !policy.promotes(q.age);
    let order = waits(a).cmp(&waits(b));
    let order = order.then(b.priority.total_cmp(&a.priority));
    order.then(a.id.cmp(&b.id))
}

fn overflow(e: LaunchError) -> Error {
    RunError::Backend(e.to_string()).into()
}
