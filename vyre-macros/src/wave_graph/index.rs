//! Indexes of relations. A hidden field has the cells of each, and a hidden wave adds to it what the relation was given:
//! first of all in each round of the fixpoint whose waves walk the index, so that they see the tuples from before the
//! round; or where no fixpoint is, where the relation has all its tuples before, and where it begins anew with each round,
//! before them and behind what inserts.
//!
//! It is written out as waves, so that no executor has to know of it.

use super::domain::DomainArgs;
use super::fill::{scopes, users};
use super::graph::{Columns, Field, FieldKind, Graph, Piece, Wave};
use super::order::common_scope;
use super::pairs::is_older;
use crate::args::ident_of;
use crate::kernel::param::{Written, written};
use crate::report::Report;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, FnArg, ItemFn, Pat, Type, parse_quote};
use vyre_core::vir0::module::Portion;
use vyre_core::vir0::table::Index;

/// In the names of the fields that this adds.
pub(super) const INDEX: &str = "__vyre_index_";

/// How the name of the wave begins that adds to an index.
const FILE: &str = "__vyre_file_";

/// Writes out the indexes of a graph's own relations.
pub(crate) fn write_out(graph: &mut Graph, report: &mut Report) {
    let own = graph.fields.iter().filter(|f| f.origin.is_none());
    let indexed = own.filter_map(|field| match &field.kind {
        FieldKind::List { item, indexes, .. } if !indexes.is_empty() => {
            let item = (**item).clone();
            Some((field.name.clone(), item, indexes.clone(), field.reset))
        }
        _ => None,
    });
    let indexed: Vec<(Ident, Type, Vec<Columns>, Option<Span>)> = indexed.collect();
    for (relation, item, indexes, reset) in indexed {
        if let Some(more) = indexes.get(Index::MOST) {
            report.error_help(
                more.span,
                format!(
                    "relation `{relation}` has more than {} indexes",
                    Index::MOST
                ),
                "an index by fewer columns finds more tuples, which a kernel can compare itself",
            );
            continue;
        }
        let scope = walked_in(graph, &relation, (&indexes, reset.is_some()), report);
        for columns in indexes {
            add(graph, (&relation, &item), (columns, reset), scope);
        }
    }
    joins_come_first(graph, report);
}

/// A wave walks no index of an included graph's relation: where that has all tuples, its own graph has checked.
pub(super) fn each_its_own(graph: &Graph, report: &mut Report) {
    for field in graph.fields.iter().filter(|f| f.origin.is_some()) {
        let FieldKind::List { indexes, .. } = &field.kind else {
            continue;
        };
        let own = graph.waves.iter().filter(|w| w.origin.is_none());
        for wave in own {
            let mut methods = indexes.iter().map(Columns::method);
            if methods.any(|method| walks(wave, &field.name, &method)) {
                report.error_help(
                    at(wave, &field.name),
                    format!(
                        "`{}` walks an index of a relation of an included graph",
                        wave.name()
                    ),
                    "sweep `items(..)` or ask `contains`, or insert its tuples into a relation of this graph with an index",
                );
            }
        }
    }
}

/// Joins with older tuples come before the waves that file new ones: those that a join waits for must not come after
/// these.
fn joins_come_first(graph: &mut Graph, report: &mut Report) {
    let mut astray = Vec::new();
    let all = graph.waves.iter().enumerate();
    for (at, older) in all.filter(|(_, w)| is_older(w)) {
        for first in &older.after {
            let files = |node: &&Ident| {
                let waits = waits_for(graph, older.scope, node);
                waits.iter().any(|w| w.to_string().starts_with(FILE))
            };
            let before = all_before(graph, older.scope, first);
            if let Some(node) = std::iter::once(first).chain(before).find(files) {
                report.error_help(
                    first.span(),
                    format!(
                        "`{node}` comes before a join, and walks an index to which new tuples are added after joins"
                    ),
                    "joins come first in a round: let the join not wait for it, or let a second fixpoint join",
                );
                astray.push(at);
            }
        }
    }
    // The cycle that it would be has been told.
    for at in astray {
        graph.waves[at].after.clear();
    }
}

