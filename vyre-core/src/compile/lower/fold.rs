//! Constant folding: what Rust computes at run time, computed while lowering. What is one instruction is computed by
//! its [meaning](crate::vir0::meaning), the rest here.
//!
//! Values are raw bits as in [`crate::vir0::module::Constant`]. `None` means that the operation traps on these operands
//! or does not exist for the type, and must stay in the code.

use super::select::{binary_op, cast_op, compare_op, unary_op};
use crate::compile::ir::{BinaryOp, CompareOp, UnaryOp};
use crate::vir0::isa::Op;
use crate::vir0::meaning::value;
use crate::vir0::scalar::{Scalar, ScalarType};

/// Runs `$body` with `$T` as the Rust type of an integer scalar, `$F` arm for floats and `$B` for bools.
macro_rules! by_scalar {
    ($scalar:expr, int $T:ident => $int:expr, float $F:ident => $float:expr, bool => $bool:expr) => {
        match $scalar {
            Scalar::Bool => $bool,
            Scalar::U8 => by_scalar!(@ $T u8 $int),
            Scalar::U32 => by_scalar!(@ $T u32 $int),
            Scalar::I32 => by_scalar!(@ $T i32 $int),
            Scalar::U64 => by_scalar!(@ $T u64 $int),
            Scalar::I64 => by_scalar!(@ $T i64 $int),
            Scalar::F32 => by_scalar!(@ $F f32 $float),
            Scalar::F64 => by_scalar!(@ $F f64 $float),
        }
    };
    (@ $T:ident $ty:ident $e:expr) => {{
        #[allow(dead_code)]
        type $T = $ty;
        $e
    }};
}

fn get<T: ScalarType>(bits: u64) -> T {
    T::from_bits64(bits)
}

/// The canonical raw bits of a scalar: high bits as [`crate::vir0::module::Constant`] wants them.
pub(super) fn canonical(scalar: Scalar, bits: u64) -> u64 {
    by_scalar!(scalar,
        int T => get::<T>(bits).to_bits64(),
        float T => get::<T>(bits).to_bits64(),
        bool => bits & 1)
}

/// Integers of which only some are signed; `i32::abs` and the identity under one name.
trait Magnitude {
    fn magnitude(self) -> Self;
}
macro_rules! magnitude {
    ($($ty:ty: $x:ident => $e:expr;)*) => {$(impl Magnitude for $ty { fn magnitude(self) -> Self { let $x = self; $e } })*};
}
magnitude! { u8: x => x; u32: x => x; u64: x => x; i32: x => x.wrapping_abs(); i64: x => x.wrapping_abs(); }

pub(super) fn unary(op: UnaryOp, scalar: Scalar, x: u64) -> Option<u64> {
    if let Some(code) = unary_op(op, scalar) {
        return value(code, [x, 0, 0]);
    }
    by_scalar!(scalar,
    int T => {
        let x = get::<T>(x);
        Some(match op {
            UnaryOp::Neg => x.wrapping_neg().to_bits64(),
            UnaryOp::Not => (!x).to_bits64(),
            UnaryOp::Abs => x.magnitude().to_bits64(),
            UnaryOp::CountOnes => x.count_ones().into(),
            UnaryOp::LeadingZeros => x.leading_zeros().into(),
            UnaryOp::TrailingZeros => x.trailing_zeros().into(),
            UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::RoundTiesEven
            | UnaryOp::Exp | UnaryOp::Ln | UnaryOp::Sin | UnaryOp::Cos => return None,
        })
    },
    float T => {
        let x = get::<T>(x);
        let y = match op {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::RoundTiesEven => x.round_ties_even(),
            UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros | UnaryOp::Sqrt
            | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::Exp | UnaryOp::Ln
            | UnaryOp::Sin | UnaryOp::Cos => return None,
        };
        Some(y.to_bits64())
    },
    bool => (op == UnaryOp::Not).then_some(x & 1 ^ 1))
}

