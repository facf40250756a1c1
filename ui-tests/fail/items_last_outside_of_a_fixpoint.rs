//! `last` is what the round before found, so it is in a fixpoint.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 9)]
        path: Relation<(u32, u32)>,
        #[output(per = node)]
        ends: u32,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }

    #[wave(items(path, last), after(begin))]
    fn count(p: (u32, u32), ends: &Buf<Atomic<u32>>) {
        ends[p.1].fetch_add(1);
    }
}

fn main() {}
