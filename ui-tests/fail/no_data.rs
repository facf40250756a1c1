//! A wave graph has a `Data` struct.

use vyre_cuda::prelude::*;

#[wave_graph]
mod pass {
    #[wave(once)]
    fn a() {}
}

fn main() {}
