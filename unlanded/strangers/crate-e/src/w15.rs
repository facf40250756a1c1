//! Parts: local fixpoints append to lists and use arrays of other lengths; the list is swept outside, anew each round.
use crate::common::*;
use vyre::Parts;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(parts_of = graph, crossing = dropped)] parts: Parts,
        #[frontier(unique)] front: Frontier,
        #[scratch(per = node)] met: u32,
        #[scratch(per = node, init = (1, 2), reset = round)] pair: (u32, u64),
        #[input(per = 5)] table: [u32; 4],
        #[list(capacity = node * 3, reset = round)] log: List<(u32, u32)>,
        #[output(per = rounds)] sums: [u64; 2],
        #[output(per = node)] number: u64,
        rounds: u32,
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod outer {
        #[wave(nodes)]
        fn start(v: Node, round: Round, met: &mut u32, front: &Push) {
            *met = u32::from(v % 3 == round);
            if *met == 1 {
                front.push(v);
            }
        }
        #[fixpoint(after(start), per = parts, until(front.is_empty()))]
        mod local {
            #[wave(edges(graph, from = front))]
            fn step(e: Edge, table: &Records<[u32; 4]>, met: &Buf<Atomic<u32>>, front: &Push, log: &Append<(u32, u32)>) {
                if met[e.dst].compare_exchange(0, 1) {
                    front.push(e.dst);
                    log.append((e.dst, table.get(e.dst % 5)[(e.dst % 4) as usize]));
                }
            }
            #[wave(nodes)]
            fn count(v: Node, pair: &mut (u32, u64)) {
                pair.0 += v;
                pair.1 += 1;
            }
        }
        #[wave(items(log), after(local))]
        fn add(x: (u32, u32), outer: Round, sums: &Buf<Atomic<u64>>) {
            sums[outer * 2].fetch_add(u64::from(x.0));
            sums[outer * 2 + 1].fetch_add(u64::from(x.1));
        }
        #[wave(nodes, after(local))]
        fn note(pair: &(u32, u64), number: &mut u64) {
            *number = *number * 3 + u64::from(pair.0) + u64::from(pair.1 > 2);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let (mut sizes, mut left) = (vec![], g.n as u32);
    while left > 0 {
        let s = rng.below(left.min(50) + 1);
        sizes.push(s);
        left -= s;
    }
    let parts = Parts::from_sizes(sizes.clone()).map_err(|e| e.to_string())?;
    let mut session = match p::Session::new(rt, p::Topology { graph: &g.csr, parts: &parts }) {
        Ok(s) => s,
        Err(e) if rt.to_string().contains("cuda") => return Err(format!("NOTE refused: {e}")),
        Err(e) => return Err(err(e)),
    };
    let rounds = 1 + rng.below(3);
    let table: Vec<[u32; 4]> = (0..5).map(|_| std::array::from_fn(|_| rng.below(50))).collect();
    let out = session.run(p::Run { table: &table, rounds }).map_err(err)?;
    let mut part = vec![];
    let mut first = vec![];
    let mut begin = 0;
    for (k, &s) in sizes.iter().enumerate() {
        for _ in 0..s {
            part.push(k);
            first.push(begin);
        }
        begin += s;
    }
    let mut sums = vec![[0u64; 2]; rounds as usize];
    let mut number = vec![0u64; g.n];
    for r in 0..rounds {
        let sources: Vec<u32> = (0..g.n as u32).filter(|v| v % 3 == r).collect();
        let dist = g.bfs(&sources, |_, a, b| part[a as usize] == part[b as usize]);
        let mut longest = vec![0u64; sizes.len()];
        for v in 0..g.n {
            if dist[v] != u32::MAX {
                longest[part[v]] = longest[part[v]].max(u64::from(dist[v]));
                if dist[v] > 0 {
                    let local = v as u32 - first[v];
                    sums[r as usize][0] += u64::from(local);
                    sums[r as usize][1] += u64::from(table[(local % 5) as usize][(local % 4) as usize]);
                }
            }
        }
        for v in 0..g.n {
            let turns = longest[part[v]] + 1;
            let local = u64::from(v as u32 - first[v]);
            number[v] = number[v] * 3 + 1 + local * turns + u64::from(2 + turns > 2);
        }
    }
    same("sums", &out.sums, &sums)?;
    same("number", &out.number, &number)
}
