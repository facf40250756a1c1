//! A buffer that any lane writes is one of atomics.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: u32,
    }

    #[wave(edges(graph))]
    fn init(e: Edge, dist: &mut Buf<u32>) {
        dist[e.dst] = 1;
    }
}

fn main() {}
