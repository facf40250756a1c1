//! All sweeps of a frontier lie in one scope: an outer and an inner fixpoint are two.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        seen: u32,
    }

    #[fixpoint(until(front.is_empty()))]
    mod rounds {
        #[wave(items(front))]
        fn settle(v: Node, seen: &Buf<Atomic<u32>>) {
            seen[v].fetch_add(1);
        }

        #[fixpoint(after(settle), until(round > 3))]
        mod steps {
            #[wave(edges(graph, from = front))]
            fn follow(e: Edge, front: &Push) {
                front.push(e.dst);
            }
        }
    }
}

fn main() {}
