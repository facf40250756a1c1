//! Loops of the user's functions look whether the run that they belong to is to stop: a call of `turn` stands at the
//! beginning of what they repeat. Everything else stays as it was written. Outside of runs the call does nothing.

use crate::tokens::any_token;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprForLoop, ExprLoop, ExprWhile, Item, ItemFn, Stmt, parse_quote};

/// The item with such calls, where it has loops. What does not parse is left to rustc.
pub(crate) fn watched(item: TokenStream, private: &TokenStream) -> TokenStream {
    let is_loop = |t: &TokenTree| matches!(t, TokenTree::Ident(i) if i == "loop" || i == "while" || i == "for");
    if !any_token(item.clone(), &is_loop) {
        return item;
    }
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    Turns { private }.visit_item_mut(&mut parsed);
    quote! { #parsed }
}

struct Turns<'p> {
    private: &'p TokenStream,
}

impl Turns<'_> {
    fn turn(&self) -> Stmt {
        let private = self.private;
        parse_quote! { #private::turn(); }
    }
}

impl VisitMut for Turns<'_> {
    /// What rustc evaluates is no lane.
    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Fn(_) | Item::Mod(_) | Item::Impl(_) = item {
            visit_mut::visit_item_mut(self, item);
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if function.sig.constness.is_none() {
            visit_mut::visit_item_fn_mut(self, function);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        if function.sig.constness.is_none() {
            visit_mut::visit_impl_item_fn_mut(self, function);
        }
    }

    fn visit_expr_loop_mut(&mut self, l: &mut ExprLoop) {
        visit_mut::visit_expr_loop_mut(self, l);
        l.body.stmts.insert(0, self.turn());
    }

    fn visit_expr_while_mut(&mut self, w: &mut ExprWhile) {
        visit_mut::visit_expr_while_mut(self, w);
        w.body.stmts.insert(0, self.turn());
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let Expr::ForLoop(f) = e else {
            return visit_mut::visit_expr_mut(self, e);
        };
        if turns_of_nest(f).is_none_or(|turns| turns > FEW) {
            visit_mut::visit_expr_for_loop_mut(self, f);
        }
        let turn = self.turn();
        match looks(&f.expr) {
            Looks::Before => *e = parse_quote! { { #turn #f } },
            Looks::EachTurn => f.body.stmts.insert(0, turn),
        }
    }

    // What rustc evaluates, in the midst of other code.

    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
}

/// Turns that soon are over: a nest of `for` loops that has so few together looks once, before all of them.
const FEW: u64 = 1 << 16;

/// Where a `for` loop looks.
enum Looks {
    /// Before its first turn: over a node's edges, an array, or few numbers.
    Before,
    /// In each turn: over numbers, or bits.
    EachTurn,
}

fn looks(over: &Expr) -> Looks {
    match over {
        Expr::Paren(inner) => looks(&inner.expr),
        Expr::Group(inner) => looks(&inner.expr),
        Expr::Range(_) if literal_turns(over).is_none_or(|turns| turns > FEW) => Looks::EachTurn,
        Expr::MethodCall(call) if call.method == "rev" || call.method == "step_by" => {
            looks(&call.receiver)
        }
        Expr::MethodCall(call) if call.method == "ones" => Looks::EachTurn,
        _ => Looks::Before,
    }
}

/// An upper bound of how often the innermost bodies of a loop run, where it and the loops in it say so themselves.
fn turns_of_nest(f: &mut ExprForLoop) -> Option<u64> {
    /// Of a body, by the loops in it.
    struct Inner(Option<u64>);
    impl VisitMut for Inner {
        fn visit_expr_for_loop_mut(&mut self, f: &mut ExprForLoop) {
            let both = self.0.zip(turns_of_nest(f));
            self.0 = both.map(|(a, b)| a.saturating_add(b));
        }

        fn visit_expr_while_mut(&mut self, _: &mut ExprWhile) {
            self.0 = None;
        }

        fn visit_expr_loop_mut(&mut self, _: &mut ExprLoop) {
            self.0 = None;
        }
    }
    let mut inner = Inner(Some(1));
    inner.visit_block_mut(&mut f.body);
    Some(literal_turns(&f.expr)?.saturating_mul(inner.0?))
}

/// How many turns a loop over literals has at most.
fn literal_turns(over: &Expr) -> Option<u64> {
    let number = |end: &Expr| match end {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => number.base10_parse::<u64>().ok(),
            _ => None,
        },
        _ => None,
    };
    match over {
        Expr::Paren(inner) => literal_turns(&inner.expr),
        Expr::Group(inner) => literal_turns(&inner.expr),
        Expr::Array(array) => Some(array.elems.len() as u64),
        Expr::Range(range) => {
            let (_, end) = (
                number(range.start.as_deref()?)?,
                number(range.end.as_deref()?)?,
            );
            Some(end.saturating_add(1))
        }
        Expr::MethodCall(call) if call.method == "rev" || call.method == "step_by" => {
            literal_turns(&call.receiver)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(body: TokenStream) -> String {
        watched(quote! { fn f() { #body } }, &quote! { p }).to_string()
    }

    #[track_caller]
    fn assert_turned(body: TokenStream, expected: TokenStream) {
        assert_eq!(turned(body), quote! { fn f() { #expected } }.to_string());
    }

    #[test]
    fn loops_look_once_a_turn() {
        assert_turned(
            quote! { let x = 'a: loop { if done() { break 'a 3; } }; },
            quote! { let x = 'a: loop { p::turn(); if done() { break 'a 3; } }; },
        );
        assert_turned(
            quote! { while let Some(x) = next() { while x {} } },
            quote! { while let Some(x) = next() { p::turn(); while x { p::turn(); } } },
        );
        assert_turned(
            quote! { for i in (0..=n).rev().step_by(2) { f(i); } },
            quote! { for i in (0..=n).rev().step_by(2) { p::turn(); f(i); } },
        );
    }

    #[test]
    fn short_loops_and_walks_over_edges_look_less_often() {
        for short in [
            quote! { 0..32 },
            quote! { (0..=65_535).rev() },
            quote! { [1, 2, 3] },
            quote! { xs },
            quote! { graph.neighbors(v) },
        ] {
            assert_turned(
                quote! { for i in #short { f(i); } },
                quote! { { p::turn(); for i in #short { f(i); } } },
            );
        }
        assert_turned(
            quote! { for i in 0..4_000_000_000 { f(i); } },
            quote! { for i in 0..4_000_000_000 { p::turn(); f(i); } },
        );
    }

    #[test]
    fn nests_look_once_where_they_have_few_turns_together() {
        let few =
            quote! { for i in 0..16 { for x in [1, 2] { f(i); } for j in 0..3_000 { f(j); } } };
        assert_turned(few.clone(), quote! { { p::turn(); #few } });
        assert_turned(
            quote! { for i in 0..60_000 { for j in 0..2 { f(j); } } },
            quote! { { p::turn(); for i in 0..60_000 { { p::turn(); for j in 0..2 { f(j); } } } } },
        );
        assert_turned(
            quote! { for i in 0..2 { for b in row.ones(v) { f(b); } } },
            quote! { { p::turn(); for i in 0..2 { for b in row.ones(v) { p::turn(); f(b); } } } },
        );
        assert_turned(
            quote! { for i in 0..2 { while f(i) {} } },
            quote! { { p::turn(); for i in 0..2 { while f(i) { p::turn(); } } } },
        );
    }

    #[test]
    fn what_rustc_evaluates_stays_as_it_is() {
        for item in [
            quote! { const fn f() { loop {} } },
            quote! { const X: u32 = { let mut i = 0; while i < 3 { i += 1; } i }; },
            quote! { macro_rules! m { () => { loop {} } } },
            quote! { fn f() { const X: u32 = { while true {} 3 }; } },
            quote! { impl S { const N: u32 = { while true {} 3 }; } },
            quote! { fn f() { let x = [0; { while true {} 3 }]; } },
            quote! { fn f() { let x: [u32; { while true {} 3 }] = const { loop {} }; } },
            quote! { fn f() { g::<{ while true {} 3 }>(); } },
        ] {
            assert_eq!(
                watched(item.clone(), &quote! { p }).to_string(),
                item.to_string()
            );
        }
    }
}
