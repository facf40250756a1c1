//! Printing is refused by name.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    println!("{i}");
    *y = i;
}

fn main() {}
