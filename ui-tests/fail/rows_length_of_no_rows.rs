//! A length `row(..)` names rows.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[output(per = row(graph))]
        a: u32,
        #[output(per = row(a))]
        b: u32,
        #[output(per = row(texts))]
        c: u32,
        #[output(per = row())]
        d: u32,
        #[output(per = rows(text))]
        e: u32,
    }

    #[wave(range(row(graph)))]
    fn fill(a: &mut u32) {
        *a = 1;
    }
}

fn main() {}
