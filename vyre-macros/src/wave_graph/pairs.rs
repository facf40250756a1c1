//! `pairs(a.x = b.y)`: a join of two relations, written out as waves over one of them that walk an index of the other.
//!
//! With `last`, each pair with at least one new tuple comes once, as in semi-naive evaluation: new tuples of the first
//! relation with all of the second one, and new tuples of the second one with the older ones of the first. Of these the
//! index has no new tuples yet, since that wave comes before those which file them (`index`).

use super::check::describe;
use super::domain::{DomainArgs, PairArgs};
use super::graph::{Columns, FieldKind, Graph, Piece, Wave};
use super::index::inserts_in;
use crate::kernel::param::type_word;
use crate::report::{Report, did_you_mean};
use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, ItemFn, Member, Pat, PatIdent, Type, parse_quote};
use vyre_core::vir0::module::Portion;

/// How the name of the wave begins that joins with older tuples.
const OLDER: &str = "__vyre_older_";

/// Whether a wave of this name is one that no user has written.
pub(super) fn is_hidden_join(name: &Ident) -> bool {
    name.to_string().starts_with(OLDER)
}

/// Whether a wave of this name joins with what is new.
pub(super) fn is_join(graph: &Graph, name: &Ident) -> bool {
    let older = format!("{OLDER}{}", name.unraw());
    graph.waves.iter().any(|w| *w.name() == older)
}

/// Whether a wave joins with tuples that are not new, so that it comes before those are filed.
pub(super) fn is_older(wave: &Wave) -> bool {
    is_hidden_join(wave.name())
}

/// Writes out the joins of a graph.
pub(crate) fn write_out(graph: &mut Graph, report: &mut Report) {
    for w in 0..graph.waves.len() {
        let wave = &mut graph.waves[w];
        if let Some(DomainArgs::Pairs(_)) = &wave.domain
            && let Some(DomainArgs::Pairs(args)) = wave.domain.take()
        {
            join(graph, w, *args, report);
        }
    }
}

/// One side of a join: a relation, the type of its tuples, and the method that walks its index by the columns of the
/// join, each with the column of the other side.
struct Side {
    relation: Ident,
    item: Type,
    method: Ident,
    others: Vec<Member>,
}

