//! A scalar is taken by value.

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
    fn init(v: Node, source: &u32, dist: &mut u32) {
        *dist = v + *source;
    }
}

fn main() {}
