//! The closed table of methods on scalars, and the constants of the scalar types.

use vyre_core::compile::ir::{AtomicOp, BinaryOp, UnaryOp};
use vyre_core::vir0::scalar::Scalar;

/// Which receivers a method has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Int,
    Signed,
    Unsigned,
    Float,
    Signs,
    Number,
}

impl On {
    pub(super) fn holds(self, s: Scalar) -> bool {
        let int = super::types::is_int(s);
        let float = super::types::is_float(s);
        let signed = super::types::is_signed(s);
        match self {
            On::Int => int,
            On::Signed => signed,
            On::Unsigned => int && !signed,
            On::Float => float,
            On::Signs => signed || float,
            On::Number => int || float,
        }
    }
}

/// Type of an argument or result, given the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum As {
    Same,
    U32,
    Bool,
    /// The unsigned type of the receiver's width.
    Unsigned,
    /// The signed type of the receiver's width.
    Signed,
}

/// What a method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Unary(UnaryOp),
    Binary(BinaryOp),
    MulAdd,
    RotateRight,
    CountZeros,
    LeadingOnes,
    TrailingOnes,
    IsPowerOfTwo,
    AbsDiff,
    Pow,
    Signum,
    IsPositive,
    IsNegative,
    IsNan,
    IsInfinite,
    IsFinite,
    SignBit,
    NoSignBit,
    Fract,
    Recip,
    Copysign,
    ToBits,
    FromBits,
    SaturatingAdd,
    SaturatingSub,
    SaturatingMul,
    UnsignedAbs,
    /// Same bits, the other signedness.
    Resign,
    Clamp,
    RemEuclid,
    DivEuclid,
    DivCeil,
    IsMultipleOf,
    NextPowerOfTwo,
    Ilog2,
    SwapBytes,
    ReverseBits,
    ToRadians,
    ToDegrees,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) on: On,
    pub(super) args: &'static [As],
    pub(super) result: As,
    pub(super) code: Code,
}

macro_rules! table {
    ($($name:literal $on:ident ($($arg:ident)*) $result:ident $code:expr;)*) => {
        &[$(Method { name: $name, on: On::$on, args: &[$(As::$arg),*], result: As::$result, code: $code }),*]
    };
}

