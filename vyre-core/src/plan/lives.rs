//! When buffers and frontiers hold something, group by group. Memory planners place what never lives at once in the
//! same memory.

use crate::vir0::group::groups_of;
use crate::vir0::module::{FixpointId, Program, QueueId, Resource, Step, WaveId};

/// When a resource holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// During the whole run.
    Run,
    /// From one group to another, both included.
    Groups {
        /// The group that uses it first.
        first: u32,
        /// The group that uses it last.
        last: u32,
    },
    /// Never: no wave uses it.
    Never,
}

/// Groups of a schedule, and when buffers and frontiers are used in it.
pub(crate) struct Lives {
    pub(super) groups: Vec<Vec<WaveId>>,
    /// Those of scratch matter; others live during the whole run.
    pub(crate) buffers: Vec<Life>,
    pub(crate) frontiers: Vec<Life>,
}

impl Lives {
    pub(crate) fn of(program: &Program) -> Lives {
        let mut lives = Lives {
            groups: Vec::new(),
            buffers: vec![Life::Never; program.buffers.len()],
            frontiers: vec![Life::Never; program.frontiers.len()],
        };
        // Open fixpoints, and the uses inside the outermost of them: they last for all its rounds.
        let mut open: Vec<FixpointId> = Vec::new();
        let mut outermost = 0;
        let mut inside: Vec<Resource> = Vec::new();
        for (step, now) in program.schedule.iter().zip(groups_of(&program.schedule)) {
            match *step {
                Step::Wave(w) => {
                    lives.groups.resize(now as usize + 1, Vec::new());
                    lives.groups[now as usize].push(w);
                    for resource in uses(program, w) {
                        lives.extend(resource, now, now);
                        if !open.is_empty() {
                            inside.push(resource);
                        }
                    }
                }
                Step::Loop(f) | Step::Each(f, _) => {
                    if open.is_empty() {
                        outermost = now;
                    }
                    open.push(f);
                    let fixpoint = &program.fixpoints[f.index()];
                    if let Some(until) = program.kernels.get(fixpoint.until.index()) {
                        inside.extend(until.uniforms.iter().filter_map(|u| u.asks()));
                    }
                    let swapped = &fixpoint.swaps;
                    inside.extend(
                        swapped
                            .iter()
                            .flat_map(|&(a, b)| [Resource::Buffer(a), Resource::Buffer(b)]),
                    );
                }
                Step::Until(_) => {
                    open.pop();
                    if open.is_empty() {
                        for resource in inside.drain(..) {
                            lives.extend(resource, outermost, now);
                        }
                    }
                }
                Step::Barrier | Step::End => {}
            }
        }
        lives
    }

    /// Where memory stays with its place: buffers that fixpoints swap live as long as each other.
    pub(crate) fn in_place(program: &Program) -> Lives {
        let mut lives = Lives::of(program);
        let trades = trades(program);
        let mut together = lives.buffers.clone();
        for (&of, &life) in trades.iter().zip(&lives.buffers) {
            together[of] = joined(together[of], life);
        }
        for (life, &of) in lives.buffers.iter_mut().zip(&trades) {
            *life = together[of];
        }
        lives
    }

    /// A list is there during the whole run.
    pub(super) fn of_queue(&self, id: QueueId) -> Life {
        match id {
            QueueId::Frontier(f) => self.frontiers[f.index()],
            QueueId::List(_) => Life::Run,
        }
    }

    fn extend(&mut self, resource: Resource, from: u32, to: u32) {
        let life = match resource {
            Resource::Buffer(b) => &mut self.buffers[b.index()],
            Resource::Queue(QueueId::Frontier(f)) => &mut self.frontiers[f.index()],
            Resource::Queue(QueueId::List(_)) => return,
            Resource::Topology(_) | Resource::Reduction(_) => return,
        };
        *life = joined(
            *life,
            Life::Groups {
                first: from,
                last: to,
            },
        );
    }
}

/// While one of them lives.
fn joined(a: Life, b: Life) -> Life {
    match (a, b) {
        (Life::Run, _) | (_, Life::Run) => Life::Run,
        (Life::Never, life) | (life, Life::Never) => life,
        (
            Life::Groups { first, last },
            Life::Groups {
                first: from,
                last: to,
            },
        ) => Life::Groups {
            first: first.min(from),
            last: last.max(to),
        },
    }
}

/// By buffer: the lowest of those with which fixpoints let it trade places, itself and what they trade with included.
pub(super) fn trades(program: &Program) -> Vec<usize> {
    let mut lowest: Vec<usize> = (0..program.buffers.len()).collect();
    fn find(lowest: &mut [usize], mut at: usize) -> usize {
        while lowest[at] != at {
            lowest[at] = lowest[lowest[at]];
            at = lowest[at];
        }
        at
    }
    for &(a, b) in program.fixpoints.iter().flat_map(|f| &f.swaps) {
        let (a, b) = (find(&mut lowest, a.index()), find(&mut lowest, b.index()));
        lowest[a.max(b)] = a.min(b);
    }
    // No parent is above its children.
    for at in 0..lowest.len() {
        lowest[at] = lowest[lowest[at]];
    }
    lowest
}

/// Everything a wave touches: its accesses and what it sweeps.
pub(super) fn uses(program: &Program, wave: WaveId) -> impl Iterator<Item = Resource> {
    let wave = &program.waves[wave.index()];
    let accesses = wave.accesses.iter().map(|a| a.resource);
    accesses.chain(wave.domain.reads())
}
