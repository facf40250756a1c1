//! Relations that the caller gives. A hidden field has the tuples as the caller lends them, another one their number, and
//! a hidden wave inserts them before all that uses the relation.

use super::domain::DomainArgs;
use super::fill::takes;
use super::graph::{Field, FieldKind, Given, Graph, Per, Piece, Wave};
use super::index::{at, inserts, inserts_in, is_in};
use crate::args::ident_of;
use crate::kernel::param::scalar_of;
use crate::report::Report;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, ExprMethodCall, ItemFn, Type, parse_quote};
use vyre_core::vir0::module::Role;
use vyre_core::vir0::scalar::Scalar;

/// In the names of the fields that this adds.
pub(super) const NUMBER: &str = "__vyre_number_of_";
pub(super) const GIVEN: &str = "__vyre_given_";

/// Writes out the inputs among a graph's own relations.
pub(crate) fn write_out(graph: &mut Graph, report: &mut Report) {
    let given = graph.fields.iter().filter_map(|field| match &field.kind {
        FieldKind::List {
            item, input: true, ..
        } => Some((field.name.clone(), (**item).clone(), field.docs.clone())),
        _ => None,
    });
    let given: Vec<(Ident, Type, Vec<Attribute>)> = given.collect();
    for (relation, item, docs) in given {
        let inserting = graph.waves.iter().filter(|w| inserts(w, &relation));
        for wave in inserting {
            report.error_help(
                at(wave, &relation),
                format!(
                    "`{}` inserts into `{relation}`, which is an input",
                    wave.name()
                ),
                format!(
                    "take it as `&Lookup`, or declare a relation for what the wave finds; it can begin with what a wave over `items({relation})` inserts"
                ),
            );
        }
        add(graph, &relation, &item, docs);
    }
}

/// A fixpoint asks only relations that grow in it whether they have settled: any other one has in each of its rounds, so
/// that a condition of nothing else ends the first.
pub(super) fn settled_ones_grow(graph: &Graph, report: &mut Report) {
    for (s, scope) in graph.scopes.iter().enumerate() {
        let until = scope.fixpoint.as_ref().and_then(|args| args.until.clone());
        let (Some(mut until), None) = (until, scope.origin) else {
            continue;
        };
        let mut asked = Asked(Vec::new());
        asked.visit_expr_mut(&mut until);
        for relation in asked.0 {
            let is_relation = graph
                .fields
                .iter()
                .any(|f| f.name == relation && matches!(f.kind, FieldKind::List { set: true, .. }));
            if is_relation && !inserts_in(graph, s, &relation) {
                report.error_help(
                    relation.span(),
                    format!(
                        "no wave of fixpoint `{}` inserts into `{relation}`: it is settled in each round",
                        scope.name
                    ),
                    "ask for the relations that grow here",
                );
            }
        }
    }
}

/// What is asked `settled()`.
struct Asked(Vec<Ident>);

impl VisitMut for Asked {
    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        if let (true, Some(of)) = (call.method == "settled", ident_of(&call.receiver)) {
            self.0.push(of.clone());
        }
        visit_mut::visit_expr_method_call_mut(self, call);
    }
}

/// Adds the fields and the wave.
fn add(graph: &mut Graph, relation: &Ident, item: &Type, docs: Vec<Attribute>) {
    let name = relation.unraw();
    let count = format_ident!("{NUMBER}{name}");
    let rows = format_ident!("{GIVEN}{name}");
    let wave = format_ident!("__vyre_take_{name}");
    for field in &mut graph.fields {
        if let FieldKind::List { capacity, .. } = &mut field.kind
            && field.name == *relation
        {
            *capacity = Per::Len(parse_quote!(#count));
        }
    }
    let nodes = graph.scopes[0].pieces.iter();
    let nodes: Vec<(Option<usize>, usize)> = nodes
        .filter_map(|piece| match piece {
            Piece::Wave(w) if uses(&graph.waves[*w], relation) => Some((None, *w)),
            Piece::Scope(s) if uses_in(graph, *s, relation) => Some((Some(*s), 0)),
            _ => None,
        })
        .collect();
    for (scope, w) in nodes {
        match scope {
            None => graph.waves[w].after.push(wave.clone()),
            Some(s) => {
                let args = graph.scopes[s].fixpoint.as_mut();
                args.into_iter()
                    .for_each(|args| args.after.push(wave.clone()));
            }
        }
    }
    let field = |name: Ident, shown: String, kind| Field {
        name,
        shown: Some(shown),
        docs: Vec::new(),
        kind,
        reset: None,
        entered: None,
        host: None,
        given: Some(relation.clone()),
        origin: None,
    };
    let scalar = scalar_of(item);
    let column = FieldKind::Column {
        role: Role::Input,
        scalar: scalar.unwrap_or(Scalar::U32),
        item: scalar.is_none().then(|| Box::new(item.clone())),
        per: Some(Per::Len(parse_quote!(#count))),
        init: None,
    };
    let number = FieldKind::Scalar(Scalar::U32, Given::Slice);
    graph.fields.extend([
        field(count.clone(), format!("{name}:number"), number),
        Field {
            docs,
            ..field(rows.clone(), format!("{name}:given"), column)
        },
    ]);
    let vis = graph.options.visible(Span::call_site());
    let krate = &graph.options.krate;
    let function: ItemFn = parse_quote! {
        #[doc(hidden)]
        #vis fn #wave(#rows: &#item, #relation: &#krate::prelude::Insert<#item>) {
            #relation.insert(*#rows);
        }
    };
    graph.scopes[0].pieces.push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope: 0,
        function,
        domain: Some(DomainArgs::Range(parse_quote!(#count))),
        after: Vec::new(),
        names: HashMap::new(),
        call: None,
        shown: Some(format!("{name}:given")),
        origin: None,
    });
}

/// Whether a wave takes a relation, or sweeps it.
fn uses(wave: &Wave, relation: &Ident) -> bool {
    takes(wave, relation)
        || matches!(&wave.domain, Some(DomainArgs::Items { of, .. }) if of == relation)
}

/// Whether a wave in a scope does, or a condition there asks for it.
fn uses_in(graph: &Graph, scope: usize, relation: &Ident) -> bool {
    let asks = |s: usize| {
        let args = graph.scopes[s].fixpoint.as_ref();
        args.and_then(|args| args.until.as_ref())
            .is_some_and(|until| names(until.to_token_stream(), relation))
    };
    let mut waves = graph.waves.iter();
    waves.any(|w| is_in(graph, w.scope, scope) && uses(w, relation))
        || (0..graph.scopes.len()).any(|s| is_in(graph, s, scope) && asks(s))
}

/// Whether a word stands in an expression.
fn names(tokens: TokenStream, word: &Ident) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(name) => name == *word,
        TokenTree::Group(group) => names(group.stream(), word),
        _ => false,
    })
}
