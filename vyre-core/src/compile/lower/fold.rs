//! Constant folding: what Rust computes at run time, computed while lowering.
//!
//! Values are raw bits as in [`crate::vir0::module::Constant`]. `None` means that the operation traps on these operands or does
//! not exist for the type, and must stay in the code.

use crate::compile::ir::{BinaryOp, CompareOp, UnaryOp};
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
            UnaryOp::Sqrt => x.sqrt(),
            UnaryOp::Floor => x.floor(),
            UnaryOp::Ceil => x.ceil(),
            UnaryOp::Round => x.round(),
            UnaryOp::Trunc => x.trunc(),
            UnaryOp::RoundTiesEven => x.round_ties_even(),
            UnaryOp::Exp => x.exp(),
            UnaryOp::Ln => x.ln(),
            UnaryOp::Sin => x.sin(),
            UnaryOp::Cos => x.cos(),
            UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => return None,
        };
        Some(y.to_bits64())
    },
    bool => match op {
        UnaryOp::Not => Some(x & 1 ^ 1),
        UnaryOp::Neg | UnaryOp::Abs | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros
        | UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::RoundTiesEven
        | UnaryOp::Exp | UnaryOp::Ln | UnaryOp::Sin | UnaryOp::Cos => None,
    })
}

pub(super) fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    by_scalar!(scalar,
    int T => {
        let (x, y, amount) = (get::<T>(a), get::<T>(b), b as u32);
        Some(match op {
            BinaryOp::Add => x.wrapping_add(y),
            BinaryOp::Sub => x.wrapping_sub(y),
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::Div => x.checked_div(y)?,
            BinaryOp::Rem => x.checked_rem(y)?,
            BinaryOp::WrappingDiv | BinaryOp::WrappingRem if y == 0 => return None,
            BinaryOp::WrappingDiv => x.wrapping_div(y),
            BinaryOp::WrappingRem => x.wrapping_rem(y),
            BinaryOp::SaturatingAdd => x.saturating_add(y),
            BinaryOp::SaturatingSub => x.saturating_sub(y),
            BinaryOp::SaturatingMul => x.saturating_mul(y),
            BinaryOp::AbsDiff => x.abs_diff(y) as T,
            BinaryOp::And => x & y,
            BinaryOp::Or => x | y,
            BinaryOp::Xor => x ^ y,
            BinaryOp::Shl => x.wrapping_shl(amount),
            BinaryOp::Shr => x.wrapping_shr(amount),
            BinaryOp::RotateLeft => x.rotate_left(amount % T::BITS),
            BinaryOp::RotateRight => x.rotate_right(amount % T::BITS),
            BinaryOp::Min => x.min(y),
            BinaryOp::Max => x.max(y),
        }.to_bits64())
    },
    float T => {
        let (x, y) = (get::<T>(a), get::<T>(b));
        Some(match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            BinaryOp::Rem => x % y,
            BinaryOp::Min => x.min(y),
            BinaryOp::Max => x.max(y),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::RotateLeft
            | BinaryOp::RotateRight | BinaryOp::WrappingDiv | BinaryOp::WrappingRem | BinaryOp::SaturatingAdd
            | BinaryOp::SaturatingSub | BinaryOp::SaturatingMul | BinaryOp::AbsDiff => return None,
        }.to_bits64())
    },
    bool => match op {
        BinaryOp::And | BinaryOp::Min => Some(a & b & 1),
        BinaryOp::Or | BinaryOp::Max => Some((a | b) & 1),
        BinaryOp::Xor => Some((a ^ b) & 1),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl
        | BinaryOp::Shr | BinaryOp::RotateLeft | BinaryOp::RotateRight | BinaryOp::WrappingDiv | BinaryOp::WrappingRem
        | BinaryOp::SaturatingAdd | BinaryOp::SaturatingSub | BinaryOp::SaturatingMul | BinaryOp::AbsDiff => None,
    })
}

pub(super) fn compare(op: CompareOp, scalar: Scalar, a: u64, b: u64) -> bool {
    fn ordered<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
        match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Lt => a < b,
            CompareOp::Le => a <= b,
            CompareOp::Gt => a > b,
            CompareOp::Ge => a >= b,
        }
    }
    by_scalar!(scalar,
        int T => ordered(op, get::<T>(a), get::<T>(b)),
        float T => ordered(op, get::<T>(a), get::<T>(b)),
        bool => ordered(op, a & 1, b & 1))
}

pub(super) fn mul_add(scalar: Scalar, a: u64, b: u64, c: u64) -> Option<u64> {
    by_scalar!(scalar,
        int T => None,
        float T => Some(get::<T>(a).mul_add(get::<T>(b), get::<T>(c)).to_bits64()),
        bool => None)
}

/// Rust's `as`, and `u8`/`bool` targets too.
pub(super) fn cast(from: Scalar, to: Scalar, x: u64) -> u64 {
    // Every integer type fits i128, and i128 -> float rounds once, so going through it is exact `as`.
    by_scalar!(from,
    int F => {
        let x = i128::from(get::<F>(x));
        by_scalar!(to,
            int T => (x as T).to_bits64(),
            float T => (x as T).to_bits64(),
            bool => u64::from(x != 0))
    },
    float F => {
        let x = get::<F>(x);
        by_scalar!(to,
            int T => (x as T).to_bits64(),
            float T => (x as T).to_bits64(),
            bool => u64::from(x != 0.0))
    },
    bool => {
        let x = x & 1;
        by_scalar!(to,
            int T => (x as T).to_bits64(),
            float T => (x as T).to_bits64(),
            bool => x)
    })
}
