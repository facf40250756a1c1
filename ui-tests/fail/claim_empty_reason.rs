//! A claim has a reason.
use vyre::prelude::*;

#[wave_graph]
#[pass(unproven, same_result(parent = " "))]
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
