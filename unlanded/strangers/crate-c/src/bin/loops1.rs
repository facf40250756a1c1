use vyre::prelude::*;
use std::time::{Duration, Instant};
#[wave_graph]
pub mod lp {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(per = edge(g))] w: u32,
        #[input(per = node)] mark: u32,
        #[output(per = node, init = u32::MAX)] first: u32,
        #[output(per = node)] firste: u32,
        #[output(per = node)] cnt: u32,
        #[output(per = node)] last: u32,
        #[output(per = node)] any: bool,
        #[output(per = node)] lab: u32,
        #[output(per = node)] hit: u32,
        #[reduce(sum)] all: u64,
        lim: u32,
        bad: u32,
    }
    #[wave(nodes)]
    fn find(v: Node, g: &Csr, mark: &Buf<u32>, first: &mut u32, lim: u32) {
        for n in g.neighbors(v) { if mark[n] > lim { *first = n; break; } }
    }
    #[wave(nodes)]
    fn finde(v: Node, g: &Csr, w: &Buf<u32>, lim: u32, firste: &mut u32, cnt: &mut u32) {
        let mut c = 0;
        for (k, e) in g.edges(v).enumerate() { if w[e] == lim { *firste = k as u32 + 1; break; } c += w[e]; }
        *cnt = c;
    }
    #[wave(nodes)]
    fn nested(v: Node, g: &Csr, mark: &Buf<u32>, last: &mut u32, any: &mut bool, all: &Reduce<Sum<u64>>) {
        let mut found = u32::MAX;
        'o: for a in g.neighbors(v).rev() {
            for b in g.neighbors(a) {
                if b == v { continue 'o; }
                if mark[b] == 3 { found = b; break 'o; }
                if mark[b] == 1 { break; }
                all.add(u64::from(b));
            }
            *last = a;
        }
        *any = found != u32::MAX;
        if *any { *last += found; }
    }
    #[wave(nodes)]
    fn hist(v: Node, g: &Csr, lab: &mut u32, hit: &Buf<Atomic<u32>>, mark: &Buf<u32>, bad: u32) {
        for n in g.neighbors(v) {
            if mark[n] == bad { assert!(n != n, "bad mark"); }
            if mark[n] == 5 { break; }
            hit[n].fetch_add(1);
            *lab = (*lab).max(mark[n]);
        }
    }
}
#[wave_graph]
pub mod trap {
    pub struct Data { #[topology] g: Csr, #[output(per = node)] o: u32, kind: u32, at: u32 }
    #[wave(nodes)]
    fn w(v: Node, g: &Csr, o: &mut u32, kind: u32, at: u32) {
        let mut k = 0;
        for n in g.neighbors(v) {
            if k == at {
                if kind == 0 { *o = n / (k - at); }
                if kind == 1 { *o = g.neighbors(v).at(g.degree(v)); }
                if kind == 2 { panic!("here"); }
                if kind == 3 { *o = g.target(u32::MAX); }
                if kind == 4 { *o = g.degree(u32::MAX); }
                if kind == 5 { let a = [1, 2, 3]; *o = a[(k + 3) as usize]; }
                if kind == 6 { loop { *o += 1; } }
                if kind == 7 { *o = i32::MIN.wrapping_add(k as i32 - k as i32).wrapping_neg() as u32; let d = k as i32 - at as i32 - 1; *o = (i32::MIN / d) as u32; }
                if kind == 8 { for m in g.neighbors(u32::MAX - 1) { *o += m; } }
                if kind == 9 { while *o < u32::MAX { *o |= n & 1; } }
            }
            k += 1;
        }
    }
}
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}
fn main() {
    println!("{}", lp::PLAN);
    println!("{}", trap::PLAN);
    let mut rng = Rng(3);
    for size in [0u32, 1, 2, 10, 3000] {
        for rep in 0..3 {
            let mut edges: Vec<_> = if size == 0 { vec![] } else { (0..rng.below(size * 2)).map(|_| (rng.below(size), rng.below(size))).collect() };
            if size > 5 { for v in 0..size { edges.push((0, v)); if rep > 0 { edges.push((size - 1, rng.below(size))); } } }
            let g = Csr::from_edges(size as usize, &edges).unwrap();
            let w: Vec<u32> = edges.iter().map(|_| rng.below(if rep == 0 { 4 } else { 5000 })).collect();
            let mark: Vec<u32> = (0..size).map(|_| if rng.below(50) == 0 { 3 } else { [0, 2, 1, 4, 5][rng.below(if rep == 2 { 2 } else { 5 }) as usize] }).collect();
            for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap()] {
                let mut s = lp::Session::new(&rt, lp::Topology { g: &g, w: &w }).unwrap();
                for lim in [0, 3, 4, 4999] {
                    let out = s.run(lp::Run { mark: &mark, lim, bad: 99 }).unwrap();
                    let n = size as usize;
                    let (mut first, mut firste, mut cnt, mut last, mut any, mut lab, mut hit, mut all) = (vec![u32::MAX; n], vec![0; n], vec![0; n], vec![0u32; n], vec![false; n], vec![0; n], vec![0; n], 0u64);
                    for v in 0..n {
                        let nb: Vec<u32> = g.neighbors(v as u32).iter().collect();
                        if let Some(&x) = nb.iter().find(|&&x| mark[x as usize] > lim) { first[v] = x; }
                        for (k, e) in g.edges(v as u32).iter().enumerate() { if w[e as usize] == lim { firste[v] = k as u32 + 1; break; } cnt[v] += w[e as usize]; }
                        let mut found = u32::MAX;
                        'o: for &a in nb.iter().rev() {
                            for b in g.neighbors(a).iter() {
                                if b == v as u32 { continue 'o; }
                                if mark[b as usize] == 3 { found = b; break 'o; }
                                if mark[b as usize] == 1 { break; }
                                all += u64::from(b);
                            }
                            last[v] = a;
                        }
                        any[v] = found != u32::MAX;
                        if any[v] { last[v] += found; }
                        for &x in &nb { if mark[x as usize] == 5 { break; } hit[x as usize] += 1; lab[v] = lab[v].max(mark[x as usize]); }
                    }
                    let ok = [out.first == first, out.firste == firste, out.cnt == cnt, out.last == last, out.any == any, out.lab == lab, out.hit == hit, out.all == all];
                    if ok.contains(&false) { println!("BAD {rt} size {size} rep {rep} lim {lim} {ok:?}"); }
                }
                if rep == 0 && size > 1 { match s.run(lp::Run { mark: &mark, lim: 0, bad: 5 }) { Ok(_) => println!("none"), Err(e) => println!("{size} {e}") } }
            }
        }
    }
    let g = Csr::from_edges(5000, &(0..20000).map(|k| (if k < 10000 { 7 } else { k % 5000 }, k % 5000)).collect::<Vec<_>>()).unwrap();
    for rt in [Runtime::native(), Runtime::vir0()] {
        let mut s = trap::Session::new(&rt, &g).unwrap();
        for kind in 0..10 { for at in [0, 3, 5000] {
            let t = Instant::now();
            let r = s.run_within(Duration::from_millis(100), trap::Run { kind, at });
            let took = t.elapsed();
            match r { Ok(_) => println!("kind {kind} at {at}: ok"), Err(e) => println!("kind {kind} at {at}: {e}") }
            if took > Duration::from_millis(350) { println!("   SLOW {took:?}"); }
        } }
        s.set_step_limit(Some(1000));
        match s.run(trap::Run { kind: 6, at: 0 }) { Ok(_) => println!("ok?"), Err(e) => println!("steps: {e}") }
        match s.run(trap::Run { kind: 2, at: 0 }) { Ok(_) => println!("ok?"), Err(e) => println!("steps: {e}") }
        s.set_step_limit(None);
        // batch with a trap, an endless and two good ones
        s.set_time_limit(Some(Duration::from_millis(200)));
        for (kind, at) in [(99, 0), (2, 0), (6, 0), (99, 1)] { s.submit(trap::Run { kind, at }, 0); }
        let t = Instant::now();
        match s.run_batch() { Ok(b) => for (id, r) in b.results { println!("{id:?} {:?}", r.map(|o| o.o.len()).map_err(|e| e.to_string())) }, Err(e) => println!("batch {e}") }
        println!("batch took {}", t.elapsed() < Duration::from_millis(600));
        s.set_time_limit(None);
        match s.run_series([trap::Run { kind: 99, at: 0 }, trap::Run { kind: 2, at: 0 }, trap::Run { kind: 99, at: 0 }]) { Ok(_) => println!("series ok"), Err(e) => println!("series {e} {:?}", e.trap().and_then(|t| t.run)) }
        assert!(s.run(trap::Run { kind: 99, at: 0 }).is_ok());
    }
    println!("done");
}
