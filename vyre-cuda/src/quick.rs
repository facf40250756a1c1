//! Code of narrow rounds: a wave's code translated so that one warp gets through it in few instructions.
//!
//! Every operand becomes a row of one file, which holds registers, uniforms and literals alike; a conditional push is
//! one word; what a uniform load gives is an operand; 64-bit arithmetic without carries becomes words of halves. What
//! the words load from places that are known when a tile begins is loaded there, all at once. Results are handed to the
//! next word, complements and tests go into the word that needs them, and what nobody reads is not computed. Words keep
//! the pc of the program, so that a trap names it.

use crate::abi::{self, NONE, fill};
use vyre_core::vir0::flow::{op, writes};
use vyre_core::vir0::isa::{IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Kernel, Uniform};

/// Quick code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quick {
    /// What a tile loads before its first word, then the words.
    pub(crate) code: Vec<QuickWord>,
    /// The first word to run, and the first one where what is loaded before was not there.
    pub(crate) begins: u32,
    pub(crate) plain: u32,
    /// Words of what is loaded before, or 0.
    pub(crate) slots: u32,
    /// Rows of the file.
    pub(crate) rows: u32,
    /// Rows to fill before a run, as pairs: row and kind, then a literal or a slot.
    pub(crate) fills: Vec<u32>,
    /// How many of them, at the end, are of uniforms that change while a run goes on.
    pub(crate) dynamic: u32,
    /// Rows of the round, of the round plus a literal, with that, and of the item's index, source,
    /// destination and number for traps.
    pub(crate) round: u32,
    pub(crate) next: (u32, u32),
    pub(crate) item: [u32; 4],
}

/// A word as the device has it: opcode, flags and pc; places of the operands; of the result and of a third operand;
/// the immediate. `buffer`: the number of the buffer whose place goes into the word named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuickWord {
    pub(crate) words: [u32; 4],
    pub(crate) buffer: Option<(u8, u16)>,
}

/// Deepest nesting: a lane keeps two bits a level.
const DEPTH: usize = 16;
/// Of what a tile loads before its first word: two places known from the edge or its source, two from its destination.
const SLOTS: usize = 4;
/// Rows of a file at most.
const ROWS: u32 = 64;

struct Rows<'a> {
    kernel: &'a Kernel,
    next: u32,
    fills: Vec<u32>,
    dynamic: Vec<u32>,
    known: Vec<(u32, u32, bool, u32)>,
    round: u32,
}

