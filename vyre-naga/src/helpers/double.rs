//! f64, where a target can have it. Its bits come and go as pairs of words; only arithmetic sees a float.

use super::Helper;
use crate::ir::{Fun, Maker, Value};
use naga::{BinaryOperator as Bin, Function, Handle, MathFunction as Math, ScalarKind, Statement};

/// What is done with f64, whose bits come and go as pairs of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Double {
    Add,
    Sub,
    Mul,
    Div,
    Remainder,
    Min,
    Max,
    Fma,
    Sqrt,
    Floor,
    Ceil,
    Round,
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
    ToU32,
    ToI32,
    ToU64,
    ToI64,
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
        let nearer = |m: &mut Self, op| {
            m.function(&name, two, Some(pair), |f, a| {
                let (x, y) = (f.double(a[0]), f.double(a[1]));
                let first = f.bin(op, x, y);
                let none = f.is_nan64(a[1]);
                let first = f.bin(Bin::LogicalOr, first, none);
                let value = f.select(first, a[0], a[1]);
                f.give(Some(value));
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
            Double::Min => nearer(self, Bin::Less),
            Double::Max => nearer(self, Bin::Greater),
            Double::Sqrt => math(self, Math::Sqrt),
            Double::Floor => math(self, Math::Floor),
            Double::Ceil => math(self, Math::Ceil),
            Double::Trunc => math(self, Math::Trunc),
            Double::Fma => self.function(&name, &three, Some(pair), |f, a| {
                let operands = [a[0], a[1], a[2]].map(|x| f.double(x));
                let value = f.math(Math::Fma, &operands);
                f.give_double(value);
            }),
            Double::Round => self.function(&name, one, Some(pair), |f, a| {
                let x = f.double(a[0]);
                let whole = f.math(Math::Trunc, &[x]);
                let rest = f.bin(Bin::Subtract, x, whole);
                let rest = f.math(Math::Abs, &[rest]);
                let (zero, half) = (f.u(0), f.u(0x3fe0_0000));
                let half = f.pair(zero, half);
                let half = f.double(half);
                let up = f.bin(Bin::GreaterEqual, rest, half);
                let sign = f.part(a[0], 1);
                let sign = f.with(Bin::And, sign, 1 << 31);
                let one = f.with(Bin::InclusiveOr, sign, 0x3ff0_0000);
                let one = f.pair(zero, one);
                let one = f.double(one);
                let further = f.sum(whole, one);
                let rounded = f.select(up, further, whole);
                f.give_double(rounded);
            }),
            Double::Remainder => self.function(&name, two, Some(pair), remainder64),
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
            Double::ToU64 => self.function(&name, one, Some(pair), |f, a| {
                let (low, high) = f.halves(a[0]);
                let (zero, all) = (f.u(0), f.u(u32::MAX));
                // Below 1, or negative; or no number.
                let small = f.with(Bin::Less, high, 1023 << 20);
                let minus = f.with(Bin::GreaterEqual, high, 1 << 31);
                let nan = f.is_nan64(a[0]);
                let none = f.bin(Bin::LogicalOr, small, minus);
                let none = f.bin(Bin::LogicalOr, none, nan);
                f.when(none, |f| {
                    let none = f.pair(zero, zero);
                    f.give(Some(none));
                });
                let beyond = f.with(Bin::GreaterEqual, high, (1023 + 64) << 20);
                f.when(beyond, |f| {
                    let most = f.pair(all, all);
                    f.give(Some(most));
                });
                let exponent = f.with(Bin::ShiftRight, high, 20);
                let mantissa = f.with(Bin::And, high, 0xf_ffff);
                let mantissa = f.with(Bin::InclusiveOr, mantissa, 0x10_0000);
                let value = f.pair(low, mantissa);
                let whole = f.with(Bin::GreaterEqual, exponent, 1023 + 52);
                f.when(whole, |f| {
                    let by = f.with(Bin::Subtract, exponent, 1023 + 52);
                    let value = f.call(Helper::ShiftLeft64, &[value, by]);
                    f.give(Some(value));
                });
                let by = f.u(1023 + 52);
                let by = f.bin(Bin::Subtract, by, exponent);
                let value = f.call(Helper::ShiftRight64, &[value, by]);
                f.give(Some(value));
            }),
            Double::ToI64 => self.function(&name, one, Some(pair), |f, a| {
                let (size, minus) = f.size64(a[0]);
                let size = f.call(Helper::Double(Double::ToU64), &[size]);
                f.give_i64(size, minus);
            }),
            Double::ToU32 => self.function(&name, one, Some(word), |f, a| {
                let value = f.call(Helper::Double(Double::ToU64), &[a[0]]);
                f.give_u32(value);
            }),
            Double::ToI32 => self.function(&name, one, Some(word), |f, a| {
                let (size, minus) = f.size64(a[0]);
                let size = f.call(Helper::Double(Double::ToU32), &[size]);
                f.give_i32(size, minus);
            }),
        }
    }
}

