//! What an item asks of other modules: the functions and structs that it names, and the graphs that it includes.

use crate::attributes::is_device;
use crate::names::{self, Meaning, Names, Space};
use crate::report::did_you_mean;
use crate::tokens::ident;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::HashSet;
use syn::{Item, ItemFn};
use vyre_core::vir0::scalar::Scalar;

/// Something of another module.
pub(crate) struct Wanted {
    /// The name of a graph where it is included; of the rest the path from where the attribute stands, spanned where
    /// the code names it.
    pub(crate) key: TokenStream,
    /// That path, as it is written.
    pub(crate) from_here: TokenStream,
    /// A `use` or the path itself says that it is there.
    pub(crate) brought: bool,
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

pub(crate) fn calls_of_function(f: &ItemFn) -> Vec<Wanted> {
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

pub(crate) fn calls_of_module(module: &syn::ItemMod) -> Vec<Wanted> {
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

/// Moves the includes that stand in fixpoints up into the graph's module, from which everything that is included is
/// named; [`WITHIN`] says where each stood.
pub(crate) fn hoist(items: &mut Vec<Item>) -> Hoisted {
    let mut found = Vec::new();
    take_includes(items, &mut Vec::new(), &mut found);
    let brings = |item: &Item, name: &Ident| match item {
        Item::Mod(m) => m.ident == *name,
        Item::Use(u) => names::uses(u).iter().any(|(brought, path)| match brought {
            Some(brought) => brought == name,
            None => (path.first()).is_some_and(|w| w == "super" || w == "self" || w == "crate"),
        }),
        _ => false,
    };
    let mut astray = Vec::new();
    for (include, stands) in &mut found {
        let Some(stands) = stands.take() else {
            continue;
        };
        if !items.iter().any(|item| brings(item, &stands.name)) {
            let tree = match &include.tree {
                syn::UseTree::Path(p) if p.ident == "self" => &p.tree,
                tree => tree,
            };
            include.tree = syn::parse_quote!(super::#tree);
            astray.push(stands);
        }
    }
    let found = found.into_iter().map(|(include, _)| include);
    let alias = |u: &syn::ItemUse| named(u).into_iter().next().map(|(name, _)| name);
    let include = |item: &Item| match item {
        Item::Use(u) if u.attrs.iter().any(is_include) => alias(u),
        _ => None,
    };
    let mut taken: Vec<String> = items.iter().filter_map(include).collect();
    let mut again = Vec::new();
    for mut include in found {
        let Some((name, path)) = named(&include).into_iter().next() else {
            items.push(Item::Use(include));
            continue;
        };
        if taken.contains(&name) {
            let last = &path[path.len() - 1];
            again.push(ident(&name, last.span()));
            let other = ident(&format!("{name}_{}", again.len()), last.span());
            include.tree = syn::parse_quote!(#(#path)::* as #other);
        } else {
            taken.push(name);
        }
        items.push(Item::Use(include));
    }
    Hoisted { again, astray }
}

/// What was found about the includes that stand in fixpoints.
pub(crate) struct Hoisted {
    /// Those whose name another include has already: they get another.
    pub(crate) again: Vec<Ident>,
    pub(crate) astray: Vec<Astray>,
}

/// An include whose path leads to a module of the graph, which has nothing of that name. It is taken for one beside the
/// graph.
pub(crate) struct Astray {
    /// The first word of the path that is not `super`.
    pub(crate) name: Ident,
    pub(crate) fixpoint: Ident,
    /// How many fixpoints it stands in.
    pub(crate) depth: usize,
}

/// The attribute that says in which fixpoint an include stood: their names, from the outermost on.
pub(crate) const WITHIN: &str = "__vyre_within";

/// Takes the includes out of the fixpoints among these items, each with a path that is right in the graph's module.
/// With a path that ends up in the graph comes what it is if the graph has nothing of that name.
fn take_includes(
    items: &mut Vec<Item>,
    within: &mut Vec<Ident>,
    found: &mut Vec<(syn::ItemUse, Option<Astray>)>,
) {
    for item in std::mem::take(items) {
        match item {
            Item::Mod(mut m) if m.attrs.iter().any(is_fixpoint) => {
                within.push(m.ident.clone());
                if let Some((_, inner)) = &mut m.content {
                    take_includes(inner, within, found);
                }
                within.pop();
                items.push(Item::Mod(m));
            }
            Item::Use(mut u) if !within.is_empty() && u.attrs.iter().any(is_include) => {
                let mut above = within.len();
                while above > 0
                    && let syn::UseTree::Path(p) = &u.tree
                    && p.ident == "super"
                {
                    let inner = (*p.tree).clone();
                    u.tree = inner;
                    above -= 1;
                }
                let here = match &u.tree {
                    syn::UseTree::Path(p) => p.ident == "super" || p.ident == "crate",
                    _ => false,
                };
                let word = match &u.tree {
                    syn::UseTree::Path(p) => Some(&p.ident),
                    syn::UseTree::Name(n) => Some(&n.ident),
                    syn::UseTree::Rename(r) => Some(&r.ident),
                    syn::UseTree::Glob(_) | syn::UseTree::Group(_) => None,
                };
                let depth = within.len();
                let stands = word.filter(|_| above < depth && !here);
                let stands = stands.map(|word| Astray {
                    name: word.clone(),
                    fixpoint: within[depth - 1].clone(),
                    depth,
                });
                // A path from the graph's module itself begins there.
                if above == 0 && !here && u.leading_colon.is_none() {
                    let tree = &u.tree;
                    u.tree = syn::parse_quote!(self::#tree);
                }
                let marker = ident(WITHIN, Span::call_site());
                u.attrs.push(syn::parse_quote!(#[#marker(#(#within)::*)]));
                found.push((u, stands));
            }
            other => items.push(other),
        }
    }
}

/// `#[fixpoint]`, or what was meant as one.
fn is_fixpoint(attr: &syn::Attribute) -> bool {
    let word = attr.path().get_ident().map(Ident::to_string);
    let word = word.unwrap_or_default();
    word == "fixpoint" || did_you_mean(&word, ["fixpoint"]).is_some()
}

/// Graphs that a graph includes.
pub(crate) fn includes_of(module: &syn::ItemMod) -> Vec<Wanted> {
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

fn add(all: &mut Vec<Wanted>, wanted: Wanted) {
    let text = wanted.key.to_string();
    match all.iter_mut().find(|w| w.key.to_string() == text) {
        Some(known) => known.brought |= wanted.brought,
        None => all.push(wanted),
    }
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

    pub(crate) fn code(&mut self, code: TokenStream, inside: &[Ident]) {
        let mut scan = Scan::default();
        scan.code(code);
        for path in &scan.calls {
            let own = path.len() == 1 && scan.declared.contains(&path[0].to_string());
            let (from_here, brought, own) = match self.meaning(path, inside, Space::Values) {
                Meaning::Outside(from_here) => (from_here, true, false),
                Meaning::Unknown(from_here) => {
                    let brought = from_here != *path;
                    let declared = self.declared.declared.contains(&path[0].to_string());
                    (from_here, brought, !brought && (own || declared))
                }
                Meaning::Globbed(from_here) => (from_here, false, own),
                Meaning::Here(..) | Meaning::Nothing => continue,
            };
            if is_plain_call(&from_here) && !own {
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

/// Words before `(` that call nothing.
const KEYWORDS: [&str; 24] = [
    "as", "break", "const", "continue", "else", "for", "if", "impl", "in", "let", "loop", "match",
    "move", "mut", "pub", "ref", "return", "static", "struct", "type", "unsafe", "use", "where",
    "while",
];

/// Calls of plain functions in some code, as paths, and names that the code itself declares.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) calls: Vec<Vec<Ident>>,
    /// Paths of what is named like a type.
    pub(crate) types: Vec<Vec<Ident>>,
    pub(crate) declared: HashSet<String>,
    /// Of variables: `let mix = mix(x);` calls a function, as no variable is one.
    pub(crate) variables: HashSet<String>,
}

impl Scan {
    pub(crate) fn code(&mut self, stream: TokenStream) {
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
                    let name = || path[path.len() - 1].to_string();
                    if ["fn", "mod", "struct", "use"].iter().any(|w| after_word(w)) {
                        self.declared.insert(name());
                    } else if after_word("let") || let_mut {
                        self.variables.insert(name());
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
pub(crate) fn is_type_name(name: &Ident) -> bool {
    let name = name.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
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
pub(crate) fn misspelled(name: &str, declared: &HashSet<String>) -> bool {
    !declared.contains(name) && did_you_mean(name, declared.iter().map(String::as_str)).is_some()
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

/// `#[include]`, or what was meant as one.
pub(crate) fn is_include(attr: &syn::Attribute) -> bool {
    let word = attr.path().get_ident().map(Ident::to_string);
    let word = word.unwrap_or_default();
    word == "include" || did_you_mean(&word, ["include"]).is_some()
}

/// The names that a `use` brings, and the paths that they stand for.
pub(crate) fn named(u: &syn::ItemUse) -> Vec<(String, Vec<Ident>)> {
    let all = names::uses(u).into_iter();
    all.filter_map(|(name, path)| Some((name?.to_string(), path)))
        .collect()
}
