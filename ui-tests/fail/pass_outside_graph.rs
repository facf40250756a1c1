//! `#[pass]` alone explains where it belongs.

use vyre_cuda::prelude::*;

#[pass(id = "x")]
fn f() {}

fn main() {}
