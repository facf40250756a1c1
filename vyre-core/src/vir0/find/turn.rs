//! One turn of a loop, evaluated: what comes to its cells, to memory, and where it leaves.

use super::effects::{Access, Change, access};
use super::state::{Done, Row, State, Test, Value};
use super::values::{Made, Number, Values};
use super::{Cell, Combine, Kept, Numbered, Turns, Why, pairs};
use crate::vir0::flow::{Rows, effect, op, rows_of, writes};
use crate::vir0::isa::{Effect, IMM, Imm, Op, Slot, UNIFORM_BASE, Word};
use crate::vir0::module::{Agreement, BufferId, Program, ReduceOp};
use crate::vir0::scalar::Scalar;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Turn<'c> {
    pub(super) code: &'c [Word],
    /// Pc of the `loop` and of the `endloop`.
    pub(super) at: usize,
    pub(super) end: usize,
    numbered: Numbered,
    carried: Rows,
    pairs: Rows,
    written: Rows,
    /// Buffers whose one element is a cell, and those that are changed in other ways.
    pub(super) cells: BTreeSet<u16>,
    pub(super) changed: BTreeSet<u16>,
    pub(super) values: Values,
    program: &'c Program,
    pub(super) is_open: bool,
    /// Loops within this one that are being evaluated, innermost last: what leaves them, and what begins their next turn.
    inner: Vec<[Option<State>; 2]>,
    /// Where this loop is left, and the state there.
    pub(super) exits: BTreeMap<usize, State>,
    pub(super) loads: BTreeMap<usize, (u16, Number)>,
    pub(super) effects: BTreeMap<usize, (Option<u16>, Option<Number>, Change)>,
    /// Where a value is taken into a cell, and where a cell goes along with another one.
    taken: BTreeSet<(Cell, usize)>,
    along: BTreeSet<(Cell, usize)>,
    pub(super) rounds: bool,
}

/// Evaluates a turn of a numbered loop, whose words between its head and its step are all that it does.
pub(super) fn evaluate(
    (program, code): (&Program, &[Word]),
    (at, end): (usize, usize),
    numbered: Numbered,
    carried: Rows,
) -> Result<Turns, Kept> {
    let words = &code[at + 1..end];
    let written = words
        .iter()
        .fold(Rows::NONE, |rows, word| rows.or(writes(word)));
    let mut turn = Turn {
        code,
        at,
        end,
        numbered,
        carried,
        pairs: pairs(words),
        written,
        cells: BTreeSet::new(),
        changed: BTreeSet::new(),
        values: Values::default(),
        program,
        is_open: matches!(program.agreement, Agreement::Open(_)),
        inner: Vec::new(),
        exits: BTreeMap::new(),
        loads: BTreeMap::new(),
        effects: BTreeMap::new(),
        taken: BTreeSet::new(),
        along: BTreeSet::new(),
        rounds: false,
    };
    turn.cells = turn.own_elements();
    let changes = words
        .iter()
        .filter(|w| access(w).is_some_and(|a| !matches!(a, Access::Load)));
    let changed = changes
        .map(|w| w.resource())
        .filter(|b| !turn.cells.contains(b));
    turn.changed = changed.collect();
    let begin = turn.begin();
    let state = turn.run(at + 3..end - 1, Some(begin))?;
    turn.memory()?;
    let cells = turn.combined(state)?;
    Ok(Turns {
        number: numbered.number,
        below: numbered.below,
        literal: numbered.literal,
        cells,
        exits: turn.exits.keys().copied().collect(),
        rounds: turn.rounds,
    })
}

/// The operation that takes values in, of one that does it in an instruction; and whether it is one of floats.
pub(super) fn takes(op: Op) -> Option<(Op, bool)> {
    Some(match op {
        Op::Add32
        | Op::MinU32
        | Op::MinI32
        | Op::MaxU32
        | Op::MaxI32
        | Op::And32
        | Op::Or32
        | Op::Xor32
        | Op::Add64
        | Op::MinU64
        | Op::MinI64
        | Op::MaxU64
        | Op::MaxI64
        | Op::And64
        | Op::Or64
        | Op::Xor64 => (op, false),
        Op::Mul32 | Op::Mul64 => (op, false),
        Op::MinF32 | Op::MaxF32 | Op::MinF64 | Op::MaxF64 => (op, true),
        Op::AddF32 | Op::AddF64 => (op, true),
        _ => return None,
    })
}

