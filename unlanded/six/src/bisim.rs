//! The coarsest bisimulation of a labelled transition graph, by partition refinement.

use vyre::prelude::*;

#[wave_graph]
#[pass(
    id = "a.bisimulation",
    unproven,
    same_result(
        class = "the least node of its class, whichever node of the class came first into the table",
        classes = "classes do not depend on which of their nodes came first into the table"
    )
)]
pub mod bisimulation {
    const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology] graph: Csr,
        /// The label of each edge, row by row as in `graph`.
        #[topology(per = node)] label: Rows<u32>,
        /// Label and class of each successor, in order, each pair once.
        #[scratch(per = row(label))] pairs: u64,
        /// How many pairs there are.
        #[scratch(per = node)] many: u32,
        #[scratch(per = node)] hash: u32,
        /// A node for each class of this phase.
        #[scratch(per = node * 2 + 1, init = NONE, reset = round)] table: u32,
        /// The least node of each class, at the node that stands in the table.
        #[scratch(per = node, init = NONE, reset = round)] least: u32,
        #[scratch(per = node)] chosen: u32,
        #[output(per = node)] class: u32,
        #[reduce(count)] classes: u64,
    }

    #[device]
    fn mixed(hash: u32, x: u64) -> u32 {
        let y = (x ^ u64::from(hash)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (y >> 32) as u32 ^ hash.rotate_left(7)
    }

    #[device]
    fn same(graph: &Csr, pairs: &Buf<u64>, many: &Buf<u32>, class: &Buf<u32>, v: u32, w: u32) -> bool {
        if class[v] != class[w] || many[v] != many[w] {
            return false;
        }
        let (a, b) = (graph.edges(v).start, graph.edges(w).start);
        for k in 0..many[v] {
            if pairs[a + k] != pairs[b + k] {
                return false;
            }
        }
        true
    }

    #[fixpoint(until(classes == classes.before), max_rounds = 4_294_967_295)]
    mod phases {
        #[wave(nodes)]
        fn sign(
            v: Node, graph: &Csr, label: &Row<u32>, class: &Buf<u32>,
            pairs: &mut Row<u64>, many: &mut u32, hash: &mut u32,
        ) {
            for (k, (w, l)) in graph.neighbors(v).zip(label).enumerate() {
                pairs[k as u32] = u64::from(l) << 32 | u64::from(class[w]);
            }
            // No helper takes a row, so the heap is built and taken down in one loop.
            let (mut start, mut end) = (pairs.len() / 2, pairs.len());
            while end > 1 {
                if start > 0 {
                    start -= 1;
                } else {
                    end -= 1;
                    pairs.swap(0, end);
                }
                let mut at = start;
                loop {
                    let mut child = 2 * at + 1;
                    if child >= end {
                        break;
                    }
                    if child + 1 < end && pairs[child] < pairs[child + 1] {
                        child += 1;
                    }
                    if pairs[at] >= pairs[child] {
                        break;
                    }
                    pairs.swap(at, child);
                    at = child;
                }
            }
            let mut sum = mixed(0, u64::from(class[v]));
            let mut len = 0;
            for k in 0..pairs.len() {
                if len == 0 || pairs[k] != pairs[len - 1] {
                    pairs[len] = pairs[k];
                    sum = mixed(sum, pairs[k]);
                    len += 1;
                }
            }
            *many = len;
            *hash = sum;
        }

        #[wave(nodes, after(sign))]
        fn join(
            v: Node, graph: &Csr, pairs: &Buf<u64>, many: &Buf<u32>, class: &Buf<u32>, hash: &u32,
            table: &Buf<Atomic<u32>>, least: &Buf<Atomic<u32>>, chosen: &mut u32,
        ) {
            let mut at = *hash % table.len();
            let found = loop {
                let old = table[at].compare_and_swap(NONE, v);
                if old == NONE {
                    break v;
                }
                if same(graph, pairs, many, class, v, old) {
                    break old;
                }
                at = (at + 1) % table.len();
            };
            *chosen = found;
            least[found].fetch_min(v);
        }

        #[wave(nodes, after(join))]
        fn name(v: Node, least: &Buf<u32>, chosen: &u32, class: &mut u32, classes: &Reduce<Count>) {
            *class = least[*chosen];
            if *class == v {
                classes.inc();
            }
        }
    }
}

use crate::common::{Res, Rng, Settings, measure, say};
use std::collections::{BTreeSet, HashMap};

