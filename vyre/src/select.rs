//! What of all that a session may do beside running its pass as it is written it does in the next launch.
//!
//! [`plan::passes`](vyre_core::plan::passes) selects, from what was measured on the device
//! ([`plan::gains`](vyre_core::plan::gains)) and from what the session has seen in its last launch. Nothing is selected
//! from what was not measured, nor before a session has seen a run: then all is done as if there were no selection.
//!
//! A skip switches off only what this session has done, and what the figures say to be slower on what it sees. What is
//! skipped for want of time or memory stays as it is.

use std::fmt::{self, Write as _};
use std::time::Duration;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::gains::{BuiltIn, Figure, Gain, Gains, UNIT_BPS};
use vyre_core::plan::passes::{Candidate, Ranking, Sample, Skip, saved_ns, select};
use vyre_core::run::outcome::Report;

/// What was decided of a candidate before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Considered {
    /// What it is about.
    pub candidate: BuiltIn,
    /// What the planner says of it.
    pub verdict: Verdict,
    /// Whether the session does it.
    pub is_done: bool,
}

/// What the planner says of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It pays.
    Selected {
        /// What it is expected to save in as many runs as there were, less what it costs; `None` where no time is
        /// known. Runs in which it was to be done and had nothing to do do not count. At most [`u64::MAX`].
        saves_ns: Option<i128>,
    },
    /// It pays by its figures, and had nothing to do in any run so far: it has saved nothing.
    Unused,
    /// It was measured, and is no faster.
    NoFaster {
        /// How fast it is.
        speedup_bps: u64,
    },
    /// It does not pay on what the session sees.
    Skipped(Skip),
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.candidate)?;
        match self.verdict {
            Verdict::Selected { saves_ns: None } => Ok(()),
            Verdict::Selected {
                saves_ns: Some(saves_ns),
            } => write!(f, ": saves {saves_ns} ns"),
            Verdict::Unused => write!(f, ": {}", unused(self.candidate)),
            Verdict::NoFaster { speedup_bps } => {
                let (whole, rest) = (speedup_bps / UNIT_BPS, speedup_bps % UNIT_BPS);
                write!(f, ": it is no faster, {whole}.{rest:04}x")
            }
            Verdict::Skipped(reason) => write!(f, ": {reason}"),
        }?;
        match (self.verdict, self.is_done) {
            (Verdict::Selected { .. } | Verdict::Unused, false) => write!(f, "; not to be had now"),
            (Verdict::Selected { .. } | Verdict::Unused, true) | (_, false) => Ok(()),
            (_, true) => write!(f, "; done as before"),
        }
    }
}

/// What no run has seen of a candidate that is to be done.
fn unused(candidate: BuiltIn) -> &'static str {
    match candidate {
        BuiltIn::Lists => "nothing was packed yet",
        BuiltIn::Plan => "it was not used yet",
        BuiltIn::Pulling => "no round has pulled yet",
        BuiltIn::Jit => "no run was of compiled code yet",
        BuiltIn::Fusion => "no run was one launch yet",
    }
}

/// The lines of what was considered, below a decision.
pub(crate) fn lines(considered: &[Considered]) -> String {
    let mut text = String::new();
    for selected in [true, false] {
        let mut label = if selected { "selected" } else { "skipped" };
        let pays = |v| matches!(v, Verdict::Selected { .. } | Verdict::Unused);
        let is = |c: &&Considered| pays(c.verdict) == selected;
        for one in considered.iter().filter(is) {
            let _infallible = write!(text, "\n  {label:<10}{one}");
            label = "";
        }
    }
    text
}

/// What of these was not measured, as a line.
pub(crate) fn unmeasured(offered: Set, gains: &Gains) -> String {
    let ids = BuiltIn::ALL.into_iter();
    let ids = ids.filter(|&c| offered.has(c) && gains.of(c) == Figure::Unmeasured);
    let ids: Vec<&str> = ids.map(BuiltIn::id).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!("gains     unmeasured: {}\n", ids.join(", ")),
    }
}

/// Some candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(u8);

