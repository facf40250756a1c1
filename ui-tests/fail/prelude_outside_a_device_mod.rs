//! A module does not see what is in scope around it.

use vyre::prelude::*;

#[device]
mod math {
    #[device]
    pub fn two(x: Node) -> u32 {
        x * 2
    }
}

#[kernel]
pub fn saxpy(a: f32, x: &f32, y: &mut f32) {
    *y += a * *x + math::two(1) as f32;
}

#[kernel]
pub fn hist(i: Index, x: &Buf<u32>, y: &Buf<Atomic<u32>>) {
    if i < x.len() { y[x[i]].fetch_add(1); }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    saxpy::run(&Runtime::native(), 1.0, &[1.0], &mut [1.0])?;
    Ok(())
}
