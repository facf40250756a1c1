//! An argument that there is not is named.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speed = 2.0, unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
