//! Parts share out nodes.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[frontier(capacity = 100)]
        front: Frontier<(u32, u32)>,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(items(front))]
        fn step(item: (u32, u32), mark: &Buf<Atomic<u32>>) {
            mark[item.0].fetch_add(item.1);
        }
    }
}

fn main() {}
