//! Alternatives of a pattern bind no names.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = match (i, 2) {
        (0, n) | (n, 0) => n,
        _ => 2,
    };
}

fn main() {}
