//! Kernels find structs by their last names.

use vyre::prelude::*;

#[wave_graph]
mod graph {
    pub struct Data {
        #[output(per = 4)]
        y: u32,
    }

    #[derive(Clone, Copy)]
    struct Pair {
        a: u32,
        b: u32,
    }

    #[device]
    mod other {
        #[derive(Clone, Copy)]
        pub struct Pair {
            pub b: u32,
            pub a: u32,
        }
    }

    #[wave(range(4))]
    fn find(i: Index, y: &mut u32) {
        let pair = other::Pair { a: i, b: 0 };
        let here = Pair { a: pair.b, b: pair.a };
        *y = here.a + here.b;
    }
}

fn main() {}
