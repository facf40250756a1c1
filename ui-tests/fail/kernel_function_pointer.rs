//! Functions are called by name.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let f: fn(u32) -> u32 = u32::count_ones;
    *y = f(i);
}

fn main() {}
