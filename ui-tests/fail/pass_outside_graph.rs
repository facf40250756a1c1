//! `#[pass]` alone explains where it belongs.

use vyre::prelude::*;

#[pass(id = "x")]
fn f() {}

fn main() {}
