//! Work with alternatives, of which those run that pay on what is at hand.
//!
//! A [`Pipeline`] is a list of stages over a state of the caller's. A stage has a baseline, which runs when nothing better is selected, and
//! alternatives: other passes, or the same pass run in another way (as a series, in a batch, with another layout). Each alternative is
//! a candidate of [`plan::passes`](vyre_core::plan::passes): thresholds, a proved speedup, what it costs. [`Pipeline::select`] decides
//! from a sample, [`Selected::run`] runs what was decided, and printing the selection explains every choice.
//!
//! What the runtime can do by itself is chosen in the same way: [`Choice::fusion`], [`Choice::compaction`] and [`Choice::plan_cache`] are its
//! candidates, with a speedup that [`measured`] gives on the machine at hand. What a build or device does not have is
//! [unavailable](Stage::unavailable), and the explanation says so.
//!
//! ```
//! use vyre_cuda::pipeline::{Choice, Pipeline};
//! use vyre_cuda::plan::passes::{Ranking, Sample};
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
//!     let mut selected = pipeline.select(&sample, Ranking::default()).unwrap();
//!     let why = selected.to_string();
//!     selected.run(&mut text).unwrap();
//!     (text, why.lines().next().unwrap().to_owned())
//! };
//! assert_eq!(ran(5_000), ("in tiles".into(), "sum: `sum.tiled` runs: selected".into()));
//! assert_eq!(ran(10), ("one by one".into(), "sum: the baseline runs".into()));
//! ```

use crate::error::Error;
use std::fmt;
use vyre_core::module::Manifest;
use vyre_core::plan::passes::{self, Candidate, PassError, Ranking, Sample, Skip};
use vyre_core::plan::show::Plan;

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
    /// Measured speedup over the baseline, in basis points; 0: nothing is proved, and it is never selected.
    pub speedup_bps: u64,
    /// Time that setting it up takes, once.
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
            planning_cost_ns: 0,
            scratch_bytes: 0,
            mandatory: false,
        }
    }

    /// Two passes over one topology in one launch (a [`FusedSession`](crate::FusedSession)) in place of two sessions. Planning it costs more
    /// than one run gains.
    pub fn fusion(speedup_bps: u64) -> Choice {
        Choice {
            min_reuse: 2,
            speedup_bps,
            planning_cost_ns: 200_000,
            ..Choice::new("vyre.fusion")
        }
    }

    /// Small results in one copy (table B). It needs results that are worth a copy.
    pub fn compaction(speedup_bps: u64) -> Choice {
        Choice {
            min_readback_bytes: 4_096,
            speedup_bps,
            ..Choice::new("vyre.compaction")
        }
    }

    /// Plans kept by layout and pressure ([`Lru`](vyre_core::plan::cache::Lru)) in place of planning for every run.
    pub fn plan_cache(speedup_bps: u64) -> Choice {
        Choice {
            min_reuse: 2,
            speedup_bps,
            ..Choice::new("vyre.plan-cache")
        }
    }

    /// Compiled code in place of interpreted code. No backend has it yet: use it with [`Stage::unavailable`].
    pub fn jit() -> Choice {
        Choice {
            min_frontier_items: 4_096,
            min_reuse: 4,
            ..Choice::new("vyre.jit")
        }
    }

    /// What a pass says about itself. Its costs are 0.
    pub fn of(plan: &Plan) -> Choice {
        Choice::from(plan.program().manifest)
    }

    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            id: &self.id,
            min_frontier_items: self.min_frontier_items,
            min_reuse: self.min_reuse,
            min_readback_bytes: self.min_readback_bytes,
            planning_cost_ns: self.planning_cost_ns,
            scratch_bytes: self.scratch_bytes,
            speedup_bps: self.speedup_bps,
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

