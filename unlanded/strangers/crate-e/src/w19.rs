//! How many steps a run takes, by limits: the same on every backend where `PLAN` says same bits. And `vyre::compare`.
use crate::common::*;
fn least(mut ok: impl FnMut(u64) -> Result<bool, String>) -> Result<u64, String> {
    let (mut low, mut high) = (0u64, 1u64);
    while !ok(high)? {
        low = high;
        high *= 2;
        if high > 1 << 40 {
            return Err("WRONG no limit is enough".into());
        }
    }
    while low + 1 < high {
        let mid = (low + high) / 2;
        if ok(mid)? { high = mid } else { low = mid }
    }
    Ok(high)
}
macro_rules! steps {
    ($p:path, $rts:expr, $topo:expr, $run:expr) => {{
        use $p as p;
        let mut all = vec![];
        for rt in $rts {
            let mut session = p::Session::new(rt, $topo).map_err(err)?;
            let n = least(|limit| {
                session.set_step_limit(Some(limit));
                match session.run($run) {
                    Ok(_) => Ok(true),
                    Err(Error::Work { .. }) => Ok(false),
                    Err(e) => Err(err(e)),
                }
            })?;
            all.push((n, rt.to_string()));
        }
        (p::PLAN.class(), all)
    }};
}
#[wave_graph(deterministic)]
pub mod lists {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[list(unique)] all: List<Node>,
        #[scratch(per = node, init = [1, 2], reset = round)] s: [u32; 2],
        #[scratch(per = node, bits = 40, init = true, reset = round)] b: Bits,
        #[output(per = node)] o: [u32; 2],
        rounds: u32,
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod f {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, l: &Push, all: &Push) {
            if (v + round) % 3 == 0 {
                l.push(v);
                all.push(v);
            }
        }
        #[wave(edges(graph, from = l), after(choose))]
        fn each(e: Edge, o: &Buf<Atomic<u32>>) {
            o[e.dst * 2].fetch_add(1);
        }
        #[wave(items(all), after(choose))]
        fn own(v: Node, s: &mut [u32; 2], b: &Bits) {
            s[0] += v;
            b.unset(v, v % 40);
        }
        #[wave(nodes, after(own, each))]
        fn end(v: Node, s: &[u32; 2], b: &Bits, o: &mut [u32; 2]) {
            let mut k = 0;
            while k < s[0] % 5 {
                k += 1;
            }
            o[1] = o[1] * 3 + s[0] + k + b.count(v);
        }
    }
}
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod bfs {
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier] front: Frontier,
            #[list(unique)] seen: List<Node>,
            #[output(per = node, init = u32::MAX)] dist: u32,
            #[input(per = 1)] source: u32,
        }
        #[wave(once)]
        fn begin(source: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push, seen: &Push) {
            if source[0] < dist.len() {
                dist[source[0]].store(0);
                front.push(source[0]);
                seen.push(source[0]);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod go {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push, seen: &Push) {
                if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                    front.push(e.dst);
                    seen.push(e.dst);
                }
            }
        }
    }
}
#[wave_graph]
pub mod filtered {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = 1)] s: u32,
        #[output(per = node)] sum: u64,
        rounds: u32,
    }
    #[device]
    fn some(e: Edge, s: &Buf<u32>) -> bool {
        (e.index + s[0]) % 3 != 0
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod f {
        #[wave(once)]
        fn set(round: Round, s: &Buf<Atomic<u32>>) {
            s[0].store(round);
        }
        #[include(graph = graph, source = s, edges = some, after(set))]
        use super::super::lib::bfs;
        #[wave(nodes, after(bfs))]
        fn add(bfs_dist: &u32, sum: &mut u64) {
            *sum = sum.wrapping_mul(7).wrapping_add(u64::from(*bfs_dist));
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    if g.n > 1000 {
        return Ok(());
    }
    let rts = [Runtime::vir0(), rt.clone()];
    let rounds = 1 + rng.below(3);
    let mut all = vec![
        ("lists", steps!(crate::w19::lists, &rts, &g.csr, lists::Run { rounds })),
        ("filtered", steps!(crate::w19::filtered, &rts, &g.csr, filtered::Run { rounds })),
        ("w12", steps!(crate::w12::p, &rts, &g.csr, crate::w12::p::Run { k: 4 })),
        ("w04", steps!(crate::w04::p, &rts, &g.csr, crate::w04::p::Run { na: 2, nb: 2, nc: 2, enough: 5 })),
        ("w02", steps!(crate::w02::p, &rts, &g.csr, crate::w02::p::Run { source: 0, enough: 5 })),
    ];
    all.retain(|(_, (class, all))| *class == "same bits" && all[0].0 != all[1].0);
    if !all.is_empty() {
        return Err(format!("WRONG steps of same bits differ: {all:?}"));
    }
    // compare
    let rts = [Runtime::native(), rt.clone(), Runtime::vir0()];
    let found = vyre::compare::<lists::Pass>(&rts, &g.csr, lists::Run { rounds }, 2).map_err(err)?;
    if !found.agrees() {
        return Err(format!("WRONG {found}"));
    }
    let found = vyre::compare::<filtered::Pass>(&rts, &g.csr, filtered::Run { rounds }, 2).map_err(err)?;
    if !found.agrees() {
        return Err(format!("WRONG {found}"));
    }
    Ok(())
}
