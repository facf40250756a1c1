//! `let .. else` needs an enum, which lanes do not have.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let 0 = i else { return };
    *y = 1;
}

fn main() {}
