//! Includes of includes with lists and arrays in fixpoints in fixpoints; a list of the outer graph that theirs feeds.
use crate::common::*;
pub mod a {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod halo {
        pub struct Data {
            #[topology] graph: Csr,
            #[list(unique)] near: List<Node>,
            #[scratch(per = node, init = [4, 5])] t: [u8; 2],
            #[input(per = node)] seed: u32,
            #[output(per = node, init = [0, 1])] got: [u32; 2],
        }
        #[wave(nodes)]
        fn choose(v: Node, seed: &u32, near: &Push) {
            if *seed > 0 {
                near.push(v);
            }
        }
        #[wave(edges(graph, from = near), after(choose))]
        fn hit(e: Edge, got: &Buf<Atomic<u32>>) {
            got[e.dst * 2 + e.src % 2].fetch_add(1);
        }
        #[wave(items(near), after(hit))]
        fn own(t: &mut [u8; 2], got: &mut [u32; 2]) {
            t[0] += 1;
            got[1] += u32::from(t[0]) * 10 + u32::from(t[1]);
        }
    }
    #[wave_graph]
    pub mod twice {
        pub struct Data {
            #[topology] graph: Csr,
            #[scratch(per = node)] seed: u32,
            #[list(unique, reset = round)] again: List<Node>,
            #[output(per = node)] acc: u64,
            #[input(per = 1)] first: u32,
        }
        #[wave(nodes)]
        fn begin(v: Node, first: &Buf<u32>, seed: &mut u32) {
            *seed = u32::from(v % 8 == first[0]);
        }
        #[fixpoint(after(begin), until(round == 1))]
        mod turns {
            #[include(graph = graph, seed = seed)]
            pub use super::super::halo;
            #[wave(nodes, after(halo))]
            fn pick(v: Node, halo_got: &[u32; 2], again: &Push) {
                if halo_got[0] > 0 || halo_got[1] > 1 {
                    again.push(v);
                }
            }
            #[wave(items(again), after(pick))]
            fn take(seed: &mut u32, halo_got: &[u32; 2], acc: &mut u64) {
                *seed = 1;
                *acc = *acc * 5 + u64::from(halo_got[0]) + u64::from(halo_got[1]) * 2;
            }
        }
    }
}
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] roads: Csr,
        #[scratch(per = 1)] f: u32,
        #[list(unique, reset = round)] big: List<Node>,
        #[output(per = node)] total: u64,
        #[output(per = edge(roads), init = [1])] e: [u64; 1],
        rounds: u32,
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod phases {
        #[wave(once)]
        fn set(round: Round, f: &Buf<Atomic<u32>>) {
            f[0].store(round * 3 % 8);
        }
        #[include(graph = roads, first = f, after(set))]
        use super::super::a::twice;
        #[wave(nodes, after(twice))]
        fn add(v: Node, twice_acc: &u64, total: &mut u64, big: &Push) {
            *total = total.wrapping_mul(3).wrapping_add(*twice_acc);
            if *twice_acc % 3 == 1 {
                big.push(v);
            }
        }
        #[wave(edges(roads, from = big), after(add))]
        fn each(e: &mut [u64; 1], phases: Round) {
            e[0] = e[0] * 2 + u64::from(phases);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    let rounds = 1 + rng.below(4);
    let out = session.run(p::Run { rounds }).map_err(err)?;
    let (mut total, mut es) = (vec![0u64; g.n], vec![[1u64]; g.m()]);
    for r in 0..rounds {
        let mut seed: Vec<bool> = (0..g.n as u32).map(|v| v % 8 == r * 3 % 8).collect();
        let mut acc = vec![0u64; g.n];
        for _ in 0..2 {
            let mut got = vec![[0u32, 1]; g.n];
            for &(a, b) in &g.edges {
                if seed[a as usize] {
                    got[b as usize][a as usize % 2] += 1;
                }
            }
            for v in 0..g.n {
                if seed[v] {
                    got[v][1] += 55;
                }
            }
            for v in 0..g.n {
                if got[v][0] > 0 || got[v][1] > 1 {
                    seed[v] = true;
                    acc[v] = acc[v] * 5 + u64::from(got[v][0]) + u64::from(got[v][1]) * 2;
                }
            }
        }
        for v in 0..g.n {
            total[v] = total[v].wrapping_mul(3).wrapping_add(acc[v]);
        }
        for (k, e) in g.edges.iter().enumerate() {
            if acc[e.0 as usize] % 3 == 1 {
                es[k][0] = es[k][0] * 2 + u64::from(r);
            }
        }
    }
    same("total", &out.total, &total)?;
    same("e", &out.e, &es)
}
