//! A function of floats that lanes do not have comes with a way to write it.

use vyre::prelude::*;

#[kernel]
fn k(x: &f32, y: &mut f32) {
    *y = x.powf(2.5);
}

fn main() {}
