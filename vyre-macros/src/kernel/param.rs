//! Parameters of waves and helpers: their types as they are written, and what they are.
//!
//! [`ParamKind`] goes with a parameter through all stages: the check of a wave's signature finds it, the body's names
//! stand for it, the lowering takes its ids, and the glue makes the value that the native function gets. What a stage
//! wants to know of a kind is a method here, so that a new kind is one row in each, and then the code that it alone
//! needs.

use crate::tokens::show;
use std::fmt;
use syn::{GenericArgument, PathArguments, Type};
use vyre_core::vir0::module::{
    BufferId, FixpointId, FrontierId, ListId, QueueId, ReduceOp, ReductionId, Resource, ScalarId,
    TopologyId, Uniform, Width,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::table::Index;

/// The words of the kernel language, which the prelude brings: types of parameters, and of fields of `Data`.
pub(crate) const WORDS: [&str; 26] = [
    "And", "Append", "Atomic", "Bits", "Buf", "Cell", "Count", "Csr", "Edge", "Frontier", "Index",
    "Insert", "List", "Lookup", "Max", "Min", "Node", "Or", "Push", "Records", "Reduce",
    "Relation", "Round", "Row", "Rows", "Sum",
];

/// The indexes of a relation. They stay until the compiler ends, so that a kind of parameter is a value like the others.
pub(crate) type Indexes = &'static [Index];

/// What a parameter of a wave is, or a name in an `until` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamKind {
    /// `v: Node`, `i: Index`: the item as a u32.
    Index,
    /// `e: Edge`: the item, with the fields `src`, `dst`, `index`.
    Edge,
    /// `c: Cell`: the item of a grid with these sides, with the fields `x`, `y`, `index`.
    Cell { width: Width, height: Width },
    /// The item of a list, or of a frontier whose items are not nodes.
    Record,
    /// `round: Round`, or the name of the innermost fixpoint.
    Round,
    /// `phases: Round` of a fixpoint around the innermost one.
    OuterRound(FixpointId),
    /// `a: T` of a scalar of the run.
    Scalar(ScalarId, Scalar),
    /// `sum: T` of a reduction that is finished.
    Reduced(ReductionId, Scalar),
    /// `x: &T`, `x: &mut T`: the item's own element.
    Own {
        buffer: BufferId,
        scalar: Scalar,
        mutable: bool,
    },
    /// `row: &[T; K]`, `row: &mut [T; K]`: the item's own `K` elements.
    OwnRow { buffer: BufferId, mutable: bool },
    /// `row: &Row<T>`, `row: &mut Row<T>`: the item's own row of values, of differing length.
    OwnValues {
        offsets: BufferId,
        values: BufferId,
        scalar: Scalar,
        mutable: bool,
    },
    /// `p: &T`, `p: &mut T` of a struct: the item's own element, its scalars in consecutive buffers.
    OwnRecord {
        first: BufferId,
        count: u16,
        mutable: bool,
    },
    /// `xs: &Buf<T>`.
    Buf { buffer: BufferId, scalar: Scalar },
    /// `xs: &Buf<Atomic<T>>`.
    AtomicBuf { buffer: BufferId, scalar: Scalar },
    /// `ps: &Records<T>`, its scalars in consecutive buffers.
    Records { first: BufferId, count: u16 },
    /// `xs: &Records<[T; N]>`, all values in one buffer.
    Arrays {
        buffer: BufferId,
        scalar: Scalar,
        len: u32,
    },
    /// `text: &Rows<T>`.
    Rows {
        offsets: BufferId,
        values: BufferId,
        scalar: Scalar,
    },
    /// `rows: &Bits`.
    Bits { buffer: BufferId, width: Width },
    /// `g: &Csr`.
    Csr(TopologyId),
    /// `out: &Push`.
    Push(FrontierId),
    /// `out: &Push<T>` of a frontier whose items are not nodes.
    PushItems(FrontierId),
    /// `log: &Append<T>`.
    Append(ListId),
    /// `path: &Insert<T>`: the list of the relation, its table, and its indexes.
    Insert(ListId, BufferId, Indexes),
    /// `path: &Lookup<T>`: the same.
    Lookup(ListId, BufferId, Indexes),
    /// `index: &Filing<T>`, of the wave that adds tuples to an index.
    Filing(Index),
    /// `s: &Reduce<..>`; `count` for `Count`.
    Reduce {
        id: ReductionId,
        op: ReduceOp,
        scalar: Scalar,
        count: bool,
    },
    /// A queue in an `until` condition: `len()`, `is_empty()`.
    Queue(QueueId),
    /// A relation there: `settled()`, too.
    Relation(ListId),
}

