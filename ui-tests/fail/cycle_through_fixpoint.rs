//! A fixpoint is one node of the graph: it can be part of a cycle.

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

    #[wave(once, after(levels))]
    fn init(front: &Push) {
        front.push(0);
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 10)]
    mod levels {
        #[wave(items(front))]
        fn visit(v: Node, dist: &Buf<Atomic<u32>>) {
            dist[v].store(1);
        }
    }
}

fn main() {}
