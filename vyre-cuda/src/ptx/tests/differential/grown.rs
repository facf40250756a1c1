//! Random kernels with nested blocks, faults, pushes and local arrays.

use super::*;
use arbtest::arbitrary::{Result as Arbitrary, Unstructured};

/// Grows a kernel. Row 0 is the item's number, rows 1 to 6 have 32 bits, 8, 10 and 12 are pairs, 14 to 19 a local array,
/// 20 and 21 hold conditions and slots, 22 and the next count turns, 28 and the pair 30 are floats.
struct Grower<'u, 'a> {
    u: &'u mut Unstructured<'a>,
    code: Vec<Word>,
    loops: u8,
    budget: u32,
    /// Only what has a thread form: pushes at this number of places more, no loops, arrays, lists and reductions.
    pushes: Option<u8>,
}

impl Grower<'_, '_> {
    fn row32(&mut self) -> Arbitrary<u8> {
        self.u.int_in_range(1..=6)
    }
    fn source32(&mut self) -> Arbitrary<u8> {
        let any = self.u.int_in_range(0..=8)?;
        Ok(match any {
            7 => UNIFORM_BASE,
            8 if self.pushes.is_none() => 14 + self.u.int_in_range(0..=5)?,
            8 => 1,
            row => row,
        })
    }
    fn row64(&mut self) -> Arbitrary<u8> {
        Ok(8 + 2 * self.u.int_in_range(0..=2)?)
    }
    fn put(&mut self, op: Op, d: u8, a: u8, b: u8, imm: u32) {
        self.code.push(word(op, d, a, b, imm));
    }

    fn block(&mut self, depth: u32) -> Arbitrary<()> {
        for _ in 0..self.u.int_in_range(1..=5)? {
            if self.budget == 0 {
                return Ok(());
            }
            self.budget -= 1;
            self.statement(depth)?;
        }
        Ok(())
    }

