//! The schedule's steps, and what each barrier has to settle.

use super::{Layout, Pulling, queue_number};
use crate::abi::{self, NONE};
use vyre_core::plan::arena::phases;
use vyre_core::plan::footprint::Allocation;
use vyre_core::plan::pull::{self, Taken};
use vyre_core::vir0::flow::{effect, op};
use vyre_core::vir0::group::ended_at;
use vyre_core::vir0::isa::{Effect, IMM, Op, UNIFORM_BASE};
use vyre_core::vir0::module::{Domain, FixpointId, Kernel, Program, QueueId, Step, Uniform};

impl Layout {
    /// Fixpoints and steps, once the kernels are known.
    pub(super) fn schedule(&mut self, program: &Program, allocation: Allocation) {
        let mut emptied = Vec::new();
        for (f, fixpoint) in program.fixpoints.iter().enumerate() {
            let owner = Some(FixpointId(f as u16));
            let owned = |owners: Vec<Option<FixpointId>>| -> Vec<u32> {
                (0u32..)
                    .zip(owners)
                    .filter(|&(_, o)| o == owner)
                    .map(|(i, _)| i)
                    .collect()
            };
            // What begins empty is flipped twice: behind the second flip, what was left is on no side. The second flip
            // of a frontier is that of its owner. No round flips a list, so that it needs one of its own.
            let (flips, empties) = program.frontiers.iter().map(|x| (x.owner, x.reset)).unzip();
            let lists = lists_emptied(program, FixpointId(f as u16));
            let own = [owned(flips), owned(empties)].concat();
            let others = lists.iter().filter(|list| !own.contains(list));
            let frontiers: Vec<u32> = own.iter().chain(others).copied().collect();
            emptied.push(lists);
            let reductions = owned(program.reductions.iter().map(|x| x.owner).collect());
            let swaps: Vec<u32> = fixpoint
                .swaps
                .iter()
                .flat_map(|(a, b)| [a.0.into(), b.0.into()])
                .collect();
            let described = abi::Fixpoint {
                max_rounds: fixpoint.max_rounds,
                until_kernel: fixpoint.until.0.into(),
                until_frontier: empty_frontier(&program.kernels[fixpoint.until.index()]),
                frontier_count: frontiers.len() as u32,
                frontiers: self.list(&frontiers),
                reduction_count: reductions.len() as u32,
                reductions: self.list(&reductions),
                swap_count: fixpoint.swaps.len() as u32,
                swaps: self.list(&swaps),
                ..Default::default()
            };
            self.fixpoints.push(described);
        }
        // The second flips of lists stand behind the fixpoints, as if they were those of rounds.
        let mut second = vec![None; emptied.len()];
        for (f, lists) in emptied.into_iter().enumerate() {
            if !lists.is_empty() {
                second[f] = Some(self.fixpoints.len() as u32);
                let described = abi::Fixpoint {
                    until_frontier: NONE,
                    frontier_count: lists.len() as u32,
                    frontiers: self.list(&lists),
                    ..Default::default()
                };
                self.fixpoints.push(described);
            }
        }
        for (f, list) in program.marks() {
            // What begins empty has begun behind the second flip.
            let at = second[f.index()].map_or(f.index(), |id| id as usize);
            let described = &mut self.fixpoints[at];
            if described.marks == 0 {
                described.marks = self.marks.len() as u32;
            }
            described.marks += 1 << 16;
            self.marks.push(abi::Mark {
                items: 0,
                list: program.place_of(list.into()) as u32,
                unused: 0,
            });
        }
        let mut looked: Vec<u32> = Vec::new();
        self.fills_here();
        let phases = phases(&program.schedule);
        let mut phases = phases.iter().skip(1).map(|p| p.step).peekable();
        for (at, step) in program.schedule.iter().enumerate() {
            if phases.next_if_eq(&at).is_some() && allocation == Allocation::Shared {
                self.fills_here();
            }
            let id = match *step {
                Step::Wave(w) => w.0,
                Step::Loop(f) | Step::Each(f, _) | Step::Until(f) => f.0,
                Step::Barrier | Step::End => 0,
            };
            let plain = |kind| abi::Step {
                kind,
                id: id.into(),
                carried: NONE,
                ..Default::default()
            };
            match *step {
                Step::Wave(w) => {
                    if self.ranges_of(w.index()).is_some() {
                        self.steps.push(plain(abi::step::HUBS));
                    }
                    self.steps.push(plain(abi::step::WAVE));
                }
                // Sessions of programs with local fixpoints are refused before.
                Step::Loop(f) | Step::Each(f, _) => {
                    self.steps.push(plain(abi::step::LOOP));
                    self.fixpoints[f.index()].body = self.steps.len() as u32;
                    self.steps.push(plain(abi::step::ROUND));
                    if begins_anew(program, f) {
                        self.refills.push((f, self.steps.len()));
                        self.steps.extend([NOTHING, plain(abi::step::BARRIER)]);
                    }
                    if let Some(id) = second[f.index()] {
                        let kind = abi::step::ROUND;
                        self.steps.push(abi::Step { id, ..plain(kind) });
                    }
                }
                Step::Barrier => {
                    let step = self.barrier(program, at, plain(abi::step::BARRIER), &mut looked);
                    self.steps.push(step);
                }
                Step::Until(f) => {
                    let mut step = self.barrier(program, at, plain(abi::step::UNTIL), &mut looked);
                    step.settle = (unsettled(program, f) || may_be_cut_short(program, f)).into();
                    step.plain = self.is_plain(program, at, f, &step).into();
                    if step.plain != 0 && step.pushed_count == 1 {
                        self.pulls.extend(pulling(program, at - 1));
                    }
                    self.steps.push(step);
                }
                Step::End => {
                    let step = self.barrier(program, at, plain(abi::step::BARRIER), &mut looked);
                    if step.pushed_count != 0 {
                        self.steps.push(step);
                    }
                    self.packs_here(program, plain(abi::step::PACK));
                    self.steps.push(plain(abi::step::END));
                }
            }
        }
        looked.sort_unstable();
        looked.dedup();
        self.looked = (self.list(&looked), looked.len() as u32);
    }

