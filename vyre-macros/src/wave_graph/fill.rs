//! What a fill of memory by one value cannot begin as, a wave stores, before everything that uses it. These are rows of
//! bits that begin with all bits, where a row ends in a part of a word (`store_word` drops what is beyond the width), and
//! arrays whose values begin differently.

use super::check::is_array_of;
use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Graph, IncludeArgs, Per, Piece, Scope, Wave};
use super::order::common_scope;
use crate::args::int_literal;
use crate::kernel::types::scalar_type;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{Expr, FnArg, ItemFn, Pat, parse_quote};

/// Writes out such fills, those of a graph that is included in a fixpoint in that. The graphs that are included are part
/// of it.
pub(crate) fn write_out(graph: &mut Graph) {
    let once = graph.fields.iter_mut().filter(|f| f.reset.is_none());
    let krate = graph.options.krate.clone();
    let filled = once.filter_map(|field| Some((filled(field, &krate)?, field.entered.take())));
    let filled: Vec<(Fill, Option<usize>)> = filled.collect();
    for (fill, entered) in filled {
        add(graph, fill, entered.unwrap_or(0));
    }
}

/// Writes out the fills of what begins anew with each round, in the fixpoint whose rounds they are. Their users are the
/// waves of this graph, and graphs that are included as a whole, which read it.
pub(crate) fn write_out_rounds(graph: &mut Graph) {
    let anew = graph.fields.iter().filter(|f| f.reset.is_some());
    let names: Vec<Ident> = anew.map(|f| f.name.clone()).collect();
    for name in names {
        let scopes = scopes(graph, &name);
        let common = scopes
            .iter()
            .copied()
            .reduce(|a, b| common_scope(graph, a, b));
        // Without a fixpoint around them, and with a swap, there is an error, which is said later.
        let Some(scope) = common.filter(|&s| s > 0 && !is_swapped(graph, &name)) else {
            continue;
        };
        let krate = graph.options.krate.clone();
        let field = graph.fields.iter_mut().find(|f| f.name == name);
        if let Some(field) = field
            && let Some(fill) = filled(field, &krate)
        {
            field.reset = None;
            add(graph, fill, scope);
        }
    }
}

/// A wave that fills a field.
struct Fill {
    name: Ident,
    domain: DomainArgs,
    /// Its parameters, and what it does.
    params: TokenStream,
    body: TokenStream,
}

