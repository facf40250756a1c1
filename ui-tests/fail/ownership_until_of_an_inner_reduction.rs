//! A condition asks for what its own fixpoint or the graph owns: what an inner fixpoint resets is not it.

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

    #[fixpoint(until(!changed))]
    mod phases {
        #[fixpoint(until(!changed))]
        mod rounds {
            #[wave(edges(graph))]
            fn raise(e: Edge, label: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
                let most = label[e.src].load();
                if label[e.dst].fetch_max(most) < most {
                    changed.or(true);
                }
            }
        }
    }
}

fn main() {}
