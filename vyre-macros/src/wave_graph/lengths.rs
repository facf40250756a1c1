//! Lengths that an included graph gets from the one that includes it: `#[include(n = node * 2)]`, where `n` is a scalar
//! of the included graph that only its lengths use. The length takes the scalar's place there, and the scalar goes.

use super::check::{length_op, without_brackets};
use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Graph, IncludeArgs, Per};
use crate::args::{ident_of, int_digits};
use crate::report::{Report, listed};
use crate::tokens::any_token;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Pat, parse_quote};
use vyre_core::vir0::scalar::Scalar;

/// Puts the lengths in their places. Gives the names in them, which are fields of `here`; `None` after an error.
pub(super) fn give(
    other: &mut Graph,
    args: &IncludeArgs,
    here: &Graph,
    report: &mut Report,
) -> Option<HashMap<String, Ident>> {
    let errors = report.len();
    let mut names = HashMap::new();
    for (theirs, length) in &args.lengths {
        let alias = &args.name;
        let Some(at) = other.fields.iter().position(|f| f.name == *theirs) else {
            let fields = other.fields.iter().map(|f| format!("`{}`", f.name));
            report.error_help(
                theirs.span(),
                format!("`{theirs}` is not a field of `{alias}`"),
                format!("its fields are {}", listed(fields)),
            );
            continue;
        };
        if !matches!(other.fields[at].kind, FieldKind::Scalar(Scalar::U32, _)) {
            report.error_help(
                length.span(),
                format!("`{theirs}` of `{alias}` is not a `u32`, and no length stands for it"),
                format!("write `{theirs} = field`, with a field of this graph's `Data`"),
            );
            continue;
        }
        if let Some(reader) = reader(other, theirs) {
            report.error_help(
                length.span(),
                format!(
                    "`{reader}` of `{alias}` reads `{theirs}`, and a length has no value there"
                ),
                format!("give it a scalar of `Data`: `{theirs} = field`"),
            );
            continue;
        }
        match named(length, here, &mut names) {
            Ok(length) => {
                other.fields.remove(at);
                replace(other, theirs, &length);
            }
            Err((wrong, why)) => report.error_help(
                wrong,
                why,
                "a length has `node`, `edge(g)`, literals and u32 scalars of `Data`, with `+ - * / %` and `div_ceil`",
            ),
        }
    }
    (report.len() == errors).then_some(names)
}

/// The wave or condition that reads a scalar.
fn reader(graph: &Graph, scalar: &Ident) -> Option<String> {
    let takes = |arg: &FnArg| match arg {
        FnArg::Typed(p) => matches!(&*p.pat, Pat::Ident(name) if name.ident == *scalar),
        FnArg::Receiver(_) => false,
    };
    let mut waves = graph.waves.iter();
    let is_scalar = |t: &TokenTree| matches!(t, TokenTree::Ident(i) if i == scalar);
    // The places of a cell are worked out from the sides of its grid.
    let is_side = |domain: &DomainArgs| match domain {
        DomainArgs::Grid(sides) => sides
            .iter()
            .any(|side| any_token(side.to_token_stream(), &is_scalar)),
        _ => false,
    };
    let wave = waves.find(|w| {
        w.function.sig.inputs.iter().any(takes) || w.domain.as_ref().is_some_and(is_side)
    });
    let mut fixpoints = graph.scopes.iter();
    let fixpoint = fixpoints.find(|s| {
        let until = s.fixpoint.as_ref().and_then(|f| f.until.as_ref());
        until.is_some_and(|e| any_token(e.to_token_stream(), &is_scalar))
    });
    let wave = wave.map(|w| w.name().to_string());
    wave.or_else(|| fixpoint.map(|s| s.name.to_string()))
}

