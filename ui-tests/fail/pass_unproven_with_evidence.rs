//! A pass is proved or it is not.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", unproven, evidence = "evidence/made_up.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
