//! What no wave uses has no round.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        unused: u32,
        #[output(per = node)]
        out: u32,
    }

    #[fixpoint(until(round == 3), max_rounds = 10)]
    mod rounds {
        #[wave(nodes)]
        fn step(out: &mut u32) {
            *out += 1;
        }
    }
}

fn main() {}
