//! `self` belongs to functions of an `impl`.

use vyre::prelude::*;

#[device]
fn twice(self) -> u32 {
    2
}

#[kernel]
fn pass(i: Index, y: &mut u32) {
    *y = twice(i);
}

fn main() {}
