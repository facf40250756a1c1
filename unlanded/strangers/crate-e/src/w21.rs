//! Whose round a list begins anew with, where only a condition reaches outside; a list that one scope's condition sees.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        // Used by waves of `inner` alone, asked for by `outer`: anew with the rounds of `outer`.
        #[list(unique, reset = round)] by_outer: List<Node>,
        // Used and asked for by `inner` alone: anew with its rounds.
        #[list(unique, reset = round)] by_inner: List<Node>,
        #[list(capacity = node * 9, reset = round)] items_outer: List<u32>,
        #[output(per = node)] a: u64,
        #[output(per = node)] b: u64,
        #[output(per = 64)] counts: u32,
        outer_limit: u32,
        inner_limit: u32,
    }
    #[fixpoint(until(by_outer.len() >= outer_limit || round == 4))]
    mod outer {
        #[fixpoint(until(by_inner.len() >= inner_limit || items_outer.len() >= inner_limit * 3 || inner == 3))]
        mod inner {
            #[wave(nodes)]
            fn push(v: Node, outer: Round, inner: Round, by_outer: &Push, by_inner: &Push, items_outer: &Append<u32>) {
                if (v * 7 + inner * 3) % 11 <= outer {
                    by_outer.push(v);
                    items_outer.append(v);
                }
                if (v + outer) % 5 <= inner {
                    by_inner.push(v);
                }
            }
            #[wave(items(by_outer), after(push))]
            fn so(v: Node, inner: Round, a: &mut u64) {
                *a = *a * 3 + u64::from(inner) + 1;
            }
            #[wave(items(by_inner), after(push))]
            fn si(v: Node, outer: Round, b: &mut u64) {
                *b = *b * 3 + u64::from(outer) + 1;
            }
        }
        #[wave(items(items_outer), after(inner))]
        fn count(x: u32, outer: Round, counts: &Buf<Atomic<u32>>) {
            counts[outer * 8 + x % 8].fetch_add(1);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..4 {
        let (ol, il) = (rng.below(g.n as u32 + 2), rng.below(g.n as u32 + 2));
        let out = session.run(p::Run { outer_limit: ol, inner_limit: il }).map_err(err)?;
        let (mut a, mut b, mut counts) = (vec![0u64; g.n], vec![0u64; g.n], vec![0u32; 64]);
        for o in 0..5u32 {
            let (mut by_outer, mut items) = (vec![false; g.n], vec![]);
            for i in 0..4u32 {
                let mut by_inner = vec![false; g.n];
                for v in 0..g.n as u32 {
                    if (v * 7 + i * 3) % 11 <= o {
                        by_outer[v as usize] = true;
                        items.push(v);
                    }
                    by_inner[v as usize] = (v + o) % 5 <= i;
                }
                for v in 0..g.n {
                    if by_outer[v] {
                        a[v] = a[v] * 3 + u64::from(i) + 1;
                    }
                    if by_inner[v] {
                        b[v] = b[v] * 3 + u64::from(o) + 1;
                    }
                }
                let len = by_inner.iter().filter(|&&x| x).count() as u32;
                if len >= il || items.len() as u32 >= il * 3 {
                    break;
                }
            }
            for x in &items {
                counts[(o * 8 + x % 8) as usize] += 1;
            }
            if by_outer.iter().filter(|&&x| x).count() as u32 >= ol {
                break;
            }
        }
        same("a", &out.a, &a)?;
        same("b", &out.b, &b)?;
        same("counts", &out.counts, &counts)?;
    }
    Ok(())
}
