//! A name near a method of a handle is suggested.

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
    }

    #[wave(nodes)]
    fn mark_all(v: Node, front: &Push) {
        front.psuh(v);
    }
}

fn main() {}
