//! A two-wave cycle.

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

    #[wave(once, after(second))]
    fn first(front: &Push) {
        front.push(0);
    }

    #[wave(once, after(first))]
    fn second(front: &Push) {
        front.push(0);
    }
}

fn main() {}
