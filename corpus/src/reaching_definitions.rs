//! Reaching definitions: for each basic block, which definitions of its function may reach its beginning.
//!
//! The classic forward bit-vector analysis (Aho, Lam, Sethi, Ullman, "Compilers", 9.2.4): `in` is the union of the
//! predecessors' `out`, and `out = gen | (in & !kill)`. All functions are one control-flow graph. Each function has its
//! own number of definitions, so the rows of its blocks have their own width; the rows of all blocks stand one after
//! the other in one buffer of words, and each block has the place of its first word and the number of its words.
//!
//! Written as the worklist algorithm by edges: a frontier of the blocks whose `in` has grown, and along each of their
//! edges `out` is computed again and put into the successor's `in` by `fetch_or`.
//!
//! What it taught: `Bits` has one width for all rows, so ragged rows are flat words with offsets, and lose `or`, `ones`
//! and the check of widths. A `#[topology]` buffer cannot have the length of a scalar, so `gen` and `kill`, which never
//! change, are inputs of each run. `PLAN` calls the result open, because a push is not seen to belong to a change of
//! flat words; with a sweep over all edges and a flag (`Reduce<Or<bool>>`) in place of the frontier it is proved.

use crate::rng::Rng;
use vyre::prelude::*;

/// The control-flow graph of all functions, and the definitions of each block.
pub struct Input {
    /// Edges from block to block, within functions.
    pub graph: Csr,
    /// Where the words of a block begin.
    pub first: Vec<u32>,
    /// Words of a block.
    pub width: Vec<u32>,
    /// Definitions of the block that reach its end.
    pub gens: Vec<u32>,
    /// Definitions of the variables that the block defines.
    pub kills: Vec<u32>,
}

/// The words of `in` of all blocks.
pub type Output = Vec<u32>;

#[wave_graph]
pub mod reaching {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        first: u32,
        #[topology(per = node)]
        width: u32,
        #[input(per = words)]
        gens: u32,
        #[input(per = words)]
        kills: u32,
        #[output(per = words)]
        before: u32,
        #[frontier(unique)]
        grown: Frontier,
        words: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, grown: &Push) {
        grown.push(v);
    }

    #[fixpoint(after(init), until(grown.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = grown))]
        fn flow(
            e: Edge,
            first: &Buf<u32>,
            width: &Buf<u32>,
            gens: &Buf<u32>,
            kills: &Buf<u32>,
            before: &Buf<Atomic<u32>>,
            grown: &Push,
        ) {
            let (from, to) = (first[e.src], first[e.dst]);
            let mut more = false;
            for k in 0..width[e.src] {
                let out = gens[from + k] | (before[from + k].load() & !kills[from + k]);
                if out & !before[to + k].fetch_or(out) != 0 {
                    more = true;
                }
            }
            if more {
                grown.push(e.dst);
            }
        }
    }
}

/// Functions of random sizes that are mostly straight code, with branches forward and loops back.
pub fn input(small: bool) -> Input {
    let (blocks, functions) = if small { (400, 12) } else { (100_000, 2_000) };
    let mut rng = Rng(11);
    let mut cuts: Vec<u32> = (1..functions).map(|_| 1 + rng.below(blocks - 1)).collect();
    cuts.extend([0, blocks]);
    cuts.sort_unstable();
    cuts.dedup();
    let (mut edges, mut first, mut width, mut gens, mut kills) = (vec![], vec![], vec![], vec![], vec![]);
    for function in cuts.windows(2) {
        let (start, end) = (function[0], function[1]);
        let count = end - start;
        let definitions = 10 + rng.below(391);
        let words = definitions.div_ceil(32);
        let variables = definitions / 4 + 1;
        let variable: Vec<u32> = (0..definitions).map(|_| rng.below(variables)).collect();
        let mut of_block = vec![vec![]; count as usize];
        for d in 0..definitions {
            of_block[rng.below(count) as usize].push(d);
        }
        for b in 0..count {
            first.push(gens.len() as u32);
            width.push(words);
            let (mut generated, mut killed) = (vec![0u32; words as usize], vec![0u32; words as usize]);
            for &d in &of_block[b as usize] {
                for other in (0..definitions).filter(|&o| variable[o as usize] == variable[d as usize]) {
                    killed[other as usize / 32] |= 1 << (other % 32);
                    generated[other as usize / 32] &= !(1 << (other % 32));
                }
                generated[d as usize / 32] |= 1 << (d % 32);
            }
            gens.extend(generated);
            kills.extend(killed);
            if b + 1 < count && rng.percent(92) {
                edges.push((start + b, start + b + 1));
            }
            if rng.percent(40) {
                edges.push((start + b, start + (b + 1 + rng.below(10)).min(count - 1)));
            }
            if rng.percent(12) {
                edges.push((start + b, start + b.saturating_sub(rng.below(20))));
            }
        }
    }
    let graph = Csr::from_edges(blocks as usize, &edges).expect("edges are within the blocks");
    Input { graph, first, width, gens, kills }
}

/// The worklist algorithm, in the order of the blocks at first.
pub fn sequential(input: &Input) -> Output {
    let blocks = input.graph.node_count();
    let mut before = vec![0; input.gens.len()];
    let mut queue: std::collections::VecDeque<u32> = (0..blocks as u32).collect();
    let mut waits = vec![true; blocks];
    let mut out = Vec::new();
    while let Some(v) = queue.pop_front() {
        waits[v as usize] = false;
        let words = input.first[v as usize] as usize..(input.first[v as usize] + input.width[v as usize]) as usize;
        out.clear();
        out.extend(words.map(|k| input.gens[k] | (before[k] & !input.kills[k])));
        for w in input.graph.neighbors(v) {
            let to = input.first[w as usize] as usize;
            let mut more = 0;
            for (word, &new) in before[to..].iter_mut().zip(&out) {
                more |= new & !*word;
                *word |= new;
            }
            if more != 0 && !waits[w as usize] {
                waits[w as usize] = true;
                queue.push_back(w);
            }
        }
    }
    before
}

/// Opens the session; each call is one run.
pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let topology = reaching::Topology {
        graph: &input.graph,
        first: &input.first,
        width: &input.width,
    };
    let words = input.gens.len() as u32;
    let mut session = reaching::Session::new(runtime, topology)?;
    Ok(Box::new(move || Ok(session.run(reaching::Run { gens: &input.gens, kills: &input.kills, words })?.before)))
}

/// The result is that of `sequential`: the least fixpoint is one.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if output.len() != expected.len() {
        return Err(format!("{} words, not {}", output.len(), expected.len()));
    }
    match (0..expected.len()).find(|&k| output[k] != expected[k]) {
        Some(k) => Err(format!("word {k} is {:#x}, not {:#x}", output[k], expected[k])),
        None => Ok(()),
    }
}
