//! A frontier that nothing sweeps, of a graph that is included in a fixpoint.

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
        }

        #[wave(nodes)]
        fn begin(v: Node, front: &Push) {
            front.push(v);
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
