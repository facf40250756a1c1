//! Lengths that are computed: `per = node * 16`, `capacity = edge(g) * 2`, `range(n + 1)`.
//!
//! A [`Length`] is written in postfix order: `node * 16 + 1` is `node`, `16`, `*`, `1`, `+`. Its steps are computed
//! without a limit that matters, so `n - 1 + m` has a value where `n` is 0. Only the end has to be a u32: otherwise, or
//! where a step divides by zero, the length has no value. What a session knows is checked when it is made, the rest
//! before each run.
//!
//! ```
//! use vyre_core::vir0::length::{Length, LengthOp, Term};
//! use vyre_core::vir0::module::Extent;
//! let rows = Length {
//!     terms: vec![Term::Value(Extent::Nodes), Term::Value(Extent::Fixed(4)), Term::Op(LengthOp::Sub)],
//! };
//! let with = |nodes| rows.value(|e| if e == Extent::Nodes { Some(nodes) } else { Some(4) });
//! assert_eq!(with(10), Ok(Some(6)));
//! assert_eq!(with(3).unwrap_err().to_string(), "-1 is not between 0 and 4294967295");
//! ```

use crate::vir0::module::Extent;
use thiserror::Error;

/// Most terms of a length.
pub const MAX_TERMS: usize = 64;

/// A length that is computed from others, in postfix order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// 3 to [`MAX_TERMS`].
    pub terms: Vec<Term>,
}

/// One part of a [`Length`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A value; it is not computed, and no rows of bits.
    Value(Extent),
    /// An operation on the two values before it.
    Op(LengthOp),
}

/// What is done with two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LengthOp {
    /// Sum.
    Add = 0,
    /// Difference.
    Sub = 1,
    /// Product.
    Mul = 2,
    /// Quotient, cut.
    Div = 3,
    /// Remainder.
    Rem = 4,
    /// Quotient, rounded up.
    DivCeil = 5,
}

/// Why a length has no value.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NoValue {
    /// Below 0, or above `u32::MAX`; so is what is to be divided.
    #[error("{0} is not between 0 and {max}", max = u32::MAX)]
    OutOfRange(i128),
    /// A step has more than 127 bits.
    #[error("{0} {op} {2} has more than 127 bits", op = .1.sign())]
    TooLarge(i128, LengthOp, i128),
    /// By zero.
    #[error("{0} / 0 divides by zero")]
    ByZero(i128),
}

impl LengthOp {
    /// As it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            LengthOp::Add => "+",
            LengthOp::Sub => "-",
            LengthOp::Mul => "*",
            LengthOp::Div => "/",
            LengthOp::Rem => "%",
            LengthOp::DivCeil => "div_ceil",
        }
    }

    /// Whether it gives the same with its operands the other way round.
    pub const fn is_commutative(self) -> bool {
        matches!(self, LengthOp::Add | LengthOp::Mul)
    }

    /// Sums and differences bind less than products, quotients and remainders.
    const fn binding(self) -> u8 {
        match self {
            LengthOp::Add | LengthOp::Sub => 1,
            LengthOp::Mul | LengthOp::Div | LengthOp::Rem => 2,
            LengthOp::DivCeil => 3,
        }
    }

    /// The value for two.
    pub fn apply(self, a: i128, b: i128) -> Result<i128, NoValue> {
        let value = match self {
            LengthOp::Add => a.checked_add(b),
            LengthOp::Sub => a.checked_sub(b),
            LengthOp::Mul => a.checked_mul(b),
            LengthOp::Div | LengthOp::Rem | LengthOp::DivCeil => {
                if let Some(&below) = [a, b].iter().find(|n| **n < 0) {
                    return Err(NoValue::OutOfRange(below));
                }
                if b == 0 {
                    return Err(NoValue::ByZero(a));
                }
                Some(match self {
                    LengthOp::Rem => a % b,
                    LengthOp::DivCeil => a / b + i128::from(a % b != 0),
                    _ => a / b,
                })
            }
        };
        value.ok_or(NoValue::TooLarge(a, self, b))
    }
}

impl Length {
    /// The values in it.
    pub fn values(&self) -> impl Iterator<Item = Extent> {
        self.terms.iter().filter_map(|term| match *term {
            Term::Value(extent) => Some(extent),
            Term::Op(_) => None,
        })
    }

    /// Goes through it in order: what its last operation gives, or its only value. `None` where that is not one thing.
    fn fold<T>(
        &self,
        mut value: impl FnMut(Extent) -> T,
        mut op: impl FnMut(LengthOp, T, T) -> T,
    ) -> Option<T> {
        let mut stack = Vec::new();
        for term in &self.terms {
            let next = match *term {
                Term::Value(extent) => value(extent),
                Term::Op(operation) => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    op(operation, a, b)
                }
            };
            stack.push(next);
        }
        let last = stack.pop();
        last.filter(|_| stack.is_empty())
    }

    /// Whether every operation has its operands, and one value is left.
    pub fn is_whole(&self) -> bool {
        self.fold(|_| (), |_, (), ()| ()).is_some()
    }

    /// What it is where `of` gives these values; `Ok(None)` where one is missing that decides.
    pub fn value(&self, of: impl Fn(Extent) -> Option<u64>) -> Result<Option<u64>, NoValue> {
        let apply = |op: LengthOp, a, b| match (a?, b?) {
            (Some(a), Some(b)) => op.apply(a, b).map(Some),
            _ => Ok(None),
        };
        let value = |extent| Ok(of(extent).map(i128::from));
        let value = self.fold(value, apply).unwrap_or(Ok(None))?;
        let fits = |n: i128| u32::try_from(n).map_err(|_| NoValue::OutOfRange(n));
        value.map(|n| fits(n).map(u64::from)).transpose()
    }

    /// Whether it is a sum of multiples of its values, of which none is subtracted.
    pub fn is_linear(&self) -> bool {
        /// How it grows with what is no number: not at all, in proportion, or otherwise.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Growth {
            None,
            Linear,
            Other,
        }
        let value = |extent| match extent {
            Extent::Fixed(_) | Extent::Constant(_) => Growth::None,
            _ => Growth::Linear,
        };
        let grows = self.fold(value, |op, a, b| match op {
            _ if a == Growth::None && b == Growth::None => Growth::None,
            LengthOp::Add => a.max(b),
            LengthOp::Mul if a.min(b) == Growth::None => a.max(b),
            _ => Growth::Other,
        });
        grows.is_some_and(|grows| grows != Growth::Other)
    }

    /// As the pass states it, with these words for the values; `None` where operands are missing.
    pub fn written(&self, word: impl Fn(Extent) -> String) -> Option<String> {
        const VALUE: u8 = 4;
        let within = |(text, binding): (String, u8), least| match binding < least {
            true => format!("({text})"),
            false => text,
        };
        let join = |op: LengthOp, a, b| {
            if op == LengthOp::DivCeil {
                let (a, b): ((String, u8), (String, u8)) = (a, b);
                return (format!("{}.div_ceil({})", within(a, VALUE), b.0), VALUE);
            }
            // What stands on the right is in brackets even if it binds as much: `a - (b - c)`.
            let binding = op.binding();
            let (a, b) = (within(a, binding), within(b, binding + 1));
            (format!("{a} {} {b}", op.sign()), binding)
        };
        let whole = self.fold(|extent| (word(extent), VALUE), join)?;
        Some(whole.0)
    }
}
