//! A lane owns a row where its items are the rows.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[output(per = row(text))]
        mark: u32,
        #[output(per = node * 2)]
        pair: u32,
        #[frontier]
        front: Frontier,
    }

    #[wave(edges(graph))]
    fn of_edges(text: &Row<u8>, mark: &mut Row<u32>) {
        mark[0] = text.len();
    }

    #[wave(nodes)]
    fn no_rows(pair: &mut Row<u32>) {
        pair[0] = 1;
    }

    #[wave(items(front))]
    fn twice(mark: &mut Row<u32>) {
        mark[0] = 1;
    }

    #[wave(nodes)]
    fn of_the_session(text: &mut Row<u8>) {
        text[0] = 1;
    }
}

fn main() {}
