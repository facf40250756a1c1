//! Sequential algorithms, written the usual way: what `--check` compares results and times with.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use vyre_cuda::Csr;

/// Distance of a node that no path reaches.
pub const UNREACHED: u32 = u32::MAX;

/// Levels of a breadth-first search with a queue.
///
/// ```
/// use vyre_cuda::Csr;
/// use vyre_examples::oracle::{UNREACHED, bfs};
/// let g = Csr::from_edges(4, &[(0, 1), (1, 2), (0, 2)]).unwrap();
/// assert_eq!(bfs(&g, 0), [0, 1, 1, UNREACHED]);
/// ```
pub fn bfs(graph: &Csr, source: u32) -> Vec<u32> {
    let mut dist = vec![UNREACHED; graph.node_count()];
    let mut queue = VecDeque::from([source]);
    dist[source as usize] = 0;
    while let Some(v) = queue.pop_front() {
        let next = dist[v as usize] + 1;
        for t in graph.neighbors(v) {
            if dist[t as usize] == UNREACHED {
                dist[t as usize] = next;
                queue.push_back(t);
            }
        }
    }
    dist
}

/// Shortest distances by Dijkstra's algorithm with a binary heap. Distances of 2^32 - 1 and more count as unreached.
///
/// ```
/// use vyre_cuda::Csr;
/// use vyre_examples::oracle::{UNREACHED, dijkstra};
/// let g = Csr::from_edges(4, &[(0, 1), (0, 2), (1, 2)]).unwrap();
/// assert_eq!(dijkstra(&g, &[2, 9, 3], 0), [0, 2, 5, UNREACHED]);
/// ```
pub fn dijkstra(graph: &Csr, weights: &[u32], source: u32) -> Vec<u32> {
    let mut dist = vec![UNREACHED; graph.node_count()];
    let mut heap = BinaryHeap::from([(Reverse(0u32), source)]);
    dist[source as usize] = 0;
    while let Some((Reverse(d), v)) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        for e in graph.edges(v) {
            let t = graph.target(e);
            let next = d.saturating_add(weights[e as usize]);
            if next < dist[t as usize] {
                dist[t as usize] = next;
                heap.push((Reverse(next), t));
            }
        }
    }
    dist
}

/// The smallest node of each node's weakly connected component, by union-find with path halving.
///
/// ```
/// use vyre_cuda::Csr;
/// let g = Csr::from_edges(5, &[(4, 1), (3, 4)]).unwrap();
/// assert_eq!(vyre_examples::oracle::components(&g), [0, 1, 2, 1, 1]);
/// ```
pub fn components(graph: &Csr) -> Vec<u32> {
    let nodes = graph.node_count() as u32;
    let mut parent: Vec<u32> = (0..nodes).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for v in 0..nodes {
        for t in graph.neighbors(v) {
            let (a, b) = (root(&mut parent, v), root(&mut parent, t));
            // The smaller root stays one, so that a root is its component's smallest node.
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    (0..nodes).map(|v| root(&mut parent, v)).collect()
}

/// Parameters of [`pagerank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    /// Probability of following an edge.
    pub damping: f32,
    /// Iteration stops when the ranks moved by less than this in sum.
    pub tolerance: f32,
    /// Iteration stops here at the latest.
    pub max_rounds: u32,
}

/// PageRank by power iteration; the rank of nodes without out-edges spreads over all nodes. Sums to 1. Sums over nodes
/// are taken in f64, so that this is the more exact side of a comparison.
///
/// ```
/// use vyre_cuda::Csr;
/// use vyre_examples::oracle::{PageRank, pagerank};
/// let ring = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
/// let parameters = PageRank { damping: 0.85, tolerance: 1e-6, max_rounds: 100 };
/// assert_eq!(pagerank(&ring, parameters), [0.25; 4]);
/// ```
pub fn pagerank(graph: &Csr, parameters: PageRank) -> Vec<f32> {
    let nodes = graph.node_count();
    let incoming = graph.reverse();
    let start = 1.0 / nodes as f64;
    let damping = f64::from(parameters.damping);
    let mut rank = vec![start as f32; nodes];
    let mut share = vec![0f32; nodes];
    for _ in 0..parameters.max_rounds {
        let mut dangling = 0f64;
        for v in 0..nodes {
            match graph.degree(v as u32) {
                0 => dangling += f64::from(rank[v]),
                degree => share[v] = rank[v] / degree as f32,
            }
        }
        let base = (1.0 - damping) * start + damping * dangling * start;
        let mut moved = 0f64;
        for (v, rank) in (0u32..).zip(&mut rank) {
            let shares = incoming.neighbors(v).map(|u| f64::from(share[u as usize]));
            let next = (base + damping * shares.sum::<f64>()) as f32;
            moved += f64::from((next - *rank).abs());
            *rank = next;
        }
        if moved < f64::from(parameters.tolerance) {
            break;
        }
    }
    rank
}
