//! The round is taken as a `Round`.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[fixpoint(until(round > 3))]
    mod turns {
        #[wave(nodes)]
        fn a(round: u32, x: &mut u32) {
            *x = round;
        }
    }
}

fn main() {}