impl Set {
    pub(crate) fn or(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub(crate) fn has(self, candidate: BuiltIn) -> bool {
        self.0 & (1 << candidate as u8) != 0
    }

    pub(crate) fn set(&mut self, candidate: BuiltIn, is_in: bool) {
        let bit = 1 << candidate as u8;
        self.0 = if is_in { self.0 | bit } else { self.0 & !bit };
    }
}

/// A candidate that the backend can do for the pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) candidate: BuiltIn,
    /// Memory that it takes beside what the session's plan has.
    pub(crate) scratch_bytes: u64,
    /// How often it was used, and how long that takes without it, where that is no matter of runs.
    pub(crate) used: Option<(u64, u64)>,
}

impl Offer {
    /// One that each run uses, in memory that the plan has.
    pub(crate) fn new(candidate: BuiltIn) -> Offer {
        Offer {
            candidate,
            scratch_bytes: 0,
            used: None,
        }
    }
}

/// What a launch showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    /// The widest frontier; `None` where none was counted.
    pub(crate) widest: Option<u64>,
    /// What results have room for beyond what was found: it need not come back.
    pub(crate) avoided_bytes: u64,
    /// How long it took.
    pub(crate) took: Duration,
    /// Of a series or a batch.
    pub(crate) runs: u64,
    /// It was of compiled code.
    pub(crate) compiled: bool,
    /// Some sweep pulled; `None` where that is not counted.
    pub(crate) pulled: Option<bool>,
    /// Small results came back packed.
    pub(crate) packed: bool,
}

impl Ran {
    /// What runs took together that left these reports.
    pub(crate) fn of<'r>(reports: impl Iterator<Item = &'r Report>, took: Duration) -> Ran {
        let mut ran = Ran {
            widest: None,
            avoided_bytes: 0,
            took,
            runs: 0,
            compiled: false,
            pulled: None,
            packed: false,
        };
        for report in reports {
            let seen = report.activity.filter(|a| a.sweeps > 0);
            let found_bytes = report.readback.packed_bytes + report.readback.direct_bytes;
            ran.widest = ran.widest.max(seen.map(|a| a.widest));
            ran.avoided_bytes += report.readback.full_bytes.saturating_sub(found_bytes);
            ran.runs += 1;
            ran.compiled |= report.route == "compiled";
            ran.pulled = ran.pulled.max(report.activity.map(|a| a.pulled > 0));
            ran.packed |= report.readback.packed > 0;
        }
        ran
    }

    /// Whether a candidate that was to be done had something to do.
    fn used(&self, candidate: BuiltIn) -> bool {
        match candidate {
            BuiltIn::Lists => self.packed,
            BuiltIn::Pulling => self.pulled != Some(false),
            BuiltIn::Jit => self.compiled,
            BuiltIn::Plan | BuiltIn::Fusion => true,
        }
    }
}

/// What was seen last, of one run.
#[derive(Clone, Copy, Debug)]
struct Last {
    widest: Option<u64>,
    avoided_bytes: u64,
    run_ns: u64,
    /// What was done beside it.
    done: Set,
    /// What of that had something to do.
    used: Set,
}

/// What a session does, and what it has seen.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    last: Option<Last>,
    runs: u64,
    /// What all of them took.
    spent_ns: u64,
    /// What the backend can do.
    offered: Set,
    /// What is not done.
    off: Set,
    /// What was done in some run.
    tried: Set,
    /// What of that had something to do in some run.
    used: Set,
    /// By candidate, the runs in which it was to be done and had nothing to do.
    idle: [u64; BuiltIn::ALL.len()],
    considered: Vec<Considered>,
}

impl Selector {
    /// Whether something is done, if it can be.
    pub(crate) fn does(&self, candidate: BuiltIn) -> bool {
        !self.off.has(candidate)
    }

    /// What was decided for the next launch.
    pub(crate) fn considered(&self) -> &[Considered] {
        &self.considered
    }

    pub(crate) fn offered(&self) -> Set {
        self.offered
    }

