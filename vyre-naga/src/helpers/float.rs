//! What is asked of floats of both widths alike: made of integers, or of steps that are exact, so that it has the same
//! bits everywhere.

use super::{Double, Helper};
use crate::ir::{Fun, Maker, Value};
use naga::{BinaryOperator as Bin, Function, Handle, MathFunction as Math, Statement};

/// A type of floats: bits of f32 are a word, those of f64 a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Float {
    F32,
    F64,
}

/// What there is of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FloatOp {
    Min,
    Max,
    Round,
    Remainder,
    ToU32,
    ToI32,
    ToU64,
    ToI64,
}

/// The sign of the word that has it.
const SIGN: u32 = 1 << 31;

/// How its bits lie.
struct Format {
    name: &'static str,
    /// Bits of the fraction: of the whole, and in the word that has the sign and the exponent.
    fraction: u32,
    shift: u32,
    bias: u32,
}

impl Float {
    const fn format(self) -> Format {
        let (name, fraction, shift, bias) = match self {
            Float::F32 => ("f32", 23, 23, 127),
            Float::F64 => ("f64", 52, 20, 1023),
        };
        Format {
            name,
            fraction,
            shift,
            bias,
        }
    }

    /// The bit that normal numbers have and do not store, in the word that has the exponent.
    const fn hidden(self) -> u32 {
        1 << self.format().shift
    }

    /// That word of an infinity.
    const fn infinity(self) -> u32 {
        SIGN - self.hidden()
    }

    /// That word of a power of two.
    const fn power(self, exponent: i32) -> u32 {
        let Format { shift, bias, .. } = self.format();
        bias.wrapping_add_signed(exponent) << shift
    }
}

impl Maker<'_> {
    pub(super) fn float(&mut self, float: Float, op: FloatOp) -> Handle<Function> {
        let (word, pair) = (self.ty.u32, self.ty.pair);
        let bits = match float {
            Float::F32 => word,
            Float::F64 => pair,
        };
        let two = [("a", bits), ("b", bits)];
        let one = &two[..1];
        let of = float.format().name;
        let call = |f: &mut Fun<'_, '_>, op, a| f.call(Helper::Float(float, op), &[a]);
        match op {
            FloatOp::Min => self.function(&format!("min_{of}"), &two, Some(bits), |f, a| {
                f.give_nearer(float, Bin::Less, (a[0], a[1]));
            }),
            FloatOp::Max => self.function(&format!("max_{of}"), &two, Some(bits), |f, a| {
                f.give_nearer(float, Bin::Greater, (a[0], a[1]));
            }),
            FloatOp::Round => self.function(&format!("round_{of}"), one, Some(bits), |f, a| {
                let x = f.number(float, a[0]);
                let whole = match float {
                    Float::F32 => f.math(Math::Trunc, &[x]),
                    Float::F64 => {
                        let whole = f.call(Helper::Double(Double::Trunc), &[a[0]]);
                        f.number(float, whole)
                    }
                };
                let rest = f.bin(Bin::Subtract, x, whole);
                let rest = f.math(Math::Abs, &[rest]);
                let half = f.u(float.power(-1));
                let half = f.of_high(float, half);
                let half = f.number(float, half);
                let up = f.bin(Bin::GreaterEqual, rest, half);
                let sign = f.sign(float, a[0]);
                let one = f.with(Bin::InclusiveOr, sign, float.power(0));
                let one = f.of_high(float, one);
                let one = f.number(float, one);
                let further = f.sum(whole, one);
                let rounded = f.select(up, further, whole);
                let bits = f.number_bits(float, rounded);
                f.give(Some(bits));
            }),
            FloatOp::Remainder => {
                let name = format!("remainder_{of}");
                self.function(&name, &two, Some(bits), |f, a| {
                    remainder(f, float, (a[0], a[1]));
                })
            }
            FloatOp::ToU64 => self.function(&format!("u64_from_{of}"), one, Some(pair), |f, a| {
                to_u64(f, float, a[0]);
            }),
            FloatOp::ToI64 => self.function(&format!("i64_from_{of}"), one, Some(pair), |f, a| {
                let (size, minus) = f.size(float, a[0]);
                let size = call(f, FloatOp::ToU64, size);
                f.give_i64(size, minus);
            }),
            FloatOp::ToU32 => self.function(&format!("u32_from_{of}"), one, Some(word), |f, a| {
                let value = call(f, FloatOp::ToU64, a[0]);
                f.give_u32(value);
            }),
            FloatOp::ToI32 => self.function(&format!("i32_from_{of}"), one, Some(word), |f, a| {
                let (size, minus) = f.size(float, a[0]);
                let size = call(f, FloatOp::ToU32, size);
                f.give_i32(size, minus);
            }),
        }
    }
}

