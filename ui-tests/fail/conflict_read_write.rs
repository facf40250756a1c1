//! An unordered reader and writer race.

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
    fn write(v: Node, dist: &mut u32) {
        *dist = v;
    }

    #[wave(nodes)]
    fn read(v: Node, dist: &u32, mark: &mut u32) {
        *mark = *dist + v;
    }
}

fn main() {}
