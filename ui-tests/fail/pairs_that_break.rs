//! What ends is a loop that the wave writes; for the next pair there is `return`.
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
        #[relation(capacity = 100, index(from), index(to))]
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

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(pairs(path.to = path.from, last))]
        fn join(p: Pair, q: Pair, path: &Insert<Pair>) {
            if p.from == q.to {
                break;
            }
            path.insert(Pair {
                from: p.from,
                to: q.to,
            });
        }
    }
}

fn main() {}
