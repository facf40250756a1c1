//! The reference interpreter: one kernel, one work item at a time.
//!
//! It fixes what an instruction means; the executors around it (the store, the schedule, the domains) implement
//! [`Memory`] and are called statically. Operands are fetched without a branch: the register file has 256 entries, the
//! upper ones hold the low halves of the uniforms and the current word's immediate, so that an operand byte is an index.
//!
//! Registers keep what the item before left in them: verified code assigns every register before it reads it.
//!
//! ```
//! use vyre_core::cpu::interp::{Interpreter, Item, Memory};
//! use vyre_core::vir0::isa::{IMM, Op, Word};
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

use crate::vir0::isa::{FRAMES_PER_LOOP, IMM, MAX_FRAMES, MAX_ROWS, Op, UNIFORM_BASE, Word};
use crate::vir0::module::{BufferId, FrontierId, Kernel, ListId, ReductionId, TopologyId};
use crate::vir0::scalar::Scalar;
pub use crate::vir0::trap::Fault;
use crate::vir0::trap::TrapKind;

/// Resources as the interpreter sees them. The defaults are those of a memory that has none of the resource.
///
/// Element accesses return `None` when the index is out of bounds; the interpreter then asks for the length and faults.
/// Verified code names only resources of its program, and accesses a buffer by its element width.
pub trait Memory {
    /// Length of a buffer in elements.
    fn len(&self, buffer: BufferId) -> u32 {
        let _ = buffer;
        0
    }

    /// Number of nodes of the node set.
    fn nodes(&self) -> u32 {
        0
    }

    /// Number of edges of a topology.
    fn edges(&self, topology: TopologyId) -> u32 {
        let _ = topology;
        0
    }

    /// Reads a 1-byte element.
    fn load8(&mut self, buffer: BufferId, index: u32) -> Option<u8> {
        let _ = (buffer, index);
        None
    }

