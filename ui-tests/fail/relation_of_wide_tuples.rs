//! The scalars of a tuple have up to 64 bits together.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Fact {
        pub from: u32,
        pub to: u32,
        pub kind: u8,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 9)]
        facts: Relation<Fact>,
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, facts: &Insert<Fact>) {
        facts.insert(Fact { from: e.src, to: e.dst, kind: 1 });
    }
}

fn main() {}
