//! Which loops can be shared out: loops whose turns have numbers, and that leave the same whatever the order of their
//! turns, so that lanes may take some turns each.
//!
//! A loop is *numbered* when a row counts its turns up by one to an end that stays. Its turns may read what no turn
//! changes meanwhile, and they may leave something behind in these ways:
//!
//! - **In a cell**, a row that outlives the turn or an element at an index that stays. Each turn takes a value of its
//!   own into the cell by one operation that commutes and associates ([`Combine::Take`]), sets it to a value that is the
//!   same in all turns ([`Combine::Set`]), sets it to a value of its own, of which the last one stays
//!   ([`Combine::Last`]), or sets it where another cell took a smallest or largest value in ([`Combine::Along`]). It
//!   does not look at what is in the cell, but to take a value in.
//! - **In memory**, where turns cannot tell who came first: stores at an index that no two turns have in common, or of
//!   one value; atomic updates of one operation whose old value is not read; pushes and reductions. Where a program
//!   promises the same result in any order of its items ([`Agreement`](super::module::Agreement)), its atomics and lists
//!   are such anyway.
//! - **By leaving the loop**, if that depends on the turn alone and comes before anything that it does to memory: then
//!   the first turn that leaves is the last one that counts.
//!
//! A turn may fault; the first one that does is the trap. Turns may be done again from there on, so what faults must do
//! so again.
//!
//! The argument is made on values, not on the shape of code: a turn is evaluated once with every row and every element
//! standing for a value, equal ones by equal numbers (value numbering: Alpern, Wegman and Zadeck, 1988), and cells as
//! themselves, so that whatever a cell comes to is known.

mod effects;
mod state;
mod turn;
mod values;

use super::flow::{self, BlockKind, Rows, live_in, op, uses, writes};
use super::isa::{Effect, IMM, Imm, Op, UNIFORM_BASE, Word};
use super::module::{BufferId, Kernel, Program, Resource, Role};
use super::trap::Site;

/// Whether values may be taken into one by this operation in any order; of floats, but for how that is rounded.
pub fn takes_in(op: Op) -> bool {
    turn::takes(op).is_some()
}

/// A loop of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Pc of its `loop`.
    pub at: usize,
    /// Pc of its `endloop`.
    pub end: usize,
    /// Whether its turns may be shared out.
    pub turns: Result<Turns, Kept>,
}

/// A loop whose turns may go in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The row with the turn's number, which the words before the loop set to the first one.
    pub number: u8,
    /// The operand that numbers stay below.
    pub below: u8,
    /// The immediate of that operand, where it is one.
    pub literal: u32,
    /// What turns leave behind in rows and own elements, each with how they are taken together.
    pub cells: Vec<(Cell, Combine)>,
    /// Words that leave the loop before its end.
    pub exits: Vec<usize>,
    /// Floats are added, or compared with the sign of zero in the result, in another order than that of the turns.
    pub rounds: bool,
}

/// Something that outlives a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A row.
    Row(u8),
    /// Two rows with a value of 64 bits, the low one named.
    Pair(u8),
    /// The element of a buffer at the one index at which the loop accesses it.
    Element(BufferId),
}

/// How what several turns do to a cell is taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// By this operation, which may be done in any order; a turn that subtracts adds the negated value.
    Take(Op),
    /// Whoever sets it, sets it to the same.
    Set,
    /// The last turn that sets it.
    Last,
    /// The turn whose value the other cell has, if that is not what was there before the loop: of several turns with the
    /// same value the first, or the last where the flag is set.
    Along(Cell, bool),
}

/// Why a loop stays in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The word that says so.
    pub at: usize,
    /// What it does.
    pub why: Why,
}

/// What keeps turns in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing counts the turns up by one to an end that stays.
    NotNumbered,
    /// A turn looks at what the turns before it left in this cell.
    Carried(Cell),
    /// A turn looks at elements that other turns change.
    Reads(BufferId),
    /// Which of several turns stores last shows.
    Stores(BufferId),
    /// The old value of an atomic shows which turn came first.
    OldValue(BufferId),
    /// Turns update elements by more than one operation.
    Mixed(BufferId),
    /// A local array outlives the turn.
    Array,
    /// The order of items in a list shows.
    Order,
    /// A turn ends the item, or a loop around this one.
    Leaves,
    /// What a turn did to memory before it leaves the loop cannot be taken back.
    LeavesLate,
    /// Where a turn that changed memory faults, it is done again, and may not fault again: it depends on what others
    /// change meanwhile.
    FaultsLate,
}

