//! A field gives the type of a value.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: Atomic<u32>,
    }

    #[wave(edges(graph))]
    fn init(e: Edge, dist: &Buf<Atomic<u32>>) {
        dist[e.dst].fetch_add(1);
    }
}

fn main() {}
