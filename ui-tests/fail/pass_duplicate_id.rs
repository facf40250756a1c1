//! An id names one pass.
use vyre::prelude::*;

#[kernel]
#[pass(id = "x.double", unproven)]
fn double(x: &mut f32) {
    *x *= 2.0;
}

mod other {
    use vyre::prelude::*;

    #[kernel]
    #[pass(id = "x.double", unproven)]
    fn twice(x: &mut f32) {
        *x += *x;
    }
}

fn main() {}
