//! Colours an undirected graph such that neighbours differ: each node takes, in the order of random priorities, the
//! smallest colour that no neighbour of a higher priority has.
//!
//! Source: M. T. Jones and P. E. Plassmann, "A Parallel Graph Coloring Heuristic" (1993). Each node counts the
//! neighbours of a higher priority that have no colour yet; who waits for none is coloured and tells its neighbours.
//!
//! How it was written: from the README, docs/LANGUAGE.md and docs/SESSIONS.md alone.

use crate::rng;
use vyre::prelude::*;
use vyre::{Csr, Error, Runtime};

#[wave_graph]
pub mod jones_plassmann {
    pub const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        ready: Frontier,
        #[scratch(per = node)]
        waits: u32,
        #[output(per = node, init = NONE)]
        colour: u32,
    }

    /// The random priority of a node; no two nodes have the same, because each step can be undone.
    #[device]
    pub fn priority(v: u32) -> u32 {
        let mut x = v;
        x ^= x >> 16;
        x = x.wrapping_mul(0x85EB_CA6B);
        x ^= x >> 13;
        x = x.wrapping_mul(0xC2B2_AE35);
        x ^ (x >> 16)
    }

    /// Counts the neighbours that come before a node.
    #[wave(nodes)]
    fn count(v: Node, graph: &Csr, waits: &mut u32, ready: &Push) {
        for w in graph.neighbors(v) {
            if priority(w) > priority(v) {
                *waits += 1;
            }
        }
        if *waits == 0 {
            ready.push(v);
        }
    }

    #[fixpoint(after(count), until(ready.is_empty()), max_rounds = 100_000)]
    mod rounds {
        /// Takes the smallest colour that no neighbour has, looking at 64 colours at a time.
        #[wave(items(ready))]
        fn paint(v: Node, graph: &Csr, colour: &Buf<Atomic<u32>>) {
            let mut first = 0;
            loop {
                let mut used = 0u64;
                for w in graph.neighbors(v) {
                    let taken = colour[w].load();
                    if taken != NONE && taken >= first && taken - first < 64 {
                        used |= 1 << (taken - first);
                    }
                }
                if used != u64::MAX {
                    colour[v].store(first + used.trailing_ones());
                    break;
                }
                first += 64;
            }
        }

        /// Tells the neighbours that come later.
        #[wave(edges(graph, from = ready))]
        fn tell(e: Edge, waits: &Buf<Atomic<u32>>, ready: &Push) {
            if priority(e.dst) < priority(e.src) && waits[e.dst].fetch_sub(1) == 1 {
                ready.push(e.dst);
            }
        }
    }
}

pub struct Input {
    pub graph: Csr,
}

/// The colour of each node.
pub type Output = Vec<u32>;

pub fn input(small: bool) -> Input {
    Input { graph: rng::rmat(if small { 8 } else { 16 }, 16, 1) }
}

/// Greedy colouring in the order of priorities.
pub fn sequential(input: &Input) -> Output {
    let graph = &input.graph;
    let mut order: Vec<u32> = (0..graph.node_count() as u32).collect();
    order.sort_unstable_by_key(|&v| std::cmp::Reverse(jones_plassmann::priority(v)));
    let mut colour = vec![u32::MAX; graph.node_count()];
    let mut used_by = vec![u32::MAX; graph.node_count() + 1];
    for v in order {
        for w in graph.neighbors(v) {
            if colour[w as usize] != u32::MAX {
                used_by[colour[w as usize] as usize] = v;
            }
        }
        colour[v as usize] = used_by.iter().position(|&by| by != v).expect("a node has fewer neighbours") as u32;
    }
    colour
}

pub fn prepare<'i>(
    runtime: &Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, Error> + 'i>, Error> {
    let mut session = jones_plassmann::Session::new(runtime, &input.graph)?;
    Ok(Box::new(move || Ok(session.run(jones_plassmann::Run {})?.colour)))
}

/// The colouring is proper, and that of the sequential program.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    for v in 0..input.graph.node_count() as u32 {
        if let Some(w) = input.graph.neighbors(v).iter().find(|&w| output[w as usize] == output[v as usize]) {
            return Err(format!("neighbours {v} and {w} have colour {}", output[v as usize]));
        }
    }
    let expected = sequential(input);
    match (0..expected.len()).find(|&v| output[v] != expected[v]) {
        Some(v) => Err(format!("node {v} has colour {}, not {}", output[v], expected[v])),
        None => Ok(()),
    }
}
