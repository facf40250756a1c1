//! What the included graph writes is not given from outside.

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
            #[output(per = node)]
            dist: u32,
            source: u32,
        }

        #[wave(nodes)]
        fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
            *dist = u32::MAX;
            if v == source {
                *dist = 0;
                front.push(v);
            }
        }

        #[fixpoint(after(init), until(front.is_empty()))]
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
mod analysis {
    #[include(graph = calls, source = entry, dist = known)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        dist_of: u32,
        entry: u32,
        #[input(per = node)]
        known: u32,
    }

    #[wave(nodes)]
    fn mark(dist_of: &mut u32, v: Node) {
        *dist_of = v;
    }
}

fn main() {}
