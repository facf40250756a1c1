//! Integers have at most 64 bits.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let wide: i128 = 3;
    *y = wide as u32 + i;
}

fn main() {}
