//! Random well-typed kernels as Rust source.
//!
//! A kernel is grown from a sequence of choices. A seed gives a random sequence; a recorded one gives the same kernel
//! again, and an edited one (pieces left out, numbers made smaller) gives a smaller kernel that is well typed too:
//! choice 0 is always the plainest, so shrinking needs to know nothing about the language. A feature of the language is
//! one more row of [`EXPRESSIONS`], [`STATEMENTS`] or [`METHODS`].
//!
//! A pass is a standalone kernel, or a graph of waves: some, then perhaps a fixpoint of some (one may have a fixpoint
//! of its own), then perhaps some more, with the `after`s that their conflicts ask for. Its fields are what its waves
//! take. It is run alone, after another run, in a batch, or in a batch over two graphs.
//!
//! Kernels give the same bits: they write their own elements (of atomic buffers and rows of bits by every method, and
//! use what it gives), update shared atomics and rows by one operation a wave, store one value, claim, push, append,
//! reduce, and read what other waves, or a graph that theirs includes, left. What may differ between backends is kept
//! out of the values: the sign of zero from `min` and `max` (zero is added), the bits and the sign of NaN (see
//! [`Fixed`]), the rounding of float sums (small integers are added), and approximate functions, whose results leave
//! the kernel at once and are compared within their bound.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Where random numbers come from, and what was drawn.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    state: u64,
    replay: Option<Vec<u32>>,
    drawn: Vec<u32>,
}

impl Choices {
    /// The choices of a kernel of a run.
    pub(crate) fn seeded(seed: u64, kernel: u32) -> Choices {
        Choices {
            state: mix(seed ^ mix(u64::from(kernel) + 1)),
            replay: None,
            drawn: Vec::new(),
        }
    }

    /// Recorded choices; when they run out, zeros.
    pub(crate) fn replay(choices: Vec<u32>) -> Choices {
        Choices {
            state: 0,
            replay: Some(choices),
            drawn: Vec::new(),
        }
    }

    fn below(&mut self, n: u32) -> u32 {
        let raw = match &self.replay {
            Some(given) => given.get(self.drawn.len()).copied().unwrap_or(0),
            None => {
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                (mix(self.state) >> 33) as u32
            }
        };
        let value = raw % n.max(1);
        self.drawn.push(value);
        value
    }
}

/// A well-mixed function of its argument (splitmix64).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A kernel's source.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The pass, and a function of the same name with `run_` before it that runs it.
    pub(crate) text: String,
    /// Which of several faults is reported depends on the order of items: items of more than a word do not name one.
    pub(crate) loose: bool,
    /// The choices it was grown from.
    pub(crate) choices: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scalar {
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    Bool,
    U8,
}
use Scalar::*;

const SCALARS: [Scalar; 8] = [U32, I32, U64, I64, F32, F64, Bool, U8];
const INTS: [Scalar; 5] = [U32, I32, U64, I64, U8];
const WIDE: [Scalar; 4] = [U32, I32, U64, I64];
const NUMBERS: [Scalar; 6] = [U32, I32, U64, I64, F32, F64];

