//! `edges` of an include names a `#[device]` function of the graph, which says yes or no to an edge.

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
mod misspelled {
    #[include(graph = roads, edges = admited)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(e: Edge) -> bool {
        e.src != e.dst
    }
}

#[wave_graph]
mod elsewhere {
    #[include(graph = roads, edges = super::admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }
}

#[wave_graph]
mod of_a_node {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(v: u32) -> bool {
        v != 0
    }
}

#[wave_graph]
mod unmarked {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    fn admitted(e: Edge) -> bool {
        e.src != e.dst
    }
}

#[wave_graph]
mod a_number {
    #[include(graph = roads, edges = admitted)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        roads: Csr,
        #[scratch(per = node)]
        used: u32,
    }

    #[device]
    fn admitted(e: Edge) -> u32 {
        e.src
    }
}

fn main() {}
