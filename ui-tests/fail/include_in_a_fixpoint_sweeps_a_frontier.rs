//! A frontier that is swept outside of the fixpoints of a graph, which is included in a fixpoint.

use vyre::prelude::*;

mod parts {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod part {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[frontier]
            front: Frontier,
            #[output(per = node)]
            dist: u32,
        }

        #[wave(nodes)]
        fn begin(v: Node, front: &Push) {
            front.push(v);
        }

        #[wave(items(front), after(begin))]
        fn mark(v: Node, dist: &Buf<Atomic<u32>>) {
            dist[v].store(1);
        }
    }
}

#[wave_graph]
mod analysis {
    pub struct Data {
        #[topology]
        graph: Csr,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::parts::part;
    }
}

fn main() {}
