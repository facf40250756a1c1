//! Passes built from passes: `#[include(graph = calls, source = entry)] use super::bfs;` in a graph takes over the
//! waves and fixpoints of another, with its fields. A field that is mapped becomes the one it is mapped to; any other
//! gets a name of its own, `bfs_dist`. Waves get names in the same way, and `after(bfs)` names all that nothing else of
//! `bfs` waits for.
//!
//! What is included is compiled from its source, which travels (see [`crate::import`]); its functions, constants and
//! positions stay where they are, and are named by their paths.

use super::build::build;
use super::check::{Length, describe, is_array_of, operands, row_factor, without_brackets};
use super::domain::DomainArgs;
use super::fill;
use super::graph::{
    Field, FieldKind, Filter, FixpointArgs, Given, Graph, Host, IncludeArgs, Included,
    IncludedUntil, Origin, Per, Piece, Same, Scope, Wave, What, condition_name, max_rounds_name,
    renamed, renamed_expr,
};
use super::order::common_scope;
use super::{lengths, syntax};
use crate::args::{ident_of, int_digits};
use crate::attributes::is_device;
use crate::kernel::param::scalar_of;
use crate::kernel::param::{Written, same_item, type_word, written};
use crate::package::{Imports, Package};
use crate::pass::SameResult;
use crate::report::{Report, did_you_mean, listed};
use crate::tables::ModuleTables;
use crate::tokens::{any_token, ident, show, source_text};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Item, ItemFn, ReturnType, parse_quote};
use vyre_core::vir0::module::Role;
use vyre_core::vir0::scalar::Scalar;

/// Takes the included graphs in.
pub(crate) fn merge(graph: &mut Graph, imports: &Imports, report: &mut Report) {
    let mut meant = Vec::new();
    for alias in graph.lost.clone() {
        absent(graph, &alias);
    }
    for args in std::mem::take(&mut graph.includes) {
        same_name(graph, &args, report);
        include(graph, &args, imports, &mut meant, report);
    }
    // Only now: an included graph can wait for one that is included before it or after it, and for one in it.
    for meant in &meant {
        not_beside(graph, meant, report);
        replace_after(graph, &meant.alias, &meant.last);
    }
    super::index::each_its_own(graph, report);
    super::given::settled_ones_grow(graph, report);
}

/// What `after(alias)` means.
struct Meant {
    alias: Ident,
    /// The scope in which the graph is included.
    scope: usize,
    /// Nothing where it is not taken in, and that has been said.
    last: Vec<Ident>,
}

/// Takes a graph in, with those that it includes. Gives what its fields are called here.
fn include(
    graph: &mut Graph,
    args: &IncludeArgs,
    imports: &Imports,
    meant: &mut Vec<Meant>,
    report: &mut Report,
) -> HashMap<String, Ident> {
    let at = meant.len();
    meant.push(Meant {
        alias: args.name.clone(),
        scope: args.scope,
        last: Vec::new(),
    });
    let alias = &args.alias;
    let mut have = imports.have.iter();
    let package = have.find(|(path, _)| *alias == path.to_string());
    let (module, imports) = match package {
        Some((
            _,
            Package {
                item: Item::Mod(module),
                imports,
                ..
            },
        )) => (module, imports),
        Some(_) => {
            report.error_help(
                args.name.span(),
                format!("`{alias}` is not a wave graph"),
                "`#[include]` stands on the `use` of a `#[wave_graph]` module",
            );
            return HashMap::new();
        }
        None => {
            report.left_to_rustc(format!("`{alias}` has not arrived"));
            absent(graph, &args.name);
            return HashMap::new();
        }
    };
    let mut unseen = Report::default();
    let mut merged = syntax::graph(TokenStream::new(), module.clone(), &mut unseen);
    if let Some(private) = merged.includes.iter().find(|i| !i.handed_on) {
        let private = &private.alias;
        report.error_help(
            args.name.span(),
            format!(
                "`{alias}` includes `{private}` by a private `use`, and is not included for that"
            ),
            format!("write `pub use` or `pub(crate) use` for `{private}` there"),
        );
        return HashMap::new();
    }
    merge(&mut merged, imports, &mut unseen);
    let own = merged.fields.iter().find(|f| !begins_as_literals(f));
    let own = own.map(|f| f.name.clone());
    fill::write_out(&mut merged);
    let built = build(&merged, imports.clone(), unseen.is_empty(), &mut unseen);
    let whole = built.skeleton.is_some() && imports.broken.is_none();
    if !whole {
        report.left_to_rustc(format!("`{alias}` did not compile"));
    } else if let Some(field) = own {
        report.error_help(
            args.name.span(),
            format!("`{alias}` is not included for the `init` of `{field}`, which only it can read"),
            "arrays of an included graph begin as literals, and are as many as nodes, edges or a literal says: let a wave there store what else they begin as",
        );
        return HashMap::new();
    } else if !built.fields.records.is_empty() {
        report.error_help(
            args.name.span(),
            format!(
                "`{alias}` has items or elements that are structs, and is not included for that"
            ),
            "use scalars or tuples, or run the two passes one after the other",
        );
        return HashMap::new();
    }
    let mut own = built.fields.iter().map(|(field, _)| field);
    if let Some(field) = own.find(|f| matches!(f.kind, FieldKind::List { input: true, .. })) {
        report.error_help(
            args.name.span(),
            format!(
                "`{alias}` is not included for its relation `{}`, which its caller gives",
                field.name
            ),
            "give its tuples in buffers that a wave there inserts them from",
        );
        return HashMap::new();
    }
    // Scopes of what it includes come behind its own.
    let tables = built.tables.into_modules();
    let other = syntax::graph(TokenStream::new(), module.clone(), &mut Report::default());
    let report = if whole { report } else { &mut unseen };
    let merger = Merger {
        graph,
        args,
        report,
        whole,
    };
    merger.take(other, tables, imports, (meant, at))
}

/// Whether what arrays begin as can be written in a graph that includes theirs.
fn begins_as_literals(field: &Field) -> bool {
    let FieldKind::Column {
        item, per, init, ..
    } = &field.kind
    else {
        return true;
    };
    match init.as_deref() {
        Some(init @ Expr::Array(values)) if is_array_of(item.as_deref(), init) => {
            let here = match per {
                Some(Per::Len(n)) => int_digits(n).is_some(),
                _ => true,
            };
            here && fill::travels(values)
        }
        _ => true,
    }
}