impl Loop {
    /// Where it stands in the source: the nearest place that its kernel names, in the words that find its first turn, or
    /// in the loop. `None` where neither has one.
    pub fn site<'p>(&self, program: &'p Program, kernel: &Kernel) -> Option<&'p Site> {
        let near = kernel.sites.iter().filter(|(pc, _)| {
            let pc = *pc as usize;
            self.at.saturating_sub(RANGE_WORDS) <= pc && pc < self.end
        });
        let (_, id) = near.min_by_key(|(pc, _)| *pc)?;
        program.sites.get(id.index())
    }

    /// Whether its turns can go in any order, and why, in words.
    pub fn said(&self, program: &Program) -> String {
        let turns = match &self.turns {
            Ok(turns) => turns,
            Err(kept) => return format!("one turn after the other: {}", kept.why.said(program)),
        };
        let mut parts: Vec<String> = Vec::new();
        for (cell, how) in &turns.cells {
            parts.push(match how {
                Combine::Take(op) => format!("{} of {}", taken(*op), cell.said(program)),
                Combine::Set => format!("{} is set to one value", cell.said(program)),
                Combine::Last => format!("the last turn sets {}", cell.said(program)),
                Combine::Along(with, _) => {
                    format!(
                        "{} goes along with {}",
                        cell.said(program),
                        with.said(program)
                    )
                }
            });
        }
        if !turns.exits.is_empty() {
            parts.push("the first turn that leaves ends it".to_owned());
        }
        parts.dedup();
        let order = match turns.rounds {
            true => "turns in any order but for how floats are rounded",
            false => "turns in any order",
        };
        match parts.is_empty() {
            true => order.to_owned(),
            false => format!("{order}: {}", parts.join(", ")),
        }
    }
}

/// Words before a loop that may say where its turns begin and end.
const RANGE_WORDS: usize = 2;

fn taken(op: Op) -> &'static str {
    match op {
        Op::Add32 | Op::Add64 | Op::AddF32 | Op::AddF64 => "sum",
        Op::Mul32 | Op::Mul64 => "product",
        Op::MinU32 | Op::MinI32 | Op::MinU64 | Op::MinI64 | Op::MinF32 | Op::MinF64 => "minimum",
        Op::MaxU32 | Op::MaxI32 | Op::MaxU64 | Op::MaxI64 | Op::MaxF32 | Op::MaxF64 => "maximum",
        Op::And32 | Op::And64 => "and",
        Op::Or32 | Op::Or64 => "or",
        _ => "exclusive or",
    }
}

impl Cell {
    fn said(self, program: &Program) -> String {
        match self {
            Cell::Row(_) | Cell::Pair(_) => "a variable".to_owned(),
            Cell::Element(b) => format!("`{}`", program.buffers[b.index()].name),
        }
    }
}

impl Why {
    /// In words, without the place.
    pub fn said(self, program: &Program) -> String {
        let name = |b: BufferId| &program.buffers[b.index()].name;
        match self {
            Why::NotNumbered => {
                "no range numbers its turns, as in `while`, or in a function that returns early"
                    .to_owned()
            }
            Why::Carried(cell) => {
                format!(
                    "a turn looks at what those before it left in {}",
                    cell.said(program)
                )
            }
            Why::Reads(b) => format!("a turn reads elements of `{}` that others change", name(b)),
            Why::Stores(b) => format!(
                "the last turn that stores to an element of `{}` shows",
                name(b)
            ),
            Why::OldValue(b) => {
                format!("the old value of `{}` shows which turn came first", name(b))
            }
            Why::Mixed(b) => format!("turns update `{}` in more than one way", name(b)),
            Why::Array => "a local array outlives the turn".to_owned(),
            Why::Order => "the order of items in a list shows".to_owned(),
            Why::Leaves => "a turn ends the item, or a loop around this one".to_owned(),
            Why::LeavesLate => "a turn that leaves has changed memory before".to_owned(),
            Why::FaultsLate => {
                "a turn that looks at atomics may fault after it changed memory".to_owned()
            }
        }
    }
}

/// Every loop of a kernel, in the order of their `loop` words.
pub fn loops(program: &Program, kernel: &Kernel) -> Vec<Loop> {
    let live = live_in(&kernel.code);
    let blocks = flow::blocks(&kernel.code);
    let loops = blocks.iter().filter(|b| b.kind == BlockKind::Loop);
    loops
        .map(|b| Loop {
            at: b.at,
            end: b.end,
            turns: turns((program, &kernel.code), (b.at, b.end), &live),
        })
        .collect()
}

