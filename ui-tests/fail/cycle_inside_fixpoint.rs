//! A cycle of `after` within one round is still a cycle.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[scratch(per = node)]
        mark: u32,
        source: u32,
    }

    #[fixpoint(until(front.is_empty()), max_rounds = 10)]
    mod levels {
        #[wave(items(front), after(second))]
        fn first(v: Node, dist: &Buf<Atomic<u32>>) {
            dist[v].store(1);
        }

        #[wave(nodes, after(first))]
        fn second(v: Node, mark: &mut u32) {
            *mark = v;
        }
    }
}

fn main() {}
