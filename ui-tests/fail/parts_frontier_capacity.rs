//! A part has as much room as it has nodes or edges.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[frontier(capacity = 100)]
        front: Frontier,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(items(front))]
        fn step(v: Node, mark: &Buf<Atomic<u32>>) {
            mark[v].fetch_add(1);
        }
    }
}

fn main() {}
