//! A grid has two sides.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = 8)]
        out: u32,
    }

    #[wave(range(2, 2, 2))]
    fn fill(c: Cell, out: &mut u32) {
        *out = c.x;
    }

    #[wave(range())]
    fn none(out: &Buf<u32>) {
        let _ = out;
    }
}

fn main() {}
