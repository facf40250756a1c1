//! Shortest paths by delta-stepping.

use vyre::prelude::*;

pub const FAR: u32 = u32::MAX;

#[wave_graph]
#[pass(
    id = "a.delta",
    unproven,
    same_result(
        dist = "the length of a shortest path is unique",
        phase = "buckets that have a node are unique, and come in order"
    )
)]
pub mod delta_stepping {
    pub struct Data {
        /// Edges of at most `delta`.
        #[topology] light: Csr,
        #[topology(per = edge(light))] light_weight: u32,
        /// All others.
        #[topology] heavy: Csr,
        #[topology(per = edge(heavy))] heavy_weight: u32,
        #[topology] delta: u32,
        /// Nodes of later buckets. Some may have been lowered into an earlier one since.
        #[frontier(unique)] later: Frontier,
        /// Nodes of this bucket.
        #[frontier(unique)] front: Frontier,
        /// All that were in this bucket.
        #[frontier(unique)] settled: Frontier,
        #[scratch(per = 1, init = FAR, reset = round)] bucket: u32,
        #[output(per = node, init = FAR)] dist: u32,
        /// In which phase the node was settled.
        #[output(per = node, init = FAR)] phase: u32,
        source: u32,
    }

    #[wave(once)]
    fn begin(source: u32, dist: &Buf<Atomic<u32>>, later: &Push) {
        dist[source].store(0);
        later.push(source);
    }

    #[fixpoint(after(begin), until(later.is_empty()), max_rounds = 4_294_967_295)]
    mod buckets {
        #[wave(items(later))]
        fn choose(delta: u32, dist: &u32, phase: &u32, bucket: &Buf<Atomic<u32>>) {
            if *phase == FAR {
                bucket[0].fetch_min(*dist / delta);
            }
        }

        #[wave(items(later), after(choose))]
        fn pick(v: Node, delta: u32, dist: &u32, phase: &u32, bucket: &Buf<u32>, later: &Push, front: &Push) {
            if *phase == FAR {
                if *dist / delta == bucket[0] {
                    front.push(v);
                } else {
                    later.push(v);
                }
            }
        }

        #[fixpoint(after(pick), until(front.is_empty()), max_rounds = 4_294_967_295)]
        mod lights {
            #[wave(items(front))]
            fn settle(v: Node, buckets: Round, phase: &mut u32, settled: &Push) {
                *phase = buckets;
                settled.push(v);
            }

            #[wave(edges(light, from = front))]
            fn relax(
                e: Edge, delta: u32, light_weight: &Buf<u32>, bucket: &Buf<u32>,
                dist: &Buf<Atomic<u32>>, front: &Push, later: &Push,
            ) {
                let far = dist[e.src].load().saturating_add(light_weight[e.index]);
                if far < dist[e.dst].fetch_min(far) {
                    if far / delta == bucket[0] {
                        front.push(e.dst);
                    } else {
                        later.push(e.dst);
                    }
                }
            }
        }

        /// One round: a frontier that is swept in a scope of its own gives what this phase has pushed.
        #[fixpoint(after(lights), until(settled.is_empty()))]
        mod heavies {
            #[wave(edges(heavy, from = settled))]
            fn relax(e: Edge, heavy_weight: &Buf<u32>, dist: &Buf<Atomic<u32>>, later: &Push) {
                let far = dist[e.src].load().saturating_add(heavy_weight[e.index]);
                if far < dist[e.dst].fetch_min(far) {
                    later.push(e.dst);
                }
            }
        }
    }
}

use crate::common::{Res, Rng, Settings, measure, say};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

