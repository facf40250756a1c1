//! What is no part's is read only.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[output(per = 16)]
        histogram: u32,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(mark: &u32, histogram: &Buf<Atomic<u32>>) {
            histogram[*mark % 16].fetch_add(1);
        }
    }
}

fn main() {}
