//! Rows of bits that the caller gives are only read.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = 64)]
        sets: Bits,
        #[input(per = node, bits = 64)]
        uses: Bits,
    }

    #[wave(nodes)]
    fn init(v: Node, sets: &Bits, uses: &Bits) {
        if uses.get(v, 0) {
            uses.set(v, 1);
        }
        sets.or_from(v, uses, v);
    }
}

fn main() {}
