//! The instruction that an operation is on values of a type, where it is one.

use super::{LowerError, unsupported};
use crate::compile::ir::{AtomicOp, BinaryOp, CompareOp, UnaryOp};
use crate::vir0::isa::Op;
use crate::vir0::scalar::Scalar;

/// The opcode of an operator of one operand that is one instruction.
pub(super) fn unary_op(op: UnaryOp, scalar: Scalar) -> Option<Op> {
    use Scalar::{F32, F64, I32, I64, U8, U32, U64};
    Some(match (op, scalar) {
        (UnaryOp::CountOnes, U8 | U32 | I32) => Op::Popc32,
        (UnaryOp::CountOnes, U64 | I64) => Op::Popc64,
        (UnaryOp::LeadingZeros, U32 | I32) => Op::Clz32,
        (UnaryOp::LeadingZeros, U64 | I64) => Op::Clz64,
        (UnaryOp::TrailingZeros, U32 | I32) => Op::Ctz32,
        (UnaryOp::TrailingZeros, U64 | I64) => Op::Ctz64,
        (UnaryOp::Sqrt, F32) => Op::SqrtF32,
        (UnaryOp::Sqrt, F64) => Op::SqrtF64,
        (UnaryOp::Floor, F32) => Op::FloorF32,
        (UnaryOp::Floor, F64) => Op::FloorF64,
        (UnaryOp::Ceil, F32) => Op::CeilF32,
        (UnaryOp::Ceil, F64) => Op::CeilF64,
        (UnaryOp::Round, F32) => Op::RoundF32,
        (UnaryOp::Round, F64) => Op::RoundF64,
        (UnaryOp::Trunc, F32) => Op::TruncF32,
        (UnaryOp::Trunc, F64) => Op::TruncF64,
        (UnaryOp::Exp, F32) => Op::ExpF32,
        (UnaryOp::Exp, F64) => Op::ExpF64,
        (UnaryOp::Ln, F32) => Op::LnF32,
        (UnaryOp::Ln, F64) => Op::LnF64,
        (UnaryOp::Sin, F32) => Op::SinF32,
        (UnaryOp::Sin, F64) => Op::SinF64,
        (UnaryOp::Cos, F32) => Op::CosF32,
        (UnaryOp::Cos, F64) => Op::CosF64,
        _ => return None,
    })
}

/// The opcode that makes a value of one type one of another; none where its rows hold that already, and to types of
/// less than a word.
pub(super) fn cast_op(from: Scalar, to: Scalar) -> Option<Op> {
    use Scalar::{Bool, F32, F64, I32, I64, U8, U32, U64};
    match (from, to) {
        (_, Bool | U8) => None,
        (Bool | U8 | U32 | I32, U32 | I32) | (U64 | I64, U64 | I64) => None,
        (Bool | U8 | U32, U64 | I64) => Some(Op::Zext64),
        (I32, U64 | I64) => Some(Op::Sext64),
        (U64 | I64, U32 | I32) => Some(Op::Wrap32),
        (Bool | U8 | U32, F32) => Some(Op::F32FromU32),
        (I32, F32) => Some(Op::F32FromI32),
        (U64, F32) => Some(Op::F32FromU64),
        (I64, F32) => Some(Op::F32FromI64),
        (F64, F32) => Some(Op::F32FromF64),
        (Bool | U8 | U32, F64) => Some(Op::F64FromU32),
        (I32, F64) => Some(Op::F64FromI32),
        (U64, F64) => Some(Op::F64FromU64),
        (I64, F64) => Some(Op::F64FromI64),
        (F32, F64) => Some(Op::F64FromF32),
        (F32, U32) => Some(Op::U32FromF32),
        (F32, I32) => Some(Op::I32FromF32),
        (F32, U64) => Some(Op::U64FromF32),
        (F32, I64) => Some(Op::I64FromF32),
        (F64, U32) => Some(Op::U32FromF64),
        (F64, I32) => Some(Op::I32FromF64),
        (F64, U64) => Some(Op::U64FromF64),
        (F64, I64) => Some(Op::I64FromF64),
        (F32, F32) | (F64, F64) => None,
    }
}

