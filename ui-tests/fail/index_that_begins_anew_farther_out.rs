//! An index that begins anew is walked by the waves of the fixpoint whose rounds those are.
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
        #[relation(capacity = 100, index(from), reset = round)]
        path: Relation<Pair>,
        #[output(per = node)]
        count: u32,
        #[reduce(count)]
        more: u64,
    }

    #[fixpoint(until(more == 0))]
    mod rounds {
        #[wave(edges(graph))]
        fn begin(e: Edge, path: &Insert<Pair>, more: &Reduce<Count>) {
            path.insert(Pair {
                from: e.src,
                to: e.dst,
            });
            if e.src == 9 {
                more.inc();
            }
        }

        #[fixpoint(after(begin), until(round == 3))]
        mod inner {
            #[wave(nodes)]
            fn tally(v: Node, path: &Lookup<Pair>, count: &mut u32) {
                let mut found = 0;
                for p in path.with_from(v) {
                    found += p.to;
                }
                *count = found;
            }
        }
    }
}

fn main() {}