    /// Decides what is done in the next launch. `items`: those of a sweep where frontiers tell of none. `left_bytes`:
    /// memory that may be taken.
    pub(crate) fn weigh(
        &mut self,
        gains: &Gains,
        offers: &[Offer],
        (items, left_bytes): (u64, u64),
    ) -> Result<(), RunError> {
        self.considered.clear();
        self.offered = Set::default();
        let (mut by_runs, mut by_uses) = (Vec::new(), Vec::new());
        for offer in offers {
            let candidate = offer.candidate;
            self.offered.set(candidate, true);
            let figure = match (gains.of(candidate), self.last) {
                (Figure::Of(gain), Some(_)) => gain,
                // Nothing says that it is slower.
                (Figure::Unmeasured, _) | (_, None) => {
                    self.off.set(candidate, false);
                    continue;
                }
            };
            match figure.speedup_bps > UNIT_BPS {
                true if offer.used.is_some() => by_uses.push((*offer, figure)),
                true => by_runs.push((*offer, figure)),
                false => self.skip(
                    candidate,
                    Verdict::NoFaster {
                        speedup_bps: figure.speedup_bps,
                    },
                    true,
                ),
            }
        }
        let Some(last) = self.last else {
            return Ok(());
        };
        let baseline_ns = alone_ns(&last, gains);
        let sample = Sample {
            frontier_items: last.widest.unwrap_or(items),
            reuse: self.runs,
            readback_bytes: last.avoided_bytes,
            planning_budget_ns: self.spent_ns,
            scratch_budget_bytes: left_bytes,
            // A clock that stands still says nothing.
            baseline_ns: (baseline_ns > 0).then_some(baseline_ns),
        };
        self.select(&by_runs, &last, &sample)?;
        for (offer, gain) in by_uses {
            let (reuse, ns) = offer.used.unwrap_or_default();
            let sample = Sample {
                reuse,
                baseline_ns: (ns > 0).then_some(ns),
                ..sample
            };
            self.select(&[(offer, gain)], &last, &sample)?;
        }
        self.considered.sort_by_key(|c| c.candidate);
        Ok(())
    }

    fn select(
        &mut self,
        offers: &[(Offer, Gain)],
        last: &Last,
        sample: &Sample,
    ) -> Result<(), RunError> {
        let candidates = offers.iter().map(|(offer, gain)| {
            // What was spent is not spent again.
            let is_there = last.done.has(offer.candidate);
            Candidate {
                id: offer.candidate.id(),
                min_frontier_items: gain.min_frontier_items,
                min_reuse: gain.min_reuse,
                min_readback_bytes: gain.min_readback_bytes,
                planning_cost_ns: if is_there { 0 } else { gain.cost_ns },
                scratch_bytes: offer.scratch_bytes,
                speedup_bps: gain.speedup_bps,
                baseline_ns: None,
                mandatory: false,
            }
        });
        let candidates: Vec<Candidate<'_>> = candidates.collect();
        let selection = select(&candidates, sample, Ranking::default());
        let selection = selection.map_err(|e| RunError::Backend(e.to_string()))?;
        let saves = selection.ranking == Ranking::TimeSaved;
        for selected in &selection.selected {
            let (offer, gain) = &offers[selected.index];
            let candidate = offer.candidate;
            self.off.set(candidate, false);
            let idle = self.idle[candidate as usize];
            let is_unused = idle > 0 && !self.used.has(candidate);
            let saves_ns = |baseline_ns| {
                let reuse = sample.reuse.saturating_sub(idle);
                let saved = saved_ns(baseline_ns, reuse, gain.speedup_bps);
                let saved = saved.min(u128::from(u64::MAX)) as i128;
                saved - i128::from(selected.candidate.planning_cost_ns)
            };
            self.considered.push(Considered {
                candidate,
                verdict: match is_unused {
                    true => Verdict::Unused,
                    false => Verdict::Selected {
                        saves_ns: sample.baseline_ns.filter(|_| saves).map(saves_ns),
                    },
                },
                is_done: true,
            });
        }
        for skipped in &selection.skipped {
            let slower = match skipped.reason {
                Skip::Frontier { .. }
                | Skip::Reuse { .. }
                | Skip::Readback { .. }
                | Skip::NoSaving { .. } => true,
                Skip::PlanningBudget { .. } | Skip::ScratchBudget { .. } => false,
            };
            let candidate = offers[skipped.index].0.candidate;
            self.skip(candidate, Verdict::Skipped(skipped.reason), slower);
        }
        Ok(())
    }

