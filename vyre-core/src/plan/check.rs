//! An independent checker: takes a plan, and derives again that it is legal.
//!
//! It shares no code with the planners. [`groups`] looks at barrier groups: every node runs once, every edge crosses a
//! barrier, nothing conflicts inside a group, and the bytes fit. [`program`] does the same for the schedule of a whole
//! program, nested fixpoints included: it walks the steps as the device would, and compares what shares the time
//! between two barriers.
//!
//! ```
//! use vyre_core::plan::{Edge, NodeId};
//! use vyre_core::plan::check::{Plan, Violation, groups};
//! let edges = [Edge::new(0, 1)];
//! let together = [vec![NodeId(0), NodeId(1)]];
//! let plan = Plan { edges: &edges, accesses: &[vec![], vec![]], groups: &together, bytes: None };
//! assert_eq!(groups(&plan), [Violation::NoBarrier { edge: 0, before: NodeId(0), after: NodeId(1) }]);
//! ```

use super::memory::{Readback, Scratch, WaveBytes};
use super::{Edge, NodeId};
use crate::vir0::module::{
    Access, FixpointId, Mode, NodeRef, Portion, Program, Resource, Step, UpdateOp, Wave, WaveId,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// A plan of barrier groups, with what it has to respect.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The order asked for.
    pub edges: &'a [Edge],
    /// What each node uses.
    pub accesses: &'a [Vec<Access>],
    /// The groups, a barrier between each two.
    pub groups: &'a [Vec<NodeId>],
    /// Bytes to be checked.
    pub bytes: Option<Bytes<'a>>,
}

/// What a plan has to fit in.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    /// Bytes of each node.
    pub waves: &'a [WaveBytes],
    /// Resident during the whole run.
    pub graph_bytes: u64,
    /// Scratch of the route.
    pub scratch: Scratch,
    /// When outputs leave.
    pub readback: Readback,
    /// The most that may be live.
    pub budget_bytes: u64,
    /// The peak that the plan states.
    pub peak_bytes: u64,
}

/// Why a plan is not legal.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum Violation {
    /// A node is in no group or in several.
    #[error("node {node} runs {times} times")]
    NotOnce {
        /// Which.
        node: NodeId,
        /// Groups it is in.
        times: usize,
    },
    /// A group names a node that is not there.
    #[error("group {group} names node {node}; there are {nodes} nodes")]
    Unknown {
        /// The group.
        group: usize,
        /// What it names.
        node: NodeId,
        /// Nodes of the plan.
        nodes: usize,
    },
    /// Two ordered nodes are not separated by a barrier in their order.
    #[error("edge {edge}: no barrier between node {before} and node {after}")]
    NoBarrier {
        /// Position in the edge list.
        edge: usize,
        /// To run first.
        before: NodeId,
        /// To run later.
        after: NodeId,
    },
    /// Two nodes of a group clash.
    #[error("nodes {first} and {second} of group {group} conflict over {resource:?}")]
    Conflict {
        /// The group.
        group: usize,
        /// Lower node.
        first: NodeId,
        /// Higher node.
        second: NodeId,
        /// What both use.
        resource: Resource,
    },
    /// More is live during a group than allowed.
    #[error("group {group} needs {needed_bytes} bytes; budget is {budget_bytes}")]
    Budget {
        /// The group.
        group: usize,
        /// Live bytes.
        needed_bytes: u128,
        /// Allowed.
        budget_bytes: u64,
    },
    /// The stated peak is wrong.
    #[error("the peak is {actual_bytes} bytes; the plan says {stated_bytes}")]
    Peak {
        /// Derived.
        actual_bytes: u128,
        /// Stated.
        stated_bytes: u64,
    },
    /// The steps of a schedule do not form what they should.
    #[error("step {step}: {problem}")]
    Schedule {
        /// Position in the schedule.
        step: usize,
        /// What is wrong.
        problem: ScheduleProblem,
    },
    /// A wave or fixpoint starts before one that it must come after has ended.
    #[error("no barrier between {before:?} and {after:?}")]
    Order {
        /// To run first.
        before: NodeRef,
        /// To run later.
        after: NodeRef,
    },
    /// Two waves between the same barriers clash.
    #[error("waves {} and {} conflict over {resource:?}", first.0, second.0)]
    Waves {
        /// Lower wave.
        first: WaveId,
        /// Higher wave.
        second: WaveId,
        /// What both use.
        resource: Resource,
    },
    /// A wave uses what a fixpoint flips or resets between the same barriers.
    #[error("wave {} uses {resource:?} while fixpoint {} begins", wave.0, fixpoint.0)]
    Entry {
        /// The wave, outside the fixpoint.
        wave: WaveId,
        /// The fixpoint that owns the resource.
        fixpoint: FixpointId,
        /// A frontier or a reduction.
        resource: Resource,
    },
}

