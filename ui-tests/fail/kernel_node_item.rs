//! The item of a `#[kernel]` is an index.

use vyre::prelude::*;

#[kernel]
fn k(v: Node, y: &mut u32) {
    *y = v;
}

fn main() {}
