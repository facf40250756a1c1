//! Jump tables: follows values through a function's instructions, in the order of their addresses.
//!
//! The forms are those of gcc, clang and rustc. A table of 32-bit offsets: its address is taken by `lea`, an entry is
//! loaded by an index, the address is added, and the sum is jumped to. A table of addresses: an entry is loaded and
//! jumped to, or jumped to at once. The number of entries is what the index was compared with before a jump for larger
//! ones (`cmp`, `ja`), or masked with.

use iced_x86::{Instruction, Mnemonic, OpAccess, OpKind, Register, UsedRegister};
use std::collections::HashMap;

/// A jump table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) address: u64,
    pub(super) kind: Entries,
    /// How many entries it has, where the code says so.
    pub(super) len: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    /// Signed 32-bit offsets from the table.
    Offsets,
    /// Addresses.
    Addresses,
}

/// What a general register holds. Values that are not known have numbers, so that equal ones are seen.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Number(u32),
    Address(u64),
    /// Four times a number.
    Scaled(u32),
    /// An entry of a table of offsets, by a number.
    Entry(u64, u32),
    /// The place that such an entry names.
    Place(u64, u32),
    /// An entry of a table of addresses.
    Pointer(u64, u32),
}
use Value::*;

#[derive(Clone)]
struct Registers {
    values: [Value; 16],
    /// The last comparison: of a number with a constant.
    compared: Option<(u32, u64)>,
    /// A place in memory that was compared, by base and displacement, and the number in it.
    memory: Option<(Register, u64, u32)>,
}

/// The state of one function.
pub(super) struct Tracker {
    now: Registers,
    /// The address that each register was given last. Where paths meet that were not followed, a base is that.
    bases: [Option<u64>; 16],
    /// Bounds of numbers: they are smaller.
    bounds: HashMap<u32, u64>,
    numbers: u32,
    /// By the targets of branches, what the registers held there.
    ahead: HashMap<u64, Registers>,
}

impl Tracker {
    pub(super) fn new() -> Tracker {
        Tracker {
            now: Registers {
                values: std::array::from_fn(|r| Number(r as u32)),
                compared: None,
                memory: None,
            },
            bases: [None; 16],
            bounds: HashMap::new(),
            numbers: 16,
            ahead: HashMap::new(),
        }
    }

    /// Code begins that the instruction before does not run into.
    pub(super) fn enter(&mut self, address: u64) {
        if let Some(there) = self.ahead.remove(&address) {
            self.now = there;
        }
    }

    /// A branch leads ahead in the function.
    pub(super) fn branch(&mut self, i: &Instruction, target: u64) {
        if let Some((number, constant)) = self.now.compared {
            let bound = match i.mnemonic() {
                Mnemonic::Ja | Mnemonic::Jbe => constant.checked_add(1),
                Mnemonic::Jae | Mnemonic::Jb => Some(constant),
                _ => None,
            };
            if let Some(bound) = bound {
                self.bounds.insert(number, bound);
            }
        }
        if target > i.ip() && !self.ahead.contains_key(&target) {
            self.ahead.insert(target, self.now.clone());
        }
    }

    /// A call spoils what the callee need not save.
    pub(super) fn call(&mut self, spoiled: u64) {
        (0..16)
            .filter(|r| spoiled >> r & 1 != 0)
            .for_each(|r| self.forget(r));
        (self.now.compared, self.now.memory) = (None, None);
    }

    /// The table that an indirect jump goes through.
    pub(super) fn jump(&self, i: &Instruction) -> Option<Table> {
        let (address, index, kind) = match i.op0_kind() {
            OpKind::Register => match self.value(i.op0_register())? {
                Place(table, index) => (table, index, Entries::Offsets),
                Pointer(table, index) => (table, index, Entries::Addresses),
                _ => return None,
            },
            OpKind::Memory => {
                let (table, index) = self.pointers(i)?;
                (table, index, Entries::Addresses)
            }
            _ => return None,
        };
        Some(Table {
            address,
            kind,
            len: self.bounds.get(&index).copied(),
        })
    }