pub(super) fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    // Bytes are words below 256. Their shifts and rotations are not those of words: a front end masks the amount.
    let words = match (scalar, op) {
        (
            Scalar::U8,
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft | BinaryOp::RotateRight,
        ) => return None,
        (Scalar::U8, _) => Scalar::U32,
        _ => scalar,
    };
    if let Some(code) = binary_op(op, words) {
        return value(code, [a, b, 0]).map(|bits| canonical(scalar, bits));
    }
    by_scalar!(scalar,
    int T => {
        let (x, y, amount) = (get::<T>(a), get::<T>(b), b as u32);
        Some(match op {
            BinaryOp::WrappingDiv | BinaryOp::WrappingRem if y == 0 => return None,
            BinaryOp::WrappingDiv => x.wrapping_div(y),
            BinaryOp::WrappingRem => x.wrapping_rem(y),
            BinaryOp::SaturatingAdd => x.saturating_add(y),
            BinaryOp::SaturatingSub => x.saturating_sub(y),
            BinaryOp::SaturatingMul => x.saturating_mul(y),
            BinaryOp::AbsDiff => x.abs_diff(y) as T,
            BinaryOp::RotateRight => x.rotate_right(amount % T::BITS),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::And
            | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Min | BinaryOp::Max | BinaryOp::Shl | BinaryOp::Shr
            | BinaryOp::RotateLeft => return None,
        }.to_bits64())
    },
    float T => None,
    bool => None)
}

pub(super) fn compare(op: CompareOp, scalar: Scalar, a: u64, b: u64) -> bool {
    let (a, b) = match op {
        CompareOp::Gt | CompareOp::Ge => (b, a),
        CompareOp::Eq | CompareOp::Ne | CompareOp::Lt | CompareOp::Le => (a, b),
    };
    let operands = [canonical(scalar, a), canonical(scalar, b), 0];
    value(compare_op(op, scalar), operands) == Some(1)
}

pub(super) fn mul_add(scalar: Scalar, a: u64, b: u64, c: u64) -> Option<u64> {
    match scalar {
        Scalar::F32 => value(Op::FmaF32, [a, b, c]),
        Scalar::F64 => value(Op::FmaF64, [a, b, c]),
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => None,
    }
}

/// Rust's `as`, and `bool` targets too.
pub(super) fn cast(from: Scalar, to: Scalar, x: u64) -> u64 {
    let is_float = matches!(from, Scalar::F32 | Scalar::F64);
    match (cast_op(from, to), to) {
        (_, Scalar::Bool) => compare(CompareOp::Ne, from, x, 0).into(),
        (_, Scalar::U8) if is_float => cast(from, Scalar::U32, x).min(255),
        (Some(code), _) => {
            let bits = value(code, [x, 0, 0]).expect("a conversion does not fault");
            canonical(to, bits)
        }
        (None, _) => canonical(to, x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By every amount, of which Rust takes as many bits as count bits of the type.
    #[test]
    fn shifts_and_rotations_are_those_of_rust() {
        macro_rules! check {
            ($($ty:ty: $scalar:expr;)*) => {$(
                for x in [1, <$ty>::MAX, <$ty>::MIN, 0x5a5a_a5a5_u32 as $ty] {
                    for amount in 0..=255 {
                        for (op, expected) in [
                            (BinaryOp::Shl, x.wrapping_shl(amount)),
                            (BinaryOp::Shr, x.wrapping_shr(amount)),
                            (BinaryOp::RotateLeft, x.rotate_left(amount % <$ty>::BITS)),
                            (BinaryOp::RotateRight, x.rotate_right(amount % <$ty>::BITS)),
                        ] {
                            let folded = binary(op, $scalar, x.to_bits64(), amount.into());
                            assert_eq!(folded, Some(expected.to_bits64()), "{x} {op:?} {amount}");
                        }
                    }
                }
            )*};
        }
        check! { u32: Scalar::U32; i32: Scalar::I32; u64: Scalar::U64; i64: Scalar::I64; }
        for op in [
            BinaryOp::Shl,
            BinaryOp::Shr,
            BinaryOp::RotateLeft,
            BinaryOp::RotateRight,
        ] {
            assert_eq!(binary(op, Scalar::U8, 0xa5, 9), None, "{op:?}");
            assert_eq!(binary_op(op, Scalar::U8), None, "{op:?}");
        }
    }
}
