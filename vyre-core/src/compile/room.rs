//! How many items a frontier of nodes can hold, where its pushes say so.
//!
//! A frontier has two sides: pushes go to one, while the other is swept, and they change places when a round of its
//! owner begins. If each place that pushes does so at most once for each node between two such flips, a side holds no
//! more than the nodes times the places whose pushes can meet on it. [`limit`] finds that out, and gives the frontier
//! that room.
//!
//! A push is made at most once for each node between two flips if
//!
//! - **its wave runs once between them**: it is a wave of the owner, or of a scope around it. Any such scope enters the
//!   owner in each of its rounds, and an owner that is entered runs a round. A wave in a fixpoint inside the owner, or
//!   beside it, may run many times;
//! - **in one run it is made at most once for each node**: its wave runs `once`; the node is the item of a sweep that
//!   has each node once; or it is the index of an element that was claimed, or whose count was reached, under that very
//!   condition:
//!   - `d[v].compare_exchange(a, b)`, with `a` and `b` that differ for certain: two literals, or a literal and
//!     `round + k`, which `max_rounds` keeps apart. Elements that were claimed once are no longer `a`.
//!   - `d[v].fetch_sub(k) == t` (`fetch_add`), with an odd literal `k` and a `t` that is one value for all or belongs to
//!     that element. Between two elements that are alike lie 2^32 steps, and no sweep has so many items.
//!
//!   It is the body's only access to that buffer, and none of this is in a loop. Other waves of the same group would be
//!   in conflict with it. What happens to the buffer in other groups does not matter, as the wave runs once.
//!
//! Pushes can meet unless the ones are made before an outermost owner is entered, and the others in its rounds or later:
//! the first round's flip is between them. What is left when an inner owner ends meets the pushes before it begins again.

use super::effects::Accesses;
use crate::compile::ir::{AtomicOp, BinaryOp, Body, CompareOp, Expr, Stmt};
use crate::vir0::module::{
    BufferId, Domain, Extent, FixpointId, FrontierId, Program, Step, Uniform, Wave, WaveId,
};
use crate::vir0::scalar::Scalar;

/// Gives frontiers of nodes the room that their pushes need, where they have room for all nodes and edges and need less.
/// `named`: the fixpoints whose limit of rounds is a constant, which is not known yet.
pub fn limit(program: &mut Program, bodies: &[&Body], named: &[FixpointId]) {
    for id in 0..program.frontiers.len() {
        let frontier = &program.frontiers[id];
        let by_default = frontier.capacity == Extent::NodesPlusEdges;
        if !by_default || frontier.unique || !frontier.fields.is_empty() {
            continue;
        }
        match times_nodes(program, (bodies, named), FrontierId(id as u16)) {
            Some(0) | None => {}
            Some(times) => program.frontiers[id].capacity = Extent::NodesTimes(times),
        }
    }
}

/// Most items for each node that a side can hold.
fn times_nodes(
    program: &Program,
    (bodies, named): (&[&Body], &[FixpointId]),
    frontier: FrontierId,
) -> Option<u32> {
    let owner = program.frontiers[frontier.index()].owner;
    let at = |step: Step| program.schedule.iter().position(|s| *s == step);
    let entry = match owner {
        // Parts enter theirs by themselves, and count their own nodes.
        Some(owner) if is_of_parts(program, owner) => return None,
        Some(owner) => Some(at(Step::Loop(owner))?),
        None => None,
    };
    let outermost = owner.is_some_and(|o| program.fixpoints[o.index()].parent.is_none());
    let (mut before, mut others) = (0u32, 0u32);
    for (id, (wave, body)) in (0..).zip(program.waves.iter().zip(bodies)) {
        let sites = sites(program, (wave, body, named), frontier)?;
        if sites == 0 {
            continue;
        }
        if !runs_once(program, wave, owner) {
            return None;
        }
        let at = at(Step::Wave(WaveId(id)))?;
        let side = match entry {
            Some(entry) if outermost && at < entry => &mut before,
            _ => &mut others,
        };
        *side = side.checked_add(sites)?;
    }
    Some(before.max(others))
}

