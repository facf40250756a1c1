//! Closures are refused by name.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let f = |x: u32| x + 1;
    *y = f(i);
}

fn main() {}
