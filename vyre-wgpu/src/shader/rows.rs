//! Which variables a kernel's rows become.
//!
//! A row is a variable `r5`; two rows that are only ever used as one value are a pair `r4_5`; the rows of a local array
//! are an array `a6`, whose elements can be used as rows too.

use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::{Imm, Row, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{KernelId, Program};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Nothing uses it.
    Nowhere,
    /// A variable.
    Word,
    /// The low half of a pair of rows.
    Pair,
    /// The high half of the pair before it.
    High,
    /// An element of the array that begins at a row, and has so many.
    Array { first: u8, len: u8 },
}

/// Where each row is.
pub(super) struct Homes(Vec<Home>);

impl Homes {
    pub(super) fn of(program: &Program, id: KernelId) -> Homes {
        let kernel = &program.kernels[id.index()];
        let rows = usize::from(kernel.rows);
        // Of each row: whether it is used alone, as the low half of a value, and as the high one.
        let mut used = vec![(false, false, false); rows];
        let mut mark = |slot: Slot, row: u8| {
            let row = usize::from(row);
            match slot {
                _ if row >= usize::from(UNIFORM_BASE) => {}
                Slot::N => {}
                Slot::W | Slot::OptW => used[row].0 = true,
                Slot::D | Slot::OptD => {
                    used[row].1 = true;
                    used[row + 1].2 = true;
                }
            }
        };
        for word in &kernel.code {
            for (slot, operand) in operands(op(word).row(), word) {
                mark(slot, operand);
            }
        }
        let item = kernel.item;
        for row in [item.index, item.src, item.dst].into_iter().flatten() {
            mark(Slot::W, row);
        }
        if let Some(wave) = program.waves.get(id.index()) {
            let fields = wave.domain.fields(program).iter().zip(item.fields);
            for (field, row) in fields {
                let slot = if field.rows() == 2 { Slot::D } else { Slot::W };
                if let Some(row) = row {
                    mark(slot, row);
                }
            }
        }
        let mut homes: Vec<Home> = Vec::with_capacity(rows);
        for (row, &(alone, low, high)) in used.iter().enumerate() {
            let next = used.get(row + 1).copied().unwrap_or_default();
            homes.push(match (alone, low, high) {
                (false, false, true) if homes[row - 1] == Home::Pair => Home::High,
                (false, true, false) if !next.0 && !next.1 => Home::Pair,
                (false, false, false) => Home::Nowhere,
                _ => Home::Word,
            });
        }
        for (first, len) in arrays(&kernel.code) {
            let last = usize::from(first) + usize::from(len) - 1;
            // A pair that an array has a half of.
            if let Some(before) = usize::from(first).checked_sub(1)
                && homes[before] == Home::Pair
            {
                homes[before] = Home::Word;
            }
            if homes.get(last + 1) == Some(&Home::High) {
                homes[last + 1] = Home::Word;
            }
            homes[usize::from(first)..=last].fill(Home::Array { first, len });
        }
        Homes(homes)
    }

    pub(super) fn home(&self, row: u8) -> Home {
        self.0[usize::from(row)]
    }

    /// The variable that begins at a row.
    pub(super) fn name(&self, row: u8) -> String {
        match self.home(row) {
            Home::Pair => format!("r{row}_{}", row + 1),
            Home::Array { first, .. } => format!("a{first}"),
            Home::Nowhere | Home::Word | Home::High => format!("r{row}"),
        }
    }

    /// A row as a word.
    pub(super) fn word(&self, row: u8) -> String {
        match self.home(row) {
            Home::Array { first, .. } => format!("a{first}[{}]", row - first),
            Home::Pair => format!("r{row}_{}.x", row + 1),
            Home::High => format!("r{}_{row}.y", row - 1),
            Home::Nowhere | Home::Word => format!("r{row}"),
        }
    }

    /// An element of the array that begins at a row, which can lie inside of another.
    pub(super) fn element(&self, first: u8, index: &str) -> String {
        let name = self.name(first);
        match self.home(first) {
            Home::Array { first: of, .. } if of < first => {
                format!("{name}[{index} + {}u]", first - of)
            }
            _ => format!("{name}[{index}]"),
        }
    }

    /// The variables, declared.
    pub(super) fn declarations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (row, &home) in (0u8..).zip(&self.0) {
            let ty = match home {
                Home::Word => "u32".to_owned(),
                Home::Pair => "vec2<u32>".to_owned(),
                Home::Array { first, len } if first == row => format!("array<u32, {len}>"),
                Home::Nowhere | Home::High | Home::Array { .. } => continue,
            };
            lines.push(format!("var {}: {ty};", self.name(row)));
        }
        lines
    }
}

/// The operands that are or may be rows.
fn operands(row: &Row, word: &Word) -> Vec<(Slot, u8)> {
    let third = match row.imm {
        Imm::Third => Some((row.d, word.third())),
        Imm::ResourceThird(_) => Some((row.b, word.third())),
        Imm::N
        | Imm::Literal
        | Imm::Resource(_)
        | Imm::Rows
        | Imm::Field(..)
        | Imm::Uniform
        | Imm::Target
        | Imm::Depth
        | Imm::Code => None,
    };
    let mut operands = vec![(row.d, word.d), (row.a, word.a), (row.b, word.b)];
    operands.extend(third);
    operands
}

/// The first row and the number of rows of each local array; those that overlap are one.
fn arrays(code: &[Word]) -> Vec<(u8, u8)> {
    let mut arrays: Vec<(u8, u8)> = Vec::new();
    for word in code {
        let row = op(word).row();
        if row.imm == Imm::Rows {
            let (first, len) = word.array();
            arrays.push((first, len * row.element_rows()));
        }
    }
    arrays.sort_unstable();
    let mut joined: Vec<(u8, u8)> = Vec::new();
    for (first, len) in arrays {
        match joined.last_mut() {
            Some((of, has)) if first < *of + *has => *has = (*has).max(first + len - *of),
            _ => joined.push((first, len)),
        }
    }
    joined
}
