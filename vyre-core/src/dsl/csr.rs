//! Graphs in compressed sparse row form: the edges of node `v` are `offsets[v]..offsets[v + 1]`, and `targets` has
//! where each edge leads.

use crate::dsl::fault;
use crate::dsl::params::Edge;
use crate::dsl::views::zeros;
use crate::vir0::subject::Dimension;
use std::ops::Range;
use thiserror::Error;

/// Why arrays are not a CSR graph.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum CsrError {
    /// `offsets` is empty; it holds nodes + 1 entries.
    #[error("offsets is empty; a graph of n nodes has n + 1 offsets")]
    NoOffsets,
    /// The first offset is not 0.
    #[error("offsets start at {0}, not 0")]
    FirstOffset(u32),
    /// Offsets decrease.
    #[error("offset {next} of node {node} is below its predecessor {previous}")]
    Decreasing {
        /// Node whose range is negative.
        node: usize,
        /// Its start.
        previous: u32,
        /// Its end.
        next: u32,
    },
    /// The last offset is not the number of targets.
    #[error("the last offset is {last}, but there are {targets} targets")]
    LastOffset {
        /// Last offset.
        last: u32,
        /// Length of `targets`.
        targets: usize,
    },
    /// A target is not a node.
    #[error("edge {edge} points to node {target}; there are {nodes} nodes")]
    Target {
        /// Edge index.
        edge: usize,
        /// Its target.
        target: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A source is not a node.
    #[error("edge {edge} leaves node {source_node}; there are {nodes} nodes")]
    Source {
        /// Edge index.
        edge: usize,
        /// Its source.
        source_node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// Indices are u32, and the greatest of them is none: 2^32 - 1 nodes or edges are too many.
    #[error("{what} number {count}; at most {max} are supported", max = u32::MAX - 1)]
    TooLarge {
        /// "nodes" or "edges".
        what: &'static str,
        /// How many.
        count: u64,
    },
    /// The system has no memory left for the graph.
    #[error(
        "no memory is left for a graph of {nodes} nodes and {edges} edges, {needed_bytes} bytes"
    )]
    Memory {
        /// Number of nodes.
        nodes: usize,
        /// Number of edges.
        edges: usize,
        /// What the graph takes, with what is needed to build it.
        needed_bytes: u64,
    },
}

crate::debug_is_display!(CsrError);

