//! A side of a grid has a value in each cell, which a length of the including graph has not.

use vyre::prelude::*;

#[wave_graph]
#[pass(id = "ui.fill", unproven)]
mod fill {
    pub struct Data {
        #[output(per = w * h)]
        out: u32,
        w: u32,
        h: u32,
    }

    #[wave(range(w, h))]
    fn number(c: Cell, out: &mut u32) {
        *out = c.x;
    }
}

#[wave_graph]
#[pass(id = "ui.whole", unproven)]
mod whole {
    #[include(w = node)]
    use super::fill;

    pub struct Data {
        #[topology]
        graph: Csr,
    }
}

fn main() {}
