//! Of a computed length, the elements of a part are not known.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[scratch(per = node * 4)]
        cells: u32,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, cells: &Buf<Atomic<u32>>, mark: &mut u32) {
            cells[v * 4].store(*mark);
        }
    }
}

fn main() {}
