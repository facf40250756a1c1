//! The item of a `#[kernel]` is an index.

use vyre_cuda::prelude::*;

#[kernel]
fn k(v: Node, y: &mut u32) {
    *y = v;
}

fn main() {}
