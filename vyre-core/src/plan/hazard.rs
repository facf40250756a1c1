//! Hazards: accesses that clash because nothing orders the waves that make them.
//!
//! Two waves are ordered when a chain of `after`s leads from one to the other. Unordered waves may both read a
//! resource, or both update it with one commutative operation; anything else is a conflict.
//!
//! A node can be a whole fixpoint: its accesses are the union of what happens inside ([`join`]). Inside a fixpoint, the
//! caller leaves out the accesses to frontiers that the fixpoint owns, because a sweep sees the items of the last round
//! and a push makes items of the next.
//!
//! Ten thousand waves that all write one buffer, one after the other, have fifty million ordered pairs. They are never
//! enumerated: a conflict-free resource is a sequence of blocks (all readers, all updaters with one operation, or a
//! single writer), each wholly before the next, so only neighbouring blocks are compared, and reachability is computed
//! with bit sets for the few thousand waves that a comparison still asks about.
//!
//! ```
//! use vyre_core::vir0::module::{Access, BufferId, Mode, Resource, UpdateOp};
//! use vyre_core::plan::NodeId;
//! use vyre_core::plan::barrier::levels;
//! use vyre_core::plan::hazard::{Conflict, check};
//! let add = Access { resource: Resource::Buffer(BufferId(0)), mode: Mode::Update(UpdateOp::Add) };
//! let read = Access { mode: Mode::Read, ..add };
//! // Two adders and a reader, none of them ordered.
//! let conflicts = check(&[vec![add], vec![add], vec![read]], &levels(3, &[]).unwrap()).unwrap();
//! assert_eq!(conflicts.len(), 2);
//! assert_eq!(conflicts[1], Conflict {
//!     first: NodeId(1),
//!     second: NodeId(2),
//!     resource: add.resource,
//!     modes: (add.mode, Mode::Read),
//! });
//! ```

use super::barrier::Levels;
use super::{Edge, NodeId};
use crate::vir0::module::{Access, Mode, Resource};
use thiserror::Error;

/// Two unordered nodes that use one resource in ways that clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conflict {
    /// The lower node.
    pub first: NodeId,
    /// The higher node.
    pub second: NodeId,
    /// What both use.
    pub resource: Resource,
    /// How the first and the second use it.
    pub modes: (Mode, Mode),
}

/// Conflicts that one check reports at most: whoever has more has one missing `after` too many to read them all.
pub const MAX_CONFLICTS: usize = 4096;

/// Why accesses could not be checked.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum HazardError {
    /// The accesses belong to another graph.
    #[error("accesses of {accesses} nodes were given for a graph of {nodes} nodes")]
    NodeCount {
        /// Access lists given.
        accesses: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
}

crate::debug_is_display!(HazardError);

/// The mode of a node that uses a resource in both ways: equal modes stay, anything else is a write.
///
/// ```
/// use vyre_core::plan::hazard::join;
/// use vyre_core::vir0::module::Mode;
/// assert_eq!(join(Mode::Read, Mode::Read), Mode::Read);
/// assert_eq!(join(Mode::Read, Mode::Write), Mode::Write);
/// ```
pub fn join(a: Mode, b: Mode) -> Mode {
    if a == b { a } else { Mode::Write }
}

/// Whether two unordered nodes may use one resource like this.
pub fn compatible(a: Mode, b: Mode) -> bool {
    a == b && a != Mode::Write
}

/// Every pair of unordered nodes that conflict, by first node, second node and resource; at most [`MAX_CONFLICTS`].
///
/// `nodes[i]` are the accesses of node `i`, in any order; several to one resource are joined.
pub fn check(
    nodes: &[impl AsRef<[Access]>],
    levels: &Levels,
) -> Result<Vec<Conflict>, HazardError> {
    let uses = Uses::new(nodes, levels)?;
    let suspects = uses.suspects(levels);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let mut conflicts = uses.conflicts(&suspects, levels);
    conflicts.sort_unstable();
    conflicts.truncate(MAX_CONFLICTS);
    Ok(conflicts)
}

