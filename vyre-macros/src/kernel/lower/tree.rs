//! Questions about IR trees.

use super::*;

/// Neither faults, nor acts, nor reads memory: it can be evaluated later, twice or never.
pub(super) fn is_pure(e: &ir::Expr) -> bool {
    use ir::Expr as E;
    let own = match e {
        E::ArrayLoad { .. } | E::Csr { .. } => false,
        E::Binary {
            site: Some(_),
            scalar,
            right,
            ..
        } => match **right {
            E::Literal(_, 0) => false,
            E::Literal(_, u64::MAX) => !is_signed(*scalar),
            E::Literal(..) => true,
            _ => false,
        },
        _ => matches!(e.effect(), ir::Effect::No | ir::Effect::Ask(_)),
    };
    own && e.operands().all(is_pure)
}

/// Number of operations.
pub(super) fn cost(e: &ir::Expr) -> usize {
    1 + e.operands().map(cost).sum::<usize>()
}

pub(super) fn reads(e: &ir::Expr, local: LocalId) -> bool {
    *e == ir::Expr::Local(local) || e.operands().any(|x| reads(x, local))
}

/// Whether a statement assigns a local that the expression reads.
pub(super) fn assigns_read(s: &ir::Stmt, e: &ir::Expr) -> bool {
    match s {
        ir::Stmt::Assign(l, _) => reads(e, *l),
        ir::Stmt::If {
            then, otherwise, ..
        } => then.iter().chain(otherwise).any(|s| assigns_read(s, e)),
        ir::Stmt::Loop { body, .. } => body.iter().any(|s| assigns_read(s, e)),
        ir::Stmt::ArrayFill { .. }
        | ir::Stmt::ArrayAssign { .. }
        | ir::Stmt::ArrayStore { .. }
        | ir::Stmt::CheckIndex { .. }
        | ir::Stmt::Store { .. }
        | ir::Stmt::AtomicStore { .. }
        | ir::Stmt::Eval(_)
        | ir::Stmt::Push { .. }
        | ir::Stmt::PushItem { .. }
        | ir::Stmt::File { .. }
        | ir::Stmt::Reduce { .. }
        | ir::Stmt::Break { .. }
        | ir::Stmt::Continue { .. }
        | ir::Stmt::Return
        | ir::Stmt::Assert { .. } => false,
    }
}

/// Whether a statement does more than compute: faults, memory, jumps.
pub(super) fn acts(s: &ir::Stmt) -> bool {
    match s {
        ir::Stmt::Assign(_, e) => !is_pure(e),
        ir::Stmt::If {
            cond,
            then,
            otherwise,
        } => !is_pure(cond) || then.iter().chain(otherwise).any(acts),
        _ => true,
    }
}
