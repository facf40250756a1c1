//! Of two buffers that are swapped, one is shared.

use vyre::prelude::*;

mod parts {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod part {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[scratch(per = node)]
            now: u32,
            #[scratch(per = node)]
            next: u32,
        }

        #[fixpoint(until(round == 2), swap(now, next))]
        mod rounds {
            #[wave(nodes)]
            fn step(now: &u32, next: &mut u32) {
                *next = *now + 1;
            }
        }
    }
}

#[wave_graph]
mod analysis {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        now: u32,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph, now = now)]
        use super::super::parts::part;
    }
}

fn main() {}
