//! Second stage: names and kinds. Fields get ids, parameters are matched with fields and domain (DESIGN 2.2), and what
//! does not fit is reported at the token that shows it.

use super::domain::DomainArgs;
use super::graph::{Columns, Field, FieldKind, Given, Graph, Host, Included, Per, Scope, Wave};
use crate::args::{ident_of, int_digits, int_literal};
use crate::kernel::ParamKind;
use crate::kernel::param::{Written, reduce_type, row_length, same_item, written, written_item};
use crate::kernel::param::{scalar_of, type_word};
use crate::kernel::{self, Helpers};
use crate::names::{self, Names};
use crate::report::{Report, did_you_mean, listed};
use crate::tables::Tables;
use crate::tokens::{any_token, ident, show, source_text};
use crate::wave_graph::syntax::{array_init, array_length};
use proc_macro2::{Span, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Ident, Item, Pat, Type};
use vyre_core::vir0::length::MAX_TERMS;
use vyre_core::vir0::module::{
    Buffer, BufferId, Domain, Extent, FixpointId, FrontierId, ListId, PartsId, Portion, Program,
    Queue, QueueId, Reduction, ReductionId, Role, ScalarId, ScalarParam, Topology, TopologyId,
    Width,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::table::{Index, Table};

mod length;
mod sweep;

pub(crate) use length::{Length, length_op, operands, row_factor, without_brackets};

/// What a field became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Csr(TopologyId),
    Buffer(BufferId),
    /// Rows of differing lengths: where they begin, their values, and how many these are.
    RowsOf {
        offsets: BufferId,
        values: BufferId,
        count: ScalarId,
    },
    /// Elements that are structs: the first of the buffers of their scalars, and how many these are.
    Rows(BufferId, u16),
    /// Elements that are arrays: the buffer of all their values, and how many each has.
    Arrays(BufferId, u32),
    Queue(QueueId),
    /// The list of a relation's tuples, and its table.
    Relation(ListId, BufferId),
    Reduction(ReductionId),
    Scalar(ScalarId),
    /// Already reported.
    Broken,
}

/// `Data`, resolved.
pub(crate) struct Fields<'g> {
    fields: &'g [Field],
    scopes: &'g [Scope],
    /// Graphs whose fields are among them.
    included: &'g [Included],
    slots: Vec<Slot>,
    /// Length of each buffer.
    lengths: Vec<Length>,
    counts: Vec<bool>,
    /// Structs that are items or elements, innermost first.
    pub(crate) records: Vec<kernel::RecordStruct>,
    /// Types that cannot be items or elements, which has been said.
    refused: Vec<String>,
    /// Traits that structs among them lack, which has been said.
    pub(crate) lacking: Vec<(Ident, Vec<&'static str>)>,
    /// Indexes of relations.
    indexes: Vec<Indexed<'g>>,
}

/// An index of a relation.
pub(crate) struct Indexed<'g> {
    /// The field of the relation.
    pub(crate) relation: &'g Field,
    /// The type of its tuples.
    pub(crate) item: &'g Type,
    pub(crate) columns: &'g Columns,
    pub(crate) index: Index,
    /// The scalar of each column, and the bits before it in a tuple.
    pub(crate) scalars: Vec<(Scalar, u32)>,
}

/// A wave whose parameters are understood.
pub(crate) struct Sweep {
    /// The function that says which edges are swept, and how many parameters are the wave's own: those behind them are
    /// that function's.
    pub(crate) filter: Option<(Ident, usize)>,
    pub(crate) domain: Domain,
    /// In the order of the signature.
    pub(crate) params: Vec<Param>,
}

/// One parameter.
#[derive(Clone)]
pub(crate) struct Param {
    /// `None` for `_`.
    pub(crate) name: Option<Ident>,
    pub(crate) kind: ParamKind,
    /// Where its type is written.
    pub(crate) at: Span,
}

impl Slot {
    /// Whether it is one scalar of a field of structs.
    fn is_part_of(self, field: &Field) -> bool {
        let structs = matches!(&field.kind, FieldKind::Column { item: Some(_), .. });
        structs && matches!(self, Slot::Buffer(_))
    }

    /// The buffers of a field, if it has some.
    pub(crate) fn buffers(self) -> impl Iterator<Item = BufferId> {
        let (first, count) = match self {
            Slot::Buffer(b) | Slot::Arrays(b, _) => (b.0, 1),
            Slot::Rows(b, n) => (b.0, n),
            Slot::RowsOf { offsets, .. } => (offsets.0, 2),
            Slot::Relation(_, table) => (table.0, 1),
            _ => (0, 0),
        };
        (first..first.saturating_add(count)).map(BufferId)
    }

