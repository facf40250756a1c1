//! Fits a program into a budget: where the fullest barrier group takes too much, it is split.
//!
//! This drives [`super::footprint`] and [`super::memory`]. What fits with an allocation for each resource is left
//! alone. What fits only when resources that never live at once share memory says so ([`Allocation::Shared`]). What
//! does not fit even then is split: the waves of a group outside every fixpoint need not run together, so more barriers
//! let scratch that only one of them uses come and go. Inside a fixpoint that gains nothing, because what a round uses
//! lives through all rounds.
//!
//! Groups of up to [`EXACT_WAVES`] waves are split by trying every order of every partition, fewest groups first;
//! larger ones by [`super::memory::plan`], which packs by size.
//!
//! ```
//! use vyre_core::vir0::scalar::Scalar;
//! use vyre_core::vir0::sizes::Sizes;
//! use vyre_core::vir0::module::*;
//! use vyre_core::plan::fit::fit;
//! // Two waves, each with scratch of its own.
//! let scratch = |name: &str| Buffer {
//!     name: name.into(), scalar: Scalar::U32, extent: Extent::Fixed(100), role: Role::Scratch, init: None, reset: None,
//! };
//! let wave = |name: &str, b| Wave {
//!     name: name.into(), kernel: KernelId(0), domain: Domain::Once, fixpoint: None, after: vec![],
//!     accesses: vec![Access { resource: Resource::Buffer(BufferId(b)), mode: Mode::Write }],
//! };
//! let program = Program {
//!     buffers: vec![scratch("left"), scratch("right")],
//!     waves: vec![wave("a", 0), wave("b", 1)],
//!     schedule: vec![Step::Wave(WaveId(0)), Step::Wave(WaveId(1)), Step::End],
//!     ..Program::default()
//! };
//! assert_eq!(fit(&program, &Sizes::default(), 800).unwrap().splits, []);
//! let split = fit(&program, &Sizes::default(), 400).unwrap();
//! assert_eq!(split.schedule[1], Step::Barrier);
//! let error = fit(&program, &Sizes::default(), 399).unwrap_err();
//! assert_eq!(error.to_string(), "barrier group 0 (wave `a` alone) needs 400 bytes; budget is 399");
//! ```

use super::NodeId;
use super::barrier::levels;
use super::footprint::{Allocation, Footprint, FootprintError, Target, footprint_on};
use super::lives::{self, Life};
use super::memory::{self, Scratch, WaveBytes};
use crate::vir0::module::{BufferId, Program, Resource, Step, WaveId};
use crate::vir0::sizes::Sizes;
use std::collections::BTreeMap;
use std::fmt::Write;
use thiserror::Error;

/// Groups of at most this many waves are split by trying everything.
pub const EXACT_WAVES: usize = 6;

/// So often less may live at once, until it has places under the budget.
const MOST_TRIES: usize = 16;

/// How a program fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// With the barriers that the splits need.
    pub schedule: Vec<Step>,
    /// Of that schedule.
    pub footprint: Footprint,
    /// How memory has to be handed out.
    pub allocation: Allocation,
    /// Groups that were split.
    pub splits: Vec<Split>,
}

/// A group that did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Which, in the schedule as it was.
    pub group: usize,
    /// What it took.
    pub needed_bytes: u64,
    /// What became of it.
    pub into: Vec<Vec<WaveId>>,
}

/// Why a program does not fit.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum FitError {
    /// A size overflows, or is not known.
    #[error(transparent)]
    Footprint(#[from] FootprintError),
    /// What is there during the whole run is too much.
    #[error("topologies, inputs and outputs need {needed_bytes} bytes; budget is {budget_bytes}")]
    Resident {
        /// What they take.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
    /// A group takes too much, and splitting it further does not help.
    #[error(
        "barrier group {group} ({}) needs {needed_bytes} bytes; budget is {budget_bytes}",
        named(names)
    )]
    Group {
        /// Which.
        group: usize,
        /// Its waves; one when it is too much alone.
        waves: Vec<WaveId>,
        /// Their names.
        names: Vec<String>,
        /// The least that it can take.
        needed_bytes: u64,
        /// Allowed.
        budget_bytes: u64,
    },
}

crate::debug_is_display!(FitError);

impl FitError {
    /// The least that it can take; `None` where that overflows.
    pub fn needed_bytes(&self) -> Option<u64> {
        match self {
            FitError::Footprint(FootprintError::Overflow { .. }) => None,
            FitError::Footprint(
                FootprintError::Group { needed_bytes, .. }
                | FootprintError::Run { needed_bytes, .. },
            )
            | FitError::Resident { needed_bytes, .. }
            | FitError::Group { needed_bytes, .. } => Some(*needed_bytes),
        }
    }
}

fn named(names: &[String]) -> String {
    match names {
        [only] => format!("wave `{only}` alone"),
        _ => {
            let mut text = String::from("waves");
            for (i, name) in names.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                let _ = write!(text, "{comma} `{name}`");
            }
            text
        }
    }
}

