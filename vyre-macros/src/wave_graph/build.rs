//! From a graph to a verified program: its bodies are compiled, ordered, scheduled and encoded.

use super::anew;
use super::before::as_written;
use super::check::{self, Fields, Slot, Sweep};
use super::claims;
use super::domain::DomainArgs;
use super::graph::{
    self, Filter, FixpointArgs, Graph, MaxRounds, Origin, Piece, Scope, renamed_expr,
};
use super::local;
use super::order::{self, Use, Uses, Via};
use crate::args::ident_of;
use crate::kernel::param::{Written, written};
use crate::kernel::{Env, Helpers, ParamKind, Root, compile_condition, compile_wave};
use crate::package::Imports;
use crate::pass;
use crate::report::{Report, listed};
use crate::tables::Tables;
use crate::tokens::{ident, source_text};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashMap;
use std::fmt;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Ident, parse_quote};
use vyre_core::compile::edge_numbers::{ByEdge, by_edges};
use vyre_core::compile::ir::Body;
use vyre_core::compile::lower::{Literals, LowerError, lower};
use vyre_core::compile::{effects, room};
use vyre_core::plan;
use vyre_core::plan::budget::{Backend, verdicts};
use vyre_core::plan::hazard::join;
use vyre_core::plan::lives::Life;
use vyre_core::vir0::container::{encode, program_hash};
use vyre_core::vir0::local::{Local, locals};
use vyre_core::vir0::module::{
    Access, Agreement, BufferId, Constant, Domain, Extent, Fixpoint, FixpointId, Kernel, KernelId,
    MAX_ROUNDS, Mode, Portion, Program, Reason, Reduction, Resource, Role, SiteId, Step,
    TopologyId, Wave, Why,
};
use vyre_core::vir0::verify::verify;

/// Everything that the expansion needs. After an error only the declarations and what was recorded so far.
pub(crate) struct Built<'g> {
    pub(crate) fields: Fields<'g>,
    /// The declarations; the rest too when it compiled.
    pub(crate) program: Program,
    pub(crate) tables: Tables,
    pub(crate) sweeps: Vec<Option<Sweep>>,
    /// The encoded program when everything succeeded.
    pub(crate) skeleton: Option<Vec<u8>>,
    /// The targets on which it cannot meet its budget, if there are others.
    pub(crate) missed: Vec<Missed>,
    /// Rooms of frontiers that depend on what only rustc knows.
    pub(crate) rooms: Vec<room::Conditional>,
}

/// A target on which a pass cannot meet its budget.
pub(crate) struct Missed {
    pub(crate) backend: Backend,
    /// What it needs there at least; `None`: more than 64 bits count.
    pub(crate) needed_bytes: Option<u64>,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.backend.name();
        match self.needed_bytes {
            Some(bytes) => write!(f, "{name} needs at least {bytes} bytes"),
            None => write!(f, "{name} needs more bytes than 64 bits count"),
        }
    }
}

/// Bodies and uses, collected scope by scope.
struct Builder<'g, 'r> {
    graph: &'g Graph,
    report: &'r mut Report,
    tables: Tables,
    program: Program,
    bodies: Vec<Option<Body>>,
    conditions: Vec<Option<Body>>,
    swaps: Vec<Vec<(BufferId, BufferId)>>,
    /// By fixpoint: the bounds of the parts that run it.
    parts: Vec<Option<BufferId>>,
    sites: Vec<SiteId>,
    sweeps: Vec<Option<Sweep>>,
    /// By included graph.
    filters: Vec<Option<Filtering>>,
    missed: Vec<Missed>,
    rooms: Vec<room::Conditional>,
}

/// What says which edges the waves of an included graph sweep.
struct Filtering {
    name: Ident,
    params: Vec<check::Param>,
    /// Its value is a bool.
    body: Body,
}

/// Checks, lowers, orders and verifies.
pub(crate) fn build<'g>(
    graph: &'g Graph,
    imports: Imports,
    parsed: bool,
    report: &mut Report,
) -> Built<'g> {
    let scopes = graph.scopes.len();
    let mut b = Builder {
        graph,
        report,
        tables: Tables::default(),
        program: Program {
            name: graph.name.unraw().to_string(),
            manifest: graph.claim.manifest.clone(),
            ..Program::default()
        },
        bodies: Vec::new(),
        conditions: (1..scopes).map(|_| None).collect(),
        swaps: vec![Vec::new(); scopes - 1],
        parts: vec![None; scopes - 1],
        sites: vec![SiteId(0); scopes - 1],
        sweeps: Vec::new(),
        filters: Vec::new(),
        missed: Vec::new(),
        rooms: Vec::new(),
    };
    b.bodies.resize_with(graph.waves.len(), || None);
    b.sweeps.resize_with(graph.waves.len(), || None);
    b.tables.begin_module();
    let root = if graph.scopes[0].in_body {
        Root::Body
    } else {
        Root::Module
    };
    let mut helpers = Helpers::new(imports, root);
    let in_scope = (&mut helpers, &mut b.tables);
    let fields = Fields::resolve(graph, &mut b.program, in_scope, b.report);
    // Without its fields a wave means nothing.
    if graph.has_data {
        b.compile(&fields, helpers);
    }
    let skeleton = b.assemble(&fields, parsed);
    Built {
        fields,
        program: b.program,
        tables: b.tables,
        sweeps: b.sweeps,
        skeleton,
        missed: b.missed,
        rooms: b.rooms,
    }
}