    /// What is not selected is switched off where it was done, and is slower; otherwise it stays as it is.
    fn skip(&mut self, candidate: BuiltIn, verdict: Verdict, slower: bool) {
        if slower && self.tried.has(candidate) {
            self.off.set(candidate, true);
        }
        self.considered.push(Considered {
            candidate,
            verdict,
            is_done: self.does(candidate),
        });
    }

    /// What is so whatever was decided: it cannot be changed now.
    pub(crate) fn found(&mut self, candidate: BuiltIn, is_done: bool) {
        self.off.set(candidate, !is_done);
        let considered = self.considered.iter_mut();
        for one in considered.filter(|c| c.candidate == candidate) {
            one.is_done = is_done;
        }
    }

    /// A launch came to its end.
    pub(crate) fn ran(&mut self, ran: Ran) {
        let ns = u64::try_from(ran.took.as_nanos()).unwrap_or(u64::MAX);
        let (mut done, mut used) = (Set::default(), Set::default());
        for candidate in BuiltIn::ALL {
            let asked = self.offered.has(candidate) && self.does(candidate);
            if !asked {
                continue;
            }
            let is_done = candidate != BuiltIn::Jit || ran.compiled;
            done.set(candidate, is_done);
            used.set(candidate, ran.used(candidate));
            if !ran.used(candidate) {
                let idle = &mut self.idle[candidate as usize];
                *idle = idle.saturating_add(ran.runs);
            }
        }
        self.tried = self.tried.or(done);
        self.used = self.used.or(used);
        self.runs = self.runs.saturating_add(ran.runs);
        self.spent_ns = self.spent_ns.saturating_add(ns);
        self.last = Some(Last {
            widest: ran.widest,
            avoided_bytes: ran.avoided_bytes,
            run_ns: ns / ran.runs.max(1),
            done,
            used,
        });
    }

    /// What was seen says nothing about what comes.
    pub(crate) fn forget(&mut self) {
        *self = Selector {
            offered: self.offered,
            ..Selector::default()
        };
    }
}

