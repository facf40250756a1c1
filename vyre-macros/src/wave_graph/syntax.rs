//! First stage: what the annotated module says. Names are not resolved here, and the user's items are taken apart so
//! that the expansion can put them together again without the helper attributes.

use super::before;
use super::domain::DomainArgs;
use super::fill;
use super::graph::{
    Field, FieldKind, FixpointArgs, GENERATED, GENERATED_VALUES, Given, Graph, Host, IncludeArgs,
    MaxRounds, Options, Per, Piece, Scope, Wave,
};
use crate::args::{
    Arg, Form, attribute_args, ident_of, int_digits, int_literal, parse_args, parse_named,
    some_names, str_literal, take_attrs, title_of, unknown_arg,
};
use crate::attributes::unmark;
use crate::calls::WITHIN;
use crate::kernel::param::{item_of, scalar_of, type_word};
use crate::names;
use crate::pass;
use crate::report::{Report, did_you_mean};
use crate::tokens::{any_token, generated, show};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, Ident, Item, ItemFn, ItemMod, Meta, Token, Type, Visibility, parse_quote,
};
use vyre_core::vir0::scalar::Scalar;

mod data;

/// The names that a `use` brings.
fn brought(u: &syn::ItemUse) -> impl Iterator<Item = Ident> {
    names::uses(u).into_iter().filter_map(|(name, _)| name)
}

pub(crate) use data::{array_init, array_length, is_struct_word};

/// Parses the arguments of `#[wave_graph(...)]`.
pub(crate) fn options(tokens: TokenStream, report: &mut Report) -> Options {
    let mut options = Options::default();
    for arg in parse_args(tokens, report) {
        match arg.name.to_string().as_str() {
            "limits" => {
                let Some((_, inner)) = arg.list("limits(nodes = N, edges = M)", report) else {
                    continue;
                };
                for limit in parse_args(inner, report) {
                    let slot = match limit.name.to_string().as_str() {
                        "nodes" => &mut options.limits.nodes,
                        "edges" => &mut options.limits.edges,
                        _ => {
                            unknown_arg(&limit, "limits", &["nodes", "edges"], report);
                            continue;
                        }
                    };
                    let Some(value) = limit.value("nodes = N", report) else {
                        continue;
                    };
                    let Some(digits) = int_digits(&value) else {
                        report.error(value.span(), "a limit is an integer literal");
                        continue;
                    };
                    let n: Option<u32> = digits.base10_parse().ok();
                    match n.filter(|&n| n < u32::MAX) {
                        Some(n) => *slot = Some(n.into()),
                        None => report.error(
                            value.span(),
                            format!(
                                "a limit of {} is too large: indices are u32, at most {}",
                                digits.base10_digits(),
                                u32::MAX - 1
                            ),
                        ),
                    }
                }
            }
            "budget" => {
                if let Some(value) = arg.value("budget = \"4 GiB\"", report) {
                    options.budget_bytes = bytes(&value);
                    options.budget_span = value.span();
                    if options.budget_bytes.is_none() {
                        report.error_help(
                            value.span(),
                            "a budget is a number of bytes below 2^64",
                            "write a string such as \"4 GiB\" or \"512 MiB\", or an integer",
                        );
                    }
                }
            }
            "deterministic" => {
                arg.flag(report);
                options.deterministic = true;
            }
            "export" => {
                arg.flag(report);
                options.exported = true;
            }
            "crate" => {
                if let Some(value) = arg.value("crate = path::to::vyre", report) {
                    match &value {
                        Expr::Path(p) => options.krate = p.to_token_stream(),
                        _ => report.error(value.span(), "`crate` is a path"),
                    }
                }
            }
            _ => unknown_arg(
                &arg,
                "wave_graph",
                &["limits", "budget", "deterministic", "export", "crate"],
                report,
            ),
        }
    }
    options
}