impl Fun<'_, '_> {
    /// A pair as one integer.
    fn wide(&mut self, pair: Value) -> Value {
        let (low, high) = self.halves(pair);
        let low = self.convert_to(low, ScalarKind::Uint, 8);
        let high = self.convert_to(high, ScalarKind::Uint, 8);
        let high = self.with(Bin::ShiftLeft, high, 32);
        self.bin(Bin::InclusiveOr, low, high)
    }

    /// A pair's bits as an f64.
    fn double(&mut self, pair: Value) -> Value {
        let bits = self.wide(pair);
        self.cast(bits, ScalarKind::Float)
    }

    fn give_double(&mut self, value: Value) {
        let bits = self.cast(value, ScalarKind::Uint);
        let low = self.convert_to(bits, ScalarKind::Uint, 4);
        let high = self.with(Bin::ShiftRight, bits, 32);
        let high = self.convert_to(high, ScalarKind::Uint, 4);
        let pair = self.pair(low, high);
        self.give(Some(pair));
    }

    /// The bits of an f64 without its sign, and whether that is set.
    fn size64(&mut self, pair: Value) -> (Value, Value) {
        let (low, high) = self.halves(pair);
        let minus = self.with(Bin::GreaterEqual, high, 1 << 31);
        let high = self.with(Bin::And, high, 0x7fff_ffff);
        (self.pair(low, high), minus)
    }

    fn is_nan64(&mut self, pair: Value) -> Value {
        let (low, high) = self.halves(pair);
        let high = self.with(Bin::And, high, 0x7fff_ffff);
        let more = self.with(Bin::Greater, high, 0x7ff0_0000);
        let same = self.with(Bin::Equal, high, 0x7ff0_0000);
        let any = self.with(Bin::NotEqual, low, 0);
        let same = self.bin(Bin::LogicalAnd, same, any);
        self.bin(Bin::LogicalOr, more, same)
    }
}

