//! A fixpoint runs for each part, and not for a graph.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = cfg, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(mark: &mut u32) {
            *mark += 1;
        }
    }
}

fn main() {}
