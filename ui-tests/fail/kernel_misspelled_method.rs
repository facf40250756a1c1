//! A misspelled method is suggested.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &Buf<Atomic<u32>>) {
    y[0].fetch_mim(i);
}

fn main() {}
