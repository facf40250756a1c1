//! `after` names a wave or fixpoint beside it; a near miss is suggested.

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

    #[wave(once, after(initt))]
    fn next(front: &Push) {
        front.push(0);
    }
}

fn main() {}