fn bytes(e: &Expr) -> Option<u64> {
    if let Some(n) = int_literal(e) {
        return Some(n);
    }
    let (text, _) = str_literal(e)?;
    let at = text
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let number: u64 = number.replace('_', "").parse().ok()?;
    let unit = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1u64 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Takes a module apart. What is wrong is reported, and what can be kept is kept.
pub(crate) fn graph(attr: TokenStream, module: ItemMod, report: &mut Report) -> Graph {
    let options = options(attr, report);
    let mut module = module;
    let title = title_of(&module.attrs);
    let passes = take_attrs(&mut module.attrs, "pass");
    let claim = pass::parse(&passes, title, &module.ident.unraw().to_string(), report);
    let name = module.ident.clone();
    misnamed_data(&mut module, report);
    let mut parser = Taker {
        graph: Graph {
            name: name.clone(),
            options,
            claim,
            has_data: true,
            fields: Vec::new(),
            scopes: Vec::new(),
            waves: Vec::new(),
            includes: Vec::new(),
            included: Vec::new(),
            lost: Vec::new(),
            clashes: Vec::new(),
            unwalked: Vec::new(),
            written: Vec::new(),
        },
        data: None,
        per_node: None,
        reset: None,
        elsewhere: Vec::new(),
        report,
    };
    parser.scope(module, None, None);
    parser.without_waves();
    if parser.data.is_none() {
        parser.graph.has_data = false;
        parser.report.error_help(
            name.span(),
            format!("wave graph `{name}` has no `struct Data`"),
            "declare its topology, buffers, frontiers and scalars as the fields of `pub struct Data { .. }`",
        );
    }
    if parser.graph.waves.is_empty() && parser.graph.includes.is_empty() {
        parser.report.error_help(
            name.span(),
            format!("wave graph `{name}` has no waves"),
            "mark a function with `#[wave(..)]`",
        );
    }
    parser.graph.tell_apart();
    let mut graph = parser.graph;
    before::write_out(&mut graph, report);
    super::pairs::write_out(&mut graph, report);
    super::given::write_out(&mut graph, report);
    super::index::write_out(&mut graph, report);
    fill::write_out_rounds(&mut graph);
    graph
}

impl Graph {
    /// Waves of one name, and fixpoints of one name, are shown with the fixpoints around them.
    fn tell_apart(&mut self) {
        let around = |graph: &Graph, scope: Option<usize>, name: &Ident| {
            let mut path = vec![name.unraw().to_string()];
            let mut at = scope;
            while let Some(s) = at.filter(|&s| s > 0) {
                path.push(graph.scopes[s].name.unraw().to_string());
                at = graph.scopes[s].parent;
            }
            path.reverse();
            path.join("::")
        };
        let of_waves = self.waves.iter().map(|w| (w.name().clone(), Some(w.scope)));
        let of_scopes = self.scopes.iter().map(|s| (s.name.clone(), s.parent));
        let (waves, scopes): (Vec<_>, Vec<_>) = (of_waves.collect(), of_scopes.collect());
        let shown = |graph: &Graph, all: &[(Ident, Option<usize>)]| -> Vec<Option<String>> {
            let again = |name: &Ident| all.iter().filter(|(n, _)| n == name).count() > 1;
            let each = all.iter();
            each.map(|(name, of)| again(name).then(|| around(graph, *of, name)))
                .collect()
        };
        let (of_waves, of_scopes) = (shown(self, &waves), shown(self, &scopes));
        for (wave, shown) in self.waves.iter_mut().zip(of_waves) {
            wave.shown = shown;
        }
        for (scope, shown) in self.scopes.iter_mut().zip(of_scopes) {
            scope.shown = shown;
        }
    }
}

/// A struct that is `Data` by the attributes of its fields, and not by its name: it is said once, and is `Data` from
/// here on.
fn misnamed_data(module: &mut ItemMod, report: &mut Report) {
    let graph = module.ident.clone();
    let structs = module.content.iter_mut().flat_map(|(_, items)| items);
    let mut structs: Vec<&mut syn::ItemStruct> = structs
        .filter_map(|item| match item {
            Item::Struct(s) => Some(s),
            _ => None,
        })
        .collect();
    if structs.iter().any(|s| s.ident == "Data") {
        return;
    }
    let ours = |s: &&mut &mut syn::ItemStruct| {
        let mut attrs = s.fields.iter().flat_map(|f| &f.attrs);
        attrs.any(|a| FIELD_ATTRS.iter().any(|known| a.path().is_ident(known)))
    };
    if let Some(data) = structs.iter_mut().find(ours) {
        report.error_help(
            data.ident.span(),
            format!("wave graph `{graph}` has no `struct Data`"),
            format!(
                "the attributes of its fields say that this is it: call `{}` `Data`",
                data.ident
            ),
        );
        data.ident = Ident::new("Data", data.ident.span());
    }
}

struct Taker<'r> {
    graph: Graph,
    data: Option<Span>,
    /// The first `node` that is a size.
    per_node: Option<Span>,
    /// Where the field that is being taken says `reset = round`.
    reset: Option<Span>,
    /// Fixpoints in other files, which has been said.
    elsewhere: Vec<usize>,
    report: &'r mut Report,
}

