//! The tuples of a key come in any order.
use vyre::prelude::*;

#[wave_graph(deterministic)]
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

    #[wave(nodes, after(begin))]
    fn tally(v: Node, path: &Lookup<Pair>, count: &mut u32) {
        let mut found = 0;
        for p in path.with_from(v) {
            found = p.to;
        }
        *count = found;
    }
}

fn main() {}
