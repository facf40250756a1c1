//! Two unordered waves that write one buffer race; the message offers the `after`.

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
    fn ones(v: Node, dist: &mut u32) {
        *dist = v;
    }

    #[wave(nodes)]
    fn zeros(v: Node, dist: &mut u32) {
        *dist = v + 1;
    }
}

fn main() {}
