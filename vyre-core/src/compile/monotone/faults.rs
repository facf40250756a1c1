//! Does it depend on the order of items whether a run traps?
//!
//! What an item checks under guards that are fixed or open once for all, it checks in every run that ends: every run
//! evaluates the same items, and each of them where nothing changes any more. So either every run traps there, or none.
//! Under any other guard, such as whether an update changed something, a check may be made in one run and not in
//! another. There it has to be one that cannot fail: an index below its limit whatever happens, a divisor that is a
//! literal.

use super::{Context, Gate, Reason, State, Walk, Why, is_float, mentions, resolve};
use crate::compile::ir::{BinaryOp, Body, CompareOp, CsrQuery, Expr, LocalId, UnaryOp};
use crate::vir0::module::{Extent, Program, SiteId, Uniform, Wave};
use crate::vir0::scalar::Scalar;

/// What an index has to be below.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Limit {
    Extent(Extent),
    Value(Expr),
}

/// `index < limit`, as an item has found out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Below {
    index: Expr,
    limit: Limit,
}

impl Below {
    pub(super) fn mentions(&self, local: LocalId) -> bool {
        let in_limit = match &self.limit {
            Limit::Extent(_) => false,
            Limit::Value(e) => mentions(e, local),
        };
        in_limit || mentions(&self.index, local)
    }
}

/// What a wave's item locals are below.
pub(super) fn of_items(program: &Program, wave: &Wave, body: &Body) -> Vec<(LocalId, Extent)> {
    let index = wave.domain.indices(program);
    let ends = [body.item.src, body.item.dst].into_iter().flatten();
    (body.item.index.into_iter().zip(index))
        .chain(ends.map(|end| (end, Extent::Nodes)))
        .collect()
}

/// Whether dividing may trap.
pub(in crate::compile) fn may_fault(op: BinaryOp, scalar: Scalar, divisor: &Expr) -> bool {
    let overflows = match op {
        BinaryOp::Div | BinaryOp::Rem => matches!(scalar, Scalar::I32 | Scalar::I64),
        BinaryOp::WrappingDiv | BinaryOp::WrappingRem => false,
        _ => return false,
    };
    match divisor {
        _ if is_float(scalar) => false,
        Expr::Literal(_, bits) => {
            let minus_one = [u64::from(u32::MAX), u64::MAX].contains(bits);
            *bits == 0 || overflows && minus_one
        }
        // `x / y.max(1)`.
        Expr::Binary {
            op: BinaryOp::Max,
            left,
            right,
            ..
        } if !matches!(scalar, Scalar::I32 | Scalar::I64) => {
            let may_be_zero = |e: &Expr| !matches!(e, Expr::Literal(_, 1..));
            may_be_zero(left) && may_be_zero(right)
        }
        _ => true,
    }
}

/// Where evaluating a condition may trap.
pub(super) fn division_in(e: &Expr) -> Option<SiteId> {
    let here = match e {
        Expr::Binary {
            op,
            scalar,
            right,
            site,
            ..
        } if may_fault(*op, *scalar, right) => *site,
        _ => None,
    };
    here.or_else(|| e.operands().find_map(division_in))
}

impl<'b> Walk<'_, '_, 'b> {
    /// What may trap here has to trap in every run or in none.
    pub(super) fn fault(
        &self,
        site: impl Into<Option<SiteId>>,
        context: Context,
    ) -> Result<(), Reason> {
        match context.gate {
            Gate::Monotone => Ok(()),
            Gate::Changed(..) | Gate::Would(_) | Gate::Closed => {
                self.refuse(Why::NotMonotone, None, site)
            }
        }
    }

