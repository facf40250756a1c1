//! The error collector: every stage reports here, and everything found in one compile is shown in one compile.

use crate::tokens::ident;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashSet;
use std::fmt::Display;

/// Errors found so far, in the order they were found.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<(Span, String)>,
    /// Where errors end that are about more than a token, by their number.
    ends: Vec<(usize, Span)>,
    warnings: Vec<(Span, &'static str, String)>,
    left: Vec<String>,
    /// Where, what is written there, and what was meant.
    meant: Vec<(Span, String, String)>,
    /// Types and names of fields that were refused.
    refused: Vec<String>,
    /// Where something follows from an error elsewhere.
    said: Vec<Span>,
    /// Where methods are called that fail inside std without their caller's position.
    unlocated: HashSet<(String, String)>,
}

impl Report {
    /// Reports an error at the smallest token that shows it.
    pub(crate) fn error(&mut self, span: Span, message: impl Display) {
        self.errors.push((span, message.to_string()));
    }

    /// Nothing is said of this place, since it follows from an error elsewhere: not by rustc either.
    pub(crate) fn follows(&mut self, span: Span) {
        self.said.push(span);
    }

    /// Reports an error with advice: what to write instead.
    pub(crate) fn error_help(&mut self, span: Span, message: impl Display, help: impl Display) {
        self.errors
            .push((span, format!("{message}\n\nhelp: {help}")));
    }

    /// The same, from the first of these tokens to the last.
    pub(crate) fn error_all(
        &mut self,
        tokens: impl ToTokens,
        message: impl Display,
        help: impl Display,
    ) {
        let spans = tokens.into_token_stream().into_iter().map(|t| t.span());
        let spans: Vec<Span> = spans.collect();
        if let Some(&last) = spans.last() {
            self.ends.push((self.errors.len(), last));
        }
        let first = spans.first().copied().unwrap_or_else(Span::call_site);
        self.error_help(first, message, help);
    }

    /// Warns at a token. `name` is an identifier that rustc shows before the message: stable Rust warns of the use of a
    /// deprecated item only, so each warning makes one.
    pub(crate) fn warning(&mut self, span: Span, name: &'static str, message: impl Display) {
        self.warnings.push((span, name, message.to_string()));
    }

    /// Takes over a parse error of syn's, which can hold several.
    pub(crate) fn syn(&mut self, error: syn::Error) {
        for e in error {
            self.errors.push((e.span(), e.to_string()));
        }
    }

    /// Notes a mistake that rustc reports itself, and better, in the function that is emitted again (a type mismatch).
    /// Nothing is shown for it; see [`Report::guards`].
    pub(crate) fn left_to_rustc(&mut self, message: impl Display) {
        self.left.push(message.to_string());
    }

    /// A misspelled name was reported, with the one that was meant: see [`Report::mended`].
    pub(crate) fn meant(&mut self, span: Span, written: &str, name: &str) {
        self.meant.push((span, written.to_owned(), name.to_owned()));
    }

    /// A method is called here that fails inside std without its caller's position: see [`Report::mended`].
    pub(crate) fn unlocated(&mut self, method: &Ident) {
        self.unlocated.insert(place_of(method));
    }

    /// A type or the name of a field was refused: functions that name it are not to be seen by rustc.
    pub(crate) fn refused(&mut self, ty: TokenStream) {
        let names = ty.into_iter().filter_map(|t| match t {
            TokenTree::Ident(i) => Some(i.to_string()),
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        });
        self.refused.extend(names);
    }

    /// Whether something was reported at one of these tokens.
    pub(crate) fn is_about(&self, tokens: TokenStream) -> bool {
        let spans = self.places();
        !spans.is_empty() && tokens.into_iter().any(|t| holds(&t, &spans))
    }

