//! What each instruction becomes.

use super::body::{Body, Fact, Index};
use crate::abi;
use std::mem::offset_of;
use vyre_core::vir0::find::Cell;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{IMM, Op, Word};
use vyre_core::vir0::module::{BufferId, ReduceOp};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

/// An immediate as a float has it.
fn float(value: String) -> String {
    match value.strip_prefix("0x") {
        Some(hex) => format!("0f{hex:0>8}"),
        None => value,
    }
}

/// How a read-modify-write is done.
#[derive(Clone, Copy)]
enum Atomic {
    /// One instruction, of this operation and type.
    Plain(&'static str),
    /// The same. Where many items come together it most often changes nothing, which a look at the element finds out,
    /// by a comparison of the element with what this makes of both; unless the body has looked just before.
    Looking(&'static str),
    /// A compare-and-swap of what this makes of the old value and the operand.
    Loop(&'static str),
}

impl Atomic {
    /// That of a word which is one instruction.
    fn of(word: &Word, name: &'static str) -> Atomic {
        match looks(op(word)) {
            true => Atomic::Looking(name),
            false => Atomic::Plain(name),
        }
    }
}

/// Updates that look first. Tiles of the interpreter have the same.
pub(crate) fn looks(op: Op) -> bool {
    matches!(
        op,
        Op::AtomMinU32 | Op::AtomMaxU32 | Op::AtomOr32 | Op::AtomOr64
    )
}

impl Body<'_> {
    /// Does what a word does; control flow is the body's own.
    pub(super) fn instruction(&mut self, word: &Word) {
        let w = word;
        match Op::from_code(w.op).expect("verified code has known opcodes") {
            Op::Mov32 => self.each(|b, j| {
                let x = b.get32(w.a, j);
                b.set32(w.d, j, false, "mov.b32", &x);
            }),
            Op::Mov64 => self.each(|b, j| {
                let x = b.get64(w.a, j);
                b.set64(w.d, j, false, "mov.b64", &x);
            }),
            Op::LdU32 => {
                let x = self.staged(w.imm, 0);
                self.each(|b, j| b.set32(w.d, j, false, "mov.b32", &x));
            }
            Op::LdU64 => {
                let halves = [self.staged(w.imm, 0), self.staged(w.imm, 1)];
                let x = format!("{{{}, {}}}", halves[0], halves[1]);
                self.each(|b, j| b.set64(w.d, j, false, "mov.b64", &x));
            }
            Op::Sel32 => self.each(|b, j| {
                let p = b.is_not_zero(w.a, j);
                let (x, y) = (b.get32(w.b, j), b.get32(w.third(), j));
                b.set32(w.d, j, false, "selp.b32", &format!("{x}, {y}, {p}"));
            }),
            Op::Sel64 => self.each(|b, j| {
                let p = b.is_not_zero(w.a, j);
                let (x, y) = (b.get64(w.b, j), b.get64(w.third(), j));
                b.set64(w.d, j, false, "selp.b64", &format!("{x}, {y}, {p}"));
            }),
            Op::RowLd32 => self.array_element(w, |b, j, base, at| {
                b.set32(w.d, j, true, "ld.shared.b32", &format!("[{base}+{at}]"));
            }),
            Op::RowLd64 => self.array_element(w, |b, j, base, at| {
                let (guard, next) = (b.guard(true, j), at + b.row_bytes());
                let halves = [b.word(), b.word()];
                b.put(format!("{guard}ld.shared.b32 {}, [{base}+{at}]", halves[0]));
                b.put(format!(
                    "{guard}ld.shared.b32 {}, [{base}+{next}]",
                    halves[1]
                ));
                let x = format!("{{{}, {}}}", halves[0], halves[1]);
                b.set64(w.d, j, false, "mov.b64", &x);
            }),
            Op::RowSt32 => self.array_element(w, |b, j, base, at| {
                let (guard, x) = (b.guard(true, j), b.get32(w.b, j));
                b.put(format!("{guard}st.shared.b32 [{base}+{at}], {x}"));
            }),
            Op::RowSt64 => self.array_element(w, |b, j, base, at| b.store_pair(w.b, j, base, at)),
            Op::RowFill32 => self.fill_array(w, 1, |b, j, base, at| {
                let (guard, x) = (b.guard(true, j), b.get32(w.a, j));
                b.put(format!("{guard}st.shared.b32 [{base}+{at}], {x}"));
            }),
            Op::RowFill64 => self.fill_array(w, 2, |b, j, base, at| b.store_pair(w.a, j, base, at)),

            Op::Add32 => self.www(w, "add.s32"),
            Op::Sub32 => self.www(w, "sub.s32"),
            Op::Mul32 => self.www(w, "mul.lo.s32"),
            Op::DivU32 => self.divide32(w, "div.u32", false),
            Op::DivI32 => self.divide32(w, "div.s32", true),
            Op::RemU32 => self.divide32(w, "rem.u32", false),
            Op::RemI32 => self.divide32(w, "rem.s32", true),
            Op::MinU32 => self.www(w, "min.u32"),
            Op::MinI32 => self.www(w, "min.s32"),
            Op::MaxU32 => self.www(w, "max.u32"),
            Op::MaxI32 => self.www(w, "max.s32"),
            Op::And32 => self.www(w, "and.b32"),
            Op::Or32 => self.www(w, "or.b32"),
            Op::Xor32 => self.www(w, "xor.b32"),
            Op::Shl32 => self.shift32(w, "shl.b32"),
            Op::ShrU32 => self.shift32(w, "shr.u32"),
            Op::ShrI32 => self.shift32(w, "shr.s32"),
            Op::Rotl32 => self.each(|b, j| {
                let (x, n) = (b.get32_in_register(w.a, j), b.get32(w.b, j));
                b.set32(w.d, j, false, "shf.l.wrap.b32", &format!("{x}, {x}, {n}"));
            }),
            Op::Popc32 => self.ww(w, "popc.b32"),
            Op::Clz32 => self.ww(w, "clz.b32"),
            Op::Ctz32 => self.each(|b, j| {
                let (x, turned) = (b.get32_in_register(w.a, j), b.word());
                b.put(format!("brev.b32 {turned}, {x}"));
                b.set32(w.d, j, false, "clz.b32", &turned);
            }),

            Op::Add64 => self.ddd(w, "add.s64"),
            Op::Sub64 => self.ddd(w, "sub.s64"),
            Op::Mul64 => self.ddd(w, "mul.lo.s64"),
            Op::DivU64 => self.divide64(w, "div.u64", false),
            Op::DivI64 => self.divide64(w, "div.s64", true),
            Op::RemU64 => self.divide64(w, "rem.u64", false),
            Op::RemI64 => self.divide64(w, "rem.s64", true),
            Op::MinU64 => self.ddd(w, "min.u64"),
            Op::MinI64 => self.ddd(w, "min.s64"),
            Op::MaxU64 => self.ddd(w, "max.u64"),
            Op::MaxI64 => self.ddd(w, "max.s64"),
            Op::And64 => self.ddd(w, "and.b64"),
            Op::Or64 => self.ddd(w, "or.b64"),
            Op::Xor64 => self.ddd(w, "xor.b64"),
            Op::Shl64 => self.shift64(w, "shl.b64"),
            Op::ShrU64 => self.shift64(w, "shr.u64"),
            Op::ShrI64 => self.shift64(w, "shr.s64"),
            Op::Rotl64 => self.each(|b, j| b.rotate64(w, j)),
            Op::Popc64 => self.wd(w, "popc.b64"),
            Op::Clz64 => self.wd(w, "clz.b64"),
            Op::Ctz64 => self.each(|b, j| {
                let (x, turned) = (b.get64_in_register(w.a, j), b.long());
                b.put(format!("brev.b64 {turned}, {x}"));
                b.set32(w.d, j, false, "clz.b64", &turned);
            }),
            Op::MulHiU64 => self.ddd(w, "mul.hi.u64"),

            Op::ExpF32 | Op::LnF32 | Op::SinF32 | Op::CosF32 => self.call_rare32(w),
            Op::ExpF64 | Op::LnF64 | Op::SinF64 | Op::CosF64 => self.call_rare64(w),

            Op::AddF32 => self.f_www(w, "add.rn.f32"),
            Op::SubF32 => self.f_www(w, "sub.rn.f32"),
            Op::MulF32 => self.f_www(w, "mul.rn.f32"),
            Op::DivF32 => self.f_www(w, "div.rn.f32"),
            Op::RemF32 => self.call_rare32(w),
            Op::MinF32 => self.f_www(w, "min.f32"),
            Op::MaxF32 => self.f_www(w, "max.f32"),
            Op::FmaF32 => self.each(|b, j| {
                let (x, y) = (b.get32(w.a, j), b.get32(w.b, j));
                let z = b.get32(w.third(), j);
                b.set32(w.d, j, false, "fma.rn.f32", &format!("{x}, {y}, {z}"));
            }),
            Op::SqrtF32 => self.ww(w, "sqrt.rn.f32"),
            Op::FloorF32 => self.ww(w, "cvt.rmi.f32.f32"),
            Op::CeilF32 => self.ww(w, "cvt.rpi.f32.f32"),
            Op::RoundF32 => self.each(|b, j| b.round32(w, j)),
            Op::TruncF32 => self.ww(w, "cvt.rzi.f32.f32"),

            Op::AddF64 => self.ddd(w, "add.rn.f64"),
            Op::SubF64 => self.ddd(w, "sub.rn.f64"),
            Op::MulF64 => self.ddd(w, "mul.rn.f64"),
            Op::DivF64 => self.ddd(w, "div.rn.f64"),
            Op::RemF64 => self.call_rare64(w),
            Op::MinF64 => self.ddd(w, "min.f64"),
            Op::MaxF64 => self.ddd(w, "max.f64"),
            Op::FmaF64 => self.each(|b, j| {
                let (x, y) = (b.get64(w.a, j), b.get64(w.b, j));
                let z = b.get64(w.third(), j);
                b.set64(w.d, j, false, "fma.rn.f64", &format!("{x}, {y}, {z}"));
            }),
            Op::SqrtF64 => self.dd(w, "sqrt.rn.f64"),
            Op::FloorF64 => self.dd(w, "cvt.rmi.f64.f64"),
            Op::CeilF64 => self.dd(w, "cvt.rpi.f64.f64"),
            Op::RoundF64 => self.each(|b, j| b.round64(w, j)),
            Op::TruncF64 => self.dd(w, "cvt.rzi.f64.f64"),

            Op::Eq32 => self.compare32(w, "eq.s32"),
            Op::Ne32 => self.compare32(w, "ne.s32"),
            Op::LtU32 => self.compare32(w, "lt.u32"),
            Op::LeU32 => self.compare32(w, "le.u32"),
            Op::LtI32 => self.compare32(w, "lt.s32"),
            Op::LeI32 => self.compare32(w, "le.s32"),
            Op::EqF32 => self.compare_f32(w, "eq.f32"),
            Op::NeF32 => self.compare_f32(w, "neu.f32"),
            Op::LtF32 => self.compare_f32(w, "lt.f32"),
            Op::LeF32 => self.compare_f32(w, "le.f32"),
            Op::Eq64 => self.compare64(w, "eq.s64"),
            Op::Ne64 => self.compare64(w, "ne.s64"),
            Op::LtU64 => self.compare64(w, "lt.u64"),
            Op::LeU64 => self.compare64(w, "le.u64"),
            Op::LtI64 => self.compare64(w, "lt.s64"),
            Op::LeI64 => self.compare64(w, "le.s64"),
            Op::EqF64 => self.compare64(w, "eq.f64"),
            Op::NeF64 => self.compare64(w, "neu.f64"),
            Op::LtF64 => self.compare64(w, "lt.f64"),
            Op::LeF64 => self.compare64(w, "le.f64"),

            Op::Zext64 => self.dw(w, "cvt.u64.u32"),
            Op::Sext64 => self.dw(w, "cvt.s64.s32"),
            Op::Wrap32 => self.wd(w, "cvt.u32.u64"),
            Op::F32FromU32 => self.ww(w, "cvt.rn.f32.u32"),
            Op::F32FromI32 => self.ww(w, "cvt.rn.f32.s32"),
            Op::F32FromU64 => self.wd(w, "cvt.rn.f32.u64"),
            Op::F32FromI64 => self.wd(w, "cvt.rn.f32.s64"),
            Op::F32FromF64 => self.wd(w, "cvt.rn.f32.f64"),
            Op::F64FromU32 => self.dw(w, "cvt.rn.f64.u32"),
            Op::F64FromI32 => self.dw(w, "cvt.rn.f64.s32"),
            Op::F64FromU64 => self.dd(w, "cvt.rn.f64.u64"),
            Op::F64FromI64 => self.dd(w, "cvt.rn.f64.s64"),
            Op::F64FromF32 => self.dw(w, "cvt.f64.f32"),
            Op::U32FromF32 => self.integer32(w, "cvt.rzi.u32.f32"),
            Op::I32FromF32 => self.integer32(w, "cvt.rzi.s32.f32"),
            Op::U64FromF32 => self.integer64(w, "cvt.rzi.u64.f32"),
            Op::I64FromF32 => self.integer64(w, "cvt.rzi.s64.f32"),
            Op::U32FromF64 => self.integer32(w, "cvt.rzi.u32.f64"),
            Op::I32FromF64 => self.integer32(w, "cvt.rzi.s32.f64"),
            Op::U64FromF64 => self.integer64(w, "cvt.rzi.u64.f64"),
            Op::I64FromF64 => self.integer64(w, "cvt.rzi.s64.f64"),

            Op::Ld8 => self.load32(w, 1, "ld.global.u8"),
            Op::Ld32 => self.load32(w, 4, "ld.global.u32"),
            Op::Ld64 => self.load64(w, "ld.global.u64"),
            Op::St8 => self.store32(w, 1, "st.global.u8"),
            Op::St32 => self.store32(w, 4, "st.global.u32"),
            Op::St64 => self.store64(w, "st.global.u64"),
            Op::Len => {
                let len = self.fact(Fact::Len(w.resource()));
                self.each(|b, j| b.set32(w.d, j, false, "mov.b32", &len));
            }
            Op::CsrBegin => self.load_offset(w, 0),
            Op::CsrEnd => self.load_offset(w, 4),
            Op::CsrTarget => {
                self.check(Fact::Edges(w.resource()));
                let base = self.fact(Fact::Targets(w.resource()));
                let at = self.addresses(w.a, &base, 4);
                self.each(|b, j| {
                    let from = format!("[{}]", at[j as usize]);
                    b.set32(w.d, j, true, "ld.global.nc.u32", &from);
                });
                self.prove_node(w.d);
            }

            Op::AtomLd32 => self.load32(w, 4, "ld.relaxed.gpu.global.u32"),
            Op::AtomLd64 => self.load64(w, "ld.relaxed.gpu.global.u64"),
            Op::AtomSt32 => self.store32(w, 4, "st.relaxed.gpu.global.u32"),
            Op::AtomSt64 => self.store64(w, "st.relaxed.gpu.global.u64"),
            Op::AtomSwap32 => self.atomic32(w, Atomic::Plain("exch.b32")),
            Op::AtomSwap64 => self.atomic64(w, Atomic::Plain("exch.b64")),
            Op::AtomCas32 => self.exchange(w, false),
            Op::AtomCas64 => self.exchange(w, true),
            Op::AtomAdd32 => self.atomic32(w, Atomic::of(w, "add.u32")),
            Op::AtomAdd64 => self.atomic64(w, Atomic::of(w, "add.u64")),
            Op::AtomAddF32 => self.atomic32(w, Atomic::of(w, "add.f32")),
            Op::AtomAddF64 => self.atomic64(w, Atomic::of(w, "add.f64")),
            Op::AtomMinU32 => self.atomic32(w, Atomic::of(w, "min.u32")),
            Op::AtomMinI32 => self.atomic32(w, Atomic::of(w, "min.s32")),
            Op::AtomMinU64 => self.atomic64(w, Atomic::of(w, "min.u64")),
            Op::AtomMinI64 => self.atomic64(w, Atomic::of(w, "min.s64")),
            Op::AtomMinF32 => self.atomic32(w, Atomic::Loop("min.f32")),
            Op::AtomMinF64 => self.atomic64(w, Atomic::Loop("min.f64")),
            Op::AtomMaxU32 => self.atomic32(w, Atomic::of(w, "max.u32")),
            Op::AtomMaxI32 => self.atomic32(w, Atomic::of(w, "max.s32")),
            Op::AtomMaxU64 => self.atomic64(w, Atomic::of(w, "max.u64")),
            Op::AtomMaxI64 => self.atomic64(w, Atomic::of(w, "max.s64")),
            Op::AtomMaxF32 => self.atomic32(w, Atomic::Loop("max.f32")),
            Op::AtomMaxF64 => self.atomic64(w, Atomic::Loop("max.f64")),
            Op::AtomAnd32 => self.atomic32(w, Atomic::of(w, "and.b32")),
            Op::AtomAnd64 => self.atomic64(w, Atomic::of(w, "and.b64")),
            Op::AtomOr32 => self.atomic32(w, Atomic::of(w, "or.b32")),
            Op::AtomOr64 => self.atomic64(w, Atomic::of(w, "or.b64")),
            Op::AtomXor32 => self.atomic32(w, Atomic::of(w, "xor.b32")),
            Op::AtomXor64 => self.atomic64(w, Atomic::of(w, "xor.b64")),

            Op::Push => self.push(w),
            Op::Reduce32 => self.reduce(w, false),
            Op::Reduce64 => self.reduce(w, true),
            Op::Append | Op::PushItem => self.reserve(w),
            Op::ListSt8 | Op::ItemSt8 => self.store_field(w, 1),
            Op::ListSt32 | Op::ItemSt32 => self.store_field(w, 4),
            Op::ListSt64 | Op::ItemSt64 => self.store_field(w, 8),

            Op::Assert => {
                let kind = TrapKind::from_code(w.imm).expect("verified code has known traps");
                let bad =
                    self.where_active(|b, j| (b.get32_in_register(w.a, j), "eq.and.s32", "0"));
                self.fault(&bad, kind, Index::No, "0");
            }
            Op::Check => {
                let both = |b: &mut Self, byte: u8| -> Vec<String> {
                    (0..b.together).map(|j| b.get32(byte, j)).collect()
                };
                let (index, len) = (both(self, w.a), both(self, w.b));
                let bad: Vec<String> = (0..self.together)
                    .zip(index.iter().zip(&len))
                    .map(|(j, (index, len))| {
                        let (bad, active) = (self.predicate(), self.active(j));
                        self.put(format!("setp.ge.and.u32 {bad}, {index}, {len}, {active}"));
                        bad
                    })
                    .collect();
                let index = Index::Registers(index, len);
                self.fault(&bad, TrapKind::IndexOutOfBounds, index, "0");
            }
            Op::If
            | Op::Else
            | Op::EndIf
            | Op::Loop
            | Op::EndLoop
            | Op::Break
            | Op::BreakIf
            | Op::BreakUnless
            | Op::Continue
            | Op::Ret
            | Op::RetV
            | Op::Trap => unreachable!("control flow is the body's own"),
        }
    }

    // Arithmetic, by the widths of result and operands.

    /// The same for each item that goes along.
    pub(super) fn each(&mut self, mut make: impl FnMut(&mut Self, u32)) {
        (0..self.together).for_each(|j| make(self, j));
    }

    fn www(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let (x, y) = (b.get32(w.a, j), b.get32(w.b, j));
            b.set32(w.d, j, false, instruction, &format!("{x}, {y}"));
        });
    }

