//! Pass selection: which optimisations or passes are worth running on what is at hand.
//!
//! A candidate that stays below one of its thresholds is skipped with that reason. The others are taken in rank order
//! while both budgets last: mandatory ones first, and it is an error when one of them does not fit.
//!
//! Two rankings. [`Ranking::TimeSaved`], the default, is the time that the candidate is expected to save on this sample
//! (all its reuses) minus what planning it costs; what would cost more than it saves is skipped. It needs to know how
//! long a run takes without it; where that is unknown of one of them, and on request, [`Ranking::Thresholds`] prefers
//! the candidate with the higher claim and the higher thresholds, whatever the sample.
//!
//! ```
//! use vyre_core::plan::passes::{Candidate, Ranking, Sample, select};
//! let fuse = Candidate { id: "fuse", speedup_bps: 20_000, planning_cost_ns: 50_000, ..Candidate::default() };
//! let sample = Sample {
//!     reuse: 10,
//!     planning_budget_ns: 100_000,
//!     baseline_ns: Some(1_000_000),
//!     ..Sample::default()
//! };
//! let selection = select(&[fuse], &sample, Ranking::default()).unwrap();
//! assert_eq!(selection.to_string(), "\
//! selected `fuse`: saves 4950000 ns
//! 1 selected, 0 skipped; planning 50000 ns, scratch 0 bytes, projected speedup 2.0000x
//! ");
//! ```

use crate::vir0::manifest::Manifest;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;
use thiserror::Error;

/// A pass or optimisation that could run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Candidate<'a> {
    /// Its name; not empty, and no other has it.
    pub id: &'a str,
    /// Smallest frontier worth it.
    pub min_frontier_items: u64,
    /// Smallest reuse count worth it.
    pub min_reuse: u64,
    /// Smallest avoided readback worth it.
    pub min_readback_bytes: u64,
    /// Time that planning it takes, once.
    pub planning_cost_ns: u64,
    /// Device memory that it takes.
    pub scratch_bytes: u64,
    /// Proved speedup; 10,000 is none.
    pub speedup_bps: u64,
    /// Time of one run of what it speeds up, where that was measured for it alone; otherwise the sample's.
    pub baseline_ns: Option<u64>,
    /// Selected before all others whenever it is over its thresholds.
    pub mandatory: bool,
}

impl<'a> Candidate<'a> {
    /// The candidate of a pass. An unproven one has no speedup, and [`select`] refuses it.
    pub fn of(manifest: &'a Manifest, planning_cost_ns: u64, scratch_bytes: u64) -> Candidate<'a> {
        Candidate {
            id: &manifest.id,
            min_frontier_items: manifest.min_frontier_items,
            min_reuse: manifest.min_reuse,
            min_readback_bytes: manifest.min_readback_bytes,
            planning_cost_ns,
            scratch_bytes,
            speedup_bps: if manifest.unproven {
                0
            } else {
                manifest.speedup_bps
            },
            baseline_ns: None,
            mandatory: manifest.mandatory,
        }
    }
}

/// What is at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sample {
    /// Active items.
    pub frontier_items: u64,
    /// Runs that one plan serves.
    pub reuse: u64,
    /// Readback that could be avoided.
    pub readback_bytes: u64,
    /// Time that may go into planning.
    pub planning_budget_ns: u64,
    /// Device memory that may be taken.
    pub scratch_budget_bytes: u64,
    /// Time of one run with nothing selected, where it is known.
    pub baseline_ns: Option<u64>,
}

/// In which order candidates are taken, after the mandatory ones. Ties go by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// `reuse x baseline x (1 - 1 / speedup)`, minus the planning cost; needs the baseline of every candidate.
    #[default]
    TimeSaved,
    /// `speedup x (min frontier + min reuse + min readback)`.
    Thresholds,
}

/// Why a candidate was not selected. The first that applies, in this order.
#[derive(Clone, Copy, Error, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the message says what the fields are")]
pub enum Skip {
    /// Too few active items.
    #[error("frontier has {actual} items; it pays from {needed}")]
    Frontier { actual: u64, needed: u64 },
    /// Too few runs.
    #[error("reuse is {actual}; it pays from {needed}")]
    Reuse { actual: u64, needed: u64 },
    /// Too little readback to avoid.
    #[error("{actual} readback bytes can be avoided; it pays from {needed}")]
    Readback { actual: u64, needed: u64 },
    /// Not enough planning time left.
    #[error("planning takes {needed_ns} ns; {left_ns} are left")]
    PlanningBudget { left_ns: u64, needed_ns: u64 },
    /// Not enough scratch left.
    #[error("scratch takes {needed_bytes} bytes; {left_bytes} are left")]
    ScratchBudget { left_bytes: u64, needed_bytes: u64 },
    /// It would cost more than it saves on this sample.
    #[error("planning takes {cost_ns} ns and saves {saved_ns}")]
    NoSaving { saved_ns: u128, cost_ns: u64 },
}

