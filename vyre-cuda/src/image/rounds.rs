//! Fixpoints of several waves and frontiers whose narrow rounds stay on chip in the module of a compiled pass.
//!
//! What the host finds here is what `kernels/rounds.cuh` relies on: all that a round changes beside memory is the few
//! frontiers that the fixpoint owns, and each of its waves has a body in thread form.

use super::Layout;
use crate::abi::{self, NONE};
use crate::ptx::thread::{self, Refused};
use std::fmt;
use vyre_core::vir0::flow::effect;
use vyre_core::vir0::isa::Effect;
use vyre_core::vir0::module::{Domain, FixpointId, FrontierId, Program, Step, Uniform, WaveId};

/// Items of a frontier that a CTA keeps of what it pushes, at most and at least, and the bytes of one.
const KEPT: u32 = 1024;
const LEAST_KEPT: u32 = 64;
const KEPT_BYTES: u32 = 16;
/// What a CTA keeps where its rows leave room for less: twice what it takes at once, of all frontiers and both sides.
pub(super) const ROOM_BYTES: u32 = 512 * abi::ROUNDS_FRONTIERS * 2 * KEPT_BYTES;

/// Why narrow rounds of a fixpoint go the general way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum General {
    /// A wave's body has no thread form.
    Body(WaveId, Refused),
    /// A wave sweeps something else than the fixpoint's frontiers of nodes.
    Domain(WaveId),
    /// A wave reads what other waves of a round change otherwise than in memory.
    Uniform(WaveId),
    /// A wave pushes to a frontier that the fixpoint does not own.
    Push(WaveId),
    /// Several groups of waves push to a frontier that may overflow.
    Overflow(FrontierId),
    /// The fixpoint has another fixpoint in it, swaps buffers, owns reductions or many frontiers, or ends otherwise than
    /// by an empty frontier of its own.
    Shape,
    /// Memory, a frontier or a list begins anew with each round.
    Anew,
    /// There is no shared memory for it.
    Room,
}

impl General {
    /// The reason in words.
    pub(crate) fn text<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            let wave = |w: &WaveId| &program.waves[w.index()].name;
            match self {
                General::Body(w, why) => write!(f, "of `{}`: {why}", wave(w)),
                General::Domain(w) => {
                    write!(f, "`{}` sweeps no frontier of nodes of its own", wave(w))
                }
                General::Uniform(w) => write!(f, "`{}` reads what changes within a round", wave(w)),
                General::Push(w) => write!(f, "`{}` pushes to a frontier of others", wave(w)),
                General::Overflow(x) => {
                    let name = &program.frontiers[x.index()].name;
                    write!(f, "`{name}` may overflow in several places")
                }
                General::Shape => write!(
                    f,
                    "it does more than sweep up to {FRONTIERS} frontiers until one is empty"
                ),
                General::Anew => write!(
                    f,
                    "a buffer, a frontier or a list begins anew with each of its rounds"
                ),
                General::Room => write!(f, "there is no shared memory left"),
            }
        })
    }
}

/// Frontiers of such a fixpoint at most.
const FRONTIERS: usize = abi::ROUNDS_FRONTIERS as usize;

impl Layout {
    /// By fixpoint that has no narrow rounds of one wave, whether it has such of several.
    pub(super) fn find_rounds(&mut self, program: &Program) {
        for at in 0..program.schedule.len() {
            let Step::Until(f) = program.schedule[at] else {
                continue;
            };
            let until = |s: &abi::Step| s.kind == abi::step::UNTIL && s.id == u32::from(f.0);
            let step = self.steps.iter().position(until);
            let step = step.expect("the schedule's steps are those of the program");
            let frontiers = self.fixpoints[f.index()].frontier_count;
            if frontiers == 0 || self.steps[step].plain != 0 {
                continue;
            }
            match self.stays_narrow(program, at, f) {
                Ok(()) => {
                    let bytes = self.shared_bytes - self.head.registers_shared;
                    let most = bytes / (abi::ROUNDS_FRONTIERS * 2 * KEPT_BYTES);
                    match most.min(KEPT) {
                        kept if kept >= LEAST_KEPT => self.rounds.push((step, kept)),
                        _ => self.general.push((f, General::Room)),
                    }
                }
                Err(why) => self.general.push((f, why)),
            }
        }
    }

