//! A wave that uses a field without taking it is told which parameter to add.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn init(v: Node) {
        dist[v].store(0);
    }
}

fn main() {}
