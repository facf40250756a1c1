//! Recursion is refused by name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: u32,
    }

    #[device]
    fn collatz(n: u32) -> u32 {
        if n <= 1 { 0 } else { collatz(n / 2) + 1 }
    }

    #[wave(nodes)]
    fn init(v: Node, out: &mut u32) {
        *out = collatz(v);
    }
}

fn main() {}
