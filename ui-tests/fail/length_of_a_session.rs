//! A topology buffer is given before a run's scalars are.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node + n)]
        at: u32,
        #[output(per = 1)]
        x: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn a(x: &Buf<Atomic<u32>>) {
        x[0].fetch_add(1);
    }
}

fn main() {}
