//! Outside of fixpoints, an index is filled once.
use vyre::prelude::*;

#[wave_graph]
mod pass {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Pair {
        pub(crate) from: u32,
        pub(crate) to: u32,
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 100, index(from))]
        path: Relation<Pair>,
        #[output(per = node)]
        count: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<Pair>) {
        path.insert(Pair {
            from: e.src,
            to: e.dst,
        });
    }

    #[wave(items(path), after(begin))]
    fn extend(p: Pair, path: &Insert<Pair>) {
        for q in path.with_from(p.to) {
            path.insert(Pair {
                from: p.from,
                to: q.to,
            });
        }
    }
}

fn main() {}
