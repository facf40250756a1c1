//! `#[fixpoint]` alone explains where it belongs.

use vyre_cuda::prelude::*;

#[fixpoint(max_rounds = 3)]
mod levels {}

fn main() {}
