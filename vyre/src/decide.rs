//! What a session decides before each launch, and what came of it.
//!
//! The decisions are [`plan::launch`](vyre_core::plan::launch)'s, from what is known before the launch: sizes, memory,
//! and what the frontiers of the last run held. The executor says which part of them it follows. Results never depend
//! on them.

use crate::memory::{Memory, Rooms};
use crate::plans::{Interpreted, Plans};
use crate::runtime::Runtime;
use crate::select::{Considered, Offer, Ran, Selector, Set, lines, unmeasured};
use crate::sides::longest;
use crate::tier::{Measured, RoutePolicy};
use std::any::TypeId;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::compact;
use vyre_core::plan::gains::BuiltIn;
use vyre_core::plan::heat::Heat;
use vyre_core::plan::launch::{
    LaunchError, Recommendation, Request, Route, Scope, Topology, autotune, precondition,
};
use vyre_core::plan::pull;
use vyre_core::plan::route::{self, Choice, Downgrade, Need, RouteError, Sample};
use vyre_core::plan::thresholds::Thresholds;
use vyre_core::run::backend::{
    DeviceHint, Executor, Followed, HostHint, LaunchHint, Limits, Sweeps,
};
use vyre_core::run::outcome::{Activity, Readback, Report, WaveTime};
use vyre_core::vir0::module::{Extent, Program};
use vyre_core::vir0::sizes::Sizes;

/// Decisions that a session remembers.
const REMEMBERED: usize = 16;

/// What was decided before one launch, and what came of it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Counts the session's launches, from 1.
    pub number: u64,
    /// Queries of the launch.
    pub queries: u64,
    /// What was known before the launch.
    pub request: Request,
    /// The frontier's shape in the launch before, which is kept near a threshold.
    pub previous: Option<Topology>,
    /// What was decided.
    pub launch: Launch,
    /// What the backend can vary.
    pub limits: Limits,
    /// The route that sweeps over frontiers were to start with.
    pub sweeps: Choice,
    /// Items from which a sweep was to take all threads of a CPU.
    pub parallel_from: u64,
    /// Items that a lane was to take at a time, at most.
    pub items_per_lane: u32,
    /// What was measured of all that the session may do beside running the pass as it is written, and whether it does
    /// it. Nothing before the session has seen a run.
    pub considered: Vec<Considered>,
    /// Which parts of the decision the executor followed.
    pub followed: Followed,
    /// What came of it; `None` when the launch failed.
    pub outcome: Option<Happened>,
}

/// How to launch, as it was decided: all of a [`Recommendation`] that some backend follows. How full a queue is waits
/// for queues that outlive a launch, and room for hits for relations, which grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Shape of the frontier: short memory sheds workers, and hot dense sweeps want compiled code.
    pub topology: Topology,
    /// Workers to launch.
    pub workers: u32,
    /// Whom barriers wait for.
    pub scope: Scope,
    /// Interpreter or compiled code, where the backend has both.
    pub route: Route,
    /// Work that has waited goes before new work.
    pub promote: bool,
    /// Density it was decided from; `None` for a graph without nodes.
    pub density_bps: Option<u32>,
    /// Memory pressure it was decided from.
    pub pressure_bps: u32,
}

impl Launch {
    fn of(recommended: &Recommendation) -> Launch {
        let Recommendation {
            topology,
            workers,
            scope,
            queue: _,
            hit_capacity: _,
            peak_bytes: _,
            route,
            promote,
            density_bps,
            pressure_bps,
        } = *recommended;
        Launch {
            topology,
            workers,
            scope,
            route,
            promote,
            density_bps,
            pressure_bps,
        }
    }
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Host wall time, in nanoseconds.
    pub wall_ns: u64,
    /// What of it went to all but rounds and sweeps, where that was measured: on a GPU all but the launch's time there.
    pub overhead_ns: Option<u64>,
    /// What ran: [`Report::route`].
    pub route: &'static str,
    /// Rounds of all fixpoints, summed over queries.
    pub rounds: u64,
    /// What the frontiers held, where the backend counts it.
    pub activity: Option<Activity>,
    /// What was read back.
    pub readback: Readback,
    /// Sweeps of each wave, summed over queries, by the wave's name; empty where they were not timed.
    pub waves: Vec<(String, WaveTime)>,
}

impl Happened {
    /// Of a single run, or the last of a series.
    pub(crate) fn of(program: &Program, report: &Report) -> Happened {
        let timed = report.waves.iter().flatten().zip(&program.waves);
        Happened {
            wall_ns: report.wall_ns,
            // A device's time is that of the launch.
            overhead_ns: report.overhead_ns.or_else(|| {
                let device_ns = report.device_ns?;
                Some(report.wall_ns.saturating_sub(device_ns))
            }),
            route: report.route,
            rounds: report.total_rounds(),
            activity: report.activity,
            readback: report.readback,
            waves: timed
                .map(|(time, wave)| (wave.name.clone(), *time))
                .collect(),
        }
    }

