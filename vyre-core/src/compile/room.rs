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
//!   - `d[v].compare_exchange(a, b)`, with `a` and `b` that differ for certain: two literals or named constants, or one
//!     of them and `round + k`, which `max_rounds` keeps apart. Elements that were claimed once are no longer `a`.
//!   - `d[v].fetch_sub(k) == t` (`fetch_add`), with an odd literal `k` and a `t` that is one value for all or belongs to
//!     that element. Between two elements that are alike lie 2^32 steps, and a sweep has fewer items.
//!
//!   It is the body's only access to that buffer, and none of this is in a loop. Other waves of the same group would be
//!   in conflict with it. What happens to the buffer in other groups does not matter, as the wave runs once.
//!
//! Pushes can meet unless the ones are made before an outermost owner is entered, and the others in its rounds or later:
//! the first round's flip is between them. What is left when an inner owner ends meets the pushes before it begins again.
//!
//! Only rustc knows the values of named constants. Until a program is put together ([`Parts::program`]), a frontier whose
//! room depends on them has room for nodes and edges, and budgets count that.
//!
//! [`Parts::program`]: crate::vir0::module::Parts::program

use super::effects::Accesses;
use crate::compile::ir::{AtomicOp, BinaryOp, Body, CompareOp, Effect, Element, Expr, Stmt};
use crate::vir0::module::{
    Bound, BufferId, Domain, Extent, FixpointId, FrontierId, Program, Step, Uniform, Wave, WaveId,
};
use crate::vir0::scalar::Scalar;

/// Gives frontiers of nodes the room that their pushes need, where they have room for all nodes and edges and need less.
/// `named`: the fixpoints whose limit of rounds is a constant, which is not known yet. Gives the rooms that depend on
/// such limits and on named constants.
pub fn limit(program: &mut Program, bodies: &[&Body], named: &[FixpointId]) -> Vec<Conditional> {
    let mut conditional = Vec::new();
    for id in 0..program.frontiers.len() {
        let frontier = &program.frontiers[id];
        let by_default = frontier.capacity == Extent::NodesPlusEdges;
        if !by_default || frontier.unique || !frontier.fields.is_empty() {
            continue;
        }
        let mut apart = Vec::new();
        let frontier = FrontierId(id as u16);
        match times_nodes(program, (bodies, named), frontier, &mut apart) {
            Some(0) | None => {}
            Some(times) if apart.is_empty() => {
                program.frontiers[id].capacity = Extent::NodesTimes(times);
            }
            Some(times) => conditional.push(Conditional {
                frontier,
                times,
                apart,
            }),
        }
    }
    conditional
}

/// Room that a frontier needs if values differ that are not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// Which.
    pub frontier: FrontierId,
    /// Items for each node.
    pub times: u32,
    /// Each of these are never the same.
    pub apart: Vec<[Bound; 2]>,
}

/// Most items for each node that a side can hold.
fn times_nodes(
    program: &Program,
    (bodies, named): (&[&Body], &[FixpointId]),
    frontier: FrontierId,
    apart: &mut Vec<[Bound; 2]>,
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
        let sites = sites(program, (wave, body, named), frontier, apart)?;
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
    apart: &mut Vec<[Bound; 2]>,
) -> Option<u32> {
    let mut walk = Walk {
        program,
        wave,
        accesses: Accesses::of(body),
        body: &body.block,
        named,
        frontier,
        sites: 0,
        apart: Vec::new(),
    };
    walk.block(&body.block, &mut Vec::new(), false)?;
    for pair in walk.apart {
        if !apart.contains(&pair) {
            apart.push(pair);
        }
    }
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
    /// What the pushes presume.
    apart: Vec<[Bound; 2]>,
}

/// The index that a condition is met for at most once, if these values differ.
type Met<'b> = (&'b Expr, Option<[Bound; 2]>);

