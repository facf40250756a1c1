//! Exact sums are of floats.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    pub struct Data {
        #[topology] graph: Csr,
        #[reduce(exact_sum)] total: u32,
        #[output(per = node)] out: u32,
    }

    #[wave(nodes)]
    fn give(total: u32, out: &mut u32) {
        *out = total;
    }
}

fn main() {}
