//! `#[kernel]` marks a function.

use vyre::prelude::*;

#[kernel]
struct Lanes {
    x: u32,
}

fn main() {}
