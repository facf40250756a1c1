//! A topology's rows have a width that is known when the session begins.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = width)]
        sets: Bits,
        width: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, sets: &Bits) {
        sets.get(v, 0);
    }
}

fn main() {}
