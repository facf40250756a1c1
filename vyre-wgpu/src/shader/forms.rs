//! What each instruction becomes: the table that the text of bodies is made from.

use vyre_core::vir0::isa::Op;

/// How a word is written in WGSL. `a`, `b` and `c` are its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `a`
    Same,
    /// A uniform.
    Uniform,
    /// `select(c, b, a != 0u)`
    Select,
    /// `a + b`
    Infix(&'static str),
    /// `u32(a < b)`
    Compare(&'static str),
    /// `u32(bitcast<i32>(a) < bitcast<i32>(b))`
    CompareSigned(&'static str),
    /// `min(a, b)`
    Builtin(&'static str),
    /// `a << (b & 31u)`
    Shift(&'static str),
    /// `bitcast<u32>(bitcast<i32>(a) >> (b & 31u))`
    ShiftSigned,
    /// `vec2(a, 0u)`
    Extend,
    /// `a.x`
    Low,
    /// A function of ours that has the instruction's name.
    Call,
    /// The same, unless the divisor is 0, or the quotient overflows.
    Divide,
    RowLoad,
    RowStore,
    RowFill,
    Load,
    Store,
    Length,
    CsrBegin,
    CsrEnd,
    CsrTarget,
    AtomicLoad,
    AtomicStore,
    /// A builtin function.
    Atomic(&'static str),
    /// What this function makes of the old value and `b`, in a loop that ends when nobody came between.
    AtomicLoop(&'static str),
    CompareExchange,
    Push,
    Reduce,
    Append,
    ListStore,
    PushItem,
    ItemStore,
    If,
    Else,
    EndIf,
    Loop,
    EndLoop,
    Break,
    BreakIf,
    BreakUnless,
    Continue,
    Ret,
    RetV,
    Trap,
    Assert,
    Check,
}

/// The table. A new instruction stands here before this compiles.
pub(super) const fn form(op: Op) -> Form {
    match op {
        Op::Mov32 | Op::Mov64 => Form::Same,
        Op::LdU32 | Op::LdU64 => Form::Uniform,
        Op::Sel32 | Op::Sel64 => Form::Select,
        Op::RowLd32 | Op::RowLd64 => Form::RowLoad,
        Op::RowSt32 | Op::RowSt64 => Form::RowStore,
        Op::RowFill32 | Op::RowFill64 => Form::RowFill,

        Op::Add32 => Form::Infix("+"),
        Op::Sub32 => Form::Infix("-"),
        Op::Mul32 => Form::Infix("*"),
        Op::And32 | Op::And64 => Form::Infix("&"),
        Op::Or32 | Op::Or64 => Form::Infix("|"),
        Op::Xor32 | Op::Xor64 => Form::Infix("^"),
        Op::DivU32 | Op::DivI32 | Op::RemU32 | Op::RemI32 => Form::Divide,
        Op::DivU64 | Op::DivI64 | Op::RemU64 | Op::RemI64 => Form::Divide,
        Op::MinU32 => Form::Builtin("min"),
        Op::MaxU32 => Form::Builtin("max"),
        Op::Popc32 => Form::Builtin("countOneBits"),
        Op::Clz32 => Form::Builtin("countLeadingZeros"),
        Op::Ctz32 => Form::Builtin("countTrailingZeros"),
        Op::Shl32 => Form::Shift("<<"),
        Op::ShrU32 => Form::Shift(">>"),
        Op::ShrI32 => Form::ShiftSigned,
        Op::MinI32 | Op::MaxI32 | Op::Rotl32 => Form::Call,
        Op::Add64 | Op::Sub64 | Op::Mul64 | Op::MulHiU64 => Form::Call,
        Op::MinU64 | Op::MinI64 | Op::MaxU64 | Op::MaxI64 => Form::Call,
        Op::Shl64 | Op::ShrU64 | Op::ShrI64 | Op::Rotl64 => Form::Call,
        Op::Popc64 | Op::Clz64 | Op::Ctz64 => Form::Call,

        Op::ExpF32 | Op::LnF32 | Op::SinF32 | Op::CosF32 => Form::Call,
        Op::ExpF64 | Op::LnF64 | Op::SinF64 | Op::CosF64 => Form::Call,
        Op::AddF32 | Op::SubF32 | Op::MulF32 | Op::DivF32 | Op::RemF32 => Form::Call,
        Op::MinF32 | Op::MaxF32 | Op::FmaF32 | Op::SqrtF32 => Form::Call,
        Op::FloorF32 | Op::CeilF32 | Op::RoundF32 | Op::TruncF32 => Form::Call,
        Op::AddF64 | Op::SubF64 | Op::MulF64 | Op::DivF64 | Op::RemF64 => Form::Call,
        Op::MinF64 | Op::MaxF64 | Op::FmaF64 | Op::SqrtF64 => Form::Call,
        Op::FloorF64 | Op::CeilF64 | Op::RoundF64 | Op::TruncF64 => Form::Call,

        Op::Eq32 => Form::Compare("=="),
        Op::Ne32 => Form::Compare("!="),
        Op::LtU32 => Form::Compare("<"),
        Op::LeU32 => Form::Compare("<="),
        Op::LtI32 => Form::CompareSigned("<"),
        Op::LeI32 => Form::CompareSigned("<="),
        Op::EqF32 | Op::NeF32 | Op::LtF32 | Op::LeF32 => Form::Call,
        Op::Eq64 | Op::Ne64 | Op::LtU64 | Op::LeU64 | Op::LtI64 | Op::LeI64 => Form::Call,
        Op::EqF64 | Op::NeF64 | Op::LtF64 | Op::LeF64 => Form::Call,

        Op::Zext64 => Form::Extend,
        Op::Wrap32 => Form::Low,
        Op::Sext64 => Form::Call,
        Op::F32FromU32 | Op::F32FromI32 | Op::F32FromU64 | Op::F32FromI64 => Form::Call,
        Op::F64FromU32 | Op::F64FromI32 | Op::F64FromU64 | Op::F64FromI64 => Form::Call,
        Op::F32FromF64 | Op::F64FromF32 => Form::Call,
        Op::U32FromF32 | Op::I32FromF32 | Op::U64FromF32 | Op::I64FromF32 => Form::Call,
        Op::U32FromF64 | Op::I32FromF64 | Op::U64FromF64 | Op::I64FromF64 => Form::Call,

        Op::Ld8 | Op::Ld32 | Op::Ld64 => Form::Load,
        Op::St8 | Op::St32 | Op::St64 => Form::Store,
        Op::Len => Form::Length,
        Op::CsrBegin => Form::CsrBegin,
        Op::CsrEnd => Form::CsrEnd,
        Op::CsrTarget => Form::CsrTarget,

        Op::AtomLd32 | Op::AtomLd64 => Form::AtomicLoad,
        Op::AtomSt32 | Op::AtomSt64 => Form::AtomicStore,
        Op::AtomSwap32 | Op::AtomSwap64 => Form::Atomic("atomicExchange"),
        Op::AtomCas32 | Op::AtomCas64 => Form::CompareExchange,
        Op::AtomAdd32 | Op::AtomAdd64 => Form::Atomic("atomicAdd"),
        Op::AtomAnd32 | Op::AtomAnd64 => Form::Atomic("atomicAnd"),
        Op::AtomOr32 | Op::AtomOr64 => Form::Atomic("atomicOr"),
        Op::AtomXor32 | Op::AtomXor64 => Form::Atomic("atomicXor"),
        Op::AtomMinU32 | Op::AtomMinU64 => Form::Atomic("atomicMin"),
        Op::AtomMaxU32 | Op::AtomMaxU64 => Form::Atomic("atomicMax"),
        Op::AtomAddF32 => Form::AtomicLoop("add_f32"),
        Op::AtomAddF64 => Form::AtomicLoop("add_f64"),
        Op::AtomMinI32 => Form::AtomicLoop("min_i32"),
        Op::AtomMinI64 => Form::AtomicLoop("min_i64"),
        Op::AtomMinF32 => Form::AtomicLoop("min_f32"),
        Op::AtomMinF64 => Form::AtomicLoop("min_f64"),
        Op::AtomMaxI32 => Form::AtomicLoop("max_i32"),
        Op::AtomMaxI64 => Form::AtomicLoop("max_i64"),
        Op::AtomMaxF32 => Form::AtomicLoop("max_f32"),
        Op::AtomMaxF64 => Form::AtomicLoop("max_f64"),

        Op::Push => Form::Push,
        Op::Reduce32 | Op::Reduce64 => Form::Reduce,
        Op::Append => Form::Append,
        Op::ListSt8 | Op::ListSt32 | Op::ListSt64 => Form::ListStore,
        Op::PushItem => Form::PushItem,
        Op::ItemSt8 | Op::ItemSt32 | Op::ItemSt64 => Form::ItemStore,

        Op::If => Form::If,
        Op::Else => Form::Else,
        Op::EndIf => Form::EndIf,
        Op::Loop => Form::Loop,
        Op::EndLoop => Form::EndLoop,
        Op::Break => Form::Break,
        Op::BreakIf => Form::BreakIf,
        Op::BreakUnless => Form::BreakUnless,
        Op::Continue => Form::Continue,
        Op::Ret => Form::Ret,
        Op::RetV => Form::RetV,
        Op::Trap => Form::Trap,
        Op::Assert => Form::Assert,
        Op::Check => Form::Check,
    }
}
