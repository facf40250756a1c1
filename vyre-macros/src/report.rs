//! The error collector: every stage reports here, and everything found in one compile is shown in one compile.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use std::fmt::Display;

/// Errors found so far, in the order they were found.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<(Span, String)>,
    warnings: Vec<(Span, &'static str, String)>,
    left: Vec<String>,
    meant: Vec<(Span, String)>,
}

impl Report {
    /// Reports an error at the smallest token that shows it.
    pub(crate) fn error(&mut self, span: Span, message: impl Display) {
        self.errors.push((span, message.to_string()));
    }

    /// Reports an error with advice: what to write instead.
    pub(crate) fn error_help(&mut self, span: Span, message: impl Display, help: impl Display) {
        self.errors
            .push((span, format!("{message}\n\nhelp: {help}")));
    }

    /// Warns at a token. `name` is an identifier that rustc shows before the message: stable Rust warns of the use of a deprecated
    /// item only, so each warning makes one.
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
    pub(crate) fn meant(&mut self, span: Span, name: &str) {
        self.meant.push((span, name.to_owned()));
    }

    /// What is emitted again, with the names that were meant in the place of misspelled ones: rustc would report these too.
    pub(crate) fn mended(&self, tokens: TokenStream) -> TokenStream {
        if self.meant.is_empty() {
            return tokens;
        }
        let mend = |tree| match tree {
            TokenTree::Ident(i) => {
                let at = format!("{:?}", i.span());
                let meant = self.meant.iter().find(|(s, _)| format!("{s:?}") == at);
                TokenTree::Ident(meant.map_or(i, |(span, name)| Ident::new(name, *span)))
            }
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), self.mended(g.stream()));
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            other => other,
        };
        tokens.into_iter().map(mend).collect()
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

    /// Statements for the body of a generated function (`Pass::wave`): they fail to compile when a mistake was left to rustc and rustc
    /// found none. rustc evaluates a constant of a generic function only when it generates code, so never after an error of its own, and
    /// there are none beside errors of ours: one mistake stays one message.
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

    /// One `compile_error!` an error, at its span; warnings where there are no errors. What was left to rustc is not among them.
    pub(crate) fn errors(&self) -> TokenStream {
        if self.errors.is_empty() && self.left.is_empty() {
            let warnings = self.warnings.iter();
            return warnings
                .map(|(span, name, note)| {
                    let (item, used) =
                        (Ident::new(name, Span::call_site()), Ident::new(name, *span));
                    quote! {
                        #[allow(non_upper_case_globals, clippy::all, clippy::pedantic)]
                        const _: () = {
                            #[deprecated(note = #note)]
                            const #item: () = ();
                            let _ = #used;
                        };
                    }
                })
                .collect();
        }
        self.errors
            .iter()
            .map(|(span, message)| quote_spanned! { *span => ::core::compile_error! { #message } })
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

/// The candidate that a misspelled name most likely meant.
///
/// Distance counts inserted, dropped, replaced and swapped letters; a third of the name's length may differ. The first of
/// equally near candidates wins.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let mut best = None;
    for candidate in candidates {
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
    }
}
