//! Recursion of a `#[device] fn` outside the kernel.

use vyre::prelude::*;

#[device]
fn power(x: u32, n: u32) -> u32 {
    if n == 0 { 1 } else { x * power(x, n - 1) }
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = power(i, 3);
}

fn main() {}
