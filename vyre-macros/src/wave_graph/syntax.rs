//! First stage: what the annotated module says. Names are not resolved here, and the user's items are taken apart so that
//! the expansion can put them together again without the helper attributes.

use super::graph::{
    DomainArgs, Field, FieldKind, FixpointArgs, GENERATED, Graph, Host, IncludeArgs, MaxRounds,
    Options, Per, Piece, Scope, Wave, visible_to_graphs,
};
use crate::args::{
    Arg, Form, attribute_args, ident_of, int_literal, is_keyword, keyword_as_name, parse_args,
    parse_named, str_literal, take_attrs, title_of, unknown_arg,
};
use crate::attributes::unmark;
use crate::kernel::types::{item_of, scalar_of, type_word};
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
use vyre_core::vir0::module::{ReduceOp, Role};
use vyre_core::vir0::scalar::Scalar;

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
                    let span = limit.name.span();
                    if let Some(value) = limit.value("nodes = N", report) {
                        *slot = int_literal(&value);
                        match *slot {
                            None => report.error(value.span(), "a limit is an integer literal"),
                            Some(n) if n >= u64::from(u32::MAX) => report.error(
                                span,
                                format!(
                                    "a limit of {n} is too large: indices are u32, at most {}",
                                    u32::MAX - 1
                                ),
                            ),
                            Some(_) => {}
                        }
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
                            "a budget is a number of bytes",
                            "write a string such as \"4 GiB\" or \"512 MiB\", or an integer",
                        );
                    }
                }
            }
            "crate" => {
                if let Some(value) = arg.value("crate = path::to::vyre", report) {
                    match &value {
                        Expr::Path(p) => options.krate = p.to_token_stream(),
                        _ => report.error(value.span(), "`crate` is a path"),
                    }
                }
            }
            _ => unknown_arg(&arg, "wave_graph", &["limits", "budget", "crate"], report),
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
            written: Vec::new(),
        },
        data: None,
        per_node: None,
        report,
    };
    parser.scope(module, None, None);
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
    parser.graph
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

