//! Rows that begin with all bits end with a word.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 40, init = true)]
        rows: Bits,
    }

    #[wave(nodes)]
    fn a(v: Node, rows: &Bits) {
        rows.unset(v, 1);
    }
}

fn main() {}