/// The opcode of an operator of two operands that is one instruction.
pub(super) fn binary_op(op: BinaryOp, scalar: Scalar) -> Option<Op> {
    let narrow = matches!(scalar, Scalar::Bool | Scalar::U8);
    let bits = |w: Op, d: Op| [Some(w), Some(w), Some(d), Some(d), None, None];
    let ops = match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::RotateLeft
            if narrow =>
        {
            return None;
        }
        BinaryOp::Div | BinaryOp::Rem if scalar == Scalar::Bool => return None,
        BinaryOp::Add => all(Op::Add32, Op::Add64, Op::AddF32, Op::AddF64),
        BinaryOp::Sub => all(Op::Sub32, Op::Sub64, Op::SubF32, Op::SubF64),
        BinaryOp::Mul => all(Op::Mul32, Op::Mul64, Op::MulF32, Op::MulF64),
        BinaryOp::Div => [
            Op::DivU32,
            Op::DivI32,
            Op::DivU64,
            Op::DivI64,
            Op::DivF32,
            Op::DivF64,
        ]
        .map(Some),
        BinaryOp::Rem => [
            Op::RemU32,
            Op::RemI32,
            Op::RemU64,
            Op::RemI64,
            Op::RemF32,
            Op::RemF64,
        ]
        .map(Some),
        BinaryOp::And => bits(Op::And32, Op::And64),
        BinaryOp::Or => bits(Op::Or32, Op::Or64),
        BinaryOp::Xor => bits(Op::Xor32, Op::Xor64),
        BinaryOp::Shl => bits(Op::Shl32, Op::Shl64),
        BinaryOp::Shr => [
            Some(Op::ShrU32),
            Some(Op::ShrI32),
            Some(Op::ShrU64),
            Some(Op::ShrI64),
            None,
            None,
        ],
        BinaryOp::RotateLeft => bits(Op::Rotl32, Op::Rotl64),
        BinaryOp::WrappingDiv
        | BinaryOp::WrappingRem
        | BinaryOp::SaturatingAdd
        | BinaryOp::SaturatingSub
        | BinaryOp::SaturatingMul
        | BinaryOp::AbsDiff
        | BinaryOp::RotateRight => return None,
        BinaryOp::Min => [
            Op::MinU32,
            Op::MinI32,
            Op::MinU64,
            Op::MinI64,
            Op::MinF32,
            Op::MinF64,
        ]
        .map(Some),
        BinaryOp::Max => [
            Op::MaxU32,
            Op::MaxI32,
            Op::MaxU64,
            Op::MaxI64,
            Op::MaxF32,
            Op::MaxF64,
        ]
        .map(Some),
    };
    by_type(scalar, ops)
}

/// The opcode of a comparison that is not `>` or `>=`.
pub(super) fn compare_op(op: CompareOp, scalar: Scalar) -> Op {
    let ops = match op {
        CompareOp::Eq => all(Op::Eq32, Op::Eq64, Op::EqF32, Op::EqF64),
        CompareOp::Ne => all(Op::Ne32, Op::Ne64, Op::NeF32, Op::NeF64),
        CompareOp::Lt | CompareOp::Gt => [
            Op::LtU32,
            Op::LtI32,
            Op::LtU64,
            Op::LtI64,
            Op::LtF32,
            Op::LtF64,
        ]
        .map(Some),
        CompareOp::Le | CompareOp::Ge => [
            Op::LeU32,
            Op::LeI32,
            Op::LeU64,
            Op::LeI64,
            Op::LeF32,
            Op::LeF64,
        ]
        .map(Some),
    };
    by_type(scalar, ops).expect("every scalar compares")
}

/// Opcodes of one operation for u32, i32, u64, i64, f32 and f64; bools and bytes take the u32 one.
fn by_type(scalar: Scalar, ops: [Option<Op>; 6]) -> Option<Op> {
    let at = match scalar {
        Scalar::Bool | Scalar::U8 | Scalar::U32 => 0,
        Scalar::I32 => 1,
        Scalar::U64 => 2,
        Scalar::I64 => 3,
        Scalar::F32 => 4,
        Scalar::F64 => 5,
    };
    ops[at]
}

/// One opcode for both signs of each width.
fn all(word: Op, double: Op, single: Op, float64: Op) -> [Option<Op>; 6] {
    [word, word, double, double, single, float64].map(Some)
}

/// The opcode of an atomic, and whether its value must be negated first.
pub(super) fn atomic_op(op: AtomicOp, scalar: Scalar) -> Result<(Op, bool), LowerError> {
    let bits = |w: Op, d: Op| [Some(w), Some(w), Some(d), Some(d), None, None];
    let ops = match op {
        AtomicOp::Add | AtomicOp::Sub => {
            all(Op::AtomAdd32, Op::AtomAdd64, Op::AtomAddF32, Op::AtomAddF64)
        }
        AtomicOp::Min => [
            Op::AtomMinU32,
            Op::AtomMinI32,
            Op::AtomMinU64,
            Op::AtomMinI64,
            Op::AtomMinF32,
            Op::AtomMinF64,
        ]
        .map(Some),
        AtomicOp::Max => [
            Op::AtomMaxU32,
            Op::AtomMaxI32,
            Op::AtomMaxU64,
            Op::AtomMaxI64,
            Op::AtomMaxF32,
            Op::AtomMaxF64,
        ]
        .map(Some),
        AtomicOp::And => bits(Op::AtomAnd32, Op::AtomAnd64),
        AtomicOp::Or => bits(Op::AtomOr32, Op::AtomOr64),
        AtomicOp::Xor => bits(Op::AtomXor32, Op::AtomXor64),
        AtomicOp::Swap => all(
            Op::AtomSwap32,
            Op::AtomSwap64,
            Op::AtomSwap32,
            Op::AtomSwap64,
        ),
    };
    by_type(scalar, ops)
        .filter(|_| scalar.size_bytes() > 1)
        .map(|code| (code, op == AtomicOp::Sub))
        .ok_or_else(|| {
            unsupported(
                &format!("atomic {}", format!("{op:?}").to_lowercase()),
                scalar,
            )
        })
}
