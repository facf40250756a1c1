//! A kernel's code as a function: one call an item.
//!
//! Rows are u32 variables. Within straight code a row is the value that was assigned last. So a variable is stored to
//! only where control flow meets, and only if the row is read from there on. VIR0's control flow is structured, and so
//! is naga's: an `if` is an `if`, a loop a loop. A `break` of an outer loop sets a variable, and each loop on the way
//! looks at it behind its end.

mod words;

pub(crate) use words::combine;

use crate::helpers::Helper;
use crate::ir::{Fun, Maker, Own, Value};
use crate::layout::{Held, Kind, Layout};
use naga::{BinaryOperator as Bin, Function, Handle, Statement};
use std::collections::HashMap;
use vyre_core::plan::shaders::SharedLoop;
use vyre_core::vir0::flow::{Block, Rows, blocks, live_in, op, writes};
use vyre_core::vir0::isa::{IMM, Imm, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Kernel, KernelId, Program, QueueId, Uniform};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::trap::TrapKind;

/// The kind of a fault that is none of VIR0's: an invocation has taken more turns of loops than it may.
pub(crate) const TOO_MANY_TURNS: u32 = 255;

/// Names of the kinds of faults in shaders.
pub(crate) fn kind_name(kind: TrapKind) -> &'static str {
    match kind {
        TrapKind::IndexOutOfBounds => "OUT_OF_BOUNDS",
        TrapKind::DivideByZero => "DIVIDE_BY_ZERO",
        TrapKind::DivideOverflow => "DIVIDE_OVERFLOW",
        TrapKind::Assert => "ASSERT",
        TrapKind::FrontierOverflow => "FRONTIER_OVERFLOW",
        TrapKind::ListOverflow => "LIST_OVERFLOW",
        TrapKind::RoundLimit => "ROUND_LIMIT",
        TrapKind::ArithmeticOverflow => "ARITHMETIC_OVERFLOW",
        TrapKind::Panic => "PANIC",
        TrapKind::UnknownWord => "UNKNOWN_WORD",
        TrapKind::OutsidePart => "OUTSIDE_PART",
        TrapKind::RelationOverflow => "RELATION_OVERFLOW",
    }
}

