//! Second stage: names and kinds. Fields get ids, parameters are matched with fields and domain (DESIGN 2.2), and what
//! does not fit is reported at the token that shows it.

use super::graph::{DomainArgs, Field, FieldKind, Graph, Host, Included, Per, Scope, Wave};
use crate::args::{ident_of, int_literal};
use crate::kernel::types::{scalar_of, type_word};
use crate::kernel::{self, Helpers};
use crate::names::{self, Names};
use crate::report::{Report, did_you_mean, listed};
use crate::tables::Tables;
use crate::tokens::{any_token, ident, show, source_text};
use proc_macro2::{Span, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, GenericArgument, Ident, Item, Pat, PathArguments, Type};
use vyre_core::vir0::module::{
    Buffer, BufferId, ConstantId, Domain, Extent, FixpointId, Frontier, FrontierId, List, ListId,
    Program, ReduceOp, Reduction, ReductionId, Role, ScalarId, ScalarParam, Topology, TopologyId,
    Uniform, Width,
};
use vyre_core::vir0::scalar::Scalar;

/// What a field became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Csr(TopologyId),
    Buffer(BufferId),
    /// Elements that are structs: the first of the buffers of their scalars, and how many these are.
    Rows(BufferId, u16),
    Frontier(FrontierId),
    List(ListId),
    Reduction(ReductionId),
    Scalar(ScalarId),
    /// Already reported.
    Broken,
}

/// A size with constants compared by spelling: one constant has one id a module. Those of an included graph are spelled with
/// its name before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Fixed(u64),
    Scalar(ScalarId),
    Constant(String),
    Nodes,
    Edges(TopologyId),
    /// Rows of this many bits, one for each node.
    NodeBits(Box<Length>),
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
}

/// A wave whose parameters are understood.
pub(crate) struct Sweep {
    pub(crate) domain: Domain,
    /// In the order of the signature.
    pub(crate) params: Vec<Param>,
}

/// One parameter.
pub(crate) struct Param {
    /// `None` for `_`.
    pub(crate) name: Option<Ident>,
    pub(crate) kind: ParamKind,
    /// Where its type is written.
    pub(crate) at: Span,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamKind {
    /// `v: Node`, `i: Index`.
    Index,
    /// `e: Edge`.
    Edge,
    Round,
    Uniform(Uniform, Scalar),
    Own {
        buffer: BufferId,
        scalar: Scalar,
        mutable: bool,
    },
    Buf {
        buffer: BufferId,
        scalar: Scalar,
    },
    AtomicBuf {
        buffer: BufferId,
        scalar: Scalar,
    },
    Csr(TopologyId),
    Push(FrontierId),
    PushItems(FrontierId),
    Append(ListId),
    /// `&T`, `&mut T` of a struct.
    OwnRows {
        first: BufferId,
        count: u16,
        mutable: bool,
    },
    /// `&Records<T>`
    Records {
        first: BufferId,
        count: u16,
    },
    Bits {
        buffer: BufferId,
        width: Width,
    },
    /// The item of such a frontier or of a list.
    Record,
    Reduce {
        id: ReductionId,
        op: ReduceOp,
        scalar: Scalar,
        count: bool,
    },
}

/// A parameter's type as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Node,
    Index,
    Round,
    Edge,
    Value(Scalar),
    Ref(Scalar),
    RefMut(Scalar),
    Buf(Scalar),
    AtomicBuf(Scalar),
    Csr,
    Push,
    /// `&Push<T>`
    PushItems,
    Bits,
    Append,
    /// `&Records<T>`
    Records,
    Reduce(ReduceOp, Scalar, bool),
    Other,
}

impl Slot {
    /// The buffers of a field, if it has some.
    pub(crate) fn buffers(self) -> impl Iterator<Item = BufferId> {
        let (first, count) = match self {
            Slot::Buffer(b) => (b.0, 1),
            Slot::Rows(b, n) => (b.0, n),
            _ => (0, 0),
        };
        (first..first.saturating_add(count)).map(BufferId)
    }
}

impl Written {
    /// As a value of a scalar type, aliases included.
    fn value(&self) -> Option<Scalar> {
        match self {
            Written::Node | Written::Index | Written::Round => Some(Scalar::U32),
            Written::Value(s) => Some(*s),
            _ => None,
        }
    }
}

/// What a parameter's type says.
pub(crate) fn written(ty: &Type) -> Written {
    match ty {
        Type::Paren(p) => written(&p.elem),
        Type::Path(_) => match type_word(ty).as_deref() {
            Some("Node") => Written::Node,
            Some("Index") => Written::Index,
            Some("Round") => Written::Round,
            Some("Edge") => Written::Edge,
            _ => scalar_of(ty).map_or(Written::Other, Written::Value),
        },
        Type::Reference(r) => {
            let mutable = r.mutability.is_some();
            if let Some(scalar) = scalar_of(&r.elem) {
                return if mutable {
                    Written::RefMut(scalar)
                } else {
                    Written::Ref(scalar)
                };
            }
            if mutable {
                return Written::Other;
            }
            match type_word(&r.elem).as_deref() {
                Some("Csr") => return Written::Csr,
                Some("Push") => return Written::Push,
                Some("Bits") => return Written::Bits,
                _ => {}
            }
            match generic(&r.elem) {
                Some((word, arg)) => match (word.as_str(), scalar_of(arg)) {
                    ("Buf", Some(scalar)) => Written::Buf(scalar),
                    ("Buf", None) => match generic(arg) {
                        Some((inner, arg)) if inner == "Atomic" => {
                            scalar_of(arg).map_or(Written::Other, Written::AtomicBuf)
                        }
                        _ => Written::Other,
                    },
                    ("Append", _) => Written::Append,
                    ("Records", _) => Written::Records,
                    ("Push", _) if type_word(arg).as_deref() == Some("Node") => Written::Push,
                    ("Push", _) => Written::PushItems,
                    ("Reduce", _) => reduce_marker(arg)
                        .map_or(Written::Other, |(op, s, c)| Written::Reduce(op, s, c)),
                    _ => Written::Other,
                },
                None => Written::Other,
            }
        }
        _ => Written::Other,
    }
}