    /// An index that is checked.
    pub(super) fn check(
        &mut self,
        (index, limit): (&'b Expr, Limit),
        site: SiteId,
        context: Context,
        state: &mut State<'b>,
    ) -> Result<(), Reason> {
        self.fixed(index, site, context, state)?;
        if !self.is_below(index, &limit, state) {
            self.fault(site, context)?;
            self.learn(index, limit, state);
        }
        Ok(())
    }

    pub(super) fn is_below(&self, index: &Expr, limit: &Limit, state: &State<'b>) -> bool {
        let found =
            |b: &Below| self.is_within(&b.limit, limit, state) && self.same(&b.index, index, state);
        match (resolve(index, state), limit) {
            // Their methods check the row and the word, by themselves.
            (_, Limit::Extent(Extent::NodeBits(_))) => true,
            (
                Expr::Csr {
                    query: CsrQuery::Target,
                    ..
                },
                Limit::Extent(Extent::Nodes),
            ) => true,
            (Expr::Literal(_, n), Limit::Extent(Extent::Fixed(most))) => n < most,
            (Expr::Local(l), Limit::Extent(e)) if self.limits.contains(&(*l, *e)) => true,
            _ => state.below.iter().any(found),
        }
    }

    fn is_within(&self, limit: &Limit, other: &Limit, state: &State<'b>) -> bool {
        match (limit, other) {
            (Limit::Extent(Extent::Fixed(n)), Limit::Extent(Extent::Fixed(most))) => n <= most,
            (Limit::Value(a), Limit::Value(b)) => self.same(a, b, state),
            (a, b) => a == b,
        }
    }

    pub(super) fn limit_of(&self, len: &Expr, state: &State<'b>) -> Limit {
        match *resolve(len, state) {
            Expr::Literal(_, n) => Limit::Extent(Extent::Fixed(n)),
            Expr::Len(b) => Limit::Extent(self.shared.program.buffers[b.index()].extent),
            Expr::Uniform(Uniform::Nodes, _) => Limit::Extent(Extent::Nodes),
            Expr::Uniform(Uniform::Scalar(s), _) => Limit::Extent(Extent::Scalar(s)),
            Expr::Uniform(Uniform::Constant(c), _) => Limit::Extent(Extent::Constant(c)),
            ref other => Limit::Value(other.clone()),
        }
    }

    fn learn(&self, index: &Expr, limit: Limit, state: &mut State<'b>) {
        let still = |e| self.is_still(e);
        let known = match &limit {
            Limit::Extent(_) => still(index),
            Limit::Value(e) => still(index) && still(e),
        };
        let below = Below {
            index: index.clone(),
            limit,
        };
        if known && !state.below.contains(&below) {
            state.below.push(below);
        }
    }

    /// What a condition says of indices where it holds, or where it does not.
    pub(super) fn learn_from(&self, cond: &Expr, holds: bool, state: &mut State<'b>) {
        match resolve(cond, state) {
            Expr::Unary(UnaryOp::Not, _, x) => self.learn_from(x, !holds, state),
            Expr::Binary {
                op, left, right, ..
            } if *op == if holds { BinaryOp::And } else { BinaryOp::Or } => {
                self.learn_from(left, holds, state);
                self.learn_from(right, holds, state);
            }
            Expr::Compare {
                op,
                scalar: Scalar::U32,
                left,
                right,
            } => {
                let (index, end) = match (op, holds) {
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => (left, right),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => (right, left),
                    _ => return,
                };
                let limit = match resolve(end, state) {
                    // Below the end of a node's edges is below the end of all.
                    Expr::Csr {
                        query: CsrQuery::End,
                        topology,
                        ..
                    } => Limit::Extent(Extent::Edges(*topology)),
                    _ => self.limit_of(end, state),
                };
                self.learn(index, limit, state);
            }
            _ => {}
        }
    }

    /// What is known of one local is known of its copy.
    pub(super) fn learn_copy(&self, local: LocalId, of: &Expr, state: &mut State<'b>) {
        let same = |b: &&Below| self.same(&b.index, of, state);
        let known: Vec<Limit> = (state.below.iter().filter(same))
            .map(|b| b.limit.clone())
            .collect();
        for limit in known {
            self.learn(&Expr::Local(local), limit, state);
        }
    }
}
