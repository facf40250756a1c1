//! Operations on values that are at hand: the words of an operation that has no instruction of its own, and algebraic
//! identities.

use super::select::{binary_op, cast_op, compare_op, unary_op};
use super::words::{Builder, Place, is_wide};
use super::{Arg, LowerError, Reg, fold, unsupported};
use crate::compile::ir::{BinaryOp, CompareOp, UnaryOp};
use crate::vir0::isa::Op;
use crate::vir0::module::SiteId;
use crate::vir0::scalar::Scalar;

impl<'b> Builder<'b> {
    pub(super) fn plain(&mut self, op: Op, into: Option<Reg>, args: &[Arg]) -> Arg {
        self.emit(op, into, args, Place::default())
    }

    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        scalar: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{Bool, F32, F64, I32, I64, U8, U32, U64};
        if let Arg::Literal(_, bits) = x
            && let Some(folded) = fold::unary(op, scalar, bits)
        {
            let result = match op {
                UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => U32,
                _ => scalar,
            };
            return Ok(Arg::Literal(result, folded));
        }
        let literal = |bits: u64| Arg::Literal(scalar, fold::canonical(scalar, bits));
        let (op, args) = match (op, scalar) {
            (UnaryOp::Neg, U32 | I32) => (Op::Sub32, [literal(0), x]),
            (UnaryOp::Neg, U64 | I64) => (Op::Sub64, [literal(0), x]),
            (UnaryOp::Neg, F32) => (Op::Xor32, [x, Arg::Literal(U32, 1 << 31)]),
            (UnaryOp::Neg, F64) => (Op::Xor64, [x, Arg::Literal(U64, 1 << 63)]),
            (UnaryOp::Not, Bool) => (Op::Xor32, [x, literal(1)]),
            (UnaryOp::Not, U32 | I32) => (Op::Xor32, [x, literal(u64::MAX)]),
            (UnaryOp::Not, U64 | I64) => (Op::Xor64, [x, literal(u64::MAX)]),
            (UnaryOp::Not, U8) => (Op::Xor32, [x, literal(0xff)]),
            (UnaryOp::Abs, U8 | U32 | U64) => return Ok(x),
            (UnaryOp::Abs, I32 | I64) => {
                let negative = self.unary(UnaryOp::Neg, scalar, x, None)?;
                let op = if scalar == I32 {
                    Op::MaxI32
                } else {
                    Op::MaxI64
                };
                (op, [x, negative])
            }
            (UnaryOp::Abs, F32) => (Op::And32, [x, Arg::Literal(U32, (1 << 31) - 1)]),
            (UnaryOp::Abs, F64) => (Op::And64, [x, Arg::Literal(U64, (1 << 63) - 1)]),
            (UnaryOp::RoundTiesEven, F32 | F64) => return self.round_ties_even(scalar, x, into),
            _ => match unary_op(op, scalar) {
                Some(code) => (code, [x, Arg::None]),
                None => return Err(unsupported(&format!("{op:?}").to_lowercase(), scalar)),
            },
        };
        Ok(self.plain(op, into, &args))
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        (mut x, mut y): (Arg, Arg),
        site: Option<SiteId>,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        if let (Arg::Literal(_, a), Arg::Literal(_, b)) = (x, y)
            && let Some(folded) = fold::binary(op, scalar, a, b)
        {
            return Ok(Arg::Literal(scalar, folded));
        }
        // Not min and max of floats: of two zeros they may give the first.
        let commutes = match op {
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
            BinaryOp::Min | BinaryOp::Max => !matches!(scalar, Scalar::F32 | Scalar::F64),
            BinaryOp::Sub
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::RotateLeft => false,
            BinaryOp::WrappingDiv
            | BinaryOp::WrappingRem
            | BinaryOp::SaturatingAdd
            | BinaryOp::SaturatingSub
            | BinaryOp::SaturatingMul
            | BinaryOp::AbsDiff
            | BinaryOp::RotateRight => return self.sequence(op, scalar, (x, y), site, into),
        };
        if commutes && matches!(x, Arg::Literal(..)) {
            (x, y) = (y, x);
        }
        let mut op = op;
        match simplify(op, scalar, x, y) {
            Simpler::No => {}
            Simpler::Value(value) => return Ok(value),
            Simpler::Op(other, right) => (op, y) = (other, right),
        }
        let code = binary_op(op, scalar)
            .ok_or_else(|| unsupported(&format!("{op:?}").to_lowercase(), scalar))?;
        let faults = code.row().faults != crate::vir0::isa::Faults::No;
        if faults && site.is_none() {
            return Err(LowerError::Invalid("a division without a site"));
        }
        let site = site.filter(|_| faults);
        Ok(self.emit(code, into, &[x, y], Place { imm: 0, site }))
    }

    /// The operations that are several instructions; `op` is one of them.
    pub(super) fn sequence(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        (x, y): (Arg, Arg),
        site: Option<SiteId>,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{I32, I64, U32, U64};
        let signed = matches!(scalar, I32 | I64);
        let step = |this: &mut Self, op, x, y| this.binary(op, scalar, (x, y), None, None);
        match (op, scalar) {
            (BinaryOp::RotateRight, U32 | I32 | U64 | I64) => {
                let amount = self.unary(UnaryOp::Neg, U32, y, None)?;
                self.binary(BinaryOp::RotateLeft, scalar, (x, amount), None, into)
            }
            (BinaryOp::AbsDiff, U32 | I32 | U64 | I64) => {
                let more = step(self, BinaryOp::Max, x, y)?;
                let less = step(self, BinaryOp::Min, x, y)?;
                self.binary(BinaryOp::Sub, scalar, (more, less), None, into)
            }
            (BinaryOp::WrappingDiv, U32 | U64) => {
                self.binary(BinaryOp::Div, scalar, (x, y), site, into)
            }
            (BinaryOp::WrappingRem, U32 | U64) => {
                self.binary(BinaryOp::Rem, scalar, (x, y), site, into)
            }
            (BinaryOp::WrappingDiv | BinaryOp::WrappingRem, I32 | I64) => {
                // By -1 the quotient is the negation, which wraps, and the remainder is 0, as of a division by 1.
                let literal = |x: i64| Arg::Literal(scalar, x as u64);
                let code = compare_op(CompareOp::Eq, scalar);
                let negates = match y {
                    Arg::Literal(_, bits) => Arg::Literal(Scalar::Bool, (bits as i64 == -1).into()),
                    y => self.plain(code, None, &[y, literal(-1)]),
                };
                let divisor = self.select_value(scalar, negates, (literal(1), y), None);
                if op == BinaryOp::WrappingRem {
                    return self.binary(BinaryOp::Rem, scalar, (x, divisor), site, into);
                }
                let quotient = self.binary(BinaryOp::Div, scalar, (x, divisor), site, None)?;
                let negated = self.unary(UnaryOp::Neg, scalar, quotient, None)?;
                Ok(self.select_value(scalar, negates, (negated, quotient), into))
            }
            (BinaryOp::SaturatingAdd, U32 | U64) => {
                let (x, y) = if matches!(x, Arg::Literal(..)) {
                    (y, x)
                } else {
                    (x, y)
                };
                let room = self.unary(UnaryOp::Not, scalar, y, None)?;
                let part = step(self, BinaryOp::Min, x, room)?;
                self.binary(BinaryOp::Add, scalar, (part, y), None, into)
            }
            (BinaryOp::SaturatingSub, U32 | U64) => {
                let enough = step(self, BinaryOp::Max, x, y)?;
                self.binary(BinaryOp::Sub, scalar, (enough, y), None, into)
            }
            (
                BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub | BinaryOp::SaturatingMul,
                U32 | I32,
            ) => {
                // Exact in 64 bits, then clamped.
                let wide = if signed { I64 } else { U64 };
                let exact = match op {
                    BinaryOp::SaturatingAdd => BinaryOp::Add,
                    BinaryOp::SaturatingSub => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                let (least, most) = integer_range(scalar);
                let pair = (
                    self.cast(scalar, wide, x, None)?,
                    self.cast(scalar, wide, y, None)?,
                );
                let mut value = self.binary(exact, wide, pair, None, None)?;
                for (op, bound) in [(BinaryOp::Min, most), (BinaryOp::Max, least)] {
                    let bound = Arg::Literal(wide, bound);
                    value = self.binary(op, wide, (value, bound), None, None)?;
                }
                self.cast(wide, scalar, value, into)
            }
            (BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub, I64) => {
                let is_add = op == BinaryOp::SaturatingAdd;
                let sum_op = if is_add { BinaryOp::Add } else { BinaryOp::Sub };
                let sum = step(self, sum_op, x, y)?;
                // The sign is wrong where the operands' signs (of a difference: opposite signs) say otherwise.
                let a = step(self, BinaryOp::Xor, x, sum)?;
                let b = step(
                    self,
                    BinaryOp::Xor,
                    if is_add { y } else { x },
                    if is_add { sum } else { y },
                )?;
                let wrong = step(self, BinaryOp::And, a, b)?;
                let end = self.end_of_range(sum)?;
                let overflows = self.plain(Op::LtI64, None, &[wrong, Arg::Literal(I64, 0)]);
                Ok(self.select_value(scalar, overflows, (end, sum), into))
            }
            (BinaryOp::SaturatingMul, U64) => {
                let high = self.plain(Op::MulHiU64, None, &[x, y]);
                let low = step(self, BinaryOp::Mul, x, y)?;
                let overflows = self.plain(Op::Ne64, None, &[high, Arg::Literal(U64, 0)]);
                let most = Arg::Literal(U64, u64::MAX);
                Ok(self.select_value(scalar, overflows, (most, low), into))
            }
            (BinaryOp::SaturatingMul, I64) => {
                // Of the magnitudes; the negative end is one further away.
                let sign = step(self, BinaryOp::Xor, x, y)?;
                let negative = self.plain(Op::LtI64, None, &[sign, Arg::Literal(I64, 0)]);
                let a = self.unary(UnaryOp::Abs, I64, x, None)?;
                let b = self.unary(UnaryOp::Abs, I64, y, None)?;
                let high = self.plain(Op::MulHiU64, None, &[a, b]);
                let low = step(self, BinaryOp::Mul, a, b)?;
                let extra = self.cast(Scalar::Bool, U64, negative, None)?;
                let most = Arg::Literal(U64, i64::MAX as u64);
                let most = self.binary(BinaryOp::Add, U64, (extra, most), None, None)?;
                let fits = self.plain(Op::Eq64, None, &[high, Arg::Literal(U64, 0)]);
                let small = self.plain(Op::LeU64, None, &[low, most]);
                let fits = self.plain(Op::And32, None, &[fits, small]);
                let size = self.select_value(U64, fits, (low, most), None);
                let negated = self.unary(UnaryOp::Neg, I64, size, None)?;
                Ok(self.select_value(scalar, negative, (negated, size), into))
            }
            _ => Err(unsupported(&format!("{op:?}").to_lowercase(), scalar)),
        }
    }

    /// The end of the range of i64 that a sum with the wrong sign was to pass.
    pub(super) fn end_of_range(&mut self, sum: Arg) -> Result<Arg, LowerError> {
        let by = Arg::Literal(Scalar::U32, 63);
        let sign = self.binary(BinaryOp::Shr, Scalar::I64, (sum, by), None, None)?;
        let least = Arg::Literal(Scalar::I64, i64::MIN as u64);
        self.binary(BinaryOp::Xor, Scalar::I64, (sign, least), None, None)
    }

    /// Adding and taking away the first number without a fraction bit rounds; what is not below it has none.
    pub(super) fn round_ties_even(
        &mut self,
        scalar: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        let (bits, first, sign, ops) = if scalar == Scalar::F32 {
            let first = u64::from(8_388_608f32.to_bits());
            (
                Scalar::U32,
                first,
                1 << 31,
                (Op::LtF32, Op::And32, Op::Or32),
            )
        } else {
            let first = 4_503_599_627_370_496f64.to_bits();
            (
                Scalar::U64,
                first,
                1 << 63,
                (Op::LtF64, Op::And64, Op::Or64),
            )
        };
        let first = Arg::Literal(scalar, first);
        let size = self.unary(UnaryOp::Abs, scalar, x, None)?;
        let sum = self.binary(BinaryOp::Add, scalar, (size, first), None, None)?;
        let rounded = self.binary(BinaryOp::Sub, scalar, (sum, first), None, None)?;
        let small = self.plain(ops.0, None, &[size, first]);
        let size = self.select_value(scalar, small, (rounded, size), None);
        let sign = self.plain(ops.1, None, &[x, Arg::Literal(bits, sign)]);
        Ok(self.plain(ops.2, into, &[size, sign]))
    }

    pub(super) fn select_value(
        &mut self,
        scalar: Scalar,
        cond: Arg,
        (then, otherwise): (Arg, Arg),
        into: Option<Reg>,
    ) -> Arg {
        if let Arg::Literal(_, bits) = cond {
            return if bits != 0 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        let constant = |x: Arg| match x {
            Arg::Literal(_, bits) => Some(bits),
            Arg::None | Arg::Reg(_) | Arg::Uniform(_) | Arg::Slot(_) => None,
        };
        match (constant(then), constant(otherwise)) {
            (Some(1), Some(0)) if is_word_int(scalar) => cond,
            (Some(0), Some(1)) if is_word_int(scalar) => {
                self.plain(Op::Xor32, into, &[cond, Arg::Literal(Scalar::Bool, 1)])
            }
            (Some(1), None) if scalar == Scalar::Bool => {
                self.plain(Op::Or32, into, &[cond, otherwise])
            }
            (None, Some(0)) if scalar == Scalar::Bool => self.plain(Op::And32, into, &[cond, then]),
            // `if c { x } else { c }`, as `c && x` comes from a front end, and its dual.
            _ if scalar == Scalar::Bool && otherwise == cond => {
                self.plain(Op::And32, into, &[cond, then])
            }
            _ if scalar == Scalar::Bool && then == cond => {
                self.plain(Op::Or32, into, &[cond, otherwise])
            }
            _ => {
                let op = if is_wide(scalar) {
                    Op::Sel64
                } else {
                    Op::Sel32
                };
                self.plain(op, into, &[cond, then, otherwise])
            }
        }
    }

    pub(super) fn cast(
        &mut self,
        from: Scalar,
        to: Scalar,
        x: Arg,
        into: Option<Reg>,
    ) -> Result<Arg, LowerError> {
        use Scalar::{Bool, F32, F64, U8, U32};
        if let Arg::Literal(_, bits) = x {
            return Ok(Arg::Literal(to, fold::cast(from, to, bits)));
        }
        if from == to {
            return Ok(x);
        }
        if to == Bool {
            return Err(unsupported("cast to bool", from));
        }
        if to == U8 && from != Bool {
            let word = self.cast(from, U32, x, None)?;
            let (op, limit) = match from {
                F32 | F64 => (Op::MinU32, Arg::Literal(U32, 255)),
                _ => (Op::And32, Arg::Literal(U32, 255)),
            };
            return Ok(self.plain(op, into, &[word, limit]));
        }
        Ok(match cast_op(from, to) {
            Some(op) => self.plain(op, into, &[x]),
            None => x,
        })
    }
}

/// A 32-bit type in which 0 and 1 are the raw bits of `false` and `true`.
pub(super) fn is_word_int(scalar: Scalar) -> bool {
    matches!(
        scalar,
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::I32
    )
}

/// Raw bits of the smallest and largest value of an integer type.
pub(super) fn integer_range(scalar: Scalar) -> (u64, u64) {
    match scalar {
        Scalar::Bool => (0, 1),
        Scalar::U8 => (0, u64::from(u8::MAX)),
        Scalar::U32 => (0, u64::from(u32::MAX)),
        Scalar::I32 => (i32::MIN as i64 as u64, i32::MAX as u64),
        Scalar::U64 => (0, u64::MAX),
        Scalar::I64 => (i64::MIN as u64, i64::MAX as u64),
        Scalar::F32 | Scalar::F64 => unreachable!("floats have no integer range"),
    }
}

enum Simpler {
    No,
    Value(Arg),
    Op(BinaryOp, Arg),
}

/// Algebraic identities that hold for every value, NaN, infinities and negative zero included. A literal that commutes
/// is on the right. An operand that drops out has already been computed, so its faults stay.
fn simplify(op: BinaryOp, scalar: Scalar, x: Arg, y: Arg) -> Simpler {
    let literal = |bits: u64| Arg::Literal(scalar, fold::canonical(scalar, bits));
    if let Scalar::F32 | Scalar::F64 = scalar {
        let Arg::Literal(_, bits) = y else {
            return Simpler::No;
        };
        let is = |x: f64| {
            let same = match scalar {
                Scalar::F32 => u64::from((x as f32).to_bits()),
                _ => x.to_bits(),
            };
            bits == same
        };
        let identity = match op {
            BinaryOp::Add => is(-0.0),
            BinaryOp::Sub => is(0.0),
            BinaryOp::Mul | BinaryOp::Div => is(1.0),
            _ => false,
        };
        return if identity {
            Simpler::Value(x)
        } else {
            Simpler::No
        };
    }
    if x == y {
        match op {
            BinaryOp::Sub | BinaryOp::Xor => return Simpler::Value(literal(0)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max => {
                return Simpler::Value(x);
            }
            _ => {}
        }
    }
    let signed = matches!(scalar, Scalar::I32 | Scalar::I64);
    if let (Arg::Literal(_, 0), BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft) = (x, op) {
        return Simpler::Value(x);
    }
    let Arg::Literal(_, bits) = y else {
        return Simpler::No;
    };
    let (least, most) = integer_range(scalar);
    let ones = fold::canonical(scalar, u64::MAX);
    let width_mask = if is_wide(scalar) { 63 } else { 31 };
    let power = (!signed && bits.is_power_of_two()).then(|| bits.trailing_zeros());
    match op {
        BinaryOp::Add | BinaryOp::Sub if bits == 0 => Simpler::Value(x),
        BinaryOp::Or | BinaryOp::Xor if bits == 0 => Simpler::Value(x),
        BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft if bits & width_mask == 0 => {
            Simpler::Value(x)
        }
        BinaryOp::Mul | BinaryOp::Div if bits == 1 => Simpler::Value(x),
        BinaryOp::Mul | BinaryOp::And if bits == 0 => Simpler::Value(literal(0)),
        BinaryOp::Rem if bits == 1 => Simpler::Value(literal(0)),
        BinaryOp::And if bits == ones => Simpler::Value(x),
        BinaryOp::Or if bits == ones => Simpler::Value(literal(ones)),
        BinaryOp::Min if bits == least => Simpler::Value(literal(least)),
        BinaryOp::Min if bits == most => Simpler::Value(x),
        BinaryOp::Max if bits == most => Simpler::Value(literal(most)),
        BinaryOp::Max if bits == least => Simpler::Value(x),
        BinaryOp::Div => match power {
            Some(n) => Simpler::Op(BinaryOp::Shr, Arg::Literal(Scalar::U32, n.into())),
            None => Simpler::No,
        },
        BinaryOp::Rem => match power {
            Some(_) => Simpler::Op(BinaryOp::And, literal(bits - 1)),
            None => Simpler::No,
        },
        _ => Simpler::No,
    }
}
