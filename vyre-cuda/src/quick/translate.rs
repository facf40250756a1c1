//! From the words of a kernel to drafts: every operand gets its row of the [`File`], and what is known to be loaded
//! before the first word is copied from there.

use super::DEPTH;
use super::draft::{COPY, Does, Draft, HANDLED, OR, XOR, computes, of_halves};
use crate::abi::{self, fill};
use vyre_core::vir0::flow::{op, writes};
use vyre_core::vir0::isa::{IMM, Kind, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Kernel, Uniform};

/// The file that all operands are rows of, as far as it is taken.
pub(super) struct File<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) next: u32,
    pub(super) fills: Vec<u32>,
    pub(super) dynamic: Vec<u32>,
    pub(super) known: Vec<(u32, u32, bool, u32)>,
    pub(super) round: u32,
}

impl File<'_> {
    pub(super) fn take(&mut self, rows: u32) -> u32 {
        self.next += rows;
        self.next - rows
    }

    /// The row of a value that does not change, made when it is first asked for.
    pub(super) fn constant(&mut self, kind: u32, value: u32, wide: bool) -> u32 {
        let key = (kind, value, wide);
        if let Some(&(.., row)) = self.known.iter().find(|k| (k.0, k.1, k.2) == key) {
            return row;
        }
        let row = self.take(1 + u32::from(wide));
        self.known.push((kind, value, wide, row));
        let changes = kind != fill::LITERAL
            && matches!(
                self.kernel.uniforms[value as usize],
                Uniform::Reduction(_)
                    | Uniform::Len(_)
                    | Uniform::Began(_)
                    | Uniform::OuterRound(_)
            );
        let fills = if changes {
            &mut self.dynamic
        } else {
            &mut self.fills
        };
        fills.extend([row | kind << 8, value]);
        if wide {
            let high = match kind {
                fill::LITERAL => [fill::LITERAL, ((value as i32) >> 31) as u32],
                _ => [fill::HIGH, value],
            };
            fills.extend([(row + 1) | (high[0] << 8), high[1]]);
        }
        row
    }

    pub(super) fn literal(&mut self, value: u32) -> u32 {
        self.constant(fill::LITERAL, value, false)
    }

    /// Whether the row holds this literal, or both rows from it.
    pub(super) fn holds(&self, row: u32, value: u32) -> bool {
        self.fills
            .chunks(2)
            .any(|f| f[0] == row | fill::LITERAL << 8 && f[1] == value)
    }

    pub(super) fn uniform(&mut self, slot: u32, wide: bool) -> u32 {
        if self.kernel.uniforms[slot as usize] == Uniform::Round {
            return self.round;
        }
        self.constant(fill::LOW, slot, wide)
    }

    pub(super) fn source(&mut self, slot: Slot, byte: u8, imm: u32) -> u32 {
        let wide = matches!(slot, Slot::D | Slot::OptD);
        match byte {
            _ if slot == Slot::N => 0,
            IMM => self.constant(fill::LITERAL, imm, wide),
            UNIFORM_BASE.. => self.uniform(u32::from(byte - UNIFORM_BASE), wide),
            row => row.into(),
        }
    }
}

/// Of what a tile loads before its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) buffer: u16,
    /// 0: the edge's number, 1: its source, 2: its destination.
    pub(super) place: usize,
    pub(super) wide: bool,
    pub(super) row: u32,
}

/// Where a load gets its element from, if it is one whose place and element are known when the tile begins: it is an
/// item's own number, and no word before it changes that or the buffer.
fn known_place(kernel: &Kernel, pc: usize) -> Option<(u16, usize, bool)> {
    let word = &kernel.code[pc];
    let (row, buffer) = (op(word).row(), word.names()?);
    if !row.effect.loads() || row.kind() == Some(Kind::Buffer8) {
        return None;
    }
    let item = [kernel.item.index, kernel.item.src, kernel.item.dst];
    let place = item.iter().position(|&row| row == Some(word.a))?;
    let changes = |before: &Word| writes(before).has(word.a) || before.changes(buffer);
    let wide = row.d == Slot::D;
    (!kernel.code[..pc].iter().any(changes)).then_some((word.resource(), place, wide))
}

/// What a tile of this kernel loads before its first word: elements of one width.
pub(super) fn asked_before(kernel: &Kernel, file: &mut File<'_>) -> Vec<Ask> {
    let mut found: Vec<(u16, usize, bool)> = Vec::new();
    for pc in 0..kernel.code.len() {
        if let Some(known) = known_place(kernel, pc)
            && !found.contains(&known)
        {
            found.push(known);
        }
    }
    let wide = found.iter().filter(|f| f.2).count() * 2 > found.len();
    let mut left = [2, 2];
    let mut asks = Vec::new();
    for (buffer, place, _) in found.into_iter().filter(|f| f.2 == wide) {
        let left = &mut left[usize::from(place == 2)];
        if *left > 0 {
            *left -= 1;
            asks.push(Ask {
                buffer,
                place,
                wide,
                row: file.take(1 + u32::from(wide)),
            });
        }
    }
    asks
}

/// Whether it makes a round plus a literal.
pub(super) fn adds_to_round(word: &Word, is_round: impl Fn(u8) -> bool) -> bool {
    op(word) == Op::Add32 && word.b == IMM && is_round(word.a)
}

