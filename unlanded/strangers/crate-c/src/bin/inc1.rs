//! includes in fixpoints
use vyre::prelude::*;

mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod bfs {
        const FAR: u32 = u32::MAX;
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier] front: Frontier,
            #[input(per = 1)] source: u32,
            #[input(per = node)] dead: u32,
            #[output(per = node, init = FAR)] dist: u32,
            #[reduce(max)] far: u32,
            #[reduce(count)] seen: u64,
            #[reduce(count)] steps: u64,
            #[scratch(per = node, init = 7, reset = round)] mark: u32,
            #[output(per = node)] marks: u32,
        }
        #[wave(once)]
        fn begin(source: &Buf<u32>, dead: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) {
            if source[0] != FAR && dead[source[0]] == 0 {
                dist[source[0]].store(0);
                front.push(source[0]);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dead: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dead[e.dst] == 0 && dist[e.dst].compare_exchange(FAR, round + 1) {
                    front.push(e.dst);
                }
            }
            #[wave(edges(graph))]
            fn marking(e: Edge, mark: &Buf<Atomic<u32>>) { mark[e.dst].fetch_add(1); }
            #[wave(nodes, after(marking))]
            fn count(mark: &u32, marks: &mut u32, steps: &Reduce<Count>) { *marks += *mark; steps.inc(); }
        }
        #[wave(nodes, after(levels))]
        fn stat(dist: &u32, far: &Reduce<Max<u32>>, seen: &Reduce<Count>) {
            if *dist != FAR { far.max(*dist); seen.inc(); }
        }
    }
}

#[wave_graph]
pub mod each {
    pub struct Data {
        #[topology] g: Csr,
        #[input(per = count)] sources: u32,
        #[input(per = node)] dead: u32,
        #[scratch(per = 1)] src: u32,
        #[output(per = count)] far: u32,
        #[output(per = count)] seen: u64,
        #[output(per = count)] steps: u64,
        #[output(per = node)] total: u64,
        #[output(per = node)] marks: u32,
        count: u32,
    }
    #[wave(once)]
    fn first(sources: &Buf<u32>, src: &Buf<Atomic<u32>>) { src[0].store(sources[0]); }
    #[fixpoint(after(first), until(round + 1 == count || bfs_seen == 0))]
    mod loops {
        #[include(graph = g, source = src, dead = dead)]
        use super::super::lib::bfs;
        #[wave(nodes, after(bfs))]
        fn acc(bfs_dist: &u32, bfs_marks: &u32, total: &mut u64, marks: &mut u32) {
            *total += u64::from(*bfs_dist);
            *marks += *bfs_marks;
        }
        #[wave(once, after(bfs))]
        fn out(loops: Round, bfs_far: u32, bfs_seen: u64, bfs_steps: u64, far: &Buf<Atomic<u32>>, seen: &Buf<Atomic<u64>>, steps: &Buf<Atomic<u64>>,
            src: &Buf<Atomic<u32>>, sources: &Buf<u32>) {
            far[loops].store(bfs_far);
            seen[loops].store(bfs_seen);
            steps[loops].store(bfs_steps);
            if loops + 1 < sources.len() { src[0].store(sources[loops + 1]); }
        }
    }
}

/// FW-BW
#[wave_graph]
pub mod fwbw {
    const NONE: u32 = u32::MAX;
    pub struct Data {
        #[topology] g: Csr,
        #[topology(reverse_of = g)] back: Csr,
        #[scratch(per = node)] done: u32,
        #[output(per = node, init = NONE)] comp: u32,
        #[scratch(per = 1)] src: u32,
        #[reduce(min)] pivot: u32,
    }
    #[fixpoint(until(pivot == NONE))]
    mod rounds {
        #[wave(nodes)]
        fn pick(v: Node, comp: &u32, done: &mut u32, pivot: &Reduce<Min<u32>>) {
            *done = u32::from(*comp != NONE);
            if *comp == NONE { pivot.min(v); }
        }
        #[wave(once, after(pick))]
        fn set(pivot: u32, src: &Buf<Atomic<u32>>) { src[0].store(pivot); }
        #[include(graph = g, source = src, dead = done, after(set))]
        use super::super::lib::bfs as fw;
        #[include(graph = back, source = src, dead = done, after(set))]
        use super::super::lib::bfs as bw;
        #[wave(nodes, after(fw, bw))]
        fn join(fw_dist: &u32, bw_dist: &u32, src: &Buf<u32>, comp: &mut u32) {
            if *fw_dist != NONE && *bw_dist != NONE { *comp = src[0]; }
        }
    }
}

pub struct Rng(u64);
impl Rng {
    pub fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 }
    pub fn below(&mut self, n: u32) -> u32 { (self.next() % u64::from(n.max(1))) as u32 }
}

