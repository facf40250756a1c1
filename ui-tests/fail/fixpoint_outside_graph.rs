//! `#[fixpoint]` alone explains where it belongs.

use vyre::prelude::*;

#[fixpoint(max_rounds = 3)]
mod levels {}

fn main() {}
