//! The arrays of constants and positions that stand beside the user's functions, and what rustc is to look at there.

use crate::kernel::types::scalar_type;
use crate::tables::{Assumed, Assumption, Home, ModuleTables, NamedConstant, Site};
use crate::tokens::{first_token, generated};
use crate::wave_graph::graph::visible_to_graphs;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;
use vyre_core::vir0::scalar::Scalar;

/// The values of a module's constants and the positions of its sites.
pub(crate) fn arrays(tables: &ModuleTables, private: &TokenStream) -> TokenStream {
    let vis = visible_to_graphs(Span::call_site());
    let constants = (!tables.constants.is_empty()).then(|| {
        let values = constant_values(tables);
        quote! {
            #[doc(hidden)]
            #vis const __VYRE_CONSTANTS: &[::core::primitive::u64] = &[#(#values),*];
        }
    });
    let sites = (!tables.sites.is_empty()).then(|| {
        let places = site_values(tables, private);
        quote! {
            #[doc(hidden)]
            #vis const __VYRE_SITES: &[&::core::panic::Location<'static>] = &[#(#places),*];
        }
    });
    let looks = looks(&tables.assumed, &[], private);
    quote! { #constants #sites #looks }
}

/// Has rustc look whether names mean what the functions of these `#[device] mod`s were compiled as.
pub(crate) fn looks(assumed: &[Assumed], inside: &[Ident], private: &TokenStream) -> TokenStream {
    let here = assumed.iter().filter(|a| a.inside == inside);
    let mut seen = HashSet::new();
    let looks = here.filter_map(|a| {
        let (kind, name, look) = match &a.what {
            Assumption::New(name) => ("new", name.to_string(), new_name(name, private)),
            Assumption::Function(path, serial) => {
                let look = called_function(path, *serial, private);
                ("function", path.to_string(), look)
            }
            Assumption::Struct(path, serial) => {
                let look = quote! { const _: () = #private::known_struct::<#serial, #path>(); };
                ("struct", path.to_string(), look)
            }
        };
        seen.insert((kind, name)).then_some(look)
    });
    looks.collect()
}

/// Whether a name that a pattern binds is a constant, unit struct or variant where the pattern stands: it binds the
/// name once more, to something of a type that none of them has.
fn new_name(name: &Ident, private: &TokenStream) -> TokenStream {
    let mut name = name.clone();
    name.set_span(generated(name.span()));
    quote! { const _: fn(#private::ANewNameOrAnUppercaseConstant) = |#name| {}; }
}

/// Whether a path calls the function whose source has come by the macro of that path. A glob may bring the macro, and a
/// `use` or an item that shadows the glob another function. Then the glob has brought the function by its other name
/// too, and the two are not one. Where it has not, that name is the one given to it around the inner block.
fn called_function(path: &TokenStream, serial: u32, private: &TokenStream) -> TokenStream {
    let mut words: Vec<TokenTree> = path.clone().into_iter().collect();
    let Some(TokenTree::Ident(name)) = words.pop() else {
        return TokenStream::new();
    };
    let other_name = other_name(&name, serial);
    // No lint looks at what the macro has written.
    let at = generated(name.span());
    let module = match words.is_empty() {
        true => quote! { self:: },
        false => respan(words.into_iter().collect(), at),
    };
    let compare = respan(quote! { #private::same_function(__vyre_both) }, at);
    quote! {
        const _: fn() = || {
            use #private::Unseen as #other_name;
            let __vyre_called = #path;
            {
                use #module *;
                let __vyre_both = (#other_name, __vyre_called);
                #compare;
            }
        };
    }
}

/// The name by which a glob brings a function once more.
pub(crate) fn other_name(function: &Ident, serial: u32) -> Ident {
    format_ident!("__vyre_{}_{serial}", function, span = Span::call_site())
}

/// What is added to a `#[device] mod` of a module.
pub(crate) struct Added {
    /// The modules between, and itself.
    inside: Vec<Ident>,
    tokens: TokenStream,
}

/// What the tables of a module, and of those in it, add to its `#[device] mod`s. Of each, the number of modules between
/// is given.
pub(crate) fn added<'t>(
    tables: impl IntoIterator<Item = (usize, &'t ModuleTables)>,
    private: &TokenStream,
) -> Vec<Added> {
    let mut all = Vec::new();
    for (depth, tables) in tables {
        for (i, c) in tables.constants.iter().enumerate() {
            if c.home.up == depth && !c.home.inside.is_empty() {
                let (name, value) = (inner_name(tables, i), constant_value(c));
                let vis = visible_to_graphs(Span::call_site());
                let tokens = quote! {
                    #[doc(hidden)]
                    #vis const #name: ::core::primitive::u64 = #value;
                };
                let inside = &c.home.inside;
                all.push(Added {
                    inside: inside.clone(),
                    tokens,
                });
                // A module in one of these may be private to it: each hands the constant on to the one around it.
                for (at, inner) in inside.iter().enumerate().skip(1) {
                    all.push(Added {
                        inside: inside[..at].to_vec(),
                        tokens: quote! {
                            #[doc(hidden)]
                            #vis use self::#inner::#name;
                        },
                    });
                }
            }
        }
        if depth > 0 {
            continue;
        }
        let mut seen = HashSet::new();
        let insides = tables.assumed.iter().map(|a| &a.inside);
        for inside in insides.filter(|i| !i.is_empty() && seen.insert(*i)) {
            all.push(Added {
                inside: inside.clone(),
                tokens: looks(&tables.assumed, inside, private),
            });
        }
    }
    all
}

/// Adds to the `#[device] mod`s of a module that is an item with these tokens.
pub(crate) fn added_inside(item: &TokenStream, added: &[Added]) -> TokenStream {
    if !added.is_empty()
        && let Ok(syn::Item::Mod(module)) = syn::parse2(item.clone())
    {
        let mut items = vec![syn::Item::Mod(module)];
        add_inside(&mut items, &[], added);
        return quote! { #(#items)* };
    }
    item.clone()
}

/// Adds to the `#[device] mod`s among these items, which are `inside` of others.
pub(crate) fn add_inside(items: &mut [syn::Item], inside: &[Ident], added: &[Added]) {
    for item in items {
        if let syn::Item::Mod(module) = item
            && let Some((_, items)) = &mut module.content
        {
            let inside: Vec<_> = inside.iter().chain([&module.ident]).cloned().collect();
            add_inside(items, &inside, added);
            let here = added.iter().filter(|a| a.inside == inside);
            items.extend(here.map(|a| syn::Item::Verbatim(a.tokens.clone())));
        }
    }
}

/// Each constant as raw bits; rustc checks its type at the user's token. What is named in a `#[device] mod` is
/// [`added`] there.
pub(crate) fn constant_values(tables: &ModuleTables) -> Vec<TokenStream> {
    let constants = tables.constants.iter().enumerate();
    let values = constants.map(|(i, c)| {
        let Home { up, inside } = &c.home;
        let Some(first) = inside.first() else {
            return constant_value(c);
        };
        let (supers, name) = (vec![quote! { super:: }; *up], inner_name(tables, i));
        quote! { self::#(#supers)* #first::#name }
    });
    values.collect()
}

/// The name, in its `#[device] mod`, of a constant of these tables.
fn inner_name(tables: &ModuleTables, index: usize) -> Ident {
    format_ident!("__VYRE_CONSTANT_{}", tables.first_constant + index)
}

pub(crate) fn constant_value(c: &NamedConstant) -> TokenStream {
    let ty = scalar_type(c.scalar);
    let value = &c.value;
    if c.imported {
        return quote! { #value };
    }
    let bits = match c.scalar {
        Scalar::Bool | Scalar::U8 | Scalar::U32 | Scalar::I64 => {
            quote! { __VYRE_VALUE as ::core::primitive::u64 }
        }
        Scalar::I32 => quote! {
            __VYRE_VALUE as ::core::primitive::i64 as ::core::primitive::u64
        },
        Scalar::U64 => quote! { __VYRE_VALUE },
        Scalar::F32 => quote! { __VYRE_VALUE.to_bits() as ::core::primitive::u64 },
        Scalar::F64 => quote! { __VYRE_VALUE.to_bits() },
    };
    let span = first_token(value);
    quote_spanned! { span => { const __VYRE_VALUE: #ty = #value; #bits } }
}

/// Each site as a call at the user's token.
pub(crate) fn site_values(tables: &ModuleTables, private: &TokenStream) -> Vec<TokenStream> {
    tables
        .sites
        .iter()
        .map(|site| match site {
            Site::Token(span) => respan(quote! { #private::here() }, *span),
            Site::Imported(place) => place.clone(),
        })
        .collect()
}

/// The same tokens, all at one place: rustc takes a call's position from its first token.
fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), respan(g.stream(), span));
                group.set_span(span);
                TokenTree::Group(group)
            }
            mut other => {
                other.set_span(span);
                other
            }
        })
        .collect()
}

/// Names of the arrays beside a kernel's function.
pub(crate) fn array_names(kernel: &Ident) -> (Ident, Ident) {
    (
        format_ident!("__VYRE_CONSTANTS_{}", kernel, span = Span::call_site()),
        format_ident!("__VYRE_SITES_{}", kernel, span = Span::call_site()),
    )
}
