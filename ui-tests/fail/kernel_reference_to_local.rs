//! References to locals are refused.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let x = i;
    let r = &x;
    *y = *r;
}

fn main() {}
