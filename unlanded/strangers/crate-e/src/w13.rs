//! Two graphs of one node set, a list that both sweep, frontiers of items beside it, an inner fixpoint that empties them.
use crate::common::*;
#[wave_graph]
pub mod p {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Walk {
        pub at: Node,
        pub cost: u64,
        pub first: bool,
    }
    pub struct Data {
        #[topology] g1: Csr,
        #[topology] g2: Csr,
        #[topology(per = edge(g2))] w2: [u32; 1],
        #[frontier(capacity = cap)] walks: Frontier<Walk>,
        #[list(unique, reset = round)] ends: List<Node>,
        #[list(capacity = cap, reset = round)] done: List<Walk>,
        #[output(per = node * 2)] sums: [u64; 2],
        #[output(per = rounds)] seen: [u64; 4],
        rounds: u32,
        cap: u32,
        depth: u32,
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod phases {
        #[wave(nodes)]
        fn start(v: Node, round: Round, walks: &Push<Walk>) {
            if v % 16 == round {
                walks.push(Walk { at: v, cost: u64::from(v), first: true });
            }
        }
        #[fixpoint(after(start), until(walks.is_empty()))]
        mod steps {
            #[wave(items(walks))]
            fn walk(x: Walk, round: Round, depth: u32, g1: &Csr, walks: &Push<Walk>, done: &Append<Walk>, ends: &Push) {
                done.append(x);
                if round >= depth || g1.degree(x.at) == 0 {
                    ends.push(x.at);
                    return;
                }
                let row = g1.neighbors(x.at);
                let len = row.len();
                walks.push(Walk { at: row.at((x.cost % u64::from(len)) as u32), cost: x.cost + 1, first: false });
            }
        }
        #[wave(edges(g2, from = ends), after(steps))]
        fn out(e: Edge, phases: Round, w2: &[u32; 1], seen: &Buf<Atomic<u64>>) {
            seen[phases * 4].fetch_add(u64::from(w2[0]));
            seen[phases * 4 + 1].fetch_add(u64::from(e.index));
        }
        #[wave(edges(g1, from = ends), after(steps))]
        fn out1(e: Edge, phases: Round, seen: &Buf<Atomic<u64>>) {
            seen[phases * 4 + 2].fetch_add(u64::from(e.dst) + 1);
        }
        #[wave(items(done), after(steps))]
        fn tell(x: Walk, phases: Round, sums: &Buf<Atomic<u64>>, seen: &Buf<Atomic<u64>>) {
            sums[x.at * 4].fetch_add(x.cost);
            sums[x.at * 4 + 3].fetch_add(u64::from(x.first));
            seen[phases * 4 + 3].fetch_add(1);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let other = random(rng, g.n, if g.n > 0 { g.n * 2 } else { 0 });
    let w2: Vec<[u32; 1]> = (0..other.m()).map(|_| [rng.below(1000)]).collect();
    let mut session = p::Session::new(rt, p::Topology { g1: &g.csr, g2: &other.csr, w2: &w2 }).map_err(err)?;
    let (rounds, depth) = (1 + rng.below(4), rng.below(5));
    let cap = (g.n as u32).div_ceil(16) * (depth + 1) + 1;
    let out = session.run(p::Run { rounds, cap, depth }).map_err(err)?;
    let mut sums = vec![[0u64; 2]; 2 * g.n];
    let mut seen = vec![[0u64; 4]; rounds as usize];
    for r in 0..rounds {
        let mut walks: Vec<(u32, u64, bool)> = (0..g.n as u32).filter(|v| v % 16 == r).map(|v| (v, u64::from(v), true)).collect();
        let mut ends = vec![false; g.n];
        for step in 0.. {
            let mut next = vec![];
            for (at, cost, first) in walks {
                sums[2 * at as usize][0] += cost;
                sums[2 * at as usize + 1][1] += u64::from(first);
                seen[r as usize][3] += 1;
                let row: Vec<u32> = g.out(at).map(|x| x.1).collect();
                if step >= depth || row.is_empty() {
                    ends[at as usize] = true;
                } else {
                    next.push((row[(cost % row.len() as u64) as usize], cost + 1, false));
                }
            }
            walks = next;
            if walks.is_empty() {
                break;
            }
        }
        for (k, e) in other.edges.iter().enumerate() {
            if ends[e.0 as usize] {
                seen[r as usize][0] += u64::from(w2[k][0]);
                seen[r as usize][1] += k as u64;
            }
        }
        for e in &g.edges {
            if ends[e.0 as usize] {
                seen[r as usize][2] += u64::from(e.1) + 1;
            }
        }
    }
    same("sums", &out.sums, &sums)?;
    same("seen", &out.seen, &seen)
}
