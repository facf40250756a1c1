//! How the lanes of a chunk follow each other, in each kind of domain.

use super::looks::Ahead;
use crate::cpu::state::Graph;
use crate::dsl::csr::Csr;
use crate::dsl::record::Rows;
use crate::dsl::views::prefetch;
use crate::dsl::{Cell, Edge};
use crate::plan::footprint::{ALONE, CHUNK};
use rayon::prelude::*;
use std::slice;

/// One item of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Node, index, node of a frontier or edge index; of another item, its position.
    pub index: u32,
    /// Source of an edge; 0 in other domains.
    pub src: u32,
    /// Destination of an edge; 0 in other domains.
    pub dst: u32,
}

impl Lane {
    /// The item of a sweep over edges.
    #[inline]
    pub fn edge(self) -> Edge {
        Edge {
            src: self.src,
            dst: self.dst,
            index: self.index,
        }
    }

    /// The item of a sweep over a grid of this width and height.
    #[inline]
    pub fn cell(self, sides: (u32, u32)) -> Cell {
        Cell::swept(self.index, sides)
    }
}

/// A vector with memory for `len` elements; `None` where there is none.
pub(super) fn room<T>(len: usize) -> Option<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).ok()?;
    Some(room)
}

/// A position in the edges out of a list of nodes: `edges` edges into the node at `item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) item: usize,
    pub(super) edges: u32,
}

/// Cuts the edges out of `items` into chunks: `cuts` gets one border more than there are chunks. False where there is
/// no memory for them.
///
/// A chunk never spans two blocks of items, so that blocks can be cut in parallel. A node with many edges is cut as
/// well.
pub(super) fn cut_edges(cuts: &mut Vec<Cut>, graph: &Graph, items: &[u32], repeats: bool) -> bool {
    cuts.clear();
    let (offsets, max_degree) = (graph.csr.offsets(), graph.max_degree);
    let most = items.len() as u64 * u64::from(max_degree);
    // Items that repeat may have more edges than the graph: then chunks are larger, and no more than for all its edges.
    let edges = graph.csr.edge_count() as u64;
    let times = match repeats && most > edges {
        true => {
            let degree = |&v: &u32| u64::from(graph.csr.degree(v));
            let all: u64 = items.par_iter().map(degree).sum();
            all.div_ceil(edges.max(1)).max(1)
        }
        false => 1,
    };
    let per_chunk = CHUNK.saturating_mul(times as usize);
    let put = |cuts: &mut Vec<Cut>, item: usize, edges: u32| {
        let fits = cuts.try_reserve(1).is_ok();
        if fits {
            cuts.push(Cut { item, edges });
        }
        fits
    };
    let cut = |(block, items): (usize, &[u32]), cuts: &mut Vec<Cut>| {
        let first = block * CHUNK;
        if !put(cuts, first, 0) {
            return false;
        }
        let mut room = per_chunk;
        for (item, &v) in (first..).zip(items) {
            let degree = (offsets[v as usize + 1] - offsets[v as usize]) as usize;
            let mut edges = 0;
            while degree - edges > room {
                edges += room;
                room = per_chunk;
                if !put(cuts, item, edges as u32) {
                    return false;
                }
            }
            room -= degree - edges;
        }
        true
    };
    let cut = if most <= ALONE as u64 {
        put(cuts, 0, 0)
    } else if items.len() <= 4 * CHUNK {
        let mut blocks = items.chunks(CHUNK).enumerate();
        blocks.all(|block| cut(block, cuts))
    } else {
        let len = items.len().div_ceil(CHUNK);
        let Some(mut blocks) = room::<Vec<Cut>>(len) else {
            return false;
        };
        blocks.resize_with(len, Vec::new);
        let each = items.par_chunks(CHUNK).enumerate().zip(&mut blocks);
        let all = each.all(|(block, cuts)| cut(block, cuts));
        let borders = blocks.iter().map(Vec::len).sum::<usize>() + 1;
        let fits = all && cuts.try_reserve_exact(borders).is_ok();
        if fits {
            blocks.iter().for_each(|block| cuts.extend(block));
        }
        fits
    };
    cut && put(cuts, items.len(), 0)
}

