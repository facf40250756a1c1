//! What was not measured is nothing that a pipeline could be told to take.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", unproven, mandatory)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
