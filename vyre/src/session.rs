//! The [`Session`]: a pass bound to a runtime and a topology, with its memory allocated.

use crate::decide::{Decider, Decision, Explanation, Happened, Situation, Tuned, Tuner};
use crate::device_ptr::{DevicePtr, DevicePtrError};
use crate::error::Error;
use crate::memory::Memory;
use crate::pinned::{Held, Pinned, Pool};
use crate::query::{Line, QueryId, slices};
use crate::runtime::Runtime;
use crate::sides::{Declared, Goes, Parked, Sides};
use crate::stop::Stops;
use crate::tier::RoutePolicy;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Weak};
use std::time::Duration;
use vyre_core::dsl::columns::SliceMut;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::session::{Counters, Profile, Readback};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::args::Args;
use vyre_core::run::backend::{Executor, Opening, Progress, Resident};
use vyre_core::run::clock::Instant;
use vyre_core::run::outcome::{Outcome, Report, give};
use vyre_core::run::pass::{IntoTopology, Pass};
use vyre_core::run::stop::{Canceller, UnderWay};
use vyre_core::vir0::module::{Agreement, Buffer, BufferId, Program, Role, TopologyId};
use vyre_core::vir0::scalar::Scalar;

mod batch;
mod follow;

/// A pass with its topology uploaded and its buffers allocated, ready to run any number of times.
///
/// `#[wave_graph] mod bfs` defines `bfs::Session` as an alias of this.
pub struct Session<P: Pass> {
    executor: Box<dyn Executor>,
    program: Arc<Program>,
    memory: Memory,
    decider: Decider,
    sides: Sides<Parked>,
    line: Line,
    /// Queries whose priorities draw near each other.
    siblings: Vec<(QueryId, QueryId)>,
    batch_limit: Option<NonZeroUsize>,
    /// Columns that rows of structs were put together from: the next run's are made in their memory.
    kept: Outcome,
    stops: Stops,
    /// Results whose memory came back.
    pool: Arc<Pool<P::Output>>,
    pass: PhantomData<fn() -> P>,
}

