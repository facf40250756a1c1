//! `new` is for lists: of a relation, a wave sweeps what the round before found.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 99)]
        path: Relation<(u32, u32)>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, new))]
        fn join(p: (u32, u32), graph: &Csr, path: &Insert<(u32, u32)>) {
            for to in graph.neighbors(p.1) {
                path.insert((p.0, to));
            }
        }
    }
}

fn main() {}
