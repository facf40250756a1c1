//! Unordered atomics of different operations race.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[scratch(per = node)]
        mark: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn low(v: Node, dist: &Buf<Atomic<u32>>) {
        dist[0].fetch_min(v);
    }

    #[wave(nodes)]
    fn high(v: Node, dist: &Buf<Atomic<u32>>) {
        dist[0].fetch_max(v);
    }
}

fn main() {}
