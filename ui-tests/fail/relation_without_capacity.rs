//! A relation is bounded: it says how many tuples it has room for.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(output)]
        path: Relation<(u32, u32)>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }
}

fn main() {}
