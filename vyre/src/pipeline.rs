//! Work with alternatives, of which those run that pay on what is at hand.
//!
//! A [`Pipeline`] is a list of stages over a state of the caller's. A stage has a baseline, which runs when nothing
//! better is selected, and alternatives: other passes, or the same pass run in another way (as a series, in a batch,
//! with another layout). Each alternative is a candidate of [`plan::passes`](vyre_core::plan::passes): thresholds, a
//! proved speedup, what it costs. [`Pipeline::select`] decides from a sample, [`Selected::run`] runs what was decided,
//! and printing the selection explains every choice.
//!
//! What an alternative gains and costs is a claim of its [`Choice`], or [`Pipeline::measure`] finds it out on the
//! machine at hand: how long the baseline takes, how much faster the alternative is, and how long it takes to
//! [prepare](Stage::prepared). Then an alternative runs where what it is expected to save on the sample is more than
//! what preparing it costs. That ranking is the default; [`Pipeline::set_ranking`] takes the other.
//!
//! Two passes in one launch are chosen in the same way ([`Choice::fusion`]). What a build or device does not have is
//! [unavailable](Stage::unavailable), and the explanation says so.
//!
//! ```
//! use vyre::pipeline::{Choice, Pipeline};
//! use vyre::core::plan::passes::Sample;
//!
//! let mut pipeline = Pipeline::new();
//! let tiled = Choice { speedup_bps: 20_000, min_frontier_items: 1_000, ..Choice::new("sum.tiled") };
//! pipeline
//!     .stage("sum")
//!     .baseline(|text: &mut String| Ok(text.push_str("one by one")))
//!     .alternative(tiled, |text| Ok(text.push_str("in tiles")));
//!
//! let mut ran = |frontier_items| {
//!     let sample = Sample { frontier_items, reuse: 1, ..Sample::default() };
//!     let mut text = String::new();
//!     let mut selected = pipeline.select(&sample).unwrap();
//!     let why = selected.to_string();
//!     selected.run(&mut text).unwrap();
//!     (text, why.lines().next().unwrap().to_owned())
//! };
//! assert_eq!(ran(5_000), ("in tiles".into(), "sum: `sum.tiled` runs: selected".into()));
//! assert_eq!(ran(10), ("one by one".into(), "sum: the baseline runs".into()));
//! ```
//!
//! `examples/examples/select.rs` measures three ways to search a graph, and selects by how many searches there are to
//! be.

use crate::error::Error;
use crate::runtime::Runtime;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;
use vyre_core::plan::gains::{BuiltIn, Figure};
use vyre_core::plan::passes::{self, Candidate, PassError, Ranking, Sample, Skip};
use vyre_core::plan::show::Plan;
use vyre_core::run::clock::Clock;
use vyre_core::vir0::manifest::Manifest;

/// What an alternative claims and costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name; no other alternative of the pipeline has it.
    pub id: String,
    /// Smallest frontier worth it.
    pub min_frontier_items: u64,
    /// Smallest reuse count worth it.
    pub min_reuse: u64,
    /// Smallest avoided readback worth it.
    pub min_readback_bytes: u64,
    /// Measured speedup over the baseline, in basis points; 0 means that nothing is proved. An alternative is selected
    /// only above 10,000.
    pub speedup_bps: u64,
    /// Time that one run of its stage's baseline takes, where that was measured. Otherwise the sample's time counts.
    pub baseline_ns: Option<u64>,
    /// Time that preparing it takes, once. Once it is prepared, this counts as 0.
    pub planning_cost_ns: u64,
    /// Device memory that it takes.
    pub scratch_bytes: u64,
    /// Selected before all others whenever it is over its thresholds.
    pub mandatory: bool,
}

impl Choice {
    /// One without thresholds, costs or proof.
    pub fn new(id: impl Into<String>) -> Choice {
        Choice {
            id: id.into(),
            min_frontier_items: 0,
            min_reuse: 0,
            min_readback_bytes: 0,
            speedup_bps: 0,
            baseline_ns: None,
            planning_cost_ns: 0,
            scratch_bytes: 0,
            mandatory: false,
        }
    }

    /// Two passes over one topology in one launch (a [`FusedSession`](crate::FusedSession)) in place of two sessions.
    /// What it gains and costs is for [`Pipeline::measure`] to find out.
    pub fn fusion() -> Choice {
        Choice {
            min_reuse: 2,
            ..Choice::new(BuiltIn::Fusion.id())
        }
    }

