//! `matches!` is not expanded before a kernel is compiled.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = matches!(i, 1 | 2) as u32;
}

fn main() {}
