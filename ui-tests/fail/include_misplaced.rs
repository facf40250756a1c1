//! An `#[include]` stands on a `use` in the graph or in a fixpoint.

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
mod in_a_module {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u32,
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        mod parts {
            #[include(graph = graph)]
            use super::super::super::search;
        }

        #[wave(nodes, after(search))]
        fn add(search_dist: &u32, sum: &mut u32) {
            *sum += *search_dist;
        }
    }
}

#[wave_graph]
mod on_a_fixpoint {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u32,
    }

    #[include(graph = graph)]
    #[fixpoint(until(round == 2))]
    mod phases {
        use super::super::search;

        #[wave(nodes, after(search))]
        fn add(search_dist: &u32, sum: &mut u32) {
            *sum += *search_dist;
        }
    }
}

fn main() {}
