//! Evidence that was measured of other code proves nothing: the pass builds, as unproven, with a warning.
#![deny(warnings)]
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 1.8, evidence = "evidence/of_other_code.csv")]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
