//! There is no `Option` in a lane: a sentinel value says that there is nothing.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let first: Option<u32> = None;
    *y = i;
    let _ = first;
}

fn main() {}