    /// Any other instruction.
    pub(super) fn step(&mut self, i: &Instruction, used: &[UsedRegister]) {
        let written = self.result(i);
        let compared = self.comparison(i);
        for register in used {
            let writes = !matches!(
                register.access(),
                OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
            );
            if let Some(r) = number(register.register()).filter(|_| writes) {
                self.forget(r);
                let base = register.register().full_register();
                self.now.memory = self.now.memory.filter(|m| m.0 != base);
            }
        }
        if i.op_count() > 0
            && i.op0_kind() == OpKind::Memory
            && !matches!(i.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
        {
            let stored = (i.memory_base(), i.memory_displacement64());
            self.now.memory = self.now.memory.filter(|m| (m.0, m.1) != stored);
        }
        if let Some((register, value)) = written {
            self.now.values[register] = value;
            if let Address(address) = value {
                self.bases[register] = Some(address);
            }
        }
        if i.rflags_modified() != 0 {
            self.now.compared = compared;
        }
    }

    fn value(&self, register: Register) -> Option<Value> {
        number(register).map(|r| self.now.values[r])
    }

    /// The address in a register that is used as one.
    fn base(&self, register: Register) -> Option<u64> {
        match self.value(register)? {
            Address(address) => Some(address),
            Number(_) => self.bases[number(register)?],
            _ => None,
        }
    }

    fn forget(&mut self, register: usize) {
        self.now.values[register] = Number(self.numbers);
        self.numbers += 1;
    }

    /// What the instruction puts into which register, where that is of use.
    fn result(&mut self, i: &Instruction) -> Option<(usize, Value)> {
        if i.mnemonic() == Mnemonic::Cdqe {
            return Some((0, self.now.values[0]));
        }
        if i.op_count() == 0 || i.op0_kind() != OpKind::Register {
            return None;
        }
        let to = number(i.op0_register())?;
        let op1 = || self.value(i.op1_register());
        let value = match (i.mnemonic(), i.op1_kind()) {
            (Mnemonic::Lea, _) if i.is_ip_rel_memory_operand() => {
                Address(i.ip_rel_memory_address())
            }
            (Mnemonic::Lea, _) => match self.value(i.memory_index())? {
                Number(n)
                    if i.memory_base() == Register::None
                        && i.memory_index_scale() == 4
                        && i.memory_displacement64() == 0 =>
                {
                    Scaled(n)
                }
                _ => return None,
            },
            (Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsxd, OpKind::Register) => op1()?,
            (Mnemonic::Mov | Mnemonic::Movsxd, OpKind::Memory) => self.loaded(i)?,
            (Mnemonic::Movzx, OpKind::Memory) => self.kept(i)?,
            (Mnemonic::Add, OpKind::Register) => {
                let (entry, base) = match (self.now.values[to], op1()?) {
                    (entry @ Entry(..), _) => (entry, i.op1_register()),
                    (_, entry) => (entry, i.op0_register()),
                };
                match entry {
                    Entry(table, n) if self.base(base) == Some(table) => Place(table, n),
                    _ => return None,
                }
            }
            (Mnemonic::And, kind) if is_immediate(kind) => {
                let number = self.numbers;
                self.numbers += 1;
                let mask = i.immediate(1);
                if let Some(bound) = mask.checked_add(1) {
                    self.bounds.insert(number, bound);
                }
                Number(number)
            }
            _ => return None,
        };
        Some((to, value))
    }

    /// An entry of a table, or the number that was compared in memory.
    fn loaded(&self, i: &Instruction) -> Option<Value> {
        if let Some((table, index)) = self.pointers(i)
            && i.op0_register().is_gpr64()
            && i.mnemonic() == Mnemonic::Mov
        {
            return Some(Pointer(table, index));
        }
        let (base, index) = (i.memory_base(), i.memory_index());
        let entry = match (self.value(base)?, self.value(index), i.memory_index_scale()) {
            _ if i.memory_displacement64() != 0 => None,
            (_, Some(Number(n)), 4) | (_, Some(Scaled(n)), 1) => {
                self.base(base).map(|table| Entry(table, n))
            }
            (Scaled(n), _, 1) => self.base(index).map(|table| Entry(table, n)),
            _ => None,
        };
        entry.or_else(|| self.kept(i))
    }

    fn kept(&self, i: &Instruction) -> Option<Value> {
        let place = (i.memory_base(), i.memory_displacement64());
        let kept = self.now.memory.filter(|m| (m.0, m.1) == place)?;
        (i.memory_index() == Register::None).then_some(Number(kept.2))
    }

    /// A table of addresses by an index.
    fn pointers(&self, i: &Instruction) -> Option<(u64, u32)> {
        let Some(Number(index)) = self.value(i.memory_index()) else {
            return None;
        };
        let (base, displacement) = (i.memory_base(), i.memory_displacement64());
        let table = match self.value(base) {
            None if base == Register::None => displacement,
            Some(Address(table)) if displacement == 0 => table,
            _ => return None,
        };
        (i.memory_index_scale() == 8).then_some((table, index))
    }

    fn comparison(&mut self, i: &Instruction) -> Option<(u32, u64)> {
        if i.mnemonic() != Mnemonic::Cmp || !is_immediate(i.op1_kind()) {
            return None;
        }
        let constant = i.immediate(1);
        match i.op0_kind() {
            OpKind::Register => match self.value(i.op0_register())? {
                Number(n) => Some((n, constant)),
                _ => None,
            },
            OpKind::Memory if i.memory_index() == Register::None => {
                let number = self.numbers;
                self.numbers += 1;
                self.now.memory = Some((i.memory_base(), i.memory_displacement64(), number));
                Some((number, constant))
            }
            _ => None,
        }
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
    )
}

/// The number of a general register, or of the one that it is a part of.
fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}
