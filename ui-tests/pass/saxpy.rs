//! A standalone kernel keeps its function and gains a module with `run`.
#![deny(warnings)]

use vyre::prelude::*;

#[kernel]
fn saxpy(_i: Index, a: f32, x: &f32, y: &mut f32) {
    *y = a * *x + *y;
}

fn main() {
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let x = [1.0, 2.0, 3.0];
        let mut y = [10.0, 20.0, 30.0];
        saxpy::run(&runtime, 2.0, &x, &mut y).unwrap();
        assert_eq!(y, [12.0, 24.0, 36.0]);
    }
}
