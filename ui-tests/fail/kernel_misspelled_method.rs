//! A misspelled method is suggested.

use vyre_cuda::prelude::*;

#[kernel]
fn k(i: Index, y: &Buf<Atomic<u32>>) {
    y[0].fetch_mim(i);
}

fn main() {}
