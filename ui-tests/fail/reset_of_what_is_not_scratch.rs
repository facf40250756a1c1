//! Only scratch begins anew, by `reset = round`, and only where it is used.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, reset = round)]
        out: u32,
        #[input(per = node, reset = round)]
        given: u32,
        #[scratch(per = node, reset = rounds)]
        by_name: u32,
        #[scratch(per = node, reset)]
        without: u32,
    }

    #[fixpoint(until(round == 3), max_rounds = 10)]
    mod rounds {
        #[wave(nodes)]
        fn step(given: &u32, by_name: &mut u32, without: &mut u32, out: &mut u32) {
            *by_name += *given;
            *without += *by_name;
            *out += *without;
        }
    }
}

fn main() {}
