//! An index is walked by the waves of its own graph.
use vyre::prelude::*;

#[wave_graph]
pub(crate) mod closure {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 100, index(0))]
        path: Relation<(u32, u32)>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn extend(p: (u32, u32), path: &Insert<(u32, u32)>) {
            for q in path.with_0(p.1) {
                path.insert((p.0, q.1));
            }
        }
    }
}

#[wave_graph]
mod pass {
    #[include(graph = graph)]
    use super::closure;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        count: u32,
    }

    #[wave(nodes, after(closure))]
    fn tally(v: Node, closure_path: &Lookup<(u32, u32)>, count: &mut u32) {
        let mut found = 0;
        for p in closure_path.with_0(v) {
            found += p.1;
        }
        *count = found;
    }
}

fn main() {}