fn case(
    runtime: &Runtime, what: &str, n: u32, edges: &[(u32, u32, u32)], source: u32, delta: u32, settings: Option<&Settings>,
) -> Res<bool> {
    let part = |light: bool| -> Res<(Csr, Vec<u32>)> {
        let of: Vec<_> = edges.iter().filter(|e| (e.2 <= delta) == light).collect();
        let pairs: Vec<_> = of.iter().map(|e| (e.0, e.1)).collect();
        let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
        let weight = from.iter().map(|&k| of[k as usize].2).collect();
        Ok((graph, weight))
    };
    let ((light, light_weight), (heavy, heavy_weight)) = (part(true)?, part(false)?);
    let topology = delta_stepping::Topology {
        light: &light,
        light_weight: &light_weight,
        heavy: &heavy,
        heavy_weight: &heavy_weight,
        delta,
    };
    let mut session = delta_stepping::Session::new(runtime, topology)?;
    let once = Settings::once();
    let (out, times) =
        measure(&mut session, settings.unwrap_or(&once), |s, out| s.run_into(delta_stepping::Run { source }, out).map(|()| out.report.clone()))?;

    let pairs: Vec<_> = edges.iter().map(|e| (e.0, e.1)).collect();
    let (graph, from) = Csr::from_edges_indexed(n as usize, &pairs)?;
    let mut dist = vec![FAR; n as usize];
    dist[source as usize] = 0;
    let mut heap = BinaryHeap::from([Reverse((0u32, source))]);
    while let Some(Reverse((d, v))) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        for e in graph.edges(v).iter() {
            let w = graph.target(e);
            let far = d.saturating_add(edges[from[e as usize] as usize].2);
            if far < dist[w as usize] {
                dist[w as usize] = far;
                heap.push(Reverse((far, w)));
            }
        }
    }
    let buckets: BTreeSet<u32> = dist.iter().filter(|&&d| d != FAR).map(|d| d / delta).collect();
    let number: HashMap<u32, u32> = buckets.iter().zip(0..).map(|(&b, k)| (b, k)).collect();
    let phase: Vec<u32> = dist.iter().map(|&d| if d == FAR { FAR } else { number[&(d / delta)] }).collect();
    let ok = out.dist == dist && out.phase == phase;
    if settings.is_some() {
        let what = format!("{what}: {n} nodes, {} edges, {} buckets", edges.len(), buckets.len());
        say("delta", &what, &times, &out.report, ok);
    } else if !ok {
        println!("delta WRONG for {what}, n = {n}, delta = {delta}");
    }
    Ok(ok)
}

fn random(n: u32, most: u32, r: &mut Rng) -> Vec<(u32, u32, u32)> {
    (0..n * 4).map(|_| (r.below(n), r.below(n), r.below(most + 1))).collect()
}

fn grid(side: u32, r: &mut Rng) -> Vec<(u32, u32, u32)> {
    let mut edges = Vec::new();
    for v in 0..side * side {
        let (right, down) = ((v % side + 1 < side).then_some(v + 1), (v + side < side * side).then_some(v + side));
        for w in [right, down].into_iter().flatten() {
            let x = 1 + r.below(100);
            edges.extend([(v, w, x), (w, v, x)]);
        }
    }
    edges
}

pub fn small(runtime: &Runtime, r: &mut Rng) -> Res<bool> {
    let mut ok = case(runtime, "lone", 1, &[], 0, 1, None)?;
    ok &= case(runtime, "far", 3, &[(0, 1, FAR - 1), (1, 2, 5)], 0, 7, None)?;
    for n in [2, 10, 100, 3000] {
        for delta in [1, 3, 25, 1000] {
            let edges = random(n, 100, r);
            ok &= case(runtime, "random", n, &edges, r.below(n), delta, None)?;
        }
    }
    for side in [5, 60] {
        let edges = grid(side, r);
        for delta in [1, 40, 200] {
            ok &= case(runtime, "grid", side * side, &edges, 0, delta, None)?;
        }
    }
    Ok(ok)
}

pub fn large(runtime: &Runtime, settings: &Settings, r: &mut Rng) -> Res<bool> {
    let n = settings.size.unwrap_or(200_000) as u32;
    let edges = random(n, 1000, r);
    case(runtime, "random", n, &edges, 0, 250, Some(settings))
}