/// The scope whose waves walk the indexes of a relation; the one around all its uses, if it begins anew with each round.
fn walked_in(
    graph: &Graph,
    relation: &Ident,
    (indexes, begins_anew): (&[Columns], bool),
    report: &mut Report,
) -> usize {
    let mut walkers: Vec<&Wave> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for columns in indexes {
        let method = columns.method();
        let own = graph.waves.iter().filter(|w| walks(w, relation, &method));
        let before = walkers.len();
        walkers.extend(own);
        if seen.contains(&method) {
            report.error_help(
                columns.span,
                format!("relation `{relation}` has this index twice"),
                "leave one out",
            );
        } else if walkers.len() == before && report.is_empty() {
            let by = columns.joined("`, `");
            report.error_help(
                columns.span,
                format!("no wave walks the index of `{relation}` by `{by}`"),
                format!(
                    "leave it out, or write `for t in {relation}.{method}(..)` in a wave that takes `{relation}`"
                ),
            );
        }
        seen.push(method);
    }
    let scope = match begins_anew {
        true => scopes(graph, relation)
            .into_iter()
            .reduce(|a, b| common_scope(graph, a, b)),
        false => walkers.iter().map(|w| w.scope).max(),
    };
    let scope = match scope.unwrap_or(0) {
        scope if scope > 0 && !begins_anew && is_whole(graph, relation, &walkers) => return 0,
        scope => scope,
    };
    // It is filled once, or once in each round.
    let at_once = scope == 0 || begins_anew;
    let grows = |w: &&&Wave| at_once && inserts(w, relation);
    if let Some(wave) = walkers.iter().find(grows) {
        let (begins, once) = match begins_anew {
            true => (", which begins anew with each round", "once in each round"),
            false => (", in no fixpoint", "once"),
        };
        report.error_help(
            at(wave, relation),
            format!(
                "`{}` walks an index of `{relation}` and inserts into it{begins}",
                wave.name()
            ),
            format!("this index is filled {once}: insert into another relation"),
        );
    }
    if begins_anew {
        if let Some(other) = walkers.iter().find(|w| w.scope != scope) {
            report.error_help(
                at(other, relation),
                format!(
                    "`{}` walks an index of `{relation}`, which begins anew with each round of `{}`",
                    other.name(),
                    graph.scopes[scope].name
                ),
                "only waves of that fixpoint itself may: let this one sweep `items(..)` or ask `contains`",
            );
        }
        return scope;
    }
    for other in walkers.iter().filter(|w| w.scope != scope) {
        if let Err((why, help)) = sees_all(graph, other, relation, scope) {
            let message = format!(
                "`{}` walks an index of `{relation}`, which fixpoint `{}` fills: {why}",
                other.name(),
                graph.scopes[scope].name,
            );
            report.error_help(at(other, relation), message, help);
        }
    }
    scope
}

/// Whether a relation has all its tuples before the first wave walks an index of it, and none of them is new to a join.
fn is_whole(graph: &Graph, relation: &Ident, walkers: &[&Wave]) -> bool {
    if walkers.iter().any(|w| is_older(w)) {
        return false;
    }
    let name = |piece: &Piece| match piece {
        Piece::Wave(w) => Some(graph.waves[*w].name().clone()),
        Piece::Scope(s) => Some(graph.scopes[*s].name.clone()),
        Piece::Item(_) => None,
    };
    let users = users(graph, relation, 0);
    let inserting = users.iter().filter(|piece| match piece {
        Piece::Wave(w) => inserts(&graph.waves[*w], relation),
        Piece::Scope(s) => inserts_in(graph, *s, relation),
        Piece::Item(_) => false,
    });
    let inserting: Vec<Ident> = inserting.filter_map(name).collect();
    let mut walking = users.iter().filter(|piece| match piece {
        Piece::Wave(w) => walkers.iter().any(|of| std::ptr::eq(*of, &graph.waves[*w])),
        Piece::Scope(s) => walkers.iter().any(|of| is_in(graph, of.scope, *s)),
        Piece::Item(_) => false,
    });
    walking.all(|piece| {
        let first = |node: &Ident| {
            inserting
                .iter()
                .all(|insert| comes_after(graph, 0, node, insert))
        };
        name(piece).is_some_and(|node| first(&node))
    })
}

/// Whether a scope is another one, or in it.
fn is_in(graph: &Graph, scope: usize, other: usize) -> bool {
    std::iter::successors(Some(scope), |&s| graph.scopes[s].parent).any(|s| s == other)
}