/// The type of the items of `&Push<T>` or `&Append<T>`, as written.
fn written_item(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Paren(p) => written_item(&p.elem),
        Type::Reference(r) => generic(&r.elem).map(|(_, item)| item),
        _ => None,
    }
}

/// Whether two types of items or elements can be one, by their names: where they stand, paths to it differ. The glue gives a wave
/// what `Data` says, so that rustc compares the types themselves.
pub(crate) fn same_item(a: &Type, b: &Type) -> bool {
    fn same(a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Paren(a), b) => same(&a.elem, b),
            (a, Type::Paren(b)) => same(a, &b.elem),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.elems.len() == b.elems.len()
                    && a.elems.iter().zip(&b.elems).all(|(a, b)| same(a, b))
            }
            _ => match (type_word(a), type_word(b)) {
                (Some(x), Some(y)) => {
                    x == y || scalar_of(a).is_some_and(|s| scalar_of(b) == Some(s))
                }
                _ => false,
            },
        }
    }
    // `Node` and `u32` are one type, and two words for what a parameter is.
    let scalar = scalar_of(a).is_some() || scalar_of(b).is_some();
    show(a) == show(b) || !scalar && same(a, b)
}

/// `Word<Arg>`.
fn generic(ty: &Type) -> Option<(String, &Type)> {
    let Type::Path(p) = ty else { return None };
    let last = p.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first() {
        Some(GenericArgument::Type(arg)) if args.args.len() == 1 => {
            Some((last.ident.to_string(), arg))
        }
        _ => None,
    }
}

fn reduce_marker(ty: &Type) -> Option<(ReduceOp, Scalar, bool)> {
    if type_word(ty).as_deref() == Some("Count") {
        return Some((ReduceOp::Sum, Scalar::U64, true));
    }
    let (word, arg) = generic(ty)?;
    let op = match word.as_str() {
        "Sum" => ReduceOp::Sum,
        "Min" => ReduceOp::Min,
        "Max" => ReduceOp::Max,
        "Or" => ReduceOp::Or,
        "And" => ReduceOp::And,
        _ => return None,
    };
    Some((op, scalar_of(arg)?, false))
}