    /// Adds a query of a batch; the wall time is the batch's.
    pub(crate) fn add(&mut self, program: &Program, report: &Report) {
        let query = Happened::of(program, report);
        self.route = query.route;
        self.rounds += query.rounds;
        if self.waves.is_empty() {
            self.waves = query.waves;
        } else {
            for ((_, sum), (_, time)) in self.waves.iter_mut().zip(query.waves) {
                sum.sweeps += time.sweeps;
                sum.ns = sum.ns.saturating_add(time.ns);
            }
        }
        if let Some(a) = report.activity {
            let sum = self.activity.get_or_insert_default();
            sum.sweeps += a.sweeps;
            sum.items += a.items;
            sum.widest = sum.widest.max(a.widest);
            sum.pulled += a.pulled;
            sum.cluster_rounds += a.cluster_rounds;
            sum.ordered += a.ordered;
            sum.shared += a.shared;
            sum.fused += a.fused;
        }
        let (sum, r) = (&mut self.readback, &report.readback);
        sum.packed += r.packed;
        sum.packed_bytes += r.packed_bytes;
        sum.direct += r.direct;
        sum.direct_bytes += r.direct_bytes;
        sum.full_bytes += r.full_bytes;
        sum.copied_bytes += r.copied_bytes;
    }
}

/// What a launch is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Situation {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
    /// Items of the widest sweep where no run has told yet.
    pub(crate) widest: u64,
    /// Items of the longest sweep that there can be.
    pub(crate) longest: u64,
    pub(crate) resident_bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) budget_bytes: Option<u64>,
    pub(crate) queries: u64,
    pub(crate) requeues: u64,
    pub(crate) max_age: u64,
    pub(crate) slots: u32,
    pub(crate) batch_bytes: Option<u64>,
    pub(crate) second_inputs: bool,
    /// Independent queries.
    pub(crate) shared: bool,
    /// What routes take, where a budget says how much there is.
    pub(crate) need: Option<Need>,
    pub(crate) rooms: Rooms,
    /// Of the results whose lengths are known before the run.
    pub(crate) output_bytes: u64,
}

impl Situation {
    /// Of `queries` of a pass with that memory.
    pub(crate) fn of(
        program: &Program,
        (memory, rooms): (&Memory, Rooms),
        runtime: &Runtime,
        queries: u64,
    ) -> Situation {
        let sizes = &memory.sizes;
        let longest = |extents: &mut dyn Iterator<Item = Extent>| {
            let lengths = extents.filter_map(|extent| sizes.resolve(program, extent));
            lengths.max().unwrap_or(0)
        };
        let buffers = program.buffers.iter().map(|b| b.extent);
        let ranges = program.waves.iter().filter_map(|w| w.domain.count());
        let length = longest(&mut buffers.chain(ranges));
        // Nodes bound a frontier of nodes; what has room for items of another kind bounds its sweeps by itself.
        let of_items = program.frontiers.iter().filter(|f| !f.fields.is_empty());
        let lists = program.lists.iter().map(|l| l.capacity);
        let room = longest(&mut lists.chain(of_items.map(|f| f.capacity)));
        let edges = sizes.edges.iter().copied().max().unwrap_or(0);
        let budget = runtime.memory();
        Situation {
            nodes: sizes.nodes,
            edges,
            widest: match sizes.nodes {
                0 => length,
                nodes => nodes,
            },
            longest: length.max(sizes.nodes).max(edges).max(room),
            resident_bytes: memory.lease.bytes(),
            used_bytes: budget.map_or(0, |(_, used)| used),
            budget_bytes: budget.map(|(total, _)| total),
            queries,
            requeues: 0,
            max_age: 0,
            slots: memory.slots,
            batch_bytes: None,
            second_inputs: memory.second_inputs_bytes > 0,
            shared: false,
            need: memory.need(program),
            rooms,
            output_bytes: memory.output_bytes(program),
        }
    }
}

pub(crate) struct Decider {
    plans: Arc<Plans>,
    pub(crate) thresholds: Thresholds,
    pub(crate) route: RoutePolicy,
    measured: Measured,
    /// Of the pass, by all sessions.
    interpreted: Interpreted,
    /// What sweeps start with: as planned when the session was opened, then as the last launch was decided.
    start: Choice,
    previous: Option<Topology>,
    last: Option<Activity>,
    /// Of the last launch.
    volume: Option<Volume>,
    heat: Heat,
    /// What is done beside running the pass as it is written.
    selector: Selector,
    /// Whether some sweep of the pass could pull.
    may_pull: Option<bool>,
    launches: u64,
    pub(crate) decisions: VecDeque<Decision>,
    pub(crate) tuner: Option<Tuner>,
    /// Asked for by the user.
    pub(crate) workers: Option<u32>,
    /// Asked for by the user.
    pub(crate) time_waves: bool,
}

impl Decider {
    /// Of a session of `pass`.
    pub(crate) fn new(runtime: &Runtime, pass: TypeId, start: Choice) -> Decider {
        Decider {
            plans: Arc::clone(runtime.plans()),
            thresholds: *runtime.thresholds(),
            route: runtime.route(),
            measured: Measured::default(),
            interpreted: runtime.plans().interpreted(pass),
            start,
            previous: None,
            last: None,
            volume: None,
            heat: Heat::default(),
            selector: Selector::default(),
            may_pull: None,
            launches: 0,
            decisions: VecDeque::new(),
            tuner: None,
            workers: None,
            time_waves: false,
        }
    }

