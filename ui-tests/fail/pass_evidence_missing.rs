//! An evidence file must be there.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.5, evidence = "evidence/nothing.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