/// A directed graph: the targets of node `v` are `targets[offsets[v]..offsets[v + 1]]`.
///
/// ```
/// use vyre_core::dsl::csr::Csr;
/// let g = Csr::from_edges(3, &[(0, 2), (0, 1), (2, 0)]).unwrap();
/// assert!(g.neighbors(0).iter().eq([2, 1]));
/// assert_eq!((g.node_count(), g.edge_count(), g.degree(1)), (3, 3, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Csr {
    /// Checks and takes the two arrays.
    pub fn new(offsets: Vec<u32>, targets: Vec<u32>) -> Result<Csr, CsrError> {
        let (&first, &last) = match (offsets.first(), offsets.last()) {
            (Some(f), Some(l)) => (f, l),
            _ => return Err(CsrError::NoOffsets),
        };
        let nodes = offsets.len() - 1;
        too_large("nodes", nodes as u64)?;
        too_large("edges", targets.len() as u64)?;
        if first != 0 {
            return Err(CsrError::FirstOffset(first));
        }
        if let Some(node) = offsets.windows(2).position(|w| w[1] < w[0]) {
            return Err(CsrError::Decreasing {
                node,
                previous: offsets[node],
                next: offsets[node + 1],
            });
        }
        if last as usize != targets.len() {
            return Err(CsrError::LastOffset {
                last,
                targets: targets.len(),
            });
        }
        if let Some(edge) = targets.iter().position(|&t| t as usize >= nodes) {
            return Err(CsrError::Target {
                edge,
                target: targets[edge],
                nodes,
            });
        }
        Ok(Csr { offsets, targets })
    }

    /// Without nodes and edges, to [`become_part`](Csr::become_part).
    pub(crate) fn empty() -> Csr {
        Csr {
            offsets: vec![0],
            targets: Vec::new(),
        }
    }

    /// Becomes the part of a graph that has these nodes, numbered from 0, and the edges between them. `drops`: there may
    /// be others, which are left out. Gives the highest degree; `None` where there is no memory.
    pub(crate) fn become_part(
        &mut self,
        of: &Csr,
        nodes: std::ops::Range<u32>,
        drops: bool,
    ) -> Option<u32> {
        let (first, end) = (nodes.start as usize, nodes.end as usize);
        let offsets = &of.offsets[first..=end];
        let (base, last) = (offsets[0], offsets[end - first]);
        self.offsets.clear();
        self.targets.clear();
        self.offsets.try_reserve(offsets.len()).ok()?;
        self.targets.try_reserve((last - base) as usize).ok()?;
        if drops {
            self.offsets.push(0);
            for v in nodes.clone() {
                let inside = of
                    .neighbors(v)
                    .iter()
                    .filter(|target| nodes.contains(target));
                self.targets
                    .extend(inside.map(|target| target - nodes.start));
                self.offsets.push(self.targets.len() as u32);
            }
        } else {
            self.offsets.extend(offsets.iter().map(|o| o - base));
            let targets = &of.targets[base as usize..last as usize];
            self.targets
                .extend(targets.iter().map(|target| target - nodes.start));
        }
        let degrees = self.offsets.windows(2).map(|w| w[1] - w[0]);
        Some(degrees.max().unwrap_or(0))
    }

    /// Builds a graph from edges, keeping their order within each source.
    ///
    /// # Errors
    /// An end of an edge is not a node, there are 2^32 - 1 nodes or edges or more, or there is no memory.
    pub fn from_edges(nodes: usize, edges: &[(u32, u32)]) -> Result<Csr, CsrError> {
        Ok(Csr::from_edges_indexed(nodes, edges)?.0)
    }

    /// As [`Csr::from_edges`]; also returns, for each edge of the graph, its position in `edges` (to permute weights).
    pub fn from_edges_indexed(
        nodes: usize,
        edges: &[(u32, u32)],
    ) -> Result<(Csr, Vec<u32>), CsrError> {
        too_large("nodes", nodes as u64)?;
        too_large("edges", edges.len() as u64)?;
        let (Some(mut offsets), Some(mut targets), Some(mut origin)) =
            (zeros(nodes + 1), zeros(edges.len()), zeros(edges.len()))
        else {
            return Err(no_memory(nodes, edges.len()));
        };
        for (edge, &(src, dst)) in edges.iter().enumerate() {
            if src as usize >= nodes {
                return Err(CsrError::Source {
                    edge,
                    source_node: src,
                    nodes,
                });
            }
            if dst as usize >= nodes {
                return Err(CsrError::Target {
                    edge,
                    target: dst,
                    nodes,
                });
            }
            offsets[src as usize] += 1;
        }
        // From the number of each node's edges, to where the next node's begin; then back, an edge at a time.
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        for (edge, &(src, dst)) in edges.iter().enumerate().rev() {
            let slot = &mut offsets[src as usize];
            *slot -= 1;
            targets[*slot as usize] = dst;
            origin[*slot as usize] = edge as u32;
        }
        Ok((Csr { offsets, targets }, origin))
    }

    /// The graph with more edges, each behind those that its source has. Also returns where each edge of the new graph
    /// comes from, to permute weights: edges of this graph count from 0, and the appended edges continue after them.
    ///
    /// ```
    /// use vyre_core::dsl::csr::Csr;
    /// let g = Csr::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
    /// let (more, origin) = g.append(&[(0, 2)]).unwrap();
    /// assert_eq!((more.targets(), origin.as_slice()), ([1, 2, 2].as_slice(), [0, 2, 1].as_slice()));
    /// ```
    pub fn append(&self, edges: &[(u32, u32)]) -> Result<(Csr, Vec<u32>), CsrError> {
        let nodes = 0..self.node_count() as u32;
        let all = nodes.flat_map(|v| self.neighbors(v).iter().map(move |t| (v, t)));
        let (count, mut more) = (self.edge_count() + edges.len(), Vec::new());
        if more.try_reserve_exact(count).is_err() {
            return Err(no_memory(self.node_count(), count));
        }
        more.extend(all.chain(edges.iter().copied()));
        Csr::from_edges_indexed(self.node_count(), &more).map_err(|e| match e {
            CsrError::Source {
                edge,
                source_node,
                nodes,
            } => CsrError::Source {
                edge: edge - self.edge_count(),
                source_node,
                nodes,
            },
            CsrError::Target {
                edge,
                target,
                nodes,
            } => CsrError::Target {
                edge: edge - self.edge_count(),
                target,
                nodes,
            },
            other => other,
        })
    }

    /// The graph with every edge reversed; edges of a node keep the order of their sources.
    pub fn reverse(&self) -> Csr {
        let (offsets, targets) = (self.offsets.len(), self.targets.len());
        self.reversed_in(vec![0; offsets], vec![0; targets])
    }

    /// [`reverse`](Csr::reverse), and for each of its edges the index that it has here: what a weight for each edge is
    /// brought over by.
    ///
    /// ```
    /// # use vyre_core::dsl::csr::Csr;
    /// let roads = Csr::from_edges(3, &[(0, 1), (0, 2), (1, 0), (2, 1)]).unwrap();
    /// let length = [1, 10, 100, 1000];
    /// let (back, from) = roads.reverse_indexed();
    /// let length_back: Vec<u32> = from.iter().map(|&e| length[e as usize]).collect();
    /// assert_eq!(back.targets(), [1, 0, 2, 0]);
    /// assert_eq!(length_back, [100, 1, 1000, 10]);
    /// ```
    pub fn reverse_indexed(&self) -> (Csr, Vec<u32>) {
        let back = self.reverse();
        let mut next = back.offsets.clone();
        let mut from = vec![0; self.targets.len()];
        // Those into a node are in the order of their indices, as `reverse` leaves them.
        for (e, &t) in (0..).zip(&self.targets) {
            let at = &mut next[t as usize];
            from[*at as usize] = e;
            *at += 1;
        }
        (back, from)
    }

    /// The graph with some of its edges, in their order, and for each of them the index that it has here. Such as the
    /// light and the heavy edges, each a topology of its own:
    ///
    /// ```
    /// # use vyre_core::dsl::csr::Csr;
    /// let roads = Csr::from_edges(3, &[(0, 1), (0, 2), (1, 0), (2, 1)]).unwrap();
    /// let length = [9, 1, 2, 9];
    /// let (short, from) = roads.filter_indexed(|e| length[e.index as usize] < 5);
    /// assert_eq!((short.offsets(), short.targets()), ([0, 1, 2, 2].as_slice(), [2, 0].as_slice()));
    /// assert_eq!(from, [1, 2]);
    /// let (loops, _) = roads.filter_indexed(|e| e.src == e.dst);
    /// assert_eq!((loops.node_count(), loops.edge_count()), (3, 0));
    /// ```
    pub fn filter_indexed(&self, mut keep: impl FnMut(Edge) -> bool) -> (Csr, Vec<u32>) {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        let (mut targets, mut from) = (Vec::new(), Vec::new());
        offsets.push(0);
        for src in 0..self.node_count() as u32 {
            for (index, dst) in self.edges(src).zip(self.neighbors(src)) {
                if keep(Edge { src, dst, index }) {
                    targets.push(dst);
                    from.push(index);
                }
            }
            offsets.push(targets.len() as u32);
        }
        (Csr { offsets, targets }, from)
    }

    /// [`reverse`](Csr::reverse), or `None` where there is no memory.
    pub(crate) fn try_reverse(&self) -> Option<Csr> {
        let (offsets, targets) = (zeros(self.offsets.len())?, zeros(self.targets.len())?);
        Some(self.reversed_in(offsets, targets))
    }

    /// [`reverse`](Csr::reverse) into arrays of zeros, one as long as the offsets and one as long as the targets.
    fn reversed_in(&self, mut offsets: Vec<u32>, mut targets: Vec<u32>) -> Csr {
        let n = self.node_count();
        for &t in &self.targets {
            offsets[t as usize] += 1;
        }
        // From the number of edges into each node, to where the next node's begin.
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        for v in (0..n as u32).rev() {
            for t in self.neighbors(v).rev() {
                let at = &mut offsets[t as usize];
                *at -= 1;
                targets[*at as usize] = v;
            }
        }
        Csr { offsets, targets }
    }

    /// A copy; `None` where there is no memory.
    pub(crate) fn try_clone(&self) -> Option<Csr> {
        let copy = |of: &[u32]| {
            let mut to = Vec::new();
            to.try_reserve_exact(of.len()).ok()?;
            to.extend_from_slice(of);
            Some(to)
        };
        Some(Csr {
            offsets: copy(&self.offsets)?,
            targets: copy(&self.targets)?,
        })
    }

    /// Whether it is its own reverse: each edge has its opposite, as often as it is there itself. False as well where a
    /// node's targets do not ascend, and where there is no memory for a number a node.
    pub(crate) fn is_symmetric(&self) -> bool {
        use rayon::prelude::*;
        let nodes = self.node_count();
        let row = |v: usize| self.offsets[v] as usize..self.offsets[v + 1] as usize;
        // Where each node's edges up begin: those to larger nodes.
        let Some(mut up) = zeros::<u32>(nodes) else {
            return false;
        };
        let ascend = up.par_iter_mut().enumerate().all(|(v, up)| {
            let targets = &self.targets[row(v)];
            let smaller = targets.partition_point(|&t| t as usize <= v);
            *up = self.offsets[v] + smaller as u32;
            targets.is_sorted()
        });
        if !ascend {
            return false;
        }
        // A task looks at the edges down into a block of nodes; blocks have about as many edges up each.
        let above = |v: usize| u64::from(self.offsets[v + 1] - up[v]);
        let all: u64 = (0..nodes).map(above).sum();
        let tasks = rayon::current_num_threads().min(8);
        let (mut ends, mut edges) = (Vec::new(), 0);
        for v in 0..nodes {
            edges += above(v);
            if edges * tasks as u64 >= all || v + 1 == nodes {
                ends.push(v + 1);
                edges = 0;
            }
        }
        let (mut blocks, mut first, mut rest) = (Vec::new(), 0, &mut up[..]);
        for end in ends {
            let (block, after) = rest.split_at_mut(end - first);
            blocks.push((first, block));
            (first, rest) = (end, after);
        }
        blocks
            .into_par_iter()
            .all(|(start, block)| self.matches_upward(start, block))
    }

    /// Each edge down into a block of nodes, from larger ones, has its opposite, and the other way round. `next` is
    /// where the edges up of the nodes from `start` on begin, and is left somewhere else; targets ascend.
    ///
    /// By ascending sources, the edges down into a node are met in the order of its edges up. Where a few small nodes
    /// have most of the edges, as they often do, what is looked at stays in the cache.
    fn matches_upward(&self, start: usize, next: &mut [u32]) -> bool {
        let end = start + next.len();
        let met = (start..self.node_count()).all(|v| {
            let targets = &self.targets[self.offsets[v] as usize..self.offsets[v + 1] as usize];
            let first = match start {
                0 => 0,
                _ => targets.partition_point(|&t| (t as usize) < start),
            };
            let mut down = targets[first..].iter().map(|&t| t as usize);
            let limit = v.min(end);
            loop {
                let Some(t) = down.next().filter(|&t| t < limit) else {
                    return true;
                };
                // Beyond its row it cannot come back: the end tells.
                let at = &mut next[t - start];
                if self.targets.get(*at as usize) != Some(&(v as u32)) {
                    return false;
                }
                *at += 1;
            }
        });
        let ends = &self.offsets[start + 1..];
        met && next.iter().zip(ends).all(|(at, end)| at == end)
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// The n + 1 offsets.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The targets, by source.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Edge indices of a node. Traps in a lane, and panics elsewhere, when `v` is not a node.
    #[inline]
    #[track_caller]
    pub fn edges(&self, v: u32) -> EdgesOf {
        match (
            self.offsets.get(v as usize),
            self.offsets.get(v as usize + 1),
        ) {
            (Some(&start), Some(&end)) => EdgesOf { start, end },
            _ => fault::out_of_bounds(v, self.node_count()),
        }
    }

    /// Targets of a node. Traps in a lane, and panics elsewhere, when `v` is not a node.
    #[inline]
    #[track_caller]
    pub fn neighbors(&self, v: u32) -> NeighborsOf<'_> {
        let e = self.edges(v);
        NeighborsOf {
            targets: &self.targets[e.start as usize..e.end as usize],
        }
    }

    /// Target of an edge. Traps in a lane, and panics elsewhere, when `e` is not an edge.
    #[inline]
    #[track_caller]
    pub fn target(&self, e: u32) -> u32 {
        match self.targets.get(e as usize) {
            Some(&target) => target,
            None => fault::out_of_bounds(e, self.targets.len()),
        }
    }

    /// Out-degree of a node. Traps in a lane, and panics elsewhere, when `v` is not a node.
    #[inline]
    #[track_caller]
    pub fn degree(&self, v: u32) -> u32 {
        let e = self.edges(v);
        e.end - e.start
    }
}