/// What fills a field, if a wave has to; memory does not any more.
fn filled(field: &mut Field, krate: &TokenStream) -> Option<Fill> {
    let FieldKind::Column {
        per: Some(per),
        init,
        item,
        scalar,
        ..
    } = &mut field.kind
    else {
        return None;
    };
    let name = field.name.clone();
    match (per, &**init.as_ref()?) {
        (Per::NodeBits(width), _) => {
            let whole = int_literal(width).is_some_and(|width| width.is_multiple_of(32));
            if whole {
                return None;
            }
            *init = None;
            Some(Fill {
                domain: DomainArgs::Nodes(None),
                params: quote! { v: #krate::prelude::Node, #name: &#krate::prelude::Bits },
                body: quote! {
                    for k in 0..#name.words() {
                        #name.store_word(v, k, u32::MAX);
                    }
                },
                name,
            })
        }
        (per, value) if is_array_of(item.as_deref(), value) => {
            // What an included graph calls its length stands there.
            let ty = match (field.origin, value) {
                (Some(_), Expr::Array(values)) => {
                    let (of, n) = (scalar_type(*scalar), values.elems.len());
                    quote! { [#of; #n] }
                }
                _ => item.to_token_stream(),
            };
            let fill = Fill {
                domain: match per {
                    Per::Edge(graph) => DomainArgs::Edges {
                        graph: graph.clone(),
                        from: None,
                    },
                    Per::Len(length) => DomainArgs::Range((**length).clone()),
                    _ => DomainArgs::Nodes(None),
                },
                params: quote! { #name: &mut #ty },
                body: quote! { *#name = #value; },
                name,
            };
            *init = None;
            Some(fill)
        }
        _ => None,
    }
}

/// Whether the values that an array begins as can be written elsewhere: they are literals.
pub(crate) fn travels(values: &syn::ExprArray) -> bool {
    values.elems.iter().all(|value| match value {
        Expr::Unary(minus) => matches!(&*minus.expr, Expr::Lit(_)),
        value => matches!(value, Expr::Lit(_)),
    })
}

fn add(graph: &mut Graph, fill: Fill, scope: usize) {
    let name = &fill.name;
    let wave = format_ident!("__vyre_fill_{}", name.unraw());
    for s in users(graph, name, scope) {
        match s {
            Piece::Wave(w) => graph.waves[w].after.push(wave.clone()),
            Piece::Scope(s) => {
                if let Some(args) = &mut graph.scopes[s].fixpoint {
                    args.after.push(wave.clone());
                }
            }
            Piece::Item(_) => {}
        }
    }
    for include in &mut graph.includes {
        if include.scope == scope && is_given(include, name) {
            include.after.push(wave.clone());
        }
    }
    let vis = graph.options.visible(Span::call_site());
    let (params, body) = (&fill.params, &fill.body);
    let function: ItemFn = parse_quote! {
        #[doc(hidden)]
        #vis fn #wave(#params) { #body }
    };
    graph.scopes[scope]
        .pieces
        .push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope,
        function,
        domain: Some(fill.domain),
        after: Vec::new(),
        names: HashMap::new(),
        // The module of an included fixpoint is elsewhere.
        call: (graph.scopes[scope].origin).map(|_| quote! { self::#wave }),
        shown: Some(format!("fill {}", name.unraw())),
        origin: None,
    });
}

/// Whether a wave takes a field.
pub(super) fn takes(wave: &Wave, name: &Ident) -> bool {
    wave.function.sig.inputs.iter().any(|input| match input {
        FnArg::Typed(arg) => {
            let taken = match &*arg.pat {
                Pat::Ident(p) => wave.field(&p.ident),
                _ => None,
            };
            taken.is_some_and(|field| field == *name)
        }
        FnArg::Receiver(_) => false,
    })
}

/// Whether a graph that is still to be included is given a field.
fn is_given(include: &IncludeArgs, name: &Ident) -> bool {
    include.fields.iter().any(|(_, ours)| ours == name)
}

fn swaps(scope: &Scope, name: &Ident) -> bool {
    let mut swaps = scope.fixpoint.iter().flat_map(|f| &f.swaps);
    swaps.any(|(a, b)| a == name || b == name)
}

fn is_swapped(graph: &Graph, name: &Ident) -> bool {
    graph.scopes.iter().any(|scope| swaps(scope, name))
}

/// The scopes of the waves that take a field, of the graphs that are given it, and of the fixpoints that swap it.
pub(super) fn scopes(graph: &Graph, name: &Ident) -> Vec<usize> {
    let waves = graph.waves.iter().filter(|w| takes(w, name));
    let swapping = graph
        .scopes
        .iter()
        .enumerate()
        .filter(|(_, s)| swaps(s, name));
    let included = graph.includes.iter().filter(|i| is_given(i, name));
    waves
        .map(|w| w.scope)
        .chain(included.map(|i| i.scope))
        .chain(swapping.map(|(s, _)| s))
        .collect()
}

/// The waves and fixpoints directly in a scope that use a field, or have waves that do.
pub(super) fn users(graph: &Graph, name: &Ident, within: usize) -> Vec<Piece> {
    let direct = |scope: usize| {
        let mut around = std::iter::successors(Some(scope), |&s| graph.scopes[s].parent);
        around.find(|&s| graph.scopes[s].parent == Some(within))
    };
    let waves =
        (graph.waves.iter().enumerate()).filter(|(_, w)| w.scope == within && takes(w, name));
    let mut found: Vec<Piece> = waves.map(|(w, _)| Piece::Wave(w)).collect();
    let mut scopes: Vec<usize> = scopes(graph, name).into_iter().filter_map(direct).collect();
    scopes.sort_unstable();
    scopes.dedup();
    found.extend(scopes.into_iter().map(Piece::Scope));
    found
}