fn join(graph: &mut Graph, w: usize, args: PairArgs, report: &mut Report) {
    let errors = report.len();
    let (lefts, rights): (Vec<Member>, Vec<Member>) = args.on.into_iter().unzip();
    for (name, columns) in [(&args.left, &lefts), (&args.right, &rights)] {
        let twice = |&at: &usize| columns[..at].contains(&columns[at]);
        if let Some(at) = (0..columns.len()).find(twice) {
            let column = columns[at].to_token_stream();
            report.error_help(
                columns[at].span(),
                format!("`{name}.{column}` is compared twice"),
                "compare each column with one other; what else is to be equal, the wave asks by an `if`",
            );
            return;
        }
    }
    let first = side(graph, &args.left, (&lefts, &rights), args.last, report);
    let second = side(graph, &args.right, (&rights, &lefts), true, report);
    let function = &graph.waves[w].function;
    let items = items(function, report);
    let (Some(first), Some(second), Some([a, b])) = (first, second, items) else {
        return;
    };
    if let Some(walk) = walks(function) {
        report.error_help(
            walk.span(),
            format!("wave `{}` over `pairs` walks an index besides", function.sig.ident),
            "sweep `items(..)` and walk both relations in loops, or let a second wave do one of them",
        );
    }
    if let Some(jump) = stray_jump(function) {
        report.error(
            jump,
            "this jump is in no loop: `return` goes on to the next pair",
        );
    }
    let wave = &graph.waves[w];
    if args.last && wave.scope == 0 {
        report.error_help(
            args.left.span(),
            format!(
                "`last` is what the round before found, and wave `{}` is in no fixpoint",
                wave.name()
            ),
            "leave it out for all pairs, or put the wave into a fixpoint",
        );
    }
    // Of one relation it would see what this round inserted, and of the other one what was there before.
    if let (false, Some(around)) = (args.last, outermost(graph, wave.scope)) {
        let grows = |of: &Ident| inserts_in(graph, around, of) && !begins_anew(graph, of);
        if let Some(grows) = [&args.left, &args.right].into_iter().find(|of| grows(of)) {
            report.error_help(
                grows.span(),
                format!(
                    "wave `{}` joins all of `{grows}`, which grows in the rounds of `{}`",
                    wave.name(),
                    graph.scopes[around].name
                ),
                "write `last` for each pair once, as its tuples come; or join behind the fixpoint",
            );
        }
    }
    if report.len() > errors {
        return;
    }
    let older = args.last.then(|| {
        let name = format_ident!("{OLDER}{}", function.sig.ident.unraw());
        let mut function = over(function, (b.clone(), a.clone()), &first, graph);
        function.sig.ident = name;
        function.attrs.push(parse_quote!(#[doc(hidden)]));
        function
    });
    let function = over(function, (a, b), &second, graph);
    let portion = match args.last {
        true => Portion::Last,
        false => Portion::All,
    };
    let domain = |of: &Side| {
        Some(DomainArgs::Items {
            of: of.relation.clone(),
            portion,
        })
    };
    let wave = &mut graph.waves[w];
    wave.function = function;
    wave.domain = domain(&first);
    let Some(function) = older else {
        return;
    };
    let (scope, after) = (wave.scope, wave.after.clone());
    wave.after.push(function.sig.ident.clone());
    let shown = format!("{}:older", wave.shown());
    graph.scopes[scope]
        .pieces
        .push(Piece::Wave(graph.waves.len()));
    graph.waves.push(Wave {
        scope,
        function,
        domain: domain(&second),
        after,
        names: HashMap::new(),
        call: None,
        shown: Some(shown),
        origin: None,
    });
}

/// The fixpoint around all others that a scope is in.
fn outermost(graph: &Graph, scope: usize) -> Option<usize> {
    let mut around = std::iter::successors(Some(scope), |&s| graph.scopes[s].parent);
    around.find(|&s| graph.scopes[s].parent == Some(0))
}

fn begins_anew(graph: &Graph, relation: &Ident) -> bool {
    let mut fields = graph.fields.iter();
    fields.any(|f| f.name == *relation && f.reset.is_some())
}

/// A relation of a join, with the columns of its own and of the other side.
fn side(
    graph: &Graph,
    name: &Ident,
    (own, others): (&[Member], &[Member]),
    is_walked: bool,
    report: &mut Report,
) -> Option<Side> {
    let Some(field) = graph.fields.iter().find(|f| f.name == *name) else {
        let fields: Vec<String> = graph.fields.iter().map(|f| f.name.to_string()).collect();
        let help = match did_you_mean(&name.to_string(), fields.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "declare it: `#[relation(capacity = n, index(column))] {name}: Relation<T>`"
            ),
        };
        report.error_help(
            name.span(),
            format!("`{name}` is not a field of `Data`"),
            help,
        );
        return None;
    };
    let FieldKind::List {
        item,
        indexes,
        set: true,
        ..
    } = &field.kind
    else {
        if !matches!(field.kind, FieldKind::Broken) {
            report.error_help(
                name.span(),
                format!("`pairs` joins relations, and `{name}` is {}", describe(&field.kind)),
                "of edges, loop over `graph.neighbors(v)` in a wave over the relation's `items(..)`",
            );
        }
        return None;
    };
    let is_by = |index: &&Columns| {
        index.names.len() == own.len() && own.iter().all(|name| index.names.contains(name))
    };
    let index = indexes.iter().find(is_by);
    if index.is_none() && is_walked {
        let by: Vec<String> = own
            .iter()
            .map(|m| m.to_token_stream().to_string())
            .collect();
        report.error_help(
            own[0].span(),
            format!("`{name}` has no index by `{}`", by.join("`, `")),
            format!(
                "declare it: `#[relation(capacity = .., index({}))]`",
                by.join(", ")
            ),
        );
        return None;
    }
    let names = index.map_or(own, |index| &index.names[..]);
    let of = |name: &Member| own.iter().position(|m| m == name).unwrap_or(0);
    let columns = Columns {
        names: names.to_vec(),
        span: name.span(),
    };
    Some(Side {
        relation: name.clone(),
        item: (**item).clone(),
        method: Ident::new(&columns.method(), name.span()),
        others: names.iter().map(|name| others[of(name)].clone()).collect(),
    })
}

/// The parameters of the two tuples.
fn items(function: &ItemFn, report: &mut Report) -> Option<[(PatIdent, Type); 2]> {
    let inputs = function.sig.inputs.iter();
    let named = inputs.map_while(|input| match input {
        FnArg::Typed(arg) => match (&*arg.pat, &*arg.ty) {
            (Pat::Ident(name), ty) if !is_no_tuple(ty) => Some((name.clone(), ty.clone())),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let named: Vec<(PatIdent, Type)> = named.take(2).collect();
    let items: Option<[(PatIdent, Type); 2]> = named.try_into().ok();
    if items.is_none() {
        report.error_help(
            function.sig.ident.span(),
            format!(
                "wave `{}` over `pairs` takes two tuples",
                function.sig.ident
            ),
            "name them first, in the order of the relations: `fn join(a: First, b: Second, ..)`",
        );
    }
    if let Some([(a, _), (b, _)]) = &items
        && a.ident == b.ident
    {
        report.error_help(
            b.ident.span(),
            format!("both tuples are named `{}`", b.ident),
            "give one of them another name",
        );
        return None;
    }
    items
}

/// Whether a parameter of this type is certainly no tuple.
fn is_no_tuple(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_)) || type_word(ty).is_some_and(|word| word == "Round")
}

/// The first call that walks an index.
fn walks(function: &ItemFn) -> Option<Ident> {
    struct Walks(Option<Ident>);
    impl VisitMut for Walks {
        fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
            if let Expr::MethodCall(call) = &*f.expr
                && call.method.to_string().starts_with(super::graph::WITH)
            {
                self.0.get_or_insert(call.method.clone());
            }
            visit_mut::visit_expr_for_loop_mut(self, f);
        }
    }
    let mut found = Walks(None);
    found.visit_block_mut(&mut function.block.clone());
    found.0
}

/// The function for tuples of the first side, which goes over those of the second one.
fn over(
    function: &ItemFn,
    ((swept, swept_type), (walked, walked_type)): ((PatIdent, Type), (PatIdent, Type)),
    other: &Side,
    graph: &Graph,
) -> ItemFn {
    let mut function = function.clone();
    let mut rest: Vec<FnArg> = function.sig.inputs.into_iter().skip(2).collect();
    let relation = &other.relation;
    let is_taken = rest.iter().any(|input| match input {
        FnArg::Typed(arg) => matches!(&*arg.pat, Pat::Ident(p) if p.ident == *relation),
        FnArg::Receiver(_) => false,
    });
    if !is_taken {
        let (krate, item) = (&graph.options.krate, &other.item);
        rest.push(parse_quote!(#relation: &#krate::prelude::Lookup<#item>));
    }
    let mut block = (*function.block).clone();
    let label = returns(&mut block);
    let (name, method) = (&swept.ident, &other.method);
    // The method takes its columns in the order of the index.
    let values = other.others.iter().map(|column| quote! { #name.#column });
    // What a pair does to its tuples is gone with it.
    let fresh = swept
        .mutability
        .map(|mutable| quote! { let #mutable #name = #name; });
    let (found, mutable) = (&walked.ident, walked.mutability);
    function.sig.inputs = std::iter::once::<FnArg>(parse_quote!(#name: #swept_type))
        .chain(rest)
        .collect();
    *function.block = parse_quote! {
        {
            #label for #found in #relation.#method(#(#values),*) {
                let #mutable #found: #walked_type = #found;
                #fresh
                #block
            }
        }
    };
    function
}

/// A `break` or `continue` that would leave the loop which the macro writes.
fn stray_jump(function: &ItemFn) -> Option<Span> {
    struct Jumps {
        loops: u32,
        found: Option<Span>,
    }
    impl Jumps {
        fn inside(&mut self, visit: impl FnOnce(&mut Jumps)) {
            self.loops += 1;
            visit(self);
            self.loops -= 1;
        }
    }
    impl VisitMut for Jumps {
        fn visit_expr_mut(&mut self, e: &mut Expr) {
            let unlabelled = match e {
                Expr::Break(b) => b.label.is_none(),
                Expr::Continue(c) => c.label.is_none(),
                _ => false,
            };
            if unlabelled && self.loops == 0 {
                self.found = self.found.or(Some(e.span()));
            }
            match e {
                // Its head is not yet in it.
                Expr::ForLoop(f) => {
                    self.visit_expr_mut(&mut f.expr);
                    self.inside(|jumps| jumps.visit_block_mut(&mut f.body));
                }
                Expr::Loop(_) | Expr::While(_) => {
                    self.inside(|jumps| visit_mut::visit_expr_mut(jumps, e));
                }
                _ => visit_mut::visit_expr_mut(self, e),
            }
        }

        fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}

        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    let mut jumps = Jumps {
        loops: 0,
        found: None,
    };
    jumps.visit_block_mut(&mut function.block.clone());
    jumps.found
}

/// Lets `return` go on to the next pair: the label of the loop, if there is one.
fn returns(block: &mut Block) -> Option<proc_macro2::TokenStream> {
    struct Returns(bool);
    impl VisitMut for Returns {
        fn visit_expr_mut(&mut self, e: &mut Expr) {
            if let Expr::Return(_) = e {
                self.0 = true;
                *e = parse_quote!(continue '__vyre_pairs);
            }
            visit_mut::visit_expr_mut(self, e);
        }

        fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}

        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    let mut found = Returns(false);
    found.visit_block_mut(block);
    let label = syn::Lifetime::new("'__vyre_pairs", Span::call_site());
    found.0.then(|| quote! { #label: })
}
