use vyre::prelude::*;
#[wave_graph]
pub mod lens {
    pub struct Data {
        #[topology] g: Csr,
        #[topology] k: u32,
        #[topology(per = node * k - 3)] t: u32,
        #[input(per = (n - 5) * (n + 5))] inp: u32,
        #[output(per = n * n / m)] o: u32,
        #[output(per = (n + 31) / 32)] p: u32,
        #[output(per = n % m + node)] q: u32,
        #[scratch(per = n.div_ceil(m) * 2)] r: u32,
        #[list(capacity = n - m, output)] l: List<u32>,
        #[frontier(capacity = m * 2 - n)] f: Frontier<u32>,
        #[reduce(count)] c: u64,
        n: u32, m: u32,
    }
    #[wave(range(n * n / m))]
    fn a(i: Index, o: &mut u32) { *o = i; }
    #[wave(range((n + 31) / 32))]
    fn b(p: &mut u32) { *p = 7; }
    #[wave(range(node + n % m))]
    fn c(q: &mut u32) { *q = 9; }
    #[wave(range(2 * n.div_ceil(m)))]
    fn d(r: &mut u32, c: &Reduce<Count>) { *r = 9; c.inc(); }
    #[wave(range(n - m))]
    fn e(i: Index, l: &Append<u32>) { l.append(i); }
    #[wave(range(n - m + 1 - 1))]
    fn ff(i: Index, f: &Push<u32>) { f.push(i); }
    #[wave(range(n * n - 25))]
    fn g2(inp: &u32, c: &Reduce<Count>) { if *inp == 1 { c.inc(); } }
}
#[wave_graph]
pub mod huge {
    pub struct Data {
        #[output(per = n * n * n * n - n * n * n * n + 1)] o: u32,
        #[output(per = (n * n * n * n * n * n * n * n * n) / (n * n * n * n * n * n * n * n * n))] one: u32,
        n: u32,
    }
    #[wave(range(1))]
    fn a(o: &Buf<Atomic<u32>>, one: &Buf<Atomic<u32>>) { o[0].store(o.len()); one[0].store(one.len()); }
}
fn main() {
    println!("{}", lens::PLAN);
    for rt in [Runtime::native(), Runtime::vir0()] {
        for (nodes, k) in [(1usize, 3u32), (1, 2), (0, 0), (2, u32::MAX), (2, 2), (3, 1431655766), (3, 1)] {
            let g = Csr::from_edges(nodes, &[]).unwrap();
            let len = (nodes as i64 * i64::from(k) - 3).clamp(0, 10) as usize;
            let t = vec![0; len];
            let mut s = match lens::Session::new(&rt.clone().with_memory(1 << 24), lens::Topology { g: &g, k, t: &t }) { Ok(s) => s, Err(e) => { println!("session {nodes} {k}: {e}"); continue; } };
            for (n, m) in [(5u32, 5u32), (6, 5), (10, 7), (100, 60), (4, 2), (0, 0), (0, 1), (5, 0), (u32::MAX, 1), (70000, 65000), (100, 30), (100, 101)] {
                let il = (i64::from(n) * i64::from(n) - 25).clamp(0, 20000) as usize;
                let i = vec![1; il];
                match s.run(lens::Run { n, m, inp: &i }) {
                    Ok(o) => {
                        let ok = o.o.len() as u64 == u64::from(n) * u64::from(n) / u64::from(m) && o.o.iter().enumerate().all(|(k, &x)| k as u32 == x) && o.p == vec![7; n.div_ceil(32) as usize]
                            && o.q == vec![9; (n % m) as usize + nodes] && o.c == u64::from(2 * n.div_ceil(m)) + il as u64 && { let mut l = o.l.clone(); l.sort(); l == (0..n - m).collect::<Vec<_>>() };
                        println!("{n} {m} ok {ok}");
                    }
                    Err(e) => println!("{n} {m}: {e}"),
                }
            }
        }
        for n in [1, 2, 0, 255, 65536, u32::MAX] {
            match huge::Session::new(&rt, ()).unwrap().run(huge::Run { n }) { Ok(o) => println!("huge {n} {:?} {:?}", o.o, o.one), Err(e) => println!("huge {n}: {e}") }
        }
    }
    println!("done");
}
