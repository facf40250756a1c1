//! The types of the kernel language and their inference by unification.

use super::hir::Handle;
use super::param::HandleTy;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::rc::Rc;
use vyre_core::vir0::scalar::Scalar;

/// `u32` by a path that nothing can shadow.
pub(crate) fn scalar_type(scalar: Scalar) -> TokenStream {
    let name = Ident::new(scalar.name(), Span::call_site());
    quote! { ::core::primitive::#name }
}

/// A scalar type of Rust's that lanes do not have.
pub(super) fn is_foreign(name: &str) -> bool {
    matches!(
        name,
        "isize" | "i8" | "i16" | "u16" | "u128" | "i128" | "char" | "f16" | "f128"
    )
}

/// Whether it is an integer type.
pub(super) fn is_int(s: Scalar) -> bool {
    match s {
        Scalar::U8 | Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => true,
        Scalar::Bool | Scalar::F32 | Scalar::F64 => false,
    }
}

/// Whether it is a float type.
pub(super) fn is_float(s: Scalar) -> bool {
    matches!(s, Scalar::F32 | Scalar::F64)
}

/// Whether it is a signed integer type.
pub(super) fn is_signed(s: Scalar) -> bool {
    matches!(s, Scalar::I32 | Scalar::I64)
}

/// A type, possibly with variables in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Var(usize),
    Scalar(Scalar),
    /// `usize`, for local arrays: 64 bits, as on the hosts that run kernels natively.
    Size,
    /// A local array and its length.
    Array(Box<Ty>, u32),
    Struct(Struct),
    /// The unit type when empty.
    Tuple(Vec<Ty>),
    /// Of an expression that does not come back.
    Never,
    /// Reported already; agrees with everything.
    Error,
    Handle(HandleTy),
    /// A row: where it begins and ends among all of them.
    Row(Handle, RowOf),
}

impl Ty {
    pub(super) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
    pub(super) const U32: Ty = Ty::Scalar(Scalar::U32);
    pub(super) const UNIT: Ty = Ty::Tuple(Vec::new());

    /// Types of the fields of a tuple or struct.
    pub(super) fn fields(&self) -> Option<Vec<Ty>> {
        match self {
            Ty::Tuple(parts) => Some(parts.clone()),
            Ty::Struct(s) => Some(s.0.fields.iter().map(|(_, t)| t.clone()).collect()),
            Ty::Row(..) => Some(vec![Ty::U32, Ty::U32]),
            _ => None,
        }
    }

    /// The scalars of a tuple or of a struct of scalars, in order.
    pub(super) fn scalars(&self) -> Vec<Scalar> {
        match self {
            Ty::Scalar(scalar) => vec![*scalar],
            other => {
                let fields = other.fields().unwrap_or_default();
                fields.iter().flat_map(Ty::scalars).collect()
            }
        }
    }

    /// How many numbers a value holds, in all its parts; one that is not known yet counts as one.
    pub(super) fn numbers(&self) -> u64 {
        match self {
            Ty::Array(t, n) => t.numbers().saturating_mul((*n).into()),
            Ty::Struct(s) => s.0.numbers,
            Ty::Tuple(parts) => (parts.iter()).fold(0, |n, t| n.saturating_add(t.numbers())),
            Ty::Error => 0,
            Ty::Row(..) => 2,
            Ty::Var(_) | Ty::Scalar(_) | Ty::Size | Ty::Never | Ty::Handle(_) => 1,
        }
    }

    /// Whether it holds for one of the types inside, or the type itself.
    pub(super) fn any_inside(&self, f: &impl Fn(&Ty) -> bool) -> bool {
        self.find_inside(&|t| f(t).then_some(())).is_some()
    }

    /// What `f` first finds in the type and the types that it consists of.
    pub(super) fn find_inside<T>(&self, f: &impl Fn(&Ty) -> Option<T>) -> Option<T> {
        f(self).or_else(|| match self {
            Ty::Tuple(parts) => parts.iter().find_map(|t| t.find_inside(f)),
            Ty::Array(t, _) => t.find_inside(f),
            Ty::Struct(s) => s.0.fields.iter().find_map(|(_, t)| t.find_inside(f)),
            _ => None,
        })
    }
}

