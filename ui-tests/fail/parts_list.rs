//! Inside, lists are only appended to.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[list(capacity = node)]
        found: List<u32>,
        #[list(capacity = node)]
        places: List<u32>,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(found.len() == 9))]
    mod rounds {
        #[wave(items(found))]
        fn step(i: u32, mark: &Buf<Atomic<u32>>) {
            mark[i].fetch_add(1);
        }

        #[wave(nodes, after(step))]
        fn place(v: Node, places: &Append<u32>, mark: &mut u32) {
            *mark = places.append(v);
        }
    }
}

fn main() {}
