//! A kernel returns nothing.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) -> u32 {
    *y = i;
    i
}

fn main() {}
