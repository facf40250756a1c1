//! What a macro needs from other modules. A macro sees only the item that it stands on, so what may be used elsewhere
//! travels: `#[device] fn mix` also defines a macro `mix!` beside the function, which hands the function's source (and that of
//! what it calls) to whoever asks. Whoever calls a function that it does not know expands to `path::to::mix! { .. }` with its own
//! item inside, and goes on, in [`resume`], when everything has arrived.
//!
//! Constants and positions cannot travel: a name means something else in another module, and rustc reports the place of
//! tokens that a macro copied as the place of the macro's call. So `#[device]` also defines a module `mix` with arrays of both, in the order in
//! which lowering asks for them, and users refer to their entries. The three have one name in three namespaces: `use math::mix;` brings all.

use crate::arrays::{add_inside, added, array_names, bound_names, constant_values, site_values};
use crate::attributes::{is_device, unmark};
use crate::kernel;
use crate::names::{self, Meaning, Names, Space};
use crate::package::{Imports, Package, braced, has_dollar, packages};
use crate::report::{Report, did_you_mean};
use crate::sight::{Around, Included, Lacking, Sight, lacks_inside};
use crate::tokens::{any_token, ident};
use crate::wave_graph::graph::GENERATED;
use crate::wave_graph::{self, standalone};
use crate::{attributes, recover, source};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Item, ItemFn};
use vyre_core::vir0::scalar::Scalar;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    WaveGraph,
    Kernel,
    Device,
}

impl Asker {
    const ALL: [Asker; 3] = [Asker::WaveGraph, Asker::Kernel, Asker::Device];

    fn word(self) -> &'static str {
        match self {
            Asker::WaveGraph => "wave_graph",
            Asker::Kernel => "kernel",
            Asker::Device => "device",
        }
    }

    fn expand(self, attr: TokenStream, item: TokenStream, imports: Imports) -> TokenStream {
        match self {
            Asker::WaveGraph => wave_graph::expand(attr, item, imports),
            Asker::Kernel => standalone::expand(attr, item, imports),
            Asker::Device => device(attr, item, imports),
        }
    }
}