/// By sets in hash maps, phase by phase.
fn refine(n: usize, edges: &[(u32, u32, u32)]) -> Vec<u32> {
    let mut class = vec![0u32; n];
    let mut count = 0;
    loop {
        let mut sets: Vec<BTreeSet<(u32, u32)>> = vec![BTreeSet::new(); n];
        for &(v, l, w) in edges {
            sets[v as usize].insert((l, class[w as usize]));
        }
        let mut seen = HashMap::new();
        let next: Vec<u32> = sets
            .into_iter()
            .enumerate()
            .map(|(v, set)| *seen.entry((class[v], set)).or_insert(v as u32))
            .collect();
        class = next;
        if seen.len() == count {
            return class;
        }
        count = seen.len();
    }
}

/// By pairs: strikes out those that can be told apart.
fn pairwise(n: usize, edges: &[(u32, u32, u32)]) -> Vec<u32> {
    let mut like = vec![vec![true; n]; n];
    let mut changed = true;
    while changed {
        changed = false;
        for v in 0..n {
            for w in 0..n {
                let simulated = |v: usize, w: usize| {
                    edges.iter().filter(|e| e.0 as usize == v).all(|a| {
                        edges.iter().any(|b| {
                            b.0 as usize == w && a.1 == b.1 && like[a.2 as usize][b.2 as usize]
                        })
                    })
                };
                if like[v][w] && !(simulated(v, w) && simulated(w, v)) {
                    like[v][w] = false;
                    like[w][v] = false;
                    changed = true;
                }
            }
        }
    }
    (0..n).map(|v| (0..n).find(|&w| like[v][w]).unwrap() as u32).collect()
}

fn bisim_graph(kind: &str, n: u32, r: &mut Rng) -> Vec<(u32, u32, u32)> {
    let mut edges = Vec::new();
    match kind {
        "random" => {
            for _ in 0..n * 5 {
                edges.push((r.below(n), r.below(3), r.below(n)));
            }
        }
        // Trees with few shapes: many nodes in few classes.
        "tree" => {
            for v in 1..n {
                edges.push(((v - 1) / 2, r.below(64) / 63, v));
            }
        }
        "hub" => {
            for v in 1..n {
                edges.push((0, r.below(5), v));
                edges.push((v, r.below(2), if r.below(4) == 0 { r.below(n) } else { 0 }));
            }
        }
        _ => {
            let len = 100;
            for v in 0..n {
                if v % len + 1 < len && v + 1 < n {
                    edges.push((v, 0, v + 1));
                }
            }
        }
    }
    edges
}

fn case(runtime: &Runtime, what: &str, n: u32, mut edges: Vec<(u32, u32, u32)>, settings: Option<&Settings>) -> Res<bool> {
    edges.sort();
    let pairs: Vec<_> = edges.iter().map(|e| (e.0, e.2)).collect();
    let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
    let values: Vec<u32> = from.iter().map(|&k| edges[k as usize].1).collect();
    let label = Rows::new(graph.offsets().to_vec(), values)?;
    let mut session = bisimulation::Session::new(runtime, bisimulation::Topology { graph: &graph, label: &label })?;
    let once = Settings::once();
    let (out, times) =
        measure(&mut session, settings.unwrap_or(&once), |s, out| s.run_into(bisimulation::Run {}, out).map(|()| out.report.clone()))?;
    let expected = refine(n as usize, &edges);
    let mut ok = out.class == expected;
    if n <= 40 {
        ok &= pairwise(n as usize, &edges) == expected;
    }
    let classes = expected.iter().collect::<BTreeSet<_>>().len() as u64;
    ok &= out.classes == classes;
    if settings.is_some() {
        say("bisim", &format!("{what}: {n} nodes, {} edges, {classes} classes", edges.len()), &times, &out.report, ok);
    } else if !ok {
        println!("bisim WRONG for {what}, n = {n}");
    }
    Ok(ok)
}

pub fn small(runtime: &Runtime, r: &mut Rng) -> Res<bool> {
    let mut ok = case(runtime, "empty", 0, vec![], None)?;
    ok &= case(runtime, "one", 1, vec![(0, 1, 0), (0, 1, 0)], None)?;
    for n in [2, 7, 20, 37, 1_000, 10_000] {
        for kind in ["random", "tree", "hub", "chains"] {
            ok &= case(runtime, kind, n, bisim_graph(kind, n, r), None)?;
        }
    }
    Ok(ok)
}

pub fn large(runtime: &Runtime, settings: &Settings, r: &mut Rng) -> Res<bool> {
    let n = settings.size.unwrap_or(200_000) as u32;
    case(runtime, "tree", n, bisim_graph("tree", n, r), Some(settings))
}
