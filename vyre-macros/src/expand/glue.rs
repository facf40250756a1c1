//! The implementation of `Pass`, and what it hands the runtime: columns, uniforms, and the functions that sweep.

use super::*;
use crate::kernel::param::Indexes;
use vyre_core::vir0::module::{Bound, ConstantId, QueueId, ScalarId, Width};

impl Expansion<'_> {
    /// The hidden `Pass`, and its glue: beside the module of a kernel, where a function's body may be around both.
    pub(crate) fn pass(&self, report: &Report) -> (TokenStream, TokenStream) {
        let private = self.private();
        let lifetime = self.run_borrows().then(|| quote! { <'a> });
        let guards = report.guards();
        let parts = self.parts();
        let (wave, until) = match self.skeleton {
            None => (quote! { #guards }, quote! { true }),
            Some(_) => (self.wave_glue(), self.until_glue()),
        };
        let until = (!self.program.fixpoints.is_empty()).then(|| {
            quote! {
                fn until(cx: &#private::Until<'_>) -> ::core::primitive::bool { #until }
            }
        });
        // What a kernel's module hides is not there for others: nothing is derived for it, and it costs a build less.
        let (shown, topology_type) = if self.standalone {
            (quote! { #[doc(hidden)] }, quote! { () })
        } else {
            let doc = format!("The pass `{}` as a type.", self.graph.name);
            let lifetime = self.topology_lifetime();
            (
                quote! { #[doc = #doc] #[derive(Debug)] },
                quote! { Topology #lifetime },
            )
        };
        // A kernel's results are the caller's slices.
        let output = match self.standalone {
            true => quote! { () },
            false => quote! { Output },
        };
        let (topology, args, rows, exchange) = match self.skeleton {
            Some(_) => (
                self.topology_glue(),
                self.args_glue(),
                self.rows_glue(),
                (!self.standalone).then(|| self.exchange_glue()),
            ),
            None => {
                let nothing = quote! { ::core::unreachable!() };
                (nothing.clone(), nothing, TokenStream::new(), None)
            }
        };
        let quiet = quiet_on_error(self.skeleton.is_some());
        let listed = self.skeleton.map(|_| {
            let items = self.graph.claim.items();
            quote! {
                #items
                #private::inventory::submit! {
                    #private::RegisteredPass::new(
                        &<Pass as #private::Pass>::PARTS,
                        ::core::module_path!(),
                    )
                }
            }
        });
        let pass = quote! {
            #shown
            pub struct Pass;

            #listed
        };
        let glue = quote! {
            #quiet
            impl #private::Pass for Pass {
                type Topology<'a> = #topology_type;
                type Run<'a> = Run #lifetime;
                type Output = #output;
                const PARTS: #private::Parts = #parts;
                const NATIVE: #private::OpenNative = #private::open_native::<Self>;

                fn topology<'a>(topology: &Self::Topology<'a>) -> #private::TopologyArgs<'a> { #topology }
                fn args<'a>(run: &Self::Run<'a>) -> #private::Args<'a> { #args }
                #rows
                #exchange
            }

            #quiet
            impl #private::Functions for Pass {
                fn wave(cx: &#private::Sweep<'_>) { #wave }
                #until
            }
        };
        (pass, glue)
    }

    fn parts(&self) -> TokenStream {
        let private = self.private();
        let (mut constants, mut sites) = (Vec::new(), Vec::new());
        let skeleton = Literal::byte_string(self.skeleton.unwrap_or_default());
        if self.skeleton.is_some() {
            for (s, table) in self.tables.modules().iter().enumerate() {
                let path = self.path(s);
                let (values, places) = if self.standalone {
                    let (values, places) = array_names(&self.graph.name);
                    (values.into_token_stream(), places.into_token_stream())
                } else {
                    (
                        quote! { #path __VYRE_CONSTANTS },
                        quote! { #path __VYRE_SITES },
                    )
                };
                if !table.constants.is_empty() {
                    constants.push(values);
                }
                if !table.sites.is_empty() {
                    sites.push(places);
                }
            }
        }
        let limits = self.graph.scopes.iter().enumerate().skip(1);
        let limits = limits.filter_map(|(s, scope)| {
            let args = scope.fixpoint.as_ref()?;
            let Some(MaxRounds::Constant(_)) = args.max_rounds else {
                return None;
            };
            self.skeleton?;
            let id = (s - 1) as u16;
            let value = match &args.included {
                Some(included) => included.max_rounds.clone(),
                None => {
                    let (path, name) = (self.path(scope.parent.unwrap_or(0)), max_rounds_name(s));
                    quote! { #path #name }
                }
            };
            Some(quote! { (#id, #value) })
        });
        let rooms = self.rooms.iter().filter(|_| self.skeleton.is_some());
        let rooms = rooms.map(|room| {
            let (frontier, times) = (room.frontier.0, room.times);
            let apart = room.apart.iter().map(|pair| {
                let bounds = pair.iter().map(|bound| match *bound {
                    Bound::Literal(bits) => quote! { #private::Bound::Literal(#bits) },
                    Bound::Constant(id) => quote! { #private::Bound::Constant(#id) },
                    Bound::Round(id, add) => quote! { #private::Bound::Round(#id, #add) },
                });
                quote! { [#(#bounds),*] }
            });
            quote! { #private::Room { frontier: #frontier, times: #times, apart: &[#(#apart),*] } }
        });
        quote! {
            #private::Parts {
                skeleton: #skeleton,
                constants: &[#(#constants),*],
                sites: &[#(#sites),*],
                max_rounds: &[#(#limits),*],
                rooms: &[#(#rooms),*],
            }
        }
    }

    fn wave_glue(&self) -> TokenStream {
        let arms = self
            .graph
            .waves
            .iter()
            .zip(self.sweeps)
            .zip(0u16..)
            .filter_map(|((wave, sweep), id)| {
                let sweep = sweep.as_ref()?;
                let (path, name) = (self.path(wave.scope), wave.name());
                let call = match &wave.call {
                    Some(call) => call.clone(),
                    None if self.standalone => quote! { __vyre_kernel },
                    // By a path, which no name of the glue's own can hide.
                    None => quote! { self::#path #name },
                };
                let body = sweep_glue(sweep, self.fields, (name, &call), &self.private());
                Some(quote! { #id => { #body } })
            });
        quote! {
            match cx.wave().0 {
                #(#arms)*
                _ => ::core::unreachable!(),
            }
        }
    }

    fn until_glue(&self) -> TokenStream {
        let scopes = self.graph.scopes.iter().enumerate().skip(1);
        let arms = scopes.filter_map(|(s, scope)| {
            let args = scope.fixpoint.as_ref()?;
            let id = (s - 1) as u16;
            let call = match &args.included {
                Some(included) => included.call.clone(),
                None => {
                    let (path, name) = (self.path(scope.parent.unwrap_or(0)), condition_name(s));
                    quote! { #path #name }
                }
            };
            let values = self.asked(s, args).into_iter().map(|(_, _, value)| value);
            Some(quote! { #id => #call(#(#values),*), })
        });
        quote! {
            match cx.fixpoint().0 {
                #(#arms)*
                _ => ::core::unreachable!(),
            }
        }
    }

    fn topology_glue(&self) -> TokenStream {
        let private = self.private();
        let (mut graphs, mut columns, mut scalars) = (Vec::new(), Vec::new(), Vec::new());
        for (field, slot) in self.fields.iter() {
            let name = &field.name;
            match (slot, &field.kind) {
                (Slot::Csr(_), FieldKind::Csr { reverse_of: None }) => {
                    graphs.push(quote! { topology.#name });
                }
                (
                    Slot::Buffer(b),
                    FieldKind::Column {
                        role: Role::Topology,
                        ..
                    },
                ) => {
                    let value = match field.is_parts() {
                        true => quote! { topology.#name.offsets() },
                        false => quote! { topology.#name },
                    };
                    columns.push(self.slice(b.0, value));
                }
                (
                    Slot::Arrays(b, _),
                    FieldKind::Column {
                        role: Role::Topology,
                        ..
                    },
                ) => columns.push(self.slice(b.0, quote! { topology.#name.as_flattened() })),
                (
                    Slot::RowsOf {
                        offsets,
                        values,
                        count,
                    },
                    _,
                ) => {
                    columns.push(self.slice(offsets.0, quote! { topology.#name.offsets() }));
                    columns.push(self.slice(values.0, quote! { topology.#name.values() }));
                    let id = count.0;
                    scalars.push(quote! {
                        (#private::ScalarId(#id), topology.#name.values().len() as ::core::primitive::u64)
                    });
                }
                (Slot::Scalar(s), FieldKind::Scalar(scalar, Given::Session)) => {
                    let (id, ty) = (s.0, scalar_type(*scalar));
                    let bits = quote! { <#ty as #private::ScalarType>::to_bits64(topology.#name) };
                    scalars.push(quote! { (#private::ScalarId(#id), #bits) });
                }
                _ => {}
            }
        }
        quote! {
            #private::TopologyArgs {
                graphs: ::std::vec![#(#graphs),*],
                columns: ::std::vec![#(#columns),*],
                scalars: ::std::vec![#(#scalars),*],
            }
        }
    }

    fn slice(&self, buffer: u16, value: TokenStream) -> TokenStream {
        let private = self.private();
        let ty = scalar_type(self.program.buffers[usize::from(buffer)].scalar);
        quote! { (#private::BufferId(#buffer), <#ty as #private::Element>::slice(#value)) }
    }

    /// The methods that take rows of structs apart, where a pass has some.
    fn rows_glue(&self) -> TokenStream {
        let private = self.private();
        let of = |role: Role, given: &TokenStream| {
            let (mut rows, mut bytes) = (Vec::new(), Vec::new());
            for (field, slot) in self.fields.iter() {
                let Slot::Rows(first, _) = slot else {
                    continue;
                };
                if self.program.buffers[first.index()].role != role {
                    continue;
                }
                let (name, first) = (field.in_run(), first.0);
                rows.push(
                    quote! { #private::columns_of(#given.#name, #private::BufferId(#first)) },
                );
                bytes.push(quote! { #private::columns_bytes(#given.#name) });
            }
            (!rows.is_empty()).then(|| {
                let rows = quote! {
                    let mut all = ::std::vec::Vec::new();
                    #(all.extend(#rows?);)*
                    ::std::result::Result::Ok(all)
                };
                (rows, quote! { 0 #(+ #bytes)* })
            })
        };
        let topology = of(Role::Topology, &quote! { topology }).map(|(body, _)| {
            quote! {
                fn topology_rows(topology: &Self::Topology<'_>) -> #private::Columns { #body }
            }
        });
        let run = of(Role::Input, &quote! { run }).map(|(body, bytes)| {
            quote! {
                fn rows(run: &Self::Run<'_>) -> #private::Columns { #body }
                fn rows_bytes(run: &Self::Run<'_>) -> ::core::primitive::u64 { #bytes }
            }
        });
        quote! { #topology #run }
    }

    /// The arguments of a kernel's `run` as they are, by their names: those that it reads, and slices that it works on.
    pub(crate) fn lent(&self) -> (TokenStream, TokenStream) {
        let private = self.private();
        let in_outs = self.fields.iter().filter_map(|(field, slot)| {
            let Slot::Buffer(b) = slot else { return None };
            let buffer = &self.program.buffers[b.index()];
            let (name, id, ty) = (&field.name, b.0, scalar_type(buffer.scalar));
            (buffer.role == Role::InOut).then(|| {
                quote! { (#private::BufferId(#id), <#ty as #private::Element>::slice_mut(#name)) }
            })
        });
        let in_outs = quote! { [#(#in_outs),*] };
        let args = self.args(&[Role::Input], |name| quote! { #name });
        (args, in_outs)
    }

    fn args_glue(&self) -> TokenStream {
        self.args(&[Role::Input, Role::InOut], |name| quote! { run.#name })
    }

    /// The arguments of a run: scalars, and slices of these roles. `at`: where a field's value is.
    fn args(&self, roles: &[Role], at: impl Fn(&Ident) -> TokenStream) -> TokenStream {
        let private = self.private();
        let (mut scalars, mut inputs) = (Vec::new(), Vec::new());
        for (field, slot) in self.fields.iter() {
            let value = at(field.in_run());
            match slot {
                Slot::Scalar(s) => {
                    let ty = scalar_type(self.program.scalars[s.index()].scalar);
                    // The session puts in what it was given.
                    scalars.push(match self.fields.given(s) {
                        Some(Given::Session) => quote! { 0 },
                        Some(Given::Slice) => quote! { #value.len() as ::core::primitive::u64 },
                        _ => quote! { <#ty as #private::ScalarType>::to_bits64(#value) },
                    });
                }
                Slot::Buffer(b) => {
                    if roles.contains(&self.program.buffers[b.index()].role) {
                        inputs.push(self.slice(b.0, value));
                    }
                }
                Slot::Arrays(b, _) => {
                    if roles.contains(&self.program.buffers[b.index()].role) {
                        inputs.push(self.slice(b.0, quote! { #value.as_flattened() }));
                    }
                }
                Slot::RowsOf { .. } => scalars.push(quote! { 0 }),
                Slot::Csr(_)
                | Slot::Rows(..)
                | Slot::Queue(_)
                | Slot::Relation(..)
                | Slot::Reduction(_)
                | Slot::Broken => {}
            }
        }
        quote! {
            #private::Args {
                scalars: ::std::vec![#(#scalars),*],
                inputs: ::std::vec![#(#inputs),*],
            }
        }
    }

    fn exchange_glue(&self) -> TokenStream {
        let private = self.private();
        let fields = self.fields.iter().filter_map(|(field, slot)| {
            let name = &field.name;
            match slot {
                Slot::Buffer(b) => {
                    let (id, buffer) = (b.0, &self.program.buffers[b.index()]);
                    let bits = matches!(buffer.extent, Extent::NodeBits(_));
                    (buffer.role == Role::Output).then(|| match bits {
                        true => {
                            quote! { results.exchange_bits(#private::BufferId(#id), &mut out.#name); }
                        }
                        false => {
                            quote! { results.exchange(#private::BufferId(#id), &mut out.#name); }
                        }
                    })
                }
                Slot::Rows(first, _) | Slot::Arrays(first, _) => {
                    let id = first.0;
                    let role = self.program.buffers[first.index()].role;
                    (role == Role::Output).then(|| {
                        quote! { results.exchange_rows(#private::BufferId(#id), &mut out.#name); }
                    })
                }
                Slot::Reduction(r) => {
                    let id = r.0;
                    self.program.reductions[r.index()].output.then(|| quote! { out.#name = results.reduction(#private::ReductionId(#id)); })
                }
                Slot::Relation(l, _) => {
                    let id = l.0;
                    self.program.lists[l.index()].output.then(
                        || quote! { results.exchange_list(#private::ListId(#id), out.#name.rows_mut()); },
                    )
                }
                Slot::Queue(QueueId::List(l)) => {
                    let id = l.0;
                    self.program.lists[l.index()].output.then(
                        || quote! { results.exchange_list(#private::ListId(#id), &mut out.#name); },
                    )
                }
                Slot::Csr(_)
                | Slot::RowsOf { .. }
                | Slot::Queue(QueueId::Frontier(_))
                | Slot::Scalar(_)
                | Slot::Broken => None,
            }
        });
        quote! {
            fn exchange(results: &mut #private::Outcome, out: &mut Output) {
                #(#fields)*
                ::core::mem::swap(&mut results.report, &mut out.report);
            }
        }
    }
}

/// One wave's glue: uniforms and whole buffers first, then a sweep of the columns that calls the user's function.
fn sweep_glue(
    sweep: &Sweep,
    fields: &Fields<'_>,
    (name, call): (&Ident, &TokenStream),
    private: &TokenStream,
) -> TokenStream {
    let (mut lets, mut columns, mut names, mut args) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // What `Data` calls a struct is for rustc to compare with what the wave calls it, at the wave's own word.
    let of = |slot: Slot| fields.item_type(slot).map(|ty| quote! { ::<#ty> });
    let mut swept = None;
    for (i, Param { kind, at, .. }) in sweep.params.iter().enumerate() {
        let here = Span::mixed_site().located_at(*at);
        let p = format_ident!("p{i}", span = here);
        let mut column = |value: TokenStream| {
            columns.push(value);
            names.push(p.to_token_stream());
        };
        args.push(p.to_token_stream());
        match *kind {
            ParamKind::Index => *args.last_mut().expect("just pushed") = quote! { lane.index },
            ParamKind::Record => {
                *args.last_mut().expect("just pushed") = Ident::new("item", here).to_token_stream();
                let of = sweep.domain.queue().map(Slot::Queue);
                swept = of.and_then(|slot| fields.item_type(slot));
            }
            ParamKind::Edge => *args.last_mut().expect("just pushed") = quote! { lane.edge() },
            ParamKind::Cell { width, height } => {
                let [width, height] = [width, height].map(|side| match side {
                    Width::Fixed(n) => quote! { #n },
                    Width::Scalar(ScalarId(id)) => {
                        quote! { cx.scalar::<::core::primitive::u32>(#id) }
                    }
                    Width::Constant(ConstantId(id)) => quote! { cx.constant(#id) },
                });
                lets.push(quote! { let #p = (#width, #height); });
                *args.last_mut().expect("just pushed") = quote! { lane.cell(#p) };
            }
            ParamKind::Round => lets.push(quote! { let #p = cx.round(); }),
            ParamKind::OuterRound(of) => {
                let id = of.0;
                lets.push(quote! { let #p = cx.outer_round(#id); });
            }
            ParamKind::Scalar(s, scalar) => {
                let (id, ty) = (s.0, scalar_type(scalar));
                lets.push(quote! { let #p = cx.scalar::<#ty>(#id); });
            }
            ParamKind::Reduced(r, scalar) => {
                let (id, ty) = (r.0, scalar_type(scalar));
                lets.push(quote! { let #p = cx.reduction::<#ty>(#id); });
            }
            ParamKind::Own {
                buffer,
                scalar,
                mutable,
            } => {
                let (id, ty) = (buffer.0, scalar_type(scalar));
                column(if mutable {
                    quote! { cx.own_mut::<#ty>(#id) }
                } else {
                    quote! { cx.own::<#ty>(#id) }
                });
            }
            ParamKind::OwnRow { buffer, mutable } => {
                let id = buffer.0;
                column(if mutable {
                    quote! { cx.own_row_mut(#id) }
                } else {
                    quote! { cx.own_row(#id) }
                });
            }
            ParamKind::OwnValues {
                offsets,
                values,
                scalar,
                mutable,
            } => {
                let (offsets, values, ty) = (offsets.0, values.0, scalar_type(scalar));
                column(if mutable {
                    quote! { cx.own_values_mut::<#ty>(#offsets, #values) }
                } else {
                    quote! { cx.own_values::<#ty>(#offsets, #values) }
                });
            }
            ParamKind::Buf { buffer, scalar } => {
                let (id, ty) = (buffer.0, scalar_type(scalar));
                lets.push(quote! { let #p = cx.read::<#ty>(#id); let #p = #p.view(); });
            }
            ParamKind::AtomicBuf { buffer, scalar } => {
                let (id, ty) = (buffer.0, scalar_type(scalar));
                lets.push(quote! { let #p = cx.atomic::<#ty>(#id); let #p = #p.view(); });
            }
            ParamKind::Rows {
                offsets,
                values,
                scalar,
            } => {
                let (offsets, values, ty) = (offsets.0, values.0, scalar_type(scalar));
                lets.push(quote! {
                    let #p = cx.rows::<#ty>(#offsets, #values);
                    let #p = #p.view();
                    let #p = &*#p;
                });
            }
            ParamKind::Bits { buffer, .. } => {
                let id = buffer.0;
                lets.push(quote! { let #p = cx.bits(#id); let #p = #p.view(); });
            }
            ParamKind::Csr(t) => {
                let id = t.0;
                lets.push(quote! { let #p = cx.csr(#id); });
            }
            ParamKind::Push(f) => {
                let id = f.0;
                column(quote! { cx.push(#id) });
            }
            ParamKind::PushItems(f) => {
                let id = f.0;
                let of = of(Slot::Queue(f.into()));
                column(quote! { cx.push_items #of (#id) });
            }
            ParamKind::OwnRecord {
                first,
                count,
                mutable,
            } => {
                let ids = first.0..first.0 + count;
                let of = of(Slot::Rows(first, count));
                column(if mutable {
                    quote! { cx.fields_mut #of (&[#(#ids),*]) }
                } else {
                    quote! { cx.fields #of (&[#(#ids),*]) }
                });
            }
            ParamKind::Records { first, count } => {
                let ids = first.0..first.0 + count;
                let of = of(Slot::Rows(first, count));
                // The closure takes the view itself, so that a loop keeps it in registers.
                lets.push(quote! {
                    let #p = cx.fields #of (&[#(#ids),*]);
                    let #p = #p.view();
                });
                *args.last_mut().expect("just pushed") = quote! { &#p };
            }
            ParamKind::Arrays {
                buffer,
                scalar,
                len,
            } => {
                let (id, ty, len) = (buffer.0, scalar_type(scalar), len as usize);
                lets.push(quote! {
                    let #p = cx.fields::<[#ty; #len]>(&[#id]);
                    let #p = #p.view();
                });
                *args.last_mut().expect("just pushed") = quote! { &#p };
            }
            ParamKind::Append(l) => {
                let id = l.0;
                let of = of(Slot::Queue(l.into()));
                column(quote! { cx.append #of (#id) });
            }
            ParamKind::Insert(l, table, indexes) => {
                let (id, table) = (l.0, table.0);
                let of = of(Slot::Queue(l.into()));
                column(quote! { cx.insert #of (#id, #table) });
                *args.last_mut().expect("just pushed") = match walked(&p, indexes, private) {
                    None => quote! { &#p },
                    Some((name, views)) => {
                        lets.push(views);
                        quote! { &#p.walking(&#name) }
                    }
                };
            }
            ParamKind::Lookup(l, table, indexes) => {
                let id = table.0;
                let of = of(Slot::Queue(l.into()));
                lets.push(quote! {
                    let #p = cx.read::<::core::primitive::u64>(#id);
                    let #p = #private::Lookup #of ::over(#p.view());
                });
                *args.last_mut().expect("just pushed") = match walked(&p, indexes, private) {
                    None => quote! { &#p },
                    Some((name, views)) => {
                        lets.push(views);
                        quote! { &#p.walking(&#name) }
                    }
                };
            }
            ParamKind::Filing(index) => {
                let (id, mask) = (index.cells.0, index.mask);
                lets.push(quote! {
                    let #p = cx.atomic::<::core::primitive::u64>(#id);
                    let #p = #private::Filing::over(#p.view(), #mask);
                });
                *args.last_mut().expect("just pushed") = quote! { &#p };
            }
            ParamKind::Reduce {
                id,
                op,
                scalar,
                count,
            } => {
                let (id, marker) = (id.0, reduce_marker(op, scalar, count, private));
                column(quote! { cx.reduce::<#marker>(#id) });
            }
            ParamKind::Queue(_) | ParamKind::Relation(_) => {
                unreachable!("only `until` names these")
            }
        }
    }
    let item = sweep
        .params
        .iter()
        .any(|p| p.kind == ParamKind::Record)
        .then(|| {
            let item = Ident::new("item", Span::mixed_site());
            let ty = swept.map(|ty| quote! { : #ty });
            quote! { #item #ty, }
        });
    let own = sweep.filter.as_ref().map_or(args.len(), |(_, own)| *own);
    let (args, asked) = args.split_at(own);
    let call = quote! { #call(#(#args),*) };
    let call = match &sweep.filter {
        Some((filter, _)) => quote! {
            if self::#filter(#(#asked),*) {
                #call
            }
        },
        None => call,
    };
    let method = Ident::new(sweep.method(), Span::call_site());
    let (columns, names) = (tuple(columns), tuple(names));
    // What profilers show: a symbol with the function's name. The type is out of sight where the function is called.
    let named = quote! {
        {
            #[derive(Clone, Copy)]
            #[allow(non_camel_case_types)]
            struct #name {}
            impl #private::Named for #name {
                #[inline(never)]
                fn lanes<R>(self, chunk: impl ::core::ops::FnOnce() -> R) -> R { chunk() }
            }
            #name {}
        }
    };
    quote! {
        #(#lets)*
        cx.#method(#named, #columns, move |lane, #item #names| #call);
    }
}

/// What a parameter walks: the name that the indexes have, and what gets them.
fn walked(p: &Ident, indexes: Indexes, private: &TokenStream) -> Option<(Ident, TokenStream)> {
    let (mut reads, mut views, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (k, index) in indexes.iter().enumerate() {
        let (id, mask) = (index.cells.0, index.mask);
        let cells = format_ident!("{p}_{k}", span = p.span());
        reads.push(quote! { let #cells = cx.read::<::core::primitive::u64>(#id); });
        views.push(quote! { let #cells = #cells.view(); });
        all.push(quote! { (#mask, #cells) });
    }
    let name = format_ident!("{p}_indexes", span = p.span());
    let lets = quote! {
        #(#reads)*
        #(#views)*
        let #name = #private::Indexes::over([#(#all),*]);
    };
    (!all.is_empty()).then_some((name, lets))
}

/// `(a, b,)`; more than [`TUPLE`] elements nest.
fn tuple(elements: Vec<TokenStream>) -> TokenStream {
    if elements.len() <= TUPLE {
        return quote! { (#(#elements,)*) };
    }
    let rows = elements
        .chunks(TUPLE)
        .map(|row| tuple(row.to_vec()))
        .collect();
    tuple(rows)
}

fn reduce_marker(op: ReduceOp, scalar: Scalar, count: bool, private: &TokenStream) -> TokenStream {
    if count {
        return quote! { #private::Count };
    }
    let ty = scalar_type(scalar);
    let word = match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::ExactSum => "ExactSum",
        ReduceOp::Min => "Min",
        ReduceOp::Max => "Max",
        ReduceOp::Or => "Or",
        ReduceOp::And => "And",
    };
    let word = Ident::new(word, Span::call_site());
    quote! { #private::#word<#ty> }
}
