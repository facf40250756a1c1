//! A speedup is above 1.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.0, evidence = "evidence/made_up.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
