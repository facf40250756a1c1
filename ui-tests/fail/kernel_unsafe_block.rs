//! `unsafe` is refused.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    unsafe {
        *y = i;
    }
}

fn main() {}
