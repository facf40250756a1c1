//! A graph with lists and arrays, included twice in a fixpoint, over edges that two filters admit.
use crate::common::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod collect {
        const FAR: u32 = u32::MAX;
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier] front: Frontier,
            #[list(unique)] seen: List<Node>,
            #[list(capacity = edge(graph) + 1)] trail: List<(u32, u32)>,
            #[input(per = 1)] source: u32,
            #[output(per = node, init = FAR)] dist: u32,
            #[output(per = node, init = [7, 8])] pair: [u32; 2],
            #[output(per = node, init = 3)] even: [u8; 2],
            #[reduce(sum)] total: u64,
            #[reduce(sum)] onward: u64,
            depth: u32,
        }
        #[wave(once)]
        fn begin(source: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push, seen: &Push) {
            if source[0] < dist.len() {
                dist[source[0]].store(0);
                front.push(source[0]);
                seen.push(source[0]);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty() || round + 1 == depth))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push, seen: &Push, trail: &Append<(u32, u32)>) {
                if dist[e.dst].compare_exchange(FAR, round + 1) {
                    front.push(e.dst);
                    seen.push(e.dst);
                    trail.append((e.dst, round + 1));
                }
            }
        }
        #[wave(items(seen), after(levels))]
        fn fill(v: Node, dist: &u32, pair: &mut [u32; 2], even: &mut [u8; 2]) {
            pair[0] += *dist;
            pair.swap(0, 1);
            even[(v % 2) as usize] += 1;
        }
        #[wave(items(trail), after(levels))]
        fn sum(x: (u32, u32), total: &Reduce<Sum<u64>>) {
            total.add(u64::from(x.0) * 5 + u64::from(x.1));
        }
        #[wave(edges(graph, from = seen), after(levels))]
        fn out(e: Edge, onward: &Reduce<Sum<u64>>) {
            onward.add(u64::from(e.index) + 1);
        }
    }
}
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] roads: Csr,
        #[topology(per = edge(roads))] color: [u32; 2],
        #[input(per = node, bits = width)] open: Bits,
        #[input(per = times)] starts: u32,
        #[scratch(per = 1)] from: u32,
        #[scratch(per = 1)] want: u32,
        #[output(per = times)] sa: u64,
        #[output(per = times)] sb: u64,
        #[output(per = times)] ta: u64,
        #[output(per = times)] tb: u64,
        #[output(per = times)] dists: u64,
        #[output(per = times)] pairs: u64,
        times: u32,
        depth: u32,
        width: u32,
        limit: u32,
    }
    #[device]
    fn colored(e: Edge, color: &[u32; 2], want: &Buf<u32>) -> bool {
        color[(want[0] % 2) as usize] <= want[0]
    }
    #[device]
    fn open_ones(open: &Bits, e: Edge, limit: u32) -> bool {
        open.get(e.dst, 0) && e.index >= limit
    }
    #[fixpoint(until(round + 1 == times))]
    mod queries {
        #[wave(once)]
        fn set(round: Round, starts: &Buf<u32>, from: &Buf<Atomic<u32>>, want: &Buf<Atomic<u32>>) {
            from[0].store(starts[round]);
            want[0].store(round);
        }
        #[include(graph = roads, source = from, depth = depth, edges = colored, after(set))]
        use super::super::lib::collect as a;
        #[include(graph = roads, source = from, depth = depth, edges = open_ones, after(set))]
        use super::super::lib::collect as b;
        #[wave(once, after(a, b))]
        fn keep(queries: Round, a_total: u64, b_total: u64, a_onward: u64, b_onward: u64, sa: &Buf<Atomic<u64>>, sb: &Buf<Atomic<u64>>, ta: &Buf<Atomic<u64>>, tb: &Buf<Atomic<u64>>) {
            sa[queries].store(a_total);
            sb[queries].store(b_total);
            ta[queries].store(a_onward);
            tb[queries].store(b_onward);
        }
        #[wave(nodes, after(a, b))]
        fn add(v: Node, queries: Round, a_dist: &u32, b_dist: &u32, a_pair: &[u32; 2], b_pair: &Records<[u32; 2]>, a_even: &[u8; 2], dists: &Buf<Atomic<u64>>, pairs: &Buf<Atomic<u64>>) {
            dists[queries].fetch_add(u64::from(*a_dist) * 3 + u64::from(*b_dist));
            let b = b_pair.get(v);
            pairs[queries].fetch_add(u64::from(a_pair[0]) + u64::from(a_pair[1]) * 10 + u64::from(b[0]) * 100 + u64::from(b_pair.get(v)[1]) * 1000 + u64::from(a_even[0]) + u64::from(a_even[1]) * 2);
        }
    }
}
fn oracle(g: &G, s: u32, depth: u32, f: impl Fn(usize, u32, u32) -> bool + Copy) -> (Vec<u32>, u64, u64) {
    let mut dist = g.bfs(if g.n > 0 { std::slice::from_ref(&s) } else { &[] }, f);
    for d in &mut dist {
        if *d > depth {
            *d = u32::MAX;
        }
    }
    let total = (0..g.n as u64).filter(|&v| dist[v as usize] != u32::MAX && dist[v as usize] > 0).map(|v| v * 5 + u64::from(dist[v as usize])).sum();
    let onward = g.edges.iter().enumerate().filter(|(k, e)| dist[e.0 as usize] != u32::MAX && f(*k, e.0, e.1)).map(|(k, _)| k as u64 + 1).sum();
    (dist, total, onward)
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let color: Vec<[u32; 2]> = (0..g.m()).map(|_| [rng.below(4), rng.below(4)]).collect();
    let mut session = p::Session::new(rt, p::Topology { roads: &g.csr, color: &color }).map_err(err)?;
    for _ in 0..2 {
        let (times, depth, width, limit) = (1 + rng.below(4), 1 + rng.below(4), 1 + rng.below(40), rng.below(g.m() as u32 / 3 + 1));
        let words = width.div_ceil(32) as usize;
        let open: Vec<u32> = (0..g.n * words).map(|_| rng.below(2)).collect();
        let starts = rng.vec(times as usize, g.n as u32);
        let out = session.run(p::Run { open: &open, starts: &starts, times, depth, width, limit }).map_err(err)?;
        let (mut sa, mut sb, mut ta, mut tb, mut dists, mut pairs) = (vec![], vec![], vec![], vec![], vec![], vec![]);
        for q in 0..times {
            let s = starts[q as usize];
            let (da, totala, ona) = oracle(g, s, depth, |e, _, _| color[e][q as usize % 2] <= q);
            let (db, totalb, onb) = oracle(g, s, depth, |e, _, w| open[w as usize * words] & 1 == 1 && e as u32 >= limit);
            sa.push(totala);
            sb.push(totalb);
            ta.push(ona);
            tb.push(onb);
            let (mut d, mut pr) = (0u64, 0u64);
            for v in 0..g.n {
                d += u64::from(da[v]) * 3 + u64::from(db[v]);
                let pair = |x: u32| if x == u32::MAX { [7, 8] } else { [8, 7 + x] };
                let (a, b) = (pair(da[v]), pair(db[v]));
                let mut even = [3, 3];
                if da[v] != u32::MAX {
                    even[v % 2] += 1;
                }
                pr += [a[0], 10 * a[1], 100 * b[0], 1000 * b[1], even[0], 2 * even[1]].map(u64::from).iter().sum::<u64>();
            }
            dists.push(d);
            pairs.push(pr);
        }
        same("sa", &out.sa, &sa)?;
        same("sb", &out.sb, &sb)?;
        same("dists", &out.dists, &dists)?;
        same("ta", &out.ta, &ta)?;
        same("tb", &out.tb, &tb)?;
        same("pairs", &out.pairs, &pairs)?;
    }
    Ok(())
}
