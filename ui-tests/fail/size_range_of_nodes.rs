//! The nodes are swept by `nodes`, not by a range.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(range(nodes))]
    fn a(x: &mut u32) {
        *x += 1;
    }
}

fn main() {}