impl Fun<'_, '_> {
    // Bits of either type.

    /// The word that has the sign and the exponent.
    fn high(&mut self, float: Float, bits: Value) -> Value {
        match float {
            Float::F32 => bits,
            Float::F64 => self.part(bits, 1),
        }
    }

    /// These bits with another such word.
    fn with_high(&mut self, float: Float, bits: Value, high: Value) -> Value {
        match float {
            Float::F32 => high,
            Float::F64 => {
                let low = self.part(bits, 0);
                self.pair(low, high)
            }
        }
    }

    /// Bits that are all in that word.
    fn of_high(&mut self, float: Float, high: Value) -> Value {
        match float {
            Float::F32 => high,
            Float::F64 => {
                let zero = self.u(0);
                self.pair(zero, high)
            }
        }
    }

    fn sign(&mut self, float: Float, bits: Value) -> Value {
        let high = self.high(float, bits);
        self.with(Bin::And, high, SIGN)
    }

    /// The bits without the sign, and whether that is set.
    fn size(&mut self, float: Float, bits: Value) -> (Value, Value) {
        let high = self.high(float, bits);
        let minus = self.with(Bin::GreaterEqual, high, SIGN);
        let high = self.with(Bin::And, high, SIGN - 1);
        (self.with_high(float, bits, high), minus)
    }

    fn is_nan(&mut self, float: Float, bits: Value) -> Value {
        let high = self.high(float, bits);
        let high = self.with(Bin::And, high, SIGN - 1);
        let more = self.with(Bin::Greater, high, float.infinity());
        match float {
            Float::F32 => more,
            Float::F64 => {
                let same = self.with(Bin::Equal, high, float.infinity());
                let low = self.part(bits, 0);
                let any = self.with(Bin::NotEqual, low, 0);
                let same = self.bin(Bin::LogicalAnd, same, any);
                self.bin(Bin::LogicalOr, more, same)
            }
        }
    }

    fn is_zero(&mut self, float: Float, bits: Value) -> Value {
        let any = match float {
            Float::F32 => bits,
            Float::F64 => {
                let (low, high) = self.halves(bits);
                self.bin(Bin::InclusiveOr, low, high)
            }
        };
        self.with(Bin::Equal, any, 0)
    }

    /// Bits as the float.
    fn number(&mut self, float: Float, bits: Value) -> Value {
        match float {
            Float::F32 => self.float(bits),
            Float::F64 => self.double(bits),
        }
    }

    fn number_bits(&mut self, float: Float, number: Value) -> Value {
        match float {
            Float::F32 => self.unsigned(number),
            Float::F64 => self.double_bits(number),
        }
    }

    // Bits as an integer.

    fn less(&mut self, float: Float, a: Value, b: Value) -> Value {
        match float {
            Float::F32 => self.bin(Bin::Less, a, b),
            Float::F64 => self.call(Helper::Less64, &[a, b]),
        }
    }

    fn minus(&mut self, float: Float, a: Value, b: Value) -> Value {
        match float {
            Float::F32 => self.bin(Bin::Subtract, a, b),
            Float::F64 => self.call(Helper::Sub64, &[a, b]),
        }
    }

    /// Shifted by less than the width.
    fn shifted(&mut self, float: Float, left: bool, bits: Value, by: Value) -> Value {
        match (float, left) {
            (Float::F32, _) => {
                let op = if left {
                    Bin::ShiftLeft
                } else {
                    Bin::ShiftRight
                };
                let by = self.with(Bin::And, by, 31);
                self.bin(op, bits, by)
            }
            (Float::F64, true) => self.call(Helper::ShiftLeft64, &[bits, by]),
            (Float::F64, false) => self.call(Helper::ShiftRight64, &[bits, by]),
        }
    }