/// A schedule and an allocation under the budget, on the native executor.
pub fn fit(program: &Program, sizes: &Sizes, budget_bytes: u64) -> Result<Fit, FitError> {
    fit_on(program, sizes, (budget_bytes, Target::Native))
}

/// A schedule and an allocation under the budget.
pub fn fit_on(
    program: &Program,
    sizes: &Sizes,
    (budget_bytes, target): (u64, Target<'_>),
) -> Result<Fit, FitError> {
    let allocated = |footprint: &Footprint| match footprint.fit(budget_bytes, Allocation::Separate)
    {
        Ok(()) => Ok(Allocation::Separate),
        Err(_) => footprint
            .fit(budget_bytes, Allocation::Shared)
            .map(|()| Allocation::Shared),
    };
    let mut fitted = fit_lives(program, sizes, (budget_bytes, target))?;
    let mut tries = 0;
    loop {
        match allocated(&fitted.footprint) {
            Ok(allocation) => {
                return Ok(Fit {
                    allocation,
                    ..fitted
                });
            }
            // What lives at once fits, but not in places that stay: less may live at once.
            Err(gaps) => {
                let less = fitted.footprint.peak_bytes.saturating_sub(1);
                let split = fit_lives(program, sizes, (less, target)).ok();
                tries += 1;
                let split = split.filter(|_| tries <= MOST_TRIES);
                fitted = split.ok_or(FitError::Footprint(gaps))?;
            }
        }
    }
}

/// A schedule of which no group's lives take more than the budget.
fn fit_lives(
    program: &Program,
    sizes: &Sizes,
    (budget_bytes, target): (u64, Target<'_>),
) -> Result<Fit, FitError> {
    let takes = footprint_on(program, sizes, target)?;
    let done = |footprint: Footprint, schedule: &[Step], splits: Vec<Split>| Fit {
        allocation: Allocation::Shared,
        schedule: schedule.to_vec(),
        footprint,
        splits,
    };
    if takes.peak_bytes <= budget_bytes {
        return Ok(done(takes, &program.schedule, Vec::new()));
    }
    if takes.resident_bytes > budget_bytes {
        return Err(FitError::Resident {
            needed_bytes: takes.resident_bytes,
            budget_bytes,
        });
    }
    let mut splits = Vec::new();
    for (group, members) in takes.groups.iter().enumerate() {
        if members.live_bytes > budget_bytes {
            splits.push(split(program, &takes, group, (budget_bytes, target))?);
        }
    }
    let mut fitted = program.clone();
    for split in &splits {
        let old = &takes.groups[split.group].waves;
        let at = fitted
            .schedule
            .iter()
            .position(|s| *s == Step::Wave(old[0]));
        let at = at.expect("a group's waves are steps of the schedule");
        let steps = split.into.iter().enumerate().flat_map(|(i, waves)| {
            let barrier = (i > 0).then_some(Step::Barrier);
            barrier
                .into_iter()
                .chain(waves.iter().map(|&w| Step::Wave(w)))
        });
        let steps: Vec<Step> = steps.collect();
        fitted.schedule.splice(at..at + old.len(), steps);
    }
    let footprint = footprint_on(&fitted, sizes, target)?;
    debug_assert!(footprint.peak_bytes <= budget_bytes, "splits were checked");
    Ok(done(footprint, &fitted.schedule, splits))
}

/// A resource that comes or goes with a group.
struct Temporary {
    bytes: u64,
    /// Waves of the group that use it, one bit each (the first 64).
    users: u64,
    before: bool,
    after: bool,
}

fn split(
    program: &Program,
    takes: &Footprint,
    group: usize,
    (budget_bytes, target): (u64, Target<'_>),
) -> Result<Split, FitError> {
    let waves = &takes.groups[group].waves;
    let too_large = |waves: &[WaveId], needed_bytes| FitError::Group {
        group,
        waves: waves.to_vec(),
        names: waves
            .iter()
            .map(|w| program.waves[w.index()].name.clone())
            .collect(),
        needed_bytes,
        budget_bytes,
    };
    let needed_bytes = takes.groups[group].live_bytes;
    let in_fixpoint = |w: &WaveId| program.waves[w.index()].fixpoint.is_some();
    if waves.len() < 2 || waves.iter().any(in_fixpoint) {
        return Err(too_large(waves, needed_bytes));
    }
    let at = group as u32;
    let mut held = takes.resident_bytes;
    let mut temporaries = Vec::new();
    let mut own = vec![0u64; waves.len()];
    let users = users(program, waves, target);
    for item in &takes.items {
        let Life::Groups { first, last } = item.life else {
            continue;
        };
        if at < first || last < at {
            continue;
        }
        let users = users(item.resource);
        let (before, after) = (first < at, at < last);
        if before && after || users.is_empty() {
            held += item.bytes;
            continue;
        }
        if let ([only], false, false) = (&users[..], before, after) {
            own[*only] += item.bytes;
        }
        temporaries.push(Temporary {
            bytes: item.bytes,
            users: users
                .iter()
                .filter(|&&w| w < 64)
                .fold(0, |m, &w| m | 1 << w),
            before,
            after,
        });
    }
    if waves.len() <= EXACT_WAVES {
        let mut best = None;
        for bins in 2..=waves.len() {
            orders(
                waves.len(),
                bins,
                &mut vec![0; waves.len()],
                0,
                &mut |bin_of| {
                    let peak = held + peak(&temporaries, bin_of, bins);
                    if best.as_ref().is_none_or(|(least, _)| peak < *least) {
                        best = Some((peak, bin_of.to_vec()));
                    }
                },
            );
            if best.as_ref().is_some_and(|(peak, _)| *peak <= budget_bytes) {
                break;
            }
        }
        let (least, bin_of) = best.expect("a group of two waves has partitions");
        if least > budget_bytes {
            // The wave that takes the most even then.
            let bins = bin_of.iter().max().map_or(1, |b| b + 1);
            let full = (0..bins).find(|&b| held + live(&temporaries, &bin_of, b) == least);
            let alone: Vec<WaveId> = (0..waves.len())
                .filter(|&w| Some(bin_of[w]) == full)
                .map(|w| waves[w])
                .collect();
            return Err(too_large(&alone, least));
        }
        let bins = bin_of.iter().max().map_or(1, |b| b + 1);
        let into = (0..bins).map(|b| {
            let members = (0..waves.len()).filter(|&w| bin_of[w] == b);
            members.map(|w| waves[w]).collect()
        });
        return Ok(Split {
            group,
            needed_bytes,
            into: into.collect(),
        });
    }
    // By size: what several waves share, and what lives on, is there for all of them.
    let held = needed_bytes - own.iter().sum::<u64>();
    let order = levels(waves.len(), &[]).expect("there are no edges");
    let bytes: Vec<WaveBytes> = own
        .iter()
        .map(|&scratch_bytes| WaveBytes {
            scratch_bytes,
            ..WaveBytes::default()
        })
        .collect();
    let room = budget_bytes.checked_sub(held);
    let room = room.ok_or_else(|| too_large(waves, held))?;
    let packed = memory::plan(&memory::Input {
        scratch: Scratch {
            factor: 1,
            at_least_bytes: 0,
        },
        budget_bytes: Some(room),
        ..memory::Input::new(&order, &bytes)
    });
    let packed = packed.map_err(|_| {
        let fullest = (0..waves.len()).max_by_key(|&w| (own[w], std::cmp::Reverse(w)));
        let fullest = fullest.expect("the group has waves");
        too_large(&waves[fullest..=fullest], held + own[fullest])
    })?;
    let into = packed
        .groups
        .iter()
        .map(|g| g.nodes.iter().map(|&NodeId(n)| waves[n as usize]).collect());
    Ok(Split {
        group,
        needed_bytes,
        into: into.collect(),
    })
}

/// Tells which of the waves use a resource, in order. Where memory stays with its place, what a buffer trades places
/// with is used with it.
fn users(
    program: &Program,
    waves: &[WaveId],
    target: Target<'_>,
) -> impl Fn(Resource) -> Vec<usize> {
    let trades = match target {
        Target::Native | Target::Vir0 => None,
        Target::Device(_) => Some(lives::trades(program)),
    };
    let key = move |resource| match (resource, &trades) {
        (Resource::Buffer(b), Some(trades)) => Resource::Buffer(BufferId(trades[b.index()] as u16)),
        _ => resource,
    };
    let mut by_resource: BTreeMap<Resource, Vec<usize>> = BTreeMap::new();
    for (w, &wave) in waves.iter().enumerate() {
        for resource in lives::uses(program, wave) {
            let users = by_resource.entry(key(resource)).or_default();
            if users.last() != Some(&w) {
                users.push(w);
            }
        }
    }
    move |resource| by_resource.get(&key(resource)).cloned().unwrap_or_default()
}

/// Every surjection of waves onto bins, in lexical order: an ordered partition.
fn orders(
    waves: usize,
    bins: usize,
    bin_of: &mut Vec<usize>,
    at: usize,
    seen: &mut impl FnMut(&[usize]),
) {
    if at == waves {
        if (0..bins).all(|b| bin_of.contains(&b)) {
            seen(bin_of);
        }
        return;
    }
    for bin in 0..bins {
        bin_of[at] = bin;
        orders(waves, bins, bin_of, at + 1, seen);
    }
}

fn peak(temporaries: &[Temporary], bin_of: &[usize], bins: usize) -> u64 {
    let each = (0..bins).map(|b| live(temporaries, bin_of, b));
    each.max().unwrap_or(0)
}

/// Temporary bytes of one bin.
fn live(temporaries: &[Temporary], bin_of: &[usize], bin: usize) -> u64 {
    let lives = |t: &&Temporary| {
        let using = || (0..bin_of.len()).filter(|&w| t.users >> w & 1 == 1);
        let first = using().map(|w| bin_of[w]).min();
        let last = using().map(|w| bin_of[w]).max();
        (t.before || first.is_some_and(|f| f <= bin)) && (t.after || last.is_some_and(|l| bin <= l))
    };
    temporaries.iter().filter(lives).map(|t| t.bytes).sum()
}