    fn statement(&mut self, depth: u32) -> Arbitrary<()> {
        let (x, y) = (self.row32()?, self.row64()?);
        let (a, b) = (self.source32()?, self.source32()?);
        let z = self.row64()?;
        match self.u.int_in_range(0..=30)? {
            17 | 20 | 21 | 25 if let Some(left) = self.pushes => {
                if left > 0 {
                    self.pushes = Some(left - 1);
                    self.put(Op::RemU32, 20, a, IMM, 131);
                    self.put(Op::Push, 0, 20, 0, 0);
                }
            }
            0..=3 => {
                let of = [
                    Op::Add32,
                    Op::Sub32,
                    Op::Mul32,
                    Op::Xor32,
                    Op::MinI32,
                    Op::Shl32,
                    Op::LtU32,
                    Op::Rotl32,
                ];
                let op = *self.u.choose(&of)?;
                self.put(op, x, a, b, 0);
            }
            4 | 5 => {
                let of = [
                    Op::Add64,
                    Op::Sub64,
                    Op::Mul64,
                    Op::Xor64,
                    Op::MaxU64,
                    Op::And64,
                ];
                let op = *self.u.choose(&of)?;
                self.put(op, y, z, y, 0);
            }
            6 => self.put(Op::Zext64, y, a, 0, 0),
            7 => self.put(Op::Wrap32, x, z, 0, 0),
            // Half of a pair on its own: the pair is taken apart.
            8 if self.u.ratio(1, 3)? => self.put(Op::Add32, 13, a, b, 0),
            8 | 9 => {
                let bound = if self.u.ratio(1, 9)? { 255 } else { 127 };
                self.put(Op::And32, 20, a, IMM, bound);
                self.put(Op::Ld32, x, 20, 0, READ32 << 16);
            }
            10 => {
                self.put(Op::And32, 20, a, IMM, 127);
                self.put(Op::Ld64, y, 20, 0, READ64 << 16);
            }
            11 => {
                let op = *self.u.choose(&[Op::St32, Op::AtomSt32])?;
                self.put(op, 0, 0, x, OWN32 << 16);
            }
            12 => {
                let op = *self.u.choose(&[
                    Op::AtomAdd32,
                    Op::AtomMinU32,
                    Op::AtomMaxI32,
                    Op::AtomOr32,
                    Op::AtomSwap32,
                ])?;
                let d = if self.u.arbitrary()? { IMM } else { x };
                self.put(op, d, 0, b.min(14), OWN32 << 16);
            }
            13 => {
                let op = *self.u.choose(&[
                    Op::AtomAdd64,
                    Op::AtomMinI64,
                    Op::AtomOr64,
                    Op::AtomXor64,
                ])?;
                let d = if self.u.arbitrary()? { IMM } else { y };
                self.put(op, d, 0, z, OWN64 << 16);
            }
            14 => {
                let (op, wide) = *self
                    .u
                    .choose(&[(Op::AtomCas32, false), (Op::AtomCas64, true)])?;
                match wide {
                    true => self.put(op, x, 0, y, OWN64 << 16 | u32::from(z)),
                    false => self.put(op, x, 0, x, OWN32 << 16 | u32::from(a.min(14))),
                }
            }
            15 => self.put(Op::St64, 0, 0, y, OWN64 << 16),
            16 => {
                self.put(Op::St8, 0, 0, x, OWN8 << 16);
                self.put(Op::Ld8, x, 0, 0, OWN8 << 16);
            }
            17 => {
                let bound = if self.u.ratio(1, 9)? { 7 } else { 6 };
                self.put(Op::RemU32, 20, a, IMM, bound);
                match self.u.int_in_range(0..=3)? {
                    0 => self.put(Op::RowLd32, x, 20, 0, 6 << 8 | 14),
                    1 => self.put(Op::RowSt32, 0, 20, x, 6 << 8 | 14),
                    2 => self.put(Op::RowFill32, 0, x, 0, 6 << 8 | 14),
                    _ => {
                        self.put(Op::RemU32, 20, 20, IMM, 3);
                        self.put(Op::RowSt64, 0, 20, y, 3 << 8 | 14);
                        self.put(Op::RowLd64, z, 20, 0, 3 << 8 | 14);
                    }
                }
            }
            18 => {
                let op = *self.u.choose(&[Op::DivU32, Op::RemI32, Op::DivI32])?;
                if self.u.ratio(5, 6)? {
                    self.put(Op::Or32, 20, b, IMM, 1);
                    self.put(op, x, a, 20, 0);
                } else {
                    self.put(op, x, a, b, 0);
                }
            }
            19 => {
                let bound = if self.u.ratio(1, 9)? { 140 } else { 130 };
                self.put(Op::RemU32, 20, a, IMM, bound);
                match self.u.int_in_range(0..=3)? {
                    0 => self.put(Op::CsrBegin, x, 20, 0, 0),
                    1 => self.put(Op::CsrEnd, x, 20, 0, 0),
                    2 => self.put(Op::CsrTarget, x, 20, 0, 0),
                    _ if self.pushes.is_some() => {}
                    _ => self.put(Op::Push, 0, 20, 0, 0),
                }
            }
            20 => {
                self.put(Op::Append, 21, 0, 0, 0);
                self.put(Op::ListSt8, 0, 21, x, 0);
                self.put(Op::ListSt32, 0, 21, x, 1);
                self.put(Op::ListSt64, 0, 21, y, 2);
            }
            21 => match self.u.arbitrary()? {
                true => self.put(Op::Reduce64, 0, y, 0, 0),
                false => self.put(Op::Reduce32, 0, x, 0, 1 << 16),
            },
            22 => {
                let op = *self.u.choose(&[Op::Assert, Op::Check])?;
                match op {
                    Op::Assert => {
                        self.put(Op::Ne32, 20, a, IMM, 3);
                        self.put(op, 0, 20, 0, 4);
                    }
                    _ => {
                        self.put(Op::And32, 20, a, IMM, 0x3ff);
                        self.put(op, 0, 20, IMM, 1000);
                    }
                }
            }
            23 | 24 if depth < 4 => {
                let at = self.code.len();
                self.put(Op::And32, 20, a, IMM, 1);
                self.put(Op::If, 0, 20, 0, 0);
                self.block(depth + 1)?;
                let mut opened = at + 1;
                if self.u.arbitrary()? {
                    self.code[opened].imm = self.code.len() as u32;
                    opened = self.code.len();
                    self.put(Op::Else, 0, 0, 0, 0);
                    self.block(depth + 1)?;
                }
                self.code[opened].imm = self.code.len() as u32;
                self.put(Op::EndIf, 0, 0, 0, 0);
            }
            25 if depth < 4 => {
                let counter = 22 + self.loops;
                self.loops += 1;
                self.put(Op::Mov32, counter, IMM, 0, 0);
                let at = self.code.len();
                self.put(Op::Loop, 0, 0, 0, 0);
                self.put(Op::Add32, counter, counter, IMM, 1);
                self.put(Op::And32, 20, a, IMM, 3);
                self.put(Op::LtU32, 20, 20, counter, 0);
                self.put(Op::BreakIf, 0, 20, 0, 0);
                // The bound may move away with a row.
                self.put(Op::LtU32, 20, counter, IMM, 6);
                self.put(Op::BreakUnless, 0, 20, 0, 0);
                self.block(depth + 1)?;
                self.code[at].imm = self.code.len() as u32 + 1;
                self.put(Op::EndLoop, 0, 0, 0, at as u32);
                self.loops -= 1;
            }
            26 if self.loops > 0 => {
                let out = u32::from(self.u.int_in_range(0..=self.loops - 1)?);
                self.put(Op::And32, 20, a, IMM, 5);
                self.put(Op::If, 0, 20, 0, self.code.len() as u32 + 2);
                let op = *self.u.choose(&[Op::Break, Op::Continue, Op::Continue])?;
                self.put(op, 0, 0, 0, out);
                self.put(Op::EndIf, 0, 0, 0, 0);
            }
            28 => self.floats32([x, a, b])?,
            29 => self.floats64([x, y, z])?,
            // Turns that can be counted, unless something inside leaves the loop.
            30 if depth < 4 && self.pushes.is_none() => {
                let counter = 22 + self.loops;
                self.loops += 1;
                self.put(Op::Mov32, counter, IMM, 0, 0);
                let at = self.code.len();
                let turns = self.u.int_in_range(0..=4)?;
                self.put(Op::Loop, 0, 0, 0, 0);
                self.put(Op::LtU32, 20, counter, IMM, turns);
                self.put(Op::BreakUnless, 0, 20, 0, 0);
                self.put(Op::Add32, x, x, counter, 0);
                self.put(Op::Add32, counter, counter, IMM, 1);
                self.block(depth + 1)?;
                self.code[at].imm = self.code.len() as u32 + 1;
                self.put(Op::EndLoop, 0, 0, 0, at as u32);
                self.loops -= 1;
            }
            27 if depth > 0 => {
                let leaves = self.u.arbitrary()?;
                self.put(Op::And32, 20, a, IMM, 7);
                let end = self.code.len() as u32 + 1 + u32::from(leaves);
                self.put(Op::If, 0, 20, 0, end);
                if leaves {
                    self.put(Op::Ret, 0, 0, 0, 0);
                }
                self.put(Op::EndIf, 0, 0, 0, 0);
            }
            _ => {
                let p = self.source32()?;
                self.put(Op::Ne32, 20, p, IMM, 0);
                self.put(Op::Sel32, x, 20, a, b.min(14).into());
                self.put(Op::Sel64, y, 20, z, y.into());
            }
        }
        Ok(())
    }

