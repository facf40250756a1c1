//! Two buffers that are swapped begin with different values.

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
            #[scratch(per = node, init = 7)]
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
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::parts::part;
    }
}

fn main() {}