    /// Compiled code in place of interpreted code ([`RoutePolicy`](crate::RoutePolicy)). On a backend that has one route
    /// only, use it with [`Stage::unavailable`].
    pub fn jit() -> Choice {
        Choice {
            min_frontier_items: 4_096,
            min_reuse: 4,
            ..Choice::new(BuiltIn::Jit.id())
        }
    }

    /// What this was measured to gain and to cost on a runtime's device, where it is one of vyre's own
    /// ([`fusion`](Choice::fusion), [`jit`](Choice::jit)) and the runtime's
    /// [`Thresholds`](vyre_core::plan::thresholds::Thresholds) have a figure for it. Otherwise it stays as it is, and
    /// [`Pipeline::measure`] can find it out.
    ///
    /// ```
    /// use vyre::Runtime;
    /// use vyre::pipeline::Choice;
    ///
    /// let runtime = Runtime::native();
    /// assert_eq!(Choice::fusion().measured_on(&runtime), Choice::fusion());
    /// let measured = runtime.thresholds().with("gain.fusion = 13_000 bps, once 500 ns, from 3 uses\n")?;
    /// let fusion = Choice::fusion().measured_on(&runtime.with_thresholds(measured));
    /// assert_eq!((fusion.speedup_bps, fusion.planning_cost_ns, fusion.min_reuse), (13_000, 500, 3));
    /// # Ok::<(), vyre::Error>(())
    /// ```
    pub fn measured_on(self, runtime: &Runtime) -> Choice {
        let built_in = BuiltIn::ALL.into_iter().find(|b| b.id() == self.id);
        match built_in.map(|b| runtime.thresholds().gains.of(b)) {
            Some(Figure::Of(gain)) => Choice {
                min_frontier_items: gain.min_frontier_items,
                min_reuse: gain.min_reuse,
                min_readback_bytes: gain.min_readback_bytes,
                speedup_bps: gain.speedup_bps,
                planning_cost_ns: gain.cost_ns,
                ..self
            },
            Some(Figure::Unmeasured) | None => self,
        }
    }

    /// What a pass says about itself. Its costs are 0.
    pub fn of(plan: &Plan) -> Choice {
        Choice::from(plan.program().manifest)
    }

    /// `prepared`: what planning it takes was spent already.
    fn candidate(&self, prepared: bool) -> Candidate<'_> {
        Candidate {
            id: &self.id,
            min_frontier_items: self.min_frontier_items,
            min_reuse: self.min_reuse,
            min_readback_bytes: self.min_readback_bytes,
            planning_cost_ns: if prepared { 0 } else { self.planning_cost_ns },
            scratch_bytes: self.scratch_bytes,
            speedup_bps: self.speedup_bps,
            baseline_ns: self.baseline_ns,
            mandatory: self.mandatory,
        }
    }
}

impl From<Manifest> for Choice {
    fn from(m: Manifest) -> Choice {
        Choice {
            min_frontier_items: m.min_frontier_items,
            min_reuse: m.min_reuse,
            min_readback_bytes: m.min_readback_bytes,
            speedup_bps: if m.unproven { 0 } else { m.speedup_bps },
            mandatory: m.mandatory,
            ..Choice::new(m.id)
        }
    }
}

/// A way to do what a stage does.
trait Way<T> {
    /// Makes what it needs, unless it has it.
    fn prepare(&mut self) -> Result<(), Error>;
    /// It has what it needs.
    fn is_prepared(&self) -> bool;
    /// Gives that up.
    fn forget(&mut self);
    /// Does it once.
    fn run(&mut self, state: &mut T) -> Result<(), Error>;
}

/// What is made once and used by every run.
struct Prepared<S, M, W> {
    made: Option<S>,
    make: M,
    work: W,
}

impl<T, S, M, W> Way<T> for Prepared<S, M, W>
where
    M: FnMut() -> Result<S, Error>,
    W: FnMut(&mut S, &mut T) -> Result<(), Error>,
{
    fn prepare(&mut self) -> Result<(), Error> {
        if self.made.is_none() {
            self.made = Some((self.make)()?);
        }
        Ok(())
    }

    fn is_prepared(&self) -> bool {
        self.made.is_some()
    }

    fn forget(&mut self) {
        self.made = None;
    }

    fn run(&mut self, state: &mut T) -> Result<(), Error> {
        self.prepare()?;
        match &mut self.made {
            Some(made) => (self.work)(made, state),
            None => unreachable!("it was prepared"),
        }
    }
}

