//! Random well-typed kernels as Rust source.
//!
//! A kernel is grown from a sequence of choices. A seed gives a random sequence; a recorded one gives the same kernel again,
//! and an edited one (pieces left out, numbers made smaller) gives a smaller kernel that is well typed too: choice 0 is always
//! the plainest, so shrinking needs to know nothing about the language. A feature of the language is one more row of
//! [`EXPRESSIONS`], [`STATEMENTS`] or [`METHODS`].
//!
//! Kernels are order-free: they write their own elements, update atomics by one operation a buffer, push, and reduce. What may
//! differ between backends is kept out of the values: the sign of zero from `min` and `max` (zero is added), and the bits and
//! the sign of NaN (see [`Fixed`]).

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
            Ty::Struct(i) => format!("T{i}"),
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
    value: Option<Scalar>,
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
    Any,
    All,
    Count,
}

/// A parameter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Handle {
    Uniform(Scalar),
    Own(Scalar),
    OwnMut(Scalar),
    Buf(Scalar),
    Atomic(Scalar, Update),
    Graph,
    /// The number of nodes.
    Nodes,
    Push,
    Reduce(Reduction),
}

/// Length of whole buffers.
const LEN: u32 = 16;

impl Handle {
    fn name(self) -> String {
        match self {
            Handle::Uniform(s) => format!("s_{}", s.name()),
            Handle::Own(s) => format!("x_{}", s.name()),
            Handle::OwnMut(s) => format!("y_{}", s.name()),
            Handle::Buf(s) => format!("b_{}", s.name()),
            Handle::Atomic(s, op) => format!("a_{}_{}", s.name(), op.name()),
            Handle::Graph => "graph".to_owned(),
            Handle::Nodes => "nodes".to_owned(),
            Handle::Push => "front".to_owned(),
            Handle::Reduce(Reduction::Sum(s)) => format!("sum_{}", s.name()),
            Handle::Reduce(Reduction::Min(s)) => format!("min_{}", s.name()),
            Handle::Reduce(Reduction::Max(s)) => format!("max_{}", s.name()),
            Handle::Reduce(Reduction::Any) => "any".to_owned(),
            Handle::Reduce(Reduction::All) => "all".to_owned(),
            Handle::Reduce(Reduction::Count) => "count".to_owned(),
        }
    }

    fn ty(self) -> String {
        match self {
            Handle::Uniform(s) => s.name().to_owned(),
            Handle::Own(s) => format!("&{}", s.name()),
            Handle::OwnMut(s) => format!("&mut {}", s.name()),
            Handle::Buf(s) => format!("&Buf<{}>", s.name()),
            Handle::Atomic(s, _) => format!("&Buf<Atomic<{}>>", s.name()),
            Handle::Graph => "&Csr".to_owned(),
            Handle::Nodes => "u32".to_owned(),
            Handle::Push => "&Push".to_owned(),
            Handle::Reduce(Reduction::Sum(s)) => format!("&Reduce<Sum<{}>>", s.name()),
            Handle::Reduce(Reduction::Min(s)) => format!("&Reduce<Min<{}>>", s.name()),
            Handle::Reduce(Reduction::Max(s)) => format!("&Reduce<Max<{}>>", s.name()),
            Handle::Reduce(Reduction::Any) => "&Reduce<Or<bool>>".to_owned(),
            Handle::Reduce(Reduction::All) => "&Reduce<And<bool>>".to_owned(),
            Handle::Reduce(Reduction::Count) => "&Reduce<Count>".to_owned(),
        }
    }

    fn param(self) -> String {
        format!("{}: {}", self.name(), self.ty())
    }
}

