//! What a backend implements.

use crate::dsl::columns::SliceMut;
use crate::dsl::error::RunError;
use crate::plan::session::Counters;
use crate::plan::{launch, route};
use crate::run::args::{Args, TopologyArgs};
use crate::run::outcome::Outcome;
use crate::vir0::module::{BufferId, TopologyId};
use crate::vir0::sizes::Sizes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How far the current run is; read by anyone while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    rounds: AtomicU64,
    frontier: AtomicU64,
}

impl Progress {
    /// Rounds of all fixpoints since the run began.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Relaxed)
    }

    /// Items waiting for the next round when the last one ended.
    pub fn frontier(&self) -> u64 {
        self.frontier.load(Relaxed)
    }

    /// A run begins.
    pub fn begin(&self) {
        self.set(0, 0);
    }

    /// A round ended.
    pub fn set(&self, rounds: u64, frontier: u64) {
        self.rounds.store(rounds, Relaxed);
        self.frontier.store(frontier, Relaxed);
    }
}

/// What a backend can vary from launch to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CTAs that it runs at once; threads on a CPU.
    pub max_ctas: u32,
    /// Items that a CTA takes at a time.
    pub lanes_per_cta: u32,
    /// A launch can have fewer CTAs.
    pub ctas_vary: bool,
    /// It can compile the bytecode.
    pub jit: bool,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// It can upload the inputs of a run while another is on the device.
    pub overlaps: bool,
    /// It can bring a frontier's list into the order of the nodes ([`Sweeps::bitmap`]).
    pub bitmaps: bool,
}

/// How the next launches should be. Results never depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchHint {
    /// CTAs; threads on a CPU.
    pub ctas: u32,
    /// The caller asked for so many, and did not leave it to the policy.
    pub asked: bool,
    /// Independent queries: each CTA that works on one has memory of its own.
    pub shared: bool,
    /// Items that a lane takes at a time, at most.
    pub items_per_lane: u32,
    /// Shape of the frontier.
    pub topology: launch::Topology,
    /// Interpreter or compiled code.
    pub route: launch::Route,
    /// Items from which a sweep is worth all threads (on a CPU).
    pub parallel_from: u64,
    /// How sweeps over frontiers go (on a CPU).
    pub sweeps: Sweeps,
    /// Results up to this size share a copy.
    pub pack_up_to_bytes: u64,
    /// Edges of a frontier from which a sweep may be turned round, where that costs barriers.
    pub pull_from: u64,
    /// Queries of a batch that may be in memory at once.
    pub slots: u32,
    /// What the queries of a batch may take together: states, inputs and results on the device. `None`: no budget says.
    pub batch_bytes: Option<u64>,
    /// There may be a second set of inputs, so that those of the next run go up while one is on the device.
    pub second_inputs: bool,
    /// Say how long the sweeps of each wave take ([`Report::waves`]). It costs a look at the clock before and after each
    /// sweep, on a CPU as long as a sweep over a few items takes.
    pub time_waves: bool,
}

/// How sweeps over frontiers go: each wave starts with the planned route, and goes over to another one where a frontier leaves
/// the band that holds it ([`route::Policy::pressure`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweeps {
    /// What each wave starts with.
    pub start: route::Route,
    /// What changes it.
    pub policy: route::Policy,
    /// Memory in use when the launch was decided, of the budget.
    pub memory_bps: u32,
    /// There is memory for a bit a node, which brings a list into the order of the nodes.
    pub bitmap: bool,
}

impl Default for Sweeps {
    /// Lists, until somebody plans.
    fn default() -> Sweeps {
        Sweeps {
            start: route::Route::Sparse,
            policy: route::Policy::default(),
            memory_bps: 0,
            bitmap: false,
        }
    }
}

/// What an executor made of a [`LaunchHint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// CTAs, or threads.
    pub ctas: u32,
    /// What executes the code.
    pub code: &'static str,
    /// What sweeps over frontiers start with, where routes choose that.
    pub sweeps: Option<route::Route>,
    /// What it did otherwise, and why.
    pub notes: Vec<&'static str>,
}

/// Keeps pages locked.
pub type Lock = Box<dyn Send + Sync>;

/// What may stay on a device between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resident {
    /// A buffer's elements.
    Buffer(BufferId),
    /// Where each node's edges begin in a graph, and where the last one's end.
    Offsets(TopologyId),
    /// Where each edge leads.
    Targets(TopologyId),
}

