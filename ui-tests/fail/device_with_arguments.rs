//! `#[device]` takes no arguments.

use vyre_cuda::prelude::*;

#[device(inline)]
fn half(x: f32) -> f32 {
    x / 2.0
}

fn main() {}
