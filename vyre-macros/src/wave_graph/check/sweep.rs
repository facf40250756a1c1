//! What a wave sweeps, and what its parameters are.

use super::*;
use crate::kernel::param::Indexes;
use crate::wave_graph::graph::rounds;
use syn::parse_quote;

impl<'g> Fields<'g> {
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
                let (length, extent) = self.len(e, (origin, wave.scope), tables, report)?;
                (Domain::Range(extent), Some(length))
            }
            DomainArgs::Grid(sides) => {
                let cells = cells(sides);
                let (length, extent) = self.len(&cells, (origin, wave.scope), tables, report)?;
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
            DomainArgs::Items { of, portion } => match self.find(of, report)? {
                (field, Slot::Queue(_)) if *portion == Portion::Last => {
                    let help = match &field.kind {
                        FieldKind::Frontier { list: false, .. } => format!(
                            "write `items({of})`: what a frontier holds was pushed in the round before"
                        ),
                        FieldKind::Frontier { .. } => {
                            format!("write `items({of})`, which are all of its nodes")
                        }
                        _ => {
                            format!("write `items({of}, new)`: what this wave has not swept of it")
                        }
                    };
                    report.error_help(
                        of.span(),
                        format!(
                            "`last` is for relations, and `{of}` is {}",
                            describe(&field.kind)
                        ),
                        help,
                    );
                    return None;
                }
                (field, Slot::Queue(QueueId::Frontier(id))) => {
                    if portion.goes_on() {
                        let list = matches!(field.kind, FieldKind::Frontier { list: true, .. });
                        let (message, help) = match list {
                            true => (
                                format!("`new` is for lists that are not `unique`, and `{of}` is"),
                                "sweep all that it holds, or push to a `#[frontier]` as well: its items are those that were pushed in the round before",
                            ),
                            false => (
                                format!("`new` is for lists, and `{of}` is a frontier"),
                                "a frontier's items are those that were pushed in the round before",
                            ),
                        };
                        report.error_help(of.span(), message, help);
                        return None;
                    }
                    let nodes = matches!(field.kind, FieldKind::Frontier { item: None, .. });
                    (Domain::Items(id), nodes.then_some(Length::Nodes))
                }
                (field, Slot::Queue(QueueId::List(id))) => {
                    if portion.goes_on() && field.reset.is_some() {
                        report.error_help(
                            of.span(),
                            format!("`{of}` begins anew with each round: what this wave has swept of it is not kept"),
                            "sweep all that it holds, or push to a `#[frontier]` as well: its items are those that were pushed in the round before",
                        );
                        return None;
                    }
                    (Domain::ListItems(id, *portion), None)
                }
                (field, Slot::Relation(id, _)) => {
                    let refused = match portion {
                        Portion::New => Some((
                            format!("`new` is for lists, and `{of}` is a relation"),
                            "write `last`: what the round before found; or sweep all tuples",
                        )),
                        Portion::Last if wave.scope == 0 => Some((
                            format!(
                                "`last` is what the round before found, and wave `{}` is in no fixpoint",
                                wave.name()
                            ),
                            "sweep all tuples, or put the wave into a fixpoint",
                        )),
                        Portion::Last if field.reset.is_some() => Some((
                            format!(
                                "`{of}` begins anew with each round: what this wave has swept of it is not kept"
                            ),
                            "sweep all tuples",
                        )),
                        Portion::All | Portion::Last => None,
                    };
                    if let Some((message, help)) = refused {
                        report.error_help(of.span(), message, help);
                        return None;
                    }
                    (Domain::ListItems(id, *portion), None)
                }
                (_, Slot::Broken) => return None,
                (field, _) => {
                    self.wrong_kind(of, field, "a frontier, a list or a relation", report);
                    return None;
                }
            },
            // What is wrong with it has been said.
            DomainArgs::Pairs(_) => return None,
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

    /// The width and the height of a grid, which its cells are made from.
    fn sides(
        &self,
        sides: &[Expr; 2],
        wave: &Wave,
        tables: &mut Tables,
        report: &mut Report,
    ) -> Option<[Width; 2]> {
        let at = (wave.origin.map(|o| o.graph), wave.scope);
        let [width, height] = sides
            .each_ref()
            .map(|side| self.side(side, at, tables, report));
        Some([width?, height?])
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
        let sides = match args {
            Some(DomainArgs::Grid(sides)) => Some(self.sides(sides, wave, tables, report)),
            _ => None,
        };
        let domain = match sides {
            Some(None) => None,
            _ => args.and_then(|d| self.domain(d, wave, tables, report)),
        };
        let mut params = Vec::new();
        let mut item_seen: Option<Ident> = None;
        let taken = self.taken(wave, program, report);
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
                        name: match slot.is_part_of(field) {
                            true => name.as_ref().unwrap_or(&field.name),
                            false => &field.name,
                        },
                        ty,
                        domain: domain.as_ref(),
                    },
                    program,
                    report,
                ),
                (None, _) => {
                    let item = (&mut item_seen, sides.flatten());
                    self.free(wave, name.as_ref(), ty, item, report)
                }
            };
            if let Some(kind) = kind {
                let at = ty.span();
                params.push(Param { name, kind, at });
            }
        }
        Self::taken_twice(&taken, report);
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
            filter: None,
            domain: domain?.0,
            params,
        })
    }

    /// Refuses a part of structs beside the whole of them: one would change what the other refers to.
    fn taken_twice(taken: &[Taken<'_, '_>], report: &mut Report) {
        let fields = || taken.iter().filter_map(|t| Some((t, t.field.as_ref()?)));
        for (part, (field, slot)) in fields() {
            let is_whole = |(of, slot): &(&Field, Slot)| {
                of.name == field.name && matches!(slot, Slot::Rows(..))
            };
            if let Some(name) = &part.name
                && slot.is_part_of(field)
                && fields().any(|(_, other)| is_whole(other))
            {
                report.error_help(
                    name.span(),
                    format!(
                        "`{name}` is a part of `{}`, which this wave takes as a whole",
                        field.name
                    ),
                    "take either the whole, or each part that the wave uses",
                );
            }
        }
    }

    /// `points_x`: the scalar `x` of the structs in `points`, whose buffers are named `points.x` and so on.
    fn part(
        &self,
        wave: &Wave,
        name: &Ident,
        program: &Program,
        report: &mut Report,
    ) -> Option<(&'g Field, Slot)> {
        let text = name.to_string();
        let mut wrong = None;
        for (at, _) in text.match_indices('_') {
            let Some((field, slot @ Slot::Rows(..))) = syn::parse_str(&text[..at])
                .ok()
                .and_then(|field| self.get(&wave.field(&field)?))
            else {
                continue;
            };
            let path = |b: BufferId| {
                let buffer = program.buffers[b.index()].name.split_once('.');
                buffer.map_or_else(String::new, |(_, path)| path.replace('.', "_"))
            };
            match slot.buffers().find(|&b| path(b) == text[at + 1..]) {
                Some(part) => return Some((field, Slot::Buffer(part))),
                None => {
                    let all = slot
                        .buffers()
                        .map(|b| format!("`{}_{}`", &text[..at], path(b)));
                    let help = format!("its parts are {}", listed(all));
                    wrong = Some((field, help));
                }
            }
        }
        let (field, help) = wrong?;
        let what = format!(
            "`{name}` is neither a field of `Data` nor a part of `{}`",
            field.name
        );
        report.error_help(name.span(), what, help);
        Some((field, Slot::Broken))
    }

    /// The parameters, each with the field that it is named after.
    fn taken<'w>(
        &self,
        wave: &'w Wave,
        program: &Program,
        report: &mut Report,
    ) -> Vec<Taken<'g, 'w>> {
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
            let field = match (field, &name) {
                (None, Some(name)) if matches!(ty, Type::Reference(_)) => {
                    self.part(wave, name, program, report)
                }
                (field, _) => field,
            };
            taken.push(Taken { name, ty, field });
        }
        taken
    }

    /// Whether a parameter of this type can be meant as the item of the domain: its type, or the word of any item but
    /// those of lists and frontiers of items.
    fn is_item(&self, domain: Option<&DomainArgs>, ty: &Type) -> bool {
        match domain.and_then(|d| self.item(d)) {
            Some(item) => same_item(ty, item),
            None => {
                let word = matches!(
                    written(ty),
                    Written::Node | Written::Index | Written::Edge | Written::Cell
                );
                word && domain.is_some_and(|d| d.item_type().is_some())
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
            .or(domain.and_then(DomainArgs::item_type).map(str::to_owned));
        let (what, how) = match written(ty) {
            Written::Round => ("round", "round: Round".to_owned()),
            _ => (
                "item",
                format!("item: {}", item.unwrap_or_else(|| show(ty))),
            ),
        };
        let field_as = match &field.kind {
            FieldKind::Scalar(s, _) | FieldKind::Reduction { scalar: s, .. } => {
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
        (item_seen, sides): (&mut Option<Ident>, Option<[Width; 2]>),
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
            return self.round(wave, name, report);
        }
        let domain = wave.domain.as_ref();
        let word = domain.map_or("", DomainArgs::word);
        if let Some(item) = domain.and_then(|d| self.item(d)) {
            return self.record_param((name, ty), item, item_seen, report);
        }
        let kind = match form {
            Written::Node | Written::Index => ParamKind::Index,
            Written::Edge => ParamKind::Edge,
            Written::Cell => {
                let [width, height] = sides.unwrap_or([Width::Fixed(1); 2]);
                ParamKind::Cell { width, height }
            }
            _ => {
                match name {
                    Some(name)
                        if rounds(self.scopes, wave.scope)
                            .iter()
                            .any(|(r, _)| name == r) =>
                    {
                        let of = match name == "round" {
                            true => "the round".to_owned(),
                            false => format!("the round of fixpoint `{name}`"),
                        };
                        report.error_help(
                            ty.span(),
                            format!("{of} is a `Round`, not `{}`", show(ty)),
                            format!("write `{name}: Round`"),
                        );
                        return None;
                    }
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
                            (&form, domain.and_then(DomainArgs::item_type), &item_seen)
                        {
                            let fields = self.fields.iter().filter(|f| !f.is_hidden());
                            let names: Vec<String> = fields.map(|f| f.name.to_string()).collect();
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
                        if Some(referred) == domain.and_then(DomainArgs::item_type)
                            && item_seen.is_none()
                        {
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
                        // What the item of a broken domain is, is not known.
                        if domain.is_some() {
                            self.unknown(name, report);
                        }
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
        match (domain.item_type(), &form) {
            (Some("Node"), Written::Node)
            | (Some("Index"), Written::Index)
            | (Some("Edge"), Written::Edge)
            | (Some("Cell"), Written::Cell) => Some(kind),
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

    /// A parameter of type `Round` in a fixpoint: its name says whose round it is.
    fn round(&self, wave: &Wave, name: Option<&Ident>, report: &mut Report) -> Option<ParamKind> {
        let rounds = rounds(self.scopes, wave.scope);
        let Some(name) = name else {
            return Some(ParamKind::Round);
        };
        let word = name.unraw().to_string();
        if let Some((_, of)) = rounds.iter().find(|(round, _)| *round == word) {
            return Some(of.map_or(ParamKind::Round, ParamKind::OuterRound));
        }
        let elsewhere = self.scopes.iter().skip(1).any(|s| s.own_name() == word);
        let message = match elsewhere {
            true => format!("fixpoint `{name}` is not around wave `{}`", wave.name()),
            false => format!(
                "`{name}` is a `Round`, and no fixpoint around wave `{}` has that name",
                wave.name()
            ),
        };
        let names = rounds.iter().map(|(round, _)| round.as_str());
        let near = did_you_mean(&word, names).filter(|_| !elsewhere);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let around = rounds
                    .iter()
                    .skip(1)
                    .map(|(round, _)| format!("`{round}: Round`"));
                format!(
                    "the innermost fixpoint's round is `round: Round`; by name there are {}",
                    listed(around)
                )
            }
        };
        report.error_help(name.span(), message, help);
        None
    }

    /// The indexes of a relation.
    fn indexes_of(&self, relation: &Field) -> Indexes {
        let all = self.indexes.iter();
        let own = all.filter(|of| of.relation.name == relation.name);
        let mut own: Vec<Index> = own.map(|of| of.index).collect();
        let declared = match &relation.kind {
            FieldKind::List { indexes, .. } => indexes.len(),
            _ => 0,
        };
        // One that is broken, which has been said, stands for all that were declared.
        if own.len() < declared {
            own.push(Index {
                cells: BufferId(0),
                mask: 0,
            });
        }
        own.leak()
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
        let name = b.name;
        let span = b.ty.span();
        match b.slot {
            Slot::Csr(id) => match form {
                Written::Csr => Some(ParamKind::Csr(id)),
                _ => {
                    self.mismatch(b, &["&Csr".to_owned()], report);
                    None
                }
            },
            Slot::Queue(QueueId::Frontier(id)) => {
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
            Slot::Queue(QueueId::List(id)) => {
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
            Slot::Relation(list, table) => {
                let FieldKind::List { item, .. } = &b.field.kind else {
                    return None;
                };
                let fits = written_item(b.ty).is_some_and(|t| same_item(t, item));
                match form {
                    Written::Insert if fits => {
                        Some(ParamKind::Insert(list, table, self.indexes_of(b.field)))
                    }
                    Written::Lookup if fits => {
                        Some(ParamKind::Lookup(list, table, self.indexes_of(b.field)))
                    }
                    _ => {
                        let item = show(item);
                        let wanted = [format!("&Insert<{item}>"), format!("&Lookup<{item}>")];
                        self.mismatch(b, &wanted, report);
                        None
                    }
                }
            }
            Slot::Scalar(id) => {
                let scalar = program.scalars[id.index()].scalar;
                match form.value() {
                    Some(s) if s == scalar => Some(ParamKind::Scalar(id, scalar)),
                    _ => {
                        let ty = scalar.name();
                        let by_value = format!("take it by value: `{name}: {ty}`");
                        let (of, is_meant, advice) = match self.given(id) {
                            Some(Given::Session) => (
                                "session",
                                matches!(form, Written::Buf(_)),
                                format!(
                                    "{by_value}; a buffer says how many elements it has: `#[topology(per = node)] {name}: {ty}`"
                                ),
                            ),
                            _ => ("run", false, by_value),
                        };
                        if is_meant || matches!(form, Written::Ref(_) | Written::RefMut(_)) {
                            report.error_help(
                                span,
                                format!(
                                    "`{name}` is a scalar of the {of}, the same for every lane"
                                ),
                                advice,
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
                    ref f if f.value() == Some(r.scalar) => Some(ParamKind::Reduced(id, r.scalar)),
                    _ => {
                        let update = format!("&Reduce<{}>", reduce_type(r.op, r.scalar, count));
                        self.mismatch(b, &[update, r.scalar.name().to_owned()], report);
                        None
                    }
                }
            }
            Slot::RowsOf {
                offsets, values, ..
            } => {
                let scalar = program.buffers[values.index()].scalar;
                match form {
                    Written::Rows(s) if s == scalar => Some(ParamKind::Rows {
                        offsets,
                        values,
                        scalar,
                    }),
                    Written::Values(s, false) if s == scalar => {
                        self.own_values(b, values, false, program, report)
                    }
                    _ => {
                        let t = scalar.name();
                        let all = [format!("&Rows<{t}>"), format!("&Row<{t}>")];
                        self.mismatch(b, &all, report);
                        None
                    }
                }
            }
            Slot::Buffer(id) => self.buffer_param(b, id, form, program, report),
            Slot::Rows(first, count) => self.rows_param(b, (first, count), program, report),
            Slot::Arrays(buffer, len) => self.arrays_param(b, (buffer, len), program, report),
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
        if form == Written::Filing {
            let mut all = self.indexes.iter().map(|of| of.index);
            return all
                .find(|index| index.cells == buffer)
                .map(ParamKind::Filing);
        }
        let name = b.name;
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
            Written::Row(s, mutable) => (s, Some(mutable), mutable),
            Written::Values(s, mutable) => (s, Some(mutable), mutable),
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
        if let Written::Values(_, mutable) = form {
            return self.own_values(b, buffer, mutable, program, report);
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
                Some(match form {
                    Written::Row(..) => ParamKind::OwnRow { buffer, mutable },
                    _ => ParamKind::Own {
                        buffer,
                        scalar,
                        mutable,
                    },
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
        let name = b.name;
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
        let part = || {
            let buffer = &program.buffers[first.index()];
            let name = buffer.name.replace('.', "_");
            format!("{name}: &Buf<Atomic<{}>>", buffer.scalar.name())
        };
        let instead = if mutable {
            format!(
                "take the parts that any lane updates by themselves, such as `{}`",
                part()
            )
        } else {
            format!("take `{name}: &Records<{t}>` to read any element")
        };
        self.check_own(b, first, (mutable, instead), program, report)?;
        Some(ParamKind::OwnRecord {
            first,
            count,
            mutable,
        })
    }

    /// A parameter that is a buffer of arrays.
    fn arrays_param(
        &self,
        b: &Bound<'_>,
        (buffer, len): (BufferId, u32),
        program: &Program,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let FieldKind::Column {
            item: Some(item), ..
        } = &b.field.kind
        else {
            return None;
        };
        let (name, t) = (b.name, show(item));
        let declared = &program.buffers[buffer.index()];
        let scalar = declared.scalar;
        let s = scalar.name();
        let read_only = match declared.role {
            Role::Topology => Some("topology"),
            Role::Input => Some("input"),
            Role::Output | Role::Scratch | Role::InOut => None,
        };
        // An included graph has compared its own.
        let is_one = |ty: &Type| match (ty, &**item) {
            (Type::Array(a), Type::Array(declared)) => {
                scalar_of(&a.elem) == Some(scalar)
                    && (b.wave.origin.is_some()
                        || show(&a.len) == show(&declared.len)
                        || int_literal(&a.len) == Some(len.into()))
            }
            _ => false,
        };
        let of_values = match written(b.ty) {
            Written::Records if written_item(b.ty).is_some_and(is_one) => {
                return Some(ParamKind::Arrays {
                    buffer,
                    scalar,
                    len,
                });
            }
            Written::Buf(of) if of == scalar => return Some(ParamKind::Buf { buffer, scalar }),
            Written::AtomicBuf(of) => of == scalar,
            _ => false,
        };
        let mutable = match b.ty {
            _ if of_values => true,
            Type::Reference(r) if is_one(&r.elem) => r.mutability.is_some(),
            _ => {
                let mut allowed = vec![format!("&{t}")];
                allowed.extend(read_only.is_none().then(|| format!("&mut {t}")));
                allowed.push(format!("&Records<{t}>"));
                // All values, array by array.
                allowed.push(format!("&Buf<{}>", scalar.name()));
                let atomic = read_only.is_none() && !matches!(scalar, Scalar::Bool | Scalar::U8);
                allowed.extend(atomic.then(|| format!("&Buf<Atomic<{}>>", scalar.name())));
                self.mismatch(b, &allowed, report);
                return None;
            }
        };
        if let (true, Some(role)) = (mutable, read_only) {
            let instead = match of_values {
                true => format!("&Records<{t}>"),
                false => format!("&{t}"),
            };
            report.error_help(
                b.ty.span(),
                format!("`{name}` is `#[{role}]`, which waves only read"),
                format!(
                    "take `{name}: {instead}`, or declare it `#[scratch(..)]` or `#[output(..)]`"
                ),
            );
            return None;
        }
        let has_atomics = !matches!(scalar, Scalar::Bool | Scalar::U8);
        if of_values && !has_atomics {
            report.error_help(
                b.ty.span(),
                format!("there are no atomics on `{s}`"),
                "use u32, i32, u64, i64, f32 or f64",
            );
            return None;
        }
        if of_values {
            return Some(ParamKind::AtomicBuf { buffer, scalar });
        }
        let instead = match mutable {
            true => format!(
                "take `{name}: &Buf<Atomic<{s}>>` to update any value: those of array `i` are from `i * {len}` on"
            ),
            false => format!("take `{name}: &Records<{t}>` to read any array"),
        };
        self.check_own(b, buffer, (mutable, instead), program, report)?;
        Some(ParamKind::OwnRow { buffer, mutable })
    }

    /// `&T` and `&mut T` need a domain that gives each lane one element, `&[T; K]` and `&mut [T; K]` one that gives it
    /// `K` of them; what is `&mut` needs each element to have one lane.
    fn check_own(
        &self,
        b: &Bound<'_>,
        buffer: BufferId,
        (mutable, instead): (bool, String),
        program: &Program,
        report: &mut Report,
    ) -> Option<()> {
        let (domain, length) = b.domain?;
        let name = b.name;
        let actual = &self.lengths[buffer.index()];
        // A wave of an included graph fits its own fields, and those that stand for them here have their lengths.
        let (wanted, owns) = match row_length(b.ty) {
            None => (length.clone(), "one of them"),
            Some(_) if let Slot::Arrays(_, n) = b.slot => {
                let n = Length::Fixed(n.into());
                (length.as_ref().map(|l| l.times(&n)), "one of them")
            }
            Some(k) => {
                let scope = (b.wave.origin.map(|o| o.graph), b.wave.scope);
                let k = self.row_len(k, scope, report)?;
                (length.as_ref().map(|l| l.times(&k)), "a row of them")
            }
        };
        let fits = b.wave.origin.is_some() || wanted.as_ref() == Some(actual);
        if *actual != Length::Broken && !fits {
            let word = b.wave.domain.as_ref().map_or("", DomainArgs::word);
            // Any element is in reach, but none is found by the number of an edge of another graph.
            if let (Length::Edges(t), Some(DomainArgs::Edges { graph, .. })) =
                (actual, &b.wave.domain)
                && matches!(wanted, Some(Length::Edges(_)) | None)
                && *graph != program.topologies[t.index()].name
            {
                let of = &program.topologies[t.index()].name;
                report.error_help(
                    b.ty.span(),
                    format!("`{name}` has one element per edge of `{of}`, and this wave sweeps the edges of `{graph}`, which have other numbers"),
                    format!("sweep `edges({of})`, or declare `{name}` with `per = edge({graph})`"),
                );
                return None;
            }
            let shape = match actual {
                _ if let (Slot::Arrays(..), FieldKind::Column { per: Some(per), .. }) =
                    (b.slot, &b.field.kind) =>
                {
                    match per {
                        Per::Edge(g) => format!("one array per edge of `{g}`"),
                        Per::Len(e) => format!("`{}` arrays", source_text(e)),
                        _ => "one array per node".to_owned(),
                    }
                }
                Length::Nodes | Length::NodeBits(_) | Length::Broken => {
                    "one element per node".to_owned()
                }
                Length::Edges(t) => {
                    format!(
                        "one element per edge of `{}`",
                        program.topologies[t.index()].name
                    )
                }
                Length::Bounds(_) => "one element more than there are parts".to_owned(),
                Length::Fixed(n) => format!("{n} elements"),
                Length::Scalar(s) => format!("`{}` elements", program.scalars[s.index()].name),
                Length::Constant(c) => format!("`{c}` elements"),
                Length::Sum(_) | Length::Computed(..) => match &b.field.kind {
                    FieldKind::Column {
                        per: Some(Per::Len(e)),
                        ..
                    } => {
                        format!("`{}` elements", source_text(e))
                    }
                    _ => "another length".to_owned(),
                },
            };
            report.error_help(
                b.ty.span(),
                format!("`{name}` has {shape}; a lane of `{word}` does not own {owns}"),
                match row_length(b.ty) {
                    Some(k) if !matches!(b.slot, Slot::Arrays(..)) => {
                        let k = source_text(row_factor(k));
                        format!("{instead}, or declare it with the items of `{word}` times {k}, such as `per = node * {k}`")
                    }
                    _ => instead,
                },
            );
            return None;
        }
        self.check_once(b, (domain, mutable, &instead), program, report)
    }

    /// The item's own row of a buffer that has an element for each value of rows.
    fn own_values(
        &self,
        b: &Bound<'_>,
        buffer: BufferId,
        mutable: bool,
        program: &Program,
        report: &mut Report,
    ) -> Option<ParamKind> {
        let (domain, length) = b.domain?;
        let (name, scalar) = (b.name, program.buffers[buffer.index()].scalar);
        let t = scalar.name();
        let of = &self.lengths[buffer.index()];
        let instead = match mutable {
            true => format!("take `{name}: &Buf<Atomic<{t}>>` to update any element"),
            false => format!("take `{name}: &Buf<{t}>` to read any element"),
        };
        let rows = self.iter().find_map(|(field, slot)| match slot {
            Slot::RowsOf { offsets, count, .. } if *of == Length::Scalar(count) => {
                Some((field, offsets))
            }
            _ => None,
        });
        let Some((rows, offsets)) = rows else {
            if *of != Length::Broken {
                report.error_help(
                    b.ty.span(),
                    format!("`{name}` has no rows: it is not declared with `per = row(..)`"),
                    format!("{instead}, or declare `{name}` with `per = row(text)`, where `text` is a `#[topology]` of type `Rows<..>`"),
                );
            }
            return None;
        };
        let wanted = &self.lengths[offsets.index()];
        if *wanted != Length::Broken && length.as_ref() != Some(wanted) {
            let word = b.wave.domain.as_ref().map_or("", DomainArgs::word);
            let declared = match rows.rows() {
                Some(Per::Len(e)) => format!("per = {}", source_text(e)),
                Some(Per::Edge(g)) => format!("per = edge({g})"),
                _ => "per = node".to_owned(),
            };
            let rows = &rows.name;
            report.error_help(
                b.ty.span(),
                format!("`{name}` has a row for each of `{rows}`, which has `{declared}`; a lane of `{word}` does not own one"),
                match Some(buffer) == self.values_of(rows) {
                    true => format!("take `{name}: &Rows<{t}>` to read any row"),
                    false => instead,
                },
            );
            return None;
        }
        self.check_once(b, (domain, mutable, &instead), program, report)?;
        Some(ParamKind::OwnValues {
            offsets,
            values: buffer,
            scalar,
            mutable,
        })
    }

    /// The values of rows.
    fn values_of(&self, rows: &Ident) -> Option<BufferId> {
        match self.slot(rows)? {
            Slot::RowsOf { values, .. } => Some(values),
            _ => None,
        }
    }

    /// What is `&mut` needs each element to have one lane.
    fn check_once(
        &self,
        b: &Bound<'_>,
        (domain, mutable, instead): (&Domain, bool, &str),
        program: &Program,
        report: &mut Report,
    ) -> Option<()> {
        let name = b.name;
        let frontier = domain.frontier().map(|f| &program.frontiers[f.index()]);
        if let Some(frontier) = frontier.filter(|f| mutable && !f.unique) {
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
        let name = b.name;
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

impl Sweep {
    /// The method of the native sweep's context that runs the wave.
    pub(crate) fn method(&self) -> &'static str {
        let takes_whole = self.params.iter().any(|p| p.kind == ParamKind::Record);
        match self.domain {
            Domain::Once => "once",
            Domain::Range(_) => "range",
            Domain::Nodes => "nodes",
            Domain::Items(_) if takes_whole => "records",
            Domain::Items(_) => "items",
            Domain::ListItems(..) => "records",
            Domain::Edges(_) => "edges",
            Domain::EdgesFrom(..) => "edges_from",
        }
    }
}

/// How many cells a grid has.
fn cells(sides: &[Expr; 2]) -> Expr {
    let [width, height] = sides.each_ref().map(|side| match side {
        Expr::Binary(_) | Expr::Cast(_) => parse_quote!((#side)),
        side => side.clone(),
    });
    parse_quote!(#width * #height)
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
    /// The field's, or that of a part of its structs.
    name: &'a Ident,
    ty: &'a Type,
    domain: Option<&'a (Domain, Option<Length>)>,
}