/// Edges that order nothing, and cost barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needless {
    /// By their ends. Without all of them there are no new conflicts; each costs barriers even without the others.
    pub edges: Vec<Edge>,
    /// Barriers that go with them.
    pub barriers_saved: usize,
}

/// Edges that [`needless`] tries to do without at most.
pub const MAX_NEEDLESS_TRIED: usize = 256;

/// The edges that could be left out: nothing conflicts without them, and groups merge.
///
/// An edge that is merely implied by others, or that lies beside a longer chain, costs nothing and is not reported.
/// There is no answer (`None`) when the graph has conflicts, which come first, or when more than [`MAX_NEEDLESS_TRIED`]
/// edges join nodes that do not conflict: each of them takes a check.
pub fn needless(
    nodes: &[impl AsRef<[Access]>],
    levels: &Levels,
) -> Result<Option<Needless>, HazardError> {
    let uses = Uses::new(nodes, levels)?;
    if !uses.suspects(levels).is_empty() {
        return Ok(None);
    }
    let mut kept: Vec<Edge> = levels.edges().collect();
    let modes = uses.by_node(levels.node_count());
    // An edge between nodes that conflict orders them, or a longer chain does and the edge costs nothing.
    let mut tried: Vec<Edge> = kept
        .iter()
        .copied()
        .filter(|e| !conflicting(&modes[e.before.index()], &modes[e.after.index()]))
        .collect();
    if tried.len() > MAX_NEEDLESS_TRIED {
        return Ok(None);
    }
    // What saves a barrier by itself comes first: two edges may each be safe to leave out, but not both, and the one
    // that costs nothing must not take the place of the one that costs.
    tried.sort_by_cached_key(|&edge| {
        let without: Vec<Edge> = kept.iter().copied().filter(|&e| e != edge).collect();
        levels.with_edges(&without).depth() >= levels.len()
    });
    let mut left_out = Vec::new();
    for edge in tried {
        let without: Vec<Edge> = kept.iter().copied().filter(|&e| e != edge).collect();
        if uses.suspects(&levels.with_edges(&without)).is_empty() {
            kept = without;
            left_out.push(edge);
        }
    }
    let depth = levels.with_edges(&kept).depth();
    // Put back what costs nothing.
    left_out.retain(|&edge| {
        kept.push(edge);
        let costs = levels.with_edges(&kept).depth() > depth;
        if costs {
            kept.pop();
        }
        costs
    });
    Ok(Some(Needless {
        edges: left_out,
        barriers_saved: levels.len() - depth,
    }))
}

/// Whether two nodes need an order; modes by resource.
fn conflicting(a: &[(Resource, Mode)], b: &[(Resource, Mode)]) -> bool {
    a.iter().any(|&(resource, mode)| {
        b.binary_search_by_key(&resource, |u| u.0)
            .is_ok_and(|at| !compatible(mode, b[at].1))
    })
}

/// One node's use of the resource at hand.
#[derive(Clone, Copy)]
struct Use {
    resource: Resource,
    level: usize,
    node: NodeId,
    mode: Mode,
}

/// All uses: by resource, then level, then mode (so that a level with more than one block shows as a break), then node.
struct Uses(Vec<Use>);

/// A question: does every node of the first range of uses come before every node of the second?
struct Question {
    resource: usize,
    before: std::ops::Range<usize>,
    after: std::ops::Range<usize>,
}

/// Pairs of neighbouring blocks up to this product are tried against direct edges first.
const FEW_PAIRS: usize = 64;

