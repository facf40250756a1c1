//! The same for an atomic.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, at: &Buf<Atomic<u32>>) {
    at[i].fetch_mni(3);
}

fn main() {}
