//! A row has `at` and `part`; reversing and numbering are for loops.

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
        let row = graph.edges(v);
        *last = row[0];
        let back = row.rev();
        *last += row.part(2).len();
        for (k, e) in row.enumerate().rev() {
            *last += e;
        }
        *last += graph.neighbors(v).first();
    }
}

fn main() {}
