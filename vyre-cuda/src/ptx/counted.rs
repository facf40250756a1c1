//! Loops whose turns can be counted while the text is made: they are written out, and what only counts is gone.
//!
//! A row is known where every active item has the same value in it and the words say which. A loop is counted where known
//! rows alone decide each of its breaks. Its turns then follow each other without a branch, a vote or a look at the abort
//! word, and its known rows are literals; what is known when it ends is put in registers behind it.

use super::blocks::{leaves, written_in};
use super::body::{Body, Items};
use crate::image::Layout;
use vyre_core::vir0::flow::{Block, BlockKind, Rows, op, writes};
use vyre_core::vir0::isa::{IMM, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::meaning::value;
use vyre_core::vir0::module::Program;

/// Words that loops written out may come to, those of all items that go side by side counted.
const WORDS: usize = 1024;
/// Words looked at to find that out.
const STEPS: usize = 4096;

/// A loop that is written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    block: Block,
    /// Blocks that are open around its turns.
    depth: usize,
    /// Rows that are written under a condition inside: their values have to be in registers.
    uncertain: Rows,
}

/// Operations of 32 bits that take literals, and are made here where all operands are known.
pub(super) fn folds(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Mov32
            | Add32
            | Sub32
            | Mul32
            | MinU32
            | MinI32
            | MaxU32
            | MaxI32
            | And32
            | Or32
            | Xor32
            | Shl32
            | ShrU32
            | ShrI32
            | Eq32
            | Ne32
            | LtU32
            | LeU32
            | LtI32
            | LeI32
    )
}

/// How many loops of a kernel's body are written out.
pub(super) fn written_out(program: &Program, layout: &Layout, id: usize) -> usize {
    let items = layout.kernels[id].k;
    let loops = |b: &Body<'_>| {
        b.blocks
            .iter()
            .filter(|b| b.kind == BlockKind::Loop)
            .count()
    };
    let body = Body::new((program, layout), id, items, Items::Tile);
    let all = loops(&body);
    all - body.turning()
}

impl Body<'_> {
    /// Writes the body and says how many loops have turns in it.
    fn turning(mut self) -> usize {
        self.code();
        let ats = self.blocks.iter().filter(|b| b.kind == BlockKind::Loop);
        let heads = ats.map(|b| format!("$T{}_{}:", self.id, b.at));
        heads.filter(|head| self.out.contains(head)).count()
    }

    /// What a row is known to be, inside a loop that is written out.
    pub(super) fn known_here(&self, row: u8) -> Option<u32> {
        let known = || self.known.get(&row).copied();
        (!self.counted.is_empty()).then(known).flatten()
    }

    /// Notes what a word that was written says of its rows.
    pub(super) fn learn(&mut self, word: &Word) {
        let written = writes(word);
        self.known.retain(|&row, _| !written.has(row));
        if op(word) == Op::Mov32 && word.a == IMM && self.may_know(word.d) {
            self.known.insert(word.d, word.imm);
        }
    }

    /// Forgets rows that words between two pcs write.
    pub(super) fn unlearn(&mut self, from: usize, to: usize) {
        let written = written_in(&self.kernel.code[from..to]);
        self.known.retain(|&row, _| !written.has(row));
    }

    fn may_know(&self, row: u8) -> bool {
        let uncertain = |c: &Counted| c.uncertain.has(row);
        row < UNIFORM_BASE && !self.arrays.has(row) && !self.counted.iter().any(uncertain)
    }

    /// Does what a word does that is not written because it counts, and says where to go on.
    pub(super) fn write_out(&mut self, word: &Word) -> Option<usize> {
        let next = self.pc + 1;
        if op(word) == Op::Loop && self.lift.is_none_or(|lift| lift.at != self.pc) {
            let counted = self.count(self.block_at(self.pc))?;
            self.counted.push(counted);
            return Some(next);
        }
        let Counted { block, depth, .. } = *self.counted.last()?;
        match op(word) {
            Op::EndLoop if block.end == self.pc => Some(block.at + 1),
            Op::BreakIf | Op::BreakUnless if depth == self.depth() => {
                let condition = self.known[&word.a] != 0;
                if condition != (op(word) == Op::BreakIf) {
                    return Some(next);
                }
                self.counted.pop();
                if self.counted.is_empty() {
                    self.put_known(block.end + 1);
                }
                Some(block.end + 1)
            }
            _ => {
                let made = folded(word, |row| self.known.get(&row).copied())?;
                if !self.may_know(word.d) {
                    return None;
                }
                self.proved.retain(|&(row, _)| row != word.d);
                self.known.insert(word.d, made);
                Some(next)
            }
        }
    }

    /// Puts what is known in registers, as far as it is asked for from a pc on.
    fn put_known(&mut self, pc: usize) {
        let live = self.live[pc];
        for (row, value) in self.known.clone() {
            if live.has(row) {
                let value = format!("{value:#x}");
                self.each(|body, j| body.set32(row, j, false, "mov.b32", &value));
            }
        }
    }

    /// The loop, if its turns can be counted and are few.
    fn count(&self, block: Block) -> Option<Counted> {
        let code = &self.kernel.code;
        let inside = |b: &&Block| b.kind == BlockKind::If && b.at > block.at && b.end < block.end;
        let conditional = self.blocks.iter().filter(inside);
        let uncertain =
            conditional.fold(Rows::NONE, |all, b| all.or(written_in(&code[b.at..b.end])));
        let (mut known, mut loops) = (self.known.clone(), vec![block]);
        let (mut pc, mut words, mut ifs) = (block.at + 1, 0, 0);
        for _ in 0..STEPS {
            let word = &code[pc];
            pc += 1;
            match op(word) {
                Op::Loop => loops.push(self.block_at(pc - 1)),
                Op::EndLoop => pc = loops.last()?.at + 1,
                Op::BreakIf | Op::BreakUnless if ifs == 0 && word.imm == 0 => {
                    if (known.get(&word.a)? != &0) == (op(word) == Op::BreakIf) {
                        pc = loops.pop()?.end + 1;
                        if loops.is_empty() {
                            let depth = self.depth();
                            return Some(Counted {
                                block,
                                depth,
                                uncertain,
                            });
                        }
                    }
                }
                _ if leaves(word) => return None,
                op => {
                    match op {
                        Op::If => ifs += 1,
                        Op::EndIf => ifs -= 1,
                        _ => {}
                    }
                    let made = folded(word, |row| known.get(&row).copied());
                    let made = made.filter(|_| self.may_know(word.d) && !uncertain.has(word.d));
                    if let Some(made) = made {
                        known.insert(word.d, made);
                        continue;
                    }
                    known.retain(|&row, _| !writes(word).has(row));
                    words += self.together as usize;
                    if words > WORDS {
                        return None;
                    }
                }
            }
        }
        None
    }
}

/// What a word makes, if all its operands are known.
fn folded(word: &Word, known: impl Fn(u8) -> Option<u32>) -> Option<u32> {
    if !folds(op(word)) {
        return None;
    }
    let row = op(word).row();
    let operand = |slot: Slot, byte: u8| match (slot, byte) {
        (Slot::N, _) => Some(0),
        (_, IMM) => Some(word.imm),
        (_, byte) => known(byte),
    };
    let (a, b) = (operand(row.a, word.a)?, operand(row.b, word.b)?);
    value(op(word), [a.into(), b.into(), 0]).map(|bits| bits as u32)
}
