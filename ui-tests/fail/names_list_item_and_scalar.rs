//! The item of a list is a first parameter of its type: a scalar may not have its name.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[list(capacity = 10)]
        found: List<u32>,
        #[reduce(sum)]
        sum: u32,
        x: u32,
    }

    #[wave(items(found))]
    fn a(x: u32, sum: &Reduce<Sum<u32>>) {
        sum.add(x);
    }
}

fn main() {}
