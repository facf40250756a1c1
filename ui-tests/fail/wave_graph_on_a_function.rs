//! `#[wave_graph]` is for modules.

use vyre_cuda::prelude::*;

#[wave_graph]
fn pass() {}

fn main() {}