    /// A wave or kernel as it is emitted again. rustc does not see one whose signature is refused, or names what is:
    /// nothing calls it, and rustc would refuse it as well. An editor still completes in it.
    pub(crate) fn seen(&self, function: &syn::ItemFn, emitted: TokenStream) -> TokenStream {
        let signature = function.sig.to_token_stream();
        let refused = |t: TokenTree| names(&t, &self.refused);
        if !self.is_about(signature.clone()) && !signature.into_iter().any(refused) {
            return emitted;
        }
        quote! {
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                #emitted
            };
        }
    }

    fn places(&self) -> HashSet<String> {
        let here = begin(Span::call_site());
        let spans = self.errors.iter().map(|(span, _)| *span);
        let all = spans.chain(self.said.iter().copied()).map(begin);
        all.filter(|s| *s != here).collect()
    }

    /// What is emitted again: with the names that were meant in the place of misspelled ones, and without the bodies of
    /// functions in which something was reported. rustc would say the same again in other words, and what follows from
    /// it. Without errors, methods that do not know their caller are replaced by those of `private` that do.
    pub(crate) fn mended(&self, tokens: TokenStream, private: &TokenStream) -> TokenStream {
        if self.is_empty() && !self.unlocated.is_empty() {
            return self.located(tokens, private).0;
        }
        let tokens = self.renamed(tokens);
        let spans = self.places();
        if spans.is_empty() {
            return tokens;
        }
        let mut structs = Vec::new();
        wrong_structs(&tokens, &spans, &mut structs);
        let types = structs.iter().chain(&self.refused).cloned().collect();
        let wrong = Wrong {
            spans,
            structs,
            types,
        };
        emptied(tokens, &wrong)
    }

    fn renamed(&self, tokens: TokenStream) -> TokenStream {
        if self.meant.is_empty() {
            return tokens;
        }
        let mend = |tree| match tree {
            TokenTree::Ident(i) => {
                let at = format!("{:?}", i.span());
                // The words of the error have the same place.
                let is_it = |s: &Span, written: &str| i == written && format!("{s:?}") == at;
                let meant = self.meant.iter().find(|(s, written, _)| is_it(s, written));
                let mended = meant.map(|(span, _, name)| ident(name, *span));
                TokenTree::Ident(mended.unwrap_or(i))
            }
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), self.renamed(g.stream()));
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            other => other,
        };
        tokens.into_iter().map(mend).collect()
    }

    /// With the traits of located methods in the functions that call one; whether a call is in no function.
    fn located(&self, tokens: TokenStream, private: &TokenStream) -> (TokenStream, bool) {
        let (mut before, mut called) = (String::new(), false);
        // Of the function whose body comes next: whether it is a `const fn`, which calls no method of a trait.
        let mut function = None;
        // A constant, neither.
        let mut constant = false;
        let mut trees = Vec::new();
        for tree in tokens {
            let word = match &tree {
                TokenTree::Ident(i) => i.to_string(),
                TokenTree::Punct(p) => p.as_char().to_string(),
                TokenTree::Group(_) | TokenTree::Literal(_) => String::new(),
            };
            function = match word.as_str() {
                "fn" => Some(before == "const"),
                ";" => None,
                _ => function,
            };
            constant = match word.as_str() {
                "const" => true,
                "fn" | ";" => false,
                _ => constant,
            };
            before = word;
            trees.push(match tree {
                tree if constant => tree,
                TokenTree::Ident(i) if self.unlocated.contains(&place_of(&i)) => {
                    called = true;
                    TokenTree::Ident(format_ident!("__vyre_{i}", span = i.span()))
                }
                TokenTree::Group(g) => {
                    let body =
                        (function.take_if(|_| g.delimiter() == Delimiter::Brace)).map(|is_const| {
                            match is_const {
                                true => (g.stream(), false),
                                false => self.located(g.stream(), private),
                            }
                        });
                    let inner = match body {
                        Some((body, true)) => located_body(body, private),
                        Some((body, false)) => body,
                        None => {
                            let (inner, inside) = self.located(g.stream(), private);
                            called |= inside;
                            inner
                        }
                    };
                    let mut group = Group::new(g.delimiter(), inner);
                    group.set_span(g.span());
                    TokenTree::Group(group)
                }
                other => other,
            });
        }
        (trees.into_iter().collect(), called)
    }

    /// Nothing was reported, and nothing left to rustc.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.left.is_empty()
    }

    /// Nothing was reported, but something was left to rustc.
    pub(crate) fn is_left_to_rustc(&self) -> bool {
        self.errors.is_empty() && !self.left.is_empty()
    }

    /// Number of errors so far, those left to rustc included; lets a stage tell whether it added any.
    pub(crate) fn len(&self) -> usize {
        self.errors.len() + self.left.len()
    }

    /// Statements for the body of a generated function (`Pass::wave`): they fail to compile when a mistake was left to
    /// rustc and rustc found none. rustc evaluates a constant of a generic function only when it generates code, so
    /// never after an error of its own, and there are none beside errors of ours: one mistake stays one message.
    pub(crate) fn guards(&self) -> TokenStream {
        let left = if self.errors.is_empty() {
            &self.left[..]
        } else {
            &[]
        };
        left.iter()
            .map(|message| {
                let message = format!("vyre could not compile this pass: {message}");
                quote! {{
                    fn left_to_rustc<T>() {
                        const { ::core::panic!("{}", #message) }
                    }
                    left_to_rustc::<()>();
                }}
            })
            .collect()
    }

    /// One `compile_error!` an error, at its span; warnings where there are no errors. What was left to rustc is not
    /// among them.
    pub(crate) fn errors(&self) -> TokenStream {
        if self.errors.is_empty() && self.left.is_empty() {
            let warnings = self.warnings.iter();
            return warnings
                .map(|(span, name, note)| warned(*span, name, note))
                .collect();
        }
        self.errors
            .iter()
            .enumerate()
            .map(|(i, (span, message))| {
                // rustc joins the spans of a call's tokens.
                let end = self.ends.iter().find(|(of, _)| *of == i);
                let end = end.map_or(*span, |(_, end)| *end);
                let text = quote_spanned! { end => { #message } };
                quote_spanned! { *span => ::core::compile_error! #text }
            })
            .collect()
    }

    /// What was left to rustc, for tests.
    #[cfg(test)]
    pub(crate) fn left(&self) -> &[String] {
        &self.left
    }

    /// Warnings in order, for tests.
    #[cfg(test)]
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(|(_, _, m)| m.clone()).collect()
    }

    /// Messages in order, for tests.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<(Span, String)> {
        self.errors.clone()
    }
}

/// What was reported in an item.
struct Wrong {
    /// Places.
    spans: HashSet<String>,
    /// Structs that hold one.
    structs: Vec<String>,
    /// These, and types that were refused.
    types: Vec<String>,
}

/// The structs that hold a token at one of these places.
fn wrong_structs(tokens: &TokenStream, spans: &HashSet<String>, found: &mut Vec<String>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (i, tree) in trees.iter().enumerate() {
        match (tree, trees.get(i + 1)) {
            (TokenTree::Ident(word), Some(TokenTree::Ident(name))) if word == "struct" => {
                let end = trees[i..]
                    .iter()
                    .position(ends)
                    .map_or(trees.len(), |n| i + n + 1);
                if trees[i + 2..end].iter().any(|t| holds(t, spans)) {
                    found.push(name.to_string());
                }
            }
            (TokenTree::Group(g), _) => wrong_structs(&g.stream(), spans, found),
            _ => {}
        }
    }
}

/// Whether an item ends with this.
fn ends(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(g) => g.delimiter() == Delimiter::Brace,
        TokenTree::Punct(p) => p.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    }
}

/// Functions that hold a token at one of these places, or name one of these types, without their bodies, and the
/// structs without `Copy`, which their fields may not allow, and with types for their parameters.
fn emptied(tokens: TokenStream, wrong: &Wrong) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut i = 0;
    while i < trees.len() {
        if matches!(&trees[i], TokenTree::Ident(i) if i == "struct")
            && matches!(trees.get(i + 1), Some(TokenTree::Ident(n)) if wrong.structs.iter().any(|s| n == s))
        {
            default_parameters(&mut trees, i + 2);
        }
        let is =
            |at: usize, word: &str| matches!(trees.get(at), Some(TokenTree::Ident(i)) if i == word);
        let function = is(i, "fn") && matches!(trees.get(i + 1), Some(TokenTree::Ident(_)));
        let end = trees[i..].iter().position(ends).map(|n| i + n);
        let derive = matches!(&trees[i], TokenTree::Punct(p) if p.as_char() == '#')
            && matches!(trees.get(i + 1), Some(TokenTree::Group(g)) if begins_with(g, "derive"));
        if derive
            && let Some(end) = end
            && let Some(at) = (i..end).find(|&at| is(at, "struct"))
            && matches!(&trees[at + 1], TokenTree::Ident(n) if wrong.structs.iter().any(|s| n == s))
            && let TokenTree::Group(attribute) = &trees[i + 1]
        {
            trees[i + 1] = TokenTree::Group(without_copy(attribute));
            i += 1;
        } else if let (true, Some(end)) = (function, end)
            && trees[i..=end]
                .iter()
                .any(|t| holds(t, &wrong.spans) || names(t, &wrong.types))
        {
            if let TokenTree::Group(body) = &trees[end] {
                // An editor completes in what is being written.
                let written = body.stream();
                let mut empty = Group::new(
                    Delimiter::Brace,
                    quote! {
                        #![allow(unexpected_cfgs, unused)]
                        #[cfg(not(rust_analyzer))]
                        { ::core::unreachable!() }
                        #[cfg(rust_analyzer)]
                        { #written }
                    },
                );
                empty.set_span(body.span());
                trees[end] = TokenTree::Group(empty);
            }
            i = end;
        } else if let TokenTree::Group(g) = &trees[i] {
            let mut group = Group::new(g.delimiter(), emptied(g.stream(), wrong));
            group.set_span(g.span());
            trees[i] = TokenTree::Group(group);
        }
        i += 1;
    }
    trees.into_iter().collect()
}

/// Gives each type among `<..>` a default, so that the name alone is a type.
fn default_parameters(trees: &mut Vec<TokenTree>, at: usize) {
    let punct =
        |t: Option<&TokenTree>, c: char| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == c);
    if !punct(trees.get(at), '<') {
        return;
    }
    let (mut i, mut depth, mut named) = (at + 1, 1, None);
    while depth > 0 && i < trees.len() {
        let tree = Some(&trees[i]);
        if depth == 1 && (punct(tree, ',') || punct(tree, '>')) {
            if named.take() == Some(true) {
                let default = quote! { = ::core::primitive::f32 };
                let default: Vec<TokenTree> = default.into_iter().collect();
                let count = default.len();
                trees.splice(i..i, default);
                i += count;
            }
        } else if named.is_none() {
            named = Some(matches!(tree, Some(TokenTree::Ident(i)) if i != "const"));
        } else if punct(tree, '=') {
            named = Some(false);
        }
        depth += i32::from(punct(trees.get(i), '<')) - i32::from(punct(trees.get(i), '>'));
        i += 1;
    }
}

