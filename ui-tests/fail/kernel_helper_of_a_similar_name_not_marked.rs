//! A helper whose name is nearly the kernel's is not taken for a misspelling of it.

use vyre::prelude::*;

fn axpy(a: f32, x: f32) -> f32 { a * x }

#[kernel]
fn saxpy(i: Index, a: f32, x: &f32, y: &mut f32) {
    *y = axpy(a, *x);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = vec![1.0f32; 4];
    let mut y = vec![2.0f32; 4];
    saxpy::run(&Runtime::native(), 2.0, &x, &mut y)?;
    println!("{y:?}");
    Ok(())
}
