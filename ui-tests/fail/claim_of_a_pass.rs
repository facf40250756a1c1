//! A claim is about one result, not about the pass.
use vyre::prelude::*;

#[wave_graph]
#[pass(unproven, same_result = "one edge leads to each node")]
mod tree {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = u32::MAX)]
        parent: u32,
    }

    #[wave(edges(graph))]
    fn choose(e: Edge, parent: &Buf<Atomic<u32>>) {
        parent[e.dst].compare_exchange(u32::MAX, e.src);
    }
}

fn main() {}
