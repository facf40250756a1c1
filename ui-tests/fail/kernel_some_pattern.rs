//! Lanes have no `Option`, in a pattern either.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = matches!(i, Some(3)) as u32;
}

fn main() {}
