//! A claim is at most what every sample shows.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.9, evidence = "evidence/made_up.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
