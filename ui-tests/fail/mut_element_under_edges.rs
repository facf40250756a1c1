//! A per-node `&mut T` under edges could alias.

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

    #[wave(edges(graph))]
    fn touch(e: Edge, dist: &mut u32) {
        *dist = e.index;
    }
}

fn main() {}
