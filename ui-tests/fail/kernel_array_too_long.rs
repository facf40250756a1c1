//! Local arrays live in registers.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let table = [0u32; 1000];
    *y = table[(i % 1000) as usize];
}

fn main() {}