impl Builder<'_, '_> {
    /// Compiles every body, module by module: ids of constants and sites run on in that order.
    fn compile(&mut self, fields: &Fields<'_>, mut helpers: Helpers) {
        let graph = self.graph;
        let included = |origin: Origin| {
            let graph = &graph.included[origin.graph];
            let mut helpers = Helpers::new(graph.imports.clone(), Root::Module);
            helpers.enter(&graph.items);
            helpers
        };
        let mut entered: Vec<usize> = Vec::new();
        for (s, scope) in graph.scopes.iter().enumerate() {
            if s > 0 {
                self.tables.begin_module();
            }
            let own;
            let here = match scope.origin {
                Some(origin) => {
                    // Its parents in the included graph, from the outermost to this one.
                    let mut inner = included(origin);
                    let of = |s: usize| graph.scopes[s].origin.map(|o| o.graph);
                    let around = std::iter::successors(Some(s), |&s| graph.scopes[s].parent);
                    let around = around.take_while(|&s| of(s) == Some(origin.graph));
                    let around: Vec<usize> = around.collect();
                    for &s in around.iter().rev() {
                        inner.enter(&graph.scopes[s].items);
                    }
                    own = inner;
                    &own
                }
                None => {
                    while entered.last().copied() != scope.parent {
                        self.leave(&mut entered, &mut helpers);
                    }
                    entered.push(s);
                    helpers.enter(&scope.items);
                    if s == 0 {
                        self.filters(fields, &helpers);
                    }
                    &helpers
                }
            };
            let origin = |piece: &Piece| match piece {
                Piece::Item(_) => None,
                Piece::Wave(w) => graph.waves[*w].origin,
                Piece::Scope(s) => graph.scopes[*s].origin,
            };
            for piece in &scope.pieces {
                let piece_alone = std::slice::from_ref(piece);
                match origin(piece) {
                    Some(o) if scope.origin.is_none_or(|here| here.graph != o.graph) => {
                        let origin = Origin {
                            graph: o.graph,
                            scope: 0,
                        };
                        self.pieces(piece_alone, fields, &included(origin), Some(origin));
                    }
                    // What is written out in an included fixpoint is this graph's, and calls nothing.
                    None if scope.origin.is_some() => {
                        self.pieces(piece_alone, fields, here, None);
                    }
                    _ => self.pieces(piece_alone, fields, here, scope.origin),
                }
            }
        }
        while !entered.is_empty() {
            self.leave(&mut entered, &mut helpers);
        }
    }

    /// Compiles what says which edges of included graphs are swept.
    fn filters(&mut self, fields: &Fields<'_>, helpers: &Helpers) {
        let graph = self.graph;
        for included in &graph.included {
            let filter = included.filter.as_ref();
            let filter = filter.and_then(|filter| self.filter(filter, fields, helpers));
            self.filters.push(filter);
        }
    }

