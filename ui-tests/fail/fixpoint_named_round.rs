//! `round` is the innermost fixpoint's round.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = 4)]
        x: u32,
    }

    #[fixpoint(until(round == 2))]
    mod round {
        #[wave(range(4))]
        fn a(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() {}
