//! Name resolution and type inference.

use super::Env;
use super::hir::Function;
use crate::report::Report;

/// Checks a wave.
pub(super) fn wave(f: &syn::ItemFn, _env: &Env<'_>, report: &mut Report) -> Option<Function> {
    report.error(f.sig.ident.span(), "the kernel compiler is not there yet");
    None
}

/// Checks an `until` condition.
pub(super) fn condition(
    _name: &str,
    e: &syn::Expr,
    _env: &Env<'_>,
    report: &mut Report,
) -> Option<Function> {
    report.error(
        super::first_token(e),
        "the kernel compiler is not there yet",
    );
    None
}
