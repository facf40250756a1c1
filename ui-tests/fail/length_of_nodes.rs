//! A node is `node`, also where a length is computed.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = nodes * 2)]
        x: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn a(x: &Buf<Atomic<u32>>) {
        x[0].fetch_add(1);
    }
}

fn main() {}
