//! Attribute macros that compile annotated Rust to VIR0. Use them through `vyre`, whose prelude has them.
//!
//! `#[wave_graph]` compiles a module with its `#[wave]`s and `#[fixpoint]`s, `#[kernel]` a single function. The other
//! attributes belong inside those two, which consume them; on their own they say so.

extern crate proc_macro;

// Files name only what is in rows below theirs, or before them in their row:
//
//   import                               waits for what comes from other modules, then expands
//   standalone, wave_graph, device       what the attributes do
//   expand, include                      the module written again; graphs taken in
//   build                                bodies compiled, ordered, scheduled and encoded
//   arrays, check, order, syntax         a module taken apart, its fields and parameters, the order of its waves
//   graph                                a wave graph as written, which the stages above read
//   kernel: check, lower, hir            a function body to IR
//   calls, sight, pass, names, source    what is asked of other modules; claims; what a path means; what is given
//   args, attributes, package, editor    attributes as written; what travels between modules
//   report, recover, tables, types       errors of all stages; sites and constants; types of the kernel language
//   tokens, turns                        places and text; loops that look whether they are to stop
mod args;
mod arrays;
mod attributes;
mod calls;
mod device;
mod editor;
mod expand;
mod import;
mod kernel;
mod names;
mod package;
mod pass;
mod recover;
mod report;
mod sight;
mod source;
mod tables;
mod tokens;
mod turns;
mod wave_graph;

use proc_macro::TokenStream;
use quote::quote;

/// Compiles a module to a pass: `Data` declares what it works on, `#[wave]` functions are swept over its items,
/// `#[fixpoint]` modules repeat until a condition holds.
///
/// Arguments, all optional: `limits(nodes = N, edges = M)`, `budget = "4 GiB"`, `crate = path::to::vyre`.
/// It defines `Session`, `Run`, `Output`, `Topology` and `PLAN` in the module.
#[proc_macro_attribute]
pub fn wave_graph(attr: TokenStream, item: TokenStream) -> TokenStream {
    import::expand(import::Asker::WaveGraph, attr.into(), item.into()).into()
}

/// `#[wave_graph]`, as it is often misspelled. rustc would say that of every attribute in the module, and of every name
/// there.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn wavegraph(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = report::Report::default();
    report.error_help(
        proc_macro2::Span::call_site(),
        "there is no attribute `#[wavegraph]`",
        "write `#[wave_graph]`",
    );
    let errors = TokenStream::from(report.errors());
    wave_graph(attr, item).into_iter().chain(errors).collect()
}

/// Compiles a function to a pass of one wave over `range(n)`, and adds a module of the same name with `run` and `PLAN`.
#[proc_macro_attribute]
pub fn kernel(attr: TokenStream, item: TokenStream) -> TokenStream {
    import::expand(import::Asker::Kernel, attr.into(), item.into()).into()
}

/// Describes a pass: `id`, `min_frontier_items`, `min_reuse`, `min_avoided_readback`, `speedup`, `evidence`,
/// `mandatory`, `unproven`. It goes with `#[wave_graph]` or `#[kernel]`, above or below. Evidence that was measured of
/// another program is stale: a warning, and the pass is unproven.
#[proc_macro_attribute]
pub fn pass(attr: TokenStream, item: TokenStream) -> TokenStream {
    pass::expand(attr.into(), item.into()).into()
}

/// Marks a function inside a `#[wave_graph]` module as a wave: `#[wave(nodes)]`,
/// `#[wave(edges(graph, from = front), after(init))]`.
#[proc_macro_attribute]
pub fn wave(_attr: TokenStream, item: TokenStream) -> TokenStream {
    misplaced(
        item,
        "`#[wave]` belongs inside a `#[wave_graph]` module or one of its `#[fixpoint]` modules",
        "for a function that is a pass of its own, write `#[kernel]`",
    )
}

/// Marks a module inside a `#[wave_graph]` module as repeated: `#[fixpoint(after(init), until(front.is_empty()))]`.
#[proc_macro_attribute]
pub fn fixpoint(_attr: TokenStream, item: TokenStream) -> TokenStream {
    misplaced(
        item,
        "`#[fixpoint]` belongs inside a `#[wave_graph]` module",
        "put `#[wave_graph]` on the module around it",
    )
}

/// Marks a function that waves may call; its body is inlined where it is called.
///
/// It is called by its name or path, as any function of the crate is: `mix(x)` where it is in scope, `math::mix(x)`. On
/// a module it marks structs, their methods, and the functions in it that are marked too, for all passes of the crate.
#[proc_macro_attribute]
pub fn device(attr: TokenStream, item: TokenStream) -> TokenStream {
    import::expand(import::Asker::Device, attr.into(), item.into()).into()
}

/// Goes on with an expansion that asked for a function of another module.
#[doc(hidden)]
#[proc_macro]
pub fn import(input: TokenStream) -> TokenStream {
    import::resume(input.into()).into()
}

/// What it is given, which rustc does not parse where it drops the call.
#[doc(hidden)]
#[proc_macro]
pub fn written(input: TokenStream) -> TokenStream {
    input
}

fn misplaced(item: TokenStream, message: &str, help: &str) -> TokenStream {
    let mut report = report::Report::default();
    report.error_help(proc_macro2::Span::call_site(), message, help);
    let (item, errors) = (proc_macro2::TokenStream::from(item), report.errors());
    quote! { #item #errors }.into()
}
