//! `use` belongs outside.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    use std::cmp::min;
    *y = min(i, 3);
}

fn main() {}
