//! There are no references to locals, in patterns either.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let ref k = i;
    *y = *k;
}

fn main() {}
