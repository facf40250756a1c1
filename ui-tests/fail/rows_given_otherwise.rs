//! Rows are given with the session.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        text: Rows<u8>,
        #[output(per = node)]
        found: Rows<u32>,
        names: Rows<u8>,
    }

    #[wave(nodes)]
    fn measure(v: Node, text: &Rows<u8>) {
        let _ = text.row(v).len();
    }
}

fn main() {}
