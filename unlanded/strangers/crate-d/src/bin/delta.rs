//! Shortest paths by delta-stepping, with light and heavy edges.

use crate_d::*;
use std::{cmp::Reverse, collections::BinaryHeap, process::ExitCode};
use vyre::{Csr, prelude::*};

/// A bucket is what lies in `[least, least + delta)`, from the least distance that waits on.
#[wave_graph]
#[pass(id = "d.delta", unproven, same_result(dist = "lengths of shortest paths are unique"))]
pub mod delta {
    pub const FAR: u32 = u32::MAX;

    pub struct Data {
        #[topology] light: Csr,                              // edges shorter than `delta`
        #[topology(per = edge(light))] light_weight: u32,
        #[topology] heavy: Csr,                              // the others
        #[topology(per = edge(heavy))] heavy_weight: u32,
        #[topology] delta: u32,
        #[output(per = node, init = FAR)] dist: u32,
        #[scratch(per = 1)] end: u32,                        // of the bucket
        #[frontier(unique)] waiting: Frontier,               // for later buckets
        #[frontier(unique)] front: Frontier,
        #[list(unique, reset = round)] settled: List<Node>,  // in this bucket
        #[reduce(min)] least: u32,
        source: u32,
    }

    #[wave(once)]
    fn begin(source: u32, dist: &Buf<Atomic<u32>>, waiting: &Push) {
        dist[source].store(0);
        waiting.push(source);
    }

    #[fixpoint(after(begin), until(waiting.is_empty()), max_rounds = 4_294_967_295)]
    mod buckets {
        /// Nodes that were settled while they waited lie before the last bucket's end.
        #[wave(items(waiting))]
        fn look(dist: &u32, end: &Buf<u32>, least: &Reduce<Min<u32>>) {
            if *dist >= end[0] {
                least.min(*dist);
            }
        }

        #[wave(items(waiting), after(look))]
        fn fill(v: Node, least: u32, delta: u32, dist: &u32, front: &Push, settled: &Push, waiting: &Push) {
            if *dist >= least.saturating_add(delta) {
                waiting.push(v);
            } else if *dist >= least {
                front.push(v);
                settled.push(v);
            }
        }

        #[wave(once, after(look))]
        fn advance(least: u32, delta: u32, end: &Buf<Atomic<u32>>) {
            end[0].store(least.saturating_add(delta));
        }

        #[fixpoint(after(fill, advance), until(front.is_empty()), max_rounds = 4_294_967_295)]
        mod inner {
            #[wave(edges(light, from = front))]
            fn relax(
                e: Edge, light_weight: &u32, end: &Buf<u32>, dist: &Buf<Atomic<u32>>,
                front: &Push, settled: &Push, waiting: &Push,
            ) {
                let far = dist[e.src].load().saturating_add(*light_weight);
                if far < dist[e.dst].fetch_min(far) {
                    if far < end[0] {
                        front.push(e.dst);
                        settled.push(e.dst);
                    } else {
                        waiting.push(e.dst);
                    }
                }
            }
        }

        #[wave(edges(heavy, from = settled), after(inner))]
        fn leap(e: Edge, heavy_weight: &u32, dist: &Buf<Atomic<u32>>, waiting: &Push) {
            let far = dist[e.src].load().saturating_add(*heavy_weight);
            if far < dist[e.dst].fetch_min(far) {
                waiting.push(e.dst);
            }
        }
    }
}

/// What the repository's example does: every node that came closer relaxes its edges at once.
#[wave_graph]
#[pass(id = "d.plain", unproven)]
pub mod plain {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = edge(graph))] weight: u32,
        #[frontier(unique)] front: Frontier,
        #[output(per = node, init = u32::MAX)] dist: u32,
        source: u32,
    }

    #[wave(once)]
    fn begin(source: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
        dist[source].store(0);
        front.push(source);
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            let far = dist[e.src].load().saturating_add(*weight);
            if far < dist[e.dst].fetch_min(far) {
                front.push(e.dst);
            }
        }
    }
}

fn dijkstra(graph: &Csr, weight: &[u32], source: u32) -> Vec<u32> {
    let mut dist = vec![u32::MAX; graph.node_count()];
    dist[source as usize] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, source))]);
    while let Some(Reverse((d, v))) = heap.pop() {
        if d > dist[v as usize] {
            continue;
        }
        let row = graph.edges(v);
        for e in row.iter() {
            let (w, far) = (graph.target(e) as usize, d.saturating_add(weight[e as usize]));
            if far < dist[w] {
                dist[w] = far;
                heap.push(Reverse((far, w as u32)));
            }
        }
    }
    dist
}

