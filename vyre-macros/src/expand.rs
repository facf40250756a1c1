//! Last stage: the user's module again, stripped of helper attributes, with the pass behind it. It cannot fail: after
//! an error the same names are defined with nothing behind them, so that only the error itself is shown.
//!
//! Expanded code names only paths below `::vyre`. Constants and sites are arrays beside the user's functions, spanned
//! at the user's tokens: rustc checks a constant's type and spelling there, and a site is where rustc says the token
//! is.

use crate::arrays::{added, added_inside, array_names, arrays, constant_value};
use crate::editor;
use crate::kernel::ParamKind;
use crate::kernel::param::{item_of, type_word};
use crate::kernel::types::scalar_type;
use crate::report::{Report, listed, warned};
use crate::tables::{Home, ModuleTables, NamedConstant, Tables, entry};
use crate::tokens::{first_token, generated, source_text};
use crate::turns::watched;
use crate::wave_graph::build::{Built, Missed};
use crate::wave_graph::check::{Fields, Param, Slot, Sweep};
use crate::wave_graph::graph::{
    Field, FieldKind, FixpointArgs, GENERATED, Given, Graph, Host, Included, MaxRounds, Piece,
    Same, What, condition_name, max_rounds_name, visible_to_graphs,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::AttrStyle;
use syn::ext::IdentExt;
use vyre_core::compile::room::Conditional;
use vyre_core::plan::budget::Backend;
use vyre_core::vir0::module::{Extent, FixpointId, Program, ReduceOp, Role};
use vyre_core::vir0::results::unsettled;
use vyre_core::vir0::scalar::Scalar;

mod glue;

/// What the stages before have made.
pub(crate) struct Expansion<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) fields: &'a Fields<'a>,
    pub(crate) program: &'a Program,
    pub(crate) tables: &'a Tables,
    pub(crate) sweeps: &'a [Option<Sweep>],
    /// `None` after an error.
    pub(crate) skeleton: Option<&'a [u8]>,
    /// Targets on which the budget cannot be met.
    pub(crate) missed: &'a [Missed],
    /// Rooms of frontiers that depend on what only rustc knows.
    pub(crate) rooms: &'a [Conditional],
    /// Conditions are functions that rustc checks: there are no errors but those that it reports.
    pub(crate) conditions: bool,
    /// `#[kernel]`: the function and its arrays stand outside the generated module.
    pub(crate) standalone: bool,
}

impl Built<'_> {
    /// With the graph that it was built of.
    pub(crate) fn expansion<'a>(&'a self, graph: &'a Graph) -> Expansion<'a> {
        Expansion {
            graph,
            fields: &self.fields,
            program: &self.program,
            tables: &self.tables,
            sweeps: &self.sweeps,
            skeleton: self.skeleton.as_deref(),
            missed: &self.missed,
            rooms: &self.rooms,
            conditions: false,
            standalone: false,
        }
    }
}

/// Columns that one tuple holds; more are nested.
const TUPLE: usize = 12;

