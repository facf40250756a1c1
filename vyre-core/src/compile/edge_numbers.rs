//! Which buffers a body indexes by the number of an edge.
//!
//! Each graph numbers its own edges, and so does a graph the other way round. A buffer with an element for each edge of
//! the one says nothing about the numbers of the other, though their types and lengths agree.

use super::ir::{BinaryOp, Body, Effect, Expr, Stmt};
use crate::vir0::module::{BufferId, SiteId, TopologyId};

/// An access to a buffer by the number of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByEdge {
    /// The buffer.
    pub buffer: BufferId,
    /// The graph that numbers the edge.
    pub graph: TopologyId,
    /// Where the access is.
    pub site: SiteId,
}

/// The accesses whose index is the number of an edge for sure: of the edge that the wave sweeps, which is one of the graph
/// `swept`, or of one between `g.edges(v).start` and its end.
pub fn by_edges(body: &Body, swept: Option<TopologyId>) -> Vec<ByEdge> {
    let mut locals = vec![Number::Unset; body.locals.len()];
    let item = body.item.index.map(|l| l.0 as usize);
    if let (Some(at), Some(graph)) = (item, swept) {
        locals[at] = Number::Edge(graph);
    }
    // What is assigned may be a local that is known only later. Each turn but the last moves a local up.
    loop {
        let before = locals.clone();
        assign(&body.block, &mut locals);
        if locals == before {
            break;
        }
    }
    let mut found = Vec::new();
    accesses(&body.block, &locals, &mut found);
    if let Some(value) = &body.value {
        loads(value, &locals, &mut found);
    }
    found
}

/// What a local holds, by all that is assigned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unset,
    Edge(TopologyId),
    Other,
}

impl Number {
    fn of(e: &Expr, locals: &[Number]) -> Number {
        match e {
            Expr::Local(l) => locals[l.0 as usize],
            Expr::Csr {
                query, topology, ..
            } if query.is_edge() => Number::Edge(*topology),
            Expr::Binary {
                op: BinaryOp::Add | BinaryOp::Sub,
                left,
                right,
                ..
            } if matches!(**right, Expr::Literal(..)) => Number::of(left, locals),
            _ => Number::Other,
        }
    }

    fn or(self, other: Number) -> Number {
        match (self, other) {
            (Number::Unset, x) | (x, Number::Unset) => x,
            (x, y) if x == y => x,
            _ => Number::Other,
        }
    }
}

fn assign(block: &[Stmt], locals: &mut [Number]) {
    for stmt in block {
        if let Stmt::Assign(l, e) = stmt {
            let at = l.0 as usize;
            locals[at] = locals[at].or(Number::of(e, locals));
        }
        stmt.blocks().for_each(|b| assign(b, locals));
    }
}

fn accesses(block: &[Stmt], locals: &[Number], found: &mut Vec<ByEdge>) {
    for stmt in block {
        stmt.operands().for_each(|e| loads(e, locals, found));
        note(stmt.effect(), locals, found);
        stmt.blocks().for_each(|b| accesses(b, locals, found));
    }
}

fn loads(e: &Expr, locals: &[Number], found: &mut Vec<ByEdge>) {
    e.operands().for_each(|x| loads(x, locals, found));
    note(e.effect(), locals, found);
}

fn note(effect: Effect<'_>, locals: &[Number], found: &mut Vec<ByEdge>) {
    if let Effect::Element(element) = effect
        && let Number::Edge(graph) = Number::of(element.index, locals)
    {
        found.push(ByEdge {
            buffer: element.buffer,
            graph,
            site: element.site,
        });
    }
}