/// What the kernel is swept over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    Nodes,
    Range,
    Edges,
    /// A standalone `#[kernel]`.
    Kernel,
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
    (2, Kernel::fault),
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
    constants: Vec<(String, Scalar)>,
    /// Types of the fields of each struct.
    structs: Vec<Vec<Ty>>,
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
        out: String::new(),
        indent: 0,
        depth: 0,
        fuel: 0,
        scope: Vec::new(),
        loops: Vec::new(),
        handles: BTreeSet::new(),
        helpers: Vec::new(),
        constants: Vec::new(),
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
    Source {
        text,
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
        if !self.once_in(5) {
            return Ty::Scalar(self.scalar());
        }
        match self.below(5) {
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
        let of = if self.once_in(8) {
            Ty::Tuple(vec![Ty::Scalar(self.scalar()), Ty::Scalar(self.scalar())])
        } else {
            Ty::Scalar(self.scalar())
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
            }
        }
        to
    }

    fn within(&self, place: String, ty: &Ty, mutable: bool, to: &mut Vec<(String, Ty, bool)>) {
        to.push((place.clone(), ty.clone(), mutable));
        match ty {
            Ty::Scalar(_) => {}
            Ty::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    self.within(format!("{place}.{i}"), part, mutable, to);
                }
            }
            Ty::Array(of, len) => {
                self.within(format!("{place}[{}]", len - 1), of, mutable, to);
            }
            &Ty::Struct(i) => {
                for (k, part) in self.structs[i].iter().enumerate() {
                    self.within(format!("{place}.f{k}"), part, mutable, to);
                }
            }
        }
    }

    /// A place in a local array by a computed index.
    fn element_place(&mut self, s: Scalar, mutable: bool) -> Option<String> {
        let mut arrays = self.all_places();
        arrays.retain(|(_, ty, m)| {
            (*m || !mutable) && matches!(ty, Ty::Array(of, _) if **of == Ty::Scalar(s))
        });
        if arrays.is_empty() {
            return None;
        }
        let (place, ty, _) = self.one_of(&arrays);
        let Ty::Array(_, len) = ty else { return None };
        Some(format!("{place}[{}]", self.array_index(len)))
    }

    fn array_index(&mut self, len: u32) -> String {
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
            (None, Domain::Nodes) => &["v"],
            (None, Domain::Range | Domain::Kernel) => &["i"],
            (None, Domain::Edges) => &["e.src", "e.dst", "e.index"],
        }
    }

    /// A name of this type.
    fn name_of(&mut self, ty: &Ty) -> Option<Expr> {
        let locals = self.places(ty);
        let &Ty::Scalar(s) = ty else {
            return (!locals.is_empty()).then(|| Expr::atom(self.one_of(&locals).0));
        };
        if !locals.is_empty() && !self.once_in(3) {
            return Some(Expr::atom(self.one_of(&locals).0));
        }
        if self.helper.is_some() {
            let constants: Vec<_> = self.constants.iter().filter(|c| c.1 == s).collect();
            let first = constants.first()?.0.clone();
            return Some(Expr::atom(first));
        }
        Some(match self.below(5) {
            0 if s == U32 => Expr::atom(self.one_of(self.item())),
            1 => Expr::new(format!("*{}", self.uses(Handle::Own(s))), Expr::UNARY),
            2 => Expr::new(format!("*{}", self.uses(Handle::OwnMut(s))), Expr::UNARY),
            3 => {
                let constants: Vec<_> = self.constants.iter().filter(|c| c.1 == s).collect();
                Expr::atom(constants.first()?.0.clone())
            }
            _ => Expr::atom(self.uses(Handle::Uniform(s))),
        })
    }

    /// A u32 that is a node.
    fn node(&mut self) -> String {
        let other = self.once_in(3);
        match self.domain {
            Domain::Nodes if !other => "v".to_owned(),
            Domain::Edges if !other => self.one_of(&["e.src", "e.dst"]).to_owned(),
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
                    format!("[{}; {len}]", k.value(of, pinned).text)
                } else {
                    // The first element gives the others their type.
                    let parts: Vec<_> = (0..*len)
                        .map(|i| k.value(of, pinned || i > 0).text)
                        .collect();
                    format!("[{}]", parts.join(", "))
                }
            }),
            &Ty::Struct(i) => self.composite(ty, pinned, |k| k.struct_value(i)),
        }
    }

    fn struct_value(&mut self, i: usize) -> String {
        let fields = self.structs[i].clone();
        let ty = Ty::Struct(i);
        let way = self.below(6);
        if way == 4 {
            let args: Vec<_> = fields.iter().map(|t| self.value(t, true).text).collect();
            return format!("T{i}::make({})", args.join(", "));
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
            parts.push(format!("f{f}: {}", self.value(&fields[f], true).text));
        }
        if based {
            parts.push(format!("..{}", self.one_of(&base).0));
        }
        format!("T{i} {{ {} }}", parts.join(", "))
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
        match self.below(8) {
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
        if pinned && self.once_in(12) {
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
                    let hex = if suffix.is_empty() {
                        format!("{value:#x}")
                    } else {
                        format!("{value:#x}_{suffix}")
                    };
                    Expr::atom(hex)
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
                let constants: Vec<_> = self.constants.iter().filter(|c| c.1 == s).collect();
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

    /// `match` with the body of each arm made by `arm`.
    fn matching(&mut self, arm: &mut dyn FnMut(&mut Kernel) -> String) -> String {
        let s = if self.once_in(5) {
            Bool
        } else {
            self.one_of(&INTS)
        };
        if s != Bool && self.once_in(6) {
            return self.matching_pair(s, arm);
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
                let guard = if guarded {
                    format!(" if {}", self.scalar_value(Bool, true).text)
                } else {
                    String::new()
                };
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

    /// `match` on two integers.
    fn matching_pair(&mut self, s: Scalar, arm: &mut dyn FnMut(&mut Kernel) -> String) -> String {
        let t = self.one_of(&INTS);
        let (a, b) = (self.scalar_value(s, false), self.scalar_value(t, false));
        let mut text = format!("match ({}, {}) {{\n", a.text, b.text);
        self.indent += 1;
        let pad = self.indent * 4;
        for _ in 0..1 + self.below(3) {
            let visible = self.scope.len();
            let mut parts = Vec::new();
            for s in [s, t] {
                let (pattern, binds) = match self.below(3) {
                    0 => ("_".to_owned(), None),
                    1 => {
                        let name = self.fresh("v");
                        (name.clone(), Some(name))
                    }
                    _ => self.pattern(s),
                };
                parts.push(pattern);
                if let Some(name) = binds {
                    let ty = Ty::Scalar(s);
                    let mutable = false;
                    self.scope.push(Var { name, ty, mutable });
                }
            }
            let guard = if self.once_in(3) {
                format!(" if {}", self.scalar_value(Bool, true).text)
            } else {
                String::new()
            };
            let body = arm(self);
            self.scope.truncate(visible);
            let _ = writeln!(text, "{:pad$}({}){guard} => {body},", "", parts.join(", "));
        }
        let body = arm(self);
        let _ = writeln!(text, "{:pad$}_ => {body},", "");
        self.indent -= 1;
        let _ = write!(text, "{:1$}}}", "", self.indent * 4);
        text
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
        };
        let fitting: Vec<_> = self.helpers.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let h = self.one_of(&fitting);
        Some(Expr::atom(format!("{}({})", h.name, self.arguments(&h))))
    }

    fn arguments(&mut self, h: &Helper) -> String {
        self.cost += h.cost * self.turns;
        self.size += h.size;
        let mut args: Vec<_> = h.params.iter().map(|t| self.value(t, true).text).collect();
        args.extend(h.handles.iter().map(|&h| self.uses(h)));
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
        if !self.may_loop() {
            return None;
        }
        let (left, turns) = (self.fresh("left"), 1 + self.below(8));
        let label = self.once_in(3).then(|| self.fresh("'l"));
        let open = Loop {
            label: label.clone(),
            plain: true,
            turns: true,
            value: Some(s),
        };
        // It may not turn: the turns are over.
        self.loops.push(open.clone());
        let stays = std::mem::replace(&mut self.stays, true);
        let out = self.scalar_value(s, pinned).at(Expr::OR);
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
        let label = self.fresh("'l");
        self.loops.push(Loop {
            label: Some(label.clone()),
            plain: false,
            turns: false,
            value: Some(s),
        });
        let text = self.block(Some((&Ty::Scalar(s), pinned)), 3);
        self.loops.pop();
        Some(Expr::new(format!("{label}: {text}"), Expr::BLOCK))
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
                ways.push((format!("break{name}"), l.value));
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
            Some(s) => {
                let e = self.scalar_value(s, false);
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
    fn query(&mut self, s: Scalar, _pinned: bool) -> Option<Expr> {
        let graph = self.helper.is_none() && self.domain != Domain::Kernel;
        match s {
            U32 if graph && self.once_in(2) => {
                let node = self.node();
                let graph = self.uses(Handle::Graph);
                Some(Expr::atom(format!("{graph}.degree({node})")))
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
        if self.helper.is_some() {
            return None;
        }
        Some(format!("*{}", self.uses(Handle::OwnMut(s))))
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
        let y = self.uses(Handle::OwnMut(U64));
        self.line(&format!("*{y} = {y}.rotate_left(5) ^ ({e});"));
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
        let graph = self.helper.is_none() && self.domain != Domain::Kernel;
        if graph && self.once_in(2) {
            let node = self.node();
            let graph = self.uses(Handle::Graph);
            let edges = self.once_in(2);
            let visible = self.scope.len();
            let name = self.declare(&Ty::Scalar(U32), false);
            let mut body = self.body(8, 3, open);
            self.scope.truncate(visible);
            let method = if edges { "edges" } else { "neighbors" };
            if edges && self.once_in(2) {
                // The target is read first, where the loop's variable still has its name.
                let (y, rest) = (self.uses(Handle::OwnMut(U64)), body.split_off(1));
                let _ = write!(body, " *{y} ^= {graph}.target({name}) as u64;{rest}");
            }
            self.line(&format!(
                "{prefix}for {name} in {graph}.{method}({node}) {body}"
            ));
            return true;
        }
        let mut arrays = self.all_places();
        arrays.retain(|(_, ty, _)| matches!(ty, Ty::Array(..)));
        if !arrays.is_empty() && self.once_in(3) {
            let (place, ty, _) = self.one_of(&arrays);
            let Ty::Array(of, len) = ty else { return false };
            let visible = self.scope.len();
            let name = self.declare(&of, false);
            let body = self.body(u64::from(len), 3, open);
            self.scope.truncate(visible);
            self.line(&format!("{prefix}for {name} in {place} {body}"));
            return true;
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
            // Sums of floats depend on their order.
            self.one_of(&[Update::Min, Update::Max])
        } else {
            self.one_of(&UPDATES)
        };
        known.unwrap_or(random)
    }

    /// A number to take the minimum or the maximum with: no zero with a sign.
    fn number(&mut self, s: Scalar) -> String {
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
        let buffer = self.uses(Handle::Atomic(s, op));
        let index = self.index(&buffer);
        let e = self.number(s);
        self.line(&format!("{buffer}[{index}].fetch_{}({e});", op.name()));
        true
    }

    fn push(&mut self) -> bool {
        if self.helper.is_some() || self.domain == Domain::Kernel {
            return false;
        }
        let node = self.node();
        let front = self.uses(Handle::Push);
        if self.once_in(3) {
            self.line(&format!("{front}.push({node});"));
        } else {
            let cond = self.condition();
            self.line(&format!("if {cond} {{ {front}.push({node}); }}"));
        }
        true
    }

    fn reduce(&mut self) -> bool {
        if self.domain == Domain::Kernel {
            return false;
        }
        let (s, t) = (self.one_of(&WIDE), self.one_of(&NUMBERS));
        let (r, method, of) = self.one_of(&[
            (Reduction::Sum(s), "add", Some(s)),
            (Reduction::Min(t), "min", Some(t)),
            (Reduction::Max(t), "max", Some(t)),
            (Reduction::Any, "or", Some(Bool)),
            (Reduction::All, "and", Some(Bool)),
            (Reduction::Count, "inc", None),
        ]);
        let name = self.uses(Handle::Reduce(r));
        let argument = match of {
            Some(s) => self.number(s),
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
        let s = self.scalar();
        let e = self.literal(s, true);
        let name = self.fresh("C");
        self.line(&format!("const {name}: {} = {};", s.name(), e.text));
        self.scope.push(Var {
            name,
            ty: Ty::Scalar(s),
            mutable: false,
        });
        true
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
        let fields = self.structs[i].clone();
        let e = self.value(&Ty::Struct(i), false);
        let which = self.below(fields.len() as u32) as usize;
        let mutable = self.once_in(2);
        let name = self.declare(&fields[which], mutable);
        let word = if mutable { "mut " } else { "" };
        let rest = if fields.len() > 1 { ", .." } else { "" };
        self.line(&format!(
            "let T{i} {{ f{which}: {word}{name}{rest} }} = {};",
            e.text
        ));
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
            5 => format!("assert_eq!({}, {at}, \"not the item\");", e.text),
            6 => "panic!(\"gone\");".to_owned(),
            _ if self.domain == Domain::Kernel => "unreachable!();".to_owned(),
            _ => {
                let front = self.uses(Handle::Push);
                format!("{front}.push({} | 0x8000_0000);", e.at(5))
            }
        };
        self.line(&format!("if {item} == {at} {{ {what} }}"));
        true
    }

    // Functions.

    /// A struct with a constructor and a method or two.
    fn write_struct(&mut self) -> String {
        let i = self.structs.len();
        let fields: Vec<Ty> = (0..1 + self.below(4))
            .map(|_| {
                if self.once_in(4) {
                    self.array()
                } else {
                    Ty::Scalar(self.scalar())
                }
            })
            .collect();
        let list = |prefix: &str| {
            let each = fields.iter().enumerate();
            let each: Vec<_> = each
                .map(|(k, t)| format!("{prefix}{k}: {}", t.show()))
                .collect();
            each.join(", ")
        };
        let given: Vec<_> = (0..fields.len()).map(|k| format!("f{k}: p{k}")).collect();
        let (declared, params) = (list("f"), list("p"));
        self.structs.push(fields);
        let mut text = format!(
            "#[derive(Clone, Copy, PartialEq)]\n    struct T{i} {{ {declared} }}\n    impl T{i} {{\n    fn make({params}) -> Self {{ T{i} {{ {} }} }}\n",
            given.join(", ")
        );
        for _ in 0..self.below(3) {
            let changes = self.once_in(2);
            let method = self.write_helper(Some((i, changes)));
            let _ = writeln!(text, "    {method}");
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
        text.extend(handles.iter().map(|h| h.param()));
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

    fn pass(&mut self, name: &str) -> String {
        self.domain = self.weighted(&[
            (5, Domain::Nodes),
            (2, Domain::Range),
            (2, Domain::Edges),
            (3, Domain::Kernel),
        ]);
        if self.domain != Domain::Kernel {
            for i in 0..self.below(3) {
                let s = self.scalar();
                self.constants.push((format!("K{i}"), s));
            }
        }
        let constants: Vec<_> = self.constants.clone();
        let constants: Vec<_> = constants
            .into_iter()
            .map(|(name, s)| {
                let e = self.literal(s, true);
                format!("const {name}: {} = {};", s.name(), e.text)
            })
            .collect();
        self.indent = 1;
        let count = self.below(4);
        let structs = self.below(3);
        let structs: Vec<_> = (0..structs).map(|_| self.write_struct()).collect();
        let helpers: Vec<_> = (0..count).map(|_| self.write_helper(None)).collect();
        (self.cost, self.size, self.turns) = (0, 0, 1);
        self.fuel = 80 + 60 * self.below(3);

        self.indent = if self.domain == Domain::Kernel { 1 } else { 2 };
        let count = 2 + self.below(9);
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
            let y = self.uses(Handle::OwnMut(U64));
            self.line(&format!("*{y} = {y}.rotate_left(5) ^ ({e});"));
        }
        let body = std::mem::take(&mut self.out);
        let fixed = self.fixed.iter().map(|f| f.1.to_owned());
        let device = |f: String| format!("#[device]\n    {f}");
        let helpers = fixed.chain(helpers).map(device);
        let helpers: Vec<String> = structs.into_iter().chain(helpers).collect();
        let handles: Vec<Handle> = self.handles.iter().copied().collect();
        if self.domain == Domain::Kernel {
            standalone(name, &helpers, &handles, &body)
        } else {
            let written = Written {
                name,
                domain: self.domain,
                constants: &constants,
                helpers: &helpers,
                handles: &handles,
                body: &body,
            };
            written.graph()
        }
    }
}

/// A standalone `#[kernel]` and its runner.
fn standalone(name: &str, helpers: &[String], handles: &[Handle], body: &str) -> String {
    let mut params = vec!["i: Index".to_owned()];
    params.extend(handles.iter().map(|h| h.param()));
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
            Handle::Own(s) => {
                sliced = true;
                args.push(format!("&input.p_{}[..input.n as usize]", s.name()));
            }
            Handle::OwnMut(s) => {
                sliced = true;
                let _ = writeln!(
                    before,
                    "    let mut {n} = input.p_{}[..input.n as usize].to_vec();",
                    s.name()
                );
                args.push(format!("&mut {n}"));
                after.push(format!("column(\"{n}\", &{n})"));
            }
            Handle::Buf(s) => args.push(format!("&input.p_{}[..{LEN}]", s.name())),
            Handle::Atomic(s, _) => {
                let _ = writeln!(
                    before,
                    "    let mut {n} = input.p_{}[..{LEN}].to_vec();",
                    s.name()
                );
                if s.is_float() {
                    // Of two zeros, either may be the larger.
                    let _ = writeln!(before, "    for x in &mut {n} {{ *x += 0.0; }}");
                }
                args.push(format!("&mut {n}"));
                after.push(format!("column(\"{n}\", &{n})"));
            }
            Handle::Graph | Handle::Nodes | Handle::Push | Handle::Reduce(_) => {}
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

/// The parts of a `#[wave_graph]`.
struct Written<'a> {
    name: &'a str,
    domain: Domain,
    constants: &'a [String],
    helpers: &'a [String],
    handles: &'a [Handle],
    body: &'a str,
}

impl Written<'_> {
    fn graph(&self) -> String {
        let name = self.name;
        let (per, domain, item) = match self.domain {
            Domain::Nodes => ("node", "nodes", "v: Node"),
            Domain::Edges => ("edge(graph)", "edges(graph)", "e: Edge"),
            Domain::Range | Domain::Kernel => ("n", "range(n)", "i: Index"),
        };
        let len = match self.domain {
            Domain::Nodes => "input.graph.node_count()",
            Domain::Edges => "input.graph.edge_count()",
            Domain::Range | Domain::Kernel => "input.n as usize",
        };
        let mut fields = vec!["#[topology] graph: Csr".to_owned()];
        let (mut run, mut out) = (Vec::new(), Vec::new());
        let mut params = vec![item.to_owned()];
        if self.domain == Domain::Range {
            fields.push("n: u32".to_owned());
            run.push("n: input.n".to_owned());
        }
        for &h in self.handles {
            let n = h.name();
            params.push(h.param());
            match h {
                Handle::Uniform(s) => {
                    fields.push(format!("{n}: {}", s.name()));
                    run.push(format!("{n}: input.{n}"));
                }
                Handle::Own(s) => {
                    fields.push(format!("#[input(per = {per})] {n}: {}", s.name()));
                    run.push(format!("{n}: &input.p_{}[..{len}]", s.name()));
                }
                Handle::OwnMut(s) => {
                    fields.push(format!("#[output(per = {per})] {n}: {}", s.name()));
                    out.push(format!("column(\"{n}\", &out.{n})"));
                }
                Handle::Buf(s) => {
                    fields.push(format!("#[input(per = {LEN})] {n}: {}", s.name()));
                    run.push(format!("{n}: &input.p_{}[..{LEN}]", s.name()));
                }
                Handle::Atomic(s, op) => {
                    let init = match op {
                        _ if s.is_float() => "0.0".to_owned(),
                        Update::Min | Update::And => format!("{}::MAX", s.name()),
                        Update::Add | Update::Max | Update::Or | Update::Xor => "0".to_owned(),
                    };
                    fields.push(format!(
                        "#[output(per = {LEN}, init = {init})] {n}: {}",
                        s.name()
                    ));
                    out.push(format!("column(\"{n}\", &out.{n})"));
                }
                Handle::Graph => {}
                Handle::Nodes => {
                    fields.push("nodes: u32".to_owned());
                    run.push("nodes: input.graph.node_count() as u32".to_owned());
                }
                Handle::Push => {
                    fields.push("#[frontier] front: Frontier".to_owned());
                    fields.push("#[output(per = node)] visits: u32".to_owned());
                    out.push("column(\"visits\", &out.visits)".to_owned());
                }
                Handle::Reduce(r) => {
                    let (op, ty) = match r {
                        Reduction::Sum(s) => ("sum", s.name()),
                        Reduction::Min(s) => ("min", s.name()),
                        Reduction::Max(s) => ("max", s.name()),
                        Reduction::Any => ("or", "bool"),
                        Reduction::All => ("and", "bool"),
                        Reduction::Count => ("count", "u64"),
                    };
                    fields.push(format!("#[reduce({op})] {n}: {ty}"));
                    out.push(format!("column(\"{n}\", &[out.{n}])"));
                }
            }
        }
        let mut text = format!(
            "#[wave_graph]\npub mod {name} {{\n    use super::*;\n    pub struct Data {{\n        {},\n    }}\n",
            fields.join(",\n        ")
        );
        for c in self.constants {
            let _ = writeln!(text, "    {c}");
        }
        for h in self.helpers {
            let _ = writeln!(text, "    {h}");
        }
        let _ = writeln!(
            text,
            "    #[wave({domain})]\n    fn sweep({}) {{\n{}    }}",
            params.join(", "),
            self.body
        );
        if self.handles.contains(&Handle::Push) {
            text.push_str(
                "    #[wave(items(front), after(sweep))]\n    fn visit(v: Node, visits: &Buf<Atomic<u32>>) { visits[v].fetch_add(1); }\n",
            );
        }
        let _ = writeln!(
            text,
            "}}\n\npub fn run_{name}(runtime: &Runtime, input: &Input) -> Result<Vec<Column>, Error> {{\n    let mut session = {name}::Session::new(runtime, &input.graph)?;\n    let out = session.run({name}::Run {{ {} }})?;\n    Ok(vec![{}])\n}}",
            run.join(", "),
            out.join(", ")
        );
        text
    }
}

/// What the build script writes: a module with these kernels and the table `KERNELS` of their names and runners.
pub(crate) fn module(kernels: &[(String, Source)]) -> String {
    let mut text = String::from(
        "const OUTER_U32: u32 = 0xdead_beef;\nconst OUTER_I32: i32 = -7;\nconst OUTER_U64: u64 = 1 << 40;\nconst OUTER_F32: f32 = 0.3;\nmod outer { pub(super) const DEEP_I64: i64 = -5_000_000_000; }\n\n",
    );
    for (_, source) in kernels {
        text.push_str(&source.text);
        text.push('\n');
    }
    text.push_str("pub const KERNELS: &[(&str, Runner)] = &[\n");
    for (name, _) in kernels {
        let _ = writeln!(text, "    (\"{name}\", run_{name}),");
    }
    text.push_str("];\n");
    text
}
