//! Lengths that are computed: `per = node * 16`, `capacity = edge(g) * 2`, `range(n + 1)`.
//!
//! A [`Length`] is written in postfix order: `node * 16 + 1` is `node`, `16`, `*`, `1`, `+`. Every operation is on u32
//! and checked, so a length that overflows, is negative or divides by zero has no value. What a session knows is
//! checked when it is made, the rest before each run.
//!
//! ```
//! use vyre_core::vir0::length::{Length, LengthOp, Term};
//! use vyre_core::vir0::module::Extent;
//! let rows = Length {
//!     terms: vec![Term::Value(Extent::Nodes), Term::Value(Extent::Fixed(4)), Term::Op(LengthOp::Sub)],
//! };
//! let with = |nodes| rows.value(|e| if e == Extent::Nodes { Some(nodes) } else { Some(4) });
//! assert_eq!(with(10), Ok(Some(6)));
//! assert_eq!(with(3).unwrap_err().to_string(), "3 - 4 is negative");
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

/// What is done with two u32.
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
}

/// Why an operation has no u32.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NoValue {
    /// Below 0.
    #[error("{0} - {1} is negative")]
    Negative(u64, u64),
    /// Above `u32::MAX`.
    #[error("{0} {op} {2} is more than {max}", op = .1.sign(), max = u32::MAX)]
    TooLarge(u64, LengthOp, u64),
    /// A value alone is above `u32::MAX`.
    #[error("{0} is more than {max}", max = u32::MAX)]
    Value(u64),
    /// By zero.
    #[error("{0} {op} 0 divides by zero", op = .1.sign())]
    ByZero(u64, LengthOp),
}

impl LengthOp {
    /// As it is written.
    pub const fn sign(self) -> char {
        match self {
            LengthOp::Add => '+',
            LengthOp::Sub => '-',
            LengthOp::Mul => '*',
            LengthOp::Div => '/',
            LengthOp::Rem => '%',
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
        }
    }

    /// The value for two u32.
    pub fn apply(self, a: u64, b: u64) -> Result<u64, NoValue> {
        let fits = |n: u64| match u32::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => Err(NoValue::Value(n)),
        };
        let (x, y) = (fits(a)?, fits(b)?);
        let (value, none) = match self {
            LengthOp::Add => (x.checked_add(y), NoValue::TooLarge(a, self, b)),
            LengthOp::Sub => (x.checked_sub(y), NoValue::Negative(a, b)),
            LengthOp::Mul => (x.checked_mul(y), NoValue::TooLarge(a, self, b)),
            LengthOp::Div => (x.checked_div(y), NoValue::ByZero(a, self)),
            LengthOp::Rem => (x.checked_rem(y), NoValue::ByZero(a, self)),
        };
        value.map(u64::from).ok_or(none)
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
        self.fold(|extent| Ok(of(extent)), apply)
            .unwrap_or(Ok(None))
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
        const VALUE: u8 = 3;
        let within = |(text, binding): (String, u8), least| match binding < least {
            true => format!("({text})"),
            false => text,
        };
        let join = |op: LengthOp, a, b| {
            // What stands on the right is in brackets even if it binds as much: `a - (b - c)`.
            let binding = op.binding();
            let (a, b) = (within(a, binding), within(b, binding + 1));
            (format!("{a} {} {b}", op.sign()), binding)
        };
        let whole = self.fold(|extent| (word(extent), VALUE), join)?;
        Some(whole.0)
    }
}