/// What is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOf {
    /// A node's edges in a graph.
    Edges,
    /// Where these lead.
    Neighbors,
    /// Values of a topology.
    Values(Scalar),
}

impl RowOf {
    /// The type of what is in it.
    pub(super) fn item(self) -> Ty {
        match self {
            RowOf::Edges | RowOf::Neighbors => Ty::U32,
            RowOf::Values(scalar) => Ty::Scalar(scalar),
        }
    }
}

/// A user's struct.
#[derive(Clone, Debug)]
pub(super) struct Struct(pub(super) Rc<StructDef>);

impl PartialEq for Struct {
    fn eq(&self, other: &Struct) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// What a struct's declaration says.
#[derive(Debug)]
pub(super) struct StructDef {
    pub(super) name: String,
    /// Names (of a tuple struct: positions) and types.
    pub(super) fields: Vec<(String, Ty)>,
    /// `struct P(u32, u32);`
    pub(super) tuple: bool,
    /// `==` compares its fields.
    pub(super) compares: bool,
    /// `<` compares its fields, in the order of their declaration.
    pub(super) is_ordered: bool,
    /// Of a `#[device] mod` of another module, which says itself how it is a record.
    pub(super) elsewhere: bool,
    /// That a value holds, as of [`Ty::numbers`].
    pub(super) numbers: u64,
}

impl StructDef {
    /// The position of a field.
    pub(super) fn field(&self, member: &syn::Member) -> Option<usize> {
        let name = match member {
            syn::Member::Named(n) => n.to_string(),
            syn::Member::Unnamed(i) => i.index.to_string(),
        };
        self.fields.iter().position(|(n, _)| *n == name)
    }
}

/// What a type variable can still become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Any,
    Int,
    Float,
}

#[derive(Clone, Debug)]
enum Node {
    Link(Ty),
    /// A constant whose declared type the macro does not see keeps the variable from falling back to i32 or f64: rustc
    /// knows better.
    Root {
        of: Of,
        constant: Option<usize>,
    },
}

/// Two types that do not agree.
#[derive(Debug)]
pub(super) struct Mismatch;

/// Type variables and what is known about them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unifier {
    nodes: Vec<Node>,
}

impl Unifier {
    fn push(&mut self, of: Of) -> Ty {
        self.nodes.push(Node::Root { of, constant: None });
        Ty::Var(self.nodes.len() - 1)
    }

    /// A type about which nothing is known.
    pub(super) fn any(&mut self) -> Ty {
        self.push(Of::Any)
    }

    /// Some integer type; i32 if nothing else says which.
    pub(super) fn int(&mut self) -> Ty {
        self.push(Of::Int)
    }

    /// Some float type; f64 if nothing else says which.
    pub(super) fn float(&mut self) -> Ty {
        self.push(Of::Float)
    }

    /// The type of a named constant, declared where the macro cannot see it.
    pub(super) fn constant(&mut self) -> Ty {
        let id = self.nodes.len();
        self.nodes.push(Node::Root {
            of: Of::Any,
            constant: Some(id),
        });
        Ty::Var(id)
    }

