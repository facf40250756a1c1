//! A first parameter with the item's type is the item: a field may not have its name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        v: u32,
    }

    #[wave(nodes)]
    fn a(v: Node, x: &mut u32) {
        *x = v;
    }
}

fn main() {}
