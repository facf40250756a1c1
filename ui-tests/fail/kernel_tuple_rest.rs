//! A tuple that is taken apart by `let` names every part: its type may be known only later.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    let (a, ..) = (i, 2, 3);
    *y = a;
}

fn main() {}
