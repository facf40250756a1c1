//! What begins anew is not swapped.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        next: u32,
        #[scratch(per = node)]
        now: u32,
    }

    #[fixpoint(until(round == 3), max_rounds = 10, swap(now, next))]
    mod rounds {
        #[wave(nodes)]
        fn step(now: &u32, next: &mut u32) {
            *next += *now;
        }
    }
}

fn main() {}
