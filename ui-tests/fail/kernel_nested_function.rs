//! A function inside a kernel has to be marked `#[device]`.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    fn twice(x: u32) -> u32 {
        x * 2
    }
    *y = twice(i);
}

fn main() {}
