//! Slices as parameters of a kernel.

use vyre::prelude::*;

#[kernel]
fn saxpy(i: Index, a: f32, x: &[f32], y: &mut [f32]) {
    y[i] = a * x[i];
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = vec![1.0f32; 4];
    let mut y = vec![2.0f32; 4];
    saxpy::run(&Runtime::native(), 2.0, &x, &mut y)?;
    println!("{y:?}");
    Ok(())
}
