//! Rows of bits say how wide they are.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        live: Bits,
    }

    #[wave(nodes)]
    fn init(v: Node, live: &Bits) {
        live.set(v, 0);
    }
}

fn main() {}
