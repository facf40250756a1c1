//! A parameter that is not a field of `Data` is not known; a near miss is suggested.

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
    fn init(v: Node, dsit: &mut u32) {
        *dsit = v;
    }
}

fn main() {}
