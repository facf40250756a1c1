//! The item's type follows the domain.

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

    #[wave(nodes)]
    fn init(e: Edge, dist: &mut u32) {
        *dist = e.src;
    }
}

fn main() {}
