//! `contains` is about what a relation had before the wave: `&Lookup`, which does not insert.

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
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        if !path.contains((e.dst, e.src)) {
            path.insert((e.src, e.dst));
        }
    }
}

fn main() {}