/// What needs nothing but its work; what that takes the first time, its choice says.
struct Plain<W>(W);

impl<T, W: FnMut(&mut T) -> Result<(), Error>> Way<T> for Plain<W> {
    fn prepare(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn is_prepared(&self) -> bool {
        false
    }

    fn forget(&mut self) {}

    fn run(&mut self, state: &mut T) -> Result<(), Error> {
        (self.0)(state)
    }
}

/// What `now` shows while it works, in nanoseconds.
fn timed(now: &Now<'_>, work: impl FnOnce() -> Result<(), Error>) -> Result<u64, Error> {
    let begin = now();
    work()?;
    let ns = u64::try_from(now().saturating_sub(begin).as_nanos());
    Ok(ns.unwrap_or(u64::MAX).max(1))
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

type Now<'p> = dyn Fn() -> Duration + 'p;

type Work<'p, T> = Box<dyn FnMut(&mut T) -> Result<(), Error> + 'p>;

/// One thing to be done.
pub struct Stage<'p, T> {
    name: String,
    baseline: Option<Work<'p, T>>,
    alternatives: Vec<(Choice, Box<dyn Way<T> + 'p>)>,
    /// What cannot run, and why.
    unavailable: Vec<(Choice, String)>,
}

impl<'p, T> Stage<'p, T> {
    /// Sets the work that runs when no alternative is selected. Without a baseline, nothing runs then.
    pub fn baseline(
        &mut self,
        work: impl FnMut(&mut T) -> Result<(), Error> + 'p,
    ) -> &mut Stage<'p, T> {
        self.baseline = Some(Box::new(work));
        self
    }

    /// Adds work that may run instead of the baseline.
    pub fn alternative(
        &mut self,
        choice: Choice,
        work: impl FnMut(&mut T) -> Result<(), Error> + 'p,
    ) -> &mut Stage<'p, T> {
        self.alternatives.push((choice, Box::new(Plain(work))));
        self
    }

    /// Adds work that may run instead of the baseline, and that first makes what all its runs use: another layout of
    /// the graph, or a session of its own. That is made when the alternative is selected and runs, and then kept.
    pub fn prepared<S: 'p>(
        &mut self,
        choice: Choice,
        make: impl FnMut() -> Result<S, Error> + 'p,
        work: impl FnMut(&mut S, &mut T) -> Result<(), Error> + 'p,
    ) -> &mut Stage<'p, T> {
        let way = Prepared {
            made: None,
            make,
            work,
        };
        self.alternatives.push((choice, Box::new(way)));
        self
    }

    /// Adds an alternative that this build or device does not have. It is never selected, and the explanation says why.
    pub fn unavailable(&mut self, choice: Choice, why: impl Into<String>) -> &mut Stage<'p, T> {
        self.unavailable.push((choice, why.into()));
        self
    }

    /// As [`Pipeline::measure`]; leaves the state as the baseline does.
    fn measure(&mut self, now: &Now<'_>, runs: NonZeroUsize, state: &mut T) -> Result<(), Error> {
        let Some(baseline) = &mut self.baseline else {
            return Ok(());
        };
        baseline(state)?;
        for (choice, way) in &mut self.alternatives {
            let kept = way.is_prepared();
            let planning_cost_ns = timed(now, || way.prepare())?;
            way.run(state)?;
            let (mut slow, mut fast) = (Vec::new(), Vec::new());
            for _ in 0..runs.get() {
                fast.push(timed(now, || way.run(state))?);
                slow.push(timed(now, || baseline(state))?);
            }
            let (slow, fast) = (median(slow), median(fast));
            let bps = u128::from(slow) * 10_000 / u128::from(fast);
            choice.speedup_bps = u64::try_from(bps).unwrap_or(u64::MAX);
            choice.baseline_ns = Some(slow);
            if !kept {
                choice.planning_cost_ns = planning_cost_ns;
                way.forget();
            }
        }
        Ok(())
    }
}

/// Stages, one after the other.
pub struct Pipeline<'p, T> {
    stages: Vec<Stage<'p, T>>,
    ranking: Ranking,
    now: Box<Now<'p>>,
}

