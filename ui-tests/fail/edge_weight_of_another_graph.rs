//! Edges of two graphs have different numbers.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        heavy: Csr,
        #[topology]
        light: Csr,
        #[topology(per = edge(light))]
        weight: u32,
        #[output(per = node)]
        sum: u32,
    }

    #[wave(edges(heavy))]
    fn add(e: Edge, weight: &u32, sum: &Buf<Atomic<u32>>) {
        sum[e.dst].fetch_add(*weight);
    }
}

fn main() {}