/// A word and its place: what is generated at a place has other words.
fn place_of(word: &Ident) -> (String, String) {
    (word.to_string(), format!("{:?}", word.span()))
}

/// A function's body with the traits of located methods in scope, behind its inner attributes.
fn located_body(body: TokenStream, private: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let is =
        |at: usize, c: char| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    let mut at = 0;
    while is(at, '#') && is(at + 1, '!') {
        at += 3;
    }
    let (attributes, rest) = trees.split_at(at);
    quote! {
        #(#attributes)*
        #[allow(unused_imports)]
        use #private::located::{
            Located as _, LocatedInt as _, LocatedSigned as _, LocatedSteps as _, LocatedUnsigned as _,
        };
        #(#rest)*
    }
}

fn begins_with(group: &Group, word: &str) -> bool {
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(i)) if i == word)
}

/// `[derive(..)]` without `Copy`.
fn without_copy(attribute: &Group) -> Group {
    let trees = attribute.stream().into_iter().map(|tree| match tree {
        TokenTree::Group(list) => {
            let mut kept = TokenStream::new();
            let all: Vec<TokenTree> = list.stream().into_iter().collect();
            for of in all.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
                if !matches!(of.last(), Some(TokenTree::Ident(i)) if i == "Copy") {
                    let of = of.iter();
                    kept.extend(quote! { #(#of)*, });
                }
            }
            TokenTree::Group(Group::new(list.delimiter(), kept))
        }
        other => other,
    });
    let mut group = Group::new(attribute.delimiter(), trees.collect());
    group.set_span(attribute.span());
    group
}

/// Whether a tree is, or has in it, one of these names.
fn names(tree: &TokenTree, all: &[String]) -> bool {
    match tree {
        TokenTree::Group(g) => g.stream().into_iter().any(|t| names(&t, all)),
        TokenTree::Ident(i) => all.iter().any(|n| i == n),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    }
}

/// Whether a tree is, or has in it, a token at one of these places.
fn holds(tree: &TokenTree, spans: &HashSet<String>) -> bool {
    let inside = match tree {
        TokenTree::Group(g) => g.stream().into_iter().any(|t| holds(&t, spans)),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    };
    inside || spans.contains(&begin(tree.span()))
}

/// Where a token begins, as text: a group's span and that of its bracket begin alike. (A macro can ask for lines and
/// columns, but they do not tell an expansion from what it is made of.)
fn begin(span: Span) -> String {
    let text = format!("{span:?}");
    text.split("..").next().unwrap_or_default().to_owned()
}

/// The candidate that a misspelled name most likely meant.
///
/// Distance counts inserted, dropped, replaced and swapped letters; a third of the name's length may differ. The first
/// of equally near candidates wins. Nothing is near to a single letter.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters = name.chars().count();
    let limit = (letters / 3).max(1);
    let mut best = None;
    // One letter is one edit away from every other.
    let long = candidates
        .into_iter()
        .filter(|c| letters > 1 && c.chars().count() > 1);
    for candidate in long {
        let d = distance(name, candidate);
        if d <= limit && d > 0 && best.is_none_or(|(b, _)| d < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, c)| c)
}

