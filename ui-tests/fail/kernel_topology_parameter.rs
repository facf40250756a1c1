//! A `#[kernel]` has no topology.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, graph: &Csr, y: &mut u32) {
    *y = graph.degree(i);
}

fn main() {}
