//! Iterators are not in the language: a `for` loop says the same.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = (0..i).map(|k| k * k).sum();
}

fn main() {}
