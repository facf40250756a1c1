//! Arrays of all types, sizes 1 and 8, in all roles; helpers; loops over them; comparisons.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub const EIGHT: u32 = 8;
    const START: [i32; 3] = [1, -2, 3];
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] tb: [bool; 8],
        #[topology(per = edge(graph))] te: [i64; 1],
        #[input(per = node)] iu: [u8; 3],
        #[input(per = n * 2)] ff: [f64; 2],
        #[output(per = node, init = true)] ob: [bool; 8],
        #[output(per = node)] ou: [u8; 8],
        #[output(per = n, init = START)] oi: [i32; 3],
        #[output(per = edge(graph))] oe: [u64; 1],
        #[output(per = node, init = [0.5, f32::INFINITY])] of: [f32; 2],
        #[scratch(per = node, init = [i64::MIN, 5, i64::MAX, 0, -1, 2, 3, 4])] s: [i64; EIGHT as usize],
        #[output(per = node)] sum: i64,
        #[output(per = 0)] none: [u32; 4],
        #[output(per = node, init = [true, false])] two: [bool; 2],
        #[output(per = zero)] nil: [f32; 5],
        n: u32,
        zero: u32,
    }
    #[device]
    fn turn(mut a: [u8; 3]) -> [u8; 8] {
        a.swap(0, 2);
        let mut all = [9; 8];
        for (k, x) in a.into_iter().enumerate() {
            all[k * 2] = x;
        }
        all
    }
    #[device]
    fn tally(all: &Records<[bool; 8]>, v: u32) -> u32 {
        let mut n = 0;
        for k in 0..8 {
            n += u32::from(all.get(v)[k]);
        }
        n
    }
    #[wave(nodes)]
    fn one(v: Node, graph: &Csr, tb: &Records<[bool; 8]>, iu: &[u8; 3], ob: &mut [bool; 8], ou: &mut [u8; 8]) {
        *ou = turn(*iu);
        let mut count = tally(tb, v);
        for w in graph.neighbors(v) {
            count += tally(tb, w);
        }
        ob[(count % 8) as usize] = false;
        let own = tb.get(v);
        for k in (0..8).rev() {
            ob[k] &= own[k] | (k > 3);
        }
        if *iu == [0, 0, 0] || *iu < [1, 1, 0] {
            ob.fill(true);
        }
    }
    #[wave(range(n))]
    fn two_each(i: Index, ff: &Records<[f64; 2]>, oi: &mut [i32; 3]) {
        let (a, b) = (ff.get(i * 2), ff.get(i * 2 + 1));
        oi[0] += a[0] as i32;
        oi[1] = oi[1].wrapping_mul(b[1] as i32);
        oi[2] -= (a[1] - b[0]) as i32;
        oi.swap(0, 2);
        assert_eq!(ff.len(), oi.len() as u32 / 3 * ff.len());
    }
    #[wave(edges(graph))]
    fn per_edge(e: Edge, te: &[i64; 1], oe: &mut [u64; 1], s: &Records<[i64; 8]>) {
        oe[0] = te[0] as u64 ^ s.get(e.dst)[(e.index % 8) as usize] as u64;
    }
    #[wave(nodes, after(per_edge))]
    fn sums(v: Node, s: &mut [i64; EIGHT as usize], sum: &mut i64, of: &mut [f32; 2], two: &mut [bool; 2]) {
        s[(v % 8) as usize] = 0;
        for x in s.iter() {
            *sum = sum.wrapping_add(*x);
        }
        for x in *s {
            *sum = sum.wrapping_mul(3).wrapping_add(x);
        }
        of[0] += v as f32;
        of[1] = of[1].min(of[0]);
        two[0] = !two[0] & (v % 2 == 0);
        two.swap(0, 1);
    }
    #[wave(nodes, after(sums))]
    fn flat(v: Node, s: &Buf<i64>, sum: &mut i64) {
        *sum ^= s[v * 8 + 7 - v % 8];
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let tb: Vec<[bool; 8]> = (0..g.n).map(|_| std::array::from_fn(|_| rng.below(2) == 1)).collect();
    let te: Vec<[i64; 1]> = (0..g.m()).map(|_| [rng.next() as i64]).collect();
    let mut session = p::Session::new(rt, p::Topology { graph: &g.csr, tb: &tb, te: &te }).map_err(err)?;
    for n in [0u32, 1, 77] {
        let iu: Vec<[u8; 3]> = (0..g.n).map(|_| std::array::from_fn(|_| rng.below(3) as u8)).collect();
        let ff: Vec<[f64; 2]> = (0..n * 2).map(|_| std::array::from_fn(|_| rng.below(1000) as f64 / 8.0)).collect();
        let out = session.run(p::Run { iu: &iu, ff: &ff, n, zero: 0 }).map_err(err)?;
        let tally = |v: u32| tb[v as usize].iter().filter(|&&x| x).count() as u32;
        let (mut ob, mut ou, mut sum, mut of, mut two) = (vec![], vec![], vec![], vec![], vec![]);
        let s0 = [i64::MIN, 5, i64::MAX, 0, -1, 2, 3, 4];
        for v in 0..g.n {
            let a = iu[v];
            ou.push([a[2], 9, a[1], 9, a[0], 9, 9, 9]);
            let count = tally(v as u32) + g.out(v as u32).map(|(_, w)| tally(w)).sum::<u32>();
            let mut b = [true; 8];
            b[count as usize % 8] = false;
            for k in 0..8 {
                b[k] &= tb[v][k] | (k > 3);
            }
            if a == [0; 3] || a < [1, 1, 0] {
                b = [true; 8];
            }
            ob.push(b);
            let mut s = s0;
            s[v % 8] = 0;
            let mut x = 0i64;
            for y in s {
                x = x.wrapping_add(y);
            }
            for y in s {
                x = x.wrapping_mul(3).wrapping_add(y);
            }
            sum.push(x ^ s[7 - v % 8]);
            let f = 0.5 + v as f32;
            of.push([f, f]);
            two.push([false, v % 2 == 0 && false]);
        }
        let two: Vec<[bool; 2]> = two.iter().map(|_| [false, false]).collect();
        let mut oi = vec![];
        for i in 0..n as usize {
            let (a, b) = (ff[2 * i], ff[2 * i + 1]);
            oi.push([3 - (a[1] - b[0]) as i32, (-2i32).wrapping_mul(b[1] as i32), 1 + a[0] as i32]);
        }
        let oe: Vec<[u64; 1]> = (0..g.m()).map(|e| [te[e][0] as u64 ^ s0[e % 8] as u64]).collect();
        same("ou", &out.ou, &ou)?;
        same("ob", &out.ob, &ob)?;
        same("oi", &out.oi, &oi)?;
        same("oe", &out.oe, &oe)?;
        same("sum", &out.sum, &sum)?;
        same("of", &out.of, &of)?;
        same("two", &out.two, &two)?;
        same("none", &out.none.len(), &0)?;
        same("nil", &out.nil.len(), &0)?;
    }
    Ok(())
}
