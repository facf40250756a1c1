//! Loops of the user's functions look whether the run that they belong to is to end, and count their turns for its limit
//! of work: a call of `turn` stands at the beginning of what they repeat, and one of `leave` where a turn is left before
//! its end, which does not count. Everything else stays as it was written. Outside of runs the calls do nothing.

use crate::tokens::any_token;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprForLoop, ExprLoop, ExprWhile, Item, ItemFn, Label, Lifetime, parse_quote,
};

/// The item with such calls, where it has loops. What does not parse is left to rustc.
pub(crate) fn watched(item: TokenStream, private: &TokenStream) -> TokenStream {
    let is_loop = |t: &TokenTree| matches!(t, TokenTree::Ident(i) if i == "loop" || i == "while" || i == "for");
    if !any_token(item.clone(), &is_loop) {
        return item;
    }
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    let mut turns = Turns {
        private,
        open: Vec::new(),
        few: false,
    };
    turns.visit_item_mut(&mut parsed);
    quote! { #parsed }
}

struct Turns<'p> {
    private: &'p TokenStream,
    /// What this place is in, innermost last.
    open: Vec<Open>,
    /// It is in a nest of few turns, which has looked.
    few: bool,
}

/// A loop, or a block with a label.
struct Open {
    label: Option<Lifetime>,
    is_loop: bool,
    /// Its turns count.
    counts: bool,
}

impl Turns<'_> {
    /// A loop's body, or a block with a label.
    fn inside(&mut self, label: Option<&Label>, (is_loop, counts): (bool, bool), body: &mut Block) {
        self.open.push(Open {
            label: label.map(|label| label.name.clone()),
            is_loop,
            counts,
        });
        self.visit_block_mut(body);
        self.open.pop();
    }

    /// The body of a loop that looks in each turn.
    fn turning(&mut self, label: Option<&Label>, body: &mut Block) {
        self.inside(label, (true, true), body);
        let private = self.private;
        body.stmts.insert(0, parse_quote! { #private::turn(); });
    }

    /// Another function's body, or a closure's.
    fn apart(&mut self, visit: impl FnOnce(&mut Self)) {
        let open = std::mem::take(&mut self.open);
        visit(self);
        self.open = open;
    }

    /// Leaves, by this expression, what is open behind `outermost`: turns that count.
    fn leave(&self, by: &mut Expr, outermost: usize) {
        let left = self.open[outermost..].iter().filter(|open| open.counts);
        let left = left.count() as u64;
        if left > 0 {
            let private = self.private;
            *by = parse_quote! { { #private::leave(#left); #by } };
        }
    }

    /// What a `break` or `continue` is for.
    fn target(&self, label: Option<&Lifetime>) -> usize {
        let is_meant = |open: &Open| match label {
            Some(label) => open.label.as_ref() == Some(label),
            None => open.is_loop,
        };
        // What is not here, rustc says.
        self.open
            .iter()
            .rposition(is_meant)
            .unwrap_or(self.open.len())
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
            self.apart(|turns| visit_mut::visit_item_fn_mut(turns, function));
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        if function.sig.constness.is_none() {
            self.apart(|turns| visit_mut::visit_impl_item_fn_mut(turns, function));
        }
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::Loop(l) => self.turning(l.label.as_ref(), &mut l.body),
            Expr::While(w) => {
                self.visit_expr_mut(&mut w.cond);
                self.turning(w.label.as_ref(), &mut w.body);
            }
            Expr::ForLoop(f) => {
                let looked = self.few;
                self.few |= turns_of_nest(f).is_some_and(|turns| turns <= FEW);
                self.visit_expr_mut(&mut f.expr);
                match looks(&f.expr) {
                    Looks::EachTurn => self.turning(f.label.as_ref(), &mut f.body),
                    Looks::Before => {
                        self.inside(f.label.as_ref(), (true, false), &mut f.body);
                        if !looked {
                            let private = self.private;
                            *e = parse_quote! { { #private::look(); #f } };
                        }
                    }
                }
                self.few = looked;
            }
            Expr::Block(b) if b.label.is_some() => {
                self.inside(b.label.as_ref(), (false, false), &mut b.block);
            }
            Expr::Closure(_) => self.apart(|turns| visit_mut::visit_expr_mut(turns, e)),
            Expr::Break(b) => {
                let target = self.target(b.label.as_ref());
                visit_mut::visit_expr_break_mut(self, b);
                self.leave(e, target);
            }
            Expr::Continue(c) => {
                // The turn of the loop that goes on comes to its end.
                let within = self.target(c.label.as_ref()) + 1;
                self.leave(e, within.min(self.open.len()));
            }
            Expr::Return(r) => {
                visit_mut::visit_expr_return_mut(self, r);
                self.leave(e, 0);
            }
            _ => visit_mut::visit_expr_mut(self, e),
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
            quote! { let x = 'a: loop { p::turn(); if done() { { p::leave(1u64); break 'a 3 }; } }; },
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
                quote! { { p::look(); for i in #short { f(i); } } },
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
        assert_turned(few.clone(), quote! { { p::look(); #few } });
        assert_turned(
            quote! { for i in 0..60_000 { for j in 0..2 { f(j); } } },
            quote! { { p::look(); for i in 0..60_000 { { p::look(); for j in 0..2 { f(j); } } } } },
        );
        assert_turned(
            quote! { for i in 0..2 { for b in row.ones(v) { f(b); } } },
            quote! { { p::look(); for i in 0..2 { for b in row.ones(v) { p::turn(); f(b); } } } },
        );
        assert_turned(
            quote! { for i in 0..2 { while f(i) {} } },
            quote! { { p::look(); for i in 0..2 { while f(i) { p::turn(); } } } },
        );
    }

    #[test]
    fn turns_that_are_left_do_not_count() {
        assert_turned(
            quote! { 'a: loop { while x { if y { break 'a; } if z { continue 'a; } continue; } } },
            quote! {
                'a: loop {
                    p::turn();
                    while x {
                        p::turn();
                        if y { { p::leave(2u64); break 'a }; }
                        if z { { p::leave(1u64); continue 'a }; }
                        continue;
                    }
                }
            },
        );
        assert_turned(
            quote! { while x { 'b: { if y { break 'b; } return 3; } let f = |z| { return z; }; } },
            quote! {
                while x {
                    p::turn();
                    'b: { if y { break 'b; } { p::leave(1u64); return 3 }; }
                    let f = |z| { return z; };
                }
            },
        );
        // Loops over edges and of few turns do not count, and what is around them does.
        assert_turned(
            quote! { loop { for i in 0..3 { for j in 0..3 { if f(i, j) { return; } } } } },
            quote! {
                loop {
                    p::turn();
                    {
                        p::look();
                        for i in 0..3 { for j in 0..3 { if f(i, j) { { p::leave(1u64); return }; } } }
                    }
                }
            },
        );
        assert_turned(
            quote! { loop { for e in graph.edges(v) { if e { break; } return; } } },
            quote! {
                loop {
                    p::turn();
                    {
                        p::look();
                        for e in graph.edges(v) { if e { break; } { p::leave(1u64); return }; }
                    }
                }
            },
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
