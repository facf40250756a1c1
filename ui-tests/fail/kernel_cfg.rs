use vyre::prelude::*;

#[kernel]
fn fast(i: Index, o: &mut u32) {
    #[cfg(any())]
    let i = 50;
    *o = i;
}

fn main() {}
