//! The reference interpreter: one kernel, one work item at a time.
//!
//! The loop around [`step`]; the executors around it (the state, the schedule, the domains) implement [`Memory`] and
//! are called statically. Operands are fetched without a branch: the register file has 256 entries, the
//! upper ones hold the low halves of the uniforms and the current word's immediate, so that an operand byte is an
//! index.
//!
//! Registers keep what the item before left in them: verified code assigns every register before it reads it.
//!
//! ```
//! use vyre_core::cpu::interp::{Interpreter, Item};
//! use vyre_core::vir0::isa::{IMM, Op, Word};
//! use vyre_core::vir0::meaning::Memory;
//! use vyre_core::vir0::module::{BufferId, FrontierId, ItemRows, Kernel, ReductionId, TopologyId};
//!
//! struct One(Vec<u32>);
//! impl Memory for One {
//!     fn len(&self, _: BufferId) -> u32 { self.0.len() as u32 }
//!     fn store32(&mut self, _: BufferId, i: u32, x: u32) -> Option<()> { *self.0.get_mut(i as usize)? = x; Some(()) }
//! }
//! let kernel = Kernel {
//!     name: "double".into(),
//!     code: vec![
//!         Word { op: Op::Shl32 as u8, d: 1, a: 0, b: IMM, imm: 1 },
//!         Word { op: Op::St32 as u8, d: 0, a: 0, b: 1, imm: 0 },
//!         Word { op: Op::Ret as u8, ..Word::default() },
//!     ],
//!     rows: 2,
//!     frames: 0,
//!     item: ItemRows { index: Some(0), ..ItemRows::default() },
//!     uniforms: vec![],
//!     sites: vec![],
//! };
//! let mut memory = One(vec![0; 3]);
//! let mut interpreter = Interpreter::new(&kernel, &[]);
//! for index in 0..3 {
//!     interpreter.run(Item::index(index), &mut memory).unwrap();
//! }
//! assert_eq!(memory.0, [0, 2, 4]);
//! let fault = interpreter.run(Item::index(3), &mut memory).unwrap_err();
//! assert_eq!((fault.pc, fault.index, fault.len), (1, 3, 3));
//! ```

use crate::vir0::isa::{FRAMES_PER_LOOP, IMM, MAX_FRAMES, MAX_ROWS, UNIFORM_BASE, Word};
use crate::vir0::meaning::{Memory, Next, State, step};
use crate::vir0::module::Kernel;
use crate::vir0::scalar::Scalar;
use crate::vir0::trap::Fault;

/// The work item of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Item {
    /// Node, index, frontier item or edge index.
    pub index: u32,
    /// Source of an edge.
    pub src: u32,
    /// Destination of an edge.
    pub dst: u32,
}

impl Item {
    /// An item of a domain that is not over edges.
    pub const fn index(index: u32) -> Item {
        Item {
            index,
            src: 0,
            dst: 0,
        }
    }
}

/// Loops that can nest in a verified kernel.
const LOOPS: usize = (MAX_FRAMES / FRAMES_PER_LOOP) as usize;

/// One kernel with its uniforms: made once per sweep and thread, run once per item.
#[derive(Clone, Debug)]
pub struct Interpreter<'a> {
    kernel: &'a Kernel,
    registers: Registers<'a>,
    /// Words of the open loops, outermost first.
    loops: [u32; LOOPS],
}

#[derive(Clone, Debug)]
struct Registers<'a> {
    /// Rows, then the low halves of the directly named uniforms, then the immediate of the current word.
    file: [u32; 256],
    uniforms: &'a [u64],
}

impl State for Registers<'_> {
    #[inline(always)]
    fn get32(&self, operand: u8) -> u32 {
        self.file[operand as usize]
    }

    #[inline(always)]
    fn get64(&self, operand: u8) -> u64 {
        if operand < UNIFORM_BASE {
            let low = self.file[operand as usize];
            let high = self.file[operand as usize + 1];
            u64::from(high) << 32 | u64::from(low)
        } else if operand == IMM {
            self.file[IMM as usize] as i32 as i64 as u64
        } else {
            self.uniforms[(operand - UNIFORM_BASE) as usize]
        }
    }

    #[inline(always)]
    fn set32(&mut self, operand: u8, value: u32) {
        self.file[operand as usize] = value;
    }

    #[inline(always)]
    fn set64(&mut self, operand: u8, value: u64) {
        if operand != IMM {
            self.file[operand as usize] = value as u32;
            self.file[operand as usize + 1] = (value >> 32) as u32;
        }
    }

    #[inline(always)]
    fn uniform(&self, slot: u32) -> u64 {
        self.uniforms[slot as usize]
    }
}

impl<'a> Interpreter<'a> {
    /// Takes a kernel of a verified program, and raw bits for each of `kernel.uniforms`
    /// (as [`crate::vir0::module::Constant`] stores them).
    pub fn new(kernel: &'a Kernel, uniforms: &'a [u64]) -> Interpreter<'a> {
        assert!(
            uniforms.len() >= kernel.uniforms.len(),
            "every uniform slot has a value"
        );
        let mut file = [0; 256];
        for (row, &bits) in file[MAX_ROWS..IMM as usize].iter_mut().zip(uniforms) {
            *row = bits as u32;
        }
        Interpreter {
            kernel,
            registers: Registers { file, uniforms },
            loops: [0; LOOPS],
        }
    }

    /// Runs one item that is not a number: its position and its fields (type and raw bits).
    pub fn run_fields<M: Memory>(
        &mut self,
        index: u32,
        fields: impl IntoIterator<Item = (Scalar, u64)>,
        memory: &mut M,
    ) -> Result<u32, Fault> {
        for (row, (scalar, bits)) in self.kernel.item.fields.iter().zip(fields) {
            match *row {
                Some(row) if scalar.rows() == 2 => self.registers.set64(row, bits),
                Some(row) => self.registers.set32(row, bits as u32),
                None => {}
            }
        }
        self.run(Item::index(index), memory)
    }

    /// Runs one item. The value is a condition's; 0 for a wave's kernel.
    pub fn run<M: Memory>(&mut self, item: Item, memory: &mut M) -> Result<u32, Fault> {
        let rows = self.kernel.item;
        for (row, value) in [
            (rows.index, item.index),
            (rows.src, item.src),
            (rows.dst, item.dst),
        ] {
            if let Some(row) = row {
                self.registers.set32(row, value);
            }
        }
        let code: &[Word] = &self.kernel.code;
        let mut depth = 0usize;
        let mut pc = 0usize;
        loop {
            let word = code[pc];
            self.registers.file[IMM as usize] = word.imm;
            match step(word, pc as u32, &mut self.registers, memory)? {
                Next::Following => {}
                Next::Behind(other) => pc = other as usize,
                Next::Inside => {
                    self.loops[depth] = pc as u32;
                    depth += 1;
                }
                Next::Turn(out) => {
                    depth -= out as usize;
                    pc = self.loops[depth - 1] as usize;
                    if !memory.keep_going(code[pc].counts()) {
                        return Ok(0);
                    }
                }
                Next::Out(out) => {
                    depth -= out as usize + 1;
                    // A loop names the word behind its end.
                    pc = code[self.loops[depth] as usize].imm as usize;
                    continue;
                }
                Next::Done(value) => return Ok(value),
            }
            pc += 1;
        }
    }
}
