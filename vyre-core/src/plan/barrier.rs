//! Barrier groups: which waves can run between two barriers.
//!
//! A wave's group is the number of waves on the longest chain of `after`s that leads to it (Kahn's algorithm, level by
//! level). No schedule has fewer barriers, because that chain needs one between each two of its waves; and no wave
//! starts in an earlier group.
//!
//! A cycle is reported with one concrete path, the shortest through its lowest node, and with the positions of the
//! edges on it, so that a front end can mark each `after`.
//!
//! ```
//! use vyre_core::plan::{Edge, NodeId};
//! use vyre_core::plan::barrier::{BarrierError, levels};
//! let errors = levels(3, &[Edge::new(0, 1), Edge::new(1, 2), Edge::new(2, 1)]).unwrap_err();
//! assert_eq!(errors, [BarrierError::Cycle {
//!     unscheduled: 2,
//!     path: vec![NodeId(1), NodeId(2)],
//!     edges: vec![1, 2],
//! }]);
//! assert_eq!(errors[0].to_string(), "2 nodes cannot be scheduled: 1 -> 2 -> 1 is a cycle");
//! ```

use super::{Edge, NodeId};
use std::collections::VecDeque;
use thiserror::Error;

/// Why a graph has no levels.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum BarrierError {
    /// An edge names a node that is not there.
    #[error("edge {edge} names node {node}; there are {nodes} nodes")]
    UnknownNode {
        /// Position in the edge list.
        edge: usize,
        /// What it names.
        node: NodeId,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A node is to come after itself.
    #[error("edge {edge} makes node {node} depend on itself")]
    SelfDependency {
        /// Position in the edge list.
        edge: usize,
        /// The node.
        node: NodeId,
    },
    /// Nodes wait for each other.
    #[error(
        "{unscheduled} nodes cannot be scheduled: {} is a cycle",
        show_path(path)
    )]
    Cycle {
        /// Nodes on cycles, and nodes that come after them.
        unscheduled: usize,
        /// Each runs before the next, and the last before the first. It starts at its lowest node and is the shortest
        /// cycle through it.
        path: Vec<NodeId>,
        /// Position in the edge list of the edge from `path[i]` to its successor on the path.
        edges: Vec<usize>,
    },
}

crate::debug_is_display!(BarrierError);

fn show_path(path: &[NodeId]) -> String {
    let mut text = String::new();
    for node in path.iter().chain(path.first()) {
        if !text.is_empty() {
            text.push_str(" -> ");
        }
        text.push_str(&node.to_string());
    }
    text
}

/// An acyclic graph and its barrier groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    level_of: Vec<u32>,
    members: Vec<NodeId>,
    starts: Vec<usize>,
    successors: Adjacency,
}

impl Levels {
    /// Number of nodes of the graph.
    pub fn node_count(&self) -> usize {
        self.level_of.len()
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Barriers between the groups: the fewest that the edges allow.
    pub fn barriers(&self) -> usize {
        self.len().saturating_sub(1)
    }

    /// The nodes of a group, by id. Panics when there is no such group.
    pub fn group(&self, group: usize) -> &[NodeId] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }

    /// The groups in order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[NodeId]> + DoubleEndedIterator {
        self.starts.windows(2).map(|w| &self.members[w[0]..w[1]])
    }

    /// The group of a node. Panics when there is no such node.
    pub fn level_of(&self, node: NodeId) -> usize {
        self.level_of[node.index()] as usize
    }

    /// Nodes in an order in which every edge leads forward: by group, then id.
    pub fn order(&self) -> &[NodeId] {
        &self.members
    }

    /// The edges, without repeats, by their ends.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        (0..self.node_count() as u32).flat_map(|before| {
            let after = self.successors(NodeId(before)).iter();
            after.map(move |after| Edge::new(before, after.0))
        })
    }

    /// These groups with other edges, all of which lead to a later group. The groups may no longer be the fewest.
    pub(super) fn with_edges(&self, edges: &[Edge]) -> Levels {
        debug_assert!(
            edges
                .iter()
                .all(|e| self.level_of(e.before) < self.level_of(e.after))
        );
        Levels {
            successors: Adjacency::new(self.node_count(), edges.iter()),
            ..self.clone()
        }
    }

    /// The fewest groups for these edges; fewer than [`Levels::len`] when edges were left out.
    pub(super) fn depth(&self) -> usize {
        let mut depth = vec![1usize; self.node_count()];
        for &v in self.order() {
            for next in self.successors(v) {
                depth[next.index()] = depth[next.index()].max(depth[v.index()] + 1);
            }
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// The nodes that directly follow a node, by id, without repeats. Panics when there is no such node.
    pub fn successors(&self, node: NodeId) -> &[NodeId] {
        self.successors.of(node)
    }
}

/// The groups of a graph of `nodes` nodes. Repeated edges count once.
///
/// Fails with every unknown node and self dependency, and with one cycle of what remains.
pub fn levels(nodes: usize, edges: &[Edge]) -> Result<Levels, Vec<BarrierError>> {
    let mut errors = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let unknown = |node| BarrierError::UnknownNode {
            edge: at,
            node,
            nodes,
        };
        if edge.before.index() >= nodes {
            errors.push(unknown(edge.before));
        } else if edge.before == edge.after {
            errors.push(BarrierError::SelfDependency {
                edge: at,
                node: edge.before,
            });
        }
        if edge.after.index() >= nodes && edge.after != edge.before {
            errors.push(unknown(edge.after));
        }
    }
    let sound =
        |e: &&Edge| e.before != e.after && e.before.index() < nodes && e.after.index() < nodes;
    let successors = Adjacency::new(nodes, edges.iter().filter(sound));

    let mut waits = vec![0u32; nodes];
    for &node in &successors.targets {
        waits[node.index()] += 1;
    }
    let ready = |waits: &[u32], v: &usize| waits[*v] == 0;
    let mut members: Vec<NodeId> = (0..nodes)
        .filter(|v| ready(&waits, v))
        .map(|v| NodeId(v as u32))
        .collect();
    let mut level_of = vec![0u32; nodes];
    let mut starts = vec![0];
    let mut done = 0;
    while done < members.len() {
        let end = members.len();
        let level = starts.len() as u32;
        for at in done..end {
            for &next in successors.of(members[at]) {
                waits[next.index()] -= 1;
                if waits[next.index()] == 0 {
                    level_of[next.index()] = level;
                    members.push(next);
                }
            }
        }
        members[end..].sort_unstable();
        starts.push(end);
        done = end;
    }
    if members.len() < nodes {
        errors.push(cycle(edges, &successors, &waits, nodes - members.len()));
    }
    if errors.is_empty() {
        Ok(Levels {
            level_of,
            members,
            starts,
            successors,
        })
    } else {
        Err(errors)
    }
}