/// The edges of a node, which follow each other: their indices from `start` to before `end`.
///
/// ```
/// use vyre_core::dsl::csr::Csr;
/// let g = Csr::from_edges(3, &[(0, 2), (0, 1), (2, 0)]).unwrap();
/// let row = g.edges(0);
/// assert_eq!((row.start, row.len(), row.at(1)), (0, 2, 1));
/// assert!(row.part(1..2).into_iter().eq([1]));
/// assert!(row.rev().zip(g.neighbors(0)).eq([(1, 2), (0, 1)]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgesOf {
    /// Index of the first one.
    pub start: u32,
    /// Index behind the last one.
    pub end: u32,
}

/// The targets of a node's edges, in their order.
///
/// ```
/// use vyre_core::dsl::csr::Csr;
/// let g = Csr::from_edges(3, &[(0, 2), (0, 1), (2, 0)]).unwrap();
/// let row = g.neighbors(0);
/// assert_eq!((row.len(), row.at(0)), (2, 2));
/// assert!(row.part(1..2).into_iter().eq([1]));
/// assert!(row.enumerate().eq([(0, 2), (1, 1)]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborsOf<'g> {
    targets: &'g [u32],
}

/// What both kinds of rows have; the body of `at` and `part` once their arguments are checked.
macro_rules! rows {
    ([$($generics:tt)*] $row:ty, $iter:ty, $it:ident, $len:expr, $at:ident => $item:expr, $from:ident, $to:ident => $part:expr) => {
        impl $($generics)* $row {
            /// How many there are.
            #[inline]
            pub fn len(self) -> u32 {
                let $it = self;
                $len
            }

            /// There are none.
            #[inline]
            pub fn is_empty(self) -> bool {
                self.len() == 0
            }

            /// That at a place, from 0 on. Traps in a lane, and panics elsewhere, when there is no such place.
            #[inline]
            #[track_caller]
            pub fn at(self, $at: u32) -> u32 {
                if $at >= self.len() {
                    fault::outside(Dimension::Place, $at, self.len() as usize)
                }
                let $it = self;
                $item
            }

            /// Those from one place to before another. Traps in a lane, and panics elsewhere, when that is no part of
            /// the row.
            #[inline]
            #[track_caller]
            pub fn part(self, places: Range<u32>) -> Self {
                let Range { start: $from, end: $to } = places;
                if $to > self.len() {
                    fault::outside(Dimension::Place, $to - 1, self.len() as usize)
                }
                if $from > $to {
                    fault::outside(Dimension::Place, $from, $to as usize)
                }
                let $it = self;
                $part
            }

            /// All of them, as by `into_iter`.
            #[inline]
            pub fn iter(self) -> $iter {
                self.into_iter()
            }

            /// From the last one on.
            #[inline]
            pub fn rev(self) -> std::iter::Rev<$iter> {
                self.into_iter().rev()
            }

            /// Each with its place.
            #[inline]
            pub fn enumerate(self) -> std::iter::Enumerate<$iter> {
                self.into_iter().enumerate()
            }

            /// Each with what stands at the same place elsewhere.
            #[inline]
            pub fn zip<I: IntoIterator>(self, other: I) -> std::iter::Zip<$iter, I::IntoIter> {
                self.into_iter().zip(other)
            }
        }
    };
}

