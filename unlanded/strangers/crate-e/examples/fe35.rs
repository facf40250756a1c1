//! refuse: edges(graph, from = o) of a buffer
use vyre::prelude::*;

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[output(per = node)] o: u32,
    }
    #[wave(edges(graph, from = o))]
    fn put(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst].store(1); }
}
fn main() {}
