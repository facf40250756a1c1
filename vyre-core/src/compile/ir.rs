//! The typed, structured intermediate representation between a front end and the bytecode.
//!
//! A front end (the macros) has resolved names, inferred types and flattened everything that is not a scalar; `lower`
//! allocates registers and emits code. Evaluation order is the order of the tree, left to right; an expression never
//! assigns a local, so a front end gives effects inside operands a statement of their own.

#![allow(
    missing_docs,
    reason = "fields are named after what the variant's doc line shows"
)]

pub mod build;

use crate::vir0::isa;
use crate::vir0::module::{
    BufferId, FrontierId, ListId, MAX_FIELDS, ReductionId, Resource, SiteId, TopologyId, Uniform,
};
use crate::vir0::scalar::Scalar;
use crate::vir0::table::Index;
use crate::vir0::trap::TrapKind;

/// A mutable local variable of a body. Its type is `Body::locals[id]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A local array of a body: an index into [`Body::arrays`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

/// A local array `[scalar; len]`; it lives in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Array {
    /// Element type (never U8, as for locals).
    pub scalar: Scalar,
    /// Number of elements, at least 1. All arrays and values alive at once share [`crate::vir0::isa::MAX_ROWS`] rows.
    pub len: u32,
}

/// One kernel before register allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Function name.
    pub name: String,
    /// Types of the locals (never U8: narrow values are U32 with an explicit mask).
    pub locals: Vec<Scalar>,
    /// Local arrays. Each is assigned as a whole (`ArrayFill`, `ArrayAssign`) on every path before an element is used.
    pub arrays: Vec<Array>,
    /// Locals that hold the work item on entry.
    pub item: ItemLocals,
    /// Statements.
    pub block: Block,
    /// For an `until` condition: its bool value, evaluated after the block.
    pub value: Option<Expr>,
}

impl Body {
    /// The same for the items for which a condition about the same item holds, evaluated before it.
    ///
    /// # Panics
    /// Where the condition has no value.
    #[must_use]
    pub fn behind(mut self, mut condition: Body) -> Body {
        let by = Moved {
            locals: self.locals.len() as u32,
            arrays: self.arrays.len() as u32,
        };
        by.block(&mut condition.block);
        let mut cond = condition.value.expect("a condition has a value");
        by.expr(&mut cond);
        self.locals.append(&mut condition.locals);
        self.arrays.append(&mut condition.arrays);
        let mut block = Vec::new();
        let ItemLocals {
            index, src, dst, ..
        } = condition.item;
        let own = &mut self.item;
        for (own, asked) in [
            (&mut own.index, index),
            (&mut own.src, src),
            (&mut own.dst, dst),
        ] {
            let Some(asked) = asked.map(|l| LocalId(l.0 + by.locals)) else {
                continue;
            };
            match *own {
                Some(own) => block.push(Stmt::Assign(asked, Expr::Local(own))),
                None => *own = Some(asked),
            }
        }
        block.append(&mut condition.block);
        block.push(Stmt::If {
            cond,
            then: std::mem::take(&mut self.block),
            otherwise: Block::new(),
        });
        self.block = block;
        self
    }
}

/// How far the locals and arrays of a body are from what they were, where it has become part of another.
#[derive(Clone, Copy)]
struct Moved {
    locals: u32,
    arrays: u32,
}

impl Moved {
    fn block(self, block: &mut [Stmt]) {
        block.iter_mut().for_each(|s| self.stmt(s));
    }

    fn stmt(self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Assign(local, _) => local.0 += self.locals,
            Stmt::ArrayFill { array, .. }
            | Stmt::ArrayAssign { array, .. }
            | Stmt::ArrayStore { array, .. } => array.0 += self.arrays,
            Stmt::Store { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::CheckIndex { .. }
            | Stmt::Eval(_)
            | Stmt::Push { .. }
            | Stmt::PushItem { .. }
            | Stmt::File { .. }
            | Stmt::Reduce { .. }
            | Stmt::Assert { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return => {}
        }
        stmt.each_operand_mut(&mut |e| self.expr(e));
        stmt.each_block_mut(&mut |b| self.block(b));
    }

    fn expr(self, e: &mut Expr) {
        match e {
            Expr::Local(local) => local.0 += self.locals,
            Expr::ArrayLoad { array, .. } => array.0 += self.arrays,
            _ => {}
        }
        e.each_operand_mut(&mut |x| self.expr(x));
    }
}

/// Locals that the operator fills, u32 but for the fields; `None` when the body does not use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemLocals {
    /// Node, index, node of a frontier or edge index; of another item, its position.
    pub index: Option<LocalId>,
    /// Source of an edge.
    pub src: Option<LocalId>,
    /// Destination of an edge.
    pub dst: Option<LocalId>,
    /// Fields of an item of a list, or of a frontier of other items than nodes; of their types (U8: a U32).
    pub fields: [Option<LocalId>; MAX_FIELDS],
}

