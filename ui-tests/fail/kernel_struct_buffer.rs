//! A `#[kernel]` has no buffers of structs.

use vyre::prelude::*;

#[derive(Clone, Copy)]
struct P { a: f32 }

#[kernel]
fn saxpy(i: Index, a: f32, x: &P, y: &mut f32) {
    *y = x.a;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = vec![1.0f32; 4];
    let mut y = vec![2.0f32; 4];
    saxpy::run(&Runtime::native(), 2.0, &x, &mut y)?;
    println!("{y:?}");
    Ok(())
}