/// The fields of a graph that is not there, as far as waves take them: they stay known.
fn absent(graph: &mut Graph, alias: &Ident) {
    let own = format!("{alias}_");
    let parameters = graph.waves.iter().flat_map(|w| &w.function.sig.inputs);
    let taken = parameters.filter_map(|p| match p {
        syn::FnArg::Typed(p) => match &*p.pat {
            syn::Pat::Ident(name) if name.ident.to_string().starts_with(&own) => {
                Some((name.ident.clone(), written(&p.ty)))
            }
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    });
    for (name, form) in taken.collect::<Vec<_>>() {
        if graph.fields.iter().any(|f| f.name == name) {
            continue;
        }
        let host = match form {
            Written::Ref(s)
            | Written::RefMut(s)
            | Written::Row(s, _)
            | Written::Buf(s)
            | Written::AtomicBuf(s) => {
                let scalar = Ident::new(s.name(), Span::call_site());
                Some(Host::Output(parse_quote!(::core::primitive::#scalar)))
            }
            _ => None,
        };
        graph.fields.push(Field {
            name,
            shown: None,
            docs: Vec::new(),
            kind: FieldKind::Broken,
            reset: None,
            entered: None,
            given: None,
            host,
            origin: None,
        });
    }
}

/// A wave or fixpoint of the graph with the name of an included graph: `after(name)` could mean either.
fn same_name(graph: &Graph, args: &IncludeArgs, report: &mut Report) {
    let (name, beside) = (&args.name, args.scope);
    let waves = graph.waves.iter().filter(|w| w.scope == beside);
    let waves = waves.map(Wave::name);
    let scopes = graph.scopes.iter().filter(|s| s.parent == Some(beside));
    let mut all = waves.chain(scopes.map(|s| &s.name));
    if let Some(same) = all.find(|n| *n == name) {
        report.error_help(
            same.span(),
            format!("`after({name})` would mean this as well as the included graph `{name}`"),
            "give it another name, or include the graph under one: `use path::to::graph as name;`",
        );
    }
}

struct Merger<'m> {
    graph: &'m mut Graph,
    args: &'m IncludeArgs,
    /// It is not seen where the graph did not compile.
    report: &'m mut Report,
    whole: bool,
}

impl Merger<'_> {
    /// A name for what has one in the included graph. It stays where it is: positions are found by their tokens.
    fn own(&self, name: &Ident) -> Ident {
        format_ident!("{}_{}", self.args.name, name, span = name.span())
    }

    /// `meant`: what each `after(name)` means, and which of them this graph's is.
    fn take(
        mut self,
        mut other: Graph,
        tables: Vec<ModuleTables>,
        imports: &Imports,
        (meant, at): (&mut Vec<Meant>, usize),
    ) -> HashMap<String, Ident> {
        let inner = std::mem::take(&mut other.includes);
        let outermost = self.args.scope;
        let edges = self.args.edges.as_ref();
        let filter = edges.and_then(|edges| self.filter(edges, &other, &inner));
        self.whole &= edges.is_some() == filter.is_some();
        if let Some(inner) = inner.iter().find(|i| i.edges.is_some()) {
            let alias = &self.args.alias;
            self.report.error_help(
                self.args.name.span(),
                format!(
                    "`{alias}` leaves out edges of `{}`, and is not included for that",
                    inner.alias
                ),
                format!(
                    "include `{}` here, with `edges = ..` of this graph",
                    inner.alias
                ),
            );
            self.whole = false;
        }
        // What cannot is not taken in. Its fields stay known.
        self.whole &= outermost == 0 || self.may_run_in_a_fixpoint(&other);
        let here = lengths::give(&mut other, self.args, self.graph, self.report);
        let Some((mut names, same)) = here.and_then(|here| self.fields(&other, here)) else {
            return HashMap::new();
        };
        let graph = self.graph.included.len();
        let own_scopes = tables.into_iter().take(other.scopes.len());
        let modules = own_scopes.enumerate().map(|(s, tables)| {
            let mut path = self.args.path.clone();
            let mut chain = Vec::new();
            let mut at = Some(s);
            while let Some(scope) = at.filter(|&s| s > 0) {
                chain.push(&other.scopes[scope].name);
                at = other.scopes[scope].parent;
            }
            for name in chain.into_iter().rev() {
                path.extend(quote! { ::#name });
            }
            (path, Rc::new(tables))
        });
        let modules: Vec<_> = modules.collect();
        self.graph.included.push(Included {
            name: self.args.name.clone(),
            names: names.clone(),
            imports: imports.clone(),
            items: other.scopes[0].items.clone(),
            modules: modules.clone(),
            same,
            whole: self.whole,
            filter: filter.map(|(function, graph)| Filter {
                function,
                graph: renamed(&graph, &names),
                at: self
                    .args
                    .edges
                    .as_ref()
                    .map_or_else(Span::call_site, Spanned::span),
            }),
        });
        if !self.whole {
            return names;
        }
        // What it includes comes before its own fixpoints, unless it stands in one of them.
        let (beside, inside): (Vec<_>, Vec<_>) = inner.iter().partition(|i| i.scope == 0);
        let mut all_inner = Vec::new();
        let mut take_in = |this: &mut Self, inner: Vec<&IncludeArgs>, first_scope: usize| {
            for inner in inner {
                let args = this.inner(inner, &names, first_scope);
                let theirs = include(this.graph, &args, imports, meant, this.report);
                for (field, here) in theirs {
                    let name = format!("{}_{field}", args.alias);
                    names.entry(name).or_insert(here);
                }
                all_inner.push(args);
            }
        };
        take_in(&mut self, beside, 0);
        let first_scope = self.graph.scopes.len() - 1;
        let scope_here = |s: usize| if s == 0 { outermost } else { s + first_scope };
        for (s, scope) in other.scopes.iter().enumerate().skip(1) {
            self.graph.scopes.push(Scope {
                in_body: false,
                parent: scope.parent.map(scope_here),
                depth: self.graph.scopes[outermost].depth + scope.depth,
                shown: Some(format!("{}::{}", self.args.shown, scope.shown())),
                name: self.own(&scope.name),
                attrs: Vec::new(),
                vis: scope.vis.clone(),
                fixpoint: None,
                pieces: Vec::new(),
                imports_parent: false,
                items: scope.items.clone(),
                origin: Some(Origin { graph, scope: s }),
            });
        }
        take_in(&mut self, inside, first_scope);
        let inner = all_inner;
        self.graph.included[graph].names.clone_from(&names);
        let end = self.graph.included.len();
        // Claims are about all edges.
        let mut claims = std::mem::take(&mut other.claim.same);
        if self.args.edges.is_some() {
            claims.clear();
        }
        let claims = claims.into_iter();
        let here = claims.map(|claim| SameResult {
            field: renamed(&claim.field, &names),
            of: Some((graph, end)),
            ..claim
        });
        self.graph.claim.same.extend(here);
        let first_wave = self.graph.waves.len();
        let piece_here = |piece: &Piece| match piece {
            Piece::Item(_) => None,
            Piece::Wave(w) => Some(Piece::Wave(w + first_wave)),
            Piece::Scope(s) => Some(Piece::Scope(scope_here(*s))),
        };

        // Nodes of the outermost level: the first wait for what the include waits for, `after(alias)` means the last.
        let top: Vec<(Ident, &[Ident])> = other.scopes[0]
            .pieces
            .iter()
            .filter_map(|p| match p {
                Piece::Item(_) => None,
                Piece::Wave(w) => {
                    Some((other.waves[*w].name().clone(), &other.waves[*w].after[..]))
                }
                Piece::Scope(s) => {
                    let scope = &other.scopes[*s];
                    let after = scope.fixpoint.as_ref().map_or(&[][..], |f| &f.after[..]);
                    Some((scope.name.clone(), after))
                }
            })
            .collect();
        let inner_top = inner.iter().filter(|i| i.scope == outermost);
        let inner_top = inner_top.map(|i| (i.name.clone(), &i.after[..]));
        let own_top = top.iter().map(|(name, after)| {
            let after = after.iter().map(|a| self.own(a));
            (self.own(name), after.collect::<Vec<_>>())
        });
        let all_top: Vec<(Ident, Vec<Ident>)> = own_top
            .chain(inner_top.map(|(name, after)| (name, after.to_vec())))
            .collect();
        let waited_for = |name: &Ident| all_top.iter().any(|(_, after)| after.contains(name));
        let last = all_top.iter().map(|(name, _)| name);
        let last: Vec<Ident> = last.filter(|name| !waited_for(name)).cloned().collect();
        let pieces: Vec<Piece> = other.scopes[0]
            .pieces
            .iter()
            .filter_map(piece_here)
            .collect();
        let after_here = |this: &Merger<'_>, after: &[Ident], outermost: bool| -> Vec<Ident> {
            if outermost && after.is_empty() {
                this.args.after.clone()
            } else {
                after.iter().map(|a| this.own(a)).collect()
            }
        };

        for wave in other.waves {
            let (path, origin) = (
                &modules[wave.scope].0,
                Origin {
                    graph,
                    scope: wave.scope,
                },
            );
            let (original, shown) = (wave.name().clone(), wave.shown());
            let mut function = wave.function;
            function.sig.ident = self.own(&original);
            self.graph.waves.push(Wave {
                scope: scope_here(wave.scope),
                function,
                domain: wave.domain.map(|d| d.renamed(|g| renamed(g, &names))),
                after: after_here(&self, &wave.after, wave.scope == 0),
                names: names.clone(),
                call: Some(quote! { #path::#original }),
                shown: Some(format!("{}::{shown}", self.args.shown)),
                origin: Some(origin),
            });
        }
        for (s, scope) in other.scopes.into_iter().enumerate().skip(1) {
            let (around, condition) = (&modules[scope.parent.unwrap_or(0)].0, condition_name(s));
            let max_rounds = max_rounds_name(s);
            let included = IncludedUntil {
                names: names.clone(),
                call: quote! { #around::#condition },
                max_rounds: quote! { #around::#max_rounds },
            };
            let fixpoint = scope.fixpoint.map(|f| FixpointArgs {
                after: after_here(&self, &f.after, scope.parent == Some(0)),
                until: f.until,
                per: f.per.as_ref().map(|parts| renamed(parts, &names)),
                included: Some(included),
                max_rounds: f.max_rounds,
                swaps: f
                    .swaps
                    .iter()
                    .map(|(a, b)| (renamed(a, &names), renamed(b, &names)))
                    .collect(),
            });
            let here = &mut self.graph.scopes[scope_here(s)];
            here.fixpoint = fixpoint;
            here.pieces
                .extend(scope.pieces.iter().filter_map(piece_here));
        }
        self.graph.scopes[outermost].pieces.extend(pieces);
        meant[at].last = last;
        names
    }

    /// Whether each round of a fixpoint can run it. What cannot begin anew with the rounds is said.
    fn may_run_in_a_fixpoint(&mut self, other: &Graph) -> bool {
        let errors = self.report.len();
        let (alias, at) = (&self.args.name, self.args.name.span());
        let around = &self.graph.scopes[self.args.scope].name;
        let sweeps = |field: &Field, inside: bool| {
            let mut waves = other.waves.iter();
            waves.find(|w| {
                let swept = w.domain.as_ref().map(DomainArgs::reads);
                let mut swept = swept.into_iter().flatten();
                (w.scope > 0) == inside && swept.any(|name| *name == field.name)
            })
        };
        for field in &other.fields {
            let name = &field.name;
            match &field.kind {
                // A list of nodes is emptied wherever it is swept.
                FieldKind::Frontier { list: true, .. } => {}
                FieldKind::Frontier { .. } => {
                    if let Some(wave) = sweeps(field, false) {
                        self.report.error_help(
                            at,
                            format!(
                                "`{alias}` cannot be included in fixpoint `{around}`: its wave `{}` sweeps the frontier `{name}` outside of fixpoints",
                                wave.name(),
                            ),
                            format!("such a frontier keeps all that was ever pushed, and no round flips it: put the sweep into a fixpoint of `{alias}`, or include `{alias}` outside of fixpoints"),
                        );
                    } else if sweeps(field, true).is_none() {
                        self.report.error_help(
                            at,
                            format!(
                                "`{alias}` cannot be included in fixpoint `{around}`: nothing sweeps its frontier `{name}`, and only fixpoints that do so empty one"
                            ),
                            format!("leave `{name}` out of `{alias}`; what was pushed is counted by a `#[reduce(count)]`"),
                        );
                    }
                }
                FieldKind::List { output: true, .. } if !self.args.private.contains(name) => self.report.error_help(
                    at,
                    format!(
                        "`{alias}` cannot be included in fixpoint `{around}`: its list `{name}` has `output`, and each round would begin it anew"
                    ),
                    format!("write `{name} = _` if this graph does not give it back, include `{alias}` outside of fixpoints, or let it write a buffer"),
                ),
                FieldKind::List { .. } => {
                    let new = other.waves.iter().find(|w| {
                        let of = w.domain.as_ref();
                        let swept = of.is_some_and(|d| d.reads().any(|swept| *swept == *name));
                        swept && matches!(of, Some(DomainArgs::Items { portion, .. }) if portion.goes_on())
                    });
                    if let Some(wave) = new {
                        self.report.error_help(
                            at,
                            format!(
                                "`{alias}` cannot be included in fixpoint `{around}`: its wave `{}` sweeps what is new in the list `{name}`, which each round begins anew",
                                wave.name(),
                            ),
                            format!("let a fixpoint of `{alias}` sweep a frontier instead, or all that `{name}` holds"),
                        );
                    }
                }
                FieldKind::Csr { .. }
                | FieldKind::Column { .. }
                | FieldKind::Index { .. }
                | FieldKind::Reduction { .. }
                | FieldKind::Scalar(..)
                | FieldKind::Broken => {}
            }
        }
        self.report.len() == errors
    }

    /// The function that says which edges the waves of an included graph sweep, and that graph's name for what they
    /// are edges of.
    fn filter(
        &mut self,
        edges: &Expr,
        other: &Graph,
        inner: &[IncludeArgs],
    ) -> Option<(ItemFn, Ident)> {
        let (at, alias) = (edges.span(), &self.args.name);
        let write = "write `#[device] fn admitted(e: Edge, ..) -> bool` in the module of this graph; the other parameters are fields of its `Data`";
        let Some(name) = ident_of(edges) else {
            let message = "`edges` is the name of a function of this graph";
            self.report.error_help(at, message, write);
            return None;
        };
        let found = self.graph.scopes[0]
            .items
            .iter()
            .find_map(|item| match item {
                Item::Fn(f) if f.sig.ident == *name => Some(f.clone()),
                _ => None,
            });
        let Some(function) = found else {
            let message = format!("`{name}` is no function of this graph");
            self.report.error_help(at, message, write);
            return None;
        };
        let first = function.sig.inputs.first().and_then(|input| match input {
            FnArg::Typed(arg) => Some(written(&arg.ty)),
            FnArg::Receiver(_) => None,
        });
        let says = match &function.sig.output {
            ReturnType::Type(_, ty) => type_word(ty).is_some_and(|word| word == "bool"),
            ReturnType::Default => false,
        };
        let lacks = if !function.attrs.iter().any(is_device) {
            Some("it is not marked `#[device]`")
        } else if first != Some(Written::Edge) {
            Some("its first parameter is not an `Edge`")
        } else if !says {
            Some("it does not return a `bool`")
        } else {
            None
        };
        if let Some(lacks) = lacks {
            let message = format!("`{name}` cannot say which edges are swept: {lacks}");
            self.report
                .error_help(function.sig.ident.span(), message, write);
            return None;
        }
        let graphs = other
            .fields
            .iter()
            .filter(|f| matches!(f.kind, FieldKind::Csr { .. }));
        let graphs: Vec<&Ident> = graphs.map(|f| &f.name).collect();
        let [graph] = graphs[..] else {
            self.report.error_help(
                at,
                format!(
                    "`{alias}` has {} graphs: which of their edges `{name}` is about is not known",
                    graphs.len()
                ),
                "edges are left out of included graphs that have one",
            );
            return None;
        };
        if let Some(inner) = inner.first() {
            self.report.error_help(
                at,
                format!(
                    "`{alias}` includes `{}`, whose edges `{name}` does not leave out yet",
                    inner.alias
                ),
                format!("include `{}` here, with `edges = {name}`", inner.alias),
            );
            return None;
        }
        let walks = other.waves.iter().find(|wave| {
            wave.function.sig.inputs.iter().any(|input| match input {
                FnArg::Typed(arg) => written(&arg.ty) == Written::Csr,
                FnArg::Receiver(_) => false,
            })
        });
        if let Some(wave) = walks {
            self.report.error_help(
                at,
                format!(
                    "wave `{}` of `{alias}` takes `{graph}` itself, of which `{name}` leaves out no edges",
                    wave.name()
                ),
                format!("edges are left out of sweeps over `edges({graph})` and `edges({graph}, from = ..)`"),
            );
            return None;
        }
        let swept = |w: &Wave| matches!(w.domain, Some(DomainArgs::Edges { .. }));
        if !other.waves.iter().any(swept) {
            self.report.error_help(
                at,
                format!("no wave of `{alias}` sweeps edges"),
                "leave `edges = ..` out",
            );
            return None;
        }
        Some((function, graph.clone()))
    }

    /// An include of the included graph, as if it were written here.
    /// `first_scope`: what its own scopes here are counted from.
    fn inner(
        &self,
        inner: &IncludeArgs,
        names: &HashMap<String, Ident>,
        first_scope: usize,
    ) -> IncludeArgs {
        let (mut fields, mut lengths) = (Vec::new(), Vec::new());
        for (theirs, ours) in &inner.fields {
            match self.args.lengths.iter().find(|(scalar, _)| scalar == ours) {
                Some((_, length)) => lengths.push((theirs.clone(), length.clone())),
                None => fields.push((theirs.clone(), renamed(ours, names))),
            }
        }
        for (theirs, length) in &inner.lengths {
            let given = self.args.lengths.iter();
            let length = given.fold(renamed_expr(length, names), |e, (scalar, length)| {
                lengths::with(&e, scalar, length)
            });
            lengths.push((theirs.clone(), length));
        }
        let (outer, alias) = (&self.args.path, &inner.alias);
        IncludeArgs {
            name: self.own(&inner.name),
            alias: alias.clone(),
            path: quote! { #outer::#alias },
            shown: format!("{}::{}", self.args.shown, inner.shown),
            handed_on: inner.handed_on,
            scope: match inner.scope {
                0 => self.args.scope,
                s => s + first_scope,
            },
            fields,
            private: inner.private.clone(),
            lengths,
            edges: None,
            after: match inner.after[..] {
                [] if inner.scope == 0 => self.args.after.clone(),
                _ => inner.after.iter().map(|a| self.own(a)).collect(),
            },
        }
    }

    /// The fixpoint with whose rounds a field of its own begins anew.
    fn entered(&self, field: &Field) -> Option<usize> {
        let filled = match &field.kind {
            FieldKind::Column { role, .. } => matches!(role, Role::Output | Role::Scratch),
            FieldKind::Frontier { .. } | FieldKind::List { .. } | FieldKind::Index { .. } => true,
            FieldKind::Csr { .. }
            | FieldKind::Reduction { .. }
            | FieldKind::Scalar(..)
            | FieldKind::Broken => false,
        };
        // One that says `reset = round` there begins anew more often.
        Some(self.args.scope).filter(|&s| s > 0 && filled && field.reset.is_none())
    }

    /// Reports `field = _` of what is no result.
    fn private_results(&mut self, other: &Graph) {
        let alias = &self.args.name;
        for private in &self.args.private {
            let results = other.fields.iter().filter(|f| !f.is_hidden());
            let results = results.filter(|f| is_result(&f.kind));
            let results: Vec<String> = results.map(|f| f.name.to_string()).collect();
            let field = other.fields.iter().find(|f| f.name == *private);
            let message = match field {
                Some(field) if is_result(&field.kind) => continue,
                Some(Field {
                    kind: FieldKind::Broken,
                    ..
                }) => continue,
                Some(field) => format!(
                    "`{private}` of `{alias}` is {}, and no result",
                    kind_of(&field.kind)
                ),
                None => format!("`{private}` is not a field of `{alias}`"),
            };
            let near = did_you_mean(&private.to_string(), results.iter().map(String::as_str));
            let help = match (near, &results[..]) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => format!("`{alias}` gives nothing back: leave `{private} = _` out"),
                (None, all) => format!(
                    "`_` stands for what `{alias}` gives back and this graph does not: {}",
                    listed(all.iter().map(|n| format!("`{n}`")))
                ),
            };
            self.report.error_help(private.span(), message, help);
        }
    }

    /// Brings the fields in, and gives what each is called here; `None` after an error.
    /// `names`: what else its lengths name.
    fn fields(
        &mut self,
        other: &Graph,
        mut names: HashMap<String, Ident>,
    ) -> Option<(HashMap<String, Ident>, Vec<Same>)> {
        let errors = self.report.len();
        let (mut new, mut same) = (Vec::new(), Vec::new());
        for (theirs, ours) in &self.args.fields {
            if !other.fields.iter().any(|f| f.name == *theirs) {
                let seen = other.fields.iter().filter(|f| !f.is_hidden());
                let fields: Vec<String> = seen.map(|f| f.name.to_string()).collect();
                let near = did_you_mean(&theirs.to_string(), fields.iter().map(String::as_str));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "its fields are {}",
                        listed(fields.iter().map(|n| format!("`{n}`")))
                    ),
                };
                let message = format!("`{theirs}` is not a field of `{}`", self.args.name);
                self.report.error_help(theirs.span(), message, help);
            }
            names.insert(theirs.to_string(), ours.clone());
        }
        self.private_results(other);
        for field in &other.fields {
            let name = field.name.to_string();
            names.entry(name).or_insert_with(|| self.own(&field.name));
        }
        let own: Vec<Ident> = self.graph.fields.iter().map(|f| f.name.clone()).collect();
        for field in &other.fields {
            let here = names[&field.name.to_string()].clone();
            let mut kind = if !self.whole && has_structs(&field.kind) {
                FieldKind::Broken
            } else {
                renamed_kind(&field.kind, &names)
            };
            if self.args.private.contains(&field.name) {
                hide(&mut kind);
            }
            let found = self.graph.fields.iter().find(|f| f.name == here);
            match (
                self.args.fields.iter().find(|(t, _)| *t == field.name),
                found,
            ) {
                (Some((theirs, ours)), Some(found)) => {
                    let here = |n: &Ident| match found.origin {
                        None => own.contains(n).then(|| n.to_string()),
                        Some(from) => {
                            let names = &self.graph.included[from].names;
                            names.get(&n.to_string()).map(Ident::to_string)
                        }
                    };
                    let there = |n: &Ident| names.get(&n.to_string()).map(Ident::to_string);
                    let stands = match (found.reset, field.reset) {
                        // With whose rounds it begins anew follows from what uses it, which would be one of the included
                        // graph's fixpoints if nothing else did. Where that only reads, it is all the same.
                        (Some(_), None) if !is_input(&kind) => Err(format!(
                            "it begins anew with each round here, and `{}` may change it",
                            self.args.name
                        )),
                        (_, None) => stands_for(&found.kind, &kind, (&here, &there)),
                        (_, Some(_)) => Err(
                            "it begins anew with each round there, and is used in that round alone"
                                .to_owned(),
                        ),
                    };
                    match stands {
                        Ok(equal) => {
                            same.extend(equal.into_iter().map(|(what, scalar, values)| Same {
                                ours: ours.clone(),
                                theirs: theirs.clone(),
                                values,
                                scalar,
                                what,
                            }))
                        }
                        Err(why) => {
                            let alias = &self.args.name;
                            let mut help = format!(
                                "leave out `{theirs} = {ours}`, and `{theirs}` becomes a field of its own, `{}`",
                                self.own(theirs)
                            );
                            help += match is_shared(&found.kind) && is_shared(&kind) {
                                true => "; or declare the two alike",
                                false => ", which waves of this graph take, too",
                            };
                            self.report.error_help(
                                ours.span(),
                                format!("`{ours}` cannot be `{theirs}` of `{alias}`: {why}"),
                                help,
                            );
                            // Its place in the source, not that of the macro which brought it.
                            let there = field.name.span().resolved_at(alias.span());
                            let message = format!("`{theirs}` of `{alias}` is declared here");
                            self.report.error(there, message);
                        }
                    }
                }
                (Some((_, ours)), None) => {
                    let fields: Vec<String> = self
                        .graph
                        .fields
                        .iter()
                        .map(|f| f.name.to_string())
                        .collect();
                    let near = did_you_mean(&ours.to_string(), fields.iter().map(String::as_str));
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            "declare it, or leave it out: it gets a field of its own".to_owned()
                        }
                    };
                    self.report.error_help(
                        ours.span(),
                        format!("`{ours}` is not a field of `Data`"),
                        help,
                    );
                }
                (None, Some(_)) => self.report.error_help(
                    self.args.name.span(),
                    format!(
                        "`{}` of `{}` would be `{here}`, which `Data` has already",
                        field.name, self.args.name
                    ),
                    format!(
                        "rename that field, or say that it is the same: `#[include({} = {here})]`",
                        field.name
                    ),
                ),
                (None, None) => new.push(Field {
                    name: here,
                    shown: None,
                    docs: field.docs.clone(),
                    kind,
                    reset: field.reset,
                    entered: self.entered(field),
                    host: None,
                    given: None,
                    origin: Some(self.graph.included.len()),
                }),
            }
        }
        let whole = self.report.len() == errors;
        if !whole {
            // The names stay known, so that what uses them is not reported too, here or on the host.
            for field in &mut new {
                field.host = host(&field.kind);
                (field.kind, field.origin) = (FieldKind::Broken, None);
            }
        }
        self.graph.fields.extend(new);
        whole.then_some((names, same))
    }
}

/// Reports what waits for an included graph in another scope.
fn not_beside(graph: &mut Graph, meant: &Meant, report: &mut Report) {
    let Meant { alias, scope, .. } = meant;
    let waves = graph.waves.iter().map(|w| (w.scope, w.origin, &w.after));
    let fixpoints = graph.scopes.iter();
    let fixpoints =
        fixpoints.filter_map(|s| Some((s.parent?, s.origin, &s.fixpoint.as_ref()?.after)));
    // What an included graph waits for was checked where it stands.
    let all = waves
        .chain(fixpoints)
        .filter(|(_, origin, _)| origin.is_none());
    let elsewhere = all.filter(|(here, ..)| here != scope);
    let wrong: Vec<(usize, Ident)> = elsewhere
        .filter_map(|(here, _, after)| Some((here, after.iter().find(|a| *a == alias)?.clone())))
        .collect();
    for (here, word) in wrong {
        let place = match *scope {
            0 => "outside of fixpoints".to_owned(),
            s => format!("in fixpoint `{}`", graph.scopes[s].name),
        };
        let common = common_scope(graph, here, *scope);
        let below = |inner: usize| {
            let mut around = std::iter::successors(Some(inner), |&s| graph.scopes[s].parent);
            let found = around.find(|&s| graph.scopes[s].parent == Some(common));
            found.map(|s| graph.scopes[s].name.clone())
        };
        let help = match (below(here), below(*scope)) {
            (None, Some(fixpoint)) => {
                format!("write `after({fixpoint})`, which waits for all that is in it")
            }
            (Some(own), None) => format!(
                "everything in fixpoint `{own}` waits for what `{own}` waits for: write `after({alias})` on `{own}`"
            ),
            (Some(own), Some(fixpoint)) => {
                format!("write `after({fixpoint})` on `{own}`: the two are beside each other")
            }
            (None, None) => String::new(),
        };
        let message = format!("`{alias}` is included {place}, not beside this");
        report.error_help(word.span(), message, help);
    }
    let is = |after: &mut Vec<Ident>| after.retain(|a| a != alias);
    for wave in graph
        .waves
        .iter_mut()
        .filter(|w| w.origin.is_none() && w.scope != *scope)
    {
        is(&mut wave.after);
    }
    for inner in graph.scopes.iter_mut() {
        if inner.origin.is_none()
            && inner.parent != Some(*scope)
            && let Some(fixpoint) = &mut inner.fixpoint
        {
            is(&mut fixpoint.after);
        }
    }
}

/// `after(alias)` becomes `after` of these.
fn replace_after(graph: &mut Graph, alias: &Ident, last: &[Ident]) {
    let waves = graph.waves.iter_mut().map(|w| &mut w.after);
    let scopes = graph
        .scopes
        .iter_mut()
        .filter_map(|s| Some(&mut s.fixpoint.as_mut()?.after));
    for after in waves.chain(scopes) {
        if let Some(at) = after.iter().position(|a| a == alias) {
            let here = after[at].span();
            after.retain(|a| a != alias);
            after.extend(last.iter().map(|l| ident(&l.to_string(), here)));
        }
    }
}

/// The field that a name in a length means, by what it is called here.
type Named<'a> = &'a dyn Fn(&Ident) -> Option<String>;

/// What [`Same`] says of two fields.
type Equal = (What, Scalar, [Option<Expr>; 2]);

/// Whether a run gives it back.
fn is_result(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Column { role, .. } => *role == Role::Output,
        FieldKind::List { output, .. } | FieldKind::Reduction { output, .. } => *output,
        FieldKind::Csr { .. }
        | FieldKind::Index { .. }
        | FieldKind::Frontier { .. }
        | FieldKind::Scalar(..)
        | FieldKind::Broken => false,
    }
}

/// Makes a result one that no run gives back.
fn hide(kind: &mut FieldKind) {
    match kind {
        FieldKind::Column { role, .. } if *role == Role::Output => *role = Role::Scratch,
        FieldKind::List { output, .. } | FieldKind::Reduction { output, .. } => *output = false,
        FieldKind::Column { .. }
        | FieldKind::Csr { .. }
        | FieldKind::Index { .. }
        | FieldKind::Frontier { .. }
        | FieldKind::Scalar(..)
        | FieldKind::Broken => {}
    }
}

/// Whether the host gives it for each run.
fn is_input(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Column {
            role: Role::Input,
            ..
        }
    )
}

/// Whether there is a way for two graphs to have one field of this kind.
fn is_shared(kind: &FieldKind) -> bool {
    !matches!(
        kind,
        FieldKind::Frontier { .. } | FieldKind::List { .. } | FieldKind::Reduction { .. }
    )
}

/// Whether a field of the including graph can stand for one of the included graph, or why not; then what rustc has to
/// find equal. `named` reads the lengths of the one and of the other.
fn stands_for(
    ours: &FieldKind,
    theirs: &FieldKind,
    named: (Named<'_>, Named<'_>),
) -> Result<Vec<Equal>, String> {
    let differ = |here: String, there: String| Err(format!("it {here} here, and {there} there"));
    match (ours, theirs) {
        (FieldKind::Broken, _) | (_, FieldKind::Broken) => Ok(Vec::new()),
        (FieldKind::Csr { .. }, FieldKind::Csr { reverse_of: None }) => Ok(Vec::new()),
        (
            FieldKind::Csr {
                reverse_of: Some(a),
            },
            FieldKind::Csr {
                reverse_of: Some(b),
            },
        ) if a == b => Ok(Vec::new()),
        (FieldKind::Scalar(_, Given::Run), FieldKind::Scalar(_, Given::Session)) => Err(
            "it is given with each run here, and a `#[topology]` there, which the session gives"
                .to_owned(),
        ),
        (FieldKind::Scalar(a, _), FieldKind::Scalar(b, _)) if a == b => Ok(Vec::new()),
        (
            FieldKind::Column {
                role: our_role,
                scalar: a,
                item: our_item,
                per: our_per,
                init: our_init,
            },
            FieldKind::Column {
                role,
                scalar: b,
                item,
                per,
                init,
            },
        ) => {
            let mut same = Vec::new();
            let one_type = match (our_item.as_deref(), item.as_deref()) {
                (Some(syn::Type::Array(ours)), Some(syn::Type::Array(theirs))) => {
                    let lens = (row_factor(&ours.len), row_factor(&theirs.len));
                    a == b && same_size(What::Part, lens, named, &mut same)
                }
                (Some(ours), Some(theirs)) => same_item(ours, theirs),
                (None, None) => a == b,
                _ => false,
            };
            if !one_type {
                let of = |item: &Option<Box<syn::Type>>, scalar: &Scalar| match item {
                    Some(item) => show(item),
                    None => scalar.name().to_owned(),
                };
                let (here, there) = (of(our_item, a), of(item, b));
                return differ(format!("holds `{here}`"), format!("`{there}`"));
            }
            let equal = same_per((our_per.as_ref(), per.as_ref()), named, &mut same);
            if !equal {
                return differ(format!("has {}", sized(our_per)), sized(per));
            }
            if matches!(role, Role::Output | Role::Scratch)
                && matches!(our_role, Role::Input | Role::Topology)
            {
                let (here, there) = (given_by(*our_role, "here"), given_by(*role, "there"));
                return Err(format!("it is {here}, and {there}"));
            }
            if *role == Role::Topology && *our_role != Role::Topology {
                let (here, there) = (given_by(*our_role, "here"), given_by(*role, "there"));
                return Err(format!("it is {here}, and {there}"));
            }
            let inits = [our_init, init].map(|e| e.as_deref().cloned());
            if matches!(role, Role::Output | Role::Scratch) && inits.iter().any(Option::is_some) {
                let is_array = matches!(our_item.as_deref(), Some(syn::Type::Array(_)));
                let all = begins(is_array, inits);
                same.extend(all.into_iter().map(|values| (What::Init, *a, values)));
            }
            Ok(same)
        }
        _ if !is_shared(ours) || !is_shared(theirs) => {
            let (here, there) = (describe(ours), describe(theirs));
            Err(match here == there {
                true => format!(
                    "each graph has {here} of its own; topologies, buffers and scalars are shared"
                ),
                false => format!(
                    "it is {here} here, and {there} there; only topologies, buffers and scalars are shared"
                ),
            })
        }
        _ => differ(format!("is {}", kind_of(ours)), kind_of(theirs)),
    }
}

/// What fields begin as, here and there: of arrays each value.
fn begins(is_array: bool, inits: [Option<Expr>; 2]) -> Vec<[Option<Expr>; 2]> {
    let values = |e: &Option<Expr>| match e {
        Some(Expr::Array(all)) if is_array => Some(all.elems.len()),
        _ => None,
    };
    let Some(n) = inits.iter().find_map(values) else {
        return vec![inits];
    };
    let at = |k: usize| {
        inits.each_ref().map(|e| match e {
            Some(Expr::Array(all)) if is_array => all.elems.get(k).cloned(),
            e => e.clone(),
        })
    };
    (0..n).map(at).collect()
}

/// Whether two fields have one length; what rustc has to find equal for that is added to `same`.
fn same_per(
    pers: (Option<&Per>, Option<&Per>),
    named: (Named<'_>, Named<'_>),
    same: &mut Vec<Equal>,
) -> bool {
    match pers {
        (None, None) | (Some(Per::Node), Some(Per::Node)) => true,
        (Some(Per::Edge(a)), Some(Per::Edge(b))) => a == b,
        (Some(Per::Bounds(a, drops_a)), Some(Per::Bounds(b, drops_b))) => {
            (a, drops_a) == (b, drops_b)
        }
        (Some(Per::Len(a)), Some(Per::Len(b))) => same_size(What::Length, (a, b), named, same),
        (Some(Per::NodeBits(a)), Some(Per::NodeBits(b))) => {
            same_size(What::Width, (a, b), named, same)
        }
        (Some(Per::Rows(a)), Some(Per::Rows(b))) => same_per((Some(a), Some(b)), named, same),
        _ => false,
    }
}

/// The length of a field, as its declaration says it.
fn sized(per: &Option<Per>) -> String {
    match per {
        None | Some(Per::Node) => "one element per node".to_owned(),
        Some(Per::Edge(g)) => format!("one element per edge of `{g}`"),
        Some(Per::Len(n)) => format!("`{}` elements", source_text(n)),
        Some(Per::NodeBits(n)) => format!("a row of `{}` bits per node", source_text(n)),
        Some(Per::Bounds(g, false)) => format!("the parts of `{g}`"),
        Some(Per::Rows(per)) => {
            let rows = match &**per {
                Per::Node => "each node".to_owned(),
                Per::Edge(g) => format!("each edge of `{g}`"),
                Per::Len(n) => format!("each of `{}`", source_text(n)),
                Per::NodeBits(_) | Per::Bounds(..) | Per::Rows(_) => "each element".to_owned(),
            };
            format!("a row for {rows}")
        }
        Some(Per::Bounds(g, true)) => format!("the parts of `{g}`, without crossing edges"),
    }
}

/// Who fills a buffer that is declared at a place.
fn given_by(role: Role, place: &str) -> String {
    let (attribute, who) = match role {
        Role::Topology => ("a `#[topology]`", "the session gives"),
        Role::Input | Role::InOut => ("an `#[input]`", "each run gives"),
        Role::Output => ("an `#[output]`", "waves write"),
        Role::Scratch => ("a `#[scratch]`", "waves write"),
    };
    format!("{attribute} {place}, which {who}")
}

fn kind_of(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Csr { reverse_of: None } => "a graph".to_owned(),
        FieldKind::Csr {
            reverse_of: Some(g),
        } => format!("the reverse of `{g}`"),
        FieldKind::Scalar(s, _) => format!("a scalar of type `{}`", s.name()),
        other => describe(other).to_owned(),
    }
}