/// A statement list.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `local = expr`.
    Assign(LocalId, Expr),
    /// `array = [value; len]`.
    ArrayFill { array: ArrayId, value: Expr },
    /// `array = [values..]`, one for each element; all are evaluated before the first element changes.
    ArrayAssign { array: ArrayId, values: Vec<Expr> },
    /// `array[index] = value`: the index and the value are evaluated, then the index is checked.
    ArrayStore {
        array: ArrayId,
        index: Expr,
        value: Expr,
        site: SiteId,
    },
    /// `buffer[index] = value`.
    Store {
        buffer: BufferId,
        index: Expr,
        value: Expr,
        site: SiteId,
    },
    /// `buffer[index].store(value)`.
    AtomicStore {
        buffer: BufferId,
        index: Expr,
        value: Expr,
        site: SiteId,
    },
    /// An expression for its effect; the result is dropped (an atomic becomes a reduction without a result).
    Eval(Expr),
    /// `frontier.push(value)`.
    Push {
        frontier: FrontierId,
        value: Expr,
        site: SiteId,
    },
    /// `frontier.push(item)` of an item that is not a node: one value a field, each of its field's type (a U8 is a
    /// cast).
    PushItem {
        frontier: FrontierId,
        fields: Vec<Expr>,
        site: SiteId,
    },
    /// Adds a tuple to an index, where it stands from the next barrier on. One value a field, as for `PushItem`. It
    /// becomes a search of the keys and a store.
    File {
        index: Index,
        fields: Vec<Expr>,
        site: SiteId,
    },
    /// `reduction.add(value)` or its like; the operation is the reduction's.
    Reduce { reduction: ReductionId, value: Expr },
    /// Two-way branch.
    If {
        cond: Expr,
        then: Block,
        otherwise: Block,
    },
    /// Repeats until a `Break` or `Return`.
    Loop {
        body: Block,
        /// Its turns are no steps of work.
        short: bool,
    },
    /// Leaves the `depth`-th loop outward, 0 the innermost.
    Break { depth: u32 },
    /// Next turn of the `depth`-th loop outward.
    Continue { depth: u32 },
    /// This item is done.
    Return,
    /// Traps unless the condition holds.
    Assert {
        cond: Expr,
        kind: TrapKind,
        site: SiteId,
    },
    /// Traps as an index out of bounds unless `index < len`, both u32.
    CheckIndex {
        index: Expr,
        len: Expr,
        site: SiteId,
    },
}

/// Operand-typed unary operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Two's complement or float negation (the sign bit flips, NaN and zero included).
    Neg,
    /// Bitwise or boolean not.
    Not,
    /// Absolute value: wrapping for ints, sign bit cleared for floats.
    Abs,
    /// Number of one bits (result U32).
    CountOnes,
    /// Leading zeros (result U32).
    LeadingZeros,
    /// Trailing zeros (result U32).
    TrailingZeros,
    /// Square root.
    Sqrt,
    /// Round down.
    Floor,
    /// Round up.
    Ceil,
    /// Round to nearest, halves away from zero.
    Round,
    /// Round toward zero.
    Trunc,
    /// Round to nearest, halves to the even neighbour.
    RoundTiesEven,
    /// e to this power. Approximate, as all below: at most 2 ulp off, and the result of a pass that uses it is open.
    Exp,
    /// Natural logarithm. Approximate.
    Ln,
    /// Sine of radians. Approximate.
    Sin,
    /// Cosine of radians. Approximate.
    Cos,
}

