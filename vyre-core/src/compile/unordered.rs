//! Loops over the tuples of a key, which come in another order in the next run: whether what they leave behind shows it.
//!
//! A turn may do what commutes with the same of other turns. It takes a value into a local or an element by one
//! operation, or sets it to a value that all turns share; it keeps nothing from the turn before; and it never leaves the
//! loop, since which turn is the first to do so is open. What the rules of [`effects`](super::effects) say about pushes,
//! appends, inserts, reductions and atomics holds in any order, but for those that trust in the order of one item's
//! statements: of its own elements, that is what is asked here.

use super::ir::{AtomicOp, BinaryOp, Effect, Expr, LocalId, Stmt};
use crate::vir0::isa;
use crate::vir0::module::BufferId;
use crate::vir0::module::SiteId;
use crate::vir0::scalar::Scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Where a loop with this body goes over the tuples of a key: the place that names them.
pub(super) fn over(body: &[Stmt]) -> Option<SiteId> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Assign(_, Expr::Entry { site, .. }) => Some(*site),
        _ => None,
    })
}

/// Whether the order of turns shows. `outside` tells of a local whether it is read outside of the loop, `shared` of a
/// value whether it is the same in all turns.
pub(super) fn shows(
    body: &[Stmt],
    outside: &dyn Fn(LocalId) -> bool,
    shared: &dyn Fn(&Expr) -> bool,
) -> bool {
    // The loop's own end, and its counter.
    let Some((Stmt::If { cond, .. }, turn)) = body.split_first() else {
        return true;
    };
    let counter = match cond.operands().next() {
        Some(Expr::Local(counter)) => *counter,
        _ => return true,
    };
    let mut seen = Seen {
        shared,
        assigned: BTreeMap::new(),
        reads: BTreeMap::new(),
        carried: BTreeSet::new(),
        changed: BTreeMap::new(),
        loaded: BTreeSet::new(),
        shows: false,
    };
    seen.gather(turn, 0);
    seen.carry(turn, &mut BTreeSet::new());
    seen.assigned.remove(&counter);
    for (local, how) in &seen.assigned {
        if !outside(*local) && !seen.carried.contains(local) {
            continue;
        }
        let read = seen.reads.get(local).copied().unwrap_or(0);
        match how {
            How::By(_, times) if read == *times => {}
            How::Set if read == 0 => {}
            _ => return true,
        }
    }
    let both = |buffer: &BufferId| seen.loaded.contains(buffer);
    let kept = seen.changed.values().all(|how| *how != How::Else);
    seen.shows || !kept || seen.changed.keys().any(both)
}

/// How turns change something.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// By one operation, so many times.
    By(BinaryOp, u32),
    /// To a value that all turns share, at one place.
    Set,
    Else,
}

impl How {
    fn and(self, other: How) -> How {
        match (self, other) {
            (How::By(a, n), How::By(b, m)) if a == b => How::By(a, n + m),
            _ => How::Else,
        }
    }
}

struct Seen<'s> {
    shared: &'s dyn Fn(&Expr) -> bool,
    assigned: BTreeMap<LocalId, How>,
    /// How often a turn names a local.
    reads: BTreeMap<LocalId, u32>,
    /// Locals that a turn may read before it assigns them.
    carried: BTreeSet<LocalId>,
    changed: BTreeMap<BufferId, How>,
    loaded: BTreeSet<BufferId>,
    shows: bool,
}

