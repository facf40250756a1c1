//! A maximal matching of an undirected graph.
//!
//! The algorithm is the one of locally dominant edges ("Approximate weighted matching on emerging manycore and
//! multithreaded architectures", Halappanavar et al. 2012, after Preis): each free node proposes along its incident edge
//! of the smallest hash to a free neighbour, and two nodes that propose to each other match. Since hashes of different
//! edges differ, the matching is that of the greedy algorithm, which takes edges in the order of their hashes.
//!
//! A frontier holds the nodes that are free and may still find a partner.

use vyre::prelude::*;

use crate::rng;

pub const NONE: u32 = u32::MAX;

/// The same for both directions of an edge, and different for different edges: each step can be undone.
#[device]
pub fn edge_hash(u: u32, v: u32) -> u64 {
    let mut z = u64::from(u.min(v)) << 32 | u64::from(u.max(v));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[wave_graph]
pub mod pairs {
    use super::{NONE, edge_hash};

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        free: Frontier,
        #[scratch(per = node)]
        choice: u32,
        #[output(per = node, init = NONE)]
        partner: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, free: &Push) {
        free.push(v);
    }

    #[fixpoint(after(init), until(free.is_empty()))]
    mod rounds {
        #[wave(items(free))]
        fn propose(v: Node, graph: &Csr, partner: &Buf<u32>, choice: &mut u32) {
            let mut best = (u64::MAX, NONE);
            for w in graph.neighbors(v) {
                if partner[w] == NONE {
                    best = best.min((edge_hash(v, w), w));
                }
            }
            *choice = best.1;
        }

        #[wave(items(free), after(propose))]
        fn agree(v: Node, choice: &Buf<u32>, partner: &mut u32, free: &Push) {
            let w = choice[v];
            if w == NONE {
                return;
            }
            if choice[w] == v {
                *partner = w;
            } else {
                free.push(v);
            }
        }
    }
}

pub struct Input {
    nodes: u32,
    /// Each undirected edge once.
    edges: Vec<(u32, u32)>,
    /// Both directions.
    graph: Csr,
}

/// The partner of each node, or `NONE`.
pub type Output = Vec<u32>;

pub fn input(small: bool) -> Input {
    let (nodes, count) = if small { (400, 1_600) } else { (500_000, 2_000_000) };
    let edges = rng::uniform(nodes, count, 2);
    let both: Vec<_> = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
    let graph = Csr::from_edges(nodes as usize, &both).expect("edges name nodes");
    Input { nodes, edges, graph }
}

/// Takes edges in the order of their hashes.
pub fn sequential(input: &Input) -> Output {
    let mut order: Vec<_> = input.edges.iter().map(|&(u, v)| (edge_hash(u, v), u, v)).collect();
    order.sort_unstable();
    let mut partner = vec![NONE; input.nodes as usize];
    for (_, u, v) in order {
        if partner[u as usize] == NONE && partner[v as usize] == NONE {
            partner[u as usize] = v;
            partner[v as usize] = u;
        }
    }
    partner
}

pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = pairs::Session::new(runtime, &input.graph)?;
    Ok(Box::new(move || Ok(session.run(pairs::Run {})?.partner)))
}

/// It is a matching, it is maximal, and it is the greedy one.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    if output.len() != input.nodes as usize {
        return Err(format!("{} nodes", output.len()));
    }
    let mut edges: Vec<_> = input.edges.clone();
    edges.sort_unstable();
    for (v, &w) in output.iter().enumerate() {
        let v = v as u32;
        if w != NONE && (output[w as usize] != v || edges.binary_search(&(v.min(w), v.max(w))).is_err()) {
            return Err(format!("{v} has the partner {w}"));
        }
    }
    if let Some((u, v)) = edges.iter().find(|&&(u, v)| output[u as usize] == NONE && output[v as usize] == NONE) {
        return Err(format!("{u} and {v} are both free"));
    }
    if *output != sequential(input) {
        return Err("it is not the greedy matching".into());
    }
    Ok(())
}
