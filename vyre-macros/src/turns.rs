//! Loops of the user's functions look whether the run that they belong to is to end, and count their turns for its limit
//! of work: a call of `turn` stands where a turn comes to its end, behind what a loop repeats and before each
//! `continue`. A turn that is left before its end does not count. Loops that are soon over look once, before their first
//! turn. Everything else stays as it was written. Outside of runs the calls do nothing.
//!
//! Bytecode counts the same turns: [`counts`] says of which loops.

use crate::tokens::{any_token, same_name};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, ExprForLoop, ExprLoop, ExprWhile, Item, ItemFn, Label, Lifetime,
    parse_quote,
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
        looked: false,
    };
    turns.visit_item_mut(&mut parsed);
    quote! { #parsed }
}

struct Turns<'p> {
    private: &'p TokenStream,
    /// The loops around this place, innermost last.
    open: Vec<Open>,
    /// It is in a nest of few turns, which has looked.
    looked: bool,
}

struct Open {
    label: Option<Lifetime>,
    counts: bool,
}

impl Turns<'_> {
    /// What a loop repeats, and the condition of a `while`, where a `continue` may name it as well.
    fn repeated(
        &mut self,
        label: Option<&Label>,
        counts: bool,
        cond: Option<&mut Expr>,
        body: &mut Block,
    ) {
        self.open.push(Open {
            label: label.map(|label| label.name.clone()),
            counts,
        });
        if let Some(cond) = cond {
            self.visit_expr_mut(cond);
        }
        self.visit_block_mut(body);
        self.open.pop();
        if counts {
            let private = self.private;
            // The body keeps the type that it must have. Behind one that never comes to its end, a call alone would be
            // unreachable, and an `allow` is refused by a `forbid` of the user's.
            *body = parse_quote! { { if true #body else {} #private::turn(); } };
        }
    }

    /// Another function's body, or a closure's.
    fn apart(&mut self, visit: impl FnOnce(&mut Self)) {
        let (open, looked) = (std::mem::take(&mut self.open), self.looked);
        self.looked = false;
        visit(self);
        (self.open, self.looked) = (open, looked);
    }

    /// Whether turns of the loop that a `continue` names count. What is not here, rustc says.
    fn goes_on_counting(&self, label: Option<&Lifetime>) -> bool {
        let mut open = self.open.iter().rev();
        let named = match label {
            Some(label) => open.find(|open| {
                let name = open.label.as_ref().map(|label| &label.ident);
                name.is_some_and(|name| same_name(name, &label.ident))
            }),
            None => open.next(),
        };
        named.is_some_and(|open| open.counts)
    }
}

impl VisitMut for Turns<'_> {
    /// What rustc evaluates is no lane. What has a macro of its own is rewritten by that.
    fn visit_item_mut(&mut self, item: &mut Item) {
        let attrs = match item {
            Item::Fn(function) => &function.attrs,
            Item::Mod(module) => &module.attrs,
            Item::Impl(_) => &Vec::new(),
            _ => return,
        };
        if !attrs.iter().any(is_of_a_macro) {
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

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.apart(|turns| visit_mut::visit_expr_closure_mut(turns, closure));
    }

    fn visit_expr_loop_mut(&mut self, l: &mut ExprLoop) {
        self.repeated(l.label.as_ref(), true, None, &mut l.body);
    }

    fn visit_expr_while_mut(&mut self, w: &mut ExprWhile) {
        self.repeated(w.label.as_ref(), true, Some(&mut w.cond), &mut w.body);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let private = self.private;
        match e {
            Expr::ForLoop(f) => {
                let (counts, looked) = (counts(f), self.looked);
                self.looked |= is_few(f);
                self.visit_expr_mut(&mut f.expr);
                self.repeated(f.label.as_ref(), counts, None, &mut f.body);
                self.looked = looked;
                if !counts && !looked {
                    *e = parse_quote! { { #private::look(); #f } };
                }
            }
            Expr::Continue(c) if self.goes_on_counting(c.label.as_ref()) => {
                *e = parse_quote! { { #private::turn(); #c } };
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

/// Whether an attribute is a macro that has what it marks looked at, by whatever path.
fn is_of_a_macro(attr: &Attribute) -> bool {
    let name = attr.path().segments.last().map(|s| &s.ident);
    name.is_some_and(|name| name == "device" || name == "kernel" || name == "wave_graph")
}

/// Turns that soon are over: a nest of `for` loops that has so few together looks once, before all of them.
const FEW: u64 = 1 << 16;

/// Whether each turn of a `for` loop looks and counts, as those of `loop` and `while` do: over numbers, or bits. It does
/// not over a node's edges, an array, or numbers that are written there, if the loops in it are over soon as well.
pub(crate) fn counts(f: &ExprForLoop) -> bool {
    fn over(e: &Expr) -> bool {
        match e {
            Expr::Paren(inner) => over(&inner.expr),
            Expr::Group(inner) => over(&inner.expr),
            Expr::Range(_) => true,
            Expr::MethodCall(call) if passes_on(call) => over(&call.receiver),
            // The shorter one ends it.
            Expr::MethodCall(call) if call.method == "zip" => {
                over(&call.receiver) && call.args.iter().all(over)
            }
            Expr::MethodCall(call) => call.method == "ones",
            _ => false,
        }
    }
    match literal_turns(&f.expr) {
        Some(_) => !is_few(f),
        None => over(&f.expr),
    }
}

/// Whether a method has no more turns than what it is called on.
fn passes_on(call: &syn::ExprMethodCall) -> bool {
    ["rev", "step_by", "enumerate", "into_iter"]
        .iter()
        .any(|name| call.method == name)
}

/// Whether a nest of loops says itself that it has few turns together.
fn is_few(f: &ExprForLoop) -> bool {
    turns_of_nest(&mut f.clone()).is_some_and(|turns| turns <= FEW)
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
        Expr::MethodCall(call) if passes_on(call) => literal_turns(&call.receiver),
        Expr::MethodCall(call) if call.method == "zip" => {
            let turns = call.args.iter().map(literal_turns);
            turns.chain([literal_turns(&call.receiver)]).flatten().min()
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

    /// A body whose turns count.
    fn counted(body: TokenStream) -> TokenStream {
        quote! { { if true { #body } else {} p::turn(); } }
    }

    #[test]
    fn loops_count_turns_that_come_to_their_end() {
        let body = counted(quote! { if done() { break 'a 3; } });
        assert_turned(
            quote! { let x = 'a: loop { if done() { break 'a 3; } }; },
            quote! { let x = 'a: loop #body; },
        );
        let inner = counted(quote! {});
        let outer = counted(quote! { while x #inner });
        assert_turned(
            quote! { while let Some(x) = next() { while x {} } },
            quote! { while let Some(x) = next() #outer },
        );
        let body = counted(quote! { f(i) });
        assert_turned(
            quote! { for i in (0..=n).rev().step_by(2) { f(i) } },
            quote! { for i in (0..=n).rev().step_by(2) #body },
        );
    }

    #[test]
    fn a_turn_that_goes_on_counts_before() {
        let inner = counted(quote! {
            if y { break 'a; }
            if z { { p::turn(); continue 'a }; }
            { p::turn(); continue };
        });
        let outer = counted(quote! { while x #inner });
        assert_turned(
            quote! { 'a: loop { while x { if y { break 'a; } if z { continue 'a; } continue; } } },
            quote! { 'a: loop #outer },
        );
        let body = counted(quote! { f(); });
        assert_turned(
            quote! { 'a: while { if x { continue 'a; } y } { f(); } },
            quote! { 'a: while { if x { { p::turn(); continue 'a }; } y } #body },
        );
        // Turns over edges do not, nor what belongs to another function.
        let body = counted(quote! {
            { p::look(); for e in g.edges(v) { if e { continue; } { p::turn(); continue 'a }; } }
            let f = |z| { return z; };
        });
        assert_turned(
            quote! { 'a: loop { for e in g.edges(v) { if e { continue; } continue 'a; } let f = |z| { return z; }; } },
            quote! { 'a: loop #body },
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
        let body = counted(quote! { f(i); });
        assert_turned(
            quote! { for i in 0..4_000_000_000 { f(i); } },
            quote! { for i in 0..4_000_000_000 #body },
        );
    }

    #[test]
    fn nests_look_once_where_they_have_few_turns_together() {
        let few =
            quote! { for i in 0..16 { for x in [1, 2] { f(i); } for j in 0..3_000 { f(j); } } };
        assert_turned(few.clone(), quote! { { p::look(); #few } });
        let outer = counted(quote! { { p::look(); for j in 0..2 { f(j); } } });
        assert_turned(
            quote! { for i in 0..60_000 { for j in 0..2 { f(j); } } },
            quote! { for i in 0..60_000 #outer },
        );
        let inner = counted(quote! { f(b); });
        let outer = counted(quote! { for b in row.ones(v) #inner });
        assert_turned(
            quote! { for i in 0..2 { for b in row.ones(v) { f(b); } } },
            quote! { for i in 0..2 #outer },
        );
        let inner = counted(quote! {});
        let outer = counted(quote! { while f(i) #inner });
        assert_turned(
            quote! { for i in 0..2 { while f(i) {} } },
            quote! { for i in 0..2 #outer },
        );
    }

    #[test]
    fn what_rustc_or_another_macro_takes_stays_as_it_is() {
        for item in [
            quote! { const fn f() { loop {} } },
            quote! { const X: u32 = { let mut i = 0; while i < 3 { i += 1; } i }; },
            quote! { macro_rules! m { () => { loop {} } } },
            quote! { fn f() { const X: u32 = { while true {} 3 }; } },
            quote! { impl S { const N: u32 = { while true {} 3 }; } },
            quote! { fn f() { let x = [0; { while true {} 3 }]; } },
            quote! { fn f() { let x: [u32; { while true {} 3 }] = const { loop {} }; } },
            quote! { fn f() { g::<{ while true {} 3 }>(); } },
            // These have macros of their own.
            quote! { mod m { mod n { #[vyre::device] fn f() { loop {} } } #[kernel] fn k() { loop {} } } },
            quote! { mod m { #[wave_graph(crate = x)] mod n { #[wave] fn f() { loop {} } } #[device] mod d { fn f() { loop {} } } } },
        ] {
            assert_eq!(
                watched(item.clone(), &quote! { p }).to_string(),
                item.to_string()
            );
        }
    }
}
