//! Values of one turn, by number: equal numbers are equal values.

use crate::vir0::isa::Op;
use std::collections::HashMap;

/// A value of the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Number(u32);

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Made {
    /// What the loop finds in an operand, which it does not change: a row, the lower of two, a uniform.
    Operand(u8, bool),
    /// An immediate.
    Literal(u32),
    /// The turn's own number.
    Turn,
    /// By an instruction, its third operand among those, and what else stands in the word.
    By(Op, [Option<Number>; 3], u32),
    /// Whatever the row has at this word, by way of one branch or another.
    Either(usize, u8),
    /// What the word gives, which nothing else gives.
    Given(usize),
}

/// All values so far.
#[derive(Default)]
pub(super) struct Values {
    numbers: HashMap<Made, Number>,
    made: Vec<(Made, bool)>,
}

impl Values {
    pub(super) fn number(&mut self, made: Made) -> Number {
        if let Some(&number) = self.numbers.get(&made) {
            return number;
        }
        let varies = match made {
            Made::Operand(..) | Made::Literal(_) => false,
            Made::Turn | Made::Either(..) | Made::Given(_) => true,
            Made::By(_, of, _) => of.into_iter().flatten().any(|of| self.varies(of)),
        };
        let number = Number(self.made.len() as u32);
        self.made.push((made, varies));
        self.numbers.insert(made, number);
        number
    }

    /// Whether it may differ from turn to turn.
    pub(super) fn varies(&self, of: Number) -> bool {
        self.made[of.0 as usize].1
    }

    /// Whether no two turns have the same: the turn's number, moved by what all turns have in common.
    pub(super) fn is_injective(&self, of: Number) -> bool {
        match self.made[of.0 as usize].0 {
            Made::Turn => true,
            Made::By(Op::Add32, [Some(a), Some(b), None], _) => {
                self.is_injective(a) && !self.varies(b) || self.is_injective(b) && !self.varies(a)
            }
            Made::By(Op::Sub32, [Some(a), Some(b), None], _) => {
                self.is_injective(a) && !self.varies(b) || self.is_injective(b) && !self.varies(a)
            }
            Made::By(Op::Xor32, [Some(a), Some(b), None], _) => {
                self.is_injective(a) && !self.varies(b) || self.is_injective(b) && !self.varies(a)
            }
            _ => false,
        }
    }
}
