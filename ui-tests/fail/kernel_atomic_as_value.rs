//! An atomic is read by `load`.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, a: f32, x: &f32, table: &Buf<u32>, counts: &Buf<Atomic<u32>>, y: &mut f32) {
    if counts[i] > 3 {
        *y = a * *x;
    }
    counts[table[i]].fetch_add(1);
}

fn main() -> Result<(), vyre::Error> {
    let (mut counts, mut y) = ([0; 3], [1.0, 2.0]);
    k::run(&Runtime::native(), 2.0, &[1.0, 2.0], &[1, 2], &mut counts, &mut y)?;
    Ok(())
}
