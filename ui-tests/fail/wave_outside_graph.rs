//! `#[wave]` alone explains where it belongs.

use vyre::prelude::*;

#[wave(nodes)]
fn init(v: Node) {
    let _ = v;
}

fn main() {}