/// One session's executor: topology resident, buffers allocated once.
pub trait Executor: Send {
    /// The most memory that topologies, buffers and frontiers held at once in the last run, in bytes, where the backend
    /// counts it.
    fn peak_bytes(&self) -> Option<u64> {
        None
    }

    /// Runs the pass once.
    fn run(&mut self, args: &Args<'_>) -> Result<Outcome, RunError> {
        let mut results = Outcome::default();
        self.run_series(std::slice::from_ref(args), &mut results)?;
        Ok(results)
    }

    /// Runs the pass several times and reads back after the last run only; the first error ends it. `results` has memory of
    /// earlier results, which those of the last run are made in where it suffices, and has these results afterwards: after an
    /// error, anything.
    fn run_series(&mut self, series: &[Args<'_>], results: &mut Outcome) -> Result<(), RunError>;

    /// Gives output buffers that a backend would copy from a device memory whose pages are locked as long as what is returned
    /// lives, in `results`; it must not be dropped after that memory. `None` where there is nothing to lock, or where pages
    /// cannot be locked.
    fn lock(&mut self, _sizes: &Sizes, _results: &mut Outcome) -> Result<Option<Lock>, RunError> {
        Ok(None)
    }

    /// Runs the pass once on in-out buffers that are the caller's: `args` has the inputs only. What the run leaves in the
    /// in-out buffers is there afterwards, and not in the outcome. After an error they are as before, but for what
    /// `may_trap` says.
    ///
    /// `may_trap`: the pass's functions were built with checks that the bytecode does not have (overflow).
    fn run_in_place(
        &mut self,
        args: &Args<'_>,
        in_outs: &mut [(BufferId, SliceMut<'_>)],
        _may_trap: bool,
    ) -> Result<Outcome, RunError> {
        let mut all = args.clone();
        let given = in_outs.iter().map(|(id, s)| (*id, s.as_slice()));
        all.inputs.extend(given);
        let mut outcome = self.run(&all)?;
        for (id, to) in in_outs {
            let at = outcome.outputs.iter().position(|(b, _)| b == id);
            let at = at.ok_or_else(|| RunError::Invalid("an in-out buffer is no result".into()))?;
            let (_, from) = outcome.outputs.swap_remove(at);
            debug_assert_eq!(from.len(), to.as_slice().len());
            if !to.assign(from.as_slice()) {
                return Err(RunError::Invalid(
                    "an in-out buffer has another type".into(),
                ));
            }
        }
        Ok(outcome)
    }

    /// Runs independent queries, first things first. May take only the first few: the caller comes back with the rest.
    /// Takes at least one.
    fn run_batch(&mut self, queries: &[Args<'_>]) -> Vec<Result<Outcome, RunError>> {
        queries.iter().map(|args| self.run(args)).collect()
    }

    /// Queries of a batch that are in memory at once, at most: the session's own state and copies of it.
    fn slots(&self) -> u32 {
        1
    }

    /// Takes another topology, uploading only what differs, and keeps everything else. False where the backend cannot:
    /// the caller makes a new executor. After an error nothing has changed.
    fn update(&mut self, _topology: &TopologyArgs<'_>) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Lends the topology that it holds, in the form in which it was given, so that another executor can be made of it. False
    /// where the backend cannot.
    fn lend_topology(
        &self,
        _borrow: &mut dyn FnMut(&TopologyArgs<'_>) -> Result<(), RunError>,
    ) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Where something is on the backend's device until the next run: the address of its first element, and how many there
    /// are. `None` for what does not stay there, and for results where the last call did not leave any.
    fn resident(&self, _what: Resident) -> Option<(u64, u64)> {
        None
    }

    /// What it did since it was made. A backend that does not count says nothing.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// What it can vary.
    fn limits(&self) -> Limits {
        Limits {
            max_ctas: 1,
            lanes_per_cta: 1,
            ctas_vary: false,
            jit: false,
            items_per_lane: 1,
            overlaps: false,
            bitmaps: false,
        }
    }

    /// Sets how the next launches should be, and says what it will do.
    fn follow(&mut self, _hint: &LaunchHint) -> Followed {
        Followed {
            ctas: self.limits().max_ctas,
            code: "unknown",
            sweeps: None,
            notes: vec!["the backend decides for itself"],
        }
    }

    /// Where the current run's progress can be read, if the backend tells.
    fn progress(&self) -> Option<Arc<Progress>> {
        None
    }

    /// Tells the progress of runs to come there, if the backend tells.
    fn set_progress(&mut self, _progress: Arc<Progress>) {}
}
