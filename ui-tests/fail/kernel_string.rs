//! Strings are refused by name.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let s = "text";
    *y = i + s.len() as u32;
}

fn main() {}