/// The graph's module.
pub(crate) fn module(x: &Expansion<'_>, report: Report) -> TokenStream {
    let x = &Expansion {
        conditions: report.is_left_to_rustc(),
        ..*x
    };
    let (pass, glue) = x.pass(&report);
    let names = x.names();
    let (records, shared) = (x.records(), x.shared());
    let (errors, budget) = (report.errors(), x.budget());
    let generated = beside_clashes(
        &x.graph.clashes,
        quote! { #names #records #shared #pass #glue },
    );
    let module = x.scope(0, &report, &quote! { #errors #budget #generated });
    report.mended(module, &x.private())
}

/// What is generated, out of the way of names that the user took: after that error there are no others for it.
fn beside_clashes(clashes: &[String], generated: TokenStream) -> TokenStream {
    if clashes.is_empty() {
        return generated;
    }
    let others = GENERATED
        .iter()
        .filter(|g| !clashes.iter().any(|c| c == *g));
    let others = others.map(|name| Ident::new(name, Span::call_site()));
    quote! {
        #[doc(hidden)]
        #[allow(unused)]
        mod __vyre_generated {
            use super::*;
            #generated
        }
        #[allow(unused_imports)]
        pub use __vyre_generated::{#(#others),*};
    }
}

impl Expansion<'_> {
    /// A module with everything in it, and `extra` at its end.
    fn scope(&self, s: usize, report: &Report, extra: &TokenStream) -> TokenStream {
        let scope = &self.graph.scopes[s];
        let outer = scope
            .attrs
            .iter()
            .filter(|a| matches!(a.style, AttrStyle::Outer));
        let inner = scope
            .attrs
            .iter()
            .filter(|a| matches!(a.style, AttrStyle::Inner(_)));
        let name = &scope.name;
        let (mut vis, mut hidden) = (scope.vis.clone(), None);
        if scope.depth > 0 && matches!(vis, syn::Visibility::Inherited) {
            vis = self.graph.options.visible(name.span());
            hidden = self.graph.options.undocumented();
        }
        let import = (!scope.imports_parent).then(|| {
            quote! { use super::*; }
        });
        let tables = self.skeleton.and_then(|_| self.tables.modules().get(s));
        let added = added(self.tables_inside(s), &self.private());
        let pieces = scope.pieces.iter().map(|piece| match piece {
            Piece::Item(tokens) => watched(added_inside(tokens, &added), &self.private()),
            // Its functions stay where they are.
            Piece::Wave(w) if self.graph.waves[*w].origin.is_some() => TokenStream::new(),
            Piece::Scope(inner) if self.graph.scopes[*inner].origin.is_some() => TokenStream::new(),
            Piece::Wave(w) => {
                let function = &self.graph.waves[*w].function;
                let quiet = quiet_on_error(self.skeleton.is_some());
                let inline = inlined(function);
                let many = many_arguments(function.sig.inputs.len());
                let emitted = quote! { #quiet #inline #many #function };
                report.seen(function, watched(emitted, &self.private()))
            }
            Piece::Scope(inner) => self.scope(*inner, report, &TokenStream::new()),
        });
        // What is included stands beside each other, whichever fixpoint contains it.
        let scopes = self.graph.scopes.iter().enumerate();
        let included = scopes.filter(|(_, inner)| s == 0 && inner.origin.is_some());
        let included = included.map(|(inner, _)| self.included(inner));
        let waves = self.graph.waves.iter().filter(|w| {
            let of_included = self.graph.scopes[w.scope].origin.is_some();
            s == 0 && w.origin.is_none() && of_included
        });
        let written_out = waves.map(|w| &w.function);
        let tables = tables.map(|t| arrays(t, &self.private()));
        let conditions = scope.pieces.iter().filter_map(|piece| match piece {
            Piece::Scope(inner) => {
                let (condition, max_rounds) = (self.condition(*inner), self.max_rounds(*inner));
                Some(quote! { #condition #max_rounds })
            }
            Piece::Item(_) | Piece::Wave(_) => None,
        });
        let editor = self.skeleton.is_none().then(|| {
            let asked = self.askable_parameters();
            editor::arguments((&self.graph.written, s), &asked, &self.private())
        });
        // After an error, nothing uses what it would.
        let quiet = quiet_on_error(s > 0 || self.skeleton.is_some());
        quote! {
            #quiet
            #hidden
            #(#outer)*
            #vis mod #name {
                #(#inner)*
                #import
                #editor
                #(#pieces)*
                #(#included)*
                #(#written_out)*
                #tables
                #(#conditions)*
                #extra
            }
        }
    }

    /// The tables of a module, and of those in it with the number of modules between; none after an error.
    fn tables_inside(&self, s: usize) -> Vec<(usize, &ModuleTables)> {
        let all = self.skeleton.map_or(&[][..], |_| self.tables.modules());
        let scopes = &self.graph.scopes;
        let between = |from: usize| {
            let mut around = std::iter::successors(Some(from), |&t| scopes[t].parent);
            around.position(|t| t == s)
        };
        let inside = all.iter().enumerate();
        inside
            .filter_map(|(t, tables)| Some((between(t)?, tables)))
            .collect()
    }

    /// What an included fixpoint needs: its entries of the arrays.
    fn included(&self, s: usize) -> TokenStream {
        let name = included_name(s);
        let tables = self
            .skeleton
            .and_then(|_| self.tables.modules().get(s))
            .map(|t| arrays(t, &self.private()));
        quote! {
            #[doc(hidden)]
            pub mod #name {
                use super::*;
                #tables
            }
        }
    }

    /// A warning where some targets cannot meet the budget, and an error where those are all. `vyre` knows which targets
    /// it is compiled for.
    fn budget(&self) -> TokenStream {
        if self.skeleton.is_none() || self.missed.is_empty() {
            return TokenStream::new();
        }
        let span = self.graph.options.budget_span;
        let said = |missed: &[&Missed]| {
            let (name, needed) = (&self.program.name, listed(missed));
            format!(
                "a session of the largest graph does not fit the budget of `{name}` on every target: {needed}"
            )
        };
        let all: Vec<&Missed> = self.missed.iter().collect();
        let with_cuda = warned(span, "budget", &said(&all));
        let of_host = |m: &&&Missed| m.backend.is_host();
        let host: Vec<&Missed> = all.iter().filter(of_host).copied().collect();
        let targets_of_host = Backend::ALL.iter().filter(|b| b.is_host()).count();
        let without = match host.len() {
            0 => TokenStream::new(),
            missed if missed < targets_of_host => warned(span, "budget", &said(&host)),
            _ => {
                let message = format!("{}; no other target is compiled in", said(&host));
                quote_spanned! { span => ::core::compile_error! { #message } }
            }
        };
        let krate = &self.graph.options.krate;
        quote! { #krate::__where_cuda! { { #with_cuda } { #without } } }
    }

    pub(crate) fn private(&self) -> TokenStream {
        let krate = &self.graph.options.krate;
        quote! { #krate::__private }
    }

    /// The condition of a fixpoint as a function beside its module, where the user's names resolve. What it asks for
    /// are its parameters: so it is the same function for a graph that includes this one, where fields have other
    /// numbers.
    fn condition(&self, s: usize) -> Option<TokenStream> {
        if self.skeleton.is_none() && !self.conditions {
            return None;
        }
        let args = self.graph.scopes[s].fixpoint.as_ref()?;
        let until = args.until.as_ref().filter(|_| args.included.is_none())?;
        let name = condition_name(s);
        let vis = visible_to_graphs(Span::call_site());
        let asked = self.asked(s, args);
        let many = many_arguments(asked.len());
        let parameters = asked.into_iter();
        let parameters = parameters.map(|(ident, ty, _)| quote! { #ident: #ty });
        Some(quote! {
            #[doc(hidden)]
            #many
            #vis fn #name(#(#parameters),*) -> ::core::primitive::bool {
                #until
            }
        })
    }

    /// The round limit of a fixpoint that names a constant, beside its module: rustc checks type and value at the
    /// user's token.
    fn max_rounds(&self, s: usize) -> Option<TokenStream> {
        let args = self.graph.scopes[s].fixpoint.as_ref()?;
        let (Some(MaxRounds::Constant(value)), None) = (&args.max_rounds, &args.included) else {
            return None;
        };
        self.skeleton?;
        let (name, vis) = (max_rounds_name(s), visible_to_graphs(Span::call_site()));
        let span = first_token(&value.to_token_stream());
        let checked = quote_spanned! { span => {
            const __VYRE_VALUE: ::core::primitive::u32 = #value;
            ::core::assert!(__VYRE_VALUE > 0, "`max_rounds` is at least 1");
            __VYRE_VALUE as ::core::primitive::u64
        } };
        Some(quote! {
            #[doc(hidden)]
            #vis const #name: ::core::primitive::u64 = #checked;
        })
    }

    /// What a condition asks for: the name, its type, and how it is got at.
    fn asked(&self, s: usize, args: &FixpointArgs) -> Vec<(Ident, TokenStream, TokenStream)> {
        let rounds = self.graph.rounds(s);
        let asked = |(mut ident, field): (Ident, Option<Ident>)| {
            let field = field.and_then(|field| self.fields.iter().find(|(f, _)| f.name == field));
            let (ty, value) = match field {
                Some((field, slot)) => {
                    // An editor goes to where the field is declared.
                    let declared = field.name.span().resolved_at(ident.span());
                    ident.set_span(declared);
                    self.askable(slot)?
                }
                None => {
                    let (_, of) = rounds.iter().find(|(name, _)| ident == name)?;
                    let value = match of {
                        None => quote! { cx.round() },
                        Some(FixpointId(id)) => quote! { cx.outer_round(#id) },
                    };
                    (scalar_type(Scalar::U32), value)
                }
            };
            Some((ident, ty, value))
        };
        args.asked().into_iter().filter_map(asked).collect()
    }

    /// What a condition has in place of a field: its type, and how it is got at.
    fn askable(&self, slot: Slot) -> Option<(TokenStream, TokenStream)> {
        let private = self.private();
        let view = quote! { #private::FrontierView };
        Some(match slot {
            Slot::Queue(q) => {
                let (of, id) = (format_ident!("{}", q.word()), q.number());
                (view, quote! { cx.#of(#id) })
            }
            Slot::Relation(l, _) => {
                let id = l.0;
                (
                    quote! { #private::RelationView },
                    quote! { cx.relation(#id) },
                )
            }
            Slot::Reduction(r) => {
                let (id, ty) = (r.0, scalar_type(self.program.reductions[r.index()].scalar));
                (ty.clone(), quote! { cx.reduction::<#ty>(#id) })
            }
            Slot::Scalar(s) => {
                let (id, ty) = (s.0, scalar_type(self.program.scalars[s.index()].scalar));
                (ty.clone(), quote! { cx.scalar::<#ty>(#id) })
            }
            Slot::Csr(_)
            | Slot::Buffer(_)
            | Slot::Rows(..)
            | Slot::Arrays(..)
            | Slot::RowsOf { .. }
            | Slot::Broken => return None,
        })
    }

    /// Parameters for all that a condition can ask for.
    pub(crate) fn askable_parameters(&self) -> TokenStream {
        let of_fields = self.fields.iter().filter_map(|(field, slot)| {
            let (name, (ty, _)) = (&field.name, self.askable(slot)?);
            Some(quote! { #name: #ty })
        });
        let ty = scalar_type(Scalar::U32);
        quote! { #(#of_fields,)* round: #ty }
    }

    /// The path of a module from the graph's module: empty for the graph's own.
    fn path(&self, s: usize) -> TokenStream {
        let scope = &self.graph.scopes[s];
        if scope.origin.is_some() {
            let name = included_name(s);
            return quote! { #name:: };
        }
        match scope.parent {
            None => TokenStream::new(),
            Some(parent) => {
                let (before, name) = (self.path(parent), &scope.name);
                quote! { #before #name:: }
            }
        }
    }

    /// What has to be equal where a field stands for one of an included graph: see [`Same`].
    fn shared(&self) -> TokenStream {
        let included = self
            .graph
            .included
            .iter()
            .filter(|_| self.skeleton.is_some());
        let all = included.flat_map(|graph| graph.same.iter().map(move |same| (graph, same)));
        all.flat_map(|(graph, same)| self.equal(graph, same))
            .collect()
    }

    /// The comparison of two constants; of each part of them where they are tuples.
    fn equal(&self, graph: &Included, same: &Same) -> Vec<TokenStream> {
        let Same {
            ours,
            theirs,
            values: [here, there],
            scalar,
            what,
        } = same;
        let shown = |e: &Option<syn::Expr>| match e {
            Some(e) => format!("`{}`", source_text(e)),
            None => "zero".to_owned(),
        };
        let (a, b, name) = (shown(here), shown(there), graph.name.unraw());
        let differs = match what {
            What::Length => format!("it has {a} elements here, and {b} there"),
            What::Part => {
                format!("its length is computed with {a} here, and with {b} there")
            }
            What::Width => format!("its rows have {a} bits here, and {b} there"),
            What::Init => format!("it starts as {a} here, and as {b} there"),
        };
        let message = format!("`{ours}` cannot be `{theirs}` of `{name}`: {differs}, which differ");
        let (path, tables) = &graph.modules[0];
        let parts = match (what, here, there) {
            (What::Init, _, Some(e)) => tables.parts(e),
            (What::Init, Some(e), None) => self.tables.modules()[0].parts(e),
            _ => vec![(TokenStream::new(), *scalar)],
        };
        let compare = parts.into_iter().map(|(part, scalar)| {
            let of = |e: &Option<syn::Expr>| {
                let value = match e {
                    Some(e) if part.is_empty() => e.to_token_stream(),
                    Some(e) => quote! { (#e) #part },
                    None => return None,
                };
                let home = Home::default();
                Some(NamedConstant { value, home, scalar, imported: false })
            };
            let zero = || quote! { 0 };
            let here = of(here).map_or_else(zero, |c| constant_value(&c));
            // Names mean something else there: its constants are entries of an array.
            let there = of(there).map_or_else(zero, |c| match tables.constant_index(&c.home, &c.value, scalar) {
                Some(i) => entry(path, "__VYRE_CONSTANTS", i),
                None => constant_value(&c),
            });
            quote_spanned! { ours.span() => const _: () = ::core::assert!(#here == #there, #message); }
        });
        compare.collect()
    }

    /// How structs that are items are taken apart.
    fn records(&self) -> TokenStream {
        let private = self.private();
        let records = self.fields.records.iter();
        let records = records.map(|s| s.implementation(&private));
        let lacking = self.fields.lacking.iter().flat_map(|(name, traits)| {
            traits
                .iter()
                .map(move |of| pretended(name, of, TokenStream::new()))
        });
        records.chain(lacking).chain(self.indexes()).collect()
    }

    /// The methods that walk the indexes of this graph's own relations: a trait for each, since the columns are those of
    /// the user's type.
    fn indexes(&self) -> Option<TokenStream> {
        let private = self.private();
        let own = self.fields.indexes().iter();
        let own = own.filter(|of| of.relation.origin.is_none());
        let mut seen: Vec<(String, String)> = Vec::new();
        let mut all = TokenStream::new();
        for of in own {
            let (item, method) = (of.item, of.columns.method());
            // `(u32, u32,)` is `(u32, u32)`.
            let written = item.to_token_stream().to_string().replace(' ', "");
            let which = (written.replace(",)", ")"), method.clone());
            if seen.contains(&which) {
                continue;
            }
            let name = format_ident!("__VyreWith{}", seen.len());
            seen.push(which);
            let method = Ident::new(&method, Span::call_site());
            let values = (0..of.scalars.len()).map(|i| format_ident!("x{i}"));
            let values: Vec<Ident> = values.collect();
            let types = of.scalars.iter().map(|(scalar, _)| scalar_type(*scalar));
            let types: Vec<TokenStream> = types.collect();
            let before = of.scalars.iter().map(|(_, before)| before);
            let before: Vec<&u32> = before.collect();
            let mask = of.index.mask;
            all.extend(quote! {
                #[doc(hidden)]
                #[allow(dead_code)]
                trait #name<'t> {
                    fn #method(&self, #(#values: #types),*) -> #private::With<'t, #item>;
                }
                impl<'t> #name<'t> for #private::Insert<'t, #item> {
                    #[inline]
                    fn #method(&self, #(#values: #types),*) -> #private::With<'t, #item> {
                        self.with(#mask, 0 #(| #private::column_bits(#values, #before))*)
                    }
                }
                impl<'t> #name<'t> for #private::Lookup<'t, #item> {
                    #[inline]
                    fn #method(&self, #(#values: #types),*) -> #private::With<'t, #item> {
                        self.with(#mask, 0 #(| #private::column_bits(#values, #before))*)
                    }
                }
            });
        }
        (!all.is_empty()).then_some(all)
    }

    /// `Topology`, `Run`, `Output`, `Session` and `PLAN`.
    fn names(&self) -> TokenStream {
        let krate = &self.graph.options.krate;
        let private = self.private();
        // An editor that is asked where they come from goes to the name of the user's module.
        let here = |name| Ident::new(name, generated(self.graph.name.span()));
        let (run_type, output_type) = (here("Run"), here("Output"));
        let (session, sessions, plan) = (here("Session"), here("Sessions"), here("PLAN"));
        let name = self.graph.name.to_string();
        let topology = self.topology_type();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut borrows = false;
        for (field, slot) in self.fields.iter() {
            let (ident, docs) = (field.in_run(), &field.docs);
            let docs = if docs.is_empty() {
                let doc = format!("`{ident}` of `Data`.");
                quote! { #[doc = #doc] }
            } else {
                quote! { #(#docs)* }
            };
            match slot {
                Slot::Scalar(s) => {
                    let ty = scalar_type(self.program.scalars[s.index()].scalar);
                    if self.fields.given(s).is_none_or(|given| given == Given::Run) {
                        inputs.push(quote! { #docs pub #ident: #ty });
                    }
                }
                Slot::Buffer(b) => {
                    let buffer = &self.program.buffers[b.index()];
                    let ty = scalar_type(buffer.scalar);
                    match buffer.role {
                        Role::Input => {
                            borrows = true;
                            inputs.push(quote! { #docs pub #ident: &'a [#ty] });
                        }
                        Role::Output if matches!(buffer.extent, Extent::NodeBits(_)) => {
                            outputs.push(quote! { #docs pub #ident: #private::Bits });
                        }
                        Role::Output => {
                            outputs.push(quote! { #docs pub #ident: ::std::vec::Vec<#ty> });
                        }
                        Role::Topology | Role::Scratch | Role::InOut => {}
                    }
                }
                Slot::Rows(b, _) | Slot::Arrays(b, _) => {
                    let Some(item) = field.item() else { continue };
                    match self.program.buffers[b.index()].role {
                        Role::Input => {
                            borrows = true;
                            inputs.push(quote! { #docs pub #ident: &'a [#item] });
                        }
                        Role::Output => {
                            outputs.push(quote! { #docs pub #ident: ::std::vec::Vec<#item> });
                        }
                        Role::Topology | Role::Scratch | Role::InOut => {}
                    }
                }
                Slot::Reduction(r) => {
                    let reduction = &self.program.reductions[r.index()];
                    let ty = scalar_type(reduction.scalar);
                    if reduction.output {
                        outputs.push(quote! { #docs pub #ident: #ty });
                    }
                }
                Slot::Relation(l, _) => {
                    let output = self.program.lists[l.index()].output;
                    if let (true, FieldKind::List { item, .. }) = (output, &field.kind) {
                        let private = self.private();
                        outputs.push(quote! { #docs pub #ident: #private::Tuples<#item> });
                    }
                }
                Slot::Queue(q) => {
                    let output = self.program.queue(q).is_some_and(|q| q.output);
                    if let (true, FieldKind::List { item, .. }) = (output, &field.kind) {
                        outputs.push(quote! { #docs pub #ident: ::std::vec::Vec<#item> });
                    }
                }
                Slot::Broken => match &field.host {
                    Some(Host::Scalar(ty)) => inputs.push(quote! { #docs pub #ident: #ty }),
                    Some(Host::Input(ty)) => {
                        borrows = true;
                        inputs.push(quote! { #docs pub #ident: &'a [#ty] });
                    }
                    Some(Host::Result(ty)) => outputs.push(quote! { #docs pub #ident: #ty }),
                    Some(Host::Tuples(ty)) => {
                        let private = self.private();
                        outputs.push(quote! { #docs pub #ident: #private::Tuples<#ty> });
                    }
                    Some(Host::Output(ty)) => {
                        outputs.push(quote! { #docs pub #ident: ::std::vec::Vec<#ty> });
                    }
                    Some(Host::Topology(_)) | None => {}
                },
                Slot::Csr(_) | Slot::RowsOf { .. } => {}
            }
        }
        let lifetime = borrows.then(|| quote! { <'a> });
        let ((run_derive, run_impls), (output_derive, output_impls)) = (
            self.traits(&run_type, &lifetime),
            self.traits(&output_type, &None),
        );
        let session_doc =
            format!("A session of `{name}`: the topology resident, buffers allocated once.");
        let sessions_doc =
            format!("Many topologies of `{name}`, all resident, whose queries share launches.");
        let run_doc = format!("What one run of `{name}` is given.");
        let output_doc = format!("What one run of `{name}` gives back.");
        let mut plan_doc = format!("The static plan of `{name}`, readable.");
        let mut session_doc = session_doc;
        // Where an editor shows it: a warning would end builds that allow none.
        if let (Some(_), Some(open)) = (self.skeleton, unsettled(self.program)) {
            for doc in [&mut session_doc, &mut plan_doc] {
                *doc += &format!("\n\nOpen result: {}.", open.cost());
            }
        }
        quote! {
            #topology

            #[doc = #run_doc]
            #run_derive
            pub struct #run_type #lifetime { #(#inputs,)* }
            #run_impls

            #[doc = #output_doc]
            #output_derive
            pub struct #output_type {
                #(#outputs,)*
                /// What happened: rounds and times.
                pub report: #private::Report,
            }
            #output_impls

            #[doc = #session_doc]
            pub type #session = #krate::Session<Pass>;

            #[doc = #sessions_doc]
            pub type #sessions = #krate::Sessions<Pass>;

            #[doc = #plan_doc]
            pub const #plan: #krate::Plan = #krate::Plan::new(<Pass as #private::Pass>::PARTS);
        }
    }

    /// What `Run`, `Output` and `Topology` implement. After an error a field can have a type that is no scalar, and
    /// lack traits.
    fn traits(&self, name: &Ident, lifetime: &Option<TokenStream>) -> (TokenStream, TokenStream) {
        let result = name == "Output";
        if self.skeleton.is_some() {
            let traits = if result {
                quote! { #[derive(Clone, Debug, Default, PartialEq)] }
            } else {
                quote! { #[derive(Clone, Copy, Debug)] }
            };
            return (traits, TokenStream::new());
        }
        let not_copied = |(field, slot): (&Field, Slot)| {
            let given = (slot == Slot::Broken)
                .then_some(field.host.as_ref())
                .flatten();
            matches!(given, Some(Host::Scalar(ty)) if !type_word(ty).is_some_and(|w| w.starts_with(char::is_lowercase)))
        };
        let copied = name == "Topology" || name == "Run" && !self.fields.iter().any(not_copied);
        let mut traits = vec!["Clone", "Debug"];
        traits.extend(copied.then_some("Copy"));
        traits.extend(
            result
                .then_some(["Default", "PartialEq"])
                .into_iter()
                .flatten(),
        );
        let impls = traits
            .into_iter()
            .map(|of| pretended(name, of, lifetime.to_token_stream()));
        (TokenStream::new(), impls.collect())
    }

    fn run_borrows(&self) -> bool {
        let mut buffers = self.program.buffers.iter();
        let mut broken = self.fields.iter().filter(|(_, s)| *s == Slot::Broken);
        buffers.any(|b| matches!(b.role, Role::Input | Role::InOut))
            || broken.any(|(f, _)| matches!(f.host, Some(Host::Input(_))))
    }

    /// Whether `Topology` has a lifetime: it lends something, or has nothing in it.
    fn topology_borrows(&self) -> bool {
        let is_scalar =
            |(f, _): (&Field, Slot)| matches!(f.kind, FieldKind::Scalar(_, Given::Session));
        let is_lent = |(field, slot): (&Field, Slot)| match (slot, &field.kind) {
            (Slot::Csr(_), FieldKind::Csr { reverse_of }) => reverse_of.is_none(),
            (
                Slot::Buffer(_) | Slot::Rows(..) | Slot::Arrays(..) | Slot::RowsOf { .. },
                FieldKind::Column { role, .. },
            ) => *role == Role::Topology,
            (Slot::Broken, _) => matches!(field.host, Some(Host::Topology(_))),
            _ => false,
        };
        self.fields.iter().any(is_lent) || !self.fields.iter().any(is_scalar)
    }

    /// The lifetime of `Topology`, where it has one.
    pub(crate) fn topology_lifetime(&self) -> Option<TokenStream> {
        self.topology_borrows().then(|| quote! { <'a> })
    }

    pub(crate) fn topology_type(&self) -> TokenStream {
        let (krate, private) = (&self.graph.options.krate, self.private());
        let doc = format!("What a session of `{}` is created from.", self.graph.name);
        let topology = Ident::new("Topology", generated(self.graph.name.span()));
        let mut members = Vec::new();
        let mut only_csr = None;
        for (field, slot) in self.fields.iter() {
            let ident = &field.name;
            let docs = &field.docs;
            let docs = if docs.is_empty() {
                let doc = format!("`{ident}` of `Data`.");
                quote! { #[doc = #doc] }
            } else {
                quote! { #(#docs)* }
            };
            if let (Slot::Scalar(s), FieldKind::Scalar(_, Given::Session)) = (slot, &field.kind) {
                let ty = scalar_type(self.program.scalars[s.index()].scalar);
                members.push(quote! { #docs pub #ident: #ty });
                continue;
            }
            match (slot, &field.kind) {
                (Slot::Csr(_), FieldKind::Csr { reverse_of: None }) => {
                    only_csr = Some(ident);
                    members.push(quote! { #docs pub #ident: &'a #krate::Csr });
                }
                (Slot::RowsOf { values, .. }, _) => {
                    let ty = scalar_type(self.program.buffers[values.index()].scalar);
                    members.push(quote! { #docs pub #ident: &'a #krate::Rows<#ty> });
                }
                (
                    Slot::Buffer(b),
                    FieldKind::Column {
                        role: Role::Topology,
                        ..
                    },
                ) => {
                    let ty = scalar_type(self.program.buffers[b.index()].scalar);
                    members.push(match field.is_parts() {
                        true => quote! { #docs pub #ident: &'a #krate::Parts },
                        false => quote! { #docs pub #ident: &'a [#ty] },
                    });
                }
                (
                    Slot::Rows(..) | Slot::Arrays(..),
                    FieldKind::Column {
                        role: Role::Topology,
                        item,
                        ..
                    },
                ) => members.push(quote! { #docs pub #ident: &'a [#item] }),
                (Slot::Broken, _) => match &field.host {
                    Some(Host::Topology(ty)) if type_word(ty).as_deref() == Some("Csr") => {
                        only_csr = Some(ident);
                        members.push(quote! { #docs pub #ident: &'a #krate::Csr });
                    }
                    Some(Host::Topology(ty)) if type_word(ty).as_deref() == Some("Parts") => {
                        members.push(quote! { #docs pub #ident: &'a #krate::Parts });
                    }
                    Some(Host::Topology(ty)) if let Some(value) = item_of(ty, "Rows") => {
                        members.push(quote! { #docs pub #ident: &'a #krate::Rows<#value> });
                    }
                    Some(Host::Topology(ty)) => {
                        members.push(quote! { #docs pub #ident: &'a [#ty] });
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        let lifetime = self.topology_lifetime();
        let (members, from) = match (members.len(), only_csr) {
            (0, _) => (
                quote! { marker: ::core::marker::PhantomData<&'a ()> },
                quote! {
                    impl<'a> #private::IntoTopology<Topology<'a>> for () {
                        fn into_topology(self) -> Topology<'a> {
                            Topology { marker: ::core::marker::PhantomData }
                        }
                    }
                },
            ),
            (1, Some(graph)) => (
                quote! { #(#members,)* },
                quote! {
                    impl<'a> #private::IntoTopology<Topology<'a>> for &'a #krate::Csr {
                        fn into_topology(self) -> Topology<'a> {
                            Topology { #graph: self }
                        }
                    }
                },
            ),
            _ => (quote! { #(#members,)* }, TokenStream::new()),
        };
        let (derive, impls) = self.traits(&topology, &lifetime);
        quote! {
            #[doc = #doc]
            #derive
            pub struct #topology #lifetime { #members }
            #impls
            #from
        }
    }
}

/// An implementation of a trait that is not there, after an error that says so: others are not for it.
fn pretended(name: &Ident, of: &str, lifetime: TokenStream) -> TokenStream {
    let (path, function) = match of {
        "Clone" => (
            quote! { ::core::clone::Clone },
            quote! { fn clone(&self) -> Self { ::core::unreachable!() } },
        ),
        "Copy" => (quote! { ::core::marker::Copy }, TokenStream::new()),
        "Default" => (
            quote! { ::core::default::Default },
            quote! { fn default() -> Self { ::core::unreachable!() } },
        ),
        "PartialEq" => (
            quote! { ::core::cmp::PartialEq },
            quote! { fn eq(&self, _: &Self) -> ::core::primitive::bool { ::core::unreachable!() } },
        ),
        _ => (
            quote! { ::core::fmt::Debug },
            quote! {
                fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::unreachable!()
                }
            },
        ),
    };
    quote! { impl #lifetime #path for #name #lifetime { #function } }
}

/// A function with an error gets no warnings on top of it.
pub(crate) fn quiet_on_error(compiled: bool) -> TokenStream {
    if compiled {
        TokenStream::new()
    } else {
        quote! { #[allow(unused)] }
    }
}

/// A parameter is how a kernel names what it uses: there can be many. With few, there is nothing that a `forbid` could
/// refuse.
pub(crate) fn many_arguments(count: usize) -> Option<TokenStream> {
    (count > 7).then(|| quote! { #[allow(clippy::too_many_arguments)] })
}

/// A lane is too short for a call.
pub(crate) fn inlined(function: &syn::ItemFn) -> Option<TokenStream> {
    let says = function.attrs.iter().any(|a| a.path().is_ident("inline"));
    (!says).then(|| quote! { #[inline] })
}

fn included_name(s: usize) -> Ident {
    format_ident!("__vyre_included_{}", s)
}
