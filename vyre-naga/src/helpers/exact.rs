//! Exact sums of f32: numbers in fixed point that have a place for every bit of every finite float, so that neither the
//! order of terms nor that of partial sums matters (vyre-core's `vir0::exact` keeps the same number in other words).
//!
//! Bit 0 stands for the least subnormal, and the number is signed, in ten words, low one first. Finite floats need 277
//! bits, so that 2^42 of them fit. The word behind says which of NaN and the infinities were among the terms.

use super::Helper;
use crate::ir::{Fun, Maker, Own, Value};
use naga::{BinaryOperator as Bin, Function, Handle, MathFunction as Math};
use vyre_core::plan::shaders::EXACT_WORDS;

const DIGITS: usize = EXACT_WORDS as usize - 1;
const NAN: u32 = 1;
const PLUS_INFINITY: u32 = 2;
const MINUS_INFINITY: u32 = 4;
const INFINITY: u32 = 0x7f80_0000;

impl Maker<'_> {
    /// `a + b + carry` of words, and the carry out.
    pub(super) fn add_carry(&mut self) -> Handle<Function> {
        let (word, pair) = (self.ty.u32, self.ty.pair);
        let arguments = [("a", word), ("b", word), ("carry", word)];
        self.function("add_carry", &arguments, Some(pair), |f, a| {
            let sum = f.sum(a[0], a[1]);
            let over = f.bin(Bin::Less, sum, a[0]);
            let both = f.sum(sum, a[2]);
            let more = f.bin(Bin::Less, both, sum);
            let over = f.bin(Bin::LogicalOr, over, more);
            let over = f.word_of(over);
            let sum = f.pair(both, over);
            f.give(Some(sum));
        })
    }

    /// Adds an f32 to what an invocation has of a sum.
    pub(super) fn add_exact(&mut self, reduction: u16) -> Handle<Function> {
        let name = format!("add_to_{}", self.layout.reduction(reduction));
        let word = self.ty.u32;
        self.function(&name, &[("bits", word)], None, |f, a| {
            let own = |f: &mut Fun<'_, '_>, at: usize| f.own(Own::Total(reduction, at as u32, 0));
            let exponent = f.with(Bin::ShiftRight, a[0], 23);
            let exponent = f.with(Bin::And, exponent, 0xff);
            let fraction = f.with(Bin::And, a[0], 0x7f_ffff);
            let negative = f.with(Bin::ShiftRight, a[0], 31);
            let special = f.with(Bin::Equal, exponent, 0xff);
            f.when(special, |f| {
                let (plus, minus) = (f.u(PLUS_INFINITY), f.u(MINUS_INFINITY));
                let sign = f.truth(negative);
                let infinity = f.select(sign, minus, plus);
                let nan = f.with(Bin::NotEqual, fraction, 0);
                let none = f.u(NAN);
                let which = f.select(nan, none, infinity);
                let pointer = own(f, DIGITS);
                let before = f.load(pointer);
                let after = f.bin(Bin::InclusiveOr, before, which);
                f.store(pointer, after);
                f.give(None);
            });
            let normal = f.with(Bin::NotEqual, exponent, 0);
            let whole = f.with(Bin::InclusiveOr, fraction, 0x80_0000);
            let number = f.select(normal, whole, fraction);
            let one = f.u(1);
            let place = f.math(Math::Max, &[exponent, one]);
            let place = f.with(Bin::Subtract, place, 1);
            let (first, by) = (
                f.with(Bin::ShiftRight, place, 5),
                f.with(Bin::And, place, 31),
            );
            let low = f.bin(Bin::ShiftLeft, number, by);
            let high = f.spill(Bin::ShiftRight, number, by);
            let second = f.plus(first, 1);
            // A negative number is the complement, plus one.
            let zero = f.u(0);
            let mask = f.bin(Bin::Subtract, zero, negative);
            let mut carry = negative;
            for at in 0..DIGITS {
                let is_high = f.with(Bin::Equal, second, at as u32);
                let term = f.select(is_high, high, zero);
                let is_low = f.with(Bin::Equal, first, at as u32);
                let term = f.select(is_low, low, term);
                let term = f.bin(Bin::ExclusiveOr, term, mask);
                let pointer = own(f, at);
                let before = f.load(pointer);
                let sum = f.call(Helper::AddCarry, &[before, term, carry]);
                let (sum, over) = f.halves(sum);
                f.store(pointer, sum);
                carry = over;
            }
        })
    }

    /// A sum, rounded to nearest, halves to even.
    pub(super) fn exact_value(&mut self) -> Handle<Function> {
        let word = self.ty.u32;
        let names: Vec<String> = (0..EXACT_WORDS)
            .map(|at| format!("digit_{at}_of"))
            .collect();
        let arguments: Vec<_> = names.iter().map(|n| (n.as_str(), word)).collect();
        self.function("exact_value", &arguments, Some(word), |f, a| {
            let special = a[DIGITS];
            for (which, bits) in [
                (PLUS_INFINITY, INFINITY),
                (MINUS_INFINITY, INFINITY | 1 << 31),
            ] {
                let is = f.with(Bin::Equal, special, which);
                let bits = f.u(bits);
                f.when(is, |f| f.give(Some(bits)));
            }
            let nan = f.with(Bin::NotEqual, special, 0);
            f.when(nan, |f| {
                let nan = f.u(0x7fc0_0000);
                f.give(Some(nan));
            });
            let negative = f.with(Bin::ShiftRight, a[DIGITS - 1], 31);
            let zero = f.u(0);
            let mask = f.bin(Bin::Subtract, zero, negative);
            let names = ["index", "highest", "next", "rest"];
            let top = names.map(|name| f.zeroed(name));
            // The highest word of the size that is not 0, the one below it, and whether there is something below that.
            let (mut carry, mut below, mut rest) = (negative, zero, zero);
            for (at, &digit) in a[..DIGITS].iter().enumerate() {
                let digit = f.bin(Bin::ExclusiveOr, digit, mask);
                let sum = f.call(Helper::AddCarry, &[digit, zero, carry]);
                let (size, over) = f.halves(sum);
                let some = f.with(Bin::NotEqual, size, 0);
                let index = f.u(at as u32);
                f.when(some, |f| {
                    for (variable, value) in top.into_iter().zip([index, size, below, rest]) {
                        f.store(variable, value);
                    }
                });
                rest = f.bin(Bin::InclusiveOr, rest, below);
                (carry, below) = (over, size);
            }
            let [index, highest, next, rest] = top.map(|variable| f.load(variable));
            let none = f.with(Bin::Equal, highest, 0);
            f.when(none, |f| f.give(Some(zero)));
            let zeros = f.math(Math::CountLeadingZeros, &[highest]);
            let place = f.with(Bin::Multiply, index, 32);
            let place = f.plus(place, 31);
            let place = f.bin(Bin::Subtract, place, zeros);
            let sign = f.with(Bin::ShiftLeft, negative, 31);
            let short = f.with(Bin::Less, place, 24);
            f.when(short, |f| {
                let bits = f.bin(Bin::InclusiveOr, highest, sign);
                f.give(Some(bits));
            });
            let (by, lower) = (
                f.bin(Bin::ShiftLeft, highest, zeros),
                f.spill(Bin::ShiftRight, next, zeros),
            );
            let number = f.bin(Bin::InclusiveOr, by, lower);
            let left = f.bin(Bin::ShiftLeft, next, zeros);
            let left = f.bin(Bin::InclusiveOr, left, rest);
            let more = f.with(Bin::NotEqual, left, 0);
            let kept = f.with(Bin::ShiftRight, number, 8);
            let lost = f.with(Bin::And, number, 0xff);
            let odd = f.with(Bin::And, kept, 1);
            let odd = f.truth(odd);
            let decided = f.bin(Bin::LogicalOr, more, odd);
            let half = f.with(Bin::Equal, lost, 0x80);
            let half = f.bin(Bin::LogicalAnd, half, decided);
            let up = f.with(Bin::Greater, lost, 0x80);
            let up = f.bin(Bin::LogicalOr, up, half);
            let up = f.word_of(up);
            // The first bit of what is kept counts the exponent one up.
            let exponent = f.with(Bin::Subtract, place, 23);
            let bits = f.with(Bin::ShiftLeft, exponent, 23);
            let bits = f.sum(bits, kept);
            let bits = f.sum(bits, up);
            let infinity = f.u(INFINITY);
            let bits = f.math(Math::Min, &[bits, infinity]);
            let bits = f.bin(Bin::InclusiveOr, bits, sign);
            f.give(Some(bits));
        })
    }
}

impl Fun<'_, '_> {
    /// A sum with the words of another added.
    pub(crate) fn exact_sum(&mut self, total: &[Value], other: &[Value]) -> Vec<Value> {
        let mut carry = self.u(0);
        let mut words = Vec::new();
        for (&a, &b) in total.iter().zip(other).take(DIGITS) {
            let sum = self.call(Helper::AddCarry, &[a, b, carry]);
            let (sum, over) = self.halves(sum);
            words.push(sum);
            carry = over;
        }
        words.push(self.bin(Bin::InclusiveOr, total[DIGITS], other[DIGITS]));
        words
    }
}