impl Taker<'_> {
    fn scope(
        &mut self,
        module: ItemMod,
        parent: Option<usize>,
        fixpoint: Option<FixpointArgs>,
    ) -> usize {
        let id = self.graph.scopes.len();
        let depth = parent.map_or(0, |p| self.graph.scopes[p].depth + 1);
        let attrs = module.attrs;
        self.graph.scopes.push(Scope {
            in_body: false,
            parent,
            depth,
            name: module.ident.clone(),
            attrs,
            vis: module.vis,
            fixpoint,
            pieces: Vec::new(),
            imports_parent: false,
            items: Vec::new(),
            shown: None,
            origin: None,
        });
        if self.graph.scopes[id].fixpoint.is_some() && module.ident.unraw() == "round" {
            self.report.error_help(
                module.ident.span(),
                "no fixpoint is named `round`: waves and conditions mean the innermost fixpoint's round by that name",
                "choose another name",
            );
        }
        let Some((_, items)) = module.content else {
            self.report.error_help(
                module.ident.span(),
                format!("`mod {}` must be written in place", module.ident),
                "write `mod name { .. }`: an attribute macro does not see another file",
            );
            self.elsewhere.push(id);
            return id;
        };
        let items: Vec<Item> = items.into_iter().filter(|i| !self.shadows(i, id)).collect();
        self.graph.scopes[id].items.clone_from(&items);
        for item in items {
            if id == 0 {
                self.refuse_generated(&item);
            }
            let piece = self.item(item, id);
            self.graph.scopes[id].pieces.push(piece);
        }
        id
    }

    /// Reports fixpoints in which there is nothing to repeat.
    fn without_waves(&mut self) {
        for (id, scope) in self.graph.scopes.iter().enumerate() {
            let waves = |p: &Piece| matches!(p, Piece::Wave(_) | Piece::Scope(_));
            let has_waves =
                scope.pieces.iter().any(waves) || self.graph.includes.iter().any(|i| i.scope == id);
            if scope.fixpoint.is_some() && !has_waves && !self.elsewhere.contains(&id) {
                let name = &scope.name;
                self.report.error_help(
                    name.span(),
                    format!("fixpoint `{name}` has no waves"),
                    "mark a function in it with `#[wave(..)]`",
                );
            }
        }
    }

    /// Whether an item takes the name of a type of Rust's, which waves mean by it, or is a second `Data`. It is
    /// reported, and left out.
    fn shadows(&mut self, item: &Item, scope: usize) -> bool {
        let name = match item {
            Item::Struct(i) => &i.ident,
            Item::Enum(i) => &i.ident,
            Item::Type(i) => &i.ident,
            Item::Trait(i) => &i.ident,
            Item::Union(i) => &i.ident,
            _ => return false,
        };
        let scalars = Scalar::ALL.iter().map(|s| s.name()).chain(["usize"]);
        if scalars.into_iter().any(|s| name == s) {
            self.report.error_help(
                name.span(),
                format!("`{name}` is a type of Rust's, and waves mean that by the name"),
                "choose another name",
            );
            return true;
        }
        let is_data = scope == 0 && name == "Data" && matches!(item, Item::Struct(_));
        let second = is_data && self.data.replace(name.span()).is_some();
        if second {
            self.report.error_help(
                name.span(),
                format!("wave graph `{}` has two structs `Data`", self.graph.name),
                "declare all fields in one; another struct has another name",
            );
        }
        second
    }

    /// The graph's module gets names of its own.
    fn refuse_generated(&mut self, item: &Item) {
        let mut names: Vec<Ident> = Vec::new();
        let mut declared = |name: &Ident| names.push(name.clone());
        match item {
            Item::Struct(i) => declared(&i.ident),
            Item::Enum(i) => declared(&i.ident),
            Item::Type(i) => declared(&i.ident),
            Item::Const(i) => declared(&i.ident),
            Item::Trait(i) => declared(&i.ident),
            Item::Union(i) => declared(&i.ident),
            Item::Static(i) => declared(&i.ident),
            Item::Fn(i) => declared(&i.sig.ident),
            Item::Mod(i) => declared(&i.ident),
            Item::Use(i) => {
                let brought = names::uses(i).into_iter().filter_map(|(name, _)| name);
                brought.for_each(|name| declared(&name));
            }
            _ => {}
        }
        for name in names {
            if GENERATED.iter().any(|g| name == g) {
                self.graph.clashes.push(name.to_string());
                self.report.error_help(
                    name.span(),
                    format!("`#[wave_graph]` defines `{name}` in this module"),
                    "choose another name, or put yours outside the module",
                );
            }
        }
    }

    fn item(&mut self, item: Item, scope: usize) -> Piece {
        match item {
            Item::Fn(f) => self.function(f, scope),
            Item::Struct(s) if scope == 0 && s.ident == "Data" => Piece::Item(self.data(s)),
            Item::Mod(mut m) => {
                self.attributes(&mut m.attrs, &["fixpoint"], "a module of a wave graph");
                let include = take_attrs(&mut m.attrs, "include");
                let inside = m.content.iter().flat_map(|(_, items)| items);
                let uses: Vec<&syn::ItemUse> = (inside.filter(|_| !include.is_empty()))
                    .filter_map(|item| match item {
                        Item::Use(u) => Some(u),
                        _ => None,
                    })
                    .collect();
                self.misplaced(&include, &uses);
                for attr in take_attrs(&mut m.attrs, "pass")
                    .into_iter()
                    .chain(take_attrs(&mut m.attrs, "wave_graph"))
                {
                    self.report.error(
                        attr.span(),
                        "a wave graph cannot hold another; put it beside this one",
                    );
                }
                for attr in take_attrs(&mut m.attrs, "wave") {
                    self.report.error_help(
                        attr.span(),
                        "`#[wave]` marks a function",
                        "a module of waves is a `#[fixpoint]`",
                    );
                }
                let fixpoints = take_attrs(&mut m.attrs, "fixpoint");
                match fixpoints.split_first() {
                    Some((first, more)) => {
                        for attr in more {
                            self.report
                                .error(attr.span(), "`#[fixpoint]` is given twice");
                        }
                        self.note(first, scope);
                        let args = self.fixpoint(first, &m.ident);
                        Piece::Scope(self.scope(m, Some(scope), Some(args)))
                    }
                    None => {
                        let errors = self.report.len();
                        self.plain_module(&mut m);
                        if let (true, Some((_, items))) =
                            (self.report.len() > errors, &mut m.content)
                        {
                            // Meant as a part of the graph, whose names are in sight there.
                            items.push(parse_quote!(
                                #[allow(unused_imports)]
                                use super::*;
                            ));
                            self.graph.lost.push(m.ident.clone());
                        }
                        // It serves this graph alone: no other asks for it, or for what stands in it.
                        if !take_attrs(&mut m.attrs, "device").is_empty()
                            && let Some((_, items)) = &mut m.content
                        {
                            unmark(items);
                        }
                        Piece::Item(m.into_token_stream())
                    }
                }
            }
            Item::Use(mut u) => {
                self.attributes(&mut u.attrs, &["include"], "a `use` of a wave graph");
                let within = take_attrs(&mut u.attrs, WITHIN);
                for attr in take_attrs(&mut u.attrs, "include") {
                    self.include(&attr, &u, within.first());
                }
                if is_use_super(&u) {
                    self.graph.scopes[scope].imports_parent = true;
                }
                Piece::Item(u.into_token_stream())
            }
            mut other => {
                if let Item::Struct(_) | Item::Impl(_) = other {
                    // Structs and their functions are in sight of kernels in any case.
                    unmark(std::slice::from_mut(&mut other));
                }
                if let Some(attrs) = attrs_of(&mut other) {
                    let include = take_attrs(attrs, "include");
                    self.misplaced(&include, &[]);
                    for name in ["wave", "fixpoint", "device", "kernel"] {
                        for attr in take_attrs(attrs, name) {
                            let what = if name == "fixpoint" {
                                "an inline module"
                            } else {
                                "a function"
                            };
                            self.report
                                .error(attr.span(), format!("`#[{name}]` marks {what}"));
                        }
                    }
                }
                Piece::Item(other.into_token_stream())
            }
        }
    }

    /// A module without `#[fixpoint]`: waves in it would be lost.
    fn plain_module(&mut self, module: &mut ItemMod) {
        let Some((_, items)) = &mut module.content else {
            return;
        };
        for item in items {
            match item {
                Item::Fn(f) => {
                    for attr in take_attrs(&mut f.attrs, "wave") {
                        self.report.error_help(
                            attr.span(),
                            format!(
                                "wave `{}` is in module `{}`, which is not part of the graph",
                                f.sig.ident, module.ident
                            ),
                            "mark the module with `#[fixpoint(until(..))]`, or move the wave out of it",
                        );
                    }
                }
                Item::Mod(m) => {
                    for attr in take_attrs(&mut m.attrs, "fixpoint") {
                        self.report.error_help(
                            attr.span(),
                            format!(
                                "fixpoint `{}` is in module `{}`, which is not part of the graph",
                                m.ident, module.ident
                            ),
                            "move the fixpoint out of the module",
                        );
                    }
                    self.plain_module(m);
                }
                Item::Use(u) => {
                    for attr in take_attrs(&mut u.attrs, "include") {
                        self.report.error_help(
                            attr.span(),
                            format!(
                                "a graph is included in module `{}`, which is not part of the graph",
                                module.ident
                            ),
                            "move the `use` out of the module, into the graph or a fixpoint",
                        );
                        self.graph.lost.extend(brought(u));
                    }
                }
                _ => {}
            }
        }
    }

    /// `#[include]` on something else than a `use`. `uses`: what it may have been meant for.
    fn misplaced(&mut self, attrs: &[Attribute], uses: &[&syn::ItemUse]) {
        for attr in attrs {
            self.report.error_help(
                attr.span(),
                "`#[include]` marks a `use`",
                "write it before the `use` that names the graph: `#[include(field = field)] use path::to::graph;`",
            );
            self.graph.lost.extend(uses.iter().flat_map(|u| brought(u)));
        }
    }

    fn function(&mut self, mut f: ItemFn, scope: usize) -> Piece {
        self.attributes(
            &mut f.attrs,
            &["wave", "device"],
            "a function of a wave graph",
        );
        let include = take_attrs(&mut f.attrs, "include");
        self.misplaced(&include, &[]);
        let waves = take_attrs(&mut f.attrs, "wave");
        let devices = take_attrs(&mut f.attrs, "device");
        for attr in take_attrs(&mut f.attrs, "kernel") {
            self.report.error_help(
                attr.span(),
                "`#[kernel]` stands alone: it is a pass of its own",
                "inside a wave graph write `#[wave(range(n))]`",
            );
        }
        if let Some(attr) = take_attrs(&mut f.attrs, "fixpoint").first() {
            self.report.error_help(
                attr.span(),
                "`#[fixpoint]` marks an inline module",
                "put the waves to repeat in `#[fixpoint(until(..))] mod name { .. }`",
            );
            // What is in it was meant as waves.
            self.graph.lost.push(f.sig.ident);
            return Piece::Item(TokenStream::new());
        }
        for attr in take_attrs(&mut f.attrs, "pass") {
            self.report.error_help(
                attr.span(),
                "`#[pass]` marks a whole pass",
                "put it on the `#[wave_graph]` module",
            );
        }
        if let (Some(device), Some(_)) = (devices.first(), waves.first()) {
            self.report.error_help(
                device.span(),
                format!("`{}` cannot be both a wave and a helper", f.sig.ident),
                "move the shared part into a `#[device] fn` of its own",
            );
        } else if let Some(device) = devices.first()
            && !matches!(&device.meta, Meta::Path(_))
        {
            self.report
                .error(device.span(), "`#[device]` takes no arguments");
        }
        let Some((wave, more)) = waves.split_first() else {
            return Piece::Item(f.into_token_stream());
        };
        for attr in more {
            self.report.error_help(
                attr.span(),
                "`#[wave]` is given twice",
                "one wave is one sweep: write a second function that calls a shared `#[device] fn`",
            );
        }
        let name = f.sig.ident.clone();
        self.note(wave, scope);
        let (domain, after) = self.wave(wave, &name);
        if matches!(f.vis, Visibility::Inherited) {
            f.vis = self.graph.options.visible(name.span());
            f.attrs.extend(self.graph.options.undocumented());
        }
        self.graph.waves.push(Wave {
            scope,
            function: f,
            domain,
            after,
            names: HashMap::new(),
            call: None,
            shown: None,
            origin: None,
        });
        Piece::Wave(self.graph.waves.len() - 1)
    }

    /// Keeps an attribute's arguments for editors.
    fn note(&mut self, attr: &Attribute, scope: usize) {
        if let Meta::List(list) = &attr.meta {
            self.graph.written.push((scope, list.tokens.clone()));
        }
    }

    /// A misspelled attribute is reported once, and is the one that was meant from here on.
    fn attributes(&mut self, attrs: &mut [Attribute], known: &[&'static str], of: &str) {
        for attr in attrs {
            let Some(word) = attr.path().get_ident().cloned() else {
                continue;
            };
            let name = word.to_string();
            if known.contains(&name.as_str()) || RUST_ATTRS.contains(&name.as_str()) {
                continue;
            }
            let begins = |k: &&&str| name.len() > 1 && k.starts_with(&name);
            let near = did_you_mean(&name, known.iter().copied());
            let Some(near) = near.or_else(|| known.iter().find(begins).copied()) else {
                continue;
            };
            self.report.error_help(
                word.span(),
                format!("`#[{name}]` is not an attribute of {of}"),
                format!("did you mean `#[{near}]`?"),
            );
            let path = Ident::new(near, word.span()).into();
            match &mut attr.meta {
                Meta::Path(p) => *p = path,
                Meta::List(l) => l.path = path,
                Meta::NameValue(nv) => nv.path = path,
            }
        }
    }

    /// `#[include(..)]` on a `use`. `within`: the fixpoint in which it stood ([`WITHIN`]).
    fn include(&mut self, attr: &Attribute, item: &syn::ItemUse, within: Option<&Attribute>) {
        let within = within.and_then(|attr| attr.parse_args::<syn::Path>().ok());
        let within = within.into_iter().flat_map(|path| path.segments);
        let scope = within.fold(0, |around, name| {
            let mut scopes = self.graph.scopes.iter();
            let inner = scopes.position(|s| s.parent == Some(around) && s.name == name.ident);
            inner.unwrap_or(around)
        });
        let mut tree = &item.tree;
        let name = loop {
            match tree {
                syn::UseTree::Path(p) => tree = &p.tree,
                syn::UseTree::Name(n) => break n.ident.clone(),
                syn::UseTree::Rename(r) => break r.rename.clone(),
                syn::UseTree::Group(_) | syn::UseTree::Glob(_) => {
                    self.report.error(
                        tree.span(),
                        "`#[include]` takes one graph: write a `use` for each",
                    );
                    return;
                }
            }
        };
        let (mut fields, mut lengths, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let (mut private, mut edges) = (Vec::new(), None);
        self.note(attr, scope);
        for arg in attribute_args(attr, self.report) {
            // `after = field` maps a field of that name.
            if arg.name == "after" && !matches!(arg.form, Form::Value(_)) {
                after = self.after(arg);
                continue;
            }
            if arg.name == "edges" {
                edges = arg.value("edges = function", self.report);
                continue;
            }
            let theirs = arg.name.clone();
            if let Some(value) = arg.value(&format!("{theirs} = field"), self.report) {
                match ident_of(&value) {
                    _ if matches!(value, Expr::Infer(_)) => private.push(theirs),
                    Some(ours) if ours != "node" => fields.push((theirs, ours.clone())),
                    _ => lengths.push((theirs, value)),
                }
            }
        }
        self.graph.includes.push(IncludeArgs {
            alias: name.clone(),
            path: name.to_token_stream(),
            shown: name.unraw().to_string(),
            handed_on: !matches!(item.vis, Visibility::Inherited),
            name,
            scope,
            fields,
            private,
            lengths,
            edges,
            after,
        });
    }

    fn wave(&mut self, attr: &Attribute, name: &Ident) -> (Option<DomainArgs>, Vec<Ident>) {
        let errors = self.report.len();
        let mut domain: Option<(DomainArgs, Ident)> = None;
        let mut after = Vec::new();
        for arg in attribute_args(attr, self.report) {
            let word = arg.name.to_string();
            if word == "after" {
                after = self.after(arg);
            } else if DomainArgs::WORDS.contains(&word.as_str()) {
                let at = arg.name.clone();
                if let Some((_, first)) = &domain {
                    self.report.error(
                        at.span(),
                        format!("a wave has one domain; `{first}` is already given"),
                    );
                    continue;
                }
                if let Some(d) = DomainArgs::parse(arg, self.report) {
                    domain = Some((d, at));
                }
            } else {
                let known = DomainArgs::WORDS.into_iter().chain(["after"]);
                let message = format!("`{word}` is not a domain of a wave");
                let help = match did_you_mean(&word, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("a wave sweeps {}", DomainArgs::ALL),
                };
                self.report.error_help(arg.name.span(), message, help);
            }
        }
        if domain.is_none() && self.report.len() == errors {
            self.report.error_help(
                attr.path().span(),
                format!("wave `{name}` has no domain"),
                format!("say what it sweeps: {}", DomainArgs::ALL),
            );
        }
        (domain.map(|(d, _)| d), after)
    }

    fn after(&mut self, arg: Arg) -> Vec<Ident> {
        let Some((span, inner)) = arg.list("after(wave, fixpoint)", self.report) else {
            return Vec::new();
        };
        let parse = |tokens| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens);
        match parse_named(inner.clone(), parse, self.report) {
            Ok(names) => names.into_iter().collect(),
            Err(_) => {
                let message = "`after` takes names of waves and fixpoints beside this one";
                let path = Punctuated::<syn::Path, Token![,]>::parse_terminated.parse2(inner);
                let of = path.into_iter().flatten().find(|p| p.segments.len() > 1);
                match of {
                    Some(path) => {
                        let first = &path.segments[0].ident;
                        self.report.error_help(
                            path.span(),
                            message,
                            format!("write `after({first})`: it waits for all of that fixpoint or included graph"),
                        );
                    }
                    None => self.report.error(span, message),
                }
                Vec::new()
            }
        }
    }

    fn fixpoint(&mut self, attr: &Attribute, name: &Ident) -> FixpointArgs {
        let mut args = FixpointArgs::default();
        let errors = self.report.len();
        for arg in attribute_args(attr, self.report) {
            match arg.name.to_string().as_str() {
                "after" => args.after = self.after(arg),
                "until" => {
                    let Some((span, inner)) = arg.list("until(condition)", self.report) else {
                        continue;
                    };
                    if inner.is_empty() {
                        self.report.error_help(
                            span,
                            "`until` needs a condition",
                            "for example `until(front.is_empty())`",
                        );
                        continue;
                    }
                    match parse_named(inner, syn::parse2, self.report) {
                        Ok(e) => args.until = Some(e),
                        Err(e) => self.report.syn(e),
                    }
                }
                "max_rounds" => {
                    let Some(value) = arg.value("max_rounds = N", self.report) else {
                        continue;
                    };
                    let limit = match (int_literal(&value), &value) {
                        (Some(n), _) if n >= 1 && n <= u64::from(u32::MAX) => MaxRounds::Literal(n),
                        (None, Expr::Path(path)) if path.qself.is_none() => {
                            MaxRounds::Constant(Box::new(value))
                        }
                        _ => {
                            self.report.error(
                                value.span(),
                                format!(
                                    "`max_rounds` is an integer between 1 and {}: a literal or the name of a u32 constant",
                                    u32::MAX
                                ),
                            );
                            continue;
                        }
                    };
                    args.max_rounds = Some(limit);
                }
                "swap" => {
                    let Some((span, inner)) = arg.list("swap(a, b)", self.report) else {
                        continue;
                    };
                    if let Some([a, b]) = some_names(span, inner, "swap(a, b)", self.report) {
                        args.swaps.push((a, b));
                    }
                }
                "per" => {
                    let Some(value) = arg.value("per = parts", self.report) else {
                        continue;
                    };
                    match ident_of(&value) {
                        Some(parts) => args.per = Some(parts.clone()),
                        None => self.report.error_help(
                            value.span(),
                            "`per` names the parts that run the fixpoint, each by itself",
                            "write `per = parts`, with a field `#[topology(parts_of = graph)] parts: Parts`",
                        ),
                    }
                }
                _ => unknown_arg(
                    &arg,
                    "fixpoint",
                    &["after", "until", "max_rounds", "swap", "per"],
                    self.report,
                ),
            }
        }
        if args.until.is_none() && self.report.len() == errors {
            self.report.error_help(
                attr.path().span(),
                format!("fixpoint `{name}` does not say when it stops"),
                "add `until(condition)`, for example `until(front.is_empty())`",
            );
        }
        args
    }
}

const FIELD_ATTRS: [&str; 8] = [
    "topology", "input", "output", "scratch", "frontier", "reduce", "list", "relation",
];

/// Attributes of Rust's, some of which are spelled nearly like ours.
const RUST_ATTRS: [&str; 18] = [
    "allow",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "path",
    "repr",
    "test",
    "track_caller",
    "warn",
];

fn is_use_super(u: &syn::ItemUse) -> bool {
    let syn::UseTree::Path(p) = &u.tree else {
        return false;
    };
    p.ident == "super" && matches!(&*p.tree, syn::UseTree::Glob(_))
}

fn attrs_of(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    match item {
        Item::Const(i) => Some(&mut i.attrs),
        Item::Enum(i) => Some(&mut i.attrs),
        Item::Impl(i) => Some(&mut i.attrs),
        Item::Static(i) => Some(&mut i.attrs),
        Item::Struct(i) => Some(&mut i.attrs),
        Item::Trait(i) => Some(&mut i.attrs),
        Item::Type(i) => Some(&mut i.attrs),
        Item::Macro(i) => Some(&mut i.attrs),
        _ => None,
    }
}