    /// What the next launch of `queries` of a pass with that memory is about: decides what is done beside running the
    /// pass as it is written, and takes room for that.
    pub(crate) fn situation(
        &mut self,
        program: &Program,
        (memory, limits): (&mut Memory, Limits),
        runtime: &Runtime,
        queries: u64,
    ) -> Result<Situation, RunError> {
        self.select(program, memory, limits)?;
        let packs = self.does(BuiltIn::Lists);
        let rooms = memory.rooms(program, (limits, packs), &self.thresholds);
        Ok(Situation::of(program, (&*memory, rooms), runtime, queries))
    }

    /// Decides what is done beside running the pass as it is written, before a launch of the pass with that memory.
    fn select(
        &mut self,
        program: &Program,
        memory: &Memory,
        limits: Limits,
    ) -> Result<(), RunError> {
        let may_pull = *(self.may_pull).get_or_insert_with(|| may_pull(program));
        let mut offers = Vec::new();
        if limits.packs_lists && program.lists.iter().any(|list| list.output) {
            let up_to = self.thresholds.pack_up_to_bytes;
            offers.push(Offer {
                scratch_bytes: compact::lists_bytes(program, &memory.sizes, up_to),
                ..Offer::new(BuiltIn::Lists)
            });
        }
        if let Some(plan) = &memory.plan {
            offers.push(Offer {
                used: Some((plan.uses(), plan.made_ns)),
                ..Offer::new(BuiltIn::Plan)
            });
        }
        if limits.pulls && may_pull {
            offers.push(Offer::new(BuiltIn::Pulling));
        }
        if limits.jit && self.route == RoutePolicy::Auto {
            offers.push(Offer::new(BuiltIn::Jit));
        }
        let items = longest(program, &memory.sizes).max(memory.sizes.nodes);
        // What the slab has is there for it.
        let left_bytes = memory.left_bytes().unwrap_or(u64::MAX);
        let left_bytes = left_bytes.saturating_add(memory.slab_bytes);
        let gains = &self.thresholds.gains;
        self.selector.weigh(gains, &offers, (items, left_bytes))?;
        if let (Some(plan), false) = (&memory.plan, self.does(BuiltIn::Plan)) {
            self.plans.forget(plan);
        }
        Ok(())
    }

    /// Whether something is done beside running the pass as it is written.
    fn does(&self, candidate: BuiltIn) -> bool {
        self.selector.does(candidate)
    }

    /// What the backend can do beside running the pass as it is written.
    pub(crate) fn offered(&self) -> Set {
        self.selector.offered()
    }

    /// What there are no figures of, as a line of an explanation.
    pub(crate) fn unmeasured(&self) -> String {
        match self.decisions.is_empty() {
            true => String::new(),
            false => unmeasured(self.selector.offered(), &self.thresholds.gains),
        }
    }

    /// Decides, and tells the executor. An error comes before anything is launched.
    pub(crate) fn decide(
        &mut self,
        situation: &Situation,
        program: &Program,
        executor: &mut dyn Executor,
    ) -> Result<(), RunError> {
        let limits = executor.limits();
        let request = self.request(situation, program, limits);
        let launch = self
            .plans
            .launch(&self.thresholds.launch, &request, self.previous)
            .map_err(refused)?;
        let launch = Launch::of(&launch);
        if self.previous.is_some() {
            let sample = Sample {
                // Where no sweep can take several waves, nothing would be merged.
                fusion: match limits.fuses_waves {
                    true => route::fusion(program),
                    false => 0.0,
                },
                ..sample(&launch, &request, (self.volume, situation.output_bytes))
            };
            self.start = choose(&self.thresholds, &sample, Some(self.start), situation.need)
                .map_err(|e| RunError::Backend(e.to_string()))?;
        }
        let tuned = self.tuner.as_ref().map(Tuner::now).unwrap_or_default();
        let parallel_from = tuned.parallel_from.unwrap_or(self.thresholds.parallel_from);
        let items_per_lane = tuned.items_per_lane.unwrap_or(limits.items_per_lane);
        let (route, other) = match limits.jit {
            true if self.route == RoutePolicy::Auto && !self.does(BuiltIn::Jit) => {
                (Route::Interpreter, Some(SKIPPED_CODE.into()))
            }
            true => self.route.choose(
                launch.route,
                (self.interpreted.ns(), &self.thresholds),
                &self.measured,
            ),
            false => (launch.route, None),
        };
        let hint = LaunchHint {
            workers: launch.workers,
            asked: request.requested_workers.is_some(),
            shared: situation.shared,
            topology: launch.topology,
            route,
            pack_up_to_bytes: self.thresholds.pack_up_to_bytes,
            slots: situation.slots,
            batch_bytes: situation.batch_bytes,
            sweeps: Sweeps {
                start: self.start.route,
                policy: self.thresholds.route,
                memory_bps: launch.pressure_bps,
                bitmap: situation.rooms.bitmap,
                pulls: self.does(BuiltIn::Pulling),
            },
            host: HostHint { parallel_from },
            device: DeviceHint {
                items_per_lane,
                pull_from: self.thresholds.pull_from,
                second_inputs: situation.second_inputs,
                lists: situation.rooms.lists,
                heat_words: self.heat.words(program),
            },
            time_waves: self.time_waves,
        };
        let mut followed = executor.follow(&hint);
        if self.route == RoutePolicy::Compiled && executor.compile()? {
            followed = executor.follow(&hint);
        }
        followed.notes.extend(other);
        self.launches += 1;
        if self.decisions.len() == REMEMBERED {
            self.decisions.pop_front();
        }
        // Of most sessions there are few.
        self.decisions.reserve_exact(1);
        self.decisions.push_back(Decision {
            number: self.launches,
            queries: situation.queries,
            request,
            previous: self.previous,
            launch,
            limits,
            sweeps: self.start,
            parallel_from,
            items_per_lane,
            considered: self.selector.considered().to_vec(),
            followed,
            outcome: None,
        });
        self.previous = Some(launch.topology);
        Ok(())
    }

