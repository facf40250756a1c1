//! What a wave has swept of a list is not kept where each round begins the list anew.

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
            #[reduce(sum)]
            sum: u32,
        }

        #[wave(nodes)]
        fn note(v: Node, log: &Append<u32>) {
            log.append(v);
        }

        #[wave(items(log, new), after(note))]
        fn recent(v: u32, sum: &Reduce<Sum<u32>>) {
            sum.add(v);
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
