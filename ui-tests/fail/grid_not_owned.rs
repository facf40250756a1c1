//! A cell owns the elements of buffers with as many as the grid has cells.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = w)]
        sum: u32,
        #[output(per = w * h)]
        out: u32,
        w: u32,
        h: u32,
    }

    #[wave(range(w, h))]
    fn fill(c: Cell, sum: &mut u32) {
        *sum = c.y;
    }

    #[wave(range(h, w))]
    fn other_way_round(c: Cell, out: &mut u32) {
        *out = c.y;
    }
}

fn main() {}
