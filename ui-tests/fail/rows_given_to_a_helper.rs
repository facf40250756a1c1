//! A row stays in the wave: helpers take all rows, or values.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[output(per = row(text))]
        mark: u32,
    }

    #[device]
    fn exchange(mark: &mut Row<u32>, k: u32) {
        mark.swap(k, k + 1);
    }

    #[device]
    fn first(text: &Row<u8>) -> u8 {
        text[0]
    }

    #[wave(nodes)]
    fn change(text: &Row<u8>, mark: &mut Row<u32>) {
        exchange(mark, 0);
        mark[0] = u32::from(first(text));
    }
}

fn main() {}
