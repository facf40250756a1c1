//! What each word is: the half of a body that is as long as the table of instructions.

use super::{Body, Flow};
use crate::helpers::{Double, Float, FloatOp, Helper, Update, WideOp, WideUpdate, float_of_word};
use crate::ir::{Fun, Own, Value};
use crate::layout::{Arena, Held, Kind, Piece, plain_name, words_of};
use naga::{AtomicFunction, BinaryOperator as Bin, MathFunction as Math};
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::meaning::value;
use vyre_core::vir0::module::{BufferId, ReduceOp, Uniform};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

impl Body<'_, '_, '_> {
    /// What a word makes of values that are the same in every run; whether it is done.
    fn folded(&mut self, word: Word) -> bool {
        let row = op(&word).row();
        let third = match row.imm {
            Imm::Third => (row.d, word.third()),
            Imm::N | Imm::Literal => (Slot::N, 0),
            _ => return false,
        };
        if !matches!(row.d, Slot::W | Slot::D) || self.array.has(word.d) {
            return false;
        }
        let mut bits = [0; 3];
        let operands = [(row.a, word.a), (row.b, word.b), third];
        for ((slot, byte), bits) in operands.into_iter().zip(&mut bits) {
            let known = match slot {
                Slot::N | Slot::Flag => Some(0),
                Slot::W | Slot::OptW => self.known(byte, word).map(u64::from),
                Slot::D | Slot::OptD => {
                    let low = self.known(byte, word);
                    let high = self.known_high(byte, word);
                    low.zip(high)
                        .map(|(l, h)| u64::from(h) << 32 | u64::from(l))
                }
            };
            match known {
                Some(known) => *bits = known,
                None => return false,
            }
        }
        let Some(result) = value(op(&word), bits) else {
            return false;
        };
        let low = self.f.u(result as u32);
        self.set(word.d, low);
        if row.d == Slot::D {
            let high = self.f.u((result >> 32) as u32);
            self.set(word.d + 1, high);
        }
        true
    }

    fn known(&self, byte: u8, word: Word) -> Option<u32> {
        match byte.checked_sub(UNIFORM_BASE).map(usize::from) {
            None => self.f.known(*self.now.values.get(&byte)?),
            Some(_) if byte == IMM => Some(word.imm),
            Some(slot) => match self.kernel.uniforms[slot] {
                Uniform::Constant(c) => Some(self.program.constants[c.index()].bits as u32),
                _ => None,
            },
        }
    }

    fn known_high(&self, byte: u8, word: Word) -> Option<u32> {
        match byte.checked_sub(UNIFORM_BASE).map(usize::from) {
            None => self.f.known(*self.now.values.get(&(byte + 1))?),
            Some(_) if byte == IMM => Some((i64::from(word.imm as i32) >> 32) as u32),
            Some(slot) => match self.kernel.uniforms[slot] {
                Uniform::Constant(c) => Some((self.program.constants[c.index()].bits >> 32) as u32),
                _ => None,
            },
        }
    }

    fn words(&mut self, w: Word, op: Bin) -> Value {
        let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
        self.f.bin(op, a, b)
    }

    fn put(&mut self, w: Word, value: Value) {
        self.set(w.d, value);
    }

    fn signed_words(&mut self, w: Word, op: Bin) -> Value {
        let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
        let (a, b) = (self.f.signed(a), self.f.signed(b));
        self.f.bin(op, a, b)
    }

    fn pairs(&mut self, w: Word) -> (Value, Value) {
        (self.get64(w.a, w), self.get64(w.b, w))
    }

    fn floats(&mut self, w: Word, op: Bin) -> Value {
        let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
        let (a, b) = (self.f.float(a), self.f.float(b));
        self.f.bin(op, a, b)
    }

    fn put_truth(&mut self, w: Word, truth: Value) {
        let word = self.f.word_of(truth);
        self.set(w.d, word);
    }

    fn put_float(&mut self, w: Word, value: Value) {
        let bits = self.f.unsigned(value);
        self.set(w.d, bits);
    }

    fn float_math(&mut self, w: Word, fun: Math) {
        let a = self.get32(w.a, w);
        let a = self.f.float(a);
        let value = self.f.math(fun, &[a]);
        self.put_float(w, value);
    }

    fn helper(&mut self, w: Word, helper: Helper) {
        let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
        let value = self.f.call(helper, &[a, b]);
        self.set(w.d, value);
    }

    fn pair_helper(&mut self, w: Word, helper: Helper) {
        let (a, b) = self.pairs(w);
        let value = self.f.call(helper, &[a, b]);
        self.set64(w.d, value);
    }

    fn shift_helper(&mut self, w: Word, helper: Helper) {
        let (a, b) = (self.get64(w.a, w), self.get32(w.b, w));
        let value = self.f.call(helper, &[a, b]);
        self.set64(w.d, value);
    }

    fn shifted(&mut self, w: Word, op: Bin) -> Value {
        let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
        let b = self.masked(b, 31);
        self.f.bin(op, a, b)
    }

    fn masked(&mut self, word: Value, mask: u32) -> Value {
        match self.f.known(word) {
            Some(known) => self.f.u(known & mask),
            None => self.f.with(Bin::And, word, mask),
        }
    }

    fn checked_division(&mut self, pc: usize, w: Word, signed: bool) {
        let b = self.get32(w.b, w);
        let zero = self.f.with(Bin::Equal, b, 0);
        self.fault_if(pc, zero, TrapKind::DivideByZero, None);
        if signed {
            let a = self.get32(w.a, w);
            let least = self.f.with(Bin::Equal, a, 1 << 31);
            let minus = self.f.with(Bin::Equal, b, u32::MAX);
            let both = self.f.bin(Bin::LogicalAnd, least, minus);
            self.fault_if(pc, both, TrapKind::DivideOverflow, None);
        }
    }

    fn checked_division64(&mut self, pc: usize, w: Word, signed: bool) {
        let (low, high) = self.get_halves(w.b, w);
        let any = self.f.bin(Bin::InclusiveOr, low, high);
        let zero = self.f.with(Bin::Equal, any, 0);
        self.fault_if(pc, zero, TrapKind::DivideByZero, None);
        if signed {
            let (a_low, a_high) = self.get_halves(w.a, w);
            let wrong = [
                (a_low, 0),
                (a_high, 1 << 31),
                (low, u32::MAX),
                (high, u32::MAX),
            ];
            let wrong = wrong.map(|(half, bits)| self.f.with(Bin::Equal, half, bits));
            let [a, b, c, d] = wrong;
            let a = self.f.bin(Bin::LogicalAnd, a, b);
            let b = self.f.bin(Bin::LogicalAnd, c, d);
            let both = self.f.bin(Bin::LogicalAnd, a, b);
            self.fault_if(pc, both, TrapKind::DivideOverflow, None);
        }
    }

    /// The row of an array's element, as an index into the variable of arrays; checked.
    fn element(&mut self, pc: usize, w: Word, words: u32) -> Value {
        let (first, elements) = w.array();
        let mut index = self.get32(w.a, w);
        let len = self.f.u(elements.into());
        self.in_bounds(pc, index, len);
        // What always faults is nevertheless to be an element.
        if self
            .f
            .known(index)
            .is_some_and(|index| index >= elements.into())
        {
            index = self.f.u(0);
        }
        let (base, _) = self.array_rows();
        let mut at = index;
        if words != 1 {
            at = self.f.with(Bin::Multiply, at, words);
        }
        if first != base {
            at = self.f.plus(at, u32::from(first - base));
        }
        at
    }

    fn element_row(&mut self, at: Value, half: u32) -> Value {
        let (first, _) = self.array_rows();
        let _made = self.variable(first);
        let base = self.array_at.expect("it was just made");
        let at = if half == 0 { at } else { self.f.plus(at, half) };
        self.f.at(base, at)
    }

    /// The word of a buffer's element, whose index is checked, or its number in the buffer of 64-bit atomics.
    fn cell(&mut self, pc: usize, w: Word) -> (Value, Arena) {
        let buffer = BufferId(w.resource());
        let arena = self.f.m.layout.arena(buffer);
        let index = self.get32(w.a, w);
        let len = self.f.param(self.f.m.layout.length(Kind::Buffer, buffer.0));
        self.in_bounds(pc, index, len);
        if arena == Arena::Wide {
            let first = self.f.param(self.f.m.layout.at(Piece::Buffer(buffer.0)));
            let first = self.f.with(Bin::ShiftRight, first, 1);
            return (self.f.sum(first, index), arena);
        }
        let words = words_of(self.program.buffers[buffer.index()].scalar);
        let at = self.offset(Piece::Buffer(buffer.0), index, words);
        (at, arena)
    }

    fn offset(&mut self, piece: Piece, index: Value, words: u32) -> Value {
        let first = self.f.param(self.f.m.layout.at(piece));
        let index = match words {
            1 => index,
            words => self.f.with(Bin::Multiply, index, words),
        };
        self.f.sum(first, index)
    }

    /// A value's name: its field, and the line that asks for it.
    fn called(&mut self, pc: usize, value: Value, field: &str) {
        if let Some(line) = self.site(pc).map(|site| site.line) {
            let field = plain_name(field);
            self.f.name(value, format!("{field}_line_{line}"));
        }
    }

    fn load_words(&mut self, pc: usize, w: Word, words: u32) {
        let name = self.program.buffers[usize::from(w.resource())].name.clone();
        let (at, arena) = self.cell(pc, w);
        if arena == Arena::Wide {
            let value = self.f.call(Helper::Wide(WideOp::Load), &[at]);
            self.called(pc, value, &name);
            self.set64(w.d, value);
            return;
        }
        for half in 0..words {
            let at = if half == 0 { at } else { self.f.plus(at, half) };
            let pointer = self.f.memory(arena, at);
            let value = self.f.load(pointer);
            self.called(pc, value, &name);
            self.set(w.d + half as u8, value);
        }
    }

    fn store_words(&mut self, at: Value, arena: Arena, values: &[Value]) {
        if let (Arena::Wide, &[low, high]) = (arena, values) {
            let value = self.f.pair(low, high);
            self.f.act(Helper::Wide(WideOp::Store), &[at, value]);
            return;
        }
        for (half, &value) in (0..).zip(values) {
            let at = if half == 0 { at } else { self.f.plus(at, half) };
            let pointer = self.f.memory(arena, at);
            self.f.store(pointer, value);
        }
    }

    fn byte(&mut self, value: Value, scalar: Scalar) -> Value {
        self.masked(value, if scalar == Scalar::Bool { 1 } else { 255 })
    }

    fn atomic(&mut self, pc: usize, w: Word, fun: AtomicFunction) {
        let b = self.get32(w.b, w);
        let (at, arena) = self.cell(pc, w);
        let pointer = self.f.memory(arena, at);
        let old = self.f.atomic(pointer, fun, b);
        if w.d != IMM {
            self.set(w.d, old);
        }
    }

    fn update(&mut self, pc: usize, w: Word, update: Update) {
        let b = self.get32(w.b, w);
        let (at, _) = self.cell(pc, w);
        let old = self.f.call(Helper::Update(update), &[at, b]);
        if w.d != IMM {
            self.set(w.d, old);
        }
    }

    /// An atomic on 64 bits.
    fn atomic_wide(&mut self, pc: usize, w: Word, op: WideOp) {
        let value = self.get64(w.b, w);
        let (at, _) = self.cell(pc, w);
        let old = self.f.call(Helper::Wide(op), &[at, value]);
        self.set64(w.d, old);
    }

    /// One that is two, on both halves, where no other is asked of the buffer: the result is not read.
    fn atomic_halves(&mut self, pc: usize, w: Word, (fun, wide): (AtomicFunction, WideOp)) {
        if self.f.m.layout.arena(BufferId(w.resource())) == Arena::Wide {
            return self.atomic_wide(pc, w, wide);
        }
        let (low, high) = self.get_halves(w.b, w);
        let (at, arena) = self.cell(pc, w);
        let pointer = self.f.memory(arena, at);
        let old = self.f.atomic(pointer, fun, low);
        let above = self.f.plus(at, 1);
        let mut high = high;
        if fun == AtomicFunction::Add {
            // Whoever makes the low half wrap carries: all carries together are those of the sum.
            let sum = self.f.sum(old, low);
            let carry = self.f.bin(Bin::Less, sum, low);
            let carry = self.f.word_of(carry);
            high = self.f.sum(high, carry);
        }
        let pointer = self.f.memory(arena, above);
        self.f.atomic(pointer, fun, high);
    }

    fn csr(&mut self, pc: usize, w: Word, beyond: u32) {
        let topology = w.resource();
        let name = self.program.topologies[usize::from(topology)].name.clone();
        let node = self.get32(w.a, w);
        let nodes = self.nodes();
        self.in_bounds(pc, node, nodes);
        let node = if beyond == 0 {
            node
        } else {
            self.f.plus(node, beyond)
        };
        let at = self.offset(Piece::Offsets(topology), node, 1);
        let pointer = self.f.memory(Arena::Fixed, at);
        let value = self.f.load(pointer);
        self.called(
            pc,
            value,
            &format!("{name}_{}", ["begin", "end"][beyond as usize]),
        );
        self.set(w.d, value);
    }

    fn list_store(&mut self, w: Word, scalar: Scalar, values: &[Value]) {
        let (list, field, slot) = (w.resource(), w.field(), self.get32(w.a, w));
        let capacity = self.f.param(self.f.m.layout.length(Kind::List, list));
        let fits = self.f.bin(Bin::Less, slot, capacity);
        let words = words_of(scalar);
        self.when(fits, |body| {
            let at = body.offset(Piece::Field(list, field), slot, words);
            body.store_words(at, Arena::Plain, values);
        });
    }

    fn item_store(&mut self, w: Word, scalar: Scalar, values: &[Value]) {
        let (frontier, field, slot) = (w.resource(), w.field(), self.get32(w.a, w));
        let capacity = self
            .f
            .param(self.f.m.layout.length(Kind::Frontier, frontier));
        let fits = self.f.bin(Bin::Less, slot, capacity);
        let words = words_of(scalar);
        self.when(fits, |body| {
            let at = body.f.item_at((frontier, field), slot, words, true);
            body.store_words(at, Arena::Plain, values);
        });
    }

    fn list_field(&self, w: Word) -> Scalar {
        self.program.lists[usize::from(w.resource())].fields[usize::from(w.field())]
    }

    fn item_field(&self, w: Word) -> Scalar {
        self.program.frontiers[usize::from(w.resource())].fields[usize::from(w.field())]
    }

    fn reduce(&mut self, w: Word, value: &[Value]) {
        let id = w.resource();
        let reduction = &self.program.reductions[usize::from(id)];
        if reduction.op == ReduceOp::ExactSum {
            self.f.act(Helper::AddExact(id), value);
            return;
        }
        let own: Vec<Value> = (0..value.len() as u32)
            .map(|half| {
                let bits = reduction.op.identity(reduction.scalar) >> (32 * half);
                self.f.own(Own::Total(id, half, bits as u32))
            })
            .collect();
        let total: Vec<Value> = own.iter().map(|&own| self.f.load(own)).collect();
        let combined = combine(&mut self.f, (reduction.op, reduction.scalar), &total, value);
        for (own, value) in own.into_iter().zip(combined) {
            self.f.store(own, value);
        }
    }

    /// A word, and what it is to the walk.
    pub(super) fn act(&mut self, pc: usize, w: Word) -> Flow {
        if self.folded(w) {
            return Flow::On;
        }
        match op(&w) {
            Op::Mov32 => {
                let a = self.get32(w.a, w);
                self.put(w, a);
            }
            Op::Mov64 => {
                let (low, high) = self.get_halves(w.a, w);
                self.set(w.d, low);
                self.set(w.d + 1, high);
            }
            Op::LdU32 => {
                let value = self.uniform(w.imm as usize, 0);
                self.put(w, value);
            }
            Op::LdU64 => {
                let low = self.uniform(w.imm as usize, 0);
                let high = self.uniform(w.imm as usize, 1);
                self.set(w.d, low);
                self.set(w.d + 1, high);
            }
            Op::Sel32 => {
                let a = self.get32(w.a, w);
                let (b, c) = (self.get32(w.b, w), self.get32(w.third(), w));
                let a = self.f.truth(a);
                let value = self.f.select(a, b, c);
                self.put(w, value);
            }
            Op::Sel64 => {
                let a = self.get32(w.a, w);
                let (b, c) = (self.get_halves(w.b, w), self.get_halves(w.third(), w));
                let a = self.f.truth(a);
                let low = self.f.select(a, b.0, c.0);
                let high = self.f.select(a, b.1, c.1);
                self.set(w.d, low);
                self.set(w.d + 1, high);
            }
            Op::RowLd32 => {
                let at = self.element(pc, w, 1);
                let pointer = self.element_row(at, 0);
                let value = self.f.load(pointer);
                self.put(w, value);
            }
            Op::RowLd64 => {
                let at = self.element(pc, w, 2);
                let halves = [0, 1].map(|half| {
                    let pointer = self.element_row(at, half);
                    self.f.load(pointer)
                });
                self.set(w.d, halves[0]);
                self.set(w.d + 1, halves[1]);
            }
            Op::RowSt32 => {
                let value = self.get32(w.b, w);
                let at = self.element(pc, w, 1);
                let pointer = self.element_row(at, 0);
                self.f.store(pointer, value);
            }
            Op::RowSt64 => {
                let (low, high) = self.get_halves(w.b, w);
                let at = self.element(pc, w, 2);
                for (half, value) in [(0, low), (1, high)] {
                    let pointer = self.element_row(at, half);
                    self.f.store(pointer, value);
                }
            }
            Op::RowFill32 => {
                let (first, len) = w.array();
                let value = self.get32(w.a, w);
                for row in first..first + len {
                    self.set(row, value);
                }
            }
            Op::RowFill64 => {
                let (first, len) = w.array();
                let (low, high) = self.get_halves(w.a, w);
                for row in (first..first + 2 * len).step_by(2) {
                    self.set(row, low);
                    self.set(row + 1, high);
                }
            }
            Op::Add32 => {
                let value = self.words(w, Bin::Add);
                self.put(w, value);
            }
            Op::Sub32 => {
                let value = self.words(w, Bin::Subtract);
                self.put(w, value);
            }
            Op::Mul32 => {
                let value = self.words(w, Bin::Multiply);
                self.put(w, value);
            }
            Op::DivU32 | Op::RemU32 => {
                self.checked_division(pc, w, false);
                let op = [Bin::Modulo, Bin::Divide][usize::from(op(&w) == Op::DivU32)];
                let value = match self.known(w.b, w) {
                    Some(0) => self.f.u(0),
                    _ => self.words(w, op),
                };
                self.put(w, value);
            }
            Op::DivI32 | Op::RemI32 => {
                self.checked_division(pc, w, true);
                let op = [Bin::Modulo, Bin::Divide][usize::from(op(&w) == Op::DivI32)];
                let value = match (self.known(w.a, w), self.known(w.b, w)) {
                    // What is known and was not folded faults.
                    (_, Some(0)) | (Some(_), Some(_)) => self.f.u(0),
                    _ => {
                        let value = self.signed_words(w, op);
                        self.f.unsigned(value)
                    }
                };
                self.put(w, value);
            }
            Op::MinU32 | Op::MaxU32 => {
                let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
                let fun = [Math::Max, Math::Min][usize::from(op(&w) == Op::MinU32)];
                let value = self.f.math(fun, &[a, b]);
                self.put(w, value);
            }
            Op::MinI32 | Op::MaxI32 => {
                let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
                let fun = [Math::Max, Math::Min][usize::from(op(&w) == Op::MinI32)];
                let value = self.f.signed_math(fun, a, b);
                self.put(w, value);
            }
            Op::And32 => {
                let value = self.words(w, Bin::And);
                self.put(w, value);
            }
            Op::Or32 => {
                let value = self.words(w, Bin::InclusiveOr);
                self.put(w, value);
            }
            Op::Xor32 => {
                let value = self.words(w, Bin::ExclusiveOr);
                self.put(w, value);
            }
            Op::Shl32 => {
                let value = self.shifted(w, Bin::ShiftLeft);
                self.put(w, value);
            }
            Op::ShrU32 => {
                let value = self.shifted(w, Bin::ShiftRight);
                self.put(w, value);
            }
            Op::ShrI32 => {
                let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
                let (a, b) = (self.f.signed(a), self.masked(b, 31));
                let value = self.f.bin(Bin::ShiftRight, a, b);
                let value = self.f.unsigned(value);
                self.put(w, value);
            }
            Op::Rotl32 => {
                let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
                let by = self.masked(b, 31);
                let all = self.f.u(32);
                let back = match self.f.known(by) {
                    Some(by) => self.f.u((32 - by) & 31),
                    None => {
                        let back = self.f.bin(Bin::Subtract, all, by);
                        self.f.with(Bin::And, back, 31)
                    }
                };
                let left = self.f.bin(Bin::ShiftLeft, a, by);
                let right = self.f.bin(Bin::ShiftRight, a, back);
                let value = self.f.bin(Bin::InclusiveOr, left, right);
                self.put(w, value);
            }
            Op::Popc32 => self.word_math(w, Math::CountOneBits),
            Op::Clz32 => self.word_math(w, Math::CountLeadingZeros),
            Op::Ctz32 => self.word_math(w, Math::CountTrailingZeros),

            Op::Add64 => self.pair_helper(w, Helper::Add64),
            Op::Sub64 => self.pair_helper(w, Helper::Sub64),
            Op::Mul64 => self.pair_helper(w, Helper::Mul64),
            Op::DivU64 | Op::RemU64 => {
                self.checked_division64(pc, w, false);
                let (a, b) = self.pairs(w);
                let both = self.f.call(Helper::Divide64, &[a, b]);
                let first = 2 * u32::from(op(&w) == Op::RemU64);
                let (low, high) = (self.f.part(both, first), self.f.part(both, first + 1));
                self.set(w.d, low);
                self.set(w.d + 1, high);
            }
            Op::DivI64 => {
                self.checked_division64(pc, w, true);
                self.pair_helper(w, Helper::DivideSigned64);
            }
            Op::RemI64 => {
                self.checked_division64(pc, w, true);
                self.pair_helper(w, Helper::RemainderSigned64);
            }
            Op::MinU64 => self.nearer64(w, Helper::Less64, false),
            Op::MinI64 => self.nearer64(w, Helper::LessSigned64, false),
            Op::MaxU64 => self.nearer64(w, Helper::Less64, true),
            Op::MaxI64 => self.nearer64(w, Helper::LessSigned64, true),
            Op::And64 => self.both_halves(w, Bin::And),
            Op::Or64 => self.both_halves(w, Bin::InclusiveOr),
            Op::Xor64 => self.both_halves(w, Bin::ExclusiveOr),
            Op::Shl64 => self.shift_helper(w, Helper::ShiftLeft64),
            Op::ShrU64 => self.shift_helper(w, Helper::ShiftRight64),
            Op::ShrI64 => self.shift_helper(w, Helper::ShiftRightSigned64),
            Op::Rotl64 => self.shift_helper(w, Helper::Rotate64),
            Op::Popc64 => {
                let (low, high) = self.get_halves(w.a, w);
                let low = self.f.math(Math::CountOneBits, &[low]);
                let high = self.f.math(Math::CountOneBits, &[high]);
                let value = self.f.sum(low, high);
                self.put(w, value);
            }
            Op::Clz64 => {
                let a = self.get64(w.a, w);
                let value = self.f.call(Helper::Leading64, &[a]);
                self.put(w, value);
            }
            Op::Ctz64 => {
                let a = self.get64(w.a, w);
                let value = self.f.call(Helper::Trailing64, &[a]);
                self.put(w, value);
            }
            Op::MulHiU64 => self.pair_helper(w, Helper::MulHigh64),

            Op::ExpF32 => self.float_math(w, Math::Exp),
            Op::LnF32 => self.float_math(w, Math::Log),
            Op::SinF32 => self.float_math(w, Math::Sin),
            Op::CosF32 => self.float_math(w, Math::Cos),

            Op::AddF32 => {
                let value = self.floats(w, Bin::Add);
                self.put_float(w, value);
            }
            Op::SubF32 => {
                let value = self.floats(w, Bin::Subtract);
                self.put_float(w, value);
            }
            Op::MulF32 => {
                let value = self.floats(w, Bin::Multiply);
                self.put_float(w, value);
            }
            Op::DivF32 => {
                let value = self.floats(w, Bin::Divide);
                self.put_float(w, value);
            }
            Op::RemF32 => self.helper(w, Helper::Float(Float::F32, FloatOp::Remainder)),
            Op::MinF32 => self.helper(w, Helper::Float(Float::F32, FloatOp::Min)),
            Op::MaxF32 => self.helper(w, Helper::Float(Float::F32, FloatOp::Max)),
            Op::FmaF32 => {
                let operands = [w.a, w.b, w.third()].map(|byte| {
                    let word = self.get32(byte, w);
                    self.f.float(word)
                });
                let value = self.f.math(Math::Fma, &operands);
                self.put_float(w, value);
            }
            Op::SqrtF32 => self.float_math(w, Math::Sqrt),
            Op::FloorF32 => self.float_math(w, Math::Floor),
            Op::CeilF32 => self.float_math(w, Math::Ceil),
            Op::RoundF32 => {
                let a = self.get32(w.a, w);
                let value = self.f.call(Helper::Float(Float::F32, FloatOp::Round), &[a]);
                self.put(w, value);
            }
            Op::TruncF32 => self.float_math(w, Math::Trunc),

            Op::Eq32 => self.compare(w, Bin::Equal),
            Op::Ne32 => self.compare(w, Bin::NotEqual),
            Op::LtU32 => self.compare(w, Bin::Less),
            Op::LeU32 => self.compare(w, Bin::LessEqual),
            Op::LtI32 => {
                let truth = self.signed_words(w, Bin::Less);
                self.put_truth(w, truth);
            }
            Op::LeI32 => {
                let truth = self.signed_words(w, Bin::LessEqual);
                self.put_truth(w, truth);
            }
            Op::EqF32 => {
                let truth = self.floats(w, Bin::Equal);
                self.put_truth(w, truth);
            }
            Op::NeF32 => {
                let truth = self.floats(w, Bin::NotEqual);
                self.put_truth(w, truth);
            }
            Op::LtF32 => {
                let truth = self.floats(w, Bin::Less);
                self.put_truth(w, truth);
            }
            Op::LeF32 => {
                let truth = self.floats(w, Bin::LessEqual);
                self.put_truth(w, truth);
            }
            Op::Eq64 | Op::Ne64 => {
                let (a, b) = (self.get_halves(w.a, w), self.get_halves(w.b, w));
                let low = self.f.bin(Bin::Equal, a.0, b.0);
                let high = self.f.bin(Bin::Equal, a.1, b.1);
                let mut truth = self.f.bin(Bin::LogicalAnd, low, high);
                if op(&w) == Op::Ne64 {
                    truth = self.f.not(truth);
                }
                self.put_truth(w, truth);
            }
            Op::LtU64 => self.less64(w, Helper::Less64, false),
            Op::LeU64 => self.less64(w, Helper::Less64, true),
            Op::LtI64 => self.less64(w, Helper::LessSigned64, false),
            Op::LeI64 => self.less64(w, Helper::LessSigned64, true),

            Op::Zext64 => {
                let (low, zero) = (self.get32(w.a, w), self.f.u(0));
                self.set(w.d, low);
                self.set(w.d + 1, zero);
            }
            Op::Sext64 => {
                let low = self.get32(w.a, w);
                let sign = self.f.signed(low);
                let sign = self.f.with(Bin::ShiftRight, sign, 31);
                let sign = self.f.unsigned(sign);
                self.set(w.d, low);
                self.set(w.d + 1, sign);
            }
            Op::Wrap32 => {
                let (low, _) = self.get_halves(w.a, w);
                self.put(w, low);
            }
            Op::F32FromU32 | Op::F32FromI32 => {
                let a = self.get32(w.a, w);
                let value = float_of_word(&mut self.f, a, op(&w) == Op::F32FromI32);
                self.put(w, value);
            }
            Op::F32FromU64 | Op::F32FromI64 => {
                let a = self.get64(w.a, w);
                let helper = match op(&w) == Op::F32FromU64 {
                    true => Helper::F32FromU64,
                    false => Helper::F32FromI64,
                };
                let value = self.f.call(helper, &[a]);
                self.put(w, value);
            }
            Op::U32FromF32 => self.integer_of_float(w, Helper::Float(Float::F32, FloatOp::ToU32)),
            Op::I32FromF32 => self.integer_of_float(w, Helper::Float(Float::F32, FloatOp::ToI32)),
            Op::U64FromF32 | Op::I64FromF32 => {
                let a = self.get32(w.a, w);
                let helper = match op(&w) == Op::U64FromF32 {
                    true => Helper::Float(Float::F32, FloatOp::ToU64),
                    false => Helper::Float(Float::F32, FloatOp::ToI64),
                };
                let value = self.f.call(helper, &[a]);
                self.set64(w.d, value);
            }

            Op::Ld8 | Op::Ld32 | Op::AtomLd32 => self.load_words(pc, w, 1),
            Op::Ld64 | Op::AtomLd64 => self.load_words(pc, w, 2),
            Op::St8 => {
                let scalar = self.program.buffers[usize::from(w.resource())].scalar;
                let value = self.get32(w.b, w);
                let value = self.byte(value, scalar);
                let (at, arena) = self.cell(pc, w);
                self.store_words(at, arena, &[value]);
            }
            Op::St32 | Op::AtomSt32 => {
                let value = self.get32(w.b, w);
                let (at, arena) = self.cell(pc, w);
                self.store_words(at, arena, &[value]);
            }
            Op::St64 | Op::AtomSt64 => {
                let (low, high) = self.get_halves(w.b, w);
                let (at, arena) = self.cell(pc, w);
                self.store_words(at, arena, &[low, high]);
            }
            Op::Len => {
                let len = self
                    .f
                    .param(self.f.m.layout.length(Kind::Buffer, w.resource()));
                self.put(w, len);
            }
            Op::CsrBegin => self.csr(pc, w, 0),
            Op::CsrEnd => self.csr(pc, w, 1),
            Op::CsrTarget => {
                let topology = w.resource();
                let name = self.program.topologies[usize::from(topology)].name.clone();
                let edge = self.get32(w.a, w);
                let edges = self.f.param(self.f.m.layout.length(Kind::Edges, topology));
                self.in_bounds(pc, edge, edges);
                let at = self.offset(Piece::Targets(topology), edge, 1);
                let pointer = self.f.memory(Arena::Fixed, at);
                let value = self.f.load(pointer);
                self.called(pc, value, &format!("{name}_target"));
                self.put(w, value);
            }

            Op::AtomSwap32 => self.atomic(pc, w, AtomicFunction::Exchange { compare: None }),
            Op::AtomCas32 => {
                let (expected, value) = (self.get32(w.b, w), self.get32(w.third(), w));
                let (at, _) = self.cell(pc, w);
                let done = self.f.call(Helper::CompareExchange, &[at, expected, value]);
                if w.d != IMM {
                    self.put(w, done);
                }
            }
            Op::AtomAdd32 => self.atomic(pc, w, AtomicFunction::Add),
            Op::AtomAddF32 => self.update(pc, w, Update::AddF32),
            Op::AtomMinU32 => self.update(pc, w, Update::MinU32),
            Op::AtomMaxU32 => self.update(pc, w, Update::MaxU32),
            Op::AtomMinI32 => self.update(pc, w, Update::MinI32),
            Op::AtomMaxI32 => self.update(pc, w, Update::MaxI32),
            Op::AtomMinF32 => self.update(pc, w, Update::MinF32),
            Op::AtomMaxF32 => self.update(pc, w, Update::MaxF32),
            Op::AtomAnd32 => self.update(pc, w, Update::And),
            Op::AtomOr32 => self.update(pc, w, Update::Or),
            Op::AtomXor32 => self.atomic(pc, w, AtomicFunction::ExclusiveOr),
            Op::AtomAdd64 => self.atomic_halves(pc, w, (AtomicFunction::Add, WideOp::Add)),
            Op::AtomAnd64 => self.atomic_halves(pc, w, (AtomicFunction::And, WideOp::And)),
            Op::AtomOr64 => self.atomic_halves(pc, w, (AtomicFunction::InclusiveOr, WideOp::Or)),
            Op::AtomXor64 => self.atomic_halves(pc, w, (AtomicFunction::ExclusiveOr, WideOp::Xor)),

            Op::Push => {
                let (node, nodes) = (self.get32(w.a, w), self.nodes());
                self.in_bounds(pc, node, nodes);
                self.f.act(Helper::Push(w.resource()), &[node]);
            }
            Op::Reduce32 => {
                let value = self.get32(w.a, w);
                self.reduce(w, &[value]);
            }
            Op::Reduce64 => {
                let (low, high) = self.get_halves(w.a, w);
                self.reduce(w, &[low, high]);
            }
            Op::Append => {
                let tail = self
                    .f
                    .control(self.f.m.layout.control(Held::ListTail(w.resource())));
                let one = self.f.u(1);
                let slot = self.f.atomic(tail, AtomicFunction::Add, one);
                self.put(w, slot);
            }
            Op::PushItem => {
                let one = self.f.u(1);
                let slot = self.f.reserve(w.resource(), one);
                self.put(w, slot);
            }
            Op::ListSt8 => {
                let value = self.get32(w.b, w);
                let value = self.byte(value, self.list_field(w));
                self.list_store(w, self.list_field(w), &[value]);
            }
            Op::ListSt32 => {
                let value = self.get32(w.b, w);
                self.list_store(w, self.list_field(w), &[value]);
            }
            Op::ListSt64 => {
                let (low, high) = self.get_halves(w.b, w);
                self.list_store(w, self.list_field(w), &[low, high]);
            }
            Op::ItemSt8 => {
                let value = self.get32(w.b, w);
                let value = self.byte(value, self.item_field(w));
                self.item_store(w, self.item_field(w), &[value]);
            }
            Op::ItemSt32 => {
                let value = self.get32(w.b, w);
                self.item_store(w, self.item_field(w), &[value]);
            }
            Op::ItemSt64 => {
                let (low, high) = self.get_halves(w.b, w);
                self.item_store(w, self.item_field(w), &[low, high]);
            }

            Op::Assert => {
                let a = self.get32(w.a, w);
                let truth = self.f.truth(a);
                let wrong = self.f.not(truth);
                let kind = TrapKind::from_code(w.imm).expect("verified code has known traps");
                self.fault_if(pc, wrong, kind, None);
            }
            Op::Check => {
                let (a, b) = (self.get32(w.a, w), self.get32(w.b, w));
                self.in_bounds(pc, a, b);
            }

            Op::AddF64 => self.pair_helper(w, Helper::Double(Double::Add)),
            Op::SubF64 => self.pair_helper(w, Helper::Double(Double::Sub)),
            Op::MulF64 => self.pair_helper(w, Helper::Double(Double::Mul)),
            Op::DivF64 => self.pair_helper(w, Helper::Double(Double::Div)),
            Op::RemF64 => self.pair_helper(w, Helper::Float(Float::F64, FloatOp::Remainder)),
            Op::MinF64 => self.pair_helper(w, Helper::Float(Float::F64, FloatOp::Min)),
            Op::MaxF64 => self.pair_helper(w, Helper::Float(Float::F64, FloatOp::Max)),
            Op::FmaF64 => {
                let operands = [w.a, w.b, w.third()].map(|byte| self.get64(byte, w));
                let value = self.f.call(Helper::Double(Double::Fma), &operands);
                self.set64(w.d, value);
            }
            Op::SqrtF64 => self.pair_of_pair(w, Helper::Double(Double::Sqrt)),
            Op::FloorF64 => self.pair_of_pair(w, Helper::Double(Double::Floor)),
            Op::CeilF64 => self.pair_of_pair(w, Helper::Double(Double::Ceil)),
            Op::RoundF64 => self.pair_of_pair(w, Helper::Float(Float::F64, FloatOp::Round)),
            Op::TruncF64 => self.pair_of_pair(w, Helper::Double(Double::Trunc)),
            Op::EqF64 => self.less64(w, Helper::Double(Double::Equal), false),
            Op::NeF64 => self.less64(w, Helper::Double(Double::NotEqual), false),
            Op::LtF64 => self.less64(w, Helper::Double(Double::Less), false),
            Op::LeF64 => self.less64(w, Helper::Double(Double::LessEqual), false),
            Op::F64FromF32 => self.double_of_word(w, Double::FromF32),
            Op::F64FromU32 => self.double_of_word(w, Double::FromU32),
            Op::F64FromI32 => self.double_of_word(w, Double::FromI32),
            Op::F64FromU64 => self.pair_of_pair(w, Helper::Double(Double::FromU64)),
            Op::F64FromI64 => self.pair_of_pair(w, Helper::Double(Double::FromI64)),
            Op::U64FromF64 => self.pair_of_pair(w, Helper::Float(Float::F64, FloatOp::ToU64)),
            Op::I64FromF64 => self.pair_of_pair(w, Helper::Float(Float::F64, FloatOp::ToI64)),
            Op::F32FromF64 => self.word_of_pair(w, Helper::Double(Double::ToF32)),
            Op::U32FromF64 => self.word_of_pair(w, Helper::Float(Float::F64, FloatOp::ToU32)),
            Op::I32FromF64 => self.word_of_pair(w, Helper::Float(Float::F64, FloatOp::ToI32)),

            Op::AtomSwap64 => self.atomic_wide(pc, w, WideOp::Swap),
            Op::AtomMinU64 => self.atomic_wide(pc, w, WideOp::Min),
            Op::AtomMaxU64 => self.atomic_wide(pc, w, WideOp::Max),
            Op::AtomMinI64 => self.atomic_wide(pc, w, WideOp::Update(WideUpdate::MinI64)),
            Op::AtomMaxI64 => self.atomic_wide(pc, w, WideOp::Update(WideUpdate::MaxI64)),
            Op::AtomAddF64 => self.atomic_wide(pc, w, WideOp::Update(WideUpdate::AddF64)),
            Op::AtomMinF64 => self.atomic_wide(pc, w, WideOp::Update(WideUpdate::MinF64)),
            Op::AtomMaxF64 => self.atomic_wide(pc, w, WideOp::Update(WideUpdate::MaxF64)),
            Op::AtomCas64 => {
                let (expected, value) = (self.get64(w.b, w), self.get64(w.third(), w));
                let (at, _) = self.cell(pc, w);
                let helper = Helper::Wide(WideOp::CompareExchange);
                let done = self.f.call(helper, &[at, value, expected]);
                if w.d != IMM {
                    self.put(w, done);
                }
            }

            Op::ExpF64 | Op::LnF64 | Op::SinF64 | Op::CosF64 => {
                unreachable!("the table refuses waves with these")
            }

            Op::If => return Flow::If,
            Op::Loop => return Flow::Loop,
            Op::Break => return Flow::Leave { again: false },
            Op::Continue => return Flow::Leave { again: true },
            Op::BreakIf => return Flow::LeaveIf(true),
            Op::BreakUnless => return Flow::LeaveIf(false),
            Op::Ret => {
                let nothing = self.f.u(0);
                self.f.give(self.condition.then_some(nothing));
                return Flow::Done;
            }
            Op::RetV => {
                let a = self.get32(w.a, w);
                self.f.give(Some(a));
                return Flow::Done;
            }
            Op::Trap => {
                let none = self.f.u(0);
                let kind = TrapKind::from_code(w.imm).expect("verified code has known traps");
                let kind = self.kind(kind);
                self.fault(pc, kind, (none, none));
                return Flow::Done;
            }
            Op::Else | Op::EndIf | Op::EndLoop => unreachable!("a block's walk ends before these"),
        }
        Flow::On
    }

    fn pair_of_pair(&mut self, w: Word, helper: Helper) {
        let a = self.get64(w.a, w);
        let value = self.f.call(helper, &[a]);
        self.set64(w.d, value);
    }

    fn double_of_word(&mut self, w: Word, double: Double) {
        let a = self.get32(w.a, w);
        let value = self.f.call(Helper::Double(double), &[a]);
        self.set64(w.d, value);
    }

    fn word_of_pair(&mut self, w: Word, helper: Helper) {
        let a = self.get64(w.a, w);
        let value = self.f.call(helper, &[a]);
        self.put(w, value);
    }

    fn word_math(&mut self, w: Word, fun: Math) {
        let a = self.get32(w.a, w);
        let value = self.f.math(fun, &[a]);
        self.put(w, value);
    }

    fn compare(&mut self, w: Word, op: Bin) {
        let truth = self.words(w, op);
        self.put_truth(w, truth);
    }

    fn integer_of_float(&mut self, w: Word, helper: Helper) {
        let a = self.get32(w.a, w);
        let value = self.f.call(helper, &[a]);
        self.put(w, value);
    }

    /// `a < b`, or `a <= b`, which is no `b < a`.
    fn less64(&mut self, w: Word, helper: Helper, or_equal: bool) {
        let (a, b) = self.pairs(w);
        let truth = match or_equal {
            false => self.f.call(helper, &[a, b]),
            true => {
                let greater = self.f.call(helper, &[b, a]);
                self.f.not(greater)
            }
        };
        self.put_truth(w, truth);
    }

    fn nearer64(&mut self, w: Word, helper: Helper, larger: bool) {
        let (a, b) = self.pairs(w);
        let less = self.f.call(helper, &[a, b]);
        let value = match larger {
            false => self.f.select(less, a, b),
            true => self.f.select(less, b, a),
        };
        self.set64(w.d, value);
    }

    fn both_halves(&mut self, w: Word, op: Bin) {
        let (a, b) = (self.get_halves(w.a, w), self.get_halves(w.b, w));
        let low = self.f.bin(op, a.0, b.0);
        let high = self.f.bin(op, a.1, b.1);
        self.set(w.d, low);
        self.set(w.d + 1, high);
    }
}

