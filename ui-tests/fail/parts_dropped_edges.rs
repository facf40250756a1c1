//! Without crossing edges, edges have other numbers.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg, crossing = dropped)]
        funcs: Parts,
        #[topology(per = edge(cfg))]
        cost: u32,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(edges(cfg))]
        fn step(e: Edge, cost: &u32, mark: &Buf<Atomic<u32>>) {
            mark[e.dst].fetch_add(*cost);
        }
    }
}

fn main() {}
