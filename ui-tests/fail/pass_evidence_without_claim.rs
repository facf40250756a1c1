//! Evidence proves a claim.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", evidence = "evidence/made_up.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