struct Split {
    light: (Csr, Vec<u32>),
    heavy: (Csr, Vec<u32>),
}

/// By hand: a part of a graph's edges, with their weights.
fn split(n: u32, edges: &[(u32, u32)], weight: &[u32], delta: u32) -> Result<Split, Anything> {
    let part = |keep: &dyn Fn(u32) -> bool| {
        let mine = edges.iter().zip(weight).filter(|&(_, &w)| keep(w));
        let (edges, weight): (Vec<_>, Vec<_>) = mine.map(|(&e, &w)| (e, w)).unzip();
        weighted(n, &edges, &weight)
    };
    Ok(Split { light: part(&|w| w < delta)?, heavy: part(&|w| w >= delta)? })
}

impl Split {
    fn topology(&self, delta: u32) -> delta::Topology<'_> {
        delta::Topology {
            light: &self.light.0,
            light_weight: &self.light.1,
            heavy: &self.heavy.0,
            heavy_weight: &self.heavy.1,
            delta,
        }
    }
}

fn main() -> Result<ExitCode, Anything> {
    let args = Args::new();
    if args.flag("--plan") {
        println!("{}", delta::PLAN);
    }
    let runtime = args.runtime()?;
    let (runs, heaviest) = (args.number("--runs", 5), args.number("--heaviest", 64));
    let mut random = Random(u64::from(args.number("--seed", 1)));
    let mut ok = true;

    // Small ones first, with weights of zero, huge weights, and every kind of delta.
    for n in [1, 2, 3, 10, 50, 300, 5_000] {
        for (delta, most) in [(1, 1), (1, 20), (7, 20), (100, 20), (1_000_000, 3_000_000_000), (u32::MAX, 50)] {
            let edges = random_edges(n, n as usize * 3, &mut random);
            let weight: Vec<u32> = edges.iter().map(|_| random.below(most + 1)).collect();
            let (graph, sorted) = weighted(n, &edges, &weight)?;
            let parts = split(n, &edges, &weight, delta)?;
            let mut session = delta::Session::new(&runtime, parts.topology(delta))?;
            for source in [0, n - 1] {
                let out = session.run(delta::Run { source })?;
                if out.dist != dijkstra(&graph, &sorted, source) {
                    println!("wrong: {n} nodes, delta {delta}, weights up to {most}, source {source}");
                    ok = false;
                }
            }
        }
    }

    let size = args.number("--size", 1_000_000);
    let kind = args.text("--graph", "both");
    for name in ["random", "grid"] {
        if kind != "both" && kind != name {
            continue;
        }
        let (n, edges, usual) = if name == "random" {
            (size, random_edges(size, size as usize * 8, &mut random), 12)
        } else {
            let side = size.isqrt();
            (side * side, grid_edges(side, side), 32)
        };
        let delta = args.number("--delta", usual);
        let weight: Vec<u32> = edges.iter().map(|_| 1 + random.below(heaviest)).collect();
        let (graph, sorted) = weighted(n, &edges, &weight)?;
        println!("{name}: {n} nodes, {} edges, weights 1 to {heaviest}, delta {delta}", edges.len());

        let (expected, time) = timed(|| dijkstra(&graph, &sorted, 0));
        println!("  dijkstra  {time:.2?}");

        let (parts, time) = timed(|| split(n, &edges, &weight, delta));
        let parts = parts?;
        println!("  (split by the host in {time:.2?})");
        let mut session = delta::Session::new(&runtime, parts.topology(delta))?;
        let (out, time) = median(&mut session, delta::Run { source: 0 }, runs)?;
        let good = out.dist == expected;
        println!("  delta     {time:.2?}, rounds {:?}, {} {}, {}", out.report.rounds, out.report.backend,
            out.report.route, if good { "right" } else { "WRONG" });
        ok &= good;
        if args.flag("--explain") {
            println!("{}", session.explain());
        }
        drop(session);

        let mut session = plain::Session::new(&runtime, plain::Topology { graph: &graph, weight: &sorted })?;
        let (out, time) = median(&mut session, plain::Run { source: 0 }, runs)?;
        let good = out.dist == expected;
        println!("  plain     {time:.2?}, rounds {:?}, {}", out.report.rounds, if good { "right" } else { "WRONG" });
        ok &= good;
    }
    Ok(verdict(ok))
}
