//! Rows are numbered over all parts.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[topology(per = node)]
        text: Rows<u8>,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        out: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(begin), per = parts, until(front.is_empty()))]
    mod rounds {
        #[wave(items(front))]
        fn measure(v: Node, text: &Rows<u8>, out: &mut u32) {
            *out = text.row(v).len();
        }
    }
}

fn main() {}