impl<T> Default for Pipeline<'_, T> {
    fn default() -> Self {
        let wall = Clock::default();
        Pipeline {
            stages: Vec::new(),
            ranking: Ranking::default(),
            now: Box::new(move || wall.now("pipeline")),
        }
    }
}

impl<'p, T> Pipeline<'p, T> {
    /// A pipeline without stages.
    pub fn new() -> Pipeline<'p, T> {
        Pipeline::default()
    }

    /// Ranks alternatives otherwise than by the time that they are expected to save on the sample. Without a baseline's
    /// time, of the sample or measured, they are ranked by thresholds in any case.
    pub fn set_ranking(&mut self, ranking: Ranking) {
        self.ranking = ranking;
    }

    /// Measures by another clock than the wall clock: the time since some moment. It is for tests, and for state whose
    /// time is spent elsewhere.
    pub fn set_clock(&mut self, now: impl Fn() -> Duration + 'p) {
        self.now = Box::new(now);
    }

    /// Adds a stage after all others.
    pub fn stage(&mut self, name: impl Into<String>) -> &mut Stage<'p, T> {
        self.stages.push(Stage {
            name: name.into(),
            baseline: None,
            alternatives: Vec::new(),
            unavailable: Vec::new(),
        });
        self.stages.last_mut().expect("just pushed")
    }

    /// Measures every alternative of the stages that have a baseline, on this state.
    ///
    /// How long the baseline takes, and how much faster the alternative is, are medians of `runs` timed runs of each,
    /// in turn, after an untimed one. How long preparing takes is measured once. The figures replace what the choices
    /// claimed. What was prepared is given up again, so that a selection weighs what preparing costs. Each stage sees
    /// the state as the baselines before it leave it.
    ///
    /// # Errors
    /// The first that preparing or running anything gives. What was measured before it stays.
    pub fn measure(&mut self, runs: NonZeroUsize, state: &mut T) -> Result<(), Error> {
        let mut stages = self.stages.iter_mut();
        stages.try_for_each(|stage| stage.measure(&*self.now, runs, state))
    }

    /// What each alternative claims, or was measured to do, by stage.
    pub fn choices(&self) -> impl Iterator<Item = (&str, &Choice)> {
        self.stages.iter().flat_map(|stage| {
            let choices = stage.alternatives.iter().map(|(choice, _)| choice);
            choices.map(|choice| (stage.name.as_str(), choice))
        })
    }

    /// Decides what runs on such a sample: in each stage, the selected alternative that ranks first. An alternative
    /// that is outranked in its stage leaves its part of the budgets to others.
    ///
    /// # Errors
    /// Two alternatives have one id, or one has none; a mandatory one does not fit in the sample's budgets.
    pub fn select(&mut self, sample: &Sample) -> Result<Selected<'_, 'p, T>, PassError> {
        let mut verdicts: Vec<Vec<Option<Verdict>>> = self
            .stages
            .iter()
            .map(|s| {
                let alternatives = s.alternatives.iter();
                alternatives.map(|(c, _)| Verdict::of(c)).collect()
            })
            .collect();
        loop {
            // Those without a verdict yet.
            let open: Vec<(usize, usize)> = (0..self.stages.len())
                .flat_map(|s| (0..self.stages[s].alternatives.len()).map(move |a| (s, a)))
                .filter(|&(s, a)| verdicts[s][a].is_none())
                .collect();
            let candidates: Vec<Candidate<'_>> = open
                .iter()
                .map(|&(s, a)| {
                    let (choice, way) = &self.stages[s].alternatives[a];
                    choice.candidate(way.is_prepared())
                })
                .collect();
            let selection = passes::select(&candidates, sample, self.ranking)?;
            let mut first = vec![None; self.stages.len()];
            let mut outranked = false;
            for chosen in &selection.selected {
                let (s, a) = open[chosen.index];
                match first[s] {
                    None => first[s] = Some((a, chosen.value)),
                    Some((winner, _)) => {
                        let winner = self.stages[s].alternatives[winner].0.id.clone();
                        verdicts[s][a] = Some(Verdict::Outranked(winner));
                        outranked = true;
                    }
                }
            }
            if outranked {
                continue;
            }
            for skipped in &selection.skipped {
                let (s, a) = open[skipped.index];
                verdicts[s][a] = Some(Verdict::Skipped(skipped.reason));
            }
            let totals = Totals {
                planning_cost_ns: selection.planning_cost_ns,
                scratch_bytes: selection.scratch_bytes,
                projected_speedup_bps: selection.projected_speedup_bps,
                ranking: selection.ranking,
            };
            return Ok(Selected {
                pipeline: self,
                first,
                verdicts,
                totals,
            });
        }
    }
}

