//! What travels from module to module: the source of a `#[device]` function or module, or of a graph, with what it
//! takes from elsewhere in turn.

use crate::report::Report;
use crate::tokens::{any_token, generated};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::sync::atomic::{AtomicU32, Ordering};
use syn::Item;
use syn::parse::{Parse, ParseStream, Parser};

/// Functions from other modules.
#[derive(Clone, Default)]
pub(crate) struct Imports {
    /// By the path that calls them.
    pub(crate) have: Vec<(TokenStream, Package)>,
    /// Paths of some that have not arrived yet: calling them is no error.
    pub(crate) expected: Vec<TokenStream>,
    /// Paths of functions that are there without `#[device]`.
    pub(crate) unmarked: Vec<String>,
    /// What is known to be wrong with some: where, what, and what to do.
    pub(crate) wrong: Vec<(Span, String, String)>,
    /// Why the item did not parse: a part of it is not there. rustc has reported it. Of one that has arrived, what is
    /// wrong with it: that is said where it stands.
    pub(crate) broken: Option<String>,
}

/// A `#[device] fn` or a wave graph, with what it takes from other modules, as it travels.
#[derive(Clone)]
pub(crate) struct Package {
    /// A function, or the module of a wave graph.
    pub(crate) item: Item,
    /// The number of its expansion: what stands beside it says by it whose it is.
    pub(crate) serial: u32,
    pub(crate) imports: Imports,
}

impl Imports {
    /// Reports what was found before the item was compiled: a part of it may not be there, because it did not parse.
    pub(crate) fn report(&self, report: &mut Report) {
        for (span, message, help) in &self.wrong {
            report.error_help(*span, message, help);
        }
        if let Some(why) = &self.broken {
            report.left_to_rustc(format!("its syntax is broken: {why}"));
        }
    }
}

impl Package {
    /// With a serial number of its own.
    pub(crate) fn new(item: Item, imports: Imports) -> Package {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        Package {
            item,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            imports,
        }
    }
}

/// A package is `{ fn .. } SERIAL { {key} {PACKAGE} .. }`, with what is wrong behind it.
impl Parse for Package {
    fn parse(input: ParseStream<'_>) -> syn::Result<Package> {
        let item = braced(input)?;
        let serial: syn::LitInt = input.parse()?;
        let have = braced(input)?;
        let broken: Option<syn::LitStr> = input.parse()?;
        Ok(Package {
            item: syn::parse2(item)?,
            serial: serial.base10_parse()?,
            imports: Imports {
                have: packages.parse2(have)?,
                broken: broken.map(|b| b.value()),
                ..Imports::default()
            },
        })
    }
}

impl ToTokens for Package {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (item, serial) = (&self.item, self.serial);
        let imports = self.imports.have.iter().map(|(key, package)| {
            quote! { {#key} {#package} }
        });
        let broken = self.imports.broken.iter();
        tokens.extend(quote! { {#item} #serial {#(#imports)*} #(#broken)* });
    }
}

impl Package {
    /// The macro that hands this out, under the name of the function or module. `exported`: to other crates too, where
    /// all macros of a crate are in one place.
    pub(crate) fn travels(
        &self,
        name: &Ident,
        krate: &TokenStream,
        exported: bool,
    ) -> Option<TokenStream> {
        let mut name = name.clone();
        name.set_span(generated(name.span()));
        let (hidden, export, vis) = match exported {
            false => (
                format_ident!("__vyre_source_of_{}", name),
                None,
                quote! { pub(crate) },
            ),
            true => (
                format_ident!("__vyre_source_of_{}_{}", name, self.serial),
                Some(quote! { #[macro_export] #[allow(clippy::crate_in_macro_def)] }),
                quote! { pub },
            ),
        };
        // A `$` would mean something else in the macro: such an item stays in its module.
        (!has_dollar(self.to_token_stream())).then(|| {
            quote! {
                #[doc(hidden)]
                #export
                macro_rules! #hidden {
                    ($($then:tt)*) => { #krate::__private::import! { {#self} $($then)* } };
                }
                #[doc(hidden)]
                #vis use #hidden as #name;
            }
        })
    }
}

pub(crate) fn packages(input: ParseStream<'_>) -> syn::Result<Vec<(TokenStream, Package)>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        let key = braced(input)?;
        all.push((key, syn::parse2(braced(input)?)?));
    }
    Ok(all)
}

pub(crate) fn braced(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    syn::braced!(content in input);
    content.parse()
}

pub(crate) fn has_dollar(stream: TokenStream) -> bool {
    any_token(
        stream,
        &|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '$'),
    )
}