impl<'b> Walk<'_, 'b> {
    /// `met`: the indices that conditions around are met for at most once.
    fn block(&mut self, block: &'b [Stmt], met: &mut Vec<Met<'b>>, in_loop: bool) -> Option<()> {
        for stmt in block {
            match stmt {
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
                other => {
                    let pushed = match other.effect() {
                        Effect::Push(frontier, node, _) if frontier == self.frontier => node,
                        _ => continue,
                    };
                    if in_loop {
                        return None;
                    }
                    let presumed = self.is_once(pushed?, met)?;
                    self.apart.extend(presumed);
                    self.sites = self.sites.checked_add(1)?;
                }
            }
        }
        Some(())
    }

    /// Whether a node is pushed at most once, and what that presumes.
    fn is_once(&self, node: &'b Expr, met: &[Met<'b>]) -> Option<Option<[Bound; 2]>> {
        let each_once = match self.wave.domain {
            // It pushes once at all.
            Domain::Once => return Some(None),
            Domain::Nodes => true,
            Domain::Items(f) => self.program.frontiers[f.index()].unique,
            _ => false,
        };
        if each_once && self.accesses.is_item(node) {
            return Some(None);
        }
        let same =
            |index: &'b Expr| self.accesses.is_stable(index) && self.accesses.same(node, index);
        let of_node = met.iter().filter(|(index, _)| same(index));
        // Nothing is presumed that need not be.
        of_node.map(|&(_, apart)| apart).min_by_key(Option::is_some)
    }

    /// The indices for which a condition holds at most once.
    fn conditions(&self, cond: &'b Expr, met: &mut Vec<Met<'b>>) {
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
            } if self.is_alone(*buffer) => {
                if let Some(apart) = self.differ(expected, new) {
                    met.push((index, apart));
                }
            }
            Expr::Compare {
                op: CompareOp::Eq,
                left,
                right,
                ..
            } => {
                for (old, bound) in [(left, right), (right, left)] {
                    met.extend(self.counted(old, bound).map(|index| (index, None)));
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

    /// Whether two values are never the same; of values that are not known yet, what has to be so.
    fn differ(&self, a: &'b Expr, b: &'b Expr) -> Option<Option<[Bound; 2]>> {
        let pair = [self.bound(a)?, self.bound(b)?];
        let is_open = |bound: &Bound| match *bound {
            Bound::Literal(_) => false,
            Bound::Constant(_) => true,
            Bound::Round(fixpoint, _) => self.named.contains(&FixpointId(fixpoint)),
        };
        match pair.iter().any(is_open) {
            true => Some(Some(pair)),
            false => Bound::are_apart(pair, self.program).then_some(None),
        }
    }

    /// A literal, a named constant, or the round with a literal added.
    fn bound(&self, e: &'b Expr) -> Option<Bound> {
        let (round, add) = match self.accesses.named(e) {
            Expr::Literal(Scalar::U8 | Scalar::U32 | Scalar::Bool, bits) => {
                return Some(Bound::Literal(*bits));
            }
            Expr::Uniform(Uniform::Constant(id), Scalar::U8 | Scalar::U32 | Scalar::Bool) => {
                return Some(Bound::Constant(id.0));
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
        let of = match round {
            Expr::Uniform(Uniform::Round, Scalar::U32) => self.wave.fixpoint?,
            Expr::Uniform(Uniform::OuterRound(of), Scalar::U32) => *of,
            _ => return None,
        };
        Some(Bound::Round(of.0, add))
    }
}

/// Whether a buffer is touched in a loop.
fn is_looped(block: &[Stmt], buffer: BufferId, in_loop: bool) -> bool {
    fn touches(e: &Expr, buffer: BufferId) -> bool {
        let changes = |e: Element<'_>| e.buffer == buffer && e.how.changes();
        matches!(e.effect(), Effect::Element(e) if changes(e))
            || e.operands().any(|x| touches(x, buffer))
    }
    block.iter().any(|stmt| {
        let inside = in_loop || matches!(stmt, Stmt::Loop { .. });
        in_loop && stmt.operands().any(|e| touches(e, buffer))
            || stmt.blocks().any(|b| is_looped(b, buffer, inside))
    })
}
