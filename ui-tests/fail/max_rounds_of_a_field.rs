//! A round limit is a literal or a constant: a scalar is for the condition.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = 4)]
        x: u32,
        steps: u32,
    }

    #[fixpoint(until(x_is_full(round)), max_rounds = steps)]
    mod turns {
        #[wave(range(4))]
        fn a(x: &mut u32) {
            *x += 1;
        }
    }

    #[device]
    fn x_is_full(round: u32) -> bool {
        round > 3
    }
}

fn main() {}