/// `a % b`, exact, as of f32 ([`super::remainder`]): mantissas are pairs.
fn remainder64(f: &mut Fun<'_, '_>, a: &[Value]) {
    const UP: u32 = 300;
    let (x, y) = (a[0], a[1]);
    let sign = f.part(x, 1);
    let sign = f.with(Bin::And, sign, 1 << 31);
    let ((x_size, _), (y_size, _)) = (f.size64(x), f.size64(y));
    let x_high = f.part(x_size, 1);
    let infinite = f.with(Bin::GreaterEqual, x_high, 0x7ff0_0000);
    let (y_low, y_high) = f.halves(y_size);
    let any = f.bin(Bin::InclusiveOr, y_low, y_high);
    let zero_divisor = f.with(Bin::Equal, any, 0);
    let nan_divisor = f.is_nan64(y);
    let none = f.bin(Bin::LogicalOr, infinite, zero_divisor);
    let none = f.bin(Bin::LogicalOr, none, nan_divisor);
    let zero = f.u(0);
    f.when(none, |f| {
        let nan = f.u(0x7ff8_0000);
        let nan = f.pair(zero, nan);
        f.give(Some(nan));
    });
    let smaller = f.call(Helper::Less64, &[x_size, y_size]);
    f.when(smaller, |f| f.give(Some(x)));
    let names = [("rest", "exponent"), ("divisor", "divisor_exponent")];
    let mut vars = Vec::new();
    for ((mantissa, exponent), size) in names.into_iter().zip([x_size, y_size]) {
        let pair = Some(f.m.ty.pair);
        let (m, e) = (f.local(mantissa, pair), f.local(exponent, None));
        let (low, high) = f.halves(size);
        let exponent = f.with(Bin::ShiftRight, high, 20);
        let fraction = f.with(Bin::And, high, 0xf_ffff);
        let subnormal = f.with(Bin::Equal, exponent, 0);
        f.branch(
            subnormal,
            |f| {
                let fraction = f.pair(low, fraction);
                let zeros = f.call(Helper::Leading64, &[fraction]);
                let by = f.with(Bin::Subtract, zeros, 11);
                let value = f.call(Helper::ShiftLeft64, &[fraction, by]);
                f.store(m, value);
                let one = f.u(1 + UP);
                let exponent = f.bin(Bin::Subtract, one, by);
                f.store(e, exponent);
            },
            |f| {
                let high = f.with(Bin::InclusiveOr, fraction, 0x10_0000);
                let value = f.pair(low, high);
                f.store(m, value);
                let exponent = f.plus(exponent, UP);
                f.store(e, exponent);
            },
        );
        vars.push((m, e));
    }
    let ((rest, exponent), (divisor, least)) = (vars[0], vars[1]);
    let (divisor, least) = (f.load(divisor), f.load(least));
    f.forever(|f| {
        let now = f.load(rest);
        let less = f.call(Helper::Less64, &[now, divisor]);
        let fits = f.not(less);
        f.when(fits, |f| {
            let less = f.call(Helper::Sub64, &[now, divisor]);
            f.store(rest, less);
        });
        let at = f.load(exponent);
        let done = f.bin(Bin::LessEqual, at, least);
        f.when(done, |f| f.push(Statement::Break));
        let (now, one) = (f.load(rest), f.u(1));
        let shifted = f.call(Helper::ShiftLeft64, &[now, one]);
        f.store(rest, shifted);
        let down = f.with(Bin::Subtract, at, 1);
        f.store(exponent, down);
    });
    let left = f.load(rest);
    let (low, high) = f.halves(left);
    let any = f.bin(Bin::InclusiveOr, low, high);
    let none = f.with(Bin::Equal, any, 0);
    f.when(none, |f| {
        let value = f.pair(zero, sign);
        f.give(Some(value));
    });
    let zeros = f.call(Helper::Leading64, &[left]);
    let by = f.with(Bin::Subtract, zeros, 11);
    let at = f.load(exponent);
    let at = f.bin(Bin::Subtract, at, by);
    let value = f.call(Helper::ShiftLeft64, &[left, by]);
    let normal = f.with(Bin::Greater, at, UP);
    f.when(normal, |f| {
        let at = f.with(Bin::Subtract, at, UP);
        let at = f.with(Bin::ShiftLeft, at, 20);
        let (low, high) = f.halves(value);
        let fraction = f.with(Bin::And, high, 0xf_ffff);
        let high = f.bin(Bin::InclusiveOr, at, fraction);
        let high = f.bin(Bin::InclusiveOr, high, sign);
        let value = f.pair(low, high);
        f.give(Some(value));
    });
    let down = f.u(1 + UP);
    let down = f.bin(Bin::Subtract, down, at);
    let value = f.call(Helper::ShiftRight64, &[value, down]);
    let (low, high) = f.halves(value);
    let high = f.bin(Bin::InclusiveOr, high, sign);
    let value = f.pair(low, high);
    f.give(Some(value));
}