/// Whether an index that the rounds of a fixpoint fill has all tuples where a wave outside walks it, or why not and what
/// to do.
fn sees_all(
    graph: &Graph,
    wave: &Wave,
    relation: &Ident,
    fixpoint: usize,
) -> Result<(), (String, String)> {
    let scope = &graph.scopes[fixpoint];
    let instead = || {
        "let this wave sweep `items(..)` or ask `contains`, or insert what it needs into another relation".to_owned()
    };
    // In the rounds of a fixpoint around that one it would see what came in this round.
    if wave.scope > 0 || scope.parent != Some(0) {
        let why = "besides its own waves, only those outside of fixpoints may".to_owned();
        return Err((why, instead()));
    }
    let ends = scope.fixpoint.as_ref().and_then(|args| args.until.as_ref());
    if !ends.is_some_and(|until| waits_until_settled(until, relation)) {
        let why = format!(
            "it may end before all is filed, since `until` does not ask `{relation}.settled()`"
        );
        let help = format!("write `until({relation}.settled())`, or `{relation}.settled() && ..`");
        return Err((why, help));
    }
    if !comes_after(graph, wave.scope, wave.name(), &scope.name) {
        let why = "this wave does not come after it".to_owned();
        return Err((why, format!("write `after({})`", scope.name)));
    }
    let later = users(graph, relation, wave.scope)
        .into_iter()
        .find_map(|user| {
            let name = match user {
                Piece::Wave(w) if inserts(&graph.waves[w], relation) => graph.waves[w].name(),
                Piece::Scope(s) if s != fixpoint && inserts_in(graph, s, relation) => {
                    &graph.scopes[s].name
                }
                _ => return None,
            };
            (!comes_after(graph, wave.scope, &scope.name, name)).then(|| name.clone())
        });
    match later {
        Some(name) => Err((format!("`{name}` may insert more after it"), instead())),
        None => Ok(()),
    }
}

/// Whether a condition holds only where no tuple was inserted.
fn waits_until_settled(until: &Expr, relation: &Ident) -> bool {
    match until {
        Expr::Paren(inner) => waits_until_settled(&inner.expr, relation),
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
            waits_until_settled(&both.left, relation) || waits_until_settled(&both.right, relation)
        }
        Expr::MethodCall(call) => {
            call.method == "settled" && ident_of(&call.receiver) == Some(relation)
        }
        _ => false,
    }
}

/// Whether a node of a scope comes after another one, by what they and those between them wait for.
fn comes_after(graph: &Graph, scope: usize, node: &Ident, first: &Ident) -> bool {
    all_before(graph, scope, node).contains(&first)
}

/// What a node of a scope waits for, and what that waits for, and so on.
fn all_before<'g>(graph: &'g Graph, scope: usize, node: &Ident) -> Vec<&'g Ident> {
    let mut all: Vec<&Ident> = waits_for(graph, scope, node).iter().collect();
    let mut at = 0;
    while let Some(&node) = all.get(at) {
        let waits = waits_for(graph, scope, node);
        let new: Vec<&Ident> = waits.iter().filter(|w| !all.contains(w)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

/// What a node of a scope waits for.
fn waits_for<'g>(graph: &'g Graph, scope: usize, node: &Ident) -> &'g [Ident] {
    let nodes = graph.scopes[scope].pieces.iter();
    let mut found = nodes.filter_map(|piece| match piece {
        Piece::Wave(w) if graph.waves[*w].name() == node => Some(&graph.waves[*w].after[..]),
        Piece::Scope(s) if graph.scopes[*s].name == *node => {
            let args = graph.scopes[*s].fixpoint.as_ref();
            args.map(|args| &args.after[..])
        }
        _ => None,
    });
    found.next().unwrap_or(&[])
}

/// Where a wave takes a relation.
pub(super) fn at(wave: &Wave, relation: &Ident) -> Span {
    let mut taken = types_of(wave, relation);
    taken
        .next()
        .map_or_else(|| wave.name().span(), Spanned::span)
}