rows!(
    [] EdgesOf, Range<u32>, row, row.end - row.start,
    at => row.start + at,
    from, to => EdgesOf { start: row.start + from, end: row.start + to }
);

impl<'g> NeighborsOf<'g> {
    /// As they lie in the graph.
    #[inline]
    pub fn as_slice(self) -> &'g [u32] {
        self.targets
    }
}

rows!(
    [<'g>] NeighborsOf<'g>, std::iter::Copied<std::slice::Iter<'g, u32>>, row, row.targets.len() as u32,
    at => row.targets[at as usize],
    from, to => NeighborsOf { targets: &row.targets[from as usize..to as usize] }
);

impl IntoIterator for EdgesOf {
    type Item = u32;
    type IntoIter = Range<u32>;

    #[inline]
    fn into_iter(self) -> Range<u32> {
        self.start..self.end
    }
}

impl<'g> IntoIterator for NeighborsOf<'g> {
    type Item = u32;
    type IntoIter = std::iter::Copied<std::slice::Iter<'g, u32>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.targets.iter().copied()
    }
}

fn too_large(what: &'static str, count: u64) -> Result<(), CsrError> {
    if count >= u64::from(u32::MAX) {
        Err(CsrError::TooLarge { what, count })
    } else {
        Ok(())
    }
}

