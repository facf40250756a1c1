//! A misspelled constant is rustc's error, at the user's own token.

use vyre::prelude::*;

const LIMIT: u32 = 7;

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = i + LIMTI;
}

fn main() {}
