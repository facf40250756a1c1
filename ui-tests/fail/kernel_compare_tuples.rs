//! Tuples are compared field by field.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    if (i, 1) < (2, i) {
        *y = 1;
    }
}

fn main() {}
