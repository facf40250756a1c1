//! Parts are those of a topology.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = mark)]
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
