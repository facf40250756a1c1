//! Unknown macros are refused by name.

use vyre::prelude::*;

macro_rules! double {
    ($x:expr) => {
        $x * 2
    };
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = double!(i);
}

fn main() {}
