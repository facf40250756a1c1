// Generated from vyre-core's instruction table (isa::cuda_header); do not edit.
#pragma once

#define VYRE_UNIFORM_BASE 192u
#define VYRE_IMM 255u
#define VYRE_MAX_ROWS 192u
#define VYRE_MAX_DIRECT_UNIFORMS 63u
#define VYRE_MAX_CODE_WORDS 65535u
#define VYRE_FRAMES_PER_IF 2u
#define VYRE_FRAMES_PER_LOOP 2u
#define VYRE_MAX_FRAMES 64u
#define VYRE_MAX_FRAMES_AT_4 16u
#define VYRE_WHOLE_WAVE 4294967295u

enum VyreOp {
    VYRE_OP_Mov32 = 0x01, // mov.b32: d = a
    VYRE_OP_Mov64 = 0x02, // mov.b64: d = a
    VYRE_OP_LdU32 = 0x03, // ldu.b32: d = uniform[imm], low 32 bits
    VYRE_OP_LdU64 = 0x04, // ldu.b64: d = uniform[imm]
    VYRE_OP_Sel32 = 0x05, // sel.b32: d = a ? b : c; a is a bool
    VYRE_OP_Sel64 = 0x06, // sel.b64: d = a ? b : c; a is a bool
    VYRE_OP_RowLd32 = 0x08, // row.ld.b32: d = array[a]
    VYRE_OP_RowLd64 = 0x09, // row.ld.b64: d = array[a]
    VYRE_OP_RowSt32 = 0x0a, // row.st.b32: array[a] = b
    VYRE_OP_RowSt64 = 0x0b, // row.st.b64: array[a] = b
    VYRE_OP_RowFill32 = 0x0c, // row.fill.b32: every element of the array = a
    VYRE_OP_RowFill64 = 0x0d, // row.fill.b64: every element of the array = a
    VYRE_OP_Add32 = 0x10, // add.b32: d = a + b, wrapping
    VYRE_OP_Sub32 = 0x11, // sub.b32: d = a - b, wrapping
    VYRE_OP_Mul32 = 0x12, // mul.b32: d = a * b, wrapping
    VYRE_OP_DivU32 = 0x13, // div.u32: d = a / b
    VYRE_OP_DivI32 = 0x14, // div.i32: d = a / b, toward zero
    VYRE_OP_RemU32 = 0x15, // rem.u32: d = a % b
    VYRE_OP_RemI32 = 0x16, // rem.i32: d = a % b, sign of a
    VYRE_OP_MinU32 = 0x17, // min.u32: d = the smaller
    VYRE_OP_MinI32 = 0x18, // min.i32: d = the smaller
    VYRE_OP_MaxU32 = 0x19, // max.u32: d = the larger
    VYRE_OP_MaxI32 = 0x1a, // max.i32: d = the larger
    VYRE_OP_And32 = 0x1b, // and.b32: d = a & b
    VYRE_OP_Or32 = 0x1c, // or.b32: d = a | b
    VYRE_OP_Xor32 = 0x1d, // xor.b32: d = a ^ b
    VYRE_OP_Shl32 = 0x1e, // shl.b32: d = a << (b & 31)
    VYRE_OP_ShrU32 = 0x1f, // shr.u32: d = a >> (b & 31), zero fill
    VYRE_OP_ShrI32 = 0x20, // shr.i32: d = a >> (b & 31), sign fill
    VYRE_OP_Rotl32 = 0x21, // rotl.b32: d = a rotated left by b & 31
    VYRE_OP_Popc32 = 0x22, // popc.b32: d = number of set bits of a
    VYRE_OP_Clz32 = 0x23, // clz.b32: d = number of leading zeros of a; 32 for 0
    VYRE_OP_Ctz32 = 0x24, // ctz.b32: d = number of trailing zeros of a; 32 for 0
    VYRE_OP_Add64 = 0x30, // add.b64: d = a + b, wrapping
    VYRE_OP_Sub64 = 0x31, // sub.b64: d = a - b, wrapping
    VYRE_OP_Mul64 = 0x32, // mul.b64: d = a * b, wrapping
    VYRE_OP_DivU64 = 0x33, // div.u64: d = a / b
    VYRE_OP_DivI64 = 0x34, // div.i64: d = a / b, toward zero
    VYRE_OP_RemU64 = 0x35, // rem.u64: d = a % b
    VYRE_OP_RemI64 = 0x36, // rem.i64: d = a % b, sign of a
    VYRE_OP_MinU64 = 0x37, // min.u64: d = the smaller
    VYRE_OP_MinI64 = 0x38, // min.i64: d = the smaller
    VYRE_OP_MaxU64 = 0x39, // max.u64: d = the larger
    VYRE_OP_MaxI64 = 0x3a, // max.i64: d = the larger
    VYRE_OP_And64 = 0x3b, // and.b64: d = a & b
    VYRE_OP_Or64 = 0x3c, // or.b64: d = a | b
    VYRE_OP_Xor64 = 0x3d, // xor.b64: d = a ^ b
    VYRE_OP_Shl64 = 0x3e, // shl.b64: d = a << (b & 63)
    VYRE_OP_ShrU64 = 0x3f, // shr.u64: d = a >> (b & 63), zero fill
    VYRE_OP_ShrI64 = 0x40, // shr.i64: d = a >> (b & 63), sign fill
    VYRE_OP_Rotl64 = 0x41, // rotl.b64: d = a rotated left by b & 63
    VYRE_OP_Popc64 = 0x42, // popc.b64: d = number of set bits of a
    VYRE_OP_Clz64 = 0x43, // clz.b64: d = number of leading zeros of a; 64 for 0
    VYRE_OP_Ctz64 = 0x44, // ctz.b64: d = number of trailing zeros of a; 64 for 0
    VYRE_OP_MulHiU64 = 0x45, // mulhi.u64: d = high 64 bits of the 128-bit product
    VYRE_OP_ExpF32 = 0x48, // exp.f32: d = e to the power a; within 2 ulp
    VYRE_OP_LnF32 = 0x49, // ln.f32: d = natural logarithm of a; within 2 ulp
    VYRE_OP_SinF32 = 0x4a, // sin.f32: d = sine of a radians; within 2 ulp
    VYRE_OP_CosF32 = 0x4b, // cos.f32: d = cosine of a radians; within 2 ulp
    VYRE_OP_ExpF64 = 0x4c, // exp.f64: d = e to the power a; within 2 ulp
    VYRE_OP_LnF64 = 0x4d, // ln.f64: d = natural logarithm of a; within 2 ulp
    VYRE_OP_SinF64 = 0x4e, // sin.f64: d = sine of a radians; within 2 ulp
    VYRE_OP_CosF64 = 0x4f, // cos.f64: d = cosine of a radians; within 2 ulp
    VYRE_OP_AddF32 = 0x50, // add.f32: d = a + b, round to nearest even, never contracted
    VYRE_OP_SubF32 = 0x51, // sub.f32: d = a - b
    VYRE_OP_MulF32 = 0x52, // mul.f32: d = a * b
    VYRE_OP_DivF32 = 0x53, // div.f32: d = a / b, correctly rounded
    VYRE_OP_RemF32 = 0x54, // rem.f32: d = a % b, exact (fmod)
    VYRE_OP_MinF32 = 0x55, // min.f32: d = the smaller; a NaN loses to a number
    VYRE_OP_MaxF32 = 0x56, // max.f32: d = the larger; a NaN loses to a number
    VYRE_OP_FmaF32 = 0x57, // fma.f32: d = a * b + c, rounded once
    VYRE_OP_SqrtF32 = 0x58, // sqrt.f32: d = square root, correctly rounded
    VYRE_OP_FloorF32 = 0x59, // floor.f32: d = a rounded down
    VYRE_OP_CeilF32 = 0x5a, // ceil.f32: d = a rounded up
    VYRE_OP_RoundF32 = 0x5b, // round.f32: d = a rounded to nearest, halves away from zero
    VYRE_OP_TruncF32 = 0x5c, // trunc.f32: d = a rounded toward zero
    VYRE_OP_AddF64 = 0x60, // add.f64: d = a + b
    VYRE_OP_SubF64 = 0x61, // sub.f64: d = a - b
    VYRE_OP_MulF64 = 0x62, // mul.f64: d = a * b
    VYRE_OP_DivF64 = 0x63, // div.f64: d = a / b
    VYRE_OP_RemF64 = 0x64, // rem.f64: d = a % b, exact (fmod)
    VYRE_OP_MinF64 = 0x65, // min.f64: d = the smaller; a NaN loses to a number
    VYRE_OP_MaxF64 = 0x66, // max.f64: d = the larger; a NaN loses to a number
    VYRE_OP_FmaF64 = 0x67, // fma.f64: d = a * b + c, rounded once
    VYRE_OP_SqrtF64 = 0x68, // sqrt.f64: d = square root, correctly rounded
    VYRE_OP_FloorF64 = 0x69, // floor.f64: d = a rounded down
    VYRE_OP_CeilF64 = 0x6a, // ceil.f64: d = a rounded up
    VYRE_OP_RoundF64 = 0x6b, // round.f64: d = a rounded to nearest, halves away from zero
    VYRE_OP_TruncF64 = 0x6c, // trunc.f64: d = a rounded toward zero
    VYRE_OP_Eq32 = 0x70, // eq.b32: d = (a == b)
    VYRE_OP_Ne32 = 0x71, // ne.b32: d = (a != b)
    VYRE_OP_LtU32 = 0x72, // lt.u32: d = (a < b)
    VYRE_OP_LeU32 = 0x73, // le.u32: d = (a <= b)
    VYRE_OP_LtI32 = 0x74, // lt.i32: d = (a < b)
    VYRE_OP_LeI32 = 0x75, // le.i32: d = (a <= b)
    VYRE_OP_EqF32 = 0x76, // eq.f32: d = (a == b)
    VYRE_OP_NeF32 = 0x77, // ne.f32: d = (a != b); 1 with a NaN
    VYRE_OP_LtF32 = 0x78, // lt.f32: d = (a < b)
    VYRE_OP_LeF32 = 0x79, // le.f32: d = (a <= b)
    VYRE_OP_Eq64 = 0x7a, // eq.b64: d = (a == b)
    VYRE_OP_Ne64 = 0x7b, // ne.b64: d = (a != b)
    VYRE_OP_LtU64 = 0x7c, // lt.u64: d = (a < b)
    VYRE_OP_LeU64 = 0x7d, // le.u64: d = (a <= b)
    VYRE_OP_LtI64 = 0x7e, // lt.i64: d = (a < b)
    VYRE_OP_LeI64 = 0x7f, // le.i64: d = (a <= b)
    VYRE_OP_EqF64 = 0x80, // eq.f64: d = (a == b)
    VYRE_OP_NeF64 = 0x81, // ne.f64: d = (a != b); 1 with a NaN
    VYRE_OP_LtF64 = 0x82, // lt.f64: d = (a < b)
    VYRE_OP_LeF64 = 0x83, // le.f64: d = (a <= b)
    VYRE_OP_Zext64 = 0x88, // cvt.u64.u32: d = a, zero-extended
    VYRE_OP_Sext64 = 0x89, // cvt.i64.i32: d = a, sign-extended
    VYRE_OP_Wrap32 = 0x8a, // cvt.b32.b64: d = low 32 bits of a
    VYRE_OP_F32FromU32 = 0x8b, // cvt.f32.u32: d = a, nearest even
    VYRE_OP_F32FromI32 = 0x8c, // cvt.f32.i32: d = a, nearest even
    VYRE_OP_F32FromU64 = 0x8d, // cvt.f32.u64: d = a, nearest even
    VYRE_OP_F32FromI64 = 0x8e, // cvt.f32.i64: d = a, nearest even
    VYRE_OP_F32FromF64 = 0x8f, // cvt.f32.f64: d = a, nearest even
    VYRE_OP_F64FromU32 = 0x90, // cvt.f64.u32: d = a, exact
    VYRE_OP_F64FromI32 = 0x91, // cvt.f64.i32: d = a, exact
    VYRE_OP_F64FromU64 = 0x92, // cvt.f64.u64: d = a, nearest even
    VYRE_OP_F64FromI64 = 0x93, // cvt.f64.i64: d = a, nearest even
    VYRE_OP_F64FromF32 = 0x94, // cvt.f64.f32: d = a, exact
    VYRE_OP_U32FromF32 = 0x95, // cvt.u32.f32: d = a toward zero, saturating; NaN is 0
    VYRE_OP_I32FromF32 = 0x96, // cvt.i32.f32: d = a toward zero, saturating; NaN is 0
    VYRE_OP_U64FromF32 = 0x97, // cvt.u64.f32: d = a toward zero, saturating; NaN is 0
    VYRE_OP_I64FromF32 = 0x98, // cvt.i64.f32: d = a toward zero, saturating; NaN is 0
    VYRE_OP_U32FromF64 = 0x99, // cvt.u32.f64: d = a toward zero, saturating; NaN is 0
    VYRE_OP_I32FromF64 = 0x9a, // cvt.i32.f64: d = a toward zero, saturating; NaN is 0
    VYRE_OP_U64FromF64 = 0x9b, // cvt.u64.f64: d = a toward zero, saturating; NaN is 0
    VYRE_OP_I64FromF64 = 0x9c, // cvt.i64.f64: d = a toward zero, saturating; NaN is 0
    VYRE_OP_Ld8 = 0xa0, // ld.b8: d = buffer[a], zero-extended
    VYRE_OP_Ld32 = 0xa1, // ld.b32: d = buffer[a]
    VYRE_OP_Ld64 = 0xa2, // ld.b64: d = buffer[a]
    VYRE_OP_St8 = 0xa3, // st.b8: buffer[a] = low 8 bits of b
    VYRE_OP_St32 = 0xa4, // st.b32: buffer[a] = b
    VYRE_OP_St64 = 0xa5, // st.b64: buffer[a] = b
    VYRE_OP_Len = 0xa6, // len: d = length of the buffer in elements
    VYRE_OP_CsrBegin = 0xa7, // csr.begin: d = offsets[a]; a < nodes
    VYRE_OP_CsrEnd = 0xa8, // csr.end: d = offsets[a + 1]; a < nodes
    VYRE_OP_CsrTarget = 0xa9, // csr.target: d = targets[a]; a < edges
    VYRE_OP_AtomLd32 = 0xb0, // atom.ld.b32: d = buffer[a], atomically
    VYRE_OP_AtomLd64 = 0xb1, // atom.ld.b64: d = buffer[a], atomically
    VYRE_OP_AtomSt32 = 0xb2, // atom.st.b32: buffer[a] = b, atomically
    VYRE_OP_AtomSt64 = 0xb3, // atom.st.b64: buffer[a] = b, atomically
    VYRE_OP_AtomSwap32 = 0xb4, // atom.swap.b32: exchange
    VYRE_OP_AtomSwap64 = 0xb5, // atom.swap.b64: exchange
    VYRE_OP_AtomCas32 = 0xb6, // atom.cas.b32: if buffer[a] == b store c; d = 1 if it was stored, else 0
    VYRE_OP_AtomCas64 = 0xb7, // atom.cas.b64: if buffer[a] == b store c; d = 1 if it was stored, else 0
    VYRE_OP_AtomAdd32 = 0xb8, // atom.add.b32: buffer[a] += b, wrapping
    VYRE_OP_AtomAdd64 = 0xb9, // atom.add.b64: buffer[a] += b, wrapping
    VYRE_OP_AtomAddF32 = 0xba, // atom.add.f32: buffer[a] += b
    VYRE_OP_AtomAddF64 = 0xbb, // atom.add.f64: buffer[a] += b
    VYRE_OP_AtomMinU32 = 0xbc, // atom.min.u32: buffer[a] = the smaller
    VYRE_OP_AtomMinI32 = 0xbd, // atom.min.i32: buffer[a] = the smaller
    VYRE_OP_AtomMinU64 = 0xbe, // atom.min.u64: buffer[a] = the smaller
    VYRE_OP_AtomMinI64 = 0xbf, // atom.min.i64: buffer[a] = the smaller
    VYRE_OP_AtomMinF32 = 0xc0, // atom.min.f32: buffer[a] = the smaller; a NaN loses
    VYRE_OP_AtomMinF64 = 0xc1, // atom.min.f64: buffer[a] = the smaller; a NaN loses
    VYRE_OP_AtomMaxU32 = 0xc2, // atom.max.u32: buffer[a] = the larger
    VYRE_OP_AtomMaxI32 = 0xc3, // atom.max.i32: buffer[a] = the larger
    VYRE_OP_AtomMaxU64 = 0xc4, // atom.max.u64: buffer[a] = the larger
    VYRE_OP_AtomMaxI64 = 0xc5, // atom.max.i64: buffer[a] = the larger
    VYRE_OP_AtomMaxF32 = 0xc6, // atom.max.f32: buffer[a] = the larger; a NaN loses
    VYRE_OP_AtomMaxF64 = 0xc7, // atom.max.f64: buffer[a] = the larger; a NaN loses
    VYRE_OP_AtomAnd32 = 0xc8, // atom.and.b32: buffer[a] &= b
    VYRE_OP_AtomAnd64 = 0xc9, // atom.and.b64: buffer[a] &= b
    VYRE_OP_AtomOr32 = 0xca, // atom.or.b32: buffer[a] |= b
    VYRE_OP_AtomOr64 = 0xcb, // atom.or.b64: buffer[a] |= b
    VYRE_OP_AtomXor32 = 0xcc, // atom.xor.b32: buffer[a] ^= b
    VYRE_OP_AtomXor64 = 0xcd, // atom.xor.b64: buffer[a] ^= b
    VYRE_OP_Push = 0xd0, // push: frontier gets node a for its next round; a < nodes
    VYRE_OP_Reduce32 = 0xd1, // reduce.b32: the reduction takes a in
    VYRE_OP_Reduce64 = 0xd2, // reduce.b64: the reduction takes a in
    VYRE_OP_Append = 0xd3, // append: reserve an item of the list; d = its slot
    VYRE_OP_ListSt8 = 0xd4, // list.st.b8: field of the item in slot a = low 8 bits of b
    VYRE_OP_ListSt32 = 0xd5, // list.st.b32: field of the item in slot a = b
    VYRE_OP_ListSt64 = 0xd6, // list.st.b64: field of the item in slot a = b
    VYRE_OP_PushItem = 0xd7, // push.item: reserve an item of the frontier's next round; d = its slot
    VYRE_OP_ItemSt8 = 0xd8, // item.st.b8: field of the item in slot a = low 8 bits of b
    VYRE_OP_ItemSt32 = 0xd9, // item.st.b32: field of the item in slot a = b
    VYRE_OP_ItemSt64 = 0xda, // item.st.b64: field of the item in slot a = b
    VYRE_OP_If = 0xe0, // if: lanes with a != 0 go on; imm = matching else or endif
    VYRE_OP_Else = 0xe1, // else: the other lanes of the if; imm = matching endif
    VYRE_OP_EndIf = 0xe2, // endif: lanes of both branches go on
    VYRE_OP_Loop = 0xe3, // loop: repeat until no lane is left; imm = word after endloop
    VYRE_OP_EndLoop = 0xe4, // endloop: next turn; imm = matching loop
    VYRE_OP_Break = 0xe5, // break: leave the loop
    VYRE_OP_BreakIf = 0xe6, // break.if: leave the loop where a != 0
    VYRE_OP_BreakUnless = 0xe7, // break.unless: leave the loop where a == 0
    VYRE_OP_Continue = 0xe8, // continue: start the loop's next turn
    VYRE_OP_Ret = 0xe9, // ret: this item is done; the last word of every kernel
    VYRE_OP_RetV = 0xea, // ret.b32: the kernel's value is a; only in conditions
    VYRE_OP_Trap = 0xeb, // trap: stop the run with trap code imm
    VYRE_OP_Assert = 0xec, // assert: trap with code imm where a == 0
    VYRE_OP_Check = 0xed, // check: trap as an index out of bounds unless a < b (u32)
};

