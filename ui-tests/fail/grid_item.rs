//! The item of a grid is a cell, and that of other domains is not.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = w * h)]
        out: u32,
        #[output(per = w)]
        top: u32,
        w: u32,
        h: u32,
    }

    #[wave(range(w, h))]
    fn fill(i: Index, out: &mut u32) {
        *out = i;
    }

    #[wave(range(w))]
    fn first(c: Cell, top: &mut u32) {
        *top = c.x;
    }
}

#[kernel]
fn alone(c: Cell, y: &mut u32) {
    *y = c.x;
}

fn main() {}
