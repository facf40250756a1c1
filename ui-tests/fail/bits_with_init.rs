//! Rows of bits start empty or full.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, bits = 8, init = 1)]
        rows: Bits,
    }

    #[wave(nodes)]
    fn a(v: Node, rows: &Bits) {
        rows.set(v, 1);
    }
}

fn main() {}
