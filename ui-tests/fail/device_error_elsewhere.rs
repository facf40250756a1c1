//! What is wrong in a `#[device] fn` is said once, where it stands.

use vyre::prelude::*;

mod math {
    use vyre::prelude::*;

    #[device]
    pub fn listed(x: u32) -> u32 {
        let all = vec![x, x];
        all[0]
    }
}

#[kernel]
fn k(i: Index, y: &mut u32) {
    *y = math::listed(i);
}

fn main() {}
