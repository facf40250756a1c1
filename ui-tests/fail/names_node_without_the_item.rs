//! A scalar that is taken as `Node` stands beside the item, not in its place.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        root: Node,
    }

    #[wave(nodes)]
    fn a(x: &mut u32, root: Node) {
        *x = root;
    }
}

fn main() {}
