//! A cycle of `after` is shown with its path, and every edge of it is marked.

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

    #[wave(once, after(c))]
    fn a(front: &Push) {
        front.push(0);
    }

    #[wave(once, after(a))]
    fn b(front: &Push) {
        front.push(0);
    }

    #[wave(once, after(b))]
    fn c(front: &Push) {
        front.push(0);
    }
}

fn main() {}
