//! Independent errors are all reported in one compile.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let f = |x: u32| x;
    let s = "text";
    unsafe {}
    *y = i;
}

fn main() {}
