//! `classes.before` in a condition: the value that a reduction had in the round before.
//!
//! It is written out as what a user could write, so that no executor has to know of it: a wave that runs once, after
//! all that update the reduction, keeps its value for the next round, and hands on what it kept.

use super::check::describe;
use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Graph, Per, Piece, Wave};
use crate::kernel::param::{Written, written};
use crate::report::Report;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, Pat, parse_quote};
use vyre_core::vir0::module::{ReduceOp, Role};
use vyre_core::vir0::scalar::Scalar;

/// In the names of the fields that this adds.
const BEFORE: &str = "__vyre_before_";
const KEPT: &str = "__vyre_kept_";

impl Field {
    /// Whether no user has written it.
    pub(crate) fn is_hidden(&self) -> bool {
        let name = self.name.to_string();
        let words = [
            BEFORE,
            KEPT,
            super::index::INDEX,
            super::given::NUMBER,
            super::given::GIVEN,
        ];
        words.iter().any(|word| name.contains(word))
    }

    /// What the user knows it as.
    pub(crate) fn known_as(&self) -> String {
        let shown = || {
            let name = self.name.unraw().to_string();
            match self.is_hidden() {
                true => format!("{} before", name.replace(BEFORE, "").replace(KEPT, "")),
                false => name,
            }
        };
        self.shown.clone().unwrap_or_else(shown)
    }
}

/// A condition's text, as the user wrote it.
pub(crate) fn as_written(text: String) -> String {
    let Some((first, rest)) = text.split_once(BEFORE) else {
        return text;
    };
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
    as_written(format!("{first}{name}.before{rest}"))
}

/// Writes out what the conditions of a graph ask of the round before.
pub(crate) fn write_out(graph: &mut Graph, report: &mut Report) {
    for s in 1..graph.scopes.len() {
        let args = graph.scopes[s].fixpoint.as_ref();
        let Some(until) = args.and_then(|args| args.until.as_ref()) else {
            continue;
        };
        let mut asked = Vec::new();
        let tokens = replaced(until.to_token_stream(), &graph.fields, &mut asked);
        if asked.is_empty() {
            continue;
        }
        let before = report.len();
        asked.retain(|(name, at)| has_before(graph, s, (name, *at), report));
        let until = (report.len() == before)
            .then(|| syn::parse2(tokens).ok())
            .flatten();
        if until.is_some() {
            for (name, _) in &asked {
                keep(graph, s, name);
            }
        }
        if let Some(args) = &mut graph.scopes[s].fixpoint {
            args.until = until;
        }
    }
}

/// The condition with a reduction in the place of each `field.before`. Gives the fields once each, and where `before`
/// stands.
fn replaced(tokens: TokenStream, fields: &[Field], asked: &mut Vec<(Ident, Span)>) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |tree: Option<&TokenTree>, c: char| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == c);
    let mut out = TokenStream::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        at += 1;
        match tree {
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), replaced(g.stream(), fields, asked));
                group.set_span(g.span());
                out.extend([TokenTree::Group(group)]);
            }
            TokenTree::Ident(name)
                if is(trees.get(at), '.') && fields.iter().any(|f| f.name == *name) =>
            {
                let member = at
                    .checked_sub(2)
                    .is_some_and(|before| is(trees.get(before), '.'));
                match trees.get(at + 1) {
                    Some(TokenTree::Ident(word))
                        if *word == "before"
                            && !member
                            && !matches!(trees.get(at + 2), Some(TokenTree::Group(_))) =>
                    {
                        if asked.iter().all(|(other, _)| other != name) {
                            asked.push((name.clone(), word.span()));
                        }
                        out.extend([TokenTree::Ident(hidden(BEFORE, name))]);
                        at += 2;
                    }
                    _ => out.extend([tree.clone()]),
                }
            }
            other => out.extend([other.clone()]),
        }
    }
    out
}

fn hidden(what: &str, field: &Ident) -> Ident {
    format_ident!("{what}{}", field.unraw(), span = field.span())
}

/// The waves directly in a scope that update a reduction.
fn updaters<'g>(graph: &'g Graph, s: usize, name: &Ident) -> impl Iterator<Item = &'g Wave> {
    let updates = |wave: &&Wave| {
        wave.function.sig.inputs.iter().any(|input| match input {
            FnArg::Typed(arg) => {
                matches!(&*arg.pat, Pat::Ident(p) if p.ident == *name)
                    && matches!(written(&arg.ty), Written::Reduce(..))
            }
            FnArg::Receiver(_) => false,
        })
    };
    graph
        .waves
        .iter()
        .filter(move |w| w.scope == s)
        .filter(updates)
}