    /// The steps of a phase's fills. Before a run says what they fill, there is nothing to fill and to wait for.
    fn fills_here(&mut self) {
        self.fills.push(self.steps.len());
        self.steps.extend([NOTHING; 2]);
    }

    /// The step that packs what the lists of the result hold, if there are any. Before a run says where to, there is
    /// nothing to pack. All appends have a barrier behind them.
    fn packs_here(&mut self, program: &Program, step: abi::Step) {
        let queues = (0u32..).zip(program.queues());
        let given = queues.filter(|(_, (_, queue))| queue.output);
        let mut packed = vec![0];
        packed.extend(given.map(|(number, _)| number));
        packed[0] = packed.len() as u32 - 1;
        if packed[0] != 0 {
            self.packs = Some(self.steps.len());
            let id = self.list(&packed);
            self.steps.push(abi::Step { id, ..step });
        }
    }

    /// Whether the fixpoint that ends at `at` is the common kind that the device has a short way for.
    fn is_plain(&self, program: &Program, at: usize, f: FixpointId, until: &abi::Step) -> bool {
        let [.., Step::Loop(start), Step::Wave(wave)] = program.schedule[..at] else {
            return false;
        };
        // The short way goes from sweep to sweep, and fills nothing between them.
        if self.refills.iter().any(|&(of, _)| of == f) {
            return false;
        }
        let wave = &program.waves[wave.index()];
        let Domain::EdgesFrom(topology, frontier) = wave.domain else {
            return false;
        };
        let described = &self.fixpoints[f.index()];
        let kernel = &self.kernels[wave.kernel.index()];
        let uniforms = &program.kernels[wave.kernel.index()].uniforms;
        start == f
            && program.frontiers[frontier.index()].owner == Some(f)
            && described.until_frontier == u32::from(frontier.0)
            && until.carried == u32::from(frontier.0)
            && (until.pushed_count == 1 || self.forms[wave.kernel.index()].quick.is_some())
            && self.swept_with[frontier.index()] == Some(topology.0.into())
            && (described.frontier_count, described.reduction_count) == (1, 0)
            && described.swap_count == 0
            && kernel.reduction_count == 0
            && kernel.dynamic_count <= 32
            && uniforms.iter().all(|u| match u {
                // What a loop around this one has found stays.
                Uniform::Reduction(r) => program.reductions[r.index()].owner != Some(f),
                // The short way takes every round for this fixpoint's.
                Uniform::OuterRound(_) => false,
                Uniform::Len(_) | Uniform::Began(_) => false,
                Uniform::Scalar(_) | Uniform::Constant(_) | Uniform::Nodes | Uniform::Round => true,
            })
    }