impl ParamKind {
    /// Whether it is how a wave gets at a resource.
    pub(crate) fn takes(self, resource: Resource) -> bool {
        let buffers = |first: BufferId, count: u16| match resource {
            Resource::Buffer(b) => (first.0..first.0 + count).contains(&b.0),
            _ => false,
        };
        match self {
            ParamKind::Index
            | ParamKind::Edge
            | ParamKind::Cell { .. }
            | ParamKind::Record
            | ParamKind::Round
            | ParamKind::OuterRound(_)
            | ParamKind::Scalar(..) => false,
            ParamKind::Own { buffer, .. }
            | ParamKind::OwnRow { buffer, .. }
            | ParamKind::Buf { buffer, .. }
            | ParamKind::Arrays { buffer, .. }
            | ParamKind::Bits { buffer, .. }
            | ParamKind::AtomicBuf { buffer, .. } => buffers(buffer, 1),
            ParamKind::OwnRecord { first, count, .. } | ParamKind::Records { first, count } => {
                buffers(first, count)
            }
            ParamKind::Rows { offsets, .. } => buffers(offsets, 2),
            ParamKind::OwnValues {
                offsets, values, ..
            } => buffers(offsets, 1) || buffers(values, 1),
            ParamKind::Csr(t) => resource == Resource::Topology(t),
            ParamKind::Push(f) | ParamKind::PushItems(f) => resource == f.into(),
            ParamKind::Append(l) | ParamKind::Relation(l) => resource == l.into(),
            ParamKind::Insert(l, table, indexes) => {
                let walked = indexes.iter().any(|i| buffers(i.cells, 1));
                resource == l.into() || buffers(table, 1) || walked
            }
            ParamKind::Lookup(_, table, indexes) => {
                let walked = indexes.iter().any(|i| buffers(i.cells, 1));
                buffers(table, 1) || walked
            }
            ParamKind::Filing(index) => buffers(index.cells, 1),
            ParamKind::Queue(q) => resource == q.into(),
            ParamKind::Reduced(id, _) | ParamKind::Reduce { id, .. } => {
                resource == Resource::Reduction(id)
            }
        }
    }

    /// What its name stands for in the body.
    pub(super) fn meaning(self) -> Meaning {
        match self {
            ParamKind::Index => Meaning::Index,
            ParamKind::Round => Meaning::Uniform(Uniform::Round, Scalar::U32),
            ParamKind::OuterRound(of) => Meaning::Uniform(Uniform::OuterRound(of), Scalar::U32),
            ParamKind::Scalar(id, scalar) => Meaning::Uniform(Uniform::Scalar(id), scalar),
            ParamKind::Reduced(id, scalar) => Meaning::Uniform(Uniform::Reduction(id), scalar),
            ParamKind::Edge => Meaning::Handle(HandleTy::Edge),
            ParamKind::Cell { .. } => Meaning::Handle(HandleTy::Cell),
            ParamKind::Own {
                scalar, mutable, ..
            } => Meaning::Handle(HandleTy::Own { scalar, mutable }),
            ParamKind::Buf { scalar, .. } => Meaning::Handle(HandleTy::Buf(scalar)),
            ParamKind::AtomicBuf { scalar, .. } => Meaning::Handle(HandleTy::AtomicBuf(scalar)),
            ParamKind::OwnValues {
                scalar, mutable, ..
            } => Meaning::Handle(HandleTy::OwnValues { scalar, mutable }),
            ParamKind::Rows { scalar, .. } => Meaning::Handle(HandleTy::Rows(scalar)),
            ParamKind::Bits { .. } => Meaning::Handle(HandleTy::Bits),
            ParamKind::Csr(_) => Meaning::Handle(HandleTy::Csr),
            ParamKind::Push(_) => Meaning::Handle(HandleTy::Push),
            ParamKind::Reduce {
                op, scalar, count, ..
            } => Meaning::Handle(HandleTy::Reduce { op, scalar, count }),
            ParamKind::Queue(QueueId::Frontier(_)) => Meaning::Handle(HandleTy::Frontier),
            ParamKind::Queue(QueueId::List(_)) => Meaning::Handle(HandleTy::List),
            ParamKind::Relation(_) => Meaning::Handle(HandleTy::Relation),
            ParamKind::Record => Meaning::Struct,
            ParamKind::OwnRecord { first, mutable, .. }
            | ParamKind::OwnRow {
                buffer: first,
                mutable,
            } => Meaning::Referred { first, mutable },
            ParamKind::Records { .. }
            | ParamKind::Arrays { .. }
            | ParamKind::PushItems(_)
            | ParamKind::Insert(..)
            | ParamKind::Lookup(..)
            | ParamKind::Filing(_)
            | ParamKind::Append(_) => Meaning::HandleOfStructs,
        }
    }

