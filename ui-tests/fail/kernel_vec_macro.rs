//! `vec!` needs a heap, which lanes do not have.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let v = vec![1u32, 2, 3];
    *y = v[0] + i;
}

fn main() {}
