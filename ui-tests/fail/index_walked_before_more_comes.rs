//! An index has what its fixpoint files: nothing may be inserted behind that.
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

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn extend(p: Pair, path: &Insert<Pair>) {
            for q in path.with_from(p.to) {
                path.insert(Pair {
                    from: p.from,
                    to: q.to,
                });
            }
        }
    }

    #[fixpoint(after(rounds), until(path.settled()))]
    mod more {
        #[wave(items(path, last))]
        fn mirror(p: Pair, path: &Insert<Pair>) {
            path.insert(Pair {
                from: p.to,
                to: p.from,
            });
        }
    }

    #[wave(nodes, after(rounds, more))]
    fn tally(v: Node, path: &Lookup<Pair>, count: &mut u32) {
        let mut found = 0;
        for p in path.with_from(v) {
            found += p.to;
        }
        *count = found;
    }
}

fn main() {}
