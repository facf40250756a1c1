//! Edges are left out of sweeps, not of rows that a wave goes through itself.

use vyre::prelude::*;

mod parts {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod walk {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[output(per = node)]
            sum: u32,
        }

        #[wave(nodes)]
        fn add(v: Node, graph: &Csr, sum: &mut u32) {
            for w in graph.neighbors(v) {
                *sum += w;
            }
        }
    }

    #[wave_graph]
    pub mod two {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[topology(reverse_of = graph)]
            back: Csr,
            #[output(per = node)]
            sum: u32,
        }

        #[wave(edges(back))]
        fn add(e: Edge, sum: &Buf<Atomic<u32>>) {
            sum[e.dst].fetch_add(1);
        }
    }

    #[wave_graph]
    pub mod none {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[output(per = node)]
            sum: u32,
        }

        #[wave(nodes)]
        fn add(v: Node, sum: &mut u32) {
            *sum = v;
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = roads, edges = admitted)]
    use super::parts::walk;
    #[include(graph = roads, edges = admitted)]
    use super::parts::two;
    #[include(graph = roads, edges = admitted)]
    use super::parts::none;

    pub struct Data {
        #[topology]
        roads: Csr,
    }

    #[device]
    fn admitted(e: Edge) -> bool {
        e.src != e.dst
    }
}

fn main() {}