    /// Which frontiers the group that the step at `at` ends pushes to, and whom to blame for an overflow. The first one
    /// that the barrier's fixpoint owns travels in the barrier word.
    fn barrier(
        &mut self,
        program: &Program,
        at: usize,
        mut step: abi::Step,
        looked: &mut Vec<u32>,
    ) -> abi::Step {
        let mut pushed: Vec<[u32; 3]> = Vec::new();
        for wave in ended_at(&program.schedule, at) {
            let kernel = program.waves[wave.index()].kernel;
            let code = &program.kernels[kernel.index()].code;
            for (pc, word) in (0u32..).zip(code) {
                let adds = matches!(effect(word), Effect::Push | Effect::Reserve);
                let Some(resource) = word.names().filter(|_| adds) else {
                    continue;
                };
                let id = queue_number(program, resource).expect("items are added to a queue");
                let entry = [id, kernel.0.into(), pc];
                match pushed.iter_mut().find(|e| e[0] == entry[0]) {
                    Some(e) => *e = (*e).min(entry),
                    None => pushed.push(entry),
                }
            }
        }
        pushed.sort_unstable();
        let fixpoint = (step.kind == abi::step::UNTIL).then_some(FixpointId(step.id as u16));
        if let Some(first) = pushed
            .iter()
            .position(|e| {
                let frontier = program.frontiers.get(e[0] as usize);
                fixpoint.is_some() && frontier.is_some_and(|f| f.owner == fixpoint)
            })
            .or((!pushed.is_empty()).then_some(0))
        {
            pushed[..=first].rotate_right(1);
            step.carried = pushed[0][0];
            looked.extend(pushed[1..].iter().map(|e| e[0]));
        }
        step.pushed_count = pushed.len() as u32;
        step.pushed = self.list(pushed.as_flattened());
        step
    }
}

/// Whether a round of this fixpoint has a barrier behind its start: for fills; and for frontiers and lists, whose second
/// flip zeroes the counter that slower CTAs look at up to then.
fn begins_anew(program: &Program, f: FixpointId) -> bool {
    let buffers = program.buffers.iter().map(|b| b.reset);
    let mut all = buffers.chain(program.queues().map(|(_, q)| q.reset));
    all.any(|reset| reset == Some(f))
}

/// The lists that rounds of this fixpoint empty, those of nodes first, by the device's numbers.
fn lists_emptied(program: &Program, f: FixpointId) -> Vec<u32> {
    let queues = (0u32..).zip(program.queues());
    let emptied = queues.filter(|(_, (_, q))| q.stays && q.reset == Some(f));
    emptied.map(|(number, _)| number).collect()
}

/// A step that fills nothing, as all are before a run says otherwise.
const NOTHING: abi::Step = abi::Step {
    kind: abi::step::FILL,
    id: 0,
    carried: NONE,
    pushed: 0,
    pushed_count: 0,
    settle: 0,
    plain: 0,
    kept: 0,
};

/// The wave at this step of the schedule, the only one of a plain fixpoint, if it may pull without running
/// its kernel.
fn pulling(program: &Program, at: usize) -> Option<Pulling> {
    let Step::Wave(id) = program.schedule[at] else {
        return None;
    };
    let wave = &program.waves[id.index()];
    let Domain::EdgesFrom(topology, _) = wave.domain else {
        return None;
    };
    let claim = pull::claim(program, wave).filter(|c| c.pushes)?;
    let (taken, by_round) = match claim.taken {
        Taken::Constant(taken) => (taken, 0),
        Taken::Round(more) => (more, 1),
    };
    Some(Pulling {
        wave: id.index(),
        topology,
        reverse: pull::reverse(program, topology),
        entry: abi::Pull {
            buffer: claim.buffer.0.into(),
            free: claim.free,
            taken,
            by_round,
            ..Default::default()
        },
    })
}

/// The frontier whose emptiness a condition tests, when that is all it does.
fn empty_frontier(until: &Kernel) -> u32 {
    let [test, ret] = until.code.as_slice() else {
        return NONE;
    };
    let operands = match (test.a, test.b) {
        (a, IMM) => Some(a),
        (IMM, b) => Some(b),
        _ => None,
    };
    let slot = operands.and_then(|o| o.checked_sub(UNIFORM_BASE));
    let uniform = slot.and_then(|s| until.uniforms.get(usize::from(s)));
    match uniform {
        Some(Uniform::Len(QueueId::Frontier(f)))
            if op(test) == Op::Eq32 && test.imm == 0 && op(ret) == Op::RetV && ret.a == test.d =>
        {
            f.0.into()
        }
        _ => NONE,
    }
}

/// Whether a fixpoint's condition loops, and so may be stopped on some CTAs when it has ended on others: they must hear
/// of each other before they go on.
fn may_be_cut_short(program: &Program, f: FixpointId) -> bool {
    let until = &program.kernels[program.fixpoints[f.index()].until.index()];
    until.code.iter().any(|word| op(word) == Op::Loop)
}

/// Whether a fixpoint's condition reads something that the waves after it may change while slower CTAs still evaluate
/// it: a reduction that the next round does not reset.
fn unsettled(program: &Program, f: FixpointId) -> bool {
    let until = &program.kernels[program.fixpoints[f.index()].until.index()];
    until.uniforms.iter().any(|u| match u {
        Uniform::Reduction(r) => program.reductions[r.index()].owner != Some(f),
        _ => false,
    })
}
