//! Generic kernels are refused.

use vyre::prelude::*;

#[kernel]
fn k<T: Copy>(i: Index, y: &mut u32) {
    *y = i;
}

fn main() {}