/// What the last run would have taken with nothing beside it.
fn alone_ns(last: &Last, gains: &Gains) -> u64 {
    let used = BuiltIn::ALL.into_iter().filter(|&c| last.used.has(c));
    let ns = used.fold(u128::from(last.run_ns), |ns, candidate| {
        match gains.of(candidate) {
            // A plan is no part of a run.
            Figure::Of(gain) if gain.speedup_bps > UNIT_BPS && candidate != BuiltIn::Plan => {
                ns.saturating_mul(gain.speedup_bps.into()) / u128::from(UNIT_BPS)
            }
            _ => ns,
        }
    });
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn gains(text: &str) -> Gains {
        let read = vyre_core::plan::thresholds::Thresholds::read(text);
        read.expect("thresholds").gains
    }

    fn ran(widest: u64, ms: u64) -> Ran {
        Ran {
            widest: Some(widest),
            avoided_bytes: 100,
            took: Duration::from_millis(ms),
            runs: 1,
            compiled: false,
            pulled: Some(true),
            packed: true,
        }
    }

    fn weigh(selector: &mut Selector, gains: &Gains) -> Vec<String> {
        let offers = [BuiltIn::Lists, BuiltIn::Pulling, BuiltIn::Jit].map(Offer::new);
        selector.weigh(gains, &offers, (7, 1_000)).expect("decides");
        selector
            .considered()
            .iter()
            .map(|c| c.to_string())
            .collect()
    }

    #[test]
    fn what_was_not_measured_or_not_seen_is_done_and_not_considered() {
        let mut selector = Selector::default();
        let none = Gains::default();
        let pulling = gains("gain.pulling = 20000 bps, from 50 items");
        assert_eq!(weigh(&mut selector, &pulling), [""; 0]);
        selector.ran(ran(10, 1));
        assert_eq!(weigh(&mut selector, &none), [""; 0]);
        assert_eq!(
            unmeasured(selector.offered(), &pulling),
            "gains     unmeasured: vyre.lists, vyre.jit\n"
        );
        let why = "vyre.pulling: frontier has 10 items; it pays from 50";
        assert_eq!(weigh(&mut selector, &pulling), [why]);
        assert!(!selector.does(BuiltIn::Pulling) && selector.does(BuiltIn::Lists));
        // Of another topology nothing was seen.
        selector.forget();
        assert_eq!(weigh(&mut selector, &pulling), [""; 0]);
        assert!(selector.does(BuiltIn::Pulling));
    }

    #[test]
    fn a_skip_switches_off_what_was_tried_alone() {
        let mut selector = Selector::default();
        let slow = gains("gain.jit = 9_000 bps\ngain.lists = 12000 bps, from 101 bytes");
        weigh(&mut selector, &slow);
        selector.ran(ran(10, 1));
        // No run was of compiled code.
        let jit = "vyre.jit: it is no faster, 0.9000x";
        let lists = "vyre.lists: 100 readback bytes can be avoided; it pays from 101";
        let untried = format!("{jit}; done as before");
        assert_eq!(weigh(&mut selector, &slow), [lists, &untried]);
        selector.ran(Ran {
            compiled: true,
            ..ran(10, 1)
        });
        assert_eq!(weigh(&mut selector, &slow), [lists, jit]);
        assert!(!selector.does(BuiltIn::Jit));
        // Without its figure it is as it was.
        weigh(&mut selector, &Gains::default());
        assert!(selector.does(BuiltIn::Jit) && selector.does(BuiltIn::Lists));
    }

    #[test]
    fn what_is_saved_is_of_runs_with_nothing_beside_them() {
        let mut selector = Selector::default();
        let both = gains("gain.lists = 20000 bps, once 9 ns\ngain.pulling = 40000 bps");
        weigh(&mut selector, &both);
        selector.ran(ran(10, 1));
        // One run of 8 ms, of which half, and three fourths: what they cost was spent in the first run.
        let saved = [
            "vyre.lists: saves 4000000 ns",
            "vyre.pulling: saves 6000000 ns",
        ];
        assert_eq!(weigh(&mut selector, &both), saved);
        selector.ran(ran(10, 1));
        let saved = [
            "vyre.lists: saves 8000000 ns",
            "vyre.pulling: saves 12000000 ns",
        ];
        assert_eq!(weigh(&mut selector, &both), saved);
        // A clock that stands still says nothing of what is saved.
        let mut still = Selector::default();
        weigh(&mut still, &both);
        still.ran(ran(10, 0));
        assert_eq!(weigh(&mut still, &both), ["vyre.lists", "vyre.pulling"]);
    }

    #[test]
    fn runs_without_use_for_a_candidate_save_nothing_by_it() {
        let mut selector = Selector::default();
        let all = gains("gain.lists = 20000 bps\ngain.pulling = 40000 bps\ngain.jit = 20000 bps");
        weigh(&mut selector, &all);
        let idle = Ran {
            pulled: Some(false),
            packed: false,
            ..ran(10, 1)
        };
        selector.ran(idle);
        let unused = [
            "vyre.lists: nothing was packed yet",
            "vyre.pulling: no round has pulled yet",
            "vyre.jit: no run was of compiled code yet",
        ];
        assert_eq!(weigh(&mut selector, &all), unused);
        let listed = lines(selector.considered());
        assert!(listed.starts_with("\n  selected  vyre.lists: "), "{listed}");
        assert!(!listed.contains("skipped"), "{listed}");
        // One of two runs pulled, which takes 4 ms without.
        selector.ran(Ran {
            pulled: Some(true),
            ..idle
        });
        let saved = [unused[0], "vyre.pulling: saves 3000000 ns", unused[2]];
        assert_eq!(weigh(&mut selector, &all), saved);
        // Without anything that was used, a run is as long as it took.
        selector.ran(Ran {
            compiled: true,
            ..idle
        });
        let saved = [
            unused[0],
            "vyre.pulling: saves 1500000 ns",
            "vyre.jit: saves 1000000 ns",
        ];
        assert_eq!(weigh(&mut selector, &all), saved);
        // What does not count its sweeps may have pulled.
        let mut unknown = Selector::default();
        weigh(&mut unknown, &all);
        unknown.ran(Ran {
            pulled: None,
            ..idle
        });
        assert_eq!(
            weigh(&mut unknown, &all)[1],
            "vyre.pulling: saves 3000000 ns"
        );
    }

    #[test]
    fn what_is_saved_has_an_upper_end() {
        let most = u64::MAX;
        let gains = gains(&format!(
            "gain.lists = {most} bps\ngain.pulling = {most} bps"
        ));
        let mut selector = Selector::default();
        for _ in 0..3 {
            weigh(&mut selector, &gains);
            selector.ran(ran(10, u64::MAX));
        }
        let saved = format!("saves {most} ns");
        let all = weigh(&mut selector, &gains);
        assert!(all[..2].iter().all(|one| one.ends_with(&saved)), "{all:?}");
    }

    #[test]
    fn what_was_switched_off_comes_back_once_it_pays_and_there_is_time() {
        let mut selector = Selector::default();
        let text = format!(
            "gain.pulling = 20000 bps, once {} ns, from 50 items",
            5 * MS
        );
        let gains = gains(&text);
        weigh(&mut selector, &gains);
        selector.ran(ran(10, 2));
        weigh(&mut selector, &gains);
        assert!(!selector.does(BuiltIn::Pulling));
        selector.ran(ran(60, 2));
        let short = "vyre.pulling: planning takes 5000000 ns; 4000000 are left";
        assert_eq!(weigh(&mut selector, &gains), [short]);
        assert!(!selector.does(BuiltIn::Pulling));
        selector.ran(ran(60, 2));
        let little = "vyre.pulling: planning takes 5000000 ns and saves 3000000";
        assert_eq!(weigh(&mut selector, &gains), [little]);
        for _ in 0..3 {
            selector.ran(ran(60, 2));
        }
        assert_eq!(
            weigh(&mut selector, &gains),
            ["vyre.pulling: saves 1000000 ns"]
        );
        assert!(selector.does(BuiltIn::Pulling));
    }

    #[test]
    fn memory_that_is_short_is_no_reason_to_switch_off() {
        let mut selector = Selector::default();
        let gains = gains("gain.lists = 20000 bps");
        let lists = Offer {
            scratch_bytes: 1_001,
            ..Offer::new(BuiltIn::Lists)
        };
        selector
            .weigh(&gains, &[lists], (7, 1_000))
            .expect("decides");
        selector.ran(ran(10, 2));
        selector
            .weigh(&gains, &[lists], (7, 1_000))
            .expect("decides");
        let said = lines(selector.considered());
        let short = "scratch takes 1001 bytes; 1000 are left; done as before";
        assert_eq!(said, format!("\n  skipped   vyre.lists: {short}"));
        assert!(selector.does(BuiltIn::Lists));
    }

    #[test]
    fn what_is_no_matter_of_runs_has_a_sample_of_its_own() {
        let mut selector = Selector::default();
        let gains = gains("gain.plan = 20000 bps, from 2 uses");
        let plan = |uses| Offer {
            used: Some((uses, 500)),
            ..Offer::new(BuiltIn::Plan)
        };
        let mut said = |uses| {
            selector
                .weigh(&gains, &[plan(uses)], (7, 0))
                .expect("decides");
            selector.ran(ran(10, 2));
            lines(selector.considered())
        };
        said(1);
        assert_eq!(
            said(1),
            "\n  skipped   vyre.plan: reuse is 1; it pays from 2"
        );
        assert_eq!(said(2), "\n  selected  vyre.plan: saves 500 ns");
    }
}
