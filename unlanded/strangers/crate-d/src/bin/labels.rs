//! The four most frequent labels among those that a node's neighbours have, some times over.

use crate_d::*;
use std::{collections::HashMap, process::ExitCode};
use vyre::{Csr, Rows, prelude::*};

#[wave_graph(deterministic)]
#[pass(id = "d.labels", unproven)]
pub mod labels {
    pub const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] slots: Rows<u8>,            // four for each neighbour; values mean nothing
        #[scratch(per = row(slots))] heard: u32,
        #[output(per = node, init = NONE)] labels: [u32; 4],
        #[output(per = node, init = NONE)] next: [u32; 4],
        #[output(per = node)] often: [u32; 4],
        rounds: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, labels: &mut [u32; 4]) {
        labels[0] = v;
    }

    #[fixpoint(after(begin), until(round + 1 == rounds), swap(labels, next))]
    mod turns {
        #[wave(nodes)]
        fn hear(
            v: Node, graph: &Csr, labels: &Records<[u32; 4]>, heard: &mut Row<u32>,
            next: &mut [u32; 4], often: &mut [u32; 4],
        ) {
            let mut len = 0;
            for w in graph.neighbors(v) {
                for label in labels.get(w) {
                    if label != NONE {
                        heard[len] = label;
                        len += 1;
                    }
                }
            }
            // Shell's sort.
            let mut gap = len / 2;
            while gap > 0 {
                for i in gap..len {
                    let mut at = i;
                    while at >= gap && heard[at - gap] > heard[at] {
                        heard.swap(at - gap, at);
                        at -= gap;
                    }
                }
                gap /= 2;
            }
            // Runs of equal labels; of two as long the lesser label goes before.
            let mut best = [NONE; 4];
            let mut count = [0u32; 4];
            let mut from = 0;
            while from < len {
                let mut held = heard[from];
                let mut to = from + 1;
                while to < len && heard[to] == held {
                    to += 1;
                }
                let mut times = to - from;
                for k in 0..4 {
                    if times > count[k] {
                        (best[k], held) = (held, best[k]);
                        (count[k], times) = (times, count[k]);
                    }
                }
                from = to;
            }
            if len == 0 {
                best = labels.get(v);
            }
            *next = best;
            *often = count;
        }
    }
}

fn plain(graph: &Csr, rounds: u32) -> (Vec<[u32; 4]>, Vec<[u32; 4]>) {
    let n = graph.node_count() as u32;
    let mut labels: Vec<[u32; 4]> = (0..n).map(|v| [v, u32::MAX, u32::MAX, u32::MAX]).collect();
    let mut often = vec![[0; 4]; n as usize];
    let mut count: HashMap<u32, u32> = HashMap::new();
    for _ in 0..rounds {
        let old = labels.clone();
        for v in 0..n {
            count.clear();
            for w in graph.neighbors(v).iter() {
                for label in old[w as usize] {
                    if label != u32::MAX {
                        *count.entry(label).or_default() += 1;
                    }
                }
            }
            let mut all: Vec<(u32, u32)> = count.iter().map(|(&l, &c)| (c, l)).collect();
            all.sort_by_key(|&(c, l)| (std::cmp::Reverse(c), l));
            if !all.is_empty() {
                labels[v as usize] = std::array::from_fn(|k| all.get(k).map_or(u32::MAX, |a| a.1));
            }
            often[v as usize] = std::array::from_fn(|k| all.get(k).map_or(0, |a| a.0));
        }
    }
    (labels, often)
}

fn main() -> Result<ExitCode, Anything> {
    let args = Args::new();
    if args.flag("--plan") {
        println!("{}", labels::PLAN);
    }
    let runtime = args.runtime()?;
    let mut random = Random(u64::from(args.number("--seed", 1)));
    let mut ok = true;
    let big = args.number("--size", 200_000);
    for (n, rounds) in [(1, 1), (2, 3), (40, 4), (3_000, 6), (big, args.number("--rounds", 5))] {
        // Near nodes are joined more often, so that there are communities.
        let half = random_edges(n, n as usize * 4, &mut random);
        let close = |(a, b): (u32, u32)| if b % 4 != 0 { (a, (a / 32 * 32 + b % 32).min(n - 1)) } else { (a, b) };
        let edges: Vec<_> = half.into_iter().map(close).flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let graph = Csr::from_edges(n as usize, &edges)?;
        // By hand: a row for each node that is as long as four times its edges.
        let mut offsets = vec![0u32];
        for v in 0..n {
            offsets.push(offsets[v as usize] + graph.degree(v) * 4);
        }
        let slots = Rows::new(offsets, vec![0u8; edges.len() * 4])?;
        let mut session = labels::Session::new(&runtime, labels::Topology { graph: &graph, slots: &slots })?;
        let runs = if n == big { args.number("--runs", 5) } else { 1 };
        let (out, time) = median(&mut session, labels::Run { rounds }, runs)?;
        let ((expected, often), host) = timed(|| plain(&graph, rounds));
        let good = out.labels == expected && out.often == often;
        println!("{n} nodes, {} edges, {rounds} rounds: {time:.2?}, plain Rust {host:.2?}, {} {}, {}", edges.len(),
            out.report.backend, out.report.route, if good { "right" } else { "WRONG" });
        ok &= good;
        if args.flag("--explain") && n == big {
            println!("{}", session.explain());
        }
    }
    Ok(verdict(ok))
}