/// The words of a kernel, one by one. `unused`: a row that is never read; `made`: the row that has a word's result
/// already.
pub(super) fn drafts_of(
    kernel: &Kernel,
    (file, unused): (&mut File<'_>, u32),
    asks: &[Ask],
    made: &dyn Fn(&Word) -> Option<u32>,
    push: &dyn Fn(u16) -> Option<bool>,
) -> Option<Vec<Draft>> {
    let mut drafts = Vec::new();
    let mut depth = 0usize;
    let mut pc = 0;
    while pc < kernel.code.len() {
        let word = &kernel.code[pc];
        let op = op(word);
        let row = op.row();
        let a = file.source(row.a, word.a, word.imm);
        let b = file.source(row.b, word.b, word.imm);
        let d = if word.d == IMM { unused } else { word.d.into() };
        let base = Draft {
            d,
            a,
            b,
            ..Draft::new(Does::EndIf, pc)
        };
        let compute = |bits, d, a, b| Draft {
            d,
            a,
            b,
            ..Draft::new(Does::Computes(bits), pc)
        };
        let copy = |d, a| compute(COPY, d, a, a);
        let asked = known_place(kernel, pc).and_then(|(buffer, place, wide)| {
            asks.iter()
                .find(|x| (x.buffer, x.place, x.wide) == (buffer, place, wide))
        });
        if let Some(row) = made(word) {
            drafts.push(copy(d, row));
        } else if let Some(ask) = asked {
            drafts.push(copy(d, ask.row));
            if ask.wide {
                drafts.push(copy(d + 1, ask.row + 1));
            }
        } else if let Some(bits) = computes(op) {
            let b = if row.b == Slot::N { a } else { b };
            drafts.push(compute(bits, d, a, b));
        } else if let Some(bits) = of_halves(op) {
            let b = if row.b == Slot::N { a } else { b };
            let low = compute(bits, d, a, b);
            let high = compute(bits, d + 1, a + 1, b + 1);
            if d != a + 1 && d != b + 1 {
                drafts.extend([low, high]);
            } else if d + 1 != a && d + 1 != b {
                drafts.extend([high, low]);
            } else {
                let kept = file.take(1);
                drafts.extend([compute(bits, kept, a, b), high, copy(d, kept)]);
            }
        } else {
            match op {
                Op::LdU32 => drafts.push(copy(d, file.uniform(word.imm, false))),
                Op::LdU64 => {
                    let from = file.uniform(word.imm, true);
                    drafts.extend([copy(d, from), copy(d + 1, from + 1)]);
                }
                Op::Zext64 => {
                    let zero = file.literal(0);
                    drafts.extend([copy(d, a), copy(d + 1, zero)]);
                }
                Op::Eq64 | Op::Ne64 => {
                    let zero = file.literal(0);
                    let is_zero = |row| file.holds(row, 0) && file.holds(row + 1, 0);
                    let bits = computes(if op == Op::Eq64 { Op::Eq32 } else { Op::Ne32 })?;
                    if is_zero(b) || is_zero(a) {
                        let of = if is_zero(b) { a } else { b };
                        let any = file.take(1);
                        drafts.push(compute(OR, any, of, of + 1));
                        drafts.push(compute(bits, d, any, zero));
                    } else {
                        let low = file.take(2);
                        drafts.push(compute(XOR, low, a, b));
                        drafts.push(compute(XOR, low + 1, a + 1, b + 1));
                        drafts.push(compute(OR, low, low, low + 1));
                        drafts.push(compute(bits, d, low, zero));
                    }
                }
                op if HANDLED.contains(&op) => drafts.push(Draft {
                    does: Does::Op(op, 0, row.kind().map(|_| word.resource())),
                    ..base
                }),
                Op::Sel32 => drafts.push(Draft {
                    does: Does::Op(op, 0, None),
                    c: file.source(row.b, word.third(), 0),
                    ..base
                }),
                Op::AtomCas32 => drafts.push(Draft {
                    does: Does::Op(op, 0, Some(word.resource())),
                    c: file.source(row.b, word.third(), 0),
                    ..base
                }),
                Op::If => {
                    let [inner, end] = kernel.code.get(pc + 1..pc + 3)? else {
                        return None;
                    };
                    let to = inner.resource();
                    if self::op(inner) == Op::Push && self::op(end) == Op::EndIf {
                        let own = push(to)?;
                        drafts.push(Draft {
                            a,
                            b: file.source(Slot::W, inner.a, inner.imm),
                            ..Draft::new(Does::Push(pushed(to, own)), pc + 1)
                        });
                        pc += 3;
                        continue;
                    }
                    depth += 1;
                    drafts.push(Draft {
                        does: Does::If(word.imm),
                        ..base
                    });
                }
                Op::Else => drafts.push(Draft {
                    does: Does::Else(word.imm),
                    ..base
                }),
                Op::EndIf => {
                    depth -= 1;
                    drafts.push(base);
                }
                Op::Push => {
                    let to = word.resource();
                    let own = push(to)?;
                    drafts.push(Draft {
                        a: file.literal(1),
                        b: a,
                        ..Draft::new(Does::Push(pushed(to, own)), pc)
                    });
                }
                Op::Ret if depth == 0 => {
                    drafts.push(Draft::new(Does::End, pc));
                    // Nothing comes after it.
                    if pc + 1 != kernel.code.len() {
                        return None;
                    }
                }
                Op::Ret => drafts.push(Draft::new(Does::Return, pc)),
                _ => return None,
            }
        }
        if depth > DEPTH {
            return None;
        }
        pc += 1;
    }
    Some(drafts)
}

/// The immediate of a push.
fn pushed(to: u16, own: bool) -> u32 {
    u32::from(to) << 16 | if own { abi::QUICK_OWN } else { 0 }
}
