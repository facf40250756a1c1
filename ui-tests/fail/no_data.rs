//! A wave graph has a `Data` struct.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    #[wave(once)]
    fn a() {}
}

fn main() {}
