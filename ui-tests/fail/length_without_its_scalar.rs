//! A length is a scalar of `Data`, and has to be declared.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = depots)]
        place: u32,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(v: Node, place: &Buf<u32>, x: &mut u32) {
        *x = place[v];
    }
}

fn main() {}
