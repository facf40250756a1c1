//! Which waves run between two barriers?
//!
//! This is the one definition of barrier groups: the verifier holds schedules to it, executors and planners read them
//! by it. A group is a run of waves without another step between them. What follows it ends it: a barrier, the end of a
//! round, or the end of the schedule. So no fixpoint begins amid a group, no barrier ends nothing, and each round has a
//! group:
//!
//! ```text
//! schedule = [scope] end
//! scope    = group [barrier scope] | fixpoint [scope]
//! fixpoint = (loop | each) scope until
//! group    = wave {wave}
//! ```
//!
//! ```
//! use vyre_core::vir0::module::{FixpointId, Step, WaveId};
//! use vyre_core::vir0::group::{Misplaced, ended_at, groups_of, misplaced};
//! let (a, b, c) = (Step::Wave(WaveId(0)), Step::Wave(WaveId(1)), Step::Wave(WaveId(2)));
//! let (enter, until) = (Step::Loop(FixpointId(0)), Step::Until(FixpointId(0)));
//! let schedule = [a, b, Step::Barrier, enter, c, until, Step::End];
//! assert_eq!(misplaced(&schedule).next(), None);
//! assert_eq!(groups_of(&schedule), [0, 0, 1, 1, 1, 1, 1]);
//! assert!(ended_at(&schedule, 2).eq([WaveId(0), WaveId(1)]));
//! assert!(ended_at(&schedule, 5).eq([WaveId(2)]));
//! let wrong = [a, enter, until, Step::End];
//! assert!(misplaced(&wrong).eq([(1, Misplaced::LoopInGroup), (2, Misplaced::EmptyRound)]));
//! ```

use crate::vir0::module::{Step, WaveId};
use thiserror::Error;

/// Why a step cannot stand where it does.
#[derive(Clone, Copy, Error, PartialEq, Eq)]
pub enum Misplaced {
    /// A barrier that does not stand between a group and the group or fixpoint behind it.
    #[error("a barrier stands behind a wave, and before a wave or a fixpoint")]
    Barrier,
    /// A fixpoint right behind a wave.
    #[error("a barrier is missing between a wave and the fixpoint behind it")]
    LoopInGroup,
    /// A fixpoint without a wave.
    #[error("a round has no wave")]
    EmptyRound,
}

crate::debug_is_display!(Misplaced);

/// The steps that do not form groups, by position. Whether loops nest is not looked at.
pub fn misplaced(schedule: &[Step]) -> impl Iterator<Item = (usize, Misplaced)> {
    schedule.iter().enumerate().filter_map(|(at, step)| {
        let before = at.checked_sub(1).map(|i| schedule[i]);
        let behind_wave = matches!(before, Some(Step::Wave(_)));
        let (right, wrong) = match step {
            Step::Barrier => {
                let next = matches!(
                    schedule.get(at + 1),
                    Some(Step::Wave(_) | Step::Loop(_) | Step::Each(..))
                );
                (behind_wave && next, Misplaced::Barrier)
            }
            Step::Loop(_) | Step::Each(..) => (!behind_wave, Misplaced::LoopInGroup),
            Step::Until(_) => {
                let empty = before.is_some_and(|step| step.enters().is_some());
                (!empty, Misplaced::EmptyRound)
            }
            Step::Wave(_) | Step::End => return None,
        };
        (!right).then_some((at, wrong))
    })
}

/// The barrier group of each step, counted from 0. A barrier and the beginning of a fixpoint count with the group that
/// comes next, the end of a round and the end with the one before.
pub fn groups_of(schedule: &[Step]) -> Vec<u32> {
    // Groups begun, and whether the last still goes on.
    let (mut begun, mut open) = (0u32, false);
    let group = |step: &Step| {
        begun += u32::from(matches!(step, Step::Wave(_)) && !open);
        open = matches!(step, Step::Wave(_));
        match step {
            Step::Wave(_) | Step::Until(_) | Step::End => begun.saturating_sub(1),
            Step::Barrier | Step::Loop(_) | Step::Each(..) => begun,
        }
    };
    schedule.iter().map(group).collect()
}

/// The waves of the group that the step at `at` ends, in schedule order; none where that ends a fixpoint behind another
/// one's end.
pub fn ended_at(schedule: &[Step], at: usize) -> impl Iterator<Item = WaveId> {
    let wave = |step: &Step| match step {
        Step::Wave(w) => Some(*w),
        Step::Barrier | Step::Loop(_) | Step::Each(..) | Step::Until(_) | Step::End => None,
    };
    let before = &schedule[..at];
    let run = before.iter().rev().map_while(wave).count();
    before[at - run..].iter().filter_map(wave)
}
