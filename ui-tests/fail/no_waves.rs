//! A wave graph has at least one wave.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        n: u32,
    }
}

fn main() {}
