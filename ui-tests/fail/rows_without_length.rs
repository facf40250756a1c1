//! Rows say how many they are, and nothing else.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology]
        text: Rows<u8>,
        #[topology(per = node, bits = 8)]
        wide: Rows<u8>,
        #[output(per = node)]
        out: u32,
    }

    #[wave(nodes)]
    fn measure(v: Node, text: &Rows<u8>, out: &mut u32) {
        *out = text.row(v).len();
    }
}

fn main() {}
