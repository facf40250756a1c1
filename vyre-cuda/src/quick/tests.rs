use super::draft::{COPY, OR, XOR};
use super::*;
use crate::neighbor_loop::words::word_of as word;
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{Imm, Op, Slot};
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

/// Buffers of a test: a buffer that was not written to has an element for every index.
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
                            Slot::D | Slot::OptD => u64::from(low) | u64::from(rows[at + 1]) << 32,
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
    // Rows: three of registers, the item's, the round with its high half, two that are never read, the round plus 1,
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