/// The same of one that takes away: the value is negated.
fn takes_away(op: Op) -> Option<(Op, bool)> {
    Some(match op {
        Op::Sub32 => (Op::Add32, false),
        Op::Sub64 => (Op::Add64, false),
        Op::SubF32 => (Op::AddF32, true),
        Op::SubF64 => (Op::AddF64, true),
        _ => return None,
    })
}

/// What takes the other operand into the one that it is compared with, if the comparison holds: of `a < b`, the larger
/// into `a`, the smaller into `b`.
fn chooses(op: Op) -> Option<([Op; 2], bool)> {
    Some(match op {
        Op::LtU32 | Op::LeU32 => ([Op::MaxU32, Op::MinU32], false),
        Op::LtI32 | Op::LeI32 => ([Op::MaxI32, Op::MinI32], false),
        Op::LtF32 | Op::LeF32 => ([Op::MaxF32, Op::MinF32], true),
        Op::LtU64 | Op::LeU64 => ([Op::MaxU64, Op::MinU64], false),
        Op::LtI64 | Op::LeI64 => ([Op::MaxI64, Op::MinI64], false),
        Op::LtF64 | Op::LeF64 => ([Op::MaxF64, Op::MinF64], true),
        _ => return None,
    })
}

fn is_or_equal(op: Op) -> bool {
    matches!(
        op,
        Op::LeU32 | Op::LeI32 | Op::LeF32 | Op::LeU64 | Op::LeI64 | Op::LeF64
    )
}