/// The type of a reduction's parameter, as the user writes it.
pub(crate) fn reduce_type(op: ReduceOp, scalar: Scalar, count: bool) -> String {
    if count {
        return "Count".to_owned();
    }
    let word = match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::Min => "Min",
        ReduceOp::Max => "Max",
        ReduceOp::Or => "Or",
        ReduceOp::And => "And",
    };
    format!("{word}<{}>", scalar.name())
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
        };
        helpers.enter(graph.scopes.first().map_or(&[], |s| &s.items));
        // Ids first: a size can name a field declared after it.
        let (mut csrs, mut buffers, mut frontiers, mut reductions, mut scalars) =
            (0u16, 0u16, 0u16, 0u16, 0u16);
        let mut lists = 0u16;
        let mut rows: Vec<Vec<kernel::Part>> = Vec::new();
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
                FieldKind::Column { item: None, .. } => Slot::Buffer(BufferId(next(&mut buffers))),
                FieldKind::Column {
                    item: Some(ref item),
                    ..
                } => match this.record(item, helpers, report) {
                    None => Slot::Broken,
                    Some(parts) => {
                        let (first, count) = (BufferId(buffers), parts.len() as u16);
                        buffers = buffers.saturating_add(count);
                        rows.push(parts);
                        Slot::Rows(first, count)
                    }
                },
                FieldKind::Frontier { .. } => Slot::Frontier(FrontierId(next(&mut frontiers))),
                FieldKind::List { .. } => Slot::List(ListId(next(&mut lists))),
                FieldKind::Reduction { .. } => Slot::Reduction(ReductionId(next(&mut reductions))),
                FieldKind::Scalar(_) => Slot::Scalar(ScalarId(next(&mut scalars))),
                FieldKind::Broken => Slot::Broken,
            };
            this.slots.push(slot);
        }
        let mut rows = rows.into_iter();
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
            let shown = || field.name.unraw().to_string();
            let name = field.shown.clone().unwrap_or_else(shown);
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
                    let length = match per {
                        Some(per) => this.length("per", per, field.origin, report),
                        None => None,
                    };
                    let length = length.unwrap_or(Length::Broken);
                    if matches!(role, Role::Topology) {
                        let (of_run, what) = match &length {
                            Length::NodeBits(w) => (matches!(**w, Length::Scalar(_)), "width"),
                            other => (matches!(other, Length::Scalar(_)), "length"),
                        };
                        if of_run {
                            report.error_help(
                                field.name.span(),
                                format!("topology buffer `{name}` has the {what} of a run's scalar"),
                                format!("a topology is uploaded once per session: make it an `#[input(per = ..)]`, or give it a constant {what}"),
                            );
                        }
                    }
                    let extent = extent(&length, per.as_ref(), tables);
                    let parts = match item {
                        Some(_) => rows.next().unwrap_or_default(),
                        None => vec![kernel::Part {
                            path: Vec::new(),
                            scalar: *scalar,
                        }],
                    };
                    for kernel::Part { path, scalar } in parts {
                        let init = init.as_ref().map(|e| {
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
                        });
                    }
                }
                FieldKind::List {
                    capacity,
                    item,
                    output,
                } => {
                    let length = this.length("capacity", capacity, field.origin, report);
                    let capacity =
                        extent(&length.unwrap_or(Length::Broken), Some(capacity), tables);
                    let fields = this.scalars(at, item, helpers, report);
                    program.lists.push(List {
                        name,
                        fields,
                        capacity,
                        output: *output,
                    });
                }
                FieldKind::Frontier {
                    capacity,
                    unique,
                    item,
                } => {
                    let fields = match item {
                        Some(item) => this.scalars(at, item, helpers, report),
                        None => Vec::new(),
                    };
                    let capacity = match capacity {
                        Some(per) => match this.length("capacity", per, field.origin, report) {
                            Some(length) => extent(&length, Some(per), tables),
                            None => Extent::NodesPlusEdges,
                        },
                        None if *unique => Extent::Nodes,
                        None => Extent::NodesPlusEdges,
                    };
                    program.frontiers.push(Frontier {
                        fields,
                        name,
                        capacity,
                        unique: *unique,
                        owner: None,
                    });
                    if csrs == 0 && item.is_none() {
                        this.needs_topology(&field.name, "a frontier", report);
                    }
                }
                FieldKind::Reduction { op, count, scalar } => {
                    this.counts.push(*count);
                    program.reductions.push(Reduction {
                        name,
                        op: *op,
                        scalar: *scalar,
                        owner: None,
                        output: true,
                    });
                }
                FieldKind::Scalar(scalar) => program.scalars.push(ScalarParam {
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
        let names: Vec<String> = self.fields.iter().map(|f| f.name.to_string()).collect();
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
        let (field, _) = self.iter().find(|(_, slot)| *slot == of)?;
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
                Slot::Rows(..) => match &field.kind {
                    FieldKind::Column { item: Some(t), .. } => format!("&Records<{}>", show(t)),
                    _ => return None,
                },
                Slot::Frontier(_) | Slot::List(_) => match &field.kind {
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
            (field, Slot::Frontier(id)) => {
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
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(name, field, "a frontier", report);
                None
            }
        }
    }

    /// The buffers of a field that a fixpoint may swap.
    fn swapped(&self, name: &Ident, report: &mut Report) -> Option<Vec<BufferId>> {
        match self.find(name, report)? {
            (_, slot @ (Slot::Buffer(_) | Slot::Rows(..))) => Some(slot.buffers().collect()),
            (_, Slot::Broken) => None,
            (field, _) => {
                self.wrong_kind(name, field, "a buffer", report);
                None
            }
        }
    }

    /// A size after `key =`, in the graph or in one that it includes.
    fn length(
        &self,
        key: &str,
        per: &Per,
        origin: Option<usize>,
        report: &mut Report,
    ) -> Option<Length> {
        match per {
            Per::Node => {
                if !self
                    .slots
                    .iter()
                    .any(|s| matches!(s, Slot::Csr(_) | Slot::Broken))
                {
                    report.error_help(
                        Span::call_site(),
                        "`per = node` needs a node set, and `Data` has no topology",
                        "declare one: `#[topology] graph: Csr`",
                    );
                }
                Some(Length::Nodes)
            }
            Per::Edge(graph) => self.topology(graph, report).map(Length::Edges),
            Per::Len(e) => {
                let edge = |graph: &str| format!("{key} = edge({graph})");
                let near = match origin {
                    None => self.near_size(e, &format!("{key} = node"), edge),
                    Some(_) => None,
                };
                if let Some(advice) = near {
                    report.error_help(e.span(), format!("`{}` is not a size", show(e)), advice);
                    return None;
                }
                self.len(e, (origin, 0), report)
            }
            Per::NodeBits(width) => {
                self.length(key, &Per::Node, origin, report)?;
                // Rows of a width that is wrong are rows.
                let width = self
                    .len(width, (origin, 0), report)
                    .unwrap_or(Length::Broken);
                Some(Length::NodeBits(Box::new(width)))
            }
        }
    }

    /// A word that is close to one of sizes, where no field is meant: what to write instead.
    fn near_size(&self, e: &Expr, node: &str, edge: impl Fn(&str) -> String) -> Option<String> {
        let word = ident_of(e).filter(|word| self.get(word).is_none())?;
        let graph = self.iter().find(|(_, slot)| matches!(slot, Slot::Csr(_)));
        let graph = graph.map_or_else(|| "graph".to_owned(), |(field, _)| field.name.to_string());
        match word.to_string().as_str() {
            "node" | "nodes" => Some(format!("write `{node}`")),
            "edge" | "edges" => Some(format!("write `{}`", edge(&graph))),
            _ => None,
        }
    }

    /// Whether a name in the module of a scope can be that of a constant.
    fn is_named(&self, name: &Ident, scope: usize) -> bool {
        let around = std::iter::successors(Some(scope), |&s| self.scopes[s].parent);
        let mut chain: Vec<usize> = around.collect();
        chain.reverse();
        let names = chain.iter().map(|&s| match s {
            0 => Names::of_module(&self.scopes[s].items),
            _ => Names::of_fixpoint(&self.scopes[s].items),
        });
        let names: Vec<Names> = names.collect();
        names::is_named(&names, (names.len(), &[]), name)
    }

    /// A literal, a u32 scalar of `Data`, or a constant in sight of a scope. What stands in an included graph means a field or a
    /// constant of that graph, whatever is declared here under its name.
    fn len(
        &self,
        e: &Expr,
        (origin, scope): (Option<usize>, usize),
        report: &mut Report,
    ) -> Option<Length> {
        if let Some(n) = int_literal(e) {
            return Some(Length::Fixed(n));
        }
        let included = origin.map(|graph| &self.included[graph]);
        let name = ident_of(e).and_then(|name| match included {
            None => Some(name),
            Some(included) => included.names.get(&name.to_string()),
        });
        if let Some(name) = name {
            match self.get(name) {
                Some((field, Slot::Scalar(id))) => {
                    if let FieldKind::Scalar(scalar) = field.kind
                        && scalar != Scalar::U32
                    {
                        report.error(
                            name.span(),
                            format!("a length is a u32; `{name}` is {}", scalar.name()),
                        );
                        return None;
                    }
                    return Some(Length::Scalar(id));
                }
                Some((_, Slot::Broken)) => return None,
                Some((field, _)) => {
                    self.wrong_kind(name, field, "a length", report);
                    return None;
                }
                // By convention a constant has no lower-case letter; rustc says better what is wrong with one.
                None if name.to_string().chars().any(char::is_lowercase)
                    && !self.is_named(name, scope) =>
                {
                    self.unknown(name, report);
                    return None;
                }
                None => {}
            }
        }
        match e {
            Expr::Path(p) if p.qself.is_none() => Some(Length::Constant(match included {
                None => show(p),
                Some(included) => format!("{}::{}", included.name.unraw(), show(p)),
            })),
            _ => {
                let mut message = "this is not a length";
                let mut help =
                    "write a literal, a u32 scalar of `Data`, or the name of a u32 constant"
                        .to_owned();
                // Of constants alone: rustc can compute it.
                let lower = |t: &TokenTree| match t {
                    TokenTree::Ident(i) => i.to_string().chars().any(char::is_lowercase),
                    TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
                };
                if matches!(e, Expr::Binary(_) | Expr::Paren(_))
                    && !any_token(e.to_token_stream(), &lower)
                {
                    message = "a length is one number, and this is computed";
                    help = format!(
                        "put `const W: u32 = {};` into the module, and name `W` here",
                        source_text(e)
                    );
                }
                report.error_all(e, message, help);
                None
            }
        }
    }

    /// Resolves a domain in the current module of `tables`.
    fn domain(
        &self,
        args: &DomainArgs,
        wave: &Wave,
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<(Domain, Option<Length>)> {
        let origin = wave.origin.map(|o| o.graph);
        Some(match args {
            DomainArgs::Once => (Domain::Once, Some(Length::Fixed(1))),
            DomainArgs::Range(e) => {
                let edge = |graph: &str| format!("#[wave(edges({graph}))]");
                let near = match origin {
                    None => self.near_size(e, "#[wave(nodes)]", edge),
                    Some(_) => None,
                };
                if let Some(advice) = near {
                    let message = format!("`{}` is not a number of indices", show(e));
                    report.error_help(e.span(), message, advice);
                    return None;
                }
                let length = self.len(e, (origin, wave.scope), report)?;
                let extent = match &length {
                    Length::Constant(_) => {
                        Extent::Constant(tables.constant(e.to_token_stream(), Scalar::U32))
                    }
                    other => plain_extent(other).expect("only a constant needs the tables"),
                };
                (Domain::Range(extent), Some(length))
            }
            DomainArgs::Nodes(graph) => {
                if let Some(graph) = graph {
                    self.topology(graph, report)?;
                } else if !self
                    .slots
                    .iter()
                    .any(|s| matches!(s, Slot::Csr(_) | Slot::Broken))
                {
                    self.needs_topology(wave.name(), "`nodes`", report);
                    return None;
                }
                (Domain::Nodes, Some(Length::Nodes))
            }
            DomainArgs::Items { of, new } => match self.find(of, report)? {
                (field, Slot::Frontier(id)) => {
                    if *new {
                        report.error_help(
                            of.span(),
                            format!("`new` is for lists, and `{of}` is a frontier"),
                            "a frontier's items are those that were pushed in the round before",
                        );
                        return None;
                    }
                    let nodes = matches!(field.kind, FieldKind::Frontier { item: None, .. });
                    (Domain::Items(id), nodes.then_some(Length::Nodes))
                }
                (_, Slot::List(id)) => (Domain::ListItems(id, *new), None),
                (_, Slot::Broken) => return None,
                (field, _) => {
                    self.wrong_kind(of, field, "a frontier or a list", report);
                    return None;
                }
            },
            DomainArgs::Edges { graph, from } => {
                let topology = self.topology(graph, report);
                let from = match from {
                    Some(f) => Some(self.frontier(f, report)?),
                    None => None,
                };
                let topology = topology?;
                let domain = match from {
                    Some(f) => Domain::EdgesFrom(topology, f),
                    None => Domain::Edges(topology),
                };
                (domain, Some(Length::Edges(topology)))
            }
        })
    }

    /// Matches a wave's parameters with its domain and the fields. `None` when something was reported.
    pub(crate) fn sweep(
        &self,
        wave: &Wave,
        program: &Program,
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<Sweep> {
        let errors = report.len();
        let args = wave.domain.as_ref();
        let domain = args.and_then(|d| self.domain(d, wave, tables, report));
        let mut params = Vec::new();
        let mut item_seen: Option<Ident> = None;
        let taken = self.taken(wave, report);
        let has_item = taken
            .iter()
            .any(|t| t.field.is_none() && self.is_item(args, t.ty));
        for (at, Taken { name, ty, field }) in taken.iter().enumerate() {
            let (name, ty) = (name.clone(), *ty);
            let round = written(ty) == Written::Round;
            let kind = match (field, &name) {
                (Some((_, Slot::Broken)), _) => None,
                (Some((field, _)), Some(name))
                    if round || self.is_item(args, ty) && (at == 0 || !has_item) =>
                {
                    self.two_meanings(wave, (name, ty), field, report);
                    None
                }
                (Some((field, slot)), _) => self.bound(
                    &Bound {
                        wave,
                        field,
                        slot: *slot,
                        ty,
                        domain: domain.as_ref(),
                    },
                    program,
                    report,
                ),
                (None, _) => self.free(wave, name.as_ref(), ty, &mut item_seen, report),
            };
            if let Some(kind) = kind {
                let at = ty.span();
                params.push(Param { name, kind, at });
            }
        }
        if report.len() > errors
            || wave.domain.is_none()
            || params.len() < wave.function.sig.inputs.len()
        {
            return None;
        }
        if let Some(item) = args.and_then(|d| self.item(d))
            && !params.iter().any(|p| p.kind == ParamKind::Record)
        {
            report.error_help(
                wave.name().span(),
                format!("wave `{}` does not take its item", wave.name()),
                format!("add a parameter `item: {}`", show(item)),
            );
            return None;
        }
        Some(Sweep {
            domain: domain?.0,
            params,
        })
    }

    /// The parameters, each with the field that it is named after.
    fn taken<'w>(&self, wave: &'w Wave, report: &mut Report) -> Vec<Taken<'g, 'w>> {
        let mut taken = Vec::new();
        for input in &wave.function.sig.inputs {
            let FnArg::Typed(arg) = input else {
                report.error_help(
                    input.span(),
                    "a wave has no `self`",
                    "take the fields of `Data` that it uses as parameters",
                );
                continue;
            };
            let name = match &*arg.pat {
                Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some(p.ident.clone()),
                Pat::Wild(_) => None,
                other => {
                    report.error(
                        other.span(),
                        "a parameter of a wave is a plain name: the name binds it to a field of `Data`",
                    );
                    continue;
                }
            };
            let field = name.as_ref().and_then(|n| wave.field(n));
            let field = field.and_then(|field| self.get(&field));
            let ty = &*arg.ty;
            taken.push(Taken { name, ty, field });
        }
        taken
    }

    /// Whether a parameter of this type can be meant as the item of the domain: its type, or the word of any item but those
    /// of lists and frontiers of items.
    fn is_item(&self, domain: Option<&DomainArgs>, ty: &Type) -> bool {
        match domain.and_then(|d| self.item(d)) {
            Some(item) => same_item(ty, item),
            None => {
                let word = matches!(written(ty), Written::Node | Written::Index | Written::Edge);
                word && domain.is_some_and(|d| item_type(d).is_some())
            }
        }
    }

    /// A parameter that is the item or the round by its type, and a field by its name.
    fn two_meanings(
        &self,
        wave: &Wave,
        (name, ty): (&Ident, &Type),
        field: &Field,
        report: &mut Report,
    ) {
        let domain = wave.domain.as_ref();
        let record = domain.and_then(|d| self.item(d)).map(show);
        let item = record
            .clone()
            .or(domain.and_then(item_type).map(str::to_owned));
        let (what, how) = match written(ty) {
            Written::Round => ("round", "round: Round".to_owned()),
            _ => (
                "item",
                format!("item: {}", item.unwrap_or_else(|| show(ty))),
            ),
        };
        let field_as = match &field.kind {
            FieldKind::Scalar(s) | FieldKind::Reduction { scalar: s, .. } => {
                let after = match &record {
                    Some(item) if item == s.name() => ", after the item",
                    _ => "",
                };
                format!("; take the field as `{name}: {}`{after}", s.name())
            }
            _ => String::new(),
        };
        report.error_help(
            name.span(),
            format!(
                "`{name}` of wave `{}` is the {what} by its type, and a field of `Data` by its name",
                wave.name()
            ),
            format!("take the {what} by another name, as `{how}`{field_as}"),
        );
        report.error(
            field.name.span(),
            format!(
                "{} `{}` is declared here",
                describe(&field.kind),
                field.name
            )
            .replacen("a ", "the ", 1),
        );
    }

    /// A parameter that is not a field: the item or the round.
    fn free(
        &self,
        wave: &Wave,
        name: Option<&Ident>,
        ty: &Type,
        item_seen: &mut Option<Ident>,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let form = written(ty);
        let at = name.map_or_else(|| ty.span(), |n| n.span());
        if form == Written::Round {
            if wave.scope == 0 {
                report.error_help(
                    ty.span(),
                    format!(
                        "wave `{}` is in no fixpoint, so it has no round",
                        wave.name()
                    ),
                    "rounds are counted in a `#[fixpoint]` module",
                );
                return None;
            }
            return Some(ParamKind::Round);
        }
        let domain = wave.domain.as_ref();
        let word = domain.map_or("", DomainArgs::word);
        if let Some(item) = domain.and_then(|d| self.item(d)) {
            return self.record_param((name, ty), item, item_seen, report);
        }
        let kind = match form {
            Written::Node | Written::Index => ParamKind::Index,
            Written::Edge => ParamKind::Edge,
            _ => {
                match name {
                    Some(name) if name == "round" => {
                        report.error_help(
                            ty.span(),
                            format!("the round is a `Round`, not `{}`", show(ty)),
                            "write `round: Round`",
                        );
                        return None;
                    }
                    Some(name) => {
                        // A scalar in first place is most likely meant as the item.
                        if let (Written::Value(Scalar::U32), Some(item), None) =
                            (&form, domain.and_then(item_type), &item_seen)
                        {
                            let names: Vec<String> =
                                self.fields.iter().map(|f| f.name.to_string()).collect();
                            let near =
                                did_you_mean(&name.to_string(), names.iter().map(String::as_str));
                            if near.is_none() {
                                report.error_help(
                                    ty.span(),
                                    format!("`{name}` is neither a field of `Data` nor an item"),
                                    format!("the item of `{word}` is written `{name}: {item}`"),
                                );
                                return None;
                            }
                        }
                        let shown = show(ty);
                        let referred = shown.trim_start_matches("&mut ").trim_start_matches('&');
                        if Some(referred) == domain.and_then(item_type) && item_seen.is_none() {
                            report.error_help(
                                ty.span(),
                                "the item is taken by value",
                                format!("write `{name}: {referred}`"),
                            );
                            return None;
                        }
                        if referred == "Data" {
                            report.error_help(
                                ty.span(),
                                "a wave does not take `Data` as a whole",
                                "take each field that it uses by its name, such as `graph: &Csr`",
                            );
                            return None;
                        }
                        self.unknown(name, report);
                    }
                    None => report.error(
                        at,
                        "a parameter of a wave has a name: the name binds it to a field of `Data`",
                    ),
                }
                return None;
            }
        };
        if let Some(first) = item_seen {
            report.error_help(
                at,
                format!("a wave has one item, and `{first}` is it"),
                "a parameter with another name must be a field of `Data`",
            );
            return None;
        }
        *item_seen = Some(match name {
            Some(n) => n.clone(),
            None => Ident::new("_item", at),
        });
        let domain = domain?;
        match (item_type(domain), &form) {
            (Some("Node"), Written::Node)
            | (Some("Index"), Written::Index)
            | (Some("Edge"), Written::Edge) => Some(kind),
            (None, _) => {
                report.error_help(
                    ty.span(),
                    "`once` sweeps a single lane: it has no item",
                    "remove the parameter",
                );
                None
            }
            (Some(item), _) => {
                let name = name.map_or_else(|| "_".to_owned(), |n| n.to_string());
                report.error_help(
                    ty.span(),
                    format!("the item of `{word}` is `{item}`, not `{}`", show(ty)),
                    format!("write `{name}: {item}`"),
                );
                None
            }
        }
    }

    /// The type of the items of a domain, where they are neither nodes nor indices nor edges.
    fn item(&self, domain: &DomainArgs) -> Option<&'g Type> {
        let DomainArgs::Items { of, .. } = domain else {
            return None;
        };
        match &self.get(of)?.0.kind {
            FieldKind::List { item, .. } => Some(item),
            FieldKind::Frontier { item, .. } => item.as_deref(),
            _ => None,
        }
    }

    /// The item of a list or of a frontier of items.
    fn record_param(
        &self,
        (name, ty): (Option<&Ident>, &Type),
        item: &Type,
        item_seen: &mut Option<Ident>,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let at = name.map_or_else(|| ty.span(), |n| n.span());
        if let Some(first) = item_seen {
            match name {
                Some(name) if name != first => self.unknown(name, report),
                _ => report.error(at, format!("a wave has one item, and `{first}` is it")),
            }
            return None;
        }
        *item_seen = Some(name.map_or_else(|| Ident::new("_item", at), Clone::clone));
        if !same_item(ty, item) {
            let name = name.map_or_else(|| "_".to_owned(), |n| n.to_string());
            if let Type::Reference(_) = ty {
                self.unknown(&ident(&name, at), report);
            } else {
                report.error_help(
                    ty.span(),
                    format!("the item is `{}`, not `{}`", show(item), show(ty)),
                    format!("write `{name}: {}`", show(item)),
                );
            }
            return None;
        }
        Some(ParamKind::Record)
    }

    /// A parameter that is a field.
    fn bound(&self, b: &Bound<'_>, program: &Program, report: &mut Report) -> Option<ParamKind> {
        let form = written(b.ty);
        let name = &b.field.name;
        let span = b.ty.span();
        match b.slot {
            Slot::Csr(id) => match form {
                Written::Csr => Some(ParamKind::Csr(id)),
                _ => {
                    self.mismatch(b, &["&Csr".to_owned()], report);
                    None
                }
            },
            Slot::Frontier(id) => {
                let FieldKind::Frontier { item, .. } = &b.field.kind else {
                    return None;
                };
                match (item, form) {
                    (None, Written::Push) => Some(ParamKind::Push(id)),
                    (Some(item), Written::PushItems)
                        if written_item(b.ty).is_some_and(|t| same_item(t, item)) =>
                    {
                        Some(ParamKind::PushItems(id))
                    }
                    (item, _) => {
                        let wanted = item.as_ref().map_or_else(
                            || "&Push".to_owned(),
                            |item| format!("&Push<{}>", show(item)),
                        );
                        self.mismatch(b, &[wanted], report);
                        None
                    }
                }
            }
            Slot::List(id) => {
                let FieldKind::List { item, .. } = &b.field.kind else {
                    return None;
                };
                if form == Written::Append && written_item(b.ty).is_some_and(|t| same_item(t, item))
                {
                    return Some(ParamKind::Append(id));
                }
                self.mismatch(b, &[format!("&Append<{}>", show(item))], report);
                None
            }
            Slot::Scalar(id) => {
                let scalar = program.scalars[id.index()].scalar;
                match form.value() {
                    Some(s) if s == scalar => Some(ParamKind::Uniform(Uniform::Scalar(id), scalar)),
                    _ => {
                        if matches!(form, Written::Ref(_) | Written::RefMut(_)) {
                            report.error_help(
                                span,
                                format!("`{name}` is a scalar of the run, the same for every lane"),
                                format!("take it by value: `{name}: {}`", scalar.name()),
                            );
                        } else {
                            self.mismatch(b, &[scalar.name().to_owned()], report);
                        }
                        None
                    }
                }
            }
            Slot::Reduction(id) => {
                let r = &program.reductions[id.index()];
                let count = self.counts[id.index()];
                match form {
                    Written::Reduce(op, scalar, c)
                        if (op, scalar, c) == (r.op, r.scalar, count) =>
                    {
                        Some(ParamKind::Reduce {
                            id,
                            op,
                            scalar,
                            count,
                        })
                    }
                    ref f if f.value() == Some(r.scalar) => {
                        Some(ParamKind::Uniform(Uniform::Reduction(id), r.scalar))
                    }
                    _ => {
                        let update = format!("&Reduce<{}>", reduce_type(r.op, r.scalar, count));
                        self.mismatch(b, &[update, r.scalar.name().to_owned()], report);
                        None
                    }
                }
            }
            Slot::Buffer(id) => self.buffer_param(b, id, form, program, report),
            Slot::Rows(first, count) => self.rows_param(b, (first, count), program, report),
            Slot::Broken => None,
        }
    }

    fn buffer_param(
        &self,
        b: &Bound<'_>,
        buffer: BufferId,
        form: Written,
        program: &Program,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let name = &b.field.name;
        let declared = &program.buffers[buffer.index()];
        let scalar = declared.scalar;
        let t = scalar.name();
        if let Extent::NodeBits(width) = declared.extent {
            if form == Written::Bits {
                return Some(ParamKind::Bits { buffer, width });
            }
            self.mismatch(b, &["&Bits".to_owned()], report);
            return None;
        }
        let (element, own, writes) = match form {
            Written::Ref(s) => (s, Some(false), false),
            Written::RefMut(s) => (s, Some(true), true),
            Written::Buf(s) => (s, None, false),
            Written::AtomicBuf(s) => (s, None, true),
            _ => {
                let all = [
                    format!("&{t}"),
                    format!("&mut {t}"),
                    format!("&Buf<{t}>"),
                    format!("&Buf<Atomic<{t}>>"),
                ];
                self.mismatch(b, &all, report);
                return None;
            }
        };
        if element != scalar {
            report.error(
                b.ty.span(),
                format!(
                    "`{name}` has elements of type `{t}` in `Data`, not `{}`",
                    element.name()
                ),
            );
            return None;
        }
        let read_only = match declared.role {
            Role::Topology => Some("topology"),
            Role::Input => Some("input"),
            Role::Output | Role::Scratch | Role::InOut => None,
        };
        if let (true, Some(role)) = (writes, read_only) {
            report.error_help(
                b.ty.span(),
                format!("`{name}` is `#[{role}]`, which waves only read"),
                if own.is_some() {
                    format!("take `{name}: &{t}`, or declare it `#[scratch(..)]` or `#[output(..)]`")
                } else {
                    format!(
                        "take `{name}: &Buf<{t}>`, or declare it `#[scratch(..)]` or `#[output(..)]`"
                    )
                },
            );
            return None;
        }
        if form == Written::AtomicBuf(scalar) && matches!(scalar, Scalar::Bool | Scalar::U8) {
            report.error_help(
                b.ty.span(),
                format!("there are no atomics on `{t}`"),
                "use u32, i32, u64, i64, f32 or f64",
            );
            return None;
        }
        match own {
            None if form == Written::Buf(scalar) => Some(ParamKind::Buf { buffer, scalar }),
            None => Some(ParamKind::AtomicBuf { buffer, scalar }),
            Some(mutable) => {
                let instead = if mutable {
                    format!("take `{name}: &Buf<Atomic<{t}>>` to update any element")
                } else {
                    format!("take `{name}: &Buf<{t}>` to read any element")
                };
                self.check_own(b, buffer, (mutable, instead), program, report)?;
                Some(ParamKind::Own {
                    buffer,
                    scalar,
                    mutable,
                })
            }
        }
    }

    /// A parameter that is a buffer of structs.
    fn rows_param(
        &self,
        b: &Bound<'_>,
        (first, count): (BufferId, u16),
        program: &Program,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let FieldKind::Column {
            item: Some(item), ..
        } = &b.field.kind
        else {
            return None;
        };
        let name = &b.field.name;
        let t = show(item);
        if written(b.ty) == Written::Records
            && written_item(b.ty).is_some_and(|t| same_item(t, item))
        {
            return Some(ParamKind::Records { first, count });
        }
        let read_only = match program.buffers[first.index()].role {
            Role::Topology => Some("topology"),
            Role::Input => Some("input"),
            Role::Output | Role::Scratch | Role::InOut => None,
        };
        let mutable = match b.ty {
            Type::Reference(r) if same_item(&r.elem, item) => r.mutability.is_some(),
            _ => {
                let mut allowed = vec![format!("&{t}")];
                allowed.extend(read_only.is_none().then(|| format!("&mut {t}")));
                allowed.push(format!("&Records<{t}>"));
                self.mismatch(b, &allowed, report);
                return None;
            }
        };
        if let (true, Some(role)) = (mutable, read_only) {
            report.error_help(
                b.ty.span(),
                format!("`{name}` is `#[{role}]`, which waves only read"),
                format!("take `{name}: &{t}`, or declare it `#[scratch(..)]` or `#[output(..)]`"),
            );
            return None;
        }
        let instead = if mutable {
            "only the fields of `Data` that are scalars have atomics: give what any lane updates a buffer of its own".to_owned()
        } else {
            format!("take `{name}: &Records<{t}>` to read any element")
        };
        self.check_own(b, first, (mutable, instead), program, report)?;
        Some(ParamKind::OwnRows {
            first,
            count,
            mutable,
        })
    }

    /// `&T` and `&mut T` need a domain that gives each lane one element; `&mut T` needs each element to have one lane.
    fn check_own(
        &self,
        b: &Bound<'_>,
        buffer: BufferId,
        (mutable, instead): (bool, String),
        program: &Program,
        report: &mut Report,
    ) -> Option<()> {
        let (domain, length) = b.domain?;
        let name = &b.field.name;
        let actual = &self.lengths[buffer.index()];
        // A wave of an included graph fits its own fields, and those that stand for them here have their lengths.
        let fits = b.wave.origin.is_some() || length.as_ref() == Some(actual);
        if *actual != Length::Broken && !fits {
            let word = b.wave.domain.as_ref().map_or("", DomainArgs::word);
            let shape = match actual {
                Length::Nodes | Length::NodeBits(_) | Length::Broken => {
                    "one element per node".to_owned()
                }
                Length::Edges(t) => {
                    format!(
                        "one element per edge of `{}`",
                        program.topologies[t.index()].name
                    )
                }
                Length::Fixed(n) => format!("{n} elements"),
                Length::Scalar(s) => format!("`{}` elements", program.scalars[s.index()].name),
                Length::Constant(c) => format!("`{c}` elements"),
            };
            report.error_help(
                b.ty.span(),
                format!("`{name}` has {shape}; a lane of `{word}` does not own one of them"),
                instead,
            );
            return None;
        }
        let repeated = match domain {
            Domain::Items(f) | Domain::EdgesFrom(_, f) if mutable => {
                let frontier = &program.frontiers[f.index()];
                (!frontier.unique).then_some(frontier)
            }
            _ => None,
        };
        if let Some(frontier) = repeated {
            report.error_help(
                b.ty.span(),
                format!(
                    "a node can be in frontier `{}` more than once, so two lanes could own one element of `{name}`",
                    frontier.name
                ),
                format!(
                    "{instead}, or declare `#[frontier(unique)] {}: Frontier`",
                    frontier.name
                ),
            );
            return None;
        }
        Some(())
    }

    fn mismatch(&self, b: &Bound<'_>, allowed: &[String], report: &mut Report) {
        let name = &b.field.name;
        let what = describe(&b.field.kind);
        let written = show(b.ty);
        let whole = written
            .strip_prefix("&mut Buf<")
            .and_then(|of| of.strip_suffix('>'));
        if let Some(of) = whole
            && allowed.contains(&format!("&Buf<Atomic<{of}>>"))
        {
            report.error_help(
                b.ty.span(),
                format!("`{name}` cannot be taken as `{written}`: lanes run side by side"),
                format!("take `&Buf<Atomic<{of}>>`, of which any lane updates any element, or `&mut {of}`, the item's own element"),
            );
            return;
        }
        let allowed = match allowed.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!(
                "{} or `{last}`",
                rest.iter()
                    .map(|a| format!("`{a}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            _ => format!("`{}`", allowed.concat()),
        };
        report.error_help(
            b.ty.span(),
            format!("`{name}` is {what}; it cannot be taken as `{}`", show(b.ty)),
            format!("take {allowed}"),
        );
    }
}

/// A parameter as written, and the field it is named after.
struct Taken<'g, 'w> {
    /// `None` for `_`.
    name: Option<Ident>,
    ty: &'w Type,
    field: Option<(&'g Field, Slot)>,
}

/// A parameter and the field it is named after.
struct Bound<'a> {
    wave: &'a Wave,
    field: &'a Field,
    slot: Slot,
    ty: &'a Type,
    domain: Option<&'a (Domain, Option<Length>)>,
}

/// The item's type under a domain; `once` has none.
fn item_type(domain: &DomainArgs) -> Option<&'static str> {
    match domain {
        DomainArgs::Once => None,
        DomainArgs::Range(_) => Some("Index"),
        DomainArgs::Nodes(_) | DomainArgs::Items { .. } => Some("Node"),
        DomainArgs::Edges { .. } => Some("Edge"),
    }
}

pub(crate) fn describe(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Csr { .. } => "a topology",
        FieldKind::Column { .. } => "a buffer",
        FieldKind::Frontier { .. } => "a frontier",
        FieldKind::List { .. } => "a list",
        FieldKind::Reduction { .. } => "a reduction",
        FieldKind::Scalar(_) => "a scalar",
        FieldKind::Broken => "a field",
    }
}