// Every instruction: its name and its opcode.
#define VYRE_OPS(DO) \
    DO(Mov32, VYRE_OP_Mov32) \
    DO(Mov64, VYRE_OP_Mov64) \
    DO(LdU32, VYRE_OP_LdU32) \
    DO(LdU64, VYRE_OP_LdU64) \
    DO(Sel32, VYRE_OP_Sel32) \
    DO(Sel64, VYRE_OP_Sel64) \
    DO(RowLd32, VYRE_OP_RowLd32) \
    DO(RowLd64, VYRE_OP_RowLd64) \
    DO(RowSt32, VYRE_OP_RowSt32) \
    DO(RowSt64, VYRE_OP_RowSt64) \
    DO(RowFill32, VYRE_OP_RowFill32) \
    DO(RowFill64, VYRE_OP_RowFill64) \
    DO(Add32, VYRE_OP_Add32) \
    DO(Sub32, VYRE_OP_Sub32) \
    DO(Mul32, VYRE_OP_Mul32) \
    DO(DivU32, VYRE_OP_DivU32) \
    DO(DivI32, VYRE_OP_DivI32) \
    DO(RemU32, VYRE_OP_RemU32) \
    DO(RemI32, VYRE_OP_RemI32) \
    DO(MinU32, VYRE_OP_MinU32) \
    DO(MinI32, VYRE_OP_MinI32) \
    DO(MaxU32, VYRE_OP_MaxU32) \
    DO(MaxI32, VYRE_OP_MaxI32) \
    DO(And32, VYRE_OP_And32) \
    DO(Or32, VYRE_OP_Or32) \
    DO(Xor32, VYRE_OP_Xor32) \
    DO(Shl32, VYRE_OP_Shl32) \
    DO(ShrU32, VYRE_OP_ShrU32) \
    DO(ShrI32, VYRE_OP_ShrI32) \
    DO(Rotl32, VYRE_OP_Rotl32) \
    DO(Popc32, VYRE_OP_Popc32) \
    DO(Clz32, VYRE_OP_Clz32) \
    DO(Ctz32, VYRE_OP_Ctz32) \
    DO(Add64, VYRE_OP_Add64) \
    DO(Sub64, VYRE_OP_Sub64) \
    DO(Mul64, VYRE_OP_Mul64) \
    DO(DivU64, VYRE_OP_DivU64) \
    DO(DivI64, VYRE_OP_DivI64) \
    DO(RemU64, VYRE_OP_RemU64) \
    DO(RemI64, VYRE_OP_RemI64) \
    DO(MinU64, VYRE_OP_MinU64) \
    DO(MinI64, VYRE_OP_MinI64) \
    DO(MaxU64, VYRE_OP_MaxU64) \
    DO(MaxI64, VYRE_OP_MaxI64) \
    DO(And64, VYRE_OP_And64) \
    DO(Or64, VYRE_OP_Or64) \
    DO(Xor64, VYRE_OP_Xor64) \
    DO(Shl64, VYRE_OP_Shl64) \
    DO(ShrU64, VYRE_OP_ShrU64) \
    DO(ShrI64, VYRE_OP_ShrI64) \
    DO(Rotl64, VYRE_OP_Rotl64) \
    DO(Popc64, VYRE_OP_Popc64) \
    DO(Clz64, VYRE_OP_Clz64) \
    DO(Ctz64, VYRE_OP_Ctz64) \
    DO(MulHiU64, VYRE_OP_MulHiU64) \
    DO(ExpF32, VYRE_OP_ExpF32) \
    DO(LnF32, VYRE_OP_LnF32) \
    DO(SinF32, VYRE_OP_SinF32) \
    DO(CosF32, VYRE_OP_CosF32) \
    DO(ExpF64, VYRE_OP_ExpF64) \
    DO(LnF64, VYRE_OP_LnF64) \
    DO(SinF64, VYRE_OP_SinF64) \
    DO(CosF64, VYRE_OP_CosF64) \
    DO(AddF32, VYRE_OP_AddF32) \
    DO(SubF32, VYRE_OP_SubF32) \
    DO(MulF32, VYRE_OP_MulF32) \
    DO(DivF32, VYRE_OP_DivF32) \
    DO(RemF32, VYRE_OP_RemF32) \
    DO(MinF32, VYRE_OP_MinF32) \
    DO(MaxF32, VYRE_OP_MaxF32) \
    DO(FmaF32, VYRE_OP_FmaF32) \
    DO(SqrtF32, VYRE_OP_SqrtF32) \
    DO(FloorF32, VYRE_OP_FloorF32) \
    DO(CeilF32, VYRE_OP_CeilF32) \
    DO(RoundF32, VYRE_OP_RoundF32) \
    DO(TruncF32, VYRE_OP_TruncF32) \
    DO(AddF64, VYRE_OP_AddF64) \
    DO(SubF64, VYRE_OP_SubF64) \
    DO(MulF64, VYRE_OP_MulF64) \
    DO(DivF64, VYRE_OP_DivF64) \
    DO(RemF64, VYRE_OP_RemF64) \
    DO(MinF64, VYRE_OP_MinF64) \
    DO(MaxF64, VYRE_OP_MaxF64) \
    DO(FmaF64, VYRE_OP_FmaF64) \
    DO(SqrtF64, VYRE_OP_SqrtF64) \
    DO(FloorF64, VYRE_OP_FloorF64) \
    DO(CeilF64, VYRE_OP_CeilF64) \
    DO(RoundF64, VYRE_OP_RoundF64) \
    DO(TruncF64, VYRE_OP_TruncF64) \
    DO(Eq32, VYRE_OP_Eq32) \
    DO(Ne32, VYRE_OP_Ne32) \
    DO(LtU32, VYRE_OP_LtU32) \
    DO(LeU32, VYRE_OP_LeU32) \
    DO(LtI32, VYRE_OP_LtI32) \
    DO(LeI32, VYRE_OP_LeI32) \
    DO(EqF32, VYRE_OP_EqF32) \
    DO(NeF32, VYRE_OP_NeF32) \
    DO(LtF32, VYRE_OP_LtF32) \
    DO(LeF32, VYRE_OP_LeF32) \
    DO(Eq64, VYRE_OP_Eq64) \
    DO(Ne64, VYRE_OP_Ne64) \
    DO(LtU64, VYRE_OP_LtU64) \
    DO(LeU64, VYRE_OP_LeU64) \
    DO(LtI64, VYRE_OP_LtI64) \
    DO(LeI64, VYRE_OP_LeI64) \
    DO(EqF64, VYRE_OP_EqF64) \
    DO(NeF64, VYRE_OP_NeF64) \
    DO(LtF64, VYRE_OP_LtF64) \
    DO(LeF64, VYRE_OP_LeF64) \
    DO(Zext64, VYRE_OP_Zext64) \
    DO(Sext64, VYRE_OP_Sext64) \
    DO(Wrap32, VYRE_OP_Wrap32) \
    DO(F32FromU32, VYRE_OP_F32FromU32) \
    DO(F32FromI32, VYRE_OP_F32FromI32) \
    DO(F32FromU64, VYRE_OP_F32FromU64) \
    DO(F32FromI64, VYRE_OP_F32FromI64) \
    DO(F32FromF64, VYRE_OP_F32FromF64) \
    DO(F64FromU32, VYRE_OP_F64FromU32) \
    DO(F64FromI32, VYRE_OP_F64FromI32) \
    DO(F64FromU64, VYRE_OP_F64FromU64) \
    DO(F64FromI64, VYRE_OP_F64FromI64) \
    DO(F64FromF32, VYRE_OP_F64FromF32) \
    DO(U32FromF32, VYRE_OP_U32FromF32) \
    DO(I32FromF32, VYRE_OP_I32FromF32) \
    DO(U64FromF32, VYRE_OP_U64FromF32) \
    DO(I64FromF32, VYRE_OP_I64FromF32) \
    DO(U32FromF64, VYRE_OP_U32FromF64) \
    DO(I32FromF64, VYRE_OP_I32FromF64) \
    DO(U64FromF64, VYRE_OP_U64FromF64) \
    DO(I64FromF64, VYRE_OP_I64FromF64) \
    DO(Ld8, VYRE_OP_Ld8) \
    DO(Ld32, VYRE_OP_Ld32) \
    DO(Ld64, VYRE_OP_Ld64) \
    DO(St8, VYRE_OP_St8) \
    DO(St32, VYRE_OP_St32) \
    DO(St64, VYRE_OP_St64) \
    DO(Len, VYRE_OP_Len) \
    DO(CsrBegin, VYRE_OP_CsrBegin) \
    DO(CsrEnd, VYRE_OP_CsrEnd) \
    DO(CsrTarget, VYRE_OP_CsrTarget) \
    DO(AtomLd32, VYRE_OP_AtomLd32) \
    DO(AtomLd64, VYRE_OP_AtomLd64) \
    DO(AtomSt32, VYRE_OP_AtomSt32) \
    DO(AtomSt64, VYRE_OP_AtomSt64) \
    DO(AtomSwap32, VYRE_OP_AtomSwap32) \
    DO(AtomSwap64, VYRE_OP_AtomSwap64) \
    DO(AtomCas32, VYRE_OP_AtomCas32) \
    DO(AtomCas64, VYRE_OP_AtomCas64) \
    DO(AtomAdd32, VYRE_OP_AtomAdd32) \
    DO(AtomAdd64, VYRE_OP_AtomAdd64) \
    DO(AtomAddF32, VYRE_OP_AtomAddF32) \
    DO(AtomAddF64, VYRE_OP_AtomAddF64) \
    DO(AtomMinU32, VYRE_OP_AtomMinU32) \
    DO(AtomMinI32, VYRE_OP_AtomMinI32) \
    DO(AtomMinU64, VYRE_OP_AtomMinU64) \
    DO(AtomMinI64, VYRE_OP_AtomMinI64) \
    DO(AtomMinF32, VYRE_OP_AtomMinF32) \
    DO(AtomMinF64, VYRE_OP_AtomMinF64) \
    DO(AtomMaxU32, VYRE_OP_AtomMaxU32) \
    DO(AtomMaxI32, VYRE_OP_AtomMaxI32) \
    DO(AtomMaxU64, VYRE_OP_AtomMaxU64) \
    DO(AtomMaxI64, VYRE_OP_AtomMaxI64) \
    DO(AtomMaxF32, VYRE_OP_AtomMaxF32) \
    DO(AtomMaxF64, VYRE_OP_AtomMaxF64) \
    DO(AtomAnd32, VYRE_OP_AtomAnd32) \
    DO(AtomAnd64, VYRE_OP_AtomAnd64) \
    DO(AtomOr32, VYRE_OP_AtomOr32) \
    DO(AtomOr64, VYRE_OP_AtomOr64) \
    DO(AtomXor32, VYRE_OP_AtomXor32) \
    DO(AtomXor64, VYRE_OP_AtomXor64) \
    DO(Push, VYRE_OP_Push) \
    DO(Reduce32, VYRE_OP_Reduce32) \
    DO(Reduce64, VYRE_OP_Reduce64) \
    DO(Append, VYRE_OP_Append) \
    DO(ListSt8, VYRE_OP_ListSt8) \
    DO(ListSt32, VYRE_OP_ListSt32) \
    DO(ListSt64, VYRE_OP_ListSt64) \
    DO(PushItem, VYRE_OP_PushItem) \
    DO(ItemSt8, VYRE_OP_ItemSt8) \
    DO(ItemSt32, VYRE_OP_ItemSt32) \
    DO(ItemSt64, VYRE_OP_ItemSt64) \
    DO(If, VYRE_OP_If) \
    DO(Else, VYRE_OP_Else) \
    DO(EndIf, VYRE_OP_EndIf) \
    DO(Loop, VYRE_OP_Loop) \
    DO(EndLoop, VYRE_OP_EndLoop) \
    DO(Break, VYRE_OP_Break) \
    DO(BreakIf, VYRE_OP_BreakIf) \
    DO(BreakUnless, VYRE_OP_BreakUnless) \
    DO(Continue, VYRE_OP_Continue) \
    DO(Ret, VYRE_OP_Ret) \
    DO(RetV, VYRE_OP_RetV) \
    DO(Trap, VYRE_OP_Trap) \
    DO(Assert, VYRE_OP_Assert) \
    DO(Check, VYRE_OP_Check)