impl<T> fmt::Debug for Pipeline<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.stages.iter().map(|s| &s.name);
        f.debug_list().entries(names).finish()
    }
}

/// Why an alternative does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Unproven,
    NoFaster(u64),
    Outranked(String),
    Skipped(Skip),
}

impl Verdict {
    /// What can be said before anything is ranked. Of a choice without a name, [`passes::select`] says it.
    fn of(choice: &Choice) -> Option<Verdict> {
        match choice.speedup_bps {
            _ if choice.id.is_empty() => None,
            0 => Some(Verdict::Unproven),
            bps @ 1..=10_000 => Some(Verdict::NoFaster(bps)),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Unproven => write!(f, "unproven: it has no evidence that holds"),
            Verdict::NoFaster(bps) => {
                let (whole, rest) = (bps / 10_000, bps % 10_000);
                write!(f, "it is no faster: {whole}.{rest:04}x")
            }
            Verdict::Outranked(winner) => write!(f, "`{winner}` ranks higher in this stage"),
            Verdict::Skipped(reason) => reason.fmt(f),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Totals {
    planning_cost_ns: u64,
    scratch_bytes: u64,
    projected_speedup_bps: u64,
    ranking: Ranking,
}

/// A decision, ready to run. Printed, it says of every alternative why it runs or not.
pub struct Selected<'s, 'p, T> {
    pipeline: &'s mut Pipeline<'p, T>,
    /// The alternative of each stage, and its value.
    first: Vec<Option<(usize, i128)>>,
    verdicts: Vec<Vec<Option<Verdict>>>,
    totals: Totals,
}

impl<T> Selected<'_, '_, T> {
    /// The alternatives that run, by stage.
    pub fn chosen(&self) -> impl Iterator<Item = Option<&str>> {
        let stages = self.pipeline.stages.iter().zip(&self.first);
        stages.map(|(s, first)| first.map(|(a, _)| s.alternatives[a].0.id.as_str()))
    }

    /// Projected speedup of everything that was selected, in basis points.
    pub fn projected_speedup_bps(&self) -> u64 {
        self.totals.projected_speedup_bps
    }

    /// Runs what was decided, stage by stage; the first error ends it.
    ///
    /// # Errors
    /// The first that a stage gives, which ends it.
    pub fn run(&mut self, state: &mut T) -> Result<(), Error> {
        for (stage, first) in self.pipeline.stages.iter_mut().zip(&self.first) {
            match (first, &mut stage.baseline) {
                (Some((a, _)), _) => stage.alternatives[*a].1.run(state)?,
                (None, Some(baseline)) => baseline(state)?,
                (None, None) => {}
            }
        }
        Ok(())
    }
}

impl<T> fmt::Display for Selected<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (s, stage) in self.pipeline.stages.iter().enumerate() {
            match (self.first[s], &stage.baseline) {
                (Some((a, value)), _) => {
                    let id = &stage.alternatives[a].0.id;
                    write!(f, "{}: `{id}` runs: selected", stage.name)?;
                    if self.totals.ranking == Ranking::TimeSaved {
                        write!(f, ", saves {value} ns")?;
                    }
                    writeln!(f)?;
                }
                (None, Some(_)) => writeln!(f, "{}: the baseline runs", stage.name)?,
                (None, None) => writeln!(f, "{}: nothing runs", stage.name)?,
            }
            for ((choice, _), verdict) in stage.alternatives.iter().zip(&self.verdicts[s]) {
                if let Some(why) = verdict {
                    writeln!(f, "  skipped `{}`: {why}", choice.id)?;
                }
            }
            for (choice, why) in &stage.unavailable {
                writeln!(f, "  skipped `{}`: {why}", choice.id)?;
            }
        }
        let t = &self.totals;
        writeln!(
            f,
            "planning {} ns, scratch {} bytes, projected speedup {}.{:04}x",
            t.planning_cost_ns,
            t.scratch_bytes,
            t.projected_speedup_bps / 10_000,
            t.projected_speedup_bps % 10_000
        )
    }
}

impl<T> fmt::Debug for Selected<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
