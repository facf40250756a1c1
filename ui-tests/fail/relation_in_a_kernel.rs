//! A standalone kernel has no relations.

use vyre::prelude::*;

#[kernel]
fn note(i: Index, seen: &Insert<u32>) {
    seen.insert(i / 2);
}

fn main() {}
