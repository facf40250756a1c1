//! The tuples of a relation need not be nodes, so no edges leave them.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 99)]
        seen: Relation<u32>,
    }

    #[wave(once)]
    fn begin(seen: &Insert<u32>) {
        seen.insert(0);
    }

    #[fixpoint(after(begin), until(seen.settled()))]
    mod rounds {
        #[wave(edges(graph, from = seen))]
        fn go_on(e: Edge, seen: &Insert<u32>) {
            seen.insert(e.dst);
        }
    }
}

fn main() {}
