//! An included graph that shares a list of ours, outside of a fixpoint.
use crate::common::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod reach {
        pub struct Data {
            #[topology] graph: Csr,
            #[list(unique)] all: List<Node>,
            #[frontier(unique)] front: Frontier,
            #[scratch(per = node)] met: u32,
            source: u32,
        }
        #[wave(once)]
        fn begin(source: u32, met: &Buf<Atomic<u32>>, front: &Push, all: &Push) {
            if source < met.len() {
                met[source].store(1);
                front.push(source);
                all.push(source);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod go {
            #[wave(edges(graph, from = front))]
            fn step(e: Edge, met: &Buf<Atomic<u32>>, front: &Push, all: &Push) {
                if met[e.dst].compare_exchange(0, 1) {
                    front.push(e.dst);
                    all.push(e.dst);
                }
            }
        }
    }
}
#[wave_graph]
pub mod p {
    #[include(graph = net, all = found, source = s1, edges = odd)]
    use super::lib::reach as one;
    #[include(graph = net, all = found, source = s2, edges = even, after(one))]
    use super::lib::reach as two;
    pub struct Data {
        #[topology] net: Csr,
        #[list(unique)] found: List<Node>,
        #[output(per = node)] hits: [u32; 1],
        #[reduce(sum)] next: u64,
        s1: u32,
        s2: u32,
    }
    #[device]
    fn odd(e: Edge) -> bool {
        e.index % 2 == 1
    }
    #[device]
    fn even(e: Edge) -> bool {
        e.index % 2 == 0 || e.src == e.dst
    }
    #[wave(items(found), after(one))]
    fn hit(hits: &mut [u32; 1]) {
        hits[0] += 1;
    }
    #[wave(items(found), after(two, hit))]
    fn hit_again(hits: &mut [u32; 1]) {
        hits[0] += 10;
    }
    #[wave(edges(net, from = found), after(two))]
    fn onward(e: Edge, next: &Reduce<Sum<u64>>) {
        next.add(u64::from(e.index) + 1);
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..3 {
        let (s1, s2) = (rng.below(g.n as u32), rng.below(g.n as u32));
        let out = session.run(p::Run { s1, s2 }).map_err(err)?;
        let src = |s: u32| if g.n > 0 { vec![s] } else { vec![] };
        let a = g.bfs(&src(s1), |e, _, _| e % 2 == 1);
        let b = g.bfs(&src(s2), |e, v, w| e % 2 == 0 || v == w);
        let hits: Vec<[u32; 1]> = (0..g.n)
            .map(|v| match (a[v] != u32::MAX, b[v] != u32::MAX) {
                (true, _) => [11],
                (false, true) => [10],
                _ => [0],
            })
            .collect();
        same("hits", &out.hits, &hits)?;
        let next = g.edges.iter().enumerate().filter(|(_, e)| hits[e.0 as usize] != [0]).map(|(k, _)| k as u64 + 1).sum();
        same("next", &out.next, &next)?;
    }
    Ok(())
}
