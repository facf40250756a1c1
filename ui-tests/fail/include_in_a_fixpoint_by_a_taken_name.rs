//! Two included graphs of one name, in different scopes.

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
            #[scratch(per = node)]
            seen: u32,
            #[output(per = node)]
            dist: u32,
        }

        #[fixpoint(until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(
                e: Edge,
                round: Round,
                seen: &Buf<Atomic<u32>>,
                dist: &Buf<Atomic<u32>>,
                front: &Push,
            ) {
                if seen[e.dst].compare_exchange(0, 1) {
                    dist[e.dst].store(round);
                    front.push(e.dst);
                }
            }
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = graph)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        graph: Csr,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::search::bfs;
    }
}

fn main() {}
