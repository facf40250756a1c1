//! A function that the language lacks says what comes nearest.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut f32) {
    *y = (i as f32).powf(2.0);
}

fn main() {}
