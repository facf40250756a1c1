use vyre::prelude::*;

#[kernel]
fn fast(i: Index, #[cfg(any())] n: u32, o: &mut u32) {
    *o = i;
}

fn main() {}
