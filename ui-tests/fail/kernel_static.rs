//! Statics are host memory.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    static LIMIT: u32 = 5;
    *y = LIMIT + i;
}

fn main() {}
