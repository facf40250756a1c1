//! Types are rustc's to check, and it alone reports a mismatch.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut f32) {
    *y = i;
}

fn main() {}
