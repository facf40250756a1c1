//! A wave graph has at least one wave.

use vyre_cuda::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        n: u32,
    }
}

fn main() {}
