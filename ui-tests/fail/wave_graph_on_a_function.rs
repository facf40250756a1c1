//! `#[wave_graph]` is for modules.

use vyre::prelude::*;

#[wave_graph]
fn pass() {}

fn main() {}
