//! A `#[device] fn` that checks or has constants has a module of its own name beside it.

use vyre::prelude::*;

mod mix {
    use vyre::prelude::*;

    const PRIME: u32 = 0x9E37_79B1;

    #[device]
    pub fn mix(x: u32) -> u32 {
        x.wrapping_mul(PRIME)
    }
}

pub use mix::mix;

#[wave_graph]
mod pass {
    use super::mix;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(v: Node, x: &mut u32) {
        *x = mix(v);
    }
}

fn main() {
    println!("{}", pass::PLAN);
}
