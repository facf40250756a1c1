//! A budget is a number of bytes.
use vyre::prelude::*;

#[wave_graph(budget = "4 gigs")]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mark: u32,
    }

    #[wave(nodes)]
    fn set(mark: &mut u32) {
        *mark = 1;
    }
}

fn main() {}
