use vyre::prelude::*;
mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod bfs {
        const FAR: u32 = u32::MAX;
        pub struct Data { #[topology] graph: Csr, #[frontier] front: Frontier, #[input(per = node)] source: u32, #[output(per = node, init = FAR)] dist: u32, #[scratch(per = node, reset = round, init = 4)] rs: u32, #[reduce(count)] seen: u64 }
        #[wave(nodes)]
        fn begin(v: Node, source: &u32, dist: &mut u32, front: &Push) { if *source == 1 { *dist = 0; front.push(v); } }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) { if dist[e.dst].compare_exchange(FAR, round + 1) { front.push(e.dst); } }
            #[wave(nodes)]
            fn rr(rs: &mut u32) { assert!(*rs == 4, "not anew"); *rs += 1; }
        }
        #[wave(nodes, after(levels))]
        fn count(dist: &u32, seen: &Reduce<Count>) { if *dist != FAR { seen.inc(); } }
    }
}
#[wave_graph]
mod outer {
    pub struct Data {
        #[topology] g: Csr,
        #[topology(parts_of = g)] p: Parts,
        #[scratch(per = node, reset = round)] src: u32,
        #[output(per = node)] total: u64,
        #[output(per = node)] rounds: u32,
    }
    #[fixpoint(per = p, until(bfs_seen == 0 || round == 5))]
    mod loops {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, src: &mut u32) { if v == round { *src = 1; } }
        #[include(graph = g, source = src, after(choose))]
        use super::super::lib::bfs;
        #[wave(nodes, after(bfs))]
        fn add(bfs_dist: &u32, total: &mut u64, rounds: &mut u32) { *total += u64::from(*bfs_dist); *rounds += 1; }
    }
}
/// a31
#[wave_graph]
mod left {
    pub struct Data { #[topology] g: Csr, #[scratch(per = node)] src: u32, #[output(per = node)] total: u64, #[output(per = 8)] first: u32 }
    #[fixpoint(until(round == 5))]
    mod loops {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, src: &mut u32) { *src = u32::from(v == round); }
        #[include(graph = g, source = src, after(choose))]
        use super::super::lib::bfs;
        #[wave(nodes, after(bfs))]
        fn add(v: Node, bfs_dist: &u32, total: &mut u64, bfs_front: &Push) { *total += u64::from(*bfs_dist); bfs_front.push(v); }
    }
}
/// long rows
#[wave_graph]
mod msg {
    pub struct Data { #[topology] g: Csr, #[topology(per = node)] text: Rows<u32>, #[output(per = row(text))] o: u32, #[output(per = node)] s: u32, which: u32, k: u32, b: u32 }
    #[wave(nodes)]
    fn w(v: Node, text: &Rows<u32>, s: &mut u32, which: u32, k: u32, b: u32) {
        if which == 0 { *s = text.row(v).at(k); }
        if which == 1 { *s = text.row(v)[k]; }
        if which == 2 { *s = text.row(v).part(k..b).len(); }
        if which == 3 { let r = text.row(v).part(0..2); *s = r.at(k); }
    }
    #[wave(nodes)]
    fn own(text: &Row<u32>, o: &mut Row<u32>, which: u32, k: u32) {
        if which == 4 { o[k] = 1; }
        if which == 5 { o[0] = text[k]; }
        if which == 6 { o.swap(0, k); }
    }
}
/// circles of rows
#[wave_graph]
mod circ {
    pub struct Data { #[topology] g: Csr, #[topology(per = row(u))] t: Rows<u32>, #[topology(per = row(t))] u: Rows<u32>, #[topology(per = row(z))] z: Rows<u32>, #[output(per = row(t))] o: u32 }
    #[wave(range(row(u)))]
    fn a(t: &Row<u32>, o: &mut Row<u32>) { o.fill(t.len()); }
}
fn main() {
    println!("{}", outer::PLAN);
    let mut q = 777u64;
    let mut rnd = move |n: u32| { q ^= q << 13; q ^= q >> 7; q ^= q << 17; (q % u64::from(n)) as u32 };
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap()] {
        for rep in 0..20 {
            let sizes: Vec<u32> = (0..1 + rnd(6)).map(|_| rnd(9)).collect();
            let n: u32 = sizes.iter().sum();
            let mut edges = vec![]; let mut at = 0;
            for &s in &sizes { if s > 0 { for _ in 0..rnd(s * 3) { edges.push((at + rnd(s), at + rnd(s))); } } at += s; }
            let g = Csr::from_edges(n as usize, &edges).unwrap();
            let p = Parts::from_sizes(sizes.clone()).unwrap();
            let bfs = |s: u32| { let mut d = vec![u32::MAX; n as usize]; if s < n { d[s as usize] = 0; let mut q = vec![s]; let mut i = 0; while i < q.len() { let v = q[i]; i += 1; for w in g.neighbors(v).iter() { if d[w as usize] == u32::MAX { d[w as usize] = d[v as usize] + 1; q.push(w); } } } } d };
            let (mut total, mut rounds) = (vec![0u64; n as usize], vec![0u32; n as usize]);
            let mut at = 0; for &s in &sizes { for r in 0..6 { let d = if r < s { bfs(at + r) } else { vec![u32::MAX; n as usize] }; for v in at..at + s { total[v as usize] += u64::from(d[v as usize]); rounds[v as usize] += 1; } if r >= s { break; } } at += s; }
            match outer::Session::new(&rt, outer::Topology { g: &g, p: &p }).and_then(|mut s| s.run(outer::Run {})) {
                Ok(o) => if o.total != total || o.rounds != rounds { println!("BAD local {rt} {rep} {sizes:?} {edges:?}\n{:?}\n{total:?}\n{:?} {rounds:?}", o.total, o.rounds); },
                Err(e) => println!("local {rt}: {e}"),
            }
            let mut t = vec![0u64; n as usize];
            for r in 0..6 { let d = bfs(r); for v in 0..n as usize { t[v] += u64::from(d[v]); } }
            match left::Session::new(&rt, &g).and_then(|mut s| s.run(left::Run {})) { Ok(o) => if o.total != t { println!("BAD left {rt} {rep} n {n}"); }, Err(e) => println!("left {rt}: {e}") }
        }
        let g = Csr::from_edges(3, &[]).unwrap();
        let text = Rows::from_rows([vec![1u32, 2], vec![3; 90], vec![4, 5, 6]]).unwrap();
        let mut s = msg::Session::new(&rt, msg::Topology { g: &g, text: &text }).unwrap();
        for (which, k, b) in [(0, 2, 0), (0, 50, 0), (1, 5, 0), (2, 0, 5), (2, 1, 0), (2, 3, 3), (3, 2, 0), (4, 2, 0), (4, 50, 0), (5, 2, 0), (6, 50, 0)] {
            match s.run(msg::Run { which, k, b }) { Ok(_) => println!("{which} {k} {b} ok"), Err(e) => println!("{which} {k} {b}: {e}   ## {:?}", e.trap().map(|t| (t.index, t.len, t.subject.clone(), t.item))) }
        }
        let t = Rows::from_rows([vec![1u32], vec![2]]).unwrap();
        let z0 = Rows::<u32>::new(vec![0], vec![]).unwrap();
        println!("circ {:?}", circ::Session::new(&rt, circ::Topology { g: &g, t: &t, u: &t, z: &z0 }).and_then(|mut s| s.run(circ::Run {})).map(|o| o.o).map_err(|e| e.to_string()));
        println!("circ {:?}", circ::Session::new(&rt, circ::Topology { g: &g, t: &t, u: &z0, z: &z0 }).and_then(|mut s| s.run(circ::Run {})).map(|o| o.o).map_err(|e| e.to_string()));
    }
    println!("done");
}
