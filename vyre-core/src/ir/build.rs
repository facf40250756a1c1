//! Statement sequences for the methods of the surface language that are more than one operation.
//!
//! A front end calls a method of [`Sequence`] with operands that it has already compiled; the sequence appends statements
//! and gives the expression that holds the result. Operands are evaluated in the order of the arguments, once, and before
//! anything else the sequence does; results are locals, or pure expressions over locals that nothing assigns again.
//!
//! ```
//! use vyre_core::ir::{Expr, build::Sequence};
//! use vyre_core::module::{Scalar, SiteId};
//! let (mut locals, mut block) = (vec![Scalar::U32], vec![]);
//! let mut sequence = Sequence::new(&mut locals, &mut block, SiteId(0));
//! // x.pow(3), for the local x
//! let x = Expr::Local(vyre_core::ir::LocalId(0));
//! let cube = sequence.pow(Scalar::U32, x, Expr::Literal(Scalar::U32, 3));
//! assert_eq!((cube.scalar(&locals), block.len()), (Scalar::U32, 3));
//! ```

use super::{BinaryOp, Block, CompareOp, Expr, LocalId, Stmt};
use crate::module::{Scalar, SiteId};
use crate::trap::TrapKind;

/// Appends statements to a block, with new locals where values have to wait.
#[derive(Debug)]
pub struct Sequence<'a> {
    locals: &'a mut Vec<Scalar>,
    block: &'a mut Block,
    site: SiteId,
}

impl<'a> Sequence<'a> {
    /// A sequence at the end of `block`, in a body with these locals; what it does traps at `site`.
    pub fn new(locals: &'a mut Vec<Scalar>, block: &'a mut Block, site: SiteId) -> Sequence<'a> {
        Sequence {
            locals,
            block,
            site,
        }
    }

    fn fresh(&mut self, scalar: Scalar) -> LocalId {
        self.locals.push(scalar);
        LocalId(self.locals.len() as u32 - 1)
    }

    fn set(&mut self, local: LocalId, value: Expr) {
        self.block.push(Stmt::Assign(local, value));
    }

    /// A new local with this value.
    fn local(&mut self, value: Expr) -> LocalId {
        let scalar = value.scalar(self.locals);
        let local = self.fresh(scalar);
        self.set(local, value);
        local
    }

    /// The value under a name, unless it is a literal or a uniform: evaluated here, to be read any number of times.
    fn named(&mut self, value: Expr) -> Expr {
        match value {
            Expr::Literal(..) | Expr::Uniform(..) => value,
            value => Expr::Local(self.local(value)),
        }
    }

    /// Statements in a block of their own.
    fn inner(&mut self, f: impl FnOnce(&mut Sequence<'_>)) -> Block {
        let mut block = Block::new();
        f(&mut Sequence {
            locals: self.locals,
            block: &mut block,
            site: self.site,
        });
        block
    }

    /// `base.pow(exponent)`, wrapping, of an integer type; the exponent is a u32.
    pub fn pow(&mut self, scalar: Scalar, base: Expr, exponent: Expr) -> Expr {
        let one = Expr::Literal(scalar, 1);
        let times = |x: Expr, y: Expr| binary(BinaryOp::Mul, scalar, x, y);
        let (base, exponent) = (self.named(base), self.named(exponent));
        if let Expr::Literal(_, bits) = exponent {
            // Square and multiply, the highest bit first.
            let exponent = bits as u32;
            let Some(high) = exponent.checked_ilog2() else {
                return one;
            };
            let mut power = base.clone();
            for bit in (0..high).rev() {
                power = Expr::Local(self.local(times(power.clone(), power)));
                if exponent >> bit & 1 != 0 {
                    power = Expr::Local(self.local(times(power, base.clone())));
                }
            }
            return power;
        }
        let (power, square, rest) = (self.local(one), self.local(base), self.local(exponent));
        let get = Expr::Local;
        let is = |op, x| compare(op, Scalar::U32, x, u32_literal(0));
        let body = self.inner(|s| {
            s.block.push(when(
                is(CompareOp::Eq, get(rest)),
                vec![Stmt::Break { depth: 0 }],
            ));
            let odd = binary(BinaryOp::And, Scalar::U32, get(rest), u32_literal(1));
            let multiply = vec![Stmt::Assign(power, times(get(power), get(square)))];
            s.block.push(when(is(CompareOp::Ne, odd), multiply));
            s.set(square, times(get(square), get(square)));
            let half = binary(BinaryOp::Shr, Scalar::U32, get(rest), u32_literal(1));
            s.set(rest, half);
        });
        self.block.push(Stmt::Loop { body });
        get(power)
    }

    /// `x.clamp(least, most)`: traps as an assert unless `least <= most`; a NaN stays.
    pub fn clamp(&mut self, scalar: Scalar, x: Expr, least: Expr, most: Expr) -> Expr {
        let (x, least, most) = (self.named(x), self.named(least), self.named(most));
        self.block.push(Stmt::Assert {
            cond: compare(CompareOp::Le, scalar, least.clone(), most.clone()),
            kind: TrapKind::Assert,
            site: self.site,
        });
        if !matches!(scalar, Scalar::F32 | Scalar::F64) {
            let raised = binary(BinaryOp::Max, scalar, x, least);
            return binary(BinaryOp::Min, scalar, raised, most);
        }
        let bounded = |op, x: Expr, bound: Expr| Expr::Select {
            scalar,
            cond: Box::new(compare(op, scalar, x.clone(), bound.clone())),
            then: Box::new(bound),
            otherwise: Box::new(x),
        };
        let raised = self.named(bounded(CompareOp::Lt, x, least));
        bounded(CompareOp::Gt, raised, most)
    }
}

fn u32_literal(x: u32) -> Expr {
    Expr::Literal(Scalar::U32, x.into())
}

fn binary(op: BinaryOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
        site: None,
    }
}

fn compare(op: CompareOp, scalar: Scalar, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        scalar,
        left: Box::new(left),
        right: Box::new(right),
    }
}

fn when(cond: Expr, then: Block) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: Block::new(),
    }
}
