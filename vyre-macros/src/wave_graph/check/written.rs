//! The type of a parameter, as it is written.

use crate::kernel::types::{scalar_of, type_word};
use crate::tokens::show;
use syn::{GenericArgument, PathArguments, Type};
use vyre_core::vir0::module::ReduceOp;
use vyre_core::vir0::scalar::Scalar;

/// A parameter's type as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Node,
    Index,
    Round,
    Edge,
    Value(Scalar),
    Ref(Scalar),
    RefMut(Scalar),
    Buf(Scalar),
    AtomicBuf(Scalar),
    Csr,
    Push,
    /// `&Push<T>`
    PushItems,
    Bits,
    Append,
    /// `&Records<T>`
    Records,
    Reduce(ReduceOp, Scalar, bool),
    Other,
}

impl Written {
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
            if mutable {
                return Written::Other;
            }
            match type_word(&r.elem).as_deref() {
                Some("Csr") => return Written::Csr,
                Some("Push") => return Written::Push,
                Some("Bits") => return Written::Bits,
                _ => {}
            }
            match generic(&r.elem) {
                Some((word, arg)) => match (word.as_str(), scalar_of(arg)) {
                    ("Buf", Some(scalar)) => Written::Buf(scalar),
                    ("Buf", None) => match generic(arg) {
                        Some((inner, arg)) if inner == "Atomic" => {
                            scalar_of(arg).map_or(Written::Other, Written::AtomicBuf)
                        }
                        _ => Written::Other,
                    },
                    ("Append", _) => Written::Append,
                    ("Records", _) => Written::Records,
                    ("Push", _) if type_word(arg).as_deref() == Some("Node") => Written::Push,
                    ("Push", _) => Written::PushItems,
                    ("Reduce", _) => reduce_marker(arg)
                        .map_or(Written::Other, |(op, s, c)| Written::Reduce(op, s, c)),
                    _ => Written::Other,
                },
                None => Written::Other,
            }
        }
        _ => Written::Other,
    }
}

/// The type of the items of `&Push<T>` or `&Append<T>`, as written.
pub(super) fn written_item(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Paren(p) => written_item(&p.elem),
        Type::Reference(r) => generic(&r.elem).map(|(_, item)| item),
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
        ReduceOp::Min => "Min",
        ReduceOp::Max => "Max",
        ReduceOp::Or => "Or",
        ReduceOp::And => "And",
    };
    format!("{word}<{}>", scalar.name())
}