/// Whether a fixpoint is one that each part enters by itself, or in one.
fn is_of_parts(program: &Program, fixpoint: FixpointId) -> bool {
    let of_parts = |f| {
        program
            .schedule
            .iter()
            .any(|s| matches!(s, Step::Each(x, _) if *x == f))
    };
    let mut scope = Some(fixpoint);
    while let Some(fixpoint) = scope {
        if of_parts(fixpoint) {
            return true;
        }
        scope = program.fixpoints[fixpoint.index()].parent;
    }
    false
}

/// Whether a wave runs once between two flips of what this scope owns.
fn runs_once(program: &Program, wave: &Wave, owner: Option<FixpointId>) -> bool {
    let mut scope = owner;
    loop {
        if wave.fixpoint == scope {
            return true;
        }
        match scope {
            None => return false,
            Some(fixpoint) => scope = program.fixpoints[fixpoint.index()].parent,
        }
    }
}

/// The places of a body that push to a frontier, if each does so at most once for each node in a run of the wave.
fn sites(
    program: &Program,
    (wave, body, named): (&Wave, &Body, &[FixpointId]),
    frontier: FrontierId,
) -> Option<u32> {
    let mut walk = Walk {
        program,
        wave,
        accesses: Accesses::of(body),
        body: &body.block,
        named,
        frontier,
        sites: 0,
    };
    walk.block(&body.block, &mut Vec::new(), false)?;
    Some(walk.sites)
}

struct Walk<'p, 'b> {
    program: &'p Program,
    wave: &'p Wave,
    accesses: Accesses<'b>,
    body: &'b [Stmt],
    frontier: FrontierId,
    named: &'p [FixpointId],
    sites: u32,
}