    /// The queue of a field, if it has one.
    pub(crate) fn queue(self) -> Option<QueueId> {
        match self {
            Slot::Queue(q) => Some(q),
            Slot::Relation(list, _) => Some(list.into()),
            _ => None,
        }
    }
}

impl<'g> Fields<'g> {
    /// Declares the fields in the program. The graph's own module is the current one of `tables`.
    pub(crate) fn resolve(
        graph: &'g Graph,
        program: &mut Program,
        (helpers, tables): (&mut Helpers, &mut Tables),
        report: &mut Report,
    ) -> Fields<'g> {
        let mut this = Fields {
            fields: &graph.fields,
            scopes: &graph.scopes,
            included: &graph.included,
            slots: Vec::with_capacity(graph.fields.len()),
            lengths: Vec::new(),
            counts: Vec::new(),
            records: Vec::new(),
            refused: Vec::new(),
            lacking: Vec::new(),
            indexes: Vec::new(),
        };
        helpers.enter(graph.scopes.first().map_or(&[], |s| &s.items));
        // Ids first: a size can name a field declared after it.
        let (mut csrs, mut buffers, mut frontiers, mut reductions, mut scalars) =
            (0u16, 0u16, 0u16, 0u16, 0u16);
        let mut lists = 0u16;
        let mut records: Vec<Vec<kernel::Part>> = Vec::new();
        // What is wrong with the fields of an included graph is said there.
        let mut unseen = Report::default();
        let said_there = |field: &Field| field.origin.is_some_and(|g| !graph.included[g].whole);
        let next = |n: &mut u16| {
            let id = *n;
            *n = n.saturating_add(1);
            id
        };
        for field in this.fields {
            let report = if said_there(field) {
                &mut unseen
            } else {
                &mut *report
            };
            let slot = match field.kind {
                FieldKind::Csr { .. } => Slot::Csr(TopologyId(next(&mut csrs))),
                FieldKind::Column {
                    per: Some(Per::Rows(_)),
                    ..
                } => Slot::RowsOf {
                    offsets: BufferId(next(&mut buffers)),
                    values: BufferId(next(&mut buffers)),
                    count: ScalarId(next(&mut scalars)),
                },
                FieldKind::Column { item: None, .. } => Slot::Buffer(BufferId(next(&mut buffers))),
                FieldKind::Column {
                    item: Some(ref item),
                    ref init,
                    ..
                } if let Type::Array(_) = **item => {
                    match values_each(item, init.as_deref(), helpers, report) {
                        None => Slot::Broken,
                        Some(len) => Slot::Arrays(BufferId(next(&mut buffers)), len),
                    }
                }
                FieldKind::Column {
                    item: Some(ref item),
                    ..
                } => match this.record(item, helpers, report) {
                    None => Slot::Broken,
                    Some(parts) => {
                        let (first, count) = (BufferId(buffers), parts.len() as u16);
                        buffers = buffers.saturating_add(count);
                        records.push(parts);
                        Slot::Rows(first, count)
                    }
                },
                FieldKind::Frontier { .. } => Slot::Queue(FrontierId(next(&mut frontiers)).into()),
                FieldKind::List { set: true, .. } => {
                    Slot::Relation(ListId(next(&mut lists)), BufferId(next(&mut buffers)))
                }
                FieldKind::List { .. } => Slot::Queue(ListId(next(&mut lists)).into()),
                FieldKind::Index { .. } => Slot::Buffer(BufferId(next(&mut buffers))),
                FieldKind::Reduction { .. } => Slot::Reduction(ReductionId(next(&mut reductions))),
                FieldKind::Scalar(..) => Slot::Scalar(ScalarId(next(&mut scalars))),
                FieldKind::Broken => Slot::Broken,
            };
            this.slots.push(slot);
        }
        let mut records = records.into_iter();
        for (at, field) in this.fields.iter().enumerate() {
            if this.slots[at] == Slot::Broken {
                continue;
            }
            let report = if said_there(field) {
                &mut unseen
            } else {
                &mut *report
            };
            if let Some(included) = field.origin {
                let (path, of) = &graph.included[included].modules[0];
                tables.enter(path, of);
            }
            let name = field.known_as();
            match &field.kind {
                FieldKind::Csr { reverse_of } => {
                    let reverse_of = reverse_of.as_ref().and_then(|of| {
                        this.reverse_of(of, &field.name, program.topologies.len(), report)
                    });
                    program.topologies.push(Topology { name, reverse_of });
                }
                FieldKind::Column {
                    role,
                    scalar,
                    item,
                    per,
                    init,
                } => {
                    let rows = field.rows();
                    let size = rows.or(per.as_ref());
                    let size =
                        size.and_then(|per| this.size("per", per, field.origin, tables, report));
                    let (length, extent) = size.unwrap_or(length::BROKEN);
                    if matches!(role, Role::Topology) {
                        let what = match &length {
                            Length::NodeBits(_) => "width",
                            _ => "length",
                        };
                        if length.is_of_run(|s| this.given(s) == Some(Given::Session)) {
                            report.error_help(
                                field.name.span(),
                                format!("topology buffer `{name}` has the {what} of a run's scalar"),
                                "a topology is uploaded once per session: make it an `#[input(per = ..)]`, or the scalar a `#[topology]`",
                            );
                        }
                    }
                    if let (Some(_), Slot::RowsOf { count, .. }) = (rows, this.slots[at]) {
                        let extent = length::and_one((&length, extent), tables);
                        let buffer = |suffix, scalar, extent| Buffer {
                            name: format!("{name}{suffix}"),
                            scalar,
                            extent,
                            role: Role::Topology,
                            init: None,
                            reset: None,
                        };
                        this.lengths.extend([length, Length::Scalar(count)]);
                        program.buffers.extend([
                            buffer(Buffer::OFFSETS, Scalar::U32, extent),
                            buffer(Buffer::VALUES, *scalar, Extent::Scalar(count)),
                        ]);
                        program.scalars.push(ScalarParam {
                            name: format!("row({name})"),
                            scalar: Scalar::U32,
                        });
                        tables.leave();
                        continue;
                    }
                    let (length, extent) = match this.slots[at] {
                        Slot::Arrays(_, n) => length::times((&length, extent), n, tables),
                        _ => (length, extent),
                    };
                    let is_long = match extent {
                        Extent::Computed(id) => {
                            tables.lengths()[id.index()].terms.len() > MAX_TERMS
                        }
                        _ => false,
                    };
                    if is_long {
                        report.error_help(
                            field.name.span(),
                            format!("the length of `{name}` is computed from too many values"),
                            "let the host compute a part of it, and give it as a u32 scalar of `Data`",
                        );
                    }
                    let parts = match (item, this.slots[at]) {
                        (Some(_), Slot::Rows(..)) => records.next().unwrap_or_default(),
                        _ => vec![kernel::Part {
                            path: Vec::new(),
                            scalar: *scalar,
                        }],
                    };
                    // Of values that differ, a wave stores them.
                    let init = init.as_ref().filter(|e| !is_array_of(item.as_deref(), e));
                    for kernel::Part { path, scalar } in parts {
                        let init = init.map(|e| {
                            let value = match &path[..] {
                                [] => e.to_token_stream(),
                                path => quote! { (#e) #(.#path)* },
                            };
                            tables.constant(value, scalar)
                        });
                        this.lengths.push(length.clone());
                        program.buffers.push(Buffer {
                            name: path.iter().fold(name.clone(), |name, member| {
                                format!("{name}.{}", member.to_token_stream()).replace(".r#", ".")
                            }),
                            scalar,
                            extent,
                            role: *role,
                            init,
                            reset: None,
                        });
                    }
                }
                FieldKind::List {
                    capacity,
                    item,
                    output,
                    set,
                    input: _,
                    indexes: _,
                } => {
                    let size = this.size("capacity", capacity, field.origin, tables, report);
                    let (length, capacity) = size.unwrap_or(length::BROKEN);
                    let fields = this.scalars(at, item, helpers, report);
                    let bits = Table::key_bits(&fields);
                    if *set && bits > Table::KEY_BITS {
                        report.error_help(
                            item.span(),
                            format!(
                                "a tuple of relation `{name}` has {bits} bits, and at most {} fit",
                                Table::KEY_BITS
                            ),
                            "take smaller types, or numbers of what is longer: a bool or u8 has 8 bits, u32, i32 and f32 have 32",
                        );
                    }
                    if *set {
                        let (length, extent) = length::cells((&length, capacity), tables);
                        let empty =
                            tables.constant(quote! { ::core::primitive::u64::MAX }, Scalar::U64);
                        this.lengths.push(length);
                        program.buffers.push(Buffer {
                            name: format!("{name}{}", Buffer::TABLE),
                            scalar: Scalar::U64,
                            extent,
                            role: Role::Scratch,
                            init: Some(empty),
                            reset: None,
                        });
                    }
                    program.lists.push(Queue {
                        name,
                        fields,
                        capacity,
                        unique: false,
                        stays: true,
                        owner: None,
                        output: *output,
                        reset: None,
                    });
                }
                FieldKind::Index { relation, columns } => {
                    let (length, extent) = this
                        .index((relation, columns, at), helpers, tables, report)
                        .unwrap_or(length::BROKEN);
                    let empty =
                        tables.constant(quote! { ::core::primitive::u64::MAX }, Scalar::U64);
                    this.lengths.push(length);
                    program.buffers.push(Buffer {
                        name,
                        scalar: Scalar::U64,
                        extent,
                        role: Role::Scratch,
                        init: Some(empty),
                        reset: None,
                    });
                }
                FieldKind::Frontier {
                    capacity,
                    unique,
                    list,
                    item,
                } => {
                    let fields = match item {
                        Some(item) => this.scalars(at, item, helpers, report),
                        None => Vec::new(),
                    };
                    let capacity = match capacity {
                        Some(per) => {
                            let size = this.size("capacity", per, field.origin, tables, report);
                            size.map_or(Extent::NodesPlusEdges, |(_, extent)| extent)
                        }
                        None if *unique => Extent::Nodes,
                        None => Extent::NodesPlusEdges,
                    };
                    program.frontiers.push(Queue {
                        fields,
                        name,
                        capacity,
                        unique: *unique,
                        stays: *list,
                        owner: None,
                        output: false,
                        reset: None,
                    });
                    if csrs == 0 && item.is_none() {
                        this.needs_topology(&field.name, describe(&field.kind), report);
                    }
                }
                FieldKind::Reduction {
                    op,
                    count,
                    scalar,
                    output,
                } => {
                    this.counts.push(*count);
                    program.reductions.push(Reduction {
                        name,
                        op: *op,
                        scalar: *scalar,
                        owner: None,
                        output: *output,
                    });
                }
                FieldKind::Scalar(scalar, _) => program.scalars.push(ScalarParam {
                    name,
                    scalar: *scalar,
                }),
                FieldKind::Broken => {}
            }
            tables.leave();
        }
        helpers.leave();
        this.underived(graph, report);
        this
    }

    /// Who gives a scalar.
    pub(crate) fn given(&self, id: ScalarId) -> Option<Given> {
        let mut all = self.fields.iter().zip(&self.slots);
        all.find_map(|(field, slot)| match (*slot, &field.kind) {
            (Slot::Scalar(s), FieldKind::Scalar(_, given)) if s == id => Some(*given),
            (Slot::RowsOf { count, .. }, _) if count == id => Some(Given::Session),
            _ => None,
        })
    }

    /// Reports structs that do not derive what they have to be: rustc would say so at each use, and at the macro.
    fn underived(&mut self, graph: &Graph, report: &mut Report) {
        const ALL: [&str; 4] = ["Clone", "Copy", "Debug", "PartialEq"];
        let items = graph.scopes.first().map_or(&[][..], |s| &s.items);
        for record in &self.records {
            let declared = items.iter().find_map(|item| match item {
                Item::Struct(s) if s.ident == record.name => Some(s),
                _ => None,
            });
            let Some(declared) = declared else { continue };
            // What derives it can be anything.
            let is_open = |a: &syn::Attribute| {
                !a.path().is_ident("derive")
                    && !a.path().is_ident("doc")
                    && !a.path().is_ident("repr")
                    && !a.path().is_ident("allow")
            };
            let written_out = |what: &str| {
                items.iter().any(|item| match item {
                    Item::Impl(i) => {
                        let of = i.trait_.as_ref().and_then(|(of, _)| of.segments.last());
                        of.is_some_and(|of| of.ident == what)
                            && type_word(&i.self_ty).is_some_and(|w| w == record.name)
                    }
                    _ => false,
                })
            };
            if declared.attrs.iter().any(is_open) {
                continue;
            }
            let lacks = |what: &&&str| !kernel::derives(declared, what) && !written_out(what);
            let lacking: Vec<&str> = ALL.iter().filter(lacks).copied().collect();
            // What is not seen outside need not be shown and compared.
            let name = &declared.ident;
            if lacking.contains(&"Copy")
                || lacking.contains(&"Clone")
                || self.is_seen(name) && !lacking.is_empty()
            {
                report.error_help(
                    name.span(),
                    format!(
                        "`{name}` is an item or element of `Data`, and lacks {}",
                        listed(lacking.iter().map(|t| format!("`{t}`")))
                    ),
                    "write `#[derive(Clone, Copy, Debug, PartialEq)]` before it",
                );
                self.lacking.push((name.clone(), lacking));
            }
        }
    }

    /// Whether a host gives or gets elements of this type.
    fn is_seen(&self, name: &Ident) -> bool {
        let of = |ty: &Type| {
            any_token(
                ty.to_token_stream(),
                &|t| matches!(t, TokenTree::Ident(i) if i == name),
            )
        };
        self.fields.iter().any(|f| match &f.host {
            Some(
                Host::Topology(ty)
                | Host::Input(ty)
                | Host::Output(ty)
                | Host::Tuples(ty)
                | Host::Scalar(ty)
                | Host::Result(ty),
            ) => of(ty),
            None => false,
        })
    }

    /// The scalars of the items of a field; the structs in it are noted.
    fn scalars(
        &mut self,
        field: usize,
        ty: &Type,
        helpers: &Helpers,
        report: &mut Report,
    ) -> Vec<Scalar> {
        let parts = self.record(ty, helpers, report).unwrap_or_else(|| {
            self.slots[field] = Slot::Broken;
            Vec::new()
        });
        parts.into_iter().map(|part| part.scalar).collect()
    }

    fn record(
        &mut self,
        ty: &Type,
        helpers: &Helpers,
        report: &mut Report,
    ) -> Option<Vec<kernel::Part>> {
        // One mistake, in however many fields.
        let shown = show(ty);
        if self.refused.contains(&shown) {
            return None;
        }
        let Some(record) = kernel::record(ty, helpers, report) else {
            report.refused(ty.to_token_stream());
            self.refused.push(shown);
            return None;
        };
        for s in record.structs {
            if !self.records.contains(&s) {
                self.records.push(s);
            }
        }
        Some(record.fields)
    }

    /// Cells of the index of a relation, which is the field `at`.
    fn index(
        &mut self,
        (relation, columns, at): (&Ident, &'g Columns, usize),
        helpers: &Helpers,
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<(Length, Extent)> {
        let (relation, slot) = self.get(relation)?;
        let FieldKind::List { capacity, item, .. } = &relation.kind else {
            return None;
        };
        // What is wrong with these is said of the relation.
        let mut said = Report::default();
        let parts = kernel::record(item, helpers, &mut said)?.fields;
        let size = self.size("capacity", capacity, relation.origin, tables, &mut said);
        if slot == Slot::Broken {
            return None;
        }
        let mut positions = Vec::new();
        for name in &columns.names {
            let of = |part: &kernel::Part| part.path.first() == Some(name);
            let mut found = (0..).zip(&parts).filter(|(_, part)| of(part));
            let (first, second) = (found.next(), found.next());
            let (message, help) = match (first, second) {
                (Some((position, _)), None) if !positions.contains(&position) => {
                    positions.push(position);
                    continue;
                }
                (Some(_), None) => (
                    "this column is named twice".to_owned(),
                    "leave it out".to_owned(),
                ),
                (Some(_), Some(_)) => (
                    format!(
                        "`{}` of `{}` is no scalar",
                        name.to_token_stream(),
                        show(item)
                    ),
                    "a column is a field of its own: let the struct have the scalars themselves"
                        .to_owned(),
                ),
                (None, _) => {
                    let mut all: Vec<String> = Vec::new();
                    for part in &parts {
                        let name = part.path.first().map(|m| m.to_token_stream().to_string());
                        all.extend(name.filter(|name| !all.contains(name)));
                    }
                    let wanted = name.to_token_stream().to_string();
                    let help = match did_you_mean(&wanted, all.iter().map(String::as_str)) {
                        _ if all.is_empty() => format!(
                            "a tuple of it is one scalar: ask `contains`, as `{}: &Lookup<{}>`",
                            relation.name,
                            show(item)
                        ),
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            let all = all.iter().map(|name| format!("`{name}`"));
                            format!("its columns are {}", listed(all))
                        }
                    };
                    let message = format!("`{}` has no column `{wanted}`", show(item));
                    (message, help)
                }
            };
            report.error_help(name.span(), message, help);
            self.slots[at] = Slot::Broken;
            return None;
        }
        let scalars: Vec<Scalar> = parts.iter().map(|part| part.scalar).collect();
        if positions.len() == parts.len() {
            report.error_help(
                columns.span,
                format!("this index of `{}` has all of its columns", relation.name),
                format!(
                    "whether it has a tuple says `contains`, as `{}: &Lookup<{}>`; an index finds tuples by some of their columns",
                    relation.name,
                    show(item)
                ),
            );
            self.slots[at] = Slot::Broken;
            return None;
        }
        let Slot::Buffer(cells) = self.slots[at] else {
            return None;
        };
        let before = |position: usize| Table::key_bits(&scalars[..position]) as u32;
        self.indexes.push(Indexed {
            relation,
            item,
            columns,
            index: Index {
                cells,
                mask: Index::mask(&scalars, &positions),
            },
            scalars: positions
                .iter()
                .map(|p| (scalars[*p], before(*p)))
                .collect(),
        });
        let (length, capacity) = size?;
        Some(length::index_cells((&length, capacity), tables))
    }

    /// The indexes of this graph's own relations and of those that are included.
    pub(crate) fn indexes(&self) -> &[Indexed<'g>] {
        &self.indexes
    }

    fn needs_topology(&self, at: &Ident, what: &str, report: &mut Report) {
        if self.slots.contains(&Slot::Broken) {
            return;
        }
        report.error_help(
            at.span(),
            format!("{what} needs a node set, and `Data` has no topology"),
            "declare one: `#[topology] graph: Csr`",
        );
    }

    fn reverse_of(
        &self,
        of: &Ident,
        this: &Ident,
        index: usize,
        report: &mut Report,
    ) -> Option<TopologyId> {
        match self.find(of, report)? {
            (_, Slot::Csr(id)) if id.index() == index => {
                report.error(of.span(), format!("`{this}` cannot be its own reverse"));
                None
            }
            (field, Slot::Csr(id)) => {
                if matches!(
                    field.kind,
                    FieldKind::Csr {
                        reverse_of: Some(_)
                    }
                ) {
                    report.error_help(
                        of.span(),
                        format!("`{of}` is itself a reverse"),
                        "name the topology that the caller gives",
                    );
                    return None;
                }
                Some(id)
            }
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(of, field, "a topology", report);
                None
            }
        }
    }

    /// The field of this name; a stranger is reported.
    pub(crate) fn find(&self, name: &Ident, report: &mut Report) -> Option<(&'g Field, Slot)> {
        let found = self.get(name);
        if found.is_none() {
            self.unknown(name, report);
        }
        found
    }

    fn get(&self, name: &Ident) -> Option<(&'g Field, Slot)> {
        let at = self.fields.iter().position(|f| f.name == *name)?;
        Some((&self.fields[at], self.slots[at]))
    }

    fn unknown(&self, name: &Ident, report: &mut Report) {
        let message = format!("`{name}` is not a field of `Data`");
        let fields = self.fields.iter().filter(|f| !f.is_hidden());
        let names: Vec<String> = fields.map(|f| f.name.to_string()).collect();
        match did_you_mean(&name.to_string(), names.iter().map(String::as_str)) {
            Some(near) => {
                report.error_help(name.span(), message, format!("did you mean `{near}`?"))
            }
            None if names.is_empty() => report.error(name.span(), message),
            None => report.error_help(
                name.span(),
                message,
                format!(
                    "its fields are {}",
                    listed(names.iter().map(|n| format!("`{n}`")))
                ),
            ),
        }
    }

    fn wrong_kind(&self, at: &Ident, field: &Field, wanted: &str, report: &mut Report) {
        report.error(
            at.span(),
            format!("`{at}` is {}, not {wanted}", describe(&field.kind)),
        );
    }

    /// What the field of this name became.
    pub(crate) fn slot(&self, name: &Ident) -> Option<Slot> {
        self.get(name).map(|(_, slot)| slot)
    }

    /// What `Data` of this graph says that items or elements are.
    pub(crate) fn item_type(&self, of: Slot) -> Option<&'g Type> {
        let is = |slot: Slot| match of.queue() {
            Some(queue) => slot.queue() == Some(queue),
            None => slot == of,
        };
        let (field, _) = self.iter().find(|(_, slot)| is(*slot))?;
        match &field.kind {
            _ if field.origin.is_some() => None,
            FieldKind::List { item, .. } => Some(item),
            FieldKind::Column { item, .. } | FieldKind::Frontier { item, .. } => item.as_deref(),
            _ => None,
        }
    }