    /// Something that a helper's parameter of this type can stand for, where the helper is not called.
    pub(super) fn any(of: HandleTy) -> ParamKind {
        let buffer = BufferId(0);
        match of {
            HandleTy::Edge => ParamKind::Edge,
            HandleTy::Cell => ParamKind::Cell {
                width: Width::Fixed(1),
                height: Width::Fixed(1),
            },
            HandleTy::Own { scalar, mutable } => ParamKind::Own {
                buffer,
                scalar,
                mutable,
            },
            HandleTy::Buf(scalar) => ParamKind::Buf { buffer, scalar },
            HandleTy::AtomicBuf(scalar) | HandleTy::Atomic(scalar) => {
                ParamKind::AtomicBuf { buffer, scalar }
            }
            HandleTy::Csr => ParamKind::Csr(TopologyId(0)),
            HandleTy::Push => ParamKind::Push(FrontierId(0)),
            HandleTy::PushItems(_) => ParamKind::PushItems(FrontierId(0)),
            HandleTy::Append(_) => ParamKind::Append(ListId(0)),
            HandleTy::Insert(_) => ParamKind::Insert(ListId(0), buffer, &[]),
            HandleTy::Lookup(_) => ParamKind::Lookup(ListId(0), buffer, &[]),
            HandleTy::Filing(_) => ParamKind::Filing(Index {
                cells: buffer,
                mask: 0,
            }),
            HandleTy::Records(_) => ParamKind::Records {
                first: buffer,
                count: 1,
            },
            HandleTy::OwnValues { scalar, mutable } => ParamKind::OwnValues {
                offsets: buffer,
                values: buffer,
                scalar,
                mutable,
            },
            HandleTy::Rows(scalar) => ParamKind::Rows {
                offsets: buffer,
                values: buffer,
                scalar,
            },
            HandleTy::Bits => ParamKind::Bits {
                buffer,
                width: Width::Fixed(32),
            },
            HandleTy::Reduce { op, scalar, count } => ParamKind::Reduce {
                id: ReductionId(0),
                op,
                scalar,
                count,
            },
            HandleTy::Frontier => ParamKind::Queue(FrontierId(0).into()),
            HandleTy::List => ParamKind::Queue(ListId(0).into()),
            HandleTy::Relation => ParamKind::Relation(ListId(0)),
        }
    }
}

/// The type of something that is not a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HandleTy {
    Edge,
    Cell,
    Own {
        scalar: Scalar,
        mutable: bool,
    },
    Buf(Scalar),
    AtomicBuf(Scalar),
    /// An element of an atomic buffer.
    Atomic(Scalar),
    Csr,
    Push,
    /// Of items of a type that [`super::Helpers`] numbers.
    PushItems(usize),
    Append(usize),
    Insert(usize),
    Lookup(usize),
    Filing(usize),
    Records(usize),
    /// Rows of differing lengths.
    Rows(Scalar),
    /// The item's own one.
    OwnValues {
        scalar: Scalar,
        mutable: bool,
    },
    Bits,
    Reduce {
        op: ReduceOp,
        scalar: Scalar,
        count: bool,
    },
    Frontier,
    List,
    Relation,
}

