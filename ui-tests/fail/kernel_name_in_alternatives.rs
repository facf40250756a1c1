//! Alternatives inside a pattern bind no names.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = match (i, (2, *y)) {
        (0, (n, 1) | (1, n)) => n,
        _ => 2,
    };
}

fn main() {}
