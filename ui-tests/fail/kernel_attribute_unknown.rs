use vyre::prelude::*;

#[kernel]
fn fast(i: Index, o: &mut u32) {
    #[unroll(4)]
    for k in 0..4 {
        *o += i * k;
    }
}

fn main() {}
