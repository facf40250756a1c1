//! A relation that begins anew with each round is not given back.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 99, output, reset = round)]
        near: Relation<u32>,
        nodes: u32,
    }

    #[fixpoint(until(round + 1 >= nodes))]
    mod sources {
        #[wave(once)]
        fn look(round: Round, graph: &Csr, near: &Insert<u32>) {
            for v in graph.neighbors(round) {
                near.insert(v);
            }
        }
    }
}

fn main() {}