/// Whether two sizes can be equal: they are computed alike, scalars of the run are one field, and constants are left to
/// rustc.
fn same_size(
    what: What,
    (ours, theirs): (&Expr, &Expr),
    named: (Named<'_>, Named<'_>),
    same: &mut Vec<Equal>,
) -> bool {
    let (ours, theirs) = (without_brackets(ours), without_brackets(theirs));
    match (is_known(ours, named.0), is_known(theirs, named.1)) {
        (true, true) => {
            let values = [Some(ours.clone()), Some(theirs.clone())];
            same.push((what, Scalar::U32, values));
            return true;
        }
        (false, false) => {}
        (true, false) | (false, true) => return false,
    }
    if let (Some(ours), Some(theirs)) = (counted(ours, named.0), counted(theirs, named.1)) {
        return ours == theirs;
    }
    let what = match what {
        What::Length => What::Part,
        what => what,
    };
    match (operands(ours), operands(theirs)) {
        (Some((op, left, right)), Some((other, a, b))) => {
            let mut alike = |a: &Expr, b: &Expr| {
                let before = same.len();
                let alike = same_size(what, (left, a), named, same)
                    && same_size(what, (right, b), named, same);
                if !alike {
                    same.truncate(before);
                }
                alike
            };
            return op == other && (alike(a, b) || op.is_commutative() && alike(b, a));
        }
        (None, None) => {}
        (Some(_), None) | (None, Some(_)) => return false,
    }
    match (ours, theirs) {
        (Expr::Call(ours), Expr::Call(theirs)) => {
            let graph = |call: &syn::ExprCall, named: Named<'_>| {
                call.args.first().and_then(ident_of).and_then(named)
            };
            graph(ours, named.0) == graph(theirs, named.1)
        }
        _ => {
            let word = |e: &Expr, named: Named<'_>| {
                ident_of(e).map(|name| named(name).unwrap_or_else(|| name.to_string()))
            };
            word(ours, named.0) == word(theirs, named.1)
        }
    }
}

