//! Breadth-first search: a round a level.

use vyre::prelude::*;

const UNSEEN: u32 = u32::MAX;

#[wave_graph]
pub mod bfs {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}
