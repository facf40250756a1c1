use vyre::prelude::*;
use vyre::FusedSession;
use std::time::Duration;
#[wave_graph]
pub mod bfs {
    const FAR: u32 = u32::MAX;
    pub struct Data { #[topology] graph: Csr, #[frontier] front: Frontier, #[output(per = node, init = FAR)] dist: u32, #[scratch(per = node, reset = round, init = 2)] s: u32, #[output(per = node)] acc: u32, source: u32 }
    #[wave(nodes)]
    fn begin(v: Node, source: u32, dist: &mut u32, front: &Push) { if v == source { *dist = 0; front.push(v); } }
    #[fixpoint(after(begin), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) { if dist[e.dst].compare_exchange(FAR, round + 1) { front.push(e.dst); } }
        #[wave(nodes)]
        fn w(s: &mut u32, acc: &mut u32) { *s += 1; *acc += *s; }
    }
}
#[wave_graph]
pub mod post {
    pub struct Data { #[topology] graph: Csr, #[input(per = node)] x: u32, #[output(per = node)] y: u32, #[reduce(max)] m: u32, bad: u32, #[scratch(per = node, reset = round)] t: u32 }
    #[wave(edges(graph))]
    fn go(e: Edge, x: &Buf<u32>, y: &Buf<Atomic<u32>>) { y[e.dst].fetch_max(x[e.src].min(1000)); }
    #[wave(nodes, after(go))]
    fn mx(v: Node, y: &u32, bad: u32, m: &Reduce<Max<u32>>) { assert!(v != bad, "bad node"); m.max(*y); }
    #[fixpoint(until(round == 2))]
    mod f { #[wave(nodes)] fn t(t: &mut u32) { assert!(*t == 0); *t += 1; } }
}
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}
fn main() {
    let mut rng = Rng(11);
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::among(Runtime::native(), [Runtime::vir0()]), Runtime::among(Runtime::vir0(), [Runtime::native()])] {
        for n in [0u32, 1, 5, 700] {
            let edges: Vec<_> = if n == 0 { vec![] } else { (0..n * 2).map(|_| (rng.below(n), rng.below(n))).collect() };
            let g = Csr::from_edges(n as usize, &edges).unwrap();
            let mut f = FusedSession::<bfs::Pass, post::Pass>::new(&rt, (&g, &g), &[("dist", "x")]).unwrap();
            for rep in 0..10 {
                let source = rng.below(n + 1);
                let (a, b) = f.run(bfs::Run { source }, post::Run { x: &[], bad: u32::MAX }).unwrap();
                let mut d = vec![u32::MAX; n as usize];
                let mut rounds = 1;
                if source < n { d[source as usize] = 0; let mut q = vec![source]; let mut i = 0; while i < q.len() { let v = q[i]; i += 1; for w in g.neighbors(v).iter() { if d[w as usize] == u32::MAX { d[w as usize] = d[v as usize] + 1; rounds = rounds.max(d[w as usize] + 1); q.push(w); } } } }
                let mut y = vec![0; n as usize];
                for &(a, b) in &edges { y[b as usize] = y[b as usize].max(d[a as usize].min(1000)); }
                if a.dist != d || a.acc != vec![3 * rounds; n as usize] || b.y != y || b.m != y.iter().copied().max().unwrap_or(0) { println!("BAD {rt} n {n} rep {rep}"); }
                match f.run(bfs::Run { source }, post::Run { x: &[], bad: 0 }) { Ok(_) => if n > 0 { println!("no trap?") }, Err(e) => if rep == 0 { println!("{e}") } }
            }
            if n == 5 {
                f.canceller().cancel();
                println!("{:?}", f.run(bfs::Run { source: 0 }, post::Run { x: &[], bad: 9 }).map(|_| ()).map_err(|e| e.to_string()));
                f.canceller().rearm();
                f.set_step_limit(Some(3));
                println!("{:?}", f.run(bfs::Run { source: 0 }, post::Run { x: &[], bad: 9 }).map(|_| ()).map_err(|e| e.to_string()));
                f.set_step_limit(None);
                f.set_time_limit(Some(Duration::ZERO));
                println!("{:?}", f.run(bfs::Run { source: 0 }, post::Run { x: &[], bad: 9 }).map(|_| ()).map_err(|e| e.to_string()));
                f.set_time_limit(None);
                println!("x given: {:?}", f.run(bfs::Run { source: 0 }, post::Run { x: &[1, 2, 3, 4, 5], bad: 9 }).map(|_| ()).map_err(|e| e.to_string()));
                println!("x given short: {:?}", f.run(bfs::Run { source: 0 }, post::Run { x: &[1], bad: 9 }).map(|_| ()).map_err(|e| e.to_string()));
                let h = Csr::from_edges(4, &[]).unwrap();
                println!("other: {:?}", FusedSession::<bfs::Pass, post::Pass>::new(&rt, (&g, &h), &[("dist", "x")]).map(|_| ()).map_err(|e| e.to_string()));
                println!("nolink: {:?}", FusedSession::<bfs::Pass, post::Pass>::new(&rt, (&g, &g), &[]).map(|_| ()).map_err(|e| e.to_string()));
                for l in [("dist", "y"), ("zz", "x"), ("dist", "zz"), ("front", "x"), ("s", "x"), ("source", "bad"), ("", "")] {
                    println!("{l:?}: {:?}", FusedSession::<bfs::Pass, post::Pass>::new(&rt, (&g, &g), &[l]).map(|_| ()).map_err(|e| e.to_string()));
                }
                println!("twice: {:?}", FusedSession::<bfs::Pass, post::Pass>::new(&rt, (&g, &g), &[("dist", "x"), ("acc", "x")]).map(|_| ()).map_err(|e| e.to_string()));
                println!("self: {:?}", FusedSession::<bfs::Pass, bfs::Pass>::new(&rt, (&g, &g), &[]).map(|_| ()).map_err(|e| e.to_string()));
            }
        }
    }
    println!("done");
}
