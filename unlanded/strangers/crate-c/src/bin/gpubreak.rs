//! `gpubreak --backend native|vir0|cuda|compiled`: traps in turns that a `break` keeps from running.
use vyre::prelude::*;
use vyre::RoutePolicy;
#[wave_graph]
pub mod gb {
    pub struct Data { #[topology] g: Csr, #[topology(per = edge(g))] w: u32, #[input(per = node)] mark: u32, #[input(per = 4)] few: u32,
        #[output(per = node)] lab: u32, #[output(per = node)] hit: u32, #[output(per = node)] q: u32, #[output(per = node, init = u32::MAX)] first: u32, #[output(per = node)] idx: u32 }
    #[wave(nodes)]
    fn trapping(v: Node, g: &Csr, mark: &Buf<u32>, hit: &Buf<Atomic<u32>>, lab: &mut u32) {
        for n in g.neighbors(v) {
            if mark[n] == 5 { break; }
            assert!(mark[n] != 9, "behind the break");
            hit[n].fetch_add(1);
            *lab = (*lab).max(mark[n]);
        }
    }
    #[wave(nodes)]
    fn dividing(v: Node, g: &Csr, mark: &Buf<u32>, q: &mut u32, few: &Buf<u32>) {
        for n in g.neighbors(v) {
            if mark[n] == 5 { break; }
            *q += 100 / (9 - mark[n]) + few[mark[n] % 9 % 4];
        }
    }
    #[wave(nodes)]
    fn finding(v: Node, g: &Csr, w: &Buf<u32>, few: &Buf<u32>, first: &mut u32, idx: &mut u32) {
        for e in g.edges(v) {
            if w[e] == 1 { *first = g.target(e); *idx = e; break; }
            assert!(few[w[e]] == 0);
        }
    }
}
fn main() {
    let arg = std::env::args().nth(2).unwrap_or("native".into());
    let rt = match arg.as_str() { "native" => Runtime::native(), "vir0" => Runtime::vir0(), "cuda" => Runtime::cuda().unwrap(), "compiled" => Runtime::cuda().unwrap().with_route(RoutePolicy::Compiled), _ => Runtime::auto().unwrap() };
    let mut q = 777u64;
    let mut rnd = move |n: u32| { q ^= q << 13; q ^= q >> 7; q ^= q << 17; (q % u64::from(n)) as u32 };
    println!("{}", gb::PLAN);
    for n in [10u32, 1000, 40000] {
        let mut edges = vec![];
        for _ in 0..n * 3 { edges.push((rnd(n), rnd(n))); }
        for k in 0..n { edges.push((3, k)); edges.push((n - 1, rnd(n))); }
        let g = Csr::from_edges(n as usize, &edges).unwrap();
        let mut mark: Vec<u32> = (0..n).map(|_| rnd(5)).collect();
        // behind the first 5 of each row only there is a 9
        let mut nine = vec![true; n as usize];
        for v in 0..n { if rnd(3) == 0 { mark[v as usize] = 5; } }
        for v in 0..n { for w in g.neighbors(v).iter() { if mark[w as usize] == 5 { break; } nine[w as usize] = false; } }
        let mut nines = 0;
        for v in 0..n as usize { if nine[v] && mark[v] != 5 { mark[v] = 9; nines += 1; } }
        let mut w: Vec<u32> = vec![0; edges.len()];
        for v in 0..n { let mut seen = false; for e in g.edges(v).iter() { w[e as usize] = if seen { 4 + rnd(1000) } else { let x = u32::from(rnd(20) == 0); seen = x == 1; x }; } }
        let mut s = gb::Session::new(&rt, gb::Topology { g: &g, w: &w }).unwrap();
        let (mut lab, mut hit, mut qq, mut first, mut idx) = (vec![0; n as usize], vec![0; n as usize], vec![0u32; n as usize], vec![u32::MAX; n as usize], vec![0; n as usize]);
        for v in 0..n as usize {
            for x in g.neighbors(v as u32).iter() { let m = mark[x as usize]; if m == 5 { break; } assert!(m != 9); hit[x as usize] += 1; lab[v] = lab[v].max(m); qq[v] += 100 / (9 - m); }
            for e in g.edges(v as u32).iter() { if w[e as usize] == 1 { first[v] = g.target(e); idx[v] = e; break; } }
        }
        let mut t = vec![];
        for _ in 0..5 {
            let b = std::time::Instant::now();
            match s.run(gb::Run { mark: &mark, few: &[0; 4] }) {
                Ok(o) => println!("n {n} nines {nines} check {} {} {} {} {}", o.lab == lab, o.hit == hit, o.q == qq, o.first == first, o.idx == idx),
                Err(e) => println!("n {n} nines {nines} FAILED {e}"),
            }
            t.push(b.elapsed());
        }
        t.sort(); println!("median {:?}", t[2]);
    }
}