    /// All fields with what they became.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'g Field, Slot)> {
        self.fields.iter().zip(self.slots.iter().copied())
    }

    /// Each field with the type of a parameter that takes it in any wave.
    pub(crate) fn parameters(&self, program: &Program) -> Vec<(String, String)> {
        let ty = |field: &Field, slot: Slot| {
            Some(match slot {
                Slot::Csr(_) => "&Csr".to_owned(),
                Slot::Buffer(b) => {
                    let buffer = &program.buffers[b.index()];
                    let t = buffer.scalar.name();
                    match (buffer.extent, buffer.role) {
                        (Extent::NodeBits(_), _) => "&Bits".to_owned(),
                        (_, Role::Topology | Role::Input) => format!("&Buf<{t}>"),
                        _ => format!("&Buf<Atomic<{t}>>"),
                    }
                }
                Slot::RowsOf { values, .. } => {
                    let values = &program.buffers[values.index()];
                    format!("&Rows<{}>", values.scalar.name())
                }
                Slot::Rows(..) | Slot::Arrays(..) => match &field.kind {
                    FieldKind::Column { item: Some(t), .. } => format!("&Records<{}>", show(t)),
                    _ => return None,
                },
                Slot::Relation(..) | Slot::Queue(_) => match &field.kind {
                    FieldKind::List {
                        item, set: true, ..
                    } => format!("&Insert<{}>", show(item)),
                    FieldKind::List { item, .. } => format!("&Append<{}>", show(item)),
                    FieldKind::Frontier {
                        item: Some(item), ..
                    } => format!("&Push<{}>", show(item)),
                    _ => "&Push".to_owned(),
                },
                Slot::Reduction(r) => {
                    let (r, count) = (&program.reductions[r.index()], self.counts[r.index()]);
                    format!("&Reduce<{}>", reduce_type(r.op, r.scalar, count))
                }
                Slot::Scalar(s) => program.scalars[s.index()].scalar.name().to_owned(),
                Slot::Broken => return None,
            })
        };
        self.iter()
            .filter(|(f, _)| !f.is_hidden())
            .filter_map(|(f, slot)| Some((f.name.to_string(), ty(f, slot)?)))
            .collect()
    }

    fn topology(&self, name: &Ident, report: &mut Report) -> Option<TopologyId> {
        match self.find(name, report)? {
            (_, Slot::Csr(id)) => Some(id),
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(name, field, "a topology", report);
                None
            }
        }
    }

    fn frontier(&self, name: &Ident, report: &mut Report) -> Option<FrontierId> {
        match self.find(name, report)? {
            (field, Slot::Queue(QueueId::Frontier(id))) => {
                if let FieldKind::Frontier { item: Some(_), .. } = &field.kind {
                    report.error_help(
                        name.span(),
                        format!("the items of `{name}` are not nodes: they have no edges"),
                        "sweep them with `items(..)`, or declare `Frontier` without a type",
                    );
                    return None;
                }
                Some(id)
            }
            (_, Slot::Queue(QueueId::List(_))) => {
                report.error_help(
                    name.span(),
                    format!("`{name}` is a list, and not `unique`: what it holds need not be nodes"),
                    format!(
                        "declare `#[list(unique)] {name}: List<Node>`, which holds each node once; or sweep `items({name})`, and loop over `graph.edges(v)`"
                    ),
                );
                None
            }
            (_, Slot::Relation(..)) => {
                report.error_help(
                    name.span(),
                    format!("`{name}` is a relation: what it has need not be nodes"),
                    format!("sweep `items({name})`, and loop over `graph.edges(v)`"),
                );
                None
            }
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(name, field, "a frontier or a `unique` list", report);
                None
            }
        }
    }

    /// The bounds of the parts of which each runs a fixpoint.
    pub(crate) fn parts(&self, name: &Ident, report: &mut Report) -> Option<BufferId> {
        let (field, slot) = self.find(name, report)?;
        let declare = |graph: &Ident, parts: &str| {
            format!(
                "declare the parts of `{graph}`: `#[topology(parts_of = {graph})] {parts}: Parts`"
            )
        };
        match slot {
            Slot::Buffer(b) if field.is_parts() => return Some(b),
            Slot::Broken => {}
            Slot::Csr(_) => report.error_help(
                name.span(),
                format!("`{name}` is a topology, not the parts of one"),
                format!("{}, and write `per = parts`", declare(name, "parts")),
            ),
            _ => report.error_help(
                name.span(),
                format!(
                    "`{name}` is {}, not the parts of a graph",
                    describe(&field.kind)
                ),
                declare(
                    &Ident::new(&self.some_graph(), name.span()),
                    &name.to_string(),
                ),
            ),
        }
        None
    }

    /// The buffers of a field that a fixpoint may swap.
    fn swapped(&self, name: &Ident, report: &mut Report) -> Option<Vec<BufferId>> {
        match self.find(name, report)? {
            (_, slot @ (Slot::Buffer(_) | Slot::Rows(..) | Slot::Arrays(..))) => {
                Some(slot.buffers().collect())
            }
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(name, field, "a buffer", report);
                None
            }
        }
    }
}

