//! A reduction is updated by its method.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] dist: u32,
        #[reduce(sum)] total: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, dist: &mut u32, total: &Reduce<Sum<u32>>) {
        *total += 1;
    }
}

fn main() {}
