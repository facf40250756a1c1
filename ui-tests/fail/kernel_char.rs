//! Characters are not in the language; bytes are.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = 'x' as u32 + i;
}

fn main() {}
