//! A struct that the macro cannot see is refused by name.

use vyre::prelude::*;

struct Point {
    x: u32,
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    let p = Point { x: i };
    *y = p.x;
}

fn main() {}
