//! One memory for what never lives at once: where each temporary lies, and when it is filled.
//!
//! A CPU takes and gives memory back while the schedule runs. A launch on a device cannot: all of its memory is there
//! before it begins. So what is to share memory there gets a place before the run, for its whole life, and what has to
//! begin with a value is filled within the launch.
//!
//! Time is counted in phases: a barrier group outside of every fixpoint, or a whole outermost fixpoint, because what a
//! round uses lives through all rounds. Between two phases is a barrier. Places are found by first fit in several
//! orders; where that takes more than what lives at once, up to [`EXACT`] temporaries are placed in every order, one of
//! which is the best.
//!
//! ```
//! use vyre_core::plan::arena::{Filling, Temporary, pack};
//! let temporary = |bytes, first, last| Temporary { bytes, first, last };
//! let temporaries = [temporary(100, 0, 1), temporary(60, 2, 3), temporary(50, 1, 2)];
//! let arena = pack(&temporaries, 1);
//! assert_eq!((arena.places.as_slice(), arena.bytes), ([0, 0, 100].as_slice(), 150));
//! // The second is filled as it begins, and waited for; the third from the start, beside the first phase.
//! let fillings = arena.fillings(&temporaries);
//! assert_eq!(fillings[1], Filling { phase: 2, waits: true });
//! assert_eq!(fillings[2], Filling { phase: 0, waits: false });
//! ```

use super::lives::{Life, Lives};
use crate::vir0::group::groups_of;
use crate::vir0::module::{BufferId, FrontierId, Program, Resource, Role, Step};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most temporaries that are placed in every order.
pub const EXACT: usize = 6;

/// A barrier group outside of every fixpoint, or an outermost fixpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Where it begins in the schedule: its first wave, or its loop.
    pub step: usize,
    /// Its first barrier group.
    pub first_group: u32,
    /// Its last one.
    pub last_group: u32,
}

/// The phases of a schedule, in order.
pub fn phases(schedule: &[Step]) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let (mut depth, mut open) = (0u32, false);
    for (step, (what, group)) in schedule.iter().zip(groups_of(schedule)).enumerate() {
        let begins = match what {
            Step::Wave(_) => depth == 0 && !open,
            Step::Loop(_) | Step::Each(..) => depth == 0,
            Step::Barrier | Step::Until(_) | Step::End => false,
        };
        if begins {
            phases.push(Phase {
                step,
                first_group: group,
                last_group: group,
            });
        }
        match what {
            Step::Loop(_) | Step::Each(..) => depth += 1,
            Step::Until(_) => {
                depth = depth.saturating_sub(1);
                if let Some(phase) = phases.last_mut() {
                    phase.last_group = group;
                }
            }
            Step::Wave(_) | Step::Barrier | Step::End => {}
        }
        open = matches!(what, Step::Wave(_));
    }
    phases
}

/// Scratch and frontiers that a wave uses, with their first and last phase: buffers first. What fixpoints swap has one
/// life, because either may be in the memory of the other.
pub fn temporaries(program: &Program) -> Vec<(Resource, u32, u32)> {
    let lives = Lives::in_place(program);
    let phases = phases(&program.schedule);
    let phase_of = |group: u32| phases.partition_point(|p| p.last_group < group) as u32;
    let scratch = program.buffers.iter().zip(&lives.buffers).enumerate();
    let scratch = scratch
        .filter(|(_, (buffer, _))| buffer.role == Role::Scratch)
        .map(|(i, (_, life))| (Resource::Buffer(BufferId(i as u16)), *life));
    let frontiers = lives.frontiers.iter().enumerate();
    let frontiers = frontiers.map(|(i, life)| (FrontierId(i as u16).into(), *life));
    scratch
        .chain(frontiers)
        .filter_map(|(resource, life)| match life {
            Life::Groups { first, last } => Some((resource, phase_of(first), phase_of(last))),
            Life::Run | Life::Never => None,
        })
        .collect()
}

/// What has memory from one phase to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// How much.
    pub bytes: u64,
    /// The phase that uses it first.
    pub first: u32,
    /// The phase that uses it last.
    pub last: u32,
}

impl Temporary {
    fn meets(&self, other: &Temporary) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Places in one memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// By temporary: where it begins.
    pub places: Vec<u64>,
    /// What they take together; `u64::MAX` where that is more than a `u64` says.
    pub bytes: u64,
}

/// When a temporary is filled that has to begin with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// At the start of this phase, the first from which its memory has no other owner.
    pub phase: u32,
    /// Its life begins with that phase, so that a barrier follows; else it is filled beside what the phase does, and
    /// the barrier at the end of the phase is enough.
    pub waits: bool,
}

