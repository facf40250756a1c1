//! What is proven needs no claim.
use vyre::prelude::*;

#[wave_graph]
#[pass(unproven, same_result(parent = "one edge leads to each node"))]
mod tree {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = u32::MAX)]
        parent: u32,
    }

    #[wave(edges(graph))]
    fn choose(e: Edge, parent: &Buf<Atomic<u32>>) {
        parent[e.dst].fetch_min(e.src);
    }
}

fn main() {}