impl Scalar {
    fn name(self) -> &'static str {
        match self {
            U32 => "u32",
            I32 => "i32",
            U64 => "u64",
            I64 => "i64",
            F32 => "f32",
            F64 => "f64",
            Bool => "bool",
            U8 => "u8",
        }
    }

    fn is_int(self) -> bool {
        INTS.contains(&self)
    }

    fn is_float(self) -> bool {
        matches!(self, F32 | F64)
    }

    fn is_signed(self) -> bool {
        matches!(self, I32 | I64)
    }

    /// Smallest and largest value of an integer type.
    fn limits(self) -> (i128, i128) {
        match self {
            U8 => (0, u8::MAX.into()),
            U32 => (0, u32::MAX.into()),
            I32 => (i32::MIN.into(), i32::MAX.into()),
            U64 => (0, u64::MAX.into()),
            I64 => (i64::MIN.into(), i64::MAX.into()),
            F32 | F64 | Bool => (0, 1),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Ty {
    Scalar(Scalar),
    Tuple(Vec<Ty>),
    Array(Box<Ty>, u32),
    /// By its number.
    Struct(usize),
    /// `usize`: of locals, parameters and results only.
    Size,
}

impl Ty {
    fn show(&self) -> String {
        match self {
            Ty::Scalar(s) => s.name().to_owned(),
            Ty::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(Ty::show).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Array(of, len) => format!("[{}; {len}]", of.show()),
            Ty::Struct(i) => format!("St{i}"),
            Ty::Size => "usize".to_owned(),
        }
    }
}

/// A piece of an expression's text.
#[derive(Clone, Debug)]
struct Expr {
    text: String,
    /// How tightly it binds, from [`Expr::BLOCK`] to [`Expr::POSTFIX`].
    binds: u8,
    /// It ends in `as T`, which a `<` may not follow.
    ends_in_cast: bool,
}

impl Expr {
    /// `if`, `match`, `{}`, `loop`: not the left side of anything.
    const BLOCK: u8 = 0;
    const OR: u8 = 1;
    const AND: u8 = 2;
    const COMPARE: u8 = 3;
    const CAST: u8 = 10;
    const UNARY: u8 = 11;
    const POSTFIX: u8 = 12;

    fn new(text: impl Into<String>, binds: u8) -> Expr {
        Expr {
            text: text.into(),
            binds,
            ends_in_cast: false,
        }
    }

    fn atom(text: impl Into<String>) -> Expr {
        Expr::new(text, Expr::POSTFIX)
    }

    /// As an operand of something that binds this tightly.
    fn at(&self, binds: u8) -> String {
        if self.binds >= binds {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }
}

/// A struct of the user's.
#[derive(Clone, Debug)]
struct Struct {
    fields: Vec<Ty>,
    /// Its fields have no names.
    tuple: bool,
}

impl Struct {
    fn field(&self, k: usize) -> String {
        if self.tuple {
            k.to_string()
        } else {
            format!("f{k}")
        }
    }
}

/// A local variable.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Ty,
    mutable: bool,
}

#[derive(Clone, Debug)]
struct Loop {
    /// `'l3`, where it has a label.
    label: Option<String>,
    /// A plain `break` reaches it.
    plain: bool,
    /// `continue` may go to it.
    turns: bool,
    /// Type of the value that its `break`s carry.
    value: Option<Ty>,
}

#[derive(Clone, Debug)]
struct Helper {
    name: String,
    /// Of a method: the struct, and whether it changes it.
    on: Option<(usize, bool)>,
    params: Vec<Ty>,
    handles: Vec<Handle>,
    result: Option<Ty>,
    cost: u64,
    size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}
const UPDATES: [Update; 6] = [
    Update::Add,
    Update::Min,
    Update::Max,
    Update::And,
    Update::Or,
    Update::Xor,
];

impl Update {
    fn name(self) -> &'static str {
        match self {
            Update::Add => "add",
            Update::Min => "min",
            Update::Max => "max",
            Update::And => "and",
            Update::Or => "or",
            Update::Xor => "xor",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reduction {
    Sum(Scalar),
    Min(Scalar),
    Max(Scalar),
    Or(Scalar),
    And(Scalar),
    Any,
    All,
    Count,
}

impl Reduction {
    fn ty(self) -> Scalar {
        match self {
            Reduction::Sum(s)
            | Reduction::Min(s)
            | Reduction::Max(s)
            | Reduction::Or(s)
            | Reduction::And(s) => s,
            Reduction::Any | Reduction::All => Bool,
            Reduction::Count => U64,
        }
    }
}

/// What a buffer has an element for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Node,
    Edge,
    N,
}

/// A parameter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Handle {
    Uniform(Scalar),
    Round,
    /// The item's own element of an input.
    Own(Shape, Scalar),
    /// The item's own element of what this wave, by its number, writes.
    OwnMut(Shape, u8, Scalar),
    /// Where this wave leaves what approximate functions give.
    Approximate(Shape, u8, Scalar),
    /// What another wave wrote: the item's own element, or all of it.
    Left(Shape, u8, Scalar),
    LeftAll(Shape, u8, Scalar),
    /// Buffers of structs, as those of scalars above: given (the element, all), written by a wave, left by another.
    Record(Shape),
    Records(Shape),
    RecordMut(Shape, u8),
    RecordLeft(Shape, u8),
    RecordsLeft(Shape, u8),
    Buf(Scalar),
    Atomic(Scalar, Update),
    /// What other waves made of an atomic buffer.
    Totals(Scalar, Update),
    /// A buffer in which one value is stored.
    Mark(Scalar),
    /// An element a node, which the first to come takes; one such place a wave.
    Claim(u8),
    /// Distances that the included graph left: the node's own, all.
    Distance,
    Distances,
    /// The item's own element of an atomic buffer, and its own row of bits: what the methods give is certain.
    OwnAtomic(Shape, u8, Scalar),
    OwnBits(u8),
    /// All of such an input.
    All(Shape, Scalar),
    Graph,
    Back,
    /// Another graph of the same nodes.
    Other,
    /// The number of nodes.
    Nodes,
    Push,
    PushThing,
    Append,
    /// Rows of bits: given with the run, given with the session, changed by one operation, read.
    BitsIn,
    BitsTop,
    Bits(Update),
    BitsSeen,
    Reduce(u8, Reduction),
    /// The value of a reduction of an earlier wave.
    Reduced(u8, Reduction),
}

/// Length of whole buffers.
const LEN: u32 = 16;
/// The reductions of helpers, which any wave may call.
const HELPERS: u8 = 9;

impl Handle {
    fn name(self) -> String {
        let shape = |s: Shape| match s {
            Shape::Node => "",
            Shape::Edge => "e",
            Shape::N => "n",
        };
        match self {
            Handle::Uniform(s) => format!("s_{}", s.name()),
            Handle::Round => "round".to_owned(),
            Handle::Own(of, s) => format!("x{}_{}", shape(of), s.name()),
            Handle::OwnMut(_, w, s) | Handle::Left(_, w, s) | Handle::LeftAll(_, w, s) => {
                format!("y{w}_{}", s.name())
            }
            Handle::Approximate(_, w, s) => format!("z{w}_{}", s.name()),
            Handle::Record(of) | Handle::Records(of) => format!("rec_{}", shape(of)),
            Handle::RecordMut(_, w) | Handle::RecordLeft(_, w) | Handle::RecordsLeft(_, w) => {
                format!("rec{w}")
            }
            Handle::Buf(s) => format!("b_{}", s.name()),
            Handle::Atomic(s, op) | Handle::Totals(s, op) => {
                format!("a_{}_{}", s.name(), op.name())
            }
            Handle::Mark(s) => format!("m_{}", s.name()),
            Handle::Claim(w) => format!("claim{w}"),
            Handle::Distance | Handle::Distances => "bfs_dist".to_owned(),
            Handle::OwnAtomic(_, w, s) => format!("o{w}_{}", s.name()),
            Handle::OwnBits(w) => format!("own{w}"),
            Handle::All(of, s) => Handle::Own(of, s).name(),
            Handle::Graph => "graph".to_owned(),
            Handle::Back => "back".to_owned(),
            Handle::Other => "other".to_owned(),
            Handle::Nodes => "nodes".to_owned(),
            Handle::Push => "front".to_owned(),
            Handle::PushThing => "things".to_owned(),
            Handle::Append => "list".to_owned(),
            Handle::BitsIn => "given".to_owned(),
            Handle::BitsTop => "fixed".to_owned(),
            Handle::Bits(_) | Handle::BitsSeen => "rows".to_owned(),
            Handle::Reduce(w, r) | Handle::Reduced(w, r) => match r {
                Reduction::Sum(s) => format!("sum{w}_{}", s.name()),
                Reduction::Min(s) => format!("min{w}_{}", s.name()),
                Reduction::Max(s) => format!("max{w}_{}", s.name()),
                Reduction::Or(s) => format!("or{w}_{}", s.name()),
                Reduction::And(s) => format!("and{w}_{}", s.name()),
                Reduction::Any => format!("any{w}"),
                Reduction::All => format!("all{w}"),
                Reduction::Count => format!("count{w}"),
            },
        }
    }

    fn ty(self, items: &Items) -> String {
        match self {
            Handle::Uniform(s) => s.name().to_owned(),
            Handle::Round => "Round".to_owned(),
            Handle::Own(_, s) | Handle::Left(_, _, s) => format!("&{}", s.name()),
            Handle::OwnMut(_, _, s) | Handle::Approximate(_, _, s) => format!("&mut {}", s.name()),
            Handle::Record(_) | Handle::RecordLeft(..) => format!("&{}", items.record.show()),
            Handle::RecordMut(..) => format!("&mut {}", items.record.show()),
            Handle::Records(_) | Handle::RecordsLeft(..) => {
                format!("&Records<{}>", items.record.show())
            }
            Handle::Buf(s)
            | Handle::LeftAll(_, _, s)
            | Handle::Totals(s, _)
            | Handle::All(_, s) => {
                format!("&Buf<{}>", s.name())
            }
            Handle::Atomic(s, _) | Handle::Mark(s) | Handle::OwnAtomic(_, _, s) => {
                format!("&Buf<Atomic<{}>>", s.name())
            }
            Handle::Claim(_) => "&Buf<Atomic<u32>>".to_owned(),
            Handle::Distance => "&u32".to_owned(),
            Handle::Distances => "&Buf<u32>".to_owned(),
            Handle::Graph | Handle::Back | Handle::Other => "&Csr".to_owned(),
            Handle::Nodes => "u32".to_owned(),
            Handle::Push => "&Push".to_owned(),
            Handle::PushThing => format!("&Push<{}>", items.thing.show()),
            Handle::Append => format!("&Append<{}>", items.listed.show()),
            Handle::BitsIn
            | Handle::BitsTop
            | Handle::Bits(_)
            | Handle::BitsSeen
            | Handle::OwnBits(_) => "&Bits".to_owned(),
            Handle::Reduce(_, Reduction::Sum(s)) => format!("&Reduce<Sum<{}>>", s.name()),
            Handle::Reduce(_, Reduction::Min(s)) => format!("&Reduce<Min<{}>>", s.name()),
            Handle::Reduce(_, Reduction::Max(s)) => format!("&Reduce<Max<{}>>", s.name()),
            Handle::Reduce(_, Reduction::Or(s)) => format!("&Reduce<Or<{}>>", s.name()),
            Handle::Reduce(_, Reduction::And(s)) => format!("&Reduce<And<{}>>", s.name()),
            Handle::Reduce(_, Reduction::Any) => "&Reduce<Or<bool>>".to_owned(),
            Handle::Reduce(_, Reduction::All) => "&Reduce<And<bool>>".to_owned(),
            Handle::Reduce(_, Reduction::Count) => "&Reduce<Count>".to_owned(),
            Handle::Reduced(_, r) => r.ty().name().to_owned(),
        }
    }

    fn param(self, items: &Items) -> String {
        format!("{}: {}", self.name(), self.ty(items))
    }

    /// How a wave that takes it uses the field of its name.
    fn mode(self) -> Mode {
        match self {
            Handle::Atomic(_, op) | Handle::Bits(op) => Mode::Update(op),
            Handle::Push | Handle::PushThing | Handle::Append | Handle::Reduce(..) => {
                Mode::Update(Update::Add)
            }
            Handle::OwnMut(..)
            | Handle::RecordMut(..)
            | Handle::Approximate(..)
            | Handle::Mark(_)
            | Handle::OwnAtomic(..)
            | Handle::OwnBits(_)
            | Handle::Claim(_) => Mode::Write,
            Handle::Uniform(_)
            | Handle::Round
            | Handle::Own(..)
            | Handle::Left(..)
            | Handle::LeftAll(..)
            | Handle::Record(_)
            | Handle::Records(_)
            | Handle::RecordLeft(..)
            | Handle::RecordsLeft(..)
            | Handle::Buf(_)
            | Handle::All(..)
            | Handle::Distance
            | Handle::Distances
            | Handle::Totals(..)
            | Handle::Graph
            | Handle::Back
            | Handle::Other
            | Handle::Nodes
            | Handle::BitsIn
            | Handle::BitsTop
            | Handle::BitsSeen
            | Handle::Reduced(..) => Mode::Read,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    Update(Update),
    Write,
}

/// The items of the frontier of things and of the list: a scalar or a struct of scalars. Elements of buffers of
/// structs: no scalar.
#[derive(Clone, Debug)]
struct Items {
    thing: Ty,
    listed: Ty,
    record: Ty,
}

/// What the kernel is swept over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    Nodes,
    Range,
    Edges,
    /// A standalone `#[kernel]`.
    Kernel,
    Once,
    /// Edges of the reversed graph.
    BackEdges,
    OtherEdges,
    /// The frontier of nodes, the edges out of it, the frontier of things.
    Front,
    FrontEdges,
    FrontBack,
    FrontOther,
    Things,
    /// The list: all of it, or what is new.
    List,
    News,
}

impl Domain {
    fn text(self) -> &'static str {
        match self {
            Domain::Nodes => "nodes",
            Domain::Range | Domain::Kernel => "range(n)",
            Domain::Edges => "edges(graph)",
            Domain::Once => "once",
            Domain::BackEdges => "edges(back)",
            Domain::OtherEdges => "edges(other)",
            Domain::Front => "items(front)",
            Domain::FrontEdges => "edges(graph, from = front)",
            Domain::FrontBack => "edges(back, from = front)",
            Domain::FrontOther => "edges(other, from = front)",
            Domain::Things => "items(things)",
            Domain::List => "items(list)",
            Domain::News => "items(list, new)",
        }
    }

    /// The field that is swept.
    fn swept(self) -> Option<&'static str> {
        match self {
            Domain::Front | Domain::FrontEdges | Domain::FrontBack | Domain::FrontOther => {
                Some("front")
            }
            Domain::Things => Some("things"),
            Domain::List | Domain::News => Some("list"),
            _ => None,
        }
    }

    fn has_edges(self) -> bool {
        matches!(
            self,
            Domain::Edges
                | Domain::BackEdges
                | Domain::OtherEdges
                | Domain::FrontEdges
                | Domain::FrontBack
                | Domain::FrontOther
        )
    }

    /// Which buffers have an element for the item.
    fn shape(self) -> Option<Shape> {
        match self {
            Domain::Nodes | Domain::Front => Some(Shape::Node),
            Domain::Edges | Domain::FrontEdges => Some(Shape::Edge),
            Domain::Range | Domain::Kernel => Some(Shape::N),
            Domain::Once
            | Domain::BackEdges
            | Domain::OtherEdges
            | Domain::FrontOther
            | Domain::FrontBack
            | Domain::Things
            | Domain::List
            | Domain::News => None,
        }
    }
}

/// A wave that is written.
#[derive(Clone, Debug)]
struct Wave {
    name: String,
    /// How deep in fixpoints.
    scope_depth: u8,
    domain: Domain,
    handles: BTreeSet<Handle>,
    body: String,
}

/// A node of the pass: a wave by its number, or a fixpoint.
#[derive(Clone, Debug)]
enum Part {
    Wave(usize),
    /// The other graph.
    Included,
    Loop {
        name: String,
        /// `until` and what follows it.
        arguments: String,
        /// What `until` looks at.
        reads: Vec<String>,
        parts: Vec<Part>,
    },
}

impl Part {
    /// The fields that fixpoints look at or swap.
    fn looks_at(&self, to: &mut BTreeSet<String>) {
        if let Part::Loop { reads, parts, .. } = self {
            to.extend(reads.iter().cloned());
            parts.iter().for_each(|p| p.looks_at(to));
        }
    }
}

/// Helpers with the same bits on every backend where Rust's own functions leave them open.
type Fixed = (&'static str, &'static str);
const BITS32: Fixed = (
    "bits32",
    "fn bits32(x: f32) -> u32 { if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() } }",
);
const BITS64: Fixed = (
    "bits64",
    "fn bits64(x: f64) -> u64 { if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() } }",
);
const FROM32: Fixed = (
    "from32",
    "fn from32(b: u32) -> f32 { let x = f32::from_bits(b); if x.is_nan() { f32::NAN } else { x } }",
);
const FROM64: Fixed = (
    "from64",
    "fn from64(b: u64) -> f64 { let x = f64::from_bits(b); if x.is_nan() { f64::NAN } else { x } }",
);
const SIGN32: Fixed = (
    "sign32",
    "fn sign32(x: f32) -> bool { !x.is_nan() && x.is_sign_negative() }",
);
const SIGN64: Fixed = (
    "sign64",
    "fn sign64(x: f64) -> bool { !x.is_nan() && !x.is_sign_positive() }",
);
const COPY32: Fixed = (
    "copy32",
    "fn copy32(x: f32, y: f32) -> f32 { if y.is_nan() { x } else { x.copysign(y) } }",
);
const COPY64: Fixed = (
    "copy64",
    "fn copy64(x: f64, y: f64) -> f64 { if y.is_nan() { x } else { x.copysign(y) } }",
);

/// Constants of the module around the passes, whose types the macros do not see.
const OUTER: [(&str, Scalar); 5] = [
    ("OUTER_U32", U32),
    ("OUTER_I32", I32),
    ("OUTER_U64", U64),
    ("OUTER_F32", F32),
    ("outer::DEEP_I64", I64),
];

/// Which receivers a method has.
#[derive(Clone, Copy)]
enum On {
    Int,
    Signed,
    Unsigned,
    /// u32 and u64.
    Wide,
    Float,
    Number,
}

impl On {
    fn holds(self, s: Scalar) -> bool {
        match self {
            On::Int => s.is_int(),
            On::Signed => s.is_signed(),
            On::Unsigned => s.is_int() && !s.is_signed(),
            On::Wide => matches!(s, U32 | U64),
            On::Float => s.is_float(),
            On::Number => s != Bool,
        }
    }
}

/// Type of an argument or a result.
#[derive(Clone, Copy, PartialEq)]
enum As {
    Same,
    U32,
    Bool,
    /// The unsigned type of the receiver's width.
    Unsigned,
    /// The signed one.
    Signed,
}

/// Methods whose results are the same everywhere: name, receivers, arguments, result.
const METHODS: &[(&str, On, &[As], As)] = &[
    ("saturating_mul", On::Int, &[As::Same], As::Same),
    ("swap_bytes", On::Int, &[], As::Same),
    ("reverse_bits", On::Int, &[], As::Same),
    ("is_multiple_of", On::Unsigned, &[As::Same], As::Bool),
    ("cast_unsigned", On::Signed, &[], As::Unsigned),
    ("cast_signed", On::Wide, &[], As::Signed),
    ("clamp", On::Number, &[As::Same, As::Same], As::Same),
    ("div_euclid", On::Number, &[As::Same], As::Same),
    ("rem_euclid", On::Number, &[As::Same], As::Same),
    ("div_ceil", On::Unsigned, &[As::Same], As::Same),
    ("wrapping_div", On::Int, &[As::Same], As::Same),
    ("wrapping_rem", On::Int, &[As::Same], As::Same),
    ("ilog2", On::Unsigned, &[], As::U32),
    ("next_power_of_two", On::Unsigned, &[], As::Same),
    ("round_ties_even", On::Float, &[], As::Same),
    ("signum", On::Float, &[], As::Same),
    ("to_radians", On::Float, &[], As::Same),
    ("to_degrees", On::Float, &[], As::Same),
    ("wrapping_add", On::Int, &[As::Same], As::Same),
    ("wrapping_sub", On::Int, &[As::Same], As::Same),
    ("wrapping_mul", On::Int, &[As::Same], As::Same),
    ("wrapping_neg", On::Int, &[], As::Same),
    ("wrapping_shl", On::Int, &[As::U32], As::Same),
    ("wrapping_shr", On::Int, &[As::U32], As::Same),
    ("wrapping_pow", On::Int, &[As::U32], As::Same),
    ("pow", On::Int, &[As::U32], As::Same),
    ("wrapping_abs", On::Signed, &[], As::Same),
    ("saturating_add", On::Int, &[As::Same], As::Same),
    ("saturating_sub", On::Int, &[As::Same], As::Same),
    ("abs_diff", On::Int, &[As::Same], As::Unsigned),
    ("unsigned_abs", On::Signed, &[], As::Unsigned),
    ("abs", On::Signed, &[], As::Same),
    ("signum", On::Signed, &[], As::Same),
    ("is_negative", On::Signed, &[], As::Bool),
    ("is_positive", On::Signed, &[], As::Bool),
    ("is_power_of_two", On::Unsigned, &[], As::Bool),
    ("count_ones", On::Int, &[], As::U32),
    ("count_zeros", On::Int, &[], As::U32),
    ("leading_zeros", On::Int, &[], As::U32),
    ("leading_ones", On::Int, &[], As::U32),
    ("trailing_zeros", On::Int, &[], As::U32),
    ("trailing_ones", On::Int, &[], As::U32),
    ("rotate_left", On::Int, &[As::U32], As::Same),
    ("rotate_right", On::Int, &[As::U32], As::Same),
    ("min", On::Number, &[As::Same], As::Same),
    ("max", On::Number, &[As::Same], As::Same),
    ("abs", On::Float, &[], As::Same),
    ("sqrt", On::Float, &[], As::Same),
    ("floor", On::Float, &[], As::Same),
    ("ceil", On::Float, &[], As::Same),
    ("round", On::Float, &[], As::Same),
    ("trunc", On::Float, &[], As::Same),
    ("fract", On::Float, &[], As::Same),
    ("recip", On::Float, &[], As::Same),
    ("mul_add", On::Float, &[As::Same, As::Same], As::Same),
    ("is_nan", On::Float, &[], As::Bool),
    ("is_finite", On::Float, &[], As::Bool),
    ("is_infinite", On::Float, &[], As::Bool),
];

/// An expression of a scalar type. `pinned`: its type is known from around it, so a literal needs no suffix.
type Expression = fn(&mut Kernel, Scalar, bool) -> Option<Expr>;

/// How to make an expression, and how often. The first is the plainest.
const EXPRESSIONS: &[(u32, Expression)] = &[
    (4, |k, s, pinned| Some(k.literal(s, pinned))),
    (14, |k, s, pinned| Some(k.leaf(s, pinned))),
    (16, Kernel::arithmetic),
    (5, Kernel::unary),
    (7, Kernel::cast),
    (10, Kernel::method),
    (8, Kernel::comparison),
    (5, Kernel::logic),
    (5, Kernel::load),
    (4, Kernel::if_value),
    (3, Kernel::match_value),
    (2, Kernel::matches_value),
    (3, |k, s, pinned| {
        let text = k.block(Some((&Ty::Scalar(s), pinned)), 2);
        Some(Expr::new(text, Expr::BLOCK))
    }),
    (4, Kernel::call_value),
    (2, Kernel::loop_value),
    (2, Kernel::labelled_value),
    (1, Kernel::diverging_value),
    (3, Kernel::bits),
    (2, Kernel::conversion),
    (2, Kernel::query),
    (1, Kernel::path_function),
    (1, Kernel::field_of_tuple),
    (4, Kernel::element),
    (3, Kernel::method_value),
    (4, Kernel::left),
    (3, Kernel::bits_value),
    (2, Kernel::record_field),
    (2, Kernel::other_module),
    (3, Kernel::own_atomic),
    (2, Kernel::own_bits),
];

/// A statement, written to the current block; false where it does not apply.
type Statement = fn(&mut Kernel) -> bool;

/// How to make a statement, and how often. The first is the plainest.
const STATEMENTS: &[(u32, Statement)] = &[
    (14, Kernel::let_statement),
    (16, Kernel::assignment),
    (10, Kernel::accumulate),
    (7, Kernel::if_statement),
    (3, Kernel::match_statement),
    (6, Kernel::for_statement),
    (3, Kernel::while_statement),
    (2, Kernel::loop_statement),
    (2, Kernel::labelled_statement),
    (3, Kernel::jump),
    (4, Kernel::update),
    (4, Kernel::push),
    (3, Kernel::reduce),
    (2, Kernel::call_statement),
    (3, Kernel::let_tuple),
    (1, Kernel::assign_tuple),
    (1, Kernel::deferred),
    (1, Kernel::constant),
    (1, Kernel::discard),
    (2, Kernel::assign_whole),
    (2, Kernel::change_array),
    (2, Kernel::method_statement),
    (1, Kernel::let_struct),
    (2, Kernel::let_pattern),
    (2, Kernel::change_own),
    (1, Kernel::check),
    (4, Kernel::gather),
    (2, Kernel::fault),
    (2, Kernel::append),
    (2, Kernel::push_thing),
    (3, Kernel::change_bits),
    (1, Kernel::for_ones),
    (1, Kernel::mark),
    (1, Kernel::claim),
    (1, Kernel::approximate),
    (1, |k| {
        let text = k.block(None, 3);
        k.line(&text);
        true
    }),
];

const MAX_DEPTH: u32 = 5;

/// A kernel that is being written.
struct Kernel {
    choices: Choices,
    domain: Domain,
    /// Number of the wave, and whether it is in a fixpoint.
    wave: u8,
    repeats: bool,
    /// How deep in fixpoints: each depth has one at most.
    scope_depth: u8,
    /// Frontiers that a condition asks for, with the depth of its fixpoint.
    asked: Vec<(String, u8)>,
    items: Items,
    /// The frontier of nodes drops repeats.
    unique: bool,
    /// Buffers that only other waves see.
    scratch: BTreeSet<String>,
    waves: Vec<Wave>,
    /// The lines of the current block.
    out: String,
    indent: usize,
    depth: u32,
    /// Expressions and statements that may still be made.
    fuel: u32,
    scope: Vec<Var>,
    loops: Vec<Loop>,
    handles: BTreeSet<Handle>,
    helpers: Vec<Helper>,
    constants: Vec<(String, Ty)>,
    /// Lengths of arrays that have a name: `N3`.
    lengths: BTreeSet<u32>,
    /// In a module of its own, away from the graph's constants and functions.
    outside: bool,
    /// The graph takes in another, whose distances waves may read.
    includes: bool,
    /// In a loop over neighbours.
    near: bool,
    structs: Vec<Struct>,
    fixed: BTreeSet<Fixed>,
    /// In a loop's condition, which a jump may not leave.
    stays: bool,
    /// In a helper: its result, or unit.
    helper: Option<Option<Ty>>,
    names: u32,
    /// How often the current place runs, and the work of a lane so far.
    turns: u64,
    cost: u64,
    /// Expressions so far, helpers counted where they are inlined.
    size: u32,
}

/// The kernel of these choices.
pub(crate) fn kernel(name: &str, choices: Choices) -> Source {
    let mut k = Kernel {
        choices,
        domain: Domain::Nodes,
        wave: 0,
        repeats: false,
        scope_depth: 0,
        asked: Vec::new(),
        items: Items {
            thing: Ty::Scalar(U32),
            listed: Ty::Scalar(U32),
            record: Ty::Tuple(vec![Ty::Scalar(U32), Ty::Scalar(U32)]),
        },
        unique: false,
        scratch: BTreeSet::new(),
        waves: Vec::new(),
        out: String::new(),
        indent: 0,
        depth: 0,
        fuel: 0,
        scope: Vec::new(),
        loops: Vec::new(),
        handles: BTreeSet::new(),
        helpers: Vec::new(),
        constants: Vec::new(),
        lengths: BTreeSet::new(),
        outside: false,
        includes: false,
        near: false,
        structs: Vec::new(),
        fixed: BTreeSet::new(),
        stays: false,
        helper: None,
        names: 0,
        turns: 1,
        cost: 0,
        size: 0,
    };
    let text = k.pass(name);
    let loose = k.waves.iter().any(|w| match w.domain {
        Domain::Things => !one_word(&k.items.thing),
        Domain::List | Domain::News => !one_word(&k.items.listed),
        _ => false,
    });
    Source {
        text,
        loose,
        choices: k.choices.drawn,
    }
}

impl Kernel {
    // Choices.

    fn below(&mut self, n: u32) -> u32 {
        self.choices.below(n)
    }

    /// True once in `n` times; false for choice 0.
    fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize].clone()
    }

    fn weighted<T: Copy>(&mut self, of: &[(u32, T)]) -> T {
        let total = of.iter().map(|(w, _)| w).sum();
        let mut at = self.below(total);
        for &(w, t) in of {
            if at < w {
                return t;
            }
            at -= w;
        }
        of[0].1
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn scalar(&mut self) -> Scalar {
        self.weighted(&[
            (6, U32),
            (4, I32),
            (4, U64),
            (3, I64),
            (3, F32),
            (3, F64),
            (2, Bool),
            (1, U8),
        ])
    }

    fn ty(&mut self) -> Ty {
        if !self.once_in(4) {
            return Ty::Scalar(self.scalar());
        }
        match self.below(7) {
            5 => return Ty::Size,
            6 => {
                // A part with parts of its own.
                let inner = match self.below(3) {
                    0 if !self.structs.is_empty() => {
                        Ty::Struct(self.below(self.structs.len() as u32) as usize)
                    }
                    1 => self.array(),
                    _ => Ty::Tuple(vec![Ty::Scalar(self.scalar()), Ty::Scalar(self.scalar())]),
                };
                return Ty::Tuple(vec![Ty::Scalar(self.scalar()), inner]);
            }
            0 | 1 => return self.array(),
            2 | 3 if !self.structs.is_empty() => {
                return Ty::Struct(self.below(self.structs.len() as u32) as usize);
            }
            _ => {}
        }
        let parts = 2 + self.below(2);
        let parts = (0..parts).map(|_| {
            if self.once_in(9) {
                Ty::Tuple(vec![Ty::Scalar(self.scalar()), Ty::Scalar(self.scalar())])
            } else {
                Ty::Scalar(self.scalar())
            }
        });
        Ty::Tuple(parts.collect())
    }

    fn array(&mut self) -> Ty {
        let of = match self.below(10) {
            7 => Ty::Tuple(vec![Ty::Scalar(self.scalar()), Ty::Scalar(self.scalar())]),
            8 => {
                let row = Ty::Scalar(self.scalar());
                let row = Ty::Array(Box::new(row), 1 + self.below(3));
                return Ty::Array(Box::new(row), 1 + self.below(3));
            }
            9 if self.structs.iter().any(small) => {
                let of: Vec<usize> = (0..self.structs.len())
                    .filter(|&i| small(&self.structs[i]))
                    .collect();
                let of = Ty::Struct(self.one_of(&of));
                return Ty::Array(Box::new(of), 1 + self.below(3));
            }
            _ => Ty::Scalar(self.scalar()),
        };
        Ty::Array(Box::new(of), 1 + self.below(6))
    }

    // Text.

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.indent * 4);
    }

    /// A block in braces: statements, and a value if one is asked for.
    fn block(&mut self, tail: Option<(&Ty, bool)>, statements: u32) -> String {
        let before = std::mem::take(&mut self.out);
        let visible = self.scope.len();
        self.indent += 1;
        let count = self.below(2 * statements + 1).div_ceil(2);
        for _ in 0..count {
            self.statement();
        }
        if let Some((ty, pinned)) = tail {
            let e = self.value(ty, pinned);
            self.line(&e.text);
        }
        self.indent -= 1;
        self.scope.truncate(visible);
        let inner = std::mem::replace(&mut self.out, before);
        format!("{{\n{inner}{:1$}}}", "", self.indent * 4)
    }

    /// As a block, running this many times at most.
    fn body(&mut self, turns: u64, statements: u32, open: Loop) -> String {
        self.loops.push(open);
        self.turns *= turns;
        let text = self.block(None, statements);
        self.turns /= turns;
        self.loops.pop();
        text
    }

    // Names.

    /// Variables that no later one hides.
    fn visible(&self) -> Vec<Var> {
        let mut seen = BTreeSet::new();
        let newest = self.scope.iter().rev();
        newest
            .filter(|v| seen.insert(v.name.clone()))
            .cloned()
            .collect()
    }

    fn declare(&mut self, ty: &Ty, mutable: bool) -> String {
        let shadow = self.once_in(8);
        let visible = self.visible();
        let lower: Vec<_> = visible
            .into_iter()
            .filter(|v| v.name.starts_with('v'))
            .collect();
        let name = if shadow && !lower.is_empty() {
            self.one_of(&lower).name
        } else {
            self.fresh("v")
        };
        self.scope.push(Var {
            name: name.clone(),
            ty: ty.clone(),
            mutable,
        });
        name
    }

    fn uses(&mut self, h: Handle) -> String {
        self.handles.insert(h);
        h.name()
    }

    /// Whether the wave may take it: not where it takes the field in another way or sweeps it.
    fn free(&self, h: Handle) -> bool {
        let swept = self.helper.is_none() && self.domain.swept() == Some(h.name().as_str());
        let may = !swept || self.repeats && h != Handle::Append;
        may && self.handles.iter().all(|o| *o == h || o.name() != h.name())
    }

    /// Graph, frontiers, lists, bits, reductions: not in a standalone kernel.
    fn in_graph(&self) -> bool {
        self.domain != Domain::Kernel
    }

    /// The wave's own element of this type, if its items have one to write.
    fn own_mut(&mut self, s: Scalar) -> Option<Handle> {
        if self.helper.is_some() {
            return None;
        }
        let repeated = matches!(self.domain, Domain::Front | Domain::FrontEdges) && !self.unique;
        let shape = self.domain.shape().filter(|_| !repeated)?;
        Some(Handle::OwnMut(shape, self.wave, s))
    }

    /// Folds bits into something that leaves the kernel.
    fn sink(&mut self, bits: &str) {
        match self.own_mut(U64) {
            Some(y) => {
                let y = self.uses(y);
                self.line(&format!("*{y} = {y}.rotate_left(5) ^ ({bits});"));
            }
            None => {
                let index = self.leaf(U32, false);
                let ops = [Update::Add, Update::Xor, Update::Max, Update::Min];
                let free = |op: &Update| self.free(Handle::Atomic(U64, *op));
                let op = ops.into_iter().find(free).unwrap_or(Update::Or);
                let a = self.uses(Handle::Atomic(U64, op));
                let index = format!("{} & {}", index.at(6), LEN - 1);
                self.line(&format!("{a}[{index}].fetch_{}({bits});", op.name()));
            }
        }
    }

    /// A handle of an earlier wave, as this one sees it, among those that `see` takes.
    fn earlier(&mut self, see: impl Fn(Handle) -> Option<Handle>) -> Option<Handle> {
        let mut all = BTreeSet::new();
        for wave in &self.waves {
            all.extend(wave.handles.iter().filter_map(|&h| see(h)));
        }
        let all: Vec<Handle> = all.into_iter().filter(|h| self.free(*h)).collect();
        (!all.is_empty()).then(|| self.one_of(&all))
    }

    fn fixed(&mut self, f: Fixed) -> &'static str {
        self.fixed.insert(f);
        f.0
    }

    /// Places in local variables that hold the type, and whether they can be assigned.
    fn places(&self, ty: &Ty) -> Vec<(String, bool)> {
        let mut all = self.all_places();
        all.retain(|(_, found, _)| found == ty);
        all.into_iter().map(|(p, _, m)| (p, m)).collect()
    }

    /// Places in local variables: text, type, whether they can be assigned.
    fn all_places(&self) -> Vec<(String, Ty, bool)> {
        let mut to = Vec::new();
        for v in self.visible() {
            // `self` may be a reference: its fields are used.
            let first = to.len();
            self.within(v.name.clone(), &v.ty, v.mutable, &mut to);
            if v.name == "self" {
                to.remove(first);
            } else if v.name.starts_with("rec") {
                to[first].0.insert(0, '*');
            }
        }
        to
    }

    fn within(&self, place: String, ty: &Ty, mutable: bool, to: &mut Vec<(String, Ty, bool)>) {
        to.push((place.clone(), ty.clone(), mutable));
        match ty {
            Ty::Scalar(_) | Ty::Size => {}
            Ty::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    self.within(format!("{place}.{i}"), part, mutable, to);
                }
            }
            Ty::Array(of, len) => {
                self.within(format!("{place}[{}]", len - 1), of, mutable, to);
            }
            &Ty::Struct(i) => {
                let of = &self.structs[i];
                for (k, part) in of.fields.iter().enumerate() {
                    self.within(format!("{place}.{}", of.field(k)), part, mutable, to);
                }
            }
        }
    }

    /// A place in a local array by a computed index.
    fn element_place(&mut self, s: Scalar, mutable: bool) -> Option<String> {
        let mut arrays = self.all_places();
        arrays.retain(|(_, ty, m)| (*m || !mutable) && matches!(ty, Ty::Array(..)));
        arrays.retain(|(_, ty, _)| self.holds(ty, s));
        if arrays.is_empty() {
            return None;
        }
        let (mut place, mut ty, _) = self.one_of(&arrays);
        while ty != Ty::Scalar(s) {
            let parts: Vec<(String, Ty)> = match &ty {
                Ty::Array(of, len) => {
                    let index = self.array_index(*len);
                    vec![(format!("[{index}]"), (**of).clone())]
                }
                Ty::Tuple(parts) => (0..)
                    .zip(parts)
                    .map(|(k, t): (usize, _)| (format!(".{k}"), t.clone()))
                    .collect(),
                &Ty::Struct(i) => (0..)
                    .zip(&self.structs[i].fields)
                    .map(|(k, t)| (format!(".{}", self.structs[i].field(k)), t.clone()))
                    .collect(),
                Ty::Scalar(_) | Ty::Size => return None,
            };
            let parts: Vec<_> = parts
                .into_iter()
                .filter(|(_, t)| self.holds(t, s))
                .collect();
            let (step, of) = self.one_of(&parts);
            place.push_str(&step);
            ty = of;
        }
        Some(place)
    }

    /// Whether there is such a scalar in it.
    fn holds(&self, ty: &Ty, s: Scalar) -> bool {
        match ty {
            Ty::Scalar(t) => *t == s,
            Ty::Size => false,
            Ty::Array(of, _) => self.holds(of, s),
            Ty::Tuple(parts) => parts.iter().any(|t| self.holds(t, s)),
            &Ty::Struct(i) => self.structs[i].fields.iter().any(|t| self.holds(t, s)),
        }
    }

    fn array_index(&mut self, len: u32) -> String {
        match self.below(12) {
            10 => {
                let index = self.size_value();
                return format!("{} % {len}", index.at(9));
            }
            11 => {
                // Its statements may change the array.
                let index = self.scalar_value(U32, false);
                return format!("({} % {len}) as usize", index.at(9));
            }
            _ => {}
        }
        let index = self.leaf(U32, false);
        match self.below(24) {
            0..=3 => format!("{}", self.below(len)),
            4..=12 => format!("({} % {len}) as usize", index.at(9)),
            13..=22 => {
                let mask = (len + 1).next_power_of_two() / 2 - 1;
                format!("({} & {mask}) as usize", index.at(6))
            }
            _ => format!("{} as usize", index.at(Expr::CAST)),
        }
    }

    fn item(&self) -> &'static [&'static str] {
        match (&self.helper, self.domain) {
            (Some(_), _) => &[],
            (None, Domain::Nodes | Domain::Front) => &["v"],
            (None, Domain::Range | Domain::Kernel) => &["i"],
            (None, of) if of.has_edges() => &["e.src", "e.dst", "e.index"],
            // These are in scope.
            (None, _) => &[],
        }
    }

    /// A name of this type.
    fn name_of(&mut self, ty: &Ty) -> Option<Expr> {
        let locals = self.places(ty);
        let &Ty::Scalar(s) = ty else {
            let mut locals = locals;
            let constants = self.constants.iter().filter(|c| c.1 == *ty);
            locals.extend(constants.map(|c| (c.0.clone(), false)));
            if locals.is_empty() {
                return None;
            }
            let place = self.one_of(&locals).0;
            let binds = if place.starts_with('*') {
                Expr::UNARY
            } else {
                Expr::POSTFIX
            };
            return Some(Expr::new(place, binds));
        };
        if !locals.is_empty() && !self.once_in(3) {
            return Some(Expr::atom(self.one_of(&locals).0));
        }
        let mut constants = Vec::new();
        for (name, ty) in &self.constants {
            match ty {
                Ty::Scalar(t) if *t == s => constants.push(name.clone()),
                Ty::Tuple(parts) => {
                    let parts = (0usize..).zip(parts).filter(|(_, t)| **t == Ty::Scalar(s));
                    constants.extend(parts.map(|(k, _)| format!("{name}.{k}")));
                }
                Ty::Array(of, len) if **of == Ty::Scalar(s) => {
                    constants.push(format!("{name}[{}]", len - 1));
                }
                _ => {}
            }
        }
        if self.helper.is_some() {
            return (!constants.is_empty()).then(|| Expr::atom(self.one_of(&constants)));
        }
        let own = self.domain.shape().map(|of| Handle::Own(of, s));
        let own = own.filter(|h| self.free(*h));
        let written = self.own_mut(s);
        Some(match self.below(6) {
            0 if s == U32 && !self.item().is_empty() => Expr::atom(self.one_of(self.item())),
            1 if own.is_some() => Expr::new(format!("*{}", self.uses(own?)), Expr::UNARY),
            2 if written.is_some() => Expr::new(format!("*{}", self.uses(written?)), Expr::UNARY),
            3 if !constants.is_empty() => Expr::atom(self.one_of(&constants)),
            4 if s == U32 && self.repeats => Expr::atom(self.uses(Handle::Round)),
            _ => Expr::atom(self.uses(Handle::Uniform(s))),
        })
    }

    /// A u32 that is a node.
    fn node(&mut self) -> String {
        let other = self.once_in(3);
        let other = other || self.helper.is_some();
        match self.domain {
            Domain::Nodes | Domain::Front if !other => "v".to_owned(),
            of if of.has_edges() && !other => self.one_of(&["e.src", "e.dst"]).to_owned(),
            _ => {
                let e = self.scalar_value(U32, false);
                let nodes = self.uses(Handle::Nodes);
                format!("{} % {nodes}", e.at(9))
            }
        }
    }

    // Values.

    fn value(&mut self, ty: &Ty, pinned: bool) -> Expr {
        match ty {
            Ty::Scalar(s) => self.scalar_value(*s, pinned),
            Ty::Tuple(parts) => self.composite(ty, pinned, |k| {
                let parts: Vec<_> = parts.iter().map(|t| k.value(t, pinned).text).collect();
                format!("({})", parts.join(", "))
            }),
            Ty::Array(of, len) => self.composite(ty, pinned, |k| {
                if k.once_in(3) {
                    let value = k.value(of, pinned).text;
                    if k.once_in(4) {
                        k.lengths.insert(*len);
                        return format!("[{value}; N{len}]");
                    }
                    format!("[{value}; {len}]")
                } else {
                    // The first element gives the others their type.
                    let parts: Vec<_> = (0..*len)
                        .map(|i| k.value(of, pinned || i > 0).text)
                        .collect();
                    format!("[{}]", parts.join(", "))
                }
            }),
            &Ty::Struct(i) => self.composite(ty, pinned, |k| k.struct_value(i)),
            Ty::Size => self.size_value(),
        }
    }

    /// A `usize`.
    fn size_value(&mut self) -> Expr {
        self.size += 1;
        let small = self.below(9);
        let way = self.below(9);
        if way > 2 && (self.fuel == 0 || self.depth >= MAX_DEPTH) {
            return Expr::atom(format!("{small}usize"));
        }
        match way {
            1 | 2 => {
                if let Some(e) = self.name_of(&Ty::Size) {
                    return e;
                }
            }
            3 => {
                let mut arrays = self.all_places();
                arrays.retain(|(_, ty, _)| matches!(ty, Ty::Array(..)));
                if !arrays.is_empty() {
                    return Expr::atom(format!("{}.len()", self.one_of(&arrays).0));
                }
            }
            4 | 5 => {
                self.fuel -= 1;
                self.depth += 1;
                let (a, b) = (self.size_value(), self.size_value());
                self.depth -= 1;
                let (op, binds) = self.one_of(&[("+", 8), ("*", 9), ("-", 8), ("^", 5), (">>", 7)]);
                return self.infix(&a, op, &b, binds);
            }
            6 => {
                self.fuel -= 1;
                self.depth += 1;
                let (a, b) = (self.size_value(), self.size_value());
                self.depth -= 1;
                let method = self.one_of(&["min", "max", "wrapping_sub", "abs_diff"]);
                return Expr::atom(format!("{}.{method}({})", a.at(Expr::POSTFIX), b.text));
            }
            7 | 8 => {
                let from = self.one_of(&[U32, I32, U64, U8, Bool, F32]);
                let e = self.scalar_value(from, false);
                return Expr {
                    ends_in_cast: true,
                    ..Expr::new(format!("{} as usize", e.at(Expr::CAST)), Expr::CAST)
                };
            }
            _ => {}
        }
        Expr::atom(format!("{small}usize"))
    }

    fn struct_value(&mut self, i: usize) -> String {
        let of = self.structs[i].clone();
        let fields = &of.fields;
        let ty = Ty::Struct(i);
        let way = self.below(6);
        // In its own methods it has another name.
        let own = self
            .scope
            .first()
            .is_some_and(|v| v.name == "self" && v.ty == ty);
        let name = if own && self.once_in(2) {
            "Self".to_owned()
        } else {
            format!("St{i}")
        };
        if way == 4 || of.tuple && way != 5 {
            let args: Vec<_> = fields.iter().map(|t| self.value(t, true).text).collect();
            let make = if way == 4 { "::make" } else { "" };
            return format!("{name}{make}({})", args.join(", "));
        }
        let mut order: Vec<usize> = (0..fields.len()).collect();
        let by = self.below(order.len() as u32) as usize;
        order.rotate_left(by);
        let base = self.places(&ty);
        let based = way == 5 && !base.is_empty();
        if based {
            order.truncate(order.len() / 2);
        }
        let mut parts = Vec::new();
        for f in order {
            let e = self.value(&fields[f], true);
            parts.push(format!("{}: {}", of.field(f), e.text));
        }
        if based {
            parts.push(format!("..{}", self.one_of(&base).0));
        }
        format!("{name} {{ {} }}", parts.join(", "))
    }

    /// A value of a type with parts: one that is there, a branch, a call, or `plain`, its parts written down.
    fn composite(
        &mut self,
        ty: &Ty,
        pinned: bool,
        plain: impl FnOnce(&mut Kernel) -> String,
    ) -> Expr {
        self.size += 1;
        let deep = self.depth < MAX_DEPTH && self.fuel > 0;
        match self.below(11) {
            8 if deep => {
                self.depth += 1;
                let text = self.matching(&mut |k| k.block(Some((ty, pinned)), 1));
                self.depth -= 1;
                return Expr::new(text, Expr::BLOCK);
            }
            9 if deep => {
                self.depth += 1;
                let e = self.labelled_of(ty, pinned);
                self.depth -= 1;
                return e;
            }
            10 if deep => {
                self.depth += 1;
                let e = self.loop_of(ty, pinned);
                self.depth -= 1;
                if let Some(e) = e {
                    return e;
                }
            }
            4 if *ty == self.items.record => {
                if let Some(e) = self.record() {
                    return e;
                }
            }
            5 => {
                if let Some(e) = self.name_of(ty) {
                    return e;
                }
            }
            6 if deep => {
                self.depth += 1;
                let cond = self.condition();
                let (a, b) = (
                    self.block(Some((ty, pinned)), 1),
                    self.block(Some((ty, pinned)), 1),
                );
                self.depth -= 1;
                return Expr::new(format!("if {cond} {a} else {b}"), Expr::BLOCK);
            }
            7 if deep => {
                if let Some(e) = self.call(Some(ty)) {
                    return e;
                }
            }
            _ => {}
        }
        Expr::atom(plain(self))
    }

    /// An element of a whole buffer of structs.
    fn record(&mut self) -> Option<Expr> {
        if self.helper.is_some() || !self.in_graph() {
            return None;
        }
        let left = self.earlier(|h| match h {
            Handle::RecordMut(shape, w) => Some(Handle::RecordsLeft(shape, w)),
            _ => None,
        });
        let shape = self.one_of(&[Shape::Node, Shape::Node, Shape::Edge]);
        let h = left.unwrap_or(Handle::Records(shape));
        if !self.free(h) {
            return None;
        }
        let of = self.uses(h);
        let index = match h {
            Handle::Records(Shape::Node) | Handle::RecordsLeft(Shape::Node, _) => self.node(),
            _ => {
                let e = self.scalar_value(U32, false);
                format!("{} % {of}.len()", e.at(9))
            }
        };
        Some(Expr::atom(format!("{of}.get({index})")))
    }

    /// A field of such an element.
    fn record_field(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let mut paths = leaves(&self.items.record, &self.structs)?;
        paths.retain(|(_, t)| *t == s);
        if paths.is_empty() {
            return None;
        }
        let (path, _) = self.one_of(&paths);
        let e = self.record()?;
        Some(Expr::atom(format!("{}{path}", e.text)))
    }

    fn scalar_value(&mut self, s: Scalar, pinned: bool) -> Expr {
        self.cost += self.turns;
        self.size += 1;
        if self.fuel == 0 || self.depth >= MAX_DEPTH {
            return self.leaf(s, pinned);
        }
        self.fuel -= 1;
        self.depth += 1;
        let rule = self.weighted(EXPRESSIONS);
        let e = match rule(self, s, pinned) {
            Some(e) => e,
            None => self.leaf(s, pinned),
        };
        self.depth -= 1;
        if self.once_in(30) {
            return Expr::atom(format!("({})", e.text));
        }
        e
    }

    fn leaf(&mut self, s: Scalar, pinned: bool) -> Expr {
        if self.once_in(4) {
            return self.literal(s, pinned);
        }
        if pinned && !self.outside && self.once_in(12) {
            let outer: Vec<_> = OUTER.iter().filter(|(_, t)| *t == s).collect();
            if let Some((name, _)) = outer.first() {
                return Expr::atom(*name);
            }
        }
        match self.name_of(&Ty::Scalar(s)) {
            Some(e) => e,
            None => self.literal(s, pinned),
        }
    }

    fn integer(&mut self, s: Scalar) -> i128 {
        let (low, high) = s.limits();
        let small = i128::from(self.below(10));
        let special = [
            low,
            high,
            high - 1,
            low + 1,
            31,
            32,
            63,
            64,
            127,
            255,
            256,
            1 << 16,
            1 << 31,
            (1 << 32) - 1,
            (1 << 53) + 1,
        ];
        let value = match self.below(8) {
            5 => self.one_of(&special),
            6 => i128::from(self.below(1 << 16)) << self.below(48),
            7 => -small - 1,
            _ => small,
        };
        if (low..=high).contains(&value) {
            value
        } else {
            small
        }
    }

    fn literal(&mut self, s: Scalar, pinned: bool) -> Expr {
        let suffix = if pinned && self.below(2) == 1 {
            ""
        } else {
            s.name()
        };
        match s {
            Bool => Expr::atom(self.one_of(&["false", "true"])),
            F32 | F64 => {
                if self.once_in(8) {
                    let name = self.one_of(&[
                        "INFINITY",
                        "NEG_INFINITY",
                        "MAX",
                        "MIN",
                        "EPSILON",
                        "NAN",
                        "MIN_POSITIVE",
                    ]);
                    return Expr::atom(format!("{}::{name}", s.name()));
                }
                let text = self.one_of(&[
                    "0.0",
                    "1.0",
                    "0.5",
                    "-0.0",
                    "-1.5",
                    "2.5",
                    "0.1",
                    "3.0",
                    "-0.75",
                    "255.9",
                    "1e9",
                    "-1e10",
                    "3e38",
                    "1e-40",
                    "4294967296.0",
                    "9007199254740993.0",
                    "16777217.0",
                    "1_0.5e-3",
                    "-7e-2",
                ]);
                let binds = if text.starts_with('-') {
                    Expr::UNARY
                } else {
                    Expr::POSTFIX
                };
                Expr::new(format!("{text}{suffix}"), binds)
            }
            _ => {
                if self.once_in(12) {
                    if s == U32 && self.once_in(3) {
                        return Expr::atom(format!("{}::BITS", self.one_of(&INTS).name()));
                    }
                    let name = self.one_of(&["MAX", "MIN"]);
                    return Expr::atom(format!("{}::{name}", s.name()));
                }
                if s == U8 && self.once_in(4) {
                    return Expr::atom("b'*'");
                }
                let value = self.integer(s);
                if value < 0 {
                    Expr::new(format!("{value}{suffix}"), Expr::UNARY)
                } else if self.once_in(6) {
                    let text = match self.below(4) {
                        2 => format!("{value:#b}"),
                        3 => format!("{value:#o}"),
                        _ => format!("{value:#x}"),
                    };
                    let between = if suffix.is_empty() { "" } else { "_" };
                    Expr::atom(format!("{text}{between}{suffix}"))
                } else {
                    Expr::atom(format!("{value}{suffix}"))
                }
            }
        }
    }

    /// Two operands of one type; a literal's type comes from the other.
    fn operands(&mut self, s: Scalar, pinned: bool) -> (Expr, Expr) {
        if self.once_in(3) {
            let left = self.scalar_value(s, pinned);
            (left, self.scalar_value(s, pinned))
        } else {
            // The left side is typed by itself, so the right one may be a bare literal.
            let left = self.scalar_value(s, false);
            (left, self.scalar_value(s, true))
        }
    }

    fn infix(&mut self, left: &Expr, op: &str, right: &Expr, binds: u8) -> Expr {
        let cast = op.starts_with('<') && left.ends_in_cast;
        let l = if cast {
            format!("({})", left.text)
        } else {
            left.at(binds)
        };
        // A block may stand on the right as it is.
        let r = if right.binds == Expr::BLOCK {
            right.text.clone()
        } else {
            right.at(binds + 1)
        };
        let ends_in_cast = right.ends_in_cast && right.binds > binds;
        Expr {
            ends_in_cast,
            ..Expr::new(format!("{l} {op} {r}"), binds)
        }
    }

    fn arithmetic(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let op: (&str, u8) = match s {
            Bool => self.one_of(&[("&", 6), ("|", 4), ("^", 5)]),
            F32 | F64 => self.one_of(&[("+", 8), ("-", 8), ("*", 9), ("/", 9), ("%", 9)]),
            _ => self.one_of(&[
                ("+", 8),
                ("-", 8),
                ("*", 9),
                ("&", 6),
                ("|", 4),
                ("^", 5),
                ("/", 9),
                ("%", 9),
                ("<<", 7),
                (">>", 7),
            ]),
        };
        if op.1 == 7 {
            let left = self.scalar_value(s, pinned);
            let by = if self.once_in(3) {
                self.one_of(&INTS)
            } else {
                U32
            };
            let right = self.scalar_value(by, false);
            return Some(self.infix(&left, op.0, &right, op.1));
        }
        let (left, mut right) = self.operands(s, pinned);
        if s.is_int() && matches!(op.0, "/" | "%") {
            right = self.divisor(s, right);
        }
        Some(self.infix(&left, op.0, &right, op.1))
    }

    /// Mostly not zero.
    fn divisor(&mut self, s: Scalar, e: Expr) -> Expr {
        match self.below(12) {
            0..=6 => Expr::new(format!("{} | 1", e.at(5)), 4),
            7..=10 => {
                let value = 1 + self.below(120);
                Expr::atom(format!("{value}{}", s.name()))
            }
            _ => e,
        }
    }

    fn unary(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let op = if s == Bool || s.is_int() && !s.is_signed() || s.is_int() && self.once_in(2) {
            "!"
        } else {
            "-"
        };
        let e = self.scalar_value(s, pinned);
        // A minus before a literal would be part of it.
        let e = if op == "-" && e.text.starts_with(|c: char| c.is_ascii_digit()) {
            format!("({})", e.text)
        } else {
            e.at(Expr::UNARY)
        };
        Some(Expr::new(format!("{op}{e}"), Expr::UNARY))
    }

    fn cast(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if s != Bool && self.once_in(12) {
            let e = self.size_value();
            return Some(Expr {
                ends_in_cast: true,
                ..Expr::new(format!("{} as {}", e.at(Expr::CAST), s.name()), Expr::CAST)
            });
        }
        let from = match s {
            Bool => return None,
            F32 | F64 => self.one_of(&[U32, I32, U64, I64, F32, F64, U8]),
            _ => self.one_of(&SCALARS),
        };
        let e = self.scalar_value(from, false);
        Some(Expr {
            ends_in_cast: true,
            ..Expr::new(format!("{} as {}", e.at(Expr::CAST), s.name()), Expr::CAST)
        })
    }

    /// Type of a method's argument or result on this receiver.
    fn typed(of: As, receiver: Scalar) -> Scalar {
        match of {
            As::Same => receiver,
            As::U32 => U32,
            As::Bool => Bool,
            As::Unsigned => match receiver {
                I32 => U32,
                I64 => U64,
                other => other,
            },
            As::Signed => match receiver {
                U32 => I32,
                U64 => I64,
                other => other,
            },
        }
    }

    fn method(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let rows: Vec<_> = METHODS
            .iter()
            .flat_map(|m| SCALARS.iter().map(move |r| (m, *r)))
            .filter(|((_, on, _, result), r)| on.holds(*r) && Self::typed(*result, *r) == s)
            .collect();
        if rows.is_empty() {
            return None;
        }
        let (&(name, _, args, _), on) = self.one_of(&rows);
        let mut receiver = self.scalar_value(on, false);
        if name == "ilog2" {
            receiver = Expr::new(format!("{} | 1", receiver.at(5)), 4);
        }
        let divides = name.contains("_euclid")
            || name == "div_ceil"
            || name.starts_with("wrapping_div")
            || name == "wrapping_rem";
        let args: Vec<_> = match name {
            "clamp" if on.is_float() => vec!["-1.5".to_owned(), "300.0".to_owned()],
            "clamp" => {
                let low = self.below(100);
                vec![low.to_string(), (low + self.below(100)).to_string()]
            }
            // A fault inside of these is located in the standard library natively: none happens.
            _ if divides && on.is_int() => {
                if name.contains("euclid") || self.once_in(2) {
                    vec![(1 + self.below(120)).to_string()]
                } else {
                    let e = self.scalar_value(on, true);
                    vec![format!("{} | 1", e.at(5))]
                }
            }
            _ => args
                .iter()
                .map(|a| self.scalar_value(Self::typed(*a, on), true).text)
                .collect(),
        };
        let e = Expr::atom(format!(
            "{}.{name}({})",
            receiver.at(Expr::POSTFIX),
            args.join(", ")
        ));
        Some(self.signless_zero(s, name, e))
    }

    /// Minimum and maximum of zeros may have either sign.
    fn signless_zero(&mut self, s: Scalar, name: &str, e: Expr) -> Expr {
        if s.is_float() && matches!(name, "min" | "max" | "clamp") {
            Expr::new(format!("{} + 0.0", e.text), 8)
        } else {
            e
        }
    }

    fn comparison(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if s != Bool {
            return None;
        }
        if self.once_in(3) {
            let ty = self.ty();
            if !matches!(ty, Ty::Scalar(_)) {
                let op = self.one_of(if ty == Ty::Size {
                    &["<", ">="]
                } else {
                    &["==", "!="]
                });
                let (left, right) = (self.value(&ty, false), self.value(&ty, false));
                let text = format!("({}) {op} ({})", left.text, right.text);
                return Some(Expr::new(text, Expr::COMPARE));
            }
        }
        let of = self.scalar();
        let op = self.one_of(&["<", "<=", ">", ">=", "==", "!="]);
        let left = self.scalar_value(of, false);
        let right = self.scalar_value(of, true);
        let op_cast = op.starts_with('<') && left.ends_in_cast;
        let l = if op_cast || left.binds <= Expr::COMPARE {
            format!("({})", left.text)
        } else {
            left.text
        };
        let r = right.at(Expr::COMPARE + 1);
        Some(Expr::new(format!("{l} {op} {r}"), Expr::COMPARE))
    }

    /// What stands between `if` and its block.
    fn condition(&mut self) -> String {
        let e = self.scalar_value(Bool, true);
        if e.text.starts_with('\'') {
            return e.at(Expr::OR);
        }
        e.text
    }

    fn logic(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if s != Bool {
            return None;
        }
        let (op, binds) = self.one_of(&[("&&", Expr::AND), ("||", Expr::OR)]);
        let (left, right) = (self.scalar_value(Bool, true), self.scalar_value(Bool, true));
        Some(self.infix(&left, op, &right, binds))
    }

    /// An index below the length of the buffers, mostly.
    fn index(&mut self, buffer: &str) -> String {
        match self.below(40) {
            0..=7 => format!("{}", self.below(LEN)),
            8..=29 => {
                let e = self.scalar_value(U32, false);
                format!("{} & {}", e.at(6), LEN - 1)
            }
            30..=37 => {
                let e = self.scalar_value(U32, false);
                format!("{} % {buffer}.len()", e.at(9))
            }
            38 => {
                let e = self.scalar_value(U32, false);
                format!("{}.min({LEN})", e.at(Expr::POSTFIX))
            }
            _ => self.scalar_value(U32, true).text,
        }
    }

    fn load(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let buffer = self.uses(Handle::Buf(s));
        let index = self.index(&buffer);
        Some(Expr::atom(format!("{buffer}[{index}]")))
    }

    fn if_value(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let ty = Ty::Scalar(s);
        let mut text = String::new();
        let arms = 1 + if self.once_in(4) { self.below(7) } else { 0 };
        for _ in 0..arms {
            let cond = self.condition();
            let then = self.block(Some((&ty, pinned)), 1);
            let _ = write!(text, "if {cond} {then} else ");
        }
        let last = self.block(Some((&ty, pinned)), 1);
        Some(Expr::new(format!("{text}{last}"), Expr::BLOCK))
    }

    /// The text of a pattern for integers, and the name it binds.
    fn pattern(&mut self, s: Scalar) -> (String, Option<String>) {
        let literal = |k: &mut Kernel| {
            let v = k.integer(s);
            let suffix = if k.once_in(4) { s.name() } else { "" };
            format!("{v}{suffix}")
        };
        match self.below(9) {
            0..=2 => (literal(self), None),
            3 => {
                let parts: Vec<_> = (0..2 + self.below(2)).map(|_| literal(self)).collect();
                (parts.join(" | "), None)
            }
            4 | 5 => {
                let (a, b) = (self.integer(s), self.integer(s));
                let (a, b) = (a.min(b), a.max(b));
                if a < b && self.once_in(2) {
                    (format!("{a}..{b}"), None)
                } else {
                    (format!("{a}..={b}"), None)
                }
            }
            6 => {
                let a = self.integer(s);
                if self.once_in(2) {
                    (format!("{a}.."), None)
                } else {
                    (format!("..={a}"), None)
                }
            }
            7 => {
                let constants: Vec<_> = self
                    .constants
                    .iter()
                    .filter(|c| c.1 == Ty::Scalar(s))
                    .collect();
                match constants.first() {
                    Some((name, _)) => (name.clone(), None),
                    None => (literal(self), None),
                }
            }
            _ => {
                let (a, b) = (self.integer(s), self.integer(s));
                let name = self.fresh("v");
                (format!("{name} @ {}..={}", a.min(b), a.max(b)), Some(name))
            }
        }
    }

    /// ` if ..`: it may not change what is matched, so no statement fits in.
    fn guard(&mut self) -> String {
        let depth = self.depth;
        self.depth = depth.max(MAX_DEPTH - 1);
        let cond = self.scalar_value(Bool, true);
        self.depth = depth;
        format!(" if {}", cond.text)
    }

    /// `match` with the body of each arm made by `arm`.
    fn matching(&mut self, arm: &mut dyn FnMut(&mut Kernel) -> String) -> String {
        let s = if self.once_in(5) {
            Bool
        } else {
            self.one_of(&INTS)
        };
        if s != Bool && self.once_in(4) {
            return self.matching_whole(arm);
        }
        let of = self.scalar_value(s, false).at(Expr::OR);
        let mut text = format!("match {of} {{\n");
        self.indent += 1;
        let pad = self.indent * 4;
        if s == Bool {
            let (first, second) = self.one_of(&[("true", "false"), ("false", "_"), ("true", "_")]);
            for p in [first, second] {
                let body = arm(self);
                let _ = writeln!(text, "{:pad$}{p} => {body},", "");
            }
        } else {
            let most = if self.once_in(4) { 9 } else { 3 };
            let arms = 1 + self.below(most);
            for _ in 0..arms {
                let visible = self.scope.len();
                let (mut pattern, mut binds) = self.pattern(s);
                let guarded = self.once_in(5);
                if guarded && binds.is_none() && self.once_in(2) {
                    let name = self.fresh("v");
                    pattern.clone_from(&name);
                    binds = Some(name);
                }
                if let Some(name) = binds {
                    self.scope.push(Var {
                        name,
                        ty: Ty::Scalar(s),
                        mutable: false,
                    });
                }
                let guard = if guarded { self.guard() } else { String::new() };
                let body = arm(self);
                self.scope.truncate(visible);
                let _ = writeln!(text, "{:pad$}{pattern}{guard} => {body},", "");
            }
            let visible = self.scope.len();
            let last = if self.once_in(3) {
                let name = self.fresh("v");
                self.scope.push(Var {
                    name: name.clone(),
                    ty: Ty::Scalar(s),
                    mutable: false,
                });
                name
            } else {
                "_".to_owned()
            };
            let body = arm(self);
            self.scope.truncate(visible);
            let _ = writeln!(text, "{:pad$}{last} => {body},", "");
        }
        self.indent -= 1;
        let _ = write!(text, "{:1$}}}", "", self.indent * 4);
        text
    }

    /// `match` on a tuple or a struct.
    fn matching_whole(&mut self, arm: &mut dyn FnMut(&mut Kernel) -> String) -> String {
        let ty = match self.below(4) {
            3 if !self.structs.is_empty() => {
                Ty::Struct(self.below(self.structs.len() as u32) as usize)
            }
            2 => {
                let inner = Ty::Tuple(vec![Ty::Scalar(self.one_of(&INTS)), Ty::Scalar(Bool)]);
                Ty::Tuple(vec![inner, Ty::Scalar(self.scalar())])
            }
            _ => {
                let parts = 2 + self.below(2);
                Ty::Tuple((0..parts).map(|_| Ty::Scalar(self.scalar())).collect())
            }
        };
        let of = self.value(&ty, false);
        let mut text = format!("match ({}) {{\n", of.text);
        self.indent += 1;
        let pad = self.indent * 4;
        for _ in 0..1 + self.below(3) {
            let visible = self.scope.len();
            let pattern = match &ty {
                Ty::Tuple(parts) if self.once_in(3) => self.alternatives(&parts.clone()),
                _ => self.refutable(&ty),
            };
            let guard = if self.once_in(3) {
                self.guard()
            } else {
                String::new()
            };
            let body = arm(self);
            self.scope.truncate(visible);
            let _ = writeln!(text, "{:pad$}{pattern}{guard} => {body},", "");
        }
        let visible = self.scope.len();
        let last = self.irrefutable(&ty, &mut Vec::new(), false);
        let body = arm(self);
        self.scope.truncate(visible);
        let _ = writeln!(text, "{:pad$}{last} => {body},", "");
        self.indent -= 1;
        let _ = write!(text, "{:1$}}}", "", self.indent * 4);
        text
    }

    /// Alternatives that name the same values, each in a part of its own.
    fn alternatives(&mut self, parts: &[Ty]) -> String {
        let first = parts
            .iter()
            .position(|t| matches!(t, Ty::Scalar(s) if s.is_int()));
        let Some(first) = first else {
            return self.refutable(&Ty::Tuple(parts.to_vec()));
        };
        let same: Vec<usize> = (first..parts.len())
            .filter(|&i| parts[i] == parts[first])
            .collect();
        let Ty::Scalar(s) = parts[first] else {
            return "_".to_owned();
        };
        let name = self.fresh("v");
        let mut texts = Vec::new();
        for _ in 0..2 + self.below(2) {
            let named = self.one_of(&same);
            let each = (0..parts.len()).map(|i| {
                if i == named {
                    name.clone()
                } else if matches!(parts[i], Ty::Scalar(t) if t == s) {
                    self.integer(s).to_string()
                } else {
                    "_".to_owned()
                }
            });
            let each: Vec<_> = each.collect();
            texts.push(format!("({})", each.join(", ")));
        }
        self.scope.push(Var {
            name,
            ty: parts[first].clone(),
            mutable: false,
        });
        texts.join(" | ")
    }

    /// A pattern that may not hold; what it names is in scope.
    fn refutable(&mut self, ty: &Ty) -> String {
        let named = |k: &mut Kernel| {
            if k.once_in(2) {
                return "_".to_owned();
            }
            let (name, ty, mutable) = (k.fresh("v"), ty.clone(), false);
            k.scope.push(Var {
                name: name.clone(),
                ty,
                mutable,
            });
            name
        };
        match ty {
            Ty::Scalar(Bool) if !self.once_in(3) => self.one_of(&["true", "false"]).to_owned(),
            &Ty::Scalar(s) if s.is_int() && !self.once_in(3) => {
                let (text, binds) = self.pattern(s);
                if let Some(name) = binds {
                    let (ty, mutable) = (ty.clone(), false);
                    self.scope.push(Var { name, ty, mutable });
                }
                text
            }
            Ty::Tuple(parts) if !self.once_in(6) => {
                let mut parts: Vec<_> = parts.iter().map(|t| self.refutable(t)).collect();
                if self.once_in(5) {
                    // What a part that is left out would have named is not there.
                    let at = self.below(parts.len() as u32) as usize;
                    let names = |name: &str| {
                        let mut words = parts[at].split(|c: char| !c.is_alphanumeric() && c != '_');
                        words.any(|word| word == name)
                    };
                    self.scope.retain(|v| !names(&v.name));
                    parts[at] = "..".to_owned();
                }
                format!("({})", parts.join(", "))
            }
            &Ty::Struct(i) if !self.once_in(6) => {
                let of = self.structs[i].clone();
                self.apart(i, &of, &mut |k, t| k.refutable(t))
            }
            _ => named(self),
        }
    }

    /// A pattern that holds; what it names is in scope.
    fn irrefutable(&mut self, ty: &Ty, names: &mut Vec<String>, mutable: bool) -> String {
        match ty {
            Ty::Tuple(parts) if !self.once_in(4) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|t| self.irrefutable(t, names, mutable))
                    .collect();
                format!("({})", parts.join(", "))
            }
            &Ty::Struct(i) if !self.once_in(4) => {
                let of = self.structs[i].clone();
                self.apart(i, &of, &mut |k, t| k.irrefutable(t, names, mutable))
            }
            _ if self.once_in(4) => "_".to_owned(),
            _ => {
                let mutable = mutable && self.once_in(2);
                let name = self.fresh("v");
                names.push(name.clone());
                self.scope.push(Var {
                    name: name.clone(),
                    ty: ty.clone(),
                    mutable,
                });
                format!("{}{name}", if mutable { "mut " } else { "" })
            }
        }
    }

    /// A pattern of a struct, perhaps without some of its fields.
    fn apart(
        &mut self,
        i: usize,
        of: &Struct,
        part: &mut dyn FnMut(&mut Kernel, &Ty) -> String,
    ) -> String {
        if of.tuple {
            let parts: Vec<_> = of.fields.iter().map(|t| part(self, t)).collect();
            return format!("St{i}({})", parts.join(", "));
        }
        let mut parts = Vec::new();
        for (k, t) in of.fields.iter().enumerate() {
            if !self.once_in(3) {
                parts.push(format!("{}: {}", of.field(k), part(self, t)));
            }
        }
        if parts.len() < of.fields.len() || self.once_in(6) {
            parts.push("..".to_owned());
        }
        format!("St{i} {{ {} }}", parts.join(", "))
    }

    /// `matches!`.
    fn matches_value(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if s != Bool {
            return None;
        }
        let of = self.one_of(&INTS);
        let ty = if self.once_in(3) {
            Ty::Tuple(vec![Ty::Scalar(of), Ty::Scalar(Bool)])
        } else {
            Ty::Scalar(of)
        };
        let value = self.value(&ty, false);
        let visible = self.scope.len();
        let mut pattern = self.refutable(&ty);
        if pattern.starts_with("..") {
            // The macro's own pattern takes no other.
            pattern = format!("({pattern})");
        }
        let guard = if self.once_in(3) {
            self.guard()
        } else {
            String::new()
        };
        self.scope.truncate(visible);
        Some(Expr::atom(format!(
            "matches!({}, {pattern}{guard})",
            value.text
        )))
    }

    fn match_value(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let ty = Ty::Scalar(s);
        let text = self.matching(&mut |k| {
            if k.once_in(3) {
                k.block(Some((&ty, pinned)), 2)
            } else {
                k.scalar_value(s, pinned).text
            }
        });
        Some(Expr::new(text, Expr::BLOCK))
    }

    fn call(&mut self, result: Option<&Ty>) -> Option<Expr> {
        let (turns, size) = (self.turns, self.size);
        let fits = |h: &&Helper| {
            h.on.is_none()
                && h.result.as_ref() == result
                && h.cost * turns < 3000
                && h.size + size < 900
                && h.handles.iter().all(|h| self.fits(*h))
        };
        let fitting: Vec<_> = self.helpers.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let h = self.one_of(&fitting);
        Some(Expr::atom(format!("{}({})", h.name, self.arguments(&h))))
    }

    /// Whether a helper that takes it can be called here.
    fn fits(&self, h: Handle) -> bool {
        let grows = matches!(h, Handle::Push | Handle::PushThing | Handle::Append);
        self.free(h) && !(grows && self.repeats && self.turns > 1) && !self.updated_elsewhere(h)
    }

    /// Whether it is a reduction of helpers that another scope updates: one scope owns it.
    fn updated_elsewhere(&self, h: Handle) -> bool {
        let elsewhere = |w: &Wave| w.scope_depth != self.scope_depth && w.handles.contains(&h);
        matches!(h, Handle::Reduce(HELPERS, _)) && self.waves.iter().any(elsewhere)
    }

    /// Whether it sweeps a frontier that another scope sweeps, or an inner condition asks for: one scope owns it.
    fn swept_elsewhere(&self, domain: Domain) -> bool {
        let Some(frontier) = domain.swept().filter(|f| *f != "list") else {
            return false;
        };
        let here = self.scope_depth;
        let swept = |w: &Wave| w.domain.swept() == Some(frontier) && w.scope_depth != here;
        let asked = |(name, depth): &(String, u8)| name == frontier && here > 0 && *depth != here;
        self.waves.iter().any(swept) || self.asked.iter().any(asked)
    }

    /// Whether a condition at this depth may ask for it: its own fixpoint or the graph owns it.
    fn may_ask(&self, h: Handle) -> bool {
        let owner = match h {
            Handle::Reduce(HELPERS, _) => return false,
            Handle::Reduce(wave, _) => self.waves[usize::from(wave)].scope_depth,
            Handle::Push | Handle::PushThing => {
                let sweeps = |w: &&Wave| w.domain.swept() == Some(h.name().as_str());
                self.waves.iter().find(sweeps).map_or(0, |w| w.scope_depth)
            }
            _ => 0,
        };
        owner == 0 || owner == self.scope_depth
    }

    fn arguments(&mut self, h: &Helper) -> String {
        self.cost += h.cost * self.turns;
        self.size += h.size;
        // Taken first, so that no argument takes a field in another way.
        let handles: Vec<_> = h.handles.iter().map(|&h| self.uses(h)).collect();
        let mut args: Vec<_> = h.params.iter().map(|t| self.value(t, true).text).collect();
        args.extend(handles);
        args.join(", ")
    }

    /// A call of a method of a struct on a local place.
    fn call_method(&mut self, result: Option<&Ty>) -> Option<Expr> {
        let (turns, size) = (self.turns, self.size);
        let mut ways = Vec::new();
        for (place, ty, mutable) in self.all_places() {
            for h in &self.helpers {
                if let (Some((of, changes)), Ty::Struct(i)) = (h.on, &ty)
                    && of == *i
                    && (mutable || !changes)
                    && h.result.as_ref() == result
                    && h.cost * turns < 3000
                    && h.size + size < 900
                    && h.handles.iter().all(|h| self.fits(*h))
                {
                    ways.push((place.clone(), h.clone()));
                }
            }
        }
        if ways.is_empty() {
            return None;
        }
        let (place, h) = self.one_of(&ways);
        // Arguments may not change what is borrowed.
        let depth = self.depth;
        self.depth = MAX_DEPTH;
        let args = self.arguments(&h);
        self.depth = depth;
        let place = place.trim_start_matches('*');
        Some(Expr::atom(format!("{place}.{}({args})", h.name)))
    }

    fn method_value(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        self.call_method(Some(&Ty::Scalar(s)))
    }

    fn element(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        self.element_place(s, false).map(Expr::atom)
    }

    fn call_value(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        self.call(Some(&Ty::Scalar(s)))
    }

    fn may_loop(&self) -> bool {
        let nested = self.loops.iter().filter(|l| l.turns).count();
        nested < if self.helper.is_some() { 1 } else { 2 }
    }

    /// `loop` that gives a value.
    fn loop_value(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        self.loop_of(&Ty::Scalar(s), pinned)
    }

    fn loop_of(&mut self, ty: &Ty, pinned: bool) -> Option<Expr> {
        if !self.may_loop() {
            return None;
        }
        let (left, turns) = (self.fresh("left"), 1 + self.below(8));
        let label = self.once_in(3).then(|| self.fresh("'l"));
        let open = Loop {
            label: label.clone(),
            plain: true,
            turns: true,
            value: Some(ty.clone()),
        };
        // It may not turn: the turns are over.
        self.loops.push(open.clone());
        let stays = std::mem::replace(&mut self.stays, true);
        let out = self.value(ty, pinned).at(Expr::OR);
        self.stays = stays;
        self.loops.pop();
        let body = self.body(u64::from(turns), 3, open);
        let prefix = label.map(|l| format!("{l}: ")).unwrap_or_default();
        let body = body.strip_prefix('{').unwrap_or(&body).to_owned();
        Some(Expr::new(
            format!(
                "{{ let mut {left} = {turns}u32; {prefix}loop {{ if {left} == 0 {{ break {}; }} {left} -= 1;{body} }}",
                out
            ),
            Expr::BLOCK,
        ))
    }

    fn labelled_value(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        Some(self.labelled_of(&Ty::Scalar(s), pinned))
    }

    fn labelled_of(&mut self, ty: &Ty, pinned: bool) -> Expr {
        let label = self.fresh("'l");
        self.loops.push(Loop {
            label: Some(label.clone()),
            plain: false,
            turns: false,
            value: Some(ty.clone()),
        });
        let text = self.block(Some((ty, pinned)), 3);
        self.loops.pop();
        Expr::new(format!("{label}: {text}"), Expr::BLOCK)
    }

    /// A jump out of here, as an expression.
    fn leave(&mut self) -> Option<String> {
        if self.stays {
            return None;
        }
        let mut ways = Vec::new();
        for (i, l) in self.loops.iter().enumerate().rev() {
            // Inside of a labelled block every jump has a label.
            let innermost = i + 1 == self.loops.len();
            let names: Vec<String> = l
                .label
                .iter()
                .map(|l| format!(" {l}"))
                .chain((l.plain && innermost).then(String::new))
                .collect();
            for name in names {
                ways.push((format!("break{name}"), l.value.clone()));
                if l.turns {
                    ways.push((format!("continue{name}"), None));
                }
            }
        }
        if ways.is_empty() || self.once_in(8) {
            return match &self.helper {
                None => Some("return".to_owned()),
                Some(None) => Some("return".to_owned()),
                Some(Some(ty)) => {
                    let ty = ty.clone();
                    let e = self.value(&ty, true);
                    Some(format!("return {}", e.text))
                }
            };
        }
        let (text, value) = self.one_of(&ways);
        Some(match value {
            Some(ty) => {
                let e = self.value(&ty, false);
                // `break 'a: {` would be read as the label's block.
                format!("{text} {}", e.at(Expr::OR))
            }
            None => text,
        })
    }

    fn diverging_value(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let cond = self.condition();
        let out = self.leave()?;
        let e = self.scalar_value(s, pinned);
        Some(Expr::new(
            format!("if {cond} {{ {out} }} else {{ {} }}", e.text),
            Expr::BLOCK,
        ))
    }

    /// Bits of floats, and what depends on the sign of a NaN.
    fn bits(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let (f, args): (Fixed, &[Scalar]) = match s {
            U32 => (BITS32, &[F32]),
            U64 => (BITS64, &[F64]),
            F32 => self.one_of(&[(FROM32, &[U32][..]), (COPY32, &[F32, F32])]),
            F64 => self.one_of(&[(FROM64, &[U64][..]), (COPY64, &[F64, F64])]),
            Bool => self.one_of(&[(SIGN32, &[F32][..]), (SIGN64, &[F64])]),
            I32 | I64 | U8 => return None,
        };
        let args: Vec<_> = args
            .iter()
            .map(|&a| self.scalar_value(a, true).text)
            .collect();
        Some(Expr::atom(format!(
            "{}({})",
            self.fixed(f),
            args.join(", ")
        )))
    }

    fn conversion(&mut self, s: Scalar, pinned: bool) -> Option<Expr> {
        let from = match s {
            U32 => self.one_of(&[U8, Bool]),
            I32 => self.one_of(&[U8, Bool]),
            U64 => self.one_of(&[U32, U8, Bool]),
            I64 => self.one_of(&[I32, U32, U8, Bool]),
            F32 => U8,
            F64 => self.one_of(&[I32, U32, F32, U8]),
            Bool | U8 => return None,
        };
        let e = self.scalar_value(from, false);
        if pinned && self.once_in(4) {
            // The block says what it becomes.
            let name = self.fresh("v");
            return Some(Expr::new(
                format!(
                    "{{ let {name}: {} = {}.into(); {name} }}",
                    s.name(),
                    e.at(Expr::POSTFIX)
                ),
                Expr::BLOCK,
            ));
        }
        Some(Expr::atom(format!("{}::from({})", s.name(), e.text)))
    }

    /// Lengths and degrees.
    fn other_module(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if self.outside {
            return None;
        }
        let (name, args) = match s {
            U32 => ("outer::scramble", &[U32][..]),
            F64 => ("outer::inner::between", &[F64, F64][..]),
            _ => return None,
        };
        let args: Vec<_> = args
            .iter()
            .map(|&a| self.scalar_value(a, true).text)
            .collect();
        Some(Expr::atom(format!("{name}({})", args.join(", "))))
    }

    fn query(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let graph = self.in_graph();
        match s {
            U32 if graph && self.once_in(2) => {
                let node = self.node();
                let graph = self.uses(Handle::Graph);
                Some(Expr::atom(match self.below(4) {
                    0 | 1 => format!("{graph}.degree({node})"),
                    2 => format!("{graph}.edges({node}).start"),
                    _ => format!("{graph}.edges({node}).end"),
                }))
            }
            U32 => {
                let of = self.scalar();
                let buffer = self.uses(Handle::Buf(of));
                Some(Expr::atom(format!("{buffer}.len()")))
            }
            Bool => {
                let of = self.scalar();
                let buffer = self.uses(Handle::Buf(of));
                Some(Expr::atom(format!("{buffer}.is_empty()")))
            }
            _ => None,
        }
    }

    fn path_function(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if s == Bool {
            return None;
        }
        let name = self.one_of(&["min", "max"]);
        let (a, b) = (self.scalar_value(s, false), self.scalar_value(s, true));
        let path = if s.is_int() && self.once_in(2) {
            "std::cmp".to_owned()
        } else {
            s.name().to_owned()
        };
        let e = Expr::atom(format!("{path}::{name}({}, {})", a.text, b.text));
        Some(self.signless_zero(s, name, e))
    }

    fn field_of_tuple(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let other = self.scalar();
        let (a, b) = (self.scalar_value(s, false), self.scalar_value(other, false));
        Some(Expr::atom(if self.once_in(2) {
            format!("({}, {}).1", b.text, a.text)
        } else {
            format!("({}, {}).0", a.text, b.text)
        }))
    }

    // Statements.

    fn statement(&mut self) {
        if self.fuel == 0 || self.depth >= MAX_DEPTH {
            return;
        }
        self.fuel -= 1;
        self.depth += 1;
        let rule = self.weighted(STATEMENTS);
        if !rule(self) {
            self.let_statement();
        }
        self.depth -= 1;
    }

    fn let_statement(&mut self) -> bool {
        let ty = self.ty();
        let mutable = !self.once_in(3);
        let annotated = self.once_in(2);
        let e = self.value(&ty, annotated);
        let name = self.declare(&ty, mutable);
        let mutable = if mutable { "mut " } else { "" };
        let annotation = if annotated {
            format!(": {}", ty.show())
        } else {
            String::new()
        };
        self.line(&format!("let {mutable}{name}{annotation} = {};", e.text));
        true
    }

    /// Something that can be assigned, and its type.
    fn target(&mut self, s: Scalar) -> Option<String> {
        let mut places = self.places(&Ty::Scalar(s));
        places.retain(|p| p.1);
        if self.once_in(3)
            && let Some(element) = self.element_place(s, true)
        {
            return Some(element);
        }
        if !places.is_empty() && !self.once_in(4) {
            return Some(self.one_of(&places).0);
        }
        let own = self.own_mut(s)?;
        Some(format!("*{}", self.uses(own)))
    }

    fn assignment(&mut self) -> bool {
        let s = self.scalar();
        let Some(target) = self.target(s) else {
            return false;
        };
        if self.once_in(3) {
            let e = self.scalar_value(s, true);
            self.line(&format!("{target} = {};", e.text));
            return true;
        }
        let op = match s {
            Bool => self.one_of(&["&=", "|=", "^="]),
            // Sums over neighbours are rounded in any order on a device.
            F32 | F64 if self.near => self.one_of(&["-=", "/=", "%="]),
            F32 | F64 => self.one_of(&["+=", "-=", "*=", "/=", "%="]),
            _ => self.one_of(&["+=", "-=", "*=", "&=", "|=", "^=", "/=", "%=", "<<=", ">>="]),
        };
        let e = if matches!(op, "<<=" | ">>=") {
            let by = if self.once_in(3) {
                self.one_of(&INTS)
            } else {
                U32
            };
            self.scalar_value(by, false)
        } else {
            let e = self.scalar_value(s, true);
            if s.is_int() && matches!(op, "/=" | "%=") {
                self.divisor(s, e)
            } else {
                e
            }
        };
        self.line(&format!("{target} {op} {};", e.text));
        true
    }

    /// A value as u64 bits.
    fn as_u64(&mut self, s: Scalar, e: &Expr) -> String {
        match s {
            U64 => e.at(8),
            F32 => format!("{}({}) as u64", self.fixed(BITS32), e.text),
            F64 => format!("{}({})", self.fixed(BITS64), e.text),
            _ => format!("{} as u64", e.at(Expr::CAST)),
        }
    }

    /// Folds a value into a u64 that leaves the kernel.
    fn accumulate(&mut self) -> bool {
        if self.helper.is_some() {
            return false;
        }
        let s = self.scalar();
        let e = self.scalar_value(s, false);
        let e = self.as_u64(s, &e);
        self.sink(&e);
        true
    }

    fn if_statement(&mut self) -> bool {
        let cond = self.condition();
        let mut text = format!("if {cond} {}", self.block(None, 3));
        while self.once_in(3) {
            let cond = self.condition();
            let then = self.block(None, 2);
            let _ = write!(text, " else if {cond} {then}");
        }
        if self.once_in(2) {
            let _ = write!(text, " else {}", self.block(None, 3));
        }
        self.line(&text);
        true
    }

    fn match_statement(&mut self) -> bool {
        let text = self.matching(&mut |k| k.block(None, 2));
        self.line(&text);
        true
    }

    fn new_loop(&mut self) -> (String, Loop) {
        let label = self.once_in(4).then(|| self.fresh("'l"));
        let prefix = label.as_ref().map(|l| format!("{l}: ")).unwrap_or_default();
        let open = Loop {
            label,
            plain: true,
            turns: true,
            value: None,
        };
        (prefix, open)
    }

    fn for_statement(&mut self) -> bool {
        if !self.may_loop() {
            return false;
        }
        let (prefix, open) = self.new_loop();
        if self.in_graph() && !self.near && self.once_in(2) {
            return self.for_neighbors(&prefix, open);
        }
        let mut arrays = self.all_places();
        arrays.retain(|(_, ty, _)| matches!(ty, Ty::Array(..)));
        if !arrays.is_empty() && self.once_in(3) {
            let (place, ty, _) = self.one_of(&arrays);
            let Ty::Array(of, len) = ty else { return false };
            let visible = self.scope.len();
            let name = match *of {
                Ty::Tuple(_) | Ty::Struct(_) if self.once_in(2) => {
                    self.irrefutable(&of, &mut Vec::new(), true)
                }
                _ => self.declare(&of, false),
            };
            let body = self.body(u64::from(len), 3, open);
            self.scope.truncate(visible);
            self.line(&format!("{prefix}for {name} in {place} {body}"));
            return true;
        }
        if self.once_in(8) {
            return self.for_wide(&prefix, open);
        }
        let s = self.one_of(&INTS);
        let mask = self.one_of(&[3, 1, 7]);
        let end = {
            let e = self.scalar_value(s, false);
            format!("({} & {mask})", e.at(6))
        };
        let (start, end) = match self.below(8) {
            5 if s.is_signed() => (format!("-{}", 1 + self.below(3)), end),
            6 => (
                format!("{}::MAX - 2", s.name()),
                format!("{}::MAX", s.name()),
            ),
            7 => (end, format!("{}", self.below(8))),
            _ => (format!("{}", self.below(2)), end),
        };
        let dots = self.one_of(&["..", "..="]);
        let step = match self.below(8) {
            6 => format!(".step_by({})", 1 + self.below(4)),
            7 => {
                let e = self.leaf(U32, false);
                format!(".step_by(({} & 3) as usize + 1)", e.at(6))
            }
            _ => String::new(),
        };
        let range = if self.once_in(3) {
            format!("({start}{dots}{end}).rev(){step}")
        } else if step.is_empty() {
            format!("{start}{dots}{end}")
        } else {
            format!("({start}{dots}{end}){step}")
        };
        let mutable = self.once_in(6);
        let visible = self.scope.len();
        let name = if self.once_in(8) {
            "_".to_owned()
        } else {
            self.declare(&Ty::Scalar(s), mutable)
        };
        let body = self.body(11, 3, open);
        self.scope.truncate(visible);
        let mutable = if mutable && name != "_" { "mut " } else { "" };
        self.line(&format!("{prefix}for {mutable}{name} in {range} {body}"));
        true
    }

    /// Takes together what the neighbours of a node have, in any order.
    fn gather(&mut self) -> bool {
        if self.helper.is_some() || !self.in_graph() || self.near || !self.may_loop() {
            return false;
        }
        let s = self.one_of(&[U32, U32, I32, F32, U64, I64, F64]);
        let node = self.node();
        let graph = self.weighted(&[(6, Handle::Graph), (2, Handle::Back), (2, Handle::Other)]);
        let graph = self.uses(graph);
        let (total, of) = (self.fresh("v"), self.fresh("v"));
        let op = match s.is_float() {
            true => self.one_of(&[Update::Add, Update::Min, Update::Max]),
            false => self.one_of(&UPDATES),
        };
        let start = match (s.is_float(), op) {
            (true, _) => "0.0".to_owned(),
            (false, Update::And) => "!0".to_owned(),
            (false, _) => self.below(9).to_string(),
        };
        let all = Handle::All(Shape::Node, s);
        let loads = self.free(all) && !self.once_in(4);
        let edges = self.once_in(3);
        let (mut text, mut node_of) = (String::new(), of.clone());
        if edges {
            node_of = self.fresh("v");
            let _ = write!(text, "let {node_of} = {graph}.target({of}); ");
        }
        let visible = self.scope.len();
        for name in [&of, &node_of] {
            let (name, ty, mutable) = (name.clone(), Ty::Scalar(U32), false);
            self.scope.push(Var { name, ty, mutable });
        }
        let element = loads.then(|| format!("{}[{node_of}]", self.uses(all)));
        let fuel = self.fuel;
        self.fuel = self.below(4).min(fuel);
        let spent = self.fuel;
        self.near = true;
        let value = match element {
            // Sums of floats are exact, and zeros have no sign.
            Some(x) if s.is_float() && op == Update::Add => {
                format!("({x} as u32 & 15) as {}", s.name())
            }
            Some(x) if s.is_float() => format!("{x} + 0.0"),
            Some(x) if self.once_in(2) => x,
            Some(x) => {
                let e = self.scalar_value(s, true);
                format!("{x}.wrapping_add({})", e.text)
            }
            None => self.number(s, op == Update::Add),
        };
        self.near = false;
        self.fuel = fuel - (spent - self.fuel);
        self.scope.truncate(visible);
        let taken = match op {
            Update::Add => format!("{total} += {value};"),
            Update::And => format!("{total} &= {value};"),
            Update::Or => format!("{total} |= {value};"),
            Update::Xor => format!("{total} ^= {value};"),
            Update::Min | Update::Max => format!("{total} = {total}.{}({value});", op.name()),
        };
        let method = if edges { "edges" } else { "neighbors" };
        self.line(&format!("let mut {total}: {} = {start};", s.name()));
        self.line(&format!(
            "for {of} in {graph}.{method}({node}) {{ {text}{taken} }}"
        ));
        self.scope.push(Var {
            name: total,
            ty: Ty::Scalar(s),
            mutable: true,
        });
        true
    }

    fn for_neighbors(&mut self, prefix: &str, open: Loop) -> bool {
        let node = self.node();
        let graph = self.weighted(&[(6, Handle::Graph), (2, Handle::Back), (2, Handle::Other)]);
        let foreign = graph != Handle::Graph;
        let graph = self.uses(graph);
        let edges = self.once_in(2);
        let visible = self.scope.len();
        let name = self.declare(&Ty::Scalar(U32), false);
        let mut first = String::new();
        if edges && self.once_in(2) {
            // Read first, where the loop's variable still has its name.
            let target = self.fresh("v");
            let _ = write!(first, " let {target} = {graph}.target({name});");
            let s = self.one_of(&NUMBERS);
            let mut names = vec![(target, U32)];
            if self.helper.is_none() && !foreign && self.free(Handle::All(Shape::Edge, s)) {
                let weight = self.fresh("v");
                let of = self.uses(Handle::All(Shape::Edge, s));
                let _ = write!(first, " let {weight} = {of}[{name}];");
                names.push((weight, s));
            }
            for (name, s) in names {
                let (ty, mutable) = (Ty::Scalar(s), false);
                self.scope.push(Var { name, ty, mutable });
            }
        }
        self.near = true;
        let body = self.body(8, 3, open);
        self.near = false;
        self.scope.truncate(visible);
        let method = if edges { "edges" } else { "neighbors" };
        let body = body.strip_prefix('{').unwrap_or(&body);
        self.line(&format!(
            "{prefix}for {name} in {graph}.{method}({node}) {{{first}{body}"
        ));
        true
    }

    /// A loop over any range in a few wide steps.
    fn for_wide(&mut self, prefix: &str, open: Loop) -> bool {
        let s = self.one_of(&INTS);
        let few = match s {
            U8 => 16,
            U32 | I32 => 1u64 << 28,
            _ => 1 << 60,
        };
        let step = few + u64::from(self.below(100));
        let (start, end) = (self.scalar_value(s, false), self.scalar_value(s, true));
        let dots = self.one_of(&["..", "..="]);
        let range = format!("({}{dots}{})", start.at(Expr::OR), end.at(Expr::OR));
        let rev = if self.once_in(2) { ".rev()" } else { "" };
        let visible = self.scope.len();
        let name = self.declare(&Ty::Scalar(s), false);
        let body = self.body(17, 3, open);
        self.scope.truncate(visible);
        self.line(&format!(
            "{prefix}for {name} in {range}{rev}.step_by({step}) {body}"
        ));
        true
    }

    fn while_statement(&mut self) -> bool {
        if !self.may_loop() {
            return false;
        }
        let (left, turns) = (self.fresh("left"), 1 + self.below(8));
        let (prefix, open) = self.new_loop();
        let stays = std::mem::replace(&mut self.stays, true);
        let cond = self.scalar_value(Bool, true);
        self.stays = stays;
        let body = self.body(u64::from(turns), 3, open);
        let body = body.strip_prefix('{').unwrap_or(&body).to_owned();
        self.line(&format!("let mut {left} = {turns}u32;"));
        let cond = cond.at(Expr::AND + 1);
        self.line(&format!(
            "{prefix}while {left} > 0 && {cond} {{ {left} -= 1;{body}"
        ));
        true
    }

    fn loop_statement(&mut self) -> bool {
        if !self.may_loop() {
            return false;
        }
        let (left, turns) = (self.fresh("left"), 1 + self.below(8));
        let (prefix, open) = self.new_loop();
        let body = self.body(u64::from(turns), 4, open);
        let body = body.strip_prefix('{').unwrap_or(&body).to_owned();
        self.line(&format!("let mut {left} = {turns}u32;"));
        self.line(&format!(
            "{prefix}loop {{ if {left} == 0 {{ break; }} {left} -= 1;{body}"
        ));
        true
    }

    fn labelled_statement(&mut self) -> bool {
        let label = self.fresh("'l");
        self.loops.push(Loop {
            label: Some(label.clone()),
            plain: false,
            turns: false,
            value: None,
        });
        let text = self.block(None, 4);
        self.loops.pop();
        self.line(&format!("{label}: {text}"));
        true
    }

    fn jump(&mut self) -> bool {
        if self.loops.is_empty() && !self.once_in(4) {
            return false;
        }
        let cond = self.condition();
        let Some(out) = self.leave() else {
            return false;
        };
        self.line(&format!("if {cond} {{ {out}; }}"));
        true
    }

    /// The operation that an atomic buffer of this kernel is updated by: one for each type.
    fn operation(&mut self, s: Scalar) -> Update {
        let known = self.handles.iter().find_map(|h| match h {
            Handle::Atomic(t, op) if *t == s => Some(*op),
            _ => None,
        });
        let random = if s.is_float() {
            self.one_of(&[Update::Min, Update::Max, Update::Add])
        } else {
            self.one_of(&UPDATES)
        };
        known.unwrap_or(random)
    }

    /// A number to update with: no zero with a sign for minima, and sums of floats are exact in any order.
    fn number(&mut self, s: Scalar, sums: bool) -> String {
        if sums && s.is_float() {
            let e = self.scalar_value(U32, false);
            return format!("({} & 15) as {}", e.at(6), s.name());
        }
        let e = self.scalar_value(s, !s.is_float());
        if s.is_float() {
            format!("{} + 0.0", e.at(8))
        } else {
            e.text
        }
    }

    fn update(&mut self) -> bool {
        let s = self.one_of(&NUMBERS);
        let op = self.operation(s);
        let handle = Handle::Atomic(s, op);
        if !self.free(handle) {
            return false;
        }
        let buffer = self.uses(handle);
        let index = self.index(&buffer);
        let e = self.number(s, op == Update::Add);
        let method = if op == Update::Add && self.once_in(4) {
            "sub"
        } else {
            op.name()
        };
        self.line(&format!("{buffer}[{index}].fetch_{method}({e});"));
        true
    }

    /// What may be pushed or appended here: in a fixpoint, once an item.
    fn may_grow(&mut self, h: Handle) -> bool {
        // The type of its items names structs, which come before their methods.
        let method = self.scope.iter().any(|v| v.name == "self");
        !method && self.in_graph() && self.free(h) && !(self.repeats && self.turns > 1)
    }

    fn push(&mut self) -> bool {
        if !self.may_grow(Handle::Push) {
            return false;
        }
        let node = self.node();
        let front = self.uses(Handle::Push);
        if self.once_in(3) && !self.repeats {
            self.line(&format!("{front}.push({node});"));
        } else {
            let cond = self.condition();
            self.line(&format!("if {cond} {{ {front}.push({node}); }}"));
        }
        true
    }

    fn push_thing(&mut self) -> bool {
        self.grow(Handle::PushThing, "push")
    }

    fn append(&mut self) -> bool {
        self.grow(Handle::Append, "append")
    }

    fn grow(&mut self, h: Handle, method: &str) -> bool {
        if !self.may_grow(h) {
            return false;
        }
        let ty = match h {
            Handle::Append => self.items.listed.clone(),
            _ => self.items.thing.clone(),
        };
        // The value may use what grows no more than the wave may.
        let to = self.uses(h);
        let e = self.value(&ty, true);
        if self.once_in(3) && !self.repeats {
            self.line(&format!("{to}.{method}({});", e.text));
        } else {
            let cond = self.condition();
            self.line(&format!("if {cond} {{ {to}.{method}({}); }}", e.text));
        }
        true
    }

    /// A node index for rows of bits, in helpers too.
    fn row(&mut self) -> String {
        if self.helper.is_none() {
            return self.node();
        }
        let e = self.leaf(U32, false);
        format!("{} % 3", e.at(9))
    }

    /// A bit or a word of a row, mostly one that is there.
    fn bit(&mut self, rows: &str, of: &str) -> String {
        let e = self.scalar_value(U32, false);
        if self.once_in(30) {
            return e.text;
        }
        format!("{} % {rows}.{of}()", e.at(9))
    }

    /// Rows that this wave reads.
    fn seen_rows(&mut self) -> String {
        let known = self.waves.iter().any(|w| {
            let mut all = w.handles.iter();
            all.any(|h| matches!(h, Handle::Bits(_)))
        });
        match self.below(4) {
            0 | 1 => self.uses(Handle::BitsIn),
            2 => self.uses(Handle::BitsTop),
            _ if known && self.free(Handle::BitsSeen) => self.uses(Handle::BitsSeen),
            _ => self.uses(Handle::BitsIn),
        }
    }

    fn bits_value(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if !self.in_graph() || !matches!(s, U32 | Bool) {
            return None;
        }
        let rows = self.seen_rows();
        let v = self.row();
        Some(Expr::atom(match s {
            Bool => {
                let bit = self.bit(&rows, "width");
                format!("{rows}.get({v}, {bit})")
            }
            _ => match self.below(6) {
                0..=2 => {
                    let word = self.bit(&rows, "words");
                    format!("{rows}.word({v}, {word})")
                }
                3 => format!("{rows}.width()"),
                4 => format!("{rows}.words()"),
                _ => format!("{rows}.count({v})"),
            },
        }))
    }

    fn change_bits(&mut self) -> bool {
        if !self.in_graph() {
            return false;
        }
        let known = self.handles.iter().find_map(|h| match h {
            Handle::Bits(op) => Some(*op),
            _ => None,
        });
        let random = self.one_of(&[Update::Or, Update::Or, Update::And]);
        let op = known.unwrap_or(random);
        if !self.free(Handle::Bits(op)) {
            return false;
        }
        let rows = self.uses(Handle::Bits(op));
        let v = self.row();
        let or = op == Update::Or;
        let text = match self.below(4) {
            0 | 1 => {
                let bit = self.bit(&rows, "width");
                let method = if or { "set" } else { "unset" };
                format!("{rows}.{method}({v}, {bit});")
            }
            2 => {
                let word = self.bit(&rows, "words");
                let e = self.scalar_value(U32, true);
                format!("{rows}.{}_word({v}, {word}, {});", op.name(), e.text)
            }
            _ => {
                let from = self.uses(Handle::BitsIn);
                let w = self.row();
                let method = match (or, self.once_in(2)) {
                    (true, _) => "or_from",
                    (false, false) => "and_from",
                    (false, true) => "and_not_from",
                };
                format!("{rows}.{method}({v}, {from}, {w});")
            }
        };
        self.line(&text);
        true
    }

    fn for_ones(&mut self) -> bool {
        if !self.in_graph() || !self.may_loop() {
            return false;
        }
        let (prefix, open) = self.new_loop();
        let rows = self.seen_rows();
        let v = self.row();
        let visible = self.scope.len();
        let name = self.declare(&Ty::Scalar(U32), false);
        let body = self.body(20, 2, open);
        self.scope.truncate(visible);
        self.line(&format!("{prefix}for {name} in {rows}.ones({v}) {body}"));
        true
    }

    /// One value for all who store.
    fn mark(&mut self) -> bool {
        if !self.in_graph() {
            return false;
        }
        let s = self.one_of(&NUMBERS);
        let buffer = self.uses(Handle::Mark(s));
        let index = self.index(&buffer);
        let value = if s.is_float() { "7.5" } else { "7" };
        self.line(&format!("{buffer}[{index}].store({value});"));
        true
    }

    /// Who comes first takes a node, and pushes or counts it; only one place of a wave does.
    fn claim(&mut self) -> bool {
        let claim = Handle::Claim(self.wave);
        if self.helper.is_some() || !self.in_graph() || self.handles.contains(&claim) {
            return false;
        }
        let node = self.node();
        let (at, held) = (self.fresh("at"), self.uses(claim));
        let new = match self.below(3) {
            0 if self.repeats => self.uses(Handle::Round),
            1 => self.uses(Handle::Uniform(U32)),
            _ => "5".to_owned(),
        };
        let count = Handle::Reduce(self.wave, Reduction::Count);
        let then = if self.free(Handle::Push) && !self.once_in(3) {
            format!("{}.push({at});", self.uses(Handle::Push))
        } else {
            format!("{}.inc();", self.uses(count))
        };
        self.line(&format!("let {at} = {node};"));
        self.line(&format!(
            "if {held}[{at}].compare_exchange(u32::MAX, {new}) {{ {then} }}"
        ));
        true
    }

    /// The item's own element of an atomic buffer: the place, and the type of its items.
    fn own_place(&mut self, s: Scalar) -> Option<String> {
        let Some(Handle::OwnMut(shape, wave, _)) = self.own_mut(s) else {
            return None;
        };
        let item = match shape {
            Shape::Node => "v",
            Shape::Edge => "e.index",
            Shape::N => "i",
        };
        Some(format!(
            "{}[{item}]",
            self.uses(Handle::OwnAtomic(shape, wave, s))
        ))
    }

    /// What an operation on the item's own element of an atomic buffer gives.
    fn own_atomic(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let of = match s {
            Bool => self.one_of(&WIDE),
            U8 => return None,
            _ => s,
        };
        let place = self.own_place(of)?;
        if s == Bool {
            let expected = if self.once_in(2) {
                format!("{place}.load()")
            } else {
                self.scalar_value(of, true).text
            };
            let new = self.scalar_value(of, true).text;
            return Some(Expr::atom(format!(
                "{place}.compare_exchange({expected}, {new})"
            )));
        }
        Some(Expr::atom(match self.below(6) {
            0 | 1 => format!("{place}.load()"),
            2 => format!("{place}.swap({})", self.scalar_value(s, true).text),
            _ => {
                let op = self.operation(s);
                let e = self.number(s, op == Update::Add);
                let sub = op == Update::Add && !s.is_float() && self.once_in(3);
                let method = if sub { "sub" } else { op.name() };
                format!("{place}.fetch_{method}({e})")
            }
        }))
    }

    /// The item's own row of bits: its buffer and the row.
    fn own_row(&mut self) -> Option<String> {
        match self.own_mut(U32)? {
            Handle::OwnMut(Shape::Node, wave, _) if self.in_graph() => {
                Some(self.uses(Handle::OwnBits(wave)))
            }
            _ => None,
        }
    }

    /// What an operation on the item's own row of bits gives.
    fn own_bits(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        if !matches!(s, U32 | Bool) {
            return None;
        }
        let rows = self.own_row()?;
        if s == U32 {
            let word = self.bit(&rows, "words");
            return Some(Expr::atom(match self.below(4) {
                0 => format!("{rows}.count(v)"),
                1 => format!("{rows}.word(v, {word})"),
                n => {
                    let op = if n == 2 { "or" } else { "and" };
                    let e = self.scalar_value(U32, true);
                    format!("{rows}.{op}_word(v, {word}, {})", e.text)
                }
            }));
        }
        Some(Expr::atom(match self.below(6) {
            0..=3 => {
                let method = self.one_of(&["set", "unset", "get"]);
                let bit = self.bit(&rows, "width");
                format!("{rows}.{method}(v, {bit})")
            }
            4 => {
                let method = self.one_of(&["or", "and", "and_not"]);
                let given = self.uses(Handle::BitsIn);
                let w = self.node();
                format!("{rows}.{method}_from(v, {given}, {w})")
            }
            _ => {
                let method = self.one_of(&["or", "and", "and_not"]);
                format!("{rows}.{method}(v, v)")
            }
        }))
    }

    /// Statements that change the item's own element or row.
    fn change_own(&mut self) -> bool {
        if self.once_in(3)
            && let Some(rows) = self.own_row()
        {
            let text = if self.once_in(3) {
                format!("{rows}.clear(v);")
            } else {
                let e = self.scalar_value(U32, true);
                format!("{rows}.store_word(v, 0, {});", e.text)
            };
            self.line(&text);
            return true;
        }
        let s = self.one_of(&NUMBERS);
        let Some(place) = self.own_place(s) else {
            return false;
        };
        let e = self.scalar_value(s, true);
        self.line(&format!("{place}.store({});", e.text));
        true
    }

    /// Leaves what an approximate function gives.
    fn approximate(&mut self) -> bool {
        let s = self.one_of(&[F32, F64]);
        let Some(Handle::OwnMut(shape, wave, _)) = self.own_mut(s) else {
            return false;
        };
        let e = self.scalar_value(s, false);
        let function = self.one_of(&["exp", "ln", "sin", "cos"]);
        let z = self.uses(Handle::Approximate(shape, wave, s));
        self.line(&format!("*{z} = {}.{function}();", e.at(Expr::POSTFIX)));
        true
    }

    /// What earlier waves left.
    fn left(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let first = self.waves.is_empty() && !self.includes;
        if self.helper.is_some() || first || !self.in_graph() {
            return None;
        }
        let own = self.domain.shape();
        if s == U32 && self.includes && self.once_in(2) {
            let h = if own == Some(Shape::Node) && self.once_in(2) {
                Handle::Distance
            } else {
                Handle::Distances
            };
            if self.free(h) {
                let name = self.uses(h);
                if h == Handle::Distance {
                    return Some(Expr::new(format!("*{name}"), Expr::UNARY));
                }
                let node = self.node();
                return Some(Expr::atom(format!("{name}[{node}]")));
            }
        }
        let found = match self.below(4) {
            0 | 1 => {
                let whole = self.once_in(2);
                self.earlier(|h| match h {
                    Handle::OwnMut(shape, w, t) if t == s => {
                        Some(if own == Some(shape) && !whole {
                            Handle::Left(shape, w, s)
                        } else {
                            Handle::LeftAll(shape, w, s)
                        })
                    }
                    _ => None,
                })
            }
            2 => self.earlier(|h| match h {
                Handle::Atomic(t, op) if t == s => Some(Handle::Totals(s, op)),
                _ => None,
            }),
            _ => self.earlier(|h| match h {
                Handle::Reduce(w, r) if r.ty() == s && w != HELPERS => Some(Handle::Reduced(w, r)),
                _ => None,
            }),
        }?;
        Some(match found {
            Handle::Left(..) => Expr::new(format!("*{}", self.uses(found)), Expr::UNARY),
            Handle::LeftAll(shape, ..) => {
                let buffer = self.uses(found);
                let index = if shape == Shape::Node {
                    self.node()
                } else {
                    let e = self.scalar_value(U32, false);
                    format!("{} % {buffer}.len()", e.at(9))
                };
                Expr::atom(format!("{buffer}[{index}]"))
            }
            Handle::Totals(..) => {
                let buffer = self.uses(found);
                let index = self.index(&buffer);
                Expr::atom(format!("{buffer}[{index}]"))
            }
            _ => Expr::atom(self.uses(found)),
        })
    }

    fn reduce(&mut self) -> bool {
        if !self.in_graph() {
            return false;
        }
        let (s, t) = (self.one_of(&NUMBERS), self.one_of(&NUMBERS));
        let i = self.one_of(&WIDE);
        let (r, method, of) = self.one_of(&[
            (Reduction::Sum(s), "add", Some(s)),
            (Reduction::Min(t), "min", Some(t)),
            (Reduction::Max(t), "max", Some(t)),
            (Reduction::Or(i), "or", Some(i)),
            (Reduction::And(i), "and", Some(i)),
            (Reduction::Any, "or", Some(Bool)),
            (Reduction::All, "and", Some(Bool)),
            (Reduction::Count, "inc", None),
        ]);
        let by = if self.helper.is_some() {
            HELPERS
        } else {
            self.wave
        };
        let name = self.uses(Handle::Reduce(by, r));
        let argument = match of {
            Some(s) => self.number(s, matches!(r, Reduction::Sum(_))),
            None => String::new(),
        };
        self.line(&format!("{name}.{method}({argument});"));
        true
    }

    fn call_statement(&mut self) -> bool {
        match self.call(None) {
            Some(e) => {
                self.line(&format!("{};", e.text));
                true
            }
            None => false,
        }
    }

    fn let_tuple(&mut self) -> bool {
        let (a, b) = (self.scalar(), self.scalar());
        let ty = Ty::Tuple(vec![Ty::Scalar(a), Ty::Scalar(b)]);
        let e = self.value(&ty, false);
        let (ma, mb) = (self.once_in(2), self.once_in(2));
        let x = self.declare(&Ty::Scalar(a), ma);
        let y = loop {
            let y = self.declare(&Ty::Scalar(b), mb);
            if y != x {
                break y;
            }
            // One pattern binds a name once.
            self.scope.pop();
        };
        let word = |m: bool| if m { "mut " } else { "" };
        let second = if self.once_in(6) {
            self.scope.pop();
            "_".to_owned()
        } else {
            format!("{}{y}", word(mb))
        };
        self.line(&format!("let ({}{x}, {second}) = {};", word(ma), e.text));
        true
    }

    fn assign_tuple(&mut self) -> bool {
        let s = self.scalar();
        let mut places = self.places(&Ty::Scalar(s));
        places.retain(|p| p.1);
        if places.len() < 2 {
            return false;
        }
        let (a, b) = (places[0].0.clone(), places[1].0.clone());
        let (x, y) = if self.once_in(2) {
            (
                self.scalar_value(s, true).text,
                self.scalar_value(s, true).text,
            )
        } else {
            (b.clone(), a.clone())
        };
        self.line(&format!("({a}, {b}) = ({x}, {y});"));
        true
    }

    /// A variable that gets its value later.
    fn deferred(&mut self) -> bool {
        let s = self.scalar();
        let (a, b) = (self.scalar_value(s, true), self.scalar_value(s, true));
        let cond = self.condition();
        let name = self.fresh("v");
        self.line(&format!("let {name}: {};", s.name()));
        self.line(&format!(
            "if {cond} {{ {name} = {}; }} else {{ {name} = {}; }}",
            a.text, b.text
        ));
        self.scope.push(Var {
            name,
            ty: Ty::Scalar(s),
            mutable: false,
        });
        true
    }

    fn constant(&mut self) -> bool {
        let ty = self.ty();
        let e = self.constant_value(&ty);
        let name = self.fresh("C");
        self.line(&format!("const {name}: {} = {e};", ty.show()));
        let mutable = false;
        self.scope.push(Var { name, ty, mutable });
        true
    }

    /// A value written down.
    fn constant_value(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar(s) => self.literal(*s, true).text,
            Ty::Size => self.below(9).to_string(),
            Ty::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|t| self.constant_value(t)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Array(of, len) if self.once_in(3) => {
                format!("[{}; {len}]", self.constant_value(of))
            }
            Ty::Array(of, len) => {
                let parts: Vec<_> = (0..*len).map(|_| self.constant_value(of)).collect();
                format!("[{}]", parts.join(", "))
            }
            &Ty::Struct(i) => {
                let of = self.structs[i].clone();
                let parts: Vec<_> = (0..)
                    .zip(&of.fields)
                    .map(|(k, t)| format!("{}: {}", of.field(k), self.constant_value(t)))
                    .collect();
                format!("St{i} {{ {} }}", parts.join(", "))
            }
        }
    }

    /// Assigns a whole tuple, array or struct.
    fn assign_whole(&mut self) -> bool {
        let mut places = self.all_places();
        places.retain(|(_, ty, m)| *m && !matches!(ty, Ty::Scalar(_)));
        if places.is_empty() {
            return false;
        }
        let (place, ty, _) = self.one_of(&places);
        let e = self.value(&ty, true);
        self.line(&format!("{place} = {};", e.text));
        true
    }

    fn change_array(&mut self) -> bool {
        let mut places = self.all_places();
        places.retain(|(_, ty, m)| *m && matches!(ty, Ty::Array(..)));
        if places.is_empty() {
            return false;
        }
        let (place, ty, _) = self.one_of(&places);
        let Ty::Array(of, len) = ty else { return false };
        if self.once_in(3) {
            let e = self.value(&of, false);
            let name = self.fresh("fill");
            self.line(&format!("let {name} = {};", e.text));
            self.line(&format!("{place}.fill({name});"));
        } else {
            // The array is borrowed before the arguments are evaluated.
            let (a, b) = (self.array_index(len), self.array_index(len));
            let name = self.fresh("at");
            self.line(&format!("let {name}: (usize, usize) = ({a}, {b});"));
            self.line(&format!("{place}.swap({name}.0, {name}.1);"));
        }
        true
    }

    fn method_statement(&mut self) -> bool {
        match self.call_method(None) {
            Some(e) => {
                self.line(&format!("{};", e.text));
                true
            }
            None => false,
        }
    }

    /// Takes a struct apart.
    fn let_struct(&mut self) -> bool {
        if self.structs.is_empty() {
            return false;
        }
        let i = self.below(self.structs.len() as u32) as usize;
        let of = self.structs[i].clone();
        let fields = &of.fields;
        let e = self.value(&Ty::Struct(i), false);
        let which = self.below(fields.len() as u32) as usize;
        let mutable = self.once_in(2);
        let name = self.declare(&fields[which], mutable);
        let word = if mutable { "mut " } else { "" };
        if of.tuple {
            let mut parts = vec!["_".to_owned(); fields.len()];
            parts[which] = format!("{word}{name}");
            self.line(&format!("let St{i}({}) = {};", parts.join(", "), e.text));
            return true;
        }
        let rest = if fields.len() > 1 { ", .." } else { "" };
        self.line(&format!(
            "let St{i} {{ f{which}: {word}{name}{rest} }} = {};",
            e.text
        ));
        true
    }

    /// Takes a tuple or struct apart, all the way down.
    fn let_pattern(&mut self) -> bool {
        let ty = self.ty();
        let e = self.value(&ty, false);
        let pattern = self.irrefutable(&ty, &mut Vec::new(), true);
        self.line(&format!("let {pattern} = {};", e.text));
        true
    }

    /// Checks that hold.
    fn check(&mut self) -> bool {
        let e = self.scalar_value(U32, false);
        let text = match self.below(4) {
            0 => format!("assert_ne!({} | 1, 0);", e.at(5)),
            1 => format!("debug_assert!({} | 4 > 3, \"small\");", e.at(5)),
            2 => format!("assert!({} & 7 < 8);", e.at(7)),
            _ => {
                let cond = self.condition();
                format!(
                    "let _ = if {cond} || true {{ {} }} else {{ unreachable!() }};",
                    e.text
                )
            }
        };
        self.line(&text);
        true
    }

    fn discard(&mut self) -> bool {
        let s = self.scalar();
        let e = self.scalar_value(s, false);
        if e.binds == Expr::POSTFIX && self.once_in(2) {
            self.line(&format!("{};", e.text));
        } else {
            self.line(&format!("let _ = {};", e.text));
        }
        true
    }

    /// A fault of one of the late items.
    fn fault(&mut self) -> bool {
        let item = self.item().first().copied();
        let Some(item) = item else {
            let cond = self.scalar_value(Bool, true);
            self.line(&format!("assert!({} || true, \"never\");", cond.text));
            return true;
        };
        let at = 5 + self.below(60);
        let e = self.scalar_value(U32, false);
        let what = match self.below(8) {
            0 => {
                let buffer = self.uses(Handle::Buf(U32));
                format!("let _ = {buffer}[{} | {LEN}];", e.at(5))
            }
            1 => format!("let _ = {at}u32 / ({} & 1);", e.at(6)),
            2 => format!("let _ = {} % ({} & 0);", e.at(9), e.at(6)),
            3 => {
                let i = self.scalar_value(I32, false);
                format!("let _ = i32::MIN / ({} | -1);", i.at(5))
            }
            4 => format!("assert!({} > {at});", e.at(4)),
            5 => format!(
                "assert_eq!({}, {at}, \"item {{{{}}}} is not {at}\");",
                e.text
            ),
            6 => "panic!(\"gone\");".to_owned(),
            _ if !self.in_graph() || !self.free(Handle::Push) => "unreachable!();".to_owned(),
            _ => {
                let front = self.uses(Handle::Push);
                format!("{front}.push({} | 0x8000_0000);", e.at(5))
            }
        };
        self.line(&format!("if {item} == {at} {{ {what} }}"));
        true
    }

    // Functions.

    /// A struct with a constructor, perhaps a constant, and a method or two.
    fn write_struct(&mut self) -> String {
        let i = self.structs.len();
        let tuple = self.once_in(4);
        let fields: Vec<Ty> = (0..1 + self.below(4))
            .map(|_| match self.below(9) {
                6 | 7 => self.array(),
                8 if i > 0 => Ty::Struct(self.below(i as u32) as usize),
                _ => Ty::Scalar(self.scalar()),
            })
            .collect();
        let of = Struct { fields, tuple };
        let numbered = || (0usize..).zip(&of.fields);
        let list = |text: &dyn Fn(usize, &Ty) -> String| {
            let all: Vec<_> = numbered().map(|(k, t)| text(k, t)).collect();
            all.join(", ")
        };
        let params = list(&|k, t| format!("p{k}: {}", t.show()));
        let (declared, made) = if tuple {
            (
                format!("({});", list(&|_, t| format!("pub {}", t.show()))),
                format!("Self({})", list(&|k, _| format!("p{k}"))),
            )
        } else {
            (
                format!(" {{ {} }}", list(&|k, t| format!("pub f{k}: {}", t.show()))),
                format!("St{i} {{ {} }}", list(&|k, _| format!("f{k}: p{k}"))),
            )
        };
        self.structs.push(of);
        let mut text = format!(
            "#[derive(Clone, Copy, Debug, PartialEq)]\n    pub struct St{i}{declared}\n    impl St{i} {{\n    pub fn make({params}) -> Self {{ {made} }}\n"
        );
        if self.once_in(2) {
            let s = self.scalar();
            let e = self.literal(s, true);
            let _ = writeln!(text, "    pub const LIMIT: {} = {};", s.name(), e.text);
            self.constants
                .push((format!("St{i}::LIMIT"), Ty::Scalar(s)));
        }
        for _ in 0..self.below(3) {
            let changes = self.once_in(2);
            let method = self.write_helper(Some((i, changes)));
            let _ = writeln!(text, "    pub {method}");
        }
        text.push_str("    }");
        text
    }

    fn write_helper(&mut self, on: Option<(usize, bool)>) -> String {
        let result = if self.once_in(5) {
            None
        } else {
            Some(self.ty())
        };
        let name = self.fresh("h");
        let before = std::mem::take(&mut self.handles);
        (self.cost, self.size, self.turns) = (0, 0, 1);
        self.fuel = 25;
        self.helper = Some(result.clone());
        self.scope.clear();
        let mut params = Vec::new();
        let mut text = Vec::new();
        if let Some((i, mutable)) = on {
            let by = if mutable {
                "&mut self"
            } else {
                self.one_of(&["self", "&self"])
            };
            text.push(by.to_owned());
            self.scope.push(Var {
                name: "self".to_owned(),
                ty: Ty::Struct(i),
                mutable,
            });
        }
        for _ in 0..1 + self.below(3) {
            let ty = self.ty();
            let mutable = self.once_in(3);
            let name = self.fresh("v");
            let word = if mutable { "mut " } else { "" };
            text.push(format!("{word}{name}: {}", ty.show()));
            self.scope.push(Var {
                name,
                ty: ty.clone(),
                mutable,
            });
            params.push(ty);
        }
        let tail = result.as_ref().map(|ty| (ty, true));
        let body = self.block(tail, 4);
        let handles: Vec<_> = std::mem::replace(&mut self.handles, before)
            .into_iter()
            .collect();
        text.extend(handles.iter().map(|h| h.param(&self.items)));
        let arrow = result
            .as_ref()
            .map(|ty| format!(" -> {}", ty.show()))
            .unwrap_or_default();
        let text = format!("fn {name}({}){arrow} {body}", text.join(", "));
        self.helpers.push(Helper {
            name,
            on,
            params,
            handles,
            result,
            cost: self.cost + 1,
            size: self.size + 1,
        });
        self.helper = None;
        self.scope.clear();
        text
    }

    /// A wave's body, up to what its locals leave.
    fn write_body(&mut self, statements: u32) -> String {
        let count = 2 + self.below(statements);
        for _ in 0..count {
            self.statement();
        }
        let visible: Vec<_> = SCALARS
            .iter()
            .flat_map(|&s| {
                let places = self.places(&Ty::Scalar(s));
                places.into_iter().map(move |p| (s, p.0))
            })
            .take(10)
            .collect();
        for (s, place) in visible {
            let e = self.as_u64(s, &Expr::atom(place));
            self.sink(&e);
        }
        self.scope.clear();
        std::mem::take(&mut self.out)
    }

    /// Writes a wave over a domain; its number.
    fn write_wave(&mut self, domain: Domain, repeats: bool, fuel: u32) -> usize {
        let number = self.waves.len();
        (self.domain, self.repeats, self.wave) = (domain, repeats, number as u8);
        (self.cost, self.size, self.turns) = (0, 0, 1);
        self.fuel = fuel;
        self.indent = 2;
        let item = match domain {
            Domain::Things => Some(self.items.thing.clone()),
            Domain::List | Domain::News => Some(self.items.listed.clone()),
            _ => None,
        };
        self.scope.extend(item.map(|ty| Var {
            name: "item".to_owned(),
            ty,
            mutable: false,
        }));
        self.element_of_records();
        let body = self.write_body(if fuel > 60 { 9 } else { 5 });
        self.waves.push(Wave {
            name: format!("w{number}"),
            scope_depth: self.scope_depth,
            domain,
            handles: std::mem::take(&mut self.handles),
            body,
        });
        number
    }

    /// The item's own elements of buffers of structs.
    fn element_of_records(&mut self) {
        let Some(shape) = self.domain.shape() else {
            return;
        };
        let mut taken = Vec::new();
        if self.once_in(4) {
            taken.push(Handle::Record(shape));
        }
        if self.once_in(3) && self.own_mut(U32).is_some() {
            taken.push(Handle::RecordMut(shape, self.wave));
        }
        if self.once_in(2) {
            taken.extend(self.earlier(|h| match h {
                Handle::RecordMut(of, w) if of == shape => Some(Handle::RecordLeft(of, w)),
                _ => None,
            }));
        }
        for h in taken {
            let name = self.uses(h);
            self.scope.push(Var {
                name,
                ty: self.items.record.clone(),
                mutable: matches!(h, Handle::RecordMut(..)),
            });
        }
    }

    /// Whether some wave has such a handle.
    fn taken(&self, h: Handle) -> bool {
        self.waves.iter().any(|w| w.handles.contains(&h))
    }

    fn sweeps(&self, field: &str) -> bool {
        self.waves.iter().any(|w| w.domain.swept() == Some(field))
    }

    /// Waves of a fixpoint, and what ends it.
    fn write_loop(&mut self, name: &str, inner: bool, fuel: u32) -> Part {
        let first = self.waves.len();
        let mut parts = Vec::new();
        self.scope_depth += 1;
        let count = 1 + self.below(3);
        for i in 0..count {
            if i == 1 && !inner && self.once_in(3) {
                parts.push(self.write_loop("inner", true, fuel));
                continue;
            }
            let domain = self.weighted(&[
                (4, Domain::Nodes),
                (3, Domain::Front),
                (3, Domain::FrontEdges),
                (1, Domain::FrontBack),
                (1, Domain::FrontOther),
                (2, Domain::Edges),
                (2, Domain::Things),
                (1, Domain::News),
                (1, Domain::List),
                (1, Domain::BackEdges),
                (1, Domain::OtherEdges),
                (1, Domain::Range),
                (1, Domain::Once),
            ]);
            let domain = match self.swept_elsewhere(domain) {
                true => Domain::Nodes,
                false => domain,
            };
            parts.push(Part::Wave(self.write_wave(domain, true, fuel)));
        }
        let rounds = 1 + self.below(if inner { 3 } else { 4 });
        let (mut until, mut reads) = (format!("round + 1 >= {rounds}"), Vec::new());
        let of_these: BTreeSet<Handle> = self.waves[first..]
            .iter()
            .flat_map(|w| w.handles.iter().copied())
            .collect();
        let mut more = Vec::new();
        for h in of_these {
            if !self.may_ask(h) {
                continue;
            }
            let name = h.name();
            match h {
                Handle::Push | Handle::PushThing => {
                    let text = match self.below(3) {
                        2 => format!("{name}.len() < 3 && round > 0"),
                        _ => format!("{name}.is_empty()"),
                    };
                    more.push((text, name));
                }
                Handle::Append => more.push((format!("{name}.len() > 20"), name)),
                Handle::Reduce(_, r) => more.push((
                    match r.ty() {
                        Bool => format!("!{name}"),
                        t if t.is_float() => format!("{name} < 3.0"),
                        _ => format!("{name} < 20"),
                    },
                    name,
                )),
                _ => {}
            }
        }
        if !more.is_empty() && self.once_in(2) {
            let (text, name) = self.one_of(&more);
            until = format!("{text} || {until}");
            self.asked.push((name.clone(), self.scope_depth));
            reads.push(name);
        }
        let limit = if self.once_in(12) {
            rounds - 1
        } else {
            rounds + 3
        };
        let mut arguments = format!("until({until}), max_rounds = {}", limit.max(1));
        // Two buffers of one kind change places.
        let written: Vec<Handle> = self.waves[first..]
            .iter()
            .flat_map(|w| w.handles.iter().copied())
            .filter(|h| matches!(h, Handle::OwnMut(..)))
            .collect();
        let mut pairs = Vec::new();
        for (i, &a) in written.iter().enumerate() {
            for &b in &written[..i] {
                if let (Handle::OwnMut(p, _, s), Handle::OwnMut(q, _, t)) = (a, b)
                    && (p, s) == (q, t)
                {
                    pairs.push((a.name(), b.name()));
                }
            }
        }
        if !inner && !pairs.is_empty() && self.once_in(2) {
            let (a, b) = self.one_of(&pairs);
            let _ = write!(arguments, ", swap({a}, {b})");
            reads.push(a);
            reads.push(b);
        }
        self.scope_depth -= 1;
        Part::Loop {
            name: name.to_owned(),
            arguments,
            reads,
            parts,
        }
    }

    /// The waves of a graph, in order.
    fn write_parts(&mut self) -> Vec<Part> {
        let single = !self.once_in(2);
        let fuel = if self.once_in(4) {
            6
        } else if single {
            80 + 60 * self.below(3)
        } else {
            30 + 15 * self.below(3)
        };
        let domain = self.weighted(&[
            (6, Domain::Nodes),
            (2, Domain::Range),
            (3, Domain::Edges),
            (1, Domain::Once),
            (1, Domain::BackEdges),
            (1, Domain::OtherEdges),
        ]);
        let mut parts = vec![Part::Wave(self.write_wave(domain, false, fuel))];
        if !single {
            if self.once_in(3) {
                let domain = self.one_of(&[Domain::Nodes, Domain::Edges, Domain::List]);
                parts.push(Part::Wave(self.write_wave(domain, false, fuel)));
            }
            if !self.once_in(4) {
                parts.push(self.write_loop("rounds", false, fuel));
            }
            if self.once_in(2) {
                let domain =
                    self.one_of(&[Domain::Nodes, Domain::Range, Domain::Edges, Domain::List]);
                parts.push(Part::Wave(self.write_wave(domain, false, fuel)));
            }
        }
        // What is pushed is swept.
        for (h, domain) in [
            (Handle::Push, Domain::Front),
            (Handle::PushThing, Domain::Things),
            (Handle::Append, Domain::News),
        ] {
            let listed = h == Handle::Append && !self.once_in(3);
            if self.taken(h) && !self.sweeps(&h.name()) && !listed {
                parts.push(Part::Wave(self.write_wave(domain, false, 12)));
            }
        }
        parts
    }

    fn pass(&mut self, name: &str) -> String {
        let alone = self.once_in(4);
        self.domain = if alone { Domain::Kernel } else { Domain::Nodes };
        if !alone {
            for i in 0..self.below(4) {
                let ty = self.ty();
                self.constants.push((format!("K{i}"), ty));
            }
        }
        let constants: Vec<_> = self.constants.clone();
        let constants: Vec<_> = constants
            .into_iter()
            .map(|(name, ty)| {
                let e = self.constant_value(&ty);
                format!("const {name}: {} = {e};", ty.show())
            })
            .collect();
        self.indent = 1;
        let count = self.below(4);
        let structs = self.below(3);
        self.outside = !alone && structs > 0 && self.once_in(3);
        let known = if self.outside {
            std::mem::take(&mut self.constants)
        } else {
            Vec::new()
        };
        let mut structs: Vec<_> = (0..structs).map(|_| self.write_struct()).collect();
        self.constants.extend(known);
        let mut before = String::new();
        if self.outside {
            // Functions and lengths that they use are theirs.
            let fixed = std::mem::take(&mut self.fixed);
            let functions = fixed.iter().map(|f| format!("#[device]\n    {}", f.1));
            let all: Vec<_> = self
                .named_lengths()
                .chain(functions)
                .chain(structs)
                .collect();
            before = format!(
                "#[device]\npub mod {name}_types {{\n    use vyre::prelude::*;\n    {}\n}}\n",
                all.join("\n    ")
            );
            let names: Vec<_> = (0..self.structs.len()).map(|i| format!("St{i}")).collect();
            structs = vec![format!(
                "use super::{name}_types::{{{}}};",
                names.join(", ")
            )];
            self.outside = false;
        }
        let types = match before.is_empty() {
            true => name.to_owned(),
            false => format!("{name}_types"),
        };
        self.includes = !alone && self.once_in(5);
        if !alone {
            self.unique = self.once_in(2);
            self.items = Items {
                thing: self.item_type(),
                listed: self.item_type(),
                record: self.record_type(),
            };
        }
        let helpers: Vec<_> = (0..count).map(|_| self.write_helper(None)).collect();
        let device = |f: String| format!("#[device]\n    {f}");
        if alone {
            (self.cost, self.size, self.turns) = (0, 0, 1);
            self.fuel = if self.once_in(3) {
                6
            } else {
                80 + 60 * self.below(3)
            };
            self.indent = 1;
            let body = self.write_body(9);
            let lengths: Vec<_> = self.named_lengths().collect();
            let fixed = self.fixed.iter().map(|f| f.1.to_owned());
            let helpers = fixed.chain(helpers).map(device);
            let helpers: Vec<String> = lengths.into_iter().chain(structs).chain(helpers).collect();
            let handles: Vec<Handle> = self.handles.iter().copied().collect();
            return standalone(name, &helpers, &handles, &body);
        }
        let mut parts = self.write_parts();
        if self.includes {
            parts.insert(0, Part::Included);
        }
        let seen: BTreeSet<String> = self
            .waves
            .iter()
            .flat_map(|w| &w.handles)
            .filter(|h| {
                matches!(
                    h,
                    Handle::Left(..)
                        | Handle::LeftAll(..)
                        | Handle::RecordLeft(..)
                        | Handle::RecordsLeft(..)
                        | Handle::Totals(..)
                )
            })
            .map(|h| h.name())
            .collect();
        let mut fixed = BTreeSet::new();
        parts.iter().for_each(|p| p.looks_at(&mut fixed));
        self.scratch = seen
            .into_iter()
            .filter(|name| !fixed.contains(name) && self.once_in(3))
            .collect();
        let way = self.weighted(&[
            (4, Way::Once),
            (2, Way::Again),
            (2, Way::Batch),
            (2, Way::Graphs),
        ]);
        let helpers = self.called(helpers);
        let capacities = [
            self.one_of(&[3_000, 700, 60]),
            self.one_of(&[20_000, 1_000, 40]),
        ];
        let lengths: Vec<_> = self.named_lengths().collect();
        let fixed = self.fixed.iter().map(|f| f.1.to_owned());
        let helpers = fixed.chain(helpers).map(device);
        let constants = [lengths, constants].concat();
        let written = Written {
            name,
            types: &types,
            constants: &constants,
            helpers: &structs.into_iter().chain(helpers).collect::<Vec<_>>(),
            structs: &self.structs,
            items: &self.items,
            unique: self.unique,
            scratch: &self.scratch,
            way,
            capacities,
            waves: &self.waves,
            parts: &parts,
        };
        before + &written.graph()
    }

    fn named_lengths(&mut self) -> impl Iterator<Item = String> + use<> {
        let lengths = std::mem::take(&mut self.lengths);
        let named = |n| format!("const N{n}: usize = {n};");
        lengths.into_iter().map(named)
    }

    /// Without helpers that take a field which no wave takes.
    fn called(&self, mut helpers: Vec<String>) -> Vec<String> {
        loop {
            let calls = |helper: &str| {
                let name = helper.split_inclusive('(').next().unwrap_or_default();
                let name = name.trim_start_matches("fn ");
                let bodies = self.waves.iter().map(|w| &w.body);
                let mut texts = bodies.chain(helpers.iter().filter(|h| *h != helper));
                texts.any(|t| t.contains(name))
            };
            let kept: Vec<String> = helpers.iter().filter(|h| calls(h)).cloned().collect();
            if kept.len() == helpers.len() {
                return kept;
            }
            helpers = kept;
        }
    }

    /// Structs with names for their fields that hold at most eight scalars, and no array.
    fn flat_structs(&self) -> Vec<usize> {
        let flat = |i: &usize| {
            let leaves = leaves(&Ty::Struct(*i), &self.structs);
            leaves.is_some_and(|l| l.len() <= 8)
        };
        (0..self.structs.len()).filter(flat).collect()
    }

    fn item_type(&mut self) -> Ty {
        let flat = self.flat_structs();
        if !flat.is_empty() && self.once_in(2) {
            return Ty::Struct(self.one_of(&flat));
        }
        Ty::Scalar(self.scalar())
    }

    fn record_type(&mut self) -> Ty {
        let flat = self.flat_structs();
        if !flat.is_empty() && !self.once_in(4) {
            return Ty::Struct(self.one_of(&flat));
        }
        let parts = (0..1 + self.below(3)).map(|_| Ty::Scalar(self.scalar()));
        let first = Ty::Scalar(U32);
        Ty::Tuple([first].into_iter().chain(parts).collect())
    }
}

