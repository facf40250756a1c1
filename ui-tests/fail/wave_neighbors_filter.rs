//! Adaptors of the neighbours are not in the language: a loop with `if` says the same.

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
    fn mark_all(v: Node, graph: &Csr, dist: &mut u32) {
        *dist = graph.neighbors(v).filter(|w| *w > v).count() as u32;
    }
}

fn main() {}