/// A length without constants, its fields by what they are called here: it is the same as others of its polynomial.
fn counted(e: &Expr, named: Named<'_>) -> Option<Length> {
    let e = without_brackets(e);
    if let Some((op, a, b)) = operands(e) {
        return Some(Length::of(op, counted(a, named)?, counted(b, named)?));
    }
    if let Some(digits) = int_digits(e) {
        return digits.base10_parse().ok().map(Length::Fixed);
    }
    if let Expr::Call(call) = e {
        let graph = call.args.first().and_then(ident_of).and_then(named)?;
        return Some(Length::Constant(format!("edge({graph})")));
    }
    let name = ident_of(e)?;
    match named(name) {
        Some(field) => Some(Length::Constant(field)),
        None => (name == "node").then_some(Length::Nodes),
    }
}

/// Whether constants alone say a size: no scalar of the run, nodes or edges.
fn is_known(e: &Expr, named: Named<'_>) -> bool {
    let e = without_brackets(e);
    if let Some((_, a, b)) = operands(e) {
        return is_known(a, named) && is_known(b, named);
    }
    match e {
        Expr::Call(_) => false,
        e => ident_of(e).is_none_or(|name| named(name).is_none() && name != "node"),
    }
}

/// How a host sees a field of the including graph that this declares.
fn host(kind: &FieldKind) -> Option<Host> {
    let of = |s: Scalar| {
        let name = Ident::new(s.name(), Span::call_site());
        parse_quote!(::core::primitive::#name)
    };
    if has_structs(kind) {
        return None;
    }
    match kind {
        FieldKind::Column {
            per: Some(Per::NodeBits(_)),
            ..
        } => None,
        FieldKind::Column {
            role, item, scalar, ..
        } => {
            let ty = item.as_deref().cloned().unwrap_or_else(|| of(*scalar));
            match role {
                Role::Input => Some(Host::Input(ty)),
                Role::Output => Some(Host::Output(ty)),
                // A topology that should have been mapped is not asked for.
                Role::Topology | Role::Scratch | Role::InOut => None,
            }
        }
        FieldKind::List {
            item,
            output: true,
            set,
            ..
        } => {
            let item = (**item).clone();
            Some(match set {
                true => Host::Tuples(item),
                false => Host::Output(item),
            })
        }
        FieldKind::Reduction {
            scalar,
            output: true,
            ..
        } => Some(Host::Result(of(*scalar))),
        FieldKind::Scalar(scalar, Given::Run) => Some(Host::Scalar(of(*scalar))),
        FieldKind::Scalar(_, Given::Session | Given::Slice) => None,
        FieldKind::Csr { .. }
        | FieldKind::List { .. }
        | FieldKind::Index { .. }
        | FieldKind::Reduction { .. }
        | FieldKind::Frontier { .. }
        | FieldKind::Broken => None,
    }
}

/// Whether items or elements are of a type that is known only where it is declared.
fn has_structs(kind: &FieldKind) -> bool {
    let item = match kind {
        FieldKind::Column { item, .. } | FieldKind::Frontier { item, .. } => item.as_deref(),
        FieldKind::List { item, .. } => Some(&**item),
        FieldKind::Csr { .. }
        | FieldKind::Index { .. }
        | FieldKind::Reduction { .. }
        | FieldKind::Scalar(..)
        | FieldKind::Broken => None,
    };
    let is_struct = |t: &TokenTree| match t {
        TokenTree::Ident(i) => scalar_of(&parse_quote!(#i)).is_none(),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    };
    item.is_some_and(|t| any_token(t.to_token_stream(), &is_struct))
}

fn renamed_per(per: &Per, names: &HashMap<String, Ident>) -> Per {
    match per {
        Per::Node => Per::Node,
        Per::Edge(g) => Per::Edge(renamed(g, names)),
        Per::Len(e) => Per::Len(e.clone()),
        Per::NodeBits(e) => Per::NodeBits(e.clone()),
        Per::Bounds(g, drops) => Per::Bounds(renamed(g, names), *drops),
        Per::Rows(per) => Per::Rows(Box::new(renamed_per(per, names))),
    }
}

fn renamed_kind(kind: &FieldKind, names: &HashMap<String, Ident>) -> FieldKind {
    let per = |p: &Option<Per>| p.as_ref().map(|p| renamed_per(p, names));
    match kind {
        FieldKind::Csr { reverse_of } => FieldKind::Csr {
            reverse_of: reverse_of.as_ref().map(|g| renamed(g, names)),
        },
        FieldKind::Column {
            role,
            scalar,
            item,
            per: p,
            init,
        } => FieldKind::Column {
            role: *role,
            scalar: *scalar,
            item: item.clone(),
            per: per(p),
            init: init.clone(),
        },
        FieldKind::Frontier {
            capacity,
            unique,
            list,
            item,
        } => FieldKind::Frontier {
            capacity: per(capacity),
            unique: *unique,
            list: *list,
            item: item.clone(),
        },
        FieldKind::List {
            capacity,
            item,
            output,
            set,
            input,
            indexes,
        } => FieldKind::List {
            capacity: renamed_per(capacity, names),
            item: item.clone(),
            output: *output,
            set: *set,
            input: *input,
            indexes: indexes.clone(),
        },
        FieldKind::Index { relation, columns } => FieldKind::Index {
            relation: renamed(relation, names),
            columns: columns.clone(),
        },
        FieldKind::Reduction {
            op,
            count,
            scalar,
            output,
        } => FieldKind::Reduction {
            op: *op,
            count: *count,
            scalar: *scalar,
            output: *output,
        },
        FieldKind::Scalar(s, given) => FieldKind::Scalar(*s, *given),
        FieldKind::Broken => FieldKind::Broken,
    }
}
