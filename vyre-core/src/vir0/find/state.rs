//! What rows and cells hold at a word of a turn.

use super::Cell;
use super::values::{Made, Number, Values};
use crate::vir0::isa::Op;
use std::collections::BTreeMap;

/// What stands in a row, in two, or in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A value of the turn.
    Plain(Number),
    /// What is in a cell, after this turn did something to it.
    Cell(Cell, Done),
    /// Whether a cell's value is below or above one of the turn.
    Test(Cell, Test),
    /// What depends on a cell in another way. It must not be looked at.
    Late(Cell),
}

/// A comparison with a cell's value, after which a turn may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// What takes the one into the other.
    pub(super) take: Op,
    pub(super) with: Number,
    /// Of equal values, the later one is chosen.
    pub(super) is_late: bool,
}

/// What a turn did to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Took(Op),
    Set(Number),
    Last,
    /// Set it where another one was chosen; of equal ones the later.
    Along(Cell, bool),
}

/// What is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A value of 32 bits.
    Narrow(Value),
    /// A value of 64 bits, of which this is the low row; the next one is a `High`.
    Low(Value),
    High,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Rows that the loop writes.
    pub(super) rows: BTreeMap<u8, Row>,
    pub(super) elements: BTreeMap<u16, Value>,
}

impl State {
    /// What is in a row, as a value of 32 bits.
    pub(super) fn narrow(&self, row: u8, values: &mut Values) -> Value {
        let mut half = |of: Value, which: u32| match of {
            Value::Plain(x) => {
                Value::Plain(values.number(Made::By(Op::Wrap32, [Some(x), None, None], which)))
            }
            Value::Cell(c, _) | Value::Test(c, _) | Value::Late(c) => Value::Late(c),
        };
        match self.rows[&row] {
            Row::Narrow(value) => value,
            Row::Low(value) => half(value, 0),
            Row::High => match self.rows[&(row - 1)] {
                Row::Low(value) => half(value, 1),
                Row::Narrow(_) | Row::High => unreachable!("a high row follows its low one"),
            },
        }
    }

    /// Puts a value in a row, or in two; the other half of what was there stays.
    pub(super) fn set(&mut self, (row, wide): (u8, bool), value: Value, values: &mut Values) {
        let last = if wide { row + 1 } else { row };
        if self.rows[&row] == Row::High {
            let low = self.narrow(row - 1, values);
            self.rows.insert(row - 1, Row::Narrow(low));
        }
        if let Row::Low(_) = self.rows[&last] {
            let high = self.narrow(last + 1, values);
            self.rows.insert(last + 1, Row::Narrow(high));
        }
        if wide {
            self.rows.insert(row, Row::Low(value));
            self.rows.insert(row + 1, Row::High);
        } else {
            self.rows.insert(row, Row::Narrow(value));
        }
    }

    /// The state at `pc`, which is reached from both.
    pub(super) fn either(
        (pc, values): (usize, &mut Values),
        a: Option<State>,
        b: Option<State>,
    ) -> Option<State> {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.or(b),
        };
        let mut out = a.clone();
        let rows: Vec<u8> = a.rows.keys().copied().collect();
        for row in rows {
            let held = match (a.rows[&row], b.rows[&row]) {
                (Row::Low(x), Row::Low(y)) => {
                    Row::Low(Value::either((pc, &mut *values), x, y, Some(row)))
                }
                (Row::High, Row::High) if matches!(out.rows[&(row - 1)], Row::Low(_)) => Row::High,
                _ => {
                    let x = a.narrow(row, values);
                    let y = b.narrow(row, values);
                    Row::Narrow(Value::either((pc, &mut *values), x, y, Some(row)))
                }
            };
            out.rows.insert(row, held);
        }
        for (&buffer, value) in &mut out.elements {
            *value = Value::either((pc, &mut *values), *value, b.elements[&buffer], None);
        }
        Some(out)
    }
}

impl Value {
    /// The value at `pc`, which is one or the other, in a row or, without one, in an element.
    pub(super) fn either(
        (pc, values): (usize, &mut Values),
        a: Value,
        b: Value,
        in_row: Option<u8>,
    ) -> Value {
        if a == b {
            return a;
        }
        let own = |cell: Cell| match (cell, in_row) {
            (Cell::Row(r) | Cell::Pair(r), Some(row)) => r == row,
            (Cell::Element(_), None) => true,
            _ => false,
        };
        match (a, b) {
            (Value::Late(cell), _) | (_, Value::Late(cell)) => Value::Late(cell),
            (Value::Plain(_), Value::Plain(_)) => {
                // An element has no row of its own; it is the last one that counts.
                Value::Plain(values.number(Made::Either(pc, in_row.unwrap_or(0))))
            }
            (Value::Cell(c, x), Value::Cell(d, y)) if c == d => match (x, y) {
                (Done::Nothing, done) | (done, Done::Nothing) => Value::Cell(c, done),
                (Done::Set(_) | Done::Last, Done::Set(_) | Done::Last) => {
                    Value::Cell(c, Done::Last)
                }
                (Done::Set(_) | Done::Last | Done::Took(_) | Done::Along(..), _) => Value::Late(c),
            },
            (Value::Cell(c, done), Value::Plain(x)) | (Value::Plain(x), Value::Cell(c, done)) => {
                if !own(c) {
                    return Value::Late(c);
                }
                match done {
                    Done::Nothing if !values.varies(x) => Value::Cell(c, Done::Set(x)),
                    Done::Set(y) if x == y => Value::Cell(c, done),
                    Done::Nothing | Done::Set(_) | Done::Last => Value::Cell(c, Done::Last),
                    Done::Took(_) | Done::Along(..) => Value::Late(c),
                }
            }
            (Value::Cell(c, _) | Value::Test(c, _), _) | (_, Value::Test(c, _)) => Value::Late(c),
        }
    }
}
