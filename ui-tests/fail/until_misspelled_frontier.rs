//! A misspelled frontier in `until` is reported with the one that is meant.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
    }

    #[fixpoint(until(fornt.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn go(e: Edge, front: &Push) {
            front.push(e.dst);
        }
    }
}

fn main() {}