/// One cycle among the nodes that still wait.
fn cycle(
    edges: &[Edge],
    successors: &Adjacency,
    waits: &[u32],
    unscheduled: usize,
) -> BarrierError {
    let nodes = waits.len();
    let waiting = |v: NodeId| waits[v.index()] > 0;
    // Every waiting node has a waiting predecessor, so walking back from any of them ends in a cycle.
    let mut previous = vec![None; nodes];
    for v in (0..nodes as u32).rev().map(NodeId).filter(|&v| waiting(v)) {
        for &next in successors.of(v) {
            previous[next.index()] = Some(v);
        }
    }
    let mut at = (0..nodes as u32)
        .map(NodeId)
        .find(|&v| waiting(v))
        .expect("some node is unscheduled");
    let mut seen = vec![false; nodes];
    while !seen[at.index()] {
        seen[at.index()] = true;
        at = previous[at.index()].expect("a waiting node has a waiting predecessor");
    }
    let mut lowest = at;
    let mut v = previous[at.index()].expect("on the cycle");
    while v != at {
        lowest = lowest.min(v);
        v = previous[v.index()].expect("on the cycle");
    }
    // The shortest way from the lowest node back to itself, breadth first.
    let mut from = vec![None; nodes];
    let mut queue = VecDeque::from([lowest]);
    let last = 'search: loop {
        let v = queue.pop_front().expect("the node is on a cycle");
        for &next in successors.of(v) {
            if next == lowest {
                break 'search v;
            }
            if waiting(next) && from[next.index()].is_none() {
                from[next.index()] = Some(v);
                queue.push_back(next);
            }
        }
    };
    let mut path = vec![last];
    let mut v = last;
    while v != lowest {
        v = from[v.index()].expect("reached from the lowest node");
        path.push(v);
    }
    path.reverse();
    let mut rank = vec![usize::MAX; nodes];
    for (i, v) in path.iter().enumerate() {
        rank[v.index()] = i;
    }
    let mut on_path = vec![usize::MAX; path.len()];
    for (i, e) in edges.iter().enumerate().rev() {
        if let (Some(&a), Some(&b)) = (rank.get(e.before.index()), rank.get(e.after.index()))
            && a < path.len()
            && b < path.len()
            && path[(a + 1) % path.len()] == path[b]
            && e.before != e.after
        {
            on_path[a] = i;
        }
    }
    BarrierError::Cycle {
        unscheduled,
        path,
        edges: on_path,
    }
}

/// Successor lists, sorted and without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Adjacency {
    starts: Vec<usize>,
    targets: Vec<NodeId>,
}

impl Adjacency {
    fn new<'a>(nodes: usize, edges: impl Iterator<Item = &'a Edge> + Clone) -> Adjacency {
        let mut starts = vec![0usize; nodes + 1];
        for e in edges.clone() {
            starts[e.before.index() + 1] += 1;
        }
        for v in 0..nodes {
            starts[v + 1] += starts[v];
        }
        let mut fill = starts.clone();
        let mut targets = vec![NodeId(0); starts[nodes]];
        for e in edges {
            let slot = &mut fill[e.before.index()];
            targets[*slot] = e.after;
            *slot += 1;
        }
        // Sort each list and close the gaps that repeats leave.
        let mut kept = 0;
        for v in 0..nodes {
            let (begin, end) = (starts[v], starts[v + 1]);
            targets[begin..end].sort_unstable();
            starts[v] = kept;
            for i in begin..end {
                if i == begin || targets[i] != targets[i - 1] {
                    targets[kept] = targets[i];
                    kept += 1;
                }
            }
        }
        starts[nodes] = kept;
        targets.truncate(kept);
        Adjacency { starts, targets }
    }

    fn of(&self, node: NodeId) -> &[NodeId] {
        &self.targets[self.starts[node.index()]..self.starts[node.index() + 1]]
    }
}
