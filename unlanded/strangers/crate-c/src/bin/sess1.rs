use vyre::prelude::*;
use vyre::Error;
use std::time::Duration;
mod a {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod bfs {
        const FAR: u32 = u32::MAX;
        pub struct Data { #[topology] graph: Csr, #[frontier] front: Frontier, #[output(per = node, init = FAR)] dist: u32,
            #[scratch(per = node, reset = round)] mk: u32, #[reduce(sum)] work: u64, source: u32 }
        #[wave(nodes)]
        fn begin(v: Node, source: u32, dist: &mut u32, front: &Push) { if v == source { *dist = 0; front.push(v); } }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push, mk: &Buf<Atomic<u32>>) {
                mk[e.dst].fetch_add(1);
                if dist[e.dst].compare_exchange(FAR, round + 1) { front.push(e.dst); }
            }
        }
        #[wave(nodes, after(levels))]
        fn sum(dist: &u32, work: &Reduce<Sum<u64>>) { if *dist != FAR { work.add(u64::from(*dist)); } }
    }
    #[wave_graph]
    pub mod life {
        pub struct Data { #[input(per = w * h)] start: bool, #[output(per = w * h)] now: bool, #[output(per = w * h)] next: bool, w: u32, h: u32, rounds: u32 }
        #[wave(range(w, h))]
        fn begin(start: &bool, now: &mut bool) { *now = *start; }
        #[fixpoint(after(begin), until(round + 1 == rounds), swap(now, next))]
        mod gens {
            #[wave(range(w, h))]
            fn live(c: Cell, now: &Buf<bool>, next: &mut bool) {
                let mut k = 0;
                for dy in -1..=1 { for dx in -1..=1 { k += u32::from(now[c.at(dx, dy)]); } }
                *next = k == 3 || k == 4 && now[c.index];
            }
        }
    }
}
use a::{bfs, life};
struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}
fn orc(g: &Csr, s: u32) -> (Vec<u32>, u64) {
    let n = g.node_count();
    let mut d = vec![u32::MAX; n];
    if (s as usize) < n { d[s as usize] = 0; let mut q = vec![s]; let mut i = 0; while i < q.len() { let v = q[i]; i += 1; for w in g.neighbors(v).iter() { if d[w as usize] == u32::MAX { d[w as usize] = d[v as usize] + 1; q.push(w); } } } }
    let t = d.iter().filter(|&&x| x != u32::MAX).map(|&x| u64::from(x)).sum();
    (d, t)
}
fn liveo(start: &[bool], w: u32, h: u32, rounds: u32) -> Vec<bool> {
    let mut now = start.to_vec();
    for _ in 0..rounds {
        now = (0..w * h).map(|i| { let (x, y) = (i % w, i / w); let mut k = 0; for dy in [h - 1, 0, 1] { for dx in [w - 1, 0, 1] { k += u32::from(now[((y + dy) % h * w + (x + dx) % w) as usize]); } } k == 3 || k == 4 && now[i as usize] }).collect();
    }
    now
}
fn main() -> Result<(), Error> {
    let mut rng = Rng(5);
    let rts = [Runtime::native(), Runtime::vir0(), Runtime::among(Runtime::native(), [Runtime::vir0()]), Runtime::among(Runtime::vir0(), [Runtime::native(), Runtime::native_threads(3)?])];
    for rt in &rts {
        let gs: Vec<Csr> = [0u32, 1, 2, 9, 300].iter().map(|&n| Csr::from_edges(n as usize, &(0..if n == 0 { 0 } else { rng.below(n * 3) }).map(|_| (rng.below(n), rng.below(n))).collect::<Vec<_>>()).unwrap()).collect();
        let mut ss = bfs::Sessions::new(rt, &gs)?;
        for rep in 0..12 {
            let mut want = vec![];
            for _ in 0..rng.below(20) { let k = rng.below(5); let s = rng.below(10); want.push(orc(&gs[k as usize], s)); ss.submit(k as usize, bfs::Run { source: s }, rng.below(3) as _); }
            let b = ss.run_batch()?;
            assert_eq!(b.results.len(), want.len());
            for ((_, r), w) in b.results.iter().zip(&want) { let o = r.as_ref().unwrap(); if (&o.dist, o.work) != (&w.0, w.1) { println!("BAD sessions {rt} rep {rep}"); } }
        }
        // one session: updates, runs, batches interleaved, traps none
        let mut s = bfs::Session::new(rt, &gs[3])?;
        for rep in 0..40 {
            let k = rng.below(5) as usize;
            if rng.below(3) == 0 { s.update(&gs[k])?; 
                for _ in 0..3 { let q = rng.below(10); let o = s.run(bfs::Run { source: q })?; let w = orc(&gs[k], q); if (o.dist, o.work) != w { println!("BAD update {rt} rep {rep}"); } }
                let mut out = bfs::Output::default();
                s.run_into(bfs::Run { source: 1 }, &mut out)?; if (out.dist, out.work) != orc(&gs[k], 1) { println!("BAD into {rt}"); }
                let p = s.run_pinned(bfs::Run { source: 2 })?; if (p.dist.clone(), p.work) != orc(&gs[k], 2) { println!("BAD pinned {rt}"); }
                // queries submitted before an update
                s.submit(bfs::Run { source: 3 }, 0);
                let k2 = rng.below(5) as usize;
                let u = s.update(&gs[k2]);
                if rep < 4 { println!("update with waiting: {:?}", u.as_ref().map_err(|e| e.to_string())); }
                let b = s.run_batch()?;
                for (_, r) in b.results { let o = r?; let w = orc(&gs[if u.is_ok() { k2 } else { k }], 3); if (o.dist, o.work) != w { println!("BAD waiting {rt}"); } }
            }
        }
        println!("empty series: {:?}", s.run_series(Vec::<bfs::Run>::new()).map(|o| o.dist.len()).map_err(|e| e.to_string()));
        println!("empty batch: {:?}", s.run_batch().map(|b| (b.results.len(), b.launches)).map_err(|e| e.to_string()));
        s.canceller().cancel();
        s.submit(bfs::Run { source: 3 }, 0);
        println!("cancelled: {:?}", s.run_batch().map(|b| b.results.len()).map_err(|e| e.to_string()));
        println!("cancelled update: {:?}", s.update(&gs[2]).map_err(|e| e.to_string()));
        s.canceller().rearm();
        println!("rearmed: {:?}", s.run_batch().map(|b| b.results.len()).map_err(|e| e.to_string()));
        println!("0 within: {:?}", s.run_within(Duration::ZERO, bfs::Run { source: 0 }).map(|o| o.dist.len()).map_err(|e| e.to_string()));
        println!("max within: {:?}", s.run_within(Duration::MAX, bfs::Run { source: 0 }).map(|o| o.dist.len()).map_err(|e| e.to_string()));
        s.set_step_limit(Some(0)); println!("0 steps: {:?}", s.run(bfs::Run { source: 0 }).map(|o| o.dist.len()).map_err(|e| e.to_string()));
        s.set_step_limit(Some(u64::MAX)); println!("max steps: {:?}", s.run(bfs::Run { source: 0 }).map(|o| o.dist.len()).map_err(|e| e.to_string()));
        let c = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| { ss.submit(99, bfs::Run { source: 0 }, 0); ss.run_batch().map(|b| b.results.len()).map_err(|e| e.to_string()) }));
        println!("submit 99: {:?}", c.map_err(|e| e.downcast_ref::<String>().cloned().or(e.downcast_ref::<&str>().map(|s| s.to_string()))));
        let e: [&Csr; 0] = [];
        println!("no graphs: {:?}", bfs::Sessions::new(rt, e).map(|mut s| s.run_batch().map(|b| b.results.len()).map_err(|e| e.to_string())).map_err(|e| e.to_string()));
        // life
        let mut s = life::Session::new(rt, ())?;
        for (w, h, r) in [(1, 1, 3), (2, 1, 2), (1, 2, 5), (2, 2, 3), (3, 1, 4), (17, 33, 6), (200, 3, 5), (5, 5, 1)] {
            let st: Vec<bool> = (0..w * h).map(|_| rng.below(2) == 0).collect();
            for _ in 0..3 { let o = s.run(life::Run { start: &st, w, h, rounds: r })?; if o.now != liveo(&st, w, h, r) { println!("BAD life {rt} {w} {h} {r}"); } if o.next != liveo(&st, w, h, r - 1) { println!("BAD life.next {rt} {w} {h} {r}"); } }
        }
    }
    println!("done");
    Ok(())
}
