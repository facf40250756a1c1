//! `#[kernel]`: a function that is a pass of one wave over `range(n)`. It becomes a wave graph with `Data` made from
//! the parameters, and takes the same way through the stages.

use super::build::{Built, build};
use super::domain::DomainArgs;
use super::graph::{Field, FieldKind, Given, Graph, Host, Per, Piece, Scope, Wave};
use super::syntax::{is_struct_word, options};
use crate::args::{take_attrs, title_of};
use crate::arrays::{array_names, constant_values, looks, site_values};
use crate::attributes::{is_device, without_inner_devices};
use crate::expand::{Expansion, many_arguments};
use crate::kernel::param::{Written, written};
use crate::kernel::param::{scalar_of, type_word};
use crate::kernel::types::scalar_type;
use crate::package::Imports;
use crate::report::Report;
use crate::tokens::show;
use crate::turns::watched;
use crate::{attributes, pass};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Ident, Item, ItemFn, Pat, Stmt, Type, parse_quote};
use vyre_core::vir0::module::Role;
use vyre_core::vir0::scalar::Scalar;

/// Expands `#[kernel(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream, imports: Imports) -> TokenStream {
    let mut report = Report::default();
    imports.report(&mut report);
    let mut parsed = syn::parse2::<Item>(item.clone());
    if let Ok(item @ Item::Fn(_)) = &mut parsed {
        attributes::refuse(item, "kernel", &mut report);
    }
    match parsed {
        Ok(Item::Fn(function)) => kernel(attr, function, imports, report),
        Ok(Item::Mod(module)) => {
            report.error_help(
                Span::call_site(),
                "`#[kernel]` marks a function",
                "a module of waves is a `#[wave_graph]`",
            );
            let errors = report.errors();
            quote! { #module #errors }
        }
        Ok(other) => {
            report.error(Span::call_site(), "`#[kernel]` marks a function");
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

/// How a parameter appears in `run`.
enum Argument {
    /// Of a type that was refused: whatever the caller gives.
    Any(Ident),
    Scalar(Ident, Scalar),
    Slice {
        name: Ident,
        scalar: Scalar,
        mutable: bool,
        /// One element an item; otherwise a whole buffer with a length of its own.
        per_item: bool,
    },
}

/// Names of the hidden scalars.
struct Hidden {
    items: Ident,
    /// Length of each whole buffer, by its name.
    lengths: Vec<(Ident, Ident)>,
}

fn kernel(
    attr: TokenStream,
    mut function: ItemFn,
    imports: Imports,
    mut report: Report,
) -> TokenStream {
    let options = options(attr, &mut report);
    let passes = take_attrs(&mut function.attrs, "pass");
    for word in ["wave", "fixpoint", "device", "wave_graph", "kernel"] {
        for attr in take_attrs(&mut function.attrs, word) {
            report.error(
                attr.span(),
                format!("`#[{word}]` does not go with `#[kernel]`"),
            );
        }
    }
    let name = function.sig.ident.clone();
    let title = title_of(&function.attrs);
    let claim = pass::parse(&passes, title, &name.unraw().to_string(), &mut report);
    let (fields, arguments, hidden) = parameters(&function, &mut report);
    // A standalone kernel has no module of its own to hold helpers: they are written in its body.
    let original = without_inner_devices(&function);
    let helpers = take_helpers(&mut function);
    let mut scope_items = vec![Item::Fn(function.clone())];
    scope_items.extend(helpers);
    // Helpers see the body's constants; the body itself reads them as it goes.
    let constants = function.block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Item(item @ Item::Const(_)) => Some(item.clone()),
        _ => None,
    });
    scope_items.extend(constants);
    let items = &hidden.items;
    let range: Expr = parse_quote!(#items);
    let graph = Graph {
        name: name.clone(),
        options,
        claim,
        has_data: true,
        fields,
        scopes: vec![Scope {
            in_body: true,
            parent: None,
            depth: 0,
            name: name.clone(),
            attrs: Vec::new(),
            vis: function.vis.clone(),
            fixpoint: None,
            pieces: vec![Piece::Wave(0)],
            imports_parent: true,
            items: scope_items,
            shown: None,
            origin: None,
        }],
        waves: vec![Wave {
            scope: 0,
            function,
            domain: Some(DomainArgs::Range(range)),
            after: Vec::new(),
            names: HashMap::new(),
            call: None,
            shown: None,
            origin: None,
        }],
        includes: Vec::new(),
        included: Vec::new(),
        lost: Vec::new(),
        clashes: Vec::new(),
        unwalked: Vec::new(),
        written: Vec::new(),
    };
    let parsed = report.is_empty();
    let built = build(&graph, imports, parsed, &mut report);
    emit(&graph, &built, (&original, &arguments, &hidden), report)
}

/// The fields that parameters stand for, what `run` takes, and scalars of lengths.
fn parameters(function: &ItemFn, report: &mut Report) -> (Vec<Field>, Vec<Argument>, Hidden) {
    let taken: Vec<String> = function
        .sig
        .inputs
        .iter()
        .filter_map(|a| match a {
            FnArg::Typed(t) => match &*t.pat {
                Pat::Ident(p) => Some(p.ident.to_string()),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        })
        .collect();
    let fresh = |wanted: String| {
        let mut word = wanted;
        while taken.contains(&word) {
            word.push('_');
        }
        Ident::new(&word, Span::call_site())
    };
    let mut hidden = Hidden {
        items: fresh("n".to_owned()),
        lengths: Vec::new(),
    };
    let mut fields = Vec::new();
    let mut arguments = Vec::new();
    for input in &function.sig.inputs {
        let FnArg::Typed(arg) = input else { continue };
        let Pat::Ident(pat) = &*arg.pat else {
            arguments.push(Argument::Any(fresh("pattern".to_owned())));
            continue;
        };
        let ident = &pat.ident;
        let form = written(&arg.ty);
        let size = type_word(&arg.ty).is_some_and(|w| w == "usize");
        let item = matches!(form, Written::Node | Written::Edge | Written::Cell) || size;
        let refuse = |what: &str, report: &mut Report| {
            report.error_help(
                arg.ty.span(),
                format!("a `#[kernel]` has no {what}"),
                "it is one wave over `range(n)`; write a `#[wave_graph]` module for more",
            );
        };
        let items = &hidden.items;
        let column = |role: Role, scalar: Scalar, len: &Ident| FieldKind::Column {
            role,
            scalar,
            item: None,
            per: Some(Per::Len(Box::new(parse_quote!(#len)))),
            init: None,
        };
        let slice = |scalar, mutable, per_item| Argument::Slice {
            name: ident.clone(),
            scalar,
            mutable,
            per_item,
        };
        let kind = match form {
            Written::Index => continue,
            Written::Node => {
                report.error_help(
                    arg.ty.span(),
                    "the item of a `#[kernel]` is `Index`, not `Node`",
                    format!("write `{ident}: Index`"),
                );
                FieldKind::Broken
            }
            Written::Edge => {
                refuse("edges", report);
                FieldKind::Broken
            }
            Written::Cell => {
                refuse("cells", report);
                FieldKind::Broken
            }
            Written::Round => {
                refuse("rounds", report);
                FieldKind::Broken
            }
            Written::Csr => {
                refuse("topology", report);
                FieldKind::Broken
            }
            Written::Bits => {
                refuse("rows of bits", report);
                FieldKind::Broken
            }
            Written::Push | Written::PushItems => {
                refuse("frontier", report);
                FieldKind::Broken
            }
            Written::Records => {
                refuse("buffers of structs", report);
                FieldKind::Broken
            }
            Written::Rows(_) | Written::Values(..) => {
                refuse("rows of differing lengths", report);
                FieldKind::Broken
            }
            Written::Row(..) => {
                refuse("rows of buffers", report);
                FieldKind::Broken
            }
            Written::Append => {
                refuse("lists", report);
                FieldKind::Broken
            }
            Written::Insert | Written::Lookup | Written::Filing => {
                refuse("relations", report);
                FieldKind::Broken
            }
            Written::Reduce(..) => {
                refuse("reductions", report);
                FieldKind::Broken
            }
            Written::Value(scalar) => {
                arguments.push(Argument::Scalar(ident.clone(), scalar));
                FieldKind::Scalar(scalar, Given::Run)
            }
            Written::Ref(scalar) => {
                arguments.push(slice(scalar, false, true));
                column(Role::Input, scalar, items)
            }
            Written::RefMut(scalar) => {
                arguments.push(slice(scalar, true, true));
                column(Role::InOut, scalar, items)
            }
            Written::Buf(scalar) | Written::AtomicBuf(scalar) => {
                let mutable = matches!(form, Written::AtomicBuf(_));
                arguments.push(slice(scalar, mutable, false));
                let len = fresh(format!("{}_len", ident.unraw()));
                hidden.lengths.push((ident.clone(), len.clone()));
                column(
                    if mutable { Role::InOut } else { Role::Input },
                    scalar,
                    &len,
                )
            }
            Written::Other if size => {
                report.error_help(
                    arg.ty.span(),
                    "`usize` is not a parameter of a kernel",
                    format!("write `{ident}: Index` for the item's number, which is a u32, and `{ident}: u32` for a number that the caller gives"),
                );
                FieldKind::Broken
            }
            Written::Other if element_of_slice(&arg.ty).is_some() => {
                let (scalar, mutable) = element_of_slice(&arg.ty).unwrap_or((Scalar::U32, false));
                let (t, m) = (scalar.name(), if mutable { "mut " } else { "" });
                let whole = if mutable {
                    format!("&Buf<Atomic<{t}>>")
                } else {
                    format!("&Buf<{t}>")
                };
                report.error_help(
                    arg.ty.span(),
                    format!("`{}` is not a parameter of a kernel", show(&arg.ty)),
                    format!("write `{ident}: &{m}{t}` for the item's own element, or `{ident}: {whole}` for any; the caller gives a slice"),
                );
                arguments.push(slice(scalar, mutable, true));
                let element = Ident::new(t, Span::call_site());
                fields.push(Field {
                    name: ident.clone(),
                    shown: None,
                    docs: Vec::new(),
                    kind: FieldKind::Broken,
                    reset: None,
                    entered: None,
                    given: None,
                    host: Some(Host::Input(parse_quote!(#element))),
                    origin: None,
                });
                continue;
            }
            Written::Other if is_generic(&arg.ty, &function.sig.generics) => {
                report.error_help(
                    arg.ty.span(),
                    "generics are not in the kernel language",
                    "name concrete types, one kernel for each",
                );
                FieldKind::Broken
            }
            Written::Other if names_a_struct(&arg.ty) => {
                let by_value = type_word(&arg.ty).is_some();
                let (what, help) = if by_value {
                    ("parameters that are structs", "take its fields one by one")
                } else {
                    (
                        "buffers of structs",
                        "take a buffer for each field, or write a `#[wave_graph]` module, whose buffers can be of structs",
                    )
                };
                report.error_help(arg.ty.span(), format!("a `#[kernel]` has no {what}"), help);
                FieldKind::Broken
            }
            Written::Other => {
                report.error_help(
                    arg.ty.span(),
                    format!("`{}` is not a parameter of a kernel", show(&arg.ty)),
                    "it takes `Index`, scalars by value, `&T` and `&mut T` for its own element, `&Buf<T>` and `&Buf<Atomic<T>>` for whole buffers",
                );
                FieldKind::Broken
            }
        };
        if let FieldKind::Broken = kind
            && !item
        {
            arguments.push(Argument::Any(ident.clone()));
        }
        fields.push(Field {
            name: ident.clone(),
            shown: None,
            docs: Vec::new(),
            kind,
            reset: None,
            entered: None,
            host: None,
            given: None,
            origin: None,
        });
    }
    let lengths = hidden.lengths.iter();
    let lengths = lengths.map(|(of, len)| (len, Some(format!("{}.len()", of.unraw()))));
    for (len, shown) in std::iter::once((&hidden.items, None)).chain(lengths) {
        fields.push(Field {
            name: len.clone(),
            shown,
            docs: Vec::new(),
            kind: FieldKind::Scalar(Scalar::U32, Given::Run),
            reset: None,
            entered: None,
            host: None,
            given: None,
            origin: None,
        });
    }
    (fields, arguments, hidden)
}

/// `T` of `&[T]` or `&mut [T]`, and whether it is written.
fn element_of_slice(ty: &Type) -> Option<(Scalar, bool)> {
    let Type::Reference(r) = ty else { return None };
    let Type::Slice(s) = &*r.elem else {
        return None;
    };
    Some((scalar_of(&s.elem)?, r.mutability.is_some()))
}

/// Whether a type is one of these parameters, or refers to one, or is an `impl Trait`.
fn is_generic(ty: &Type, generics: &syn::Generics) -> bool {
    match ty {
        Type::Reference(r) => is_generic(&r.elem, generics),
        Type::ImplTrait(_) => true,
        _ => type_word(ty).is_some_and(|w| generics.type_params().any(|p| p.ident == w)),
    }
}

/// Whether a type, or what it refers to, has a struct's name.
fn names_a_struct(ty: &Type) -> bool {
    match ty {
        Type::Reference(r) => names_a_struct(&r.elem),
        _ => type_word(ty).is_some_and(|w| is_struct_word(&w)),
    }
}

/// Takes the `#[device] fn`s, the structs and their `impl`s out of a body.
fn take_helpers(function: &mut ItemFn) -> Vec<Item> {
    let mut helpers = Vec::new();
    function.block.stmts.retain(|stmt| {
        let Stmt::Item(item) = stmt else { return true };
        let taken = match item {
            Item::Fn(f) => f.attrs.iter().any(is_device),
            Item::Struct(_) => true,
            Item::Impl(i) => i.trait_.is_none(),
            _ => false,
        };
        if taken {
            helpers.push(item.clone());
        }
        !taken
    });
    helpers
}

fn emit(
    graph: &Graph,
    built: &Built<'_>,
    (function, arguments, hidden): (&ItemFn, &[Argument], &Hidden),
    report: Report,
) -> TokenStream {
    let expansion = Expansion {
        standalone: true,
        ..built.expansion(graph)
    };
    let krate = &graph.options.krate;
    let private = quote! { #krate::__private };
    let (name, vis) = (&graph.name, &function.vis);
    let (pass, glue) = expansion.pass(&report);

    // Constants and sites stand beside the function, where the names in it mean the same.
    let module = built.tables.modules().first();
    let module = module.filter(|_| built.skeleton.is_some());
    let arrays = module.map(|tables| {
        let (constants, sites) = (constant_values(tables), site_values(tables, &private));
        let (constants_name, sites_name) = array_names(name);
        let constants = (!constants.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                const #constants_name: &[::core::primitive::u64] = &[#(#constants),*];
            }
        });
        let sites = (!sites.is_empty()).then(|| {
            quote! {
                #[doc(hidden)]
                const #sites_name: &[&::core::panic::Location<'static>] = &[#(#sites),*];
            }
        });
        let looks = looks(&tables.assumed, &[], &private);
        quote! { #constants #sites #looks }
    });

    let (mut params, mut inputs) = (Vec::new(), Vec::new());
    let mut lengths = Vec::new();
    let mut first_slice = None;
    for argument in arguments {
        match argument {
            Argument::Any(name) => {
                params.push(quote! { #name: impl ::core::marker::Sized });
            }
            Argument::Scalar(name, scalar) => {
                let ty = scalar_type(*scalar);
                params.push(quote! { #name: #ty });
                inputs.push(quote! { pub #name: #ty });
            }
            Argument::Slice {
                name,
                scalar,
                mutable,
                per_item,
            } => {
                let ty = scalar_type(*scalar);
                inputs.push(quote! { pub #name: &'a [#ty] });
                if *mutable {
                    params.push(quote! { #name: &mut [#ty] });
                } else {
                    params.push(quote! { #name: &[#ty] });
                }
                if *per_item && first_slice.is_none() {
                    first_slice = Some(name);
                }
            }
        }
    }
    let length = |slice: &Ident| {
        let word = slice.unraw().to_string();
        quote! { #private::length(#word, #slice.len())? }
    };
    let items = &hidden.items;
    inputs.push(quote! { pub #items: ::core::primitive::u32 });
    let doc_items = match first_slice {
        Some(slice) => {
            let len = length(slice);
            lengths.push(quote! { let #items = #len; });
            format!("one item for each element of `{slice}`")
        }
        None => {
            params.insert(0, quote! { #items: ::core::primitive::u32 });
            format!("`{items}` items")
        }
    };
    for (slice, len) in &hidden.lengths {
        inputs.push(quote! { pub #len: ::core::primitive::u32 });
        let value = length(slice);
        lengths.push(quote! { let #len = #value; });
    }
    let borrows = arguments
        .iter()
        .any(|a| matches!(a, Argument::Slice { .. }));
    let lifetime = borrows.then(|| quote! { <'a> });
    let module_doc = format!("`{name}` as a pass.");
    let run_doc = format!(
        "Runs `{name}`: {doc_items}. Per-item slices have the same length. After an error, slices are as before."
    );
    let plan_doc = format!("The static plan of `{name}`, readable.");
    let runtime = format_ident!("runtime", span = Span::mixed_site());
    let run = if built.skeleton.is_some() {
        let (args, in_outs) = expansion.lent();
        quote! {
            #(#lengths)*
            // Overflow checks come with debug assertions, as a rule.
            let may_trap = ::core::cfg!(debug_assertions);
            #private::run_in_place::<Pass>(#runtime, &#args, &mut #in_outs, may_trap)
        }
    } else {
        let guards = report.guards();
        quote! {
            #guards
            ::core::unreachable!()
        }
    };
    let quiet = crate::expand::quiet_on_error(built.skeleton.is_some());
    let inline = crate::expand::inlined(function);
    let many = many_arguments(function.sig.inputs.len());
    let many_slices = many_arguments(params.len() + 1);
    let errors = report.errors();
    let emitted = quote! {
        #quiet
        #inline
        #many
        #function
    };
    let emitted = watched(report.seen(function, emitted), &private);
    let function = report.mended(emitted, &private);
    quote! {
        #function
        #arrays

        #quiet
        #[doc = #module_doc]
        #vis mod #name {
            #errors

            #[doc = #run_doc]
            #many_slices
            pub fn run(
                #runtime: &#krate::Runtime,
                #(#params,)*
            ) -> ::core::result::Result<#krate::Report, #krate::Error> {
                #run
            }

            #[doc = #plan_doc]
            pub const PLAN: #krate::Plan = #krate::Plan::new(<Pass as #private::Pass>::PARTS);

            #[doc(hidden)]
            pub struct Run #lifetime { #(#inputs,)* }

            #pass
        }

        const _: () = {
            use #name as __vyre_kernel;
            use #name::{Pass, Run};
            #glue
        };
    }
}
