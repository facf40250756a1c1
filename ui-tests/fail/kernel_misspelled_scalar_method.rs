//! One mistake is one message: the methods that were meant stand in the function that rustc sees.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, x: &f32, y: &mut u32) {
    let mut few = [3, 1, 2];
    few.swpa(0, 2);
    *y = i.rotate_lef(3).wraping_add(few[0]) + x.sqrtt() as u32 + i.isqrt();
}

fn main() {}
