//! A wave that asks what a relation has comes before or after one that inserts.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 9)]
        path: Relation<(u32, u32)>,
        #[reduce(count)]
        both: u64,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        path.insert((e.src, e.dst));
    }

    #[wave(edges(graph))]
    fn ask(e: Edge, path: &Lookup<(u32, u32)>, both: &Reduce<Count>) {
        if path.contains((e.dst, e.src)) {
            both.inc();
        }
    }
}

fn main() {}