/// Every method on a scalar. A name has one row.
pub(super) const METHODS: &[Method] = {
    use Code::{Binary, Unary};
    table! {
        "abs" Signs () Same Unary(UnaryOp::Abs);
        "abs_diff" Int (Same) Unsigned Code::AbsDiff;
        "cast_signed" Unsigned () Signed Code::Resign;
        "cast_unsigned" Signed () Unsigned Code::Resign;
        "ceil" Float () Same Unary(UnaryOp::Ceil);
        "clamp" Number (Same Same) Same Code::Clamp;
        "copysign" Float (Same) Same Code::Copysign;
        "cos" Float () Same Unary(UnaryOp::Cos);
        "count_ones" Int () U32 Unary(UnaryOp::CountOnes);
        "count_zeros" Int () U32 Code::CountZeros;
        "div_ceil" Unsigned (Same) Same Code::DivCeil;
        "div_euclid" Number (Same) Same Code::DivEuclid;
        "exp" Float () Same Unary(UnaryOp::Exp);
        "floor" Float () Same Unary(UnaryOp::Floor);
        "fract" Float () Same Code::Fract;
        "ilog2" Int () U32 Code::Ilog2;
        "is_finite" Float () Bool Code::IsFinite;
        "is_infinite" Float () Bool Code::IsInfinite;
        "is_multiple_of" Unsigned (Same) Bool Code::IsMultipleOf;
        "is_nan" Float () Bool Code::IsNan;
        "is_negative" Signed () Bool Code::IsNegative;
        "is_positive" Signed () Bool Code::IsPositive;
        "is_power_of_two" Unsigned () Bool Code::IsPowerOfTwo;
        "is_sign_negative" Float () Bool Code::SignBit;
        "is_sign_positive" Float () Bool Code::NoSignBit;
        "leading_ones" Int () U32 Code::LeadingOnes;
        "leading_zeros" Int () U32 Unary(UnaryOp::LeadingZeros);
        "ln" Float () Same Unary(UnaryOp::Ln);
        "max" Number (Same) Same Binary(BinaryOp::Max);
        "min" Number (Same) Same Binary(BinaryOp::Min);
        "mul_add" Float (Same Same) Same Code::MulAdd;
        "next_power_of_two" Unsigned () Same Code::NextPowerOfTwo;
        "pow" Int (U32) Same Code::Pow;
        "recip" Float () Same Code::Recip;
        "rem_euclid" Number (Same) Same Code::RemEuclid;
        "reverse_bits" Int () Same Code::ReverseBits;
        "rotate_left" Int (U32) Same Binary(BinaryOp::RotateLeft);
        "rotate_right" Int (U32) Same Code::RotateRight;
        "round" Float () Same Unary(UnaryOp::Round);
        "round_ties_even" Float () Same Unary(UnaryOp::RoundTiesEven);
        "saturating_add" Int (Same) Same Code::SaturatingAdd;
        "saturating_mul" Int (Same) Same Code::SaturatingMul;
        "saturating_sub" Int (Same) Same Code::SaturatingSub;
        "signum" Signs () Same Code::Signum;
        "sin" Float () Same Unary(UnaryOp::Sin);
        "sqrt" Float () Same Unary(UnaryOp::Sqrt);
        "swap_bytes" Int () Same Code::SwapBytes;
        "to_bits" Float () Unsigned Code::ToBits;
        "to_degrees" Float () Same Code::ToDegrees;
        "to_radians" Float () Same Code::ToRadians;
        "trailing_ones" Int () U32 Code::TrailingOnes;
        "trailing_zeros" Int () U32 Unary(UnaryOp::TrailingZeros);
        "trunc" Float () Same Unary(UnaryOp::Trunc);
        "unsigned_abs" Signed () Unsigned Code::UnsignedAbs;
        "wrapping_abs" Signed () Same Unary(UnaryOp::Abs);
        "wrapping_add" Int (Same) Same Binary(BinaryOp::Add);
        "wrapping_div" Int (Same) Same Binary(BinaryOp::WrappingDiv);
        "wrapping_mul" Int (Same) Same Binary(BinaryOp::Mul);
        "wrapping_neg" Int () Same Unary(UnaryOp::Neg);
        "wrapping_pow" Int (U32) Same Code::Pow;
        "wrapping_rem" Int (Same) Same Binary(BinaryOp::WrappingRem);
        "wrapping_shl" Int (U32) Same Binary(BinaryOp::Shl);
        "wrapping_shr" Int (U32) Same Binary(BinaryOp::Shr);
        "wrapping_sub" Int (Same) Same Binary(BinaryOp::Sub);
    }
};

/// Methods that fail inside std without their caller's position, with some receiver and in some build.
/// `vyre_core::dsl::located` has each.
pub(super) const UNLOCATED: &[&str] = &[
    "abs",
    "clamp",
    "next_power_of_two",
    "pow",
    "wrapping_div",
    "wrapping_rem",
];

/// The row of a method's name.
pub(super) fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.name == name)
}

/// Methods of `Bits`, each with its number of arguments and its result: a bool, a u32 or nothing.
pub(super) const BITS: &[(&str, usize, Option<Scalar>)] = &[
    ("and", 2, Some(Scalar::Bool)),
    ("and_from", 3, Some(Scalar::Bool)),
    ("and_not", 2, Some(Scalar::Bool)),
    ("and_not_from", 3, Some(Scalar::Bool)),
    ("and_word", 3, Some(Scalar::U32)),
    ("clear", 1, None),
    ("count", 1, Some(Scalar::U32)),
    ("get", 2, Some(Scalar::Bool)),
    ("or", 2, Some(Scalar::Bool)),
    ("or_from", 3, Some(Scalar::Bool)),
    ("or_word", 3, Some(Scalar::U32)),
    ("set", 2, Some(Scalar::Bool)),
    ("store_word", 3, None),
    ("unset", 2, Some(Scalar::Bool)),
    ("width", 0, Some(Scalar::U32)),
    ("word", 2, Some(Scalar::U32)),
    ("words", 0, Some(Scalar::U32)),
];

/// Methods of `Atomic<T>`.
pub(super) const ATOMIC: &[&str] = &[
    "load",
    "store",
    "swap",
    "compare_exchange",
    "compare_and_swap",
    "fetch_add",
    "fetch_sub",
    "fetch_min",
    "fetch_max",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
];