/// A length whose names cannot be taken for those of the included graph: what they mean is added to `names`.
fn named(
    length: &Expr,
    here: &Graph,
    names: &mut HashMap<String, Ident>,
) -> Result<Expr, (Span, String)> {
    let mut mine = |name: &Ident| {
        let mine = format_ident!("__vyre_here_{}", name, span = name.span());
        names.insert(mine.to_string(), name.clone());
        mine
    };
    let is = |name: &Ident, what: fn(&FieldKind) -> bool| {
        let mut fields = here.fields.iter();
        fields.any(|f| f.name == *name && (what(&f.kind) || matches!(f.kind, FieldKind::Broken)))
    };
    let wrong = |why: String| Err((length.span(), why));
    match without_brackets(length) {
        e if int_digits(e).is_some() => Ok(e.clone()),
        Expr::Binary(e) if length_op(&e.op).is_some() => {
            let (left, op) = (named(&e.left, here, names)?, &e.op);
            let right = named(&e.right, here, names)?;
            Ok(parse_quote!((#left #op #right)))
        }
        Expr::MethodCall(e) if e.method == "div_ceil" && e.args.len() == 1 => {
            let left = named(&e.receiver, here, names)?;
            let right = named(&e.args[0], here, names)?;
            Ok(parse_quote!((#left).div_ceil(#right)))
        }
        Expr::Call(e) if ident_of(&e.func).is_some_and(|f| f == "edge") && e.args.len() == 1 => {
            match e.args.first().and_then(ident_of) {
                Some(graph) if is(graph, |k| matches!(k, FieldKind::Csr { .. })) => {
                    let (edge, graph) = (&e.func, mine(graph));
                    Ok(parse_quote!(#edge(#graph)))
                }
                _ => wrong("`edge` takes a graph of `Data`".to_owned()),
            }
        }
        e => match ident_of(e) {
            Some(name) if name == "node" => Ok(e.clone()),
            Some(name) if is(name, |k| matches!(k, FieldKind::Scalar(Scalar::U32, _))) => {
                let name = mine(name);
                Ok(parse_quote!(#name))
            }
            Some(name) => wrong(format!("`{name}` is not a u32 scalar of `Data`")),
            None => wrong("this is not a length".to_owned()),
        },
    }
}

/// Puts a length in the place of a scalar, wherever lengths name it.
fn replace(graph: &mut Graph, scalar: &Ident, length: &Expr) {
    fn of_per(per: &mut Per, scalar: &Ident, length: &Expr) {
        match per {
            Per::Node | Per::Edge(_) | Per::Bounds(..) => {}
            Per::Rows(per) => of_per(per, scalar, length),
            Per::NodeBits(e) => **e = with(e, scalar, length),
            Per::Len(e) => {
                let e = with(e, scalar, length);
                *per = match without_brackets(&e) {
                    Expr::Call(call) if ident_of(&call.func).is_some_and(|f| f == "edge") => {
                        match call.args.first().and_then(ident_of) {
                            Some(graph) => Per::Edge(graph.clone()),
                            None => Per::Len(Box::new(e)),
                        }
                    }
                    one if ident_of(one).is_some_and(|name| name == "node") => Per::Node,
                    _ => Per::Len(Box::new(e)),
                };
            }
        }
    }
    let of_per = |per: &mut Per| of_per(per, scalar, length);
    for Field { kind, .. } in &mut graph.fields {
        match kind {
            FieldKind::Column { per, .. } | FieldKind::Frontier { capacity: per, .. } => {
                per.iter_mut().for_each(of_per);
            }
            FieldKind::List { capacity, .. } => of_per(capacity),
            FieldKind::Csr { .. }
            | FieldKind::Index { .. }
            | FieldKind::Reduction { .. }
            | FieldKind::Scalar(..)
            | FieldKind::Broken => {}
        }
    }
    for wave in &mut graph.waves {
        if let Some(DomainArgs::Range(e)) = &mut wave.domain {
            *e = with(e, scalar, length);
        }
    }
}

/// An expression with another in the place of a name.
pub(super) fn with(e: &Expr, name: &Ident, length: &Expr) -> Expr {
    fn walk(tokens: TokenStream, name: &Ident, length: &TokenStream) -> TokenStream {
        let trees = tokens.into_iter().flat_map(|tree| match tree {
            TokenTree::Ident(i) if i == *name => length.clone(),
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), walk(g.stream(), name, length));
                group.set_span(g.span());
                TokenTree::Group(group).into()
            }
            other => other.into(),
        });
        trees.collect()
    }
    let tokens = walk(e.to_token_stream(), name, &length.to_token_stream());
    syn::parse2(tokens).unwrap_or_else(|_| e.clone())
}
