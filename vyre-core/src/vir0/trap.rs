//! Traps: runs that a checked fault has stopped. A [`Fault`] is what a lane reports; a [`Trap`] is what the user gets,
//! with kernel, source position, item and field.

use crate::vir0::scalar::Scalar;
use std::fmt;

/// A source position, as `core::panic::Location` reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// File.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TrapKind {
    /// `index` is not below `len` (a buffer, a topology's nodes or edges, a pushed node).
    IndexOutOfBounds = 1,
    /// Division or remainder by zero.
    DivideByZero = 2,
    /// `MIN / -1` or `MIN % -1`.
    DivideOverflow = 3,
    /// `assert!` failed.
    Assert = 4,
    /// A frontier needed at least `index` items in one round; its capacity is `len`.
    FrontierOverflow = 5,
    /// A list needed at least `index` items; its capacity is `len`.
    ListOverflow = 6,
    /// A fixpoint ran `len` rounds and its condition still did not hold.
    RoundLimit = 7,
    /// An integer operation overflowed natively in a build with overflow checks; release builds wrap.
    ArithmeticOverflow = 8,
    /// The user's function panicked natively for a reason that VIR0 does not have.
    Panic = 9,
    /// A device met a word with opcode `index`, which none of its interpreters has: a fault of this library, or memory
    /// that was overwritten. No kernel can raise it.
    UnknownWord = 10,
    /// In a part of a graph, `index` is not below `len`, which is the part's nodes or edges. No word of a kernel names
    /// it.
    OutsidePart = 11,
    /// A relation needed room for at least `index` tuples; its capacity is `len`.
    RelationOverflow = 12,
}

/// A checked fault of one item. The executor adds wave, item and site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// Faulting word.
    pub pc: u32,
    /// What went wrong.
    pub kind: TrapKind,
    /// The index out of bounds; otherwise 0.
    pub index: u64,
    /// The length it was checked against; otherwise 0.
    pub len: u64,
}

impl TrapKind {
    /// Every kind.
    pub const ALL: [TrapKind; 12] = [
        TrapKind::IndexOutOfBounds,
        TrapKind::DivideByZero,
        TrapKind::DivideOverflow,
        TrapKind::Assert,
        TrapKind::FrontierOverflow,
        TrapKind::ListOverflow,
        TrapKind::RoundLimit,
        TrapKind::ArithmeticOverflow,
        TrapKind::Panic,
        TrapKind::UnknownWord,
        TrapKind::OutsidePart,
        TrapKind::RelationOverflow,
    ];

    /// The kinds that a word of a kernel can name.
    pub fn of_kernels() -> impl Iterator<Item = TrapKind> {
        let all = TrapKind::ALL.into_iter();
        all.filter(|&kind| !matches!(kind, TrapKind::UnknownWord | TrapKind::OutsidePart))
    }

    /// Whether a trap of this kind is an item's own: overflows are of a whole wave, round limits of a fixpoint.
    pub fn is_of_an_item(self) -> bool {
        match self {
            TrapKind::FrontierOverflow
            | TrapKind::ListOverflow
            | TrapKind::RelationOverflow
            | TrapKind::RoundLimit
            | TrapKind::UnknownWord => false,
            TrapKind::IndexOutOfBounds
            | TrapKind::DivideByZero
            | TrapKind::DivideOverflow
            | TrapKind::Assert
            | TrapKind::ArithmeticOverflow
            | TrapKind::Panic
            | TrapKind::OutsidePart => true,
        }
    }

    /// The kind with this code.
    pub fn from_code(code: u32) -> Option<TrapKind> {
        TrapKind::ALL.into_iter().find(|&k| k as u32 == code)
    }
}

/// The item that a trap of a whole wave has where traps are ordered: none comes after it. An item can have this number
/// too, and the kind tells the two apart.
pub const WHOLE_WAVE: u32 = u32::MAX;

/// The fields of `Data` that a trap is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Their names: more than one where an operation on several of one size failed.
    pub fields: Vec<String>,
    /// Of a length, how it is declared, with its value: `per = n, n = 5`. Of a capacity, what it is declared as if that
    /// is no number: `nodes + edges`.
    pub size: String,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, field) in self.fields.iter().enumerate() {
            write!(f, "{}`{field}`", if i == 0 { "" } else { " or " })?;
        }
        Ok(())
    }
}

/// A part of a graph, as the bounds say that a session was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The field of the bounds.
    pub field: String,
    /// Its number, from 0.
    pub number: u32,
    /// Its nodes.
    pub nodes: std::ops::Range<u32>,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let std::ops::Range { start, end } = self.nodes;
        write!(f, "part {} of `{}` (", self.number, self.field)?;
        match end - start {
            0 => write!(f, "no nodes)"),
            1 => write!(f, "node {start})"),
            _ => write!(f, "nodes {start} to {})", end - 1),
        }
    }
}

