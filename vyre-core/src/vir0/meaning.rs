//! What every instruction does, written down once.
//!
//! [`step`] is the meaning of a word, on raw values: it reads operands from a [`State`], acts on a [`Memory`], and says
//! where its item goes on. The interpreter is the loop around it, constant folding asks [`value`], and every other
//! backend is compared with the two.
//!
//! Integers wrap; a shift takes the low bits of its amount; a division by zero and `MIN / -1` fault. Floats are IEEE
//! 754, rounded to nearest even and never contracted; of two NaNs or zeros `min` and `max` give what Rust's give.
//!
//! ```
//! use vyre_core::vir0::isa::Op;
//! use vyre_core::vir0::meaning::value;
//!
//! // The amount of a shift is taken modulo the width.
//! assert_eq!(value(Op::ShrI32, [0x8000_0000, 36, 0]), Some(0xf800_0000));
//! assert_eq!(value(Op::MinF32, [f32::NAN.to_bits().into(), 7, 0]), Some(7));
//! // No value: it faults.
//! assert_eq!(value(Op::RemU32, [1, 0, 0]), None);
//! ```

use crate::vir0::isa::{Imm, Op, Slot, Word};
use crate::vir0::module::{BufferId, FrontierId, ListId, QueueId, ReductionId, TopologyId};
use crate::vir0::trap::{Fault, TrapKind};

/// The values of one item, by operand byte.
pub trait State {
    /// A 32-bit operand. Of a uniform, the low half; of [`IMM`](crate::vir0::isa::IMM), the immediate of the current
    /// word.
    fn get32(&self, operand: u8) -> u32;

    /// A 64-bit operand. Of [`IMM`](crate::vir0::isa::IMM), the immediate of the current word, sign-extended.
    fn get64(&self, operand: u8) -> u64;

    /// Sets a row. Where `operand` is [`IMM`](crate::vir0::isa::IMM), the value is not asked for.
    fn set32(&mut self, operand: u8, value: u32);

    /// Sets two rows, the low half first. Where `operand` is [`IMM`](crate::vir0::isa::IMM), the value is not asked
    /// for.
    fn set64(&mut self, operand: u8, value: u64);

    /// A slot of the kernel's uniform table.
    fn uniform(&self, slot: u32) -> u64;
}

/// Resources as a word sees them. The defaults are those of a memory that has none of the resource.
///
/// Element accesses return `None` when the index is out of bounds; the word then asks for the length and faults.
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

    /// Reserves an item of a list, or of a frontier's next round; its slot, or any slot from the capacity on when there is
    /// no room. An overflow is noted here with the pc, and becomes a trap at the end of the barrier group.
    fn reserve(&mut self, queue: QueueId, pc: u32) -> u32 {
        let _ = (queue, pc);
        0
    }

    /// Sets a field (raw bits) of an item that was reserved. Nothing happens where there is no such slot.
    fn set_field(&mut self, queue: QueueId, field: u16, slot: u32, bits: u64) {
        let _ = (queue, field, slot, bits);
    }

    /// Takes a value into a reduction: raw bits, 32-bit ones zero-extended.
    fn reduce(&mut self, reduction: ReductionId, bits: u64) {
        let _ = (reduction, bits);
    }

    /// Asked at the end of every turn of a loop, which is a step of work if it counts ([`Word::counts`]); `false`
    /// abandons the item (runs that are to end, step limits).
    #[inline(always)]
    fn keep_going(&mut self, counts: bool) -> bool {
        let _ = counts;
        true
    }
}

/// Where an item goes on after a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// At the word after it.
    Following,
    /// At the word after the one at this pc.
    Behind(u32),
    /// In the loop that the word opens: at the word after it.
    Inside,
    /// At the next turn of the loop that is this number of loops out; 0 is the innermost.
    Turn(u32),
    /// Behind the loop that is this number of loops out.
    Out(u32),
    /// Nowhere: it is done. The value is a condition's; 0 for a wave's kernel.
    Done(u32),
}

/// The list that a word names.
fn list(w: Word) -> QueueId {
    ListId(w.resource()).into()
}

