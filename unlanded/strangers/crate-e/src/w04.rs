//! Three fixpoints in each other; lists that belong to the middle and to the outer one.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l1: List<Node>,
        #[list(unique, reset = round)] l2: List<Node>,
        #[list(unique, reset = round)] l3: List<Node>,
        #[scratch(per = node, init = [5, 6, 7], reset = round)] own: [u32; 3],
        #[output(per = na * nb * nc)] out1: u64,
        #[output(per = na)] out2: u64,
        #[output(per = na * nb * nc)] out3: u64,
        #[output(per = node)] last: [u32; 3],
        na: u32,
        nb: u32,
        nc: u32,
        enough: u32,
    }
    #[fixpoint(until(round + 1 == na))]
    mod a {
        #[fixpoint(until(round + 1 == nb || l2.len() >= enough))]
        mod b {
            #[wave(nodes)]
            fn first(v: Node, a: Round, b: Round, l1: &Push) {
                if (v + a + b) % 4 == 0 {
                    l1.push(v);
                }
            }
            #[fixpoint(after(first), until(round + 1 == nc || l3.is_empty()))]
            mod c {
                #[wave(nodes)]
                fn more(v: Node, c: Round, l1: &Push) {
                    if v % 5 == c {
                        l1.push(v);
                    }
                }
                #[wave(items(l1), after(more))]
                fn take(v: Node, a: Round, b: Round, c: Round, nb: u32, nc: u32, out1: &Buf<Atomic<u64>>, l2: &Push, l3: &Push) {
                    out1[(a * nb + b) * nc + c].fetch_add(u64::from(v) + 1);
                    if v % 2 == c % 2 {
                        l2.push(v);
                    }
                    if v % 3 == c % 3 {
                        l3.push(v);
                    }
                }
                #[wave(edges(graph, from = l3), after(take))]
                fn go(e: Edge, a: Round, b: Round, c: Round, nb: u32, nc: u32, out3: &Buf<Atomic<u64>>) {
                    out3[(a * nb + b) * nc + c].fetch_add(u64::from(e.dst) + 1);
                }
                #[wave(items(l3), after(take))]
                fn change(v: Node, round: Round, own: &mut [u32; 3]) {
                    own[(round % 3) as usize] += v * 10;
                }
            }
            #[wave(nodes, after(c))]
            fn keep(own: &[u32; 3], last: &mut [u32; 3]) {
                for k in 0..3 {
                    last[k] = last[k].wrapping_mul(31).wrapping_add(own[k]);
                }
            }
        }
        #[wave(items(l2), after(b))]
        fn add(v: Node, a: Round, out2: &Buf<Atomic<u64>>) {
            out2[a].fetch_add(u64::from(v) + 1);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..3 {
        let (na, nb, nc, enough) = (1 + rng.below(3), 1 + rng.below(3), 1 + rng.below(4), 1 + rng.below(g.n as u32 + 2));
        let out = session.run(p::Run { na, nb, nc, enough }).map_err(err)?;
        let size = (na * nb * nc) as usize;
        let (mut out1, mut out2, mut out3) = (vec![0u64; size], vec![0u64; na as usize], vec![0u64; size]);
        let mut last = vec![[0u32; 3]; g.n];
        for a in 0..na {
            let mut l2 = vec![false; g.n];
            for b in 0..nb {
                let mut l1: Vec<bool> = (0..g.n as u32).map(|v| (v + a + b) % 4 == 0).collect();
                let mut own = vec![[5u32, 6, 7]; g.n];
                for c in 0..nc {
                    let mut l3 = vec![false; g.n];
                    for v in 0..g.n as u32 {
                        l1[v as usize] |= v % 5 == c;
                    }
                    let at = ((a * nb + b) * nc + c) as usize;
                    for v in 0..g.n as u32 {
                        if l1[v as usize] {
                            out1[at] += u64::from(v) + 1;
                            l2[v as usize] |= v % 2 == c % 2;
                            l3[v as usize] |= v % 3 == c % 3;
                        }
                    }
                    for &(x, y) in &g.edges {
                        if l3[x as usize] {
                            out3[at] += u64::from(y) + 1;
                        }
                    }
                    for v in 0..g.n {
                        if l3[v] {
                            own[v][c as usize % 3] += v as u32 * 10;
                        }
                    }
                    if l3.iter().all(|x| !x) {
                        break;
                    }
                }
                for v in 0..g.n {
                    for k in 0..3 {
                        last[v][k] = last[v][k].wrapping_mul(31).wrapping_add(own[v][k]);
                    }
                }
                if l2.iter().filter(|&&x| x).count() as u32 >= enough {
                    break;
                }
            }
            out2[a as usize] = (0..g.n).filter(|&v| l2[v]).map(|v| v as u64 + 1).sum();
        }
        same("out1", &out.out1, &out1)?;
        same("out2", &out.out2, &out2)?;
        same("out3", &out.out3, &out3)?;
        same("last", &out.last, &last)?;
    }
    Ok(())
}
