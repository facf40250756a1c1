//! What begins anew with each round is used in a fixpoint alone.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, init = 7, reset = round)]
        seen: u32,
        #[reduce(sum)]
        left: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, seen: &mut u32) {
        *seen = v;
    }

    #[fixpoint(after(init), until(left == 0), max_rounds = 10)]
    mod rounds {
        #[wave(nodes)]
        fn step(seen: &mut u32, left: &Reduce<Sum<u32>>) {
            *seen += 1;
            left.add(*seen);
        }
    }
}

fn main() {}