/// How many values arrays of this type have, if `init` has as many.
fn values_each(
    ty: &Type,
    init: Option<&Expr>,
    helpers: &Helpers,
    report: &mut Report,
) -> Option<u32> {
    let n = kernel::array_len(ty, helpers, report)?;
    array_length(n.into(), ty, report)?;
    if let Some(Expr::Array(values)) = init
        && values.elems.len() != n as usize
    {
        array_init(values, &values.elems.len().to_string(), ty, report);
        return None;
    }
    Some(n)
}

/// Whether these are the values of each array of a buffer of this type.
pub(crate) fn is_array_of(item: Option<&Type>, init: &Expr) -> bool {
    matches!((item, init), (Some(Type::Array(_)), Expr::Array(_)))
}

pub(crate) fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Csr { .. } => "a topology",
        FieldKind::Column {
            per: Some(Per::Bounds(..)),
            ..
        } => "the parts of a graph",
        FieldKind::Column {
            per: Some(Per::Rows(_)),
            ..
        } => "rows",
        FieldKind::Column { .. } => "a buffer",
        FieldKind::List { set: true, .. } => "a relation",
        FieldKind::Index { .. } => "an index of a relation",
        FieldKind::Frontier { list: true, .. } | FieldKind::List { .. } => "a list",
        FieldKind::Frontier { .. } => "a frontier",
        FieldKind::Reduction { .. } => "a reduction",
        FieldKind::Scalar(..) => "a scalar",
        FieldKind::Broken => "a field",
    }
}

