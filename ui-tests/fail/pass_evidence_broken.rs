//! An evidence file has its columns.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.5, evidence = "evidence/broken.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
