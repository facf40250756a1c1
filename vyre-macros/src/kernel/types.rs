//! The types of the kernel language and their inference by unification.

use vyre_core::module::Scalar;

/// The scalar type that a type expression names: Rust's name or one of the aliases `Node`, `Index`, `Round`.
pub(crate) fn scalar(ty: &syn::Type) -> Option<Scalar> {
    match ty {
        syn::Type::Paren(t) => scalar(&t.elem),
        syn::Type::Group(t) => scalar(&t.elem),
        syn::Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            if !last.arguments.is_empty() {
                return None;
            }
            named_scalar(&last.ident.to_string())
        }
        _ => None,
    }
}

/// The scalar type with this name.
pub(crate) fn named_scalar(name: &str) -> Option<Scalar> {
    match name {
        "Node" | "Index" | "Round" => Some(Scalar::U32),
        _ => Scalar::ALL.into_iter().find(|s| s.name() == name),
    }
}