fn bfs_oracle(n: u32, edges: &[(u32, u32)], s: u32, dead: &[u32]) -> (Vec<u32>, u32) {
    let mut dist = vec![u32::MAX; n as usize];
    let mut front = vec![];
    if s != u32::MAX && dead[s as usize] == 0 { dist[s as usize] = 0; front.push(s); }
    let mut rounds = 0;
    loop {
        let mut next = vec![];
        for &(a, b) in edges {
            if front.contains(&a) && dead[b as usize] == 0 && dist[b as usize] == u32::MAX { dist[b as usize] = rounds + 1; next.push(b); }
        }
        rounds += 1;
        front = next;
        if front.is_empty() { break; }
    }
    (dist, rounds)
}

fn runtimes() -> Vec<Runtime> {
    vec![Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap(), Runtime::native().with_memory(1 << 22), Runtime::vir0().with_memory(1<<22), Runtime::among(Runtime::native(), [Runtime::vir0()])]
}

fn main() {
    println!("{}", each::PLAN);
    println!("{}", fwbw::PLAN);
    let mut rng = Rng(0x1234567);
    for size in [1u32, 2, 3, 10, 60, 200] {
        for _ in 0..4 {
            let m = rng.below(size * 3);
            let edges: Vec<_> = (0..m).map(|_| (rng.below(size), rng.below(size))).collect();
            let g = Csr::from_edges(size as usize, &edges).unwrap();
            let count = 1 + rng.below(6);
            let sources: Vec<u32> = (0..count).map(|_| if rng.below(9) == 0 { u32::MAX } else { rng.below(size) }).collect();
            let dead: Vec<u32> = (0..size).map(|_| u32::from(rng.below(10) == 0)).collect();
            let mut far = vec![0; count as usize];
            let mut seen = vec![0u64; count as usize];
            let mut steps = vec![0u64; count as usize];
            let mut total = vec![0u64; size as usize];
            let mut marks = vec![0u32; size as usize];
            let mut last = vec![];
            let mut lastmark = vec![];
            let mut rounds = [0u64, 0];
            let mut indeg = vec![0u32; size as usize];
            for &(_, b) in &edges { indeg[b as usize] += 1; }
            for k in 0..count as usize {
                let (d, r) = bfs_oracle(size, &edges, sources[k], &dead);
                rounds[0] += 1; rounds[1] += u64::from(r);
                far[k] = d.iter().copied().filter(|&x| x != u32::MAX).max().unwrap_or(0);
                seen[k] = d.iter().filter(|&&x| x != u32::MAX).count() as u64;
                steps[k] = u64::from(size);
                lastmark = indeg.iter().map(|i| (i + 7) * r).collect::<Vec<_>>();
                for v in 0..size as usize { total[v] += u64::from(d[v]); marks[v] += lastmark[v]; }
                last = d;
                if seen[k] == 0 { break; }
            }
            // sccs
            let reach: Vec<Vec<u32>> = (0..size).map(|s| bfs_oracle(size, &edges, s, &vec![0; size as usize]).0).collect();
            let comp: Vec<u32> = (0..size as usize).map(|v| (0..size as usize).find(|&w| reach[v][w] != u32::MAX && reach[w][v] != u32::MAX).unwrap() as u32).collect();
            for (k, rt) in runtimes().iter().enumerate() {
                let mut s = each::Session::new(rt, &g).unwrap();
                for rep in 0..3 {
                    let out = s.run(each::Run { sources: &sources, dead: &dead, count }).unwrap();
                    let ok = out.far == far && out.seen == seen && out.steps == steps && out.total == total && out.marks == marks && out.bfs_dist == last && out.bfs_marks == lastmark && out.report.rounds == rounds;
                    if !ok { println!("BAD each rt {k} rep {rep} size {size}\n far {:?} {:?}\n seen {:?} {:?}\n steps {:?} {:?}\n total {:?} {:?}\n marks {:?} {:?}\n dist {:?} {:?}\n rounds {:?} {:?}", out.far, far, out.seen, seen, out.steps, steps, out.total, total, out.marks, marks, out.bfs_dist, last, out.report.rounds, rounds); }
                }
                // batch
                for _ in 0..3 { s.submit(each::Run { sources: &sources, dead: &dead, count }, 0); }
                for (_, r) in s.run_batch().unwrap().results {
                    let out = r.unwrap();
                    assert!(out.far == far && out.seen == seen && out.total == total && out.marks == marks && out.bfs_dist == last && out.report.rounds == rounds, "batch {k}");
                }
                let out = s.run_series([0, 1, 2].map(|_| each::Run { sources: &sources, dead: &dead, count })).unwrap();
                assert!(out.far == far && out.seen == seen && out.total == total && out.marks == marks && out.bfs_dist == last && out.report.rounds == rounds, "series {k}");
                let mut s = fwbw::Session::new(rt, &g).unwrap();
                for rep in 0..2 {
                    let out = s.run(fwbw::Run {}).unwrap();
                    if out.comp != comp { println!("BAD fwbw rt {k} rep {rep} size {size} {:?} {:?}", out.comp, comp); }
                }
            }
        }
    }
    println!("done");
}