    /// Of any bits. What is kept is an integer or a truth value: the bits of a NaN are never kept.
    fn floats32(&mut self, [x, a, b]: [u8; 3]) -> Arbitrary<()> {
        let of = [
            Op::AddF32,
            Op::SubF32,
            Op::MulF32,
            Op::DivF32,
            Op::MinF32,
            Op::MaxF32,
            Op::FmaF32,
            Op::SqrtF32,
            Op::FloorF32,
            Op::RoundF32,
        ];
        let op = *self.u.choose(&of)?;
        let third = if op == Op::FmaF32 { x } else { 0 };
        let b_or_none = if op.row().b == Slot::N { 0 } else { b };
        self.put(op, 28, a, b_or_none, third.into());
        match self.u.int_in_range(0..=2)? {
            0 => self.put(Op::I32FromF32, x, 28, 0, 0),
            1 => self.put(Op::U32FromF32, x, 28, 0, 0),
            _ => self.put(Op::LtF32, x, 28, b, 0),
        }
        Ok(())
    }

    /// The same of pairs.
    fn floats64(&mut self, [x, y, z]: [u8; 3]) -> Arbitrary<()> {
        let of = [
            Op::AddF64,
            Op::SubF64,
            Op::MulF64,
            Op::DivF64,
            Op::MinF64,
            Op::MaxF64,
            Op::SqrtF64,
            Op::TruncF64,
        ];
        let op = *self.u.choose(&of)?;
        let z_or_none = if op.row().b == Slot::N { 0 } else { z };
        self.put(op, 30, y, z_or_none, 0);
        match self.u.int_in_range(0..=2)? {
            0 => self.put(Op::I64FromF64, y, 30, 0, 0),
            1 => self.put(Op::F32FromF64, 28, 30, 0, 0),
            _ => self.put(Op::LeF64, x, 30, z, 0),
        }
        Ok(())
    }
}