enum VyreTrap {
    VYRE_TRAP_IndexOutOfBounds = 1,
    VYRE_TRAP_DivideByZero = 2,
    VYRE_TRAP_DivideOverflow = 3,
    VYRE_TRAP_Assert = 4,
    VYRE_TRAP_FrontierOverflow = 5,
    VYRE_TRAP_ListOverflow = 6,
    VYRE_TRAP_RoundLimit = 7,
    VYRE_TRAP_ArithmeticOverflow = 8,
    VYRE_TRAP_Panic = 9,
    VYRE_TRAP_UnknownWord = 10,
};

enum VyreScalar {
    VYRE_SCALAR_Bool = 0,
    VYRE_SCALAR_U8 = 1,
    VYRE_SCALAR_U32 = 2,
    VYRE_SCALAR_I32 = 3,
    VYRE_SCALAR_F32 = 4,
    VYRE_SCALAR_U64 = 5,
    VYRE_SCALAR_I64 = 6,
    VYRE_SCALAR_F64 = 7,
};

enum VyreRole {
    VYRE_ROLE_Topology = 0,
    VYRE_ROLE_Input = 1,
    VYRE_ROLE_Output = 2,
    VYRE_ROLE_Scratch = 3,
    VYRE_ROLE_InOut = 4,
};

