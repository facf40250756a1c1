//! `#[device]` on a function or module outside every graph and kernel: it stays as it is, and hands its source out.

use crate::arrays::{
    add_inside, added, array_names, constant_values, looks, other_name, site_values,
};
use crate::attributes::{self, unmark};
use crate::calls::is_type_name;
use crate::kernel;
use crate::package::{Imports, Package, has_dollar};
use crate::report::Report;
use crate::sight::Around;
use crate::tables::ModuleTables;
use crate::tokens::any_token;
use crate::turns::watched;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::Item;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

/// Expands `#[device]` on a function outside every graph and kernel.
pub(crate) fn expand(attr: TokenStream, item: TokenStream, imports: Imports) -> TokenStream {
    let mut report = Report::default();
    imports.report(&mut report);
    let krate = match (|input: ParseStream<'_>| {
        input.parse::<syn::Token![crate]>()?;
        input.parse::<syn::Token![=]>()?;
        input.parse::<syn::Path>()
    })
    .parse2(attr.clone())
    {
        Ok(path) => path.into_token_stream(),
        Err(_) => {
            if let Some(first) = attr.into_iter().next() {
                report.error(first.span(), "`#[device]` takes no arguments");
            }
            quote! { ::vyre }
        }
    };
    let mut parsed = syn::parse2::<Item>(item.clone());
    if let Ok(parsed @ (Item::Mod(_) | Item::Fn(_))) = &mut parsed {
        attributes::refuse(parsed, "device", &mut report);
    }
    let function = match parsed {
        Ok(Item::Mod(module)) => return device_module(module, &krate, imports, report),
        Ok(Item::Fn(function)) => function,
        // A method belongs to its type.
        _ => {
            let errors = report.errors();
            return quote! { #item #errors };
        }
    };
    if function.sig.receiver().is_some() || has_self(function.to_token_stream()) {
        return item;
    }
    let name = &function.sig.ident;
    let mut source = function.clone();
    source.attrs.clear();
    source.vis = syn::Visibility::Inherited;
    let mut package = Package::new(Item::Fn(source), imports);
    let mut tables = kernel::compile_package(&package, &mut report);
    let is_kept = |t: &ModuleTables| !t.sites.is_empty() || !t.constants.is_empty();
    if tables.as_ref().is_some_and(is_kept)
        && Around::new(name.clone()).is_some_and(|around| around.brings_beside_its_module())
    {
        report.error_help(
            name.span(),
            format!("`{name}` is brought beside `mod {name}`, and keeps its constants and places in a module of its own name"),
            "give the function or the module another name",
        );
        tables = None;
        (package.imports.broken).get_or_insert_with(|| "it did not compile".to_owned());
    }
    let looks = tables
        .as_ref()
        .map(|t| looks(&t.assumed, &[], &quote! { #krate::__private }));
    let arrays = tables.filter(is_kept);
    let arrays = arrays.map(|t| {
        let (constants, sites) = (
            constant_values(&t),
            site_values(&t, &quote! { #krate::__private }),
        );
        let (constants_name, sites_name) = array_names(name);
        quote! {
            #[doc(hidden)]
            pub(crate) const #constants_name: &[::core::primitive::u64] = &[#(#constants),*];
            #[doc(hidden)]
            pub(crate) const #sites_name: &[&::core::panic::Location<'static>] = &[#(#sites),*];
            #[doc(hidden)]
            pub(crate) mod #name {
                pub(crate) use super::{#constants_name as CONSTANTS, #sites_name as SITES};
            }
        }
    });
    let errors = report.errors();
    let travels = package.travels(name, &krate, false);
    let other_name = once_more(&function, package.serial);
    let private = quote! { #krate::__private };
    let function = report.mended(watched(function.to_token_stream(), &private), &private);
    quote! { #function #errors #arrays #looks #other_name #travels }
}

/// The function by its other name, where its own is seen: see [`looks`].
fn once_more(function: &syn::ItemFn, serial: u32) -> TokenStream {
    let name = &function.sig.ident;
    let other_name = other_name(name, serial);
    let vis = match &function.vis {
        syn::Visibility::Public(_) => quote! { pub(crate) },
        vis => vis.to_token_stream(),
    };
    quote! {
        #[doc(hidden)]
        #vis use #name as #other_name;
    }
}

/// Expands `#[device]` on a module: each of its structs and functions hands the whole module out.
fn device_module(
    mut module: syn::ItemMod,
    krate: &TokenStream,
    imports: Imports,
    mut report: Report,
) -> TokenStream {
    let mut source = module.clone();
    source.attrs = vec![syn::parse_quote!(#[device])];
    source.vis = syn::Visibility::Inherited;
    let package = Package::new(Item::Mod(source), imports);
    let compiled = kernel::compile_device_module(&package, &mut report);
    let Some((_, items)) = &mut module.content else {
        report.error_help(
            module.ident.span(),
            "`#[device]` marks an inline module",
            "the macro sees what stands in braces: write `#[device] mod name { .. }`",
        );
        let errors = report.errors();
        return quote! { #module #errors };
    };
    unmark(items);
    for item in &*items {
        if let Item::Struct(s) = item
            && !matches!(s.vis, syn::Visibility::Inherited)
            && !is_type_name(&s.ident)
        {
            misnamed(&s.ident, &mut report);
        }
    }
    let errors = report.errors();
    items.push(Item::Verbatim(errors));
    if let Some(compiled) = compiled {
        let private = quote! { #krate::__private };
        let (constants, sites) = (
            constant_values(&compiled.tables),
            site_values(&compiled.tables, &private),
        );
        let location = quote! { &'static ::core::panic::Location<'static> };
        let arrays = quote! {
            #[doc(hidden)]
            pub(crate) const __VYRE_CONSTANTS: &[::core::primitive::u64] = &[#(#constants),*];
            #[doc(hidden)]
            pub(crate) const __VYRE_SITES: &[#location] = &[#(#sites),*];
        };
        add_inside(items, &[], &added([(0, &compiled.tables)], &private));
        let looks = looks(&compiled.tables.assumed, &[], &private);
        let functions_here = items.iter().filter_map(|item| match item {
            Item::Fn(f) if compiled.functions.iter().any(|name| f.sig.ident == name) => Some(f),
            _ => None,
        });
        let other_names: TokenStream = functions_here
            .map(|f| once_more(f, package.serial))
            .collect();
        let serial = package.serial;
        let hidden = format_ident!("__vyre_source_of_{}", module.ident);
        let structs: Vec<Ident> = compiled
            .structs
            .iter()
            .map(|s| format_ident!("{s}"))
            .collect();
        let functions: Vec<Ident> = (compiled.functions.iter())
            .map(|f| format_ident!("{f}"))
            .collect();
        let records = compiled.records.iter();
        let records = records.map(|s| s.implementation(&private));
        let macros = (!has_dollar(package.to_token_stream())).then(|| {
            let names = structs.iter().chain(&functions);
            quote! {
                #[doc(hidden)]
                macro_rules! #hidden {
                    ($($then:tt)*) => { #private::import! { {#package} $($then)* } };
                }
                #(
                    #[doc(hidden)]
                    pub(crate) use #hidden as #names;
                )*
            }
        });
        items.push(Item::Verbatim(quote! {
            #arrays
            #(
                impl #structs {
                    #[doc(hidden)]
                    pub(crate) const __VYRE_CONSTANTS: &'static [::core::primitive::u64] =
                        __VYRE_CONSTANTS;
                    #[doc(hidden)]
                    pub(crate) const __VYRE_SITES: &'static [#location] = __VYRE_SITES;
                }
            )*
            #(
                #[doc(hidden)]
                pub(crate) mod #functions {
                    pub(crate) use super::{__VYRE_CONSTANTS as CONSTANTS, __VYRE_SITES as SITES};
                }
            )*
            #(impl #private::KnownStruct<#serial> for #structs {})*
            #(#records)*
            #looks
            #other_names
            #macros
        }));
    }
    let private = quote! { #krate::__private };
    report.mended(watched(module.into_token_stream(), &private), &private)
}

fn has_self(stream: TokenStream) -> bool {
    any_token(stream, &|t| matches!(t, TokenTree::Ident(i) if i == "Self"))
}

/// Says that other modules would not find a struct of this name.
fn misnamed(name: &Ident, report: &mut Report) {
    let text = name.unraw().to_string();
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let better = first.chain(letters.flat_map(char::to_lowercase));
    let better = Ident::new(&better.collect::<String>(), name.span());
    let called = if is_type_name(&better) {
        format!("call it `{better}`")
    } else {
        "begin it with a capital and use a lowercase letter".to_owned()
    };
    report.error_help(
        name.span(),
        format!("a struct named `{name}` is not found from other modules"),
        format!("{called}, which tells it from a constant, or leave out `pub`"),
    );
}
