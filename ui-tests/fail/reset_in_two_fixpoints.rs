//! What begins anew belongs to the rounds of one fixpoint.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        seen: u32,
        #[output(per = node)]
        out: u32,
    }

    #[fixpoint(until(round == 3), max_rounds = 10)]
    mod first {
        #[wave(nodes)]
        fn mark(v: Node, seen: &mut u32) {
            *seen = v;
        }
    }

    #[fixpoint(after(first), until(round == 3), max_rounds = 10)]
    mod second {
        #[wave(nodes)]
        fn take(seen: &u32, out: &mut u32) {
            *out += *seen;
        }
    }
}

fn main() {}
