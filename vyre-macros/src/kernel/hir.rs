//! The typed tree between inference and lowering. Types can still be variables; [`Function::types`] resolves them.

use super::methods::Code;
use super::param::HandleTy;
use super::param::ParamKind;
use super::types::{RowOf, Ty, Unifier};
use crate::tables::ModuleTables;
use proc_macro2::{Span, TokenStream};
use std::rc::Rc;
use vyre_core::compile::ir::{AtomicOp, BinaryOp, CompareOp, CsrQuery, UnaryOp};
use vyre_core::vir0::module::{BufferId, Uniform};

/// Which part of the work item a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemField {
    /// Node, index, frontier item or edge index.
    Index,
    /// Source of an edge.
    Src,
    /// Destination of an edge.
    Dst,
}

/// Which number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellField {
    X,
    Y,
    Index,
}

/// A local variable of a function: index into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VarId(pub(super) usize);

/// A loop or labelled block of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopId(pub(super) usize);

/// A local variable.
#[derive(Debug)]
pub(super) struct Var {
    pub(super) ty: Ty,
    pub(super) mutable: bool,
}

/// A checked function, without errors.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) types: Unifier,
    pub(super) vars: Vec<Var>,
    pub(super) params: Vec<Param>,
    /// Types of the parameters that are handles.
    pub(super) handles: Vec<Option<HandleTy>>,
    pub(super) body: Expr,
    pub(super) result: Ty,
    /// A `return` that is not the end of the body.
    pub(super) returns_early: bool,
    /// Loops whose turns are steps of work: those in which the function itself counts them ([`crate::turns`]).
    pub(super) counting: Vec<LoopId>,
    /// Number of modules around it (the pass's module counts 1).
    pub(super) depth: usize,
    /// `#[device] mod`s between the innermost of these and the function.
    pub(super) inside: Vec<syn::Ident>,
    pub(super) role: Role,
    /// `&mut self`: the caller's place takes the first parameter's last value.
    pub(super) mut_self: bool,
    /// Of a function of another module.
    pub(super) origin: Option<Origin>,
}

/// How a function of another module is named.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The path that calls it, or that of a struct of its module.
    pub(super) path: TokenStream,
    /// Names of the arrays of constants and of sites there.
    pub(super) arrays: [&'static str; 2],
    /// What it, or its module, needs of the place where it stands.
    pub(super) tables: Rc<ModuleTables>,
}

/// What a function is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Wave,
    Condition,
    Helper,
}

/// How a parameter is passed.
#[derive(Debug)]
pub(super) enum Param {
    /// A value, in a variable.
    Value(VarId),
    /// A handle of the caller's.
    Handle,
    /// A wave's reference to the item's own struct or row, as a variable that lies in the buffers from this one on.
    Own(VarId, BufferId),
    /// A wave's `mut` parameter: a variable that starts as this value.
    Copy(VarId, Kind),
}

/// A buffer or the like: the wave's own, or the handle that the caller passed for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handle {
    Bound(ParamKind),
    Param(usize),
}

/// A typed expression.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) ty: Ty,
    /// First token.
    pub(super) span: Span,
}

/// Statements and a value.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stmts: Vec<Stmt>,
    pub(super) tail: Option<Box<Expr>>,
    /// One of the statements does not come back.
    pub(super) ends: bool,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Stmt {
    Let(Pat, Option<Expr>),
    Expr(Expr),
}

/// What a value is bound to.
#[derive(Clone, Debug)]
pub(super) enum Pat {
    Ignore,
    Var(VarId),
    Tuple(Vec<Pat>),
}

/// A part of a value, as MIR calls it.
#[derive(Debug)]
pub(super) enum Projection {
    Field(usize),
    /// An element; the span is where rustc says that the index is out of bounds.
    Index(Expr, Span),
}

/// What an assignment writes.
#[derive(Debug)]
pub(super) enum Place {
    /// A variable, or a part of it.
    Var(VarId, Vec<Projection>),
    /// The item's own element.
    Own(Handle),
    /// A value of the item's own row, with the place that a fault points to.
    InRow(Handle, Box<Expr>, Span),
}

/// What a `for` runs over.
#[derive(Debug)]
pub(super) enum Source {
    Range {
        start: Box<Expr>,
        end: Box<Expr>,
        inclusive: bool,
        reversed: bool,
        /// `.step_by(n)`, with the method's name.
        step: Option<(Box<Expr>, Span)>,
    },
    /// `rows.ones(v)`.
    Ones {
        rows: Handle,
        of: Box<Expr>,
        site: Span,
    },
    /// `relation.with_column(x)`: a value for each column, with its position among the scalars of a tuple.
    With {
        relation: Handle,
        columns: Vec<(usize, Expr)>,
        /// The type of a tuple.
        of: Ty,
        site: Span,
    },
    /// `g.neighbors(v)`, `g.edges(v)` or `text.row(v)`.
    Row {
        from: Handle,
        of: Box<Expr>,
        what: RowOf,
        site: Span,
    },
}

/// What a CSR method asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CsrCall {
    Query(CsrQuery),
    Degree,
}

/// One alternative of a pattern of `match`.
#[derive(Debug)]
pub(super) enum Test {
    /// Matches everything.
    Any,
    /// Equal to a literal or constant.
    Equal(Expr),
    /// Within bounds; the flag says that the upper one is included.
    Within(Option<Expr>, Option<Expr>, bool),
    /// One of these.
    Either(Vec<Test>),
    /// Each field matches its own.
    Fields(Vec<Test>),
}

