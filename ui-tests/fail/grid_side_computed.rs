//! A side of a grid is one value, which its cells have.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = (w + 2) * h)]
        out: u32,
        #[output(per = node * 4)]
        wide: u32,
        w: u32,
        h: u32,
    }

    #[wave(range(w + 2, h))]
    fn fill(c: Cell, out: &mut u32) {
        *out = c.x;
    }

    #[wave(range(node, 4))]
    fn number(c: Cell, wide: &mut u32) {
        *wide = c.y;
    }
}

fn main() {}