/// For a graph that is built of edges: offsets, targets and origins.
#[cold]
fn no_memory(nodes: usize, edges: usize) -> CsrError {
    CsrError::Memory {
        nodes,
        edges,
        needed_bytes: 4 * (nodes as u64 + 1) + 8 * edges as u64,
    }
}

#[cfg(all(test, feature = "exec"))]
mod tests {
    use super::Csr;

    #[test]
    fn symmetric_graphs_are_their_own_reverse() {
        let mut seed = 7u64;
        let mut random = |n: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u32 % n
        };
        let (mut yes, mut no) = (0, 0);
        for round in 0..4_000 {
            let nodes = 1 + random(9);
            let mut edges: Vec<(u32, u32)> = (0..random(12))
                .map(|_| (random(nodes), random(nodes)))
                .collect();
            edges.extend(edges.clone().iter().map(|&(a, b)| (b, a)));
            if round % 2 == 1 {
                // Often still symmetric: a loop, or a change that is undone.
                for _ in 0..1 + random(2) {
                    if let Some(at) = (edges.len() as u32).checked_sub(1) {
                        edges[random(at + 1) as usize] = (random(nodes), random(nodes));
                    }
                }
            }
            edges.sort_unstable();
            let graph = Csr::from_edges(nodes as usize, &edges).expect("edges name nodes");
            let symmetric = graph.reverse() == graph;
            assert_eq!(graph.is_symmetric(), symmetric, "{edges:?}");
            *if symmetric { &mut yes } else { &mut no } += 1;
        }
        assert!(yes > 2_000 && no > 1_000, "{yes} symmetric, {no} not");
    }

    #[test]
    fn the_last_index_is_no_node() {
        let error = Csr::from_edges(u32::MAX as usize, &[]).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "nodes number 4294967295; at most 4294967294 are supported"
        );
    }

    #[test]
    fn rows_out_of_order_are_not_looked_at() {
        let graph =
            Csr::from_edges(3, &[(0, 2), (0, 1), (1, 0), (2, 0)]).expect("edges name nodes");
        assert!(!graph.is_symmetric());
        assert!(Csr::from_edges(0, &[]).expect("nothing").is_symmetric());
    }
}
