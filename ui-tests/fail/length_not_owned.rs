//! An item owns an element only of what has one for each item.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node * 2)]
        x: u32,
        n: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

fn main() {}
