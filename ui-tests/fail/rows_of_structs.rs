//! Rows have values of a scalar type.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        moves: Rows<(u32, u32)>,
        #[topology(per = node)]
        words: Rows<String>,
        #[output(per = node)]
        out: u32,
    }

    #[wave(nodes)]
    fn measure(graph: &Csr, v: Node, out: &mut u32) {
        *out = graph.degree(v);
    }
}

fn main() {}
