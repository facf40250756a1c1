//! All updates of a reduction lie in one scope: before a fixpoint and inside it are two.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        label: u32,
        #[reduce(or)]
        changed: bool,
    }

    #[wave(nodes)]
    fn init(v: Node, label: &mut u32, changed: &Reduce<Or<bool>>) {
        *label = v;
        changed.or(true);
    }

    #[fixpoint(after(init), until(!changed))]
    mod rounds {
        #[wave(edges(graph))]
        fn lower(e: Edge, label: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
            let least = label[e.src].load();
            if label[e.dst].fetch_min(least) > least {
                changed.or(true);
            }
        }
    }
}

fn main() {}
