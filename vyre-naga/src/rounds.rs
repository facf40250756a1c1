//! Barrier groups without the host between them, and rounds of a fixpoint: sweeps whose workgroups are the arguments of
//! indirect dispatches, and behind each barrier group a shader that writes those of the next one.
//!
//! A round that was dispatched and is not needed does nothing: once a group has failed, or the condition has said that
//! the fixpoint is done, no sweep has a workgroup.

use crate::Options;
use crate::layout::{Layout, widest};
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{Domain, FixpointId, Program, Step, WaveId};

/// Words of the buffer of arguments before the first dispatch's three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Not 0 as long as rounds go on.
    Going,
    /// Rounds that have ended.
    Ended,
    /// One more than the step that ends the group which failed.
    Failed,
    /// The round that has begun.
    Round,
    /// Rounds that may end.
    Most,
    /// Words from the uniform of a wave to that of the next.
    Stride,
    /// Workgroups of a dispatch, at most.
    Groups,
    /// Workgroups for each item of which edges are shared out.
    Spread,
    /// Rounds that one workgroup took.
    Narrow,
    /// Rounds that are dispatched and have not ended: behind the last of these none begins.
    Left,
    /// The fewest edges of a frontier that a sweep pulls from; 0: none does.
    Pulls,
    /// Sweeps that pulled.
    Pulled,
    /// Items of wide frontiers, where none does.
    Missed,
}

impl Word {
    pub(crate) const ALL: [(Word, &'static str); 13] = [
        (Word::Going, "going"),
        (Word::Ended, "ended"),
        (Word::Failed, "failed"),
        (Word::Round, "round"),
        (Word::Most, "most"),
        (Word::Stride, "stride"),
        (Word::Groups, "groups"),
        (Word::Spread, "spread"),
        (Word::Narrow, "narrow"),
        (Word::Left, "left"),
        (Word::Pulls, "pulls"),
        (Word::Pulled, "pulled"),
        (Word::Missed, "missed"),
    ];
}

/// A barrier group of a round.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    waves: Vec<WaveId>,
    /// The step that ends it.
    pub(crate) step: usize,
}

impl Group {
    /// The wave whose sweep its end comes behind.
    pub(crate) fn last(&self) -> WaveId {
        *self.waves.last().expect("groups have waves")
    }
}

/// Barrier groups that follow each other: a round of a fixpoint of waves alone, or others.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Whose round it is.
    pub(crate) fixpoint: Option<FixpointId>,
    /// The step that it begins with: that of a fixpoint, or its first wave.
    pub(crate) from: usize,
    pub(crate) groups: Vec<Group>,
}

/// What a dispatch of a round runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispatch {
    /// In the place of the wave's sweep.
    Pull(WaveId),
    Sweep(WaveId),
    Close(WaveId),
    /// One workgroup, always.
    End(WaveId),
}

/// A dispatch of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) what: Dispatch,
    pub(crate) group: usize,
    /// The word with its workgroups.
    pub(crate) word: u32,
    /// The uniform of the wave.
    pub(crate) block: u32,
}

impl Stretch {
    /// Those of a program.
    pub(crate) fn of(program: &Program) -> Vec<Stretch> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(step) = program.schedule.get(at) {
            let stretch = match *step {
                Step::Loop(fixpoint) => Stretch::round(program, fixpoint, at),
                Step::Wave(_) => Stretch::straight(program, at),
                Step::Barrier | Step::Until(_) | Step::Each(..) | Step::End => None,
            };
            at = stretch.as_ref().map_or(at, Stretch::to) + 1;
            found.extend(stretch);
        }
        found
    }

    /// The step that its last group ends with.
    pub(crate) fn to(&self) -> usize {
        self.groups.last().expect("there are groups").step
    }

    /// That of a fixpoint, which begins with this step.
    fn round(program: &Program, fixpoint: FixpointId, from: usize) -> Option<Stretch> {
        let (mut groups, mut waves) = (Vec::new(), Vec::new());
        for (step, what) in (from + 1..).zip(&program.schedule[from + 1..]) {
            match *what {
                Step::Wave(wave) => waves.push(wave),
                Step::Barrier | Step::Until(_) => {
                    let waves = std::mem::take(&mut waves);
                    groups.push(Group { waves, step });
                    if *what == Step::Until(fixpoint) {
                        return Some(Stretch {
                            fixpoint: Some(fixpoint),
                            from,
                            groups,
                        });
                    }
                }
                Step::Loop(_) | Step::Each(..) | Step::End => return None,
            }
        }
        None
    }

    /// Groups from a wave on, up to a step that is neither a wave nor a barrier.
    fn straight(program: &Program, from: usize) -> Option<Stretch> {
        let (mut groups, mut waves) = (Vec::new(), Vec::new());
        for (step, what) in (from..).zip(&program.schedule[from..]) {
            match *what {
                Step::Wave(wave) => waves.push(wave),
                Step::Barrier | Step::End if !waves.is_empty() => {
                    let waves = std::mem::take(&mut waves);
                    groups.push(Group { waves, step });
                }
                _ => break,
            }
        }
        (!groups.is_empty()).then_some(Stretch {
            fixpoint: None,
            from,
            groups,
        })
    }

    /// How many invocations its narrow rounds have in their workgroup, of those that there may be: none where it has no
    /// narrow rounds. They sweep one frontier of the fixpoint's own, without loops: turns are counted for a dispatch.
    pub(crate) fn narrow(&self, program: &Program, options: Options) -> Option<u32> {
        let [group] = &self.groups[..] else {
            return None;
        };
        let &[id] = &group.waves[..] else {
            return None;
        };
        let wave = &program.waves[id.index()];
        let (Domain::EdgesFrom(_, frontier) | Domain::Items(frontier)) = wave.domain else {
            return None;
        };
        let fixpoint = self.fixpoint?;
        let until = program.fixpoints[fixpoint.index()].until;
        let kernels = [wave.kernel, until].map(|kernel| &program.kernels[kernel.index()]);
        let loops = kernels.iter().flat_map(|kernel| &kernel.code);
        let loops = loops.filter(|word| op(word) == Op::Loop).count();
        let owned = program.frontiers[frontier.index()].owner == self.fixpoint;
        let takes = owned && loops == 0;
        takes.then(|| widest(program, id, options)).flatten()
    }

    pub(crate) fn waves(&self) -> impl Iterator<Item = WaveId> {
        self.groups
            .iter()
            .flat_map(|group| group.waves.iter().copied())
    }

    /// What it dispatches, in order.
    pub(crate) fn dispatches(&self, layout: &Layout) -> Vec<Part> {
        let (mut parts, mut block) = (Vec::new(), 0);
        let mut word = Word::ALL.len() as u32;
        for (group, of) in self.groups.iter().enumerate() {
            for &wave in &of.waves {
                let then = match wave == of.last() {
                    true => Dispatch::End(wave),
                    false => Dispatch::Close(wave),
                };
                let pull = layout.pulling(wave).map(|_| Dispatch::Pull(wave));
                for what in pull.into_iter().chain([Dispatch::Sweep(wave), then]) {
                    parts.push(Part {
                        what,
                        group,
                        word,
                        block,
                    });
                    word += 3;
                }
                block += 1;
            }
        }
        parts
    }
}