impl fmt::Display for HandleTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandleTy::Edge => write!(f, "Edge"),
            HandleTy::Cell => write!(f, "Cell"),
            HandleTy::Own {
                scalar,
                mutable: false,
            } => write!(f, "&{}", scalar.name()),
            HandleTy::Own {
                scalar,
                mutable: true,
            } => write!(f, "&mut {}", scalar.name()),
            HandleTy::Buf(s) => write!(f, "&Buf<{}>", s.name()),
            HandleTy::AtomicBuf(s) => write!(f, "&Buf<Atomic<{}>>", s.name()),
            HandleTy::Atomic(s) => write!(f, "Atomic<{}>", s.name()),
            HandleTy::Csr => write!(f, "&Csr"),
            HandleTy::Push => write!(f, "&Push"),
            HandleTy::PushItems(_) => write!(f, "&Push<_>"),
            HandleTy::Append(_) => write!(f, "&Append<_>"),
            HandleTy::Insert(_) => write!(f, "&Insert<_>"),
            HandleTy::Lookup(_) => write!(f, "&Lookup<_>"),
            HandleTy::Filing(_) => write!(f, "&Filing<_>"),
            HandleTy::Records(_) => write!(f, "&Records<_>"),
            HandleTy::Rows(s) => write!(f, "&Rows<{}>", s.name()),
            HandleTy::OwnValues {
                scalar,
                mutable: false,
            } => write!(f, "&Row<{}>", scalar.name()),
            HandleTy::OwnValues {
                scalar,
                mutable: true,
            } => write!(f, "&mut Row<{}>", scalar.name()),
            HandleTy::Bits => write!(f, "&Bits"),
            HandleTy::Reduce { count: true, .. } => write!(f, "&Reduce<Count>"),
            HandleTy::Reduce { op, scalar, .. } => write!(f, "&Reduce<{op:?}<{}>>", scalar.name()),
            HandleTy::Frontier => write!(f, "Frontier"),
            HandleTy::List => write!(f, "List"),
            HandleTy::Relation => write!(f, "Relation"),
        }
    }
}

/// What a parameter's name stands for in the body.
pub(super) enum Meaning {
    /// The item, a u32.
    Index,
    /// A value that all lanes share.
    Uniform(Uniform, Scalar),
    /// Something with methods or elements.
    Handle(HandleTy),
    /// A struct, of the type in the signature.
    Struct,
    /// The item's own struct or row, of the type in the signature: the scalars of a struct are in the buffers from this
    /// one on.
    Referred { first: BufferId, mutable: bool },
    /// A handle with the type of its structs in the signature.
    HandleOfStructs,
}

/// A parameter's type as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Node,
    Index,
    Round,
    Edge,
    Cell,
    Value(Scalar),
    Ref(Scalar),
    RefMut(Scalar),
    /// `&[T; K]`, or with the flag `&mut [T; K]`.
    Row(Scalar, bool),
    Buf(Scalar),
    AtomicBuf(Scalar),
    Csr,
    Push,
    /// `&Push<T>`
    PushItems,
    /// `&Rows<T>`
    Rows(Scalar),
    /// `&Row<T>`, or with the flag `&mut Row<T>`.
    Values(Scalar, bool),
    Bits,
    Append,
    /// `&Insert<T>`
    Insert,
    /// `&Lookup<T>`
    Lookup,
    /// `&Filing<T>`
    Filing,
    /// `&Records<T>`
    Records,
    Reduce(ReduceOp, Scalar, bool),
    Other,
}

impl Written {
    /// The type of a helper's parameter; `None` where it is a value, or a handle of [`Written::of_items`].
    pub(super) fn handle(self) -> Option<HandleTy> {
        match self {
            Written::Edge => Some(HandleTy::Edge),
            Written::Cell => Some(HandleTy::Cell),
            Written::Ref(scalar) => Some(HandleTy::Own {
                scalar,
                mutable: false,
            }),
            Written::RefMut(scalar) => Some(HandleTy::Own {
                scalar,
                mutable: true,
            }),
            Written::Buf(scalar) => Some(HandleTy::Buf(scalar)),
            Written::AtomicBuf(scalar) => Some(HandleTy::AtomicBuf(scalar)),
            Written::Csr => Some(HandleTy::Csr),
            Written::Push => Some(HandleTy::Push),
            Written::Rows(scalar) => Some(HandleTy::Rows(scalar)),
            Written::Bits => Some(HandleTy::Bits),
            Written::Reduce(op, scalar, count) => Some(HandleTy::Reduce { op, scalar, count }),
            Written::Node
            | Written::Index
            | Written::Round
            | Written::Value(_)
            | Written::Row(..)
            | Written::Values(..)
            | Written::PushItems
            | Written::Append
            | Written::Insert
            | Written::Lookup
            | Written::Filing
            | Written::Records
            | Written::Other => None,
        }
    }