    fn request(&self, s: &Situation, program: &Program, limits: Limits) -> Request {
        let (hot_opcodes, hot_windows) = self.heat.hot(program, self.thresholds.launch.hot_words);
        let seen = self.last.filter(|a| a.sweeps > 0);
        let pressure_bps = s.budget_bytes.map(|budget| used_bps(s.used_bytes, budget));
        Request {
            // One launch runs all rounds, so the widest counts; the density follows from it.
            queue_len: seen.map_or(s.widest, |a| a.widest.max(1)),
            // Waits for relations, which grow. What results have room for is fixed by the sizes, and is resident.
            hit_capacity: Some(0),
            hot_opcodes,
            hot_windows,
            requeues: s.requeues,
            max_age: s.max_age,
            graph_nodes: s.nodes,
            graph_edges: s.edges,
            // Queries that share a launch have a worker each as it is.
            longest_sweep: (!s.shared).then_some(s.longest),
            requested_workers: (self.tuner.as_ref())
                .and_then(|tuner| tuner.now().workers)
                .or(self.workers),
            pressure_bps,
            resident_bytes: s.resident_bytes,
            ..Request::on(
                limits.max_workers.max(1),
                limits.lanes_per_worker.max(1),
                s.budget_bytes.unwrap_or(u64::MAX).max(1),
            )
        }
    }

    /// Takes note of what `runs` like that of this report have executed.
    pub(crate) fn ran(&mut self, program: &Program, sizes: &Sizes, report: &Report, runs: u64) {
        let items = report.activity.map_or(0, |a| a.items).saturating_mul(runs);
        let rounds: Vec<u64> = report
            .rounds
            .iter()
            .map(|r| r.saturating_mul(runs))
            .collect();
        self.heat.add(program, sizes, &rounds, items);
    }

    /// Takes note of how long `runs` took together, the last of which swept `items`.
    pub(crate) fn took(&mut self, report: &Report, took: Duration, items: u64, runs: u64) {
        if !self.is_measuring() {
            let each_ns = u64::try_from(took.as_nanos() / u128::from(runs.max(1)));
            // A run alone is timed by the device; copies are the same by either route.
            let on_device = report.device_ns.filter(|_| runs == 1);
            let ns = on_device.unwrap_or_else(|| each_ns.unwrap_or(u64::MAX));
            self.measured.ran(report.route, ns, items, runs);
        }
    }

    /// Forgets the last decision: what it was for has been refused, and nothing was launched.
    pub(crate) fn refused(&mut self) {
        self.launches -= u64::from(self.decisions.pop_back().is_some());
    }

