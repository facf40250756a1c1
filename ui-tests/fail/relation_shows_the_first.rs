//! Which item inserts a tuple first is open, so what is done for it is a function of the tuple.

use vyre::prelude::*;

#[wave_graph(deterministic)]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 9)]
        ends: Relation<u32>,
        #[output(per = node)]
        parent: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, ends: &Insert<u32>, parent: &Buf<Atomic<u32>>) {
        if ends.insert(e.dst) {
            parent[e.dst].store(e.src);
        }
    }
}

fn main() {}
