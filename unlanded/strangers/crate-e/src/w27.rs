//! Lists of ours that an included graph fills in each round: they stay. Ours with output, too.
use crate::common::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod step {
        pub struct Data {
            #[topology] graph: Csr,
            #[list(unique)] all: List<Node>,
            #[list(capacity = edge(graph) * 4 + node)] log: List<(u32, u32)>,
            #[list(unique)] mine: List<Node>,
            #[input(per = 1)] which: u32,
            #[output(per = node, init = [1, 1])] cnt: [u32; 2],
        }
        #[wave(nodes)]
        fn begin(v: Node, which: &Buf<u32>, mine: &Push, all: &Push) {
            if v % 5 == which[0] {
                mine.push(v);
                all.push(v);
            }
        }
        #[wave(edges(graph, from = all), after(begin))]
        fn go(e: Edge, mine: &Push, cnt: &Buf<Atomic<u32>>, log: &Append<(u32, u32)>) {
            mine.push(e.dst);
            cnt[e.dst * 2 + 1].fetch_add(1);
            log.append((e.src, e.dst));
        }
        #[wave(items(mine), after(go))]
        fn own(v: Node, cnt: &mut [u32; 2]) {
            cnt[0] += v;
        }
    }
}
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] net: Csr,
        #[scratch(per = 1)] which: u32,
        #[list(unique)] found: List<Node>,
        #[list(capacity = edge(net) * 4 + node, output)] trail: List<(u32, u32)>,
        #[output(per = node)] sum: [u64; 2],
        #[output(per = node)] later: u32,
        enough: u32,
    }
    #[fixpoint(until(round == 3 || found.len() >= enough || trail.len() > 1000000))]
    mod turns {
        #[wave(once)]
        fn set(round: Round, which: &Buf<Atomic<u32>>) {
            which[0].store(round);
        }
        #[include(graph = net, which = which, all = found, log = trail, after(set))]
        use super::super::lib::step;
        #[wave(nodes, after(step))]
        fn add(step_cnt: &[u32; 2], sum: &mut [u64; 2]) {
            for k in 0..2 {
                sum[k] = sum[k] * 3 + u64::from(step_cnt[k]);
            }
        }
    }
    #[wave(items(found), after(turns))]
    fn last(v: Node, later: &mut u32) {
        *later = v + 1;
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..2 {
        let enough = 1 + rng.below(g.n as u32 + 3);
        let out = session.run(p::Run { enough }).map_err(err)?;
        let (mut found, mut trail, mut sum) = (vec![false; g.n], vec![], vec![[0u64; 2]; g.n]);
        for r in 0..4 {
            let mut mine = vec![false; g.n];
            let mut cnt = vec![[1u64; 2]; g.n];
            for v in (0..g.n).filter(|v| *v as u32 % 5 == r) {
                mine[v] = true;
                found[v] = true;
            }
            for &(a, b) in g.edges.iter().filter(|e| found[e.0 as usize]) {
                mine[b as usize] = true;
                cnt[b as usize][1] += 1;
                trail.push((a, b));
            }
            for v in 0..g.n {
                cnt[v][0] += if mine[v] { v as u64 } else { 0 };
                for k in 0..2 {
                    sum[v][k] = sum[v][k] * 3 + cnt[v][k];
                }
            }
            if found.iter().filter(|&&x| x).count() as u32 >= enough {
                break;
            }
        }
        let mut got = out.trail.clone();
        got.sort();
        trail.sort();
        same("trail", &got, &trail)?;
        same("sum", &out.sum, &sum)?;
        same("later", &out.later, &(0..g.n).map(|v| if found[v] { v as u32 + 1 } else { 0 }).collect())?;
    }
    Ok(())
}