    /// Records what came of the last decision, and how long it took by the runtime's clock.
    pub(crate) fn happened(&mut self, happened: Happened, took: Duration) {
        if happened.activity.is_some() {
            self.last = happened.activity;
        }
        let read = &happened.readback;
        let found_bytes = read.packed_bytes + read.direct_bytes;
        self.volume = Some(Volume {
            wall_ns: happened.wall_ns,
            overhead_ns: happened.overhead_ns,
            found_bytes,
        });
        if !self.is_measuring() {
            let seen = happened.activity.filter(|a| a.sweeps > 0);
            self.selector.ran(Ran {
                widest: seen.map(|a| a.widest),
                avoided_bytes: read.full_bytes.saturating_sub(found_bytes),
                took,
                runs: self.decisions.back().map_or(1, |d| d.queries),
                compiled: happened.route == "compiled",
                pulled: happened.activity.map(|a| a.pulled > 0),
                packed: read.packed > 0,
            });
        }
        if let Some(tuner) = &mut self.tuner {
            tuner.measured(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        }
        if happened.route == "interpreted" {
            self.interpreted.add(took);
        }
        if let Some(decision) = self.decisions.back_mut() {
            decision.outcome = Some(happened);
        }
    }

    /// Goes on where another side's left off: with its decisions, and what the user asked for.
    pub(crate) fn succeed(&mut self, before: &mut Decider) {
        self.decisions = std::mem::take(&mut before.decisions);
        self.launches = before.launches;
        self.workers = before.workers;
        self.route = before.route;
        self.time_waves = before.time_waves;
    }

    /// What ran the last launch.
    pub(crate) fn code(&self) -> Option<&str> {
        self.decisions.back().map(|last| &*last.followed.code)
    }

    /// Whether runs are being compared with each other, or timed in parts: then they say nothing about the side.
    pub(crate) fn is_measuring(&self) -> bool {
        self.time_waves || self.tuner.as_ref().is_some_and(|t| t.chosen().is_none())
    }

    /// The topology is another one: what the last run saw says nothing about it.
    pub(crate) fn forget(&mut self) {
        self.last = None;
        self.volume = None;
        self.measured = Measured::default();
        self.selector.forget();
    }
}

/// Why the interpreter runs where compiled code does not pay.
pub(crate) const SKIPPED_CODE: &str = "compiled code was skipped";

/// Whether some sweep of a pass could pull.
pub(crate) fn may_pull(program: &Program) -> bool {
    let mut waves = program.waves.iter();
    waves.any(|wave| pull::claim(program, wave).is_some())
}

/// The part of a budget that is used, in hundredths of a percent.
pub(crate) fn used_bps(used_bytes: u64, budget_bytes: u64) -> u32 {
    let bps = u128::from(used_bytes) * 10_000 / u128::from(budget_bytes.max(1));
    bps.min(10_000) as u32
}

/// What of a launch says how much of it fusing could save.
#[derive(Clone, Copy, Debug)]
struct Volume {
    wall_ns: u64,
    /// All but rounds and sweeps.
    overhead_ns: Option<u64>,
    /// Of all results.
    found_bytes: u64,
}

/// What a route is chosen from before the first launch: nothing is known of what it takes and gives back.
pub(crate) fn quiet(memory_bps: u32, density: f64, mean_degree: f64) -> Sample {
    Sample {
        memory_bps,
        fusion: 0.0,
        dispatch_ns: 1,
        overhead_ns: 0,
        readback_bytes: 0,
        density,
        mean_degree,
    }
}

/// What a route is chosen from after a launch. `output_bytes`: of the results whose lengths are known.
fn sample(
    launch: &Launch,
    request: &Request,
    (last, output_bytes): (Option<Volume>, u64),
) -> Sample {
    let density = f64::from(launch.density_bps.unwrap_or(0)) / 10_000.0;
    let degree = request.graph_edges as f64 / request.graph_nodes.max(1) as f64;
    let quiet = quiet(launch.pressure_bps, density, degree);
    let Some(last) = last else {
        return quiet;
    };
    Sample {
        dispatch_ns: last.wall_ns.max(1),
        overhead_ns: last.overhead_ns.unwrap_or(0).min(last.wall_ns),
        // As `plan::memory` plans a readback: what the last one was, or all outputs.
        readback_bytes: last.found_bytes.max(output_bytes),
        ..quiet
    }
}

/// The route that sweeps start with; the previous one holds near a threshold. Where the budget has no room even for the
/// sparse route, a session has been refused already.
fn choose(
    thresholds: &Thresholds,
    sample: &Sample,
    previous: Option<Choice>,
    need: Option<Need>,
) -> Result<Choice, RouteError> {
    let previous = previous.map(|choice| choice.route);
    let pressure = thresholds.route.pressure(sample, previous)?;
    route::choose(pressure, need.as_ref())
}

fn refused(e: LaunchError) -> RunError {
    match e {
        LaunchError::OutOfMemory {
            needed_bytes,
            budget_bytes,
        } => RunError::Memory {
            what: "the launch does not fit".to_owned(),
            needed_bytes,
            available_bytes: budget_bytes,
        },
        other => RunError::Backend(other.to_string()),
    }
}

/// What autotuning chose, or tries now. A field that is `None` is left as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuned {
    /// Workers of a launch.
    pub workers: Option<u32>,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: Option<u32>,
    /// Items from which a sweep counts as dense and takes all threads of a CPU.
    pub parallel_from: Option<u64>,
}

/// What autotuning varies, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    Workers,
    ItemsPerLane,
    ParallelFrom,
}

impl Knob {
    fn set(self, tuned: &mut Tuned, value: u32) {
        match self {
            Knob::Workers => tuned.workers = Some(value),
            Knob::ItemsPerLane => tuned.items_per_lane = Some(value),
            Knob::ParallelFrom => tuned.parallel_from = Some(value.into()),
        }
    }

    /// Whether values between the candidates are values too.
    fn is_continuous(self) -> bool {
        match self {
            Knob::Workers | Knob::ParallelFrom => true,
            Knob::ItemsPerLane => false,
        }
    }
}

/// Tries launches on successive runs and keeps the fastest: the candidates of each knob in turn, and where the costs
/// around the best form a valley, the value at its bottom as well.
#[derive(Clone, Debug)]
pub(crate) struct Tuner {
    stages: Vec<(Knob, Vec<u32>)>,
    /// Of the first of them.
    costs: Vec<f64>,
    refined: bool,
    chosen: Tuned,
}

