//! A call of a `#[device] fn` of another module is checked by rustc, as every call is.

use vyre::prelude::*;

mod math {
    use vyre::prelude::*;

    #[device]
    pub fn half(x: f32) -> f32 {
        x / 2.0
    }
}

#[kernel]
fn k(i: Index, y: &mut f32) {
    *y = math::half(i);
}

fn main() {}
