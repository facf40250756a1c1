//! A struct is ordered if it says so.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    #[derive(Clone, Copy, PartialEq)]
    struct Hop {
        cost: u32,
        to: u32,
    }

    let (a, b) = (Hop { cost: i, to: 1 }, Hop { cost: 2, to: i });
    if (a, 1) < (b, 1) {
        *y = a.to + b.cost;
    }
}

fn main() {}