/// The frontier that a word names.
fn frontier(w: Word) -> QueueId {
    FrontierId(w.resource()).into()
}

/// Does what one word does. `pc`: its place, for faults and overflows.
///
/// Always inlined: the loop of an interpreter has no call for each word. It is as long as the table of instructions, a
/// line or two for each, because it is that table's other half: split by kind, an opcode would be looked up twice.
#[inline(always)]
pub fn step<S: State, M: Memory>(
    w: Word,
    pc: u32,
    state: &mut S,
    memory: &mut M,
) -> Result<Next, Fault> {
    macro_rules! w {
        ($operand:ident) => {
            state.get32(w.$operand)
        };
    }
    macro_rules! third {
        () => {
            state.get32(w.third())
        };
    }
    macro_rules! fault {
        ($kind:expr, $index:expr, $len:expr) => {
            return Err(Fault {
                pc,
                kind: $kind,
                index: u64::from($index),
                len: u64::from($len),
            })
        };
    }
    // d = f(operands), by operand and result widths.
    macro_rules! www {
        (|$a:ident, $b:ident| $e:expr) => {{
            let ($a, $b) = (w!(a), w!(b));
            state.set32(w.d, $e);
        }};
    }
    macro_rules! ww {
        (|$a:ident| $e:expr) => {{
            let $a = w!(a);
            state.set32(w.d, $e);
        }};
    }
    macro_rules! ddd {
        (|$a:ident, $b:ident| $e:expr) => {{
            let ($a, $b) = (state.get64(w.a), state.get64(w.b));
            state.set64(w.d, $e);
        }};
    }
    macro_rules! ddw {
        (|$a:ident, $b:ident| $e:expr) => {{
            let ($a, $b) = (state.get64(w.a), w!(b));
            state.set64(w.d, $e);
        }};
    }
    macro_rules! dd {
        (|$a:ident| $e:expr) => {{
            let $a = state.get64(w.a);
            state.set64(w.d, $e);
        }};
    }
    macro_rules! dw {
        (|$a:ident| $e:expr) => {{
            let $a = w!(a);
            state.set64(w.d, $e);
        }};
    }
    macro_rules! wd {
        (|$a:ident| $e:expr) => {{
            let $a = state.get64(w.a);
            state.set32(w.d, $e);
        }};
    }
    macro_rules! wdd {
        (|$a:ident, $b:ident| $e:expr) => {{
            let ($a, $b) = (state.get64(w.a), state.get64(w.b));
            state.set32(w.d, $e);
        }};
    }
    macro_rules! f_www {
        (|$a:ident, $b:ident| $e:expr) => {{
            let ($a, $b) = (f32::from_bits(w!(a)), f32::from_bits(w!(b)));
            state.set32(w.d, f32::to_bits($e));
        }};
    }
    macro_rules! f_ww {
        ($f:path) => {
            state.set32(w.d, f32::to_bits($f(f32::from_bits(w!(a)))))
        };
    }
    macro_rules! f_ddd {
        (|$a:ident, $b:ident| $e:expr) => {{
            let $a = f64::from_bits(state.get64(w.a));
            let $b = f64::from_bits(state.get64(w.b));
            state.set64(w.d, f64::to_bits($e));
        }};
    }
    macro_rules! f_dd {
        ($f:path) => {{
            let a = f64::from_bits(state.get64(w.a));
            state.set64(w.d, f64::to_bits($f(a)));
        }};
    }
    macro_rules! f_cmp32 {
        ($op:tt) => {
            state.set32(w.d, u32::from(f32::from_bits(w!(a)) $op f32::from_bits(w!(b))))
        };
    }
    macro_rules! f_cmp64 {
        ($op:tt) => {
            state.set32(w.d, u32::from(f64::from_bits(state.get64(w.a)) $op f64::from_bits(state.get64(w.b))))
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
            state.set32(w.d, element!(|t, i| memory.update32(t, i, |$old| $new)));
        }};
    }
    macro_rules! atomic64 {
        (|$old:ident, $b:ident| $new:expr) => {{
            let $b = state.get64(w.b);
            let old = element!(|t, i| memory.update64(t, i, |$old| $new));
            state.set64(w.d, old);
        }};
    }

    match Op::from_code(w.op).expect("verified code has known opcodes") {
        Op::Mov32 => ww!(|a| a),
        Op::Mov64 => dd!(|a| a),
        Op::LdU32 => state.set32(w.d, state.uniform(w.imm) as u32),
        Op::LdU64 => state.set64(w.d, state.uniform(w.imm)),
        Op::Sel32 => state.set32(w.d, if w!(a) != 0 { w!(b) } else { third!() }),
        Op::Sel64 => {
            let x = state.get64(if w!(a) != 0 { w.b } else { w.third() });
            state.set64(w.d, x);
        }
        Op::RowLd32 => state.set32(w.d, state.get32(array_row!(1))),
        Op::RowLd64 => {
            let x = state.get64(array_row!(2));
            state.set64(w.d, x);
        }
        Op::RowSt32 => {
            let x = w!(b);
            state.set32(array_row!(1), x);
        }
        Op::RowSt64 => {
            let x = state.get64(w.b);
            state.set64(array_row!(2), x);
        }
        Op::RowFill32 => {
            let (x, (first, len)) = (w!(a), w.array());
            for at in first..first + len {
                state.set32(at, x);
            }
        }
        Op::RowFill64 => {
            let (x, (first, len)) = (state.get64(w.a), w.array());
            for at in (first..first + 2 * len).step_by(2) {
                state.set64(at, x);
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
        Op::FmaF64 => f_ddd!(|a, b| a.mul_add(b, f64::from_bits(state.get64(w.third())))),
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

        Op::Ld8 => state.set32(w.d, u32::from(element!(|t, i| memory.load8(t, i)))),
        Op::Ld32 => state.set32(w.d, element!(|t, i| memory.load32(t, i))),
        Op::Ld64 => {
            let x = element!(|t, i| memory.load64(t, i));
            state.set64(w.d, x);
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
            let x = state.get64(w.b);
            element!(|t, i| memory.store64(t, i, x));
        }
        Op::Len => state.set32(w.d, memory.len(BufferId(w.resource()))),
        Op::CsrBegin => {
            let (t, v) = (TopologyId(w.resource()), w!(a));
            match memory.csr_begin(t, v) {
                Some(e) => state.set32(w.d, e),
                None => fault!(TrapKind::IndexOutOfBounds, v, memory.nodes()),
            }
        }
        Op::CsrEnd => {
            let (t, v) = (TopologyId(w.resource()), w!(a));
            match memory.csr_end(t, v) {
                Some(e) => state.set32(w.d, e),
                None => fault!(TrapKind::IndexOutOfBounds, v, memory.nodes()),
            }
        }
        Op::CsrTarget => {
            let (t, e) = (TopologyId(w.resource()), w!(a));
            match memory.csr_target(t, e) {
                Some(v) => state.set32(w.d, v),
                None => fault!(TrapKind::IndexOutOfBounds, e, memory.edges(t)),
            }
        }

        Op::AtomLd32 => state.set32(w.d, element!(|t, i| memory.atomic_load32(t, i))),
        Op::AtomLd64 => {
            let x = element!(|t, i| memory.atomic_load64(t, i));
            state.set64(w.d, x);
        }
        Op::AtomSt32 => {
            let x = w!(b);
            element!(|t, i| memory.atomic_store32(t, i, x));
        }
        Op::AtomSt64 => {
            let x = state.get64(w.b);
            element!(|t, i| memory.atomic_store64(t, i, x));
        }
        Op::AtomSwap32 => atomic32!(|_old, b| Some(b)),
        Op::AtomSwap64 => atomic64!(|_old, b| Some(b)),
        Op::AtomCas32 => {
            let (expected, new) = (w!(b), third!());
            let swap = |old| (old == expected).then_some(new);
            let old = element!(|t, i| memory.update32(t, i, swap));
            state.set32(w.d, u32::from(old == expected));
        }
        Op::AtomCas64 => {
            let (expected, new) = (state.get64(w.b), state.get64(w.third()));
            let swap = |old| (old == expected).then_some(new);
            let old = element!(|t, i| memory.update64(t, i, swap));
            state.set32(w.d, u32::from(old == expected));
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
            memory.push(FrontierId(w.resource()), node, pc);
        }
        Op::Append => state.set32(w.d, memory.reserve(list(w), pc)),
        Op::ListSt8 => {
            let (slot, x) = (w!(a), w!(b) as u8);
            memory.set_field(list(w), w.field(), slot, x.into());
        }
        Op::ListSt32 => {
            let (slot, x) = (w!(a), w!(b));
            memory.set_field(list(w), w.field(), slot, x.into());
        }
        Op::ListSt64 => {
            let (slot, x) = (w!(a), state.get64(w.b));
            memory.set_field(list(w), w.field(), slot, x);
        }
        Op::PushItem => state.set32(w.d, memory.reserve(frontier(w), pc)),
        Op::ItemSt8 => {
            let (slot, x) = (w!(a), w!(b) as u8);
            memory.set_field(frontier(w), w.field(), slot, x.into());
        }
        Op::ItemSt32 => {
            let (slot, x) = (w!(a), w!(b));
            memory.set_field(frontier(w), w.field(), slot, x.into());
        }
        Op::ItemSt64 => {
            let (slot, x) = (w!(a), state.get64(w.b));
            memory.set_field(frontier(w), w.field(), slot, x);
        }
        Op::Reduce32 => memory.reduce(ReductionId(w.resource()), w!(a).into()),
        Op::Reduce64 => memory.reduce(ReductionId(w.resource()), state.get64(w.a)),

        Op::If if w!(a) == 0 => return Ok(Next::Behind(w.imm)),
        Op::If | Op::EndIf => {}
        Op::Else => return Ok(Next::Behind(w.imm)),
        Op::Loop => return Ok(Next::Inside),
        Op::EndLoop => return Ok(Next::Turn(0)),
        Op::Break => return Ok(Next::Out(w.imm)),
        Op::BreakIf if w!(a) != 0 => return Ok(Next::Out(w.imm)),
        Op::BreakUnless if w!(a) == 0 => return Ok(Next::Out(w.imm)),
        Op::BreakIf | Op::BreakUnless => {}
        Op::Continue => return Ok(Next::Turn(w.imm)),
        Op::Ret => return Ok(Next::Done(0)),
        Op::RetV => return Ok(Next::Done(w!(a))),
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
    Ok(Next::Following)
}

#[cold]
fn trap_kind(code: u32) -> TrapKind {
    TrapKind::from_code(code).expect("verified code has known trap codes")
}

/// What an instruction makes of the values of `a`, `b` and the third operand (raw bits; a 32-bit operand takes the low
/// half, a 32-bit result has a high half of 0). `None` where it faults, or where its result is not of its operands
/// alone.
pub fn value(op: Op, operands: [u64; 3]) -> Option<u64> {
    /// The operands, and behind them the result.
    struct Values([u64; 4]);
    const RESULT: u8 = 3;

    impl State for Values {
        fn get32(&self, operand: u8) -> u32 {
            self.get64(operand) as u32
        }
        fn get64(&self, operand: u8) -> u64 {
            self.0[usize::from(operand)]
        }
        fn set32(&mut self, operand: u8, value: u32) {
            self.set64(operand, value.into());
        }
        fn set64(&mut self, operand: u8, value: u64) {
            self.0[usize::from(operand)] = value;
        }
        fn uniform(&self, _: u32) -> u64 {
            unreachable!("a word that reads a uniform is not computed")
        }
    }

    struct Nothing;
    impl Memory for Nothing {}

    let row = op.row();
    let computes =
        matches!(row.d, Slot::W | Slot::D) && matches!(row.imm, Imm::N | Imm::Literal | Imm::Third);
    if !computes {
        return None;
    }
    let word = Word {
        op: op as u8,
        d: RESULT,
        a: 0,
        b: 1,
        imm: 2,
    };
    let [a, b, c] = operands;
    let mut values = Values([a, b, c, 0]);
    step(word, 0, &mut values, &mut Nothing).ok()?;
    Some(values.0[usize::from(RESULT)])
}