/// What of a kernel a function runs.
#[derive(Clone, Copy)]
pub(crate) enum Part<'l> {
    Whole,
    /// The code before a loop that is shared out.
    Before(&'l SharedLoop),
    /// A turn of it.
    Turn(&'l SharedLoop),
    /// The loop as it stands, and the code behind it.
    After(&'l SharedLoop),
}

/// Makes the function of a kernel. Its arguments: the item as traps name it; of what the kernel uses, the position, the
/// nodes of the edge, the halves of the fields. A condition has none, and gives a word. A turn has its number alone, what
/// comes behind turns the item.
pub(crate) fn function(
    m: &mut Maker<'_>,
    program: &Program,
    id: KernelId,
    (name, keyed): (&str, bool),
    part: Part<'_>,
) -> Handle<Function> {
    let kernel = &program.kernels[id.index()];
    let condition = id.index() >= program.waves.len();
    let fields = match program.waves.get(id.index()) {
        Some(wave) => wave.domain.fields(program),
        None => &[],
    };
    let (u32, mut arguments, mut rows) = (m.ty.u32, Vec::new(), Vec::new());
    if let Part::Turn(of) = part {
        arguments.push(("number".to_owned(), u32));
        rows.push(Some(of.number));
    } else if let Part::After(_) = part {
        arguments.push(("item".to_owned(), u32));
        rows.push(None);
    } else if !condition {
        arguments.push(("item".to_owned(), u32));
        rows.push(kernel.item.index.filter(|_| !keyed));
        let more = [
            ("position", kernel.item.index.filter(|_| keyed)),
            ("src", kernel.item.src),
            ("dst", kernel.item.dst),
        ];
        for (name, row) in more {
            if row.is_some() {
                arguments.push((name.to_owned(), u32));
                rows.push(row);
            }
        }
        for (at, (row, field)) in kernel.item.fields.iter().zip(fields).enumerate() {
            if let Some(row) = *row {
                for half in 0..field.rows() {
                    let high = ["", "_high"][usize::from(half)];
                    arguments.push((format!("field_{at}{high}"), u32));
                    rows.push(Some(row + half));
                }
            }
        }
    }
    let arguments: Vec<_> = arguments.iter().map(|(n, ty)| (n.as_str(), *ty)).collect();
    let f = Fun::new(m, name, &arguments, condition.then_some(u32));
    let array = arrays(&kernel.code);
    let mut body = Body {
        f,
        program,
        id,
        kernel,
        blocks: blocks(&kernel.code),
        live: live_in(&kernel.code),
        condition,
        now: Now::default(),
        rows: HashMap::new(),
        array,
        array_at: None,
        loops: Vec::new(),
        leave: None,
        again: None,
        item: None,
        is_turn: matches!(part, Part::Turn(_)),
    };
    if !condition && !body.is_turn {
        body.item = Some(body.f.argument(0));
    }
    for (at, row) in (0..).zip(rows) {
        if let Some(row) = row {
            let value = body.f.argument(at);
            body.set(row, value);
        }
    }
    match part {
        Part::Whole => {
            body.walk(0, kernel.code.len());
        }
        Part::Before(of) => {
            if body.walk(0, of.at) {
                body.leave_for(of);
            }
        }
        Part::Turn(of) => {
            let cells = of.cells.iter().flat_map(|cell| cell.rows());
            let cells: Vec<u8> = cells.collect();
            body.take_up(true, of.given.iter().chain(&cells).copied());
            if body.walk(of.at + 3, of.end - 1) {
                body.put_down(true, cells.into_iter());
            }
        }
        Part::After(of) => {
            body.take_up(false, of.kept.iter());
            body.walk(of.at, kernel.code.len());
        }
    }
    body.f.define()
}

/// Rows that local arrays lie in.
fn arrays(code: &[Word]) -> Rows {
    let mut rows = Rows::NONE;
    for word in code {
        let row = op(word).row();
        if row.imm == Imm::Rows {
            let (first, len) = word.array();
            let last = u32::from(first) + u32::from(len) * u32::from(row.element_rows());
            rows = rows.or((first..last as u8).into());
        }
    }
    rows
}

/// Where the walk goes on after a word.
enum Flow {
    On,
    If,
    Loop,
    Leave {
        again: bool,
    },
    /// Where the word is not 0, or where it is.
    LeaveIf(bool),
    Done,
}

/// What is known of rows at a place.
#[derive(Clone, Default)]
struct Now {
    /// The value of a row.
    values: HashMap<u8, Value>,
    /// Rows whose variable has an older value.
    unsaved: Rows,
}

struct Body<'m, 'l, 'p> {
    f: Fun<'m, 'l>,
    program: &'p Program,
    id: KernelId,
    kernel: &'p Kernel,
    blocks: Vec<Block>,
    live: Vec<Rows>,
    condition: bool,
    now: Now,
    /// Variables of rows.
    rows: HashMap<u8, Value>,
    array: Rows,
    /// The variable of the rows that arrays lie in.
    array_at: Option<Value>,
    /// Open loops, outermost first: which, and whether something in it leaves a loop around it.
    loops: Vec<(Block, bool)>,
    leave: Option<Value>,
    again: Option<Value>,
    item: Option<Value>,
    /// A turn of a loop that is shared out.
    is_turn: bool,
}

impl Body<'_, '_, '_> {
    // Rows.

    /// Rows that another function of the kernel left.
    fn take_up(&mut self, of_turn: bool, rows: impl Iterator<Item = u8>) {
        for row in rows {
            let own = self.f.own(Own::Row(of_turn, row));
            let value = self.f.load(own);
            self.set(row, value);
        }
    }

    fn put_down(&mut self, of_turn: bool, rows: impl Iterator<Item = u8>) {
        for row in rows {
            let value = self.get(row);
            let own = self.f.own(Own::Row(of_turn, row));
            self.f.store(own, value);
        }
    }

    /// The code comes to a loop that is shared out: how many turns it has.
    fn leave_for(&mut self, of: &SharedLoop) {
        self.put_down(false, of.kept.iter());
        let (first, below) = (self.get(of.number), self.get(of.below));
        let some = self.f.bin(Bin::Less, first, below);
        let turns = self.f.bin(Bin::Subtract, below, first);
        let none = self.f.u(0);
        let turns = self.f.select(some, turns, none);
        let wanted = self.f.own(Own::Wanted);
        self.f.store(wanted, turns);
        let (reached, yes) = (self.f.own(Own::Reached), self.f.u(1));
        self.f.store(reached, yes);
    }

    fn variable(&mut self, row: u8) -> Value {
        if self.array.has(row) {
            let (first, rows) = self.array_rows();
            let base = match self.array_at {
                Some(base) => base,
                None => {
                    let ty = self.f.m.array(Some(rows.into()));
                    let base = self.f.local("rows", Some(ty));
                    *self.array_at.insert(base)
                }
            };
            return self.f.part(base, u32::from(row - first));
        }
        if let Some(&made) = self.rows.get(&row) {
            return made;
        }
        let made = self.f.local(&format!("r{row}"), None);
        self.rows.insert(row, made);
        made
    }

    /// First and number of the rows that arrays lie in, those between them included.
    fn array_rows(&self) -> (u8, u8) {
        let first = self.array.iter().next().expect("there is an array");
        let last = self.array.iter().last().expect("there is an array");
        (first, last - first + 1)
    }

    fn get(&mut self, row: u8) -> Value {
        if let Some(&value) = self.now.values.get(&row) {
            return value;
        }
        let variable = self.variable(row);
        let value = self.f.load(variable);
        if !self.array.has(row) {
            self.now.values.insert(row, value);
        }
        value
    }

    fn set(&mut self, row: u8, value: Value) {
        if self.array.has(row) {
            let variable = self.variable(row);
            self.f.store(variable, value);
            return;
        }
        self.now.values.insert(row, value);
        self.now.unsaved.add(row);
    }

    /// Stores these rows to their variables, if they are not there.
    fn save(&mut self, rows: Rows) {
        for row in self.now.unsaved.and(rows).iter() {
            let value = self.now.values[&row];
            let variable = self.variable(row);
            self.f.store(variable, value);
        }
        self.now.unsaved = self.now.unsaved.without(rows);
    }

    /// What these rows hold is only in their variables from here on.
    fn forget(&mut self, rows: Rows) {
        self.now.values.retain(|&row, _| !rows.has(row));
        self.now.unsaved = self.now.unsaved.without(rows);
    }

    fn written(&self, block: &Block) -> Rows {
        let words = &self.kernel.code[block.at..=block.end];
        let all = words.iter().map(writes);
        all.fold(Rows::NONE, Rows::or)
    }

    // Operands.

    fn uniform(&mut self, slot: usize, half: u32) -> Value {
        let program = self.program;
        let scalar_half = |f: &mut Fun<'_, '_>, scalar: Scalar, low: Value| match (half, scalar) {
            (1, Scalar::I32) => {
                let low = f.signed(low);
                let sign = f.with(Bin::ShiftRight, low, 31);
                f.unsigned(sign)
            }
            (1, _) => f.u(0),
            _ => low,
        };
        match self.kernel.uniforms[slot] {
            Uniform::Scalar(s) => match self.f.m.layout.scalar(s.0, half) {
                Some(at) => self.f.param(at),
                None => {
                    let at = self.f.m.layout.scalar(s.0, 0).expect("scalars have words");
                    let low = self.f.param(at);
                    scalar_half(&mut self.f, program.scalars[s.index()].scalar, low)
                }
            },
            Uniform::Constant(c) => {
                let bits = program.constants[c.index()].bits;
                self.f.u((bits >> (32 * half)) as u32)
            }
            Uniform::Reduction(r) => match self.f.m.layout.maybe(Held::Total(r.0, half)) {
                Some(at) => self.f.control_now(at),
                None => {
                    let at = self.f.m.layout.control(Held::Total(r.0, 0));
                    let low = self.f.control_now(at);
                    scalar_half(&mut self.f, program.reductions[r.index()].scalar, low)
                }
            },
            _ if half == 1 => self.f.u(0),
            Uniform::Round => self.f.param(Layout::ROUND),
            Uniform::OuterRound(f) => {
                let at = self.f.m.layout.length(Kind::Round, f.0);
                self.f.param(at)
            }
            Uniform::Nodes => self.nodes(),
            Uniform::Len(QueueId::Frontier(f)) => {
                let at = self.f.m.layout.control(Held::Tail(f.0));
                self.f.control_now(at)
            }
            Uniform::Len(QueueId::List(l)) => {
                let at = self.f.m.layout.control(Held::ListLen(l.0));
                self.f.control_now(at)
            }
            Uniform::Began(l) => {
                let fixpoint = program.fixpoint_of(self.id);
                let fixpoint = fixpoint.expect("only a condition asks for it");
                let at = self.f.m.layout.control(Held::Began(fixpoint.0, l.0));
                self.f.control_now(at)
            }
        }
    }

    fn nodes(&mut self) -> Value {
        self.f.param(self.f.m.layout.length(Kind::Nodes, 0))
    }

    fn get32(&mut self, byte: u8, word: Word) -> Value {
        match byte.checked_sub(UNIFORM_BASE) {
            None => self.get(byte),
            Some(_) if byte == IMM => self.f.u(word.imm),
            Some(slot) => self.uniform(slot.into(), 0),
        }
    }

    fn get_halves(&mut self, byte: u8, word: Word) -> (Value, Value) {
        match byte.checked_sub(UNIFORM_BASE) {
            None => (self.get(byte), self.get(byte + 1)),
            Some(_) if byte == IMM => {
                let bits = i64::from(word.imm as i32) as u64;
                (self.f.u(bits as u32), self.f.u((bits >> 32) as u32))
            }
            Some(slot) => (self.uniform(slot.into(), 0), self.uniform(slot.into(), 1)),
        }
    }

    fn get64(&mut self, byte: u8, word: Word) -> Value {
        let (low, high) = self.get_halves(byte, word);
        self.f.pair(low, high)
    }

    fn set64(&mut self, row: u8, value: Value) {
        if row != IMM {
            let (low, high) = self.f.halves(value);
            self.set(row, low);
            self.set(row + 1, high);
        }
    }

    // Faults.

    fn line(&mut self, pc: usize) -> Value {
        let site = self.site(pc).map_or(0, |site| site.line);
        let name = match self.condition {
            false => format!("LINE_{site}_WORD_{pc}_PC"),
            true => format!("LINE_{site}_UNTIL_{pc}_PC"),
        };
        self.f.constant(&name, pc as u32)
    }

    fn site(&self, pc: usize) -> Option<&vyre_core::vir0::trap::Site> {
        let at = (self.kernel.sites).binary_search_by_key(&(pc as u32), |&(at, _)| at);
        let site = self.kernel.sites[at.ok()?].1;
        self.program.sites.get(site.index())
    }

    /// Ends the item in a fault.
    fn fault(&mut self, pc: usize, kind: Value, (index, len): (Value, Value)) {
        if self.is_turn {
            // The item does it again by itself.
            let (failed, yes) = (self.f.own(Own::Failed), self.f.u(1));
            self.f.store(failed, yes);
            return self.f.give(None);
        }
        let item = match self.item {
            Some(item) => item,
            None => self.f.u(0),
        };
        let line = self.line(pc);
        self.f.act(Helper::Fault, &[kind, item, line, index, len]);
        let nothing = self.f.u(0);
        self.f.give(self.condition.then_some(nothing));
    }

    fn kind(&mut self, kind: TrapKind) -> Value {
        self.f.constant(kind_name(kind), kind as u32)
    }

    /// Ends the item in a fault if something is so.
    fn fault_if(&mut self, pc: usize, wrong: Value, kind: TrapKind, of: Option<(Value, Value)>) {
        let none = self.f.u(0);
        let of = of.unwrap_or((none, none));
        let accept = |body: &mut Self| {
            let kind = body.kind(kind);
            body.fault(pc, kind, of);
        };
        self.when(wrong, accept);
    }

    fn in_bounds(&mut self, pc: usize, index: Value, len: Value) {
        if self
            .f
            .known(index)
            .zip(self.f.known(len))
            .is_some_and(|(index, len)| index < len)
        {
            return;
        }
        let outside = self.f.bin(Bin::GreaterEqual, index, len);
        self.fault_if(pc, outside, TrapKind::IndexOutOfBounds, Some((index, len)));
    }

    /// As [`Fun::when`], of this.
    fn when(&mut self, condition: Value, accept: impl FnOnce(&mut Self)) {
        let before = self.now.clone();
        self.f.open();
        accept(self);
        let accept = self.f.close();
        self.now = before;
        self.f.push(Statement::If {
            condition,
            accept,
            reject: naga::Block::new(),
        });
    }

    // Control flow.

    /// The words from one pc up to another; whether the end is reached.
    fn walk(&mut self, from: usize, to: usize) -> bool {
        let mut pc = from;
        while pc < to {
            let word = self.kernel.code[pc];
            match self.act(pc, word) {
                Flow::On => {}
                Flow::If => pc = self.branch(pc, word),
                Flow::Loop => pc = self.turns(pc),
                Flow::Leave { again } => {
                    self.leave(word.imm as usize, again);
                    return false;
                }
                Flow::LeaveIf(set) => {
                    let a = self.get32(word.a, word);
                    let mut out = self.f.truth(a);
                    if !set {
                        out = self.f.not(out);
                    }
                    self.when(out, |body| body.leave(word.imm as usize, false));
                }
                Flow::Done => return false,
            }
            pc += 1;
        }
        true
    }

    fn block_at(&self, pc: usize) -> Block {
        let block = self.blocks.iter().find(|b| b.at == pc);
        *block.expect("a block begins here")
    }

    /// An `if`; where it ends.
    fn branch(&mut self, pc: usize, word: Word) -> usize {
        let block = self.block_at(pc);
        let written = self.written(&block);
        let a = self.get32(word.a, word);
        let condition = self.f.truth(a);
        let live = self.live[block.end];
        self.save(written.and(self.live[pc]));
        let before = self.now.clone();
        let mut arms = Vec::new();
        let middle = block.otherwise.unwrap_or(block.end);
        for (from, to) in [(pc + 1, middle), (middle + 1, block.end)] {
            self.now = before.clone();
            self.f.open();
            if from <= to && self.walk(from, to) {
                self.save(written.and(live));
            }
            arms.push(self.f.close());
        }
        let (reject, accept) = (arms.pop(), arms.pop());
        self.now = before;
        self.forget(written);
        self.f.push(Statement::If {
            condition,
            accept: accept.expect("there are two"),
            reject: reject.expect("there are two"),
        });
        block.end
    }

    /// A loop; where it ends.
    fn turns(&mut self, pc: usize) -> usize {
        let block = self.block_at(pc);
        let written = self.written(&block);
        self.save(written.and(self.live[pc]));
        self.forget(written);
        let before = self.now.clone();
        self.loops.push((block, false));
        self.f.open();
        let spent = self.f.call(Helper::Turn, &[]);
        self.when(spent, |body| {
            let none = body.f.u(0);
            let kind = body.f.constant("TOO_MANY_TURNS", TOO_MANY_TURNS);
            body.fault(pc, kind, (none, none));
        });
        if self.walk(pc + 1, block.end) {
            self.save(written.and(self.live[pc]));
        }
        let body = self.f.close();
        self.f.repeat(body);
        self.now = before;
        let (_, leaves) = self.loops.pop().expect("it was opened");
        if leaves {
            self.pass_on();
        }
        block.end
    }

    /// Behind a loop in which something leaves a loop around it.
    fn pass_on(&mut self) {
        let leave = self.leave.expect("something leaves");
        let left = self.f.load(leave);
        let more = self.f.with(Bin::NotEqual, left, 0);
        let again = self.again;
        self.when(more, |body| {
            let left = body.f.with(Bin::Subtract, left, 1);
            body.f.store(leave, left);
            if let Some(again) = again {
                let here = body.f.with(Bin::Equal, left, 0);
                let wanted = body.f.load(again);
                let wanted = body.f.truth(wanted);
                let here = body.f.bin(Bin::LogicalAnd, here, wanted);
                body.when(here, |body| {
                    let no = body.f.u(0);
                    body.f.store(again, no);
                    body.f.push(Statement::Continue);
                });
            }
            body.f.push(Statement::Break);
        });
    }

    /// Leaves the loop that is this number of loops out, or starts its next turn.
    fn leave(&mut self, out: usize, again: bool) {
        let target = self.loops.len() - 1 - out;
        let (block, _) = self.loops[target];
        let written = self.written(&block);
        let live = self.live[if again { block.at } else { block.end + 1 }];
        // Those that are live at either end: a loop that is passed on the way may be entered again.
        self.save(written.and(live));
        if out > 0 {
            for (_, leaves) in &mut self.loops[target + 1..] {
                *leaves = true;
            }
            let (leave, count) = (self.flag("leave", false), self.f.u(out as u32));
            self.f.store(leave, count);
            if again {
                let (flag, yes) = (self.flag("again", true), self.f.u(1));
                self.f.store(flag, yes);
            }
        }
        self.f.push(match again && out == 0 {
            true => Statement::Continue,
            false => Statement::Break,
        });
    }

    /// A variable that is 0 at the start.
    fn flag(&mut self, name: &str, again: bool) -> Value {
        let kept = if again { self.again } else { self.leave };
        if let Some(made) = kept {
            return made;
        }
        let made = self.f.zeroed(name);
        *(if again {
            &mut self.again
        } else {
            &mut self.leave
        }) = Some(made);
        made
    }
}
