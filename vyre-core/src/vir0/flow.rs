//! How values and control flow through a kernel's code: what a word reads and assigns, how its blocks nest, and which
//! rows are live where.
//!
//! Facts about verified code, found from the instruction table; whoever changes code asks here instead of keeping a
//! list of opcodes. What a word does with its operands is [`crate::vir0::meaning`]'s.
//!
//! ```
//! use vyre_core::vir0::flow::{defs, live_in, uses};
//! use vyre_core::vir0::isa::{Op, Word};
//!
//! // r4:5 = r2 != 0 ? r6:7 : r8:9
//! let select = Word { op: Op::Sel64 as u8, d: 4, a: 2, b: 6, imm: 8 };
//! assert_eq!(uses(&select).iter().collect::<Vec<u8>>(), [2, 6, 7, 8, 9]);
//! assert_eq!(defs(&select).iter().collect::<Vec<u8>>(), [4, 5]);
//!
//! let ret = Word { op: Op::Ret as u8, ..Word::default() };
//! assert_eq!(live_in(&[select, ret])[0], uses(&select));
//! ```

use crate::vir0::isa::{Effect, Imm, Op, Slot, UNIFORM_BASE, Word};
use std::ops::Range;

/// A set of register rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows([u64; 4]);

impl Rows {
    /// No row.
    pub const NONE: Rows = Rows([0; 4]);
    /// Every row.
    pub const ALL: Rows = Rows([u64::MAX; 4]);

    /// Whether a row is one of them.
    pub fn has(self, row: u8) -> bool {
        self.0[usize::from(row >> 6)] >> (row & 63) & 1 != 0
    }

    /// Adds a row.
    pub fn add(&mut self, row: u8) {
        self.0[usize::from(row >> 6)] |= 1 << (row & 63);
    }

    /// The rows of both.
    #[must_use]
    pub fn and(self, other: Rows) -> Rows {
        self.zip(other, |a, b| a & b)
    }

    /// The rows of either.
    #[must_use]
    pub fn or(self, other: Rows) -> Rows {
        self.zip(other, |a, b| a | b)
    }

    /// Those that are not rows of the other.
    #[must_use]
    pub fn without(self, other: Rows) -> Rows {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether there is a row of both.
    pub fn meets(self, other: Rows) -> bool {
        self.and(other) != Rows::NONE
    }

    /// The rows, lowest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |&row| self.has(row))
    }

