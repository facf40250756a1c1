//! A length is known before a run: it is not read from a buffer.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node + x)]
        x: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn a(x: &Buf<Atomic<u32>>) {
        x[0].fetch_add(1);
    }
}

fn main() {}
