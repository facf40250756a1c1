//! A group that cannot be split any further must fit its budget.
use vyre::prelude::*;

#[wave_graph(limits(nodes = 1_000_000, edges = 1_000_000), budget = "20 MB")]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        wide: u64,
        #[scratch(per = node)]
        narrow: u32,
        #[output(per = node)]
        degree: u32,
    }

    #[wave(nodes)]
    fn first(v: Node, wide: &mut u64) {
        *wide = v as u64;
    }

    #[wave(nodes)]
    fn second(v: Node, narrow: &mut u32) {
        *narrow = v;
    }

    #[wave(nodes, after(first, second))]
    fn both(wide: &u64, narrow: &u32, degree: &mut u32) {
        *degree = *wide as u32 + *narrow;
    }
}

fn main() {}
