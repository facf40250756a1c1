//! A relation has an attribute, as every field of `Data` that is no scalar.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        path: Relation<(u32, u32)>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }
}

fn main() {}
