//! Fourth stage: order. Resolves `after`, finds cycles and conflicts (DESIGN 2.5), gives frontiers and reductions their
//! owners, and writes the schedule.

use super::check::fixpoint_of;
use super::graph::{Graph, Piece};
use super::pairs::{is_hidden_join, is_join};
use crate::report::{Report, did_you_mean, listed};
use proc_macro2::Span;
use syn::Ident;
use vyre_core::plan::barrier::{BarrierError, Levels, levels};
use vyre_core::plan::{Edge, NodeId, hazard};
use vyre_core::vir0::module::{
    Access, FixpointId, FrontierId, Mode, NodeRef, Program, QueueId, ReductionId, Resource, Step,
    UpdateOp, WaveId,
};
use vyre_core::vir0::owner::{Owner, may_ask, owners};

/// Why a node uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// A parameter.
    Body,
    /// The domain.
    Domain,
    /// The domain `items(relation, last)`: tuples from before the round, which nothing changes.
    Last,
    /// The condition of a fixpoint.
    Until,
    /// `swap`.
    Swap,
}

/// A use of a resource, and the token that shows it.
#[derive(Clone)]
pub(crate) struct Use {
    pub(crate) access: Access,
    pub(crate) via: Via,
    pub(crate) span: Span,
}

/// What the earlier stages found out about waves and fixpoints.
pub(crate) struct Uses {
    /// By wave.
    pub(crate) waves: Vec<Vec<Use>>,
    /// By scope: condition and swaps of the fixpoint.
    pub(crate) scopes: Vec<Vec<Use>>,
}

/// The order of a graph.
pub(crate) struct Order {
    pub(crate) schedule: Vec<Step>,
    pub(crate) frontier_owners: Vec<Option<FixpointId>>,
    pub(crate) reduction_owners: Vec<Option<FixpointId>>,
    /// `after`, resolved, by wave.
    pub(crate) waves_after: Vec<Vec<NodeRef>>,
    /// `after`, resolved, by scope.
    pub(crate) scopes_after: Vec<Vec<NodeRef>>,
}

/// A wave or fixpoint among its siblings.
#[derive(Clone, Copy)]
enum Node {
    Wave(usize),
    Scope(usize),
}

impl Node {
    fn reference(self) -> NodeRef {
        match self {
            Node::Wave(w) => NodeRef::Wave(WaveId(w as u16)),
            Node::Scope(s) => {
                NodeRef::Fixpoint(fixpoint_of(s).expect("only a fixpoint is a node of a scope"))
            }
        }
    }
}

/// Orders the graph. `uses` is `None` when an earlier stage failed: then only names and cycles are looked at. Otherwise
/// the program has its waves, whose `after` is still empty.
pub(crate) fn order(
    graph: &Graph,
    uses: Option<&Uses>,
    program: &Program,
    report: &mut Report,
) -> Option<Order> {
    let errors = report.len();
    let mut sorter = Sorter {
        graph,
        report,
        waves_after: vec![Vec::new(); graph.waves.len()],
        scopes_after: vec![Vec::new(); graph.scopes.len()],
        written: vec![Vec::new(); graph.scopes.len()],
    };
    let levels: Vec<Option<Levels>> = (0..graph.scopes.len()).map(|s| sorter.levels(s)).collect();
    let written = sorter.written;
    let (waves_after, scopes_after) = (sorter.waves_after, sorter.scopes_after);
    let uses = uses?;
    let ownership = Ownership {
        graph,
        uses,
        program,
        report,
    };
    let owners = ownership.resolve()?;
    for (scope, levels) in levels.iter().enumerate() {
        if let Some(levels) = levels {
            let inside = Inside {
                graph,
                uses,
                program,
                owners: &owners,
                scope,
            };
            inside.conflicts(levels, report);
        }
    }
    if report.len() > errors {
        return None;
    }
    let levels: Vec<Levels> = levels.into_iter().collect::<Option<_>>()?;
    for (scope, written) in written.iter().enumerate() {
        let inside = Inside {
            graph,
            uses,
            program,
            owners: &owners,
            scope,
        };
        inside.needless(&levels, written, report);
    }
    let mut schedule = Vec::new();
    emit(graph, &levels, 0, &mut schedule);
    schedule.push(Step::End);
    Some(Order {
        schedule,
        frontier_owners: owners.frontiers,
        reduction_owners: owners.reductions,
        waves_after,
        scopes_after,
    })
}

