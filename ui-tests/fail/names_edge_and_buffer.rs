//! A first parameter with the item's type is the item: a buffer may not have its name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = edge(graph))]
        e: u32,
    }

    #[wave(edges(graph))]
    fn a(e: Edge) {
        assert!(e.src < e.dst);
    }
}

fn main() {}
