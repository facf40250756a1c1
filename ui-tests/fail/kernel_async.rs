//! `async fn` kernels are refused.

use vyre::prelude::*;

#[kernel]
async fn k(i: Index, y: &mut u32) {
    *y = i;
}

fn main() {}