/// A reduction's total with another taken in: halves, or the words of an exact sum.
pub(crate) fn combine(
    f: &mut Fun<'_, '_>,
    (op, scalar): (ReduceOp, Scalar),
    total: &[Value],
    value: &[Value],
) -> Vec<Value> {
    let bits = |f: &mut Fun<'_, '_>, op| {
        let halves = total.iter().zip(value);
        halves.map(|(&a, &b)| f.bin(op, a, b)).collect()
    };
    let wide = scalar.rows() == 2;
    let whole = |f: &mut Fun<'_, '_>| {
        let a = f.pair(total[0], total[1]);
        (a, f.pair(value[0], value[1]))
    };
    let parts = |f: &mut Fun<'_, '_>, value| {
        let (low, high) = f.halves(value);
        vec![low, high]
    };
    let (a, b) = (total[0], value[0]);
    match (op, scalar) {
        (ReduceOp::ExactSum, _) => f.exact_sum(total, value),
        (ReduceOp::Or, _) | (ReduceOp::Sum | ReduceOp::Max, Scalar::Bool) => {
            bits(f, Bin::InclusiveOr)
        }
        (ReduceOp::And, _) | (ReduceOp::Min, Scalar::Bool) => bits(f, Bin::And),
        (ReduceOp::Sum | ReduceOp::Min | ReduceOp::Max, Scalar::F64) => {
            let (a, b) = whole(f);
            let helper = match op {
                ReduceOp::Sum => Helper::Double(Double::Add),
                ReduceOp::Min => Helper::Float(Float::F64, FloatOp::Min),
                _ => Helper::Float(Float::F64, FloatOp::Max),
            };
            let value = f.call(helper, &[a, b]);
            parts(f, value)
        }
        (ReduceOp::Sum, _) if wide => {
            let (a, b) = whole(f);
            let sum = f.call(Helper::Add64, &[a, b]);
            parts(f, sum)
        }
        (ReduceOp::Min | ReduceOp::Max, _) if wide => {
            let (a, b) = whole(f);
            let less = match scalar {
                Scalar::I64 => Helper::LessSigned64,
                _ => Helper::Less64,
            };
            let less = f.call(less, &[a, b]);
            let nearer = match op {
                ReduceOp::Min => f.select(less, a, b),
                _ => f.select(less, b, a),
            };
            parts(f, nearer)
        }
        (ReduceOp::Sum, Scalar::F32) => {
            let (x, y) = (f.float(a), f.float(b));
            let sum = f.sum(x, y);
            vec![f.unsigned(sum)]
        }
        (ReduceOp::Sum, Scalar::U8) => {
            let sum = f.sum(a, b);
            vec![f.with(Bin::And, sum, 255)]
        }
        (ReduceOp::Sum, _) => vec![f.sum(a, b)],
        (ReduceOp::Min, Scalar::F32) => {
            vec![f.call(Helper::Float(Float::F32, FloatOp::Min), &[a, b])]
        }
        (ReduceOp::Max, Scalar::F32) => {
            vec![f.call(Helper::Float(Float::F32, FloatOp::Max), &[a, b])]
        }
        (ReduceOp::Min, Scalar::I32) => vec![f.signed_math(Math::Min, a, b)],
        (ReduceOp::Max, Scalar::I32) => vec![f.signed_math(Math::Max, a, b)],
        (ReduceOp::Min, _) => vec![f.math(Math::Min, &[a, b])],
        (ReduceOp::Max, _) => vec![f.math(Math::Max, &[a, b])],
    }
}
