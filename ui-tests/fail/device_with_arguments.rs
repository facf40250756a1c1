//! `#[device]` takes no arguments.

use vyre::prelude::*;

#[device(inline)]
fn half(x: f32) -> f32 {
    x / 2.0
}

fn main() {}
