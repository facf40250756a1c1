//! A checked method gives an `Option`, which lanes do not have.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = i.checked_add(1).unwrap_or(0);
}

fn main() {}
