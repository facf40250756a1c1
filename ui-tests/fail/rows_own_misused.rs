//! What is done to a lane's own row.

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
    }

    #[wave(nodes)]
    fn change(text: &Row<u8>, mark: &mut Row<u32>) {
        text[0] = 1;
        for x in mark {
            *x = 1;
        }
        mark.sort();
        mark[0usize] = 2;
    }
}

fn main() {}
