//! Recursion is refused with its path.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    #[device]
    fn ping(x: u32) -> u32 {
        if x == 0 { 0 } else { pong(x - 1) }
    }
    #[device]
    fn pong(x: u32) -> u32 {
        ping(x)
    }
    *y = ping(i);
}

fn main() {}