/// Binary operation on two operands of one type (shifts and rotates: U32 right operand).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Wrapping.
    Add,
    /// Wrapping.
    Sub,
    /// Wrapping.
    Mul,
    /// Traps on zero (and `MIN / -1`) for integers.
    Div,
    /// Traps as `Div`.
    Rem,
    /// `wrapping_div`: traps on zero only.
    WrappingDiv,
    /// `wrapping_rem`: traps on zero only.
    WrappingRem,
    /// `saturating_add`.
    SaturatingAdd,
    /// `saturating_sub`.
    SaturatingSub,
    /// `saturating_mul`.
    SaturatingMul,
    /// The distance, as the unsigned type of the same width: for a signed type, bit-cast the result.
    AbsDiff,
    /// Bitwise, or non-short-circuit boolean.
    And,
    /// Bitwise or boolean.
    Or,
    /// Bitwise or boolean.
    Xor,
    /// Left shift, amount masked.
    Shl,
    /// Right shift, amount masked; sign fill for signed types.
    Shr,
    /// Rotate left.
    RotateLeft,
    /// Rotate right.
    RotateRight,
    /// Smaller; a NaN loses.
    Min,
    /// Larger; a NaN loses.
    Max,
}

/// Comparison of two operands of one type; the result is Bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the six comparisons")]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Read-modify-write operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the usual atomics")]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Swap,
}

/// What to ask of a CSR topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CsrQuery {
    /// First edge index of a node.
    Begin,
    /// One past its last edge index.
    End,
    /// Target of an edge.
    Target,
}

impl CsrQuery {
    /// Whether the answer is the number of an edge, or one past the last.
    pub fn is_edge(self) -> bool {
        match self {
            CsrQuery::Begin | CsrQuery::End => true,
            CsrQuery::Target => false,
        }
    }
}