    /// Reads a 4-byte element's raw bits.
    fn load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        let _ = (buffer, index);
        None
    }

    /// Reads an 8-byte element's raw bits.
    fn load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        let _ = (buffer, index);
        None
    }

    /// Writes a 1-byte element; of a bool buffer, the value is 0 or 1 in code that `lower` made, so take its low bit.
    fn store8(&mut self, buffer: BufferId, index: u32, value: u8) -> Option<()> {
        let _ = (buffer, index, value);
        None
    }

    /// Writes a 4-byte element's raw bits.
    fn store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        let _ = (buffer, index, value);
        None
    }

    /// Writes an 8-byte element's raw bits.
    fn store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        let _ = (buffer, index, value);
        None
    }

    /// Atomic load, relaxed.
    fn atomic_load32(&mut self, buffer: BufferId, index: u32) -> Option<u32> {
        self.load32(buffer, index)
    }

    /// Atomic load, relaxed.
    fn atomic_load64(&mut self, buffer: BufferId, index: u32) -> Option<u64> {
        self.load64(buffer, index)
    }

    /// Atomic store, relaxed.
    fn atomic_store32(&mut self, buffer: BufferId, index: u32, value: u32) -> Option<()> {
        self.store32(buffer, index, value)
    }

    /// Atomic store, relaxed.
    fn atomic_store64(&mut self, buffer: BufferId, index: u32, value: u64) -> Option<()> {
        self.store64(buffer, index, value)
    }

    /// Atomic read-modify-write, relaxed: replaces the element by `f(old)` (not at all where `f` returns `None`) and
    /// returns the old value. `f` is pure and may be called again when another thread got in between, as
    /// `AtomicU32::fetch_update` does. A memory of one thread needs only this plain form.
    fn update32(
        &mut self,
        buffer: BufferId,
        index: u32,
        f: impl Fn(u32) -> Option<u32>,
    ) -> Option<u32> {
        let old = self.atomic_load32(buffer, index)?;
        if let Some(new) = f(old) {
            self.atomic_store32(buffer, index, new)?;
        }
        Some(old)
    }

    /// As [`Memory::update32`].
    fn update64(
        &mut self,
        buffer: BufferId,
        index: u32,
        f: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let old = self.atomic_load64(buffer, index)?;
        if let Some(new) = f(old) {
            self.atomic_store64(buffer, index, new)?;
        }
        Some(old)
    }

    /// First edge of a node; `None` when it is not a node.
    fn csr_begin(&self, topology: TopologyId, node: u32) -> Option<u32> {
        let _ = (topology, node);
        None
    }

    /// One past the last edge of a node; `None` when it is not a node.
    fn csr_end(&self, topology: TopologyId, node: u32) -> Option<u32> {
        let _ = (topology, node);
        None
    }

    /// Target of an edge; `None` when it is not an edge.
    fn csr_target(&self, topology: TopologyId, edge: u32) -> Option<u32> {
        let _ = (topology, edge);
        None
    }

    /// Pushes a node (already checked against [`Memory::nodes`]). An overflow is noted here with the pc, and becomes a
    /// trap at the end of the barrier group.
    fn push(&mut self, frontier: FrontierId, node: u32, pc: u32) {
        let _ = (frontier, node, pc);
    }

    /// Reserves an item of a list; its slot, or any slot from the capacity on when there is no room. An overflow is noted
    /// here with the pc, and becomes a trap at the end of the barrier group.
    fn append(&mut self, list: ListId, pc: u32) -> u32 {
        let _ = (list, pc);
        0
    }

    /// Sets a field (raw bits) of an item of a list. Nothing happens where the list has no such slot.
    fn list_store(&mut self, list: ListId, field: u16, slot: u32, bits: u64) {
        let _ = (list, field, slot, bits);
    }

    /// Reserves an item of a frontier's next round, as [`Memory::append`].
    fn push_item(&mut self, frontier: FrontierId, pc: u32) -> u32 {
        let _ = (frontier, pc);
        0
    }

    /// Sets a field of an item of a frontier's next round, as [`Memory::list_store`].
    fn item_store(&mut self, frontier: FrontierId, field: u16, slot: u32, bits: u64) {
        let _ = (frontier, field, slot, bits);
    }

    /// Takes a value into a reduction: raw bits, 32-bit ones zero-extended.
    fn reduce(&mut self, reduction: ReductionId, bits: u64) {
        let _ = (reduction, bits);
    }

    /// Asked at the end of every turn of a loop; `false` abandons the item (cancelled runs, step limits of tests).
    #[inline(always)]
    fn keep_going(&mut self) -> bool {
        true
    }
}

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
    uniforms: &'a [u64],
    /// Rows, then the low halves of the directly named uniforms, then the immediate of the current word.
    file: [u32; 256],
    /// Words of the open loops, outermost first.
    loops: [u32; LOOPS],
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
            uniforms,
            file,
            loops: [0; LOOPS],
        }
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
    fn set64(&mut self, operand: u8, value: u64) {
        if operand != IMM {
            self.file[operand as usize] = value as u32;
            self.file[operand as usize + 1] = (value >> 32) as u32;
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
            if let Some(row) = *row {
                self.file[row as usize] = bits as u32;
                if scalar.rows() == 2 {
                    self.file[row as usize + 1] = (bits >> 32) as u32;
                }
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
                self.file[row as usize] = value;
            }
        }
        let code: &[Word] = &self.kernel.code;
        let mut depth = 0usize;
        let mut pc = 0usize;
        loop {
            let w = code[pc];
            self.file[IMM as usize] = w.imm;

            macro_rules! w {
                ($operand:ident) => {
                    self.file[w.$operand as usize]
                };
            }
            macro_rules! third {
                () => {
                    self.file[w.third() as usize]
                };
            }
            // d = f(operands), by operand and result widths.
            macro_rules! www {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let ($a, $b) = (w!(a), w!(b));
                    w!(d) = $e;
                }};
            }
            macro_rules! ww {
                (|$a:ident| $e:expr) => {{
                    let $a = w!(a);
                    w!(d) = $e;
                }};
            }
            macro_rules! ddd {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let ($a, $b) = (self.get64(w.a), self.get64(w.b));
                    self.set64(w.d, $e);
                }};
            }
            macro_rules! ddw {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let ($a, $b) = (self.get64(w.a), w!(b));
                    self.set64(w.d, $e);
                }};
            }
            macro_rules! dd {
                (|$a:ident| $e:expr) => {{
                    let $a = self.get64(w.a);
                    self.set64(w.d, $e);
                }};
            }
            macro_rules! dw {
                (|$a:ident| $e:expr) => {{
                    let $a = w!(a);
                    self.set64(w.d, $e);
                }};
            }
            macro_rules! wd {
                (|$a:ident| $e:expr) => {{
                    let $a = self.get64(w.a);
                    w!(d) = $e;
                }};
            }
            macro_rules! wdd {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let ($a, $b) = (self.get64(w.a), self.get64(w.b));
                    w!(d) = $e;
                }};
            }
            macro_rules! f_www {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let ($a, $b) = (f32::from_bits(w!(a)), f32::from_bits(w!(b)));
                    w!(d) = f32::to_bits($e);
                }};
            }
            macro_rules! f_ww {
                ($f:path) => {
                    w!(d) = f32::to_bits($f(f32::from_bits(w!(a))))
                };
            }
            macro_rules! f_ddd {
                (|$a:ident, $b:ident| $e:expr) => {{
                    let $a = f64::from_bits(self.get64(w.a));
                    let $b = f64::from_bits(self.get64(w.b));
                    self.set64(w.d, f64::to_bits($e));
                }};
            }
            macro_rules! f_dd {
                ($f:path) => {{
                    let a = f64::from_bits(self.get64(w.a));
                    self.set64(w.d, f64::to_bits($f(a)));
                }};
            }
            macro_rules! f_cmp32 {
                ($op:tt) => {
                    w!(d) = u32::from(f32::from_bits(w!(a)) $op f32::from_bits(w!(b)))
                };
            }
            macro_rules! f_cmp64 {
                ($op:tt) => {
                    w!(d) = u32::from(
                        f64::from_bits(self.get64(w.a)) $op f64::from_bits(self.get64(w.b)),
                    )
                };
            }
            macro_rules! fault {
                ($kind:expr, $index:expr, $len:expr) => {
                    return Err(Fault {
                        pc: pc as u32,
                        kind: $kind,
                        index: u64::from($index),
                        len: u64::from($len),
                    })
                };
            }
            macro_rules! checked {
                ($int:ty, $x:expr, $y:expr, $op:ident) => {{
                    let (x, y): ($int, $int) = ($x, $y);
                    match x.$op(y) {
                        Some(z) => z,
                        None if y == 0 => fault!(TrapKind::DivideByZero, 0u32, 0u32),
                        None => fault!(TrapKind::DivideOverflow, 0u32, 0u32),
                    }
                }};
            }
            // An access to buffer `w.resource()`; out of bounds is a fault.
            macro_rules! element {
                (|$buffer:ident, $index:ident| $e:expr) => {{
                    let ($buffer, $index) = (BufferId(w.resource()), w!(a));
                    match $e {
                        Some(x) => x,
                        None => {
                            fault!(TrapKind::IndexOutOfBounds, $index, memory.len($buffer))
                        }
                    }
                }};
            }
            // Row of `array[a]`; out of bounds is a fault.
            macro_rules! array_row {
                ($rows:literal) => {{
                    let ((first, len), index) = (w.array(), w!(a));
                    if index >= u32::from(len) {
                        fault!(TrapKind::IndexOutOfBounds, index, len);
                    }
                    first + $rows * index as u8
                }};
            }
            macro_rules! atomic32 {
                (|$old:ident, $b:ident| $new:expr) => {{
                    let $b = w!(b);
                    w!(d) = element!(|t, i| memory.update32(t, i, |$old| $new));
                }};
            }
            macro_rules! atomic64 {
                (|$old:ident, $b:ident| $new:expr) => {{
                    let $b = self.get64(w.b);
                    let old = element!(|t, i| memory.update64(t, i, |$old| $new));
                    self.set64(w.d, old);
                }};
            }
            macro_rules! leave {
                () => {{
                    depth -= w.imm as usize + 1;
                    pc = code[self.loops[depth] as usize].imm as usize;
                    continue;
                }};
            }

            match Op::from_code(w.op).expect("verified code has known opcodes") {
                Op::Mov32 => ww!(|a| a),
                Op::Mov64 => dd!(|a| a),
                Op::LdU32 => w!(d) = self.uniforms[w.imm as usize] as u32,
                Op::LdU64 => self.set64(w.d, self.uniforms[w.imm as usize]),
                Op::Sel32 => w!(d) = if w!(a) != 0 { w!(b) } else { third!() },
                Op::Sel64 => {
                    let x = self.get64(if w!(a) != 0 { w.b } else { w.third() });
                    self.set64(w.d, x);
                }
                Op::RowLd32 => w!(d) = self.file[array_row!(1) as usize],
                Op::RowLd64 => {
                    let x = self.get64(array_row!(2));
                    self.set64(w.d, x);
                }
                Op::RowSt32 => {
                    let x = w!(b);
                    self.file[array_row!(1) as usize] = x;
                }
                Op::RowSt64 => {
                    let x = self.get64(w.b);
                    self.set64(array_row!(2), x);
                }
                Op::RowFill32 => {
                    let (x, (first, len)) = (w!(a), w.array());
                    self.file[first as usize..][..len as usize].fill(x);
                }
                Op::RowFill64 => {
                    let (x, (first, len)) = (self.get64(w.a), w.array());
                    for at in (first..first + 2 * len).step_by(2) {
                        self.set64(at, x);
                    }
                }

                Op::Add32 => www!(|a, b| a.wrapping_add(b)),
                Op::Sub32 => www!(|a, b| a.wrapping_sub(b)),
                Op::Mul32 => www!(|a, b| a.wrapping_mul(b)),
                Op::DivU32 => www!(|a, b| checked!(u32, a, b, checked_div)),
                Op::DivI32 => www!(|a, b| checked!(i32, a as i32, b as i32, checked_div) as u32),
                Op::RemU32 => www!(|a, b| checked!(u32, a, b, checked_rem)),
                Op::RemI32 => www!(|a, b| checked!(i32, a as i32, b as i32, checked_rem) as u32),
                Op::MinU32 => www!(|a, b| a.min(b)),
                Op::MinI32 => www!(|a, b| (a as i32).min(b as i32) as u32),
                Op::MaxU32 => www!(|a, b| a.max(b)),
                Op::MaxI32 => www!(|a, b| (a as i32).max(b as i32) as u32),
                Op::And32 => www!(|a, b| a & b),
                Op::Or32 => www!(|a, b| a | b),
                Op::Xor32 => www!(|a, b| a ^ b),
                Op::Shl32 => www!(|a, b| a.wrapping_shl(b)),
                Op::ShrU32 => www!(|a, b| a.wrapping_shr(b)),
                Op::ShrI32 => www!(|a, b| (a as i32).wrapping_shr(b) as u32),
                Op::Rotl32 => www!(|a, b| a.rotate_left(b & 31)),
                Op::Popc32 => ww!(|a| a.count_ones()),
                Op::Clz32 => ww!(|a| a.leading_zeros()),
                Op::Ctz32 => ww!(|a| a.trailing_zeros()),

                Op::Add64 => ddd!(|a, b| a.wrapping_add(b)),
                Op::Sub64 => ddd!(|a, b| a.wrapping_sub(b)),
                Op::Mul64 => ddd!(|a, b| a.wrapping_mul(b)),
                Op::DivU64 => ddd!(|a, b| checked!(u64, a, b, checked_div)),
                Op::DivI64 => ddd!(|a, b| checked!(i64, a as i64, b as i64, checked_div) as u64),
                Op::RemU64 => ddd!(|a, b| checked!(u64, a, b, checked_rem)),
                Op::RemI64 => ddd!(|a, b| checked!(i64, a as i64, b as i64, checked_rem) as u64),
                Op::MinU64 => ddd!(|a, b| a.min(b)),
                Op::MinI64 => ddd!(|a, b| (a as i64).min(b as i64) as u64),
                Op::MaxU64 => ddd!(|a, b| a.max(b)),
                Op::MaxI64 => ddd!(|a, b| (a as i64).max(b as i64) as u64),
                Op::And64 => ddd!(|a, b| a & b),
                Op::Or64 => ddd!(|a, b| a | b),
                Op::Xor64 => ddd!(|a, b| a ^ b),
                Op::Shl64 => ddw!(|a, b| a.wrapping_shl(b)),
                Op::ShrU64 => ddw!(|a, b| a.wrapping_shr(b)),
                Op::ShrI64 => ddw!(|a, b| (a as i64).wrapping_shr(b) as u64),
                Op::Rotl64 => ddw!(|a, b| a.rotate_left(b & 63)),
                Op::Popc64 => wd!(|a| a.count_ones()),
                Op::Clz64 => wd!(|a| a.leading_zeros()),
                Op::Ctz64 => wd!(|a| a.trailing_zeros()),
                Op::MulHiU64 => ddd!(|a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),

                Op::ExpF32 => f_ww!(f32::exp),
                Op::LnF32 => f_ww!(f32::ln),
                Op::SinF32 => f_ww!(f32::sin),
                Op::CosF32 => f_ww!(f32::cos),
                Op::ExpF64 => f_dd!(f64::exp),
                Op::LnF64 => f_dd!(f64::ln),
                Op::SinF64 => f_dd!(f64::sin),
                Op::CosF64 => f_dd!(f64::cos),

                Op::AddF32 => f_www!(|a, b| a + b),
                Op::SubF32 => f_www!(|a, b| a - b),
                Op::MulF32 => f_www!(|a, b| a * b),
                Op::DivF32 => f_www!(|a, b| a / b),
                Op::RemF32 => f_www!(|a, b| a % b),
                Op::MinF32 => f_www!(|a, b| a.min(b)),
                Op::MaxF32 => f_www!(|a, b| a.max(b)),
                Op::FmaF32 => f_www!(|a, b| a.mul_add(b, f32::from_bits(third!()))),
                Op::SqrtF32 => f_ww!(f32::sqrt),
                Op::FloorF32 => f_ww!(f32::floor),
                Op::CeilF32 => f_ww!(f32::ceil),
                Op::RoundF32 => f_ww!(f32::round),
                Op::TruncF32 => f_ww!(f32::trunc),

                Op::AddF64 => f_ddd!(|a, b| a + b),
                Op::SubF64 => f_ddd!(|a, b| a - b),
                Op::MulF64 => f_ddd!(|a, b| a * b),
                Op::DivF64 => f_ddd!(|a, b| a / b),
                Op::RemF64 => f_ddd!(|a, b| a % b),
                Op::MinF64 => f_ddd!(|a, b| a.min(b)),
                Op::MaxF64 => f_ddd!(|a, b| a.max(b)),
                Op::FmaF64 => f_ddd!(|a, b| a.mul_add(b, f64::from_bits(self.get64(w.third())))),
                Op::SqrtF64 => f_dd!(f64::sqrt),
                Op::FloorF64 => f_dd!(f64::floor),
                Op::CeilF64 => f_dd!(f64::ceil),
                Op::RoundF64 => f_dd!(f64::round),
                Op::TruncF64 => f_dd!(f64::trunc),

                Op::Eq32 => www!(|a, b| u32::from(a == b)),
                Op::Ne32 => www!(|a, b| u32::from(a != b)),
                Op::LtU32 => www!(|a, b| u32::from(a < b)),
                Op::LeU32 => www!(|a, b| u32::from(a <= b)),
                Op::LtI32 => www!(|a, b| u32::from((a as i32) < b as i32)),
                Op::LeI32 => www!(|a, b| u32::from(a as i32 <= b as i32)),
                Op::EqF32 => f_cmp32!(==),
                Op::NeF32 => f_cmp32!(!=),
                Op::LtF32 => f_cmp32!(<),
                Op::LeF32 => f_cmp32!(<=),
                Op::Eq64 => wdd!(|a, b| u32::from(a == b)),
                Op::Ne64 => wdd!(|a, b| u32::from(a != b)),
                Op::LtU64 => wdd!(|a, b| u32::from(a < b)),
                Op::LeU64 => wdd!(|a, b| u32::from(a <= b)),
                Op::LtI64 => wdd!(|a, b| u32::from((a as i64) < b as i64)),
                Op::LeI64 => wdd!(|a, b| u32::from(a as i64 <= b as i64)),
                Op::EqF64 => f_cmp64!(==),
                Op::NeF64 => f_cmp64!(!=),
                Op::LtF64 => f_cmp64!(<),
                Op::LeF64 => f_cmp64!(<=),

                Op::Zext64 => dw!(|a| u64::from(a)),
                Op::Sext64 => dw!(|a| a as i32 as i64 as u64),
                Op::Wrap32 => wd!(|a| a as u32),
                Op::F32FromU32 => ww!(|a| (a as f32).to_bits()),
                Op::F32FromI32 => ww!(|a| (a as i32 as f32).to_bits()),
                Op::F32FromU64 => wd!(|a| (a as f32).to_bits()),
                Op::F32FromI64 => wd!(|a| (a as i64 as f32).to_bits()),
                Op::F32FromF64 => wd!(|a| (f64::from_bits(a) as f32).to_bits()),
                Op::F64FromU32 => dw!(|a| f64::from(a).to_bits()),
                Op::F64FromI32 => dw!(|a| f64::from(a as i32).to_bits()),
                Op::F64FromU64 => dd!(|a| (a as f64).to_bits()),
                Op::F64FromI64 => dd!(|a| (a as i64 as f64).to_bits()),
                Op::F64FromF32 => dw!(|a| f64::from(f32::from_bits(a)).to_bits()),
                Op::U32FromF32 => ww!(|a| f32::from_bits(a) as u32),
                Op::I32FromF32 => ww!(|a| f32::from_bits(a) as i32 as u32),
                Op::U64FromF32 => dw!(|a| f32::from_bits(a) as u64),
                Op::I64FromF32 => dw!(|a| f32::from_bits(a) as i64 as u64),
                Op::U32FromF64 => wd!(|a| f64::from_bits(a) as u32),
                Op::I32FromF64 => wd!(|a| f64::from_bits(a) as i32 as u32),
                Op::U64FromF64 => dd!(|a| f64::from_bits(a) as u64),
                Op::I64FromF64 => dd!(|a| f64::from_bits(a) as i64 as u64),

                Op::Ld8 => w!(d) = u32::from(element!(|t, i| memory.load8(t, i))),
                Op::Ld32 => w!(d) = element!(|t, i| memory.load32(t, i)),
                Op::Ld64 => {
                    let x = element!(|t, i| memory.load64(t, i));
                    self.set64(w.d, x);
                }
                Op::St8 => {
                    let x = w!(b) as u8;
                    element!(|t, i| memory.store8(t, i, x));
                }
                Op::St32 => {
                    let x = w!(b);
                    element!(|t, i| memory.store32(t, i, x));
                }
                Op::St64 => {
                    let x = self.get64(w.b);
                    element!(|t, i| memory.store64(t, i, x));
                }
                Op::Len => w!(d) = memory.len(BufferId(w.resource())),
                Op::CsrBegin => {
                    let (t, v) = (TopologyId(w.resource()), w!(a));
                    match memory.csr_begin(t, v) {
                        Some(e) => w!(d) = e,
                        None => fault!(TrapKind::IndexOutOfBounds, v, memory.nodes()),
                    }
                }
                Op::CsrEnd => {
                    let (t, v) = (TopologyId(w.resource()), w!(a));
                    match memory.csr_end(t, v) {
                        Some(e) => w!(d) = e,
                        None => fault!(TrapKind::IndexOutOfBounds, v, memory.nodes()),
                    }
                }
                Op::CsrTarget => {
                    let (t, e) = (TopologyId(w.resource()), w!(a));
                    match memory.csr_target(t, e) {
                        Some(v) => w!(d) = v,
                        None => fault!(TrapKind::IndexOutOfBounds, e, memory.edges(t)),
                    }
                }

                Op::AtomLd32 => w!(d) = element!(|t, i| memory.atomic_load32(t, i)),
                Op::AtomLd64 => {
                    let x = element!(|t, i| memory.atomic_load64(t, i));
                    self.set64(w.d, x);
                }
                Op::AtomSt32 => {
                    let x = w!(b);
                    element!(|t, i| memory.atomic_store32(t, i, x));
                }
                Op::AtomSt64 => {
                    let x = self.get64(w.b);
                    element!(|t, i| memory.atomic_store64(t, i, x));
                }
                Op::AtomSwap32 => atomic32!(|_old, b| Some(b)),
                Op::AtomSwap64 => atomic64!(|_old, b| Some(b)),
                Op::AtomCas32 => {
                    let (expected, new) = (w!(b), third!());
                    let swap = |old| (old == expected).then_some(new);
                    let old = element!(|t, i| memory.update32(t, i, swap));
                    w!(d) = u32::from(old == expected);
                }
                Op::AtomCas64 => {
                    let (expected, new) = (self.get64(w.b), self.get64(w.third()));
                    let swap = |old| (old == expected).then_some(new);
                    let old = element!(|t, i| memory.update64(t, i, swap));
                    w!(d) = u32::from(old == expected);
                }
                Op::AtomAdd32 => atomic32!(|old, b| Some(old.wrapping_add(b))),
                Op::AtomAdd64 => atomic64!(|old, b| Some(old.wrapping_add(b))),
                Op::AtomAddF32 => {
                    atomic32!(|old, b| Some((f32::from_bits(old) + f32::from_bits(b)).to_bits()))
                }
                Op::AtomAddF64 => {
                    atomic64!(|old, b| Some((f64::from_bits(old) + f64::from_bits(b)).to_bits()))
                }
                Op::AtomMinU32 => atomic32!(|old, b| (b < old).then_some(b)),
                Op::AtomMinI32 => atomic32!(|old, b| ((b as i32) < old as i32).then_some(b)),
                Op::AtomMinU64 => atomic64!(|old, b| (b < old).then_some(b)),
                Op::AtomMinI64 => atomic64!(|old, b| ((b as i64) < old as i64).then_some(b)),
                Op::AtomMinF32 => {
                    atomic32!(|old, b| Some(f32::from_bits(old).min(f32::from_bits(b)).to_bits()))
                }
                Op::AtomMinF64 => {
                    atomic64!(|old, b| Some(f64::from_bits(old).min(f64::from_bits(b)).to_bits()))
                }
                Op::AtomMaxU32 => atomic32!(|old, b| (b > old).then_some(b)),
                Op::AtomMaxI32 => atomic32!(|old, b| (b as i32 > old as i32).then_some(b)),
                Op::AtomMaxU64 => atomic64!(|old, b| (b > old).then_some(b)),
                Op::AtomMaxI64 => atomic64!(|old, b| (b as i64 > old as i64).then_some(b)),
                Op::AtomMaxF32 => {
                    atomic32!(|old, b| Some(f32::from_bits(old).max(f32::from_bits(b)).to_bits()))
                }
                Op::AtomMaxF64 => {
                    atomic64!(|old, b| Some(f64::from_bits(old).max(f64::from_bits(b)).to_bits()))
                }
                Op::AtomAnd32 => atomic32!(|old, b| Some(old & b)),
                Op::AtomAnd64 => atomic64!(|old, b| Some(old & b)),
                Op::AtomOr32 => atomic32!(|old, b| Some(old | b)),
                Op::AtomOr64 => atomic64!(|old, b| Some(old | b)),
                Op::AtomXor32 => atomic32!(|old, b| Some(old ^ b)),
                Op::AtomXor64 => atomic64!(|old, b| Some(old ^ b)),

                Op::Push => {
                    let node = w!(a);
                    let nodes = memory.nodes();
                    if node >= nodes {
                        fault!(TrapKind::IndexOutOfBounds, node, nodes);
                    }
                    memory.push(FrontierId(w.resource()), node, pc as u32);
                }
                Op::Append => w!(d) = memory.append(ListId(w.resource()), pc as u32),
                Op::ListSt8 => {
                    let (slot, x) = (w!(a), w!(b) as u8);
                    memory.list_store(ListId(w.resource()), w.field(), slot, x.into());
                }
                Op::ListSt32 => {
                    let (slot, x) = (w!(a), w!(b));
                    memory.list_store(ListId(w.resource()), w.field(), slot, x.into());
                }
                Op::ListSt64 => {
                    let (slot, x) = (w!(a), self.get64(w.b));
                    memory.list_store(ListId(w.resource()), w.field(), slot, x);
                }
                Op::PushItem => w!(d) = memory.push_item(FrontierId(w.resource()), pc as u32),
                Op::ItemSt8 => {
                    let (slot, x) = (w!(a), w!(b) as u8);
                    memory.item_store(FrontierId(w.resource()), w.field(), slot, x.into());
                }
                Op::ItemSt32 => {
                    let (slot, x) = (w!(a), w!(b));
                    memory.item_store(FrontierId(w.resource()), w.field(), slot, x.into());
                }
                Op::ItemSt64 => {
                    let (slot, x) = (w!(a), self.get64(w.b));
                    memory.item_store(FrontierId(w.resource()), w.field(), slot, x);
                }
                Op::Reduce32 => memory.reduce(ReductionId(w.resource()), w!(a).into()),
                Op::Reduce64 => memory.reduce(ReductionId(w.resource()), self.get64(w.a)),

                // The word after the matching `else` or `endif`.
                Op::If => {
                    if w!(a) == 0 {
                        pc = w.imm as usize;
                    }
                }
                Op::Else => pc = w.imm as usize,
                Op::EndIf => {}
                Op::Loop => {
                    self.loops[depth] = pc as u32;
                    depth += 1;
                }
                Op::EndLoop => {
                    if !memory.keep_going() {
                        return Ok(0);
                    }
                    pc = w.imm as usize;
                }
                Op::Break => leave!(),
                Op::BreakIf => {
                    if w!(a) != 0 {
                        leave!();
                    }
                }
                Op::BreakUnless => {
                    if w!(a) == 0 {
                        leave!();
                    }
                }
                Op::Continue => {
                    if !memory.keep_going() {
                        return Ok(0);
                    }
                    depth -= w.imm as usize;
                    pc = self.loops[depth - 1] as usize;
                }
                Op::Ret => return Ok(0),
                Op::RetV => return Ok(w!(a)),
                Op::Trap => fault!(trap_kind(w.imm), 0u32, 0u32),
                Op::Assert => {
                    if w!(a) == 0 {
                        fault!(trap_kind(w.imm), 0u32, 0u32);
                    }
                }
                Op::Check => {
                    let (index, len) = (w!(a), w!(b));
                    if index >= len {
                        fault!(TrapKind::IndexOutOfBounds, index, len);
                    }
                }
            }
            pc += 1;
        }
    }
}

#[cold]
fn trap_kind(code: u32) -> TrapKind {
    TrapKind::from_code(code).expect("verified code has known trap codes")
}