crate::debug_is_display!(Violation);

/// What is wrong with a step.
#[derive(Clone, Copy, Error, PartialEq, Eq)]
pub enum ScheduleProblem {
    /// A wave or fixpoint that is not there.
    #[error("names something that does not exist")]
    Unknown,
    /// A wave swept twice, or a fixpoint entered twice.
    #[error("repeats")]
    Repeats,
    /// A wave or fixpoint outside its parent.
    #[error("is not inside its fixpoint")]
    WrongPlace,
    /// An `until` without its `loop`.
    #[error("does not match the innermost open fixpoint")]
    Unmatched,
    /// The end with open fixpoints, before the last step or missing; or something that never runs.
    #[error("ends before everything ran")]
    Incomplete,
}

crate::debug_is_display!(ScheduleProblem);

/// Everything that is wrong with a plan of groups.
pub fn groups(plan: &Plan<'_>) -> Vec<Violation> {
    let nodes = plan.accesses.len();
    let mut found = Vec::new();
    let mut group_of = vec![None; nodes];
    let mut times = vec![0usize; nodes];
    for (group, members) in plan.groups.iter().enumerate() {
        for &node in members {
            match times.get_mut(node.index()) {
                Some(n) => {
                    *n += 1;
                    group_of[node.index()] = Some(group);
                }
                None => found.push(Violation::Unknown { group, node, nodes }),
            }
        }
    }
    for (v, &times) in times.iter().enumerate() {
        if times != 1 {
            let node = NodeId(v as u32);
            found.push(Violation::NotOnce { node, times });
        }
    }
    if !found.is_empty() {
        return found;
    }
    for (at, e) in plan.edges.iter().enumerate() {
        let place = |v: NodeId| group_of.get(v.index()).copied().flatten();
        if place(e.before) >= place(e.after) {
            found.push(Violation::NoBarrier {
                edge: at,
                before: e.before,
                after: e.after,
            });
        }
    }
    for (group, members) in plan.groups.iter().enumerate() {
        let uses = members.iter().flat_map(|&v| {
            let accesses = &plan.accesses[v.index()];
            accesses.iter().map(move |a| (a.resource, (v, a.mode)))
        });
        for (resource, first, second) in clashes(uses, |_, _, _| false) {
            found.push(Violation::Conflict {
                group,
                first,
                second,
                resource,
            });
        }
    }
    if let Some(bytes) = &plan.bytes {
        check_bytes(plan, bytes, &mut found);
    }
    found
}

fn check_bytes(plan: &Plan<'_>, bytes: &Bytes<'_>, found: &mut Vec<Violation>) {
    let graph = u128::from(bytes.graph_bytes);
    let (mut kept, mut peak) = (0u128, graph);
    for (group, members) in plan.groups.iter().enumerate() {
        let (mut temporary, mut outputs) = (0u128, 0u128);
        for v in members {
            let wave = &bytes.waves[v.index()];
            let scratch = wave.scratch_bytes.max(bytes.scratch.at_least_bytes);
            temporary += u128::from(wave.frontier_bytes);
            temporary += u128::from(bytes.scratch.factor) * u128::from(scratch);
            outputs += u128::from(wave.output_bytes);
        }
        let live = graph + kept + temporary + outputs;
        peak = peak.max(live);
        if live > u128::from(bytes.budget_bytes) {
            found.push(Violation::Budget {
                group,
                needed_bytes: live,
                budget_bytes: bytes.budget_bytes,
            });
        }
        if bytes.readback == Readback::AtEnd {
            kept += outputs;
        }
    }
    if peak != u128::from(bytes.peak_bytes) {
        found.push(Violation::Peak {
            actual_bytes: peak,
            stated_bytes: bytes.peak_bytes,
        });
    }
}

