//! Formatting needs a heap.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let text = format!("{i}");
    *y = text.len() as u32;
}

fn main() {}
