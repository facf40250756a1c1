//! The same for an atomic.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, at: &Buf<Atomic<u32>>) {
    at[i].fetch_mni(3);
}

fn main() {}