/// Checks a `swap(a, b)`: two writable buffers of equal type, shape and role. Gives the pairs that trade places.
pub(crate) fn swap(
    (a, b): &(Ident, Ident),
    fields: &Fields<'_>,
    program: &Program,
    report: &mut Report,
) -> Option<Vec<(BufferId, BufferId)>> {
    let (x, y) = (fields.swapped(a, report), fields.swapped(b, report));
    let (x, y) = (x?, y?);
    if x == y {
        report.error(b.span(), format!("`{a}` cannot be swapped with itself"));
        return None;
    }
    let of_known_length = |b: BufferId| fields.lengths[b.index()] != Length::Broken;
    if !x.iter().chain(&y).copied().all(of_known_length) {
        return None;
    }
    let item = |name: &Ident| match fields.get(name).map(|(f, _)| &f.kind) {
        Some(FieldKind::Column { item: Some(t), .. }) => Some(show(t)),
        _ => None,
    };
    let of = |name: &Ident, id: BufferId| {
        item(name).unwrap_or_else(|| program.buffers[id.index()].scalar.name().to_owned())
    };
    let (left, right) = (
        &program.buffers[x[0].index()],
        &program.buffers[y[0].index()],
    );
    for (name, buffer) in [(a, left), (b, right)] {
        if matches!(buffer.role, Role::Topology | Role::Input) {
            report.error_help(
                name.span(),
                format!("`{name}` is read-only: it cannot be swapped"),
                "swap `#[scratch(..)]` or `#[output(..)]` buffers",
            );
            return None;
        }
    }
    let (first, second) = (of(a, x[0]), of(b, y[0]));
    let difference = if first != second {
        Some(format!("`{a}` has {first} elements and `{b}` has {second}"))
    } else if fields.lengths[x[0].index()] != fields.lengths[y[0].index()] {
        Some("their lengths differ".to_owned())
    } else if left.role != right.role {
        Some("one is `#[output]`, the other `#[scratch]`".to_owned())
    } else {
        None
    };
    if let Some(difference) = difference {
        report.error_help(
            b.span(),
            format!("`{a}` and `{b}` cannot be swapped: {difference}"),
            "buffers that trade places have the same type, the same length and the same role",
        );
        return None;
    }
    Some(x.into_iter().zip(y).collect())
}

/// The innermost fixpoint around a scope.
pub(crate) fn fixpoint_of(scope: usize) -> Option<FixpointId> {
    scope.checked_sub(1).map(|f| FixpointId(f as u16))
}
