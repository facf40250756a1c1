//! Heap types are refused by name.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let mut list: Vec<u32> = Vec::new();
    list.push(i);
    *y = list[0];
}

fn main() {}