/// Fixpoint of each frontier and reduction; `None` is the graph.
struct Owners {
    frontiers: Vec<Option<FixpointId>>,
    reductions: Vec<Option<FixpointId>>,
}

/// Gives frontiers and reductions their owners, and reports what has none or is asked for where it must not be.
struct Ownership<'a> {
    graph: &'a Graph,
    uses: &'a Uses,
    program: &'a Program,
    report: &'a mut Report,
}

impl Ownership<'_> {
    fn resolve(mut self) -> Option<Owners> {
        let errors = self.report.len();
        let found = owners(self.program);
        let resources = (0..=u16::MAX).map(|f| FrontierId(f).into());
        let frontiers = self.scopes(&found.frontiers, resources);
        let resources = (0..=u16::MAX).map(|r| Resource::Reduction(ReductionId(r)));
        let reductions = self.scopes(&found.reductions, resources);
        let owners = Owners {
            frontiers,
            reductions,
        };
        if self.report.len() == errors {
            self.conditions(&owners);
            self.swept_and_pushed(&owners);
        }
        (self.report.len() == errors).then_some(owners)
    }

    fn scopes(
        &mut self,
        owners: &[Owner],
        resources: impl Iterator<Item = Resource>,
    ) -> Vec<Option<FixpointId>> {
        let owner = |(owner, resource): (&Owner, Resource)| match *owner {
            Owner::Scope(scope) => scope,
            Owner::Split(first, other) => {
                let (first, other) = (first.index(), other.index());
                // What can be changed is this graph, not what it includes.
                let own = |w: usize| self.graph.waves[w].origin.is_none();
                let places = match (own(first), own(other)) {
                    (true, false) => (other, first),
                    _ => (first, other),
                };
                self.split(resource, places);
                None
            }
        };
        owners.iter().zip(resources).map(owner).collect()
    }

    /// Two waves in different scopes sweep a frontier or update a reduction.
    fn split(&mut self, resource: Resource, (first, other): (usize, usize)) {
        let name = self.program.name_of(resource);
        let (what, done, does, help) = match resource {
            Resource::Queue(_) => (
                "frontier",
                "swept",
                "sweeps",
                "sweep a second frontier here, and push to both",
            ),
            _ => (
                "reduction",
                "updated",
                "updates",
                "update a second reduction here, and combine the two where they are read",
            ),
        };
        let wave = |w: usize| (self.graph.waves[w].name(), self.scope(w));
        let ((a, in_a), (b, in_b)) = (wave(first), wave(other));
        self.report.error_help(
            self.place(other, resource),
            format!(
                "{what} `{name}` is {done} in {in_b} by `{b}`, and in {in_a} by `{a}`: a {what} belongs to the one scope that {does} it"
            ),
            help,
        );
        self.report.error(
            self.place(first, resource),
            format!("`{a}` {does} `{name}` here, in {in_a}"),
        );
    }

    /// `until` asks only for what its fixpoint or the graph owns.
    fn conditions(&mut self, owners: &Owners) {
        for (s, scope) in self.graph.scopes.iter().enumerate().skip(1) {
            let Some(this) = fixpoint_of(s) else { continue };
            for asked in self.uses.scopes[s].iter().filter(|u| u.via == Via::Until) {
                let resource = asked.access.resource;
                let (what, again, owner) = match resource {
                    Resource::Queue(QueueId::Frontier(f)) => {
                        ("frontier", "flips", owners.frontiers[f.index()])
                    }
                    Resource::Reduction(r) => {
                        ("reduction", "begins anew", owners.reductions[r.index()])
                    }
                    Resource::Queue(QueueId::List(_)) => continue,
                    Resource::Topology(_) | Resource::Buffer(_) => continue,
                };
                let is_around = |f: FixpointId| {
                    let around = f.index() + 1;
                    common_scope(self.graph, s, around) == around
                };
                let (false, Some(owner)) = (may_ask(this, (resource, owner), is_around), owner)
                else {
                    continue;
                };
                let decides = |w: &usize| decides(&self.uses.waves[*w], resource).is_some();
                let Some(wave) = (0..self.graph.waves.len()).find(decides) else {
                    continue;
                };
                let name = self.program.name_of(resource);
                let (does, wave_name) = match resource {
                    Resource::Queue(_) => ("sweeps", self.graph.waves[wave].name()),
                    _ => ("updates", self.graph.waves[wave].name()),
                };
                let other = &self.graph.scopes[owner.index() + 1].name;
                let this = &scope.name;
                let where_ = match resource {
                    Resource::Reduction(_) => "around it",
                    _ => "in no fixpoint",
                };
                let is_inside = common_scope(self.graph, s, owner.index() + 1) == s;
                // When the condition is asked, the rounds of the fixpoint inside have ended.
                let help = match is_inside {
                    true => format!(
                        "`{other}` has ended when `{this}` asks: let a wave directly in `{this}`, after `{other}`, update a reduction that says whether there is more to do, such as `#[reduce(or)] more: bool`, and write `until(!more)`"
                    ),
                    false => {
                        format!("ask for one that a wave directly in `{this}`, or {where_}, {does}")
                    }
                };
                self.report.error_help(
                    asked.span,
                    format!(
                        "`until` of `{this}` asks for {what} `{name}`, which {again} with the rounds of `{other}`"
                    ),
                    help,
                );
                self.report.error(
                    self.place(wave, resource),
                    format!("`{wave_name}` {does} `{name}` here, in fixpoint `{other}`"),
                );
            }
        }
    }

    /// A frontier of the graph never flips: a sweep sees everything ever pushed. That is of use for a list made once,
    /// and a trap where a round's pushes are meant to be the next round's items.
    fn swept_and_pushed(&mut self, owners: &Owners) {
        for (f, frontier) in self.program.frontiers.iter().enumerate() {
            if owners.frontiers[f].is_some() || frontier.stays {
                continue;
            }
            let resource = Resource::from(FrontierId(f as u16));
            for (wave, list) in self.graph.waves.iter().zip(&self.uses.waves) {
                let pushed = list
                    .iter()
                    .any(|u| u.via == Via::Body && u.access.resource == resource);
                if let (Some(sweep), true) = (decides(list, resource), pushed) {
                    self.report.error_help(
                        sweep.span,
                        format!(
                            "wave `{}` sweeps and pushes `{}`, which no fixpoint owns",
                            wave.name(),
                            frontier.name
                        ),
                        "put the wave into a `#[fixpoint]`, whose next round sweeps what this one pushed, or push to a second frontier",
                    );
                }
            }
        }
    }

    /// Where a wave sweeps a frontier or updates a reduction.
    fn place(&self, wave: usize, resource: Resource) -> Span {
        decides(&self.uses.waves[wave], resource)
            .map_or_else(|| self.graph.waves[wave].name().span(), |u| u.span)
    }

    /// The scope of a wave, in words.
    fn scope(&self, wave: usize) -> String {
        match self.graph.waves[wave].scope {
            0 => "the graph".to_owned(),
            s => format!("fixpoint `{}`", self.graph.scopes[s].name),
        }
    }
}

