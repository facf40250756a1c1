//! Trait objects need a vtable on the device.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, shape: &dyn Send, x: u32, y: &mut u32) {
    *y = i + x;
}

fn main() {}