impl Seen<'_> {
    fn gather(&mut self, block: &[Stmt], depth: u32) {
        for stmt in block {
            stmt.operands().for_each(|e| {
                let dropped = matches!(stmt, Stmt::Eval(_));
                self.value(e, dropped);
            });
            match stmt {
                Stmt::Assign(local, value) => {
                    let how = self.taken(*local, value);
                    let all = self.assigned.get(local).map_or(how, |had| had.and(how));
                    self.assigned.insert(*local, all);
                }
                Stmt::Store { buffer, value, .. } | Stmt::AtomicStore { buffer, value, .. } => {
                    let how = match (self.shared)(value) {
                        true => How::Set,
                        false => How::Else,
                    };
                    self.change(*buffer, how);
                }
                Stmt::ArrayFill { .. } | Stmt::ArrayAssign { .. } | Stmt::ArrayStore { .. } => {
                    self.shows = true;
                }
                Stmt::Break { depth: out } => self.shows |= *out >= depth,
                Stmt::Continue { depth: out } => self.shows |= *out > depth,
                Stmt::Return => self.shows = true,
                Stmt::Push { .. }
                | Stmt::PushItem { .. }
                | Stmt::File { .. }
                | Stmt::Reduce { .. }
                | Stmt::Eval(_)
                | Stmt::If { .. }
                | Stmt::Loop { .. }
                | Stmt::Assert { .. }
                | Stmt::CheckIndex { .. } => {}
            }
            let inner = depth + u32::from(matches!(stmt, Stmt::Loop { .. }));
            stmt.blocks().for_each(|b| self.gather(b, inner));
        }
    }

    /// `dropped`: nothing reads what the expression gives.
    fn value(&mut self, e: &Expr, dropped: bool) {
        e.operands().for_each(|x| self.value(x, false));
        match e {
            Expr::Local(local) => *self.reads.entry(*local).or_insert(0) += 1,
            Expr::Atomic {
                op, buffer, scalar, ..
            } => {
                let how = match operation(*op) {
                    Some(op) if dropped && commutes(op, *scalar) => How::By(op, 1),
                    _ => How::Else,
                };
                self.change(*buffer, how);
            }
            Expr::CompareExchange { buffer, .. } => self.change(*buffer, How::Else),
            e => {
                if let Effect::Element(element) = e.effect()
                    && matches!(element.how, isa::Effect::Load | isa::Effect::AtomicLoad)
                {
                    self.loaded.insert(element.buffer);
                }
            }
        }
    }

    fn change(&mut self, buffer: BufferId, how: How) {
        let all = self.changed.get(&buffer).map_or(how, |had| had.and(how));
        self.changed.insert(buffer, all);
    }

    fn taken(&self, local: LocalId, value: &Expr) -> How {
        match value {
            Expr::Binary {
                op,
                scalar,
                left,
                right,
                ..
            } if commutes(*op, *scalar) => {
                let own = Expr::Local(local);
                let first = **left == own;
                match first || **right == own && *op != BinaryOp::Sub {
                    true => How::By(*op, 1),
                    false => How::Else,
                }
            }
            value if (self.shared)(value) => How::Set,
            _ => How::Else,
        }
    }

    /// Which locals a turn may read before it assigns them. True: nothing goes on behind the block.
    fn carry(&mut self, block: &[Stmt], assigned: &mut BTreeSet<LocalId>) -> bool {
        for stmt in block {
            stmt.operands().for_each(|e| self.read(e, assigned));
            match stmt {
                Stmt::Assign(local, _) => {
                    assigned.insert(*local);
                }
                Stmt::If {
                    then, otherwise, ..
                } => {
                    let (mut a, mut b) = (assigned.clone(), assigned.clone());
                    match (self.carry(then, &mut a), self.carry(otherwise, &mut b)) {
                        (true, true) => return true,
                        (true, false) => *assigned = b,
                        (false, true) => *assigned = a,
                        (false, false) => *assigned = a.intersection(&b).copied().collect(),
                    }
                }
                Stmt::Loop { body, .. } => {
                    self.carry(body, &mut assigned.clone());
                }
                Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return => return true,
                _ => {}
            }
        }
        false
    }

    fn read(&mut self, e: &Expr, assigned: &BTreeSet<LocalId>) {
        if let Expr::Local(local) = e
            && !assigned.contains(local)
        {
            self.carried.insert(*local);
        }
        e.operands().for_each(|x| self.read(x, assigned));
    }
}

fn operation(op: AtomicOp) -> Option<BinaryOp> {
    Some(match op {
        AtomicOp::Add | AtomicOp::Sub => BinaryOp::Add,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Swap => return None,
    })
}

