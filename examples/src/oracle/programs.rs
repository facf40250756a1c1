//! Algorithms on programs.

use super::UNREACHED;
use crate::cfg::{Cfg, Definitions, ones};
use std::collections::VecDeque;
use vyre::Csr;

/// What is live where each block begins, by a worklist: a block is looked at again when a successor's set grew.
///
/// ```
/// use vyre::Csr;
/// // Block 0 writes register 0, block 1 reads registers 0 and 1.
/// let successors = Csr::from_edges(2, &[(0, 1), (1, 1)]).unwrap();
/// assert_eq!(vyre_examples::oracle::liveness(&successors, &[0, 3], &[1, 0]), [2, 3]);
/// ```
pub fn liveness(successors: &Csr, uses: &[u64], defs: &[u64]) -> Vec<u64> {
    let predecessors = successors.reverse();
    let mut live = uses.to_vec();
    // Later blocks first: sets flow backward.
    let mut waiting: Vec<u32> = (0..uses.len() as u32).collect();
    let mut waits = vec![true; uses.len()];
    while let Some(block) = waiting.pop() {
        let b = block as usize;
        waits[b] = false;
        let after = successors
            .neighbors(block)
            .iter()
            .fold(0, |live_out, s| live_out | live[s as usize]);
        let before = uses[b] | after & !defs[b];
        if before != live[b] {
            live[b] = before;
            for p in predecessors.neighbors(block) {
                if !std::mem::replace(&mut waits[p as usize], true) {
                    waiting.push(p);
                }
            }
        }
    }
    live
}

/// Which writes of registers may be the last ones before each block begins, by a search from each write that ends where
/// its register is written again.
///
/// ```
/// use vyre_examples::cfg::{Cfg, Definitions};
/// // A loop of two blocks. Both write register 0, the second register 1, too.
/// let successors = vyre::Csr::from_edges(2, &[(0, 1), (1, 0)]).unwrap();
/// let cfg = Cfg {
///     successors,
///     uses: vec![0, 0],
///     defs: vec![1, 3],
///     addresses: vec![0, 1],
///     functions: vec![0, 2],
///     names: vec!["f".into()],
/// };
/// let definitions = Definitions::of(&cfg, u64::MAX).unwrap();
/// let rows = vyre_examples::oracle::reaching_definitions(&cfg, &definitions);
/// // Each sees the other's write of register 0; what is written to register 1 goes round.
/// assert_eq!(rows, [0b10, 1, 0b01, 1]);
/// ```
pub fn reaching_definitions(cfg: &Cfg, definitions: &Definitions) -> Vec<u32> {
    let mut rows = vec![0u32; definitions.len() as usize];
    let mut waiting = Vec::new();
    for block in 0..cfg.uses.len() as u32 {
        let registers = ones(definitions.defs[block as usize]);
        for (write, register) in definitions.writes.edges(block).zip(registers) {
            let bit = definitions.bit[write as usize];
            waiting.push(block);
            while let Some(from) = waiting.pop() {
                for to in cfg.successors.neighbors(from) {
                    let word = &mut rows[(definitions.row[to as usize] + bit / 32) as usize];
                    let seen = *word >> (bit % 32) & 1 != 0;
                    *word |= 1 << (bit % 32);
                    if !seen && definitions.defs[to as usize] >> register & 1 == 0 {
                        waiting.push(to);
                    }
                }
            }
        }
    }
    rows
}

/// The immediate dominator of each block, by the algorithm of Cooper, Harvey and Kennedy (A simple, fast dominance
/// algorithm, 2001): blocks in reverse postorder take the nearest common ancestor of those before them, until nothing
/// changes. An entry has itself, a block that nothing leads to [`UNREACHED`].
///
/// ```
/// use vyre_examples::cfg::Cfg;
/// use vyre_examples::oracle::{UNREACHED, dominators};
/// // Two ways from 0 to 3, and back; 4 leads there, too, but nothing leads to it.
/// let successors = vyre::Csr::from_edges(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (4, 3)]).unwrap();
/// assert_eq!(dominators(&successors, &[0, 5]), [0, 0, 0, 0, UNREACHED]);
/// ```
pub fn dominators(successors: &Csr, functions: &[u32]) -> Vec<u32> {
    let predecessors = successors.reverse();
    let blocks = successors.node_count();
    let mut dominator = vec![UNREACHED; blocks];
    // Places in postorder: those of later blocks are smaller.
    let mut place = vec![UNREACHED; blocks];
    for &entry in &functions[..functions.len() - 1] {
        let order = postorder(successors, entry, &mut place);
        dominator[entry as usize] = entry;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in order.iter().rev().filter(|&&b| b != entry) {
                let known = predecessors
                    .neighbors(block)
                    .iter()
                    .filter(|&p| dominator[p as usize] != UNREACHED);
                let nearest = known.reduce(|mut a, mut b| {
                    while a != b {
                        if place[a as usize] < place[b as usize] {
                            a = dominator[a as usize];
                        } else {
                            b = dominator[b as usize];
                        }
                    }
                    a
                });
                let nearest = nearest.unwrap_or(UNREACHED);
                changed |= std::mem::replace(&mut dominator[block as usize], nearest) != nearest;
            }
        }
    }
    dominator
}

