//! Lengths have five operators.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node << 2)]
        x: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn a(x: &Buf<Atomic<u32>>) {
        x[0].fetch_add(1);
    }
}

fn main() {}
