//! refuse: deterministic: a filter does not help a race
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: [u32; 2],
    }
    #[wave(edges(graph))]
    fn w(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst * 2].store(e.src); }
}
fn main() {}
