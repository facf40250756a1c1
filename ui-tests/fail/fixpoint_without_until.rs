//! A fixpoint says when it ends.

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

    #[fixpoint(max_rounds = 10)]
    mod levels {
        #[wave(items(front))]
        fn visit(v: Node, dist: &Buf<Atomic<u32>>) {
            dist[v].store(1);
        }
    }
}

fn main() {}
