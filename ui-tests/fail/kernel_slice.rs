//! A buffer is indexed by one number; there are no slices of it.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let part = [1u32, 2, 3];
    *y = part[0..2][i as usize];
}

fn main() {}
