//! The path of an included graph is seen from the fixpoint in which it stands.

use vyre::prelude::*;

#[wave_graph]
mod search {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, dist: &mut u32) {
        *dist = v;
    }
}

#[wave_graph]
mod whole {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u32,
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        #[include(graph = graph)]
        use super::search;

        #[wave(nodes, after(search))]
        fn add(search_dist: &u32, sum: &mut u32) {
            *sum += *search_dist;
        }
    }
}

fn main() {}
