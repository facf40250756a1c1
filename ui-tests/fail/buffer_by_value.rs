//! A buffer is taken by reference.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[scratch(per = node)]
        mark: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, dist: u32, mark: &mut u32) {
        *mark = dist + v;
    }
}

fn main() {}