/// Gives each a place that is a multiple of `align`. Those whose lives meet do not overlap.
pub fn pack(temporaries: &[Temporary], align: u64) -> Arena {
    let aligned = |t: &Temporary| Temporary {
        bytes: t.bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX),
        ..*t
    };
    let temporaries: Vec<Temporary> = temporaries.iter().map(aligned).collect();
    let least = most_at_once(&temporaries);
    let mut best: Option<Arena> = None;
    let mut take = |order: &[usize]| {
        let arena = first_fit(&temporaries, order);
        if best.as_ref().is_none_or(|b| arena.bytes < b.bytes) {
            best = Some(arena);
        }
        best.as_ref().is_some_and(|b| b.bytes <= least)
    };
    let duration = |i: usize| u128::from(temporaries[i].last - temporaries[i].first) + 1;
    let bytes = |i: usize| temporaries[i].bytes;
    let mut order: Vec<usize> = (0..temporaries.len()).collect();
    order.sort_by_key(|&i| (Reverse(bytes(i)), i));
    let mut done = take(&order);
    for key in [
        &(|i| duration(i) * u128::from(bytes(i))) as &dyn Fn(usize) -> u128,
        &|i| duration(i),
        &|i| u128::from(u32::MAX - temporaries[i].first),
    ] {
        if !done {
            order.sort_by_key(|&i| (Reverse(key(i)), Reverse(bytes(i)), i));
            done = take(&order);
        }
    }
    if !done && temporaries.len() <= EXACT {
        order.sort_unstable();
        orders(&mut order, 0, &mut take);
    }
    best.unwrap_or_default()
}

/// The most that lives in one phase: no places take less.
fn most_at_once(temporaries: &[Temporary]) -> u64 {
    // By phase: what comes with it, and what went before it.
    let mut changes: BTreeMap<u32, (u128, u128)> = BTreeMap::new();
    for t in temporaries {
        changes.entry(t.first).or_default().0 += u128::from(t.bytes);
        if let Some(after) = t.last.checked_add(1) {
            changes.entry(after).or_default().1 += u128::from(t.bytes);
        }
    }
    let mut live = 0u128;
    let live = changes.values().map(|(comes, went)| {
        live = live + comes - went;
        live
    });
    u64::try_from(live.max().unwrap_or(0)).unwrap_or(u64::MAX)
}

/// Each in turn at the lowest place where it fits.
fn first_fit(temporaries: &[Temporary], order: &[usize]) -> Arena {
    let mut arena = Arena {
        places: vec![0; temporaries.len()],
        bytes: 0,
    };
    // Those that have a place, from the lowest on.
    let mut placed: Vec<usize> = Vec::with_capacity(order.len());
    for &i in order {
        let this = &temporaries[i];
        let mut at = 0u64;
        for &j in &placed {
            let (other, begin) = (&temporaries[j], arena.places[j]);
            if begin >= at.saturating_add(this.bytes) {
                break;
            }
            if other.meets(this) {
                at = at.max(begin.saturating_add(other.bytes));
            }
        }
        arena.places[i] = at;
        arena.bytes = arena.bytes.max(at.saturating_add(this.bytes));
        if this.bytes > 0 {
            let above = placed.partition_point(|&j| arena.places[j] <= at);
            placed.insert(above, i);
        }
    }
    arena
}

