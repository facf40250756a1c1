//! Two lists that hand nodes to each other within a round; many waves push to one list; repeats of many lanes.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[list(unique, reset = round)] a: List<Node>,
        #[list(unique, reset = round)] b: List<Node>,
        #[list(unique)] c: List<Node>,
        #[frontier(unique)] fr: Frontier,
        #[output(per = node)] oa: [u32; 4],
        #[output(per = node)] ob: [u32; 4],
        #[output(per = node)] oc: [u32; 4],
        #[output(per = node)] of: u32,
        rounds: u32,
    }
    #[fixpoint(until(round + 1 == rounds || c.len() > 100000))]
    mod turns {
        #[wave(items(fr))]
        fn old(v: Node, of: &mut u32, a: &Push) {
            *of += 1;
            a.push(v);
        }
        #[wave(nodes)]
        fn seed(v: Node, round: Round, a: &Push, fr: &Push) {
            if v % 9 == round {
                a.push(v);
                fr.push(v);
            }
        }
        #[wave(edges(graph, from = a), after(old, seed))]
        fn go(e: Edge, b: &Push) {
            b.push(e.dst);
            if e.src == e.dst {
                b.push(e.src);
            }
        }
        #[wave(edges(back, from = a), after(old, seed))]
        fn go_back(e: Edge, b: &Push) {
            b.push(e.dst);
        }
        #[wave(items(b), after(go, go_back))]
        fn to_a(v: Node, a: &Push, fr: &Push, c: &Push) {
            a.push(v);
            a.push(v / 2);
            if v % 4 == 1 {
                fr.push(v);
            }
            c.push(v);
        }
        #[wave(items(a), after(to_a))]
        fn at_a(round: Round, oa: &mut [u32; 4]) {
            oa[(round % 4) as usize] += 1;
        }
        #[wave(items(b), after(to_a))]
        fn at_b(round: Round, ob: &mut [u32; 4]) {
            ob[(round % 4) as usize] += 1;
        }
        #[wave(items(c), after(to_a))]
        fn at_c(round: Round, oc: &mut [u32; 4]) {
            oc[(round % 4) as usize] += 1;
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..2 {
        let rounds = 1 + rng.below(6);
        let out = session.run(p::Run { rounds }).map_err(err)?;
        let (mut oa, mut ob, mut oc, mut of) = (vec![[0u32; 4]; g.n], vec![[0u32; 4]; g.n], vec![[0u32; 4]; g.n], vec![0u32; g.n]);
        let (mut c, mut fr) = (vec![false; g.n], vec![false; g.n]);
        for r in 0..rounds {
            let (mut a, mut b, mut next) = (vec![false; g.n], vec![false; g.n], vec![false; g.n]);
            for v in 0..g.n {
                if fr[v] {
                    of[v] += 1;
                    a[v] = true;
                }
                if v as u32 % 9 == r {
                    a[v] = true;
                    next[v] = true;
                }
            }
            for &(x, y) in &g.edges {
                b[y as usize] |= a[x as usize];
                b[x as usize] |= a[y as usize];
            }
            for v in 0..g.n {
                if b[v] {
                    a[v] = true;
                    next[v] |= v % 4 == 1;
                    c[v] = true;
                }
            }
            for v in 0..g.n {
                if b[v] {
                    a[v / 2] = true;
                }
            }
            for v in 0..g.n {
                oa[v][r as usize % 4] += u32::from(a[v]);
                ob[v][r as usize % 4] += u32::from(b[v]);
                oc[v][r as usize % 4] += u32::from(c[v]);
            }
            fr = next;
        }
        same("oa", &out.oa, &oa)?;
        same("ob", &out.ob, &ob)?;
        same("oc", &out.oc, &oc)?;
        same("of", &out.of, &of)?;
    }
    Ok(())
}
