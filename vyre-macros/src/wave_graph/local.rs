//! What may not stand in a fixpoint that each part of a graph runs by itself, said at the user's token. The rules are
//! those of [`vyre_core::vir0::local`].

use super::check::Fields;
use super::graph::Graph;
use super::order::{Use, Uses};
use crate::report::Report;
use proc_macro2::Span;
use vyre_core::vir0::local::{Local, Misuse, Why, locals, misuses};
use vyre_core::vir0::module::{Extent, FixpointId, Mode, NodeRef, Program, QueueId, Resource};

/// Reports every misuse; whether there is one.
pub(super) fn report(
    graph: &Graph,
    fields: &Fields<'_>,
    (program, uses): (&Program, &Uses),
    report: &mut Report,
) -> bool {
    let found = misuses(program);
    let teller = Teller {
        graph,
        fields,
        program,
        uses,
    };
    for misuse in &found {
        let (message, help) = teller.say(misuse);
        report.error_help(teller.place(misuse), message, help);
    }
    !found.is_empty()
}

struct Teller<'a> {
    graph: &'a Graph,
    fields: &'a Fields<'a>,
    program: &'a Program,
    uses: &'a Uses,
}

impl Teller<'_> {
    /// The token of a misuse: where a wave or fixpoint uses what it must not, or what declares it.
    fn place(&self, misuse: &Misuse) -> Span {
        let (uses, name) = match misuse.at {
            NodeRef::Wave(w) => (
                &self.uses.waves[w.index()],
                self.graph.waves[w.index()].name(),
            ),
            NodeRef::Fixpoint(f) => {
                let scope = f.index() + 1;
                (&self.uses.scopes[scope], &self.graph.scopes[scope].name)
            }
        };
        let of = |u: &&Use| Some(u.access.resource) == misuse.of;
        let changes = |u: &&Use| of(u) && u.access.mode != Mode::Read;
        let used = match misuse.why {
            Why::Items | Why::Capacity => None,
            _ => uses.iter().find(changes).or_else(|| uses.iter().find(of)),
        };
        let declared = || {
            let name = self.program.field_of(misuse.of?);
            let field = self.fields.iter().find(|(field, _)| field.name == name);
            field.map(|(field, _)| field.name.span())
        };
        let parts = || match misuse.at {
            NodeRef::Fixpoint(f) if misuse.of.is_none() => {
                let args = self.graph.scopes[f.index() + 1].fixpoint.as_ref();
                args.and_then(|args| args.per.as_ref())
                    .map(|parts| parts.span())
            }
            _ => None,
        };
        let used = used.map(|u| u.span);
        used.or_else(declared)
            .or_else(parts)
            .unwrap_or_else(|| name.span())
    }

    /// The local fixpoint that a scope is in.
    fn around(&self, scope: Option<FixpointId>) -> Option<Local> {
        locals(self.program).find(|local| local.contains(self.program, scope))
    }

    fn say(&self, misuse: &Misuse) -> (String, String) {
        let p = self.program;
        let scope = match misuse.at {
            NodeRef::Wave(w) => p.waves[w.index()].fixpoint,
            NodeRef::Fixpoint(f) => Some(f),
        };
        let owner = match misuse.of {
            Some(Resource::Queue(q)) => p.queue(q).and_then(|q| q.owner),
            Some(Resource::Reduction(r)) => p.reductions[r.index()].owner,
            _ => None,
        };
        let local = match misuse.why {
            Why::Outside => self.around(owner),
            _ => self.around(scope),
        };
        let Some(local) = local else {
            return (misuse.why.to_string(), String::new());
        };
        let fixpoint = &p.fixpoints[local.fixpoint.index()].name;
        let parts = p.buffers[local.bounds.index()].field();
        let of = &p.topologies[local.of.index()].name;
        let name = misuse.of.map_or("", |r| p.field_of(r));
        let runs = format!("`{fixpoint}`, which each of `{parts}` runs by itself");
        let is_set = match misuse.of {
            Some(Resource::Buffer(b)) => p.buffers[b.index()].is_table(),
            Some(Resource::Queue(QueueId::List(l))) => p.table_of(l).is_some(),
            _ => false,
        };
        match misuse.why {
            Why::NoBounds => (misuse.why.to_string(), String::new()),
            Why::Nested => {
                let inner = match misuse.at {
                    NodeRef::Fixpoint(f) => p.fixpoints[f.index()].name.as_str(),
                    NodeRef::Wave(_) => "",
                };
                let outer = scope.and_then(|f| p.fixpoints[f.index()].parent);
                let outer = self.around(outer).unwrap_or(local);
                let (parts, outer) =
                    (p.buffers[outer.bounds.index()].field(), &p.fixpoints[outer.fixpoint.index()].name);
                (
                    format!("`{inner}` stands in `{outer}`, which each of `{parts}` runs by itself already"),
                    "leave out `per = ..` here: what a part runs is the part's".to_owned(),
                )
            }
            Why::Bounds => (
                format!("`{name}` says where parts begin in the whole graph, and cannot be read in {runs}"),
                "inside, the nodes of a part count from 0; read it in a wave outside of the fixpoint".to_owned(),
            ),
            Why::Graph => (
                match misuse.of {
                    Some(Resource::Buffer(b)) => match p.buffers[b.index()].extent {
                        Extent::Edges(t) => {
                            let graph = &p.topologies[t.index()].name;
                            format!("`{name}` has one element per edge of `{graph}`, which has no parts in {runs}")
                        }
                        _ => format!("`{name}` has no parts in {runs}"),
                    },
                    _ => format!("`{name}` has no parts in {runs}"),
                },
                format!("inside there are `{of}`, of which `{parts}` are the parts, and its reverse"),
            ),
            Why::Edges => (
                format!("`{name}` has one element per edge of `{of}`, and `{parts}` leave edges out in `{fixpoint}`"),
                format!("inside, edges are numbered without those that cross parts: give a graph without such edges, and leave out `crossing = dropped` of `{parts}`"),
            ),
            Why::Length if is_set => (
                format!("the capacity of relation `{name}` is computed from nodes or edges, and it cannot be asked in {runs}"),
                "let the capacity be a literal, a constant or a scalar".to_owned(),
            ),
            Why::Length => (
                format!("the length of `{name}` is computed from nodes or edges: which elements are a part's is not known in {runs}"),
                "inside, use a buffer with one element per node or edge, such as a tuple, a struct or a row of bits".to_owned(),
            ),
            Why::Writes | Why::List if is_set => (
                format!("relation `{name}` can only be asked what it has, as `&Lookup<T>`, in {runs}"),
                "append to a list inside, and let a wave after the fixpoint insert what the list holds".to_owned(),
            ),
            Why::Writes => (
                format!("`{name}` has no element per node or edge of `{of}`, and can only be read in {runs}"),
                "let waves inside change what belongs to a node or an edge, and a wave after the fixpoint put it together".to_owned(),
            ),
            Why::List => (
                format!("list `{name}` can only be appended to in {runs}"),
                "what other parts append, and when, is not known inside: sweep the list, or read its length, outside of the fixpoint".to_owned(),
            ),
            Why::Frontier => (
                format!("frontier `{name}` is swept outside, and cannot be used in {runs}"),
                "sweep one frontier inside and another one outside; a wave outside may push to both".to_owned(),
            ),
            Why::Items => (
                format!("the items of frontier `{name}` are not nodes, and it is swept in {runs}"),
                "parts share out nodes: declare `Frontier` without a type, and keep what else belongs to a node in a buffer".to_owned(),
            ),
            Why::Capacity => (
                format!("frontier `{name}` has the same capacity for each part of {runs}"),
                "leave out `capacity`, or write `capacity = node` or `capacity = edge(..)`: a part has as much as it has nodes or edges".to_owned(),
            ),
            Why::Outside => (
                format!("`{name}` has a value for each part of {runs}, and none outside"),
                "write what is needed outside to a buffer, with an element per node, and read that".to_owned(),
            ),
        }
    }
}
