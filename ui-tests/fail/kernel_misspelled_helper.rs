//! A name near a `#[device] fn` in scope is suggested.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    #[device]
    fn mixed(x: u32) -> u32 {
        x ^ (x >> 16)
    }
    *y = mixd(i);
}

fn main() {}