impl Rows<'_> {
    fn take(&mut self, rows: u32) -> u32 {
        self.next += rows;
        self.next - rows
    }

    /// The row of a value that does not change, made when it is first asked for.
    fn constant(&mut self, kind: u32, value: u32, wide: bool) -> u32 {
        let key = (kind, value, wide);
        if let Some(&(.., row)) = self.known.iter().find(|k| (k.0, k.1, k.2) == key) {
            return row;
        }
        let row = self.take(1 + u32::from(wide));
        self.known.push((kind, value, wide, row));
        let changes = kind != fill::LITERAL
            && matches!(
                self.kernel.uniforms[value as usize],
                Uniform::Reduction(_) | Uniform::FrontierLen(_) | Uniform::ListLen(_)
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

    fn literal(&mut self, value: u32) -> u32 {
        self.constant(fill::LITERAL, value, false)
    }

    /// Whether the row holds this literal, or both rows from it.
    fn holds(&self, row: u32, value: u32) -> bool {
        self.fills
            .chunks(2)
            .any(|f| f[0] == row | fill::LITERAL << 8 && f[1] == value)
    }

    fn uniform(&mut self, slot: u32, wide: bool) -> u32 {
        if self.kernel.uniforms[slot as usize] == Uniform::Round {
            return self.round;
        }
        self.constant(fill::LOW, slot, wide)
    }

    fn source(&mut self, slot: Slot, byte: u8, imm: u32) -> u32 {
        let wide = matches!(slot, Slot::D | Slot::OptD);
        match byte {
            _ if slot == Slot::N => 0,
            IMM => self.constant(fill::LITERAL, imm, wide),
            UNIFORM_BASE.. => self.uniform(u32::from(byte - UNIFORM_BASE), wide),
            row => row.into(),
        }
    }
}

/// What a step does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
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
struct Step {
    does: Does,
    pc: u32,
    d: u32,
    a: u32,
    b: u32,
    c: u32,
}

impl Step {
    fn new(does: Does, pc: usize) -> Step {
        Step {
            does,
            pc: pc as u32,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
        }
    }

    /// Rows that it reads.
    fn reads(&self) -> Vec<u32> {
        let pair = |slot: Slot, row: u32| match slot {
            Slot::N => vec![],
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
    fn writes(&self) -> std::ops::Range<u32> {
        let rows = match self.does {
            Does::Computes(_) => 1,
            Does::Op(op, ..) => match op.row().d {
                Slot::N => 0,
                Slot::W | Slot::OptW => 1,
                Slot::D | Slot::OptD => 2,
            },
            _ => 0,
        };
        self.d..self.d + rows
    }

    fn is_wide(&self) -> bool {
        self.writes().len() == 2
    }

    /// Whether it does nothing but write its rows.
    fn is_pure(&self) -> bool {
        match self.does {
            Does::Computes(_) => true,
            Does::Op(op, _, buffer) => {
                buffer.is_none() && !self.writes().is_empty() && op != Op::Ret
            }
            _ => false,
        }
    }

    /// Whether items come together or part here.
    fn joins(&self) -> bool {
        matches!(self.does, Does::Else(_) | Does::EndIf)
    }
}

/// Operations of registers that are words of quick code as they are.
const COMPUTED: [Op; 14] = [
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
];

/// Accesses to an element that are, with two operands at most.
const ELEMENTS: [Op; 20] = [
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
    COMPUTED.into_iter().chain(ELEMENTS).chain(others)
}

const COPY: u32 = abi::QUICK_BITS | abi::QUICK_BOTH;
const NOT_SAME: u32 = abi::QUICK_COMPARES | abi::QUICK_BELOW | abi::QUICK_ABOVE;
const XOR: u32 = abi::QUICK_BITS | abi::QUICK_ODD;
const OR: u32 = abi::QUICK_BITS | abi::QUICK_BOTH | abi::QUICK_ODD;

/// The bits of an operation of 32 bits that needs no opcode.
fn computes(op: Op) -> Option<u32> {
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
fn of_halves(op: Op) -> Option<u32> {
    Some(match op {
        Op::Mov64 => COPY,
        Op::And64 => abi::QUICK_BITS | abi::QUICK_BOTH,
        Op::Or64 => OR,
        Op::Xor64 => XOR,
        _ => return None,
    })
}

/// Of what a tile loads before its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ask {
    buffer: u16,
    /// 0: the edge's number, 1: its source, 2: its destination.
    place: usize,
    wide: bool,
    row: u32,
}

/// The quick code of a wave over the edges out of `frontier`, if all of its words have one. `rows`: the kernel's rows
/// with the one that keeps the item, `item_row`. `pushes`: whether it may push to this other frontier.
pub(crate) fn of_kernel(
    kernel: &Kernel,
    rows: u32,
    item_row: u32,
    frontier: u16,
    pushes: impl Fn(u16) -> bool,
) -> Option<Quick> {
    let push = |to: u16| (to == frontier || pushes(to)).then_some(to == frontier);
    // Where the file has no room for what is loaded before, nothing is.
    [true, false]
        .into_iter()
        .find_map(|asks| translated(kernel, (rows, item_row), &push, asks))
}

fn translated(
    kernel: &Kernel,
    (rows, item_row): (u32, u32),
    push: &dyn Fn(u16) -> Option<bool>,
    asks: bool,
) -> Option<Quick> {
    let mut file = Rows {
        kernel,
        next: rows,
        fills: Vec::new(),
        dynamic: Vec::new(),
        known: Vec::new(),
        round: 0,
    };
    // The round, with a high half of zero, and what nobody reads.
    file.round = file.take(2);
    file.fills
        .extend([(file.round + 1) | (fill::LITERAL << 8), 0]);
    let unused = file.take(2);
    // A round plus a literal is made when the round begins, and copied.
    let mut next = (unused, 0);
    let is_round = |byte: u8| {
        (UNIFORM_BASE..IMM).contains(&byte)
            && kernel.uniforms[usize::from(byte - UNIFORM_BASE)] == Uniform::Round
    };
    if let Some(word) = kernel.code.iter().find(|w| adds_to_round(w, is_round)) {
        next = (file.take(1), word.imm);
    }
    let asks = if asks {
        asked_before(kernel, &mut file)
    } else {
        Vec::new()
    };
    let lay_out = |asks: &[Ask], file: &mut Rows<'_>, before: usize| {
        let made = |w: &Word| (adds_to_round(w, is_round) && w.imm == next.1).then_some(next.0);
        let steps = steps_of(kernel, (file, unused), asks, &made, push)?;
        Some(words_of(improved(steps, file), before))
    };
    let quick = lay_out(&asks, &mut file, SLOTS)?;
    let plain = if asks.is_empty() {
        Vec::new()
    } else {
        lay_out(&[], &mut file, SLOTS + quick.len())?
    };
    let mut code = vec![QuickWord::default(); SLOTS];
    let mut free = [0, 2];
    for slot in &mut code {
        slot.words[1] = unused * 128;
        slot.buffer = asks.first().map(|a| (0, a.buffer));
    }
    for ask in &asks {
        let at = &mut free[usize::from(ask.place == 2)];
        let edge = if ask.place == 0 { abi::SLOT_EDGE } else { 0 };
        code[*at].words[1] = (ask.row * 128) | abi::SLOT_USED | edge;
        code[*at].buffer = Some((0, ask.buffer));
        *at += 1;
    }
    let begins = SLOTS as u32;
    let plain_at = if plain.is_empty() {
        begins
    } else {
        begins + quick.len() as u32
    };
    code.extend(quick);
    code.extend(plain);
    // One is fetched after the last.
    code.push(QuickWord::default());
    let place = |row: Option<u8>| row.map_or(unused, u32::from);
    let item = kernel.item;
    let rows = file.next;
    let mut fills = file.fills;
    fills.extend(&file.dynamic);
    (rows <= ROWS).then_some(Quick {
        begins,
        plain: plain_at,
        slots: asks.first().map_or(0, |a| 1 + u32::from(a.wide)),
        code,
        rows,
        fills,
        dynamic: file.dynamic.len() as u32 / 2,
        round: file.round,
        next,
        item: [
            place(item.index),
            place(item.src),
            place(item.dst),
            if item_row == NONE { unused } else { item_row },
        ],
    })
}

/// Where a load gets its element from, if it is one whose place and element are known when the tile begins: it is an
/// item's own number, and no word before it changes that or the buffer.
fn known_place(kernel: &Kernel, pc: usize) -> Option<(u16, usize, bool)> {
    let word = &kernel.code[pc];
    let wide = match op(word) {
        Op::Ld32 | Op::AtomLd32 => false,
        Op::Ld64 | Op::AtomLd64 => true,
        _ => return None,
    };
    let item = [kernel.item.index, kernel.item.src, kernel.item.dst];
    let place = item.iter().position(|&row| row == Some(word.a))?;
    let changes = |before: &Word| {
        let row = op(before).row();
        let stores = matches!(row.imm, Imm::Resource(kind) | Imm::ResourceThird(kind) if is_buffer(kind))
            && !matches!(
                op(before),
                Op::Ld8 | Op::Ld32 | Op::Ld64 | Op::AtomLd32 | Op::AtomLd64
            );
        writes(before).has(word.a) || stores && before.resource() == word.resource()
    };
    (!kernel.code[..pc].iter().any(changes)).then_some((word.resource(), place, wide))
}

/// What a tile of this kernel loads before its first word: elements of one width.
fn asked_before(kernel: &Kernel, file: &mut Rows<'_>) -> Vec<Ask> {
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
fn adds_to_round(word: &Word, is_round: impl Fn(u8) -> bool) -> bool {
    op(word) == Op::Add32 && word.b == IMM && is_round(word.a)
}

/// The words of a kernel, one by one. `unused`: a row that nobody reads; `made`: the row that has a word's result
/// already.
fn steps_of(
    kernel: &Kernel,
    (file, unused): (&mut Rows<'_>, u32),
    asks: &[Ask],
    made: &dyn Fn(&Word) -> Option<u32>,
    push: &dyn Fn(u16) -> Option<bool>,
) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut depth = 0usize;
    let mut pc = 0;
    while pc < kernel.code.len() {
        let word = &kernel.code[pc];
        let op = op(word);
        let row = op.row();
        let a = file.source(row.a, word.a, word.imm);
        let b = file.source(row.b, word.b, word.imm);
        let d = if word.d == IMM { unused } else { word.d.into() };
        let base = Step {
            d,
            a,
            b,
            ..Step::new(Does::EndIf, pc)
        };
        let compute = |bits, d, a, b| Step {
            d,
            a,
            b,
            ..Step::new(Does::Computes(bits), pc)
        };
        let copy = |d, a| compute(COPY, d, a, a);
        let asked = known_place(kernel, pc).and_then(|(buffer, place, wide)| {
            asks.iter()
                .find(|x| (x.buffer, x.place, x.wide) == (buffer, place, wide))
        });
        if let Some(row) = made(word) {
            steps.push(copy(d, row));
        } else if let Some(ask) = asked {
            steps.push(copy(d, ask.row));
            if ask.wide {
                steps.push(copy(d + 1, ask.row + 1));
            }
        } else if let Some(bits) = computes(op) {
            let b = if row.b == Slot::N { a } else { b };
            steps.push(compute(bits, d, a, b));
        } else if let Some(bits) = of_halves(op) {
            let b = if row.b == Slot::N { a } else { b };
            let low = compute(bits, d, a, b);
            let high = compute(bits, d + 1, a + 1, b + 1);
            if d != a + 1 && d != b + 1 {
                steps.extend([low, high]);
            } else if d + 1 != a && d + 1 != b {
                steps.extend([high, low]);
            } else {
                let kept = file.take(1);
                steps.extend([compute(bits, kept, a, b), high, copy(d, kept)]);
            }
        } else {
            match op {
                Op::LdU32 => steps.push(copy(d, file.uniform(word.imm, false))),
                Op::LdU64 => {
                    let from = file.uniform(word.imm, true);
                    steps.extend([copy(d, from), copy(d + 1, from + 1)]);
                }
                Op::Zext64 => {
                    let zero = file.literal(0);
                    steps.extend([copy(d, a), copy(d + 1, zero)]);
                }
                Op::Eq64 | Op::Ne64 => {
                    let zero = file.literal(0);
                    let is_zero = |row| file.holds(row, 0) && file.holds(row + 1, 0);
                    let bits = computes(if op == Op::Eq64 { Op::Eq32 } else { Op::Ne32 })?;
                    if is_zero(b) || is_zero(a) {
                        let of = if is_zero(b) { a } else { b };
                        let any = file.take(1);
                        steps.push(compute(OR, any, of, of + 1));
                        steps.push(compute(bits, d, any, zero));
                    } else {
                        let low = file.take(2);
                        steps.push(compute(XOR, low, a, b));
                        steps.push(compute(XOR, low + 1, a + 1, b + 1));
                        steps.push(compute(OR, low, low, low + 1));
                        steps.push(compute(bits, d, low, zero));
                    }
                }
                op if COMPUTED.contains(&op) => steps.push(Step {
                    does: Does::Op(op, 0, None),
                    ..base
                }),
                Op::Sel32 => steps.push(Step {
                    does: Does::Op(op, 0, None),
                    c: file.source(row.b, word.third(), 0),
                    ..base
                }),
                op if ELEMENTS.contains(&op) => steps.push(Step {
                    does: Does::Op(op, 0, Some(word.resource())),
                    ..base
                }),
                Op::AtomCas32 => steps.push(Step {
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
                        steps.push(Step {
                            a,
                            b: file.source(Slot::W, inner.a, inner.imm),
                            ..Step::new(Does::Push(pushed(to, own)), pc + 1)
                        });
                        pc += 3;
                        continue;
                    }
                    depth += 1;
                    steps.push(Step {
                        does: Does::If(word.imm),
                        ..base
                    });
                }
                Op::Else => steps.push(Step {
                    does: Does::Else(word.imm),
                    ..base
                }),
                Op::EndIf => {
                    depth -= 1;
                    steps.push(base);
                }
                Op::Push => {
                    let to = word.resource();
                    let own = push(to)?;
                    steps.push(Step {
                        a: file.literal(1),
                        b: a,
                        ..Step::new(Does::Push(pushed(to, own)), pc)
                    });
                }
                Op::Ret if depth == 0 => {
                    steps.push(Step::new(Does::End, pc));
                    // Nothing comes after it.
                    if pc + 1 != kernel.code.len() {
                        return None;
                    }
                }
                Op::Ret => steps.push(Step::new(Does::Return, pc)),
                _ => return None,
            }
        }
        if depth > DEPTH {
            return None;
        }
        pc += 1;
    }
    Some(steps)
}

/// The immediate of a push.
fn pushed(to: u16, own: bool) -> u32 {
    u32::from(to) << 16 | if own { abi::QUICK_OWN } else { 0 }
}

/// For every step, whether somebody may read a row of `of` after it.
fn live_after(steps: &[Step]) -> Vec<u64> {
    let bit = |row: u32| 1u64.checked_shl(row).unwrap_or(0);
    let mut after = vec![0; steps.len()];
    let (mut live, mut ends, mut elses) = (0u64, Vec::new(), Vec::new());
    for (i, step) in steps.iter().enumerate().rev() {
        match step.does {
            Does::EndIf => {
                ends.push(live);
                elses.push(live);
            }
            Does::Else(_) => {
                *elses.last_mut().expect("an else has an end") = live;
                live = *ends.last().expect("an else has an end");
            }
            Does::If(_) => {
                live |= elses.pop().expect("an if has an end");
                ends.pop();
            }
            Does::Return => live = 0,
            _ => {}
        }
        after[i] = live;
        for row in step.writes() {
            live &= !bit(row);
        }
        for row in step.reads() {
            live |= bit(row);
        }
    }
    after
}

/// The same with operands named by where they come from, complements and tests taken into the word that needs them, and
/// without what nobody reads then.
fn improved(mut steps: Vec<Step>, file: &Rows<'_>) -> Vec<Step> {
    // More rows than a word of bits: they do not fit anyway.
    if file.next > ROWS {
        return steps;
    }
    // What a row holds, in terms of others: a copy, a complement, or whether a row is not 0.
    #[derive(Clone, Copy, PartialEq)]
    enum Is {
        Copy(u32),
        Complement(u32),
        Some(u32),
    }
    let mut known: Vec<(u32, Is)> = Vec::new();
    for step in &mut steps {
        if step.joins() {
            known.clear();
            continue;
        }
        let find = |known: &[(u32, Is)], row: u32| known.iter().find(|k| k.0 == row).map(|k| k.1);
        let copied = |known: &[(u32, Is)], row: u32| match find(known, row) {
            Some(Is::Copy(of)) => of,
            _ => row,
        };
        match step.does {
            Does::Computes(bits) => {
                step.a = copied(&known, step.a);
                step.b = copied(&known, step.b);
                if bits == abi::QUICK_BITS | abi::QUICK_BOTH && step.a != step.b {
                    if let Some(Is::Complement(_)) = find(&known, step.a) {
                        std::mem::swap(&mut step.a, &mut step.b);
                    }
                    if let Some(Is::Complement(of)) = find(&known, step.b) {
                        step.b = of;
                        step.does = Does::Computes(bits | abi::QUICK_FLIP);
                    }
                }
            }
            Does::Push(_) | Does::If(_) => {
                step.a = copied(&known, step.a);
                step.b = copied(&known, step.b);
                if let Some(Is::Some(of)) = find(&known, step.a) {
                    step.a = of;
                }
            }
            Does::Op(op, ..) => {
                let row = op.row();
                let narrow = |slot: Slot| matches!(slot, Slot::W | Slot::OptW);
                if narrow(row.a) {
                    step.a = copied(&known, step.a);
                }
                if narrow(row.b) {
                    step.b = copied(&known, step.b);
                    if matches!(row.imm, Imm::Third | Imm::ResourceThird(_)) {
                        step.c = copied(&known, step.c);
                    }
                }
            }
            _ => {}
        }
        let written = step.writes();
        known.retain(|&(row, is)| {
            let (Is::Copy(of) | Is::Complement(of) | Is::Some(of)) = is;
            !written.contains(&row) && !written.contains(&of)
        });
        if let Does::Computes(bits) = step.does
            && !step.reads().contains(&step.d)
        {
            let is = match bits {
                COPY if step.a == step.b => Some(Is::Copy(step.a)),
                XOR if file.holds(step.b, !0) => Some(Is::Complement(step.a)),
                XOR if file.holds(step.a, !0) => Some(Is::Complement(step.b)),
                NOT_SAME if file.holds(step.b, 0) => Some(Is::Some(step.a)),
                _ => None,
            };
            known.extend(is.map(|is| (step.d, is)));
        }
    }
    take_complements_in(&mut steps, file);
    loop {
        let after = live_after(&steps);
        let before = steps.len();
        let mut i = 0;
        steps.retain(|step| {
            let live = step.writes().any(|row| after[i] >> row & 1 != 0);
            i += 1;
            live || !step.is_pure()
        });
        if steps.len() == before {
            return steps;
        }
    }
}

/// Drops the complements of a row in its own place where all that read it can take it in.
fn take_complements_in(steps: &mut Vec<Step>, file: &Rows<'_>) {
    let mut i = 0;
    while i < steps.len() {
        let Step { does, d, a, b, .. } = steps[i];
        i += 1;
        if does != Does::Computes(XOR) || a != d || b == d || !file.holds(b, !0) {
            continue;
        }
        let mut readers = Vec::new();
        // How far its value goes, if that is known.
        let mut ends = false;
        for (at, step) in steps.iter().enumerate().skip(i) {
            if step.reads().contains(&d) {
                let takes = step.does == Does::Computes(COPY) && step.a != step.b;
                if !takes {
                    break;
                }
                readers.push(at);
            }
            if step.writes().contains(&d) || step.does == Does::End {
                ends = true;
                break;
            }
            if step.joins() || matches!(step.does, Does::If(_) | Does::Return) {
                ends = live_after(steps)[at] >> d & 1 == 0;
                break;
            }
        }
        if ends {
            for at in readers {
                let step = &mut steps[at];
                if step.a == d {
                    std::mem::swap(&mut step.a, &mut step.b);
                }
                step.does = Does::Computes(COPY | abi::QUICK_FLIP);
            }
            steps.remove(i - 1);
            i -= 1;
        }
    }
}

/// The words of these steps, which come after `before` others.
fn words_of(mut steps: Vec<Step>, before: usize) -> Vec<QuickWord> {
    let mut after = live_after(&steps);
    // Items come together once more where nothing is left to do.
    while let [.., end, last] = steps[..]
        && (end.does, last.does) == (Does::EndIf, Does::End)
    {
        after.remove(steps.len() - 2);
        steps.remove(steps.len() - 2);
    }
    // Which word a step becomes, and where a pc is.
    let fused = |i: usize| {
        i > 0
            && matches!(steps[i].does, Does::If(_))
            && matches!(steps[i - 1].does, Does::Computes(_))
            && steps[i - 1].d == steps[i].a
    };
    let mut at = Vec::new();
    let mut words = before;
    for i in 0..steps.len() {
        if !fused(i) {
            words += 1;
        }
        at.push(words - 1);
    }
    let place = |pc: u32| {
        let found = steps.iter().position(|s| s.joins() && s.pc == pc);
        at[found.unwrap_or(steps.len() - 1)] as u32
    };
    let mut out: Vec<QuickWord> = Vec::new();
    let mut handed = None;
    for (i, step) in steps.iter().enumerate() {
        if fused(i) {
            let Does::If(to) = step.does else {
                unreachable!("only an if is fused")
            };
            let word = out.last_mut().expect("a word computes what is asked");
            word.words[0] |= abi::QUICK_IF;
            word.words[2] |= place(to) << 16;
            continue;
        }
        let mut flags = 0;
        let (mut a, mut b, mut d, mut buffer) = (step.a, step.b, step.d, None);
        let mut third = step.c * 128;
        let (code, imm) = match step.does {
            Does::Computes(bits) => (0, bits),
            Does::Op(op, imm, of) => {
                buffer = of.map(|of| (3, of));
                (u32::from(op as u8), imm)
            }
            Does::If(to) => {
                flags |= abi::QUICK_IF | abi::QUICK_DROPS;
                (b, d) = (a, 0);
                third = place(to);
                (0, COPY)
            }
            Does::Else(to) => {
                third = place(to);
                (u32::from(Op::Else as u8), 0)
            }
            Does::EndIf => (u32::from(Op::EndIf as u8), 0),
            Does::Return => (abi::QUICK_RETURN, 0),
            Does::Push(imm) => {
                let last = matches!(steps.get(i + 1), Some(s) if s.does == Does::End);
                (
                    abi::QUICK_PUSH,
                    imm | if last { abi::QUICK_LAST } else { 0 },
                )
            }
            Does::End => (u32::from(Op::Ret as u8), 0),
        };
        if matches!(step.does, Does::Computes(_) | Does::If(_)) {
            flags |= abi::QUICK_COMPUTES;
        }
        let reads = step.reads();
        if reads.is_empty() {
            (a, b) = (0, 0);
        }
        if let Some(row) = handed {
            let second = match step.does {
                Does::Computes(_) | Does::If(_) | Does::Push(_) => true,
                Does::Op(op, ..) => op.row().b != Slot::N,
                _ => false,
            };
            if !reads.is_empty() && a == row {
                flags |= abi::QUICK_HANDED_A;
            }
            if second && b == row {
                flags |= abi::QUICK_HANDED_B;
            }
        }
        let written = step.writes();
        handed = (written.len() == 1).then_some(d);
        if step.is_wide() {
            flags |= abi::QUICK_WIDE;
        }
        // Who asks in the same word reads no row.
        let last = i + usize::from(i + 1 < steps.len() && fused(i + 1));
        if written.is_empty() || written.clone().all(|row| after[last] >> row & 1 == 0) {
            flags |= abi::QUICK_DROPS;
        }
        if written.is_empty() {
            d = 0;
        }
        if let Some(Step {
            does: Does::Push(_),
            a,
            ..
        }) = steps.get(i + 1)
            && handed == Some(*a)
        {
            flags |= abi::QUICK_DECIDES;
        }
        if buffer.is_some() {
            flags |= abi::QUICK_PLACED;
        }
        out.push(QuickWord {
            words: [
                code | flags | step.pc << 16,
                (a * 128) | ((b * 128) << 16),
                (d * 128) | (third << 16),
                imm,
            ],
            buffer,
        });
    }
    out
}

/// Names buffers by where their entries are in shared memory, once that is known.
pub(crate) fn place(code: &mut [QuickWord], buffers: u32) {
    for word in code {
        if let Some((at, buffer)) = word.buffer {
            word.words[usize::from(at)] =
                buffers + u32::from(buffer) * size_of::<abi::Buffer>() as u32;
        }
    }
}

fn is_buffer(kind: vyre_core::vir0::isa::Kind) -> bool {
    use vyre_core::vir0::isa::Kind;
    matches!(
        kind,
        Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) | Kind::Buffer
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbor_loop::words::word_of as word;
    use vyre_core::vir0::module::{ConstantId, ItemRows};

    fn of(op: Op) -> u32 {
        op as u32
    }

    /// `if dist[e.dst].compare_exchange(UNSEEN, round + 1) { front.push(e.dst) }`, then `tail`: dst is in row 0,
    /// frontier 3 is swept, `dist` is buffer 7, uniform 0 is the round and uniform 1 a constant.
    fn search(tail: &[Word]) -> Kernel {
        let round = UNIFORM_BASE;
        let mut code = vec![
            word(of(Op::Add32), 1, round, IMM, 1),
            word(of(Op::AtomCas32), 2, 0, round + 1, 7 << 16 | 1),
            word(of(Op::If), 0, 2, 0, 4),
            word(of(Op::Push), 0, 0, 0, 3 << 16),
            word(of(Op::EndIf), 0, 0, 0, 0),
        ];
        code.extend_from_slice(tail);
        code.push(word(of(Op::Ret), 0, 0, 0, 0));
        Kernel {
            name: "search".into(),
            code,
            rows: 3,
            frames: 2,
            item: ItemRows {
                dst: Some(0),
                ..ItemRows::default()
            },
            uniforms: vec![Uniform::Round, Uniform::Constant(ConstantId(0))],
            sites: vec![],
        }
    }

    /// One line a word: what it does, with flags; `r`: rows.
    fn shown(quick: &Quick) -> Vec<String> {
        let row = |x: u32| format!("r{}", (x & 0xffff) / 128);
        let mut out = Vec::new();
        for word in &quick.code[..SLOTS] {
            let [_, to, ..] = word.words;
            if to & abi::SLOT_USED != 0 {
                let buffer = word.buffer.unwrap().1;
                let from = if to & abi::SLOT_EDGE != 0 {
                    " edge"
                } else {
                    ""
                };
                out.push(format!("{} <- {buffer}{from}", row(to)));
            }
        }
        for word in &quick.code[SLOTS..quick.code.len() - 1] {
            let [head, from, to, imm] = word.words;
            let mut text = format!("{}: ", head >> 16);
            if head & abi::QUICK_COMPUTES != 0 {
                text += &match imm {
                    COPY if from & 0xffff == from >> 16 => "copy".to_owned(),
                    COPY => "and".to_owned(),
                    0 => "add".to_owned(),
                    abi::QUICK_FLIP => "sub".to_owned(),
                    XOR => "xor".to_owned(),
                    OR => "or".to_owned(),
                    bits if bits == COPY | abi::QUICK_FLIP => "andn".to_owned(),
                    bits => format!("bits {bits:#x}"),
                };
            } else {
                text += &match head & 255 {
                    abi::QUICK_PUSH => format!("push {}", imm >> 16),
                    abi::QUICK_RETURN => "return".to_owned(),
                    op => format!("{:?}", Op::from_code(op as u8).unwrap()),
                };
            }
            text += &format!(" {} {} {}", row(to), row(from), row(from >> 16));
            for (flag, name) in [
                (abi::QUICK_HANDED_A, "a"),
                (abi::QUICK_HANDED_B, "b"),
                (abi::QUICK_DROPS, "drops"),
                (abi::QUICK_WIDE, "wide"),
                (abi::QUICK_DECIDES, "decides"),
            ] {
                if head & flag != 0 {
                    text = text + " " + name;
                }
            }
            if head & abi::QUICK_IF != 0 {
                text += &format!(" if else {}", to >> 16);
            }
            if head & 255 == abi::QUICK_PUSH && imm & abi::QUICK_LAST != 0 {
                text += " last";
            }
            out.push(text);
        }
        out
    }

    /// The relaxation of near-far shortest paths: index in row 0, source in 1, destination in 2; buffers 5 (weights)
    /// and 6.
    fn near_far() -> Kernel {
        let (nearest, width) = (UNIFORM_BASE, UNIFORM_BASE + 1);
        let dist = 6 << 16;
        Kernel {
            name: "relax".into(),
            code: vec![
                word(of(Op::AtomLd32), 1, 1, 0, dist),
                word(of(Op::Ld32), 0, 0, 0, 5 << 16),
                word(of(Op::Sub32), 3, IMM, 1, u32::MAX),
                word(of(Op::LtU32), 3, 0, 3, 0),
                word(of(Op::If), 0, 3, 0, 21),
                word(of(Op::Add32), 0, 1, 0, 0),
                word(of(Op::AtomLd32), 1, 2, 0, dist),
                word(of(Op::LtU32), 1, 0, 1, 0),
                word(of(Op::If), 0, 1, 0, 20),
                word(of(Op::AtomMinU32), 1, 2, 0, dist),
                word(of(Op::LtU32), 1, 0, 1, 0),
                word(of(Op::If), 0, 1, 0, 19),
                word(of(Op::Sub32), 0, 0, nearest, 0),
                word(of(Op::LtU32), 0, 0, width, 0),
                word(of(Op::If), 0, 0, 0, 16),
                word(of(Op::Push), 0, 2, 0, 3 << 16),
                word(of(Op::Else), 0, 0, 0, 18),
                word(of(Op::Push), 0, 2, 0, 4 << 16),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::Ret), 0, 0, 0, 0),
            ],
            rows: 4,
            frames: 8,
            item: ItemRows {
                index: Some(0),
                src: Some(1),
                dst: Some(2),
                ..ItemRows::default()
            },
            uniforms: vec![
                Uniform::Constant(ConstantId(0)),
                Uniform::Constant(ConstantId(1)),
            ],
            sites: vec![],
        }
    }

    /// Liveness: source in row 0, destination in 4; buffers 7 (definitions) and 8 (sets).
    fn flow() -> Kernel {
        let (defs, live) = (7 << 16, 8 << 16);
        Kernel {
            name: "flow".into(),
            code: vec![
                word(of(Op::AtomLd64), 0, 0, 0, live),
                word(of(Op::Ld64), 2, 4, 0, defs),
                word(of(Op::Xor64), 2, 2, IMM, u32::MAX),
                word(of(Op::And64), 0, 0, 2, 0),
                word(of(Op::AtomLd64), 2, 4, 0, live),
                word(of(Op::Xor64), 2, 2, IMM, u32::MAX),
                word(of(Op::And64), 2, 0, 2, 0),
                word(of(Op::Ne64), 2, 2, IMM, 0),
                word(of(Op::If), 0, 2, 0, 16),
                word(of(Op::AtomOr64), 2, 4, 0, live),
                word(of(Op::Xor64), 2, 2, IMM, u32::MAX),
                word(of(Op::And64), 0, 0, 2, 0),
                word(of(Op::Ne64), 0, 0, IMM, 0),
                word(of(Op::If), 0, 0, 0, 15),
                word(of(Op::Push), 0, 4, 0, 3 << 16),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::EndIf), 0, 0, 0, 0),
                word(of(Op::Ret), 0, 0, 0, 0),
            ],
            rows: 5,
            frames: 4,
            item: ItemRows {
                src: Some(0),
                dst: Some(4),
                ..ItemRows::default()
            },
            uniforms: vec![],
            sites: vec![],
        }
    }

    /// Buffers of a test: a buffer that nobody wrote to has an element for every index.
    #[derive(Clone, Default, Debug, PartialEq)]
    struct Memory {
        written: std::collections::BTreeMap<(u16, u32), u64>,
        pushed: Vec<(u16, u32)>,
    }

    impl Memory {
        fn load(&self, buffer: u16, i: u32) -> u64 {
            let made = u64::from(i ^ u32::from(buffer)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Few different values, so that they compare equal at times.
            let made = made >> 60 | (made >> 30 & 7) << 32;
            *self.written.get(&(buffer, i)).unwrap_or(&made)
        }

        /// What an access of an element gives.
        fn access(&mut self, op: Op, (buffer, i): (u16, u32), b: u64, c: u32) -> u64 {
            let old = self.load(buffer, i);
            let narrow = op.row().b == Slot::W || op.row().d == Slot::W;
            let (new, gives) = match op {
                Op::Ld32 | Op::AtomLd32 | Op::Ld64 | Op::AtomLd64 => return old,
                Op::St32 | Op::AtomSt64 => (b, 0),
                Op::AtomAdd32 => (old.wrapping_add(b), old),
                Op::AtomMinU32 => (u64::from((old as u32).min(b as u32)), old),
                Op::AtomOr64 => (old | b, old),
                Op::AtomCas32 => {
                    let same = old as u32 == b as u32;
                    (if same { c.into() } else { old }, same.into())
                }
                _ => unreachable!("tests use no other"),
            };
            let new = if narrow { u64::from(new as u32) } else { new };
            self.written.insert((buffer, i), new);
            gives
        }
    }

    fn arithmetic(op: Op, a: u64, b: u64) -> u64 {
        let (x, y) = (a as u32, b as u32);
        let narrow = |x: u32| u64::from(x);
        let holds = |x: bool| u64::from(x);
        match op {
            Op::Mov32 | Op::Wrap32 | Op::Zext64 => narrow(x),
            Op::Add32 => narrow(x.wrapping_add(y)),
            Op::Sub32 => narrow(x.wrapping_sub(y)),
            Op::Mul32 => narrow(x.wrapping_mul(y)),
            Op::MinU32 => narrow(x.min(y)),
            Op::MaxU32 => narrow(x.max(y)),
            Op::MinI32 => narrow((x as i32).min(y as i32) as u32),
            Op::MaxI32 => narrow((x as i32).max(y as i32) as u32),
            Op::And32 => narrow(x & y),
            Op::Or32 => narrow(x | y),
            Op::Xor32 => narrow(x ^ y),
            Op::Eq32 => holds(x == y),
            Op::Ne32 => holds(x != y),
            Op::LtU32 => holds(x < y),
            Op::LeU32 => holds(x <= y),
            Op::LtI32 => holds((x as i32) < y as i32),
            Op::LeI32 => holds(x as i32 <= y as i32),
            Op::Mov64 => a,
            Op::Add64 => a.wrapping_add(b),
            Op::And64 => a & b,
            Op::Or64 => a | b,
            Op::Xor64 => a ^ b,
            Op::Eq64 => holds(a == b),
            Op::Ne64 => holds(a != b),
            Op::LtU64 => holds(a < b),
            _ => unreachable!("tests use no other"),
        }
    }

    fn pair(rows: &[u32], row: usize) -> u64 {
        u64::from(rows[row]) | u64::from(rows[row + 1]) << 32
    }

    fn put(rows: &mut [u32], slot: Slot, row: usize, x: u64) {
        rows[row] = x as u32;
        if matches!(slot, Slot::D | Slot::OptD) {
            rows[row + 1] = (x >> 32) as u32;
        }
    }

    const ITEM: [u32; 3] = [11, 12, 13];
    const ROUND: u32 = 6;

    /// Runs a kernel's code as the program means it.
    fn meant(kernel: &Kernel) -> Memory {
        let mut memory = Memory::default();
        let mut rows = vec![0; 64];
        rows[..3].copy_from_slice(&ITEM);
        let mut pc = 0;
        loop {
            let word = &kernel.code[pc];
            let (op, row) = (op(word), op(word).row());
            let source = |slot: Slot, byte: u8| match (slot, byte) {
                (Slot::N, _) => 0,
                (Slot::W | Slot::OptW, IMM) => word.imm.into(),
                (_, IMM) => i64::from(word.imm as i32) as u64,
                (_, UNIFORM_BASE..) => ROUND.into(),
                (Slot::W | Slot::OptW, byte) => rows[usize::from(byte)].into(),
                (_, byte) => pair(&rows, byte.into()),
            };
            let (a, b) = (source(row.a, word.a), source(row.b, word.b));
            pc += 1;
            match op {
                Op::Ret => return memory,
                Op::If if a == 0 => {
                    pc = word.imm as usize;
                    pc += usize::from(self::op(&kernel.code[pc]) == Op::Else);
                }
                Op::If | Op::EndIf => {}
                // Reached from the first branch.
                Op::Else => pc = word.imm as usize,
                Op::Push => memory.pushed.push((word.resource(), a as u32)),
                _ => {
                    let x = if let Imm::Resource(_) | Imm::ResourceThird(_) = row.imm {
                        let third = rows[usize::from(word.third()) % 64];
                        memory.access(op, (word.resource(), a as u32), b, third)
                    } else {
                        arithmetic(op, a, b)
                    };
                    if row.d != Slot::N && word.d != IMM {
                        put(&mut rows, row.d, word.d.into(), x);
                    }
                }
            }
        }
    }

    /// Runs quick code as the device does, for one item; `plain`: nothing is loaded before the first word.
    fn done(quick: &Quick, plain: bool) -> Memory {
        let mut memory = Memory::default();
        let mut rows = vec![0u32; 80];
        for fill in quick.fills.chunks(2) {
            assert_eq!(fill[0] >> 8, fill::LITERAL);
            rows[(fill[0] & 255) as usize] = fill[1];
        }
        rows[quick.round as usize] = ROUND;
        rows[quick.next.0 as usize] = ROUND.wrapping_add(quick.next.1);
        for (at, value) in [0, 3, 1, 2]
            .into_iter()
            .zip([ITEM[0], ITEM[0], ITEM[1], ITEM[2]])
        {
            rows[quick.item[at] as usize] = value;
        }
        let mut at = quick.begins;
        if plain {
            at = quick.plain;
        } else {
            for (i, slot) in quick.code[..SLOTS].iter().enumerate() {
                let flags = slot.words[1];
                if flags & abi::SLOT_USED == 0 {
                    continue;
                }
                let place = match i {
                    0 | 1 => usize::from(flags & abi::SLOT_EDGE == 0),
                    _ => 2,
                };
                let x = memory.load(slot.buffer.unwrap().1, ITEM[place]);
                let wide = if quick.slots == 2 { Slot::D } else { Slot::W };
                put(&mut rows, wide, (flags & 0xffff) as usize / 128, x);
            }
        }
        let (mut alive, mut mask, mut stack) = (true, true, Vec::new());
        let mut handed = 0u32;
        loop {
            let word = quick.code[at as usize];
            let [head, from, to, imm] = word.words;
            let [a, b] = [from & 0xffff, from >> 16].map(|x| x as usize / 128);
            let (d, third) = ((to & 0xffff) as usize / 128, to >> 16);
            let x = if head & abi::QUICK_HANDED_A != 0 {
                handed
            } else {
                rows[a]
            };
            let y = if head & abi::QUICK_HANDED_B != 0 {
                handed
            } else {
                rows[b]
            };
            at += 1;
            let mut result = x;
            if head & abi::QUICK_COMPUTES != 0 {
                let sign = imm & abi::QUICK_SIGNED;
                let z = if imm & abi::QUICK_FLIP != 0 { !y } else { y };
                let both = if imm & abi::QUICK_BOTH != 0 { x & z } else { 0 };
                let odd = if imm & abi::QUICK_ODD != 0 { x ^ z } else { 0 };
                let order = (x ^ sign).cmp(&(y ^ sign)) as i32 + 1;
                let holds = imm >> order & 1;
                result = match () {
                    () if imm & abi::QUICK_COMPARES != 0 && imm & abi::QUICK_PICKS != 0 => {
                        if holds != 0 { x } else { y }
                    }
                    () if imm & abi::QUICK_COMPARES != 0 => holds,
                    () if imm & abi::QUICK_BITS != 0 => both | odd,
                    () => x
                        .wrapping_add(z)
                        .wrapping_add(u32::from(imm & abi::QUICK_FLIP != 0)),
                };
            } else {
                match head & 255 {
                    abi::QUICK_PUSH => {
                        if mask && x != 0 {
                            memory.pushed.push(((imm >> 16) as u16, y));
                        }
                        if imm & abi::QUICK_LAST != 0 {
                            return memory;
                        }
                        continue;
                    }
                    abi::QUICK_RETURN => {
                        alive &= !mask;
                        mask = false;
                        continue;
                    }
                    code => match Op::from_code(code as u8).unwrap() {
                        Op::Ret => return memory,
                        Op::Else => {
                            let level: &mut (bool, bool) = stack.last_mut().unwrap();
                            mask = level.1 && alive;
                            level.1 = false;
                            if !mask {
                                at = third;
                            }
                            continue;
                        }
                        Op::EndIf => {
                            mask = stack.pop().unwrap().0 && alive;
                            continue;
                        }
                        op if mask => {
                            let row = op.row();
                            let wide = |slot: Slot, low: u32, at: usize| match slot {
                                Slot::D | Slot::OptD => {
                                    u64::from(low) | u64::from(rows[at + 1]) << 32
                                }
                                _ => low.into(),
                            };
                            let (a, b) = (wide(row.a, x, a), wide(row.b, y, b));
                            let x = match word.buffer {
                                Some((_, buffer)) => {
                                    let third = rows[third as usize / 128];
                                    memory.access(op, (buffer, a as u32), b, third)
                                }
                                None => arithmetic(op, a, b),
                            };
                            if head & abi::QUICK_WIDE != 0 {
                                put(&mut rows, Slot::D, d, x);
                                continue;
                            }
                            result = x as u32;
                        }
                        _ => {}
                    },
                }
            }
            if mask && head & abi::QUICK_DROPS == 0 {
                rows[d] = result;
            }
            handed = result;
            if head & abi::QUICK_IF != 0 {
                stack.push((mask, mask && result == 0));
                mask &= result != 0;
                if !mask {
                    at = third;
                }
            }
        }
    }

    /// Code at random: what computes, accesses and pushes, in nested branches.
    fn grown(random: &mut impl FnMut(u32) -> u32, code: &mut Vec<Word>, depth: u32) {
        for _ in 0..1 + random(6) {
            let row = |random: &mut dyn FnMut(u32) -> u32| random(8) as u8;
            let wide = |random: &mut dyn FnMut(u32) -> u32| random(7) as u8;
            match random(14) {
                0..=4 => {
                    let ops = [
                        Op::Add32,
                        Op::Sub32,
                        Op::Mul32,
                        Op::MinU32,
                        Op::MaxU32,
                        Op::MinI32,
                        Op::MaxI32,
                        Op::And32,
                        Op::Or32,
                        Op::Xor32,
                        Op::Eq32,
                        Op::Ne32,
                        Op::LtU32,
                        Op::LeU32,
                        Op::LtI32,
                        Op::LeI32,
                    ];
                    let op = ops[random(16) as usize];
                    let literal = [0, 1, u32::MAX, 5][random(4) as usize];
                    let (d, a) = (
                        row(random),
                        [row(random), UNIFORM_BASE][usize::from(random(6) == 0)],
                    );
                    match random(2) {
                        0 => code.push(word(of(op), d, a, IMM, literal)),
                        _ => code.push(word(of(op), d, a, row(random), 0)),
                    }
                }
                5..=6 => {
                    let op = [Op::And64, Op::Or64, Op::Xor64, Op::Add64][random(4) as usize];
                    let literal = [0, 1, u32::MAX][random(3) as usize];
                    let (d, a) = (wide(random), wide(random));
                    match random(2) {
                        0 => code.push(word(of(op), d, a, IMM, literal)),
                        _ => code.push(word(of(op), d, a, wide(random), 0)),
                    }
                }
                7 => {
                    let op = [Op::Eq64, Op::Ne64, Op::LtU64][random(3) as usize];
                    let (d, a) = (row(random), wide(random));
                    match random(2) {
                        0 => code.push(word(of(op), d, a, IMM, 0)),
                        _ => code.push(word(of(op), d, a, wide(random), 0)),
                    }
                }
                8 => match random(3) {
                    0 => code.push(word(of(Op::Mov32), row(random), row(random), 0, 0)),
                    1 => code.push(word(of(Op::Mov64), wide(random), wide(random), 0, 0)),
                    _ => code.push(word(of(Op::Zext64), wide(random), row(random), 0, 0)),
                },
                9..=10 => {
                    let (op, buffer) = [
                        (Op::Ld32, 1),
                        (Op::AtomLd32, 2),
                        (Op::Ld64, 3),
                        (Op::AtomLd64, 4),
                    ][random(4) as usize];
                    let d = if buffer > 2 {
                        wide(random)
                    } else {
                        row(random)
                    };
                    // Mostly of the item.
                    let a = if random(3) == 0 {
                        row(random)
                    } else {
                        random(3) as u8
                    };
                    code.push(word(of(op), d, a, 0, buffer << 16));
                }
                11 => match random(4) {
                    0 => code.push(word(of(Op::St32), 0, row(random), row(random), 2 << 16)),
                    1 => code.push(word(
                        of(Op::AtomMinU32),
                        row(random),
                        row(random),
                        row(random),
                        2 << 16,
                    )),
                    2 => code.push(word(
                        of(Op::AtomOr64),
                        wide(random),
                        row(random),
                        wide(random),
                        4 << 16,
                    )),
                    _ => {
                        let third = u32::from(row(random));
                        code.push(word(
                            of(Op::AtomCas32),
                            row(random),
                            row(random),
                            row(random),
                            2 << 16 | third,
                        ));
                    }
                },
                12 => code.push(word(of(Op::Push), 0, row(random), 0, 3 << 16)),
                _ if depth < 4 => {
                    let begins = code.len();
                    code.push(word(of(Op::If), 0, row(random), 0, 0));
                    match random(3) {
                        0 => code.push(word(of(Op::Push), 0, row(random), 0, 4 << 16)),
                        _ => grown(random, code, depth + 1),
                    }
                    code[begins].imm = code.len() as u32;
                    if random(2) == 0 {
                        let middle = code.len();
                        code.push(word(of(Op::Else), 0, 0, 0, 0));
                        grown(random, code, depth + 1);
                        code[middle].imm = code.len() as u32;
                    }
                    code.push(word(of(Op::EndIf), 0, 0, 0, 0));
                }
                _ if depth > 0 => code.push(word(of(Op::Ret), 0, 0, 0, 0)),
                _ => {}
            }
        }
    }

    #[test]
    fn quick_code_does_what_the_program_means() {
        let (mut state, mut taken) = (0x1234_5678_9abc_def1u64, [0; 3]);
        let mut random = |below: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32 % below
        };
        for _ in 0..20_000 {
            let mut code = Vec::new();
            grown(&mut random, &mut code, 0);
            code.push(word(of(Op::Ret), 0, 0, 0, 0));
            let kernel = Kernel {
                name: "random".into(),
                code,
                rows: 8,
                frames: 16,
                item: ItemRows {
                    index: Some(0),
                    src: Some(1),
                    dst: Some(2),
                    ..ItemRows::default()
                },
                uniforms: vec![Uniform::Round],
                sites: vec![],
            };
            let Some(quick) = of_kernel(&kernel, 9, 8, 3, |f| f == 4) else {
                continue;
            };
            taken[quick.slots as usize] += 1;
            let expected = meant(&kernel);
            let about = || format!("{:#?}\n{:#?}", kernel.code, shown(&quick));
            assert_eq!(expected, done(&quick, false), "{}", about());
            assert_eq!(expected, done(&quick, true), "plain: {}", about());
        }
        // Without loads before the first word, with narrow ones, with wide ones.
        assert!(taken.iter().all(|&n| n > 1_000), "{taken:?}");
    }

    /// The first words of a kernel's quick code, with its frontier 3; it may push to 4.
    fn begins(kernel: &Kernel, words: usize) -> (Quick, Vec<String>) {
        let rows = u32::from(kernel.rows);
        let quick = of_kernel(kernel, rows + 1, rows, 3, |f| f == 4).unwrap();
        let shown = shown(&quick).into_iter().take(words).collect();
        (quick, shown)
    }

    #[test]
    fn a_search_is_an_exchange_and_a_push() {
        let (mut quick, shown) = begins(&search(&[]), 9);
        // Rows: three of registers, the item's, the round with its high half, two that nobody reads, the round plus 1,
        // the literal that it was plus, the constant.
        assert_eq!((quick.rows, quick.round, quick.dynamic), (11, 4, 0));
        let literal = |row: u32, x: u32| [row | fill::LITERAL << 8, x];
        let low = |row: u32, slot: u32| [row | fill::LOW << 8, slot];
        assert_eq!(
            quick.fills,
            [literal(5, 0), literal(9, 1), low(10, 1)].concat()
        );
        // The sum is there when the round begins.
        assert_eq!((quick.next, quick.item), ((8, 1), [6, 6, 0, 3]));
        assert_eq!((quick.slots, quick.begins, quick.plain), (0, 4, 4));
        let expected = [
            "1: AtomCas32 r2 r0 r10 decides",
            "3: push 3 r0 r2 r0 a drops last",
            "5: Ret r0 r0 r0 drops",
        ];
        assert_eq!(shown, expected);
        place(&mut quick.code, 1024);
        let entry = 1024 + 7 * size_of::<abi::Buffer>() as u32;
        let flags = abi::QUICK_DECIDES | abi::QUICK_PLACED;
        let exchange = [
            of(Op::AtomCas32) | flags | 1 << 16,
            (10 * 128) << 16,
            (2 * 128) | ((8 * 128) << 16),
            entry,
        ];
        assert_eq!(quick.code[4].words, exchange);
        let push = 3 << 16 | abi::QUICK_OWN | abi::QUICK_LAST;
        assert_eq!(quick.code[5].words[3], push);
    }

    #[test]
    fn loads_come_first_and_tests_go_with_what_they_test() {
        let expected = [
            "r9 <- 6",
            "r10 <- 5 edge",
            "r11 <- 6",
            "2: sub r3 r12 r9",
            "3: bits 0x11 r3 r10 r3 b drops if else 15",
            "5: add r0 r9 r10",
            "7: bits 0x11 r1 r0 r11 a drops if else 15",
            "9: AtomMinU32 r1 r2 r0",
            "10: bits 0x11 r1 r0 r1 b drops if else 15",
            "12: sub r0 r0 r13",
            "13: bits 0x11 r0 r0 r14 a drops if else 13",
            "15: push 3 r0 r15 r2 drops",
            "16: Else r0 r0 r0 drops",
            "17: push 4 r0 r15 r2 drops last",
            "22: Ret r0 r0 r0 drops",
        ];
        let (quick, shown) = begins(&near_far(), expected.len());
        assert_eq!(shown, expected);
        assert_eq!((quick.slots, quick.begins, quick.plain), (1, 4, 16));
    }

    #[test]
    fn sets_of_64_bits_are_words_of_halves() {
        let expected = [
            "r10 <- 8",
            "r12 <- 7",
            "r14 <- 8",
            "3: andn r0 r10 r12",
            "3: andn r1 r11 r13",
            "6: andn r2 r0 r14",
            "6: andn r3 r1 r15",
            "7: or r21 r2 r3 b drops if else 14",
            "9: AtomOr64 r2 r4 r0 wide",
            "11: andn r0 r0 r2",
            "11: andn r1 r1 r3",
            "12: or r22 r0 r1 b decides",
            "14: push 3 r0 r22 r4 a drops last",
            "17: Ret r0 r0 r0 drops",
        ];
        let (quick, shown) = begins(&flow(), expected.len());
        assert_eq!(shown, expected);
        assert_eq!((quick.slots, quick.begins, quick.plain), (2, 4, 15));
    }

    #[test]
    fn what_has_no_quick_word_stays_in_the_interpreter() {
        let none = |tail: &[Word]| of_kernel(&search(tail), 4, 3, 3, |other| other == 4).is_none();
        assert!(none(&[word(of(Op::DivU32), 1, 1, 0, 0)]));
        assert!(none(&[word(of(Op::Loop), 0, 0, 0, 9)]));
        // Pushes to other frontiers, where the caller does not know that they cannot overflow.
        assert!(none(&[word(of(Op::Push), 0, 0, 0, 5 << 16)]));
        assert!(!none(&[word(of(Op::Push), 0, 0, 0, 4 << 16)]));
    }
}
