//! What is missing is shown where it is missing.

use vyre::prelude::*;

#[wave_graph(crate = )]
mod pass {
    pub struct Data {
        #[output(per = )]
        x: u32,
    }

    #[wave(range(3))]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

#[wave_graph(limits(nodes = , edges = 4))]
mod limited {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes;;;)]
    fn a(x: &mut u32) {
        *x = 1;
    }
}

fn main() {}