/// Items from which a sweep takes all threads; the last never does.
const PARALLEL_FROM: [u32; 5] = [8_193, 32_768, 131_072, 524_288, u32::MAX];
/// Runs that measure one candidate.
const TRIES: usize = 2;

impl Tuner {
    /// `open`: the pass's result depends on who has which items, so that launches that share work out otherwise could
    /// change it.
    pub(crate) fn new(limits: Limits, open: bool) -> Tuner {
        let all = limits.max_workers.max(1);
        let mut workers = vec![all, all / 2, all / 4, all / 8, 1];
        workers.retain(|&n| n > 0);
        workers.dedup();
        let items = limits.items_per_lane.max(1);
        let items: Vec<u32> = std::iter::successors(Some(items), |n| Some(n / 2))
            .take_while(|&n| n > 0)
            .collect();
        let stages = match limits.workers_vary {
            true if open => Vec::new(),
            true => vec![(Knob::Workers, workers), (Knob::ItemsPerLane, items)],
            false => vec![(Knob::ParallelFrom, PARALLEL_FROM.to_vec())],
        };
        Tuner {
            stages,
            costs: Vec::new(),
            refined: false,
            chosen: Tuned::default(),
        }
    }

    pub(crate) fn now(&self) -> Tuned {
        let mut now = self.chosen;
        if let Some((knob, candidates)) = self.stages.first() {
            knob.set(&mut now, candidates[self.costs.len() / TRIES]);
        }
        now
    }

    fn measured(&mut self, wall_ns: u64) {
        let Some((knob, candidates)) = self.stages.first_mut() else {
            return;
        };
        self.costs.push(wall_ns as f64);
        if self.costs.len() < candidates.len() * TRIES {
            return;
        }
        let tries = self.costs.chunks(TRIES);
        let costs: Vec<f64> = tries
            .map(|tries| tries.iter().copied().fold(f64::NAN, f64::min))
            .collect();
        let between = (!self.refined && knob.is_continuous())
            .then(|| bottom(candidates, &costs))
            .flatten();
        if let Some(value) = between {
            self.refined = true;
            candidates.push(value);
            return;
        }
        if let Ok(best) = autotune(candidates[0], candidates, &costs) {
            knob.set(&mut self.chosen, best);
        }
        self.stages.remove(0);
        self.costs.clear();
        self.refined = false;
    }

    /// Once all was tried.
    pub(crate) fn chosen(&self) -> Option<Tuned> {
        self.stages.is_empty().then_some(self.chosen)
    }
}

/// Where the costs are lowest by a parabola through the best candidate and the two beside it, over the logarithms of
/// their values: one Newton step, whose preconditioner is the inverse of the curvature. `None` where there is no such
/// valley, or nothing in it that was not tried.
fn bottom(candidates: &[u32], costs: &[f64]) -> Option<u32> {
    let mut points: Vec<(f64, f64)> = candidates
        .iter()
        .zip(costs)
        .map(|(&value, &cost)| (f64::from(value).log2(), cost))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = (0..points.len()).min_by(|&a, &b| points[a].1.total_cmp(&points[b].1))?;
    let [(x0, y0), (x1, y1), (x2, y2)] = *points.get(best.checked_sub(1)?..best + 2)? else {
        return None;
    };
    let (left, right) = ((y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1));
    let curvature = 2.0 * (right - left) / (x2 - x0);
    if !curvature.is_finite() || curvature <= 0.0 {
        return None;
    }
    let gradient = (left * (x2 - x1) + right * (x1 - x0)) / (x2 - x0);
    let step = precondition(1.0, &[1.0 / curvature], &[gradient]).ok()?[0];
    let value = (x1 + step).clamp(x0, x2).exp2().round() as u32;
    (!candidates.contains(&value)).then_some(value)
}

