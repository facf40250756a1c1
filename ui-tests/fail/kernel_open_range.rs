//! A `for` loop needs both ends.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    for k in i.. {
        *y = k;
        break;
    }
}

fn main() {}
