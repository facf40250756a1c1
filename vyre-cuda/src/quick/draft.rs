//! Drafts of quick code: words before they are laid out, with places that are rows of the file.

use crate::abi;
use vyre_core::vir0::flow::Rows;
use vyre_core::vir0::isa::{Effect, Imm, Op, Slot};

/// What a draft does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// The bits say what.
    Computes(u32),
    /// An opcode of the device, and the bits of its immediate or its buffer.
    Op(Op, u32, Option<u16>),
    /// Items with 0 go on at that pc.
    If(u32),
    Else(u32),
    EndIf,
    Return,
    /// The immediate of a push.
    Push(u32),
    End,
}

/// A word before it is laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) does: Does,
    pub(super) pc: u32,
    pub(super) d: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

impl Draft {
    pub(super) fn new(does: Does, pc: usize) -> Draft {
        Draft {
            does,
            pc: pc as u32,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
        }
    }

    /// Rows that it reads.
    pub(super) fn reads(&self) -> Vec<u32> {
        let pair = |slot: Slot, row: u32| match slot {
            Slot::N | Slot::Flag => vec![],
            Slot::W | Slot::OptW => vec![row],
            Slot::D | Slot::OptD => vec![row, row + 1],
        };
        match self.does {
            Does::Computes(_) | Does::Push(_) => vec![self.a, self.b],
            Does::If(_) => vec![self.a],
            Does::Op(op, ..) => {
                let row = op.row();
                let mut rows = [pair(row.a, self.a), pair(row.b, self.b)].concat();
                if matches!(row.imm, Imm::Third | Imm::ResourceThird(_)) {
                    rows.extend(pair(row.b, self.c));
                }
                rows
            }
            Does::Else(_) | Does::EndIf | Does::Return | Does::End => vec![],
        }
    }

    /// Rows that it writes.
    pub(super) fn writes(&self) -> std::ops::Range<u32> {
        let rows = match self.does {
            Does::Computes(_) => 1,
            Does::Op(op, ..) => match op.row().d {
                Slot::N | Slot::Flag => 0,
                Slot::W | Slot::OptW => 1,
                Slot::D | Slot::OptD => 2,
            },
            _ => 0,
        };
        self.d..self.d + rows
    }

    /// Rows that it reads, and those that it then writes, of a file that is not too large.
    pub(super) fn rows(&self) -> (Rows, Rows) {
        let reads = self.reads().into_iter().map(|row| row as u8);
        (
            reads.collect(),
            self.writes().map(|row| row as u8).collect(),
        )
    }

    pub(super) fn is_wide(&self) -> bool {
        self.writes().len() == 2
    }

    /// Whether it does nothing but write its rows.
    pub(super) fn is_pure(&self) -> bool {
        match self.does {
            Does::Computes(_) => true,
            Does::Op(op, ..) => op.row().effect == Effect::No && !self.writes().is_empty(),
            _ => false,
        }
    }

    /// Whether items come together or part here.
    pub(super) fn joins(&self) -> bool {
        matches!(self.does, Does::Else(_) | Does::EndIf)
    }
}

/// Operations that are words of quick code as they are, with two operands at most: of registers, then accesses to an
/// element. The device has a handler for each; what the table says of them says the rest.
pub(super) const HANDLED: [Op; 34] = [
    Op::Mul32,
    Op::Shl32,
    Op::ShrU32,
    Op::AddF32,
    Op::SubF32,
    Op::MulF32,
    Op::LtF32,
    Op::LeF32,
    Op::Add64,
    Op::Sub64,
    Op::LtU64,
    Op::LeU64,
    Op::Shl64,
    Op::ShrU64,
    Op::Ld8,
    Op::Ld32,
    Op::AtomLd32,
    Op::AtomAdd32,
    Op::AtomAddF32,
    Op::AtomMinU32,
    Op::AtomMaxU32,
    Op::AtomOr32,
    Op::Ld64,
    Op::AtomLd64,
    Op::AtomAdd64,
    Op::AtomOr64,
    Op::AtomAnd64,
    Op::AtomMinU64,
    Op::AtomMaxU64,
    Op::St8,
    Op::St32,
    Op::AtomSt32,
    Op::St64,
    Op::AtomSt64,
];

/// The operations that stand in words of quick code, and the device has handlers for.
#[cfg(test)]
pub(crate) fn words() -> impl Iterator<Item = Op> {
    let others = [Op::Sel32, Op::AtomCas32, Op::Else, Op::EndIf, Op::Ret];
    HANDLED.into_iter().chain(others)
}

pub(super) const COPY: u32 = abi::QUICK_BITS | abi::QUICK_BOTH;
pub(super) const NOT_SAME: u32 = abi::QUICK_COMPARES | abi::QUICK_BELOW | abi::QUICK_ABOVE;
pub(super) const XOR: u32 = abi::QUICK_BITS | abi::QUICK_ODD;
pub(super) const OR: u32 = abi::QUICK_BITS | abi::QUICK_BOTH | abi::QUICK_ODD;

/// The bits of an operation of 32 bits that needs no opcode.
pub(super) fn computes(op: Op) -> Option<u32> {
    use abi::{
        QUICK_ABOVE as ABOVE, QUICK_BELOW as BELOW, QUICK_COMPARES as COMPARES, QUICK_FLIP as FLIP,
        QUICK_PICKS as PICKS, QUICK_SAME as SAME, QUICK_SIGNED as SIGNED,
    };
    Some(match op {
        Op::Mov32 | Op::Wrap32 => COPY,
        Op::Add32 => 0,
        Op::Sub32 => FLIP,
        Op::And32 => abi::QUICK_BITS | abi::QUICK_BOTH,
        Op::Or32 => OR,
        Op::Xor32 => XOR,
        Op::Eq32 => COMPARES | SAME,
        Op::Ne32 => NOT_SAME,
        Op::LtU32 => COMPARES | BELOW,
        Op::LeU32 => COMPARES | BELOW | SAME,
        Op::LtI32 => COMPARES | BELOW | SIGNED,
        Op::LeI32 => COMPARES | BELOW | SAME | SIGNED,
        Op::MinU32 => COMPARES | PICKS | BELOW,
        Op::MinI32 => COMPARES | PICKS | BELOW | SIGNED,
        Op::MaxU32 => COMPARES | PICKS | ABOVE,
        Op::MaxI32 => COMPARES | PICKS | ABOVE | SIGNED,
        _ => return None,
    })
}

/// The operation of 32 bits that does to each half what this one does.
pub(super) fn of_halves(op: Op) -> Option<u32> {
    Some(match op {
        Op::Mov64 => COPY,
        Op::And64 => abi::QUICK_BITS | abi::QUICK_BOTH,
        Op::Or64 => OR,
        Op::Xor64 => XOR,
        _ => return None,
    })
}
