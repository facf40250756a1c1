//! What is there during the whole run must fit its budget.
use vyre::prelude::*;

#[wave_graph(limits(nodes = 1_000_000, edges = 8_000_000), budget = "32 MiB")]
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
