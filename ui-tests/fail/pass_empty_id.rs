//! A pass has an id.
use vyre_cuda::prelude::*;

#[kernel]
#[pass(id = " ", unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
