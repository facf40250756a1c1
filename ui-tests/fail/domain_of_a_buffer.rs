//! `items` sweeps a frontier.

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

    #[wave(items(dist))]
    fn init(v: Node, mark: &Buf<Atomic<u32>>) {
        mark[v].store(1);
    }
}

fn main() {}