/// Whether a field has a value of the round before in this fixpoint; what is wrong is said.
fn has_before(graph: &Graph, s: usize, (name, at): (&Ident, Span), report: &mut Report) -> bool {
    let scope = &graph.scopes[s];
    let Some(field) = graph.fields.iter().find(|f| f.name == *name) else {
        return false;
    };
    let around = std::iter::successors(Some(s), |&s| graph.scopes[s].parent);
    let mut around = around.filter_map(|s| graph.scopes[s].fixpoint.as_ref());
    let (message, help) = match &field.kind {
        FieldKind::Broken => return false,
        FieldKind::Reduction { .. } if around.any(|f| f.per.is_some()) => (
            format!("`{name}` is not kept from round to round in a fixpoint that parts run"),
            "`.before` is for fixpoints of the whole graph".to_owned(),
        ),
        FieldKind::Reduction { .. } if updaters(graph, s, name).next().is_none() => (
            format!(
                "`{name}` has no value of a round before: no wave of fixpoint `{}` itself updates it",
                scope.name
            ),
            format!(
                "`.before` is for reductions that the fixpoint's own waves update, as `{name}: &Reduce<..>`"
            ),
        ),
        FieldKind::Reduction { .. } => return true,
        kind => (
            format!(
                "`{name}` is {}, which has no value of a round before",
                describe(kind)
            ),
            "`.before` is for reductions: count or sum up what is to be compared".to_owned(),
        ),
    };
    report.error_help(at, message, help);
    false
}

/// Adds the wave that keeps a reduction's value, and its fields.
fn keep(graph: &mut Graph, s: usize, name: &Ident) {
    let field = graph.fields.iter().find(|f| f.name == *name);
    let Some(FieldKind::Reduction { op, scalar, .. }) = field.map(|f| &f.kind) else {
        return;
    };
    let (op, scalar) = (*op, *scalar);
    let after: Vec<Ident> = updaters(graph, s, name).map(|w| w.name().clone()).collect();
    let (before, kept) = (hidden(BEFORE, name), hidden(KEPT, name));
    // There are no atomics of bools.
    let held = if scalar == Scalar::Bool {
        Scalar::U32
    } else {
        scalar
    };
    let mut add = |name: &Ident, kind| {
        graph.fields.push(Field {
            name: name.clone(),
            shown: None,
            docs: Vec::new(),
            kind,
            reset: None,
            entered: None,
            host: None,
            given: None,
            origin: None,
        });
    };
    add(
        &before,
        FieldKind::Reduction {
            op,
            count: false,
            scalar,
            output: false,
        },
    );
    add(
        &kept,
        FieldKind::Column {
            role: Role::Scratch,
            scalar: held,
            item: None,
            per: Some(Per::Len(parse_quote!(1))),
            init: None,
        },
    );
    let krate = &graph.options.krate;
    let word = |text: &str| Ident::new(text, Span::call_site());
    let (ty, cell) = (word(scalar.name()), word(held.name()));
    let (marker, method) = match op {
        ReduceOp::Sum => ("Sum", "add"),
        ReduceOp::ExactSum => ("ExactSum", "add"),
        ReduceOp::Min => ("Min", "min"),
        ReduceOp::Max => ("Max", "max"),
        ReduceOp::Or => ("Or", "or"),
        ReduceOp::And => ("And", "and"),
    };
    let (marker, method) = (word(marker), word(method));
    let (load, store) = match scalar {
        Scalar::Bool => (quote! { #kept[0].load() != 0 }, quote! { u32::from(#name) }),
        _ => (quote! { #kept[0].load() }, quote! { #name }),
    };
    let function = format_ident!("__vyre_keep_{}", name.unraw());
    let vis = graph.options.visible(Span::call_site());
    let prelude = quote! { #krate::prelude };
    let function: ItemFn = parse_quote! {
        #[doc(hidden)]
        #vis fn #function(
            round: #prelude::Round,
            #name: #ty,
            #kept: &#prelude::Buf<#prelude::Atomic<#cell>>,
            #before: &#prelude::Reduce<#prelude::#marker<#ty>>,
        ) {
            if round > 0 {
                #before.#method(#load);
            }
            #kept[0].store(#store);
        }
    };
    graph.scopes[s].pieces.push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope: s,
        function,
        domain: Some(DomainArgs::Once),
        after,
        names: HashMap::new(),
        call: None,
        shown: Some(format!("{} before", name.unraw())),
        origin: None,
    });
}
