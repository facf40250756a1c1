//! `#[wave_graph]`: an annotated module to a pass.
//!
//! Stages, each of which reports what it finds and hands on what it can: [`syntax`] takes the module apart, [`check`]
//! resolves names and parameters, the kernel compiler and vyre-core lower the bodies, [`order`] sorts and schedules,
//! vyre-core verifies, [`crate::expand`] writes the module again with the glue behind it.

mod anew;
mod before;
pub(crate) mod build;
pub(crate) mod check;
mod claims;
pub(crate) mod domain;
mod fill;
mod given;
pub(crate) mod graph;
pub(crate) mod include;
mod index;
mod lengths;
mod local;
pub(crate) mod order;
mod pairs;
pub(crate) mod standalone;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use crate::attributes;
use crate::expand;
use crate::package::{Imports, Package};
use crate::report::Report;
use build::build;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Item;

/// Expands `#[wave_graph(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream, imports: Imports) -> TokenStream {
    let mut report = Report::default();
    imports.report(&mut report);
    let mut parsed = syn::parse2::<Item>(item.clone());
    if let Ok(item @ Item::Mod(_)) = &mut parsed {
        attributes::refuse(item, "wave_graph", &mut report);
    }
    match parsed {
        Ok(Item::Mod(module)) => {
            let mut package = Package::new(Item::Mod(module.clone()), imports.clone());
            let mut graph = syntax::graph(attr, module, &mut report);
            include::merge(&mut graph, &imports, &mut report);
            fill::write_out(&mut graph);
            let parsed = report.is_empty();
            let built = build(&graph, imports, parsed, &mut report);
            if report.is_empty() {
                for (at, message, help) in &graph.unwalked {
                    report.error_help(*at, message, help);
                }
            }
            if built.skeleton.is_none() {
                (package.imports.broken).get_or_insert_with(|| "it did not compile".to_owned());
            }
            let module = expand::module(&built.expansion(&graph), report);
            let travels =
                package.travels(&graph.name, &graph.options.krate, graph.options.exported);
            quote! { #module #travels }
        }
        Ok(other) => {
            let (what, help) = match other {
                Item::Fn(_) => (
                    "a function",
                    "a function that is a pass of its own is a `#[kernel]`",
                ),
                Item::Struct(_) => (
                    "a struct",
                    "put the struct into a module, as its `pub struct Data`",
                ),
                _ => (
                    "anything else",
                    "write `#[wave_graph] pub mod name { pub struct Data { .. } #[wave(..)] fn .. }`",
                ),
            };
            report.error_help(
                Span::call_site(),
                format!("`#[wave_graph]` marks a module, not {what}"),
                help,
            );
            let errors = report.errors();
            quote! { #other #errors }
        }
        Err(e) => {
            report.syn(e);
            let errors = report.errors();
            quote! { #item #errors }
        }
    }
}
