//! What begins anew: arrays with differing values, rows of bits of odd widths, structs, bools; swap of arrays beside it.
use crate::common::*;
#[wave_graph]
pub mod p {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pt {
        pub a: u8,
        pub b: (bool, f64),
        pub c: i64,
    }
    const PT: Pt = Pt { a: 200, b: (true, -0.5), c: -7 };
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = node, init = [1, 2, 3], reset = round)] arr: [u32; 3],
        #[scratch(per = edge(graph), init = [true, false], reset = round)] flags: [bool; 2],
        #[scratch(per = node, bits = 37, init = true, reset = round)] all: Bits,
        #[scratch(per = node, bits = width, init = true, reset = round)] wide: Bits,
        #[scratch(per = node, bits = width, reset = round)] none: Bits,
        #[scratch(per = node, init = PT, reset = round)] pt: Pt,
        #[scratch(per = n, init = [9, 8, 7, 6, 5, 4, 3, 2], reset = round)] inner8: [u64; 8],
        #[output(per = node, init = [1, 0])] now: [i64; 2],
        #[output(per = node, init = [0, 1])] next: [i64; 2],
        #[output(per = node)] sum: [u64; 8],
        #[output(per = n)] isum: u64,
        #[output(per = 1)] esum: u32,
        n: u32,
        rounds: u32,
        inner: u32,
        width: u32,
    }
    #[fixpoint(until(round + 1 == rounds), swap(now, next))]
    mod phases {
        #[wave(nodes)]
        fn work(v: Node, phases: Round, width: u32, arr: &mut [u32; 3], all: &Bits, wide: &Bits, none: &Bits, pt: &mut Pt, now: &[i64; 2], next: &mut [i64; 2]) {
            arr[((v + phases) % 3) as usize] += 10;
            all.unset(v, (v + phases) % 37);
            if width > 0 {
                wide.unset(v, v % width);
                none.set(v, (v * 7 + phases) % width);
            }
            pt.a = pt.a.wrapping_add(v as u8);
            pt.b = (!pt.b.0, pt.b.1 - f64::from(phases));
            pt.c += i64::from(v);
            next[0] += now[1] + 1;
            next[1] -= now[0] * 2;
        }
        #[wave(edges(graph))]
        fn each(e: Edge, flags: &mut [bool; 2], esum: &Buf<Atomic<u32>>) {
            esum[0].fetch_add(u32::from(flags[0]) * 3 + u32::from(flags[1]) * 7);
            flags.swap(0, 1);
            flags[0] = e.index % 2 == 0;
        }
        #[fixpoint(until(round + 1 == inner))]
        mod turns {
            #[wave(range(n))]
            fn take(i: Index, turns: Round, inner8: &mut [u64; 8], isum: &mut u64) {
                *isum = isum.wrapping_mul(31).wrapping_add(inner8[((i + turns) % 8) as usize]);
                inner8[(turns % 8) as usize] = 100;
                inner8[7] += 1;
                *isum = isum.wrapping_add(inner8[7]);
            }
        }
        #[wave(nodes, after(work))]
        fn gather(v: Node, arr: &[u32; 3], all: &Bits, wide: &Bits, none: &Bits, pt: &Records<Pt>, sum: &mut [u64; 8]) {
            for k in 0..3 {
                sum[k] = sum[k] * 3 + u64::from(arr[k]);
            }
            sum[3] = sum[3] * 3 + u64::from(all.count(v)) + u64::from(all.word(v, 1)) * 64;
            sum[4] = sum[4] * 3 + u64::from(wide.count(v));
            for b in none.ones(v) {
                sum[5] = sum[5] * 5 + u64::from(b) + 1;
            }
            let p = pt.get(v);
            sum[6] = sum[6] * 3 + u64::from(p.a) + u64::from(p.b.0) * 1000;
            sum[7] = (sum[7] as f64 * 0.0 + p.b.1 * -2.0) as u64 * 1000 + sum[7] % 1000 + (p.c + 7) as u64;
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for width in [0, 1, 31, 32, 33, 64, 70] {
        let (n, rounds, inner) = (rng.below(40), 1 + rng.below(4), 1 + rng.below(4));
        let out = session.run(p::Run { n, rounds, inner, width }).map_err(err)?;
        let (mut now, mut next) = (vec![[1i64, 0]; g.n], vec![[0i64, 1]; g.n]);
        let mut sum = vec![[0u64; 8]; g.n];
        let mut isum = vec![0u64; n as usize];
        let mut esum = 0u32;
        for r in 0..rounds {
            let mut inner8 = vec![[9u64, 8, 7, 6, 5, 4, 3, 2]; n as usize];
            for t in 0..inner as usize {
                for i in 0..n as usize {
                    isum[i] = isum[i].wrapping_mul(31).wrapping_add(inner8[i][(i + t) % 8]);
                    inner8[i][t % 8] = 100;
                    inner8[i][7] += 1;
                    isum[i] = isum[i].wrapping_add(inner8[i][7]);
                }
            }
            esum += 3 * g.m() as u32;
            for v in 0..g.n {
                let mut arr = [1u64, 2, 3];
                arr[(v + r as usize) % 3] += 10;
                let s = &mut sum[v];
                for k in 0..3 {
                    s[k] = s[k] * 3 + arr[k];
                }
                let bit = (v + r as usize) % 37;
                let word1 = if bit >= 32 { 31 & !(1 << (bit - 32)) } else { 31 };
                s[3] = s[3] * 3 + 36 + word1 * 64;
                s[4] = s[4] * 3 + if width > 0 { u64::from(width) - 1 } else { 0 };
                if width > 0 {
                    s[5] = s[5] * 5 + ((v as u64 * 7 + u64::from(r)) % u64::from(width)) + 1;
                }
                s[6] = s[6] * 3 + u64::from(200u8.wrapping_add(v as u8));
                let b1 = -0.5 - f64::from(r);
                s[7] = (s[7] as f64 * 0.0 + b1 * -2.0) as u64 * 1000 + s[7] % 1000 + v as u64;
                next[v][0] += now[v][1] + 1;
                next[v][1] -= now[v][0] * 2;
            }
            std::mem::swap(&mut now, &mut next);
        }
        same("isum", &out.isum, &isum)?;
        same("esum", &out.esum, &vec![esum])?;
        same("sum", &out.sum, &sum)?;
        same("now", &out.now, &now)?;
        same("next", &out.next, &next)?;
    }
    Ok(())
}
