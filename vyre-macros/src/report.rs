//! The error collector: every stage reports here, and everything found in one compile is shown in one compile.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use std::fmt::Display;

/// Errors found so far, in the order they were found.
#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<(Span, String)>,
}

impl Report {
    /// Reports an error at the smallest token that shows it.
    pub(crate) fn error(&mut self, span: Span, message: impl Display) {
        self.errors.push((span, message.to_string()));
    }

    /// Reports an error with advice: what to write instead.
    pub(crate) fn error_help(&mut self, span: Span, message: impl Display, help: impl Display) {
        self.errors.push((span, format!("{message}\n\nhelp: {help}")));
    }

    /// Takes over a parse error of syn's, which can hold several.
    pub(crate) fn syn(&mut self, error: syn::Error) {
        for e in error {
            self.errors.push((e.span(), e.to_string()));
        }
    }

    /// Nothing was reported.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Number of errors so far; lets a stage tell whether it added any.
    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    /// One `compile_error!` an error, at its span.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors
            .into_iter()
            .map(|(span, message)| quote_spanned! { span => ::core::compile_error! { #message } })
            .collect()
    }
}