/// The lanes of a chunk, in order. It moves on before it calls the body, so that it can go on after a lane that
/// unwound.
pub(super) trait Walk {
    /// No two lanes of the sweep touch the same element, so that it does not matter who runs beside.
    const APART: bool = false;

    fn walk(&mut self, body: impl FnMut(Lane));
    /// Index of the lane that was called last.
    fn current(&self) -> u32;
}

pub(super) struct Span {
    pub(super) next: u32,
    pub(super) end: u32,
}

impl Walk for Span {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        while self.next < self.end {
            let index = self.next;
            self.next += 1;
            body(Lane {
                index,
                src: 0,
                dst: 0,
            });
        }
    }

    fn current(&self) -> u32 {
        self.next - 1
    }
}

/// Items by position; a trap names an item by its key.
pub(super) struct ItemWalk<'a> {
    pub(super) items: &'a Rows,
    pub(super) span: Span,
}

impl Walk for ItemWalk<'_> {
    #[inline]
    fn walk(&mut self, body: impl FnMut(Lane)) {
        self.span.walk(body);
    }

    fn current(&self) -> u32 {
        self.items.key(self.span.current() as usize)
    }
}

pub(super) struct Items<'a> {
    pub(super) items: &'a [u32],
    pub(super) next: usize,
}

impl Walk for Items<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        while let Some(&index) = self.items.get(self.next) {
            self.next += 1;
            body(Lane {
                index,
                src: 0,
                dst: 0,
            });
        }
    }

    fn current(&self) -> u32 {
        self.items[self.next - 1]
    }
}

pub(super) struct AllEdges<'a> {
    pub(super) graph: &'a Csr,
    pub(super) src: u32,
    pub(super) next: u32,
    pub(super) end: u32,
}

impl Walk for AllEdges<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let (offsets, targets) = (self.graph.offsets(), self.graph.targets());
        while self.next < self.end {
            while self.next >= offsets[self.src as usize + 1] {
                self.src += 1;
            }
            let (src, stop) = (self.src, offsets[self.src as usize + 1].min(self.end));
            while self.next < stop {
                let index = self.next;
                self.next += 1;
                body(Lane {
                    index,
                    src,
                    dst: targets[index as usize],
                });
            }
        }
    }

    fn current(&self) -> u32 {
        self.next - 1
    }
}

#[derive(Clone)]
pub(super) struct EdgesFrom<'a> {
    pub(super) offsets: &'a [u32],
    pub(super) targets: &'a [u32],
    /// Nodes all of whose edges are the chunk's, and one more of which only some are.
    pub(super) whole: slice::Iter<'a, u32>,
    pub(super) part: Option<(u32, u32)>,
    /// The current node, the targets of its edges that were not visited, and the index after its last edge.
    pub(super) src: u32,
    pub(super) rest: slice::Iter<'a, u32>,
    pub(super) end: u32,
}

impl<'a> EdgesFrom<'a> {
    #[inline(always)]
    pub(super) fn new(graph: &'a Csr, items: &'a [u32], from: Cut, to: Cut) -> Self {
        let mut walk = EdgesFrom {
            offsets: graph.offsets(),
            targets: graph.targets(),
            whole: items[from.item..to.item].iter(),
            part: (to.edges > 0).then(|| (items[to.item], to.edges)),
            src: 0,
            rest: [].iter(),
            end: 0,
        };
        if from.edges > 0 {
            walk.enter();
            walk.rest = walk.rest.as_slice()[from.edges as usize..].iter();
        }
        walk
    }

    /// Starts the next node; false at the end of the chunk.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        if let Some(&src) = self.whole.next() {
            let end = self.offsets[src as usize + 1];
            self.start(src, end);
            return true;
        }
        self.enter_part()
    }

    #[inline(always)]
    fn enter_part(&mut self) -> bool {
        let Some((src, count)) = self.part.take() else {
            return false;
        };
        let end = self.offsets[src as usize] + count;
        self.start(src, end);
        true
    }

    #[inline(always)]
    fn start(&mut self, src: u32, end: u32) {
        let first = self.offsets[src as usize];
        self.src = src;
        self.end = end;
        self.rest = self.targets[first as usize..end as usize].iter();
    }
}

/// Where a walk is: in registers while it goes on, and written back when it ends or a lane unwinds.
pub(super) struct At<'w, 'a> {
    pub(super) walk: &'w mut EdgesFrom<'a>,
    pub(super) now: EdgesFrom<'a>,
}

