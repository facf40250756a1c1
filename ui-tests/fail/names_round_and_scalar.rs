//! A parameter typed `Round` is the round: a field may not have its name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
        steps: u32,
    }

    #[fixpoint(until(round > 3))]
    mod turns {
        #[wave(nodes)]
        fn a(x: &mut u32, steps: Round) {
            *x = steps;
        }
    }
}

fn main() {}
