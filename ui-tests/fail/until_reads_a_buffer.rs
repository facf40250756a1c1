//! `until` sees what a round leaves behind, not buffers.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = 1)]
        done: u32,
    }

    #[fixpoint(until(done[0] == 1))]
    mod rounds {
        #[wave(nodes)]
        fn go(v: Node, graph: &Csr, done: &Buf<Atomic<u32>>) {
            done[0].fetch_or(u32::from(graph.degree(v) == 0));
        }
    }
}

fn main() {}