/// An expression. Types are explicit where the operands do not fix the operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A literal: raw bits as in [`crate::vir0::module::Constant`].
    Literal(Scalar, u64),
    /// A uniform value.
    Uniform(Uniform, Scalar),
    /// A local.
    Local(LocalId),
    /// Unary operation; the scalar is the operand's type.
    Unary(UnaryOp, Scalar, Box<Expr>),
    /// Binary operation; the scalar is the left operand's type.
    Binary {
        op: BinaryOp,
        scalar: Scalar,
        left: Box<Expr>,
        right: Box<Expr>,
        site: Option<SiteId>,
    },
    /// Comparison; the scalar is the operands' type.
    Compare {
        op: CompareOp,
        scalar: Scalar,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a * b + c` rounded once.
    MulAdd {
        scalar: Scalar,
        a: Box<Expr>,
        b: Box<Expr>,
        c: Box<Expr>,
    },
    /// `cond ? then : otherwise`, both evaluated; the scalar is the result's type.
    Select {
        scalar: Scalar,
        cond: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// Rust's `as`.
    Cast {
        from: Scalar,
        to: Scalar,
        value: Box<Expr>,
    },
    /// Same bits, other type of the same width.
    Bitcast {
        from: Scalar,
        to: Scalar,
        value: Box<Expr>,
    },
    /// `array[index]`; the scalar is the element's.
    ArrayLoad {
        array: ArrayId,
        scalar: Scalar,
        index: Box<Expr>,
        site: SiteId,
    },
    /// `buffer[index]`.
    Load {
        buffer: BufferId,
        scalar: Scalar,
        index: Box<Expr>,
        site: SiteId,
    },
    /// `buffer[index].load()`.
    AtomicLoad {
        buffer: BufferId,
        scalar: Scalar,
        index: Box<Expr>,
        site: SiteId,
    },
    /// `buffer[index].fetch_op(value)`: the old value.
    Atomic {
        op: AtomicOp,
        buffer: BufferId,
        scalar: Scalar,
        index: Box<Expr>,
        value: Box<Expr>,
        site: SiteId,
    },
    /// `buffer[index].compare_exchange(expected, new)`: whether it was stored.
    CompareExchange {
        buffer: BufferId,
        scalar: Scalar,
        index: Box<Expr>,
        expected: Box<Expr>,
        new: Box<Expr>,
        site: SiteId,
    },
    /// `list.append(item)`: the slot, u32. One value a field, as for `PushItem`.
    Append {
        list: ListId,
        fields: Vec<Expr>,
        site: SiteId,
    },
    /// `relation.insert(tuple)`: whether it is new. One value a field, as for `PushItem`. It becomes a search of the
    /// table, and an append where the tuple is new.
    Insert {
        list: ListId,
        table: BufferId,
        fields: Vec<Expr>,
        site: SiteId,
    },
    /// `relation.contains(tuple)`.
    Contains {
        table: BufferId,
        fields: Vec<Expr>,
        site: SiteId,
    },
    /// A cell of an index, u64, which holds a tuple; the loop whose body this is directly part of goes over the tuples
    /// of a key, in an order that may be another one in the next run.
    Entry {
        index: BufferId,
        at: Box<Expr>,
        site: SiteId,
    },
    /// `buffer.len()`, u32.
    Len(BufferId),
    /// A CSR query, u32.
    Csr {
        query: CsrQuery,
        topology: TopologyId,
        of: Box<Expr>,
        site: SiteId,
    },
}

impl Expr {
    /// Its direct operands, in evaluation order.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        let (few, fields): ([Option<&Expr>; 3], &[Expr]) = match self {
            Expr::Literal(..) | Expr::Uniform(..) | Expr::Local(_) | Expr::Len(_) => {
                ([None; 3], &[])
            }
            Expr::Append { fields, .. }
            | Expr::Insert { fields, .. }
            | Expr::Contains { fields, .. } => ([None; 3], fields),
            Expr::Unary(_, _, x)
            | Expr::Cast { value: x, .. }
            | Expr::Bitcast { value: x, .. }
            | Expr::ArrayLoad { index: x, .. }
            | Expr::Load { index: x, .. }
            | Expr::AtomicLoad { index: x, .. }
            | Expr::Entry { at: x, .. }
            | Expr::Csr { of: x, .. } => ([Some(x), None, None], &[]),
            Expr::Binary {
                left: x, right: y, ..
            }
            | Expr::Compare {
                left: x, right: y, ..
            }
            | Expr::Atomic {
                index: x, value: y, ..
            } => ([Some(x), Some(y), None], &[]),
            Expr::MulAdd {
                a: x, b: y, c: z, ..
            }
            | Expr::Select {
                cond: x,
                then: y,
                otherwise: z,
                ..
            }
            | Expr::CompareExchange {
                index: x,
                expected: y,
                new: z,
                ..
            } => ([Some(x), Some(y), Some(z)], &[]),
        };
        few.into_iter().flatten().chain(fields)
    }

    /// [`Expr::operands`] to change.
    pub(super) fn each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Literal(..) | Expr::Uniform(..) | Expr::Local(_) | Expr::Len(_) => {}
            Expr::Append { fields, .. }
            | Expr::Insert { fields, .. }
            | Expr::Contains { fields, .. } => fields.iter_mut().for_each(f),
            Expr::Unary(_, _, x)
            | Expr::Cast { value: x, .. }
            | Expr::Bitcast { value: x, .. }
            | Expr::ArrayLoad { index: x, .. }
            | Expr::Load { index: x, .. }
            | Expr::AtomicLoad { index: x, .. }
            | Expr::Entry { at: x, .. }
            | Expr::Csr { of: x, .. } => f(x),
            Expr::Binary {
                left: x, right: y, ..
            }
            | Expr::Compare {
                left: x, right: y, ..
            }
            | Expr::Atomic {
                index: x, value: y, ..
            } => {
                f(x);
                f(y);
            }
            Expr::MulAdd {
                a: x, b: y, c: z, ..
            }
            | Expr::Select {
                cond: x,
                then: y,
                otherwise: z,
                ..
            }
            | Expr::CompareExchange {
                index: x,
                expected: y,
                new: z,
                ..
            } => {
                f(x);
                f(y);
                f(z);
            }
        }
    }

    /// What it does itself; what its operands do comes before.
    pub fn effect(&self) -> Effect<'_> {
        let element = |buffer: &BufferId, index, site: &SiteId, how| {
            Effect::Element(Element {
                buffer: *buffer,
                index,
                site: *site,
                how,
            })
        };
        match self {
            Expr::Load {
                buffer,
                index,
                site,
                ..
            } => element(buffer, index, site, isa::Effect::Load),
            Expr::Entry { index, at, site } => element(index, at, site, isa::Effect::Load),
            Expr::AtomicLoad {
                buffer,
                index,
                site,
                ..
            } => element(buffer, index, site, isa::Effect::AtomicLoad),
            Expr::Atomic {
                op,
                buffer,
                index,
                site,
                ..
            } => {
                let how = match op {
                    AtomicOp::Swap => isa::Effect::Exchange,
                    AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => {
                        isa::Effect::Update
                    }
                    AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => isa::Effect::Update,
                };
                element(buffer, index, site, how)
            }
            Expr::CompareExchange {
                buffer,
                index,
                site,
                ..
            } => element(buffer, index, site, isa::Effect::Exchange),
            Expr::Append { list, site, .. } => Effect::Append(*list, *site),
            Expr::Insert { list, site, .. } => Effect::Insert(*list, *site),
            Expr::Contains { table, site, .. } => Effect::Contains(*table, *site),
            Expr::Len(buffer) => Effect::Ask(Resource::Buffer(*buffer)),
            Expr::Csr { topology, .. } => Effect::Ask(Resource::Topology(*topology)),
            Expr::Literal(..)
            | Expr::Uniform(..)
            | Expr::Local(_)
            | Expr::ArrayLoad { .. }
            | Expr::Unary(..)
            | Expr::Binary { .. }
            | Expr::Compare { .. }
            | Expr::MulAdd { .. }
            | Expr::Select { .. }
            | Expr::Cast { .. }
            | Expr::Bitcast { .. } => Effect::No,
        }
    }

    /// Its type; a local's comes from [`Body::locals`].
    pub fn scalar(&self, locals: &[Scalar]) -> Scalar {
        match self {
            Expr::Local(l) => locals[l.0 as usize],
            Expr::Unary(
                UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros,
                ..,
            )
            | Expr::Append { .. }
            | Expr::Len(_)
            | Expr::Csr { .. } => Scalar::U32,
            Expr::Compare { .. }
            | Expr::CompareExchange { .. }
            | Expr::Insert { .. }
            | Expr::Contains { .. } => Scalar::Bool,
            Expr::Entry { .. } => Scalar::U64,
            Expr::Literal(s, _)
            | Expr::Uniform(_, s)
            | Expr::Unary(_, s, _)
            | Expr::Binary { scalar: s, .. }
            | Expr::MulAdd { scalar: s, .. }
            | Expr::Select { scalar: s, .. }
            | Expr::Cast { to: s, .. }
            | Expr::Bitcast { to: s, .. }
            | Expr::ArrayLoad { scalar: s, .. }
            | Expr::Load { scalar: s, .. }
            | Expr::AtomicLoad { scalar: s, .. }
            | Expr::Atomic { scalar: s, .. } => *s,
        }
    }
}

/// What a statement or an expression does itself, besides what its operands and its blocks do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect<'e> {
    /// Nothing: a value is made, or a trap is raised.
    No,
    /// Assigns a local.
    Local(LocalId),
    /// Writes elements of a local array.
    Array(ArrayId),
    /// Asks what no wave changes.
    Ask(Resource),
    /// Reads or changes an element of a buffer.
    Element(Element<'e>),
    /// Adds an item to the next round of a frontier: this node, or one of fields.
    Push(FrontierId, Option<&'e Expr>, SiteId),
    /// Adds an item to a list.
    Append(ListId, SiteId),
    /// Adds a tuple to a relation that does not have it.
    Insert(ListId, SiteId),
    /// Looks for a tuple in the table of a relation.
    Contains(BufferId, SiteId),
    /// Adds a tuple to an index.
    File(BufferId, SiteId),
    /// Takes a value into a reduction.
    Reduce(ReductionId),
    /// The item goes on elsewhere than behind the statement.
    Jump,
}

/// An access to an element of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element<'e> {
    pub buffer: BufferId,
    pub index: &'e Expr,
    pub site: SiteId,
    /// The effect of the instruction that it becomes.
    pub how: isa::Effect,
}

/// What is directly in a statement.
#[derive(Clone, Copy, Default)]
struct Children<'e> {
    /// Its expressions, in evaluation order: a few, or a list.
    few: [Option<&'e Expr>; 2],
    list: &'e [Expr],
    blocks: [&'e [Stmt]; 2],
}

impl Stmt {
    fn children(&self) -> Children<'_> {
        let none = Children::default();
        let some = |few| Children { few, ..none };
        match self {
            Stmt::Assign(_, x)
            | Stmt::Eval(x)
            | Stmt::ArrayFill { value: x, .. }
            | Stmt::Push { value: x, .. }
            | Stmt::Reduce { value: x, .. }
            | Stmt::Assert { cond: x, .. } => some([Some(x), None]),
            Stmt::ArrayStore { index, value, .. }
            | Stmt::Store { index, value, .. }
            | Stmt::AtomicStore { index, value, .. }
            | Stmt::CheckIndex {
                index, len: value, ..
            } => some([Some(index), Some(value)]),
            Stmt::ArrayAssign { values, .. }
            | Stmt::PushItem { fields: values, .. }
            | Stmt::File { fields: values, .. } => Children {
                list: values,
                ..none
            },
            Stmt::If {
                cond,
                then,
                otherwise,
            } => Children {
                blocks: [then, otherwise],
                ..some([Some(cond), None])
            },
            Stmt::Loop { body, .. } => Children {
                blocks: [body, &[]],
                ..none
            },
            Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return => none,
        }
    }

    /// The expressions that are directly part of the statement, in evaluation order.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        let Children { few, list, .. } = self.children();
        few.into_iter().flatten().chain(list)
    }

    /// The blocks inside the statement.
    pub fn blocks(&self) -> impl Iterator<Item = &[Stmt]> {
        self.children().blocks.into_iter()
    }

    /// [`Stmt::operands`] to change.
    pub(super) fn each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Stmt::Assign(_, x)
            | Stmt::Eval(x)
            | Stmt::ArrayFill { value: x, .. }
            | Stmt::Push { value: x, .. }
            | Stmt::Reduce { value: x, .. }
            | Stmt::Assert { cond: x, .. }
            | Stmt::If { cond: x, .. } => f(x),
            Stmt::ArrayStore { index, value, .. }
            | Stmt::Store { index, value, .. }
            | Stmt::AtomicStore { index, value, .. }
            | Stmt::CheckIndex {
                index, len: value, ..
            } => {
                f(index);
                f(value);
            }
            Stmt::ArrayAssign { values, .. }
            | Stmt::PushItem { fields: values, .. }
            | Stmt::File { fields: values, .. } => values.iter_mut().for_each(f),
            Stmt::Loop { .. } | Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return => {}
        }
    }

    /// [`Stmt::blocks`] to change.
    pub(super) fn each_block_mut(&mut self, f: &mut dyn FnMut(&mut Block)) {
        match self {
            Stmt::If {
                then, otherwise, ..
            } => {
                f(then);
                f(otherwise);
            }
            Stmt::Loop { body, .. } => f(body),
            _ => {}
        }
    }

    /// What it does itself, after what its operands do.
    pub fn effect(&self) -> Effect<'_> {
        match self {
            Stmt::Assign(local, _) => Effect::Local(*local),
            Stmt::ArrayFill { array, .. }
            | Stmt::ArrayAssign { array, .. }
            | Stmt::ArrayStore { array, .. } => Effect::Array(*array),
            Stmt::Store {
                buffer,
                index,
                site,
                ..
            } => Effect::Element(Element {
                buffer: *buffer,
                index,
                site: *site,
                how: isa::Effect::Store,
            }),
            Stmt::AtomicStore {
                buffer,
                index,
                site,
                ..
            } => Effect::Element(Element {
                buffer: *buffer,
                index,
                site: *site,
                how: isa::Effect::AtomicStore,
            }),
            Stmt::Push {
                frontier,
                value,
                site,
            } => Effect::Push(*frontier, Some(value), *site),
            Stmt::PushItem { frontier, site, .. } => Effect::Push(*frontier, None, *site),
            Stmt::File { index, site, .. } => Effect::File(index.cells, *site),
            Stmt::Reduce { reduction, .. } => Effect::Reduce(*reduction),
            Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return => Effect::Jump,
            Stmt::Eval(_)
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::Assert { .. }
            | Stmt::CheckIndex { .. } => Effect::No,
        }
    }
}