impl<'b> Walk<'_, 'b> {
    /// `met`: the indices that conditions around are met for at most once.
    fn block(&mut self, block: &'b [Stmt], met: &mut Vec<&'b Expr>, in_loop: bool) -> Option<()> {
        for stmt in block {
            match stmt {
                Stmt::Push {
                    frontier, value, ..
                } if *frontier == self.frontier => {
                    if in_loop || !self.is_once(value, met) {
                        return None;
                    }
                    self.sites = self.sites.checked_add(1)?;
                }
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let before = met.len();
                    self.conditions(cond, met);
                    self.block(then, met, in_loop)?;
                    met.truncate(before);
                    self.block(otherwise, met, in_loop)?;
                }
                Stmt::Loop { body, .. } => self.block(body, met, true)?,
                Stmt::PushItem { .. }
                | Stmt::Push { .. }
                | Stmt::Assign(..)
                | Stmt::ArrayFill { .. }
                | Stmt::ArrayAssign { .. }
                | Stmt::ArrayStore { .. }
                | Stmt::Eval(_)
                | Stmt::Store { .. }
                | Stmt::AtomicStore { .. }
                | Stmt::Reduce { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Return
                | Stmt::Assert { .. }
                | Stmt::CheckIndex { .. } => {}
            }
        }
        Some(())
    }

    fn is_once(&self, node: &'b Expr, met: &[&'b Expr]) -> bool {
        let each_once = match self.wave.domain {
            // It pushes once at all.
            Domain::Once => return true,
            Domain::Nodes => true,
            Domain::Items(f) => self.program.frontiers[f.index()].unique,
            _ => false,
        };
        each_once && self.accesses.is_item(node)
            || met
                .iter()
                .any(|index| self.accesses.is_stable(index) && self.accesses.same(node, index))
    }

    /// The indices for which a condition holds at most once.
    fn conditions(&self, cond: &'b Expr, met: &mut Vec<&'b Expr>) {
        match self.accesses.named(cond) {
            Expr::Binary {
                op: BinaryOp::And,
                scalar: Scalar::Bool,
                left,
                right,
                ..
            } => {
                self.conditions(left, met);
                self.conditions(right, met);
            }
            Expr::CompareExchange {
                buffer,
                index,
                expected,
                new,
                ..
            } if self.is_alone(*buffer) && self.differ(expected, new) => met.push(index),
            Expr::Compare {
                op: CompareOp::Eq,
                left,
                right,
                ..
            } => {
                for (old, bound) in [(left, right), (right, left)] {
                    met.extend(self.counted(old, bound));
                }
            }
            _ => {}
        }
    }

    /// The index of a count, if it comes by this bound once.
    fn counted(&self, old: &'b Expr, bound: &'b Expr) -> Option<&'b Expr> {
        let mut old = self.accesses.named(old);
        // `fetch_add(1) + 1 == bound`.
        if let Expr::Binary {
            op: BinaryOp::Add | BinaryOp::Sub,
            left,
            right,
            ..
        } = old
            && self.accesses.is_uniform(right)
        {
            old = self.accesses.named(left);
        }
        let Expr::Atomic {
            op: AtomicOp::Add | AtomicOp::Sub,
            buffer,
            scalar: Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64,
            index,
            value,
            ..
        } = old
        else {
            return None;
        };
        let is_odd = matches!(self.accesses.named(value), Expr::Literal(_, k) if k % 2 == 1);
        let counts = is_odd && self.is_alone(*buffer);
        (counts && self.accesses.is_bound(bound, index)).then_some(index)
    }

    /// Whether the body has one access to a buffer, and that in no loop.
    fn is_alone(&self, buffer: BufferId) -> bool {
        self.accesses.has_one(buffer) && !is_looped(self.body, buffer, false)
    }

    /// Whether two values are never the same.
    fn differ(&self, a: &'b Expr, b: &'b Expr) -> bool {
        let (a, b) = (self.accesses.named(a), self.accesses.named(b));
        match (self.range(a), self.range(b)) {
            (Some((a, most)), Some((b, other))) => most < b || other < a,
            _ => false,
        }
    }

    /// The least and the most that a value can be: a literal, or the round with a literal added.
    fn range(&self, e: &Expr) -> Option<(u64, u64)> {
        let (round, add) = match e {
            Expr::Literal(Scalar::U8 | Scalar::U32 | Scalar::Bool, bits) => {
                return Some((*bits, *bits));
            }
            Expr::Binary {
                op: BinaryOp::Add,
                left,
                right,
                ..
            } => match (&**left, &**right) {
                (round, Expr::Literal(_, k)) | (Expr::Literal(_, k), round) => (round, *k),
                _ => return None,
            },
            round => (round, 0),
        };
        let Expr::Uniform(Uniform::Round, Scalar::U32) = round else {
            return None;
        };
        let id = self.wave.fixpoint.filter(|f| !self.named.contains(f))?;
        let fixpoint = &self.program.fixpoints[id.index()];
        let last = fixpoint.max_rounds.checked_sub(1)?;
        let most = last.checked_add(add)?;
        (most <= u32::MAX.into()).then_some((add, most))
    }
}

/// Whether a buffer is touched in a loop.
fn is_looped(block: &[Stmt], buffer: BufferId, in_loop: bool) -> bool {
    fn touches(e: &Expr, buffer: BufferId) -> bool {
        let mut found = matches!(
            e,
            Expr::Atomic { buffer: b, .. } | Expr::CompareExchange { buffer: b, .. } if *b == buffer
        );
        e.each_operand(&mut |x| found = found || touches(x, buffer));
        found
    }
    block.iter().any(|stmt| {
        let mut found = false;
        if in_loop {
            stmt.each_operand(&mut |e| found = found || touches(e, buffer));
        }
        let inside = in_loop || matches!(stmt, Stmt::Loop { .. });
        stmt.each_block(&mut |b| found = found || is_looped(b, buffer, inside));
        found
    })
}
