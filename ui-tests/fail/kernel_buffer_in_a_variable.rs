//! Handles are used by the name of their parameter.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, xs: &Buf<u32>, y: &mut u32) {
    let other = xs;
    *y = other[i];
}

fn main() {}