fn kernel(u: &mut Unstructured<'_>, pushes: Option<u8>) -> Arbitrary<Program> {
    let mut grower = Grower {
        u,
        code: Vec::new(),
        loops: 0,
        budget: 24,
        pushes,
    };
    for row in 1..=7 {
        let imm = grower.u.arbitrary::<u16>()?;
        grower.put(Op::Mul32, row, 0, IMM, imm.into());
    }
    for row in [8, 10, 12] {
        grower.put(Op::Sext64, row, row - 7, 0, 0);
    }
    match pushes {
        None => grower.put(Op::RowFill32, 0, 1, 0, 6 << 8 | 14),
        Some(_) => grower.put(Op::Mov32, 14, 1, 0, 0),
    }
    for row in 20..=31 {
        grower.put(Op::Mov32, row, IMM, 0, 0);
    }
    grower.block(0)?;
    grower.block(0)?;
    grower.put(Op::St64, 0, 0, 8, MORE64 << 16);
    for row in 1..=6 {
        grower.put(Op::AtomAdd32, IMM, 0, row, OWN32 << 16);
    }
    grower.put(Op::AtomXor64, IMM, 0, 10, OWN64 << 16);
    grower.put(Op::AtomAdd64, IMM, 0, 12, OWN64 << 16);
    grower.put(Op::Ret, 0, 0, 0, 0);
    let code = grower.code;
    let mut program = of_kernel(code, 32);
    program.constants = vec![vyre_core::vir0::module::Constant {
        scalar: Scalar::U32,
        bits: 77,
    }];
    program.kernels[0].uniforms = vec![Uniform::Constant(vyre_core::vir0::module::ConstantId(0))];
    Ok(program)
}

/// Bytes to draw a kernel from.
fn drawn(state: &mut u64) -> Vec<u8> {
    let mut next = || {
        *state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2du64)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (*state ^ *state >> 29).to_le_bytes()
    };
    (0..256).flat_map(|_| next()).collect()
}

fn asked_for() -> u64 {
    let asked = std::env::var("VYRE_FUZZ").ok();
    asked.map_or(150, |n| n.parse().expect("VYRE_FUZZ is a number"))
}

#[test]
fn random_kernels_in_thread_form_do_what_they_mean() {
    let (mut state, mut compared, mut trapped, mut pushed) = (11u64, 0, 0, 0);
    for case in 0..asked_for() {
        let bytes = drawn(&mut state);
        let Ok(program) = kernel(&mut Unstructured::new(&bytes), Some(3)) else {
            continue;
        };
        let given = buffers(&program, |_, _| interesting(&mut state));
        let body = thread::body(&program, &layout(&program), 0).expect("it has no loop");
        let count = 32 - case as u32 % 5;
        let meant = meant(&program, 0, count, &given);
        let made = emulated_in_thread_form(&program, count, &given, &body);
        compared += 1;
        trapped += u64::from(meant.trap.is_some());
        pushed += u64::from(!meant.pushed.is_empty() && meant.trap.is_none());
        // What a lane pushed before its fault does not matter: the run has no result then.
        let (made, meant) = match meant.trap {
            Some(_) => (with_no_pushes(made), with_no_pushes(meant)),
            None => (made, meant),
        };
        assert_eq!(
            made, meant,
            "case {case}: {:?}\n{}",
            program.kernels[0].code, body.text
        );
    }
    assert!(
        10 * trapped > compared && 2 * trapped < compared,
        "{trapped} of {compared}"
    );
    assert!(10 * pushed > compared, "{pushed} of {compared}");
}

fn with_no_pushes(effects: Effects) -> Effects {
    Effects {
        pushed: vec![],
        ..effects
    }
}

#[test]
fn random_kernels_do_what_they_mean() {
    let cases = asked_for();
    let (mut state, mut compared, mut trapped) = (7u64, 0, 0);
    for case in 0..cases {
        let bytes = drawn(&mut state);
        let Ok(program) = kernel(&mut Unstructured::new(&bytes), None) else {
            continue;
        };
        let given = buffers(&program, |_, _| interesting(&mut state));
        let wide = layout(&program).kernels[0].k;
        for items in [SWEEP, 1, wide] {
            let count = match items {
                // A tile of one item a lane, a full one, one and a part.
                SWEEP => [27, 32, 33, 128, 130][case as usize % 5],
                _ => 32 * items - case as u32 % 5,
            };
            let meant = meant(&program, 0, count, &given);
            if meant.pushed.len().max(meant.appended.len()) > ROOM as usize {
                continue;
            }
            let made = emulated(&program, 0, items, count, &given);
            compared += 1;
            trapped += u64::from(meant.trap.is_some());
            assert_eq!(
                made, meant,
                "case {case}, {items} items a lane: {:?}",
                program.kernels[0].code
            );
        }
    }
    // Few draw too many numbers, or push too much; a part traps, and most do not.
    assert!(
        compared > cases && 3 * trapped < 2 * compared && 20 * trapped > compared,
        "{trapped} of {compared}"
    );
    println!("{compared} tiles and sweeps, of which {trapped} trap");
}
