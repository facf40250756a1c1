//! Loops that can be shared out ([`find`]), with their turns in any order: what [`find`] says of them is tried on whatever
//! a test runs.
//!
//! Each turn finds the registers that the loop began with. What it takes into a cell, or sets a cell to, is put together
//! afterwards, as a device does that shares turns out among lanes. Every register that the loop writes and that is no
//! cell is then filled with random bits, for it may not be read.

use crate::memory::State;
use std::collections::BTreeMap;
use vyre_core::cpu::interp::Item;
use vyre_core::vir0::find::{Cell, Combine, Turns, loops};
use vyre_core::vir0::flow::{Rows, effect, writes};
use vyre_core::vir0::isa::{Effect, IMM, Op, UNIFORM_BASE, Word};
use vyre_core::vir0::meaning::{self, Memory, Next, step, value};
use vyre_core::vir0::module::{BufferId, Kernel, Program, Resource};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::Fault;

/// Registers, as the interpreter has them.
#[derive(Clone)]
struct Registers<'a> {
    file: [u32; 256],
    uniforms: &'a [u64],
}

impl meaning::State for Registers<'_> {
    fn get32(&self, operand: u8) -> u32 {
        self.file[usize::from(operand)]
    }
    fn get64(&self, operand: u8) -> u64 {
        match operand {
            IMM => self.file[usize::from(IMM)] as i32 as i64 as u64,
            UNIFORM_BASE.. => self.uniforms[usize::from(operand - UNIFORM_BASE)],
            row => {
                let [low, high] = [0, 1].map(|half| self.file[usize::from(row) + half]);
                u64::from(high) << 32 | u64::from(low)
            }
        }
    }
    fn set32(&mut self, operand: u8, value: u32) {
        self.file[usize::from(operand)] = value;
    }
    fn set64(&mut self, operand: u8, value: u64) {
        if operand != IMM {
            self.file[usize::from(operand)] = value as u32;
            self.file[usize::from(operand) + 1] = (value >> 32) as u32;
        }
    }
    fn uniform(&self, slot: u32) -> u64 {
        self.uniforms[slot as usize]
    }
}

/// How a stretch of code ends.
enum End {
    /// At its last word.
    Through,
    /// Behind the loop around it that is this number of loops out.
    Out(u32),
    /// With the next turn of a loop around it.
    Turn(u32),
    Done(u32),
}

/// A kernel, and its loops whose turns may go in any order.
pub(crate) struct Shuffler<'a> {
    kernel: &'a Kernel,
    shared: BTreeMap<usize, Turns>,
    registers: Registers<'a>,
}

