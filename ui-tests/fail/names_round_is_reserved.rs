//! A field cannot be named `round`: conditions mean the round by it.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        round: u32,
    }

    #[fixpoint(until(round > 3))]
    mod turns {
        #[wave(nodes)]
        fn a(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() {}