/// The scalars of a type, by their paths; none with an array or a field without a name.
fn leaves(ty: &Ty, structs: &[Struct]) -> Option<Vec<(String, Scalar)>> {
    let parts: Vec<(String, &Ty)> = match ty {
        Ty::Scalar(s) => return Some(vec![(String::new(), *s)]),
        Ty::Array(..) | Ty::Size => return None,
        Ty::Tuple(parts) => (0..).map(|k: usize| k.to_string()).zip(parts).collect(),
        &Ty::Struct(i) => {
            let of = &structs[i];
            if of.tuple {
                return None;
            }
            (0..).map(|k| of.field(k)).zip(&of.fields).collect()
        }
    };
    let mut all = Vec::new();
    for (name, part) in parts {
        let inner = leaves(part, structs)?;
        all.extend(
            inner
                .into_iter()
                .map(|(path, s)| (format!(".{name}{path}"), s)),
        );
    }
    Some(all)
}

/// A value of the type from number `k` of the input's columns.
fn given(ty: &Ty, structs: &[Struct], pass: &str) -> String {
    match ty {
        Ty::Scalar(s) => format!("input.p_{}[k]", s.name()),
        Ty::Tuple(parts) => {
            let parts: Vec<_> = parts.iter().map(|t| given(t, structs, pass)).collect();
            format!("({})", parts.join(", "))
        }
        Ty::Array(of, len) => format!("[{}; {len}]", given(of, structs, pass)),
        Ty::Size => "7".to_owned(),
        &Ty::Struct(i) => {
            let of = &structs[i];
            let parts: Vec<_> = (0..)
                .zip(&of.fields)
                .map(|(k, t)| format!("{}: {}", of.field(k), given(t, structs, pass)))
                .collect();
            format!("{pass}::St{i} {{ {} }}", parts.join(", "))
        }
    }
}

