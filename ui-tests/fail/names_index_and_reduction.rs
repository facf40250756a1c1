//! A first parameter with the item's type is the item: a reduction may not have its name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[output(per = 4)]
        x: u32,
        #[reduce(max)]
        i: u32,
    }

    #[wave(range(4))]
    fn a(i: Index, x: &mut u32) {
        *x = i;
    }
}

fn main() {}
