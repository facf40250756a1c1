//! Patterns in conditions need an enum, which lanes do not have.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    if let 0 | 1 = i {
        *y = 1;
    }
}

fn main() {}