impl Uses {
    fn new(nodes: &[impl AsRef<[Access]>], levels: &Levels) -> Result<Uses, HazardError> {
        if nodes.len() != levels.node_count() {
            return Err(HazardError::NodeCount {
                accesses: nodes.len(),
                nodes: levels.node_count(),
            });
        }
        let mut uses = Vec::with_capacity(nodes.iter().map(|n| n.as_ref().len()).sum());
        for (v, accesses) in nodes.iter().enumerate() {
            let node = NodeId(v as u32);
            let begin = uses.len();
            uses.extend(accesses.as_ref().iter().map(|a| Use {
                resource: a.resource,
                level: levels.level_of(node),
                node,
                mode: a.mode,
            }));
            uses[begin..].sort_unstable_by_key(|u| u.resource);
            let mut kept = begin;
            for i in begin..uses.len() {
                if kept > begin && uses[kept - 1].resource == uses[i].resource {
                    uses[kept - 1].mode = join(uses[kept - 1].mode, uses[i].mode);
                } else {
                    uses[kept] = uses[i];
                    kept += 1;
                }
            }
            uses.truncate(kept);
        }
        uses.sort_unstable_by_key(|u| (u.resource, u.level, u.mode, u.node));
        Ok(Uses(uses))
    }

    /// What each node uses, by resource.
    fn by_node(&self, nodes: usize) -> Vec<Vec<(Resource, Mode)>> {
        let mut modes = vec![Vec::new(); nodes];
        for u in &self.0 {
            modes[u.node.index()].push((u.resource, u.mode));
        }
        modes
    }

    /// Ranges of uses of one resource each.
    fn by_resource(&self) -> Vec<std::ops::Range<usize>> {
        runs(&self.0, |a, b| a.resource == b.resource, 0)
    }

    /// The ranges of uses, one for each resource, that hold at least one conflict.
    fn suspects(&self, levels: &Levels) -> Vec<std::ops::Range<usize>> {
        let resources = self.by_resource();
        let mut bad = vec![false; resources.len()];
        let mut questions = Vec::new();
        for (resource, range) in resources.iter().enumerate() {
            let blocks = runs(
                &self.0[range.clone()],
                |a, b| compatible(a.mode, b.mode),
                range.start,
            );
            for pair in blocks.windows(2) {
                let (before, after) = (&self.0[pair[0].clone()], &self.0[pair[1].clone()]);
                let last = before.iter().map(|u| u.level).max();
                let first = after.iter().map(|u| u.level).min();
                if last >= first {
                    bad[resource] = true;
                    break;
                }
                let direct = before.len() * after.len() <= FEW_PAIRS
                    && before.iter().all(|x| {
                        let next = levels.successors(x.node);
                        after.iter().all(|y| next.binary_search(&y.node).is_ok())
                    });
                if !direct {
                    questions.push(Question {
                        resource,
                        before: pair[0].clone(),
                        after: pair[1].clone(),
                    });
                }
            }
        }
        questions.retain(|q| !bad[q.resource]);
        let targets = questions
            .iter()
            .flat_map(|q| &self.0[q.after.clone()])
            .map(|u| u.node);
        for reach in Reach::chunks(targets, levels) {
            for q in &questions {
                if bad[q.resource] {
                    continue;
                }
                let wanted = reach.columns(self.0[q.after.clone()].iter().map(|u| u.node));
                if !self.0[q.before.clone()]
                    .iter()
                    .all(|x| reach.reaches_all(x.node, &wanted))
                {
                    bad[q.resource] = true;
                }
            }
        }
        resources
            .into_iter()
            .zip(bad)
            .filter_map(|(range, bad)| bad.then_some(range))
            .collect()
    }

    /// The conflicts of the given resources.
    fn conflicts(&self, suspects: &[std::ops::Range<usize>], levels: &Levels) -> Vec<Conflict> {
        let mut found = Vec::new();
        let targets = suspects
            .iter()
            .flat_map(|r| &self.0[r.clone()])
            .map(|u| u.node);
        for reach in Reach::chunks(targets, levels) {
            for range in suspects {
                let uses = &self.0[range.clone()];
                for (i, y) in uses.iter().enumerate() {
                    let Some(column) = reach.column(y.node) else {
                        continue;
                    };
                    for x in &uses[..i] {
                        if compatible(x.mode, y.mode) || reach.reaches(x.node, column) {
                            continue;
                        }
                        let (a, b) = if x.node < y.node { (x, y) } else { (y, x) };
                        found.push(Conflict {
                            first: a.node,
                            second: b.node,
                            resource: a.resource,
                            modes: (a.mode, b.mode),
                        });
                        if found.len() > 4 * MAX_CONFLICTS {
                            return found;
                        }
                    }
                }
            }
        }
        found
    }
}