enum VyreReduceOp {
    VYRE_REDUCEOP_Sum = 0,
    VYRE_REDUCEOP_Min = 1,
    VYRE_REDUCEOP_Max = 2,
    VYRE_REDUCEOP_Or = 3,
    VYRE_REDUCEOP_And = 4,
};

enum VyreMeasured {
    VYRE_MEASURED_Single = 0,
    VYRE_MEASURED_Shared = 1,
};

enum VyreStale {
    VYRE_STALE_Unbound = 0,
    VYRE_STALE_Program = 1,
    VYRE_STALE_Constants = 2,
};

enum VyreUpdateOp {
    VYRE_UPDATEOP_Add = 0,
    VYRE_UPDATEOP_Min = 1,
    VYRE_UPDATEOP_Max = 2,
    VYRE_UPDATEOP_And = 3,
    VYRE_UPDATEOP_Or = 4,
    VYRE_UPDATEOP_Xor = 5,
    VYRE_UPDATEOP_Push = 6,
    VYRE_UPDATEOP_Append = 7,
    VYRE_UPDATEOP_Reduce = 8,
};

enum VyreExtent {
    VYRE_EXTENT_Fixed = 0,
    VYRE_EXTENT_Constant = 1,
    VYRE_EXTENT_Scalar = 2,
    VYRE_EXTENT_Nodes = 3,
    VYRE_EXTENT_Edges = 4,
    VYRE_EXTENT_NodesPlusEdges = 5,
    VYRE_EXTENT_NodeBits = 6,
};