/// Pairs of users of one resource that may not run together; each pair once for a resource.
fn clashes<T: Copy + Ord>(
    uses: impl Iterator<Item = (Resource, (T, Mode))>,
    excused: impl Fn(Resource, (T, Mode), (T, Mode)) -> bool,
) -> Vec<(Resource, T, T)> {
    let mut users: BTreeMap<Resource, Vec<(T, Mode)>> = BTreeMap::new();
    for (resource, user) in uses {
        users.entry(resource).or_default().push(user);
    }
    let mut found = Vec::new();
    for (resource, users) in users {
        // All in one harmless mode: the usual case, and no pairs to look at.
        if users
            .iter()
            .all(|u| u.1 == users[0].1 && u.1 != Mode::Write)
        {
            continue;
        }
        for (i, &a) in users.iter().enumerate() {
            for &b in &users[i + 1..] {
                let harmless = match (a.1, b.1) {
                    (Mode::Read, Mode::Read) => true,
                    (Mode::Update(x), Mode::Update(y)) => x == y,
                    _ => false,
                };
                if a.0 != b.0 && !harmless && !excused(resource, a, b) {
                    found.push((resource, a.0.min(b.0), a.0.max(b.0)));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// When something runs, counted in barriers passed.
#[derive(Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
}

/// Everything that is wrong with the schedule of a program: order, conflicts, nesting.
pub fn program(program: &Program) -> Vec<Violation> {
    let mut walk = Walk {
        program,
        time: 0,
        open: Vec::new(),
        waves: vec![None; program.waves.len()],
        fixpoints: vec![None; program.fixpoints.len()],
        found: Vec::new(),
    };
    for (at, step) in program.schedule.iter().enumerate() {
        if let Err(problem) = walk.step(at, *step) {
            walk.found.push(Violation::Schedule { step: at, problem });
        }
    }
    let complete = matches!(program.schedule.last(), Some(Step::End))
        && walk.waves.iter().all(Option::is_some)
        && walk.fixpoints.iter().all(Option::is_some);
    if !complete {
        walk.found.push(Violation::Schedule {
            step: program.schedule.len().saturating_sub(1),
            problem: ScheduleProblem::Incomplete,
        });
    }
    if walk.found.is_empty() {
        walk.order();
        walk.conflicts();
        walk.entries();
    }
    walk.found
}

struct Walk<'a> {
    program: &'a Program,
    /// Barriers passed.
    time: usize,
    open: Vec<FixpointId>,
    waves: Vec<Option<Span>>,
    fixpoints: Vec<Option<Span>>,
    found: Vec<Violation>,
}

impl Walk<'_> {
    fn step(&mut self, at: usize, step: Step) -> Result<(), ScheduleProblem> {
        let span = Span {
            begin: self.time,
            end: self.time,
        };
        let innermost = self.open.last().copied();
        match step {
            Step::Wave(w) => {
                let wave = self.program.waves.get(w.index());
                let wave = wave.ok_or(ScheduleProblem::Unknown)?;
                if self.waves[w.index()].replace(span).is_some() {
                    return Err(ScheduleProblem::Repeats);
                }
                if wave.fixpoint != innermost {
                    return Err(ScheduleProblem::WrongPlace);
                }
            }
            Step::Barrier => self.time += 1,
            Step::Loop(f) | Step::Each(f, _) => {
                let fixpoint = self.program.fixpoints.get(f.index());
                let fixpoint = fixpoint.ok_or(ScheduleProblem::Unknown)?;
                self.open.push(f);
                if self.fixpoints[f.index()].replace(span).is_some() {
                    return Err(ScheduleProblem::Repeats);
                }
                if fixpoint.parent != innermost {
                    return Err(ScheduleProblem::WrongPlace);
                }
            }
            Step::Until(f) => {
                if self.open.pop() != Some(f) {
                    return Err(ScheduleProblem::Unmatched);
                }
                if let Some(span) = &mut self.fixpoints[f.index()] {
                    span.end = self.time;
                }
                self.time += 1;
            }
            Step::End => {
                if at + 1 != self.program.schedule.len() || !self.open.is_empty() {
                    return Err(ScheduleProblem::Incomplete);
                }
            }
        }
        Ok(())
    }

    fn span(&self, node: NodeRef) -> Span {
        match node {
            NodeRef::Wave(w) => self.waves.get(w.index()),
            NodeRef::Fixpoint(f) => self.fixpoints.get(f.index()),
        }
        .copied()
        .flatten()
        .unwrap_or(Span {
            begin: 0,
            end: usize::MAX,
        })
    }

    fn order(&mut self) {
        let waves = self.program.waves.iter().enumerate();
        let waves = waves.map(|(i, w)| (NodeRef::Wave(WaveId(i as u16)), &w.after));
        let fixpoints = self.program.fixpoints.iter().enumerate();
        let fixpoints = fixpoints.map(|(i, f)| (NodeRef::Fixpoint(FixpointId(i as u16)), &f.after));
        for (after, befores) in waves.chain(fixpoints) {
            for &before in befores {
                if self.span(before).end >= self.span(after).begin {
                    self.found.push(Violation::Order { before, after });
                }
            }
        }
    }

    /// Whether the wave is somewhere inside the fixpoint.
    fn inside(&self, wave: &Wave, fixpoint: FixpointId) -> bool {
        let mut at = wave.fixpoint;
        while let Some(f) = at {
            if f == fixpoint {
                return true;
            }
            at = self.program.fixpoints[f.index()].parent;
        }
        false
    }

    fn conflicts(&mut self) {
        let program = self.program;
        let mut by_time: Vec<(usize, WaveId)> = (0..program.waves.len())
            .map(|w| {
                let id = WaveId(w as u16);
                (self.span(NodeRef::Wave(id)).begin, id)
            })
            .collect();
        by_time.sort_unstable();
        // Inside the fixpoint that owns a frontier, a sweep and a push are of different rounds.
        let excused = |resource, a: (WaveId, Mode), b: (WaveId, Mode)| {
            let Resource::Queue(queue) = resource else {
                return false;
            };
            let Some(owner) = program.queue(queue).and_then(|q| q.owner) else {
                return false;
            };
            let usual = |m| !matches!(m, Mode::Update(op) if op != UpdateOp::Push);
            usual(a.1)
                && usual(b.1)
                && self.inside(&program.waves[a.0.index()], owner)
                && self.inside(&program.waves[b.0.index()], owner)
        };
        let mut found = Vec::new();
        for together in by_time.chunk_by(|a, b| a.0 == b.0) {
            let uses = together.iter().flat_map(|&(_, id)| {
                let wave = &program.waves[id.index()];
                // What is last of a relation was there before the round.
                let last = match wave.domain.list() {
                    Some((list, Portion::Last)) => Some(Resource::from(list)),
                    _ => None,
                };
                let meets = move |a: &&Access| (Some(a.resource), a.mode) != (last, Mode::Read);
                let accesses = wave.accesses.iter().filter(meets);
                accesses.map(move |a| (a.resource, (id, a.mode)))
            });
            for (resource, first, second) in clashes(uses, excused) {
                found.push(Violation::Waves {
                    first,
                    second,
                    resource,
                });
            }
        }
        self.found.append(&mut found);
    }

    /// A fixpoint flips its frontiers and resets its reductions when it begins.
    fn entries(&mut self) {
        let program = self.program;
        let mut found = Vec::new();
        for (w, wave) in program.waves.iter().enumerate() {
            let id = WaveId(w as u16);
            for access in &wave.accesses {
                let owner = match access.resource {
                    Resource::Queue(q) => program.queue(q).and_then(|q| q.owner),
                    Resource::Reduction(r) => program.reductions[r.index()].owner,
                    Resource::Topology(_) | Resource::Buffer(_) => None,
                };
                let Some(owner) = owner else { continue };
                let begins = self.span(NodeRef::Fixpoint(owner)).begin;
                if !self.inside(wave, owner) && self.span(NodeRef::Wave(id)).begin == begins {
                    found.push(Violation::Entry {
                        wave: id,
                        fixpoint: owner,
                        resource: access.resource,
                    });
                }
            }
        }
        self.found.append(&mut found);
    }
}
