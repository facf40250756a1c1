//! f64, where a target can have it. Its bits come and go as pairs of words; only arithmetic sees a float.

use super::Helper;
use crate::ir::{Fun, Maker, Value};
use naga::{BinaryOperator as Bin, Function, Handle, MathFunction as Math, ScalarKind};

/// What is done with f64, whose bits come and go as pairs of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Double {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    FromF32,
    FromU32,
    FromI32,
    FromU64,
    FromI64,
    ToF32,
}

impl Maker<'_> {
    pub(super) fn double(&mut self, double: Double) -> Handle<Function> {
        let (word, pair, truth) = (self.ty.u32, self.ty.pair, self.ty.bool);
        let three = [("a", pair), ("b", pair), ("c", pair)];
        let (one, two, small) = (&three[..1], &three[..2], [("a", word)]);
        let name = format!("{double:?}_f64").to_lowercase();
        let infix = |m: &mut Self, op| {
            m.function(&name, two, Some(pair), |f, a| {
                let (x, y) = (f.double(a[0]), f.double(a[1]));
                let value = f.bin(op, x, y);
                f.give_double(value);
            })
        };
        let compared = |m: &mut Self, op| {
            m.function(&name, two, Some(truth), |f, a| {
                let (x, y) = (f.double(a[0]), f.double(a[1]));
                let value = f.bin(op, x, y);
                f.give(Some(value));
            })
        };
        let math = |m: &mut Self, fun| {
            m.function(&name, one, Some(pair), |f, a| {
                let x = f.double(a[0]);
                let value = f.math(fun, &[x]);
                f.give_double(value);
            })
        };
        match double {
            Double::Add => infix(self, Bin::Add),
            Double::Sub => infix(self, Bin::Subtract),
            Double::Mul => infix(self, Bin::Multiply),
            Double::Div => infix(self, Bin::Divide),
            Double::Equal => compared(self, Bin::Equal),
            Double::NotEqual => compared(self, Bin::NotEqual),
            Double::Less => compared(self, Bin::Less),
            Double::LessEqual => compared(self, Bin::LessEqual),
            Double::Sqrt => math(self, Math::Sqrt),
            Double::Floor => math(self, Math::Floor),
            Double::Ceil => math(self, Math::Ceil),
            // Mesa's software gives back what has more digits than an i32.
            Double::Trunc => self.function(&name, one, Some(pair), |f, a| {
                let (low, high) = f.halves(a[0]);
                let exponent = f.with(Bin::ShiftRight, high, 20);
                let exponent = f.with(Bin::And, exponent, 0x7ff);
                // Of the 52 bits behind the point, so many are in front of it.
                let whole = f.with(Bin::Subtract, exponent, 1023);
                let (ones, zero) = (f.u(u32::MAX), f.u(0));
                let of_high = f.with(Bin::And, whole, 31);
                let mask = f.u(0x000f_ffff);
                let behind = f.bin(Bin::ShiftRight, mask, of_high);
                let kept = f.with(Bin::ExclusiveOr, behind, u32::MAX);
                let in_high = f.bin(Bin::And, high, kept);
                let of_low = f.with(Bin::Subtract, whole, 20);
                let of_low = f.with(Bin::And, of_low, 31);
                let behind = f.bin(Bin::ShiftRight, ones, of_low);
                let kept = f.with(Bin::ExclusiveOr, behind, u32::MAX);
                let in_low = f.bin(Bin::And, low, kept);
                let sign = f.with(Bin::And, high, 1 << 31);
                let is_small = f.with(Bin::Less, exponent, 1023);
                let is_short = f.with(Bin::Less, whole, 20);
                let is_whole = f.with(Bin::GreaterEqual, whole, 52);
                let short = f.pair(zero, in_high);
                let long = f.pair(in_low, high);
                let value = f.select(is_short, short, long);
                let value = f.select(is_whole, a[0], value);
                let none = f.pair(zero, sign);
                let value = f.select(is_small, none, value);
                f.give(Some(value));
            }),
            Double::Fma => self.function(&name, &three, Some(pair), |f, a| {
                let operands = [a[0], a[1], a[2]].map(|x| f.double(x));
                let value = f.math(Math::Fma, &operands);
                f.give_double(value);
            }),
            Double::FromF32 => self.function(&name, &small, Some(pair), |f, a| {
                let x = f.float(a[0]);
                let value = f.convert_to(x, ScalarKind::Float, 8);
                f.give_double(value);
            }),
            Double::FromU32 => self.function(&name, &small, Some(pair), |f, a| {
                let value = f.convert_to(a[0], ScalarKind::Float, 8);
                f.give_double(value);
            }),
            Double::FromI32 => self.function(&name, &small, Some(pair), |f, a| {
                let x = f.signed(a[0]);
                let value = f.convert_to(x, ScalarKind::Float, 8);
                f.give_double(value);
            }),
            Double::FromU64 => self.function(&name, one, Some(pair), |f, a| {
                let bits = f.wide(a[0]);
                let value = f.convert_to(bits, ScalarKind::Float, 8);
                f.give_double(value);
            }),
            Double::FromI64 => self.function(&name, one, Some(pair), |f, a| {
                let (size, minus) = f.absolute(a[0]);
                let bits = f.call(Helper::Double(Double::FromU64), &[size]);
                let (low, high) = f.halves(bits);
                let turned = f.with(Bin::InclusiveOr, high, 1 << 31);
                let high = f.select(minus, turned, high);
                let bits = f.pair(low, high);
                f.give(Some(bits));
            }),
            Double::ToF32 => self.function(&name, one, Some(word), |f, a| {
                let x = f.double(a[0]);
                let value = f.convert_to(x, ScalarKind::Float, 4);
                let bits = f.unsigned(value);
                f.give(Some(bits));
            }),
        }
    }
}

impl Fun<'_, '_> {
    /// A pair's bits as an f64.
    pub(super) fn double(&mut self, pair: Value) -> Value {
        let bits = self.wide(pair);
        self.cast(bits, ScalarKind::Float)
    }

    /// An f64's bits.
    pub(super) fn double_bits(&mut self, value: Value) -> Value {
        let bits = self.cast(value, ScalarKind::Uint);
        self.pair_of(bits)
    }

    fn give_double(&mut self, value: Value) {
        let bits = self.double_bits(value);
        self.give(Some(bits));
    }
}
