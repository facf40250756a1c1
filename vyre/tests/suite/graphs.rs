//! Graphs that several files test on, and what a search of them finds, worked out one node after the other.

use std::collections::VecDeque;
use vyre::prelude::*;

/// The distance of a node that no search came to.
pub(crate) const UNSEEN: u32 = u32::MAX;

/// A path 0 -> 1 -> ... -> n - 1.
pub(crate) fn chain(n: u32) -> Csr {
    let edges: Vec<(u32, u32)> = (1..n).map(|v| (v - 1, v)).collect();
    Csr::from_edges(n as usize, &edges).expect("a chain is a graph")
}

/// A grid, both directions.
pub(crate) fn grid(width: u32, height: u32) -> Csr {
    let mut edges = Vec::new();
    for v in 0..width * height {
        if v % width + 1 < width {
            edges.extend([(v, v + 1), (v + 1, v)]);
        }
        if v + width < width * height {
            edges.extend([(v, v + width), (v + width, v)]);
        }
    }
    Csr::from_edges((width * height) as usize, &edges).expect("a grid is a graph")
}

/// The next random number.
pub(crate) fn random(seed: &mut u64) -> u32 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as u32
}

/// Edges between random nodes, loops and repeats included.
pub(crate) fn random_graph(nodes: u32, edges: u32) -> Csr {
    let mut seed = 11;
    let mut end = || random(&mut seed) % nodes;
    let edges: Vec<(u32, u32)> = (0..edges).map(|_| (end(), end())).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// Levels of a breadth-first search.
pub(crate) fn distances(graph: &Csr, source: u32) -> Vec<u32> {
    let mut dist = vec![UNSEEN; graph.node_count()];
    dist[source as usize] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(v) = queue.pop_front() {
        for w in graph.neighbors(v) {
            if dist[w as usize] == UNSEEN {
                dist[w as usize] = dist[v as usize] + 1;
                queue.push_back(w);
            }
        }
    }
    dist
}
