//! Relations that the caller gives. A hidden field has the tuples as the caller lends them, another one their number, and
//! a hidden wave inserts them before all that uses the relation.

use super::domain::DomainArgs;
use super::fill::users;
use super::graph::{Field, FieldKind, Given, Graph, Per, Piece, Wave};
use super::index::{at, inserts};
use crate::kernel::param::scalar_of;
use crate::report::Report;
use proc_macro2::{Ident, Span};
use quote::format_ident;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{Attribute, ItemFn, Type, parse_quote};
use vyre_core::vir0::module::Role;
use vyre_core::vir0::scalar::Scalar;

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
        let inserting: Vec<&Wave> = (graph.waves.iter())
            .filter(|w| inserts(w, &relation))
            .collect();
        for wave in &inserting {
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
        if inserting.is_empty() {
            add(graph, &relation, &item, docs);
        }
    }
}

/// Adds the fields and the wave.
fn add(graph: &mut Graph, relation: &Ident, item: &Type, docs: Vec<Attribute>) {
    let name = relation.unraw();
    let count = format_ident!("__vyre_number_of_{name}");
    let rows = format_ident!("__vyre_given_{name}");
    let wave = format_ident!("__vyre_take_{name}");
    for field in &mut graph.fields {
        if let FieldKind::List { capacity, .. } = &mut field.kind
            && field.name == *relation
        {
            *capacity = Per::Len(parse_quote!(#count));
        }
    }
    for user in users(graph, relation, 0) {
        match user {
            Piece::Wave(w) => graph.waves[w].after.push(wave.clone()),
            Piece::Scope(s) => {
                if let Some(args) = &mut graph.scopes[s].fixpoint {
                    args.after.push(wave.clone());
                }
            }
            Piece::Item(_) => {}
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