/// The use by which a wave decides who owns a frontier or a reduction.
fn decides(uses: &[Use], resource: Resource) -> Option<&Use> {
    uses.iter().find(|u| {
        u.access.resource == resource
            && match resource {
                Resource::Queue(QueueId::Frontier(_)) => u.via == Via::Domain,
                _ => u.access.mode != Mode::Read,
            }
    })
}

/// The innermost scope around two.
pub(super) fn common_scope(graph: &Graph, mut a: usize, mut b: usize) -> usize {
    while a != b {
        let deeper = if graph.scopes[a].depth >= graph.scopes[b].depth {
            &mut a
        } else {
            &mut b
        };
        *deeper = graph.scopes[*deeper].parent.unwrap_or(0);
    }
    a
}

fn nodes(graph: &Graph, scope: usize) -> Vec<Node> {
    graph.scopes[scope]
        .pieces
        .iter()
        .filter_map(|p| match p {
            Piece::Wave(w) => Some(Node::Wave(*w)),
            Piece::Scope(s) => Some(Node::Scope(*s)),
            Piece::Item(_) => None,
        })
        .collect()
}

fn name(graph: &Graph, node: Node) -> &Ident {
    match node {
        Node::Wave(w) => graph.waves[w].name(),
        Node::Scope(s) => &graph.scopes[s].name,
    }
}

