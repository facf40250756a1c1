//! A local fixpoint has no relations.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[relation(capacity = 99)]
        path: Relation<(u32, u32)>,
    }

    #[fixpoint(per = parts, until(round == 3))]
    mod rounds {
        #[wave(edges(graph))]
        fn join(e: Edge, path: &Insert<(u32, u32)>) {
            path.insert((e.src, e.dst));
        }
    }
}

fn main() {}