enum VyreWidth {
    VYRE_WIDTH_Fixed = 0,
    VYRE_WIDTH_Constant = 1,
    VYRE_WIDTH_Scalar = 2,
};

enum VyreUniform {
    VYRE_UNIFORM_Scalar = 0,
    VYRE_UNIFORM_Constant = 1,
    VYRE_UNIFORM_Reduction = 2,
    VYRE_UNIFORM_Round = 3,
    VYRE_UNIFORM_FrontierLen = 4,
    VYRE_UNIFORM_Nodes = 5,
    VYRE_UNIFORM_ListLen = 6,
};

enum VyreDomain {
    VYRE_DOMAIN_Once = 0,
    VYRE_DOMAIN_Range = 1,
    VYRE_DOMAIN_Nodes = 2,
    VYRE_DOMAIN_Items = 3,
    VYRE_DOMAIN_Edges = 4,
    VYRE_DOMAIN_EdgesFrom = 5,
    VYRE_DOMAIN_ListItems = 6,
};

enum VyreResource {
    VYRE_RESOURCE_Topology = 0,
    VYRE_RESOURCE_Buffer = 1,
    VYRE_RESOURCE_Frontier = 2,
    VYRE_RESOURCE_Reduction = 3,
    VYRE_RESOURCE_List = 4,
};

