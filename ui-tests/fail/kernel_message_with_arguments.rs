//! A message is text: a lane cannot format.

use vyre::prelude::*;

#[kernel]
fn checked(i: Index, x: &u32) {
    assert!(*x < 50, "x is {x}");
    assert_ne!(*x, i, "item {}", i);
    if *x == 7 {
        panic!(concat!("se", "ven"));
    }
}

fn main() {}
