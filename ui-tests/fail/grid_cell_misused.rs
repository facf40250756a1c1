//! What a cell does not have.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[input(per = w * h)]
        from: u32,
        #[output(per = w * h)]
        out: u32,
        w: u32,
        h: u32,
    }

    #[wave(range(w, h))]
    fn fill(c: Cell, from: &Buf<u32>, out: &mut u32) {
        c.x = 1;
        let d = c;
        *out = from[c] + c.left() + from[c.at(c.x, 0)] + from[c.at(1)] + d.x;
    }
}

fn main() {}