/// A struct that is `Data` by the attributes of its fields, and not by its name: it is said once, and is `Data` from here on.
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
        let Some((_, items)) = module.content else {
            self.report.error_help(
                module.ident.span(),
                format!("`mod {}` must be written in place", module.ident),
                "write `mod name { .. }`: an attribute macro does not see another file",
            );
            return id;
        };
        self.graph.scopes[id].items.clone_from(&items);
        for item in items {
            if id == 0 {
                self.refuse_generated(&item);
            }
            let piece = self.item(item, id);
            self.graph.scopes[id].pieces.push(piece);
        }
        if self.graph.scopes[id].fixpoint.is_some() && !self.has_waves(id) {
            let name = self.graph.scopes[id].name.clone();
            self.report.error_help(
                name.span(),
                format!("fixpoint `{name}` has no waves"),
                "mark a function in it with `#[wave(..)]`",
            );
        }
        id
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

    fn has_waves(&self, id: usize) -> bool {
        self.graph.scopes[id]
            .pieces
            .iter()
            .any(|p| matches!(p, Piece::Wave(_) | Piece::Scope(_)))
    }

    fn item(&mut self, item: Item, scope: usize) -> Piece {
        match item {
            Item::Fn(f) => self.function(f, scope),
            Item::Struct(s) if scope == 0 && s.ident == "Data" => Piece::Item(self.data(s)),
            Item::Mod(mut m) => {
                self.attributes(&mut m.attrs, &["fixpoint"], "a module of a wave graph");
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
                        // It serves this graph: nobody else asks for it, or for what stands in it.
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
                for attr in take_attrs(&mut u.attrs, "include") {
                    self.include(&attr, &u, scope);
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
                _ => {}
            }
        }
    }

    fn function(&mut self, mut f: ItemFn, scope: usize) -> Piece {
        self.attributes(
            &mut f.attrs,
            &["wave", "device"],
            "a function of a wave graph",
        );
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
            f.vis = visible_to_graphs(name.span());
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

    /// `#[include(..)]` on a `use`.
    fn include(&mut self, attr: &Attribute, item: &syn::ItemUse, scope: usize) {
        if scope > 0 {
            self.report.error_help(
                attr.span(),
                "`#[include]` belongs into the graph's own module",
                "a fixpoint repeats its own waves; include the graph beside it",
            );
            return;
        }
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
        let (mut fields, mut after) = (Vec::new(), Vec::new());
        self.note(attr, scope);
        for arg in attribute_args(attr, self.report) {
            // `after = field` maps a field of that name.
            if arg.name == "after" && !matches!(arg.form, Form::Value(_)) {
                after = self.after(arg);
                continue;
            }
            let theirs = arg.name.clone();
            if let Some(value) = arg.value(&format!("{theirs} = field"), self.report) {
                match ident_of(&value) {
                    Some(ours) => fields.push((theirs, ours.clone())),
                    None => self.report.error(
                        value.span(),
                        format!("write `{theirs} = field`, with a field of this graph's `Data`"),
                    ),
                }
            }
        }
        self.graph.includes.push(IncludeArgs {
            name,
            fields,
            after,
        });
    }

    fn wave(&mut self, attr: &Attribute, name: &Ident) -> (Option<DomainArgs>, Vec<Ident>) {
        const DOMAINS: [&str; 5] = ["once", "range", "nodes", "items", "edges"];
        let errors = self.report.len();
        let mut domain: Option<(DomainArgs, Ident)> = None;
        let mut after = Vec::new();
        for arg in attribute_args(attr, self.report) {
            let word = arg.name.to_string();
            if word == "after" {
                after = self.after(arg);
            } else if DOMAINS.contains(&word.as_str()) {
                let at = arg.name.clone();
                if let Some((_, first)) = &domain {
                    self.report.error(
                        at.span(),
                        format!("a wave has one domain; `{first}` is already given"),
                    );
                    continue;
                }
                if let Some(d) = self.domain(arg) {
                    domain = Some((d, at));
                }
            } else {
                let known = ["once", "range", "nodes", "items", "edges", "after"];
                let message = format!("`{word}` is not a domain of a wave");
                let help = match did_you_mean(&word, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "a wave sweeps `once`, `range(n)`, `nodes`, `items(frontier)`, `edges(graph)` or `edges(graph, from = frontier)`".to_owned(),
                };
                self.report.error_help(arg.name.span(), message, help);
            }
        }
        if domain.is_none() && self.report.len() == errors {
            self.report.error_help(
                attr.path().span(),
                format!("wave `{name}` has no domain"),
                "say what it sweeps: `once`, `range(n)`, `nodes`, `items(frontier)`, `edges(graph)` or `edges(graph, from = frontier)`",
            );
        }
        (domain.map(|(d, _)| d), after)
    }

    fn domain(&mut self, arg: Arg) -> Option<DomainArgs> {
        let word = arg.name.to_string();
        let span = arg.name.span();
        match word.as_str() {
            "once" => {
                arg.flag(self.report);
                Some(DomainArgs::Once)
            }
            "range" => {
                let (span, inner) = arg.list("range(n)", self.report)?;
                match parse_named(inner, syn::parse2::<Expr>, self.report) {
                    Ok(e) => Some(DomainArgs::Range(e)),
                    Err(_) => {
                        self.report.error_help(
                            span,
                            "`range` takes the number of indices",
                            "write `range(n)` with a u32 scalar of `Data`, a constant or a literal",
                        );
                        None
                    }
                }
            }
            "nodes" => match arg.form {
                Form::Flag => Some(DomainArgs::Nodes(None)),
                Form::List(at, inner) => {
                    let [graph] = self.names(at, inner, "nodes(graph)")?;
                    Some(DomainArgs::Nodes(Some(graph)))
                }
                Form::Value(_) => {
                    self.report.error(span, "write `nodes` or `nodes(graph)`");
                    None
                }
            },
            "items" => {
                let (at, inner) = arg.list("items(frontier)", self.report)?;
                let parse =
                    |tokens| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens);
                let names = parse_named(inner, parse, self.report)
                    .ok()
                    .map(|p| p.into_iter().collect::<Vec<_>>());
                match names.as_deref() {
                    Some([of]) => Some(DomainArgs::Items {
                        of: of.clone(),
                        new: false,
                    }),
                    Some([of, new]) if new == "new" => Some(DomainArgs::Items {
                        of: of.clone(),
                        new: true,
                    }),
                    _ => {
                        self.report.error(
                            at,
                            "write `items(frontier)`, `items(list)` or `items(list, new)`",
                        );
                        None
                    }
                }
            }
            _ => {
                let (at, inner) = arg.list("edges(graph)", self.report)?;
                let errors = self.report.len();
                let args = parse_args(inner, self.report);
                if self.report.len() > errors {
                    return None;
                }
                let mut graph = None;
                let mut from = None;
                for arg in args {
                    match arg.form {
                        Form::Flag if graph.is_none() => {
                            if is_keyword(&arg.name) {
                                keyword_as_name(&arg.name, self.report);
                                return None;
                            }
                            graph = Some(arg.name);
                        }
                        Form::Value(ref value) if arg.name == "from" => match ident_of(value) {
                            Some(f) => from = Some(f.clone()),
                            None => {
                                self.report
                                    .error(value.span(), "`from` is the name of a frontier");
                                return None;
                            }
                        },
                        _ => {
                            self.report.error_help(
                                arg.name.span(),
                                format!("`edges` has no argument `{}`", arg.name),
                                "write `edges(graph)` or `edges(graph, from = frontier)`",
                            );
                            return None;
                        }
                    }
                }
                match graph {
                    Some(graph) => Some(DomainArgs::Edges { graph, from }),
                    None => {
                        self.report.error_help(
                            at,
                            "`edges` takes a topology",
                            "write `edges(graph)` or `edges(graph, from = frontier)`",
                        );
                        None
                    }
                }
            }
        }
    }

    /// Exactly N names in parentheses.
    fn names<const N: usize>(
        &mut self,
        span: Span,
        tokens: TokenStream,
        shape: &str,
    ) -> Option<[Ident; N]> {
        let parse = |tokens| Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens);
        let names = parse_named(tokens, parse, self.report)
            .ok()
            .map(|p| p.into_iter().collect::<Vec<_>>());
        match names.map(<[Ident; N]>::try_from) {
            Some(Ok(names)) => Some(names),
            _ => {
                self.report.error(span, format!("write `{shape}`"));
                None
            }
        }
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
                    if let Some([a, b]) = self.names(span, inner, "swap(a, b)") {
                        args.swaps.push((a, b));
                    }
                }
                _ => unknown_arg(
                    &arg,
                    "fixpoint",
                    &["after", "until", "max_rounds", "swap"],
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

    fn data(&mut self, mut data: syn::ItemStruct) -> TokenStream {
        if self.data.is_some() {
            return data.into_token_stream(); // rustc reports the double definition
        }
        self.data = Some(data.ident.span());
        if !data.generics.params.is_empty() {
            self.report
                .error(data.generics.span(), "`Data` cannot be generic");
        }
        match &mut data.fields {
            syn::Fields::Named(named) => {
                self.twice(named);
                for field in &mut named.named {
                    let parsed = self.field(field);
                    self.graph.fields.extend(parsed);
                }
                self.two_nodes();
                // Without its type, which the parser has said.
                let typed = std::mem::take(&mut named.named).into_iter();
                let typed = typed.filter(|f| !matches!(f.ty, Type::Infer(_)));
                named.named = typed.collect();
            }
            syn::Fields::Unit => {}
            syn::Fields::Unnamed(fields) => {
                self.report.error_help(
                    fields.span(),
                    "`Data` has named fields",
                    "write `pub struct Data { .. }`",
                );
                for field in &mut fields.unnamed {
                    for name in FIELD_ATTRS {
                        take_attrs(&mut field.attrs, name);
                    }
                }
            }
        }
        written_here(&mut data);
        quote! { #data }
    }

    /// Drops a field that is declared a second time.
    fn twice(&mut self, fields: &mut syn::FieldsNamed) {
        let mut seen: Vec<Ident> = Vec::new();
        let mut once = Punctuated::new();
        for field in std::mem::take(&mut fields.named) {
            match field.ident.clone() {
                Some(name) if seen.contains(&name) => self.report.error_help(
                    name.span(),
                    format!("`Data` has two fields named `{name}`"),
                    "a field is its name, in every wave and on the host: choose another",
                ),
                name => {
                    seen.extend(name);
                    once.push(field);
                }
            }
        }
        fields.named = once;
    }

    /// A scalar `node` beside a size `node`, which is all nodes.
    fn two_nodes(&mut self) {
        let scalar = |f: &&Field| f.name == "node" && matches!(f.kind, FieldKind::Scalar(_));
        let scalar = self.graph.fields.iter().find(scalar);
        if let (Some(size), Some(scalar)) = (self.per_node, scalar) {
            self.report.error_help(
                size,
                "`node` means one for each node of the graph here, and `Data` has a scalar of that name",
                "give the scalar another name",
            );
            let at = scalar.name.span();
            self.report.error(at, "the scalar `node` is declared here");
        }
    }

    fn field(&mut self, field: &mut syn::Field) -> Option<Field> {
        let name = field.ident.clone()?;
        let docs = field
            .attrs
            .iter()
            .filter(|a| a.path().is_ident("doc"))
            .cloned()
            .collect();
        self.attributes(&mut field.attrs, &FIELD_ATTRS, "a field of `Data`");
        let mut kinds = Vec::new();
        for word in FIELD_ATTRS {
            for attr in take_attrs(&mut field.attrs, word) {
                self.note(&attr, 0);
                kinds.push((word, attr));
            }
        }
        let mut host = host(kinds.first(), &field.ty);
        let kind = match kinds.as_slice() {
            _ if matches!(field.ty, Type::Infer(_)) => None,
            _ if name == "round" => {
                self.report.error_help(
                    name.span(),
                    "a field of `Data` cannot be named `round`",
                    "`round` is the round of a fixpoint, in `until(..)` and as `round: Round`; choose another name",
                );
                None
            }
            _ if name == "report" && matches!(host, Some(Host::Result(_) | Host::Output(_))) => {
                self.report.error_help(
                    name.span(),
                    "an output cannot be named `report`",
                    "`Output` has a field of that name: what happened in the run",
                );
                host = None;
                None
            }
            [] => self.scalar_field(&field.ty, &name),
            [(word, attr)] => self.marked_field(word, attr, &field.ty, &name),
            [_, (_, second), ..] => {
                self.report.error(
                    second.span(),
                    format!("field `{name}` has two kinds; choose one"),
                );
                None
            }
        };
        Some(Field {
            origin: None,
            shown: None,
            name,
            docs,
            host,
            kind: kind.unwrap_or(FieldKind::Broken),
        })
    }

    fn scalar_field(&mut self, ty: &Type, name: &Ident) -> Option<FieldKind> {
        match type_word(ty).as_deref() {
            Some("Csr") => {
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a graph without a role"),
                    format!("write `#[topology] {name}: Csr`"),
                );
                None
            }
            Some("Frontier") => {
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a frontier without its attribute"),
                    format!("write `#[frontier] {name}: Frontier`"),
                );
                None
            }
            _ if item_of(ty, "List").is_some() || item_of(ty, "Frontier").is_some() => {
                let (what, word) = match item_of(ty, "List") {
                    Some(_) => ("list", "list(capacity = n)"),
                    None => ("frontier", "frontier(capacity = n)"),
                };
                self.report.error_help(
                    ty.span(),
                    format!("`{name}` is a {what} without its attribute"),
                    format!("write `#[{word}] {name}: {}`", show(ty)),
                );
                None
            }
            _ => self.uniform(ty, name),
        }
    }

    /// A scalar of the run.
    fn uniform(&mut self, ty: &Type, name: &Ident) -> Option<FieldKind> {
        let word = type_word(ty).unwrap_or_default();
        if is_struct_word(&word) || matches!(ty, Type::Tuple(_)) {
            let ty = show(ty);
            self.report.error_help(
                name.span(),
                format!("`{name}` has no attribute, so it is a scalar of the run, and `{ty}` is no scalar"),
                format!("for a buffer with an element for each node write `#[input(per = node)] {name}: {ty}`, `#[output(..)]` or `#[scratch(..)]`"),
            );
            return None;
        }
        if type_word(ty).as_deref() == Some("Round") {
            self.report.error_help(
                ty.span(),
                format!("scalar `{name}` cannot be a `Round`: a parameter of that type is the round of a fixpoint"),
                format!("write `{name}: u32`"),
            );
            return None;
        }
        self.scalar(ty).map(FieldKind::Scalar)
    }

    /// The element type of a field.
    fn scalar(&mut self, ty: &Type) -> Option<Scalar> {
        let scalar = scalar_of(ty);
        if scalar.is_none() {
            let advice = match ty {
                Type::Path(p) => match p.path.segments.last().map(|s| s.ident.to_string()) {
                    Some(w) if w == "Vec" => {
                        "a field gives the type of one element: write `#[input(per = node)] x: f32`"
                    }
                    Some(w) if w == "Atomic" => {
                        "declare the type of its value; a wave that updates it takes `&Buf<Atomic<u32>>`"
                    }
                    Some(w) if w == "Buf" => {
                        "a field gives the type of one element: write `#[output(per = node)] x: u32`; a wave takes `&Buf<u32>`"
                    }
                    Some(w) if w == "usize" || w == "isize" => {
                        "use u32 or u64: the sizes of a device do not depend on the host"
                    }
                    _ => {
                        "a field is one of bool, u8, u32, i32, u64, i64, f32, f64, `Csr` or `Frontier`"
                    }
                },
                Type::Array(_) | Type::Slice(_) => {
                    "a field gives the type of one element: write `#[scratch(per = 16)] x: f32`"
                }
                Type::Reference(_) => "a field gives the type of one element, without `&`",
                _ => {
                    "a field is one of bool, u8, u32, i32, u64, i64, f32, f64, `Csr` or `Frontier`"
                }
            };
            self.report.error_help(
                ty.span(),
                format!("`{}` is not a type of a field of `Data`", show(ty)),
                advice,
            );
        }
        scalar
    }

    /// The type of a buffer's elements: a scalar, or what may be a tuple or a struct of scalars.
    fn element(&mut self, ty: &Type) -> Option<(Scalar, Option<Box<Type>>)> {
        let may_be_struct = match ty {
            Type::Tuple(t) => !t.elems.is_empty(),
            _ => type_word(ty).is_some_and(|w| scalar_of(ty).is_none() && is_struct_word(&w)),
        };
        if may_be_struct {
            return Some((Scalar::U32, Some(Box::new(ty.clone()))));
        }
        Some((self.scalar(ty)?, None))
    }

    fn expect_word(&mut self, ty: &Type, word: &str, attribute: &str) -> Option<()> {
        if type_word(ty).as_deref() == Some(word) {
            return Some(());
        }
        self.report.error(
            ty.span(),
            format!(
                "`#[{attribute}]` needs the type `{word}`, not `{}`",
                show(ty)
            ),
        );
        None
    }

    fn marked_field(
        &mut self,
        word: &str,
        attr: &Attribute,
        ty: &Type,
        name: &Ident,
    ) -> Option<FieldKind> {
        let errors = self.report.len();
        let args = attribute_args(attr, self.report);
        if self.report.len() > errors {
            return None;
        }
        let kind = match word {
            "topology" => self.topology(args, ty, name)?,
            "frontier" => {
                let (mut capacity, mut unique) = (None, false);
                for arg in args {
                    match arg.name.to_string().as_str() {
                        "capacity" => {
                            let value = arg.value("capacity = N", self.report)?;
                            capacity = Some(self.per("capacity", value)?);
                        }
                        "unique" => {
                            arg.flag(self.report);
                            unique = true;
                        }
                        _ => unknown_arg(&arg, "frontier", &["capacity", "unique"], self.report),
                    }
                }
                let item = match item_of(ty, "Frontier") {
                    Some(item) if type_word(item).as_deref() == Some("Node") => None,
                    Some(item) => Some(Box::new(item.clone())),
                    None => {
                        self.expect_word(ty, "Frontier", "frontier")?;
                        None
                    }
                };
                if let (Some(item), true) = (&item, unique) {
                    self.report.error_help(
                        item.span(),
                        "a `unique` frontier holds nodes",
                        "leave the type of the items out, or `unique`",
                    );
                    return None;
                }
                if let (Some(item), None) = (&item, &capacity) {
                    self.report.error_help(
                        item.span(),
                        "a frontier of items has no natural capacity",
                        "say how many items it holds: `#[frontier(capacity = n)]`",
                    );
                    return None;
                }
                if let (Some(_), true) = (&capacity, unique) {
                    self.report.error_help(
                        attr.span(),
                        "a `unique` frontier has room for every node; it takes no capacity",
                        "remove `capacity`",
                    );
                }
                FieldKind::Frontier {
                    capacity,
                    unique,
                    item,
                }
            }
            "list" => {
                let (mut capacity, mut output) = (None, false);
                for arg in args {
                    match arg.name.to_string().as_str() {
                        "capacity" => {
                            let value = arg.value("capacity = N", self.report)?;
                            capacity = Some(self.per("capacity", value)?);
                        }
                        "output" => {
                            arg.flag(self.report);
                            output = true;
                        }
                        _ => unknown_arg(&arg, "list", &["capacity", "output"], self.report),
                    }
                }
                let Some(item) = item_of(ty, "List") else {
                    self.report.error_help(
                        ty.span(),
                        format!("`#[list]` needs the type `List<T>`, not `{}`", show(ty)),
                        "`T` is the type of an item: a scalar, a tuple or a struct",
                    );
                    return None;
                };
                let Some(capacity) = capacity else {
                    self.report.error_help(
                        attr.path().span(),
                        format!("list `{name}` has no capacity"),
                        "say how many items it holds: `#[list(capacity = n)]`",
                    );
                    return None;
                };
                FieldKind::List {
                    capacity,
                    item: Box::new(item.clone()),
                    output,
                }
            }
            "reduce" => self.reduction(attr, args, ty)?,
            _ => {
                let role = match word {
                    "input" => Role::Input,
                    "output" => Role::Output,
                    _ => Role::Scratch,
                };
                self.column(role, word, args, (attr, ty, name))?
            }
        };
        (self.report.len() == errors).then_some(kind)
    }

    fn topology(&mut self, args: Vec<Arg>, ty: &Type, name: &Ident) -> Option<FieldKind> {
        let (mut per, mut reverse_of, mut bits) = (None, None, None);
        for arg in args {
            match arg.name.to_string().as_str() {
                "per" => {
                    let value = arg.value("per = edge(graph)", self.report)?;
                    per = Some(self.per("per", value)?);
                }
                "bits" => bits = Some(arg.value("bits = WIDTH", self.report)?),
                "reverse_of" => {
                    let value = arg.value("reverse_of = graph", self.report)?;
                    match ident_of(&value) {
                        Some(of) => reverse_of = Some(of.clone()),
                        None => self
                            .report
                            .error(value.span(), "`reverse_of` is the name of a topology"),
                    }
                }
                _ => unknown_arg(
                    &arg,
                    "topology",
                    &["per", "reverse_of", "bits"],
                    self.report,
                ),
            }
        }
        if type_word(ty).as_deref() == Some("Bits") || bits.is_some() {
            let given = (per, bits, reverse_of.is_some());
            return self.rows(Role::Topology, "topology", given, (name.span(), ty, name));
        }
        if let Some(per) = per {
            if let Some(of) = reverse_of {
                self.report
                    .error(of.span(), "`reverse_of` is for a `Csr`, not for a buffer");
            }
            let (scalar, item) = self.element(ty)?;
            return Some(FieldKind::Column {
                role: Role::Topology,
                scalar,
                item,
                per: Some(per),
                init: None,
            });
        }
        if type_word(ty).as_deref() != Some("Csr") {
            if scalar_of(ty).is_some() {
                self.report.error_help(
                    name.span(),
                    format!("topology buffer `{name}` has no size"),
                    "say how many elements it has: `#[topology(per = edge(graph))]` or `#[topology(per = node)]`",
                );
                return None;
            }
            self.expect_word(ty, "Csr", "topology")?;
        }
        Some(FieldKind::Csr { reverse_of })
    }

    fn column(
        &mut self,
        role: Role,
        word: &str,
        args: Vec<Arg>,
        (attr, ty, name): (&Attribute, &Type, &Ident),
    ) -> Option<FieldKind> {
        let errors = self.report.len();
        let (mut per, mut init) = (None, None);
        let mut bits = None;
        for arg in args {
            match arg.name.to_string().as_str() {
                "per" => {
                    let value = arg.value("per = node", self.report)?;
                    per = Some(self.per("per", value)?);
                }
                "bits" => {
                    bits = Some(arg.value("bits = WIDTH", self.report)?);
                }
                "node" | "edge" => {
                    let size = if arg.name == "node" {
                        "node"
                    } else {
                        "edge(graph)"
                    };
                    self.report.error_help(
                        arg.name.span(),
                        format!("`{}` is a size, and no argument of `{word}`", arg.name),
                        format!("write `#[{word}(per = {size})]`"),
                    );
                }
                "init" if role != Role::Input => {
                    init = Some(Box::new(arg.value("init = VALUE", self.report)?));
                }
                _ => {
                    let known: &[&str] = if role == Role::Input {
                        &["per", "bits"]
                    } else {
                        &["per", "init", "bits"]
                    };
                    unknown_arg(&arg, word, known, self.report);
                }
            }
        }
        if self.report.len() > errors {
            return None;
        }
        if type_word(ty).as_deref() == Some("Bits") || bits.is_some() {
            let given = (per, bits, init.is_some());
            return self.rows(role, word, given, (attr.path().span(), ty, name));
        }
        if per.is_none() {
            if role == Role::Input && scalar_of(ty).is_some() {
                return self.uniform(ty, name);
            }
            self.report.error_help(
                attr.path().span(),
                format!("buffer `{name}` has no size"),
                format!("say how many elements it has: `#[{word}(per = node)]`, `per = edge(graph)` or `per = n`"),
            );
            return None;
        }
        let (scalar, item) = self.element(ty)?;
        Some(FieldKind::Column {
            role,
            scalar,
            item,
            per,
            init,
        })
    }

    /// A buffer of rows of bits: its `per`, its `bits`, and whether it has an `init`, which it must not.
    fn rows(
        &mut self,
        role: Role,
        word: &str,
        (per, bits, init): (Option<Per>, Option<Expr>, bool),
        (at, ty, name): (Span, &Type, &Ident),
    ) -> Option<FieldKind> {
        let rows = type_word(ty).as_deref() == Some("Bits");
        let (true, Some(bits), Some(Per::Node), false) = (rows, bits, per, init) else {
            let start = match role {
                Role::Output | Role::Scratch | Role::InOut => "the rows start empty",
                Role::Input | Role::Topology => "the caller gives the words of all rows",
            };
            self.report.error_help(
                at,
                format!("`{name}` is no buffer of rows of bits"),
                format!("write `#[{word}(per = node, bits = WIDTH)] {name}: Bits`; {start}"),
            );
            return None;
        };
        Some(FieldKind::Column {
            role,
            scalar: Scalar::U32,
            item: None,
            per: Some(Per::NodeBits(Box::new(bits))),
            init: None,
        })
    }

    fn reduction(&mut self, attr: &Attribute, args: Vec<Arg>, ty: &Type) -> Option<FieldKind> {
        const OPS: [&str; 6] = ["sum", "min", "max", "or", "and", "count"];
        let mut found = None;
        for arg in args {
            let op = match arg.name.to_string().as_str() {
                "sum" => (ReduceOp::Sum, false),
                "min" => (ReduceOp::Min, false),
                "max" => (ReduceOp::Max, false),
                "or" => (ReduceOp::Or, false),
                "and" => (ReduceOp::And, false),
                "count" => (ReduceOp::Sum, true),
                _ => {
                    unknown_arg(&arg, "reduce", &OPS, self.report);
                    return None;
                }
            };
            let span = arg.name.span();
            arg.flag(self.report);
            if found.replace(op).is_some() {
                self.report.error(span, "a reduction has one operation");
                return None;
            }
        }
        let Some((op, count)) = found else {
            self.report.error_help(
                attr.span(),
                "`#[reduce]` needs an operation",
                "write `#[reduce(sum)]`; it takes sum, min, max, or, and, count",
            );
            return None;
        };
        let scalar = self.scalar(ty)?;
        let float = matches!(scalar, Scalar::F32 | Scalar::F64);
        if count && scalar != Scalar::U64 {
            self.report
                .error(ty.span(), "`#[reduce(count)]` counts in u64");
            return None;
        }
        if float && matches!(op, ReduceOp::Or | ReduceOp::And) {
            self.report.error(
                ty.span(),
                "floats have no bits to combine with `or` and `and`",
            );
            return None;
        }
        if scalar == Scalar::U8
            || (scalar == Scalar::Bool && !matches!(op, ReduceOp::Or | ReduceOp::And))
        {
            self.report.error_help(
                ty.span(),
                format!("this reduction does not work on `{}`", scalar.name()),
                "bool has `or` and `and`; the others need u32, i32, u64, i64, f32 or f64",
            );
            return None;
        }
        Some(FieldKind::Reduction { op, count, scalar })
    }

    /// `node`, `edge(graph)` or a length, after `key =`.
    fn per(&mut self, key: &str, value: Expr) -> Option<Per> {
        if let Some(word) = ident_of(&value)
            && word == "node"
        {
            self.per_node.get_or_insert(word.span());
            return Some(Per::Node);
        }
        if let Expr::Call(call) = &value
            && let Some(f) = ident_of(&call.func)
        {
            let graph = match (call.args.len(), call.args.first().and_then(ident_of)) {
                (1, Some(graph)) => Some(graph.clone()),
                _ => None,
            };
            let advice = match (f.to_string().as_str(), graph) {
                ("edge", Some(graph)) => return Some(Per::Edge(graph)),
                ("edges", Some(graph)) => format!("write `{key} = edge({graph})`"),
                ("node" | "nodes", _) => {
                    "write `node`: all topologies have the same nodes".to_owned()
                }
                _ => "write `node`, `edge(graph)`, a u32 scalar of `Data`, a constant or a literal"
                    .to_owned(),
            };
            self.report
                .error_help(value.span(), "this is not a size", advice);
            return None;
        }
        Some(Per::Len(Box::new(value)))
    }
}

