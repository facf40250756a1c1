//! A list of a graph that is included in a fixpoint.

use vyre::prelude::*;

mod parts {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod part {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[list(capacity = node)]
            log: List<u32>,
        }

        #[wave(nodes)]
        fn note(v: Node, log: &Append<u32>) {
            log.append(v);
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
