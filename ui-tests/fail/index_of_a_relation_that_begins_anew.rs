//! In each round this index is filled once, after all that inserts.
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
}

fn main() {}
