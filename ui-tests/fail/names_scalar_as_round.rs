//! A scalar of the run is no round.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        steps: Round,
    }

    #[wave(nodes)]
    fn a(x: &mut u32, steps: u32) {
        *x = steps;
    }
}

fn main() {}