    /// How far to the left the first bit is to go, to where a normal number has it.
    fn room(&mut self, float: Float, bits: Value) -> Value {
        let zeros = match float {
            Float::F32 => self.math(Math::CountLeadingZeros, &[bits]),
            Float::F64 => self.call(Helper::Leading64, &[bits]),
        };
        self.with(Bin::Subtract, zeros, 31 - float.format().shift)
    }

    // Results.

    /// The lesser or the greater of two; the other one of a NaN.
    fn give_nearer(&mut self, float: Float, op: Bin, (a, b): (Value, Value)) {
        let (x, y) = (self.number(float, a), self.number(float, b));
        let first = self.bin(op, x, y);
        let none = self.is_nan(float, b);
        let first = self.bin(Bin::LogicalOr, first, none);
        let nearer = self.select(first, a, b);
        self.give(Some(nearer));
    }

    /// A signed number of 64 bits from its size, saturated.
    fn give_i64(&mut self, size: Value, minus: Value) {
        let (low, high) = self.halves(size);
        let beyond = self.with(Bin::GreaterEqual, high, 1 << 31);
        let (zero, all) = (self.u(0), self.u(u32::MAX));
        let (least, most) = (self.u(1 << 31), self.u(i32::MAX as u32));
        let most_low = self.select(minus, zero, all);
        let most_high = self.select(minus, least, most);
        let most = self.pair(most_low, most_high);
        let value = self.pair(low, high);
        let value = self.with_sign(value, minus);
        let value = self.select(beyond, most, value);
        self.give(Some(value));
    }

    /// The same of 32 bits.
    fn give_i32(&mut self, size: Value, minus: Value) {
        let beyond = self.with(Bin::GreaterEqual, size, 1 << 31);
        let (least, most) = (self.u(1 << 31), self.u(i32::MAX as u32));
        let most = self.select(minus, least, most);
        let zero = self.u(0);
        let negative = self.bin(Bin::Subtract, zero, size);
        let value = self.select(minus, negative, size);
        let value = self.select(beyond, most, value);
        self.give(Some(value));
    }

    /// The low half of a number, saturated.
    fn give_u32(&mut self, value: Value) {
        let (low, high) = self.halves(value);
        let beyond = self.with(Bin::NotEqual, high, 0);
        let all = self.u(u32::MAX);
        let value = self.select(beyond, all, low);
        self.give(Some(value));
    }
}

/// The whole part of a float, saturated; 0 of a NaN.
fn to_u64(f: &mut Fun<'_, '_>, float: Float, bits: Value) {
    let Format {
        fraction,
        shift,
        bias,
        ..
    } = float.format();
    let (zero, all) = (f.u(0), f.u(u32::MAX));
    let high = f.high(float, bits);
    // Below 1, or negative; or no number.
    let small = f.with(Bin::Less, high, float.power(0));
    let minus = f.with(Bin::GreaterEqual, high, SIGN);
    let nan = f.is_nan(float, bits);
    let none = f.bin(Bin::LogicalOr, small, minus);
    let none = f.bin(Bin::LogicalOr, none, nan);
    f.when(none, |f| {
        let none = f.pair(zero, zero);
        f.give(Some(none));
    });
    let beyond = f.with(Bin::GreaterEqual, high, float.power(64));
    f.when(beyond, |f| {
        let most = f.pair(all, all);
        f.give(Some(most));
    });
    let exponent = f.with(Bin::ShiftRight, high, shift);
    let mantissa = f.with(Bin::And, high, float.hidden() - 1);
    let mantissa = f.with(Bin::InclusiveOr, mantissa, float.hidden());
    let value = match float {
        Float::F32 => f.pair(mantissa, zero),
        Float::F64 => f.with_high(float, bits, mantissa),
    };
    let point = bias + fraction;
    let whole = f.with(Bin::GreaterEqual, exponent, point);
    f.when(whole, |f| {
        let by = f.with(Bin::Subtract, exponent, point);
        let value = f.call(Helper::ShiftLeft64, &[value, by]);
        f.give(Some(value));
    });
    let by = f.u(point);
    let by = f.bin(Bin::Subtract, by, exponent);
    let value = f.call(Helper::ShiftRight64, &[value, by]);
    f.give(Some(value));
}