/// Optimal string alignment distance.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = a[i - 1] == b[j - 1];
            row[j] = (last[j] + 1)
                .min(row[j - 1] + 1)
                .min(last[j - 1] + usize::from(!same));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// What makes rustc warn at a token, as [`Report::warning`] says.
pub(crate) fn warned(span: Span, name: &str, note: &str) -> TokenStream {
    let (item, used) = (Ident::new(name, Span::call_site()), Ident::new(name, span));
    quote! {
        const _: () = {
            #[deprecated(note = #note)]
            const #item: () = ();
            let _ = #used;
        };
    }
}

/// `a, b and c`.
pub(crate) fn listed(words: impl IntoIterator<Item = impl Display>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| w.to_string()).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_suggested_and_strangers_are_not() {
        let fields = ["front", "dist", "source"];
        assert_eq!(did_you_mean("dits", fields), Some("dist"));
        assert_eq!(did_you_mean("sorce", fields), Some("source"));
        assert_eq!(did_you_mean("fornt", fields), Some("front"));
        assert_eq!(did_you_mean("dist", fields), None);
        assert_eq!(did_you_mean("weights", fields), None);
        assert_eq!(did_you_mean("v", ["g", "vw"]), None);
        assert_eq!(did_you_mean("gr", ["g"]), None);
    }
}
