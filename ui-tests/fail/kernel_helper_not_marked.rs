//! A call to a function that is not marked `#[device]` says what to write.

use vyre::prelude::*;

fn twice(x: u32) -> u32 {
    x * 2
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = twice(i);
}

fn main() {}