/// Every order, until one is the best; whether one was.
fn orders(order: &mut [usize], from: usize, take: &mut impl FnMut(&[usize]) -> bool) -> bool {
    if from + 1 >= order.len() {
        return take(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        if orders(order, from + 1, take) {
            return true;
        }
        order.swap(from, at);
    }
    false
}

impl Arena {
    /// When each is filled, of the temporaries that were packed.
    pub fn fillings(&self, temporaries: &[Temporary]) -> Vec<Filling> {
        let of = |i: usize| self.places[i]..self.places[i].saturating_add(temporaries[i].bytes);
        let filling = |i: usize| {
            let (this, here) = (&temporaries[i], of(i));
            let before = (0..temporaries.len()).filter(|&j| {
                let there = of(j);
                temporaries[j].last < this.first && here.start < there.end && there.start < here.end
            });
            let free = before.map(|j| temporaries[j].last + 1).max();
            let phase = free.unwrap_or(0);
            Filling {
                phase,
                waits: phase == this.first,
            }
        };
        (0..temporaries.len()).map(filling).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vir0::module::{FixpointId, WaveId};

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }
    }

    fn some(random: &mut Random, most: u64) -> Vec<Temporary> {
        let count = 1 + random.below(most);
        let one = |_| {
            let first = random.below(6) as u32;
            Temporary {
                bytes: random.below(9) * 4,
                first,
                last: first + random.below(4) as u32,
            }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn what_lives_at_once_lies_apart_and_everything_lies_inside() {
        let mut random = Random(3);
        for _ in 0..2_000 {
            let temporaries = some(&mut random, 12);
            let arena = pack(&temporaries, 8);
            let least = most_at_once(&temporaries);
            assert!(arena.bytes >= least, "{temporaries:?}");
            for (i, a) in temporaries.iter().enumerate() {
                assert_eq!(arena.places[i] % 8, 0);
                assert!(arena.places[i] + a.bytes <= arena.bytes);
                for (j, b) in temporaries.iter().enumerate().skip(i + 1) {
                    let apart = arena.places[i] + a.bytes <= arena.places[j]
                        || arena.places[j] + b.bytes <= arena.places[i];
                    let together = (a.first..=a.last).any(|p| (b.first..=b.last).contains(&p));
                    assert!(!together || apart, "{temporaries:?} {arena:?}");
                }
            }
        }
    }

    /// The least memory by trying every place that is a multiple of four.
    fn exhaustive(temporaries: &[Temporary], places: &mut Vec<u64>, limit: u64) -> bool {
        let Some(this) = temporaries.get(places.len()) else {
            return true;
        };
        let mut at = 0;
        while at + this.bytes <= limit {
            let fits = places.iter().zip(temporaries).all(|(&place, t)| {
                !t.meets(this) || place + t.bytes <= at || at + this.bytes <= place
            });
            if fits {
                places.push(at);
                if exhaustive(temporaries, places, limit) {
                    return true;
                }
                places.pop();
            }
            at += 4;
        }
        false
    }

    #[test]
    fn no_places_take_less_than_those_of_a_few() {
        let mut random = Random(7);
        let mut apart = 0;
        for _ in 0..300 {
            let temporaries = some(&mut random, 5);
            let arena = pack(&temporaries, 4);
            apart += u32::from(arena.bytes > most_at_once(&temporaries));
            assert!(
                arena.bytes == 0 || !exhaustive(&temporaries, &mut Vec::new(), arena.bytes - 4),
                "{temporaries:?} {arena:?}"
            );
        }
        println!("{apart} of 300 take more than what lives at once");
    }

    #[test]
    fn a_temporary_is_filled_once_nobody_before_it_has_its_memory() {
        let mut random = Random(11);
        let (mut waits, mut beside, mut first) = (0, 0, 0);
        for _ in 0..1_000 {
            let temporaries = some(&mut random, 8);
            let arena = pack(&temporaries, 4);
            for (i, filling) in arena.fillings(&temporaries).iter().enumerate() {
                let this = &temporaries[i];
                assert!(filling.phase <= this.first);
                assert_eq!(filling.waits, filling.phase == this.first);
                // By elements: in the phases from the filling on no other is there, and in the one before another
                // was.
                let here = |j: usize| {
                    let of = |k: usize| arena.places[k]..arena.places[k] + temporaries[k].bytes;
                    j != i && of(i).any(|byte| of(j).contains(&byte))
                };
                let there = |phase: u32| {
                    let live =
                        |j: &usize| (temporaries[*j].first..=temporaries[*j].last).contains(&phase);
                    (0..temporaries.len()).filter(live).any(here)
                };
                assert!(!(filling.phase..=this.last).any(there), "{temporaries:?}");
                assert!(
                    filling.phase == 0 || there(filling.phase - 1),
                    "{temporaries:?}"
                );
                waits += u32::from(filling.waits && filling.phase > 0);
                beside += u32::from(!filling.waits && filling.phase > 0);
                first += u32::from(filling.phase == 0);
            }
        }
        assert!(
            waits > 100 && beside > 100 && first > 100,
            "{waits} {beside} {first}"
        );
    }

    #[test]
    fn sizes_that_no_memory_has_do_not_wrap() {
        let huge = Temporary {
            bytes: u64::MAX - 3,
            first: 0,
            last: 0,
        };
        assert_eq!(pack(&[huge, huge], 256).bytes, u64::MAX);
        assert_eq!(pack(&[], 256), Arena::default());
    }

    #[test]
    fn a_phase_is_a_group_or_an_outermost_fixpoint() {
        let wave = |w| Step::Wave(WaveId(w));
        let (f, g, bar) = (FixpointId(0), FixpointId(1), Step::Barrier);
        let schedule = [
            wave(0),
            wave(1),
            bar,
            Step::Loop(f),
            Step::Loop(g),
            wave(2),
            Step::Until(g),
            wave(3),
            Step::Until(f),
            wave(4),
            bar,
            wave(5),
            Step::End,
        ];
        let phases: Vec<_> = phases(&schedule)
            .iter()
            .map(|p| (p.step, p.first_group, p.last_group))
            .collect();
        assert_eq!(phases, [(0, 0, 0), (3, 1, 2), (9, 3, 3), (11, 4, 4)]);
    }
}
