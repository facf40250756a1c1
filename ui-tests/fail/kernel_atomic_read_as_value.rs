//! An element of an atomic buffer is read with `load`.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, at: &Buf<Atomic<u32>>, y: &mut u32) {
    let k = &at[i];
    *y = k.load();
}

fn main() {}
