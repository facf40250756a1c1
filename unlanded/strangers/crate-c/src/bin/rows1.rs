use vyre::prelude::*;
#[wave_graph]
pub mod rw {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(per = node)] t: Rows<u32>,
        #[topology(per = k)] u: Rows<u8>,
        #[topology] k: u32,
        #[input(per = row(t))] w: i64,
        #[output(per = row(t))] o: u32,
        #[output(per = row(t))] flat: u32,
        #[output(per = node)] sum: i64,
        #[output(per = row(u))] uo: u8,
        #[reduce(sum)] total: u64,
        #[output(per = 4)] lens: u32,
    }
    #[wave(nodes)]
    fn a(v: Node, t: &Row<u32>, w: &Row<i64>, o: &mut Row<u32>, sum: &mut i64) {
        let mut at = 0;
        for (k, x) in t.rev().enumerate() {
            o[k as u32] = x;
            at += 1;
        }
        assert!(at == t.len());
        if o.len() >= 2 { o.swap(0, o.len() - 1); }
        for x in w { *sum += x; }
        for (x, y) in t.zip(w) { if x == 0 { *sum += y; } }
        if t.len() > 2 { for x in t.part(1..t.len() - 1) { *sum += i64::from(x); } }
        let _ = v;
    }
    #[wave(range(row(t)))]
    fn f(i: Index, flat: &mut u32, w: &i64) { *flat = i + *w as u32; }
    #[wave(nodes)]
    fn tot(v: Node, t: &Rows<u32>, total: &Reduce<Sum<u64>>) {
        let r = t.row(v);
        let next = t.row((v + 1) % t.len());
        for (x, y) in r.zip(next) { total.add(u64::from(x) + u64::from(y)); }
        if !r.is_empty() { total.add(u64::from(r[r.len() - 1])); }
    }
    #[wave(range(k))]
    fn uu(u: &Row<u8>, uo: &mut Row<u8>) { uo.fill(u.len() as u8); }
    #[wave(once)]
    fn l(t: &Rows<u32>, u: &Rows<u8>, lens: &Buf<Atomic<u32>>) { lens[0].store(t.len()); lens[1].store(u.len()); lens[2].store(u32::from(t.is_empty())); lens[3].store(u32::from(u.is_empty())); }
}
#[wave_graph]
pub mod bad {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(per = node)] t: Rows<u32>,
        #[output(per = row(t))] o: u32,
        #[output(per = node)] s: u32,
        which: u32, a: u32, b: u32,
    }
    #[wave(nodes)]
    fn w(v: Node, which: u32, a: u32, b: u32, t: &Rows<u32>, o: &mut Row<u32>, s: &mut u32) {
        if which == 0 { *s = t.row(a).len(); }
        if which == 1 { *s = t.row(v).at(a); }
        if which == 2 { *s = t.row(v).part(a..b).len(); }
        if which == 3 { o[a] = b; }
        if which == 4 { o.swap(a, b); }
        if which == 5 { *s = o[a]; }
        if which == 6 { *s = t.row(v)[a]; }
        if which == 7 { *s = t.row(v).part(a..b).at(0); }
    }
}
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}
fn main() {
    println!("{}", rw::PLAN);
    let mut rng = Rng(77);
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap()] {
        let mut session: Option<rw::Session> = None;
        for n in [3u32, 1, 0, 100, 3, 6000, 2, 0, 1] {
            for mode in 0..3 {
                let g = Csr::from_edges(n as usize, &[]).unwrap();
                let rows: Vec<Vec<u32>> = (0..n).map(|v| (0..match mode { 0 => 0, 1 => rng.below(5), _ => if v == n / 2 { 3000 } else { rng.below(2) } }).map(|_| rng.below(3)).collect()).collect();
                let k = rng.below(4) * rng.below(300);
                let us: Vec<Vec<u8>> = (0..k).map(|_| (0..rng.below(4)).map(|_| rng.below(200) as u8).collect()).collect();
                let t = Rows::from_rows(rows.clone()).unwrap();
                let u = Rows::from_rows(us.clone()).unwrap();
                let len: usize = rows.iter().map(|r| r.len()).sum();
                let w: Vec<i64> = (0..len).map(|_| rng.below(1000) as i64 - 500).collect();
                let topo = rw::Topology { g: &g, t: &t, u: &u, k };
                match &mut session { None => session = Some(rw::Session::new(&rt, topo).unwrap()), Some(s) => s.update(topo).unwrap() }
                let s = session.as_mut().unwrap();
                let out = s.run(rw::Run { w: &w }).unwrap();
                let (mut o, mut sum, mut total) = (vec![], vec![], 0u64);
                let mut at = 0;
                for v in 0..n as usize {
                    let r = &rows[v];
                    let mut x: Vec<u32> = r.iter().rev().copied().collect();
                    let l = x.len();
                    if l >= 2 { x.swap(0, l - 1); }
                    o.extend(&x);
                    let ww = &w[at..at + l];
                    at += l;
                    let mut q: i64 = ww.iter().sum();
                    for (a, b) in r.iter().zip(ww) { if *a == 0 { q += b; } }
                    if l > 2 { for a in &r[1..l - 1] { q += i64::from(*a); } }
                    sum.push(q);
                    for (a, b) in r.iter().zip(&rows[(v + 1) % n as usize]) { total += u64::from(*a + *b); }
                    if l > 0 { total += u64::from(r[l - 1]); }
                }
                let flat: Vec<u32> = (0..len).map(|i| (i as u32).wrapping_add(w[i] as u32)).collect();
                let uo: Vec<u8> = us.iter().flat_map(|r| r.iter().map(|_| r.len() as u8)).collect();
                let lens = vec![n, k, u32::from(n == 0), u32::from(k == 0)];
                if out.o != o || out.sum != sum || out.flat != flat || out.uo != uo || out.total != total || out.lens != lens {
                    println!("BAD {rt} n {n} mode {mode} k {k}: {} {} {} {} {} {}", out.o == o, out.sum == sum, out.flat == flat, out.uo == uo, out.total == total, out.lens == lens);
                }
                if let Err(e) = s.run(rw::Run { w: &w[..len.saturating_sub(1)] }) { if n == 3 && mode == 2 { println!("short: {e}"); } } else if len > 0 { println!("BAD short accepted"); }
            }
        }
    }
    // wrong inputs
    println!("{:?}", Rows::<u32>::new(vec![], vec![]).map(|_| ()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0], vec![]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![1], vec![5]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0, 2, 1], vec![5]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0, 2, 1, 1], vec![5]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0, 2], vec![5]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0, 1], vec![5, 6]).map(|r| r.len()).map_err(|e| e.to_string()));
    println!("{:?}", Rows::<u32>::new(vec![0, u32::MAX], vec![5, 6]).map(|r| r.len()).map_err(|e| e.to_string()));
    let g = Csr::from_edges(2, &[]).unwrap();
    let empty: [Vec<u32>; 0] = [];
    let t0 = Rows::from_rows(empty).unwrap();
    let t3 = Rows::from_rows([vec![1u32], vec![], vec![2, 3]]).unwrap();
    let t2 = Rows::from_rows([vec![1u32, 9], vec![]]).unwrap();
    let u = Rows::<u8>::new(vec![0], vec![]).unwrap();
    for rt in [Runtime::native(), Runtime::vir0()] {
        for t in [&t0, &t3] {
            println!("rows: {:?}", rw::Session::new(&rt, rw::Topology { g: &g, t, u: &u, k: 0 }).map(|_| ()).map_err(|e| e.to_string()));
        }
        println!("rows u: {:?}", rw::Session::new(&rt, rw::Topology { g: &g, t: &t2, u: &u, k: 1 }).map(|_| ()).map_err(|e| e.to_string()));
        println!("rows u max: {:?}", rw::Session::new(&rt, rw::Topology { g: &g, t: &t2, u: &u, k: u32::MAX }).map(|_| ()).map_err(|e| e.to_string()));
        let mut s = bad::Session::new(&rt, bad::Topology { g: &g, t: &t2 }).unwrap();
        for (which, a, b) in [(0, 2, 0), (0, u32::MAX, 0), (1, 2, 0), (1, u32::MAX, 0), (2, 0, 3), (2, 2, 1), (2, u32::MAX, u32::MAX), (2, u32::MAX, 0), (2, 0, u32::MAX), (3, 2, 0), (4, 0, 2), (4, 2, 0), (5, 7, 7), (6, 2, 0), (7, 1, 1), (7, 2, 2), (2, 2, 2)] {
            match s.run(bad::Run { which, a, b }) { Ok(o) => println!("{which} {a} {b} ok {:?}", o.s), Err(e) => println!("{which} {a} {b}: {e}") }
        }
    }
    println!("done");
}
