//! A pass has an id.
use vyre::prelude::*;

#[kernel]
#[pass(id = " ", unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
