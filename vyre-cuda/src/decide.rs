//! What a session decides before each launch, and what came of it.
//!
//! The decisions are [`plan::launch`](vyre_core::plan::launch)'s, from what is known before the launch: sizes, memory, and
//! what the frontiers of the last run held. The executor says which part of them it follows. Results never depend on them.

use std::collections::VecDeque;
use std::fmt;
use vyre_core::exec::{
    Activity, Executor, Followed, LaunchHint, Limits, Readback, Report, RunError,
};
use vyre_core::plan::launch::{
    LaunchError, Planner, QueuePressure, Recommendation, Request, Route, Topology, autotune,
};
use vyre_core::plan::thresholds::Thresholds;

/// Decisions that a session remembers.
const REMEMBERED: usize = 16;

/// One decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Counts the session's launches, from 1.
    pub number: u64,
    /// Queries of the launch.
    pub queries: u64,
    /// What was known.
    pub request: Request,
    /// The topology of the launch before, which is held near a threshold.
    pub previous: Option<Topology>,
    /// What was decided.
    pub launch: Recommendation,
    /// Items from which a sweep was to take all threads of a CPU.
    pub parallel_from: u64,
    /// What the executor made of it.
    pub followed: Followed,
    /// What came of it; `None` when the launch failed.
    pub outcome: Option<Happened>,
}

/// What came of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// Host wall time, in nanoseconds.
    pub wall_ns: u64,
    /// Rounds of the first fixpoint, summed over queries.
    pub rounds: u64,
    /// What the frontiers held, where the backend counts it.
    pub activity: Option<Activity>,
    /// What was read back.
    pub readback: Readback,
}

impl Happened {
    /// Of a single run.
    pub(crate) fn of(report: &Report) -> Happened {
        Happened {
            wall_ns: report.wall_ns,
            rounds: report.total_rounds(),
            activity: report.activity,
            readback: report.readback,
        }
    }

    /// Adds a query of a batch; the wall time is the batch's.
    pub(crate) fn add(&mut self, report: &Report) {
        self.rounds += report.total_rounds();
        if let Some(a) = report.activity {
            let sum = self.activity.get_or_insert_default();
            sum.sweeps += a.sweeps;
            sum.items += a.items;
            sum.widest = sum.widest.max(a.widest);
            sum.pulled += a.pulled;
        }
        let (sum, r) = (&mut self.readback, &report.readback);
        sum.packed += r.packed;
        sum.packed_bytes += r.packed_bytes;
        sum.direct += r.direct;
        sum.direct_bytes += r.direct_bytes;
        sum.full_bytes += r.full_bytes;
    }
}

/// What a launch is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Situation {
    pub(crate) nodes: u64,
    pub(crate) edges: u64,
    /// Items of the widest sweep where no run has told yet.
    pub(crate) widest: u64,
    pub(crate) resident_bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) budget_bytes: Option<u64>,
    pub(crate) queries: u64,
    pub(crate) requeues: u64,
    pub(crate) max_age: u64,
    pub(crate) slots: u32,
    pub(crate) second_inputs: bool,
    /// Independent queries.
    pub(crate) shared: bool,
}

#[derive(Default)]
pub(crate) struct Decider {
    planner: Planner,
    pub(crate) thresholds: Thresholds,
    previous: Option<Topology>,
    last: Option<Activity>,
    launches: u64,
    pub(crate) decisions: VecDeque<Decision>,
    pub(crate) tuner: Option<Tuner>,
    /// Asked for by the user.
    pub(crate) ctas: Option<u32>,
}

impl Decider {
    pub(crate) fn new(thresholds: Thresholds) -> Decider {
        Decider {
            thresholds,
            ..Decider::default()
        }
    }

    /// Decides, and tells the executor. An error comes before anything is launched.
    pub(crate) fn decide(
        &mut self,
        situation: &Situation,
        executor: &mut dyn Executor,
    ) -> Result<(), RunError> {
        let limits = executor.limits();
        let request = self.request(situation, limits);
        let launch = self
            .planner
            .recommend(&self.thresholds.launch, &request, self.previous)
            .map_err(refused)?;
        let parallel_from = match self.tuner.as_ref().map(Tuner::now) {
            Some(Knob::ParallelFrom(items)) => items.into(),
            Some(Knob::Ctas(_)) | None => self.thresholds.parallel_from,
        };
        let followed = executor.follow(&LaunchHint {
            ctas: launch.ctas,
            asked: request.requested_ctas.is_some(),
            shared: situation.shared,
            topology: launch.topology,
            route: launch.route,
            parallel_from,
            pack_up_to_bytes: self.thresholds.pack_up_to_bytes,
            slots: situation.slots,
            second_inputs: situation.second_inputs,
        });
        self.launches += 1;
        if self.decisions.len() == REMEMBERED {
            self.decisions.pop_front();
        }
        self.decisions.push_back(Decision {
            number: self.launches,
            queries: situation.queries,
            request,
            previous: self.previous,
            launch,
            parallel_from,
            followed,
            outcome: None,
        });
        self.previous = Some(launch.topology);
        Ok(())
    }