    /// The type of a handle of structs, given the number that [`super::Helpers`] has for their type.
    pub(super) fn of_items(self) -> Option<fn(usize) -> HandleTy> {
        match self {
            Written::PushItems => Some(HandleTy::PushItems),
            Written::Append => Some(HandleTy::Append),
            Written::Insert => Some(HandleTy::Insert),
            Written::Lookup => Some(HandleTy::Lookup),
            Written::Filing => Some(HandleTy::Filing),
            Written::Records => Some(HandleTy::Records),
            Written::Node
            | Written::Index
            | Written::Round
            | Written::Edge
            | Written::Cell
            | Written::Value(_)
            | Written::Ref(_)
            | Written::RefMut(_)
            | Written::Row(..)
            | Written::Values(..)
            | Written::Buf(_)
            | Written::AtomicBuf(_)
            | Written::Csr
            | Written::Push
            | Written::Rows(_)
            | Written::Bits
            | Written::Reduce(..)
            | Written::Other => None,
        }
    }

    /// As a value of a scalar type, aliases included.
    pub(crate) fn value(&self) -> Option<Scalar> {
        match self {
            Written::Node | Written::Index | Written::Round => Some(Scalar::U32),
            Written::Value(s) => Some(*s),
            _ => None,
        }
    }
}

/// What a parameter's type says.
pub(crate) fn written(ty: &Type) -> Written {
    match ty {
        Type::Paren(p) => written(&p.elem),
        Type::Path(_) => match type_word(ty).as_deref() {
            Some("Node") => Written::Node,
            Some("Index") => Written::Index,
            Some("Round") => Written::Round,
            Some("Edge") => Written::Edge,
            Some("Cell") => Written::Cell,
            _ => scalar_of(ty).map_or(Written::Other, Written::Value),
        },
        Type::Reference(r) => {
            let mutable = r.mutability.is_some();
            if let Some(scalar) = scalar_of(&r.elem) {
                return if mutable {
                    Written::RefMut(scalar)
                } else {
                    Written::Ref(scalar)
                };
            }
            if let Type::Array(a) = &*r.elem {
                let row = |scalar| Written::Row(scalar, mutable);
                return scalar_of(&a.elem).map_or(Written::Other, row);
            }
            if let Some(value) = item_of(&r.elem, "Row")
                && let Some(scalar) = scalar_of(value)
            {
                return Written::Values(scalar, mutable);
            }
            if mutable {
                return Written::Other;
            }
            behind_reference(&r.elem)
        }
        _ => Written::Other,
    }
}

/// The same of a helper's parameter, where `&mut` of something that is not a value is rustc's to refuse.
pub(super) fn written_of_helper(ty: &Type) -> Written {
    match ty {
        Type::Paren(p) => written_of_helper(&p.elem),
        Type::Reference(r) if scalar_of(&r.elem).is_none() => behind_reference(&r.elem),
        _ => written(ty),
    }
}

/// What a type behind `&` says, which is no scalar.
fn behind_reference(ty: &Type) -> Written {
    match type_word(ty).as_deref() {
        Some("Csr") => return Written::Csr,
        Some("Push") => return Written::Push,
        Some("Bits") => return Written::Bits,
        _ => {}
    }
    match generic(ty) {
        Some((word, arg)) => match (word.as_str(), scalar_of(arg)) {
            ("Buf", Some(scalar)) => Written::Buf(scalar),
            ("Buf", None) => match generic(arg) {
                Some((inner, arg)) if inner == "Atomic" => {
                    scalar_of(arg).map_or(Written::Other, Written::AtomicBuf)
                }
                _ => Written::Other,
            },
            ("Rows", Some(scalar)) => Written::Rows(scalar),
            ("Append", _) => Written::Append,
            ("Insert", _) => Written::Insert,
            ("Lookup", _) => Written::Lookup,
            ("Filing", _) => Written::Filing,
            ("Records", _) => Written::Records,
            ("Push", _) if type_word(arg).as_deref() == Some("Node") => Written::Push,
            ("Push", _) => Written::PushItems,
            ("Reduce", _) => {
                reduce_marker(arg).map_or(Written::Other, |(op, s, c)| Written::Reduce(op, s, c))
            }
            _ => Written::Other,
        },
        None => Written::Other,
    }
}

