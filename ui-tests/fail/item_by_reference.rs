//! An item is taken by value.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: u32,
    }

    #[wave(nodes)]
    fn step(v: &Node, dist: &mut u32) {
        *dist = *v;
    }
}

fn main() {}