/// What a search from a block reaches, each behind what it leads to first.
fn postorder(successors: &Csr, entry: u32, place: &mut [u32]) -> Vec<u32> {
    let mut order = Vec::new();
    let mut path = vec![(entry, successors.edges(entry).iter())];
    // On the path, not yet in the order.
    const OPEN: u32 = UNREACHED - 1;
    place[entry as usize] = OPEN;
    while let Some((block, edges)) = path.last_mut() {
        match edges.next().map(|e| successors.target(e)) {
            Some(next) if place[next as usize] == UNREACHED => {
                place[next as usize] = OPEN;
                path.push((next, successors.edges(next).iter()));
            }
            Some(_) => {}
            None => {
                place[*block as usize] = order.len() as u32;
                order.push(*block);
                path.pop();
            }
        }
    }
    order
}

/// The smallest node of each node's strongly connected component, by Tarjan's algorithm.
///
/// ```
/// use vyre::Csr;
/// let g = Csr::from_edges(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]).unwrap();
/// assert_eq!(vyre_examples::oracle::strong_components(&g), [0, 1, 1, 3, 4]);
/// ```
pub fn strong_components(graph: &Csr) -> Vec<u32> {
    let nodes = graph.node_count();
    let mut component = vec![UNREACHED; nodes];
    // In order of discovery; the least that a node's part of the search leads back to.
    let (mut found, mut least) = (vec![UNREACHED; nodes], vec![0u32; nodes]);
    let (mut count, mut open) = (0, Vec::new());
    let mut path = Vec::new();
    for root in 0..nodes as u32 {
        if found[root as usize] != UNREACHED {
            continue;
        }
        path.push((root, graph.edges(root).iter()));
        while let Some((node, edges)) = path.last_mut() {
            let v = *node as usize;
            if found[v] == UNREACHED {
                (found[v], least[v]) = (count, count);
                count += 1;
                open.push(*node);
            }
            match edges.next().map(|e| graph.target(e)) {
                Some(next) if found[next as usize] == UNREACHED => {
                    path.push((next, graph.edges(next).iter()));
                }
                Some(next) if component[next as usize] == UNREACHED => {
                    least[v] = least[v].min(found[next as usize]);
                }
                Some(_) => {}
                None => {
                    if least[v] == found[v] {
                        let first = open.iter().rposition(|&n| n as usize == v);
                        let members = open.split_off(first.expect("a node of the path is open"));
                        let smallest = members.iter().copied().min().unwrap_or(UNREACHED);
                        for member in members {
                            component[member as usize] = smallest;
                        }
                    }
                    let done = least[v];
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        let before = *before as usize;
                        least[before] = least[before].min(done);
                    }
                }
            }
        }
    }
    component
}

/// The way of a search by [`taint`] to a function that it reached: backward from there, of several callers the least, for
/// as long as the way went down, and of several callees the least from there to the source.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{taint, taint_way};
/// let calls = Csr::from_edges(5, &[(0, 1), (0, 2), (2, 3), (4, 3)]).unwrap();
/// let (up, all) = taint(&calls, &[false, true, false, false, false]);
/// assert_eq!(taint_way(&calls, &up, &all, 3), [1, 0, 2, 3]);
/// ```
pub fn taint_way(calls: &Csr, up: &[u32], all: &[u32], end: u32) -> Vec<u32> {
    let (mut way, mut at) = (vec![end], end);
    let nodes = 0..calls.node_count() as u32;
    while all[at as usize] != 0 {
        let steps = all[at as usize] - 1;
        let rises = up[at as usize] == all[at as usize];
        let before = nodes.clone().find(|&v| match rises {
            true => up[v as usize] == steps && calls.neighbors(at).iter().any(|callee| callee == v),
            false => {
                all[v as usize] == steps && calls.neighbors(v).iter().any(|callee| callee == at)
            }
        });
        at = before.expect("the search came from somewhere");
        way.push(at);
    }
    way.reverse();
    way
}

/// How many calls away from a source each function is, when the data first goes up to callers and then down to what
/// they call, by a search with a queue: on the way up alone, and at all.
///
/// ```
/// use vyre::Csr;
/// use vyre_examples::oracle::{UNREACHED, taint};
/// // 0 calls a source (1) and 2, which calls 3; 4 calls 3, too.
/// let calls = Csr::from_edges(5, &[(0, 1), (0, 2), (2, 3), (4, 3)]).unwrap();
/// let (up, all) = taint(&calls, &[false, true, false, false, false]);
/// assert_eq!(up, [1, 0, UNREACHED, UNREACHED, UNREACHED]);
/// assert_eq!(all, [1, 0, 2, 3, UNREACHED]);
/// ```
pub fn taint(calls: &Csr, sources: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let callers = calls.reverse();
    let nodes = calls.node_count();
    let mut dist = [vec![UNREACHED; nodes], vec![UNREACHED; nodes]];
    let mut queue = VecDeque::new();
    let reach = |dist: &mut [Vec<u32>; 2], queue: &mut VecDeque<_>, way: usize, v: u32, steps| {
        if dist[way][v as usize] == UNREACHED {
            dist[way][v as usize] = steps;
            queue.push_back((way, v));
        }
    };
    for v in (0..nodes as u32).filter(|&v| sources[v as usize]) {
        reach(&mut dist, &mut queue, 0, v, 0);
        reach(&mut dist, &mut queue, 1, v, 0);
    }
    while let Some((way, v)) = queue.pop_front() {
        let steps = dist[way][v as usize] + 1;
        if way == 0 {
            for caller in callers.neighbors(v) {
                reach(&mut dist, &mut queue, 0, caller, steps);
                reach(&mut dist, &mut queue, 1, caller, steps);
            }
        } else {
            for callee in calls.neighbors(v) {
                reach(&mut dist, &mut queue, 1, callee, steps);
            }
        }
    }
    let [up, all] = dist;
    (up, all)
}