impl<P: Pass> Session<P> {
    /// Uploads the topology.
    ///
    /// # Errors
    /// The parts of the topology do not fit together (a column is not as long as its graph has nodes, or edges), the
    /// session does not fit in the budget or on the backend, or the device fails.
    pub fn new<'a>(
        runtime: &Runtime,
        topology: impl IntoTopology<P::Topology<'a>>,
    ) -> Result<Session<P>, Error> {
        Session::of(runtime, &topology.into_topology())
    }

    /// Uploads the topology, which the caller keeps.
    pub(crate) fn of(runtime: &Runtime, topology: &P::Topology<'_>) -> Result<Session<P>, Error> {
        let (sides, opened) = Declared::begin::<P>(runtime, topology)?;
        let mut session = Session {
            executor: opened.executor,
            program: opened.program,
            memory: opened.memory,
            decider: opened.decider,
            sides,
            line: Line::default(),
            siblings: Vec::new(),
            batch_limit: None,
            kept: Outcome::default(),
            stops: Stops::new(runtime.all(), runtime.time_limit()),
            pool: Arc::default(),
            pass: PhantomData,
        };
        session.executor.set_stop(&session.stops.stop);
        Ok(session)
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

    /// Runs the pass once.
    ///
    /// # Errors
    /// [`Error::Trap`] for a checked fault; [`Error::Run`] for an argument of a wrong length, for memory that there is not,
    /// and for a device that fails. After a trap or a refused argument the session is as before and can run again.
    pub fn run(&mut self, run: P::Run<'_>) -> Result<P::Output, Error> {
        let mut out = P::Output::default();
        self.run_into(run, &mut out)?;
        Ok(out)
    }

    /// Runs the pass once, as [`run`](Session::run) does, and puts the result into the memory of an earlier result, or
    /// of `Output::default()`, which has none. A run that needs no more than the result before allocates nothing for
    /// its own. What `out` held is gone when the run begins. After an error it is empty, and its memory goes to the
    /// next run.
    ///
    /// A list keeps the room that it grew to, where [`Session::run`] gives one that is just full.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_into(&mut self, run: P::Run<'_>, out: &mut P::Output) -> Result<(), Error> {
        let begun = self.stops.begin().map(|under_way| (under_way, vec![run]));
        self.series(begun, out)
    }

    /// Runs the pass once, and gives what it leaves as it is; the caller keeps the arguments.
    pub(crate) fn outcome(
        &mut self,
        run: &P::Run<'_>,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        let _under_way = self.stops.begin()?;
        let args = [self.memory.scalars().args::<P>(run)];
        self.take_side(&args[0].scalars, 1, 1);
        self.on_a_side(|session| {
            let runs = std::slice::from_ref(run);
            session.with_rows((runs, &args), |session, series| {
                session.launch(series, results)
            })
        })
    }

    /// Runs the pass once, as [`run`](Session::run) does, and puts the result into memory that goes back to the session
    /// when the result is dropped. On a GPU its pages are locked: the device copies large columns of scalars and rows
    /// of bits to where they stay, and they are not copied again. Lists, whose length is known only after the run, and
    /// structs are in ordinary memory. On a CPU everything is.
    ///
    /// Until it is freed the memory counts in the runtime's budget, lists with their whole capacity. A session keeps up
    /// to eight results that came back, and gives them up where another session needs the memory.
    ///
    /// # Errors
    /// As [`Session::run`]; a result that does not fit in the budget beside the others is refused before anything runs.
    pub fn run_pinned(&mut self, run: P::Run<'_>) -> Result<Pinned<P::Output>, Error> {
        let _under_way = self.stops.begin()?;
        let args = [self.memory.scalars().args::<P>(&run)];
        let runs = [run];
        self.take_side(&args[0].scalars, 1, 1);
        let pinned = self.on_a_side(|session| {
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

    /// Runs the pass several times, one after another, and reads back what the last run leaves.
    ///
    /// # Errors
    /// As [`Session::run`], of the first run that has one; it ends the series. No runs at all are an error, too.
    pub fn run_series<'a>(
        &mut self,
        runs: impl IntoIterator<Item = P::Run<'a>>,
    ) -> Result<P::Output, Error> {
        let mut out = P::Output::default();
        self.run_series_into(runs, &mut out)?;
        Ok(out)
    }

    /// Runs a series, as [`run_series`](Session::run_series) does, and puts the last run's result into the memory of an
    /// earlier one, as [`run_into`](Session::run_into) does.
    ///
    /// # Errors
    /// As [`Session::run_series`].
    pub fn run_series_into<'a>(
        &mut self,
        runs: impl IntoIterator<Item = P::Run<'a>>,
        out: &mut P::Output,
    ) -> Result<(), Error> {
        let begun = self.stops.begin().and_then(|under_way| {
            let mut all = Vec::new();
            for run in runs {
                under_way.check()?;
                all.push(run);
            }
            Ok((under_way, all))
        });
        self.series(begun, out)
    }

    /// Runs the pass once on in-out buffers that are the caller's ([`Executor::run_in_place`]), for a call that began at
    /// this moment.
    pub(crate) fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        may_trap: bool,
        started: Instant,
    ) -> Result<Report, Error> {
        let _under_way = self.stops.begin_since(started)?;
        self.take_side(&args.scalars, 1, 1);
        self.on_a_side(|session| {
            session.memory.check(&session.program, args)?;
            let situation = session.situation(1)?;
            let (decider, program) = (&mut session.decider, &*session.program);
            decider.decide(&situation, program, &mut *session.executor)?;
            let executor = &mut session.executor;
            let started = session.sides.runtime().now();
            let ran = executor.run_in_place(args, in_outs, may_trap);
            if ran.as_ref().is_err_and(RunError::is_refusal) {
                session.decider.refused();
            }
            let mut outcome = ran?;
            session.ended(started, &mut outcome, 1);
            Ok(outcome.report)
        })
        .map_err(Error::from)
    }

    /// What its buffers may have, as the runs so far needed them.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.memory.most_bytes
    }

    /// Runs what a call has begun with, if it has.
    fn series(
        &mut self,
        begun: Result<(UnderWay, Vec<P::Run<'_>>), RunError>,
        out: &mut P::Output,
    ) -> Result<(), Error> {
        let mut results = std::mem::take(&mut self.kept);
        P::exchange(&mut results, out);
        let launched = begun.and_then(|(_under_way, runs)| {
            let of_session = self.memory.scalars();
            let plain = runs.iter().map(|run| of_session.args::<P>(run));
            let plain: Vec<Args<'_>> = plain.collect();
            let scalars = plain.first().map_or(&[][..], |args| &args.scalars);
            self.take_side(scalars, 1, plain.len() as u64);
            self.on_a_side(|session| {
                session.with_rows((&runs, &plain), |session, series| {
                    session.launch(series, &mut results)
                })
            })
        });
        let given = give(launched, &mut results, out, P::exchange);
        self.kept = results;
        Ok(given?)
    }

    /// Goes on with all arguments of runs: `plain` without rows of structs, which are taken apart here, once the budget
    /// has room for what a run needs. Rows of one run are in that; on a CPU those of others count while they are there.
    fn with_rows<T>(
        &mut self,
        (runs, plain): (&[P::Run<'_>], &[Args<'_>]),
        go_on: impl FnOnce(&mut Self, &[Args<'_>]) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut lease = self.sides.runtime().lease();
        let counts = self.sides.runtime().implementation().is_host();
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
            return Err(RunError::NoRuns);
        }
        let situation = Situation {
            second_inputs: series.len() > 1 && self.second_inputs(),
            ..self.situation(series.len() as u64)?
        };
        let (decider, program) = (&mut self.decider, &*self.program);
        decider.decide(&situation, program, &mut *self.executor)?;
        let started = self.sides.runtime().now();
        let ran = self.executor.run_series(series, results);
        if ran.as_ref().is_err_and(RunError::is_refusal) {
            self.decider.refused();
        }
        ran?;
        self.ended(started, results, series.len() as u64);
        Ok(())
    }

    /// Takes note of a run, or a series of `runs`.
    fn ended(&mut self, started: Duration, results: &mut Outcome, runs: u64) {
        let (did, took) = (
            self.did(&results.report),
            self.sides.runtime().since(started),
        );
        // Sweepers tell no time.
        if results.report.wall_ns == 0 {
            results.report.wall_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        }
        let (program, sizes) = (&*self.program, &self.memory.sizes);
        self.decider.ran(program, sizes, &results.report, runs);
        self.decider.took(&results.report, took, did.items, runs);
        self.sides.ran(took, did.times(runs), runs);
        self.sides.saw(&results.report, runs);
        results.report.backend = self.backend();
        self.decider
            .happened(Happened::of(&self.program, &results.report), took);
    }

    /// Takes another topology: edges appended (see [`Csr::append`](crate::Csr::append)), weights replaced, another
    /// graph. What is equal to what is there is not uploaded again.
    ///
    /// Queries that were submitted wait for the next batch as before, and run on the topology that is there then; one
    /// whose inputs do not fit it any more says so in its result.
    ///
    /// # Errors
    /// As [`Session::new`]. The session is then as before, and can run on the topology that it has.
    pub fn update<'a>(
        &mut self,
        topology: impl IntoTopology<P::Topology<'a>>,
    ) -> Result<(), Error> {
        // What the session has is available to what it becomes, and what it has on other sides, which get the topology
        // when they get a run.
        self.sides.close_others();
        let had = self.memory.lease.bytes();
        let given = self.memory.lease.resize(0);
        debug_assert!(given, "smaller is always possible");
        match self.become_of(&topology.into_topology(), had) {
            Ok(memory) => {
                self.memory = memory;
                self.kept = Outcome::default();
                self.decider.forget();
                self.sides.renew(&self.memory.sizes);
                Ok(())
            }
            Err(e) => {
                // Only another session may have taken it meanwhile; then its runs say so.
                let _again = self.memory.lease.resize(had);
                Err(e)
            }
        }
    }

    /// Becomes a session of another topology, and takes what its plan needs. `had`: what it needed before.
    fn become_of(&mut self, given: &P::Topology<'_>, had: u64) -> Result<Memory, Error> {
        let runtime = self.sides.runtime();
        let mut topology = P::topology(given);
        let (planned, memory) = Declared::of::<P>().plan(runtime, &topology)?;
        let same = memory.allocation == self.memory.allocation
            && planned.program.schedule == self.program.schedule;
        // On a CPU the topology before stays until this one is there, and so does all that the session has where it is
        // made anew.
        let mut both = runtime.lease();
        let more = match same {
            true => memory.resident_bytes + had.saturating_sub(memory.lease.bytes()),
            false => had,
        };
        if memory.holder.is_host() && !both.take(more) {
            return Err(RunError::Memory {
                what: "the topology does not fit beside the one before".to_owned(),
                needed_bytes: memory.lease.bytes().saturating_add(more),
                available_bytes: memory.lease.available_bytes().unwrap_or(0),
            }
            .into());
        }
        let rows = P::topology_rows(given)?;
        topology.columns.extend(slices(&rows));
        if !(same && self.executor.update(&topology)?) {
            let program = planned.program;
            let made = runtime.open(Opening {
                program: Arc::clone(&program),
                topology: &topology,
                allocation: memory.allocation,
                native: Some(P::NATIVE),
            })?;
            let before = std::mem::replace(&mut self.executor, made);
            self.watch();
            self.sides.count(before.counters());
            self.program = program;
        }
        Ok(memory)
    }

    /// Where the device has an output, a topology buffer (`weight`), or a graph (`graph.offsets`, `graph.targets`), for
    /// kernels of your own beside the pass. A kernel on `Device::stream` of the runtime's `cuda_device` runs after the
    /// runs before it and before the runs after it. A buffer of structs has one buffer for each field (`start.x`).
    ///
    /// - **An output** has what the last run left, as the host got it, until the next run begins, which begins it anew.
    ///   The kernel may write to it. It may be somewhere else after each run.
    /// - **A topology buffer** is read by every run from here on, so what a kernel writes there, they see. The session
    ///   keeps no other copy: [`update`](Session::update) compares with what is there, and a session that goes to a CPU
    ///   takes that along.
    /// - **A graph** must not be written to: how it is swept was planned from its degrees.
    ///
    /// The address is good until the session is run, updated or dropped; ask again afterwards, which costs next to
    /// nothing. Only a session on one side stays on the device (`Runtime::cuda`); with [`Runtime::auto`] a run may
    /// take it to the CPU. On another stream you have to make the order yourself, with events.
    ///
    /// # Errors
    /// The pass has no such field, the field does not stay on the device, the session is on a CPU, or an output has no
    /// result.
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
        if runtime.implementation().is_host() {
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
        let counted = self.executor.counters();
        counted.map(|c| c.plus(&self.sides.counters()))
    }

    /// What `runs` of a series do, for [`plan::session`](vyre_core::plan::session) to plan: lengths are those of
    /// the last run.
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
        let queues = program.queues().map(|(id, queue)| {
            let len = sizes.resolve(program, queue.capacity).unwrap_or(0);
            len.saturating_mul(id.sides() * queue.item_bytes())
        });
        let outputs = program.reductions.iter().filter(|r| r.output).count() as u64;
        let held = program.buffers.iter();
        let held = held.filter(|b| b.role != Role::Topology && bytes(b) > 0);
        Profile {
            layout_hash: Some(self.layout_hash()),
            graph_bytes: edges.sum::<u64>() + of(&[Role::Topology]),
            runs,
            buffers: (held.count() + program.queues().count()) as u64,
            frontier_bytes: of(&[Role::Input, Role::InOut]) + 8 * program.scalars.len() as u64,
            scratch_bytes: of(&[Role::Scratch]) + queues.sum::<u64>(),
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

    /// The last decisions, readable; with the time of each wave, where [`set_wave_times`](Session::set_wave_times)
    /// asked for it, with the loops in bodies, as `PLAN` shows them, with the results that are not proven to be the same
    /// in every run, and with what runs take on each of several sides ([`sides`](Session::sides)).
    pub fn explain(&self) -> impl fmt::Display + '_ {
        let (code, measuring) = (self.decider.code(), self.decider.is_measuring());
        let unmeasured = self.decider.unmeasured();
        let bottom = (self.sides).bottom(&self.program, code, measuring, &unmeasured);
        Explanation(self.decider.decisions.iter().collect(), bottom)
    }

    /// What this session decides by, from now on, on all sides.
    pub fn set_thresholds(&mut self, thresholds: Thresholds) {
        self.decider.thresholds = thresholds;
        self.sides.set_thresholds(thresholds);
    }

    /// Asks for a number of workers a launch, at most as many as the backend runs at once. `None`, the default, asks for
    /// all of these. Workers are the CTAs of a GPU and the threads of a CPU, whose sweeps take one or all.
    pub fn set_workers(&mut self, workers: Option<NonZeroU32>) {
        self.decider.workers = workers.map(NonZeroU32::get);
    }

    /// Lets the session try several launches on its next runs, which should be alike, and keep the fastest. It tries
    /// numbers of workers and of items a lane where the backend can vary them, otherwise thresholds from which a sweep
    /// is dense and takes all threads. It is off by default. The session stays on its side until all was tried.
    ///
    /// No choice changes a result. On a GPU the order of items depends on both numbers, so nothing is tried for passes
    /// whose result is open ([`Agreement::Open`]), whatever they claim.
    pub fn set_autotune(&mut self, on: bool) {
        let open = matches!(self.program.agreement, Agreement::Open(_));
        self.decider.tuner = on.then(|| Tuner::new(self.executor.limits(), open));
    }

    /// Has the next runs time the sweeps of each wave: [`explain`](Session::explain) shows the times, those of a
    /// batch's queries added up, and they are in the runs' [`Report::waves`]. [`WaveTime`](crate::WaveTime) says what
    /// is counted where. Off as it begins, because a look at the clock takes as long as a sweep over a few items.
    /// Meanwhile the session stays on its side.
    pub fn set_wave_times(&mut self, on: bool) {
        self.decider.time_waves = on;
    }

    /// What is to run the pass from the next run on, on a backend that interprets and compiles. It begins as the
    /// runtime's ([`Runtime::with_route`]). [`Report::route`](crate::Report::route) says it of each run, and
    /// [`explain`](Session::explain) why, with what the compiler said of the code.
    pub fn set_route(&mut self, route: RoutePolicy) {
        self.decider.route = route;
    }

    /// Waits until the pass is compiled, so that the next run is of compiled code, as with [`RoutePolicy::Compiled`],
    /// which it sets. Where the backend does not compile bytecode, nothing happens.
    ///
    /// # Errors
    /// It cannot be compiled. The session stays as it is.
    pub fn compile_now(&mut self) -> Result<(), Error> {
        self.executor.compile()?;
        self.decider.route = RoutePolicy::Compiled;
        Ok(())
    }

    /// What autotuning has chosen, once it has tried everything.
    pub fn autotuned(&self) -> Option<Tuned> {
        self.decider.tuner.as_ref()?.chosen()
    }

    /// What ends calls of this session from any thread: a run, a series, a batch. [`cancel`](Canceller::cancel) ends the
    /// one that is under way within 100 ms (by shaders behind its submission) with [`Error::Cancelled`], and refuses every
    /// later one with the same error until [`rearm`](Canceller::rearm). A call that was ended hands no results out, and the session works afterwards. A
    /// batch keeps the queries that were done, and gives that error for the others.
    ///
    /// A run that has come to its end when the cancel is seen gives its results, and the trap of a barrier group that
    /// was finished goes first.
    ///
    /// ```
    /// use vyre::{Error, prelude::*};
    ///
    /// #[wave_graph]
    /// mod counter {
    ///     pub struct Data {
    ///         #[output(per = items)] out: u32,
    ///         items: u32,
    ///         turns: u32,
    ///     }
    ///     #[wave(range(items))]
    ///     fn count(i: Index, turns: u32, out: &mut u32) {
    ///         loop {
    ///             if *out == turns { return; }
    ///             *out = (*out + i + 1) % 1_000;
    ///         }
    ///     }
    /// }
    ///
    /// fn main() -> Result<(), Error> {
    ///     let mut session = counter::Session::new(&Runtime::native(), ())?;
    ///     let canceller = session.canceller();
    ///     let other = std::thread::spawn(move || canceller.cancel());
    ///     // It would never end by itself.
    ///     let stopped = session.run(counter::Run { items: 1, turns: 1_000 });
    ///     assert!(matches!(stopped, Err(Error::Cancelled)));
    ///     other.join().expect("no panic");
    ///     session.canceller().rearm();
    ///     assert_eq!(session.run(counter::Run { items: 1, turns: 999 })?.out, [999]);
    ///     Ok(())
    /// }
    /// ```
    pub fn canceller(&self) -> Canceller {
        self.stops.canceller()
    }

    /// The most time that a call of this session may take from here on, a batch or a series as a whole. It counts from
    /// the call, so that uploads count, and opening the session on another side. A call that takes longer ends as one
    /// that is [cancelled](Session::canceller), within 100 ms, with [`Error::Deadline`]; the next one has its time again.
    /// `None`: any time. As it begins, the [runtime's](Runtime::with_time_limit). On wasm32-unknown-unknown there is no
    /// clock, so that only a limit of zero is ever over.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.stops.time = limit;
    }

    /// Runs the pass once, as [`run`](Session::run) does, in this time.
    ///
    /// # Errors
    /// As [`Session::run`], and [`Error::Deadline`].
    pub fn run_within(&mut self, limit: Duration, run: P::Run<'_>) -> Result<P::Output, Error> {
        let before = self.stops.time.replace(limit);
        let done = self.run(run);
        self.stops.time = before;
        done
    }

    /// The most steps that a run of this session may take from here on, each run of a series and each query of a batch
    /// by itself. One that takes more ends with [`Error::Work`] and hands no results out; the session works
    /// afterwards. `None`, the default: any number. Unlike time, steps do not depend on how fast a machine is. A pass
    /// whose `PLAN` says *same bits* takes the same number wherever it runs, so that its runs always end the same way.
    /// Others may take more or fewer from run to run, natively on several threads and on a GPU.
    ///
    /// A step is an item of a sweep, a round, or a turn of a loop that comes to its end. An edge of a sweep out of a
    /// frontier is an item, and so is each node of that frontier. Turns of some loops are none, because those are over
    /// soon: `for` over neighbours, edges or an array, nests of at most 65,536 turns that are written there, what an
    /// operation on a row of bits does inside, and loops in a `const fn`, in a condition itself and in what a macro takes.
    ///
    /// Runs with a limit take longer: on a GPU they are interpreted, without narrow rounds and without pulling; natively
    /// turns of all loops in the process take longer while one is under way. Without a limit, nothing does.
    ///
    /// Returns false where the session is on a backend of somebody else's that does not count, and nothing is limited
    /// there. What a pass takes is best found by trying.
    ///
    /// ```
    /// use vyre::prelude::*;
    /// use vyre::Error;
    ///
    /// #[wave_graph]
    /// mod count {
    ///     pub struct Data {
    ///         #[output(per = n)]
    ///         out: u32,
    ///         n: u32,
    ///     }
    ///     #[wave(range(n))]
    ///     fn count(i: Index, out: &mut u32) {
    ///         *out = i;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut session = count::Session::new(&Runtime::native(), ())?;
    /// assert!(session.set_step_limit(Some(100)));
    /// assert_eq!(session.run(count::Run { n: 100 })?.out[99], 99);
    /// let error = session.run(count::Run { n: 101 }).unwrap_err();
    /// assert!(matches!(error, Error::Work { limit: 100, .. }));
    /// assert_eq!(error.to_string(), "the run was stopped after 100 steps, the limit that it was given");
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_step_limit(&mut self, steps: Option<u64>) -> bool {
        self.stops.steps = steps;
        self.executor.set_step_limit(steps)
    }

    /// What stops this session's calls is what its executor looks at.
    fn watch(&mut self) {
        self.executor.set_stop(&self.stops.stop);
        // One that was parked may have a limit that is no longer there.
        self.executor.set_step_limit(self.stops.steps);
    }

    /// Where the progress of a run can be read while it runs, on another thread.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        self.executor.progress()
    }

    fn situation(&mut self, queries: u64) -> Result<Situation, RunError> {
        let limits = self.executor.limits();
        let runtime = self.sides.runtime();
        self.decider
            .situation(&self.program, (&mut self.memory, limits), runtime, queries)
    }

    /// Takes room for a second set of inputs, where the backend can use it.
    fn second_inputs(&mut self) -> bool {
        self.executor.limits().overlaps && self.memory.second_inputs(&self.program)
    }
}

/// What a name means on a device, and the type of its elements.
fn resident(program: &Program, field: &str) -> Option<(Resident, Scalar)> {
    let named = |b: &Buffer| b.name == field || b.name.replacen(':', ".", 1) == field;
    let buffer = program.buffers.iter().position(named);
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

impl<P: Pass> fmt::Debug for Session<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("backend", &self.backend())
            .finish_non_exhaustive()
    }
}