    /// The type as far as it is known: never a linked variable.
    pub(super) fn resolve(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(v) = ty {
            match &self.nodes[*v] {
                Node::Link(next) => ty = next,
                Node::Root { .. } => return Ty::Var(*v),
            }
        }
        match ty {
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|t| self.resolve(t)).collect()),
            Ty::Array(t, n) => Ty::Array(Box::new(self.resolve(t)), *n),
            other => other.clone(),
        }
    }

    /// The scalar type, once known.
    pub(super) fn scalar(&self, ty: &Ty) -> Option<Scalar> {
        match self.resolve(ty) {
            Ty::Scalar(s) => Some(s),
            Ty::Size => Some(Scalar::U64),
            _ => None,
        }
    }

    /// Makes two types agree. A type that does not come back agrees with every other.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (a, b) {
            (Ty::Error | Ty::Never, _) | (_, Ty::Error | Ty::Never) => Ok(()),
            (Ty::Var(x), Ty::Var(y)) if x == y => Ok(()),
            (Ty::Var(x), Ty::Var(y)) => {
                let (
                    Node::Root {
                        of: of_x,
                        constant: c_x,
                    },
                    Node::Root {
                        of: of_y,
                        constant: c_y,
                    },
                ) = (&self.nodes[x], &self.nodes[y])
                else {
                    return Ok(());
                };
                let of = match (of_x, of_y) {
                    (Of::Any, other) | (other, Of::Any) => *other,
                    (p, q) if p == q => *p,
                    _ => return Err(Mismatch),
                };
                let constant = c_x.or(*c_y);
                self.nodes[x] = Node::Link(Ty::Var(y));
                self.nodes[y] = Node::Root { of, constant };
                Ok(())
            }
            (Ty::Var(v), known) | (known, Ty::Var(v)) => {
                let Node::Root { of, .. } = self.nodes[v] else {
                    return Ok(());
                };
                let fits = match (of, &known) {
                    (Of::Any, Ty::Tuple(_) | Ty::Array(..)) => !self.mentions(&known, v),
                    (Of::Any, _) | (Of::Int, Ty::Size) => true,
                    (Of::Int, Ty::Scalar(s)) => is_int(*s),
                    (Of::Float, Ty::Scalar(s)) => is_float(*s),
                    (Of::Int | Of::Float, _) => false,
                };
                if !fits {
                    return Err(Mismatch);
                }
                self.nodes[v] = Node::Link(known);
                Ok(())
            }
            (Ty::Tuple(x), Ty::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(&y).try_for_each(|(p, q)| self.unify(p, q))
            }
            (Ty::Array(x, n), Ty::Array(y, m)) if n == m => self.unify(&x, &y),
            (x, y) if x == y => Ok(()),
            _ => Err(Mismatch),
        }
    }

    fn mentions(&self, ty: &Ty, v: usize) -> bool {
        match self.resolve(ty) {
            Ty::Var(w) => v == w,
            Ty::Tuple(parts) => parts.iter().any(|p| self.mentions(p, v)),
            Ty::Array(t, _) => self.mentions(&t, v),
            Ty::Scalar(_)
            | Ty::Size
            | Ty::Struct(_)
            | Ty::Never
            | Ty::Error
            | Ty::Handle(_)
            | Ty::Row(..) => false,
        }
    }

    /// Literals that nothing else determined become i32 and f64, as in rustc.
    pub(super) fn fall_back(&mut self) {
        for node in &mut self.nodes {
            let scalar = match node {
                Node::Root {
                    of: Of::Int,
                    constant: None,
                } => Scalar::I32,
                Node::Root {
                    of: Of::Float,
                    constant: None,
                } => Scalar::F64,
                Node::Root { .. } | Node::Link(_) => continue,
            };
            *node = Node::Link(Ty::Scalar(scalar));
        }
    }

    /// How messages show a type.
    pub(super) fn show(&self, ty: &Ty) -> String {
        match self.resolve(ty) {
            Ty::Var(v) => match self.nodes[v] {
                Node::Root { of: Of::Int, .. } => "{integer}".to_owned(),
                Node::Root { of: Of::Float, .. } => "{float}".to_owned(),
                Node::Root { of: Of::Any, .. } | Node::Link(_) => "_".to_owned(),
            },
            Ty::Scalar(s) => s.name().to_owned(),
            Ty::Size => "usize".to_owned(),
            Ty::Array(t, n) => format!("[{}; {n}]", self.show(&t)),
            Ty::Struct(s) => s.0.name.clone(),
            Ty::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|t| self.show(t)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Never => "!".to_owned(),
            Ty::Error => "_".to_owned(),
            Ty::Handle(h) => h.to_string(),
            Ty::Row(_, RowOf::Edges) => "EdgesOf".to_owned(),
            Ty::Row(_, RowOf::Neighbors) => "NeighborsOf".to_owned(),
            Ty::Row(_, RowOf::Values(s)) => format!("&Row<{}>", s.name()),
        }
    }
}

/// An integer type that is known.
pub(super) fn is_integer(ty: &Ty) -> bool {
    bits(ty).is_some()
}

/// Width of an integer type.
pub(super) fn bits(ty: &Ty) -> Option<u32> {
    match ty {
        Ty::Size => Some(64),
        Ty::Scalar(Scalar::U8) => Some(8),
        Ty::Scalar(Scalar::U32 | Scalar::I32) => Some(32),
        Ty::Scalar(Scalar::U64 | Scalar::I64) => Some(64),
        _ => None,
    }
}
