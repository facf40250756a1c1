//! A size is `edge(graph)`, not `edges`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = edges)]
        front: Frontier,
    }

    #[wave(nodes)]
    fn a(v: Node, front: &Push) {
        front.push(v);
    }
}

fn main() {}
