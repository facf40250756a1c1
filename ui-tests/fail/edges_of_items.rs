//! A frontier of items has no edges.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 100)]
        work: Frontier<u64>,
    }

    #[wave(once)]
    fn init(work: &Push<u64>) {
        work.push(1);
    }

    #[wave(edges(graph, from = work), after(init))]
    fn visit(e: Edge) {
        let _ = e;
    }
}

fn main() {}
