//! What an included graph sweeps in a fixpoint is its fixpoint's.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod bfs {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[frontier]
            front: Frontier,
        }

        #[fixpoint(until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, front: &Push) {
                front.push(e.dst);
            }
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = calls)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        left: u32,
    }

    #[wave(items(bfs_front), after(bfs))]
    fn mark(v: Node, left: &Buf<Atomic<u32>>) {
        left[v].store(1);
    }
}

fn main() {}
