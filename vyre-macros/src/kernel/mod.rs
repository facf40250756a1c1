//! The kernel compiler: a user's function body (plain Rust) to [`ir::Body`].
//!
//! Three stages, each total: `check` resolves names, infers types by unification and refuses by name what a lane cannot
//! do, giving a typed tree ([`hir`]); `lower` turns that tree into IR, keeping Rust's evaluation order. Types are
//! inferred, not checked: the user's function is emitted again, and what rustc refuses anyway is left to it (see
//! [`Report::left_to_rustc`]).
//!
//! # Where a fault points
//!
//! The native backend reports the `Location` that rustc gives an operation; the bytecode's site of the same operation
//! must be the same token. The rules: an index expression `xs[i]` points to its bracket; a division `a / b` and a
//! compound `a /= b` to their first token ([`first_token`](crate::tokens::first_token)); a method call `out.push(v)` to
//! the method's name; `assert!(..)` to the macro's path.

mod check;
mod hir;
mod lower;
mod methods;
pub(crate) mod param;
mod record;
mod refuse;
mod scope;
#[cfg(test)]
mod tests;
pub(crate) mod types;

pub(crate) use check::function::{compile_device_module, compile_package};
pub(crate) use param::ParamKind;
pub(crate) use record::{Part, Record, RecordStruct, derives};
pub(crate) use scope::{Env, Helpers, Root};

use crate::report::Report;
use crate::tables::Tables;
use vyre_core::compile::ir;

/// The parts of a type of items, in sight of the innermost module; `None` when it was reported.
pub(crate) fn record(ty: &syn::Type, helpers: &Helpers, report: &mut Report) -> Option<Record> {
    check::record(ty, helpers, report)
}

/// How many values an array of a buffer has, in sight of the innermost module; `None` when it was reported.
pub(crate) fn array_len(ty: &syn::Type, helpers: &Helpers, report: &mut Report) -> Option<u32> {
    check::array_len(ty, helpers, report)
}

/// Compiles the body of a wave or kernel. `None` when an error was reported (or left to rustc).
pub(crate) fn compile_wave(
    f: &syn::ItemFn,
    env: &Env<'_>,
    tables: &mut Tables,
    report: &mut Report,
) -> Option<ir::Body> {
    let checked = check::wave(f, env, report)?;
    lower::body(&checked, tables, report)
}

/// Compiles a condition of `until(..)`, or a call with parameters of this signature: the body's value is its bool.
pub(crate) fn compile_condition(
    name: &str,
    (e, signature): (&syn::Expr, Option<&syn::Signature>),
    env: &Env<'_>,
    tables: &mut Tables,
    report: &mut Report,
) -> Option<ir::Body> {
    let checked = check::condition(name, (e, signature), env, report)?;
    lower::body(&checked, tables, report)
}