crate::debug_is_display!(Skip);

/// Why nothing was selected.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum PassError {
    /// A candidate without a name.
    #[error("candidate {index} has no id")]
    EmptyId {
        /// Position in the input.
        index: usize,
    },
    /// Two candidates with one name.
    #[error("candidate {index} repeats the id `{id}`")]
    DuplicateId {
        /// Position of the second.
        index: usize,
        /// The name.
        id: String,
    },
    /// A candidate that proves no speedup.
    #[error("`{id}` has no evidence: its speedup is {speedup_bps} bps; more than 10000 are needed")]
    MissingEvidence {
        /// The name.
        id: String,
        /// What it claims.
        speedup_bps: u64,
    },
    /// The mandatory candidates do not fit.
    #[error("mandatory `{id}` does not fit: {reason}")]
    Mandatory {
        /// The name.
        id: String,
        /// [`Skip::PlanningBudget`] or [`Skip::ScratchBudget`].
        reason: Skip,
    },
}

crate::debug_is_display!(PassError);

/// A candidate that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected<'a> {
    /// Position in the input.
    pub index: usize,
    /// The candidate.
    pub candidate: Candidate<'a>,
    /// What it is worth by the ranking: nanoseconds saved less planning cost, or the value of its thresholds.
    pub value: i128,
}

/// A candidate that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped<'a> {
    /// Position in the input.
    pub index: usize,
    /// Its name.
    pub id: &'a str,
    /// Why.
    pub reason: Skip,
}

/// What runs, what does not, and what that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection<'a> {
    /// In rank order.
    pub selected: Vec<Selected<'a>>,
    /// In input order.
    pub skipped: Vec<Skipped<'a>>,
    /// The ranking that was used: thresholds when a baseline is unknown.
    pub ranking: Ranking,
    /// Planning costs of the selected.
    pub planning_cost_ns: u64,
    /// Scratch of the selected.
    pub scratch_bytes: u64,
    /// Product of the selected speedups, rounded down at each step; at most [`u64::MAX`].
    pub projected_speedup_bps: u64,
}

/// Prints every candidate with its reason, then the totals.
impl fmt::Display for Selection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for s in &self.selected {
            let id = s.candidate.id;
            let mandatory = if s.candidate.mandatory {
                " (mandatory)"
            } else {
                ""
            };
            match self.ranking {
                Ranking::TimeSaved => {
                    writeln!(f, "selected `{id}`{mandatory}: saves {} ns", s.value)?;
                }
                Ranking::Thresholds => {
                    writeln!(f, "selected `{id}`{mandatory}: value {}", s.value)?;
                }
            }
        }
        for s in &self.skipped {
            writeln!(f, "skipped `{}`: {}", s.id, s.reason)?;
        }
        writeln!(
            f,
            "{} selected, {} skipped; planning {} ns, scratch {} bytes, projected speedup {}.{:04}x",
            self.selected.len(),
            self.skipped.len(),
            self.planning_cost_ns,
            self.scratch_bytes,
            self.projected_speedup_bps / 10_000,
            self.projected_speedup_bps % 10_000,
        )
    }
}

/// No speedup, in basis points.
const UNIT_BPS: u64 = 10_000;

/// Selects from the candidates what pays on the sample.
pub fn select<'a>(
    candidates: &[Candidate<'a>],
    sample: &Sample,
    ranking: Ranking,
) -> Result<Selection<'a>, PassError> {
    validate(candidates)?;
    let known = |c: &Candidate<'_>| c.baseline_ns.or(sample.baseline_ns).is_some();
    let ranking = match candidates.iter().all(known) {
        false => Ranking::Thresholds,
        true => ranking,
    };
    let mut selection = Selection {
        selected: Vec::new(),
        skipped: Vec::new(),
        ranking,
        planning_cost_ns: 0,
        scratch_bytes: 0,
        projected_speedup_bps: UNIT_BPS,
    };
    let mut ranked = Vec::new();
    for (index, &candidate) in candidates.iter().enumerate() {
        let (value, saving) = worth(&candidate, sample, ranking);
        match below_threshold(&candidate, sample, saving) {
            Some(reason) => selection.skipped.push(Skipped {
                index,
                id: candidate.id,
                reason,
            }),
            None => ranked.push(Selected {
                index,
                candidate,
                value,
            }),
        }
    }
    ranked.sort_by_key(|s| (!s.candidate.mandatory, Reverse(s.value), s.candidate.id));
    for next in ranked {
        let candidate = next.candidate;
        let left_ns = sample.planning_budget_ns - selection.planning_cost_ns;
        let left_bytes = sample.scratch_budget_bytes - selection.scratch_bytes;
        match over_budget(&candidate, left_ns, left_bytes) {
            None => {
                selection.planning_cost_ns += candidate.planning_cost_ns;
                selection.scratch_bytes += candidate.scratch_bytes;
                selection.projected_speedup_bps =
                    scaled(selection.projected_speedup_bps, candidate.speedup_bps);
                selection.selected.push(next);
            }
            Some(reason) if candidate.mandatory => {
                let id = candidate.id.to_owned();
                return Err(PassError::Mandatory { id, reason });
            }
            Some(reason) => selection.skipped.push(Skipped {
                index: next.index,
                id: candidate.id,
                reason,
            }),
        }
    }
    selection.skipped.sort_by_key(|s| s.index);
    Ok(selection)
}

