//! Limits are numbers of nodes and edges, which u32 indices can name.

use vyre::prelude::*;

#[wave_graph(limits(nodes = 4294967295, edges = 99999999999999999999), budget = 99999999999999999999)]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(x: &mut u32) {
        *x = 1;
    }

    #[fixpoint(after(a), until(round == 3), max_rounds = 4294967296)]
    mod rounds {
        #[wave(nodes)]
        fn b(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() {}
