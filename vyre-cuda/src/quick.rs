//! Code of narrow rounds: a wave's code translated so that one warp gets through it in few instructions.
//!
//! Every operand becomes a row of one file, which holds registers, uniforms and literals alike; a conditional push is one
//! word; what a uniform load gives is an operand. Words keep their places, so that a trap names the pc of the program.

use crate::abi::{self, NONE, fill};
use crate::lift::{op, writes};
use vyre_core::isa::{IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::module::{Kernel, Uniform};

/// Quick code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quick {
    pub(crate) code: Vec<Word>,
    /// The first word to run.
    pub(crate) begins: u32,
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

/// Deepest nesting: a lane keeps two bits a level.
const DEPTH: usize = 16;

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

    fn uniform(&mut self, slot: u32, wide: bool) -> u32 {
        if self.kernel.uniforms[slot as usize] == Uniform::Round {
            return self.round;
        }
        self.constant(fill::LOW, slot, wide)
    }

    fn source(&mut self, slot: Slot, byte: u8, imm: u32) -> u8 {
        let wide = matches!(slot, Slot::D | Slot::OptD);
        let row = match byte {
            _ if slot == Slot::N => 0,
            IMM => self.constant(fill::LITERAL, imm, wide),
            UNIFORM_BASE.. => self.uniform(u32::from(byte - UNIFORM_BASE), wide),
            row => row.into(),
        };
        row.min(255) as u8
    }
}