fn validate(candidates: &[Candidate<'_>]) -> Result<(), PassError> {
    let mut seen = HashSet::new();
    for (index, c) in candidates.iter().enumerate() {
        let id = || c.id.to_owned();
        if c.id.is_empty() {
            return Err(PassError::EmptyId { index });
        }
        if !seen.insert(c.id) {
            return Err(PassError::DuplicateId { index, id: id() });
        }
        if c.speedup_bps <= UNIT_BPS {
            return Err(PassError::MissingEvidence {
                id: id(),
                speedup_bps: c.speedup_bps,
            });
        }
    }
    Ok(())
}

/// What as many runs of this time save that become so much faster: `reuse x baseline x (1 - 1 / speedup)`, and nothing
/// where they do not.
pub fn saved_ns(baseline_ns: u64, reuse: u64, speedup_bps: u64) -> u128 {
    let total = u128::from(baseline_ns) * u128::from(reuse);
    let speedup = u128::from(speedup_bps.max(UNIT_BPS));
    let (whole, rest) = (total / speedup, total % speedup);
    let gain = speedup - u128::from(UNIT_BPS);
    // total x gain / speedup, without a product over 128 bits.
    whole * gain + rest * gain / speedup
}

/// The value by the ranking, and what it saves against its cost where that is known.
fn worth(c: &Candidate<'_>, sample: &Sample, ranking: Ranking) -> (i128, Option<u128>) {
    let most = |value: u128| i128::try_from(value).unwrap_or(i128::MAX);
    match (ranking, c.baseline_ns.or(sample.baseline_ns)) {
        (Ranking::TimeSaved, Some(baseline_ns)) => {
            let saved_ns = saved_ns(baseline_ns, sample.reuse, c.speedup_bps);
            let value = most(saved_ns) - i128::from(c.planning_cost_ns);
            (value, Some(saved_ns))
        }
        _ => {
            let thresholds = [c.min_frontier_items, c.min_reuse, c.min_readback_bytes];
            let sum: u128 = thresholds.into_iter().map(u128::from).sum();
            (most(sum.saturating_mul(c.speedup_bps.into())), None)
        }
    }
}

fn below_threshold(c: &Candidate<'_>, sample: &Sample, saved_ns: Option<u128>) -> Option<Skip> {
    if sample.frontier_items < c.min_frontier_items {
        return Some(Skip::Frontier {
            actual: sample.frontier_items,
            needed: c.min_frontier_items,
        });
    }
    if sample.reuse < c.min_reuse {
        return Some(Skip::Reuse {
            actual: sample.reuse,
            needed: c.min_reuse,
        });
    }
    if sample.readback_bytes < c.min_readback_bytes {
        return Some(Skip::Readback {
            actual: sample.readback_bytes,
            needed: c.min_readback_bytes,
        });
    }
    if c.mandatory {
        return None; // Its budgets are an error, not a reason to skip it.
    }
    let whole_budget = over_budget(c, sample.planning_budget_ns, sample.scratch_budget_bytes);
    whole_budget.or_else(|| {
        saved_ns
            .filter(|&saved| saved <= u128::from(c.planning_cost_ns))
            .map(|saved_ns| Skip::NoSaving {
                saved_ns,
                cost_ns: c.planning_cost_ns,
            })
    })
}

fn over_budget(c: &Candidate<'_>, left_ns: u64, left_bytes: u64) -> Option<Skip> {
    if c.planning_cost_ns > left_ns {
        Some(Skip::PlanningBudget {
            left_ns,
            needed_ns: c.planning_cost_ns,
        })
    } else if c.scratch_bytes > left_bytes {
        Some(Skip::ScratchBudget {
            left_bytes,
            needed_bytes: c.scratch_bytes,
        })
    } else {
        None
    }
}

fn scaled(all_bps: u64, speedup_bps: u64) -> u64 {
    let product = u128::from(all_bps) * u128::from(speedup_bps) / u128::from(UNIT_BPS);
    u64::try_from(product).unwrap_or(u64::MAX)
}
