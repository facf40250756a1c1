//! Strings are refused by name.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let s = "text";
    *y = i + s.len() as u32;
}

fn main() {}