impl<'a> Shuffler<'a> {
    pub(crate) fn new(
        program: &'a Program,
        kernel: &'a Kernel,
        uniforms: &'a [u64],
    ) -> Shuffler<'a> {
        let loops = loops(program, kernel).into_iter();
        let shared = loops.filter_map(|l| Some((l.at, l.turns.ok()?)));
        let shared = shared.filter(|(_, turns)| !turns.rounds).collect();
        let mut file = [0; 256];
        let direct = file[usize::from(UNIFORM_BASE)..usize::from(IMM)].iter_mut();
        direct
            .zip(uniforms)
            .for_each(|(row, &bits)| *row = bits as u32);
        Shuffler {
            kernel,
            shared,
            registers: Registers { file, uniforms },
        }
    }

    /// As the interpreter's function of that name.
    pub(crate) fn run_fields(
        &mut self,
        index: u32,
        fields: impl IntoIterator<Item = (Scalar, u64)>,
        memory: &mut State,
    ) -> Result<u32, Fault> {
        for (row, (scalar, bits)) in self.kernel.item.fields.iter().zip(fields) {
            match *row {
                Some(row) if scalar.rows() == 2 => {
                    meaning::State::set64(&mut self.registers, row, bits)
                }
                Some(row) => meaning::State::set32(&mut self.registers, row, bits as u32),
                None => {}
            }
        }
        self.run(Item::index(index), memory)
    }

    /// As the interpreter's function of that name.
    pub(crate) fn run(&mut self, item: Item, memory: &mut State) -> Result<u32, Fault> {
        let rows = self.kernel.item;
        let given = [
            (rows.index, item.index),
            (rows.src, item.src),
            (rows.dst, item.dst),
        ];
        for (row, value) in given {
            if let Some(row) = row {
                self.registers.file[usize::from(row)] = value;
            }
        }
        let mut registers = self.registers.clone();
        let end = self.through(0..self.kernel.code.len(), &mut registers, memory)?;
        self.registers = registers;
        match end {
            End::Done(value) => Ok(value),
            End::Through | End::Out(_) | End::Turn(_) => Ok(0),
        }
    }

    fn through(
        &self,
        range: std::ops::Range<usize>,
        registers: &mut Registers<'a>,
        memory: &mut State,
    ) -> Result<End, Fault> {
        let code = &self.kernel.code;
        let mut pc = range.start;
        while pc < range.end {
            let word = code[pc];
            registers.file[usize::from(IMM)] = word.imm;
            match step(word, pc as u32, registers, memory)? {
                Next::Following => {}
                Next::Behind(other) => pc = other as usize,
                Next::Inside => {
                    let end = word.imm as usize - 1;
                    let ended = match self.shared.get(&pc) {
                        Some(turns) => self.shared_out((pc, end), turns, registers, memory)?,
                        None => self.turns(pc + 1..end, registers, memory)?,
                    };
                    match ended {
                        End::Through => pc = end,
                        ended => return Ok(ended),
                    }
                }
                Next::Turn(out) => return Ok(End::Turn(out)),
                Next::Out(out) => return Ok(End::Out(out)),
                Next::Done(value) => return Ok(End::Done(value)),
            }
            pc += 1;
        }
        Ok(End::Through)
    }

    /// A loop whose turns come one after the other.
    fn turns(
        &self,
        body: std::ops::Range<usize>,
        registers: &mut Registers<'a>,
        memory: &mut State,
    ) -> Result<End, Fault> {
        let counts = self.kernel.code[body.start - 1].counts();
        loop {
            match self.through(body.clone(), registers, memory)? {
                End::Through | End::Turn(0) if memory.keep_going(counts) => {}
                End::Through | End::Turn(0) => return Ok(End::Done(0)),
                End::Turn(out) => return Ok(End::Turn(out - 1)),
                End::Out(0) => return Ok(End::Through),
                End::Out(out) => return Ok(End::Out(out - 1)),
                End::Done(value) => return Ok(End::Done(value)),
            }
        }
    }

    /// A loop whose turns come in any order.
    fn shared_out(
        &self,
        (at, end): (usize, usize),
        turns: &Turns,
        registers: &mut Registers<'a>,
        memory: &mut State,
    ) -> Result<End, Fault> {
        use meaning::State as _;
        registers.file[usize::from(IMM)] = turns.literal;
        let first = registers.get32(turns.number);
        let below = registers.get32(turns.below);
        let body = at + 3..end - 1;
        // A turn is tried on copies of all memory.
        if below.saturating_sub(first) > 64 || memory.elements() > 2_000 {
            return self.turns(at + 1..end, registers, memory);
        }
        let begin = registers.clone();
        let one = |turn: u32, registers: &mut Registers<'a>, memory: &mut State| {
            registers.file[usize::from(turns.number)] = turn;
            self.through(body.clone(), registers, memory)
        };
        // How many turns count, and which of them faults: each is tried on its own.
        let (mut numbers, mut fault) = (Vec::new(), None);
        for turn in first..below {
            numbers.push(turn);
            let kept = memory.keep();
            let (mut tried, ended) = (begin.clone(), memory.shuffle.clone());
            let result = one(turn, &mut tried, memory);
            memory.take_back(kept);
            memory.shuffle = ended;
            match result {
                Ok(End::Through) if memory.keep_going(false) => {}
                Ok(End::Through) => return Ok(End::Done(0)),
                Ok(_) => break,
                Err(faulted) => {
                    fault = Some(faulted);
                    break;
                }
            }
        }
        let mut order = numbers.clone();
        let random = memory.shuffle.as_mut().expect("it shuffles");
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u32 + 1) as usize);
        }
        let before: Vec<u64> = turns
            .cells
            .iter()
            .map(|c| self.cell((at, end), c.0, &begin, memory))
            .collect();
        // What each turn made of each cell: nothing where it did not set it.
        let mut made: BTreeMap<u32, Vec<Option<u64>>> = BTreeMap::new();
        for turn in order {
            let mut marked = [None, None];
            for (mark, which) in marked.iter_mut().zip([0u64, 1]) {
                let kept = memory.keep();
                let ended = memory.shuffle.clone();
                let mut own = begin.clone();
                for (i, &(cell, how)) in turns.cells.iter().enumerate() {
                    let nothing = match how {
                        Combine::Take(op) => identity(op),
                        Combine::Set | Combine::Last | Combine::Along(..) => before[i] ^ which,
                    };
                    self.set_cell((at, end), cell, nothing, &mut own, memory);
                }
                // Where a turn faults, all of its group's memory is undefined.
                let _ = one(turn, &mut own, memory);
                let after = turns
                    .cells
                    .iter()
                    .map(|c| self.cell((at, end), c.0, &own, memory));
                *mark = Some(after.collect::<Vec<u64>>());
                if which == 0 {
                    memory.take_back(kept);
                    memory.shuffle = ended;
                }
            }
            let [Some(zero), Some(one)] = marked else {
                unreachable!("both were made");
            };
            let set = zero.iter().zip(&one).zip(&turns.cells);
            let set = set.map(|((&a, &b), (_, how))| match how {
                Combine::Take(_) => Some(a),
                _ => (a == b).then_some(a),
            });
            made.insert(turn, set.collect());
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        *registers = begin;
        let mut after = before.clone();
        for (i, &(_, how)) in turns.cells.iter().enumerate() {
            let values = made.values().map(|of| of[i]);
            after[i] = match how {
                Combine::Take(op) => values.flatten().fold(before[i], |a, x| take(op, a, x)),
                Combine::Set | Combine::Last => values.flatten().last().unwrap_or(before[i]),
                Combine::Along(with, is_late) => {
                    let of = turns
                        .cells
                        .iter()
                        .position(|c| c.0 == with)
                        .expect("it is a cell");
                    let Combine::Take(op) = turns.cells[of].1 else {
                        unreachable!("values are taken into it");
                    };
                    let (mut best, mut value) = (before[of], before[i]);
                    for turn in made.values() {
                        let (Some(x), Some(own)) = (turn[of], turn[i]) else {
                            continue;
                        };
                        let better = take(op, best, x) == x && (is_late || x != best);
                        if better {
                            (best, value) = (x, own);
                        }
                    }
                    value
                }
            };
        }
        let written = self.kernel.code[at..end].iter();
        let written = written.fold(Rows::NONE, |rows, word| rows.or(writes(word)));
        for row in written.iter() {
            let random = memory.shuffle.as_mut().expect("it shuffles");
            registers.file[usize::from(row)] = random.bits() as u32;
        }
        for (&(cell, _), &value) in turns.cells.iter().zip(&after) {
            self.set_cell((at, end), cell, value, registers, memory);
        }
        Ok(End::Through)
    }

    /// The element that a cell is, where it is one.
    fn element(
        &self,
        (at, end): (usize, usize),
        buffer: BufferId,
        registers: &Registers<'_>,
    ) -> u32 {
        let of = |w: &&Word| {
            let plain = matches!(effect(w), Effect::Load | Effect::Store);
            plain && w.names() == Some(Resource::Buffer(buffer))
        };
        let word = self.kernel.code[at..end]
            .iter()
            .find(of)
            .expect("the loop accesses it");
        meaning::State::get32(registers, word.a)
    }

    fn cell(
        &self,
        of: (usize, usize),
        cell: Cell,
        registers: &Registers<'_>,
        memory: &mut State,
    ) -> u64 {
        match cell {
            Cell::Row(row) => meaning::State::get32(registers, row).into(),
            Cell::Pair(row) => meaning::State::get64(registers, row),
            // One that does not exist faults.
            Cell::Element(b) => memory
                .load64(b, self.element(of, b, registers))
                .unwrap_or(0),
        }
    }

    fn set_cell(
        &self,
        of: (usize, usize),
        cell: Cell,
        value: u64,
        registers: &mut Registers<'_>,
        memory: &mut State,
    ) {
        match cell {
            Cell::Row(row) => meaning::State::set32(registers, row, value as u32),
            Cell::Pair(row) => meaning::State::set64(registers, row, value),
            Cell::Element(b) => {
                let _none = memory.store64(b, self.element(of, b, registers), value);
            }
        }
    }
}

fn take(op: Op, a: u64, x: u64) -> u64 {
    value(op, [a, x, 0]).expect("it does not fault")
}

/// What changes nothing.
fn identity(op: Op) -> u64 {
    match op {
        Op::Add32 | Op::Or32 | Op::Xor32 | Op::MaxU32 => 0,
        Op::Add64 | Op::Or64 | Op::Xor64 | Op::MaxU64 => 0,
        Op::Mul32 | Op::Mul64 => 1,
        Op::And32 | Op::MinU32 => u32::MAX.into(),
        Op::And64 | Op::MinU64 => u64::MAX,
        Op::MinI32 => i32::MAX as u32 as u64,
        Op::MaxI32 => i32::MIN as u32 as u64,
        Op::MinI64 => i64::MAX as u64,
        Op::MaxI64 => i64::MIN as u64,
        _ => unreachable!("what rounds stays in order here"),
    }
}
