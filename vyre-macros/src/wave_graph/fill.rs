//! Rows of bits that begin with all bits, where a row ends in a part of a word: a fill of memory by one word would set
//! bits beyond the width. So a wave over the nodes fills them, before everything that uses them; `store_word` drops
//! what is beyond.

use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Graph, Per, Piece, Wave};
use crate::args::int_literal;
use proc_macro2::{Ident, Span};
use quote::{format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, Pat, parse_quote};

/// Writes out such fills. The graphs that are included are part of it.
pub(crate) fn write_out(graph: &mut Graph) {
    let names: Vec<Ident> = graph.fields.iter_mut().filter_map(filled).collect();
    for name in names {
        add(graph, &name);
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

fn add(graph: &mut Graph, name: &Ident) {
    let wave = format_ident!("__vyre_fill_{}", name.unraw());
    for s in users(graph, name) {
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
    graph.scopes[0].pieces.push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope: 0,
        function,
        domain: Some(DomainArgs::Nodes(None)),
        after: Vec::new(),
        names: HashMap::new(),
        call: None,
        shown: Some(format!("fill {}", name.unraw())),
        origin: None,
    });
}

/// The waves and fixpoints of the outermost level that use a field, or have waves that do.
fn users(graph: &Graph, name: &Ident) -> Vec<Piece> {
    let outermost = |scope: usize| {
        let mut around = std::iter::successors(Some(scope), |&s| graph.scopes[s].parent);
        around.find(|&s| graph.scopes[s].parent == Some(0))
    };
    let takes = |wave: &Wave| {
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
    };
    let mut found = Vec::new();
    let mut scopes = Vec::new();
    for (w, wave) in graph.waves.iter().enumerate().filter(|(_, w)| takes(w)) {
        match outermost(wave.scope) {
            Some(scope) => scopes.push(scope),
            None => found.push(Piece::Wave(w)),
        }
    }
    for (s, scope) in graph.scopes.iter().enumerate() {
        let swaps = scope.fixpoint.iter().flat_map(|f| &f.swaps);
        if swaps.into_iter().any(|(a, b)| a == name || b == name) {
            scopes.extend(outermost(s));
        }
    }
    scopes.sort_unstable();
    scopes.dedup();
    found.extend(scopes.into_iter().map(Piece::Scope));
    found
}