    fn zip(self, other: Rows, f: impl Fn(u64, u64) -> u64) -> Rows {
        Rows(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl FromIterator<u8> for Rows {
    fn from_iter<I: IntoIterator<Item = u8>>(of: I) -> Rows {
        let mut rows = Rows::NONE;
        of.into_iter().for_each(|row| rows.add(row));
        rows
    }
}

impl From<Range<u8>> for Rows {
    fn from(range: Range<u8>) -> Rows {
        range.collect()
    }
}

/// The opcode of a word of verified code.
pub fn op(word: &Word) -> Op {
    Op::from_code(word.op).expect("verified code has known opcodes")
}

/// What a word of verified code does beside making `d`.
pub fn effect(word: &Word) -> Effect {
    op(word).row().effect
}

/// Rows of an operand; none where it is a uniform, an immediate or no operand.
pub fn rows_of(slot: Slot, byte: u8) -> Rows {
    let width = match slot {
        Slot::N | Slot::Flag => return Rows::NONE,
        Slot::W | Slot::OptW => 1,
        Slot::D | Slot::OptD => 2,
    };
    match byte < UNIFORM_BASE {
        true => (byte..byte + width).into(),
        false => Rows::NONE,
    }
}

/// Rows of the local array of a word that has one.
fn array(word: &Word) -> Rows {
    let row = op(word).row();
    let (first, len) = word.array();
    match row.imm {
        Imm::Rows => (first..first + len * row.element_rows()).into(),
        _ => Rows::NONE,
    }
}

/// Rows that a word may read. Of a local array, every element counts: one that a store does not reach keeps its value,
/// and a fill is taken for a store.
pub fn uses(word: &Word) -> Rows {
    let row = op(word).row();
    let third = match row.imm {
        Imm::Third => rows_of(row.d, word.third()),
        Imm::ResourceThird(_) => rows_of(row.b, word.third()),
        _ => Rows::NONE,
    };
    let operands = rows_of(row.a, word.a).or(rows_of(row.b, word.b));
    operands.or(third).or(array(word))
}

/// Rows that a word certainly assigns.
pub fn defs(word: &Word) -> Rows {
    rows_of(op(word).row().d, word.d)
}

/// Rows that a word may assign: those of [`defs`], and of a local array that it stores to, every element.
pub fn writes(word: &Word) -> Rows {
    let stores = match effect(word) {
        Effect::RowStore | Effect::RowFill => array(word),
        _ => Rows::NONE,
    };
    defs(word).or(stores)
}

/// A block of structured code: an `if` with its branches, or a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Pc of its `if` or `loop`.
    pub at: usize,
    /// Pc of its `else`, if it has one.
    pub otherwise: Option<usize>,
    /// Pc of its `endif` or `endloop`.
    pub end: usize,
    /// Blocks around it.
    pub depth: usize,
}

/// What a [`Block`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// An `if`.
    If,
    /// A loop.
    Loop,
}

impl Block {
    /// Whether a word is inside; its own first and last words are not, an `else` is.
    pub fn holds(&self, pc: usize) -> bool {
        self.at < pc && pc < self.end
    }
}

/// The blocks of a kernel's code, in the order in which they open; a block inside another comes after it.
pub fn blocks(code: &[Word]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (pc, word) in code.iter().enumerate() {
        let kind = match op(word) {
            Op::If => BlockKind::If,
            Op::Loop => BlockKind::Loop,
            Op::Else => {
                let of = *open.last().expect("an else stands in an if");
                blocks[of].otherwise = Some(pc);
                continue;
            }
            Op::EndIf | Op::EndLoop => {
                let of = open.pop().expect("an end closes a block");
                blocks[of].end = pc;
                continue;
            }
            _ => continue,
        };
        let depth = open.len();
        open.push(blocks.len());
        blocks.push(Block {
            kind,
            at: pc,
            otherwise: None,
            end: pc,
            depth,
        });
    }
    blocks
}

/// For every pc, and for the end, the rows whose values may still be read from there on.
///
/// More ways through the code are assumed than an item has: a warp walks both branches of an `if`, so behind an `else`
/// is its branch as well as its end, and a `break` leads to both ends of every loop around it.
pub fn live_in(code: &[Word]) -> Vec<Rows> {
    let blocks = blocks(code);
    let next = |pc: usize| {
        let op = op(&code[pc]);
        let mut next = Vec::new();
        if op.row().effect != Effect::End {
            next.push(pc + 1);
        }
        if op.row().imm == Imm::Target {
            next.push(code[pc].imm as usize);
        }
        if op.row().imm == Imm::Depth {
            let around = (blocks.iter()).filter(|b| b.kind == BlockKind::Loop && b.holds(pc));
            next.extend(around.flat_map(|b| [b.at, b.end + 1]));
        }
        next
    };
    live_through(code.len(), next, |pc| (uses(&code[pc]), defs(&code[pc])))
}

/// The same of whatever has `len` places in a row: where each leads, the end included, and which rows it reads and
/// then assigns.
pub fn live_through(
    len: usize,
    next: impl Fn(usize) -> Vec<usize>,
    rows: impl Fn(usize) -> (Rows, Rows),
) -> Vec<Rows> {
    let next: Vec<Vec<usize>> = (0..len).map(next).collect();
    let mut live = vec![Rows::NONE; len + 1];
    loop {
        let mut changed = false;
        for at in (0..len).rev() {
            let after = (next[at].iter()).fold(Rows::NONE, |rows, &to| rows.or(live[to]));
            let (uses, defs) = rows(at);
            let now = after.without(defs).or(uses);
            changed |= now != live[at];
            live[at] = now;
        }
        if !changed {
            return live;
        }
    }
}
