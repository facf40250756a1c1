//! A pass names its evidence or says that it has none.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", speedup = 2.0)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

fn main() {}