/// Whether arrays of it are small enough for registers.
fn small(of: &Struct) -> bool {
    of.fields.len() < 4 && of.fields.iter().all(|t| matches!(t, Ty::Scalar(_)))
}

/// Whether an item is one word that says all of it.
fn one_word(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(U32 | I32 | Bool | U8))
}

/// A standalone `#[kernel]` and its runner.
fn standalone(name: &str, helpers: &[String], handles: &[Handle], body: &str) -> String {
    let mut params = vec!["i: Index".to_owned()];
    let items = Items {
        thing: Ty::Scalar(U32),
        listed: Ty::Scalar(U32),
        record: Ty::Tuple(vec![Ty::Scalar(U32), Ty::Scalar(U32)]),
    };
    params.extend(handles.iter().map(|h| h.param(&items)));
    let mut text = format!("#[kernel]\npub fn {name}({}) {{\n", params.join(", "));
    for h in helpers {
        let _ = writeln!(text, "    {h}");
    }
    let _ = writeln!(text, "{body}}}\n");
    let (mut before, mut args, mut after) = (String::new(), Vec::new(), Vec::new());
    let mut sliced = false;
    for h in handles {
        let n = h.name();
        match h {
            Handle::Uniform(s) => args.push(format!("input.s_{}", s.name())),
            Handle::Own(_, s) => {
                sliced = true;
                args.push(format!("&input.p_{}[..input.n as usize]", s.name()));
            }
            Handle::OwnMut(_, _, s) | Handle::Approximate(_, _, s) => {
                sliced = true;
                let _ = writeln!(
                    before,
                    "    let mut {n} = input.p_{}[..input.n as usize].to_vec();",
                    s.name()
                );
                args.push(format!("&mut {n}"));
                let near = if matches!(h, Handle::Approximate(..)) {
                    "near"
                } else {
                    "column"
                };
                after.push(format!("{near}(\"{n}\", &{n})"));
            }
            Handle::Buf(s) => args.push(format!("&input.p_{}[..{LEN}]", s.name())),
            Handle::OwnAtomic(_, _, s) => {
                let _ = writeln!(
                    before,
                    "    let mut {n} = vec![{}::default(); input.n as usize];",
                    s.name()
                );
                args.push(format!("&mut {n}"));
                after.push(format!("column(\"{n}\", &{n})"));
            }
            Handle::Atomic(s, op) => {
                let _ = writeln!(
                    before,
                    "    let mut {n} = input.p_{}[..{LEN}].to_vec();",
                    s.name()
                );
                if s.is_float() && *op == Update::Add {
                    // Exact sums start at an integer.
                    let _ = writeln!(before, "    {n}.fill(0.0);");
                } else if s.is_float() {
                    // Of two zeros, either may be the larger.
                    let _ = writeln!(before, "    for x in &mut {n} {{ *x += 0.0; }}");
                }
                args.push(format!("&mut {n}"));
                after.push(format!("column(\"{n}\", &{n})"));
            }
            _ => unreachable!("only in a graph: {h:?}"),
        }
    }
    if !sliced {
        args.insert(0, "input.n".to_owned());
    }
    let _ = writeln!(
        text,
        "pub fn run_{name}(runtime: &Runtime, input: &Input) -> Result<Vec<Column>, Error> {{\n{before}    {name}::run(runtime, {})?;\n    Ok(vec![{}])\n}}",
        args.join(", "),
        after.join(", ")
    );
    text
}

