//! `#[kernel]` marks a function.

use vyre_cuda::prelude::*;

#[kernel]
struct Lanes {
    x: u32,
}

fn main() {}
