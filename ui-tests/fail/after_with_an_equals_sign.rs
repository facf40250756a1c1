//! `after(..)` in the form of a value.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, dist: &mut u32) {
        *dist = v;
    }

    #[wave(nodes, after = init)]
    fn next(dist: &mut u32) {
        *dist += 1;
    }
}

fn main() {}