fn turns(
    (program, code): (&Program, &[Word]),
    (at, end): (usize, usize),
    live: &[Rows],
) -> Result<Turns, Kept> {
    let numbered = Numbered::find(code, at, end).ok_or(Kept {
        at,
        why: Why::NotNumbered,
    })?;
    let written = code[at..end]
        .iter()
        .fold(Rows::NONE, |rows, word| rows.or(writes(word)));
    // Where a turn leaves the loop, these rows may have been taken for something else.
    let counts = numbered.rows().and(written);
    if let Some(row) = live[end + 1].and(counts).iter().next() {
        let why = Why::Carried(Cell::Row(row));
        return Err(Kept { at, why });
    }
    let carried = written.and(live[at + 1]).without(counts);
    turn::evaluate((program, code), (at, end), numbered, carried)
}

/// What counts a loop's turns.
#[derive(Clone, Copy)]
struct Numbered {
    number: u8,
    below: u8,
    literal: u32,
}

impl Numbered {
    /// The row that counts, and the one with the end, if it is in a row.
    fn rows(self) -> Rows {
        let both = [self.number, self.below].into_iter();
        both.filter(|&row| row < UNIFORM_BASE).collect()
    }

    /// The words that `for i in a..b` becomes: a test of the end at the head, a step by one at the end.
    fn find(code: &[Word], at: usize, end: usize) -> Option<Numbered> {
        let [test, leave, .., step] = code.get(at + 1..end)? else {
            return None;
        };
        let number = test.b;
        let counts = op(test) == Op::LeU32
            && number < UNIFORM_BASE
            && test.a != number
            && op(leave) == Op::BreakIf
            && (leave.a, leave.imm) == (test.d, 0)
            && op(step) == Op::Add32
            && (step.d, step.a, step.b, step.imm) == (number, number, IMM, 1);
        (counts && test.d != number && test.d != test.a).then_some(Numbered {
            number,
            below: test.a,
            literal: test.imm,
        })
    }
}

/// Rows that words of a loop use as values of 64 bits and in no other way, the low ones.
fn pairs(words: &[Word]) -> Rows {
    let (mut low, mut other) = (Rows::NONE, Rows::NONE);
    for word in words {
        let row = op(word).row();
        let third = match row.imm {
            Imm::Third => (row.d, word.third()),
            Imm::ResourceThird(_) => (row.b, word.third()),
            _ => (super::isa::Slot::N, 0),
        };
        let mut wide = Rows::NONE;
        for (slot, byte) in [(row.d, word.d), (row.a, word.a), (row.b, word.b), third] {
            let rows = flow::rows_of(slot, byte);
            if rows.iter().count() == 2 {
                low.add(byte);
                wide = wide.or(rows);
            } else {
                other = other.or(rows);
            }
        }
        other = other.or(uses(word).or(writes(word)).without(wide));
    }
    let mixed = |row: u8| {
        other.has(row) || other.has(row + 1) || low.has(row + 1) || row > 0 && low.has(row - 1)
    };
    low.iter().filter(|&row| !mixed(row)).collect()
}
/// In-out buffers of a pass of one wave that stores each element before it loads any: what they held before a run shows
/// in no run that ends without a trap, so no device needs it.
///
/// Found is what is stored by a word outside of all branches and loops, at the item's own number, with no return before
/// it. That word runs for every item, and the item's number reaches every element.
pub fn overwritten(program: &Program) -> Vec<BufferId> {
    let [wave] = &program.waves[..] else {
        return Vec::new();
    };
    let kernel = &program.kernels[wave.kernel.index()];
    let (Some(count), Some(item)) = (wave.domain.count(), kernel.item.index) else {
        return Vec::new();
    };
    let assigns_item = |word: &Word| writes(word).has(item);
    if !program.fixpoints.is_empty() || kernel.code.iter().any(assigns_item) {
        return Vec::new();
    }
    let blocks = flow::blocks(&kernel.code);
    let is_inside = |pc: usize| blocks.iter().any(|block| block.holds(pc));
    let is_overwritten = |id: BufferId| {
        for (pc, word) in kernel.code.iter().enumerate() {
            let of_buffer = word.names() == Some(Resource::Buffer(id));
            match op(word) {
                Op::Ret => return false,
                op if of_buffer => {
                    let stores = op.row().effect == Effect::Store;
                    return stores && word.a == item && !is_inside(pc);
                }
                _ => {}
            }
        }
        false
    };
    let ids = (0..program.buffers.len()).map(|i| BufferId(i as u16));
    let in_out = ids.filter(|id| {
        let buffer = &program.buffers[id.index()];
        buffer.role == Role::InOut && buffer.extent == count
    });
    in_out.filter(|&id| is_overwritten(id)).collect()
}