/// The quick code of a wave over the edges out of `frontier`, if all of its words have one. `rows`: the kernel's rows with
/// the one that keeps the item, `item_row`. `pushes`: whether it may push to this other frontier.
pub(crate) fn of_kernel(
    kernel: &Kernel,
    rows: u32,
    item_row: u32,
    frontier: u16,
    pushes: impl Fn(u16) -> bool,
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
    // A round plus a literal that a kernel begins with is made when the round begins.
    let mut next = (unused, 0);
    let mut code = Vec::new();
    let mut depth = 0;
    for (pc, word) in kernel.code.iter().enumerate() {
        let op = op(word);
        let row = op.row();
        let mut quick = Word {
            d: if word.d == IMM { unused as u8 } else { word.d },
            a: file.source(row.a, word.a, word.imm),
            b: file.source(row.b, word.b, word.imm),
            ..*word
        };
        if row.imm == Imm::Literal {
            quick.imm = 0;
        }
        if pc == 0
            && op == Op::Add32
            && u32::from(quick.a) == file.round
            && word.b == IMM
            && !kernel.code[1..].iter().any(|w| writes(w, word.d))
        {
            next = (word.d.into(), word.imm);
        }
        let third = |file: &mut Rows<'_>| u32::from(file.source(row.b, word.third(), 0));
        match op {
            Op::LdU32 | Op::LdU64 => {
                let wide = op == Op::LdU64;
                quick.op = if wide { Op::Mov64 } else { Op::Mov32 } as u8;
                quick.a = file.uniform(word.imm, wide).min(255) as u8;
                quick.imm = 0;
            }
            Op::Mov32
            | Op::Add32
            | Op::Sub32
            | Op::Mul32
            | Op::MinU32
            | Op::MinI32
            | Op::MaxU32
            | Op::MaxI32
            | Op::And32
            | Op::Or32
            | Op::Xor32
            | Op::Shl32
            | Op::ShrU32
            | Op::Eq32
            | Op::Ne32
            | Op::LtU32
            | Op::LeU32
            | Op::LtI32
            | Op::LeI32
            | Op::AddF32
            | Op::SubF32
            | Op::MulF32
            | Op::LtF32
            | Op::LeF32
            | Op::Mov64
            | Op::Add64
            | Op::Sub64
            | Op::And64
            | Op::Or64
            | Op::Xor64
            | Op::Eq64
            | Op::Ne64
            | Op::LtU64
            | Op::LeU64
            | Op::Zext64
            | Op::Shl64
            | Op::ShrU64 => {}
            // The low row of a pair.
            Op::Wrap32 => quick.op = Op::Mov32 as u8,
            Op::Sel32 => quick.imm = third(&mut file),
            Op::Ld8
            | Op::Ld32
            | Op::AtomLd32
            | Op::AtomAdd32
            | Op::AtomAddF32
            | Op::AtomMinU32
            | Op::AtomMaxU32
            | Op::AtomOr32
            | Op::Ld64
            | Op::AtomLd64
            | Op::AtomAdd64
            | Op::AtomOr64
            | Op::AtomAnd64
            | Op::AtomMinU64
            | Op::AtomMaxU64
            | Op::St8
            | Op::St32
            | Op::AtomSt32
            | Op::St64
            | Op::AtomSt64 => {}
            Op::AtomCas32 => quick.imm = word.imm & !255 | third(&mut file),
            Op::If => {
                depth += 1;
                let [push, end] = kernel.code.get(pc + 1..pc + 3)? else {
                    return None;
                };
                let end = self::op(end);
                let to = push.resource();
                if self::op(push) == Op::Push && (to == frontier || pushes(to)) && end == Op::EndIf
                {
                    quick.op = abi::QUICK_PUSH as u8;
                    quick.b = file.source(Slot::W, push.a, push.imm);
                    quick.imm = 2 | flags(depth == 1 && ends(kernel, pc + 3), push);
                    quick.imm |= u32::from(to == frontier) * abi::QUICK_OWN;
                }
            }
            Op::Else => {}
            Op::EndIf => depth -= 1,
            Op::Push if word.resource() == frontier || pushes(word.resource()) => {
                quick.op = abi::QUICK_PUSH as u8;
                quick.b = quick.a;
                quick.a = file.constant(fill::LITERAL, 1, false).min(255) as u8;
                quick.imm = flags(depth == 0 && ends(kernel, pc + 1), word);
                quick.imm |= u32::from(word.resource() == frontier) * abi::QUICK_OWN;
            }
            Op::Ret if depth == 0 => {}
            Op::Ret => quick.op = abi::QUICK_RETURN as u8,
            _ => return None,
        }
        if depth > DEPTH {
            return None;
        }
        code.push(quick);
    }
    code.push(Word {
        op: Op::Ret as u8,
        ..Word::default()
    });
    let place = |row: Option<u8>| row.map_or(unused, u32::from);
    let item = kernel.item;
    let rows = file.next;
    // What is made when the round begins needs no word: the code begins after it.
    let begins = u32::from(next.0 != unused);
    let mut fills = file.fills;
    fills.extend(&file.dynamic);
    (rows <= 64).then_some(Quick {
        begins,
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

/// The immediate of a push: to which frontier, and whether the kernel ends there.
fn flags(last: bool, push: &Word) -> u32 {
    (u32::from(last) * abi::QUICK_LAST) | (u32::from(push.resource()) << 16)
}

/// Whether a kernel does nothing more from here.
fn ends(kernel: &Kernel, pc: usize) -> bool {
    kernel.code.get(pc).is_some_and(|w| op(w) == Op::Ret)
}

/// Names buffers by where their entries are in shared memory, once that is known.
pub(crate) fn place(code: &mut [Word], buffers: u32) {
    for word in &mut *code {
        let Some(op) = Op::from_code(word.op) else {
            continue;
        };
        if matches!(
            op.row().imm,
            Imm::Resource(kind) | Imm::ResourceThird(kind) if is_buffer(kind)
        ) {
            let entry = buffers + u32::from(word.resource()) * size_of::<abi::Buffer>() as u32;
            word.imm = entry << 8 | word.imm & 255;
        }
    }
    // A word whose result decides about a push says so: the push then follows without being looked up.
    for i in 1..code.len() {
        let push = code[i];
        let before = &mut code[i - 1];
        let decides = u32::from(push.op) == abi::QUICK_PUSH
            && push.a == before.d
            && Op::from_code(before.op)
                .is_some_and(|op| matches!(op.row().d, Slot::W | Slot::OptW));
        if decides {
            before.imm |= abi::QUICK_DECIDES;
        }
    }
}

fn is_buffer(kind: vyre_core::isa::Kind) -> bool {
    use vyre_core::isa::Kind;
    matches!(
        kind,
        Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) | Kind::Buffer
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use vyre_core::module::{ConstantId, ItemRows};

    fn word(op: u32, d: u8, a: u8, b: u8, imm: u32) -> Word {
        Word {
            op: op as u8,
            d,
            a,
            b,
            imm,
        }
    }

    fn of(op: Op) -> u32 {
        op as u32
    }

    /// `if dist[e.dst].compare_exchange(UNSEEN, round + 1) { front.push(e.dst) }`, then `tail`: dst is in row 0, frontier 3
    /// is swept, `dist` is buffer 7, uniform 0 is the round and uniform 1 a constant.
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

    #[test]
    fn a_search_is_an_exchange_and_a_push() {
        let mut quick = of_kernel(&search(&[]), 4, 3, 3, |_| false).unwrap();
        // Rows: three of registers, the item's, the round with its high half, two that nobody reads, the literal, the
        // constant.
        assert_eq!((quick.rows, quick.round, quick.dynamic), (10, 4, 0));
        let literal = |row: u32, x: u32| [row | fill::LITERAL << 8, x];
        let low = |row: u32, slot: u32| [row | fill::LOW << 8, slot];
        assert_eq!(
            quick.fills,
            [literal(5, 0), literal(8, 1), low(9, 1)].concat()
        );
        // The sum is there when the round begins.
        assert_eq!((quick.begins, quick.next), (1, (1, 1)));
        assert_eq!(quick.item, [6, 6, 0, 3]);
        place(&mut quick.code, 1024);
        let entry = (1024 + 7 * size_of::<abi::Buffer>() as u32) << 8;
        let push = 3 << 16 | abi::QUICK_OWN | abi::QUICK_LAST | 2;
        assert_eq!(
            quick.code[1..3],
            [
                word(of(Op::AtomCas32), 2, 0, 9, entry | 1 | abi::QUICK_DECIDES),
                word(abi::QUICK_PUSH, 0, 2, 0, push),
            ]
        );
        assert_eq!(quick.code.len(), 7);
    }

    #[test]
    fn a_push_that_more_follows_says_how_far() {
        let quick = of_kernel(
            &search(&[word(of(Op::Add32), 1, 1, IMM, 2)]),
            4,
            3,
            3,
            |_| false,
        );
        let quick = quick.unwrap();
        assert_eq!(quick.code[2].imm, 3 << 16 | abi::QUICK_OWN | 2);
        // The row of the sum changes later, so that it is made for each item.
        assert_eq!((quick.begins, quick.next), (0, (6, 0)));
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