/// Expands an attribute, once the functions that its item calls by names of other modules are there.
pub(crate) fn expand(asker: Asker, attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let Some((attr, item)) = source::take(attr, item.clone(), &mut report) else {
        let errors = report.errors();
        return quote! { #item #errors };
    };
    let (item, broken) = match syn::parse2::<Item>(item.clone()) {
        Ok(_) => (item, None),
        Err(e) => match recover::item(item.clone()) {
            Some(mended) => (mended, Some(e.to_string())),
            None => {
                let tokens = asker.expand(attr, item, Imports::default());
                let errors = report.errors();
                return quote! { #tokens #errors };
            }
        },
    };
    let mut parsed = syn::parse2::<Item>(item.clone());
    let name = parsed.as_ref().ok().and_then(name_of);
    let around = name.and_then(Around::new);
    let by_path = Span::call_site().source_text();
    let by_path = by_path.is_some_and(|text| text.contains("::"));
    let attribute = (!by_path).then(|| asker.word());
    let inside = asker == Asker::Device && matches!(parsed, Ok(Item::Mod(_)));
    let lacks = around.as_ref().filter(|_| attr.is_empty() && !inside);
    let lacks = lacks.and_then(|a| a.lacks(&item, attribute));
    let prelude = lacks.map(|Lacking { word, first }| {
        if first {
            report.error_help(
                word.span(),
                format!("`{word}` is not in scope"),
                "write `use vyre::prelude::*;` above: it brings all words of the kernel language",
            );
        }
        // What would follow from that.
        quote! {
            #[allow(unused_imports)]
            use ::vyre::prelude::*;
        }
    });
    let mut item = item;
    if asker == Asker::Device
        && let Ok(Item::Mod(m)) = &mut parsed
        && let Some(word) = lacks_inside(m)
    {
        let name = &m.ident;
        report.error_help(
            word.span(),
            format!("`{word}` is not in scope in `mod {name}`"),
            format!("write `use vyre::prelude::*;` in `mod {name}`: a module does not see what is in scope around it"),
        );
        if let Some((_, items)) = &mut m.content {
            let prelude = quote! { #[allow(unused_imports)] use ::vyre::prelude::*; };
            items.insert(0, Item::Verbatim(prelude));
        }
        item = m.to_token_stream();
    }
    let want = match &mut parsed {
        Ok(Item::Mod(m)) if asker == Asker::WaveGraph => {
            if let Some(around) = &around
                && look_for_includes(m, around, &mut report)
            {
                item = m.to_token_stream();
            }
            includes_of(m)
        }
        _ => Vec::new(),
    };
    let state = State {
        have: TokenStream::new(),
        want,
        stage: Stage::Includes { broken },
        asker,
        attr,
        item,
    };
    let (tokens, errors) = (state.go_on(), report.errors());
    quote! { #prelude #errors #tokens }
}

/// Reports graphs that are included and certainly not there. A misspelled path becomes the one that was meant, and what is not
/// there at all becomes nothing: what follows from it is not said. Whether something changed.
fn look_for_includes(module: &mut syn::ItemMod, around: &Around, report: &mut Report) -> bool {
    let tokens = module.to_token_stream();
    let items = module.content.as_mut().map(|(_, items)| items);
    let mut changed = items.is_some_and(|items| split_includes(items, report));
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        let Item::Use(u) = item else { continue };
        // As the one name that it is.
        while u.attrs.iter().any(is_include) && ungroup(&mut u.tree) {
            changed = true;
        }
        let uses = named(u);
        let [(alias, path)] = &uses[..] else { continue };
        let last = &path[path.len() - 1];
        if !u.attrs.iter().any(is_include) {
            if waits_for(tokens.clone(), alias) && around.included(path) == Included::Graph {
                report.error_help(
                    last.span(),
                    format!("a plain `use` does not include the graph `{last}`"),
                    format!("write `#[include(..)]` before it, with the fields that the two share: `#[include(field_of_{last} = field)]`"),
                );
                u.attrs.push(syn::parse_quote!(#[include]));
                changed = true;
                leave_out(u, alias, last.span());
            }
            continue;
        }
        match around.included(path) {
            Included::Open | Included::Graph => continue,
            Included::Private => report.error_help(
                last.span(),
                format!("the graph `{last}` is private where it stands"),
                format!("write `pub mod {last}`"),
            ),
            Included::Absent { at, within, near } => {
                let what = if at + 1 == path.len() {
                    "wave graph"
                } else {
                    "module"
                };
                let place = within.map_or_else(|| "this crate".to_owned(), |m| format!("`{m}`"));
                let message = format!("there is no {what} `{}` in {place}", path[at]);
                if let Some(near) = near {
                    let help = format!("did you mean `{near}`?");
                    report.error_help(path[at].span(), message, help);
                    let mut meant = path.clone();
                    meant[at] = ident(&near, path[at].span());
                    let named = ident(alias, last.span());
                    // What else names it says whether the name was meant.
                    let own = format!("{alias}_");
                    let uses = |t: &TokenTree| match t {
                        TokenTree::Ident(i) => i.to_string().starts_with(&own),
                        _ => false,
                    };
                    u.tree = if named == *last && !any_token(tokens.clone(), &uses) {
                        syn::parse_quote!(#(#meant)::*)
                    } else {
                        syn::parse_quote!(#(#meant)::* as #named)
                    };
                    changed = true;
                    continue;
                }
                let help = "`#[include]` stands on the `use` of a `#[wave_graph]` module of this crate: name it by its path, as in `use crate::search::bfs;`";
                report.error_help(path[at].span(), message, help);
            }
            Included::Unmarked { inside } => {
                let help = match &inside {
                    Some(graph) => format!("`{graph}` in it is one: write `{last}::{graph}`"),
                    None => format!("write `#[wave_graph]` before `mod {last}`"),
                };
                let message = format!("`{last}` is not a wave graph");
                report.error_help(last.span(), message, help);
                if let Some(graph) = inside {
                    let graph = ident(&graph, last.span());
                    u.tree = syn::parse_quote!(#(#path)::*::#graph);
                    changed = true;
                    continue;
                }
            }
        }
        changed = true;
        leave_out(u, alias, last.span());
    }
    changed
}

/// Makes a `use` bring nothing under its name: what it named is not there, or not to be looked at.
fn leave_out(u: &mut syn::ItemUse, alias: &str, at: Span) {
    let named = ident(alias, at);
    u.leading_colon = Some(syn::parse_quote!(::));
    u.tree = syn::parse_quote!(core as #named);
}

/// Reports a `use` that includes more than one graph, and makes it one for each name, which brings nothing.
fn split_includes(items: &mut Vec<Item>, report: &mut Report) -> bool {
    let mut changed = false;
    let mut all = Vec::new();
    for item in std::mem::take(items) {
        let uses = match &item {
            Item::Use(u) if u.attrs.iter().any(is_include) => named(u),
            _ => Vec::new(),
        };
        let (Item::Use(u), true) = (&item, uses.len() > 1) else {
            all.push(item);
            continue;
        };
        report.error_help(
            u.tree.span(),
            "`#[include]` takes one graph",
            "write a `use` for each, with an `#[include]` of its own",
        );
        for (alias, path) in uses {
            let mut one = u.clone();
            leave_out(&mut one, &alias, path[path.len() - 1].span());
            one.attrs = vec![syn::parse_quote!(#[include])];
            all.push(Item::Use(one));
        }
        changed = true;
    }
    *items = all;
    changed
}

/// The names that a `use` brings, and the paths that they stand for.
fn named(u: &syn::ItemUse) -> Vec<(String, Vec<Ident>)> {
    let all = names::uses(u).into_iter();
    all.filter_map(|(name, path)| Some((name?.to_string(), path)))
        .collect()
}

/// Takes the braces from around a single name.
fn ungroup(tree: &mut syn::UseTree) -> bool {
    match tree {
        syn::UseTree::Path(p) => ungroup(&mut p.tree),
        syn::UseTree::Group(g) if g.items.len() == 1 => {
            *tree = g.items[0].clone();
            true
        }
        _ => false,
    }
}

/// Whether something waits for this name.
fn waits_for(tokens: TokenStream, name: &str) -> bool {
    let mut after = false;
    tokens.into_iter().any(|tree| {
        let is_after = std::mem::replace(
            &mut after,
            matches!(&tree, TokenTree::Ident(i) if i == "after"),
        );
        match tree {
            TokenTree::Group(g) if is_after => any_token(
                g.stream(),
                &|t| matches!(t, TokenTree::Ident(i) if i == name),
            ),
            TokenTree::Group(g) => waits_for(g.stream(), name),
            _ => false,
        }
    })
}

/// `#[include]`, or what was meant as one.
fn is_include(attr: &syn::Attribute) -> bool {
    let word = attr.path().get_ident().map(Ident::to_string);
    let word = word.unwrap_or_default();
    word == "include" || did_you_mean(&word, ["include"]).is_some()
}

/// Expands with the graphs that an item includes, if something is wrong whatever the functions that it calls turn out to be:
/// that is said at once, as rustc stops where one does not exist. Otherwise asks for these.
fn with_includes(
    (asker, attr, item): (Asker, TokenStream, TokenStream),
    arrived: TokenStream,
    broken: Option<String>,
) -> TokenStream {
    let mut name = None;
    let mut wanted = match syn::parse2::<Item>(item.clone()).inspect(|i| name = name_of(i)) {
        Ok(Item::Mod(m)) if asker != Asker::Kernel => calls_of_module(&m),
        Ok(Item::Fn(f)) if asker != Asker::WaveGraph => calls_of_function(&f),
        _ => Vec::new(),
    };
    // Most items want nothing: then no file is read.
    let around = name.filter(|_| !wanted.is_empty()).and_then(Around::new);
    if wanted.iter().any(|w| !w.brought) {
        let mut own = Scan::default();
        own.code(item.clone());
        // What looks like a misspelling of the item's own names is one, unless it is there.
        wanted.retain(|w| {
            let name = w.key.to_string();
            w.brought
                || !misspelled(&name, &own.declared)
                || around.as_ref().is_some_and(|a| a.has(&name))
        });
    }
    if broken.is_some() || !wanted.is_empty() {
        let have = match packages.parse2(arrived.clone()) {
            Ok(have) => have,
            Err(e) => return e.into_compile_error(),
        };
        let is_broken = broken.is_some();
        let mut imports = Imports {
            have,
            broken,
            ..Imports::default()
        };
        let mut absent = Vec::new();
        for w in &wanted {
            let sight = around.as_ref().map(|a| a.look(&w.from_here));
            match sight.unwrap_or(Sight::Open) {
                Sight::Open => imports.expected.push(w.key.clone()),
                Sight::Unmarked => match idents(&w.from_here).as_slice() {
                    [.., module, of] if is_type_name(of) => {
                        imports.expected.push(w.key.clone());
                        // A graph has its own of these, and says so.
                        if GENERATED.iter().any(|g| of == g) {
                            continue;
                        }
                        imports.wrong.push((
                            idents(&w.key)
                                .last()
                                .map_or_else(Span::call_site, Ident::span),
                            format!("`{of}` is of a module that kernels do not see"),
                            format!("write `#[device]` before `mod {module}`"),
                        ));
                    }
                    _ => {
                        let path = w.key.to_string().replace(' ', "");
                        imports.unmarked.push(path);
                    }
                },
                Sight::Absent => absent.push(w.key.to_string()),
            }
        }
        let tokens = asker.expand(attr.clone(), item.clone(), imports);
        let is_error = |t: &TokenTree| matches!(t, TokenTree::Ident(i) if i == "compile_error");
        if is_broken || any_token(tokens.clone(), &is_error) {
            return tokens;
        }
        // No call of a wave's, or it would have been an error: rustc says that there is no such function.
        wanted.retain(|w| !absent.contains(&w.key.to_string()));
    }
    let state = State {
        have: arrived,
        want: wanted,
        stage: Stage::Calls,
        asker,
        attr,
        item,
    };
    state.go_on()
}

fn idents(path: &TokenStream) -> Vec<Ident> {
    let ident = |t| match t {
        TokenTree::Ident(i) => Some(i),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    };
    path.clone().into_iter().filter_map(ident).collect()
}

fn name_of(item: &Item) -> Option<Ident> {
    match item {
        Item::Fn(f) => Some(f.sig.ident.clone()),
        Item::Mod(m) => Some(m.ident.clone()),
        _ => None,
    }
}

/// `import! { PACKAGE {have} {want} {stage} asker {attr} {item} }`, which `mix!` expands to.
pub(crate) fn resume(input: TokenStream) -> TokenStream {
    match syn::parse2::<State>(input) {
        Ok(state) => state.go_on(),
        Err(e) => e.into_compile_error(),
    }
}

/// Something of another module.
struct Wanted {
    /// The name of a graph where it is included; of the rest the path from where the attribute stands, spanned where the code
    /// names it.
    key: TokenStream,
    /// That path, as it is written.
    from_here: TokenStream,
    /// A `use` or the path itself says that it is there.
    brought: bool,
}

/// An expansion that waits for functions of other modules.
struct State {
    /// `{key} PACKAGE` of each that has arrived.
    have: TokenStream,
    want: Vec<Wanted>,
    stage: Stage,
    asker: Asker,
    attr: TokenStream,
    item: TokenStream,
}

/// What an expansion waits for.
enum Stage {
    /// Graphs that it includes. `broken`: why its item did not parse.
    Includes { broken: Option<String> },
    /// Functions and structs.
    Calls,
}

impl State {
    fn go_on(mut self) -> TokenStream {
        if self.want.is_empty()
            && let Stage::Includes { broken } = self.stage
        {
            return with_includes((self.asker, self.attr, self.item), self.have, broken);
        }
        if self.want.is_empty() {
            return match packages.parse2(self.have) {
                Ok(have) => {
                    let imports = Imports {
                        have,
                        ..Imports::default()
                    };
                    self.asker.expand(self.attr, self.item, imports)
                }
                Err(e) => e.into_compile_error(),
            };
        }
        let path = self.want.remove(0);
        let (key, from_here) = (path.key, path.from_here);
        let State {
            have, attr, item, ..
        } = self;
        let stage = match self.stage {
            Stage::Includes { broken } => {
                let broken = broken.into_iter();
                quote! { includes #(#broken)* }
            }
            Stage::Calls => quote! { calls },
        };
        let asker = Ident::new(self.asker.word(), Span::call_site());
        let want = self.want.iter().map(|w| {
            let (key, from_here) = (&w.key, &w.from_here);
            quote! { {#key} {#from_here} }
        });
        quote! { #from_here! { {#key} {#have} {#(#want)*} {#stage} #asker {#attr} {#item} } }
    }
}

impl Parse for State {
    fn parse(input: ParseStream<'_>) -> syn::Result<State> {
        let package = braced(input)?;
        let (key, have, want) = (braced(input)?, braced(input)?, braced(input)?);
        let stage;
        syn::braced!(stage in input);
        let word: Ident = stage.parse()?;
        let broken: Option<syn::LitStr> = stage.parse()?;
        let stage = match broken {
            _ if word == "calls" => Stage::Calls,
            broken => Stage::Includes {
                broken: broken.map(|b| b.value()),
            },
        };
        let asker: Ident = input.parse()?;
        let asker = Asker::ALL.into_iter().find(|a| asker == a.word());
        Ok(State {
            have: quote! { #have {#key} {#package} },
            want: wanted.parse2(want)?,
            stage,
            asker: asker.ok_or_else(|| input.error("`import!` is internal to vyre"))?,
            attr: braced(input)?,
            item: braced(input)?,
        })
    }
}

fn wanted(input: ParseStream<'_>) -> syn::Result<Vec<Wanted>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        let (key, from_here) = (braced(input)?, braced(input)?);
        all.push(Wanted {
            key,
            from_here,
            brought: true,
        });
    }
    Ok(all)
}

/// Expands `#[device]` on a function outside every graph and kernel.
fn device(attr: TokenStream, item: TokenStream, imports: Imports) -> TokenStream {
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
    let package = Package {
        item: Item::Fn(source),
        imports,
    };
    let tables = kernel::compile_package(&package, &mut report);
    let bound = tables
        .as_ref()
        .map(|t| bound_names(&t.bound, &[], &quote! { #krate::__private }));
    let arrays = tables.filter(|t| !t.sites.is_empty() || !t.constants.is_empty());
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
    let travels = package.travels(name, &krate);
    let function = report.mended(function.to_token_stream());
    quote! { #function #errors #arrays #bound #travels }
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
    let package = Package {
        item: Item::Mod(source),
        imports,
    };
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
        let bound = bound_names(&compiled.tables.bound, &[], &private);
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
            #(#records)*
            #bound
            #macros
        }));
    }
    report.mended(module.into_token_stream())
}

fn has_self(stream: TokenStream) -> bool {
    any_token(stream, &|t| matches!(t, TokenTree::Ident(i) if i == "Self"))
}

/// Words before `(` that call nothing.
const KEYWORDS: [&str; 24] = [
    "as", "break", "const", "continue", "else", "for", "if", "impl", "in", "let", "loop", "match",
    "move", "mut", "pub", "ref", "return", "static", "struct", "type", "unsafe", "use", "where",
    "while",
];

/// Calls of plain functions in some code, as paths, and names that the code itself declares.
#[derive(Default)]
struct Scan {
    calls: Vec<Vec<Ident>>,
    /// Paths of what is named like a type.
    types: Vec<Vec<Ident>>,
    declared: HashSet<String>,
}

impl Scan {
    fn code(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let punct = |i: usize, c: char| matches!(tokens.get(i), Some(TokenTree::Punct(p)) if p.as_char() == c);
        let mut i = 0;
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Punct(p) if p.as_char() == '#' => {
                    let inner = usize::from(punct(i + 1, '!'));
                    if let Some(TokenTree::Group(g)) = tokens.get(i + 1 + inner)
                        && g.delimiter() == Delimiter::Bracket
                    {
                        i += 1 + inner;
                    }
                }
                TokenTree::Group(g) => self.code(g.stream()),
                TokenTree::Ident(first) => {
                    let begin = i;
                    let mut path = vec![first.clone()];
                    while punct(i + 1, ':')
                        && punct(i + 2, ':')
                        && let Some(TokenTree::Ident(next)) = tokens.get(i + 3)
                    {
                        path.push(next.clone());
                        i += 3;
                    }
                    let before = begin.checked_sub(1).map(|b| &tokens[b]);
                    let after_word =
                        |word: &str| matches!(before, Some(TokenTree::Ident(b)) if b == word);
                    let second = begin.checked_sub(2).map(|b| &tokens[b]);
                    let let_mut = after_word("mut")
                        && matches!(second, Some(TokenTree::Ident(b)) if b == "let");
                    if ["fn", "mod", "let", "struct", "use"]
                        .iter()
                        .any(|w| after_word(w))
                        || let_mut
                    {
                        let name = path[path.len() - 1].to_string();
                        self.declared.insert(name);
                    } else if let Some(at) = path.iter().position(is_type_name) {
                        let declares = ["enum", "trait", "type", "union", "impl", "dyn"];
                        if !declares.iter().any(|w| after_word(w)) {
                            path.truncate(at + 1);
                            self.types.push(path);
                        }
                    } else if let Some(TokenTree::Group(g)) = tokens.get(i + 1)
                        && g.delimiter() == Delimiter::Parenthesis
                        && !matches!(before, Some(TokenTree::Punct(p)) if p.as_char() == '.' || p.as_char() == '\'')
                        // One colon is a field's.
                        && !(begin >= 2 && punct(begin - 1, ':') && punct(begin - 2, ':'))
                        && is_plain_call(&path)
                    {
                        self.calls.push(path);
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }
}

/// `Point`, not `point`, `POINT` or `T`.
fn is_type_name(name: &Ident) -> bool {
    let name = name.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
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

/// Whether a path can be that of a function of the user's: not a constructor, not a function of a type or of std.
fn is_plain_call(path: &[Ident]) -> bool {
    let words: Vec<String> = path.iter().map(Ident::to_string).collect();
    let upper = |w: &String| w.starts_with(|c: char| c.is_uppercase());
    let last = &words[words.len() - 1];
    if upper(last) || KEYWORDS.contains(&last.as_str()) || last == "fn" {
        return false;
    }
    if matches!(words[0].as_str(), "std" | "core" | "alloc") {
        return false;
    }
    match words.len().checked_sub(2).map(|b| &words[b]) {
        None => !matches!(words[0].as_str(), "crate" | "super" | "self"),
        Some(before) => {
            !upper(before)
                && !matches!(before.as_str(), "cmp" | "mem" | "usize")
                && !Scalar::ALL.iter().any(|s| s.name() == before)
        }
    }
}

fn path_tokens(path: &[Ident]) -> TokenStream {
    quote! { #(#path)::* }
}

/// Whether a name is not, but resembles, one that the code declares.
fn misspelled(name: &str, declared: &HashSet<String>) -> bool {
    !declared.contains(name) && did_you_mean(name, declared.iter().map(String::as_str)).is_some()
}

fn calls_of_function(f: &ItemFn) -> Vec<Wanted> {
    let mut scan = Scan::default();
    scan.declared.insert(f.sig.ident.to_string());
    scan.code(f.block.to_token_stream());
    let mut all: Vec<Wanted> = Vec::new();
    for path in &scan.calls {
        if !scan.declared.contains(&path[0].to_string()) {
            add(&mut all, Wanted::called(path));
        }
    }
    // The macro sees no `use` here: a path says that the struct is the user's, and where it is.
    let outside = |w: &str| matches!(w, "std" | "core" | "alloc" | "vyre");
    for path in scan.types.iter().filter(|p| p.len() > 1) {
        let first = path[0].to_string();
        if !scan.declared.contains(&first) && !outside(&first) {
            add(&mut all, Wanted::called(path));
        }
    }
    all
}

fn add(all: &mut Vec<Wanted>, wanted: Wanted) {
    let text = wanted.key.to_string();
    match all.iter_mut().find(|w| w.key.to_string() == text) {
        Some(known) => known.brought |= wanted.brought,
        None => all.push(wanted),
    }
}

impl Wanted {
    /// What is called by this path in a function.
    fn called(path: &[Ident]) -> Wanted {
        Wanted {
            key: path_tokens(path),
            from_here: path_tokens(path),
            brought: path.len() > 1,
        }
    }
}

fn calls_of_module(module: &syn::ItemMod) -> Vec<Wanted> {
    let Some((_, items)) = &module.content else {
        return Vec::new();
    };
    let mut calls = CallsOfModule {
        modules: Vec::new(),
        declared: Scan::default(),
        all: Vec::new(),
    };
    calls.declared.code(module.to_token_stream());
    calls.module(Names::of_module(items), items);
    calls.all
}

/// Graphs that a graph includes.
fn includes_of(module: &syn::ItemMod) -> Vec<Wanted> {
    let mut all = Vec::new();
    for item in module.content.iter().flat_map(|(_, items)| items) {
        let Item::Use(u) = item else { continue };
        if !u.attrs.iter().any(is_include) {
            continue;
        }
        for (name, path) in named(u) {
            let meaning = names::resolve(&[Names::default()], (1, &[]), &path, Space::Types);
            if let Meaning::Outside(from_here) | Meaning::Unknown(from_here) = meaning {
                let key = ident(&name, path[path.len() - 1].span());
                let wanted = Wanted {
                    key: key.into_token_stream(),
                    from_here: path_tokens(&from_here),
                    brought: true,
                };
                add(&mut all, wanted);
            }
        }
    }
    all
}

/// Finds what the kernels of a module call and name that is not in it.
struct CallsOfModule {
    /// The module and the fixpoints around the code at hand.
    modules: Vec<Names>,
    /// Names that the whole module declares.
    declared: Scan,
    all: Vec<Wanted>,
}

impl CallsOfModule {
    fn module(&mut self, names: Names, items: &[Item]) {
        self.modules.push(names);
        self.items(items, &[]);
        self.modules.pop();
    }

    /// Looks into what kernels see.
    fn items(&mut self, items: &[Item], inside: &[Ident]) {
        for item in items {
            match item {
                Item::Mod(m) => {
                    let Some((_, items)) = &m.content else {
                        continue;
                    };
                    if m.attrs.iter().any(is_device) {
                        let inside: Vec<_> = inside.iter().chain([&m.ident]).cloned().collect();
                        self.items(items, &inside);
                    } else if inside.is_empty() && is_marked(&m.attrs) {
                        self.module(Names::of_fixpoint(items), items);
                    }
                }
                Item::Fn(f) if !is_marked(&f.attrs) => {}
                Item::Impl(i) if i.trait_.is_some() => {}
                Item::Fn(_) | Item::Impl(_) | Item::Struct(_) | Item::Const(_) => {
                    self.code(item.to_token_stream(), inside);
                }
                _ => {}
            }
        }
    }

    fn code(&mut self, code: TokenStream, inside: &[Ident]) {
        let mut scan = Scan::default();
        scan.code(code);
        for path in &scan.calls {
            let (from_here, brought) = match self.meaning(path, inside, Space::Values) {
                Meaning::Outside(from_here) => (from_here, true),
                Meaning::Unknown(from_here) => {
                    let brought = from_here != *path;
                    (from_here, brought)
                }
                Meaning::Here(..) | Meaning::Nothing => continue,
            };
            if is_plain_call(&from_here) && (brought || !self.is_own(path, &scan)) {
                self.want(path, &from_here, brought);
            }
        }
        for path in &scan.types {
            if let Meaning::Outside(from_here) = self.meaning(path, inside, Space::Types)
                && from_here.last().is_some_and(is_type_name)
            {
                self.want(path, &from_here, true);
            }
        }
    }

    fn meaning(&self, path: &[Ident], inside: &[Ident], space: Space) -> Meaning {
        names::resolve(&self.modules, (self.modules.len(), inside), path, space)
    }

    /// Whether the code declares the first name of a path.
    fn is_own(&self, path: &[Ident], scan: &Scan) -> bool {
        let first = path[0].to_string();
        self.declared.declared.contains(&first) || path.len() == 1 && scan.declared.contains(&first)
    }

    fn want(&mut self, written: &[Ident], from_here: &[Ident], brought: bool) {
        let at = written[written.len() - 1].span();
        let key = from_here.iter().map(|i| ident(&i.to_string(), at));
        let key: Vec<Ident> = key.collect();
        let wanted = Wanted {
            key: path_tokens(&key),
            from_here: path_tokens(from_here),
            brought,
        };
        add(&mut self.all, wanted);
    }
}

/// Whether attributes mark a function or module for kernels, if perhaps misspelled.
fn is_marked(attrs: &[syn::Attribute]) -> bool {
    const MARKS: [&str; 3] = ["wave", "fixpoint", "device"];
    attrs.iter().any(|a| {
        let last = a.path().segments.last().map(|s| s.ident.to_string());
        last.is_some_and(|word| {
            MARKS.contains(&word.as_str()) || did_you_mean(&word, MARKS).is_some()
        })
    })
}