/// Whether values may be taken in by an operation in any order.
fn commutes(op: BinaryOp, scalar: Scalar) -> bool {
    let floats = matches!(scalar, Scalar::F32 | Scalar::F64);
    !floats
        && matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: LocalId = LocalId(0);
    const NEXT: LocalId = LocalId(1);
    const END: LocalId = LocalId(2);
    const TUPLE: LocalId = LocalId(3);
    const X: LocalId = LocalId(4);
    const CELLS: BufferId = BufferId(0);
    const XS: BufferId = BufferId(1);

    fn of(turn: Vec<Stmt>) -> bool {
        let done = Expr::Compare {
            op: super::super::ir::CompareOp::Ge,
            scalar: Scalar::U32,
            left: Box::new(Expr::Local(NEXT)),
            right: Box::new(Expr::Local(END)),
        };
        let entry = Expr::Entry {
            index: CELLS,
            at: Box::new(Expr::Local(NEXT)),
            site: SiteId(0),
        };
        let head = [
            Stmt::If {
                cond: done,
                then: vec![Stmt::Break { depth: 0 }],
                otherwise: vec![],
            },
            Stmt::Assign(TUPLE, entry),
            Stmt::Assign(
                NEXT,
                binary(BinaryOp::Add, NEXT, Expr::Literal(Scalar::U32, 1)),
            ),
        ];
        let body: Vec<Stmt> = head.into_iter().chain(turn).collect();
        assert_eq!(over(&body), Some(SiteId(0)));
        let literal = |e: &Expr| matches!(e, Expr::Literal(..));
        shows(&body, &|l| l == COUNT, &literal)
    }

    fn binary(op: BinaryOp, left: LocalId, right: Expr) -> Expr {
        Expr::Binary {
            op,
            scalar: Scalar::U32,
            left: Box::new(Expr::Local(left)),
            right: Box::new(right),
            site: None,
        }
    }

    fn one() -> Expr {
        Expr::Literal(Scalar::U32, 1)
    }

    fn low() -> Expr {
        Expr::Cast {
            from: Scalar::U64,
            to: Scalar::U32,
            value: Box::new(Expr::Local(TUPLE)),
        }
    }

    fn store(value: Expr) -> Stmt {
        Stmt::Store {
            buffer: XS,
            index: one(),
            value,
            site: SiteId(0),
        }
    }

    #[test]
    fn what_commutes_shows_no_order() {
        for op in [BinaryOp::Add, BinaryOp::Min, BinaryOp::Xor] {
            assert!(!of(vec![Stmt::Assign(COUNT, binary(op, COUNT, low()))]));
        }
        // Two operations on one local; another value each turn; the local's own value.
        let add = Stmt::Assign(COUNT, binary(BinaryOp::Add, COUNT, low()));
        let most = Stmt::Assign(COUNT, binary(BinaryOp::Max, COUNT, low()));
        assert!(of(vec![add.clone(), most]));
        assert!(of(vec![Stmt::Assign(COUNT, low())]));
        let twice = Stmt::Assign(COUNT, binary(BinaryOp::Add, COUNT, Expr::Local(COUNT)));
        assert!(of(vec![twice]));
        // It is looked at meanwhile.
        assert!(of(vec![
            add,
            Stmt::Assign(X, Expr::Local(COUNT)),
            store(one())
        ]));
        assert!(of(vec![Stmt::Assign(
            COUNT,
            binary(BinaryOp::Shl, COUNT, low())
        )]));
    }

    #[test]
    fn what_a_turn_keeps_to_itself_shows_no_order() {
        let own = Stmt::Assign(X, low());
        let add = Stmt::Assign(COUNT, binary(BinaryOp::Add, COUNT, Expr::Local(X)));
        assert!(!of(vec![own.clone(), add.clone()]));
        // Of the turn before, where it is not assigned in each.
        let sometimes = Stmt::If {
            cond: Expr::Literal(Scalar::Bool, 1),
            then: vec![own],
            otherwise: vec![],
        };
        assert!(of(vec![sometimes.clone(), add]));
        assert!(!of(vec![sometimes]));
    }

    #[test]
    fn who_stores_last_shows() {
        assert!(!of(vec![store(one())]));
        assert!(of(vec![store(low())]));
        assert!(of(vec![store(one()), store(Expr::Literal(Scalar::U32, 2))]));
        let update = |op| {
            Stmt::Eval(Expr::Atomic {
                op,
                buffer: XS,
                scalar: Scalar::U32,
                index: Box::new(one()),
                value: Box::new(low()),
                site: SiteId(0),
            })
        };
        assert!(!of(vec![update(AtomicOp::Add), update(AtomicOp::Sub)]));
        assert!(of(vec![update(AtomicOp::Add), update(AtomicOp::Max)]));
        assert!(of(vec![update(AtomicOp::Swap)]));
        let load = Expr::Load {
            buffer: XS,
            scalar: Scalar::U32,
            index: Box::new(one()),
            site: SiteId(0),
        };
        assert!(of(vec![update(AtomicOp::Add), Stmt::Assign(X, load)]));
    }

    #[test]
    fn who_leaves_first_shows() {
        let found = Stmt::Assign(COUNT, one());
        assert!(!of(vec![found.clone()]));
        assert!(of(vec![found, Stmt::Break { depth: 0 }]));
        assert!(of(vec![Stmt::Break { depth: 1 }]));
        assert!(of(vec![store(one()), Stmt::Return]));
        assert!(!of(vec![store(one()), Stmt::Continue { depth: 0 }]));
    }
}
