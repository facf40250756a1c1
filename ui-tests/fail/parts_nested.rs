//! A local fixpoint in a local fixpoint.

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
        #[fixpoint(per = funcs, until(round == 3))]
        mod inner {
            #[wave(nodes)]
            fn step(mark: &mut u32) {
                *mark += 1;
            }
        }
    }
}

fn main() {}
