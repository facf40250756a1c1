//! A relation is no list: tuples are inserted, or asked for.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 9)]
        path: Relation<(u32, u32)>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Append<(u32, u32)>) {
        path.append((e.src, e.dst));
    }
}

fn main() {}
