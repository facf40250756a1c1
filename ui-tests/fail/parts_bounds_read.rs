//! Bounds are not read inside.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, funcs: &Buf<u32>, mark: &mut u32) {
            *mark += funcs[0];
        }
    }
}

fn main() {}
