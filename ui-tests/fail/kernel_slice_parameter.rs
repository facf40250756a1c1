//! A buffer parameter is a `&Buf<T>`, not a slice.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, xs: &[u32], y: &mut u32) {
    *y = xs[i as usize];
}

fn main() {}
