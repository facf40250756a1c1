//! An uppercase name in a pattern is a constant: rustc says where there is none.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = match i {
        N2 if N2 == 3 => 1,
        _ => 0,
    };
}

fn main() {}
