//! A `#[kernel]` has no topology.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, graph: &Csr, y: &mut u32) {
    *y = graph.degree(i);
}

fn main() {}
