//! What says which edges are swept only reads, and nothing that the sweep changes.

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
            #[output(per = node, init = u32::MAX)]
            dist: u32,
        }

        #[wave(nodes)]
        fn begin(v: Node, dist: &mut u32, front: &Push) {
            if v == 0 {
                *dist = 0;
                front.push(v);
            }
        }

        #[fixpoint(after(begin), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                    front.push(e.dst);
                }
            }
        }
    }
}

#[wave_graph]
mod counts {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(e: Edge, used: &Buf<Atomic<u32>>) -> bool {
        used[e.dst].fetch_add(1) == 0
    }
}

#[wave_graph]
mod no_field {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(e: Edge, unused: &Buf<u32>) -> bool {
        unused[e.dst] == 0
    }
}

#[wave_graph]
mod found {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(e: Edge, bfs_dist: &Buf<u32>) -> bool {
        bfs_dist[e.dst] > 3
    }
}

fn main() {}
