//! A reverse has the parts of its graph.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(reverse_of = cfg)]
        back: Csr,
        #[topology(parts_of = back)]
        funcs: Parts,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(mark: &mut u32) {
            *mark += 1;
        }
    }
}

fn main() {}
