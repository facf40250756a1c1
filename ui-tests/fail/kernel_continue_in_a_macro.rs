//! What a macro takes is not rewritten, so a turn that goes on from there would not be counted.

use vyre::prelude::*;

#[kernel]
fn odd(i: Index, out: &mut u32) {
    let mut left = i;
    while left > 0 {
        left -= 1;
        assert!({
            if left % 2 == 0 {
                continue;
            }
            left < 100
        });
        *out += 1;
    }
}

fn main() {}
