//! A scalar `node` beside the size `node` would be ignored.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        node: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32, node: u32) {
        *x += node;
    }
}

fn main() {}
