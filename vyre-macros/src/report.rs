//! The error collector: every stage reports here, and everything found in one compile is shown in one compile.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::fmt::Display;

/// Errors found so far, in the order they were found.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<(Span, String)>,
    left: Vec<String>,
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

    /// Nothing was reported, and nothing left to rustc.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.left.is_empty()
    }

    /// Number of errors so far, those left to rustc included; lets a stage tell whether it added any.
    pub(crate) fn len(&self) -> usize {
        self.errors.len() + self.left.len()
    }

    /// Statements for the body of a generated function (`Pass::wave`): they fail to compile when a mistake was left to rustc and rustc
    /// found none. rustc evaluates them only in a crate that type-checks, so that one mistake stays one message.
    pub(crate) fn guards(&self) -> TokenStream {
        self.left
            .iter()
            .map(|message| {
                let message = format!("vyre could not compile this pass: {message}");
                quote! { const { ::core::panic!(#message) } }
            })
            .collect()
    }

    /// One `compile_error!` an error, at its span. What was left to rustc is not among them.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors
            .into_iter()
            .map(|(span, message)| quote_spanned! { span => ::core::compile_error! { #message } })
            .collect()
    }

    /// Messages in order, for tests.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<(Span, String)> {
        self.errors.clone()
    }
}
