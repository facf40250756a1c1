//! Of 256 landmarks, how many lie 0, 1, .. 7 steps from each node.

use crate_d::*;
use std::{collections::VecDeque, process::ExitCode};
use vyre::{Csr, prelude::*};

#[wave_graph(deterministic)]
#[pass(id = "d.near", unproven)]
pub mod near {
    pub const MARKS: u32 = 256;

    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = MARKS)] mark: u32,
        #[scratch(per = node)] seen: [u64; 4],
        #[scratch(per = node)] next: [u64; 4],
        #[output(per = node)] count: [u32; 8],
        #[output(per = 1)] total: [u64; 8],
    }

    #[wave(range(MARKS))]
    fn put(i: Index, mark: &u32, seen: &Buf<Atomic<u64>>) {
        seen[*mark * 4 + i / 64].fetch_or(1 << (i % 64));
    }

    #[wave(nodes, after(put))]
    fn begin(seen: &[u64; 4], count: &mut [u32; 8]) {
        for word in seen.iter() {
            count[0] += word.count_ones();
        }
    }

    #[fixpoint(after(begin), until(round == 6), swap(seen, next))]
    mod steps {
        #[wave(nodes)]
        fn step(
            v: Node, round: Round, graph: &Csr, seen: &Records<[u64; 4]>,
            next: &mut [u64; 4], count: &mut [u32; 8],
        ) {
            let mine = seen.get(v);
            let mut all = mine;
            for w in graph.neighbors(v) {
                let theirs = seen.get(w);
                for k in 0..4 {
                    all[k] |= theirs[k];
                }
            }
            let mut new = 0;
            for (a, b) in all.into_iter().zip(mine) {
                new += (a & !b).count_ones();
            }
            *next = all;
            count[round as usize + 1] = new;
        }
    }

    #[wave(nodes, after(steps))]
    fn add(count: &[u32; 8], total: &Buf<Atomic<u64>>) {
        for k in 0..8 {
            if count[k] > 0 {
                total[k as u32].fetch_add(u64::from(count[k]));
            }
        }
    }
}

/// A search from each landmark against the edges.
fn plain(graph: &Csr, mark: &[u32]) -> (Vec<[u32; 8]>, [u64; 8]) {
    let n = graph.node_count();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); n];
    for v in 0..n as u32 {
        for w in graph.neighbors(v).iter() {
            into[w as usize].push(v);
        }
    }
    let (mut count, mut total) = (vec![[0; 8]; n], [0; 8]);
    let mut dist = vec![usize::MAX; n];
    for &m in mark {
        dist.fill(usize::MAX);
        dist[m as usize] = 0;
        let mut queue = VecDeque::from([m]);
        while let Some(v) = queue.pop_front() {
            let d = dist[v as usize];
            count[v as usize][d] += 1;
            total[d] += 1;
            for &w in &into[v as usize] {
                if d < 7 && dist[w as usize] == usize::MAX {
                    dist[w as usize] = d + 1;
                    queue.push_back(w);
                }
            }
        }
    }
    (count, total)
}

fn main() -> Result<ExitCode, Anything> {
    let args = Args::new();
    if args.flag("--plan") {
        println!("{}", near::PLAN);
    }
    let runtime = args.runtime()?;
    let mut random = Random(u64::from(args.number("--seed", 1)));
    let mut ok = true;
    let big = args.number("--size", 200_000);
    for n in [1, 2, 50, 3_000, big] {
        let edges = random_edges(n, n as usize * 4, &mut random);
        let graph = Csr::from_edges(n as usize, &edges)?;
        let mark: Vec<u32> = (0..near::MARKS).map(|_| random.below(n)).collect();
        let mut session = near::Session::new(&runtime, &graph)?;
        let runs = if n == big { args.number("--runs", 5) } else { 1 };
        let (out, time) = median(&mut session, near::Run { mark: &mark }, runs)?;
        let ((count, total), host) = timed(|| plain(&graph, &mark));
        let good = out.count == count && out.total == [total];
        println!("{n} nodes, {} edges: {time:.2?}, plain Rust {host:.2?}, {:?}, {} {}, {}", edges.len(), out.total,
            out.report.backend, out.report.route, if good { "right" } else { "WRONG" });
        ok &= good;
        if args.flag("--explain") && n == big {
            println!("{}", session.explain());
        }
    }
    Ok(verdict(ok))
}
