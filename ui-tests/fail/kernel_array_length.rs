//! The length of a local array is a literal or a constant in sight.

use vyre::prelude::*;

const OUTSIDE: usize = 4;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let a = [i; OUTSIDE];
    let b = [i; 1000];
    *y = a[0] + b[0];
}

fn main() {}
