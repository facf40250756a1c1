//! The fixpoint around swaps what begins anew with its rounds.

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
        before: u32,
    }

    #[fixpoint(until(round == 3), swap(part_now, before))]
    mod phases {
        #[include(graph = graph)]
        use super::super::parts::part;
    }
}

fn main() {}
