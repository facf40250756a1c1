//! A size is `node`, not `nodes`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = nodes)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32) {
        *x += 1;
    }
}

fn main() {}
