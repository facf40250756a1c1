//! A fixpoint has a round: a constant limit of none is refused where it is named.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    const ROUNDS: u32 = 0;

    pub struct Data {
        #[output(per = 4)]
        x: u32,
    }

    #[fixpoint(until(round > 3), max_rounds = ROUNDS)]
    mod turns {
        #[wave(range(4))]
        fn a(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() {}