/// Whether a word can be the name of a struct of the user's.
pub(crate) fn is_struct_word(word: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "Csr", "Frontier", "List", "Bits", "Edge", "String", "Buf", "Push", "Append", "Reduce",
        "Node", "Index",
    ];
    word.starts_with(char::is_uppercase) && word != "Round" && !OTHERS.contains(&word)
}

/// How a field with this attribute is seen from outside. `Vec<T>` and `[T]` are meant as the whole buffer.
fn host(kind: Option<&(&str, Attribute)>, ty: &Type) -> Option<Host> {
    let element = match ty {
        Type::Reference(r) => &*r.elem,
        other => other,
    };
    let element = match element {
        Type::Slice(s) => &*s.elem,
        Type::Array(a) => &*a.elem,
        other => ["Vec", "List", "Frontier"]
            .iter()
            .find_map(|word| item_of(other, word))
            .unwrap_or(other),
    };
    let has = |word: &str| match kind.map(|(_, attr)| &attr.meta) {
        Some(Meta::List(list)) => any_token(
            list.tokens.clone(),
            &|t| matches!(t, TokenTree::Ident(i) if i == word),
        ),
        _ => false,
    };
    let (whole, element) = (ty.clone(), element.clone());
    let word = type_word(&whole);
    let is = |w: &str| word.as_deref() == Some(w);
    match kind.map(|(word, _)| *word) {
        _ if matches!(element, Type::Infer(_)) => None,
        Some("topology") if has("reverse_of") => None,
        Some("topology") => Some(Host::Topology(element)),
        Some("input") if !has("per") && scalar_of(&whole).is_some() => Some(Host::Scalar(whole)),
        Some("input") => Some(Host::Input(element)),
        Some("output") if is("Bits") => Some(Host::Result(whole)),
        Some("output") => Some(Host::Output(element)),
        Some("reduce") => Some(Host::Result(whole)),
        Some("list") => has("output").then_some(Host::Output(element)),
        Some(_) => None,
        None if is("Csr") => Some(Host::Topology(whole)),
        None if is("Frontier") || item_of(&whole, "List").is_some() => None,
        None => match ty {
            Type::Path(_)
                if item_of(ty, "Vec").is_none() && !word.is_some_and(|w| is_struct_word(&w)) =>
            {
                Some(Host::Scalar(whole))
            }
            _ => Some(Host::Input(element)),
        },
    }
}

