//! Words that compute: a value of operands, or of a local array.

use crate::shader::body::{Body, pair};
use crate::shader::forms::Form;
use vyre_core::vir0::isa::{IMM, Op, Slot, Word};
use vyre_core::vir0::meaning;
use vyre_core::vir0::trap::TrapKind;

impl Body<'_> {
    /// A value of the operands alone.
    pub(super) fn value(&mut self, op: Op, word: Word, form: Form) {
        let row = op.row();
        let literals = [(row.a, word.a), (row.b, word.b)];
        let mut operands = literals.iter().filter(|(slot, _)| *slot != Slot::N);
        // WGSL would compute literals as well, and refuse those that overflow.
        if row.a != Slot::N && operands.all(|&(_, byte)| byte == IMM) {
            let bits = word.imm as i32 as i64 as u64;
            if let Some(bits) = meaning::value(op, [bits, bits, 0]) {
                let value = match row.d {
                    Slot::D | Slot::OptD => pair(bits),
                    Slot::N | Slot::W | Slot::OptW => format!("{}u", bits as u32),
                };
                return self.set(word, row.d, &value);
            }
        }
        let is_float = row.mnemonic.contains(".f32") && !row.mnemonic.starts_with("cvt");
        if is_float
            && literals
                .iter()
                .any(|&(slot, byte)| slot != Slot::N && byte == IMM)
        {
            self.aside = Some(format!("{:?}", f32::from_bits(word.imm)));
        }
        let a = self.get(word, row.a, word.a);
        let b = self.get(word, row.b, word.b);
        let value = match form {
            Form::Same => a,
            Form::Infix(operator) => format!("{a} {operator} {b}"),
            Form::Compare(operator) => format!("u32({a} {operator} {b})"),
            Form::CompareSigned(operator) => {
                format!("u32(bitcast<i32>({a}) {operator} bitcast<i32>({b}))")
            }
            Form::Builtin(name) if row.b == Slot::N => format!("{name}({a})"),
            Form::Builtin(name) => format!("{name}({a}, {b})"),
            Form::Shift(operator) => format!("{a} {operator} {}", masked(word, &b)),
            Form::ShiftSigned => {
                format!("bitcast<u32>(bitcast<i32>({a}) >> {})", masked(word, &b))
            }
            Form::Extend => format!("vec2({a}, 0u)"),
            Form::Low => format!("{a}.x"),
            Form::Uniform => match row.d {
                Slot::D => self.uniform(word.imm),
                Slot::N | Slot::W | Slot::OptW | Slot::OptD => {
                    format!("{}.x", self.uniform(word.imm))
                }
            },
            Form::Select => {
                let c = self.third(op, word).unwrap_or_default();
                format!("select({c}, {b}, {a} != 0u)")
            }
            _ => self.call(op, word),
        };
        self.set(word, row.d, &value);
    }

    /// A call of the function that has the instruction's name.
    fn call(&mut self, op: Op, word: Word) -> String {
        let row = op.row();
        let mut operands = vec![self.get(word, row.a, word.a)];
        if row.b != Slot::N {
            operands.push(self.get(word, row.b, word.b));
        }
        operands.extend(self.third(op, word));
        format!("{}({})", name(op), operands.join(", "))
    }

    /// A quotient or remainder. Whether it certainly faults.
    pub(super) fn divide(&mut self, pc: u32, op: Op, word: Word) -> bool {
        let row = op.row();
        let (a, b) = (self.get(word, row.a, word.a), self.get(word, row.b, word.b));
        let ty = row.mnemonic.split('.').next_back().unwrap_or_default();
        let signed = ty.starts_with('i');
        let literal = (word.b == IMM).then_some(word.imm as i32);
        if let Some(divisor) = literal
            && (divisor == 0
                || word.a == IMM
                    && meaning::value(op, [word.imm as i32 as i64 as u64; 3]).is_none())
        {
            let kind = if divisor == 0 {
                TrapKind::DivideByZero
            } else {
                TrapKind::DivideOverflow
            };
            self.fault(pc, kind as u32);
            return true;
        }
        let may_fault = match literal {
            Some(divisor) => signed && divisor == -1,
            None => true,
        };
        if may_fault {
            let of = if signed {
                format!("{a}, {b}")
            } else {
                b.clone()
            };
            let leave = self.leave();
            self.line(&format!("if cannot_divide_{ty}({pc}u, {of}) {{ {leave} }}"));
        }
        let operator = if row.mnemonic.starts_with("div") {
            "/"
        } else {
            "%"
        };
        let value = match (row.d, signed) {
            (Slot::D, _) => self.call(op, word),
            (_, true) => format!("bitcast<u32>(bitcast<i32>({a}) {operator} bitcast<i32>({b}))"),
            (_, false) => format!("{a} {operator} {b}"),
        };
        self.set(word, row.d, &value);
        false
    }

    /// A fault that certainly happens here.
    pub(super) fn fault(&mut self, pc: u32, kind: u32) {
        let name = TrapKind::from_code(kind).map(|kind| format!("{kind:?}"));
        self.aside = name;
        self.line(&format!("fault({pc}u, {kind}u, vec2(0u, 0u), 0u);"));
        let leave = self.leave();
        self.line(leave);
    }

    /// Asks whether an index is inside, and leaves the kernel where it is not.
    pub(super) fn inside(&mut self, pc: u32, index: &str, len: &str) {
        let leave = self.leave();
        self.line(&format!("if outside({pc}u, {index}, {len}) {{ {leave} }}"));
    }

    /// A word on a local array.
    pub(super) fn array(&mut self, pc: u32, op: Op, word: Word, form: Form) {
        let row = op.row();
        let (first, len) = word.array();
        let wide = row.element_rows() == 2;
        if form == Form::RowFill {
            let x = self.get(word, row.a, word.a);
            let (low, high) = match wide {
                false => (self.element(first, "i"), None),
                true => (
                    self.element(first, "2u * i"),
                    Some(self.element(first + 1, "2u * i")),
                ),
            };
            let stores = match high {
                None => format!("{low} = x;"),
                Some(high) => format!("{low} = x.x; {high} = x.y;"),
            };
            return self.line(&format!(
                "{{ let x = {x}; for (var i = 0u; i < {len}u; i++) {{ {stores} }} }}"
            ));
        }
        let index = self.get32(word, word.a);
        self.inside(pc, &index, &format!("{len}u"));
        if !wide {
            let element = self.element(first, &index);
            if form == Form::RowLoad {
                return self.set32(word.d, &element);
            }
            let b = self.get32(word, word.b);
            return self.line(&format!("{element} = {b};"));
        }
        let (low, high) = (self.element(first, "i"), self.element(first + 1, "i"));
        if form == Form::RowLoad {
            let twice = format!("2u * {index}");
            let (low, high) = (self.element(first, &twice), self.element(first + 1, &twice));
            return self.set64(word.d, &format!("vec2({low}, {high})"));
        }
        let b = self.get64(word, word.b);
        self.line(&format!(
            "{{ let x = {b}; let i = 2u * {index}; {low} = x.x; {high} = x.y; }}"
        ));
    }
}

/// The name of the function that does what an instruction does.
pub(super) fn name(op: Op) -> String {
    op.row().mnemonic.replace('.', "_")
}

/// The amount of a shift of 32 bits.
fn masked(word: Word, amount: &str) -> String {
    match word.b {
        IMM => format!("{}u", word.imm & 31),
        _ => format!("({amount} & 31u)"),
    }
}
