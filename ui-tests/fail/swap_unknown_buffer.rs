//! A misspelled buffer in `swap` is reported with the one that is meant.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        now: u32,
        #[output(per = node)]
        next: u32,
    }

    #[fixpoint(until(round == 3), swap(now, nxt))]
    mod rounds {
        #[wave(nodes)]
        fn step(now: &u32, next: &mut u32) {
            *next = *now + 1;
        }
    }
}

fn main() {}
