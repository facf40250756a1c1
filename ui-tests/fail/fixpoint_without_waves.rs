//! An empty fixpoint does nothing.

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

    #[wave(once)]
    fn init(front: &Push) {
        front.push(0);
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 10)]
    mod levels {}
}

fn main() {}
