//! An order that no data needs warns of the barrier it costs.
use vyre::prelude::*;

#[wave_graph]
#[deny(warnings)]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        mark: u32,
        #[output(per = node)]
        degree: u32,
    }

    #[wave(nodes)]
    fn set(mark: &mut u32) {
        *mark = 1;
    }

    #[wave(nodes, after(set))]
    fn measure(v: Node, graph: &Csr, degree: &mut u32) {
        *degree = graph.degree(v);
    }
}

fn main() {}