fn plain_extent(length: &Length) -> Option<Extent> {
    match length {
        Length::Broken => Some(Extent::Fixed(0)),
        Length::Fixed(n) => Some(Extent::Fixed(*n)),
        Length::Scalar(s) => Some(Extent::Scalar(*s)),
        Length::Nodes => Some(Extent::Nodes),
        Length::Edges(t) => Some(Extent::Edges(*t)),
        Length::NodeBits(width) => match **width {
            Length::Fixed(n) => Some(Extent::NodeBits(Width::Fixed(
                u32::try_from(n).unwrap_or(u32::MAX),
            ))),
            Length::Scalar(s) => Some(Extent::NodeBits(Width::Scalar(s))),
            _ => None,
        },
        Length::Constant(_) => None,
    }
}

fn extent(length: &Length, per: Option<&Per>, tables: &mut Tables) -> Extent {
    match (plain_extent(length), per) {
        (Some(extent), _) => extent,
        (None, Some(Per::NodeBits(e))) => Extent::NodeBits(Width::Constant(
            tables.constant(e.to_token_stream(), Scalar::U32),
        )),
        (None, Some(Per::Len(e))) => {
            Extent::Constant(tables.constant(e.to_token_stream(), Scalar::U32))
        }
        (None, _) => Extent::Constant(ConstantId(0)),
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