    /// The waves whose narrow rounds are of this kind.
    pub(crate) fn waves_of_rounds(&self) -> impl Iterator<Item = u32> + '_ {
        self.rounds.iter().flat_map(|&(until, _)| {
            let body = self.fixpoints[self.steps[until].id as usize].body as usize;
            let waves = self.steps[body..until].iter();
            waves.filter(|s| s.kind == abi::step::WAVE).map(|s| s.id)
        })
    }

    /// A frontier's place among those of the fixpoint of a wave.
    pub(crate) fn place_of(&self, program: &Program, wave: usize, frontier: u16) -> Option<u32> {
        let f = self.fixpoints[program.waves[wave].fixpoint?.index()];
        let all = &self.lists[f.frontiers as usize..][..f.frontier_count as usize];
        let at = all.iter().position(|&id| id == u32::from(frontier))?;
        Some(at as u32)
    }

    fn stays_narrow(&self, program: &Program, at: usize, f: FixpointId) -> Result<(), General> {
        let fixpoint = &self.fixpoints[f.index()];
        let owned = |id: u16| program.frontiers[usize::from(id)].owner == Some(f);
        let frontiers = fixpoint.frontier_count as usize;
        let until = fixpoint.until_frontier;
        let start = program.schedule[..at]
            .iter()
            .rposition(|s| *s == Step::Loop(f));
        let body = &program.schedule[start.expect("a fixpoint has a start") + 1..at];
        let simple = |s: &Step| matches!(s, Step::Wave(_) | Step::Barrier);
        if !(1..=FRONTIERS).contains(&frontiers)
            || until == NONE
            || !owned(until as u16)
            || fixpoint.swap_count != 0
            || fixpoint.reduction_count != 0
            || !body.iter().all(simple)
        {
            return Err(General::Shape);
        }
        if self.refills.iter().any(|&(of, _)| of == f) {
            return Err(General::Anew);
        }
        let mut groups = vec![(0, 0); program.frontiers.len()];
        let mut group = 1;
        for step in body {
            let Step::Wave(id) = *step else {
                group += 1;
                continue;
            };
            let wave = &program.waves[id.index()];
            let kernel = &program.kernels[wave.kernel.index()];
            let swept = wave.domain.frontier().filter(|swept| owned(swept.0));
            let nodes = match wave.domain {
                Domain::EdgesFrom(..) => self.ranges_of(id.index()).is_none(),
                Domain::Items(_) => wave.domain.fields(program).is_empty(),
                _ => false,
            };
            if swept.is_none() || !nodes {
                return Err(General::Domain(id));
            }
            thread::sites(kernel).map_err(|why| General::Body(id, why))?;
            let stays = |u: &Uniform| match u {
                Uniform::Reduction(r) => program.reductions[r.index()].owner != Some(f),
                Uniform::Len(_) | Uniform::Began(_) => false,
                Uniform::Scalar(_)
                | Uniform::Constant(_)
                | Uniform::Nodes
                | Uniform::Round
                | Uniform::OuterRound(_) => true,
            };
            let staged = self.kernels[wave.kernel.index()].staged != 0;
            if !staged || !kernel.uniforms.iter().all(stays) {
                return Err(General::Uniform(id));
            }
            for word in kernel.code.iter().filter(|w| effect(w) == Effect::Push) {
                if !owned(word.resource()) {
                    return Err(General::Push(id));
                }
                let (last, count) = &mut groups[usize::from(word.resource())];
                if *last != group {
                    (*last, *count) = (group, *count + 1);
                }
            }
        }
        let overflows =
            |&(id, &(_, count)): &(usize, &(u32, u32))| count > 1 && !program.frontiers[id].unique;
        match groups.iter().enumerate().find(overflows) {
            Some((id, _)) => Err(General::Overflow(FrontierId(id as u16))),
            None => Ok(()),
        }
    }
}
