//! Long lists of eight fields of all types; lists of single scalars; items with floats and bools; Node lists with repeats.
use crate::common::*;
#[wave_graph]
pub mod p {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct In {
        pub d: (u8, i64),
        pub e: bool,
    }
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Big {
        pub a: u32,
        pub b: f64,
        pub c: In,
        pub f: (f32, i32, u64),
    }
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = edge(graph) * 2 + 1, reset = round)] big: List<Big>,
        #[list(capacity = edge(graph) + node, reset = round)] nodes: List<Node>,
        #[list(capacity = node + 2, reset = round)] bits: List<bool>,
        #[list(capacity = 70000, reset = round)] floats: List<f64>,
        #[list(capacity = edge(graph), output)] kept: List<Big>,
        #[output(per = node)] count: u32,
        #[output(per = 3)] sums: u64,
        #[reduce(exact_sum)] fsum: f64,
        #[reduce(min)] least: f64,
        #[reduce(or)] any: bool,
        #[reduce(and)] every: bool,
        rounds: u32,
    }
    #[device]
    fn c_is(c: In) -> bool {
        c.e
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod turns {
        #[wave(edges(graph))]
        fn put(e: Edge, round: Round, big: &Append<Big>, nodes: &Append<Node>) {
            if (e.index + round) % 3 != 0 {
                let c = In { d: ((e.index % 256) as u8, -i64::from(e.dst) << 33), e: e.src < e.dst };
                big.append(Big { a: e.index, b: f64::from(e.index) * 0.1, c, f: (0.1, -(e.src as i32), u64::from(round) << 40 | 5) });
                if e.src == e.dst {
                    big.append(Big { a: e.dst, b: -1.0, c: In { e: false, ..c }, f: (1.0, 1, 1) });
                }
            }
            nodes.append(e.dst);
        }
        #[wave(nodes)]
        fn puts(v: Node, bits: &Append<bool>, floats: &Append<f64>) {
            bits.append(v % 3 != 1);
            floats.append(1.0 / f64::from(v + 1));
        }
        #[wave(items(big), after(put))]
        fn get(x: Big, sums: &Buf<Atomic<u64>>, kept: &Append<Big>, turns: Round, rounds: u32) {
            let Big { a, b, c: In { d: (d, i), e }, f: (f, g, h) } = x;
            let one = u64::from(a) + (b * 10.0) as u64 + u64::from(d) + (i >> 33) as u64;
            sums[0].fetch_add(one.wrapping_mul(3).wrapping_add(u64::from(e)));
            sums[1].fetch_add(u64::from(f.to_bits()).wrapping_add(g as u64).wrapping_add(h >> 38));
            if turns + 1 == rounds && c_is(x.c) {
                kept.append(x);
            }
        }
        #[wave(items(nodes), after(put))]
        fn see(v: Node, count: &Buf<Atomic<u32>>) {
            count[v].fetch_add(1);
        }
        #[wave(items(bits), after(puts))]
        fn bit(x: bool, any: &Reduce<Or<bool>>, every: &Reduce<And<bool>>) {
            any.or(!x);
            every.and(x);
        }
        #[wave(items(floats), after(puts))]
        fn float(x: f64, fsum: &Reduce<ExactSum<f64>>, least: &Reduce<Min<f64>>) {
            fsum.add(x);
            least.min(x);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    let rounds = 1 + rng.below(3);
    let out = session.run(p::Run { rounds }).map_err(err)?;
    let (mut s0, mut s1, mut kept, mut count) = (0u64, 0u64, vec![], vec![0u32; g.n]);
    for r in 0..rounds {
        for (k, &(s, d)) in g.edges.iter().enumerate() {
            count[d as usize] += 1;
            let k = k as u32;
            if (k + r) % 3 == 0 {
                continue;
            }
            let c = p::In { d: (k as u8, -i64::from(d) << 33), e: s < d };
            let mut all = vec![p::Big { a: k, b: f64::from(k) * 0.1, c, f: (0.1, -(s as i32), u64::from(r) << 40 | 5) }];
            if s == d {
                all.push(p::Big { a: d, b: -1.0, c: p::In { e: false, ..c }, f: (1.0, 1, 1) });
            }
            for x in all {
                let one = u64::from(x.a).wrapping_add((x.b * 10.0) as u64).wrapping_add(u64::from(x.c.d.0)).wrapping_add((x.c.d.1 >> 33) as u64);
                s0 = s0.wrapping_add(one.wrapping_mul(3).wrapping_add(u64::from(x.c.e)));
                s1 = s1.wrapping_add(u64::from(x.f.0.to_bits()).wrapping_add(x.f.1 as u64).wrapping_add(x.f.2 >> 38));
                if r + 1 == rounds && x.c.e {
                    kept.push(x);
                }
            }
        }
    }
    same("count", &out.count, &count)?;
    same("sums", &out.sums, &vec![s0, s1, 0])?;
    let mut found = out.kept.clone();
    found.sort_by_key(|x| x.a);
    kept.sort_by_key(|x| x.a);
    same("kept", &found, &kept)?;
    same("any", &(out.any, out.every), &(g.n > 1, g.n < 2))?;
    same("least", &out.least, &(0..g.n).map(|v| 1.0 / (v as f64 + 1.0)).fold(f64::INFINITY, f64::min))?;
    let sum: f64 = (0..g.n).map(|v| 1.0 / (v as f64 + 1.0)).sum();
    if (out.fsum - sum).abs() > 1e-9 {
        return Err(format!("WRONG fsum {} {}", out.fsum, sum));
    }
    Ok(())
}