/// Basis points as a percentage.
struct Percent(u32);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}%", self.0 / 100, self.0 % 100)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launch, request) = (&self.launch, &self.request);
        let topology = match launch.topology {
            Topology::Empty => "empty",
            Topology::Sparse => "sparse",
            Topology::Hybrid => "hybrid",
            Topology::Dense => "dense",
            Topology::FusedDense => "fused dense",
            Topology::MemoryConstrained => "memory constrained",
        };
        let scope = match launch.scope {
            Scope::One => "CTA",
            Scope::All => "grid",
        };
        let route = match launch.route {
            Route::Interpreter => "interpreter",
            Route::Jit => "jit",
        };
        write!(f, "launch {}", self.number)?;
        if self.queries != 1 {
            write!(f, " of {} queries", self.queries)?;
        }
        write!(
            f,
            ": {topology}, {} of {} workers",
            launch.workers, request.max_workers
        )?;
        // What the backend has no choice about is not its decision.
        if self.limits.workers_vary {
            write!(f, ", {scope} barriers")?;
        }
        if self.limits.jit {
            write!(f, ", {route}")?;
        }
        if launch.promote {
            write!(f, ", waiting work first")?;
        }
        if let Some(start) = self.followed.sweeps {
            write!(f, ", sweeps start {start}")?;
            if let Some(Downgrade {
                from,
                needed_bytes,
                budget_bytes,
            }) = self.sweeps.downgrade
            {
                write!(f, " ({from} needs {needed_bytes} bytes of {budget_bytes})")?;
            }
        }
        write!(f, "\n  expected  ")?;
        match launch.density_bps {
            Some(bps) => write!(f, "density {}", Percent(bps))?,
            None => write!(f, "density unknown")?,
        }
        write!(
            f,
            ", {} items, {} nodes, {} edges, memory {}",
            request.queue_len,
            request.graph_nodes,
            request.graph_edges,
            Percent(launch.pressure_bps)
        )?;
        write!(f, "{}", lines(&self.considered))?;
        write!(
            f,
            "\n  followed  {}, {}",
            Count(self.followed.workers, "worker"),
            self.followed.code
        )?;
        if self.items_per_lane > 1 {
            write!(f, ", up to {} items a lane", self.items_per_lane)?;
        }
        for note in &self.followed.notes {
            write!(f, "; {note}")?;
        }
        happened(f, self.outcome.as_ref())
    }
}

/// So many of what has this name.
struct Count<N>(N, &'static str);

impl<N: Copy + fmt::Display + Into<u64>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.0.into() == 1 { "" } else { "s" };
        write!(f, "{} {}{s}", self.0, self.1)
    }
}

/// The last lines of a decision.
fn happened(f: &mut fmt::Formatter<'_>, outcome: Option<&Happened>) -> fmt::Result {
    match outcome {
        Some(outcome) => write!(f, "\n  happened  {outcome}"),
        None => write!(f, "\n  happened  no result"),
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {:.3} ms",
            Count(self.rounds, "round"),
            self.wall_ns as f64 / 1e6
        )?;
        if let Some(a) = self.activity.filter(|a| a.sweeps > 0) {
            let mean = a.items / a.sweeps;
            write!(
                f,
                ", frontier {mean} items on average, {} at most",
                a.widest
            )?;
            if a.pulled > 0 {
                write!(f, ", {} of {} sweeps pulled", a.pulled, a.sweeps)?;
            }
            if a.cluster_rounds > 0 {
                write!(
                    f,
                    ", {} of {} sweeps by one cluster",
                    a.cluster_rounds, a.sweeps
                )?;
            }
            if a.ordered > 0 {
                write!(
                    f,
                    ", {} of {} sweeps in the order of the nodes",
                    a.ordered, a.sweeps
                )?;
            }
        }
        if let Some(shared) = self.activity.map(|a| a.shared).filter(|&n| n > 0) {
            write!(f, ", {} by all threads", Count(shared, "sweep"))?;
        }
        if let Some(fused) = self.activity.map(|a| a.fused).filter(|&n| n > 0) {
            write!(f, ", {} of several waves", Count(fused, "sweep"))?;
        }
        let read = &self.readback;
        write!(
            f,
            ", read {} packed in {} bytes and {} of {} bytes",
            Count(read.packed, "small result"),
            read.packed_bytes,
            Count(read.direct, "large one"),
            read.direct_bytes
        )?;
        if read.copied_bytes > 0 {
            write!(f, ", copied {} bytes", read.copied_bytes)?;
        }
        let mut waves: Vec<_> = self.waves.iter().collect();
        waves.sort_by_key(|(_, time)| std::cmp::Reverse(time.ns));
        for (i, (name, time)) in waves.into_iter().enumerate() {
            let before = if i == 0 { "\n  waves     " } else { ", " };
            write!(
                f,
                "{before}{name} {:.3} ms in {}",
                time.ns as f64 / 1e6,
                Count(time.sweeps, "sweep")
            )?;
        }
        Ok(())
    }
}

/// What was decided for queries on many topologies that ran together, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// Counts these, from 1.
    number: u64,
    queries: usize,
    /// Where the backend has two.
    route: Option<Route>,
    /// As of a [`Decision`].
    considered: Vec<Considered>,
    followed: Followed,
    outcome: Option<Happened>,
}

/// The last of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllShared {
    last: VecDeque<Shared>,
    count: u64,
}

impl AllShared {
    /// These queries are about to run.
    pub(crate) fn begin(
        &mut self,
        queries: usize,
        (route, considered): (Option<Route>, &[Considered]),
        followed: Followed,
    ) {
        self.count += 1;
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        // Of most there are few.
        self.last.reserve_exact(1);
        self.last.push_back(Shared {
            number: self.count,
            queries,
            route,
            considered: considered.to_vec(),
            followed,
            outcome: None,
        });
    }