/// The type of the items of `&Push<T>` or `&Append<T>`, as written.
pub(crate) fn written_item(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Paren(p) => written_item(&p.elem),
        Type::Reference(r) => generic(&r.elem).map(|(_, item)| item),
        _ => None,
    }
}

/// The length in `&[T; K]` and `&mut [T; K]`.
pub(crate) fn row_length(ty: &Type) -> Option<&syn::Expr> {
    match ty {
        Type::Paren(p) => row_length(&p.elem),
        Type::Reference(r) => match &*r.elem {
            Type::Array(a) => Some(&a.len),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two types of items or elements can be one, by their names: where they stand, paths to it differ. The glue
/// gives a wave what `Data` says, so that rustc compares the types themselves.
pub(crate) fn same_item(a: &Type, b: &Type) -> bool {
    fn same(a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Paren(a), b) => same(&a.elem, b),
            (a, Type::Paren(b)) => same(a, &b.elem),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.elems.len() == b.elems.len()
                    && a.elems.iter().zip(&b.elems).all(|(a, b)| same(a, b))
            }
            _ => match (type_word(a), type_word(b)) {
                (Some(x), Some(y)) => {
                    x == y || scalar_of(a).is_some_and(|s| scalar_of(b) == Some(s))
                }
                _ => false,
            },
        }
    }
    // `Node` and `u32` are one type, and two words for what a parameter is.
    let scalar = scalar_of(a).is_some() || scalar_of(b).is_some();
    show(a) == show(b) || !scalar && same(a, b)
}

/// `Word<Arg>`.
fn generic(ty: &Type) -> Option<(String, &Type)> {
    let Type::Path(p) = ty else { return None };
    let last = p.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first() {
        Some(GenericArgument::Type(arg)) if args.args.len() == 1 => {
            Some((last.ident.to_string(), arg))
        }
        _ => None,
    }
}

fn reduce_marker(ty: &Type) -> Option<(ReduceOp, Scalar, bool)> {
    if type_word(ty).as_deref() == Some("Count") {
        return Some((ReduceOp::Sum, Scalar::U64, true));
    }
    let (word, arg) = generic(ty)?;
    let op = match word.as_str() {
        "Sum" => ReduceOp::Sum,
        "ExactSum" => ReduceOp::ExactSum,
        "Min" => ReduceOp::Min,
        "Max" => ReduceOp::Max,
        "Or" => ReduceOp::Or,
        "And" => ReduceOp::And,
        _ => return None,
    };
    Some((op, scalar_of(arg)?, false))
}

/// The type of a reduction's parameter, as the user writes it.
pub(crate) fn reduce_type(op: ReduceOp, scalar: Scalar, count: bool) -> String {
    if count {
        return "Count".to_owned();
    }
    let word = match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::ExactSum => "ExactSum",
        ReduceOp::Min => "Min",
        ReduceOp::Max => "Max",
        ReduceOp::Or => "Or",
        ReduceOp::And => "And",
    };
    format!("{word}<{}>", scalar.name())
}

/// Last segment of a type without arguments: `Csr` of `vyre::prelude::Csr`.
pub(crate) fn type_word(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            last.arguments.is_none().then(|| last.ident.to_string())
        }
        Type::Paren(p) => type_word(&p.elem),
        _ => None,
    }
}

/// `T` of `Word<T>`.
pub(crate) fn item_of<'t>(ty: &'t Type, word: &str) -> Option<&'t Type> {
    let Type::Path(p) = ty else { return None };
    let last = p.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first() {
        Some(GenericArgument::Type(t)) if last.ident == word && args.args.len() == 1 => Some(t),
        _ => None,
    }
}

/// The scalar type that a type names; `Node`, `Index` and `Round` are u32.
pub(crate) fn scalar_of(ty: &Type) -> Option<Scalar> {
    named_scalar(&type_word(ty)?)
}

/// The scalar type with this name.
pub(crate) fn named_scalar(name: &str) -> Option<Scalar> {
    match name {
        "Node" | "Index" | "Round" => Some(Scalar::U32),
        _ => Scalar::ALL.into_iter().find(|s| s.name() == name),
    }
}
