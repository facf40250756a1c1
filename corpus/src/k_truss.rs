//! The 4-truss of an undirected graph: the largest set of edges of which each is in at least two triangles of the set.
//!
//! The algorithm is the round-based one of the Graph Challenge ("Static Graph Challenge: Subgraph Isomorphism", Samsi et
//! al. 2017, and "Linear Algebraic Formulation of Edge-centric K-truss", Low et al. 2018): each round counts the
//! triangles of every edge that is left, then drops those with too few, until nothing is dropped.
//!
//! Each undirected edge is stored once, from its lesser node, so that the lane of an edge merges two rows and finds the
//! numbers of the two other edges of a triangle on the way.

use vyre::prelude::*;

use crate::rng;

#[wave_graph]
pub mod truss {
    const LEAST: u32 = 2;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = edge(graph), init = true)]
        alive: bool,
        #[scratch(per = edge(graph))]
        triangles: u32,
        #[reduce(or)]
        changed: bool,
    }

    #[fixpoint(until(!changed))]
    mod rounds {
        /// Counts a triangle of nodes u < v < w at the edge from u to v, for all three edges.
        #[wave(edges(graph))]
        fn count(e: Edge, graph: &Csr, alive: &Buf<bool>, triangles: &Buf<Atomic<u32>>) {
            if !alive[e.index] {
                return;
            }
            let (mut i, mut j) = (e.index + 1, graph.edges(e.dst).start);
            while i < graph.edges(e.src).end && j < graph.edges(e.dst).end {
                let (x, y) = (graph.target(i), graph.target(j));
                if x == y && alive[i] && alive[j] {
                    triangles[e.index].fetch_add(1);
                    triangles[i].fetch_add(1);
                    triangles[j].fetch_add(1);
                }
                i += u32::from(x <= y);
                j += u32::from(y <= x);
            }
        }

        #[wave(edges(graph), after(count))]
        fn prune(alive: &mut bool, triangles: &mut u32, changed: &Reduce<Or<bool>>) {
            if *alive && *triangles < LEAST {
                *alive = false;
                changed.or(true);
            }
            *triangles = 0;
        }
    }
}

pub struct Input {
    nodes: usize,
    /// Each undirected edge once, from its lesser node, sorted.
    edges: Vec<(u32, u32)>,
    graph: Csr,
}

/// Whether each edge remains.
pub type Output = Vec<bool>;

pub fn input(small: bool) -> Input {
    let scale = if small { 8 } else { 15 };
    let nodes = 1 << scale;
    let edges = rng::undirected(scale, 8 * nodes, 1);
    let graph = Csr::from_edges(nodes, &edges).expect("edges name nodes");
    Input { nodes, edges, graph }
}

/// Counts the triangles of each edge once, then peels edges off with a queue.
pub fn sequential(input: &Input) -> Output {
    let (nodes, edges) = (input.nodes, &input.edges);
    let mut start = vec![0; nodes + 1];
    for &(u, v) in edges {
        start[u as usize + 1] += 1;
        start[v as usize + 1] += 1;
    }
    for v in 0..nodes {
        start[v + 1] += start[v];
    }
    // Neighbours of each node in order, with the numbers of the edges; `upper` is where the greater ones begin.
    let mut rows = vec![(0u32, 0u32); 2 * edges.len()];
    let mut fill = start.clone();
    for (e, &(u, v)) in edges.iter().enumerate() {
        rows[fill[v as usize]] = (u, e as u32);
        fill[v as usize] += 1;
    }
    let upper = fill.clone();
    for (e, &(u, v)) in edges.iter().enumerate() {
        rows[fill[u as usize]] = (v, e as u32);
        fill[u as usize] += 1;
    }

    fn common(a: &[(u32, u32)], b: &[(u32, u32)], mut found: impl FnMut(usize, usize)) {
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match a[i].0.cmp(&b[j].0) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    found(a[i].1 as usize, b[j].1 as usize);
                    i += 1;
                    j += 1;
                }
            }
        }
    }

    let mut triangles = vec![0u32; edges.len()];
    for (e, &(u, v)) in edges.iter().enumerate() {
        let (u, v) = (u as usize, v as usize);
        common(&rows[upper[u]..start[u + 1]], &rows[upper[v]..start[v + 1]], |f, g| {
            triangles[e] += 1;
            triangles[f] += 1;
            triangles[g] += 1;
        });
    }
    let mut alive = vec![true; edges.len()];
    let mut queue: Vec<usize> = (0..edges.len()).filter(|&e| triangles[e] < 2).collect();
    while let Some(e) = queue.pop() {
        alive[e] = false;
        let (u, v) = (edges[e].0 as usize, edges[e].1 as usize);
        common(&rows[start[u]..start[u + 1]], &rows[start[v]..start[v + 1]], |f, g| {
            if alive[f] && alive[g] {
                for other in [f, g] {
                    if triangles[other] == 2 {
                        queue.push(other);
                    }
                    triangles[other] = triangles[other].saturating_sub(1);
                }
            }
        });
    }
    alive
}

pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = truss::Session::new(runtime, &input.graph)?;
    Ok(Box::new(move || Ok(session.run(truss::Run {})?.alive)))
}

/// The 4-truss is unique.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if *output == expected {
        return Ok(());
    }
    let count = |edges: &Output| edges.iter().filter(|&&alive| alive).count();
    Err(format!("{} edges remain, {} are right", count(output), count(&expected)))
}