/// An arm of `match`.
#[derive(Debug)]
pub(super) struct Arm {
    pub(super) test: Test,
    /// Variables, each with the part of the value (a path of field positions) that it is bound to.
    pub(super) binds: Vec<(VarId, Vec<usize>)>,
    pub(super) guard: Option<Expr>,
    pub(super) body: Expr,
}

/// An expression's kind.
#[derive(Debug)]
pub(super) enum Kind {
    /// Reported already.
    Error,
    Bool(bool),
    /// Digits without suffix; the value is taken modulo the type's width.
    Int(u128),
    /// Digits without suffix.
    Float(String),
    /// Raw bits of a literal of the expression's type.
    Bits(u64),
    /// A named constant, by its path as written.
    Constant(TokenStream),
    Var(VarId),
    Uniform(Uniform),
    Item(ItemField),
    Handle(Handle),
    /// `e.dst` of an edge handle.
    EdgeField(Handle, ItemField),
    /// `c.x`, `c.y` or `c.index` of a cell.
    CellField(Handle, CellField),
    /// `c.at(dx, dy)`
    CellAt(Handle, Box<[Expr; 2]>, Span),
    /// The item's own element.
    Own(Handle),
    Load {
        buffer: Handle,
        index: Box<Expr>,
        site: Span,
    },
    /// `points.get(i)`
    Get {
        records: Handle,
        index: Box<Expr>,
        site: Span,
    },
    /// `dist[i]` before its method.
    AtomicPlace {
        buffer: Handle,
        index: Box<Expr>,
        site: Span,
    },
    /// The place is an `AtomicPlace`.
    AtomicLoad(Box<Expr>),
    AtomicStore(Box<Expr>, Box<Expr>),
    Atomic(AtomicOp, Box<Expr>, Box<Expr>),
    CompareExchange(Box<Expr>, Box<Expr>, Box<Expr>),
    CompareAndSwap(Box<Expr>, Box<Expr>, Box<Expr>),
    Len(Handle),
    Csr {
        query: CsrCall,
        graph: Handle,
        of: Box<Expr>,
        site: Span,
    },
    /// `g.edges(v)`, `g.neighbors(v)`: where the row begins and ends among the edges.
    Row {
        graph: Handle,
        of: Box<Expr>,
        site: Span,
    },
    /// `text.row(v)`: where the row begins and ends among the values.
    RowOf {
        rows: Handle,
        of: Box<Expr>,
        site: Span,
    },
    /// The item's own row of values.
    OwnValues(Handle),
    /// `text.len()`
    RowCount(Handle),
    RowLen(Box<Expr>),
    /// `row.at(k)`
    RowAt(Box<Expr>, Box<Expr>, Span),
    /// `row.part(a..b)`
    RowPart(Box<Expr>, Box<Expr>, Box<Expr>, Span),
    /// The sum, and whether it went beyond the type; with a carry that came in.
    AddWithCarry(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `front.len()` or `list.len()` of a condition; `is_empty` when the flag is set.
    FrontierLen(Handle, bool),
    Push {
        frontier: Handle,
        value: Box<Expr>,
        site: Span,
    },
    /// `relation.insert(tuple)`: whether it is new.
    Insert {
        relation: Handle,
        value: Box<Expr>,
        site: Span,
    },
    /// `index.file(tuple)`, of the wave that fills an index.
    File {
        index: Handle,
        value: Box<Expr>,
        site: Span,
    },
    /// `relation.contains(tuple)`.
    Contains {
        relation: Handle,
        value: Box<Expr>,
        site: Span,
    },
    /// `relation.settled()`.
    Settled(Handle),
    /// `log.append(item)`: the slot.
    Append {
        list: Handle,
        value: Box<Expr>,
        site: Span,
    },
    /// A method of a row of bits; the second rows of `or_from` and its likes.
    Rows {
        rows: Handle,
        method: &'static str,
        other: Option<Handle>,
        args: Vec<Expr>,
        site: Span,
    },
    /// The whole item, where it is not a node or index.
    Record,
    /// No value: `count.inc()`.
    Reduce(Handle, Option<Box<Expr>>),
    Assert {
        cond: Box<Expr>,
        /// `debug_assert!`: only where debug assertions are on.
        debug: bool,
        message: Option<String>,
        site: Span,
    },
    /// With its message.
    Panic(Span, Option<String>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `&&`, `||` (the flag: `or`).
    Logic(bool, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    /// The span is the method's name.
    Method(Code, Vec<Expr>, Span),
    /// Of a tuple or a struct, in the order of the fields.
    Tuple(Vec<Expr>),
    /// A struct's fields in the order they are written, each with its position; the others are taken from the base.
    Struct(Vec<(usize, Expr)>, Option<Box<Expr>>),
    Array(Vec<Expr>),
    /// `[value; n]`
    Repeat(Box<Expr>, u32),
    Field(Box<Expr>, usize),
    /// `array[index]`, with the place that a fault points to.
    Element(Box<Expr>, Box<Expr>, Span),
    Assign(Place, Box<Expr>),
    AssignOp(BinaryOp, Place, Box<Expr>),
    /// Evaluated for its effects.
    Discard(Box<Expr>),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Match(Box<Expr>, Vec<Arm>),
    Block(Block),
    /// `'a: { .. }`.
    Labelled(LoopId, Box<Expr>),
    Loop(LoopId, Box<Expr>),
    While(LoopId, Box<Expr>, Box<Expr>),
    For {
        id: LoopId,
        var: Option<VarId>,
        source: Source,
        body: Box<Expr>,
    },
    Break(LoopId, Option<Box<Expr>>),
    Continue(LoopId),
    Return(Option<Box<Expr>>),
    /// With the place that `&mut self` refers to.
    Call(Rc<Function>, Vec<Expr>, Option<Place>),
}
