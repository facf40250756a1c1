//! Floats are in no total order, so tuples of them have no least one.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, x: &f32, y: &mut u32) {
    let (_, least) = (*x, i).min((1.5, *y));
    *y = least;
}

fn main() {}
