//! A condition asks for what its own fixpoint or the graph owns: what an outer fixpoint flips is not it.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node)]
        mark: u32,
    }

    #[fixpoint(until(front.is_empty()))]
    mod levels {
        #[wave(items(front))]
        fn take(v: Node, mark: &Buf<Atomic<u32>>) {
            mark[v].store(1);
        }

        #[fixpoint(after(take), until(round > 2 || front.len() > 100))]
        mod spread {
            #[wave(nodes)]
            fn push(v: Node, mark: &u32, front: &Push) {
                if *mark > 1 {
                    front.push(v);
                }
            }
        }
    }
}

fn main() {}
