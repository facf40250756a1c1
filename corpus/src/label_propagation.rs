//! Communities by label propagation: in each of ten rounds, every node takes the label that most of its neighbours
//! have, the smallest of equals. All nodes of a round look at the labels of the round before.
//!
//! Source: U. N. Raghavan, R. Albert and S. Kumara, "Near linear time algorithm to detect community structures in
//! large-scale networks" (2007), in rounds. Each node counts labels in a hash table of its own, as in S. Sahu's
//! "nu-LPA" for GPUs (2024): two slots for each of its edges in one array of all nodes.
//!
//! How it was written: from the README, docs/LANGUAGE.md and docs/SESSIONS.md alone.

use crate::rng;
use vyre::prelude::*;
use vyre::{Csr, Error, Runtime};

#[wave_graph]
pub mod propagation {
    pub const EMPTY: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        label: u32,
        #[output(per = node)]
        next: u32,
        #[scratch(per = slots)]
        keys: u32,
        #[scratch(per = slots)]
        counts: u32,
        slots: u32,
        rounds: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, label: &mut u32) {
        *label = v;
    }

    #[fixpoint(after(begin), until(round + 1 == rounds), swap(label, next), max_rounds = 1_000)]
    mod turns {
        #[wave(nodes)]
        fn choose(
            v: Node, graph: &Csr, label: &Buf<u32>, next: &mut u32,
            keys: &Buf<Atomic<u32>>, counts: &Buf<Atomic<u32>>,
        ) {
            let (first, size) = (2 * graph.edges(v).start, 2 * graph.degree(v));
            for slot in first..first + size {
                keys[slot].store(EMPTY);
                counts[slot].store(0);
            }
            let (mut best, mut most) = (label[v], 0);
            for w in graph.neighbors(v) {
                let key = label[w];
                let mut slot = key.wrapping_mul(0x9E37_79B1) % size;
                while keys[first + slot].load() != EMPTY && keys[first + slot].load() != key {
                    slot = (slot + 1) % size;
                }
                keys[first + slot].store(key);
                let count = counts[first + slot].fetch_add(1) + 1;
                if count > most || count == most && key < best {
                    (best, most) = (key, count);
                }
            }
            *next = best;
        }
    }
}

pub struct Input {
    pub graph: Csr,
    pub rounds: u32,
}

/// The label of each node.
pub type Output = Vec<u32>;

pub fn input(small: bool) -> Input {
    Input { graph: rng::rmat(if small { 8 } else { 16 }, 8, 3), rounds: 10 }
}

/// Counts in one array of all labels, of which only the used counters are cleared.
pub fn sequential(input: &Input) -> Output {
    let graph = &input.graph;
    let mut label: Vec<u32> = (0..graph.node_count() as u32).collect();
    let mut next = label.clone();
    let mut counts = vec![0u32; graph.node_count()];
    for _ in 0..input.rounds {
        for v in 0..graph.node_count() as u32 {
            let (mut best, mut most) = (label[v as usize], 0);
            for w in graph.neighbors(v) {
                let key = label[w as usize];
                counts[key as usize] += 1;
                let count = counts[key as usize];
                if count > most || count == most && key < best {
                    (best, most) = (key, count);
                }
            }
            for w in graph.neighbors(v) {
                counts[label[w as usize] as usize] = 0;
            }
            next[v as usize] = best;
        }
        std::mem::swap(&mut label, &mut next);
    }
    label
}

pub fn prepare<'i>(
    runtime: &Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, Error> + 'i>, Error> {
    let slots = 2 * input.graph.edge_count() as u32;
    let mut session = propagation::Session::new(runtime, &input.graph)?;
    Ok(Box::new(move || Ok(session.run(propagation::Run { slots, rounds: input.rounds })?.label)))
}

/// Rounds leave no choice, so labels are those of the sequential program.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    match (0..expected.len()).find(|&v| output[v] != expected[v]) {
        Some(v) => Err(format!("node {v} has label {}, not {}", output[v], expected[v])),
        None => Ok(()),
    }
}
