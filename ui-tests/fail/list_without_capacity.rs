//! A list is bounded: it says how many items it holds.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list]
        log: List<u32>,
    }

    #[wave(nodes)]
    fn init(v: Node, log: &Append<u32>) {
        log.append(v);
    }
}

fn main() {}