    fn f_www(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let (x, y) = (float(b.get32(w.a, j)), float(b.get32(w.b, j)));
            b.set32(w.d, j, false, instruction, &format!("{x}, {y}"));
        });
    }

    fn ddd(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let (x, y) = (b.get64(w.a, j), b.get64(w.b, j));
            b.set64(w.d, j, false, instruction, &format!("{x}, {y}"));
        });
    }

    fn ww(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let x = b.get32_in_register(w.a, j);
            b.set32(w.d, j, false, instruction, &x);
        });
    }

    fn dd(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let x = b.get64_in_register(w.a, j);
            b.set64(w.d, j, false, instruction, &x);
        });
    }

    fn wd(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let x = b.get64_in_register(w.a, j);
            b.set32(w.d, j, false, instruction, &x);
        });
    }

    fn dw(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let x = b.get32_in_register(w.a, j);
            b.set64(w.d, j, false, instruction, &x);
        });
    }

    /// A shift amount: its low bits.
    fn amount(&mut self, w: &Word, j: u32, mask: u32) -> String {
        if w.b == IMM {
            return (w.imm & mask).to_string();
        }
        let (n, low) = (self.get32(w.b, j), self.word());
        self.put(format!("and.b32 {low}, {n}, {mask}"));
        low
    }

    fn shift32(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let (x, n) = (b.get32(w.a, j), b.amount(w, j, 31));
            b.set32(w.d, j, false, instruction, &format!("{x}, {n}"));
        });
    }

    fn shift64(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let (x, n) = (b.get64(w.a, j), b.amount(w, j, 63));
            b.set64(w.d, j, false, instruction, &format!("{x}, {n}"));
        });
    }

    fn rotate64(&mut self, w: &Word, j: u32) {
        let (x, n) = (self.get64(w.a, j), self.amount(w, j, 63));
        let (left, right, back) = (self.long(), self.long(), self.word());
        self.put(format!("shl.b64 {left}, {x}, {n}"));
        self.put(format!("sub.s32 {back}, 64, {n}"));
        // By 64 nothing is left, and none is wanted.
        self.put(format!("shr.u64 {right}, {x}, {back}"));
        self.set64(w.d, j, false, "or.b64", &format!("{left}, {right}"));
    }

    /// To nearest, halves away from zero: what is nearer to zero, and one more where what is missing is a half or more.
    fn round32(&mut self, w: &Word, j: u32) {
        let x = self.get32_in_register(w.a, j);
        let [low, rest, more, one, sum] = std::array::from_fn(|_| self.word());
        let far = self.predicate();
        self.put(format!("cvt.rzi.f32.f32 {low}, {x}"));
        self.put(format!("sub.rn.f32 {rest}, {x}, {low}"));
        self.put(format!("abs.f32 {rest}, {rest}"));
        self.put(format!("setp.ge.f32 {far}, {rest}, 0f3f000000"));
        // One or zero, with the sign of x.
        self.put(format!("and.b32 {one}, {x}, 0x80000000"));
        self.put(format!("or.b32 {one}, {one}, 0x3f800000"));
        self.put(format!("add.rn.f32 {sum}, {low}, {one}"));
        self.put(format!("selp.b32 {more}, {sum}, {low}, {far}"));
        self.set32(w.d, j, false, "mov.b32", &more);
    }

    fn round64(&mut self, w: &Word, j: u32) {
        let x = self.get64_in_register(w.a, j);
        let [low, rest, more, one, sum] = std::array::from_fn(|_| self.long());
        let far = self.predicate();
        self.put(format!("cvt.rzi.f64.f64 {low}, {x}"));
        self.put(format!("sub.rn.f64 {rest}, {x}, {low}"));
        self.put(format!("abs.f64 {rest}, {rest}"));
        self.put(format!("setp.ge.f64 {far}, {rest}, 0d3fe0000000000000"));
        self.put(format!("and.b64 {one}, {x}, 0x8000000000000000"));
        self.put(format!("or.b64 {one}, {one}, 0x3ff0000000000000"));
        self.put(format!("add.rn.f64 {sum}, {low}, {one}"));
        self.put(format!("selp.b64 {more}, {sum}, {low}, {far}"));
        self.set64(w.d, j, false, "mov.b64", &more);
    }

    /// A float as an integer: 0 where it is no number.
    fn integer32(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let wide = instruction.ends_with("f64");
            let (number, x) = b.is_number(w, wide, j);
            let integer = b.word();
            b.put(format!("{instruction} {integer}, {x}"));
            let from = format!("{integer}, 0, {number}");
            b.set32(w.d, j, false, "selp.b32", &from);
        });
    }

    fn integer64(&mut self, w: &Word, instruction: &str) {
        self.each(|b, j| {
            let wide = instruction.ends_with("f64");
            let (number, x) = b.is_number(w, wide, j);
            let integer = b.long();
            b.put(format!("{instruction} {integer}, {x}"));
            let from = format!("{integer}, 0, {number}");
            b.set64(w.d, j, false, "selp.b64", &from);
        });
    }

    /// Whether the float in operand a is a number; and the operand.
    fn is_number(&mut self, w: &Word, wide: bool, j: u32) -> (String, String) {
        let (x, ty) = match wide {
            true => (self.get64_in_register(w.a, j), "f64"),
            false => (self.get32_in_register(w.a, j), "f32"),
        };
        let number = self.predicate();
        self.put(format!("setp.eq.{ty} {number}, {x}, {x}"));
        (number, x)
    }

    fn compare32(&mut self, w: &Word, relation: &str) {
        self.each(|b, j| {
            let (x, y) = (b.get32(w.a, j), b.get32(w.b, j));
            b.set_whether(w, relation, &x, &y, j);
        });
    }

    fn compare_f32(&mut self, w: &Word, relation: &str) {
        self.each(|b, j| {
            let (x, y) = (float(b.get32(w.a, j)), float(b.get32(w.b, j)));
            b.set_whether(w, relation, &x, &y, j);
        });
    }

    fn compare64(&mut self, w: &Word, relation: &str) {
        self.each(|b, j| {
            let (x, y) = (b.get64(w.a, j), b.get64(w.b, j));
            b.set_whether(w, relation, &x, &y, j);
        });
    }

    fn set_whether(&mut self, w: &Word, relation: &str, x: &str, y: &str, j: u32) {
        let holds = self.predicate();
        self.put(format!("setp.{relation} {holds}, {x}, {y}"));
        self.set32(w.d, j, false, "selp.b32", &format!("1, 0, {holds}"));
    }

    fn is_not_zero(&mut self, byte: u8, j: u32) -> String {
        let (p, x) = (self.predicate(), self.get32_in_register(byte, j));
        self.put(format!("setp.ne.s32 {p}, {x}, 0"));
        p
    }

    /// A predicate for each item: it is active, and the comparison holds.
    fn where_active<'t>(
        &mut self,
        of: impl Fn(&mut Self, u32) -> (String, &'t str, &'t str),
    ) -> Vec<String> {
        (0..self.together)
            .map(|j| {
                let (x, relation, y) = of(self, j);
                let (p, active) = (self.predicate(), self.active(j));
                self.put(format!("setp.{relation} {p}, {x}, {y}, {active}"));
                p
            })
            .collect()
    }

    fn divide32(&mut self, w: &Word, instruction: &str, is_signed: bool) {
        let bad = self.where_active(|b, j| (b.get32_in_register(w.b, j), "eq.and.s32", "0"));
        self.fault(&bad, TrapKind::DivideByZero, Index::No, "0");
        if is_signed {
            let least =
                self.where_active(|b, j| (b.get32_in_register(w.a, j), "eq.and.s32", "0x80000000"));
            let over = self.both(&least, |b, j| {
                let y = b.get32_in_register(w.b, j);
                format!("eq.and.s32 %, {y}, 0xffffffff")
            });
            self.fault(&over, TrapKind::DivideOverflow, Index::No, "0");
        }
        self.www(w, instruction);
    }

    fn divide64(&mut self, w: &Word, instruction: &str, is_signed: bool) {
        let bad = self.where_active(|b, j| (b.get64_in_register(w.b, j), "eq.and.s64", "0"));
        self.fault(&bad, TrapKind::DivideByZero, Index::No, "0");
        if is_signed {
            let least = self.where_active(|b, j| {
                (
                    b.get64_in_register(w.a, j),
                    "eq.and.s64",
                    "0x8000000000000000",
                )
            });
            let over = self.both(&least, |b, j| {
                let y = b.get64_in_register(w.b, j);
                format!("eq.and.s64 %, {y}, 0xffffffffffffffff")
            });
            self.fault(&over, TrapKind::DivideOverflow, Index::No, "0");
        }
        self.ddd(w, instruction);
    }

    /// A predicate for each item: the first one, and a comparison whose result is written as `%`.
    fn both(&mut self, first: &[String], of: impl Fn(&mut Self, u32) -> String) -> Vec<String> {
        (0u32..)
            .zip(first)
            .map(|(j, first)| {
                let comparison = of(self, j);
                let p = self.predicate();
                let comparison = comparison.replacen('%', &p, 1);
                self.put(format!("setp.{comparison}, {first}"));
                p
            })
            .collect()
    }

    /// Calls the function of the megakernel for what is rare and long.
    fn call_rare(&mut self, w: &Word, operands: [String; 2]) -> String {
        let result = self.long();
        let to = result.clone();
        self.put_block(|b| {
            b.put(".param .b32 arg0");
            b.put(format!("st.param.b32 [arg0], {}", w.op));
            for (i, x) in (1..).zip(operands.iter().chain([&"0".to_owned()])) {
                b.put(format!(".param .b64 arg{i}"));
                b.put(format!("st.param.b64 [arg{i}], {x}"));
            }
            b.put(".param .b64 result");
            b.put("call.uni (result), _Z4rarejyyy, (arg0, arg1, arg2, arg3)");
            b.put(format!("ld.param.b64 {to}, [result]"));
        });
        result
    }

    fn call_rare32(&mut self, w: &Word) {
        self.each(|b, j| {
            let operands = [w.a, w.b].map(|byte| {
                let (x, wide) = (b.get32_in_register(byte, j), b.long());
                b.put(format!("cvt.u64.u32 {wide}, {x}"));
                wide
            });
            let result = b.call_rare(w, operands);
            b.set32(w.d, j, false, "cvt.u32.u64", &result);
        });
    }

    fn call_rare64(&mut self, w: &Word) {
        self.each(|b, j| {
            let second = if Op::from_code(w.op) == Some(Op::RemF64) {
                w.b
            } else {
                w.a
            };
            let operands = [w.a, second].map(|byte| b.get64(byte, j));
            let result = b.call_rare(w, operands);
            b.set64(w.d, j, false, "mov.b64", &result);
        });
    }

    // Local arrays.

    /// Checks the index in operand a, and gives the places of the elements.
    fn array_element(&mut self, w: &Word, mut each: impl FnMut(&mut Self, u32, &str, u32)) {
        let (first, len) = w.array();
        let row = Op::from_code(w.op)
            .expect("verified code has known opcodes")
            .row();
        self.check_below(&len.to_string());
        let step = u32::from(row.element_rows()) * self.row_bytes();
        for j in 0..self.together {
            let (index, at) = (self.get32_in_register(w.a, j), self.word());
            self.put(format!("mad.lo.s32 {at}, {index}, {step}, %at"));
            each(self, j, &at, self.row_place(first, j));
        }
    }

    /// Every element of the array, one after the other.
    fn fill_array(&mut self, w: &Word, rows: u32, mut each: impl FnMut(&mut Self, u32, &str, u32)) {
        let (first, len) = w.array();
        let step = rows * self.row_bytes();
        for i in 0..u32::from(len) {
            for j in 0..self.together {
                let at = self.row_place(first, j) + i * step;
                each(self, j, "%at", at);
            }
        }
    }

    fn store_pair(&mut self, byte: u8, j: u32, base: &str, at: u32) {
        let (x, guard) = (self.get64_in_register(byte, j), self.guard(true, j));
        let halves = [self.word(), self.word()];
        self.put(format!("mov.b64 {{{}, {}}}, {x}", halves[0], halves[1]));
        for (half, at) in halves.iter().zip([at, at + self.row_bytes()]) {
            self.put(format!("{guard}st.shared.b32 [{base}+{at}], {half}"));
        }
    }

    // Memory.

    /// Addresses of the elements that operand a names.
    fn addresses(&mut self, byte: u8, base: &str, size: u32) -> Vec<String> {
        (0..self.together)
            .map(|j| {
                let (at, index) = (self.long(), self.get32_in_register(byte, j));
                self.put(format!("mad.wide.u32 {at}, {index}, {size}, {base}"));
                at
            })
            .collect()
    }

    /// Checks operand a against the buffer, and gives the addresses of the elements.
    fn elements(&mut self, w: &Word, size: u32) -> Vec<String> {
        self.check(Fact::Len(w.resource()));
        let base = self.fact(Fact::Data(w.resource()));
        self.addresses(w.a, &base, size)
    }

    fn load32(&mut self, w: &Word, size: u32, instruction: &str) {
        if let Some(element) = self.shared_element(w) {
            return self.each(|b, j| b.set32(w.d, j, false, "mov.b32", &element));
        }
        let at = self.elements(w, size);
        self.note_loaded(w);
        self.each(|b, j| {
            b.set32(w.d, j, true, instruction, &format!("[{}]", at[j as usize]));
        });
    }

    fn load64(&mut self, w: &Word, instruction: &str) {
        if let Some(element) = self.shared_element(w) {
            return self.each(|b, j| b.set64(w.d, j, false, "mov.b64", &element));
        }
        let at = self.elements(w, 8);
        self.note_loaded(w);
        self.each(|b, j| {
            b.set64(w.d, j, true, instruction, &format!("[{}]", at[j as usize]));
        });
    }

    fn store32(&mut self, w: &Word, size: u32, instruction: &str) {
        if let Some(element) = self.shared_element(w) {
            return self.each(|b, j| {
                let (guard, x) = (b.guard(true, j), b.get32(w.b, j));
                b.put(format!("{guard}mov.b32 {element}, {x}"));
                b.note_set(Cell::Element(BufferId(w.resource())), &guard);
            });
        }
        let at = self.elements(w, size);
        self.each(|b, j| {
            let (guard, x) = (b.guard(true, j), b.get32(w.b, j));
            b.put(format!("{guard}{instruction} [{}], {x}", at[j as usize]));
        });
    }

    fn store64(&mut self, w: &Word, instruction: &str) {
        if let Some(element) = self.shared_element(w) {
            return self.each(|b, j| {
                let (guard, x) = (b.guard(true, j), b.get64(w.b, j));
                b.put(format!("{guard}mov.b64 {element}, {x}"));
                b.note_set(Cell::Element(BufferId(w.resource())), &guard);
            });
        }
        let at = self.elements(w, 8);
        self.each(|b, j| {
            let (guard, x) = (b.guard(true, j), b.get64(w.b, j));
            b.put(format!("{guard}{instruction} [{}], {x}", at[j as usize]));
        });
    }

    fn load_offset(&mut self, w: &Word, skip: u32) {
        self.check(Fact::Nodes(w.resource()));
        let base = self.fact(Fact::Offsets(w.resource()));
        let at = self.addresses(w.a, &base, 4);
        self.each(|b, j| {
            let from = format!("[{}+{skip}]", at[j as usize]);
            b.set32(w.d, j, true, "ld.global.nc.u32", &from);
        });
    }

    fn atomic32(&mut self, w: &Word, atomic: Atomic) {
        let at = self.elements(w, 4);
        let x: Vec<String> = (0..self.together).map(|j| self.get32(w.b, j)).collect();
        let old = self.read_modify_write(w, (&at, &x), atomic, 32);
        self.each(|b, j| {
            if w.d != IMM {
                b.set32(w.d, j, false, "mov.b32", &old[j as usize]);
            }
        });
    }

    fn atomic64(&mut self, w: &Word, atomic: Atomic) {
        let at = self.elements(w, 8);
        let x: Vec<String> = (0..self.together).map(|j| self.get64(w.b, j)).collect();
        let old = self.read_modify_write(w, (&at, &x), atomic, 64);
        self.each(|b, j| {
            if w.d != IMM {
                b.set64(w.d, j, false, "mov.b64", &old[j as usize]);
            }
        });
    }

    /// A register of `bits` bits that nothing else has.
    fn register(&mut self, bits: u32) -> String {
        if bits == 64 { self.long() } else { self.word() }
    }

    /// The old values. `at`, `x`: by item, the element and the operand.
    fn read_modify_write(
        &mut self,
        w: &Word,
        (at, x): (&[String], &[String]),
        atomic: Atomic,
        bits: u32,
    ) -> Vec<String> {
        let old: Vec<String> = (0..self.together).map(|_| self.register(bits)).collect();
        let look = |body: &mut Self| {
            for (j, (old, at)) in (0u32..).zip(old.iter().zip(at)) {
                let guard = body.guard(true, j);
                body.put(format!(
                    "{guard}ld.relaxed.gpu.global.u{bits} {old}, [{at}]"
                ));
            }
        };
        match atomic {
            Atomic::Looking(name) if self.items > 1 && !self.was_loaded(w) => {
                look(self);
                for (j, (old, (at, x))) in (0u32..).zip(old.iter().zip(at.iter().zip(x))) {
                    let (new, changes) = (self.register(bits), self.predicate());
                    let active = self.active(j);
                    self.put(format!("{name} {new}, {old}, {x}"));
                    self.put(format!(
                        "setp.ne.and.s{bits} {changes}, {new}, {old}, {active}"
                    ));
                    self.put(format!(
                        "@{changes} atom.relaxed.gpu.global.{name} {old}, [{at}], {x}"
                    ));
                }
            }
            Atomic::Plain(name) | Atomic::Looking(name) => {
                for (j, (old, (at, x))) in (0u32..).zip(old.iter().zip(at.iter().zip(x))) {
                    let guard = self.guard(true, j);
                    self.put(format!(
                        "{guard}atom.relaxed.gpu.global.{name} {old}, [{at}], {x}"
                    ));
                }
            }
            Atomic::Loop(makes) => {
                look(self);
                let waits: Vec<String> = (0..self.together)
                    .map(|j| {
                        let (waits, active) = (self.predicate(), self.active(j));
                        self.put(format!("mov.pred {waits}, {active}"));
                        waits
                    })
                    .collect();
                self.until_none(&waits, |b, j, waits| {
                    let (old, at, x) = (&old[j], &at[j], &x[j]);
                    let (new, seen) = (b.register(bits), b.register(bits));
                    b.put(format!("{makes} {new}, {old}, {x}"));
                    b.put(format!(
                        "setp.ne.and.s{bits} {waits}, {new}, {old}, {waits}"
                    ));
                    b.put(format!("mov.b{bits} {seen}, {old}"));
                    b.put(format!(
                        "@{waits} atom.relaxed.gpu.global.cas.b{bits} {seen}, [{at}], {old}, {new}"
                    ));
                    b.put(format!(
                        "setp.ne.and.s{bits} {waits}, {seen}, {old}, {waits}"
                    ));
                    b.put(format!("mov.b{bits} {old}, {seen}"));
                });
            }
        }
        old
    }

    /// Turns until no lane has an item that waits.
    fn until_none(&mut self, waits: &[String], mut turn: impl FnMut(&mut Self, usize, &str)) {
        let head = self.new_label();
        self.label(&head);
        for (j, waits) in waits.iter().enumerate() {
            turn(self, j, waits);
        }
        let any = self.any(waits);
        self.put(format!("@{any} bra.uni {head}"));
    }

    /// Whether the element was what it was expected to be. Where many items come together most exchanges fail, which a
    /// look finds out.
    fn exchange(&mut self, w: &Word, wide: bool) {
        let (bits, size) = if wide { (64, 8) } else { (32, 4) };
        let at = self.elements(w, size);
        for (j, at) in (0u32..).zip(&at) {
            let (expected, new) = match wide {
                true => (self.get64(w.b, j), self.get64(w.third(), j)),
                false => (self.get32(w.b, j), self.get32(w.third(), j)),
            };
            let (old, same) = (self.register(bits), self.predicate());
            let active = self.active(j);
            let mut waits = active.clone();
            if self.items > 1 {
                waits = self.predicate();
                self.put(format!(
                    "@{active} ld.relaxed.gpu.global.u{bits} {old}, [{at}]"
                ));
                self.put(format!(
                    "setp.eq.and.s{bits} {waits}, {old}, {expected}, {active}"
                ));
            }
            self.put(format!(
                "@{waits} atom.relaxed.gpu.global.cas.b{bits} {old}, [{at}], {expected}, {new}"
            ));
            self.put(format!("setp.eq.s{bits} {same}, {old}, {expected}"));
            self.set32(w.d, j, false, "selp.b32", &format!("1, 0, {same}"));
        }
    }

    // What the whole grid sees.

    fn push(&mut self, w: &Word) {
        self.check(Fact::Pushable(w.resource()));
        if let Some(site) = self.sites {
            let node = self.get32(w.a, 0);
            return self.give_back(site, &node);
        }
        let active: Vec<String> = (0..self.together).map(|j| self.active(j)).collect();
        let nodes: Vec<String> = (0..self.together).map(|j| self.get32(w.a, j)).collect();
        let bits = self.bits(&active);
        let n = self.together;
        self.put_block(|b| {
            b.put(".param .b32 arg0");
            b.put(format!("st.param.b32 [arg0], {}", w.resource()));
            b.put(format!(".param .align 4 .b8 arg1[{}]", 4 * n));
            for (j, node) in nodes.iter().enumerate() {
                b.put(format!("st.param.b32 [arg1+{}], {node}", 4 * j));
            }
            b.put(".param .b32 arg2");
            b.put(format!("st.param.b32 [arg2], {bits}"));
            let name = format!("_Z4pushILi{n}EEvj3VecIXT_EEj");
            b.put(format!("call.uni {name}, (arg0, arg1, arg2)"));
        });
    }

    fn reserve(&mut self, w: &Word) {
        let (id, ..) = self.queue(w);
        let active: Vec<String> = (0..self.together).map(|j| self.active(j)).collect();
        let bits = self.bits(&active);
        let n = self.together;
        let slots: Vec<String> = (0..n).map(|_| self.word()).collect();
        let to = slots.clone();
        self.put_block(|b| {
            b.put(".param .b32 arg0");
            b.put(format!("st.param.b32 [arg0], {id}"));
            b.put(".param .b32 arg1");
            b.put(format!("st.param.b32 [arg1], {bits}"));
            b.put(format!(".param .align 4 .b8 result[{}]", 4 * n));
            let name = format!("_Z7reserveILi{n}EE3VecIXT_EEjj");
            b.put(format!("call.uni (result), {name}, (arg0, arg1)"));
            for (j, slot) in to.iter().enumerate() {
                b.put(format!("ld.param.b32 {slot}, [result+{}]", 4 * j));
            }
        });
        self.each(|b, j| {
            b.set32(w.d, j, false, "mov.b32", &slots[j as usize]);
        });
    }

    /// A field of the item in a slot. Slots beyond the capacity have none.
    fn store_field(&mut self, w: &Word, size: u32) {
        let (_, queue, record) = self.queue(w);
        let [side, capacity, place] = std::array::from_fn(|_| self.word());
        let base = self.long();
        let field = |offset: usize| queue + offset as u32;
        let at = field(offset_of!(abi::Frontier, side));
        self.put(format!("ld.shared.b32 {side}, [vyre_shared+{at}]"));
        let at = field(offset_of!(abi::Frontier, capacity));
        self.put(format!("ld.shared.b32 {capacity}, [vyre_shared+{at}]"));
        let at = record + offset_of!(abi::Record, fields) as u32 + u32::from(w.field()) * 8;
        self.put(format!("mov.u32 {place}, vyre_shared"));
        self.put(format!("mad.lo.s32 {place}, {side}, 64, {place}"));
        self.put(format!("ld.shared.b64 {base}, [{place}+{at}]"));
        let at = self.addresses(w.a, &base, size);
        for (j, at) in (0u32..).zip(&at) {
            let (slot, fits, active) = (self.get32(w.a, j), self.predicate(), self.active(j));
            self.put(format!(
                "setp.lt.and.u32 {fits}, {slot}, {capacity}, {active}"
            ));
            let (ty, x) = match size {
                1 => ("u8", self.get32_in_register(w.b, j)),
                4 => ("u32", self.get32(w.b, j)),
                _ => ("u64", self.get64(w.b, j)),
            };
            self.put(format!("@{fits} st.global.{ty} [{at}], {x}"));
        }
    }

    /// Takes values into the lane's accumulator, one item after the other.
    fn reduce(&mut self, w: &Word, wide: bool) {
        let (at, reduction) = self.accumulator(w.resource());
        if reduction.op == ReduceOp::ExactSum {
            return self.add_exactly(w, wide);
        }
        let instruction = takes_in(reduction.op, reduction.scalar);
        let bits = if wide { 64 } else { 32 };
        let total = self.register(bits);
        self.put(format!("ld.shared.b{bits} {total}, [%sums+{at}]"));
        for j in 0..self.together {
            let x = match wide {
                true => self.get64(w.a, j),
                false if reduction.scalar == Scalar::F32 => float(self.get32(w.a, j)),
                false => self.get32(w.a, j),
            };
            let guard = self.guard(true, j);
            self.put(format!("{guard}{instruction} {total}, {total}, {x}"));
        }
        self.put(format!("st.shared.b{bits} [%sums+{at}], {total}"));
    }

    /// Adds values to the warp's part of an exact sum, one item of each lane after the other. All lanes come together.
    fn add_exactly(&mut self, w: &Word, wide: bool) {
        let (at, _) = self.accumulator(w.resource());
        let place = (u32::from(w.resource()) << 16) | (at / 256);
        for j in 0..self.together {
            let x = if wide {
                self.get64(w.a, j)
            } else {
                let (x, wide) = (self.get32_in_register(w.a, j), self.long());
                self.put(format!("cvt.u64.u32 {wide}, {x}"));
                wide
            };
            let (bits, active) = (self.long(), self.active(j));
            self.put(format!("selp.b64 {bits}, {x}, 0, {active}"));
            self.put_block(|b| {
                b.put(".param .b32 arg0");
                b.put(format!("st.param.b32 [arg0], {}", b.id));
                b.put(".param .b32 arg1");
                b.put(format!("st.param.b32 [arg1], {place}"));
                b.put(".param .b64 arg2");
                b.put(format!("st.param.b64 [arg2], {bits}"));
                b.put("call.uni _Z9exact_addjjy, (arg0, arg1, arg2)");
            });
        }
    }
}

