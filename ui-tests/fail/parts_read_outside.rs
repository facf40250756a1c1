//! What has a value for each part has none outside.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[reduce(count)]
        moved: u64,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(until(round == 3))]
    mod all {
        #[fixpoint(per = funcs, until(round == 3))]
        mod rounds {
            #[wave(items(front))]
            fn step(v: Node, mark: &Buf<Atomic<u32>>, moved: &Reduce<Count>) {
                mark[v].fetch_add(1);
                moved.inc();
            }
        }
    }

    #[wave(nodes, after(all))]
    fn late(moved: u64, mark: &mut u32) {
        *mark = moved as u32;
    }
}

fn main() {}