/// A stopped run. The same on every backend for passes that give the same bits, except `lane`.
///
/// Several lanes can fault in one barrier group: the group is finished, and the trap with the lowest
/// (wave, item, pc) is the one reported.
#[derive(Clone, PartialEq, Eq)]
pub struct Trap {
    /// What went wrong.
    pub kind: TrapKind,
    /// The wave's name, as the plan shows it (of a round limit: the fixpoint's name).
    pub kernel: String,
    /// Where.
    pub site: Site,
    /// Work item: node, index, frontier item or edge index; `None` for overflows and round limits, and in waves that run
    /// once.
    pub item: Option<u32>,
    /// The type of the item's first field, where items have fields; of a field of 64 bits, `item` is the lower half.
    pub item_type: Option<Scalar>,
    /// The faulting index. Of an overflow, how many items were needed as far as the run got: later sweeps and rounds
    /// might have added more.
    pub index: u64,
    /// The length or capacity that was exceeded, or the round limit.
    pub len: u64,
    /// Whose length or capacity that is, where it is a field's.
    pub subject: Option<Subject>,
    /// What the user's assert or panic says; of a native panic that VIR0 does not have, rustc's text; of a round limit,
    /// what the condition looks at, as the last round left it.
    pub message: Option<String>,
    /// Of a series, which run it stopped, counted from 0.
    pub run: Option<u64>,
    /// The part in which it happened, where each part runs by itself: `item` and `index` count from the part's first
    /// node or edge.
    pub part: Option<Part>,
    /// Lane that saw it, informative only.
    pub lane: Option<u32>,
}

/// A trap in words, without its place.
#[derive(Clone, Copy, Debug)]
pub struct Headline<'t>(&'t Trap);

impl fmt::Display for Headline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.say(f, false)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.say(f, true)
    }
}

impl Trap {
    /// In words, but for the place: for those who show it in another way.
    pub fn headline(&self) -> Headline<'_> {
        Headline(self)
    }

    fn say(&self, f: &mut fmt::Formatter<'_>, place: bool) -> fmt::Result {
        let (i, n) = (self.index, self.len);
        match self.kind {
            TrapKind::IndexOutOfBounds | TrapKind::OutsidePart => match &self.subject {
                Some(of) => write!(f, "index {i} is outside of {of} ({})", of.size)?,
                None => write!(f, "index {i} is out of bounds; the length is {n}")?,
            },
            TrapKind::DivideByZero => write!(f, "division by zero")?,
            TrapKind::DivideOverflow => write!(f, "division overflows")?,
            TrapKind::Assert => write!(f, "assertion failed")?,
            TrapKind::FrontierOverflow | TrapKind::ListOverflow | TrapKind::RelationOverflow => {
                let (what, items) = match self.kind {
                    TrapKind::FrontierOverflow => ("frontier", "items"),
                    TrapKind::RelationOverflow => ("relation", "tuples"),
                    _ => ("list", "items"),
                };
                write!(f, "{what}")?;
                if let Some(of) = &self.subject {
                    write!(f, " {of}")?;
                }
                write!(f, " needs at least {i} {items}; its capacity is {n}")?;
                match &self.subject {
                    Some(of) if !of.size.is_empty() => write!(f, " ({})", of.size)?,
                    _ => {}
                }
            }
            TrapKind::RoundLimit => write!(f, "not finished after {n} rounds")?,
            TrapKind::ArithmeticOverflow => {
                write!(f, "arithmetic overflow in a build with overflow checks")?
            }
            TrapKind::Panic => write!(f, "panic")?,
            TrapKind::UnknownWord => write!(
                f,
                "the device met opcode {i:#04x}, which it does not know (a fault of vyre, not of the pass)"
            )?,
        }
        let last = self.kind == TrapKind::RoundLimit;
        if let Some(m) = self.message.as_ref().filter(|_| !last) {
            write!(f, ": {m}")?;
        }
        write!(f, " in `{}`", self.kernel)?;
        if let Some(item) = self.item {
            match self.item_type {
                Some(Scalar::F32) => write!(f, " at item {:?}", f32::from_bits(item))?,
                Some(Scalar::I32) => write!(f, " at item {}", item as i32)?,
                Some(Scalar::Bool) => write!(f, " at item {}", item != 0)?,
                Some(Scalar::U64 | Scalar::I64 | Scalar::F64) => {
                    write!(f, " at an item whose first field ends in {item:#010x}")?;
                }
                Some(Scalar::U8 | Scalar::U32) | None => write!(f, " at item {item}")?,
            }
        }
        if let Some(part) = &self.part {
            write!(f, " of {part}")?;
        }
        if let Some(run) = self.run {
            write!(f, " in run {run} of the series")?;
        }
        if place {
            write!(f, " ({})", self.site)?;
        }
        if let Some(m) = self.message.as_ref().filter(|_| last) {
            write!(f, ": {m}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trap {}

crate::debug_is_display!(Trap);