/// The included graph that it is of.
fn origin(graph: &Graph, node: Node) -> Option<usize> {
    let origin = match node {
        Node::Wave(w) => graph.waves[w].origin,
        Node::Scope(s) => graph.scopes[s].origin,
    };
    origin.map(|o| o.graph)
}

/// The name by which `after` means it here: of what is in an included graph, that of the graph.
fn written_name(graph: &Graph, node: Node) -> String {
    match origin(graph, node) {
        Some(included) => graph.included[included].name.to_string(),
        None => name(graph, node).to_string(),
    }
}

fn after(graph: &Graph, node: Node) -> &[Ident] {
    match node {
        Node::Wave(w) => &graph.waves[w].after,
        Node::Scope(s) => graph.scopes[s].fixpoint.as_ref().map_or(&[], |f| &f.after),
    }
}

struct Sorter<'a> {
    graph: &'a Graph,
    report: &'a mut Report,
    waves_after: Vec<Vec<NodeRef>>,
    scopes_after: Vec<Vec<NodeRef>>,
    /// By scope: what `after` asks for, and where.
    written: Vec<Vec<(Edge, Span)>>,
}

impl Sorter<'_> {
    /// The levels of one scope's waves and fixpoints.
    fn levels(&mut self, scope: usize) -> Option<Levels> {
        let nodes = nodes(self.graph, scope);
        let mut edges = Vec::new();
        let mut spans = Vec::new();
        let errors = self.report.len();
        for (i, &node) in nodes.iter().enumerate() {
            let this = name(self.graph, node);
            if nodes[..i].iter().any(|&n| name(self.graph, n) == this) {
                self.report.error(
                    this.span(),
                    format!("two waves or fixpoints are named `{this}`"),
                );
            }
            for before in after(self.graph, node) {
                match nodes.iter().position(|&n| name(self.graph, n) == before) {
                    Some(j) if j == i => self.report.error_help(
                        before.span(),
                        format!("`{before}` cannot come after itself"),
                        "a wave that is to run again belongs in a `#[fixpoint]`",
                    ),
                    Some(j) => {
                        edges.push(Edge::new(j as u32, i as u32));
                        spans.push(before.span());
                        let list = match node {
                            Node::Wave(w) => &mut self.waves_after[w],
                            Node::Scope(s) => &mut self.scopes_after[s],
                        };
                        let reference = nodes[j].reference();
                        if !list.contains(&reference) {
                            list.push(reference);
                        }
                    }
                    None => self.unknown(before, scope, &nodes),
                }
            }
        }
        self.written[scope] = edges.iter().copied().zip(spans.iter().copied()).collect();
        match levels(nodes.len(), &edges) {
            Ok(levels) => (self.report.len() == errors).then_some(levels),
            Err(found) => {
                for error in found {
                    match error {
                        BarrierError::Cycle { path, edges, .. } => {
                            self.cycle(&nodes, &path, &edges, &spans);
                        }
                        other @ (BarrierError::UnknownNode { .. }
                        | BarrierError::SelfDependency { .. }) => {
                            self.report.error(
                                self.graph.name.span(),
                                format!("internal error in vyre: {other}"),
                            );
                        }
                    }
                }
                None
            }
        }
    }

    fn unknown(&mut self, before: &Ident, scope: usize, nodes: &[Node]) {
        let graph = self.graph;
        if graph.lost.contains(before) {
            return;
        }
        let here = if scope == 0 {
            format!("wave graph `{}`", graph.name)
        } else {
            format!("fixpoint `{}`", graph.scopes[scope].name)
        };
        let elsewhere = (0..graph.scopes.len())
            .filter(|&s| s != scope)
            .find_map(|s| {
                let found = self::nodes(graph, s)
                    .into_iter()
                    .find(|&n| name(graph, n) == before);
                found.map(|_| s)
            });
        if let Some(other) = elsewhere {
            let encloses = common_scope(graph, scope, other) == other;
            let message = format!("`{before}` is not beside this in {here}");
            let help = if encloses {
                // An outer node is named where the paths part: on the fixpoint.
                let mut inner = scope;
                while graph.scopes[inner].parent != Some(other) {
                    inner = graph.scopes[inner].parent.unwrap_or(other);
                }
                format!(
                    "everything in fixpoint `{0}` waits for what `{0}` waits for: write `after({before})` on `{0}`",
                    graph.scopes[inner].name
                )
            } else {
                let mut inner = other;
                let common = common_scope(graph, scope, other);
                while graph.scopes[inner].parent != Some(common) {
                    inner = graph.scopes[inner].parent.unwrap_or(common);
                }
                format!(
                    "it runs inside fixpoint `{0}`: write `after({0})`",
                    graph.scopes[inner].name
                )
            };
            self.report.error_help(before.span(), message, help);
            return;
        }
        let names: Vec<String> = nodes.iter().map(|&n| name(graph, n).to_string()).collect();
        let message = format!("{here} has no wave or fixpoint named `{before}`");
        match did_you_mean(&before.to_string(), names.iter().map(String::as_str)) {
            Some(near) => {
                self.report
                    .error_help(before.span(), message, format!("did you mean `{near}`?"))
            }
            None => self.report.error_help(
                before.span(),
                message,
                format!("it has {}", listed(names.iter().map(|n| format!("`{n}`")))),
            ),
        }
    }

    /// A cycle: the path at the first `after` in the source, and a short mark at the next. Those inside an included
    /// graph are not the mistake.
    fn cycle(&mut self, nodes: &[Node], path: &[NodeId], edges: &[usize], spans: &[Span]) {
        let named = |n: NodeId| written_name(self.graph, nodes[n.index()]);
        let mut arrows: Vec<String> = path.iter().chain(path.first()).map(|&n| named(n)).collect();
        arrows.dedup();
        let arrows = arrows.join(" -> ");
        let from = |n: NodeId| origin(self.graph, nodes[n.index()]);
        let foreign = |i: usize| {
            let (before, after) = (path[i], path[(i + 1) % path.len()]);
            from(before).is_some() && from(before) == from(after)
        };
        // Edges were recorded in source order.
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|&i| (foreign(i), edges[i]));
        let Some((&first, rest)) = order.split_first() else {
            return;
        };
        self.report.error_help(
            spans[edges[first]],
            format!("these wait for each other in a cycle: `{arrows}`"),
            "a round has an order: drop one `after`, or make a deliberate loop a `#[fixpoint(until(..))]`, whose next round is the way back",
        );
        if let Some(&i) = rest.first().filter(|&&i| !foreign(i)) {
            let (before, after) = (named(path[i]), named(path[(i + 1) % path.len()]));
            self.report.error(
                spans[edges[i]],
                format!("`{after}` waits for `{before}`: part of the cycle"),
            );
        }
    }
}