/// The types by which a wave takes a field: of one parameter, or of none.
fn types_of<'g>(wave: &'g Wave, field: &'g Ident) -> impl Iterator<Item = &'g Type> {
    let inputs = wave.function.sig.inputs.iter();
    inputs.filter_map(move |input| match input {
        FnArg::Typed(arg) => match &*arg.pat {
            Pat::Ident(p) if wave.field(&p.ident).as_ref() == Some(field) => Some(&*arg.ty),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}

/// Whether a wave may insert into a relation.
pub(super) fn inserts(wave: &Wave, relation: &Ident) -> bool {
    types_of(wave, relation).any(|ty| written(ty) == Written::Insert)
}

/// Whether a wave in a scope may.
fn inserts_in(graph: &Graph, scope: usize, relation: &Ident) -> bool {
    let mut waves = graph.waves.iter();
    waves.any(|w| inserts(w, relation) && is_in(graph, w.scope, scope))
}

/// Whether a wave calls this method of a relation.
fn walks(wave: &Wave, relation: &Ident, method: &str) -> bool {
    fn calls(tokens: TokenStream, (name, method): (&Ident, &str)) -> bool {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is_call = |window: &[TokenTree]| match window {
            [
                TokenTree::Ident(a),
                TokenTree::Punct(dot),
                TokenTree::Ident(b),
            ] => a == name && dot.as_char() == '.' && b == method,
            _ => false,
        };
        trees.windows(3).any(is_call)
            || trees.iter().any(|tree| match tree {
                TokenTree::Group(g) => calls(g.stream(), (name, method)),
                _ => false,
            })
    }
    let body = wave.function.block.to_token_stream();
    wave.function.sig.inputs.iter().any(|input| match input {
        FnArg::Typed(arg) => match &*arg.pat {
            Pat::Ident(p) => {
                wave.field(&p.ident).as_ref() == Some(relation)
                    && calls(body.clone(), (&p.ident, method))
            }
            _ => false,
        },
        FnArg::Receiver(_) => false,
    })
}

/// Adds the field and the wave of an index.
fn add(
    graph: &mut Graph,
    (relation, item): (&Ident, &Type),
    (columns, reset): (Columns, Option<Span>),
    scope: usize,
) {
    let name = relation.unraw();
    let by = columns.joined("_and_");
    let shown = format!("{name}:{}", columns.joined(","));
    let field = format_ident!("{INDEX}{name}_by_{by}");
    let wave = format_ident!("{FILE}{name}_by_{by}");
    // In a fixpoint behind joins with older tuples, and before all others that walk it; where it is filled at once,
    // behind what inserts.
    let in_fixpoint = scope > 0 && reset.is_none();
    let mut before = Vec::new();
    let method = columns.method();
    for user in users(graph, relation, scope) {
        match user {
            Piece::Wave(w) if walks(&graph.waves[w], relation, &method) => {
                match is_older(&graph.waves[w]) {
                    true => before.push(graph.waves[w].name().clone()),
                    false => graph.waves[w].after.push(wave.clone()),
                }
            }
            _ if in_fixpoint => {}
            Piece::Wave(w) if !inserts(&graph.waves[w], relation) => {}
            Piece::Wave(w) => before.push(graph.waves[w].name().clone()),
            Piece::Scope(s) if inserts_in(graph, s, relation) => {
                before.push(graph.scopes[s].name.clone());
            }
            Piece::Scope(s) => {
                let mut waves = graph.waves.iter();
                if waves.any(|w| is_in(graph, w.scope, s) && walks(w, relation, &method))
                    && let Some(args) = &mut graph.scopes[s].fixpoint
                {
                    args.after.push(wave.clone());
                }
            }
            Piece::Item(_) => {}
        }
    }
    let portion = match in_fixpoint {
        true => Portion::Last,
        false => Portion::All,
    };
    let vis = graph.options.visible(Span::call_site());
    let krate = &graph.options.krate;
    let function: ItemFn = parse_quote! {
        #[doc(hidden)]
        #vis fn #wave(tuple: #item, #field: &#krate::__private::Filing<#item>) {
            #field.file(tuple);
        }
    };
    graph.scopes[scope]
        .pieces
        .push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope,
        function,
        domain: Some(DomainArgs::Items {
            of: relation.clone(),
            portion,
        }),
        after: before,
        names: HashMap::new(),
        call: None,
        shown: Some(shown.clone()),
        origin: None,
    });
    graph.fields.push(Field {
        name: field,
        shown: Some(format!("{shown}:table")),
        docs: Vec::new(),
        kind: FieldKind::Index {
            relation: relation.clone(),
            columns,
        },
        reset,
        entered: None,
        host: None,
        given: None,
        origin: None,
    });
}
