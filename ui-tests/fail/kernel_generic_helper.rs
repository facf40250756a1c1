//! Helpers have concrete types.

use vyre::prelude::*;

#[kernel]
fn k(i: Index, y: &mut u32) {
    #[device]
    fn same<T>(x: T) -> T {
        x
    }
    *y = same(i);
}

fn main() {}
