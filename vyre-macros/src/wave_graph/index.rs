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
use proc_macro2::{Ident, Span};
use quote::format_ident;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Expr, ExprGroup, ExprMethodCall, ExprParen, FnArg, ItemFn, Pat, Type, parse_quote,
};
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
        let mut unwalked = Vec::new();
        let of = (&indexes[..], reset.is_some());
        let scope = walked_in(graph, &relation, of, (&mut unwalked, report));
        graph.unwalked.extend(unwalked);
        for (number, columns) in indexes.into_iter().enumerate() {
            add(graph, (&relation, &item), (number, columns, reset), scope);
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
    (unwalked, report): (&mut Vec<(Span, String, String)>, &mut Report),
) -> usize {
    let mut walkers: Vec<&Wave> = Vec::new();
    for (number, columns) in indexes.iter().enumerate() {
        let method = columns.method();
        let own = graph.waves.iter().filter(|w| walks(w, relation, &method));
        let before = walkers.len();
        walkers.extend(own);
        let mut others = indexes[..number].iter();
        if others
            .clone()
            .any(|other| other.sorted() == columns.sorted())
        {
            report.error_help(
                columns.span,
                format!("relation `{relation}` has this index twice"),
                "leave one out: the order of the columns is only that of the arguments",
            );
        } else if others.any(|other| other.method() == method) {
            report.error_help(
                columns.span,
                format!("two indexes of relation `{relation}` would be walked by `{method}`"),
                "give one of the columns another name",
            );
        } else if walkers.len() == before {
            let by = columns.joined("`, `");
            unwalked.push((
                columns.span,
                format!("no wave walks the index of `{relation}` by `{by}`"),
                format!(
                    "leave it out, or write `for t in {relation}.{method}(..)` in a wave that takes `{relation}`"
                ),
            ));
        }
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
    if at_once {
        let (inserting, walking) = pieces(graph, (relation, scope), &walkers);
        let behind = |insert: &&Ident| {
            let first = walking
                .iter()
                .find(|&w| comes_after(graph, scope, insert, w));
            first.map(|walk| ((*insert).clone(), walk.clone()))
        };
        if let Some((insert, walk)) = inserting.iter().find_map(|i| behind(&i)) {
            report.error_help(
                insert.span(),
                format!("`{insert}` inserts into `{relation}` after `{walk}` has walked an index of it"),
                "this index is filled once, when all waves that insert are done: insert into another relation",
            );
        }
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
    let (inserting, walking) = pieces(graph, (relation, 0), walkers);
    let whole = |node: &Ident| inserting.iter().all(|i| comes_after(graph, 0, node, i));
    !walkers.iter().any(|w| is_older(w)) && walking.iter().all(whole)
}

/// The waves and fixpoints directly in a scope that insert into a relation, and those that walk its indexes.
fn pieces(
    graph: &Graph,
    (relation, scope): (&Ident, usize),
    walkers: &[&Wave],
) -> (Vec<Ident>, Vec<Ident>) {
    let (mut inserting, mut walking) = (Vec::new(), Vec::new());
    for piece in users(graph, relation, scope) {
        let (name, does_insert, does_walk) = match piece {
            Piece::Wave(w) => {
                let wave = &graph.waves[w];
                let walks = walkers.iter().any(|of| std::ptr::eq(*of, wave));
                (wave.name(), inserts(wave, relation), walks)
            }
            Piece::Scope(s) => {
                let walks = walkers.iter().any(|of| is_in(graph, of.scope, s));
                let inserts = inserts_in(graph, s, relation);
                (&graph.scopes[s].name, inserts, walks)
            }
            Piece::Item(_) => continue,
        };
        inserting.extend(does_insert.then(|| name.clone()));
        walking.extend(does_walk.then(|| name.clone()));
    }
    (inserting, walking)
}

/// Whether a scope is another one, or in it.
pub(super) fn is_in(graph: &Graph, scope: usize, other: usize) -> bool {
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
pub(super) fn inserts_in(graph: &Graph, scope: usize, relation: &Ident) -> bool {
    let mut waves = graph.waves.iter();
    waves.any(|w| inserts(w, relation) && is_in(graph, w.scope, scope))
}

/// Whether a wave calls this method of a relation.
fn walks(wave: &Wave, relation: &Ident, method: &str) -> bool {
    struct Calls<'a> {
        wave: &'a Wave,
        relation: &'a Ident,
        method: &'a str,
        found: bool,
    }
    impl VisitMut for Calls<'_> {
        fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
            let mut of = &*call.receiver;
            while let Expr::Paren(ExprParen { expr, .. }) | Expr::Group(ExprGroup { expr, .. }) = of
            {
                of = expr;
            }
            self.found |= call.method == self.method
                && ident_of(of)
                    .is_some_and(|of| self.wave.field(of).as_ref() == Some(self.relation));
            visit_mut::visit_expr_method_call_mut(self, call);
        }
    }
    if types_of(wave, relation).next().is_none() {
        return false;
    }
    let mut calls = Calls {
        wave,
        relation,
        method,
        found: false,
    };
    calls.visit_block_mut(&mut wave.function.block.clone());
    calls.found
}

/// Adds the field and the wave of an index.
fn add(
    graph: &mut Graph,
    (relation, item): (&Ident, &Type),
    (number, columns, reset): (usize, Columns, Option<Span>),
    scope: usize,
) {
    let name = relation.unraw();
    let shown = format!("{name}:{}", columns.joined(","));
    let field = format_ident!("{INDEX}{name}_{number}");
    let wave = format_ident!("{FILE}{name}_{number}");
    // In a fixpoint behind joins with older tuples, and before all others that walk it; where it is filled at once,
    // behind what inserts.
    let in_fixpoint = scope > 0 && reset.is_none();
    let method = columns.method();
    let walkers: Vec<&Wave> = (graph.waves.iter())
        .filter(|w| walks(w, relation, &method))
        .collect();
    let (inserting, walking) = pieces(graph, (relation, scope), &walkers);
    let older = walkers.iter().filter(|w| is_older(w));
    let older: Vec<Ident> = older.map(|w| w.name().clone()).collect();
    // What walks as well, or inserts behind a wave that does, has been told.
    let behind =
        |i: &&Ident| walking.contains(i) || walking.iter().any(|w| comes_after(graph, scope, i, w));
    let before: Vec<Ident> = match in_fixpoint {
        true => older.clone(),
        false => inserting.iter().filter(|i| !behind(i)).cloned().collect(),
    };
    for piece in users(graph, relation, scope) {
        let (name, after) = match piece {
            Piece::Wave(w) => {
                let wave = &mut graph.waves[w];
                (wave.name().clone(), Some(&mut wave.after))
            }
            Piece::Scope(s) => {
                let scope = &mut graph.scopes[s];
                let args = scope.fixpoint.as_mut();
                (scope.name.clone(), args.map(|args| &mut args.after))
            }
            Piece::Item(_) => continue,
        };
        if let Some(after) = after
            && walking.contains(&name)
            && !older.contains(&name)
        {
            after.push(wave.clone());
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
        #vis fn #wave(__vyre_tuple: #item, #field: &#krate::__private::Filing<#item>) {
            #field.file(__vyre_tuple);
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