impl Turn<'_> {
    pub(super) fn kept<T>(&self, at: usize, why: Why) -> Result<T, Kept> {
        Err(Kept { at, why })
    }

    /// Buffers with plain stores whose every access in the loop is at the same operand, which the loop does not change.
    fn own_elements(&self) -> BTreeSet<u16> {
        let mut own: BTreeMap<u16, (u8, bool, bool)> = BTreeMap::new();
        for word in &self.code[self.at..self.end] {
            let Some(access) = access(word) else { continue };
            let plain = matches!(effect(word), Effect::Store | Effect::Load);
            let stays = word.a >= UNIFORM_BASE || !self.written.has(word.a);
            let stores = matches!(access, Access::Store);
            let entry = own.entry(word.resource()).or_insert((word.a, true, false));
            entry.1 &= plain && stays && entry.0 == word.a;
            entry.2 |= stores;
        }
        let own = own
            .into_iter()
            .filter(|(_, (_, all, stored))| *all && *stored);
        own.map(|(buffer, _)| buffer).collect()
    }

    /// The cell whose lowest row this is, if it is one.
    fn cell_of(&self, row: u8) -> Cell {
        match self.pairs.has(row) {
            true => Cell::Pair(row),
            false => Cell::Row(row),
        }
    }

    fn is_carried(&self, row: u8) -> bool {
        self.carried.has(row) || self.pairs.has(row) && self.carried.has(row + 1)
    }

    /// What a row holds by which turns are counted.
    fn counted(&mut self, row: u8) -> Number {
        self.values.number(match row == self.numbered.number {
            true => Made::Turn,
            false => Made::Operand(row, false),
        })
    }

    /// The state in which a turn finds things.
    fn begin(&mut self) -> State {
        let mut rows = BTreeMap::new();
        for row in self.written.iter() {
            let held = if self.numbered.rows().has(row) {
                Row::Narrow(Value::Plain(self.counted(row)))
            } else if row > 0 && self.pairs.has(row - 1) {
                Row::High
            } else if self.is_carried(row) {
                let cell = Value::Cell(self.cell_of(row), Done::Nothing);
                if self.pairs.has(row) {
                    Row::Low(cell)
                } else {
                    Row::Narrow(cell)
                }
            } else {
                let some = Value::Plain(self.values.number(Made::Either(self.at, row)));
                if self.pairs.has(row) {
                    Row::Low(some)
                } else {
                    Row::Narrow(some)
                }
            };
            rows.insert(row, held);
        }
        let cell = |&b: &u16| (b, Value::Cell(Cell::Element(BufferId(b)), Done::Nothing));
        State {
            rows,
            elements: self.cells.iter().map(cell).collect(),
        }
    }

    /// Evaluates the words of a range, which holds whole blocks. `None`: no turn comes there.
    fn run(
        &mut self,
        range: std::ops::Range<usize>,
        mut state: Option<State>,
    ) -> Result<Option<State>, Kept> {
        let mut pc = range.start;
        while pc < range.end {
            let word = self.code[pc];
            match op(&word) {
                Op::If => (pc, state) = self.run_if(pc, state)?,
                Op::Loop => (pc, state) = self.run_loop(pc, state)?,
                Op::Else | Op::EndIf | Op::EndLoop => unreachable!("blocks are taken whole"),
                Op::Break => {
                    if let Some(state) = state.take() {
                        self.leave(pc, word.imm, state)?;
                    }
                }
                Op::BreakIf | Op::BreakUnless => {
                    if let Some(state) = &state {
                        self.plain(pc, state, Slot::W, word.a)?;
                        self.leave(pc, word.imm, state.clone())?;
                    }
                }
                Op::Continue => {
                    if let Some(state) = state.take() {
                        let depth = word.imm as usize;
                        let Some(at) = self.inner.len().checked_sub(depth + 1) else {
                            // It does not step, so the next turn would have the same number.
                            let own = depth == self.inner.len();
                            let why = if own { Why::NotNumbered } else { Why::Leaves };
                            return self.kept(pc, why);
                        };
                        let to = self.inner[at][1].take();
                        self.inner[at][1] = State::either((pc, &mut self.values), to, Some(state));
                    }
                }
                Op::Ret | Op::RetV if state.is_some() => return self.kept(pc, Why::Leaves),
                _ => {
                    if let Some(state) = &mut state {
                        self.step(pc, &word, state)?;
                    }
                }
            }
            pc += 1;
        }
        Ok(state)
    }

    /// Leaves the loop that is `depth` loops out.
    fn leave(&mut self, pc: usize, depth: u32, state: State) -> Result<(), Kept> {
        let depth = depth as usize;
        match self.inner.len().checked_sub(depth + 1) {
            Some(at) => {
                let to = self.inner[at][0].take();
                self.inner[at][0] = State::either((pc, &mut self.values), to, Some(state));
                Ok(())
            }
            None if depth == self.inner.len() => {
                self.exits.insert(pc, state);
                Ok(())
            }
            None => self.kept(pc, Why::Leaves),
        }
    }

    /// An `if`; gives the pc of its end.
    fn run_if(&mut self, pc: usize, state: Option<State>) -> Result<(usize, Option<State>), Kept> {
        let (otherwise, end) = self.branches(pc);
        let Some(state) = state else {
            return Ok((end, None));
        };
        let condition = self.get(pc, &state, Slot::W, self.code[pc].a)?;
        if let Value::Test(cell, test) = condition {
            let state = self.run_test(pc, (otherwise, end), state, (cell, test))?;
            return Ok((end, Some(state)));
        }
        self.plain(pc, &state, Slot::W, self.code[pc].a)?;
        let then = self.run(pc + 1..otherwise.unwrap_or(end), Some(state.clone()))?;
        let other = match otherwise {
            Some(otherwise) => self.run(otherwise + 1..end, Some(state))?,
            None => Some(state),
        };
        Ok((end, State::either((end, &mut self.values), then, other)))
    }

    /// Pc of an `if`'s `else` and `endif`.
    fn branches(&self, pc: usize) -> (Option<usize>, usize) {
        let (mut depth, mut otherwise) = (0, None);
        for (at, word) in (pc + 1..).zip(&self.code[pc + 1..]) {
            match op(word) {
                Op::If | Op::Loop => depth += 1,
                Op::Else if depth == 0 => otherwise = Some(at),
                Op::EndIf | Op::EndLoop if depth > 0 => depth -= 1,
                Op::EndIf => return (otherwise, at),
                _ => {}
            }
        }
        unreachable!("an if has an end")
    }

    /// `if x > m { m = x; of = u }`: what else is set goes along, and nothing more may depend on what was in the cell.
    fn run_test(
        &mut self,
        pc: usize,
        (otherwise, end): (Option<usize>, usize),
        state: State,
        (cell, test): (Cell, Test),
    ) -> Result<State, Kept> {
        let stays = |w: &Word| matches!(op(w).row().imm, Imm::Target | Imm::Depth);
        if otherwise.is_some() || self.code[pc + 1..end].iter().any(stays) {
            return self.kept(pc, Why::Carried(cell));
        }
        let effects = self.effects.len();
        let then = self.run(pc + 1..end, Some(state.clone()))?;
        let (Some(then), true) = (then, self.effects.len() == effects) else {
            return self.kept(pc, Why::Carried(cell));
        };
        let mut merged = state;
        let mut chosen = false;
        let along = Done::Along(cell, test.is_late);
        let mut merge = |before: Value, after: Value, of: Cell| match (before, after) {
            _ if before == after => before,
            (Value::Cell(c, Done::Nothing | Done::Took(_)), Value::Plain(x))
                if c == cell && of == cell && x == test.with =>
            {
                chosen = true;
                Value::Cell(c, Done::Took(test.take))
            }
            (Value::Cell(c, done), Value::Plain(_))
                if c == of && of != cell && (done == Done::Nothing || done == along) =>
            {
                self.along.insert((of, pc));
                Value::Cell(c, along)
            }
            _ => Value::Late(cell),
        };
        let rows: Vec<u8> = merged.rows.keys().copied().collect();
        for row in rows {
            let of = match self.pairs.has(row) {
                true => Cell::Pair(row),
                false => Cell::Row(row),
            };
            match (merged.rows[&row], then.rows[&row]) {
                (a, b) if a == b => {}
                (Row::Narrow(a), Row::Narrow(b)) => {
                    merged.rows.insert(row, Row::Narrow(merge(a, b, of)));
                }
                (Row::Low(a), Row::Low(b)) => {
                    merged.rows.insert(row, Row::Low(merge(a, b, of)));
                }
                _ => {
                    merged.set((row, false), Value::Late(cell), &mut self.values);
                }
            }
        }
        for (&buffer, value) in &mut merged.elements {
            *value = merge(
                *value,
                then.elements[&buffer],
                Cell::Element(BufferId(buffer)),
            );
        }
        self.taken.insert((cell, pc));
        match chosen {
            true => Ok(merged),
            false => self.kept(pc, Why::Carried(cell)),
        }
    }

    /// A loop inside the turn; gives the pc of its end.
    fn run_loop(
        &mut self,
        pc: usize,
        state: Option<State>,
    ) -> Result<(usize, Option<State>), Kept> {
        let end = self.code[pc].imm as usize - 1;
        let Some(state) = state else {
            return Ok((end, None));
        };
        let mut entry = Some(state);
        loop {
            self.inner.push([None, None]);
            let after = self.run(pc + 1..end, entry.clone())?;
            let [left, again] = self.inner.pop().expect("it was pushed");
            let again = State::either((end, &mut self.values), again, after);
            let next = State::either((pc, &mut self.values), entry.clone(), again);
            if next == entry {
                return Ok((end, left));
            }
            entry = next;
        }
    }

    /// What an operand has.
    fn get(&mut self, pc: usize, state: &State, slot: Slot, byte: u8) -> Result<Value, Kept> {
        let wide = matches!(slot, Slot::D | Slot::OptD);
        if byte == IMM {
            return Ok(Value::Plain(
                self.values.number(Made::Literal(self.code[pc].imm)),
            ));
        }
        if byte >= UNIFORM_BASE || !rows_of(slot, byte).meets(self.written) {
            return Ok(Value::Plain(self.values.number(Made::Operand(byte, wide))));
        }
        if !wide {
            return Ok(state.narrow(byte, &mut self.values));
        }
        if let Some(&Row::Low(value)) = state.rows.get(&byte) {
            return Ok(value);
        }
        // Two rows that words use by themselves, too, one of which the loop may leave alone.
        let mut halves = [None; 2];
        for (half, row) in halves.iter_mut().zip([byte, byte + 1]) {
            *half = Some(self.plain(pc, state, Slot::W, row)?);
        }
        let [low, high] = halves;
        let made = Made::By(Op::Mov64, [low, high, None], 0);
        Ok(Value::Plain(self.values.number(made)))
    }

    /// The same, which must not come from a cell.
    fn plain(&mut self, pc: usize, state: &State, slot: Slot, byte: u8) -> Result<Number, Kept> {
        match self.get(pc, state, slot, byte)? {
            Value::Plain(x) => Ok(x),
            Value::Cell(c, _) | Value::Test(c, _) | Value::Late(c) => {
                self.kept(pc, Why::Carried(c))
            }
        }
    }

    /// Puts a value in a destination.
    fn set(&mut self, state: &mut State, slot: Slot, byte: u8, value: Value) {
        let wide = matches!(slot, Slot::D | Slot::OptD);
        if rows_of(slot, byte) != Rows::NONE {
            state.set((byte, wide), value, &mut self.values);
        }
    }

    /// A word that goes on to the next one.
    fn step(&mut self, pc: usize, word: &Word, state: &mut State) -> Result<(), Kept> {
        let row = op(word).row();
        if let Some(access) = access(word) {
            return self.access(pc, word, access, state);
        }
        match (row.effect, op(word)) {
            (Effect::RowLoad | Effect::RowStore | Effect::RowFill, _) => {
                self.array(pc, word, state)
            }
            (Effect::Reserve, _) => {
                self.effects.insert(pc, (None, None, Change::Item));
                let slot = Value::Plain(self.values.number(Made::Given(pc)));
                self.set(state, row.d, word.d, slot);
                Ok(())
            }
            (Effect::Push | Effect::Field | Effect::Reduce, _) => {
                self.plain(pc, state, row.a, word.a)?;
                if row.b != Slot::N {
                    self.plain(pc, state, row.b, word.b)?;
                }
                if row.effect == Effect::Reduce {
                    let of = &self.program.reductions[usize::from(word.resource())];
                    let is_float = matches!(of.scalar, Scalar::F32 | Scalar::F64);
                    self.rounds |= is_float && of.op == ReduceOp::Sum;
                }
                self.effects.insert(pc, (None, None, Change::Free));
                Ok(())
            }
            (_, Op::Mov32 | Op::Mov64) => {
                let value = self.get(pc, state, row.a, word.a)?;
                self.set(state, row.d, word.d, value);
                Ok(())
            }
            (_, Op::Sel32 | Op::Sel64) => self.select(pc, word, state),
            _ => self.compute(pc, word, state),
        }
    }

    /// `if c { r = x }`, in a word.
    fn select(&mut self, pc: usize, word: &Word, state: &mut State) -> Result<(), Kept> {
        let slot = op(word).row().d;
        let condition = self.get(pc, state, Slot::W, word.a)?;
        let yes = self.get(pc, state, slot, word.b)?;
        let no = self.get(pc, state, slot, word.third())?;
        let value = match condition {
            Value::Test(cell, test) => match (yes, no) {
                (Value::Plain(x), Value::Cell(c, Done::Nothing | Done::Took(_)))
                    if x == test.with && c == cell =>
                {
                    self.taken.insert((cell, pc));
                    Value::Cell(c, Done::Took(test.take))
                }
                _ => return self.kept(pc, Why::Carried(cell)),
            },
            Value::Plain(c) => match (yes, no) {
                (Value::Plain(x), Value::Plain(y)) => {
                    let made = Made::By(op(word), [Some(c), Some(x), Some(y)], 0);
                    Value::Plain(self.values.number(made))
                }
                (a, b) => Value::either((pc, &mut self.values), a, b, Some(word.d)),
            },
            Value::Cell(c, _) | Value::Late(c) => return self.kept(pc, Why::Carried(c)),
        };
        self.set(state, slot, word.d, value);
        Ok(())
    }

    /// Words of local arrays, which are the turn's own.
    fn array(&mut self, pc: usize, word: &Word, state: &mut State) -> Result<(), Kept> {
        let row = op(word).row();
        let (first, len) = word.array();
        let rows: Rows = (first..first + len * row.element_rows()).into();
        if rows.meets(self.carried) {
            return self.kept(pc, Why::Array);
        }
        if row.a != Slot::N {
            self.plain(pc, state, row.a, word.a)?;
        }
        if row.b != Slot::N {
            self.plain(pc, state, row.b, word.b)?;
        }
        if row.d != Slot::N {
            let made = Value::Plain(self.values.number(Made::Given(pc)));
            self.set(state, row.d, word.d, made);
            return Ok(());
        }
        for at in rows
            .iter()
            .filter(|&r| state.rows.contains_key(&r))
            .collect::<Vec<_>>()
        {
            let made = Value::Plain(self.values.number(Made::Either(pc, at)));
            state.set((at, false), made, &mut self.values);
        }
        Ok(())
    }

    /// A word that makes a value of its operands, or that may only fault.
    fn compute(&mut self, pc: usize, word: &Word, state: &mut State) -> Result<(), Kept> {
        let row = op(word).row();
        let third = match row.imm {
            Imm::Third => (row.d, word.third()),
            _ => (Slot::N, 0),
        };
        let mut values = [None; 3];
        for (value, (slot, byte)) in
            values
                .iter_mut()
                .zip([(row.a, word.a), (row.b, word.b), third])
        {
            if slot != Slot::N {
                *value = Some(self.get(pc, state, slot, byte)?);
            }
        }
        let cell_of = |value: &Option<Value>| match value {
            Some(Value::Cell(c, _) | Value::Test(c, _) | Value::Late(c)) => Some(*c),
            Some(Value::Plain(_)) | None => None,
        };
        let Some(cell) = values.iter().find_map(cell_of) else {
            let plain = values.map(|value| match value {
                Some(Value::Plain(x)) => Some(x),
                _ => None,
            });
            let rest = match row.imm {
                Imm::Literal | Imm::Third => 0,
                Imm::N | Imm::Uniform | Imm::Resource(_) | Imm::Code => word.imm,
                Imm::ResourceThird(_) | Imm::Rows | Imm::Field(..) | Imm::Target | Imm::Depth => {
                    unreachable!("these are no plain words")
                }
            };
            let made = Value::Plain(self.values.number(Made::By(op(word), plain, rest)));
            self.set(state, row.d, word.d, made);
            return Ok(());
        };
        let value = match values {
            [Some(Value::Cell(c, done)), Some(Value::Plain(x)), None] => {
                self.takes_in((pc, op(word)), (c, done), x, true)
            }
            [Some(Value::Plain(x)), Some(Value::Cell(c, done)), None] => {
                self.takes_in((pc, op(word)), (c, done), x, false)
            }
            _ => None,
        };
        match value {
            Some(value) => {
                self.set(state, row.d, word.d, value);
                Ok(())
            }
            None => self.kept(pc, Why::Carried(cell)),
        }
    }

    /// A value and a cell come together in a word.
    fn takes_in(
        &mut self,
        (pc, op): (usize, Op),
        (cell, done): (Cell, Done),
        with: Number,
        cell_first: bool,
    ) -> Option<Value> {
        let before = match done {
            Done::Nothing => None,
            Done::Took(op) => Some(op),
            Done::Set(_) | Done::Last | Done::Along(..) => return None,
        };
        if let Some(([larger, smaller], rounds)) = chooses(op) {
            let take = if cell_first { larger } else { smaller };
            self.rounds |= rounds;
            let is_late = is_or_equal(op);
            let test = Test {
                take,
                with,
                is_late,
            };
            let same = before.is_none() || before == Some(take);
            return same.then_some(Value::Test(cell, test));
        }
        let (take, rounds) = takes(op).or_else(|| takes_away(op).filter(|_| cell_first))?;
        self.rounds |= rounds;
        self.taken.insert((cell, pc));
        let same = before.is_none() || before == Some(take);
        same.then_some(Value::Cell(cell, Done::Took(take)))
    }

    /// A word that accesses a buffer.
    fn access(
        &mut self,
        pc: usize,
        word: &Word,
        access: Access,
        state: &mut State,
    ) -> Result<(), Kept> {
        let row = op(word).row();
        let buffer = word.resource();
        let index = self.plain(pc, state, row.a, word.a)?;
        let is_cell = self.cells.contains(&buffer);
        match access {
            Access::Load if is_cell => {
                let value = state.elements[&buffer];
                self.set(state, row.d, word.d, value);
            }
            Access::Store if is_cell => {
                let value = self.get(pc, state, row.b, word.b)?;
                state.elements.insert(buffer, value);
            }
            Access::Load => {
                self.loads.insert(pc, (buffer, index));
                let made = match self.changed.contains(&buffer) {
                    true => Made::Given(pc),
                    false => Made::By(op(word), [Some(index), None, None], word.imm),
                };
                let value = Value::Plain(self.values.number(made));
                self.set(state, row.d, word.d, value);
            }
            Access::Store | Access::Update(_) | Access::Exchange => {
                let value = self.plain(pc, state, row.b, word.b)?;
                if let Imm::ResourceThird(_) = row.imm {
                    self.plain(pc, state, row.b, word.third())?;
                }
                let effect = match access {
                    Access::Store => Change::Store(value),
                    Access::Update(op) => Change::Update(op),
                    Access::Exchange | Access::Load => Change::Exchange,
                };
                self.effects.insert(pc, (Some(buffer), Some(index), effect));
                let old = Value::Plain(self.values.number(Made::Given(pc)));
                self.set(state, row.d, word.d, old);
            }
        }
        Ok(())
    }

    /// What a turn comes to in each cell, whether it goes on or leaves.
    fn combined(&mut self, state: Option<State>) -> Result<Vec<(Cell, Combine)>, Kept> {
        for row in self.numbered.rows().and(self.written).iter() {
            let counted = Value::Plain(self.counted(row));
            let ends = state
                .as_ref()
                .map(|state| state.narrow(row, &mut self.values));
            if ends.is_some_and(|value| value != counted) {
                return self.kept(self.at, Why::NotNumbered);
            }
        }
        let exits: Vec<(usize, State)> = self.exits.clone().into_iter().collect();
        let ends = state
            .map(|state| (self.end, state))
            .into_iter()
            .chain(exits);
        let mut cells: BTreeMap<Cell, Value> = BTreeMap::new();
        for (pc, state) in ends {
            let mut rows = Vec::new();
            let carried = state
                .rows
                .keys()
                .copied()
                .filter(|&row| self.is_carried(row));
            for row in carried.collect::<Vec<u8>>() {
                let cell = self.cell_of(row);
                match (state.rows[&row], cell) {
                    (Row::Low(value), Cell::Pair(_)) => rows.push((cell, value)),
                    (Row::High, _) if row > 0 && self.pairs.has(row - 1) => {}
                    _ => rows.push((cell, state.narrow(row, &mut self.values))),
                }
            }
            let rows = rows.into_iter();
            let elements = state.elements.iter();
            let elements = elements.map(|(&b, &value)| (Cell::Element(BufferId(b)), value));
            for (cell, value) in rows.chain(elements).collect::<Vec<_>>() {
                let unchanged = Value::Cell(cell, Done::Nothing);
                let before = *cells.get(&cell).unwrap_or(&unchanged);
                let row = match cell {
                    Cell::Row(row) | Cell::Pair(row) => Some(row),
                    Cell::Element(_) => None,
                };
                let both = Value::either((pc, &mut self.values), before, value, row);
                cells.insert(cell, both);
            }
        }
        let mut out = Vec::new();
        for (cell, value) in cells {
            let combine = match value {
                Value::Cell(of, done) if of == cell => match done {
                    Done::Nothing => continue,
                    Done::Took(op) => Combine::Take(op),
                    Done::Set(_) => Combine::Set,
                    Done::Last => Combine::Last,
                    Done::Along(with, is_late) => {
                        let sites = |all: &BTreeSet<(Cell, usize)>, of: Cell| -> Vec<usize> {
                            let all = all.iter().filter(|(cell, _)| *cell == of);
                            all.map(|&(_, pc)| pc).collect()
                        };
                        if sites(&self.along, cell) != sites(&self.taken, with) {
                            return self.kept(self.at, Why::Carried(with));
                        }
                        Combine::Along(with, is_late)
                    }
                },
                Value::Plain(_) => Combine::Last,
                Value::Cell(..) | Value::Test(..) | Value::Late(_) => {
                    return self.kept(self.at, Why::Carried(cell));
                }
            };
            out.push((cell, combine));
        }
        Ok(out)
    }
}