/// `a % b`, exact: a long division of mantissas. Exponents are 300 up, so that none is negative.
fn remainder(f: &mut Fun<'_, '_>, float: Float, (x, y): (Value, Value)) {
    const UP: u32 = 300;
    let sign = f.sign(float, x);
    let ((x_size, _), (y_size, _)) = (f.size(float, x), f.size(float, y));
    let x_high = f.high(float, x_size);
    let infinite = f.with(Bin::GreaterEqual, x_high, float.infinity());
    let zero_divisor = f.is_zero(float, y_size);
    let nan_divisor = f.is_nan(float, y);
    let none = f.bin(Bin::LogicalOr, infinite, zero_divisor);
    let none = f.bin(Bin::LogicalOr, none, nan_divisor);
    f.when(none, |f| {
        let nan = f.u(float.infinity() | float.hidden() >> 1);
        let nan = f.of_high(float, nan);
        f.give(Some(nan));
    });
    let smaller = f.less(float, x_size, y_size);
    f.when(smaller, |f| f.give(Some(x)));
    let names = [("rest", "exponent"), ("divisor", "divisor_exponent")];
    let mut vars = Vec::new();
    for ((mantissa, exponent), size) in names.into_iter().zip([x_size, y_size]) {
        let ty = match float {
            Float::F32 => f.m.ty.u32,
            Float::F64 => f.m.ty.pair,
        };
        let (m, e) = (f.local(mantissa, Some(ty)), f.local(exponent, None));
        let high = f.high(float, size);
        let exponent = f.with(Bin::ShiftRight, high, float.format().shift);
        let fraction = f.with(Bin::And, high, float.hidden() - 1);
        let subnormal = f.with(Bin::Equal, exponent, 0);
        f.branch(
            subnormal,
            |f| {
                let fraction = f.with_high(float, size, fraction);
                let by = f.room(float, fraction);
                let value = f.shifted(float, true, fraction, by);
                f.store(m, value);
                let one = f.u(1 + UP);
                let exponent = f.bin(Bin::Subtract, one, by);
                f.store(e, exponent);
            },
            |f| {
                let high = f.with(Bin::InclusiveOr, fraction, float.hidden());
                let value = f.with_high(float, size, high);
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
        let less = f.less(float, now, divisor);
        let fits = f.not(less);
        f.when(fits, |f| {
            let less = f.minus(float, now, divisor);
            f.store(rest, less);
        });
        let at = f.load(exponent);
        let done = f.bin(Bin::LessEqual, at, least);
        f.when(done, |f| f.push(Statement::Break));
        let (now, one) = (f.load(rest), f.u(1));
        let doubled = f.shifted(float, true, now, one);
        f.store(rest, doubled);
        let down = f.with(Bin::Subtract, at, 1);
        f.store(exponent, down);
    });
    let left = f.load(rest);
    let none = f.is_zero(float, left);
    f.when(none, |f| {
        let value = f.of_high(float, sign);
        f.give(Some(value));
    });
    let by = f.room(float, left);
    let at = f.load(exponent);
    let at = f.bin(Bin::Subtract, at, by);
    let value = f.shifted(float, true, left, by);
    let normal = f.with(Bin::Greater, at, UP);
    f.when(normal, |f| {
        let at = f.with(Bin::Subtract, at, UP);
        let at = f.with(Bin::ShiftLeft, at, float.format().shift);
        let high = f.high(float, value);
        let fraction = f.with(Bin::And, high, float.hidden() - 1);
        let high = f.bin(Bin::InclusiveOr, at, fraction);
        let high = f.bin(Bin::InclusiveOr, high, sign);
        let value = f.with_high(float, value, high);
        f.give(Some(value));
    });
    let down = f.u(1 + UP);
    let down = f.bin(Bin::Subtract, down, at);
    let value = f.shifted(float, false, value, down);
    let high = f.high(float, value);
    let high = f.bin(Bin::InclusiveOr, high, sign);
    let value = f.with_high(float, value, high);
    f.give(Some(value));
}
