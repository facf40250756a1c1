//! A graph has one `Data`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    pub struct Data {
        #[input(per = node)]
        y: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

fn main() {}