    fn filter(
        &mut self,
        filter: &Filter,
        fields: &Fields<'_>,
        helpers: &Helpers,
    ) -> Option<Filtering> {
        let errors = self.report.len();
        let name = &filter.function.sig.ident;
        let mut function = filter.function.clone();
        function.block = parse_quote!({});
        // As a wave would take its parameters.
        let wave = graph::Wave {
            scope: 0,
            function,
            domain: Some(DomainArgs::Edges {
                graph: filter.graph.clone(),
                from: None,
            }),
            after: Vec::new(),
            names: HashMap::new(),
            call: None,
            shown: None,
            origin: None,
        };
        let round = wave.function.sig.inputs.iter().find_map(|arg| match arg {
            syn::FnArg::Typed(p) if written(&p.ty) == Written::Round => Some(p),
            _ => None,
        });
        if let Some(round) = round {
            let (message, help) = not_taken(name, &round.pat);
            self.report.error_help(round.span(), message, help);
            return None;
        }
        let sweep = fields.sweep(&wave, &self.program, &mut self.tables, self.report)?;
        let mut bindings: Vec<(Ident, ParamKind)> = Vec::new();
        for param in &sweep.params {
            let read = matches!(
                param.kind,
                ParamKind::Edge
                    | ParamKind::Scalar(..)
                    | ParamKind::Buf { .. }
                    | ParamKind::Bits { .. }
                    | ParamKind::Rows { .. }
                    | ParamKind::Csr(_)
                    | ParamKind::Own { mutable: false, .. }
                    | ParamKind::Records { .. }
                    | ParamKind::Arrays { .. }
            );
            match &param.name {
                Some(name) if read => bindings.push((name.clone(), param.kind)),
                Some(field) => {
                    let (message, help) = not_taken(name, field);
                    self.report.error_help(param.at, message, help);
                }
                None => self.report.error_help(
                    param.at,
                    format!("a parameter of `{name}` has no name"),
                    "give it one; a name may begin with `_`",
                ),
            }
        }
        if self.report.len() > errors {
            return None;
        }
        let given = bindings.iter().map(|(name, _)| name);
        let call = ident(&name.to_string(), filter.at);
        let call: Expr = parse_quote!(#call(#(#given),*));
        let names = fields.parameters(&self.program);
        let env = Env {
            bindings: &bindings,
            helpers,
            fields: &names,
        };
        let text = name.to_string();
        let body = compile_condition(
            &text,
            (&call, Some(&wave.function.sig)),
            &env,
            &mut self.tables,
            self.report,
        )?;
        for u in effects::uses(&body) {
            let param = sweep.params.iter().find(|p| p.kind.takes(u.resource));
            if let (Some(param), true) = (param, u.mode != Mode::Read) {
                self.report.error_help(
                    param.at,
                    format!(
                        "`{name}` changes what it is given, and only says which edges are swept"
                    ),
                    "let a wave change it, before or after the included graph",
                );
            }
        }
        (self.report.len() == errors).then(|| Filtering {
            name: name.clone(),
            params: sweep.params,
            body,
        })
    }

    /// Puts a sweep behind what says which edges it is about.
    fn filtered(&mut self, w: usize, sweep: &mut Sweep) {
        let wave = &self.graph.waves[w];
        let filter = wave.origin.and_then(|o| self.filters[o.graph].as_ref());
        let edges = matches!(wave.domain, Some(DomainArgs::Edges { .. }));
        let Some(filter) = filter.filter(|_| edges) else {
            return;
        };
        let Some(body) = self.bodies[w].take() else {
            return;
        };
        let changed = effects::uses(&body)
            .into_iter()
            .filter(|u| u.mode != Mode::Read);
        let changed: Vec<Resource> = changed.map(|u| u.resource).collect();
        for param in &filter.params {
            let same = |p: &&check::Param| {
                let of_both = |r: &Resource| p.kind.takes(*r) && param.kind.takes(*r);
                changed.iter().any(of_both)
            };
            if let (Some(_), Some(name)) = (sweep.params.iter().find(same), &param.name) {
                self.report.error_help(
                    param.at,
                    format!("`{}` reads `{name}`, which `{}` changes in the same sweep", filter.name, wave.shown()),
                    "let the function go by something else, such as a copy that a wave makes before",
                );
            }
        }
        self.bodies[w] = Some(body.behind(filter.body.clone()));
        sweep.filter = Some((filter.name.clone(), sweep.params.len()));
        sweep.params.extend(filter.params.iter().cloned());
    }

    /// Leaves the module that was entered last.
    fn leave(&mut self, entered: &mut Vec<usize>, helpers: &mut Helpers) {
        let assumed = helpers.leave();
        if let Some(s) = entered.pop() {
            self.tables.assumes(s, assumed);
        }
    }

    /// Compiles parts of one module.
    fn pieces(
        &mut self,
        pieces: &[Piece],
        fields: &Fields<'_>,
        helpers: &Helpers,
        origin: Option<Origin>,
    ) {
        let graph = self.graph;
        if let Some(o) = origin {
            let (path, tables) = &graph.included[o.graph].modules[o.scope];
            self.tables.enter(path, tables);
        }
        for piece in pieces {
            match piece {
                Piece::Item(_) => {}
                Piece::Wave(w) => self.wave(*w, fields, helpers),
                Piece::Scope(inner) => self.fixpoint(*inner, fields, helpers),
            }
        }
        self.tables.leave();
    }

    fn wave(&mut self, w: usize, fields: &Fields<'_>, helpers: &Helpers) {
        let wave = &self.graph.waves[w];
        let sweep = fields.sweep(wave, &self.program, &mut self.tables, self.report);
        let Some(mut sweep) = sweep else { return };
        let names = fields.parameters(&self.program);
        let bindings: Vec<(Ident, ParamKind)> = sweep
            .params
            .iter()
            .filter_map(|p| Some((p.name.clone()?, p.kind)))
            .collect();
        let env = Env {
            bindings: &bindings,
            helpers,
            fields: &names,
        };
        let body = compile_wave(&wave.function, &env, &mut self.tables, self.report);
        self.bodies[w] = body.map(|body| Body {
            name: wave.shown(),
            ..body
        });
        self.filtered(w, &mut sweep);
        self.read_only_rows(w, &sweep);
        self.edges_of_its_own(w, &sweep);
        self.sweeps[w] = Some(sweep);
    }

    /// Refuses what changes rows of bits that the caller gives: `&Bits` does not say by its type whether it is written.
    fn read_only_rows(&mut self, w: usize, sweep: &Sweep) {
        let Some(body) = &self.bodies[w] else { return };
        for u in effects::uses(body) {
            let param = sweep.params.iter().find(|p| p.kind.takes(u.resource));
            let Some(check::Param {
                name: Some(name),
                kind: ParamKind::Bits { buffer, .. },
                ..
            }) = param
            else {
                continue;
            };
            let role = match self.program.buffers[buffer.index()].role {
                Role::Topology => "topology",
                Role::Input => "input",
                Role::Output | Role::Scratch | Role::InOut => continue,
            };
            if u.mode != Mode::Read {
                let at = u.site.and_then(|site| self.tables.span(site));
                self.report.error_help(
                    at.unwrap_or_else(|| name.span()),
                    format!("`{name}` is `#[{role}]`, which waves only read"),
                    "declare the rows `#[scratch(..)]` or `#[output(..)]`, and copy them word by word with `word` and `store_word`",
                );
            }
        }
    }

    /// Refuses a buffer of a graph's edges that is indexed by an edge of the graph the other way round.
    fn edges_of_its_own(&mut self, w: usize, sweep: &Sweep) {
        let Some(body) = &self.bodies[w] else { return };
        let swept = match sweep.domain {
            Domain::Edges(graph) | Domain::EdgesFrom(graph, _) => Some(graph),
            Domain::Once
            | Domain::Range(_)
            | Domain::Nodes
            | Domain::Items(_)
            | Domain::ListItems(..) => None,
        };
        for ByEdge {
            buffer,
            graph,
            site,
        } in by_edges(body, swept)
        {
            let buffer = &self.program.buffers[buffer.index()];
            let Extent::Edges(of) = buffer.extent else {
                continue;
            };
            let topology = |id: TopologyId| &self.program.topologies[id.index()];
            let reverse = |a, b| topology(a).reverse_of == Some(b);
            if !reverse(graph, of) && !reverse(of, graph) {
                continue;
            }
            let (name, by, has) = (&buffer.name, &topology(graph).name, &topology(of).name);
            let at = self.tables.span(site);
            self.report.error_help(
                at.unwrap_or_else(|| self.graph.waves[w].name().span()),
                format!("`{name}` has one element per edge of `{has}`, but its index is an edge's number in `{by}`"),
                "each graph numbers its own edges; `Csr::reverse_indexed` gives a reverse graph, and which edge each of \
                 its edges is: pass both with the session, with `per = edge(..)` for what belongs to the edges of each",
            );
        }
    }

    fn fixpoint(&mut self, s: usize, fields: &Fields<'_>, helpers: &Helpers) {
        let scope = &self.graph.scopes[s];
        let Some(args) = &scope.fixpoint else { return };
        let f = s - 1;
        self.sites[f] = self.tables.site(scope.name.span());
        if let Some(parts) = &args.per {
            self.parts[f] = fields.parts(parts, self.report);
        }
        for pair in &args.swaps {
            let swap = check::swap(pair, fields, &self.program, self.report);
            self.swaps[f].extend(swap.into_iter().flatten());
        }
        let swapped: Vec<&Ident> = args.swaps.iter().flat_map(|(a, b)| [a, b]).collect();
        if let Some(twice) = (0..swapped.len()).find(|&i| swapped[..i].contains(&swapped[i])) {
            let name = &args.swaps[twice / 2].1;
            self.report
                .error(name.span(), "a buffer is swapped once a round");
        }
        if let (Some(MaxRounds::Constant(e)), None) = (&args.max_rounds, &args.included)
            && let Some(name) = ident_of(e)
            && fields.slot(name).is_some()
        {
            self.report.error_help(
                name.span(),
                format!("`max_rounds` is a literal or a constant, and `{name}` is a field of `Data`"),
                format!("a limit of the run belongs in the condition: `until(round + 1 >= {name} || ..)`"),
            );
        }
        let Some(until) = &args.until else { return };
        let rounds = self.graph.rounds(s);
        if self.asks_elsewhere(args, &rounds) {
            return;
        }
        let bindings = condition_bindings(args, fields, &self.program, rounds);
        let mut names = fields.parameters(&self.program);
        // What is wrong with these has been said, or their type has yet to arrive from another module.
        let is_broken = |field: &Ident| matches!(fields.slot(field), Some(Slot::Broken));
        let broken: Vec<String> = match &args.included {
            None => {
                let all = fields.iter().map(|(field, _)| &field.name);
                all.filter(|f| is_broken(f)).map(Ident::to_string).collect()
            }
            Some(included) => {
                let all = included.names.iter().filter(|(_, field)| is_broken(field));
                all.map(|(theirs, _)| theirs.clone()).collect()
            }
        };
        names.extend(broken.into_iter().map(|name| (name, String::new())));
        let env = Env {
            bindings: &bindings,
            helpers,
            fields: &names,
        };
        let name = scope.name.unraw().to_string();
        self.conditions[f] =
            compile_condition(&name, (until, None), &env, &mut self.tables, self.report);
    }

    /// Whether a condition asks for the round of a fixpoint that is not around it, which is said.
    fn asks_elsewhere(
        &mut self,
        args: &FixpointArgs,
        rounds: &[(String, Option<FixpointId>)],
    ) -> bool {
        let scopes = self.graph.scopes.iter().skip(1);
        let elsewhere: Vec<String> = scopes.map(Scope::own_name).collect();
        let before = self.report.len();
        for (name, field) in args.asked() {
            let is_field = field.is_some_and(|f| self.graph.fields.iter().any(|x| x.name == f));
            let word = name.unraw().to_string();
            if is_field || rounds.iter().any(|(r, _)| *r == word) || !elsewhere.contains(&word) {
                continue;
            }
            let here = rounds.iter().map(|(r, _)| format!("`{r}`"));
            self.report.error_help(
                name.span(),
                format!("fixpoint `{name}` is not around this condition"),
                format!("the rounds here are {}", listed(here)),
            );
        }
        self.report.len() > before
    }

    /// Orders, completes and verifies the program, and encodes it.
    fn assemble(&mut self, fields: &Fields<'_>, parsed: bool) -> Option<Vec<u8>> {
        let graph = self.graph;
        self.program.lengths = self.tables.lengths();
        if graph.has_data {
            claims::check(graph, fields, &self.program, self.report);
        }
        let internal = |what: &dyn std::fmt::Display, at: Span, report: &mut Report| {
            report.error_help(
                at,
                format!("internal error in vyre: {what}"),
                "this is a bug of vyre, not of your pass; please report it with the source of the pass",
            );
        };
        let complete = self.report.is_empty()
            && parsed
            && self.bodies.iter().all(Option::is_some)
            && self.conditions.iter().all(Option::is_some);
        let uses = complete.then(|| self.uses(fields));
        if let Some(uses) = &uses {
            self.program.waves = self.waves(uses);
            anew::resolve(graph, fields, (&mut self.program, uses), self.report);
        }
        let order = order::order(graph, uses.as_ref(), &self.program, self.report);
        if !complete {
            if self.report.is_empty() {
                let what = "a body was not compiled and nothing was reported";
                internal(&what, graph.name.span(), self.report);
            }
            return None;
        }
        let order = order?;
        for (table, what) in [
            (graph.waves.len(), "waves"),
            (graph.scopes.len(), "fixpoints"),
            (graph.fields.len(), "fields"),
        ] {
            if table > usize::from(u16::MAX) {
                self.report.error(
                    graph.name.span(),
                    format!(
                        "a pass has at most {} {what}; this one has {table}",
                        u16::MAX
                    ),
                );
                return None;
            }
        }
        if self.tables.overflowed() {
            self.report.error(
                graph.name.span(),
                format!("a pass has at most {} sites and constants", u16::MAX),
            );
            return None;
        }

        let mut literals = Literals::new(self.tables.constant_count());
        let bodies: Vec<(&Body, Span)> = self
            .bodies
            .iter()
            .flatten()
            .zip(graph.waves.iter().map(|w| w.name().span()))
            .chain(
                self.conditions
                    .iter()
                    .flatten()
                    .zip(graph.scopes[1..].iter().map(|s| s.name.span())),
            )
            .collect();
        let mut kernels: Vec<Kernel> = Vec::new();
        for (body, at) in bodies {
            match lower(body, &mut literals) {
                Ok(kernel) => kernels.push(kernel),
                // A variable that is read before it is assigned, an operator that a type lacks: rustc's to report.
                Err(e @ (LowerError::Invalid(_) | LowerError::Unsupported { .. })) => {
                    self.report.left_to_rustc(format!("`{}`: {e}", body.name));
                }
                Err(e) => self.report.error(at, format!("`{}`: {e}", body.name)),
            }
        }
        if !self.report.is_empty() {
            return None;
        }
        let program = &mut self.program;
        program.kernels = kernels;
        program.constants = self
            .tables
            .modules()
            .iter()
            .flat_map(|m| &m.constants)
            .map(|c| Constant {
                scalar: c.scalar,
                bits: 0,
            })
            .chain(literals.into_constants())
            .collect();
        for (f, owner) in program.frontiers.iter_mut().zip(order.frontier_owners) {
            f.owner = owner;
        }
        for (r, owner) in program.reductions.iter_mut().zip(order.reduction_owners) {
            r.owner = owner;
        }
        for (wave, after) in program.waves.iter_mut().zip(order.waves_after) {
            wave.after = after;
        }
        let scopes = graph.scopes.iter().zip(order.scopes_after).skip(1);
        program.fixpoints = scopes
            .enumerate()
            .map(|(f, (scope, after))| Fixpoint {
                name: scope.shown(),
                parent: scope.parent.and_then(check::fixpoint_of),
                until: KernelId((graph.waves.len() + f) as u16),
                condition: scope
                    .fixpoint
                    .as_ref()
                    .map_or_else(String::new, condition_text),
                max_rounds: match scope.fixpoint.as_ref().and_then(|a| a.max_rounds.as_ref()) {
                    Some(MaxRounds::Literal(n)) => *n,
                    Some(MaxRounds::Constant(_)) | None => MAX_ROUNDS,
                },
                swaps: self.swaps[f].clone(),
                after,
                site: self.sites[f],
            })
            .collect();
        program.schedule = order.schedule;
        for step in &mut program.schedule {
            if let Step::Loop(f) = *step
                && let Some(bounds) = self.parts[f.index()]
            {
                *step = Step::Each(f, bounds);
            }
        }
        // One value a part is nothing that a run gives back.
        let locals: Vec<Local> = locals(program).collect();
        let is_of_parts = |r: &Reduction| locals.iter().any(|l| l.contains(program, r.owner));
        let of_parts: Vec<bool> = program.reductions.iter().map(is_of_parts).collect();
        for (reduction, of_parts) in program.reductions.iter_mut().zip(of_parts) {
            reduction.output &= !of_parts;
        }
        program.messages = self.tables.messages();
        if let Some(uses) = &uses
            && (local::report(graph, fields, (&self.program, uses), self.report)
                || anew::never_empty(graph, fields, (&self.program, uses), self.report))
        {
            return None;
        }
        let program = &mut self.program;
        let bodies: Vec<&Body> = self.bodies.iter().flatten().collect();
        let conditions: Vec<&Body> = self.conditions.iter().flatten().collect();
        program.agreement = effects::agreement(program, &bodies, &conditions);
        let scopes = graph.scopes.iter().zip(0..);
        let named: Vec<_> = scopes
            .filter(|(s, _)| {
                let args = s.fixpoint.as_ref();
                args.is_some_and(|a| matches!(a.max_rounds, Some(MaxRounds::Constant(_))))
            })
            .filter_map(|(_, s)| check::fixpoint_of(s))
            .collect();
        self.rooms = room::limit(program, &bodies, &named);
        if graph.options.deterministic && !self.is_determined() {
            return None;
        }
        self.program.manifest.claims = claims::kept(graph, fields, &self.program, self.report);
        if !self.report.is_empty() {
            return None;
        }
        let program = &mut self.program;
        if let Err(errors) = verify(program) {
            for e in errors.iter().take(5) {
                internal(e, graph.name.span(), self.report);
            }
            return None;
        }
        self.fit()?;
        // Another judge than the stages that ordered the waves and split groups.
        let wrong = plan::check::program(&self.program);
        for violation in wrong.iter().take(5) {
            internal(violation, graph.name.span(), self.report);
        }
        if !wrong.is_empty() {
            return None;
        }
        let hash = program_hash(&self.program, &self.spelling());
        (graph.claim).prove(&mut self.program.manifest, hash, self.report);
        Some(encode(&self.program))
    }

    /// How named constants are written.
    fn spelling(&self) -> String {
        let scopes = &self.graph.scopes;
        let limits = scopes
            .iter()
            .filter_map(|s| match &s.fixpoint.as_ref()?.max_rounds {
                Some(MaxRounds::Constant(limit)) => Some(&**limit),
                Some(MaxRounds::Literal(_)) | None => None,
            });
        let items = scopes.iter().flat_map(|s| &s.items);
        pass::spelling(self.tables.modules(), limits, items)
    }

    /// Whether results are the same in every run; if not, says why not.
    fn is_determined(&mut self) -> bool {
        let Agreement::Open(reasons) = &self.program.agreement else {
            return true;
        };
        let mut places: Vec<SiteId> = Vec::new();
        for reason in reasons {
            // What follows from a place that was named says nothing new.
            if let Some(site) = reason.site {
                if places.contains(&site) {
                    continue;
                }
                places.push(site);
            }
            let wave = self.graph.waves.get(reason.wave.index());
            let function = wave.map(|w| &w.function);
            let place = match reason.why {
                // None of its waves is to blame.
                Why::Until | Why::Nested => wave.map(|w| self.graph.scopes[w.scope].name.span()),
                _ => function.map(|f| f.sig.ident.span()),
            };
            let resource = reason.resource.map(|r| self.program.field_of(r));
            let parameter = function.zip(resource).and_then(|(f, field)| {
                let named = |name: &Ident| name.unraw() == field;
                f.sig.inputs.iter().find_map(|input| match input {
                    syn::FnArg::Typed(p) => match &*p.pat {
                        syn::Pat::Ident(name) if named(&name.ident) => Some(name.ident.span()),
                        _ => None,
                    },
                    syn::FnArg::Receiver(_) => None,
                })
            });
            let token = reason.site.and_then(|site| self.tables.token(site));
            self.report.error_help(
                token
                    .or(parameter)
                    .or(place)
                    .unwrap_or_else(Span::call_site),
                format!(
                    "results may differ from run to run: {}",
                    reason.said(&self.program)
                ),
                instead(reason),
            );
        }
        false
    }

    /// Brings the schedule under the budget for the largest graph that is allowed, on the first target where that can be
    /// done. What is not known yet (a length that is a scalar or a named constant, whose values are 0 here, edges without
    /// a limit) counts as nothing: a session checks again with real sizes.
    fn fit(&mut self) -> Option<()> {
        let options = &self.graph.options;
        let program = &mut self.program;
        program.manifest.max_nodes = options.limits.nodes;
        program.manifest.max_edges = options.limits.edges;
        program.manifest.budget_bytes = options.budget_bytes;
        let Some(budget_bytes) = options.budget_bytes else {
            return Some(());
        };
        let verdicts = verdicts(program, budget_bytes);
        let errors = verdicts.iter().filter_map(|v| {
            let error = v.fit.as_ref().err()?;
            Some((v.backend, error))
        });
        let missed = errors.clone().map(|(backend, _)| Missed {
            backend,
            needed_bytes: backend.least(program),
        });
        let missed: Vec<Missed> = missed.collect();
        if let Some(fitted) = verdicts.iter().find_map(|v| v.fit.as_ref().ok()) {
            program.schedule = fitted.schedule.clone();
            self.missed = missed;
            return Some(());
        }
        let least = errors.zip(&missed);
        let least = least.min_by_key(|(_, missed)| missed.needed_bytes.unwrap_or(u64::MAX));
        let ((backend, e), _) = least.expect("the host runs every program");
        let largest = backend.takes(program).ok().map(|takes| {
            let mut fields: Vec<(&str, u64)> = Vec::new();
            for item in takes.items.iter().filter(|i| i.life != Life::Never) {
                let name = program.field_of(item.resource);
                match fields.iter_mut().find(|(field, _)| *field == name) {
                    Some((_, bytes)) => *bytes = bytes.saturating_add(item.bytes),
                    None => fields.push((name, item.bytes)),
                }
            }
            fields.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
            let fields = fields.iter().take(3);
            let fields = fields.map(|(name, bytes)| format!("`{name}` takes {bytes} bytes"));
            let beside = takes.beside_bytes;
            let beside =
                (beside > 0).then(|| format!("what the executor holds beside them {beside} bytes"));
            listed(fields.chain(beside))
        });
        let on = backend.name();
        let largest = largest.map_or_else(String::new, |l| format!("on {on}, {l}; "));
        self.report.error_help(
            options.budget_span,
            format!(
                "`{}` cannot meet its budget on any target: on {on}, {e}",
                program.name
            ),
            format!(
                "{}; {largest}raise the budget, lower the limits, or give a buffer a smaller type",
                listed(&missed)
            ),
        );
        None
    }

    /// The waves, before they are ordered.
    fn waves(&self, uses: &Uses) -> Vec<Wave> {
        let waves = self.graph.waves.iter().zip(&self.sweeps).zip(&uses.waves);
        waves
            .enumerate()
            .filter_map(|(w, ((wave, sweep), uses))| {
                Some(Wave {
                    name: wave.shown(),
                    kernel: KernelId(w as u16),
                    domain: sweep.as_ref()?.domain,
                    accesses: joined(uses),
                    fixpoint: check::fixpoint_of(wave.scope),
                    after: Vec::new(),
                })
            })
            .collect()
    }

    /// What every wave and fixpoint uses, with the tokens that show it.
    fn uses(&self, fields: &Fields<'_>) -> Uses {
        let graph = self.graph;
        let mut waves = Vec::new();
        for (w, wave) in graph.waves.iter().enumerate() {
            let mut list = Vec::new();
            if let (Some(sweep), Some(body)) = (&self.sweeps[w], &self.bodies[w]) {
                list.extend(domain_uses(sweep.domain, wave.domain.as_ref()));
                for u in effects::uses(body) {
                    let param = sweep.params.iter().find(|p| p.kind.takes(u.resource));
                    let span = param
                        .and_then(|p| p.name.as_ref())
                        .map_or_else(|| wave.name().span(), Ident::span);
                    list.push(Use {
                        access: Access {
                            resource: u.resource,
                            mode: u.mode,
                        },
                        via: Via::Body,
                        span,
                    });
                }
            }
            waves.push(list);
        }
        let mut scopes = vec![Vec::new(); graph.scopes.len()];
        for (s, scope) in graph.scopes.iter().enumerate().skip(1) {
            let Some(args) = &scope.fixpoint else {
                continue;
            };
            if let (Some(body), Some(until)) = (&self.conditions[s - 1], &args.until) {
                let asked = args.asked();
                for u in effects::uses(body) {
                    let name = self.program.name_of(u.resource);
                    let is = |(_, field): &&(Ident, Option<Ident>)| {
                        field.as_ref().is_some_and(|f| f == name)
                    };
                    let span = asked.iter().find(is).map(|(name, _)| name.span());
                    scopes[s].push(Use {
                        access: Access {
                            resource: u.resource,
                            mode: u.mode,
                        },
                        via: Via::Until,
                        span: span.unwrap_or_else(|| until.span()),
                    });
                }
            }
            let swapped = args.swaps.iter().flat_map(|(a, b)| [a, b]);
            let swapped = swapped.flat_map(|n| {
                let slot = fields.iter().find(|(f, _)| f.name == *n);
                let buffers = slot.into_iter().flat_map(|(_, slot)| slot.buffers());
                buffers.map(move |id| (n, id))
            });
            for (name, buffer) in swapped {
                scopes[s].push(Use {
                    access: Access {
                        resource: Resource::Buffer(buffer),
                        mode: Mode::Write,
                    },
                    via: Via::Swap,
                    span: name.span(),
                });
            }
        }
        Uses { waves, scopes }
    }
}

/// One access a resource, sorted.
fn joined(uses: &[Use]) -> Vec<Access> {
    // What else a wave does to a relation of which it sweeps what is last is all that others meet.
    let more = |u: &&Use| {
        let same = |other: &Use| other.access.resource == u.access.resource;
        u.via != Via::Last
            || !uses
                .iter()
                .any(|other| other.via != Via::Last && same(other))
    };
    let mut accesses: Vec<Access> = uses.iter().filter(more).map(|u| u.access).collect();
    accesses.sort_unstable();
    let mut out: Vec<Access> = Vec::new();
    for a in accesses {
        match out.last_mut() {
            Some(last) if last.resource == a.resource => last.mode = join(last.mode, a.mode),
            _ => out.push(a),
        }
    }
    out
}

/// Sweeping reads the frontier and the topology.
fn domain_uses(domain: Domain, args: Option<&DomainArgs>) -> Vec<Use> {
    let is_last = matches!(domain.list(), Some((_, Portion::Last)));
    let read = |resource, span| Use {
        access: Access {
            resource,
            mode: Mode::Read,
        },
        via: match resource {
            Resource::Queue(_) if is_last => Via::Last,
            _ => Via::Domain,
        },
        span,
    };
    let names = args.into_iter().flat_map(DomainArgs::reads);
    let spans = names
        .map(Ident::span)
        .chain(std::iter::repeat(Span::call_site()));
    domain
        .reads()
        .zip(spans)
        .map(|(r, span)| read(r, span))
        .collect()
}

/// A condition for the plan, with the fields as they are named here.
fn condition_text(args: &FixpointArgs) -> String {
    let text = match (&args.until, &args.included) {
        (None, _) => String::new(),
        (Some(until), None) => source_text(until),
        (Some(until), Some(included)) => source_text(&renamed_expr(until, &included.names)),
    };
    as_written(text)
}

/// What `until(..)` can name: frontiers, lists, reductions, scalars, and rounds. In an included graph, by its own
/// names.
fn condition_bindings(
    args: &FixpointArgs,
    fields: &Fields<'_>,
    program: &Program,
    rounds: Vec<(String, Option<FixpointId>)>,
) -> Vec<(Ident, ParamKind)> {
    let binding = |slot: Slot| {
        Some(match slot {
            Slot::Queue(q) => ParamKind::Queue(q),
            Slot::Relation(l, _) => ParamKind::Relation(l),
            Slot::Reduction(r) => ParamKind::Reduced(r, program.reductions[r.index()].scalar),
            Slot::Scalar(s) => ParamKind::Scalar(s, program.scalars[s.index()].scalar),
            Slot::Csr(_)
            | Slot::Buffer(_)
            | Slot::Rows(..)
            | Slot::Arrays(..)
            | Slot::RowsOf { .. }
            | Slot::Broken => return None,
        })
    };
    let rounds = rounds.into_iter().map(|(name, of)| {
        let kind = of.map_or(ParamKind::Round, ParamKind::OuterRound);
        (ident(&name, Span::call_site()), kind)
    });
    let named: Vec<(Ident, Slot)> = match &args.included {
        None => fields
            .iter()
            .map(|(field, slot)| (field.name.clone(), slot))
            .collect(),
        Some(included) => included
            .names
            .iter()
            .filter_map(|(name, field)| Some((Ident::new(name, field.span()), fields.slot(field)?)))
            .collect(),
    };
    let named = named.into_iter();
    named
        .filter_map(|(name, slot)| Some((name, binding(slot)?)))
        .chain(rounds)
        .collect()
}

/// What to write in a deterministic graph.
fn instead(reason: &Reason) -> &'static str {
    match reason.why {
        Why::FloatSum if matches!(reason.resource, Some(Resource::Reduction(_))) => {
            "write `#[reduce(exact_sum)]` and `&Reduce<ExactSum<..>>`: that sum is rounded once"
        }
        Why::FloatSum => {
            "add integers, such as multiples of a small unit; or let one lane add what belongs to its element, in a loop over `edges` or `neighbors`"
        }
        Why::Approximates => {
            "write it with operations that all backends round alike: `+`, `*`, `/`, `sqrt`, `mul_add`"
        }
        Why::ListOrder | Why::Slot | Why::Positions => "write to a buffer, at the item's own index",
        Why::OldValue => {
            "an old value may decide about a push of its own index, by a `let` or an `if` of its own, outside `&&` and `||`: do what else depends on it in a wave that comes after; or improve by `if new < field[i].fetch_min(new) { .. }` until nothing changes"
        }
        Why::ReadsChanged => {
            "read the field in a wave that comes after; or only improve it, by `fetch_min` or its likes, until nothing changes"
        }
        Why::Stores => {
            "let the items agree: `fetch_min` keeps the least of their values, `fetch_max` the greatest, or all store one value"
        }
        Why::Inserts => {
            "what stands under `if relation.insert(t)` is done once for each tuple, by any item that inserted it: use nothing there but `t` and scalars"
        }
        Why::TupleOrder => {
            "the tuples of a key come in any order: take their values into a local by `+=`, `min` or `max`, or insert, push and update by them; do not keep the first or the last"
        }
        Why::Claim => {
            "a claim has one value for all items, such as `round + 1`, and guards only what its index decides: do the rest in a wave that comes after, where `fetch_min` keeps the least of what the items bring"
        }
        Why::Mixed => "update the field in one way, and take a second field for the other way",
        Why::Amount | Why::SecondSite | Why::Shown => {
            "count by one amount for all items, in one place, and push or update the counted element alone where the count is reached"
        }
        Why::Anew => {
            "let a fixpoint around this one reset the field, so that it begins anew before the rounds and not in them"
        }
        Why::Until | Why::Nested | Why::NotMonotone | Why::Unnoticed | Why::Notice => {
            "LANGUAGE.md shows under \"Making a pass provable\" the counts, claims and joins that have one result"
        }
    }
}

/// That a function which says which edges are swept cannot have this parameter.
fn not_taken(name: &Ident, parameter: &impl ToTokens) -> (String, &'static str) {
    let parameter = parameter.to_token_stream();
    (
        format!(
            "`{name}` cannot take `{parameter}` so: it only reads, and takes no reductions or rounds"
        ),
        "take scalars, `&T` of a scalar per edge, `&Buf<T>`, `&Bits`, `&Rows<T>`, `&Csr`, or `&Records<T>` of structs and arrays",
    )
}
