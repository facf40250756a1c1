//! A domain that does not exist; a near miss is suggested.

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

    #[wave(node)]
    fn init(v: Node, dist: &mut u32) {
        *dist = v;
    }
}

fn main() {}
