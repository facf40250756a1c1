//! A row is asked for before its values are.

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
    fn ask(v: Node, text: &Rows<u8>, out: &mut u32) {
        for c in text {
            *out += u32::from(c);
        }
        *out += u32::from(text.row(v)[v as usize]);
        *out += text.row(v).count();
        *out += u32::from(text.row(v).first());
        *out += text.offsets().len();
        for c in text.row(v).filter(|c| c != 0) {
            *out += u32::from(c);
        }
    }
}

fn main() {}
