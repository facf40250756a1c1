//! Arrays of a buffer have one to eight scalars.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    const TEN: usize = 10;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        many: [u32; 16],
        #[output(per = node)]
        named: [u32; TEN],
        #[scratch(per = edge(graph))]
        none: [u32; 0],
        #[input(per = node)]
        pairs: [(u32, f32); 2],
        #[output(per = node, init = [1, 2, 3])]
        begun: [u32; 4],
        #[output(per = node, init = [0; 2])]
        filled: [f64; 3],
        #[reduce(max)]
        most: [u32; 4],
        weights: [u32; 4],
    }

    #[wave(nodes)]
    fn fill(many: &mut [u32; 16], begun: &mut [u32; 4]) {
        many[0] = begun[0];
    }
}

fn main() {}
