//! A range is written where it is used.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let range = 0..i;
    for k in range {
        *y += k;
    }
}

fn main() {}