impl Drop for At<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.walk.clone_from(&self.now);
    }
}

impl Walk for EdgesFrom<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let now = self.clone();
        let mut at = At { walk: self, now };
        loop {
            while let Some(&dst) = at.now.rest.next() {
                let index = at.now.end - at.now.rest.len() as u32 - 1;
                let src = at.now.src;
                body(Lane { index, src, dst });
            }
            if !at.now.enter() {
                return;
            }
        }
    }

    #[inline]
    fn current(&self) -> u32 {
        self.end - self.rest.len() as u32 - 1
    }
}

/// The same edges, some at a time: what their lanes will look at is asked for before the first of them runs.
pub(super) struct Batches<'a> {
    pub(super) walk: EdgesFrom<'a>,
    pub(super) looks: &'a Ahead,
    pub(super) lanes: [Lane; Batches::LANES],
    pub(super) at: usize,
    pub(super) len: usize,
}

impl Batches<'_> {
    pub(super) const LANES: usize = 64;
    /// Items ahead at which a row is asked for; where it begins is asked for at twice the distance.
    const ROWS: usize = 8;

    fn fill(&mut self) {
        let walk = &mut self.walk;
        (self.at, self.len) = (0, 0);
        while self.len < Self::LANES {
            if let Some(&dst) = walk.rest.next() {
                let index = walk.end - walk.rest.len() as u32 - 1;
                let src = walk.src;
                self.lanes[self.len] = Lane { index, src, dst };
                self.len += 1;
                self.looks.dst.prefetch(dst);
                continue;
            }
            let coming = walk.whole.as_slice();
            if let Some(&v) = coming.get(2 * Self::ROWS) {
                prefetch(walk.offsets, v as usize);
            }
            if let Some(&v) = coming.get(Self::ROWS) {
                let first = walk.offsets[v as usize];
                prefetch(walk.targets, first as usize);
                self.looks.index.prefetch(first);
                self.looks.src.prefetch(v);
            }
            if !walk.enter() {
                return;
            }
        }
    }
}

impl Walk for Batches<'_> {
    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        loop {
            while self.at < self.len {
                let lane = self.lanes[self.at];
                self.at += 1;
                body(lane);
            }
            self.fill();
            if self.len == 0 {
                return;
            }
        }
    }

    #[inline]
    fn current(&self) -> u32 {
        self.lanes[self.at - 1].index
    }
}

/// Of the edges from a frontier, one into each node that may not have been claimed; see [`crate::plan::pull`]. The
/// kernel looks at the destination only.
pub(super) struct Pulled<'a> {
    pub(super) into: &'a Csr,
    pub(super) front: &'a [u64],
    pub(super) done: &'a [u64],
    pub(super) next: usize,
    pub(super) end: usize,
}

impl Pulled<'_> {
    /// Nodes ahead at which a row is asked for.
    const AHEAD: usize = 16;
}

impl Walk for Pulled<'_> {
    // A lane claims its own destination.
    const APART: bool = true;

    #[inline]
    fn walk(&mut self, mut body: impl FnMut(Lane)) {
        let (offsets, targets) = (self.into.offsets(), self.into.targets());
        while self.next < self.end {
            let waiting = !self.done[self.next / 64] >> (self.next % 64);
            if waiting == 0 {
                self.next = (self.next / 64 + 1) * 64;
                continue;
            }
            let v = self.next + waiting.trailing_zeros() as usize;
            self.next = v + 1;
            if v >= self.end {
                return;
            }
            // Only the start of a row is looked at, as a rule: nothing else foresees where the next ones lie.
            if let Some(&ahead) = offsets.get(v + Self::AHEAD) {
                prefetch(targets, ahead as usize);
            }
            let from = &targets[offsets[v] as usize..offsets[v + 1] as usize];
            let in_front = |&&u: &&u32| self.front[u as usize / 64] >> (u % 64) & 1 != 0;
            if let Some(&src) = from.iter().find(in_front) {
                body(Lane {
                    index: 0,
                    src,
                    dst: v as u32,
                });
            }
        }
    }

    fn current(&self) -> u32 {
        (self.next - 1) as u32
    }
}