/// The speedup of one way over another in basis points, by the median of so many timed runs of each, taken in turn after one
/// untimed run: evidence for a [`Choice`], from the machine at hand.
pub fn measured(
    runs: std::num::NonZeroUsize,
    mut before: impl FnMut() -> Result<(), Error>,
    mut after: impl FnMut() -> Result<(), Error>,
) -> Result<u64, Error> {
    fn timed(work: &mut dyn FnMut() -> Result<(), Error>) -> Result<u128, Error> {
        let begin = std::time::Instant::now();
        work()?;
        Ok(begin.elapsed().as_nanos().max(1))
    }
    before()?;
    after()?;
    let (mut slow, mut fast) = (Vec::new(), Vec::new());
    for _ in 0..runs.get() {
        slow.push(timed(&mut before)?);
        fast.push(timed(&mut after)?);
    }
    slow.sort_unstable();
    fast.sort_unstable();
    let bps = slow[slow.len() / 2] * 10_000 / fast[fast.len() / 2];
    Ok(u64::try_from(bps).unwrap_or(u64::MAX))
}

type Work<'p, T> = Box<dyn FnMut(&mut T) -> Result<(), Error> + 'p>;

/// One thing to be done.
pub struct Stage<'p, T> {
    name: String,
    baseline: Option<Work<'p, T>>,
    alternatives: Vec<(Choice, Work<'p, T>)>,
    /// What cannot run, and why.
    unavailable: Vec<(Choice, String)>,
}

impl<'p, T> Stage<'p, T> {
    /// What runs when no alternative is selected; without it, nothing does.
    pub fn baseline(
        &mut self,
        work: impl FnMut(&mut T) -> Result<(), Error> + 'p,
    ) -> &mut Stage<'p, T> {
        self.baseline = Some(Box::new(work));
        self
    }

    /// What may run instead.
    pub fn alternative(
        &mut self,
        choice: Choice,
        work: impl FnMut(&mut T) -> Result<(), Error> + 'p,
    ) -> &mut Stage<'p, T> {
        self.alternatives.push((choice, Box::new(work)));
        self
    }

    /// What would be an alternative, but is not there; never selected, and explained.
    pub fn unavailable(&mut self, choice: Choice, why: impl Into<String>) -> &mut Stage<'p, T> {
        self.unavailable.push((choice, why.into()));
        self
    }
}

/// Stages, one after the other.
#[derive(Default)]
pub struct Pipeline<'p, T> {
    stages: Vec<Stage<'p, T>>,
}

impl<'p, T> Pipeline<'p, T> {
    /// One without stages.
    pub fn new() -> Pipeline<'p, T> {
        Pipeline { stages: Vec::new() }
    }

    /// Another stage, after all others.
    pub fn stage(&mut self, name: impl Into<String>) -> &mut Stage<'p, T> {
        self.stages.push(Stage {
            name: name.into(),
            baseline: None,
            alternatives: Vec::new(),
            unavailable: Vec::new(),
        });
        self.stages.last_mut().expect("just pushed")
    }

    /// Decides what runs on such a sample: of each stage the selected alternative that ranks first. What is outranked in its stage
    /// leaves its part of the budgets to others.
    pub fn select(
        &mut self,
        sample: &Sample,
        ranking: Ranking,
    ) -> Result<Selected<'_, 'p, T>, PassError> {
        let mut verdicts: Vec<Vec<Option<Verdict>>> = self
            .stages
            .iter()
            .map(|s| {
                let proved = |c: &Choice| c.speedup_bps > 0 || c.id.is_empty();
                let alternatives = s.alternatives.iter();
                alternatives
                    .map(|(c, _)| (!proved(c)).then_some(Verdict::Unproven))
                    .collect()
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
                .map(|&(s, a)| self.stages[s].alternatives[a].0.candidate())
                .collect();
            let selection = passes::select(&candidates, sample, ranking)?;
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
    Outranked(String),
    Skipped(Skip),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Unproven => write!(f, "unproven: it has no evidence"),
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
    pub fn run(&mut self, state: &mut T) -> Result<(), Error> {
        for (stage, first) in self.pipeline.stages.iter_mut().zip(&self.first) {
            match (first, &mut stage.baseline) {
                (Some((a, _)), _) => (stage.alternatives[*a].1)(state)?,
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
