//! An index finds tuples by some of their columns.
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
        #[relation(capacity = 100, index(from, to))]
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
        for _ in path.with_from_and_to(v, v) {
            found += 1;
        }
        *count = found;
    }
}

fn main() {}
