//! There are no slices of slices: a topology, or rows in one buffer.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, rows: &[&[u32]], y: &mut u32) {
    *y = rows[i as usize][0];
}

fn main() {}