/// Makes `Data` the macro's own: nothing reads it, and it needs no traits. What is public has words of ours where the user has none.
fn written_here(data: &mut syn::ItemStruct) {
    let own = |ident: &mut Ident| ident.set_span(generated(ident.span()));
    let public = |vis: &mut Visibility| {
        let text = vis.to_token_stream().into_iter().map(|mut t| {
            t.set_span(generated(t.span()));
            t
        });
        if let Ok(vis_here) = syn::parse2(text.collect()) {
            *vis = vis_here;
        }
    };
    let said = |attrs: &mut Vec<Attribute>, words: String| {
        if !attrs.iter().any(|a| a.path().is_ident("doc")) {
            attrs.push(parse_quote!(#[doc = #words]));
        }
    };
    public(&mut data.vis);
    said(&mut data.attrs, "What the pass works on.".to_owned());
    data.struct_token.span = generated(data.struct_token.span);
    own(&mut data.ident);
    for field in &mut data.fields {
        public(&mut field.vis);
        if let Some(name) = &mut field.ident {
            said(&mut field.attrs, format!("`{name}` of `Data`."));
            own(name);
        }
    }
}

const FIELD_ATTRS: [&str; 7] = [
    "topology", "input", "output", "scratch", "frontier", "reduce", "list",
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