/// What a reduction takes two values together by, as `combine` of the megakernel does.
fn takes_in(op: ReduceOp, scalar: Scalar) -> &'static str {
    match (op, scalar) {
        (ReduceOp::Sum | ReduceOp::Or, Scalar::Bool) => "or.b32",
        (ReduceOp::Sum, Scalar::U32 | Scalar::I32) => "add.s32",
        (ReduceOp::Sum, Scalar::U64 | Scalar::I64) => "add.s64",
        (ReduceOp::Sum, Scalar::F32) => "add.rn.f32",
        (ReduceOp::Sum, Scalar::F64) => "add.rn.f64",
        (ReduceOp::Min, Scalar::Bool | Scalar::U32) => "min.u32",
        (ReduceOp::Min, Scalar::I32) => "min.s32",
        (ReduceOp::Min, Scalar::U64) => "min.u64",
        (ReduceOp::Min, Scalar::I64) => "min.s64",
        (ReduceOp::Min, Scalar::F32) => "min.f32",
        (ReduceOp::Min, Scalar::F64) => "min.f64",
        (ReduceOp::Max, Scalar::Bool | Scalar::U32) => "max.u32",
        (ReduceOp::Max, Scalar::I32) => "max.s32",
        (ReduceOp::Max, Scalar::U64) => "max.u64",
        (ReduceOp::Max, Scalar::I64) => "max.s64",
        (ReduceOp::Max, Scalar::F32) => "max.f32",
        (ReduceOp::Max, Scalar::F64) => "max.f64",
        (ReduceOp::Or, Scalar::U32 | Scalar::I32) => "or.b32",
        (ReduceOp::Or, Scalar::U64 | Scalar::I64) => "or.b64",
        (ReduceOp::And, Scalar::Bool | Scalar::U32 | Scalar::I32) => "and.b32",
        (ReduceOp::And, Scalar::U64 | Scalar::I64) => "and.b64",
        (ReduceOp::ExactSum, _) => {
            unreachable!("exact sums have a function of their own")
        }
        (_, Scalar::U8) | (ReduceOp::Or | ReduceOp::And, Scalar::F32 | Scalar::F64) => {
            unreachable!("verified reductions exist for their type")
        }
    }
}
