//! Two passes fused, both with lists and arrays.
use crate::common::*;
use vyre::FusedSession;
#[wave_graph]
pub mod first {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] hit: List<Node>,
        #[list(capacity = node * 4, output)] log: List<u32>,
        #[output(per = node, init = [3, 4])] got: [u32; 2],
        m: u32,
    }
    #[fixpoint(until(round == 2))]
    mod turns {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, m: u32, hit: &Push) {
            if (v + round) % m == 0 {
                hit.push(v);
            }
        }
        #[wave(items(hit), after(choose))]
        fn own(v: Node, round: Round, got: &mut [u32; 2], log: &Append<u32>) {
            got[(v % 2) as usize] += round + 1;
            log.append(v);
        }
    }
}
#[wave_graph]
pub mod second {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] hit: List<Node>,
        #[input(per = node)] got: [u32; 2],
        #[output(per = node)] sum: u64,
        k: u32,
    }
    #[fixpoint(until(round == 1))]
    mod turns {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, got: &[u32; 2], k: u32, hit: &Push) {
            if got[0] + got[1] + round > k {
                hit.push(v);
            }
        }
        #[wave(edges(graph, from = hit), after(choose))]
        fn go(e: Edge, got: &Records<[u32; 2]>, sum: &Buf<Atomic<u64>>) {
            sum[e.dst].fetch_add(u64::from(got.get(e.src)[0]) + 1);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let _ = rng;
    let mut a = first::Session::new(rt, &g.csr).map_err(err)?;
    let m = 1 + rng.below(4);
    let out = a.run(first::Run { m }).map_err(err)?;
    let mut got = vec![[3u32, 4]; g.n];
    let mut log = vec![];
    for r in 0..3 {
        for v in 0..g.n as u32 {
            if (v + r) % m == 0 {
                got[v as usize][v as usize % 2] += r + 1;
                log.push(v);
            }
        }
    }
    log.sort();
    let mut l = out.log.clone();
    l.sort();
    same("log", &l, &log)?;
    same("got", &out.got, &got)?;
    let mut b = second::Session::new(rt, &g.csr).map_err(err)?;
    let k = rng.below(14);
    let out = b.run(second::Run { got: &got, k }).map_err(err)?;
    let mut sum = vec![0u64; g.n];
    for r in 0..2 {
        for e in &g.edges {
            let x = got[e.0 as usize];
            if x[0] + x[1] + r > k {
                sum[e.1 as usize] += u64::from(x[0]) + 1;
            }
        }
    }
    same("sum", &out.sum, &sum)?;
    let _ = std::any::type_name::<FusedSession<first::Pass, second::Pass>>();
    Ok(())
}
