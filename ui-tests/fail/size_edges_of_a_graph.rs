//! A size is `edge(graph)`, not `edges(graph)`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = edges(graph))]
        x: u32,
    }

    #[wave(edges(graph))]
    fn a(x: &mut u32) {
        *x += 1;
    }
}

fn main() {}
