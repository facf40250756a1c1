//! What a session is created from has two parts here.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: f32,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[reduce(sum)]
        reached: u64,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push, reached: &Reduce<Sum<u64>>) {
        *dist = v;
        if v == source {
            front.push(v);
            reached.add(1);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 100)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(u32::MAX, e.src) {
                front.push(e.dst);
            }
        }
    }
}

fn main() -> Result<(), vyre::Error> {
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("edges name nodes");
    let runtime = Runtime::native();
    let mut session = pass::Session::new(&runtime, &graph)?;
    let out = session.run(pass::Run { source: 0 })?;
    assert_eq!((out.dist, out.reached), (vec![0, 0], 1));
    Ok(())
}
