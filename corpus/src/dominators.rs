//! The immediate dominator of each block of a control-flow graph.
//!
//! Source: K. D. Cooper, T. J. Harvey and K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001). The sequential
//! program is theirs. The pass has the same iteration, in rounds over all blocks: it begins with a tree of a
//! breadth-first search, and a block's parent becomes the nearest common ancestor of its predecessors. Levels of the
//! search take the place of postorder numbers, because a block's dominators all have a lower level than itself.
//!
//! How it was written: from the README, docs/LANGUAGE.md and docs/SESSIONS.md alone.

use crate::rng::Rng;
use vyre::prelude::*;
use vyre::{Csr, Error, Runtime};

#[wave_graph]
pub mod chk {
    pub const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        flow: Csr,
        #[topology(reverse_of = flow)]
        back: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node, init = NONE)]
        level: u32,
        #[output(per = node, init = NONE)]
        idom: u32,
        #[output(per = node, init = NONE)]
        next: u32,
        #[reduce(or)]
        changed: bool,
        entry: u32,
    }

    #[wave(once)]
    fn start(entry: u32, level: &Buf<Atomic<u32>>, idom: &Buf<Atomic<u32>>, front: &Push) {
        level[entry].store(0);
        idom[entry].store(entry);
        front.push(entry);
    }

    #[fixpoint(after(start), until(front.is_empty()), max_rounds = 1_000_000)]
    mod search {
        #[wave(edges(flow, from = front))]
        fn visit(e: Edge, round: Round, level: &Buf<Atomic<u32>>, idom: &Buf<Atomic<u32>>, front: &Push) {
            if level[e.dst].compare_exchange(NONE, round + 1) {
                idom[e.dst].store(e.src);
                front.push(e.dst);
            }
        }
    }

    /// The nearest common ancestor of two blocks.
    #[device]
    fn intersect(level: &Buf<u32>, idom: &Buf<u32>, a: u32, b: u32) -> u32 {
        let (mut a, mut b) = (a, b);
        while a != b {
            if level[a] >= level[b] {
                a = idom[a];
            } else {
                b = idom[b];
            }
        }
        a
    }

    #[fixpoint(after(search), until(!changed), swap(idom, next), max_rounds = 1_000_000)]
    mod rounds {
        #[wave(nodes)]
        fn meet(
            v: Node, back: &Csr, level: &Buf<u32>, idom: &Buf<u32>, next: &mut u32, entry: u32,
            changed: &Reduce<Or<bool>>,
        ) {
            let mut parent = idom[v];
            if v != entry && parent != NONE {
                for p in back.neighbors(v) {
                    if level[p] != NONE {
                        parent = intersect(level, idom, parent, p);
                    }
                }
                changed.or(parent != idom[v]);
            }
            *next = parent;
        }
    }
}

pub struct Input {
    /// Block 0 is the entry.
    pub flow: Csr,
}

/// The immediate dominator of each block: of the entry itself, of a block that is not reached u32::MAX.
pub type Output = Vec<u32>;

/// Puts a structured region into the blocks from `at` on, which is entered at its first block and left at its last.
fn region(at: usize, len: usize, edges: &mut Vec<(u32, u32)>, rng: &mut Rng) {
    let mut edge = |v: usize, w: usize| edges.push((v as u32, w as u32));
    let kind = rng.below(10);
    if len < 4 {
        for v in at..at + len - 1 {
            edge(v, v + 1);
        }
    } else if kind < 4 {
        // One region after the other.
        let cut = 1 + rng.below((len - 1) as u32) as usize;
        edge(at + cut - 1, at + cut);
        region(at, cut, edges, rng);
        region(at + cut, len - cut, edges, rng);
    } else if kind < 7 {
        // A branch with two arms and a join.
        let cut = 1 + rng.below((len - 3) as u32) as usize;
        let (right, join) = (at + 1 + cut, at + len - 1);
        for (v, w) in [(at, at + 1), (at, right), (right - 1, join), (join - 1, join)] {
            edge(v, w);
        }
        region(at + 1, cut, edges, rng);
        region(right, join - right, edges, rng);
    } else {
        // A loop with its test at the head.
        let exit = at + len - 1;
        for (v, w) in [(at, at + 1), (exit - 1, at), (at, exit)] {
            edge(v, w);
        }
        region(at + 1, len - 2, edges, rng);
    }
}

/// A structured graph with some jumps to blocks nearby, which also enter loops from the side, and some blocks that
/// nothing reaches.
pub fn input(small: bool) -> Input {
    let blocks = if small { 400 } else { 20_000 };
    let mut rng = Rng(2);
    let mut edges = Vec::new();
    let reached = blocks - blocks / 50;
    // Regions of some 500 blocks, as if functions were inlined one after the other.
    let mut at = 0;
    while at < reached {
        let len = (100 + rng.below(800) as usize).min(reached - at);
        if at > 0 {
            edges.push((at as u32 - 1, at as u32));
        }
        region(at, len, &mut edges, &mut rng);
        at += len;
    }
    for _ in 0..blocks / 25 {
        let v = rng.below(blocks as u32) as usize;
        let w = (v + rng.below(81) as usize).saturating_sub(40).clamp(1, reached - 1);
        edges.push((v as u32, w as u32));
    }
    Input { flow: Csr::from_edges(blocks, &edges).expect("edges name blocks") }
}

/// The algorithm of the paper: reverse postorder, and rounds until nothing changes.
pub fn sequential(input: &Input) -> Output {
    const NONE: u32 = u32::MAX;
    let flow = &input.flow;
    let blocks = flow.node_count();
    // Postorder by a depth-first search with a stack of edges to come.
    let mut number = vec![NONE; blocks];
    let mut seen = vec![false; blocks];
    let mut postorder = Vec::new();
    let mut stack = vec![(0u32, flow.edges(0).iter())];
    seen[0] = true;
    while let Some((v, edges)) = stack.last_mut() {
        match edges.next() {
            Some(e) => {
                let w = flow.target(e);
                if !std::mem::replace(&mut seen[w as usize], true) {
                    stack.push((w, flow.edges(w).iter()));
                }
            }
            None => {
                number[*v as usize] = postorder.len() as u32;
                postorder.push(*v);
                stack.pop();
            }
        }
    }
    let mut predecessors = vec![Vec::new(); blocks];
    for &v in &postorder {
        for w in flow.neighbors(v) {
            predecessors[w as usize].push(v);
        }
    }
    let mut idom = vec![NONE; blocks];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &v in postorder.iter().rev().skip(1) {
            let mut parent = NONE;
            for &p in &predecessors[v as usize] {
                if idom[p as usize] == NONE {
                    continue;
                }
                if parent == NONE {
                    parent = p;
                    continue;
                }
                let mut other = p;
                while parent != other {
                    while number[parent as usize] < number[other as usize] {
                        parent = idom[parent as usize];
                    }
                    while number[other as usize] < number[parent as usize] {
                        other = idom[other as usize];
                    }
                }
            }
            if idom[v as usize] != parent {
                idom[v as usize] = parent;
                changed = true;
            }
        }
    }
    idom
}

pub fn prepare<'i>(
    runtime: &Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, Error> + 'i>, Error> {
    let mut session = chk::Session::new(runtime, &input.flow)?;
    Ok(Box::new(move || Ok(session.run(chk::Run { entry: 0 })?.idom)))
}

/// Dominators are unique.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    match (0..expected.len()).find(|&v| output[v] != expected[v]) {
        Some(v) => Err(format!("block {v} has dominator {}, not {}", output[v], expected[v])),
        None => Ok(()),
    }
}
