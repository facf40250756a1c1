use vyre::prelude::*;
use std::num::NonZeroUsize;

/// nested: outer resets `a`, inner resets `b`, bits reset, struct reset.
#[wave_graph]
pub mod nest {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct P { pub x: u32, pub y: u64 }
    const P0: P = P { x: 3, y: 9 };
    pub struct Data {
        #[topology] g: Csr,
        #[scratch(per = node, init = 5, reset = round)] a: u32,
        #[scratch(per = node, init = 11, reset = round)] b: u32,
        #[scratch(per = node, bits = 37, reset = round)] z: Bits,
        #[scratch(per = node, bits = 37, init = true, reset = round)] o: Bits,
        #[scratch(per = node, init = P0, reset = round)] p: P,
        #[scratch(per = len, init = 1, reset = round)] s: u32,
        #[scratch(per = edge(g), reset = round)] eb: bool,
        #[output(per = node)] ra: u32,
        #[output(per = node)] rb: u32,
        #[output(per = node)] rz: u32,
        #[output(per = node)] rp: u64,
        #[output(per = 4)] rs: u32,
        #[reduce(count)] n: u64,
        outer: u32,
        inner: u32,
        len: u32,
    }
    #[fixpoint(until(round + 1 == outer))]
    mod out {
        #[fixpoint(until(round + 1 == inner))]
        mod inn {
            #[wave(nodes)]
            fn w(v: Node, out: Round, a: &mut u32, b: &mut u32, z: &Bits, o: &Bits, p: &mut P, rb: &mut u32) {
                *a += 1;
                *b += 1;
                z.set(v, *a % 37);
                o.unset(v, *a % 37);
                p.x += 1;
                p.y += u64::from(out);
                *rb += *b;
            }
            #[wave(edges(g))]
            fn ed(e: Edge, eb: &mut bool, n: &Reduce<Count>) { if !*eb { n.inc(); } *eb = true; }
        }
        #[wave(nodes, after(inn))]
        fn q(v: Node, a: &u32, z: &Bits, o: &Bits, p: &P, ra: &mut u32, rz: &mut u32, rp: &mut u64) {
            *ra += *a;
            *rz += z.count(v) * 100 + o.count(v);
            *rp += u64::from(p.x) * 1000 + p.y;
        }
        #[wave(range(len))]
        fn ss(i: Index, s: &mut u32, rs: &Buf<Atomic<u32>>) { *s += i; rs[i % 4].fetch_add(*s); }
    }
}

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}
#[derive(PartialEq, Debug, Clone, Default)]
struct Want { ra: Vec<u32>, rb: Vec<u32>, rz: Vec<u32>, rp: Vec<u64>, rs: Vec<u32>, n: u64 }
fn oracle(nodes: u32, edges: u64, outer: u32, inner: u32, len: u32) -> Want {
    let mut w = Want { ra: vec![0; nodes as usize], rb: vec![0; nodes as usize], rz: vec![0; nodes as usize], rp: vec![0; nodes as usize], rs: vec![0; 4], n: 0 };
    for o in 0..outer {
        for v in 0..nodes as usize {
            let (mut a, mut z, mut on, mut px, mut py) = (5u32, 0u64, (1u64 << 37) - 1, 3u32, 9u64);
            for _ in 0..inner {
                a += 1; z |= 1 << (a % 37); on &= !(1 << (a % 37)); px += 1; py += u64::from(o);
                w.rb[v] += 12;
            }
            w.ra[v] += a;
            w.rz[v] += z.count_ones() * 100 + on.count_ones();
            w.rp[v] += u64::from(px) * 1000 + py;
        }
        for i in 0..len { w.rs[(i % 4) as usize] += 1 + i; }
        w.n = edges; // reduction owned by inner: last round
    }
    w
}
fn got(o: nest::Output) -> Want { Want { ra: o.ra, rb: o.rb, rz: o.rz, rp: o.rp, rs: o.rs, n: o.n } }
fn main() {
    println!("{}", nest::PLAN);
    let mut rng = Rng(99);
    let rts = vec![Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap(), Runtime::among(Runtime::native(), [Runtime::vir0()]), Runtime::among(Runtime::vir0(), [Runtime::native()])];
    for size in [0u32, 1, 2, 33, 5000, 20000] {
        let m = if size == 0 { 0 } else { rng.below(size * 2) };
        let edges: Vec<_> = (0..m).map(|_| (rng.below(size), rng.below(size))).collect();
        let g = Csr::from_edges(size as usize, &edges).unwrap();
        for (k, rt) in rts.iter().enumerate() {
            let mut s = nest::Session::new(rt, &g).unwrap();
            for _ in 0..6 {
                let (outer, inner, len) = (1 + rng.below(4), 1 + rng.below(5), rng.below(3) * rng.below(9000));
                let want = oracle(size, m as u64, outer, inner, len);
                let out = got(s.run(nest::Run { outer, inner, len }).unwrap());
                if out != want { println!("BAD rt {k} size {size} {outer} {inner} {len}"); if size < 5 { println!("{out:?}\n{want:?}"); } }
            }
            if size > 5000 { continue; }
            let mut wants = vec![];
            for _ in 0..7 {
                let (outer, inner, len) = (1 + rng.below(4), 1 + rng.below(5), rng.below(3) * rng.below(900));
                wants.push(oracle(size, m as u64, outer, inner, len));
                s.submit(nest::Run { outer, inner, len }, 0);
            }
            let b = s.run_batch().unwrap();
            for ((_, r), w) in b.results.into_iter().zip(&wants) { if got(r.unwrap()) != *w { println!("BAD batch rt {k} size {size}"); } }
            let args: Vec<_> = (0..5).map(|_| (1 + rng.below(4), 1 + rng.below(5), rng.below(3) * rng.below(900))).collect();
            let last = args[4];
            let out = got(s.run_series(args.iter().map(|&(outer, inner, len)| nest::Run { outer, inner, len }).collect::<Vec<_>>()).unwrap());
            if out != oracle(size, m as u64, last.0, last.1, last.2) { println!("BAD series rt {k} size {size}"); }
            if size == 1 && k < 2 {
                let e = s.run_within(std::time::Duration::from_secs(20), nest::Run { outer: 0, inner: 1, len: 1 });
                println!("outer=0: {:?}", e.map(|_| ()).map_err(|e| e.to_string()));
            }
            let _ = NonZeroUsize::new(1);
        }
        // Sessions
        for rt in &rts {
            let gs: Vec<_> = [1u32, 0, 3, 50].iter().map(|&n| Csr::from_edges(n as usize, &(0..n).map(|v| (v, (v + 1) % n)).collect::<Vec<_>>()).unwrap()).collect();
            let mut ss = nest::Sessions::new(rt, &gs).unwrap();
            let mut wants = vec![];
            for q in 0..12u32 {
                let k = q as usize % 4;
                let (outer, inner, len) = (1 + rng.below(4), 1 + rng.below(5), rng.below(3) * rng.below(900));
                wants.push(oracle([1, 0, 3, 50][k], [1, 0, 3, 50][k], outer, inner, len));
                ss.submit(k, nest::Run { outer, inner, len }, 0);
            }
            let b = ss.run_batch().unwrap();
            for ((_, r), w) in b.results.into_iter().zip(&wants) { if got(r.unwrap()) != *w { println!("BAD sessions"); } }
        }
    }
    println!("done");
}