    fn request(&self, s: &Situation, limits: Limits) -> Request {
        let seen = self.last.filter(|a| a.sweeps > 0);
        let pressure_bps = s.budget_bytes.map(|budget| {
            let bps = u128::from(s.used_bytes) * 10_000 / u128::from(budget.max(1));
            bps.min(10_000) as u32
        });
        Request {
            // One launch runs all rounds, so the widest counts; the density follows from it.
            queue_len: seen.map_or(s.widest, |a| a.widest.max(1)),
            // Results are part of what is resident: their room is fixed by the sizes.
            hit_capacity: Some(0),
            requeues: s.requeues,
            max_age: s.max_age,
            graph_nodes: s.nodes,
            graph_edges: s.edges,
            requested_ctas: match self.tuner.as_ref().map(Tuner::now) {
                Some(Knob::Ctas(ctas)) => Some(ctas),
                Some(Knob::ParallelFrom(_)) | None => self.ctas,
            },
            pressure_bps,
            resident_bytes: s.resident_bytes,
            ..Request::on(
                limits.max_ctas.max(1),
                limits.lanes_per_cta.max(1),
                s.budget_bytes.unwrap_or(u64::MAX).max(1),
            )
        }
    }

    /// Records what came of the last decision.
    pub(crate) fn happened(&mut self, happened: Happened) {
        if happened.activity.is_some() {
            self.last = happened.activity;
        }
        if let Some(tuner) = &mut self.tuner {
            tuner.measured(happened.wall_ns);
        }
        if let Some(decision) = self.decisions.back_mut() {
            decision.outcome = Some(happened);
        }
    }

    /// The topology is another one: what the last run saw says nothing about it.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }
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

/// What autotuning varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    /// CTAs of a launch.
    Ctas(u32),
    /// Items from which a sweep takes all threads.
    ParallelFrom(u32),
}

/// Tries launches on successive runs and keeps the fastest.
#[derive(Clone, Debug)]
pub(crate) struct Tuner {
    knob: fn(u32) -> Knob,
    candidates: Vec<u32>,
    costs: Vec<f64>,
    chosen: Option<u32>,
}

/// Items from which a sweep takes all threads; the last never does.
const PARALLEL_FROM: [u32; 5] = [8_193, 32_768, 131_072, 524_288, u32::MAX];
/// Runs that measure one candidate.
const TRIES: usize = 2;

impl Tuner {
    pub(crate) fn new(limits: Limits) -> Tuner {
        let all = limits.max_ctas.max(1);
        let mut ctas = vec![all, all / 2, all / 4, all / 8];
        ctas.retain(|&n| n > 0);
        ctas.dedup();
        Tuner {
            knob: if limits.ctas_vary {
                Knob::Ctas
            } else {
                Knob::ParallelFrom
            },
            candidates: if limits.ctas_vary {
                ctas
            } else {
                PARALLEL_FROM.to_vec()
            },
            costs: Vec::new(),
            chosen: None,
        }
    }

    fn now(&self) -> Knob {
        let at = self.costs.len() / TRIES;
        let tried = self.candidates.get(at).or(self.candidates.first());
        let now = self.chosen.or(tried.copied());
        (self.knob)(now.expect("there are candidates"))
    }

    fn measured(&mut self, wall_ns: u64) {
        if self.chosen.is_some() {
            return;
        }
        self.costs.push(wall_ns as f64);
        if self.costs.len() == self.candidates.len() * TRIES {
            let best: Vec<f64> = self
                .costs
                .chunks(TRIES)
                .map(|tries| tries.iter().copied().fold(f64::NAN, f64::min))
                .collect();
            self.chosen = autotune(self.candidates[0], &self.candidates, &best).ok();
        }
    }

    pub(crate) fn chosen(&self) -> Option<u64> {
        self.chosen.map(u64::from)
    }
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
        let queue = match launch.queue {
            QueuePressure::Empty => "empty",
            QueuePressure::Light => "light",
            QueuePressure::Balanced => "balanced",
            QueuePressure::Saturated => "saturated",
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
            ": {topology}, {} of {} CTAs, queue {queue}, {route}",
            launch.ctas, request.max_ctas
        )?;
        if launch.lift {
            write!(f, ", waiting work lifted")?;
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
        write!(
            f,
            "\n  followed  {} CTAs, {}",
            self.followed.ctas, self.followed.code
        )?;
        for note in &self.followed.notes {
            write!(f, "; {note}")?;
        }
        write!(f, "\n  happened  ")?;
        let Some(outcome) = &self.outcome else {
            return write!(f, "no result");
        };
        write!(
            f,
            "{} rounds, {:.3} ms",
            outcome.rounds,
            outcome.wall_ns as f64 / 1e6
        )?;
        if let Some(a) = outcome.activity.filter(|a| a.sweeps > 0) {
            let mean = a.items / a.sweeps;
            write!(
                f,
                ", frontier {mean} items on average, {} at most",
                a.widest
            )?;
            if a.pulled > 0 {
                write!(f, ", {} of {} sweeps pulled", a.pulled, a.sweeps)?;
            }
        }
        let read = &outcome.readback;
        write!(
            f,
            ", read {} small results packed in {} bytes and {} large ones of {} bytes",
            read.packed, read.packed_bytes, read.direct, read.direct_bytes
        )
    }
}
