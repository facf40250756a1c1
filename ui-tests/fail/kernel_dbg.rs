//! A lane has no console.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = dbg!(i);
}

fn main() {}
