//! A misspelled buffer in a body is reported with the one that is meant.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        weight: u32,
        #[output(per = node)]
        heavy: u32,
    }

    #[wave(nodes)]
    fn look(v: Node, graph: &Csr, weight: &Buf<u32>, heavy: &mut u32) {
        for w in graph.neighbors(v) {
            *heavy += wieght[w];
        }
    }
}

fn main() {}
