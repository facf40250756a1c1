//! A method that rows of bits do not have is one mistake, with the one that is meant.

use vyre::prelude::*;

#[wave_graph]
mod rows {
    pub struct Data {
        #[topology]
        g: Csr,
        #[scratch(per = node, bits = 7)]
        seen: Bits,
    }

    #[wave(nodes)]
    fn fill(v: Node, seen: &Bits) {
        seen.inset(v, 1);
    }

    #[wave(nodes, after(fill))]
    fn more(v: Node, seen: &Bits) {
        seen.insert(v, 1);
    }
}

fn main() {}
