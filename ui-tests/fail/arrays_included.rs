//! What only an included graph can read is not what its arrays begin as elsewhere.

use vyre::prelude::*;

#[wave_graph]
mod part {
    const FIRST: u32 = 3;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = [FIRST, 4])]
        pair: [u32; 2],
    }

    #[wave(nodes)]
    fn add(pair: &mut [u32; 2]) {
        pair[0] += pair[1];
    }
}

#[wave_graph]
mod whole {
    #[include(graph = graph)]
    use super::part;

    pub struct Data {
        #[topology]
        graph: Csr,
    }
}

fn main() {}
