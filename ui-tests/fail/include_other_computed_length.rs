//! Fields that are shared have one length: computed alike, and from equal constants.

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
            #[output(per = node * 2)]
            dist: u32,
            source: u32,
        }

        #[wave(nodes)]
        fn init(v: Node, source: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            if v == source {
                dist[v].store(1);
                front.push(v);
            }
        }

        #[fixpoint(after(init), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(0, round + 2) {
                    front.push(e.dst);
                }
            }
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = calls, source = entry, dist = lengths)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        dist_of: u32,
        entry: u32,
        #[scratch(per = 4 * node)]
        lengths: u32,
    }

    #[wave(nodes)]
    fn mark(dist_of: &mut u32, v: Node) {
        *dist_of = v;
    }
}

fn main() {}
