//! `async` is refused.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let f = async { i };
    drop(f);
    *y = i;
}

fn main() {}
