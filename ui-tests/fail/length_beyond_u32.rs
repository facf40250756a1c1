//! Literal lengths are u32, wherever they stand.

use vyre::prelude::*;

#[wave_graph]
mod sorted {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = 4294967296)]
        table: u32,
        #[input(per = 99999999999)]
        given: u32,
        #[scratch(per = node, bits = 8589934592)]
        rows: Bits,
        #[frontier(capacity = 4294967296)]
        pairs: Frontier<(u32, u32)>,
        #[list(capacity = node * 99999999999999999999)]
        found: List<u32>,
        #[output(per = 4294967295)]
        most: u32,
    }

    #[wave(range(4294967296))]
    fn a(i: Index, rows: &Bits) {
        rows.set(i, i);
    }
}

mod counted {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod ones {
        pub struct Data {
            #[output(per = n)]
            one: u32,
            n: u32,
        }

        #[wave(range(n))]
        fn fill(one: &mut u32) {
            *one = 1;
        }
    }
}

#[wave_graph]
mod many {
    #[include(n = 4294967296)]
    use super::counted::ones;

    pub struct Data {}
}

fn main() {}
