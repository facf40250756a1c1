//! What a macro needs from other modules. A macro sees only the item that it stands on, so what may be used elsewhere
//! travels: `#[device] fn mix` also defines a macro `mix!` beside the function, which hands the function's source (and
//! that of what it calls) to whoever asks. Whoever calls a function that it does not know expands to
//! `path::to::mix! { .. }` with its own item inside, and goes on, in [`resume`], when everything has arrived.
//!
//! Constants and positions cannot travel: a name means something else in another module, and rustc reports the place of
//! tokens that a macro copied as the place of the macro's call. So `#[device]` also defines a module `mix` with arrays
//! of both, in the order in which lowering asks for them, and users refer to their entries. The three have one name in
//! three namespaces: `use math::mix;` brings all.

use crate::calls::{
    Astray, Hoisted, Scan, Wanted, calls_of_function, calls_of_module, hoist, includes_of,
    is_include, is_type_name, misspelled, named,
};
use crate::package::{Imports, braced, packages};
use crate::report::Report;
use crate::sight::{Around, Included, Lacking, Sight, lacks_inside};
use crate::tokens::{any_token, ident};
use crate::wave_graph::graph::GENERATED;
use crate::wave_graph::{self, standalone};
use crate::{device, recover, source};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Item;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;

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
            Asker::Device => device::expand(attr, item, imports),
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
    let attr = match around.as_ref().and_then(|a| absent_crate(&attr, a)) {
        Some((absent, rest)) => {
            report.error_help(
                absent.span(),
                format!("there is no `{absent}` here"),
                "`crate` is the path of vyre; without it that is `::vyre`",
            );
            rest
        }
        None => attr,
    };
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
            if hoist_includes(m, &mut report) {
                item = m.to_token_stream();
            }
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

/// Moves includes out of the fixpoints in which they stand: see [`hoist`]. Whether there are any.
fn hoist_includes(module: &mut syn::ItemMod, report: &mut Report) -> bool {
    let Some((_, items)) = &mut module.content else {
        return false;
    };
    let before = items.len();
    let Hoisted { again, astray } = hoist(items);
    for Astray {
        name,
        fixpoint,
        depth,
    } in &astray
    {
        let above = "super::".repeat(depth + 1);
        report.error_help(
            name.span(),
            format!(
                "there is no `{name}` in the graph: this path is seen from fixpoint `{fixpoint}`"
            ),
            format!("what stands beside the graph is `{above}{name}` there"),
        );
    }
    for name in &again {
        report.error_help(
            name.span(),
            format!("another included graph is called `{name}`"),
            "include one of them under a name of its own: `use path::to::graph as name;`",
        );
    }
    items.len() > before
}

/// The name in `crate = path` that is certainly not there, and the other arguments.
fn absent_crate(attr: &TokenStream, around: &Around) -> Option<(Ident, TokenStream)> {
    let is_comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
    let is_crate =
        |arg: &&[TokenTree]| matches!(arg.first(), Some(TokenTree::Ident(i)) if i == "crate");
    let trees: Vec<TokenTree> = attr.clone().into_iter().collect();
    let (paths, others): (Vec<_>, Vec<_>) = trees.split(is_comma).partition(is_crate);
    let [[_, _, path @ ..]] = &paths[..] else {
        return None;
    };
    let path: syn::Path = syn::parse2(path.iter().cloned().collect()).ok()?;
    let absent = around.lacks_path(&path)?.clone();
    let others = others.iter().map(|arg| quote! { #(#arg)* });
    Some((absent, quote! { #(#others),* }))
}

/// Reports graphs that are included and certainly not there. A misspelled path becomes the one that was meant, and what
/// is not there at all becomes nothing: what follows from it is not said. Whether something changed.
fn look_for_includes(module: &mut syn::ItemMod, around: &Around, report: &mut Report) -> bool {
    let (tokens, module_name) = (module.to_token_stream(), module.ident.clone());
    let items = module.content.as_mut().map(|(_, items)| items);
    let mut changed = items.is_some_and(|items| split_includes(items, report));
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        let Item::Use(u) = item else { continue };
        // `::name` is a crate's, and so is `name` where no module has it.
        if u.attrs.iter().any(is_include) && u.leading_colon.is_some() && !brings_nothing(u) {
            u.leading_colon = None;
            changed = true;
        }
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
            Included::Itself(chain) => report.error_help(
                last.span(),
                format!(
                    "`{}` would include itself: `{}`",
                    module_name,
                    chain.join(" -> ")
                ),
                "what both need stands in a graph of its own; what repeats is a `#[fixpoint]`",
            ),
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
                let help = "`#[include]` stands on the `use` of a `#[wave_graph]` module: name it by its path, as in `use crate::search::bfs;`, or add the crate that exports it to Cargo.toml";
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

/// Whether a `use` is one that was left out.
fn brings_nothing(u: &syn::ItemUse) -> bool {
    matches!(&u.tree, syn::UseTree::Rename(r) if r.ident == "core")
}

/// Reports a `use` that includes more than one graph, and makes it one for each name, which brings nothing.
fn split_includes(items: &mut Vec<Item>, report: &mut Report) -> bool {
    let mut changed = false;
    let mut all = Vec::new();
    for item in std::mem::take(items) {
        let includes = match &item {
            Item::Use(u) if u.attrs.iter().any(is_include) => Some(u),
            _ => None,
        };
        let uses = includes.map(named).unwrap_or_default();
        if let Some(u) = includes.filter(|u| is_glob(&u.tree)) {
            report.error_help(
                u.tree.span(),
                "`#[include]` takes one graph, and this may bring any",
                "name the graph, as in `use super::search::bfs;`",
            );
            changed = true;
            continue;
        }
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

/// Whether a `use` brings what it does not name.
fn is_glob(tree: &syn::UseTree) -> bool {
    match tree {
        syn::UseTree::Path(p) => is_glob(&p.tree),
        syn::UseTree::Group(g) => g.items.iter().any(is_glob),
        syn::UseTree::Glob(_) => true,
        syn::UseTree::Name(_) | syn::UseTree::Rename(_) => false,
    }
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

/// Expands with the graphs that an item includes, if something is wrong whatever the functions that it calls turn out
/// to be: that is said at once, as rustc stops where one does not exist. Otherwise asks for these.
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
                || !misspelled(&name, &own.declared) && !misspelled(&name, &own.variables)
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
                    [modules @ .., of] if is_type_name(of) => {
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
                            match modules.last() {
                                Some(module) if !is_above(module) => {
                                    format!("write `#[device]` before `mod {module}`")
                                }
                                _ => "put it into a `#[device] mod`, and name it by its path; or into the graph's module".to_owned(),
                            },
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

/// Whether a name of a path is one of a module around.
fn is_above(name: &Ident) -> bool {
    ["super", "self", "crate"].iter().any(|above| name == above)
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