    /// They have, and left these reports; it took so long together.
    pub(crate) fn ended<'r>(
        &mut self,
        program: &Program,
        reports: impl Iterator<Item = &'r Report>,
        took: Duration,
    ) {
        let mut sum = Happened {
            wall_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
            ..Happened::of(program, &Report::default())
        };
        let ran = reports.map(|report| sum.add(program, report)).count();
        if let Some(last) = self.last.back_mut() {
            last.outcome = (ran > 0).then_some(sum);
        }
    }

    /// What ran the last of them.
    pub(crate) fn code(&self) -> Option<&str> {
        self.last.back().map(|shared| &*shared.followed.code)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Shared> {
        self.last.iter()
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Followed { workers, code, .. } = &self.followed;
        write!(f, "launch {}", self.number)?;
        if self.queries != 1 {
            write!(f, " of {} queries", self.queries)?;
        }
        match self.route {
            Some(Route::Interpreter) => write!(f, ": interpreter")?,
            Some(Route::Jit) => write!(f, ": jit")?,
            None => {}
        }
        write!(f, "{}", lines(&self.considered))?;
        let workers = Count(*workers, "worker");
        write!(f, "\n  followed  {workers}, {code}")?;
        for note in &self.followed.notes {
            write!(f, "; {note}")?;
        }
        happened(f, self.outcome.as_ref())
    }
}

/// Decisions, one after the other, and what follows them.
pub(crate) struct Explanation<T>(pub(crate) Vec<T>, pub(crate) String);

impl<T: fmt::Display> fmt::Display for Explanation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for decision in &self.0 {
            writeln!(f, "{decision}")?;
        }
        f.write_str(&self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(workers_vary: bool) -> Limits {
        Limits {
            max_workers: 132,
            lanes_per_worker: 1_024,
            workers_vary,
            jit: false,
            items_per_lane: 4,
            overlaps: true,
            bitmaps: false,
            packs_lists: false,
            fuses_waves: false,
            pulls: false,
        }
    }

    /// Tunes where a run costs what `cost` says; what was tried, and what was chosen.
    fn tune(mut tuner: Tuner, cost: impl Fn(Tuned) -> u64) -> (Vec<Tuned>, Tuned) {
        let mut tried = Vec::new();
        while tuner.chosen().is_none() {
            tried.push(tuner.now());
            tuner.measured(cost(tuner.now()));
        }
        assert_eq!(tuner.chosen(), Some(tuner.now()));
        tuner.measured(0);
        (tried, tuner.now())
    }

    #[test]
    fn what_a_launch_lost_beside_its_rounds_decides_whether_waves_are_fused() {
        let request = Request::on(1, 1, u64::MAX);
        let launch = Plans::default();
        let launch = launch.launch(&Thresholds::default().launch, &request, None);
        let launch = Launch::of(&launch.expect("there is no limit"));
        let fused = |least_bps: u32, overhead_ns| {
            let mut thresholds = Thresholds::default();
            thresholds.route.fused_launch_bps = least_bps;
            let last = Volume {
                wall_ns: 1_000,
                overhead_ns,
                found_bytes: 1 << 20,
            };
            let sample = Sample {
                fusion: 1.0,
                ..sample(&launch, &request, (Some(last), 0))
            };
            let choice = choose(&thresholds, &sample, None, None).expect("there is memory");
            choice.route == route::Route::FusedWave
        };
        assert!(fused(3_000, Some(300)));
        assert!(!fused(3_001, Some(300)));
        // No launch is more than overhead.
        assert!(fused(10_000, Some(2_000)));
        assert!(!fused(1, None));
    }

    #[test]
    fn each_knob_is_tuned_in_turn() {
        let cost =
            |t: Tuned| u64::from(t.workers.unwrap()) + 100 * u64::from(t.items_per_lane != Some(2));
        let (tried, chosen) = tune(Tuner::new(limits(true), false), cost);
        let tried: Vec<_> = (tried.iter().step_by(2))
            .map(|t| (t.workers.unwrap(), t.items_per_lane))
            .collect();
        let workers = [132, 66, 33, 16, 1].map(|n| (n, None));
        assert_eq!(tried[..5], workers);
        assert_eq!(tried[5..], [4, 2, 1].map(|k| (1, Some(k))));
        assert_eq!((chosen.workers, chosen.items_per_lane), (Some(1), Some(2)));
        assert_eq!(chosen.parallel_from, None);
        // What would be rounded in another order is left alone.
        let (tried, chosen) = tune(Tuner::new(limits(true), true), cost);
        assert_eq!((tried, chosen), (vec![], Tuned::default()));
    }

    #[test]
    fn the_bottom_of_a_valley_is_tried_as_well() {
        // Lowest at 2^16, between 32,768 and 131,072.
        let cost = |t: Tuned| {
            let x = (t.parallel_from.unwrap() as f64).log2() - 16.0;
            (1e6 + 1e4 * x * x) as u64
        };
        let (tried, chosen) = tune(Tuner::new(limits(false), true), cost);
        assert_eq!(tried.len(), 12);
        assert_eq!(chosen.parallel_from, Some(65_536));
        // No valley: the best lies at the end, or all are the same.
        assert_eq!(bottom(&[1, 2, 4], &[1.0, 2.0, 3.0]), None);
        assert_eq!(bottom(&[1, 2, 4], &[1.0, 1.0, 1.0]), None);
        assert_eq!(bottom(&[1, 2, 4], &[f64::NAN, 1.0, 2.0]), None);
    }
}
