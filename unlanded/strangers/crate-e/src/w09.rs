//! A flow: residual edges are a filter's, the search is an included graph, which notes its tree's edges.
use crate::common::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod tree {
        const FAR: u32 = u32::MAX;
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier] front: Frontier,
            #[input(per = 1)] source: u32,
            #[output(per = node, init = [FAR, 0])] way: [u32; 2],
        }
        #[wave(once)]
        fn begin(source: &Buf<u32>, way: &Buf<Atomic<u32>>, front: &Push) {
            if source[0] * 2 < way.len() {
                way[source[0] * 2].store(0);
                front.push(source[0]);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, way: &Buf<Atomic<u32>>, front: &Push) {
                if way[e.dst * 2].compare_exchange(FAR, round + 1) {
                    way[e.dst * 2 + 1].store(e.index);
                    front.push(e.dst);
                }
            }
        }
    }
}
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] net: Csr,
        #[topology(per = edge(net))] ends: [u32; 2], // its source, and the edge back
        #[input(per = edge(net))] cap: u32,
        #[output(per = edge(net))] left: u32,
        #[input(per = 1)] from: u32,
        #[list(unique, reset = round)] route: List<Node>,
        #[reduce(sum)] pushed: u64,
        #[output(per = 1)] flow: u64,
        to: u32,
    }
    #[device]
    fn open(e: Edge, left: &u32) -> bool {
        *left > 0 && e.src != e.dst
    }
    #[wave(edges(net))]
    fn begin(cap: &u32, left: &mut u32) {
        *left = *cap;
    }
    #[fixpoint(after(begin), until(pushed == 0))]
    mod paths {
        #[include(graph = net, source = from, edges = open)]
        use super::super::lib::tree as bfs;
        #[wave(once, after(bfs))]
        fn augment(to: u32, from: &Buf<u32>, bfs_way: &Records<[u32; 2]>, ends: &Records<[u32; 2]>, left: &Buf<Atomic<u32>>, pushed: &Reduce<Sum<u64>>, flow: &Buf<Atomic<u64>>, route: &Push) {
            if to >= bfs_way.len() || to == from[0] || bfs_way.get(to)[0] == u32::MAX {
                return;
            }
            let mut least = u32::MAX;
            let mut v = to;
            while v != from[0] {
                let e = bfs_way.get(v)[1];
                least = least.min(left[e].load());
                route.push(v);
                v = ends.get(e)[0];
            }
            v = to;
            while v != from[0] {
                let e = bfs_way.get(v)[1];
                left[e].fetch_sub(least);
                left[ends.get(e)[1]].fetch_add(least);
                v = ends.get(e)[0];
            }
            pushed.add(u64::from(least));
            flow[0].fetch_add(u64::from(least));
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    if g.m() > 2000 {
        return Ok(());
    }
    // Each edge and its way back, sorted by source.
    let mut all: Vec<(u32, u32, usize, u32)> = vec![];
    for (k, &(a, b)) in g.edges.iter().enumerate() {
        all.push((a, b, 2 * k, 1 + rng.below(9)));
        all.push((b, a, 2 * k + 1, 0));
    }
    all.sort_by_key(|e| e.0);
    let mut place = vec![0u32; all.len()];
    for (k, e) in all.iter().enumerate() {
        place[e.2] = k as u32;
    }
    let ends: Vec<[u32; 2]> = all.iter().map(|e| [e.0, place[e.2 ^ 1]]).collect();
    let net = G::new("net", g.n, all.iter().map(|e| (e.0, e.1)).collect());
    let cap: Vec<u32> = all.iter().map(|e| e.3).collect();
    let mut session = p::Session::new(rt, p::Topology { net: &net.csr, ends: &ends }).map_err(err)?;
    for _ in 0..2 {
        let (from, to) = (rng.below(g.n as u32), rng.below(g.n as u32));
        let out = session.run(p::Run { cap: &cap, from: &[from], to }).map_err(err)?;
        let (mut left, mut flow) = (cap.clone(), 0u64);
        while g.n > 0 && from != to {
            let mut way = vec![u32::MAX; g.n];
            let mut queue = std::collections::VecDeque::from([from]);
            while let Some(v) = queue.pop_front() {
                for (e, w) in net.out(v) {
                    if left[e] > 0 && w != from && way[w as usize] == u32::MAX && v != w {
                        way[w as usize] = e as u32;
                        queue.push_back(w);
                    }
                }
            }
            if way[to as usize] == u32::MAX {
                break;
            }
            let (mut v, mut least) = (to, u32::MAX);
            while v != from {
                least = least.min(left[way[v as usize] as usize]);
                v = ends[way[v as usize] as usize][0];
            }
            v = to;
            while v != from {
                let e = way[v as usize] as usize;
                left[e] -= least;
                left[ends[e][1] as usize] += least;
                v = ends[e][0];
            }
            flow += u64::from(least);
        }
        same("flow", &out.flow, &vec![flow])?;
    }
    Ok(())
}
