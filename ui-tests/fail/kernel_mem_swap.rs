//! `mem::swap` takes references to locals; a tuple assignment says the same.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let (mut a, mut b) = (i, 1);
    std::mem::swap(&mut a, &mut b);
    *y = a + b;
}

fn main() {}
