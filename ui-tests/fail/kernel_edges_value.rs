//! The edges of a node are gone over, or their ends are taken.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        last: u32,
    }

    #[wave(nodes)]
    fn look(v: Node, graph: &Csr, last: &mut u32) {
        let all = graph.edges(v);
        *last = all.end;
    }
}

fn main() {}
