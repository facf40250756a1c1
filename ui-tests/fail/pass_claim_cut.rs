//! What is claimed is not cut in silence.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.80009, evidence = "evidence/weak.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

#[kernel]
#[pass(id = "x.triple", unproven, min_reuse = 18446744073709551616)]
fn triple(x: &mut f32) {
    *x *= 3.0;
}

fn main() {}
