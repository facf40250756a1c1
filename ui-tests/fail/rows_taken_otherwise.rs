//! A wave takes rows as what they are.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[output(per = node)]
        out: u32,
    }

    #[wave(nodes)]
    fn whole(v: Node, text: &Buf<u8>, out: &mut u32) {
        *out = u32::from(text[v]);
    }

    #[wave(nodes)]
    fn other(v: Node, text: &Rows<u32>, out: &mut u32) {
        *out = text.row(v).at(0);
    }

    #[wave(nodes)]
    fn own(text: &mut Row<u8>, out: &mut u32) {
        *out = text.len();
    }
}

#[kernel]
fn alone(i: Index, text: &Rows<u8>, y: &mut u32) {
    *y = text.row(i).len();
}

fn main() {}
