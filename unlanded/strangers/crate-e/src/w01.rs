//! Searches from many sources with a unique list that begins anew; edges(g, from = list); arrays per edge.
use crate::common::*;
#[wave_graph]
pub mod p {
    const FAR: u32 = u32::MAX;
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = edge(graph))] weight: [u32; 2],
        #[frontier(unique)] front: Frontier,
        #[list(unique, reset = round)] found: List<Node>,
        #[scratch(per = node, init = FAR)] dist: u32,
        #[input(per = count)] start: u32,
        #[output(per = count)] reached: u32,
        #[output(per = count)] onward: [u64; 3],
        #[output(per = count)] inward: u32,
        steps: u32,
        count: u32,
    }
    #[fixpoint(until(round + 1 >= count))]
    mod sources {
        #[wave(once)]
        fn begin(round: Round, count: u32, start: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push, found: &Push) {
            if round < count {
                dist[start[round]].store(0);
                front.push(start[round]);
                found.push(start[round]);
                found.push(start[round]);
            }
        }
        #[fixpoint(after(begin), until(front.is_empty()))]
        mod search {
            #[wave(edges(graph, from = front))]
            fn step(e: Edge, round: Round, steps: u32, dist: &Buf<Atomic<u32>>, front: &Push, found: &Push) {
                if round < steps && dist[e.dst].compare_exchange(FAR, round + 1) {
                    front.push(e.dst);
                }
                if dist[e.dst].load() <= steps {
                    found.push(e.dst); // again and again
                }
            }
        }
        #[wave(edges(graph, from = found), after(search))]
        fn go_on(e: Edge, sources: Round, weight: &[u32; 2], onward: &Buf<Atomic<u64>>) {
            onward[sources * 3].fetch_add(1);
            onward[sources * 3 + 1].fetch_add(u64::from(weight[0]) * u64::from(e.index + 1));
            onward[sources * 3 + 2].fetch_add(u64::from(weight[1]) * u64::from(e.dst + 1) + u64::from(e.src));
        }
        #[wave(edges(back, from = found), after(search))]
        fn come_in(sources: Round, inward: &Buf<Atomic<u32>>) {
            inward[sources].fetch_add(1);
        }
        #[wave(items(found), after(search))]
        fn forget(sources: Round, dist: &mut u32, reached: &Buf<Atomic<u32>>) {
            *dist = FAR;
            reached[sources].fetch_add(1);
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let weight: Vec<[u32; 2]> = (0..g.m()).map(|_| [rng.below(100), rng.below(1000)]).collect();
    let mut session = p::Session::new(rt, p::Topology { graph: &g.csr, weight: &weight }).map_err(err)?;
    for turn in 0..3 {
        let count = if g.n == 0 { 0 } else { [1, 5, 0][turn] };
        let start = rng.vec(count, g.n as u32);
        let steps = rng.below(4);
        let out = session.run(p::Run { start: &start, steps, count: count as u32 }).map_err(err)?;
        let mut reached = vec![];
        let mut onward = vec![];
        let mut inward = vec![];
        for &s in &start {
            let dist = g.bfs(&[s], |_, _, _| true);
            let inside = |v: u32| dist[v as usize] <= steps;
            reached.push((0..g.n as u32).filter(|&v| inside(v)).count() as u32);
            let mut sums = [0u64; 3];
            for (k, &(a, b)) in g.edges.iter().enumerate() {
                if inside(a) {
                    sums[0] += 1;
                    sums[1] += u64::from(weight[k][0]) * (k as u64 + 1);
                    sums[2] += u64::from(weight[k][1]) * (u64::from(b) + 1) + u64::from(a);
                }
            }
            onward.push(sums);
            inward.push(g.edges.iter().filter(|e| inside(e.1)).count() as u32);
        }
        same("reached", &out.reached, &reached)?;
        same("onward", &out.onward, &onward)?;
        same("inward", &out.inward, &inward)?;
    }
    Ok(())
}