/// Maximal runs of neighbours that belong together; positions start at `base`.
fn runs(
    uses: &[Use],
    together: impl Fn(&Use, &Use) -> bool,
    base: usize,
) -> Vec<std::ops::Range<usize>> {
    let mut at = base;
    uses.chunk_by(together)
        .map(|run| {
            let range = at..at + run.len();
            at = range.end;
            range
        })
        .collect()
}

/// Words of a bit-set row: one chunk answers for 4,096 target nodes.
const WORDS: usize = 64;

/// Which of up to 4,096 target nodes each node reaches.
struct Reach {
    /// Column of a target, by node.
    column_of: Vec<Option<u16>>,
    rows: Vec<[u64; WORDS]>,
}

impl Reach {
    /// One `Reach` after the other that together cover the targets.
    fn chunks(
        targets: impl Iterator<Item = NodeId>,
        levels: &Levels,
    ) -> impl Iterator<Item = Reach> {
        let mut wanted = vec![false; levels.node_count()];
        for v in targets {
            wanted[v.index()] = true;
        }
        let targets: Vec<NodeId> = levels
            .order()
            .iter()
            .copied()
            .filter(|v| wanted[v.index()])
            .collect();
        let count = targets.len().div_ceil(WORDS * 64);
        (0..count).map(move |chunk| {
            let begin = chunk * WORDS * 64;
            let end = targets.len().min(begin + WORDS * 64);
            Reach::new(&targets[begin..end], levels)
        })
    }

    fn new(targets: &[NodeId], levels: &Levels) -> Reach {
        let mut column_of = vec![None; levels.node_count()];
        for (column, v) in targets.iter().enumerate() {
            column_of[v.index()] = Some(column as u16);
        }
        let mut rows = vec![[0u64; WORDS]; levels.node_count()];
        let last = targets.last().map_or(0, |&v| levels.level_of(v));
        let words = targets.len().div_ceil(64);
        for &v in levels.order().iter().rev() {
            if levels.level_of(v) >= last {
                continue;
            }
            let mut row = [0u64; WORDS];
            for next in levels.successors(v) {
                let from = &rows[next.index()];
                for (to, from) in row[..words].iter_mut().zip(from) {
                    *to |= from;
                }
                if let Some(c) = column_of[next.index()] {
                    row[usize::from(c) / 64] |= 1 << (c % 64);
                }
            }
            rows[v.index()] = row;
        }
        Reach { column_of, rows }
    }

    fn column(&self, target: NodeId) -> Option<u16> {
        self.column_of[target.index()]
    }

    fn reaches(&self, from: NodeId, column: u16) -> bool {
        self.rows[from.index()][usize::from(column) / 64] & (1 << (column % 64)) != 0
    }

    /// The targets of this chunk among the nodes, as (word, bits).
    fn columns(&self, nodes: impl Iterator<Item = NodeId>) -> Vec<(usize, u64)> {
        let mut columns: Vec<u16> = nodes.filter_map(|v| self.column(v)).collect();
        columns.sort_unstable();
        columns
            .chunk_by(|a, b| a / 64 == b / 64)
            .map(|run| {
                let bits = run.iter().fold(0, |bits, c| bits | 1 << (c % 64));
                (usize::from(run[0]) / 64, bits)
            })
            .collect()
    }

    fn reaches_all(&self, from: NodeId, wanted: &[(usize, u64)]) -> bool {
        let row = &self.rows[from.index()];
        wanted.iter().all(|&(word, bits)| row[word] & bits == bits)
    }
}
