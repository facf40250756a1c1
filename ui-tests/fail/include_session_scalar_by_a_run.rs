//! What the included graph knows when a session begins, no run can say.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod total {
        pub struct Data {
            #[topology]
            n: u32,
            #[topology(per = n)]
            value: u32,
            #[reduce(sum)]
            sum: u64,
        }

        #[wave(range(n))]
        fn add(value: &u32, sum: &Reduce<Sum<u64>>) {
            sum.add(u64::from(*value));
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(n = count)]
    use super::search::total;

    pub struct Data {
        #[output(per = count)]
        large: u32,
        count: u32,
    }
}

fn main() {}