/// One scope, for the checks of what happens at the same time.
struct Inside<'a> {
    graph: &'a Graph,
    uses: &'a Uses,
    program: &'a Program,
    owners: &'a Owners,
    scope: usize,
}

impl Inside<'_> {
    /// Everything a node does: of a fixpoint, the union of what is inside and of its condition and swaps.
    fn all_uses(&self, node: Node) -> Vec<&Use> {
        match node {
            Node::Wave(w) => self.uses.waves[w].iter().collect(),
            Node::Scope(s) => {
                let mut all: Vec<&Use> = self.uses.scopes[s].iter().collect();
                for inner in nodes(self.graph, s) {
                    all.extend(self.all_uses(inner));
                }
                all
            }
        }
    }

    /// What the nodes of this scope do to each other.
    fn accesses(&self, all: &[Vec<&Use>]) -> Vec<Vec<Access>> {
        let this = fixpoint_of(self.scope);
        // A frontier that this fixpoint owns has last round's items on one side and next round's on the other: its
        // sweeps and pushes do not meet. A condition of an inner fixpoint that asks for its length meets the pushes.
        let owned = |u: &Use| match u.access.resource {
            Resource::Queue(QueueId::Frontier(f)) => {
                this.is_some() && self.owners.frontiers[f.index()] == this
            }
            _ => false,
        };
        let asked = |u: &Use| {
            all.iter()
                .flatten()
                .any(|v| v.via == Via::Until && v.access.resource == u.access.resource)
        };
        let relevant = |u: &&Use| !owned(u) || (u.via != Via::Domain && asked(u));
        let nodes = nodes(self.graph, self.scope);
        // Of a fixpoint inside, the rounds are other ones.
        let meets = |node: &Node, u: &&Use| {
            let is_last = matches!(node, Node::Wave(_)) && u.via == Via::Last;
            relevant(u) && !is_last
        };
        let each = nodes.iter().zip(all);
        each.map(|(node, uses)| {
            let uses = uses.iter().copied().filter(|u| meets(node, u));
            uses.map(|u| u.access).collect()
        })
        .collect()
    }

    /// Warns of each `after` that orders nothing and costs a barrier.
    fn needless(&self, levels: &[Levels], written: &[(Edge, Span)], report: &mut Report) {
        let nodes = nodes(self.graph, self.scope);
        let all: Vec<Vec<&Use>> = nodes.iter().map(|&n| self.all_uses(n)).collect();
        let accesses = self.accesses(&all);
        let Ok(Some(needless)) = hazard::needless(&accesses, &levels[self.scope]) else {
            return;
        };
        // Barriers of the whole schedule: two fixpoints, or a wave and a fixpoint, have one between them anyway.
        let kept: Vec<Edge> = levels[self.scope]
            .edges()
            .filter(|e| !needless.edges.contains(e))
            .collect();
        let barriers = |edges: &[Edge]| {
            let mut levels = levels.to_vec();
            levels[self.scope] = self::levels(nodes.len(), edges).ok()?;
            let mut schedule = Vec::new();
            emit(self.graph, &levels, 0, &mut schedule);
            let barrier = |s: &&Step| matches!(s, Step::Barrier);
            Some(schedule.iter().filter(barrier).count())
        };
        // A name of an included graph stands for several edges, of which all have to be needless.
        let is_needless = |e: &Edge| needless.edges.contains(e);
        let place = |span: &Span| format!("{span:?}");
        let mut said: Vec<String> = Vec::new();
        for (edge, span) in written.iter().filter(|(edge, _)| is_needless(edge)) {
            let [before, after] = [edge.before, edge.after].map(|n| nodes[n.index()]);
            let here = place(span);
            let same = written.iter().filter(|(_, span)| place(span) == here);
            let same: Vec<Edge> = same.map(|(edge, _)| *edge).collect();
            // What stands in an included graph is said there.
            let inside = origin(self.graph, before).is_some()
                && origin(self.graph, before) == origin(self.graph, after);
            if inside || said.contains(&here) || !same.iter().all(is_needless) {
                continue;
            }
            let with: Vec<Edge> = kept.iter().copied().chain(same).collect();
            let (Some(with), Some(without)) = (barriers(&with), barriers(&kept)) else {
                return;
            };
            if with > without {
                let (n, s) = (with - without, if with - without == 1 { "" } else { "s" });
                let [before, after] = [before, after].map(|n| written_name(self.graph, n));
                report.warning(
                    *span,
                    "needless_after",
                    format!("`{after}` uses nothing that `{before}` changes, nor the other way round: this order costs {n} barrier{s}, and nothing is lost without it"),
                );
                said.push(here);
            }
        }
    }

    fn conflicts(&self, levels: &Levels, report: &mut Report) {
        let nodes = nodes(self.graph, self.scope);
        let all: Vec<Vec<&Use>> = nodes.iter().map(|&n| self.all_uses(n)).collect();
        let accesses = self.accesses(&all);
        let found = match hazard::check(&accesses, levels) {
            Ok(found) => found,
            Err(e) => {
                report.error(
                    self.graph.name.span(),
                    format!("internal error in vyre: {e}"),
                );
                return;
            }
        };
        let pairs: Vec<&[hazard::Conflict]> = found
            .chunk_by(|a, b| (a.first, a.second) == (b.first, b.second))
            .collect();
        for pair in &pairs {
            // What waits for the last of several that follow each other waits for all of them.
            let (a, b) = (pair[0].first, pair[0].second);
            let implied = pairs.iter().any(|other| {
                let (c, d) = (other[0].first, other[0].second);
                let later = |x: NodeId, y: NodeId| x != y && reaches(levels, x, y);
                (b == d && later(a, c))
                    || (b == c && later(a, d))
                    || (a == c && later(b, d))
                    || (a == d && later(b, c))
            });
            if !implied {
                self.conflict(&nodes, &all, pair, report);
            }
        }
        if found.is_empty() {
            self.early_readers(&nodes, &all, levels, report);
        }
    }

    /// One pair of nodes, with everything that they clash over.
    fn conflict(
        &self,
        nodes: &[Node],
        all: &[Vec<&Use>],
        clashes: &[hazard::Conflict],
        report: &mut Report,
    ) {
        let c = &clashes[0];
        // Of a buffer of structs the scalars are buffers: the field is named once where they meet in several.
        let named = |c: &hazard::Conflict| {
            let field = self.program.field_of(c.resource);
            let same = |other: &&hazard::Conflict| self.program.field_of(other.resource) == field;
            match clashes.iter().filter(same).count() {
                1 => self.program.written_name_of(c.resource),
                _ => field,
            }
        };
        let field = named(c);
        let (mut first, mut second) = (c.first.index(), c.second.index());
        let (mut mode_a, mut mode_b) = c.modes;
        let included = |node: usize| {
            let origin = match nodes[node] {
                Node::Wave(w) => self.graph.waves[w].origin,
                Node::Scope(s) => self.graph.scopes[s].origin,
            };
            origin.map(|o| &self.graph.included[o.graph].name)
        };
        // The first error stands in the graph's own code.
        if included(second).is_some() && included(first).is_none() {
            std::mem::swap(&mut first, &mut second);
            std::mem::swap(&mut mode_a, &mut mode_b);
        }
        let (a, b) = (
            name(self.graph, nodes[first]),
            name(self.graph, nodes[second]),
        );
        let span = |node: usize, mode: Mode, fallback: &Ident| {
            let of = || all[node].iter().filter(|u| u.access.resource == c.resource);
            of().find(|u| u.access.mode == mode && mode != Mode::Read)
                .or_else(|| of().find(|u| u.access.mode != Mode::Read))
                .or_else(|| of().next())
                .map_or_else(|| fallback.span(), |u| u.span)
        };
        // The same is said of the waves as they are written.
        if is_hidden_join(a) || is_hidden_join(b) {
            return;
        }
        let (does_a, does_b) = (verb(mode_a), verb(mode_b));
        let wait = |node: usize, own: &Ident, before: usize, other: &Ident| {
            let other = included(before).unwrap_or(other);
            match included(node) {
                Some(graph) => format!("`after({other})` to the `#[include]` of `{graph}`"),
                None => format!("`after({other})` to `{own}`"),
            }
        };
        let mut more: Vec<String> = clashes[1..]
            .iter()
            .filter(|c| named(c) != field)
            .map(|c| format!("`{}`", named(c)))
            .collect();
        more.dedup();
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(" (and they meet in {} too)", listed(more))
        };
        report.error_help(
            span(second, mode_b, b),
            format!(
                "`{b}` {does_b} `{field}`, which `{a}` {does_a}, and nothing orders the two{more}"
            ),
            match is_join(self.graph, a) && is_join(self.graph, b) {
                // Joins come first in a round, so neither can wait for the other one.
                true => format!(
                    "let them insert without asking whether that is new, and a wave over `items({field}, last)` do what belongs to a new tuple"
                ),
                false => format!(
                    "add {}, or {}",
                    wait(second, b, first, a),
                    wait(first, a, second, b)
                ),
            },
        );
        report.error(
            span(first, mode_a, a),
            format!("`{a}` {does_a} `{field}` here, unordered with `{b}`"),
        );
    }

    /// A reduction is read after everything that updates it.
    fn early_readers(
        &self,
        nodes: &[Node],
        all: &[Vec<&Use>],
        levels: &Levels,
        report: &mut Report,
    ) {
        for (r, reduction) in self.program.reductions.iter().enumerate() {
            let resource = Resource::Reduction(ReductionId(r as u16));
            let of = |node: usize, read: bool| {
                all[node].iter().copied().find(move |u| {
                    u.access.resource == resource && (u.access.mode == Mode::Read) == read
                })
            };
            for reader in 0..nodes.len() {
                let Some(read) = of(reader, true) else {
                    continue;
                };
                if of(reader, false).is_some() {
                    continue; // a fixpoint that does both: looked at inside it
                }
                let early = (0..nodes.len()).find(|&n| {
                    of(n, false).is_some()
                        && reaches(levels, NodeId(reader as u32), NodeId(n as u32))
                });
                if let Some(updater) = early {
                    let is_until = read.via == Via::Until;
                    let (reader, updater) = (
                        name(self.graph, nodes[reader]),
                        name(self.graph, nodes[updater]),
                    );
                    // `updater` waits for `reader`: another `after` the other way round would be a cycle.
                    let help = if is_until {
                        format!(
                            "update it in a wave of `{reader}`, or drop the `after` by which `{updater}` comes later and add `after({updater})` to `{reader}`"
                        )
                    } else {
                        format!(
                            "a reduction is read once it is complete: drop the `after` by which `{updater}` comes later, and add `after({updater})` to `{reader}`"
                        )
                    };
                    report.error_help(
                        read.span,
                        format!(
                            "`{reader}` reads reduction `{}` before `{updater}` updates it",
                            reduction.name
                        ),
                        help,
                    );
                }
            }
        }
    }
}

