//! `swap` needs two buffers of one type, shape and role.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        a: u32,
        #[scratch(per = node)]
        b: f32,
        #[reduce(sum)]
        left: u32,
    }

    #[fixpoint(until(left == 0), max_rounds = 10, swap(a, b))]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, a: &u32, left: &Reduce<Sum<u32>>) {
            left.add(*a + v);
        }
    }
}

fn main() {}