/// How a graph is run.
#[derive(Clone, Copy)]
enum Way {
    Once,
    /// A run with other scalars before the one that counts.
    Again,
    /// Beside queries with other scalars.
    Batch,
    /// Beside queries on another graph.
    Graphs,
}

/// The parts of a `#[wave_graph]`.
struct Written<'a> {
    name: &'a str,
    /// The module of its structs.
    types: &'a str,
    constants: &'a [String],
    helpers: &'a [String],
    structs: &'a [Struct],
    items: &'a Items,
    unique: bool,
    scratch: &'a BTreeSet<String>,
    way: Way,
    /// Of the frontier of things, and of the list.
    capacities: [u32; 2],
    waves: &'a [Wave],
    parts: &'a [Part],
}

/// Declarations of fields, and what the runner gives and gets.
#[derive(Default)]
struct Fields {
    declared: Vec<String>,
    topology: Vec<String>,
    run: Vec<String>,
    out: Vec<String>,
    /// Statements that make what is given.
    before: Vec<String>,
}

impl Written<'_> {
    /// What a node of the pass uses, and how.
    fn modes(&self, part: &Part) -> Vec<(String, Mode)> {
        match part {
            Part::Included => vec![("bfs_dist".to_owned(), Mode::Write)],
            Part::Wave(w) => {
                let wave = &self.waves[*w];
                let swept = wave.domain.swept().map(|f| (f.to_owned(), Mode::Read));
                let taken = wave.handles.iter().map(|h| (h.name(), h.mode()));
                taken.chain(swept).collect()
            }
            Part::Loop { parts, reads, .. } => {
                let inner = parts.iter().flat_map(|p| self.modes(p));
                let seen = reads.iter().map(|f| (f.clone(), Mode::Write));
                inner.chain(seen).collect()
            }
        }
    }

    fn conflict(&self, a: &Part, b: &Part) -> bool {
        let others = self.modes(b);
        self.modes(a).iter().any(|(name, mode)| {
            let mut same = others.iter().filter(|(n, _)| n == name);
            same.any(|(_, m)| m != mode || *m == Mode::Write)
        })
    }

    fn write(&self, parts: &[Part], text: &mut String, pad: usize) {
        for (i, part) in parts.iter().enumerate() {
            let before: Vec<&str> = parts[..i]
                .iter()
                .filter(|p| self.conflict(p, part))
                .map(|p| match p {
                    Part::Wave(w) => self.waves[*w].name.as_str(),
                    Part::Included => "bfs",
                    Part::Loop { name, .. } => name,
                })
                .collect();
            let after = if before.is_empty() {
                String::new()
            } else {
                format!("after({})", before.join(", "))
            };
            match part {
                Part::Included => {}
                Part::Wave(w) => {
                    let wave = &self.waves[*w];
                    let item = match wave.domain {
                        Domain::Nodes | Domain::Front => Some("v: Node".to_owned()),
                        Domain::Range | Domain::Kernel => Some("i: Index".to_owned()),
                        Domain::Edges
                        | Domain::BackEdges
                        | Domain::OtherEdges
                        | Domain::FrontOther
                        | Domain::FrontEdges
                        | Domain::FrontBack => Some("e: Edge".to_owned()),
                        Domain::Things => Some(format!("item: {}", self.items.thing.show())),
                        Domain::List | Domain::News => {
                            Some(format!("item: {}", self.items.listed.show()))
                        }
                        Domain::Once => None,
                    };
                    let taken = wave.handles.iter().map(|h| h.param(self.items));
                    let params: Vec<_> = item.into_iter().chain(taken).collect();
                    let after = if after.is_empty() {
                        after
                    } else {
                        format!(", {after}")
                    };
                    let _ = writeln!(
                        text,
                        "{:pad$}#[wave({}{after})]\n{:pad$}fn {}({}) {{\n{}{:pad$}}}",
                        "",
                        wave.domain.text(),
                        "",
                        wave.name,
                        params.join(", "),
                        wave.body,
                        ""
                    );
                }
                Part::Loop {
                    name,
                    arguments,
                    parts,
                    ..
                } => {
                    let after = if after.is_empty() {
                        after
                    } else {
                        format!("{after}, ")
                    };
                    let _ = writeln!(
                        text,
                        "{:pad$}#[fixpoint({after}{arguments})]\n{:pad$}mod {name} {{\n{:pad$}    use super::*;",
                        "", "", ""
                    );
                    self.write(parts, text, pad + 4);
                    let _ = writeln!(text, "{:pad$}}}", "");
                }
            }
        }
    }

    /// The bits of the scalars of `t`.
    fn raw(&self, ty: &Ty) -> String {
        let paths = leaves(ty, self.structs).unwrap_or_default();
        let each: Vec<_> = paths.iter().map(|(p, _)| format!("t{p}.raw()")).collect();
        each.join(", ")
    }

    fn field(&self, h: Handle, to: &mut Fields) {
        let n = h.name();
        let per = |shape: Shape| match shape {
            Shape::Node => "node",
            Shape::Edge => "edge(graph)",
            Shape::N => "n",
        };
        let len = |shape: Shape| match shape {
            Shape::Node => "input.graph.node_count()",
            Shape::Edge => "input.graph.edge_count()",
            Shape::N => "input.n as usize",
        };
        match h {
            Handle::Uniform(s) => {
                to.declared.push(format!("{n}: {}", s.name()));
                to.run.push(format!("{n}: input.{n}"));
            }
            Handle::All(of, s) => self.field(Handle::Own(of, s), to),
            Handle::OwnAtomic(shape, _, s) => {
                to.declared
                    .push(format!("#[output(per = {})] {n}: {}", per(shape), s.name()));
                to.out.push(format!("column(\"{n}\", &out.{n})"));
            }
            Handle::OwnBits(_) => {
                to.declared
                    .push(format!("#[output(per = node, bits = width)] {n}: Bits"));
                to.out
                    .push(format!("column(\"{n}\", &out.{n}.into_words())"));
            }
            Handle::Own(shape, s) => {
                let given = format!("{n}: &input.p_{}[..{}]", s.name(), len(shape));
                let topology = shape != Shape::N && matches!(s, I32 | F64 | U8);
                let role = if topology { "topology" } else { "input" };
                to.declared
                    .push(format!("#[{role}(per = {})] {n}: {}", per(shape), s.name()));
                if topology {
                    to.topology.push(given);
                } else {
                    to.run.push(given);
                }
            }
            Handle::OwnMut(shape, _, s) | Handle::Approximate(shape, _, s) => {
                to.declared
                    .push(format!("#[output(per = {})] {n}: {}", per(shape), s.name()));
                let near = if matches!(h, Handle::Approximate(..)) {
                    "near"
                } else {
                    "column"
                };
                to.out.push(format!("{near}(\"{n}\", &out.{n})"));
            }
            Handle::Record(of) | Handle::Records(of) => {
                let ty = self.items.record.show();
                let role = if of == Shape::Edge {
                    "topology"
                } else {
                    "input"
                };
                to.declared
                    .push(format!("#[{role}(per = {})] {n}: {ty}", per(of)));
                let value = given(&self.items.record, self.structs, self.types);
                to.before.push(format!(
                    "let {n}: Vec<_> = (0..{}).map(|k| {value}).collect();",
                    len(of)
                ));
                let given = format!("{n}: &{n}");
                match of {
                    Shape::Edge => to.topology.push(given),
                    Shape::Node | Shape::N => to.run.push(given),
                }
            }
            Handle::RecordMut(of, _) => {
                let ty = self.items.record.show();
                to.declared
                    .push(format!("#[output(per = {})] {n}: {ty}", per(of)));
                to.out.push(format!(
                    "records(\"{n}\", out.{n}.iter().map(|t| vec![{}]))",
                    self.raw(&self.items.record)
                ));
            }
            Handle::Buf(s) => {
                to.declared
                    .push(format!("#[input(per = {LEN})] {n}: {}", s.name()));
                to.run.push(format!("{n}: &input.p_{}[..{LEN}]", s.name()));
            }
            Handle::Atomic(s, op) => {
                let init = match op {
                    _ if s.is_float() => "0.0".to_owned(),
                    Update::Min | Update::And => format!("{}::MAX", s.name()),
                    Update::Add | Update::Max | Update::Or | Update::Xor => "0".to_owned(),
                };
                to.declared.push(format!(
                    "#[output(per = {LEN}, init = {init})] {n}: {}",
                    s.name()
                ));
                to.out.push(format!("column(\"{n}\", &out.{n})"));
            }
            Handle::Mark(s) => {
                to.declared
                    .push(format!("#[output(per = {LEN})] {n}: {}", s.name()));
                to.out.push(format!("column(\"{n}\", &out.{n})"));
            }
            Handle::Claim(_) => {
                to.declared
                    .push(format!("#[output(per = node, init = u32::MAX)] {n}: u32"));
                to.out.push(format!("column(\"{n}\", &out.{n})"));
            }
            Handle::Back => to
                .declared
                .push("#[topology(reverse_of = graph)] back: Csr".to_owned()),
            Handle::Other => {
                to.declared.push("#[topology] other: Csr".to_owned());
                to.topology.push("other: &input.other".to_owned());
            }
            Handle::Nodes => {
                to.declared.push("nodes: u32".to_owned());
                to.run
                    .push("nodes: input.graph.node_count() as u32".to_owned());
            }
            Handle::Push => {
                let unique = if self.unique { "(unique)" } else { "" };
                to.declared
                    .push(format!("#[frontier{unique}] front: Frontier"));
            }
            Handle::PushThing => to.declared.push(format!(
                "#[frontier(capacity = {})] things: Frontier<{}>",
                self.capacities[0],
                self.items.thing.show()
            )),
            Handle::Append => {
                to.declared.push(format!(
                    "#[list(capacity = {}, output)] list: List<{}>",
                    self.capacities[1],
                    self.items.listed.show()
                ));
                let fields = self.raw(&self.items.listed);
                to.out.push(format!(
                    "rows(\"list\", out.list.iter().map(|t| vec![{}]))",
                    fields
                ));
            }
            Handle::BitsIn => {
                to.declared
                    .push("#[input(per = node, bits = width)] given: Bits".to_owned());
                to.run.push("given: &input.given".to_owned());
            }
            Handle::BitsTop => {
                to.declared
                    .push("#[topology(per = node, bits = 70)] fixed: Bits".to_owned());
                to.topology.push("fixed: &input.fixed".to_owned());
            }
            Handle::Bits(_) => {
                to.declared
                    .push("#[output(per = node, bits = width)] rows: Bits".to_owned());
                to.out
                    .push("column(\"rows\", &out.rows.into_words())".to_owned());
            }
            Handle::Reduce(_, r) => {
                let op = match r {
                    Reduction::Sum(_) => "sum",
                    Reduction::Min(_) => "min",
                    Reduction::Max(_) => "max",
                    Reduction::Any | Reduction::Or(_) => "or",
                    Reduction::All | Reduction::And(_) => "and",
                    Reduction::Count => "count",
                };
                to.declared
                    .push(format!("#[reduce({op})] {n}: {}", r.ty().name()));
                to.out.push(format!("column(\"{n}\", &[out.{n}])"));
            }
            Handle::Round
            | Handle::Graph
            | Handle::Distance
            | Handle::Distances
            | Handle::Left(..)
            | Handle::LeftAll(..)
            | Handle::RecordLeft(..)
            | Handle::RecordsLeft(..)
            | Handle::Totals(..)
            | Handle::BitsSeen
            | Handle::Reduced(..) => {}
        }
    }

    fn graph(&self) -> String {
        let name = self.name;
        let mut all: BTreeSet<Handle> = BTreeSet::new();
        for wave in self.waves {
            all.extend(wave.handles.iter().copied());
            if matches!(wave.domain, Domain::BackEdges | Domain::FrontBack) {
                all.insert(Handle::Back);
            }
            if matches!(wave.domain, Domain::OtherEdges | Domain::FrontOther) {
                all.insert(Handle::Other);
            }
            all.extend(match wave.domain.swept() {
                Some("front") => Some(Handle::Push),
                Some("things") => Some(Handle::PushThing),
                Some("list") => Some(Handle::Append),
                _ => None,
            });
        }
        let mut fields = Fields {
            declared: vec!["#[topology] graph: Csr".to_owned()],
            topology: vec!["graph: &input.graph".to_owned()],
            ..Fields::default()
        };
        let shaped = |h: &Handle| {
            matches!(
                h,
                Handle::OwnMut(Shape::N, ..)
                    | Handle::Own(Shape::N, _)
                    | Handle::Record(Shape::N)
                    | Handle::RecordMut(Shape::N, _)
                    | Handle::OwnAtomic(Shape::N, ..)
                    | Handle::Approximate(Shape::N, ..)
            )
        };
        if all.iter().any(shaped) || self.waves.iter().any(|w| w.domain == Domain::Range) {
            fields.declared.push("n: u32".to_owned());
            fields.run.push("n: input.n".to_owned());
        }
        let wide = |h: &Handle| matches!(h, Handle::BitsIn | Handle::Bits(_) | Handle::OwnBits(_));
        if all.iter().any(wide) {
            fields.declared.push("width: u32".to_owned());
            fields.run.push("width: input.width".to_owned());
        }
        // Rows are changed in two ways, and are one field.
        let mut declared = BTreeSet::new();
        for &h in &all {
            let seen = matches!(
                h,
                Handle::Left(..)
                    | Handle::LeftAll(..)
                    | Handle::RecordLeft(..)
                    | Handle::RecordsLeft(..)
                    | Handle::Totals(..)
                    | Handle::Reduced(..)
                    | Handle::Distance
                    | Handle::Distances
                    | Handle::BitsSeen
            );
            if !seen && declared.insert(h.name()) {
                self.field(h, &mut fields);
                if self.scratch.contains(&h.name())
                    && let Some(field) = fields.declared.last_mut()
                {
                    *field = field.replacen("#[output(", "#[scratch(", 1);
                    fields.out.pop();
                }
            }
        }
        let mut included = "";
        if self.parts.iter().any(|p| matches!(p, Part::Included)) {
            included = "#[include(graph = graph)]\n    use super::search::bfs;\n    ";
            fields
                .run
                .push("bfs_source: input.graph.node_count() as u32 / 2".to_owned());
            fields
                .out
                .push("column(\"bfs_dist\", &out.bfs_dist)".to_owned());
        }
        let mut text = format!(
            "#[wave_graph]\npub mod {name} {{\n    use super::*;\n    {included}pub struct Data {{\n        {},\n    }}\n",
            fields.declared.join(",\n        ")
        );
        for c in self.constants {
            let _ = writeln!(text, "    {c}");
        }
        for h in self.helpers {
            let _ = writeln!(text, "    {h}");
        }
        self.write(self.parts, &mut text, 4);
        let topology = if fields.topology.len() == 1 {
            "&input.graph".to_owned()
        } else {
            format!("{name}::Topology {{ {} }}", fields.topology.join(", "))
        };
        let before = fields.before.join("\n    ");
        let run = format!("{name}::Run {{ {} }}", fields.run.join(", "));
        let out = format!("[{}]", fields.out.join(", "));
        // A query beside it with other scalars.
        let near = fields.run.iter().map(|field| {
            match field
                .split_once(": ")
                .map(|(name, value)| (name.strip_prefix("s_"), value))
            {
                Some((Some("bool"), value)) => format!("s_bool: !{value}"),
                Some((Some(s @ ("f32" | "f64")), value)) => format!("s_{s}: {value} + 1.0"),
                Some((Some(s), value)) => format!("s_{s}: {value}.wrapping_add(1)"),
                _ => field.clone(),
            }
        });
        let near = format!("{name}::Run {{ {} }}", near.collect::<Vec<_>>().join(", "));
        let body = match self.way {
            Way::Once => format!(
                "let mut session = {name}::Session::new(runtime, {topology})?;
    let out = session.run({run})?;
    Ok(vec!{out})"
            ),
            Way::Again => format!(
                "let mut session = {name}::Session::new(runtime, {topology})?;
    let _ = session.run({near});
    let out = session.run({run})?;
    Ok(vec!{out})"
            ),
            Way::Batch => format!(
                "let mut session = {name}::Session::new(runtime, {topology})?;
    session.submit({run}, 0);
    session.submit({near}, 1);
    session.submit({run}, 0);
    let mut all = Vec::new();
    for (_, out) in session.run_batch()?.results {{
        let out = out?;
        all.extend({out});
    }}
    Ok(all)"
            ),
            Way::Graphs => format!(
                "let (topology, run, beside) = ({topology}, {run}, {near});
    let input = input.second();
    {before}
    let mut sessions = {name}::Sessions::new(runtime, [topology, {topology}])?;
    sessions.submit(1, {run}, 0);
    sessions.submit(0, run, 0);
    sessions.submit(1, {near}, 1);
    sessions.submit(0, beside, 0);
    let mut all = Vec::new();
    for (_, out) in sessions.run_batch()?.results {{
        let out = out?;
        all.extend({out});
    }}
    Ok(all)"
            ),
        };
        let _ = writeln!(
            text,
            "}}\n\npub fn run_{name}(runtime: &Runtime, input: &Input) -> Result<Vec<Column>, Error> {{\n    {before}\n    {body}\n}}",
        );
        text
    }
}

