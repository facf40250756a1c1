//! `?` is refused.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let x: Option<u32> = Some(i);
    *y = x?;
}

fn main() {}
