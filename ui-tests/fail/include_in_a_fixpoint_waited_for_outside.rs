//! `after` of a graph that is included in another scope.

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
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u32,
        #[scratch(per = node)]
        looked: u32,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::search::bfs;

        #[fixpoint(until(round == 1))]
        mod turns {
            #[wave(nodes, after(bfs))]
            fn look(bfs_dist: &u32, looked: &mut u32) {
                *looked += *bfs_dist;
            }
        }
    }

    #[wave(nodes, after(bfs))]
    fn add(bfs_dist: &u32, sum: &mut u32) {
        *sum = *bfs_dist;
    }
}

fn main() {}