/// The operation of an atomic's method that reads, changes and writes.
pub(super) fn atomic(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "swap" => AtomicOp::Swap,
        "fetch_add" => AtomicOp::Add,
        "fetch_sub" => AtomicOp::Sub,
        "fetch_min" => AtomicOp::Min,
        "fetch_max" => AtomicOp::Max,
        "fetch_and" => AtomicOp::And,
        "fetch_or" => AtomicOp::Or,
        "fetch_xor" => AtomicOp::Xor,
        _ => return None,
    })
}

/// Raw bits and type of an associated constant of a scalar type: `u32::MAX`, `f32::INFINITY`, `i64::BITS`.
pub(super) fn constant(scalar: Scalar, name: &str) -> Option<(Scalar, u64)> {
    macro_rules! ints {
        ($ty:ty) => {
            match name {
                "MIN" => (scalar, <$ty>::MIN as u64),
                "MAX" => (scalar, <$ty>::MAX as u64),
                "BITS" => (Scalar::U32, u64::from(<$ty>::BITS)),
                _ => return None,
            }
        };
    }
    macro_rules! floats {
        ($ty:ident) => {
            match name {
                "MIN" => $ty::MIN,
                "MAX" => $ty::MAX,
                "MIN_POSITIVE" => $ty::MIN_POSITIVE,
                "EPSILON" => $ty::EPSILON,
                "INFINITY" => $ty::INFINITY,
                "NEG_INFINITY" => $ty::NEG_INFINITY,
                "NAN" => $ty::NAN,
                _ => return None,
            }
        };
    }
    Some(match scalar {
        Scalar::Bool => return None,
        Scalar::U8 => ints!(u8),
        Scalar::U32 => ints!(u32),
        Scalar::I32 => ints!(i32),
        Scalar::U64 => ints!(u64),
        Scalar::I64 => ints!(i64),
        Scalar::F32 => (scalar, floats!(f32).to_bits().into()),
        Scalar::F64 => (scalar, floats!(f64).to_bits()),
    })
}

/// What to write instead of a method of Rust's that lanes do not have.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "iter" | "iter_mut" | "into_iter" | "map" | "filter" | "fold" | "sum" | "zip"
        | "enumerate" | "any" | "all" | "collect" | "for_each" | "count" | "chain" | "take"
        | "skip" | "filter_map" | "flat_map" | "rev" | "step_by" => {
            "write a `for` loop over a range, an array, a row, `g.neighbors(v)` or `g.edges(v)`"
        }
        "checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "checked_rem"
        | "checked_neg" | "checked_shl" | "checked_shr" | "checked_pow" => {
            "lanes have no `Option`: compare first, or use the wrapping or saturating method"
        }
        "overflowing_sub" | "overflowing_mul" => {
            "use the wrapping method and compare the result with an operand"
        }
        "unwrap" | "expect" | "unwrap_or" | "is_some" | "is_none" | "is_ok" | "is_err"
        | "map_or" | "ok" | "then" | "then_some" => {
            "lanes have no `Option` and no `Result`: use a sentinel value such as `u32::MAX` and `if`"
        }
        "clone" | "to_owned" | "borrow" | "as_ref" => {
            "scalars are `Copy`: use the value itself, or `*x` for an own element"
        }
        "to_string" | "len_utf8" | "chars" | "as_str" | "format" => "lanes have no strings",
        "get" | "get_mut" | "get_unchecked" | "first" | "last" => {
            "index the buffer, `xs[i]`: every index is checked"
        }
        "powi" => "multiply, or use `pow` on an integer",
        "powf" => "write `(x.ln() * p).exp()`, which is approximate",
        "exp2" | "exp_m1" => "write it with `exp`, which is approximate",
        "log2" | "log10" | "log" | "ln_1p" => {
            "write `x.ln()` times a constant, which is approximate"
        }
        "tan" | "tanh" | "sinh" | "cosh" | "sin_cos" => {
            "write it with `sin`, `cos` or `exp`, which are approximate"
        }
        "to_le" | "to_be" => "lanes are little-endian: use `swap_bytes`",
        "cmp" | "partial_cmp" | "total_cmp" => "use `<`, `==` and `>` with `if`",
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "add" | "sub" | "mul" | "div" | "rem" | "neg"
        | "not" | "shl" | "shr" => "use the operator",
        "try_into" => "use `as`",
        _ => return None,
    })
}
