//! Graphs to test on, and what a search of them finds, worked out one node after the other.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use vyre::prelude::*;

/// The distance of a node that no search came to.
pub const UNSEEN: u32 = u32::MAX;

/// Nodes without edges.
pub fn edgeless(nodes: usize) -> Csr {
    Csr::from_edges(nodes, &[]).expect("there are no edges")
}

/// A path 0 -> 1 -> ... -> n - 1.
pub fn chain(n: u32) -> Csr {
    let edges: Vec<(u32, u32)> = (1..n).map(|v| (v - 1, v)).collect();
    Csr::from_edges(n as usize, &edges).expect("a chain is a graph")
}

/// Chains of `each` nodes, one after the other.
pub fn chains(nodes: u32, each: u32) -> Csr {
    let inside = (1..nodes).filter(|v| v % each > 0);
    let edges: Vec<(u32, u32)> = inside.map(|v| (v - 1, v)).collect();
    Csr::from_edges(nodes as usize, &edges).expect("chains are a graph")
}

/// Each node has ten successors, far and near; `both`: as many edges lead back.
pub fn wide(nodes: u32, both: bool) -> Csr {
    let mut edges = Vec::new();
    for v in 0..nodes {
        for k in 0..10_u32 {
            let to = v.wrapping_mul(31).wrapping_add(k * k * 7_919 + 1) % nodes;
            edges.push((v, to));
            if both {
                edges.push((to, v));
            }
        }
    }
    edges.sort_unstable();
    Csr::from_edges(nodes as usize, &edges).expect("they are nodes")
}

/// A grid, both directions.
pub fn grid(width: u32, height: u32) -> Csr {
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

/// Edges between random nodes, loops and repeats included.
pub fn random_graph(nodes: u32, edges: u32) -> Csr {
    let mut random = Random(11);
    let mut end = || random.below(nodes);
    let edges: Vec<(u32, u32)> = (0..edges).map(|_| (end(), end())).collect();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// The same edges, and each of them back.
pub fn both_ways(graph: &Csr) -> Csr {
    let edges: Vec<(u32, u32)> = (0..graph.node_count() as u32)
        .flat_map(|v| {
            graph
                .neighbors(v)
                .iter()
                .flat_map(move |w| [(v, w), (w, v)])
        })
        .collect();
    Csr::from_edges(graph.node_count(), &edges).expect("edges name nodes")
}

/// Edges between random nodes, loops and repeats included; a third of the nodes have none.
pub fn ends(nodes: u32, edges: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut random = Random(seed);
    let mut end = || random.below(nodes - nodes / 3);
    (0..edges).map(|_| (end(), end())).collect()
}

/// The targets of each node ascend.
pub fn sorted(nodes: u32, mut edges: Vec<(u32, u32)>) -> Csr {
    edges.sort_unstable();
    Csr::from_edges(nodes as usize, &edges).expect("edges name nodes")
}

/// Edges between [random nodes](ends).
pub fn directed(nodes: u32, edges: u32, seed: u64) -> Csr {
    sorted(nodes, ends(nodes, edges, seed))
}

/// The same with the opposite of each edge.
pub fn undirected(nodes: u32, edges: u32, seed: u64) -> Csr {
    let mut ends = ends(nodes, edges, seed);
    ends.extend(ends.clone().iter().map(|&(a, b)| (b, a)));
    sorted(nodes, ends)
}

/// Levels of a breadth-first search.
pub fn distances(graph: &Csr, source: u32) -> Vec<u32> {
    shortest(graph, &vec![1; graph.edge_count()], source)
}

/// The lengths of shortest paths, by Dijkstra's algorithm.
pub fn shortest(graph: &Csr, weight: &[u32], source: u32) -> Vec<u32> {
    let mut dist = vec![UNSEEN; graph.node_count()];
    dist[source as usize] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, source))]);
    while let Some(Reverse((d, v))) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        for e in graph.edges(v) {
            let (w, through) = (graph.target(e), d + weight[e as usize]);
            if through < dist[w as usize] {
                dist[w as usize] = through;
                heap.push(Reverse((through, w)));
            }
        }
    }
    dist
}