enum VyreMode {
    VYRE_MODE_Read = 0,
    VYRE_MODE_Update = 1,
    VYRE_MODE_Write = 2,
};

enum VyreNodeRef {
    VYRE_NODEREF_Wave = 0,
    VYRE_NODEREF_Fixpoint = 1,
};

enum VyreAgreement {
    VYRE_AGREEMENT_Bits = 0,
    VYRE_AGREEMENT_Result = 1,
    VYRE_AGREEMENT_Open = 2,
};

enum VyreProviso {
    VYRE_PROVISO_NoWrap = 0,
    VYRE_PROVISO_NoNan = 1,
    VYRE_PROVISO_First = 2,
};

enum VyreWhy {
    VYRE_WHY_Approximates = 0,
    VYRE_WHY_Positions = 1,
    VYRE_WHY_FloatSum = 2,
    VYRE_WHY_ListOrder = 3,
    VYRE_WHY_Slot = 4,
    VYRE_WHY_OldValue = 5,
    VYRE_WHY_ReadsChanged = 6,
    VYRE_WHY_Stores = 7,
    VYRE_WHY_Claim = 8,
    VYRE_WHY_Mixed = 9,
    VYRE_WHY_Until = 10,
    VYRE_WHY_Nested = 11,
    VYRE_WHY_NotMonotone = 12,
    VYRE_WHY_Unnoticed = 13,
    VYRE_WHY_Notice = 14,
};

enum VyreStep {
    VYRE_STEP_Wave = 0,
    VYRE_STEP_Barrier = 1,
    VYRE_STEP_Loop = 2,
    VYRE_STEP_Until = 3,
    VYRE_STEP_End = 4,
};
