//! A parameter must have its field's element type.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[scratch(per = node)]
        mark: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, dist: &mut f32) {
        *dist = v as f32;
    }
}

fn main() {}