fn reaches(levels: &Levels, from: NodeId, to: NodeId) -> bool {
    let mut seen = vec![false; levels.node_count()];
    let mut stack = vec![from];
    while let Some(n) = stack.pop() {
        for &next in levels.successors(n) {
            if next == to {
                return true;
            }
            if !std::mem::replace(&mut seen[next.index()], true) {
                stack.push(next);
            }
        }
    }
    false
}

fn verb(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "reads",
        Mode::Write => "writes",
        Mode::Update(op) => match op {
            UpdateOp::Add => "adds to",
            UpdateOp::Min => "takes the minimum into",
            UpdateOp::Max => "takes the maximum into",
            UpdateOp::And => "combines with `and` into",
            UpdateOp::Or => "combines with `or` into",
            UpdateOp::Xor => "combines with `xor` into",
            UpdateOp::Push => "pushes to",
            UpdateOp::Append => "appends to",
            UpdateOp::Reduce => "reduces into",
            UpdateOp::Insert => "inserts into",
        },
    }
}

/// Writes a scope's steps: its levels in order, a barrier between two sweeps of different levels.
///
/// Within a level the waves come first, then its fixpoints one after the other. The end of a fixpoint is a barrier of
/// its own, so none follows it; one precedes it after a sweep, because its first round starts by flipping its
/// frontiers.
fn emit(graph: &Graph, levels: &[Levels], scope: usize, schedule: &mut Vec<Step>) {
    let nodes = nodes(graph, scope);
    let barrier = |schedule: &mut Vec<Step>| {
        if let Some(Step::Wave(_)) = schedule.last() {
            schedule.push(Step::Barrier);
        }
    };
    for group in levels[scope].groups() {
        let mut open = false;
        for id in group {
            if let Node::Wave(w) = nodes[id.index()] {
                if !open {
                    barrier(schedule);
                }
                open = true;
                schedule.push(Step::Wave(WaveId(w as u16)));
            }
        }
        for id in group {
            if let Node::Scope(s) = nodes[id.index()] {
                let fixpoint = fixpoint_of(s).expect("only a fixpoint is a node of a scope");
                barrier(schedule);
                schedule.push(Step::Loop(fixpoint));
                emit(graph, levels, s, schedule);
                schedule.push(Step::Until(fixpoint));
            }
        }
    }
}