/// What the build script writes: a module with these kernels and the table `KERNELS` of their names and runners.
pub(crate) fn module(kernels: &[(String, Source)]) -> String {
    let mut text = String::from(
        "const OUTER_U32: u32 = 0xdead_beef;\nconst OUTER_I32: i32 = -7;\nconst OUTER_U64: u64 = 1 << 40;\nconst OUTER_F32: f32 = 0.3;\nmod outer {
    use vyre::prelude::*;
    pub(super) const DEEP_I64: i64 = -5_000_000_000;
    const OWN: u32 = 0x9e37_79b1;
    #[device]
    pub fn scramble(x: u32) -> u32 { let mut h = x ^ OWN; while h & 7 != 0 { h = (h ^ h >> 5).wrapping_mul(OWN | 1) >> 1; } h }
    pub mod inner {
        use vyre::prelude::*;
        #[device]
        pub fn between(a: f64, b: f64) -> f64 { if a < b { a / 2.0 + b / 2.0 } else { super::DEEP_I64 as f64 - b } }
    }
}
pub mod search {
    use vyre::prelude::*;
    const FAR: u32 = u32::MAX;
    #[device]
    fn next(depth: u32) -> u32 { depth + 1 }
    #[wave_graph]
    pub mod bfs {
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier] front: Frontier,
            #[output(per = node, init = FAR)] dist: u32,
            source: u32,
        }
        #[wave(nodes)]
        fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
            *dist = FAR;
            if v == source {
                *dist = 0;
                front.push(v);
            }
        }
        #[fixpoint(after(init), until(front.is_empty()), max_rounds = 10_000)]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(FAR, next(round)) {
                    front.push(e.dst);
                }
            }
        }
    }
}

",
    );
    for (_, source) in kernels {
        text.push_str(&source.text);
        text.push('\n');
    }
    text.push_str("pub const KERNELS: &[(&str, Runner, bool)] = &[\n");
    for (name, source) in kernels {
        let _ = writeln!(text, "    (\"{name}\", run_{name}, {}),", source.loose);
    }
    text.push_str("];\n");
    text
}
