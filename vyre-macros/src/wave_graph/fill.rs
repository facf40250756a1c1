//! Rows of bits that begin with all bits, where a row ends in a part of a word: a fill of memory by one word would set
//! bits beyond the width. So a wave over the nodes fills them, before everything that uses them; `store_word` drops
//! what is beyond.

use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Graph, Per, Piece, Scope, Wave};
use super::order::common_scope;
use crate::args::int_literal;
use proc_macro2::{Ident, Span};
use quote::{format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, Pat, parse_quote};

/// Writes out such fills, those of a graph that is included in a fixpoint in that. The graphs that are included are part
/// of it.
pub(crate) fn write_out(graph: &mut Graph) {
    let once = graph.fields.iter_mut().filter(|f| f.reset.is_none());
    let filled = once.filter_map(|field| Some((filled(field)?, field.entered.take())));
    let filled: Vec<(Ident, Option<usize>)> = filled.collect();
    for (name, entered) in filled {
        add(graph, &name, entered.unwrap_or(0));
    }
}

/// Writes out the fills of rows that begin anew with each round, in the fixpoint whose rounds they are. Their users are
/// all of this graph, because no such field is shared.
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
        let field = graph.fields.iter_mut().find(|f| f.name == name);
        if let Some(field) = field
            && filled(field).is_some()
        {
            field.reset = None;
            add(graph, &name, scope);
        }
    }
}

/// A field whose rows a wave has to fill; memory does not any more.
fn filled(field: &mut Field) -> Option<Ident> {
    let FieldKind::Column {
        per: Some(Per::NodeBits(width)),
        init: init @ Some(_),
        ..
    } = &mut field.kind
    else {
        return None;
    };
    let whole = int_literal(width).is_some_and(|width| width.is_multiple_of(32));
    if whole {
        return None;
    }
    *init = None;
    Some(field.name.clone())
}

fn add(graph: &mut Graph, name: &Ident, scope: usize) {
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
    let krate = &graph.options.krate;
    let vis = graph.options.visible(Span::call_site());
    let prelude = quote! { #krate::prelude };
    let function: ItemFn = parse_quote! {
        #[doc(hidden)]
        #vis fn #wave(v: #prelude::Node, #name: &#prelude::Bits) {
            for k in 0..#name.words() {
                #name.store_word(v, k, u32::MAX);
            }
        }
    };
    graph.scopes[scope]
        .pieces
        .push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope,
        function,
        domain: Some(DomainArgs::Nodes(None)),
        after: Vec::new(),
        names: HashMap::new(),
        // The module of an included fixpoint is elsewhere.
        call: (graph.scopes[scope].origin).map(|_| quote! { self::#wave }),
        shown: Some(format!("fill {}", name.unraw())),
        origin: None,
    });
}

/// Whether a wave takes a field.
fn takes(wave: &Wave, name: &Ident) -> bool {
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

fn swaps(scope: &Scope, name: &Ident) -> bool {
    let mut swaps = scope.fixpoint.iter().flat_map(|f| &f.swaps);
    swaps.any(|(a, b)| a == name || b == name)
}

fn is_swapped(graph: &Graph, name: &Ident) -> bool {
    graph.scopes.iter().any(|scope| swaps(scope, name))
}

/// The scopes of the waves that take a field, and of the fixpoints that swap it.
fn scopes(graph: &Graph, name: &Ident) -> Vec<usize> {
    let waves = graph.waves.iter().filter(|w| takes(w, name));
    let swapping = graph
        .scopes
        .iter()
        .enumerate()
        .filter(|(_, s)| swaps(s, name));
    waves
        .map(|w| w.scope)
        .chain(swapping.map(|(s, _)| s))
        .collect()
}

/// The waves and fixpoints directly in a scope that use a field, or have waves that do.
fn users(graph: &Graph, name: &Ident, within: usize) -> Vec<Piece> {
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
